"""Krippendorff's α: agreement of any number of raters, any of whom may have skipped any unit."""

from typing import Literal

import numpy as np

from evenhand.statistics.counts import Counts
from evenhand.statistics.estimate import NO_OVERLAP, ONE_LABEL, Estimate, FloatArray, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, ratio

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
    if counts.overlapping == 0:
        return undefined(NO_OVERLAP)
    pairable = np.where(counts.raters[:, None] >= 2, counts.table, 0.0)
    weight = 1.0 / np.maximum(counts.raters - 1.0, 1.0)[:, None]
    if isinstance(metric, str) and metric == "ordinal":
        # A label that nobody used lies between no ratings; a scale of 101 points seldom has all of them used.
        pairable = pairable[:, pairable.any(axis=0)]
        first, second = np.triu_indices(pairable.shape[1], 1)
        observed = 2.0 * pairable[:, first] * pairable[:, second] * weight

        def disagreement(sums: FloatArray) -> tuple[FloatArray, FloatArray, float]:
            used = sums[..., first.size :]
            # The ratings between two labels, half of those at the ends counted, are the difference of the mid-ranks.
            rank = np.cumsum(used, axis=-1) - 0.5 * used
            gap = (rank[..., first] - rank[..., second]) ** 2
            expected = 2.0 * (used[..., first] * used[..., second] * gap).sum(axis=-1)
            return (sums[..., : first.size] * gap).sum(axis=-1), expected, float(gap.max(initial=0.0))
    else:
        difference = _squared_differences(metric, counts.scores)
        observed = ((pairable @ difference) * pairable).sum(axis=1, keepdims=True) * weight

        def disagreement(sums: FloatArray) -> tuple[FloatArray, FloatArray, float]:
            used = sums[..., 1:]
            return sums[..., 0], ((used @ difference) * used).sum(axis=-1), float(difference.max())

    def alpha(sums: FloatArray) -> FloatArray:
        observed_in, expected, _ = disagreement(sums)
        return 1.0 - (sums[..., observed.shape[1] :].sum(axis=-1) - 1.0) * ratio(observed_in, expected)

    sums = np.concatenate((observed, pairable), axis=1)
    total = counts.sample.times @ sums
    _, expected, largest = disagreement(total)
    chance = float(expected) / (float(total[observed.shape[1] :].sum()) ** 2 * (largest or 1.0))
    return counts.sample.estimate(sums, alpha, counts.overlapping, ONE_LABEL, plan, chance, counts.table)


def _squared_differences(metric: Metric | FloatArray, scores: FloatArray) -> FloatArray:
    """The squared difference of every two labels under a metric that does not depend on the ratings."""
    if not isinstance(metric, str):
        return np.asarray(metric, dtype=np.float64)
    gap = np.subtract.outer(scores, scores)
    if metric == "nominal":
        return 1.0 - np.eye(scores.size)
    if metric == "interval":
        return gap**2
    if scores.size and float(scores.min()) < 0:
        raise ValueError("the ratio metric needs scores that are not negative")
    total = np.add.outer(scores, scores)
    return np.divide(gap, total, out=np.zeros_like(gap), where=total != 0) ** 2
