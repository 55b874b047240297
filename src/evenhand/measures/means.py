"""Means and standard deviations of levels and percentages, of one criterion or of each unit's average over several."""

from dataclasses import replace

import numpy as np

from evenhand.agreement.blocks import cluster_blocks, single_blocks
from evenhand.agreement.bootstrap import Plan, estimate, sample_of
from evenhand.agreement.intervals import mean
from evenhand.agreement.ratio import ratio
from evenhand.agreement.result import Estimate, undefined
from evenhand.measures.series import Series, Statistic, series_of
from evenhand.scales import Percent
from evenhand.table import FloatArray, IntArray, Table, Tables

INCOMPLETE = "incomplete"


def score_series(table: Table) -> Series:
    """Each rating as its number on the scale."""
    return series_of(table, _scores(table))


def _scores(table: Table) -> FloatArray:
    assert table.scores is not None, "the protocol's check lets only numbers have means"
    return table.scores[table.code]


def average_series(tables: Tables, criteria: tuple[str, ...]) -> Series:
    """Each rater's average over the criteria of a unit; a unit without one of them is incomplete and left out."""
    used = [tables.tables[criterion] for criterion in dict.fromkeys(criteria)]
    width = max(1, len(tables.raters))
    cells = [table.unit * width + table.rater for table in used]
    keys, place = np.unique(np.concatenate(cells), return_inverse=True)
    scores = np.concatenate([_scores(table) for table in used])
    totals = np.bincount(place.reshape(-1), weights=scores, minlength=len(keys))
    given = np.bincount(place.reshape(-1), minlength=len(keys))
    reason = (given < len(used)).astype(np.int64)
    return Series(keys // width, keys % width, totals / np.maximum(given, 1), used, reason, [INCOMPLETE])


def ends(tables: Tables, criteria: tuple[str, ...]) -> tuple[float, float]:
    """The lowest and the highest mean that the scales allow."""
    scales = [tables.tables[criterion].criterion.scale for criterion in criteria]
    both = [(0.0, 100.0) if isinstance(s, Percent) else (float(s.values[0]), float(s.values[-1])) for s in scales]
    return float(np.mean([low for low, _ in both])), float(np.mean([high for _, high in both]))


def mean_within(lowest: float, highest: float, plan: Plan) -> Statistic:
    """The mean with its t interval, cut off where the scale ends."""

    def value(values: FloatArray, clusters: IntArray | None) -> Estimate:
        found = mean(values, clusters, plan.level)
        if found.low is None or found.high is None:
            return found
        return replace(found, low=max(lowest, found.low), high=min(highest, found.high))

    return value


def spread(plan: Plan) -> Statistic:
    """The sample standard deviation (n - 1) with its bootstrap interval; undefined with fewer than two ratings."""

    def value(values: FloatArray, clusters: IntArray | None) -> Estimate:
        if values.size < 2:
            return undefined("a standard deviation needs two ratings", int(values.size))
        different, pattern, times = np.unique(values, return_inverse=True, return_counts=True)
        # Taken from the middle, so that the squares lose no digits.
        apart = different - values.mean()
        blocks = single_blocks(times) if clusters is None else cluster_blocks(pattern.reshape(-1), clusters)
        sums = np.stack((np.ones_like(apart), apart, apart**2), axis=1)
        return estimate(sample_of(blocks, sums), _deviation, int(values.size), "", plan)

    return value


def _deviation(sums: FloatArray) -> FloatArray:
    n, total, squares = sums[..., 0], sums[..., 1], sums[..., 2]
    apart = np.maximum(squares - ratio(total**2, n), 0.0)
    return np.sqrt(ratio(apart, np.where(n > 1, n - 1.0, 0.0)))
