"""How many raters gave each label to each unit: what the many-rater statistics read, and their plain agreement."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evenhand.statistics.arrays import (
    AnyInts,
    FloatArray,
    IntArray,
    Weighting,
    agreement_weights,
    check_codes,
    label_scores,
    ratio,
)
from evenhand.statistics.estimate import NO_OVERLAP, Estimate, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample

ChanceDisagreement = Callable[[FloatArray], FloatArray]
"""From the pool of label shares, shape (…, labels), to the disagreement that chance would leave."""

_MOST_CELLS = 4_000_000
"""Different label counts up to which they are counted directly instead of sorted."""


@dataclass(frozen=True)
class Counts:
    """The label counts of units: `sample.rows` has the different ones, shape (patterns, labels).

    Which rater gave which label is not kept, so units need not have the same raters. Units without a rating are
    dropped. `scores` are the labels' positions on their scale, 0, 1, 2, … unless given.
    """

    sample: Sample
    scores: FloatArray

    @property
    def table(self) -> IntArray:
        """The different label counts."""
        return self.sample.rows

    @property
    def times(self) -> IntArray:
        """How many units have each of them."""
        return self.sample.times

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

    def with_table(self, table: IntArray) -> "Counts":
        """The same units with their labels counted in another way."""
        return Counts(replace(self.sample, rows=table), label_scores(table.shape[1], None))


def count_table(table: AnyInts, scores: FloatArray | None = None, clusters: AnyInts | None = None) -> Counts:
    """Counts from a units × labels table of how many raters gave each label."""
    rated = table.sum(axis=1) > 0
    sample = Sample.of(table[rated].astype(np.int64), None if clusters is None else clusters[rated])
    return Counts(sample, label_scores(table.shape[1], scores))


def count_wide(
    codes: AnyInts, labels: int, scores: FloatArray | None = None, clusters: AnyInts | None = None
) -> Counts:
    """Counts from a units × raters table of label codes, -1 where a rater did not rate.

    `clusters` gives each unit's cluster (the item a sentence belongs to); the bootstrap keeps a cluster together.
    """
    check_codes(codes, labels)
    base = codes.shape[1] + 1
    size = base**labels
    if clusters is None and 0 < size <= _MOST_CELLS and codes.shape[1]:
        # One number for a unit's counts: digit c, in base raters + 1, is how many gave label c. Missing adds 0.
        digits = np.append(base ** np.arange(labels), 0).astype(np.int64)
        keys = digits[codes[:, 0]]
        for rater in range(1, codes.shape[1]):
            keys += digits[codes[:, rater]]
        seen = np.bincount(keys, minlength=size)
        seen[0] = 0
        present = np.flatnonzero(seen)
        table = (present[:, None] // digits[None, :labels]) % base
        return Counts(Sample.counted(table, seen[present]), label_scores(labels, scores))
    units, raters = np.nonzero(codes >= 0)
    return count_long(units, codes[units, raters], labels, scores, clusters, len(codes))


def count_long(
    units: AnyInts,
    codes: AnyInts,
    labels: int,
    scores: FloatArray | None = None,
    clusters: AnyInts | None = None,
    n_units: int | None = None,
) -> Counts:
    """Counts from a long list: rating `i` gave unit `units[i]` the label `codes[i]`; raters need not be named.

    Unit numbers are 0, 1, 2, …; `clusters`, if given, has one entry for each unit. A code of -1 is a missing rating.
    """
    check_codes(codes, labels)
    rated = codes >= 0
    size = n_units if n_units is not None else int(units.max()) + 1 if units.size else 0
    flat = np.bincount(units[rated] * labels + codes[rated], minlength=size * labels)
    return count_table(flat.reshape(size, labels), scores, clusters)


def percent_agreement(
    counts: Counts, weighting: Weighting | FloatArray = "identity", plan: Resampling | None = DEFAULT
) -> Estimate:
    """The share of agreeing pairs of ratings within a unit, averaged over the units rated at least twice.

    Range 0 to 1. Level: any. 1 if all ratings are one label. Undefined without a unit rated twice.
    """
    if counts.overlapping == 0:
        return undefined(NO_OVERLAP)
    return counts.sample.estimate(
        _disagreement(counts, agreement_weights(weighting, counts.scores)),
        lambda sums: 1.0 - ratio(sums[..., 0], sums[..., 1]),
        counts.overlapping,
        NO_OVERLAP,
        plan,
        lambda sums: np.ones(sums.shape[:-1]),
    )


def corrected_agreement(
    counts: Counts, weight: FloatArray, chance: ChanceDisagreement, why: str, plan: Resampling | None
) -> Estimate:
    """1 minus observed over chance disagreement, weighted; `why` is the reason if chance leaves none."""
    if counts.overlapping == 0:
        return undefined(NO_OVERLAP)

    def pool_of(sums: FloatArray) -> FloatArray:
        return ratio(sums[..., 2:], sums[..., 2:].sum(axis=-1, keepdims=True))

    def value(sums: FloatArray) -> FloatArray:
        return 1.0 - ratio(ratio(sums[..., 0], sums[..., 1]), chance(pool_of(sums)))

    largest = float((1.0 - weight).max()) if weight.size else 1.0
    return counts.sample.estimate(
        _disagreement(counts, weight),
        value,
        counts.overlapping,
        why,
        plan,
        lambda sums: chance(pool_of(sums)) / (largest or 1.0),
    )


def _disagreement(counts: Counts, weight: FloatArray) -> FloatArray:
    """Per pattern: disagreeing pairs as a share, whether the unit was rated twice, label shares."""
    table = counts.table.astype(np.float64)
    raters = counts.raters.astype(np.float64)
    pairs = raters * (raters - 1.0)
    disagreeing = ((table @ (1.0 - weight)) * table).sum(axis=1)
    # A label's weight with itself is 1, so a rating's pair with itself adds no disagreement.
    share = np.divide(disagreeing, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    columns = [share[:, None], (pairs > 0).astype(np.float64)[:, None], table / raters[:, None]]
    return np.concatenate(columns, axis=1)
