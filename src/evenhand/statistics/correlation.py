"""Correlation of two raters' scores: Spearman's ρ."""

import numpy as np

from evenhand.statistics.confusion import Cross
from evenhand.statistics.estimate import NO_SHARED, Estimate, FloatArray, IntArray, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, ratio


def spearman(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """Rank correlation of two raters of one scale, from their confusion table; ties have their mean rank.

    Range -1 to 1. Level: ordinal. Undefined if a rater gave one label throughout, and without shared units.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    sides = [np.unique(codes, return_inverse=True)[1].reshape(-1) for codes in (pair.rows, pair.columns)]
    members = [np.eye(int(levels.max()) + 1)[levels] for levels in sides]

    def value(drawn: FloatArray) -> FloatArray:
        x, y = (_ranks(drawn, member, levels) for member, levels in zip(members, sides, strict=True))
        # Mid-ranks measured from their middle have mean 0, so the products are the moments.
        xx, yy, xy = ((drawn * x * x).sum(axis=-1), (drawn * y * y).sum(axis=-1), (drawn * x * y).sum(axis=-1))
        return np.clip(ratio(xy, np.sqrt(xx) * np.sqrt(yy)), -1.0, 1.0)

    # Every pair of labels that occurs is a sum of its own: the statistic reads how often each was drawn.
    return pair.sample.estimate(np.eye(len(pair.rows)), value, pair.n, "one of the two does not vary", plan)


def _ranks(drawn: FloatArray, member: FloatArray, levels: IntArray) -> FloatArray:
    """The mid-rank of each pair's level, measured from the middle rank; `member` says which pairs have each level."""
    margin = drawn @ member
    middle = np.cumsum(margin, axis=-1) - 0.5 * margin - 0.5 * margin.sum(axis=-1, keepdims=True)
    return middle[..., levels]
