"""Rank correlation of two lists of scores: Spearman's ρ and Kendall's τ-b.

Both are a moment of the two over the root of each one's own. The moments are sums over pairs or triples of units, so
each resample would have to be ranked again. Beyond `EXACT` different pairs of values the moments of resamples are taken
to the first order instead: from what each unit contributes to them, which costs one ranking in all.
"""

import numpy as np

from evenhand.statistics.confusion import Cross, cross
from evenhand.statistics.estimate import MISSING, NO_SHARED, AnyInts, Estimate, FloatArray, IntArray, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, ratio

EXACT = 300
"""Different pairs of values up to which every resample is ranked by itself."""
CONSTANT = "one of the two does not vary"


def cross_scores(a: FloatArray, b: FloatArray, clusters: AnyInts | None = None) -> Cross:
    """Two lists of numbers, NaN where there is none; such units are left out.

    The labels are the different numbers, which are their scores; the correlations use only the order within each list.
    """
    both = np.concatenate((a, b))
    values = np.unique(both[~np.isnan(both)])
    codes = np.where(np.isnan(both), MISSING, np.searchsorted(values, both)).astype(np.int64)
    return cross(codes[: a.size], codes[a.size :], values.size, values, clusters)


def spearman(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """Rank correlation of two raters, from their confusion table; ties have their mean rank.

    Range -1 to 1. Level: ordinal. Undefined if a rater gave one label throughout, and without shared units.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    x, y = _Side(pair.rows), _Side(pair.columns)
    if len(pair.rows) <= EXACT:

        def value(drawn: FloatArray) -> FloatArray:
            # Mid-ranks measured from their middle have mean 0, so the products are the moments.
            a, b = x.ranks(drawn), y.ranks(drawn)
            return _correlation(np.stack([(drawn * product).sum(axis=-1) for product in (a * b, a * a, b * b)], -1))

        return pair.sample.estimate_by_rows(value, pair.n, CONSTANT, plan)
    times = pair.sample.times.astype(np.float64)
    a, b = x.ranks(times), y.ranks(times)
    both = a * b - x.ranks(times * b) - y.ranks(times * a)
    own = (one * one - 2.0 * side.ranks(times * one) for side, one in ((x, a), (y, b)))
    return _first_order(pair, np.stack((both, *own), axis=1), 3, plan)


def kendall(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """Kendall's τ-b: pairs of units in the same order less those in opposite order, over the root of the pairs that
    the first rater does not tie, times those that the second does not tie.

    Range -1 to 1. Level: ordinal. Undefined if a rater gave one label throughout, and without shared units.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    x, y = _Side(pair.rows), _Side(pair.columns)
    if len(pair.rows) <= EXACT:
        order = x.signs() * y.signs()

        def value(drawn: FloatArray) -> FloatArray:
            untied = [drawn.sum(axis=-1) ** 2 - (side.margins(drawn) ** 2).sum(axis=-1) for side in (x, y)]
            return _correlation(np.stack((((drawn @ order) * drawn).sum(axis=-1), *untied), -1))

        return pair.sample.estimate_by_rows(value, pair.n, CONSTANT, plan)
    times = pair.sample.times.astype(np.float64)
    untied = [pair.n - side.margins(times)[side.levels] for side in (x, y)]
    return _first_order(pair, 2.0 * np.stack((_concordance(x, y, times), *untied), axis=1), 2, plan)


def _correlation(moments: FloatArray) -> FloatArray:
    """The first moment over the roots of the other two."""
    roots = np.sqrt(np.maximum(moments[..., 1:], 0.0))
    return np.clip(ratio(moments[..., 0], roots[..., 0] * roots[..., 1]), -1.0, 1.0)


def _first_order(pair: Cross, slopes: FloatArray, degree: int, plan: Resampling | None) -> Estimate:
    """The correlation from the slopes of its moments in the weight of each different pair.

    A moment is a form of some degree in the weights, so its slopes sum up to it that many times over.
    """
    beyond = (degree - 1) / degree * (pair.sample.times @ slopes) / pair.n
    return pair.sample.estimate(slopes - beyond, _correlation, pair.n, CONSTANT, plan)


class _Side:
    """One rater's levels, to be ranked under any weights of the different pairs."""

    def __init__(self, codes: IntArray) -> None:
        self.levels = np.unique(codes, return_inverse=True)[1].reshape(-1)
        self.order = np.argsort(self.levels, kind="stable")
        self._starts = np.searchsorted(self.levels[self.order], np.arange(int(self.levels.max()) + 1))

    def signs(self) -> FloatArray:
        """For each two of the pairs, 1, 0 or -1 by which has the higher level."""
        return np.sign(self.levels[:, None] - self.levels).astype(np.float64)

    def margins(self, drawn: FloatArray) -> FloatArray:
        """The weight of each level."""
        return np.add.reduceat(drawn[..., self.order], self._starts, axis=-1)

    def ranks(self, drawn: FloatArray) -> FloatArray:
        """The mid-rank of each pair's level, measured from the middle rank."""
        margin = self.margins(drawn)
        middle = np.cumsum(margin, axis=-1) - 0.5 * margin - 0.5 * margin.sum(axis=-1, keepdims=True)
        return middle[..., self.levels]

    def below(self, *, or_equal: bool) -> IntArray:
        """How many of the different pairs have a lower level than each, or no higher one."""
        ends = np.append(self._starts, self.levels.size)
        return ends[self.levels + or_equal]


def _concordance(x: _Side, y: _Side, times: FloatArray) -> FloatArray:
    """For each different pair, the weight of those in the same order with it less that of those in opposite order."""
    lower = [
        _weight_below(y.levels[x.order], times[x.order], x.below(or_equal=or_equal), y.levels + also)
        for or_equal in (False, True)
        for also in (0, 1)
    ]
    return np.sum(lower, axis=0) - times.sum() - 2.0 * (x.ranks(times) + y.ranks(times))


def _weight_below(levels: IntArray, weights: FloatArray, first: IntArray, bounds: IntArray) -> FloatArray:
    """For each query, the weight among the `first` so many whose level is below a bound.

    A wavelet matrix: the levels are sorted bit by bit from the highest, and each query follows its bound's bits.
    """
    starts, ends, found = np.zeros_like(first), first, np.zeros(first.size)
    for bit in reversed(range(int(bounds.max()).bit_length())):
        high, above = (levels >> bit) & 1, (bounds >> bit) & 1 == 1
        zeros = np.concatenate(([0], np.cumsum(1 - high)))
        held = np.concatenate(([0.0], np.cumsum(weights * (1 - high))))
        found += np.where(above, held[ends] - held[starts], 0.0)
        starts, ends = (np.where(above, zeros[-1] + at - zeros[at], zeros[at]) for at in (starts, ends))
        order = np.argsort(high, kind="stable")
        levels, weights = levels[order], weights[order]
    return found
