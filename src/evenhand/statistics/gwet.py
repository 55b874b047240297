"""Gwet's AC1 and AC2: agreement beyond a chance that reads the size of the scale."""

from evenhand.statistics.arrays import FloatArray, Weighting, agreement_weights
from evenhand.statistics.counts import Counts, corrected_agreement
from evenhand.statistics.estimate import Estimate
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling


def gwet_ac(
    counts: Counts, weighting: Weighting | FloatArray = "identity", plan: Resampling | None = DEFAULT
) -> Estimate:
    """Gwet's AC1 (identity weights) or AC2 (any other): chance agreement is high only if labels are used evenly.

    Range: at most 1. Level: by `weighting`. It reads the number of labels of the scale. On skewed labels it stays near
    the plain agreement, so show it with κ or α, never alone. 1 if all ratings are one label; undefined without a unit
    rated twice.
    """
    weight = agreement_weights(weighting, counts.scores)
    labels = counts.labels
    scale = float(weight.sum()) / (labels * (labels - 1.0)) if labels > 1 else 0.0

    def chance(pool: FloatArray) -> FloatArray:
        return 1.0 - scale * (pool * (1.0 - pool)).sum(axis=-1)

    return corrected_agreement(counts, weight, chance, "chance agreement is complete", plan)
