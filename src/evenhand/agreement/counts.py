"""How many raters gave each label to each unit: what the many-rater statistics read. From wide tables or long lists."""

from dataclasses import dataclass, field

import numpy as np

from evenhand.agreement.arrays import AnyInts, FloatArray, IntArray, label_scores
from evenhand.agreement.blocks import Blocks, cluster_blocks, single_blocks, unique_rows
from evenhand.agreement.bootstrap import Plan, Resampler


@dataclass(frozen=True)
class Counts:
    """Unique label counts of units, shape (patterns, labels), with how many units show each.

    Who gave which label is not kept, so a unit's raters need not be the same people as another's. Units that nobody
    rated are dropped. `scores` are the labels' positions on their scale, 0, 1, 2, … unless given.
    """

    table: IntArray
    times: IntArray
    blocks: Blocks
    scores: FloatArray
    _resamplers: dict[Plan, Resampler] = field(default_factory=dict[Plan, Resampler], repr=False, compare=False)

    @property
    def labels(self) -> int:
        """How many labels the scale has."""
        return self.table.shape[1]

    @property
    def raters(self) -> IntArray:
        """Ratings of each pattern's unit."""
        return self.table.sum(axis=1)

    @property
    def units(self) -> int:
        """Units with at least one rating."""
        return int(self.times.sum())

    @property
    def overlapping(self) -> int:
        """Units with at least two ratings: the `n` of every many-rater statistic."""
        return int(self.times[self.raters >= 2].sum())

    def resampler(self, plan: Plan | None) -> Resampler | None:
        """The shared draws of this plan: every statistic of these counts sees the same resamples."""
        if plan is None:
            return None
        return self._resamplers.setdefault(plan, Resampler(self.blocks, plan))


def count_table(table: AnyInts, scores: FloatArray | None = None, clusters: AnyInts | None = None) -> Counts:
    """Counts from a units × labels table of how many raters gave each label."""
    rated = table.sum(axis=1) > 0
    rows, inverse, times = unique_rows(table[rated])
    blocks = single_blocks(times) if clusters is None else cluster_blocks(inverse, clusters[rated])
    return Counts(table=rows, times=times, blocks=blocks, scores=label_scores(table.shape[1], scores))


def count_wide(
    codes: AnyInts, labels: int, scores: FloatArray | None = None, clusters: AnyInts | None = None
) -> Counts:
    """Counts from a units × raters table of label codes, -1 where a rater did not rate.

    `clusters` gives each unit's cluster (the item a sentence belongs to); the bootstrap keeps a cluster together.
    """
    _check(codes, labels)
    base = codes.shape[1] + 1
    size = base**labels
    if clusters is None and 0 < size <= 4_000_000:
        # One number tells a unit's counts: digit c, in base raters + 1, is how many gave label c. Missing adds 0.
        digits = np.append(base ** np.arange(labels), 0).astype(np.int64)
        keys = digits[codes[:, 0]] if codes.shape[1] else np.zeros(codes.shape[0], dtype=np.int64)
        for rater in range(1, codes.shape[1]):
            keys += digits[codes[:, rater]]
        seen = np.bincount(keys, minlength=size)
        seen[0] = 0
        present = np.flatnonzero(seen)
        table = (present[:, None] // digits[None, :labels]) % base
        times = seen[present].astype(np.int64)
        return Counts(table=table, times=times, blocks=single_blocks(times), scores=label_scores(labels, scores))
    units, raters = np.nonzero(codes >= 0)
    flat = np.bincount(units * labels + codes[units, raters], minlength=codes.shape[0] * labels)
    return count_table(flat.reshape(codes.shape[0], labels), scores, clusters)


def count_long(
    units: AnyInts,
    codes: AnyInts,
    labels: int,
    scores: FloatArray | None = None,
    clusters: AnyInts | None = None,
) -> Counts:
    """Counts from a long list: rating `i` gave unit `units[i]` the label `codes[i]`; raters need not be named.

    Unit numbers are 0, 1, 2, …; `clusters`, if given, has one entry for each unit. A code of -1 is a missing rating.
    """
    _check(codes, labels)
    rated = codes >= 0
    size = int(units.max()) + 1 if units.size else 0
    flat = np.bincount(units[rated] * labels + codes[rated], minlength=size * labels)
    return count_table(flat.reshape(size, labels), scores, clusters)


def _check(codes: AnyInts, labels: int) -> None:
    if codes.size and (int(codes.max()) >= labels or int(codes.min()) < -1):
        raise ValueError(f"codes must lie between -1 (missing) and {labels - 1}")
