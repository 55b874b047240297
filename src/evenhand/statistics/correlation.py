"""Correlation of two raters' scores: Spearman's ρ."""

import numpy as np

from evenhand.statistics.arrays import FloatArray, IntArray, ratio
from evenhand.statistics.confusion import Cross
from evenhand.statistics.estimate import NO_SHARED, Estimate, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Statistic


def spearman(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """Rank correlation of two raters of one scale, from their confusion table; ties have their mean rank.

    Range -1 to 1. Level: ordinal. Undefined if a rater gave one label throughout, and without shared units.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    # Every pair of labels that occurs is a sum of its own: the statistic reads how often each was drawn.
    each = np.eye(len(pair.rows))
    return pair.sample.estimate(each, _spearman(pair.rows, pair.columns), pair.n, "one of the two does not vary", plan)


def _spearman(rows: IntArray, columns: IntArray) -> Statistic:
    first, second = _levels(rows), _levels(columns)

    def value(drawn: FloatArray) -> FloatArray:
        x, y = _ranks(drawn, *first), _ranks(drawn, *second)
        # Mid-ranks measured from their middle have mean 0, so the products are the moments.
        xx, yy, xy = ((drawn * x * x).sum(axis=-1), (drawn * y * y).sum(axis=-1), (drawn * x * y).sum(axis=-1))
        return np.clip(ratio(xy, np.sqrt(xx) * np.sqrt(yy)), -1.0, 1.0)

    return value


def _levels(codes: IntArray) -> tuple[FloatArray, IntArray]:
    """Which pairs have each level that occurs (pairs × levels), and the level of each pair."""
    used, place = np.unique(codes, return_inverse=True)
    place = place.reshape(-1)
    return (place[:, None] == np.arange(used.size)).astype(np.float64), place


def _ranks(drawn: FloatArray, member: FloatArray, place: IntArray) -> FloatArray:
    """The mid-rank of each pair's level, measured from the middle rank."""
    margin = drawn @ member
    middle = np.cumsum(margin, axis=-1) - 0.5 * margin - 0.5 * margin.sum(axis=-1, keepdims=True)
    return middle[..., place]
