"""Krippendorff's α: agreement of any number of raters, any of whom may have skipped any unit."""

from typing import Literal

import numpy as np

from evenhand.statistics.arrays import FloatArray, ratio
from evenhand.statistics.counts import Counts
from evenhand.statistics.estimate import NO_OVERLAP, ONE_LABEL, Estimate, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Statistic
from evenhand.statistics.intervals.rare_labels import rare_of_counts, widened

Metric = Literal["nominal", "ordinal", "interval", "ratio"]


def krippendorff_alpha(
    counts: Counts, metric: Metric | FloatArray = "nominal", plan: Resampling | None = DEFAULT
) -> Estimate:
    """1 minus observed over expected disagreement, over pairs of ratings of one unit against pairs of any two ratings.

    Range: at most 1; 0 is chance, and below 0 (no lower bound that matters) is worse. Level: by `metric`. `ordinal` is
    Krippendorff's: the squared number of ratings between two labels, so it depends on how often each label was used
    (Gwet's ordinal weights do not; pass `1 - agreement_weights("ordinal", scores)` for those). `interval` and `ratio`
    read the labels' scores; a matrix gives squared differences outright. Units with one rating have no part in it.
    Undefined without a unit rated twice, and where all pairable ratings are one label.
    """
    n = counts.overlapping
    if n == 0:
        return undefined(NO_OVERLAP)
    pairable = np.where(counts.raters >= 2, 1.0 / np.maximum(counts.raters - 1, 1), 0.0)
    table = counts.table.astype(np.float64)
    if isinstance(metric, str) and metric == "ordinal":
        # A label that nobody used lies between no ratings; a scale of 101 points seldom has all of them used.
        table = table[:, counts.table.any(axis=0)]
        first, second = np.triu_indices(table.shape[1], 1)
        across = table[:, first] * table[:, second] * pairable[:, None]
        sums = np.concatenate((across, table * (counts.raters >= 2)[:, None]), axis=1)
        statistic, chance = _ordinal(table.shape[1])
    else:
        difference = squared_differences(metric, counts.scores)
        observed = ((table @ difference) * table).sum(axis=1) * pairable
        sums = np.concatenate((observed[:, None], table * (counts.raters >= 2)[:, None]), axis=1)
        statistic, chance = _fixed(difference)
    found = counts.sample.estimate(sums, statistic, n, ONE_LABEL, plan, chance)
    return found if plan is None else widened(found, rare_of_counts(counts), plan.level)


def squared_differences(metric: Metric | FloatArray, scores: FloatArray) -> FloatArray:
    """The squared difference of every two labels under a metric that does not depend on the ratings."""
    if not isinstance(metric, str):
        return np.asarray(metric, dtype=np.float64)
    gap = np.subtract.outer(scores, scores)
    if metric == "nominal":
        return 1.0 - np.eye(scores.size)
    if metric == "interval":
        return gap**2
    if metric == "ratio":
        if scores.size and float(scores.min()) < 0:
            raise ValueError("the ratio metric needs scores that are not negative")
        total = np.add.outer(scores, scores)
        return np.divide(gap, total, out=np.zeros_like(gap), where=total != 0) ** 2
    raise ValueError("the ordinal metric depends on the ratings")


def _fixed(difference: FloatArray) -> tuple[Statistic, Statistic]:
    """α under a fixed metric, and its expected disagreement as a share of the largest."""

    def value(sums: FloatArray) -> FloatArray:
        observed, used = sums[..., 0], sums[..., 1:]
        expected = ((used @ difference) * used).sum(axis=-1)
        return 1.0 - (used.sum(axis=-1) - 1.0) * ratio(observed, expected)

    def chance(sums: FloatArray) -> FloatArray:
        used = sums[..., 1:]
        return ((used @ difference) * used).sum(axis=-1) / (used.sum(axis=-1) ** 2 * difference.max())

    return value, chance


def _ordinal(labels: int) -> tuple[Statistic, Statistic]:
    """α under the metric of ranks, and its expected disagreement as a share of the largest."""
    first, second = np.triu_indices(labels, 1)

    def value(sums: FloatArray) -> FloatArray:
        used = sums[..., first.size :]
        total = used.sum(axis=-1)
        # The ratings between two labels, half of those at the ends counted, are the difference of the mid-ranks.
        rank = np.cumsum(used, axis=-1) - 0.5 * used
        gap = (rank[..., first] - rank[..., second]) ** 2
        observed = (sums[..., : first.size] * gap).sum(axis=-1)
        expected = (used[..., first] * used[..., second] * gap).sum(axis=-1)
        return 1.0 - (total - 1.0) * ratio(observed, expected)

    def chance(sums: FloatArray) -> FloatArray:
        used = sums[..., first.size :]
        rank = np.cumsum(used, axis=-1) - 0.5 * used
        gap = (rank[..., first] - rank[..., second]) ** 2
        expected = 2.0 * (used[..., first] * used[..., second] * gap).sum(axis=-1)
        return expected / (used.sum(axis=-1) ** 2 * np.where(used[..., first] * used[..., second] > 0, gap, 0.0).max())

    return value, chance
