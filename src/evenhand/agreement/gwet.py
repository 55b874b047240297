"""Coefficients whose chance agreement reads the size of the scale: Gwet's AC1 and AC2, Brennan and Prediger's."""

import numpy as np

from evenhand.agreement.arrays import FloatArray
from evenhand.agreement.bootstrap import DEFAULT, Plan
from evenhand.agreement.counts import Counts
from evenhand.agreement.percent import corrected
from evenhand.agreement.result import Estimate
from evenhand.agreement.weights import Weighting, agreement_weights


def gwet_ac(counts: Counts, weighting: Weighting | FloatArray = "identity", plan: Plan | None = DEFAULT) -> Estimate:
    """Gwet's AC1 (identity weights) or AC2 (any other): chance agreement is high only where labels are used evenly.

    Range: at most 1. Level: by `weighting`. It reads the number of labels of the scale. On skewed labels it stays near
    the plain agreement, so show it beside κ or α, never alone. 1 where all ratings are one label; undefined without a
    unit rated twice.
    """
    weight = agreement_weights(weighting, counts.scores)
    labels = counts.labels
    scale = float(weight.sum()) / (labels * (labels - 1.0)) if labels > 1 else 0.0

    def chance(pool: FloatArray) -> FloatArray:
        return 1.0 - scale * (pool * (1.0 - pool)).sum(axis=-1)

    return corrected(counts, weight, chance, "chance agreement is complete", plan)


def brennan_prediger(
    counts: Counts, weighting: Weighting | FloatArray = "identity", plan: Plan | None = DEFAULT
) -> Estimate:
    """Agreement beyond that of ratings drawn evenly from all labels of the scale.

    Range: at most 1. Level: by `weighting`. It reads the number of labels, used or not. 1 where all ratings are one
    label; undefined without a unit rated twice, and for a scale of one label.
    """
    weight = agreement_weights(weighting, counts.scores)
    disagreement = float((1.0 - weight).mean()) if counts.labels else 0.0
    why = "the scale has one label: expected disagreement is 0"
    return corrected(counts, weight, lambda pool: np.full(pool.shape[:-1], disagreement), why, plan)
