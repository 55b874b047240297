"""What a rater learns once a task is done: the expected answers of a worked example, or what others said."""

from collections.abc import Sequence

from evenhand.assign import Plan, Purpose, Task
from evenhand.protocol.model import Criterion, Example, Protocol
from evenhand.records import UNANSWERABLE, Kind, Value
from evenhand.scales import Text, same_value
from evenhand.study import Study
from evenhand.textmatch import token_f1
from evenhand.web.answers import Ratings, is_answer, values_of
from evenhand.web.forms import sayable, sayable_or_none, sayable_value
from evenhand.web.shapes import FeedbackShape, OtherShape, VerdictShape

ALIKE = 0.5
"""The token F1 from which on a text says the same as the expected one."""


def feedback_of(protocol: Protocol, example: Example, ratings: Ratings) -> FeedbackShape:
    """The answers to a worked example beside the expected ones.

    A criterion on which the example is silent although it is asked there has nothing to be compared with.
    """
    given = values_of(protocol, ratings)
    verdicts: list[VerdictShape] = []
    for criterion in protocol.criteria:
        expected = example.ratings.get(criterion.id)
        if expected is None and protocol.asked(criterion, example.ratings):
            continue
        answer = given.get(criterion.id)
        verdicts.append(
            VerdictShape(
                criterion=criterion.id,
                expected=expected,
                given=answer,
                right=is_right(criterion, expected, answer, protocol.language),
                rationale=example.rationales.get(criterion.id),
            )
        )
    return FeedbackShape(explanation=example.explanation, criteria=verdicts)


def is_right(criterion: Criterion, expected: Value | None, given: Value | None, language: str) -> bool:
    """Whether an answer is the expected one; None stands for a criterion that is not asked, or has no value."""
    if not isinstance(criterion.scale, Text) or expected is None or given is None:
        return same_value(expected, given)
    if UNANSWERABLE in (expected, given):
        return expected == given
    return token_f1(str(given), str(expected), language) >= ALIKE


def others_of(study: Study, task: Task, plan: Plan) -> list[OtherShape] | None:
    """What others said on the item of a task that is done, as far as the plan lets its rater see it; None: nothing."""
    if task.state != "done" or task.purpose not in (Purpose.RATE, Purpose.GOLD) or plan.reveal == "never":
        return None
    return revealed(study, task, plan)


def revealed(study: Study, task: Task, plan: Plan) -> list[OtherShape]:
    """What others said on an item, as far as the plan lets those see it who have rated it.

    Never the known answers: an item that has them must stay one among many.
    """
    if task.item is None or plan.reveal == "never":
        return []
    kinds = {rater.id: rater.kind for rater in study.store.raters()}
    positions = {unit.id: unit.position for unit in study.store.units_of([task.item]).get(task.item, ())}
    return [
        OtherShape(
            rater=sayable(rating.rater),
            kind=kinds[rating.rater].value,
            position=positions[rating.unit],
            criterion=rating.criterion,
            status=rating.status.value,
            value=sayable_value(rating.value),
            rationale=sayable_or_none(rating.rationale),
        )
        for rating in study.store.ratings(item=task.item)
        if rating.rater not in (task.rater, plan.gold) and is_answer(rating) and _is_open(kinds[rating.rater], plan)
    ]


def seen_before(study: Study, task: Task) -> Sequence[str]:
    """Whose ratings of this item its rater may have seen: those revealed after the first time, where it is a repeat."""
    if task.purpose is not Purpose.REPEAT:
        return ()
    return sorted({other.rater for other in revealed(study, task, study.store.people.plan())})


def _is_open(kind: Kind, plan: Plan) -> bool:
    return plan.reveal == "all" or kind is not Kind.PERSON
