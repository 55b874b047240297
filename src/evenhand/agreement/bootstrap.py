"""BCa bootstrap intervals over blocks, from weights on the kinds of block instead of copies of the data."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.agreement.arrays import FloatArray, IntArray
from evenhand.agreement.blocks import Blocks
from evenhand.agreement.distributions import normal_cdf, normal_quantile, t_quantile
from evenhand.agreement.result import Estimate, undefined

Statistic = Callable[[FloatArray], FloatArray]
"""From sums, shape (…, s), to values, shape (…); NaN marks a draw on which the statistic is undefined."""

_CHUNK = 4_000_000
_COMMON = 10
_LARGE = 5_000
_MANY = 5_000
_SELDOM = 100
_WIDE = 500
_MOST_UNDEFINED = 0.2


@dataclass(frozen=True, slots=True)
class Plan:
    """How intervals are drawn.

    Number of resamples, seed, level. The same plan on the same data gives the same interval.
    """

    replicates: int = 2000
    seed: int = 0
    level: float = 0.95


DEFAULT = Plan()


def weights(times: IntArray, plan: Plan) -> Iterator[FloatArray]:
    """Chunks of resamples: how often each kind of block is drawn, shape (rows, kinds); each row sums to the blocks.

    The law is multinomial. Three ways to draw it, chosen by cost: cell by cell; block by block where the kinds are
    almost as many as the blocks; and from 5,000 blocks on as scaled Poisson counts, of which those with a mean of 10 or
    more come from their normal limit with its skewness. The difference is far below the bootstrap's own noise.
    """
    generator = np.random.default_rng(plan.seed)
    kinds, n = len(times), int(times.sum())
    rows = max(1, min(plan.replicates, _CHUNK // max(1, kinds)))
    for start in range(0, plan.replicates, rows):
        size = min(rows, plan.replicates - start)
        if n < 12 * kinds:
            yield _by_block(generator, times, size)
        elif n >= _LARGE:
            yield _poisson(generator, times, size)
        else:
            yield generator.multinomial(n, times / n, size=size).astype(np.float64)


def _by_block(generator: np.random.Generator, times: IntArray, size: int) -> FloatArray:
    kinds, n = len(times), int(times.sum())
    kind_of_block = np.repeat(np.arange(kinds), times)
    out = np.empty((size, kinds))
    step = max(1, _CHUNK // n)
    for start in range(0, size, step):
        rows = min(step, size - start)
        drawn = kind_of_block[generator.integers(0, n, size=(rows, n))]
        drawn += np.arange(rows)[:, None] * kinds
        out[start : start + rows] = np.bincount(drawn.reshape(-1), minlength=rows * kinds).reshape(rows, kinds)
    return out


def _poisson(generator: np.random.Generator, times: IntArray, size: int) -> FloatArray:
    """Independent Poisson counts scaled to the number of blocks, which is multinomial but for terms of order 1/n."""
    counts = times.astype(np.float64)
    rare = np.flatnonzero(times < _COMMON)
    root = np.sqrt(counts)
    out = np.empty((size, len(times)))
    # A few rows at a time stay in the processor's cache.
    step = max(1, 32_768 // len(times))
    for start in range(0, size, step):
        rows = out[start : start + step]
        z = generator.standard_normal(rows.shape)
        # The normal limit with Cornish and Fisher's term for the skewness of a Poisson count.
        np.divide(z, 6.0, out=rows)
        rows += root
        rows *= z
        rows += counts - 1.0 / 6.0
        if rare.size:
            rows[:, rare] = generator.poisson(times[rare], size=(len(rows), len(rare)))
        rows *= (counts.sum() / rows.sum(axis=1))[:, None]
    return out


def _limit(sums: FloatArray, times: IntArray, plan: Plan) -> FloatArray:
    """Resampled totals from their normal limit: thousands of different blocks cost no more than their covariance.

    Blocks that hold one of the sums which fewer than 100 blocks hold are drawn exactly, as Poisson counts: a normal law
    would not do for a rare label.
    """
    generator = np.random.default_rng(plan.seed)
    middle = times @ sums / times.sum()
    held = times @ (sums != 0)
    rare = ((sums != 0) & (held < _SELDOM)).any(axis=1)
    centred = sums[~rare] - middle
    spread, directions = np.linalg.eigh((centred * times[~rare, None]).T @ centred)
    steps = generator.standard_normal((plan.replicates, sums.shape[1])) * np.sqrt(np.maximum(spread, 0.0))
    drawn = times @ sums + steps @ directions.T
    counts = generator.poisson(times[rare], size=(plan.replicates, int(rare.sum()))) - times[rare]
    drawn += counts @ (sums[rare] - middle)
    # What nobody holds stays 0, whatever rounding says.
    drawn[:, held == 0] = 0.0
    return drawn


@dataclass(frozen=True)
class Sample:
    """Sums of each kind of block, shape (kinds, s): all that a statistic needs of the data.

    `sums` None stands for the identity: the statistic reads how often each kind occurs.
    """

    blocks: Blocks
    sums: FloatArray | None

    @property
    def width(self) -> int:
        """How many sums there are."""
        return len(self.blocks.times) if self.sums is None else self.sums.shape[1]

    @property
    def total(self) -> FloatArray:
        """The sums over the whole sample."""
        return self.of(self.blocks.times.astype(np.float64))

    def of(self, drawn: FloatArray) -> FloatArray:
        """The sums of resamples, from how often each drew each kind."""
        return drawn if self.sums is None else drawn @ self.sums

    def without(self, start: int, stop: int) -> FloatArray:
        """The sums without one block of each kind from `start` to `stop`."""
        if self.sums is not None:
            return self.total - self.sums[start:stop]
        out = np.repeat(self.total[None, :], min(stop, len(self.blocks.times)) - start, axis=0)
        out[np.arange(len(out)), np.arange(start, start + len(out))] -= 1.0
        return out


def sample_of(blocks: Blocks, per_pattern: FloatArray) -> Sample:
    """A sample from one row of sums for each pattern."""
    return Sample(blocks=blocks, sums=blocks.fold(per_pattern))


class Resampler:
    """Draws of one set of blocks, kept while they are small, so that many statistics can share them."""

    def __init__(self, blocks: Blocks, plan: Plan) -> None:
        self._times = blocks.times
        self._plan = plan
        self._kept: FloatArray | None = None

    def chunks(self) -> Iterator[FloatArray]:
        """The resamples, in chunks of rows."""
        if self._kept is not None:
            yield self._kept
            return
        for chunk in weights(self._times, self._plan):
            if chunk.shape[0] == self._plan.replicates:
                self._kept = chunk
            yield chunk


def replicate(sample: Sample, statistic: Statistic, plan: Plan, resampler: Resampler | None = None) -> FloatArray:
    """The statistic on every resample; NaN where it is undefined.

    Past 5,000 kinds of block (large clusters, hardly two alike) the sums are drawn instead of the weights: see
    `_limit`.
    """
    if sample.sums is not None and sample.sums.shape[0] > _MANY and sample.width <= _WIDE:
        return statistic(_limit(sample.sums, sample.blocks.times, plan))
    source = resampler if resampler is not None else Resampler(sample.blocks, plan)
    width = max(1, _CHUNK // max(1, sample.width))
    values: list[FloatArray] = []
    for chunk in source.chunks():
        for start in range(0, chunk.shape[0], width):
            values.append(statistic(sample.of(chunk[start : start + width])))
    return np.concatenate(values)


def leave_one_out(sample: Sample, statistic: Statistic) -> tuple[FloatArray, FloatArray]:
    """The statistic without one block of each kind, with how many blocks that stands for; undefined ones left out."""
    width = max(1, _CHUNK // max(1, sample.width))
    starts = range(0, len(sample.blocks.times), width)
    values = [statistic(sample.without(start, start + width)) for start in starts]
    left = np.concatenate(values)
    defined = np.isfinite(left)
    return left[defined], sample.blocks.times[defined].astype(np.float64)


def jackknife_error(sample: Sample, statistic: Statistic) -> float | None:
    """The jackknife standard error over blocks; None where fewer than two deletions leave the statistic defined."""
    left, times = leave_one_out(sample, statistic)
    n = float(times.sum())
    if n < 2:
        return None
    mean = float(times @ left) / n
    return math.sqrt((n - 1.0) / n * float(times @ (left - mean) ** 2))


def _acceleration(left: FloatArray, times: FloatArray) -> float:
    if times.size == 0:
        return 0.0
    gap = float(times @ left) / float(times.sum()) - left
    spread = float(times @ gap**2)
    return float(times @ gap**3) / (6.0 * spread**1.5) if spread > 1e-300 else 0.0


def bca(
    value: float, draws: FloatArray, left: FloatArray, times: FloatArray, n: int, level: float
) -> tuple[float, float]:
    """The BCa interval with its tails widened for small samples.

    The percentile at the heart of BCa is that of a normal with the true variance; with `n` blocks it acts as if it had
    the t law's narrower shape. The tail is moved to Φ(√(n/(n-1))·t), Hesterberg's expanded percentile; at n = 30 from
    2.5 % to 1.9 %, and by nothing that matters beyond some hundreds.
    """
    tail = 0.5 * (1.0 - level)
    if n > 1:
        tail = max(1e-9, normal_cdf(math.sqrt(n / (n - 1.0)) * t_quantile(tail, n - 1)))
    below = (np.count_nonzero(draws < value) + 0.5 * np.count_nonzero(draws == value)) / draws.size
    shift = normal_quantile(min(max(below, 0.5 / draws.size), 1.0 - 0.5 / draws.size))
    speed = _acceleration(left, times)
    levels: list[float] = []
    for z in (normal_quantile(tail), normal_quantile(1.0 - tail)):
        moved = shift + z
        levels.append(normal_cdf(shift + moved / (1.0 - speed * moved)) if speed * moved < 1.0 else float(z > 0))
    low, high = np.quantile(draws, levels)
    return min(float(low), value), max(float(high), value)


def estimate(
    sample: Sample,
    statistic: Statistic,
    n: int,
    why: str,
    plan: Plan | None = DEFAULT,
    resampler: Resampler | None = None,
    chance: Statistic | None = None,
) -> Estimate:
    """A statistic with its BCa interval; `why` is the reason to give where it is undefined on the data itself.

    No interval with fewer than two blocks, where every resample gives the same value, or where more than a fifth of the
    resamples leave the statistic undefined; fewer than that are left out and counted in the note. `chance` gives an
    agreement coefficient's expected disagreement, as a share of the largest; with it a value of 1 has an interval too.
    """
    if len(sample.blocks.times) == 0:
        return undefined(why, n)
    value = float(statistic(sample.total[None, :])[0])
    if not math.isfinite(value):
        return undefined(why, n)
    if plan is None:
        return Estimate(value=value, n=n)
    if sample.blocks.n < 2:
        return Estimate(value=value, n=n, note="no interval: there is only one block to resample")
    if value == 1.0 and chance is not None:
        return _without_disagreement(sample, float(chance(sample.total[None, :])[0]), n, plan)
    draws = replicate(sample, statistic, plan, resampler)
    defined = draws[np.isfinite(draws)]
    lost = draws.size - defined.size
    if lost > _MOST_UNDEFINED * draws.size:
        return Estimate(value=value, n=n, note=f"no interval: undefined in {lost} of {draws.size} resamples")
    if float(defined.max() - defined.min()) <= 1e-12:
        return Estimate(value=value, n=n, note="no interval: every resample gives the same value")
    left, times = leave_one_out(sample, statistic)
    low, high = bca(value, defined, left, times, sample.blocks.n, plan.level)
    note = f"{lost} of {draws.size} resamples were undefined and left out" if lost else None
    return Estimate(value=value, low=low, high=high, n=n, note=note)


def _without_disagreement(sample: Sample, chance: float, n: int, plan: Plan) -> Estimate:
    """The interval of a perfect coefficient, where resamples have nothing to vary.

    With no disagreement in m blocks, the chance of a block with some is below 1 - tail^(1/m) (exact binomial); taken at
    its worst and divided by the disagreement that chance leaves, that is how far below 1 the coefficient may lie.
    """
    seldom = 1.0 - (0.5 * (1.0 - plan.level)) ** (1.0 / sample.blocks.n)
    low = max(-1.0, 1.0 - seldom / chance) if chance > 0.0 else -1.0
    return Estimate(value=1.0, low=low, high=1.0, n=n, note="no disagreement was seen: the lower end is a worst case")
