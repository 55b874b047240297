"""The six intraclass correlations of Shrout and Fleiss, with their F intervals."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.agreement.arrays import FloatArray
from evenhand.agreement.distributions import f_quantile
from evenhand.agreement.result import Estimate, undefined

Form = Literal["ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"]
FORMS: tuple[Form, ...] = ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """The mean squares of a complete units × raters table."""

    units: int
    raters: int
    between: float
    within: float
    judges: float
    error: float


def mean_squares(scores: FloatArray) -> MeanSquares:
    """The two-way analysis of variance without replication."""
    n, k = scores.shape
    grand = float(scores.mean())
    rows, columns = scores.mean(axis=1), scores.mean(axis=0)
    between = k * float(((rows - grand) ** 2).sum())
    judges = n * float(((columns - grand) ** 2).sum())
    residual = scores - rows[:, None] - columns[None, :] + grand
    error = float((residual**2).sum())
    within = float(((scores - rows[:, None]) ** 2).sum())
    return MeanSquares(
        units=n,
        raters=k,
        between=between / (n - 1),
        within=within / (n * (k - 1)),
        judges=judges / (k - 1),
        error=error / ((n - 1) * (k - 1)),
    )


def icc(scores: FloatArray, form: Form = "ICC2", level: float = 0.95) -> Estimate:
    """How much of the variance of scores lies between units.

    `scores` is units × raters, NaN where a rater did not rate; units with a missing score are left out (`n` counts
    those used). ICC1: each unit has other raters; ICC2: the raters are a sample, and their severity counts against
    agreement; ICC3: these raters only, severity forgiven; the forms with k judge the mean of all raters. Range: at
    most 1; may be negative. Level: interval. Undefined with fewer than two complete units or raters, and where the
    scores do not vary.
    """
    complete = scores[~np.isnan(scores).any(axis=1)] if scores.size else scores.reshape(0, scores.shape[1])
    n, k = complete.shape
    if k < 2:
        return undefined("fewer than two raters", n)
    if n < 2:
        return undefined("fewer than two units were rated by every rater", n)
    squares = mean_squares(complete)
    # Rounding leaves dust where a mean square is 0; the scores' own size says what is dust.
    dust = 1e-12 * max(1.0, float(np.abs(complete).max())) ** 2
    top, bottom = _fraction(squares, form)
    if bottom <= dust:
        why = "the scores do not vary" if squares.between <= dust else "the units do not differ more than chance allows"
        return undefined(why, n)
    noise = squares.within if form.startswith("ICC1") else squares.error
    value = min(1.0, top / bottom)
    if noise <= dust:
        return Estimate(value=value, n=n, note="no interval: the raters leave no error to estimate it from")
    low, high = _interval(squares, form, level)
    return Estimate(value=value, low=low, high=min(1.0, high), n=n)


def _fraction(s: MeanSquares, form: Form) -> tuple[float, float]:
    k, n = s.raters, s.units
    match form:
        case "ICC1":
            return s.between - s.within, s.between + (k - 1) * s.within
        case "ICC2":
            return s.between - s.error, s.between + (k - 1) * s.error + k * (s.judges - s.error) / n
        case "ICC3":
            return s.between - s.error, s.between + (k - 1) * s.error
        case "ICC1k":
            return s.between - s.within, s.between
        case "ICC2k":
            return s.between - s.error, s.between + (s.judges - s.error) / n
        case "ICC3k":
            return s.between - s.error, s.between


def _interval(s: MeanSquares, form: Form, level: float) -> tuple[float, float]:
    n, k = s.units, s.raters
    p = 0.5 + 0.5 * level
    if form.startswith("ICC2"):
        low, high = _interval_two(s, p)
        return (low, high) if form == "ICC2" else (_step_up(low, k), _step_up(high, k))
    if form.startswith("ICC1"):
        df1, df2, f = n - 1, n * (k - 1), s.between / s.within
    else:
        df1, df2, f = n - 1, (n - 1) * (k - 1), s.between / s.error
    low, high = f / f_quantile(p, df1, df2), f * f_quantile(p, df2, df1)
    if form.endswith("k"):
        # No variance between the units at all: the mean of raters has no lower limit to speak of.
        return (1.0 - 1.0 / low if low > 0 else -1e9), (1.0 - 1.0 / high if high > 0 else -1e9)
    return (low - 1.0) / (low + k - 1.0), (high - 1.0) / (high + k - 1.0)


def _interval_two(s: MeanSquares, p: float) -> tuple[float, float]:
    n, k = s.units, s.raters
    top, bottom = _fraction(s, "ICC2")
    value = top / bottom
    f_judges = s.judges / s.error
    inner = k * value * f_judges + n * (1.0 + (k - 1) * value) - k * value
    spread = (n - 1) * k**2 * value**2 * f_judges**2 + (n * (1.0 + (k - 1) * value) - k * value) ** 2
    df = max((k - 1) * (n - 1) * inner**2 / spread, 1e-3) if spread > 0 else float((k - 1) * (n - 1))
    f_low, f_high = f_quantile(p, n - 1, df), f_quantile(p, df, n - 1)
    rest = k * s.judges + (k * n - k - n) * s.error
    low = n * (s.between - f_low * s.error) / (f_low * rest + n * s.between)
    high = n * (f_high * s.between - s.error) / (rest + n * f_high * s.between)
    return low, high


def _step_up(single: float, k: int) -> float:
    """Spearman and Brown's step from one rater to the mean of `k`."""
    bottom = 1.0 + (k - 1) * single
    return k * single / bottom if bottom > 0 else -1e9
