"""Agreement as it grows: what α and plain agreement of the people were after each tenth of their ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.agreement.alpha import Metric, krippendorff_alpha
from evenhand.agreement.bootstrap import Plan
from evenhand.agreement.counts import count_long
from evenhand.agreement.percent import percent_agreement
from evenhand.agreement.result import Estimate, undefined
from evenhand.table import IntArray, Table, Tables

POINTS = 10
CHEAP = Plan(replicates=300)
"""A curve that is watched shows where it goes; the report has the figures to quote."""
MOST_CELLS = 20_000_000
TOO_FINE = "there are too many different answers to follow while people rate; the report has the figure"

_METRICS: Mapping[str, Metric] = {"ordinal": "ordinal", "interval": "interval"}


@dataclass(frozen=True, slots=True)
class Point:
    """Agreement after so many ratings, in order of arrival; `units` are those rated twice by then."""

    ratings: int
    units: int
    alpha: Estimate
    percent: Estimate


def growth(tables: Tables, plan: Plan = CHEAP) -> Mapping[str, Sequence[Point]]:
    """The curve of each criterion on which people can be compared, without adjudicators.

    At most ten points; none where no person has rated. A rating that was changed counts from its last change on.
    """
    compared = tables.compared()
    people = compared.people()
    return {name: _curve(table, people, compared.together, plan) for name, table in compared.tables.items()}


def _curve(table: Table, people: Sequence[int], together: IntArray | None, plan: Plan) -> Sequence[Point]:
    theirs = np.flatnonzero(np.isin(table.rater, people))
    in_time = theirs[np.argsort(table.order[theirs], kind="stable")]
    ends = sorted({len(in_time) * step // POINTS for step in range(1, POINTS + 1)} - {0})
    return [_point(table, in_time[:end], together, plan) for end in ends]


def _point(table: Table, chosen: IntArray, together: IntArray | None, plan: Plan) -> Point:
    rated, unit = np.unique(table.unit[chosen], return_inverse=True)
    if len(rated) * len(table.values) > MOST_CELLS:
        return Point(len(chosen), 0, undefined(TOO_FINE), undefined(TOO_FINE))
    groups = None if together is None else together[rated]
    counts = count_long(unit.reshape(-1), table.code[chosen], len(table.values), table.scores, groups)
    metric = _METRICS.get(table.criterion.scale.level, "nominal")
    alpha = krippendorff_alpha(counts, metric, plan)
    return Point(len(chosen), counts.overlapping, alpha, percent_agreement(counts, plan=plan))
