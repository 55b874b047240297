"""The intraclass correlation ICC(2,1) of Shrout and Fleiss, with its F interval."""

import numpy as np

from evenhand.statistics.estimate import Estimate, FloatArray, undefined
from evenhand.statistics.intervals.distributions import f_quantile


def icc(scores: FloatArray, level: float = 0.95) -> Estimate:
    """How much of the variance of scores lies between units: two-way random, single rater, absolute agreement.

    `scores` is units × raters, NaN where a rater did not rate; units with a missing score are left out (`n` counts
    those used). The raters are a sample, and their severity counts against agreement. Range: at most 1; may be
    negative. Level: interval. Undefined with fewer than two complete units or raters, and if the scores do not vary.
    """
    complete = scores[~np.isnan(scores).any(axis=1)]
    n, k = complete.shape
    if k < 2:
        return undefined("fewer than two raters", n)
    if n < 2:
        return undefined("fewer than two units were rated by every rater", n)
    # The mean squares of the two-way analysis of variance: between units, between raters, and the error.
    grand, units, raters = float(complete.mean()), complete.mean(axis=1), complete.mean(axis=0)
    residual = complete - units[:, None] - raters + grand
    between = k * float(((units - grand) ** 2).sum()) / (n - 1)
    judges = n * float(((raters - grand) ** 2).sum()) / (k - 1)
    error = float((residual**2).sum()) / ((n - 1) * (k - 1))
    # Rounding leaves dust where a mean square is 0; how much depends on the size of the scores.
    dust = 1e-12 * max(1.0, float(np.abs(complete).max())) ** 2
    bottom = between + (k - 1) * error + k * (judges - error) / n
    if bottom <= dust:
        why = "the scores do not vary" if between <= dust else "the units do not differ more than chance allows"
        return undefined(why, n)
    value = (between - error) / bottom
    if error <= dust:
        return Estimate(min(1.0, value), n=n, note="no interval: the raters leave no error to estimate it from")
    # McGraw and Wong's interval, by Satterthwaite's degrees of freedom.
    shared = n * (1.0 + (k - 1) * value) - k * value
    by_judges = k * value * judges / error
    spread = (n - 1) * by_judges**2 + shared**2
    df = max((k - 1) * (n - 1) * (by_judges + shared) ** 2 / spread, 1e-3) if spread > 0 else (k - 1.0) * (n - 1)
    f_low, f_high = f_quantile(0.5 + 0.5 * level, n - 1, df), f_quantile(0.5 + 0.5 * level, df, n - 1)
    rest = k * judges + (k * n - k - n) * error
    low = n * (between - f_low * error) / (f_low * rest + n * between)
    high = n * (f_high * between - error) / (rest + n * f_high * between)
    return Estimate(min(1.0, value), low, min(1.0, high), n)
