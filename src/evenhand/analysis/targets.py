"""Targets: which figures reach the protocol's goals, and how many more items would settle it."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.analysis.figures import Figure, flattened
from evenhand.analysis.measures import measures
from evenhand.analysis.tables import Tables
from evenhand.records import Value
from evenhand.statistics import DEFAULT, Estimate, Resampling, wilson

SHARES = ("percent_match", "exact_match", "per_label", "majority", "proportion", "accuracy", "text_match", "abstention")
TABLES = ("confusion", "confusion_matrix")
Verdict = Literal["met", "met at the point estimate", "missed at the point estimate", "missed", "undefined"]
_MOST = 10_000_000


@dataclass(frozen=True, slots=True)
class TargetResult:
    """One figure and its goal. Of a pair, `a` is whom the rater `b` was compared with; else `a` is the rater.

    `met` only if the interval's lower end reaches the goal; `verdict` also says on which side the point estimate lies.
    `more_items` is how many more items would settle it if the value stays: 0 if it is settled, None if unknown.
    """

    measure: str
    goal: float
    criterion: str | None
    a: str | None
    b: str | None
    estimate: Estimate
    verdict: Verdict
    met: bool
    more_items: int | None
    label: Value | None = None

    def to_dict(self) -> dict[str, object]:
        """The target as `evenhand agree --json` lists it."""
        return flattened(self)


def targets(tables: Tables, figures: Sequence[Figure] | None = None, plan: Resampling = DEFAULT) -> list[TargetResult]:
    """The protocol's targets on the figures over all units, in the protocol's order.

    `figures` are the study's measures with the same plan; without them only those that have a target are computed.
    """
    if figures is None:
        figures = measures(tables, plan, only={target.measure for target in tables.protocol.targets}, by=())
    return [
        _result(tables, figure, target.at_least, plan)
        for target in tables.protocol.targets
        for figure in figures
        if figure.statistic == target.measure and figure.stratum is None and figure.kind not in TABLES
        # An undefined figure stands for all parts of its measure.
        if target.label is None or figure.label in (None, target.label)
    ]


def _result(tables: Tables, figure: Figure, goal: float, plan: Resampling) -> TargetResult:
    paired = figure.against is not None
    found = verdict(figure.estimate, goal)
    return TargetResult(
        measure=figure.statistic,
        goal=goal,
        criterion=figure.criterion,
        a=figure.against if paired else figure.rater,
        b=figure.rater if paired else None,
        estimate=figure.estimate,
        verdict=found,
        met=found == "met",
        more_items=_more_items(tables, figure, goal, plan),
        label=figure.label,
    )


def _more_items(tables: Tables, figure: Figure, goal: float, plan: Resampling) -> int | None:
    found = figure.estimate
    pooled = figure.detail is not None and "ratings" in figure.detail
    if found.value is None:
        return None
    if figure.kind in SHARES and tables.together is None and not pooled:
        # Wilson's interval, so the number is exact.
        units = more_items_for_share(round(found.value * found.n), found.n, goal, plan.level)
    else:
        units = more_items(found, goal)
    if not units:
        return units
    if figure.criterion is None and figure.rater is None:  # it reads items, not ratings
        return math.ceil(units * tables.n_items / found.n)
    # A figure may read only some of the rated units, those with one label for instance: the others come along.
    rated = max(_rated(tables, figure), found.n)
    return math.ceil(units * rated * tables.n_items / (found.n * tables.n_units))


def _rated(tables: Tables, figure: Figure) -> int:
    """The units that could have been in a figure: rated by both of its sides, or by its rater."""
    if figure.criterion is None:
        return figure.estimate.n
    table = tables.tables[figure.criterion]
    numbers = {rater.id: number for number, rater in enumerate(tables.raters)}
    rated = np.ones(tables.n_units, dtype=np.bool_)
    for name in (figure.rater, figure.against):
        if name is not None:
            # A majority, or all people together, has no number of its own.
            rated &= table.opinions([numbers[name]] if name in numbers else table.people).count > 0
    return int(rated.sum())


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


def more_items(estimate: Estimate, goal: float) -> int | None:
    """How many more items would bring the interval clear of the goal, if the value stays what it is.

    The interval shrinks with the root of the number of items. 0 if it is settled already; None if no number is known
    to do it: no interval, or a value at the goal itself (past ten million items).
    """
    if verdict(estimate, goal) in ("met", "missed"):
        return 0
    if estimate.value is None or estimate.low is None or estimate.high is None or estimate.n == 0:
        return None
    gap = abs(estimate.value - goal)
    reach = estimate.value - estimate.low if estimate.value >= goal else estimate.high - estimate.value
    if gap * math.sqrt(_MOST / estimate.n) <= reach:
        return None
    return max(1, math.ceil(estimate.n * (reach / gap) ** 2) - estimate.n)


def more_items_for_share(successes: int, n: int, goal: float, level: float = 0.95) -> int | None:
    """As `more_items` for a proportion with Wilson's interval, exactly, if the share stays what it is."""
    if n == 0:
        return None
    share = successes / n

    def clear(size: int) -> bool:
        low, high = wilson(share * size, size, level)
        return low >= goal if share >= goal else high < goal

    more = bisect_left(range(n, _MOST + 1), True, key=clear)
    return more if n + more <= _MOST else None
