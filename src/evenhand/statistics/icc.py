"""The intraclass correlation ICC(2,1) of Shrout and Fleiss."""

from dataclasses import replace

import numpy as np

from evenhand.statistics.estimate import AnyInts, Estimate, FloatArray, undefined
from evenhand.statistics.intervals.analytic import MOSTLY_EQUAL
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample, ratio
from evenhand.statistics.intervals.distributions import f_quantile
from evenhand.text import counted

FEWEST_TWICE = 5
"""Units or clusters with two scores off the commonest below which skewed scores have no interval.

With 95 % of 160 × 3 scores equal, the bootstrap covers 77 to 90 % without this limit.
"""


def icc(scores: FloatArray, clusters: AnyInts | None = None, plan: Resampling | None = DEFAULT) -> Estimate:
    """How much of the variance of scores lies between units: two-way random, single rater, absolute agreement.

    `scores` is units × raters, NaN where a rater did not rate; units with a missing score are left out (`n` counts
    those used). The raters are a sample, and their severity counts against agreement. Range: at most 1; may be
    negative. Level: interval. Undefined with fewer than two complete units or raters, and if the scores do not vary.

    The interval holds both that of the bootstrap over units or clusters, which assumes no distribution of the scores,
    and the F interval of McGraw and Wong, which also allows for other raters. If three in four scores are equal, the
    few units with another score decide: the bootstrap's tails are those of as few units as carry the variance, or as
    have two such scores. No interval if the latter are fewer than five.
    """
    used = ~np.isnan(scores).any(axis=1)
    complete = scores[used]
    n, k = complete.shape
    if k < 2:
        return undefined("fewer than two raters", n)
    if n < 2:
        return undefined("fewer than two units were rated by every rater", n)
    seen, codes, times = np.unique(complete, return_inverse=True, return_counts=True)
    sample = Sample.of(codes.reshape(n, k), None if clusters is None else clusters[used])
    # Measured from the middle, so that the squares lose no digits.
    apart = seen[sample.rows] - complete.mean()
    sums = np.column_stack((np.ones(len(apart)), apart, apart.sum(axis=1) ** 2, (apart**2).sum(axis=1)))
    between, judges, error = (float(square) for square in _mean_squares(sample.times @ sums))
    # Rounding leaves dust where a mean square is 0; how much depends on the size of the scores.
    dust = 1e-12 * max(1.0, float(np.abs(complete).max())) ** 2
    bottom = between + (k - 1) * error + k * (judges - error) / n
    if bottom <= dust:
        why = "the scores do not vary" if between <= dust else "the units do not differ more than chance allows"
        return undefined(why, n)

    def statistic(sums: FloatArray) -> FloatArray:
        between, judges, error = _mean_squares(sums)
        bottom = between + (k - 1) * error + k * ratio(judges - error, sums[..., 0])
        found = ratio(between - error, np.where(bottom > dust, bottom, 0.0))
        return np.where(found > 1.0 - 1e-9, 1.0, found)

    chance = 2.0 * float(complete.var()) / float(np.ptp(complete)) ** 2
    informative, few = _informative(sample, times)
    found = sample.estimate(sums, statistic, n, "", plan, chance, informative=informative, no_interval=few)
    if plan is None or found.value is None or found.low is None or found.high is None or error <= dust:
        return found
    low, high = _f_interval(found.value, between, judges, error, n, k, plan.level)
    return replace(found, low=min(found.low, low), high=max(found.high, high))


def _informative(sample: Sample, times: AnyInts) -> tuple[int | None, str | None]:
    """How many blocks decide the value, if not all, and why there is no interval if they are too few.

    `times` counts each score.
    """
    if times.max() < MOSTLY_EQUAL * times.sum():
        return None, None
    twice = sample.blocks_with((sample.rows != times.argmax()).sum(axis=1) >= 2)
    few = f"only {counted(twice, sample.block)} with two scores off the commonest" if twice < FEWEST_TWICE else None
    return twice, few


def _mean_squares(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The two-way analysis of variance: the mean squares between units, between raters, and of the error.

    The sums are of 1, each rater's scores, the squares of the units' totals, and the squares of the scores.
    """
    n, raters = sums[..., 0], sums[..., 1:-2]
    k = raters.shape[-1]
    common = ratio(raters.sum(axis=-1) ** 2, n * k)
    units, judges = sums[..., -2] / k - common, ratio((raters**2).sum(axis=-1), n) - common
    error = np.maximum(sums[..., -1] - common - units - judges, 0.0)
    return ratio(units, n - 1.0), judges / (k - 1.0), ratio(error, (n - 1.0) * (k - 1.0))


def _f_interval(
    value: float, between: float, judges: float, error: float, n: int, k: int, level: float
) -> tuple[float, float]:
    """McGraw and Wong's interval, by Satterthwaite's degrees of freedom."""
    shared = n * (1.0 + (k - 1) * value) - k * value
    by_judges = k * value * judges / error
    spread = (n - 1) * by_judges**2 + shared**2
    df = max((k - 1) * (n - 1) * (by_judges + shared) ** 2 / spread, 1e-3) if spread > 0 else (k - 1.0) * (n - 1)
    f_low, f_high = f_quantile(0.5 + 0.5 * level, n - 1, df), f_quantile(0.5 + 0.5 * level, df, n - 1)
    rest = k * judges + (k * n - k - n) * error
    low = n * (between - f_low * error) / (f_low * rest + n * between)
    return low, min(1.0, n * (f_high * between - error) / (rest + n * f_high * between))
