"""Agreement beyond chance: Cohen's κ of two raters, weighted or plain; Fleiss' κ and Gwet's AC1 and AC2 of many."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from evenhand.statistics.confusion import Cross
from evenhand.statistics.counts import Counts
from evenhand.statistics.estimate import NO_OVERLAP, NO_SHARED, ONE_LABEL, AnyInts, Estimate, FloatArray, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Statistic, ratio

Weighting = Literal["identity", "linear", "quadratic", "ordinal"]


def agreement_weights(weighting: Weighting | FloatArray, scores: FloatArray) -> FloatArray:
    """How much two labels agree: a labels × labels matrix with 1 for full and 0 for no agreement.

    `identity` gives 1 to equal labels only. `linear` and `quadratic` fall with the distance of the labels' scores.
    `ordinal` is Gwet's: it falls with the number of label pairs that lie between two labels, and reads only their
    order; Krippendorff's ordinal metric reads how often the labels were used. A matrix is taken as it is.
    """
    if not isinstance(weighting, str):
        given = np.asarray(weighting, dtype=np.float64)
        if given.shape != (scores.size, scores.size):
            raise ValueError(f"{scores.size} labels need a {scores.size} × {scores.size} matrix of weights")
        return given
    if weighting == "identity" or scores.size < 2:
        return np.eye(scores.size)
    positions = np.arange(float(scores.size)) if weighting == "ordinal" else scores
    distance = np.abs(np.subtract.outer(positions, positions))
    if weighting == "quadratic":
        distance = distance**2
    elif weighting == "ordinal":
        distance = distance * (distance + 1.0) / 2.0
    return 1.0 - distance / distance.max() if distance.max() > 0 else np.ones_like(distance)


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
    first, second = np.split(sums[:, 1:], 2, axis=1)
    expected = float(pair.table.sum(axis=1) @ disagreement @ pair.table.sum(axis=0))
    chance = expected / (pair.n**2 * (disagreement.max() or 1.0))
    return pair.sample.estimate(sums, kappa_of_sums(disagreement), pair.n, ONE_LABEL, plan, chance, first + second)


def kappa_sums(rows: AnyInts, columns: AnyInts, disagreement: FloatArray) -> FloatArray:
    """What κ reads of each pair of codes: its disagreement, the first label, the second label."""
    each_label = np.eye(disagreement.shape[0])
    return np.column_stack((disagreement[rows, columns], each_label[rows], each_label[columns]))


def kappa_of_sums(disagreement: FloatArray) -> Statistic:
    """κ as a function of the sums of `kappa_sums`."""

    def value(sums: FloatArray) -> FloatArray:
        rows, columns = np.split(sums[..., 1:], 2, axis=-1)
        expected = ((rows @ disagreement) * columns).sum(axis=-1)
        return 1.0 - ratio(sums[..., 0] * rows.sum(axis=-1), expected)

    return value


def fleiss_kappa(
    counts: Counts, weighting: Weighting | FloatArray = "identity", plan: Resampling | None = DEFAULT
) -> Estimate:
    """Agreement beyond that of ratings dealt at random from one common pool (Fleiss; for two raters Scott's π).

    Range: at most 1, 0 is chance. Level: by `weighting`. Units may have unequal numbers of ratings: the pool is the
    mean of the units' label shares over all rated units, the agreement that over units rated twice. Undefined without
    a unit rated twice, and if all ratings are one label.
    """
    weight = agreement_weights(weighting, counts.scores)

    def chance(pool: FloatArray) -> FloatArray:
        return ((pool @ (1.0 - weight)) * pool).sum(axis=-1)

    return _beyond_chance(counts, weight, chance, ONE_LABEL, plan, widened=True)


def gwet_ac(
    counts: Counts, weighting: Weighting | FloatArray = "identity", plan: Resampling | None = DEFAULT
) -> Estimate:
    """Gwet's AC1 (identity weights) or AC2 (any other): chance agreement is high only if labels are used evenly.

    Range: at most 1. Level: by `weighting`. It reads the number of labels of the scale. On skewed labels it stays near
    the plain agreement: never show it alone. 1 if all ratings are one label; undefined without a unit rated twice.
    """
    weight, labels = agreement_weights(weighting, counts.scores), counts.scores.size
    scale = float(weight.sum()) / (labels * (labels - 1.0)) if labels > 1 else 0.0

    def chance(pool: FloatArray) -> FloatArray:
        return 1.0 - scale * (pool * (1.0 - pool)).sum(axis=-1)

    return _beyond_chance(counts, weight, chance, "chance agreement is complete", plan)


def pair_ac(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """Gwet's AC of two raters: AC2 with quadratic weights if the labels have scores, AC1 otherwise."""
    each_label = np.eye(pair.scores.size)
    counts = Counts(replace(pair.sample, rows=each_label[pair.rows] + each_label[pair.columns]), pair.scores)
    return gwet_ac(counts, "quadratic" if pair.ordered else "identity", plan)


def _beyond_chance(
    counts: Counts,
    weight: FloatArray,
    chance: Callable[[FloatArray], FloatArray],
    why: str,
    plan: Resampling | None,
    widened: bool = False,
) -> Estimate:
    """1 minus observed over chance disagreement; `chance` turns the pool of label shares into that disagreement."""
    if counts.overlapping == 0:
        return undefined(NO_OVERLAP)
    pairs = counts.raters * (counts.raters - 1.0)
    # A label's weight with itself is 1, so a rating's pair with itself adds no disagreement.
    disagreeing = ((counts.table @ (1.0 - weight)) * counts.table).sum(axis=1)
    share = np.divide(disagreeing, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    sums = np.column_stack((share, pairs > 0, counts.table / counts.raters[:, None])).astype(np.float64)

    def expected(sums: FloatArray) -> FloatArray:
        return chance(ratio(sums[..., 2:], sums[..., 2:].sum(axis=-1, keepdims=True)))

    def value(sums: FloatArray) -> FloatArray:
        return 1.0 - ratio(ratio(sums[..., 0], sums[..., 1]), expected(sums))

    by_chance = float(expected(counts.sample.times.astype(np.float64) @ sums)) / (
        float((1.0 - weight).max(initial=0.0)) or 1.0
    )
    rare = counts.table if widened else None
    return counts.sample.estimate(sums, value, counts.overlapping, why, plan, by_chance, rare)
