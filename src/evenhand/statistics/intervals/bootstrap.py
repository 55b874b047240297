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

from evenhand.statistics.estimate import AnyInts, Estimate, FloatArray, IntArray, undefined
from evenhand.statistics.intervals.analytic import rare_side, widened
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

    def by_block(self, per_row: FloatArray) -> FloatArray:
        """Sums over each kind of block, from the sums of each row."""
        if self.member_kind is None or self.member_row is None:
            return per_row
        out = np.empty((len(self.blocks), per_row.shape[1]))
        for column in range(per_row.shape[1]):
            weights = per_row[self.member_row, column]
            out[:, column] = np.bincount(self.member_kind, weights=weights, minlength=len(self.blocks))
        return out

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
        step = max(1, _CHUNK // (n if one_by_one else kinds))
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
    ) -> Estimate:
        """A statistic of the sums of `per_row`, with its BCa interval; `why` is the reason if it is undefined.

        No interval with fewer than two blocks, if every resample gives the same value, or if more than a fifth of the
        resamples leave the statistic undefined; fewer are left out and counted in the note. `chance` is an agreement
        coefficient's expected disagreement, as a share of the largest; with it a value of 1 has an interval too.
        `rare`, the label counts of each row, widens the interval if few units agree on a rare label. Without a plan
        there is no interval.
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
        if self.n_blocks < 2:
            return Estimate(value=value, n=n, note="no interval: there is only one block to resample")
        if value == 1.0 and chance is not None:
            return self._perfect(chance, n, plan)
        draws = self._replicates(sums, statistic, plan)
        defined = draws[np.isfinite(draws)]
        lost = draws.size - defined.size
        if lost > _MOST_UNDEFINED * draws.size:
            return Estimate(value=value, n=n, note=f"no interval: undefined in {lost} of {draws.size} resamples")
        if float(defined.max() - defined.min()) <= 1e-12:
            return Estimate(value=value, n=n, note="no interval: every resample gives the same value")
        low, high = _bca(value, defined, self._acceleration(sums, statistic), self.n_blocks, plan.level)
        note = f"{lost} of {draws.size} resamples were undefined and left out" if lost else None
        found = Estimate(value=value, low=low, high=high, n=n, note=note)
        return found if rare is None else widened(found, rare_side(rare, self.times), self.n_blocks, plan.level)

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

    def _acceleration(self, sums: FloatArray, statistic: Statistic) -> float:
        """BCa's acceleration, from the statistic without one block of each kind; undefined ones are left out."""
        total = self.blocks.astype(np.float64) @ sums
        size = max(1, _CHUNK // max(1, sums.shape[1]))
        starts = range(0, len(self.blocks), size)
        left = np.concatenate([statistic(total - sums[start : start + size]) for start in starts])
        defined = np.isfinite(left)
        left, times = left[defined], self.blocks[defined].astype(np.float64)
        if times.size == 0:
            return 0.0
        gap = float(times @ left) / float(times.sum()) - left
        spread = float(times @ gap**2)
        return float(times @ gap**3) / (6.0 * spread**1.5) if spread > 1e-300 else 0.0

    def _perfect(self, chance: float, n: int, plan: Resampling) -> Estimate:
        """The interval of a perfect coefficient, whose resamples have nothing to vary.

        With no disagreement in m blocks, the chance of a block with some is below 1 - tail^(1/m) (exact binomial);
        taken at its worst and divided by the disagreement that chance leaves, it is how far below 1 the truth may lie.
        """
        seldom = 1.0 - (0.5 * (1.0 - plan.level)) ** (1.0 / self.n_blocks)
        low = max(-1.0, 1.0 - seldom / chance) if chance > 0.0 else -1.0
        note = "no disagreement was seen: the lower end is a worst case"
        return Estimate(value=1.0, low=low, high=1.0, n=n, note=note)


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
