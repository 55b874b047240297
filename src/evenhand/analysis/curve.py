"""Agreement curve: α and plain agreement of the people after each tenth of their ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.tables import Table, Tables
from evenhand.statistics import Estimate, IntArray, Resampling, undefined

POINTS = 10
CHEAP = Resampling(replicates=300)
"""A curve that is watched shows a trend; the report has the figures to quote."""
MOST_CELLS = 20_000_000
TOO_FINE = "there are too many different answers to follow while people rate; the report has the figure"


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Agreement after a number of ratings, in order of arrival; `units` are those rated twice by then."""

    ratings: int
    units: int
    alpha: Estimate
    percent: Estimate


def agreement_curve(tables: Tables, plan: Resampling = CHEAP) -> Mapping[str, Sequence[CurvePoint]]:
    """The curve of each criterion on which people can be compared, without adjudicators.

    At most ten points; none if no person has rated. A rating that was changed counts from its last change on.
    """
    compared = tables.compared()
    people = compared.people()
    return {name: _curve(table, people, compared.together, plan) for name, table in compared.tables.items()}


def _curve(table: Table, people: Sequence[int], together: IntArray | None, plan: Resampling) -> Sequence[CurvePoint]:
    theirs = np.flatnonzero(np.isin(table.rater, people))
    in_time = theirs[np.argsort(table.order[theirs], kind="stable")]
    ends = sorted({len(in_time) * step // POINTS for step in range(1, POINTS + 1)} - {0})
    return [_point(table, in_time[:end], together, plan) for end in ends]


def _point(table: Table, chosen: IntArray, together: IntArray | None, plan: Resampling) -> CurvePoint:
    rated, unit = np.unique(table.unit[chosen], return_inverse=True)
    if len(rated) * len(table.values) > MOST_CELLS:
        return CurvePoint(len(chosen), 0, undefined(TOO_FINE), undefined(TOO_FINE))
    groups = None if together is None else together[rated]
    counts = statistics.count_long(unit.reshape(-1), table.code[chosen], len(table.values), table.scores, groups)
    alpha = statistics.krippendorff_alpha(counts, table.level, plan)
    return CurvePoint(len(chosen), counts.overlapping, alpha, statistics.percent_agreement(counts, plan))
