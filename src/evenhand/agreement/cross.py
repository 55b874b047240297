"""Two raters crossed: how often the one gave this label and the other that one."""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from evenhand.agreement.arrays import AnyInts, FloatArray, IntArray, label_scores
from evenhand.agreement.blocks import Blocks, cluster_blocks, single_blocks
from evenhand.agreement.bootstrap import Plan, Resampler, Sample


@dataclass(frozen=True)
class Cross:
    """The confusion table of two raters over the units that both rated; rows are the first rater.

    `cells` are the occupied cells, `row * labels + column`, in the order of the patterns in `blocks`.
    """

    table: IntArray
    cells: IntArray
    blocks: Blocks
    scores: FloatArray
    _resamplers: dict[Plan, Resampler] = field(default_factory=dict[Plan, Resampler], repr=False, compare=False)

    @property
    def labels(self) -> int:
        """How many labels the scale has."""
        return self.table.shape[0]

    @property
    def n(self) -> int:
        """Units that both rated."""
        return int(self.table.sum())

    @cached_property
    def sample(self) -> Sample:
        """The cells of the table as sums, for the bootstrap."""
        per_pattern = np.zeros((len(self.cells), self.table.size))
        per_pattern[np.arange(len(self.cells)), self.cells] = 1.0
        return Sample(blocks=self.blocks, sums=self.blocks.fold(per_pattern))

    def resampler(self, plan: Plan | None) -> Resampler | None:
        """The shared draws of this plan: every statistic of this pair sees the same resamples."""
        if plan is None:
            return None
        return self._resamplers.setdefault(plan, Resampler(self.blocks, plan))


def cross(
    a: AnyInts, b: AnyInts, labels: int, scores: FloatArray | None = None, clusters: AnyInts | None = None
) -> Cross:
    """Two raters' codes, unit by unit, -1 where one did not rate; such units are left out."""
    for codes in (a, b):
        if codes.size and (int(codes.max()) >= labels or int(codes.min()) < -1):
            raise ValueError(f"codes must lie between -1 (missing) and {labels - 1}")
    wide = labels + 1
    keys = (a + 1) * wide + (b + 1)
    table = np.bincount(keys, minlength=wide * wide).reshape(wide, wide)[1:, 1:].astype(np.int64)
    if clusters is None:
        return cross_table(table, scores)
    both = (a >= 0) & (b >= 0)
    cells = np.flatnonzero(table)
    place = np.zeros(table.size, dtype=np.int64)
    place[cells] = np.arange(len(cells))
    patterns = place[(a[both] * labels + b[both]).astype(np.int64)]
    blocks = cluster_blocks(patterns, clusters[both])
    return Cross(table=table, cells=cells, blocks=blocks, scores=label_scores(labels, scores))


def cross_table(table: AnyInts, scores: FloatArray | None = None) -> Cross:
    """A pair from its confusion table, units independent."""
    counts = table.astype(np.int64)
    cells = np.flatnonzero(counts)
    blocks = single_blocks(counts.reshape(-1)[cells])
    return Cross(table=counts, cells=cells, blocks=blocks, scores=label_scores(counts.shape[0], scores))


def cross_wide(
    codes: AnyInts, labels: int, scores: FloatArray | None = None, clusters: AnyInts | None = None
) -> dict[tuple[int, int], Cross]:
    """Every pair of raters of a units × raters table."""
    columns = np.ascontiguousarray(codes.T)
    pairs = combinations(range(codes.shape[1]), 2)
    return {(i, j): cross(columns[i], columns[j], labels, scores, clusters) for i, j in pairs}


def cross_long(
    units: AnyInts,
    raters: AnyInts,
    codes: AnyInts,
    labels: int,
    scores: FloatArray | None = None,
    clusters: AnyInts | None = None,
) -> dict[tuple[int, int], Cross]:
    """Every pair of raters that share a unit, from a long list; made for many raters with few ratings each.

    A rater rates a unit once; of two ratings of one unit by one rater the later in the list counts.
    """
    if units.size == 0:
        return {}
    rated = codes >= 0
    unit, rater, code = units[rated].astype(np.int64), raters[rated].astype(np.int64), codes[rated].astype(np.int64)
    order = np.lexsort((np.arange(len(unit)), rater, unit))
    unit, rater, code = unit[order], rater[order], code[order]
    last = np.append((unit[1:] != unit[:-1]) | (rater[1:] != rater[:-1]), True)[: len(unit)]
    unit, rater, code = unit[last], rater[last], code[last]
    firsts: list[IntArray] = []
    seconds: list[IntArray] = []
    for gap in range(1, len(unit)):
        same = np.flatnonzero(unit[gap:] == unit[:-gap])
        if same.size == 0:
            break
        firsts.append(same)
        seconds.append(same + gap)
    if not firsts:
        return {}
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    keys = rater[first] * (int(rater.max()) + 1) + rater[second]
    order = np.argsort(keys, kind="stable")
    first, second, keys = first[order], second[order], keys[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    out: dict[tuple[int, int], Cross] = {}
    for start, end in zip(starts, np.append(starts[1:], len(keys)), strict=True):
        one, two = first[start:end], second[start:end]
        groups = None if clusters is None else clusters[unit[one]]
        out[int(rater[one[0]]), int(rater[two[0]])] = cross(code[one], code[two], labels, scores, groups)
    return out
