"""The intraclass correlation ICC(2,1) of Shrout and Fleiss, with its F interval."""

from dataclasses import dataclass

import numpy as np

from evenhand.statistics.arrays import FloatArray
from evenhand.statistics.estimate import Estimate, undefined
from evenhand.statistics.intervals.distributions import f_quantile


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """The mean squares of a complete units × raters table: between units, between raters, and the error."""

    units: int
    raters: int
    between: float
    judges: float
    error: float


def mean_squares(scores: FloatArray) -> MeanSquares:
    """The two-way analysis of variance without replication."""
    n, k = scores.shape
    grand = float(scores.mean())
    rows, columns = scores.mean(axis=1), scores.mean(axis=0)
    residual = scores - rows[:, None] - columns[None, :] + grand
    return MeanSquares(
        units=n,
        raters=k,
        between=k * float(((rows - grand) ** 2).sum()) / (n - 1),
        judges=n * float(((columns - grand) ** 2).sum()) / (k - 1),
        error=float((residual**2).sum()) / ((n - 1) * (k - 1)),
    )


def icc(scores: FloatArray, level: float = 0.95) -> Estimate:
    """How much of the variance of scores lies between units: two-way random, single rater, absolute agreement.

    `scores` is units × raters, NaN where a rater did not rate; units with a missing score are left out (`n` counts
    those used). The raters are a sample, and their severity counts against agreement. Range: at most 1; may be
    negative. Level: interval. Undefined with fewer than two complete units or raters, and if the scores do not vary.
    """
    complete = scores[~np.isnan(scores).any(axis=1)] if scores.size else scores.reshape(0, scores.shape[1])
    n, k = complete.shape
    if k < 2:
        return undefined("fewer than two raters", n)
    if n < 2:
        return undefined("fewer than two units were rated by every rater", n)
    squares = mean_squares(complete)
    # Rounding leaves dust where a mean square is 0; how much depends on the size of the scores.
    dust = 1e-12 * max(1.0, float(np.abs(complete).max())) ** 2
    top, bottom = _fraction(squares)
    if bottom <= dust:
        why = "the scores do not vary" if squares.between <= dust else "the units do not differ more than chance allows"
        return undefined(why, n)
    value = min(1.0, top / bottom)
    if squares.error <= dust:
        return Estimate(value=value, n=n, note="no interval: the raters leave no error to estimate it from")
    low, high = _interval(squares, top / bottom, 0.5 + 0.5 * level)
    return Estimate(value=value, low=low, high=min(1.0, high), n=n)


def _fraction(s: MeanSquares) -> tuple[float, float]:
    k, n = s.raters, s.units
    return s.between - s.error, s.between + (k - 1) * s.error + k * (s.judges - s.error) / n


def _interval(s: MeanSquares, value: float, p: float) -> tuple[float, float]:
    """McGraw and Wong's interval, by Satterthwaite's degrees of freedom."""
    n, k = s.units, s.raters
    f_judges = s.judges / s.error
    inner = k * value * f_judges + n * (1.0 + (k - 1) * value) - k * value
    spread = (n - 1) * k**2 * value**2 * f_judges**2 + (n * (1.0 + (k - 1) * value) - k * value) ** 2
    df = max((k - 1) * (n - 1) * inner**2 / spread, 1e-3) if spread > 0 else float((k - 1) * (n - 1))
    f_low, f_high = f_quantile(p, n - 1, df), f_quantile(p, df, n - 1)
    rest = k * s.judges + (k * n - k - n) * s.error
    low = n * (s.between - f_low * s.error) / (f_low * rest + n * s.between)
    high = n * (f_high * s.between - s.error) / (rest + n * f_high * s.between)
    return low, high
