"""Correlation of two raters' scores: Pearson, Spearman, Kendall's τ-b; Kendall's W for more raters."""

from typing import Literal

import numpy as np

from evenhand.agreement.arrays import AnyInts, FloatArray, IntArray
from evenhand.agreement.blocks import cluster_blocks, single_blocks, unique_rows
from evenhand.agreement.bootstrap import DEFAULT, Plan, Sample, Statistic, estimate, sample_of
from evenhand.agreement.cross import Cross
from evenhand.agreement.ratio import ratio
from evenhand.agreement.result import NO_SHARED, Estimate, undefined

Method = Literal["pearson", "spearman", "kendall"]
_CONSTANT = "one of the two does not vary"
_MOST = {"pearson": 10**9, "spearman": 5_000, "kendall": 1_500}


def pair_correlation(pair: Cross, method: Method, plan: Plan | None = DEFAULT) -> Estimate:
    """Correlation of two raters of one scale, from their confusion table.

    Range -1 to 1. Level: interval for `pearson` (it reads the labels' scores), ordinal for `spearman` and `kendall`
    (τ-b, ties corrected). Undefined where a rater gave one label throughout, and without shared units.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    rows, columns = np.divmod(np.arange(pair.table.size), pair.labels)
    if method == "pearson":
        linear = _products(pair.scores[rows], pair.scores[columns])
        return estimate(
            sample_of(pair.blocks, linear[pair.cells]), _pearson, pair.n, _CONSTANT, plan, pair.resampler(plan)
        )
    statistic = _spearman(rows, columns) if method == "spearman" else _kendall(rows, columns)
    return estimate(pair.sample, statistic, pair.n, _CONSTANT, plan, pair.resampler(plan))


def correlation(
    x: FloatArray, y: FloatArray, method: Method, clusters: AnyInts | None = None, plan: Plan | None = DEFAULT
) -> Estimate:
    """Correlation of two lists of numbers, NaN where missing; range, level and undefined cases as `pair_correlation`.

    There is no interval past 5,000 different pairs of values for `spearman` and 1,500 for `kendall`.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    n = int(both.sum())
    if n == 0:
        return undefined(NO_SHARED)
    x_values, x_codes = np.unique(x[both], return_inverse=True)
    y_values, y_codes = np.unique(y[both], return_inverse=True)
    if len(x_values) < 2 or len(y_values) < 2:
        return undefined(_CONSTANT, n)
    rows, inverse, times = unique_rows(np.stack((x_codes.reshape(-1), y_codes.reshape(-1)), axis=1))
    blocks = single_blocks(times) if clusters is None else cluster_blocks(inverse, clusters[both])
    if method == "pearson":
        products = _products(x_values[rows[:, 0]], y_values[rows[:, 1]])
        return estimate(sample_of(blocks, products), _pearson, n, _CONSTANT, plan)
    if len(rows) > _MOST[method]:
        pairs = times[None, :].astype(np.float64)
        value = float(_spearman(rows[:, 0], rows[:, 1])(pairs)[0]) if method == "spearman" else _long_tau(rows, times)
        return Estimate(value=value, n=n, note=f"no interval: more than {_MOST[method]} different pairs of values")
    statistic = _spearman(rows[:, 0], rows[:, 1]) if method == "spearman" else _kendall(rows[:, 0], rows[:, 1])
    sums = blocks.fold(np.eye(len(rows))) if blocks.clustered else None
    return estimate(Sample(blocks=blocks, sums=sums), statistic, n, _CONSTANT, plan)


def kendall_w(scores: FloatArray, ties: bool = True) -> Estimate:
    """Kendall's concordance of several raters' rankings. Range 0 to 1. Level: ordinal.

    `scores` is units × raters; units with a missing score (NaN) are left out. `ties` corrects for tied ranks. Undefined
    with fewer than two units or raters, and where no rater tells the units apart.
    """
    complete = scores[~np.isnan(scores).any(axis=1)]
    n, m = complete.shape
    if n < 2 or m < 2:
        return undefined("fewer than two units or raters", n)
    ranks = np.empty_like(complete)
    tied = 0.0
    for rater in range(m):
        _, codes, times = np.unique(complete[:, rater], return_inverse=True, return_counts=True)
        ranks[:, rater] = (np.cumsum(times) - 0.5 * (times - 1.0))[codes.reshape(-1)]
        tied += float((times.astype(np.float64) ** 3 - times).sum())
    totals = ranks.sum(axis=1)
    spread = float(((totals - totals.mean()) ** 2).sum())
    bottom = m**2 * (n**3 - n) - (m * tied if ties else 0.0)
    if bottom <= 0.0:
        return undefined("no rater tells the units apart", n)
    return Estimate(value=12.0 * spread / bottom, n=n, note="no interval: none is standard")


def _products(x: FloatArray, y: FloatArray) -> FloatArray:
    # Centring first keeps the products small, so that the variances below lose no digits.
    u, v = x - x.mean(), y - y.mean()
    return np.stack((np.ones_like(u), u, v, u * u, v * v, u * v), axis=1)


def _from_products(
    n: FloatArray, u: FloatArray, v: FloatArray, uu: FloatArray, vv: FloatArray, uv: FloatArray
) -> FloatArray:
    left, right = uu * n - u * u, vv * n - v * v
    # What rounding leaves of a variance of 0 is no variance.
    flat = (left <= 1e-12 * uu * n) | (right <= 1e-12 * vv * n)
    bottom = np.where(flat, 0.0, np.sqrt(np.maximum(left, 0.0)) * np.sqrt(np.maximum(right, 0.0)))
    return np.clip(ratio(uv * n - u * v, bottom), -1.0, 1.0)


def _pearson(sums: FloatArray) -> FloatArray:
    n, u, v, uu, vv, uv = (sums[..., i] for i in range(6))
    return _from_products(n, u, v, uu, vv, uv)


def _margin(order: IntArray, starts: IntArray, drawn: FloatArray) -> FloatArray:
    return np.add.reduceat(drawn[..., order], starts, axis=-1)


def _sorted_levels(codes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The order that sorts the cells by level, where each level starts, and each cell's level among those present."""
    levels, place = np.unique(codes, return_inverse=True)
    order = np.argsort(place.reshape(-1), kind="stable")
    starts = np.searchsorted(codes[order], levels)
    return order, starts, place.reshape(-1)


def _spearman(rows: IntArray, columns: IntArray) -> Statistic:
    across, down = _sorted_levels(rows), _sorted_levels(columns)

    def ranks(levels: tuple[IntArray, IntArray, IntArray], drawn: FloatArray) -> FloatArray:
        margin = _margin(levels[0], levels[1], drawn)
        middle = np.cumsum(margin, axis=-1) - 0.5 * margin - 0.5 * margin.sum(axis=-1, keepdims=True)
        return middle[..., levels[2]]

    def value(drawn: FloatArray) -> FloatArray:
        x, y = ranks(across, drawn), ranks(down, drawn)
        # Mid-ranks taken from their middle have mean 0, so the products are the moments.
        xx, yy, xy = ((drawn * x * x).sum(axis=-1), (drawn * y * y).sum(axis=-1), (drawn * x * y).sum(axis=-1))
        zero = np.zeros_like(xx)
        return _from_products(np.ones_like(xx), zero, zero, xx, yy, xy)

    return value


def _kendall(rows: IntArray, columns: IntArray) -> Statistic:
    sign = np.sign(np.subtract.outer(rows, rows) * np.subtract.outer(columns, columns)).astype(np.float64)
    across, down = _sorted_levels(rows), _sorted_levels(columns)

    def untied(levels: tuple[IntArray, IntArray, IntArray], drawn: FloatArray) -> FloatArray:
        margin = _margin(levels[0], levels[1], drawn)
        return margin.sum(axis=-1) ** 2 - (margin**2).sum(axis=-1)

    def value(drawn: FloatArray) -> FloatArray:
        ordered = ((drawn @ sign) * drawn).sum(axis=-1)
        n = drawn.sum(axis=-1)
        left, right = untied(across, drawn), untied(down, drawn)
        bottom = np.sqrt(np.maximum(left, 0.0)) * np.sqrt(np.maximum(right, 0.0))
        return np.clip(ratio(ordered, np.where(bottom <= 1e-9 * n * n, 0.0, bottom)), -1.0, 1.0)

    return value


def _long_tau(rows: IntArray, times: IntArray) -> float:
    """τ-b on many different pairs, a strip of the pairs' matrix at a time."""
    x, y, weight = rows[:, 0], rows[:, 1], times.astype(np.float64)
    ordered, step = 0.0, max(1, 4_000_000 // len(rows))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        sign = np.sign(np.subtract.outer(x[part], x) * np.subtract.outer(y[part], y))
        ordered += float(weight[part] @ (sign @ weight))
    n = float(weight.sum())
    left = n**2 - float((np.bincount(x, weights=weight) ** 2).sum())
    right = n**2 - float((np.bincount(y, weights=weight) ** 2).sum())
    return ordered / float(np.sqrt(left) * np.sqrt(right))
