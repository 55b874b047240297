"""Plain agreement of the ratings of one unit, and the sums that its chance corrections share."""

from collections.abc import Callable

import numpy as np

from evenhand.agreement.arrays import FloatArray
from evenhand.agreement.bootstrap import DEFAULT, Plan, Sample, estimate, sample_of
from evenhand.agreement.counts import Counts
from evenhand.agreement.ratio import ratio
from evenhand.agreement.result import NO_OVERLAP, Estimate, undefined
from evenhand.agreement.weights import Weighting, agreement_weights

ChanceDisagreement = Callable[[FloatArray], FloatArray]
"""From the pool of label shares, shape (…, labels), to the disagreement that chance would leave."""


def percent_agreement(
    counts: Counts, weighting: Weighting | FloatArray = "identity", plan: Plan | None = DEFAULT
) -> Estimate:
    """The share of agreeing pairs of ratings within a unit, averaged over the units rated at least twice.

    Range 0 to 1. Level: any. 1 where all ratings are one label. Undefined without a unit rated twice.
    """
    if counts.overlapping == 0:
        return undefined(NO_OVERLAP)
    sample = _sample(counts, agreement_weights(weighting, counts.scores))
    return estimate(
        sample,
        lambda sums: 1.0 - ratio(sums[..., 0], sums[..., 1]),
        counts.overlapping,
        NO_OVERLAP,
        plan,
        counts.resampler(plan),
        lambda sums: np.ones(sums.shape[:-1]),
    )


def within_one(counts: Counts, plan: Plan | None = DEFAULT) -> Estimate:
    """The share of pairs of ratings of one unit whose scores differ by at most 1. Range 0 to 1. Level: ordinal.

    Undefined without a unit rated twice.
    """
    near = np.abs(np.subtract.outer(counts.scores, counts.scores)) <= 1.0 + 1e-12
    return percent_agreement(counts, near.astype(np.float64), plan)


def _sample(counts: Counts, weight: FloatArray) -> Sample:
    """Per pattern.

    Disagreeing pairs as a share, whether it counts as overlapping, whether it is rated, label shares.
    """
    table = counts.table.astype(np.float64)
    raters = counts.raters.astype(np.float64)
    pairs = raters * (raters - 1.0)
    disagreeing = ((table @ (1.0 - weight)) * table).sum(axis=1)
    # A label's weight with itself is 1, so a rating's pair with itself adds no disagreement.
    share = np.divide(disagreeing, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    columns = [share[:, None], (pairs > 0).astype(np.float64)[:, None], table / raters[:, None]]
    return sample_of(counts.blocks, np.concatenate(columns, axis=1))


def corrected(counts: Counts, weight: FloatArray, chance: ChanceDisagreement, why: str, plan: Plan | None) -> Estimate:
    """1 minus observed over chance disagreement, weighted; `why` is the reason where chance leaves none."""
    if counts.overlapping == 0:
        return undefined(NO_OVERLAP)

    def pool_of(sums: FloatArray) -> FloatArray:
        return ratio(sums[..., 2:], sums[..., 2:].sum(axis=-1, keepdims=True))

    def value(sums: FloatArray) -> FloatArray:
        return 1.0 - ratio(ratio(sums[..., 0], sums[..., 1]), chance(pool_of(sums)))

    largest = float((1.0 - weight).max()) if weight.size else 1.0
    return estimate(
        _sample(counts, weight),
        value,
        counts.overlapping,
        why,
        plan,
        counts.resampler(plan),
        lambda sums: chance(pool_of(sums)) / (largest or 1.0),
    )
