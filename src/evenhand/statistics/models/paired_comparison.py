"""Paired comparison: of two systems on the same items, or of two raters with the same reference."""

from dataclasses import dataclass

import numpy as np

from evenhand.statistics.counts import label_scores
from evenhand.statistics.estimate import NO_OVERLAP, AnyInts, Estimate, FloatArray, undefined
from evenhand.statistics.intervals.analytic import error_of_mean, mean
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample
from evenhand.statistics.intervals.distributions import binomial_cdf, t_cdf
from evenhand.statistics.kappa import Weighting, agreement_weights, kappa_of_sums, kappa_sums


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first less the second, with its interval, and the two-sided p value of no difference (None if undefined)."""

    difference: Estimate
    first: float | None
    second: float | None
    p: float | None


def compare_means(
    first: FloatArray, second: FloatArray, clusters: AnyInts | None = None, level: float = 0.95
) -> Comparison:
    """Two systems' scores on the same items, NaN where missing: the mean difference by the paired t, over clusters.

    Level: interval. Undefined without an item that both have.
    """
    both = ~(np.isnan(first) | np.isnan(second))
    if not both.any():
        return Comparison(undefined("no item has both scores"), None, None, None)
    gap = first[both] - second[both]
    groups = None if clusters is None else clusters[both]
    difference = mean(gap, groups, level)
    error, df = error_of_mean(gap, groups)
    p = 2.0 * t_cdf(-abs(float(gap.mean()) / error), df) if error > 1e-15 * max(1.0, abs(float(gap.mean()))) else None
    return Comparison(difference, float(first[both].mean()), float(second[both].mean()), p)


def compare_shares(
    first: FloatArray, second: FloatArray, clusters: AnyInts | None = None, level: float = 0.95
) -> Comparison:
    """As `compare_means` for zeros and ones, with McNemar's exact p where units are independent."""
    compared = compare_means(first, second, clusters, level)
    if clusters is not None or compared.first is None:
        return compared
    gained, lost = int((first - second == 1.0).sum()), int((first - second == -1.0).sum())
    p = min(1.0, 2.0 * binomial_cdf(min(gained, lost), gained + lost, 0.5)) if gained + lost else 1.0
    return Comparison(compared.difference, compared.first, compared.second, p)


def compare_raters(
    first: AnyInts,
    second: AnyInts,
    reference: AnyInts,
    labels: int,
    weighting: Weighting = "identity",
    scores: FloatArray | None = None,
    clusters: AnyInts | None = None,
    plan: Resampling | None = DEFAULT,
) -> Comparison:
    """Two raters' κ with one reference, over the units that all three rated, and the difference.

    Codes, -1 missing. The resamples are the same for both raters, so what they share cancels. Range -2 to 2. The p
    value is left to the interval: None. Undefined where either κ is.
    """
    used = (first >= 0) & (second >= 0) & (reference >= 0)
    n = int(used.sum())
    if n == 0:
        return Comparison(undefined(NO_OVERLAP), None, None, None)
    rows = np.stack((first[used], second[used], reference[used]), axis=1)
    sample = Sample.of(rows, None if clusters is None else clusters[used])
    disagreement = 1.0 - agreement_weights(weighting, label_scores(labels, scores))
    kappa = kappa_of_sums(disagreement)
    sides = [kappa_sums(sample.rows[:, 2], sample.rows[:, side], disagreement) for side in (0, 1)]
    values = (float(kappa(sample.times @ side)) for side in sides)

    def difference(both: FloatArray) -> FloatArray:
        left, right = np.split(both, 2, axis=-1)
        return kappa(left) - kappa(right)

    why = "the agreement of one of the two with the reference is undefined"
    found = sample.estimate(np.concatenate(sides, axis=1), difference, n, why, plan)
    left, right = (value if np.isfinite(value) else None for value in values)
    return Comparison(found, left, right, None)
