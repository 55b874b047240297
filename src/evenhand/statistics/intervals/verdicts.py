"""Whether a target is met, and how many more items would settle it."""

import math
from typing import Literal

from evenhand.statistics.estimate import Estimate
from evenhand.statistics.intervals.analytic import wilson
from evenhand.statistics.intervals.distributions import normal_quantile

Verdict = Literal["met", "met at the point estimate", "missed at the point estimate", "missed", "undefined"]
_MOST = 10_000_000


def verdict(estimate: Estimate, goal: float) -> Verdict:
    """`met` only if the interval's lower end reaches the goal, `missed` only if its upper end stays below it.

    Between the two, and without an interval, the point estimate says on which side it is; that settles nothing.
    """
    if estimate.value is None:
        return "undefined"
    if estimate.low is not None and estimate.low >= goal:
        return "met"
    if estimate.high is not None and estimate.high < goal:
        return "missed"
    return "met at the point estimate" if estimate.value >= goal else "missed at the point estimate"


def more_items(estimate: Estimate, goal: float, power: float | None = None, level: float = 0.95) -> int | None:
    """How many more items would bring the interval clear of the goal, if the value stays what it is.

    The interval shrinks with the root of the number of items. `power` (say 0.8) asks for as many that a study of that
    size would be clear of the goal with that chance; without it the chance is about a half. 0 where it is settled
    already; None where no number is known to do it: no interval, or a value at the goal itself (past ten million
    items).
    """
    if verdict(estimate, goal) in ("met", "missed"):
        return 0
    if estimate.value is None or estimate.low is None or estimate.high is None or estimate.n == 0:
        return None
    gap = abs(estimate.value - goal)
    reach = estimate.value - estimate.low if estimate.value >= goal else estimate.high - estimate.value
    if gap * math.sqrt(_MOST / estimate.n) <= reach:
        return None
    factor = (reach * _stretch(power, level) / gap) ** 2
    return max(1, math.ceil(estimate.n * factor) - estimate.n)


def more_items_for_share(successes: int, n: int, goal: float, level: float = 0.95) -> int | None:
    """As `more_items` for a proportion with Wilson's interval, exactly, if the share stays what it is."""
    if n == 0:
        return None
    share = successes / n

    def clear(size: int) -> bool:
        low, high = wilson(share * size, size, level)
        return low >= goal if share >= goal else high < goal

    if clear(n):
        return 0
    if not clear(_MOST):
        return None
    low, high = n, _MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if clear(middle) else (middle, high)
    return high - n


def _stretch(power: float | None, level: float) -> float:
    return 1.0 if power is None else 1.0 + normal_quantile(power) / normal_quantile(0.5 + 0.5 * level)
