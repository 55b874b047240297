"""Rate with a program that needs no model."""

from evenhand.raters.base import Rater
from evenhand.raters.program import Program
from evenhand.run.judge import Outcome, judge
from evenhand.run.order import Order
from evenhand.study import Study


def rate(study: Study, rater: Rater, *, limit: int | None = None) -> Outcome:
    """Rate the units that this rater has no rating for yet, at most `limit` of them."""
    return judge(study, [Program(rater)], Order(limit=limit))
