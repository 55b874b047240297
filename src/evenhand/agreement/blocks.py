"""What a bootstrap draws: rating patterns, or clusters of units that must stay together, each kind held once."""

from dataclasses import dataclass

import numpy as np

from evenhand.agreement.arrays import AnyInts, FloatArray, IntArray


@dataclass(frozen=True)
class Blocks:
    """The blocks of a sample, those that look alike counted instead of repeated.

    Without clusters a block is one unit and kind `q` is pattern `q`; `kind` and `pattern` are then empty. With clusters
    a kind is a multiset of patterns: its members are the entries `pattern[i]` with `kind[i] == q`.
    """

    times: IntArray
    kind: IntArray
    pattern: IntArray
    clustered: bool

    @property
    def n(self) -> int:
        """How many blocks there are."""
        return int(self.times.sum())

    def fold(self, per_pattern: FloatArray) -> FloatArray:
        """Sums over each kind of block, from one row for each pattern."""
        if not self.clustered:
            return per_pattern
        out = np.empty((len(self.times), per_pattern.shape[1]))
        for column in range(per_pattern.shape[1]):
            weights = per_pattern[self.pattern, column]
            out[:, column] = np.bincount(self.kind, weights=weights, minlength=len(self.times))
        return out


def single_blocks(times: AnyInts) -> Blocks:
    """Blocks of one unit each; `times` says how many units show each pattern."""
    none = np.zeros(0, dtype=np.int64)
    return Blocks(times=times.astype(np.int64), kind=none, pattern=none, clustered=False)


def cluster_blocks(pattern_of_unit: AnyInts, clusters: AnyInts) -> Blocks:
    """Blocks of the units that share a cluster; clusters made of the same patterns become one kind.

    Two clusters are the same kind when their patterns' random 64-bit marks have the same sum: a multiset hash, whose
    chance of confusing two among a million clusters is below one in ten million.
    """
    if pattern_of_unit.size == 0:
        return single_blocks(pattern_of_unit)
    order = np.argsort(clusters, kind="stable")
    patterns = pattern_of_unit[order].astype(np.int64)
    labels = clusters[order]
    starts = np.flatnonzero(np.concatenate(([True], labels[1:] != labels[:-1])))
    lengths = np.diff(np.append(starts, len(labels)))
    generator = np.random.default_rng(0x5EED)
    marks = generator.integers(0, 2**64, size=int(patterns.max()) + 1, dtype=np.uint64)
    sums = np.add.reduceat(marks[patterns], starts)
    _, first, times = np.unique(sums, return_index=True, return_counts=True)
    kind = np.repeat(np.arange(len(first)), lengths[first])
    within = np.arange(len(kind)) - np.repeat(np.cumsum(lengths[first]) - lengths[first], lengths[first])
    members = np.repeat(starts[first], lengths[first]) + within
    return Blocks(times=times.astype(np.int64), kind=kind, pattern=patterns[members], clustered=True)


def unique_rows(rows: AnyInts) -> tuple[IntArray, IntArray, IntArray]:
    """The different rows of a table of small non-negative integers.

    Rows, the row that each is, how often each occurs.
    """
    if rows.shape[0] == 0:
        none = np.zeros(0, dtype=np.int64)
        return rows.astype(np.int64), none, none
    sizes = [int(column.max()) + 1 for column in rows.T]
    if float(np.sum(np.log2(np.asarray(sizes, dtype=np.float64)))) < 62:
        key = np.zeros(rows.shape[0], dtype=np.int64)
        for column, size in zip(rows.T, sizes, strict=True):
            key *= size
            key += column
        _, first, inverse, times = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    else:
        _, first, inverse, times = np.unique(rows, axis=0, return_index=True, return_inverse=True, return_counts=True)
    return rows[first].astype(np.int64), inverse.reshape(-1).astype(np.int64), times.astype(np.int64)
