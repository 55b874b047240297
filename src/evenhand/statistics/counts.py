"""How many raters gave each label to each unit: what the many-rater statistics read, and agreement without chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.statistics.estimate import MISSING, NO_OVERLAP, NO_RATINGS, AnyInts, Estimate, FloatArray, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample, first_over_second

SKEWED = 0.85
"""Past this share of one label, chance-corrected and plain agreement tell different stories."""
MOST_CELLS = 4_000_000
"""Different label counts up to which they are counted directly instead of sorted."""


@dataclass(frozen=True)
class Counts:
    """The label counts of units: `sample.rows` has the different ones, shape (patterns, labels).

    Which rater gave which label is not kept, so units need not have the same raters. Units without a rating are
    dropped. `scores` are the labels' positions on their scale, 0, 1, 2, … unless given.
    """

    sample: Sample
    scores: FloatArray

    @cached_property
    def table(self) -> FloatArray:
        """The different label counts."""
        return self.sample.rows.astype(np.float64)

    @cached_property
    def raters(self) -> FloatArray:
        """Ratings of each pattern's unit."""
        return self.table.sum(axis=1)

    @cached_property
    def overlapping(self) -> int:
        """Units with at least two ratings: the `n` of every many-rater statistic."""
        return int(self.sample.times[self.raters >= 2].sum())

    @cached_property
    def used(self) -> FloatArray:
        """How many ratings are each label."""
        return self.sample.times @ self.table


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
    if clusters is None and 0 < size <= MOST_CELLS and codes.shape[1]:
        # One number for a unit's counts: digit c, in base raters + 1, is how many gave label c. Missing adds 0.
        digits = np.append(base ** np.arange(labels), 0).astype(np.int64)
        keys = digits[codes[:, 0]]
        for rater in range(1, codes.shape[1]):
            keys += digits[codes[:, rater]]
        seen = np.bincount(keys, minlength=size)
        seen[0] = 0
        present = np.flatnonzero(seen)
        table = (present[:, None] // digits[None, :labels]) % base
        return Counts(Sample(table, seen[present], seen[present]), label_scores(labels, scores))
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
    size = n_units if n_units is not None else int(units.max(initial=-1)) + 1
    flat = np.bincount(units[rated] * labels + codes[rated], minlength=size * labels)
    return count_table(flat.reshape(size, labels), scores, clusters)


def check_codes(codes: AnyInts, labels: int) -> None:
    """Raise ValueError for a code that is neither missing nor one of the labels."""
    if codes.size and (int(codes.max()) >= labels or int(codes.min()) < MISSING):
        raise ValueError(f"codes must lie between -1 (missing) and {labels - 1}")


def label_scores(labels: int, scores: FloatArray | None) -> FloatArray:
    """The labels' positions on their scale: as given, else 0, 1, 2, …"""
    positions = np.arange(labels, dtype=np.float64) if scores is None else np.asarray(scores, dtype=np.float64)
    if positions.shape != (labels,):
        raise ValueError(f"{labels} labels need {labels} scores, not {positions.size}")
    return positions


@dataclass(frozen=True, slots=True)
class Spread:
    """How the ratings are spread over the labels.

    `baseline` is the share of the commonest label: the exact match that a rater who always gives it would reach.
    `skewed` says that this share is above 85 %: then κ and α near 0 are true, plain agreement and AC1 near 1 say
    little, and the rare labels' specific agreement is what to read.
    """

    shares: tuple[float, ...]
    commonest: int
    baseline: float
    skewed: bool
    n: int


def spread(used: FloatArray) -> Spread | None:
    """The labels' shares of all ratings, from how many ratings are each label; None without ratings."""
    total = int(used.sum())
    if total == 0:
        return None
    shares = used / total
    top = float(shares.max())
    return Spread(tuple(shares.tolist()), int(np.argmax(shares)), baseline=top, skewed=top > SKEWED, n=total)


def percent_agreement(counts: Counts, plan: Resampling | None = DEFAULT) -> Estimate:
    """The share of agreeing pairs of ratings within a unit, averaged over the units rated at least twice.

    Range 0 to 1. Level: any. 1 if all ratings are one label. Undefined without a unit rated twice.
    """
    if counts.overlapping == 0:
        return undefined(NO_OVERLAP)
    pairs = counts.raters * (counts.raters - 1.0)
    agreeing = (counts.table * (counts.table - 1.0)).sum(axis=1)
    share = np.divide(agreeing, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    sums = np.stack((share, pairs > 0), axis=1).astype(np.float64)
    return counts.sample.estimate(sums, first_over_second, counts.overlapping, NO_OVERLAP, plan, chance=1.0)


def specific_agreement(counts: Counts, plan: Resampling | None = DEFAULT) -> Sequence[Estimate]:
    """For each label, the chance that, where one rating is it, another of the same unit is it too. Range 0 to 1.

    For two raters it is 2·both / (2·both + only one): the F1 of the label, whichever rater is the reference. Each
    pairable rating weighs 1, as in α. `n` counts units rated twice. Undefined where no pairable rating is the label.
    """
    return [_specific(counts, given, plan) for given in counts.table.T]


def rare_agreement(counts: Counts, plan: Resampling | None = DEFAULT) -> Estimate:
    """Specific agreement on the rare side: any label but the commonest, taken as one. Range 0 to 1.

    Undefined where every pairable rating is the commonest label, or no unit was rated twice.
    """
    if not counts.used.any():
        return undefined(NO_RATINGS)
    return _specific(counts, counts.raters - counts.table[:, int(np.argmax(counts.used))], plan)


def _specific(counts: Counts, given: FloatArray, plan: Resampling | None) -> Estimate:
    """Of a label, or several taken as one, that a unit of each pattern was `given` so many times."""
    if counts.overlapping == 0:
        return undefined(NO_OVERLAP)
    given = np.where(counts.raters >= 2, given, 0.0)
    sums = np.stack((given * (given - 1.0) / np.maximum(counts.raters - 1.0, 1.0), given), axis=1)
    why = "no rating of a unit rated twice is this label"
    return counts.sample.estimate(sums, first_over_second, counts.overlapping, why, plan)
