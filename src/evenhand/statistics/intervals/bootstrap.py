"""Samples of units or clusters, and BCa bootstrap intervals of statistics on them.

A statistic is a function of sums over the sample. Equal units are held once with how often they occur, so a resample is
a set of weights and not a copy of the data: a million units cost little more than a thousand.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.statistics.estimate import NO_RATINGS, AnyInts, BoolArray, Estimate, FloatArray, IntArray, undefined
from evenhand.statistics.intervals.analytic import ONE_BLOCK, rare_side, widened
from evenhand.statistics.intervals.distributions import NORMAL, t_quantile

Statistic = Callable[[FloatArray], FloatArray]
"""From sums, shape (…, s), to values, shape (…); NaN marks a draw on which the statistic is undefined."""

_CHUNK = 4_000_000
"""Numbers that are held in memory at once."""
_MANY_EQUAL = 12
"""Blocks of each kind, on average, from which on counts are drawn faster than single blocks."""
_LARGE = 5_000
"""Blocks from which on the sums are drawn from their normal limit."""
_WIDE = 500
"""Sums beyond which that limit's covariance costs more than the draws it saves."""
_SELDOM = 100
"""Blocks with a sum below which that sum is too rare for a normal limit."""
_FEW = 1_000_000
"""Numbers of which a statistic may hold several copies at once."""
_GROUPS = 1_000
"""Kinds of blocks beyond which the jackknife leaves out groups of them, if a statistic reads every row."""
_FEW_CLUSTERS = 100
"""Clusters below which kurtosis is estimated too low, so that half as many count as seem to carry the variance."""
_MOST_UNDEFINED = 0.2
"""Share of undefined resamples beyond which there is no interval."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are drawn: number of resamples, seed, level.

    The same plan on the same data gives the same interval.
    """

    replicates: int = 2000
    seed: int = 0
    level: float = 0.95


DEFAULT = Resampling()


def ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """`top / bottom`, NaN where `bottom` is 0, without NumPy's warnings."""
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


def first_over_second(sums: FloatArray) -> FloatArray:
    """The first sum over the second: the statistic of every plain share and mean."""
    return ratio(sums[..., 0], sums[..., 1])


@dataclass(frozen=True)
class Sample:
    """Units described by rows of numbers, and the blocks that the bootstrap draws: single units, or clusters of units.

    `rows` are the different rows, `times` says how many units have each. `blocks` says how many blocks there are of
    each kind. Without clusters a block is a unit, and its kind is its row. With clusters a kind is a multiset of rows:
    its members are the rows `member_row[i]` for which `member_kind[i]` is the kind.
    """

    rows: npt.NDArray[Any]
    times: IntArray
    blocks: IntArray
    member_kind: IntArray | None = None
    member_row: IntArray | None = None
    _kept: dict[Resampling, FloatArray] = field(default_factory=dict[Resampling, FloatArray], repr=False, compare=False)

    @classmethod
    def of(cls, rows: npt.NDArray[Any], clusters: AnyInts | None = None) -> "Sample":
        """A sample from one row for each unit; `clusters` gives the cluster of each unit."""
        different, place, times = distinct_rows(rows)
        if clusters is None or not len(rows):
            return cls(different, times, times)
        return cls(different, times, *_kinds(place, clusters))

    @cached_property
    def n_blocks(self) -> int:
        """How many independent blocks there are."""
        return int(self.blocks.sum())

    @property
    def few_clusters(self) -> bool:
        """Whether blocks are few and have several units."""
        return self.n_blocks < min(_FEW_CLUSTERS, int(self.times.sum()))

    @property
    def block(self) -> str:
        """What a block is."""
        return "unit" if self.member_kind is None else "cluster"

    def by_block(self, per_row: FloatArray) -> FloatArray:
        """Sums over each kind of block, from the sums of each row."""
        if self.member_kind is None or self.member_row is None:
            return per_row
        out = np.empty((len(self.blocks), per_row.shape[1]))
        for column in range(per_row.shape[1]):
            weights = per_row[self.member_row, column]
            out[:, column] = np.bincount(self.member_kind, weights=weights, minlength=len(self.blocks))
        return out

    def blocks_with(self, rows: BoolArray) -> int:
        """How many blocks have at least one of these rows."""
        return int(self.blocks[self.by_block(rows[:, None].astype(np.float64))[:, 0] > 0].sum())

    def draws(self, plan: Resampling) -> Iterator[FloatArray]:
        """Resamples in chunks: how often each kind of block is drawn. Kept if small, so that statistics share them."""
        kinds = len(self.blocks)
        if plan not in self._kept:
            chunks = self._drawn(plan)
            if plan.replicates * kinds > _CHUNK:
                yield from chunks
                return
            self._kept[plan] = np.concatenate(list(chunks))
        yield self._kept[plan]

    def _drawn(self, plan: Resampling) -> Iterator[FloatArray]:
        """Multinomial counts; drawn block by block if hardly two blocks are equal, which is then twice as fast."""
        generator = np.random.default_rng(plan.seed)
        kinds, n = len(self.blocks), self.n_blocks
        one_by_one = n < _MANY_EQUAL * kinds
        kind_of_block = np.repeat(np.arange(kinds), self.blocks)
        step = max(1, _FEW // n if one_by_one else _CHUNK // kinds)
        for start in range(0, plan.replicates, step):
            size = min(step, plan.replicates - start)
            if one_by_one:
                cells = kind_of_block[generator.integers(0, n, size=(size, n))] + np.arange(size)[:, None] * kinds
                drawn = np.bincount(cells.reshape(-1), minlength=size * kinds).reshape(size, kinds)
            else:
                drawn = generator.multinomial(n, self.blocks / n, size=size)
            yield drawn.astype(np.float64)

    def estimate(
        self,
        per_row: FloatArray,
        statistic: Statistic,
        n: int,
        why: str,
        plan: Resampling | None = DEFAULT,
        chance: float | None = None,
        rare: FloatArray | None = None,
        informative: int | None = None,
        no_interval: str | None = None,
    ) -> Estimate:
        """A statistic of the sums of `per_row`, with its BCa interval; `why` is the reason if it is undefined.

        No interval with fewer than two blocks, if every resample gives the same value, or if more than a fifth of the
        resamples leave the statistic undefined; fewer are left out and counted in the note. `chance` is an agreement
        coefficient's expected disagreement, as a share of the largest; with it a value of 1 has an interval too.
        `rare`, the label counts of each row, widens the interval if few units agree on a rare label. If at most
        `informative` blocks decide the value, the tails are those of as few blocks as carry its variance; `no_interval`
        says why they are too few. Without a plan there is no interval.
        """
        if len(self.blocks) == 0:
            return undefined(why, n)
        sums = self.by_block(per_row)
        total = self.blocks.astype(np.float64) @ sums
        value = float(statistic(total[None, :])[0])
        if not math.isfinite(value):
            return undefined(why, n)
        if plan is None:
            return Estimate(value=value, n=n)
        if self.n_blocks < 2 or no_interval is not None:
            return Estimate(value=value, n=n, note=ONE_BLOCK if no_interval is None else f"no interval: {no_interval}")
        if value == 1.0 and chance is not None:
            # How far below 1 the truth may lie: the disagreement that may be unseen, over that which chance leaves.
            return self.perfect(1.0 - self.unseen(plan.level) / float(chance) if chance > 0.0 else -1.0, n)
        draws, left = self._replicates(sums, statistic, plan), self._jackknife(sums, statistic)
        carrying = _carrying(left, self.blocks) // (2 if self.few_clusters else 1)
        blocks = self.n_blocks if informative is None else max(2, min(informative, carrying))
        found = self._resampled(value, draws, _skew(left, self.blocks), n, plan, blocks)
        return found if rare is None else widened(found, rare_side(rare, self.times), self.n_blocks, plan.level)

    def estimate_by_rows(self, statistic: Statistic, n: int, why: str, plan: Resampling | None = DEFAULT) -> Estimate:
        """As `estimate`, of a statistic that reads how often each row was drawn: one of ranks, for instance."""
        value = float(statistic(self.times[None, :].astype(np.float64))[0]) if len(self.blocks) else math.nan
        if not math.isfinite(value):
            return undefined(why, n)
        if plan is None or self.n_blocks < 2:
            return Estimate(value=value, n=n, note=None if plan is None else ONE_BLOCK)
        size = max(1, _FEW // len(self.rows))
        draws = [
            statistic(self._row_weights(drawn[start : start + size]))
            for drawn in self.draws(plan)
            for start in range(0, len(drawn), size)
        ]
        kinds = len(self.blocks)
        groups = np.arange(kinds) % _GROUPS
        left: list[FloatArray] = []
        for start in range(0, min(kinds, _GROUPS), size):
            some = np.flatnonzero((groups >= start) & (groups < start + size))
            out = np.zeros((int(groups[some].max()) - start + 1, kinds))
            out[groups[some] - start, some] = 1 if kinds <= _GROUPS else self.blocks[some]
            left.append(statistic(self.times - self._row_weights(out)))
        weights = self.blocks if kinds <= _GROUPS else np.ones(_GROUPS, dtype=np.int64)
        skew = _skew(np.concatenate(left), weights)
        return self._resampled(value, np.concatenate(draws), skew, n, plan, self.n_blocks)

    def _row_weights(self, drawn: FloatArray) -> FloatArray:
        """How often each row is drawn, from how often each kind of block is."""
        if self.member_kind is None or self.member_row is None:
            return drawn
        order = np.argsort(self.member_row, kind="stable")
        starts = np.searchsorted(self.member_row[order], np.arange(len(self.rows)))
        return np.add.reduceat(drawn[:, self.member_kind[order]], starts, axis=1)

    def _resampled(
        self, value: float, draws: FloatArray, acceleration: float, n: int, plan: Resampling, blocks: int
    ) -> Estimate:
        """The estimate with its BCa interval from the values on resamples, if enough of them are defined."""
        defined = draws[np.isfinite(draws)]
        lost = draws.size - defined.size
        if lost > _MOST_UNDEFINED * draws.size:
            return Estimate(value=value, n=n, note=f"no interval: undefined in {lost:,} of {draws.size:,} resamples")
        if float(defined.max() - defined.min()) <= 1e-12:
            return Estimate(value=value, n=n, note="no interval: every resample gives the same value")
        low, high = _bca(value, defined, acceleration, blocks, plan.level)
        were = "was" if lost == 1 else "were"
        note = f"{lost:,} of {draws.size:,} resamples {were} undefined and left out" if lost else None
        return Estimate(value=value, low=low, high=high, n=n, note=note)

    def _replicates(self, sums: FloatArray, statistic: Statistic, plan: Resampling) -> FloatArray:
        """The statistic on every resample; NaN where it is undefined."""
        if self.n_blocks >= _LARGE and sums.shape[1] <= _WIDE:
            return statistic(_normal_limit(sums, self.blocks, plan))
        size = max(1, _CHUNK // max(1, sums.shape[1]))
        values = [
            statistic(drawn[start : start + size] @ sums)
            for drawn in self.draws(plan)
            for start in range(0, len(drawn), size)
        ]
        return np.concatenate(values)

    def _jackknife(self, sums: FloatArray, statistic: Statistic) -> FloatArray:
        """The statistic without one block of each kind."""
        total = self.blocks.astype(np.float64) @ sums
        size = max(1, _CHUNK // max(1, sums.shape[1]))
        starts = range(0, len(self.blocks), size)
        return np.concatenate([statistic(total - sums[start : start + size]) for start in starts])

    def unseen(self, level: float) -> float:
        """How often blocks may have a disagreement if none has one here: the upper end of the exact binomial."""
        return float(1.0 - (0.5 * (1.0 - level)) ** (1.0 / self.n_blocks))

    def perfect(self, low: float, n: int) -> Estimate:
        """A coefficient of 1, whose resamples have nothing to vary, with its lower end at worst."""
        if self.n_blocks < 2:
            return Estimate(value=1.0, n=n, note=ONE_BLOCK)
        note = "no disagreement was seen: the lower end is a worst case"
        return Estimate(value=1.0, low=max(-1.0, low), high=1.0, n=n, note=note)


def resampled_mean(values: FloatArray, clusters: AnyInts | None = None, plan: Resampling = DEFAULT) -> Estimate:
    """The mean with its bootstrap interval: F1 piles up at 0 and 1, far from the distribution that t expects."""
    sample = Sample.of(values[:, None], clusters)
    sums = np.concatenate((sample.rows, np.ones_like(sample.rows)), axis=1)
    return sample.estimate(sums, first_over_second, int(values.size), NO_RATINGS, plan)


def _skew(left: FloatArray, blocks: IntArray) -> float:
    """BCa's acceleration from the values without one of so many blocks; undefined ones are left out."""
    gap, times = _gaps(left, blocks)
    spread = float(times @ gap**2)
    return float(times @ gap**3) / (6.0 * spread**1.5) if spread > 1e-300 else 0.0


def _carrying(left: FloatArray, blocks: IntArray) -> int:
    """How many blocks carry the variance: fewer than there are if a few of them move the value most.

    The degrees of freedom of the jackknife's variance, 2 n / (kurtosis - 1) with n blocks; at most n.
    """
    gap, times = _gaps(left, blocks)
    square, fourth, n = float(times @ gap**2), float(times @ gap**4), float(times.sum())
    beyond = n * fourth - square**2
    return int(min(n, 2.0 * n * square**2 / beyond)) if beyond > 1e-12 * square**2 else int(n)


def _gaps(left: FloatArray, blocks: IntArray) -> tuple[FloatArray, FloatArray]:
    """How far each value without a block is from their mean, and how many blocks are of its kind."""
    defined = np.isfinite(left)
    left, times = left[defined], blocks[defined].astype(np.float64)
    return float(times @ left) / max(1.0, float(times.sum())) - left, times


def distinct_rows(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray, IntArray]:
    """The different rows of a table, the place of each row among them, and how often each occurs."""
    if rows.shape[0] == 0:
        none = np.zeros(0, dtype=np.int64)
        return rows, none, none
    key, axis = rows, 0
    if rows.shape[1] == 1:
        key, axis = rows[:, 0], None
    elif np.issubdtype(rows.dtype, np.integer) and int(rows.min()) >= 0:
        sizes = rows.max(axis=0).astype(np.int64) + 1
        if float(np.log2(sizes).sum()) < 62:
            # Small integers: one number for each row, which sorts much faster.
            key, axis = np.zeros(len(rows), dtype=np.int64), None
            for column, size in zip(rows.T, sizes, strict=True):
                key = key * size + column
    _, first, place, times = np.unique(key, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    return rows[first], place.reshape(-1).astype(np.int64), times.astype(np.int64)


def _kinds(place: IntArray, clusters: AnyInts) -> tuple[IntArray, IntArray, IntArray]:
    """How many clusters there are of each kind, and the members of the kinds: clusters of the same rows are one kind.

    Two clusters are the same kind if the sums of their rows' random 64-bit marks are equal: a multiset hash, whose
    chance of confusing two among a million clusters is below one in ten million.
    """
    order = np.argsort(clusters, kind="stable")
    rows, ordered = place[order], clusters[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.append(starts, len(ordered)))
    marks = np.random.default_rng(0x5EED).integers(0, 2**64, size=int(rows.max()) + 1, dtype=np.uint64)
    _, first, times = np.unique(np.add.reduceat(marks[rows], starts), return_index=True, return_counts=True)
    kind = np.repeat(np.arange(len(first)), lengths[first])
    within = np.arange(len(kind)) - np.repeat(np.cumsum(lengths[first]) - lengths[first], lengths[first])
    members = np.repeat(starts[first], lengths[first]) + within
    return times.astype(np.int64), kind, rows[members]


def _normal_limit(sums: FloatArray, times: IntArray, plan: Resampling) -> FloatArray:
    """Resampled totals from their normal limit: thousands of different blocks cost no more than their covariance.

    Blocks with a sum that fewer than 100 blocks have are drawn as Poisson counts: no normal limit fits a rare label.
    """
    generator = np.random.default_rng(plan.seed)
    middle = times @ sums / times.sum()
    held = times @ (sums != 0)
    rare = ((sums != 0) & (held < _SELDOM)).any(axis=1)
    centred = sums[~rare] - middle
    spread, directions = np.linalg.eigh((centred * times[~rare, None]).T @ centred)
    steps = generator.standard_normal((plan.replicates, sums.shape[1])) * np.sqrt(np.maximum(spread, 0.0))
    drawn = times @ sums + steps @ directions.T
    counts = generator.poisson(times[rare], size=(plan.replicates, int(rare.sum())))
    drawn += (counts - times[rare]) @ (sums[rare] - middle)
    # Rounding must not turn a sum of 0 into a tiny one, over which a statistic would divide.
    seldom = held < _SELDOM
    drawn[:, seldom] = counts @ sums[rare][:, seldom]
    return drawn


def _bca(value: float, draws: FloatArray, acceleration: float, n: int, level: float) -> tuple[float, float]:
    """The BCa interval with its tails widened for small samples.

    The percentile at the heart of BCa is that of a normal with the true variance; with `n` blocks it acts as if it had
    the t distribution's narrower shape. The tail is moved to Φ(√(n/(n-1))·t), Hesterberg's expanded percentile; at
    n = 30 from 2.5 % to 1.9 %, and by nothing that matters beyond some hundreds.
    """
    tail = 0.5 * (1.0 - level)
    if n > 1:
        tail = max(1e-9, NORMAL.cdf(math.sqrt(n / (n - 1.0)) * t_quantile(tail, n - 1)))
    below = (np.count_nonzero(draws < value) + 0.5 * np.count_nonzero(draws == value)) / draws.size
    shift = NORMAL.inv_cdf(min(max(below, 0.5 / draws.size), 1.0 - 0.5 / draws.size))
    levels: list[float] = []
    for z in (NORMAL.inv_cdf(tail), NORMAL.inv_cdf(1.0 - tail)):
        moved = shift + z
        speed = acceleration * moved
        levels.append(NORMAL.cdf(shift + moved / (1.0 - speed)) if speed < 1.0 else float(z > 0))
    low, high = np.quantile(draws, levels)
    return min(float(low), value), max(float(high), value)
