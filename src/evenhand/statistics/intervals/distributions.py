"""Distribution functions and quantiles of the normal, t, F and beta laws, from the standard library alone."""

import math
from functools import lru_cache
from statistics import NormalDist

NORMAL = NormalDist()
_TINY = 1e-300


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by the modified Lentz method."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    h = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + term / c
            c = c if abs(c) > _TINY else _TINY
            step = d * c
            h *= step
        if abs(step - 1.0) < 1e-15:
            break
    return h


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function: probability that a beta(a, b) is at most `x`."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1.0) / (a + b + 2.0):
        return math.exp(log_front) * _beta_fraction(a, b, x) / a
    return 1.0 - math.exp(log_front) * _beta_fraction(b, a, 1.0 - x) / b


@lru_cache(maxsize=4096)
def beta_quantile(p: float, a: float, b: float) -> float:
    """The quantile of a beta(a, b), by bisection."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if beta_cdf(middle, a, b) < p else (low, middle)
    return 0.5 * (low + high)


def t_cdf(x: float, df: float) -> float:
    """Probability that Student's t with `df` degrees of freedom is at most `x`."""
    tail = 0.5 * beta_cdf(df / (df + x * x), 0.5 * df, 0.5)
    return 1.0 - tail if x > 0 else tail


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The quantile of Student's t; a million degrees of freedom and more count as normal."""
    if df >= 1e6:
        return NORMAL.inv_cdf(p)
    if p == 0.5:
        return 0.0
    x = beta_quantile(2.0 * min(p, 1.0 - p), 0.5 * df, 0.5)
    size = math.sqrt(df * (1.0 - x) / x) if x > 0 else math.inf
    return size if p > 0.5 else -size


@lru_cache(maxsize=4096)
def f_quantile(p: float, df1: float, df2: float) -> float:
    """The quantile of an F with `df1` and `df2` degrees of freedom."""
    x = beta_quantile(p, 0.5 * df1, 0.5 * df2)
    # Near 1 the ratio x / (1 - x) loses digits; the other tail keeps them.
    rest = beta_quantile(1.0 - p, 0.5 * df2, 0.5 * df1) if x > 0.5 else 1.0 - x
    return df2 * x / (df1 * rest)


def binomial_cdf(successes: int, n: int, p: float) -> float:
    """Probability of at most `successes` in `n` trials."""
    if successes >= n:
        return 1.0
    return beta_cdf(1.0 - p, n - successes, successes + 1.0) if successes >= 0 else 0.0
