"""Agreement beyond chance: Cohen's κ of two raters, weighted or plain, and Fleiss' κ of many."""

import numpy as np

from evenhand.statistics.arrays import AnyInts, FloatArray, Weighting, agreement_weights, one_hot, ratio
from evenhand.statistics.confusion import Cross
from evenhand.statistics.counts import Counts, corrected_agreement
from evenhand.statistics.estimate import NO_SHARED, ONE_LABEL, Estimate, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Statistic
from evenhand.statistics.intervals.rare_labels import rare_of_counts, rare_of_pair, widened


def cohen_kappa(
    pair: Cross, weighting: Weighting | FloatArray = "identity", plan: Resampling | None = DEFAULT
) -> Estimate:
    """Agreement beyond that of two independent raters with these two raters' own habits.

    Range: -1 to 1, 0 is chance. Level: nominal plain, ordinal or interval with weights. 0 if one rater is constant and
    the other is not; undefined if both gave one and the same label throughout, or shared no unit.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    disagreement = 1.0 - agreement_weights(weighting, pair.scores)
    sums = kappa_sums(pair.rows, pair.columns, disagreement)
    chance = _chance(disagreement)
    found = pair.sample.estimate(sums, kappa_of_sums(disagreement), pair.n, ONE_LABEL, plan, chance)
    return found if plan is None else widened(found, rare_of_pair(pair), plan.level)


def kappa_sums(rows: AnyInts, columns: AnyInts, disagreement: FloatArray) -> FloatArray:
    """What κ reads of each pair of codes: its disagreement, the first label, the second label."""
    labels = disagreement.shape[0]
    apart = disagreement[rows, columns][:, None]
    return np.concatenate((apart, one_hot(rows, labels), one_hot(columns, labels)), axis=1)


def kappa_of_sums(disagreement: FloatArray) -> Statistic:
    """κ as a function of the sums of `kappa_sums`."""

    def value(sums: FloatArray) -> FloatArray:
        rows, columns = np.split(sums[..., 1:], 2, axis=-1)
        expected = ((rows @ disagreement) * columns).sum(axis=-1)
        return 1.0 - ratio(sums[..., 0] * rows.sum(axis=-1), expected)

    return value


def _chance(disagreement: FloatArray) -> Statistic:
    """Expected disagreement as a share of the largest that two labels can have."""

    def value(sums: FloatArray) -> FloatArray:
        rows, columns = np.split(sums[..., 1:], 2, axis=-1)
        return ((rows @ disagreement) * columns).sum(axis=-1) / (rows.sum(axis=-1) ** 2 * disagreement.max())

    return value


def fleiss_kappa(
    counts: Counts, weighting: Weighting | FloatArray = "identity", plan: Resampling | None = DEFAULT
) -> Estimate:
    """Agreement beyond that of ratings dealt at random from one common pool (Fleiss; for two raters Scott's π).

    Range: at most 1, 0 is chance. Level: by `weighting`. Units may have unequal numbers of ratings: the pool is the
    mean of the units' label shares over all rated units, the agreement that over units rated twice. With two ratings
    for each unit it is Scott's π. Undefined without a unit rated twice, and if all ratings are one label.
    """
    weight = agreement_weights(weighting, counts.scores)

    def chance(pool: FloatArray) -> FloatArray:
        return ((pool @ (1.0 - weight)) * pool).sum(axis=-1)

    found = corrected_agreement(counts, weight, chance, ONE_LABEL, plan)
    return found if plan is None else widened(found, rare_of_counts(counts), plan.level)
