"""Analytic intervals: proportions by Wilson, means by t, both with clusters; and what rare labels leave open."""

import math
from dataclasses import replace

import numpy as np

from evenhand.statistics.estimate import NO_RATINGS, AnyInts, Estimate, FloatArray, IntArray, undefined
from evenhand.statistics.intervals.distributions import NORMAL, t_quantile
from evenhand.text import counted

ONE_BLOCK = "no interval: there is only one unit or cluster"
MOSTLY_EQUAL = 0.75
"""Share of one value from which on the interval of a mean allows for skewness."""
FEWEST_DIFFERENT = 5
"""Units or clusters off the commonest value below which such a mean has no interval.

With 95 of 100 ratings equal on average and the others spread over the scale, the interval covers 84 to 97 % without
this limit, depending on how far the others are away, and 95 % or more with it.
"""


def wilson(successes: float, n: float, level: float = 0.95, z: float | None = None) -> tuple[float, float]:
    """Wilson's score interval for a proportion; `n` may be an effective size that is not a whole number."""
    z = NORMAL.inv_cdf(0.5 + 0.5 * level) if z is None else z
    share, square = successes / n, z * z
    middle = (share + square / (2.0 * n)) / (1.0 + square / n)
    reach = z * math.sqrt(share * (1.0 - share) / n + square / (4.0 * n * n)) / (1.0 + square / n)
    # At a share of 0 or 1 the end is exactly that, which rounding may miss.
    low = 0.0 if successes <= 0 else max(0.0, middle - reach)
    high = 1.0 if successes >= n else min(1.0, middle + reach)
    return low, high


def proportion(hits: FloatArray, clusters: AnyInts | None = None, level: float = 0.95) -> Estimate:
    """The share of ones among zeros and ones, with Wilson's interval. Range 0 to 1. Undefined without units.

    With clusters the interval is that of `clustered_share`.
    """
    n = int(hits.size)
    if n == 0:
        return undefined(NO_RATINGS)
    if clusters is not None:
        totals, sizes = _by_cluster(hits, clusters)
        return clustered_share(totals, sizes, np.ones(len(sizes), dtype=np.int64), level)
    share = float(hits.mean())
    low, high = wilson(share * n, n, level)
    return Estimate(value=share, low=low, high=high, n=n)


def clustered_share(hits: FloatArray, sizes: FloatArray, times: IntArray, level: float = 0.95) -> Estimate:
    """A share over clusters: `times` clusters have `hits` of `sizes` units each. At least one must have a unit.

    Wilson's interval at the effective size: units divided by how much the clusters inflate the variance (never below
    1), with the t quantile of clusters less one. If all units agree, nothing shows that inflation; each cluster then
    counts as one unit.
    """
    n, groups = int(times @ sizes), int(times[sizes > 0].sum())
    share = float(times @ hits) / n
    if groups < 2:
        return Estimate(value=share, n=n, note=ONE_BLOCK)
    variance = groups / (groups - 1.0) * float(times @ (hits - share * sizes) ** 2) / n**2
    plain = share * (1.0 - share) / n
    effective = float(groups) if plain == 0.0 else n / max(1.0, variance / plain)
    low, high = wilson(share * effective, effective, level, t_quantile(0.5 + 0.5 * level, groups - 1))
    return Estimate(value=share, low=low, high=high, n=n)


def error_of_mean(values: FloatArray, clusters: AnyInts | None = None) -> tuple[float, int]:
    """The standard error of a mean over units or clusters, and its degrees of freedom (0: there is no error)."""
    apart = _apart(values, clusters)
    groups = apart.size
    return (math.sqrt(groups / (groups - 1.0) * float(apart @ apart)), groups - 1) if groups > 1 else (0.0, 0)


def reach_of_mean(values: FloatArray, clusters: AnyInts | None = None, level: float = 0.95) -> tuple[float, float]:
    """How far the t interval of a mean reaches below and above it; both 0 if there is no error to derive it from.

    If most values are equal, the side with the long tail reaches further, by the first term of the Cornish-Fisher
    expansion for the studentised mean: a sample that happens to lack rare values has a mean too near the commonest
    value, and a spread too small to show it.
    """
    error, df = error_of_mean(values, clusters)
    if df == 0 or error <= 1e-15 * max(1.0, abs(float(values.mean()))):
        return 0.0, 0.0
    t = t_quantile(0.5 + 0.5 * level, df)
    longer = 0.0
    if np.unique(values, return_counts=True)[1].max() >= MOSTLY_EQUAL * values.size:
        apart = _apart(values, clusters)
        skewness = float((apart**3).mean()) / float((apart**2).mean()) ** 1.5
        longer = skewness * (2.0 * t * t + 1.0) / (6.0 * math.sqrt(apart.size))
    return error * max(t, t - longer), error * max(t, t + longer)


def mean(values: FloatArray, clusters: AnyInts | None = None, level: float = 0.95) -> Estimate:
    """The mean with its t interval, over clusters if given. Range: that of the values. Level: interval.

    Undefined without values; no interval from one value or one cluster, if all values are equal, or if most are and
    fewer than five others, all to one side, decide how far the mean is away.
    """
    n = int(values.size)
    if n == 0:
        return undefined(NO_RATINGS)
    centre = float(values.mean())
    below, above = reach_of_mean(values, clusters, level)
    if below == 0.0:
        single = n == 1 or (clusters is not None and np.unique(clusters).size == 1)
        return Estimate(value=centre, n=n, note=ONE_BLOCK if single else "no interval: all values are equal")
    if few := few_differ(values, clusters):
        return Estimate(value=centre, n=n, note=few)
    return Estimate(value=centre, low=centre - below, high=centre + above, n=n)


def within(found: Estimate, lowest: float, highest: float) -> Estimate:
    """An estimate cut off at the ends of the scale."""
    ends = (found.value, found.low, found.high)
    value, low, high = (None if end is None else min(highest, max(lowest, end)) for end in ends)
    return replace(found, value=value, low=low, high=high)


def few_differ(values: FloatArray, clusters: AnyInts | None) -> str | None:
    """Why a mean has no interval: most values are equal, and too few differ, all of them in one direction."""
    seen, times = np.unique(values, return_counts=True)
    common = seen[times.argmax()]
    differ = values != common
    blocks = int(differ.sum()) if clusters is None else np.unique(clusters[differ]).size
    if blocks >= FEWEST_DIFFERENT or times.max() < MOSTLY_EQUAL * values.size or seen[0] < common < seen[-1]:
        return None
    return f"no interval: only {counted(blocks, 'unit' if clusters is None else 'cluster')} off the commonest value"


def _apart(values: FloatArray, clusters: AnyInts | None) -> FloatArray:
    """How far each unit, or the units of each cluster together, move the mean."""
    if clusters is None:
        return (values - values.mean()) / values.size
    totals, sizes = _by_cluster(values, clusters)
    return (totals - values.mean() * sizes) / values.size


def _by_cluster(values: FloatArray, clusters: AnyInts) -> tuple[FloatArray, FloatArray]:
    _, inverse = np.unique(clusters, return_inverse=True)
    totals: FloatArray = np.bincount(inverse.reshape(-1), weights=values).astype(np.float64)
    return totals, np.bincount(inverse.reshape(-1)).astype(np.float64)


FEW = 10.0
"""Units that agree off the commonest label; from here on the bootstrap has enough to draw from."""
MOST = 0.6
"""Share of units off the commonest label beyond which no label is so common that the others are rare."""
NOTE = "few units agree on any but the commonest label: the interval is widened"


def rare_side(table: FloatArray, times: IntArray) -> tuple[int, int, float]:
    """How many units were rated twice, with a rating off the commonest label, and how many of these agree on it.

    `times` is how many units have each row of label counts. A unit with more than two ratings adds the share of its
    pairs off the commonest label that are the same.
    """
    common = int(np.argmax(times @ table))
    raters = table.sum(axis=1)
    table, times, raters = table[raters >= 2], times[raters >= 2], raters[raters >= 2]
    most = table[:, common]
    # Pairs of a unit's ratings with at least one off the commonest label, and those of them that agree.
    pairs = raters * (raters - 1.0) - most * (most - 1.0)
    same = (table * (table - 1.0)).sum(axis=1) - most * (most - 1.0)
    share = np.divide(same, pairs, out=np.zeros_like(same), where=pairs > 0)
    return int(times.sum()), int(times[pairs > 0].sum()), float(times @ share)


def widened(found: Estimate, rare: tuple[int, int, float], blocks: int, level: float) -> Estimate:
    """A chance-corrected coefficient with an interval that holds what few units leave open; unchanged if they are many.

    When nearly all ratings are one label, the coefficient rests on the few units where a rater gave another. If in the
    sample no two ratings of those units happen to agree, no resample can make them agree, and the bootstrap's upper end
    stops short of the truth. What is uncertain is then a plain share: of the units off the commonest label, those where
    the ratings agree. Its Wilson interval, carried over to the coefficient, is the least the interval must hold.
    `rare` is from `rare_side`; `blocks` is how many independent blocks the units make up.
    """
    n, involved, agreeing = rare
    if found.value is None or found.low is None or found.high is None or agreeing >= FEW:
        return found
    if involved < 1 or agreeing >= involved or involved > MOST * n:
        return found

    def disagreement(share: float) -> float:
        """How far observed exceeds expected disagreement if this share of the involved units agreed."""
        size = min(0.5 * involved / n * (1.0 + share), 0.5)
        return (1.0 - share) / (size * (1.0 - size))

    # Units of one block are not independent: what counts is how many blocks they make up.
    effective = max(1.0, involved * min(1.0, blocks / n))
    seen = agreeing / involved
    unit = (1.0 - found.value) / disagreement(seen)
    ends = [max(-1.0, 1.0 - unit * disagreement(share)) for share in wilson(seen * effective, effective, level)]
    note = NOTE if found.note is None else f"{found.note}; {NOTE}"
    return replace(found, low=min(found.low, *ends), high=max(found.high, *ends), note=note)
