"""Measures held against the protocol's targets."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.agreement.bootstrap import DEFAULT, Plan
from evenhand.agreement.result import Estimate
from evenhand.agreement.targets import Verdict, more_items, more_items_for_share, verdict
from evenhand.measures.record import Measure
from evenhand.records import Value
from evenhand.table import Tables

SHARES = ("percent_match", "exact_match", "per_label", "majority", "proportion", "accuracy")
TABLES = ("confusion", "confusion_matrix")


@dataclass(frozen=True, slots=True)
class TargetResult:
    """One figure against its goal. Of a pair, `a` is whom the rater `b` was compared with; else `a` is the rater.

    `met` only where the interval's lower end reaches the goal; `verdict` says where the point estimate lies apart from
    that. `more_items` is how many more items would settle it if the value stays: 0 where it is settled, None where no
    number is known to.
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


def targets(tables: Tables, measured: Sequence[Measure], *, plan: Plan = DEFAULT) -> list[TargetResult]:
    """The protocol's targets on the figures over all units, in the protocol's order; `plan` is the figures' own."""
    return [
        _result(tables, measure, target.at_least, plan)
        for target in tables.protocol.targets
        for measure in measured
        if measure.name == target.measure and measure.stratum is None and measure.kind not in TABLES
    ]


def _result(tables: Tables, measure: Measure, goal: float, plan: Plan) -> TargetResult:
    paired = measure.against is not None
    found = verdict(measure.estimate, goal)
    return TargetResult(
        measure=measure.name,
        goal=goal,
        criterion=measure.criterion,
        a=measure.against if paired else measure.rater,
        b=measure.rater if paired else None,
        estimate=measure.estimate,
        verdict=found,
        met=found == "met",
        more_items=_more_items(tables, measure, goal, plan),
        label=measure.label,
    )


def _more_items(tables: Tables, measure: Measure, goal: float, plan: Plan) -> int | None:
    found = measure.estimate
    pooled = measure.detail is not None and "ratings" in measure.detail
    if found.value is None:
        return None
    if measure.kind in SHARES and tables.together is None and not pooled:
        # Wilson's interval, so the number is exact.
        return more_items_for_share(round(found.value * found.n), found.n, goal, plan.level)
    units = more_items(found, goal)
    if units is None or tables.clusters is None:
        return units
    return math.ceil(units * tables.n_items / max(1, tables.n_units))
