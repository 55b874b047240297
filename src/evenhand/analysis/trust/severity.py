"""How lenient each rater is beside the others, and whether that moves in the course of the work."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.analysis.tables import Table
from evenhand.records import Kind
from evenhand.statistics import Estimate, Resampling, drift, leniency

NO_ORDER = "labels without an order have no severity"


@dataclass(frozen=True, slots=True)
class Severity:
    """Leniency in points of the scale, positive for a lenient rater; drift from first to last rating, likewise.

    Both beside the other people on the same units; beside all other raters where no other person shares one.
    """

    rater: str
    kind: Kind
    beside: Literal["people", "raters"]
    leniency: Estimate
    drift: Estimate


def severity(table: Table, rater: int, plan: Resampling) -> Severity:
    """One rater's severity; only for scales with scores."""
    assert table.scores is not None
    ref, units = table.raters[rater], table.units_of(rater)
    others = table.people_at(units, (rater,))
    by_people = bool((others.count > 0).any())
    if not by_people:
        others = table.raters_at(units, (rater,))
    # The mean of the others in place of their ratings: the gap to it is the same, and one column is enough.
    scores = np.stack((table.scores[table.codes_at(rater, units)], others.mean), axis=1)
    place = np.empty(units.size)
    place[np.argsort(table.order[table.by_rater(rater)], kind="stable")] = np.arange(units.size)
    return Severity(
        rater=ref.id,
        kind=ref.kind,
        beside="people" if by_people else "raters",
        leniency=leniency(scores, 0, table.clusters_of(units), plan.level),
        drift=drift(scores, 0, place, plan.level),
    )
