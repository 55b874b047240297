"""Two raters crossed: their confusion table, and what it says without a correction for chance."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.statistics.arrays import (
    AnyInts,
    BoolArray,
    FloatArray,
    IntArray,
    check_codes,
    first_over_second,
    label_scores,
    one_hot,
    ratio,
)
from evenhand.statistics.estimate import NO_SHARED, Estimate, undefined
from evenhand.statistics.intervals.analytic import wilson
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample


@dataclass(frozen=True)
class Cross:
    """Two raters on the units that both rated: `sample.rows` has the different pairs of codes, first rater first.

    `scores` are the labels' positions on their scale, 0, 1, 2, … unless given; `ordered` says that they were given.
    """

    sample: Sample
    scores: FloatArray
    ordered: bool = False

    @property
    def labels(self) -> int:
        """How many labels the scale has."""
        return self.scores.size

    @property
    def rows(self) -> IntArray:
        """The first rater's label in each different pair."""
        return self.sample.rows[:, 0]

    @property
    def columns(self) -> IntArray:
        """The second rater's label in each different pair."""
        return self.sample.rows[:, 1]

    @cached_property
    def table(self) -> IntArray:
        """The confusion table; rows are the first rater."""
        table = np.zeros((self.labels, self.labels), dtype=np.int64)
        table[self.rows, self.columns] = self.sample.times
        return table

    @cached_property
    def n(self) -> int:
        """Units that both rated."""
        return int(self.sample.times.sum())

    @cached_property
    def margins(self) -> FloatArray:
        """Of each pair of codes, in three blocks of columns: the label of both, of the first, of the second rater."""
        first, second = one_hot(self.rows, self.labels), one_hot(self.columns, self.labels)
        return np.concatenate((first * second, first, second), axis=1)


def cross(
    a: AnyInts, b: AnyInts, labels: int, scores: FloatArray | None = None, clusters: AnyInts | None = None
) -> Cross:
    """Two raters' codes, unit by unit, -1 where one did not rate; such units are left out."""
    check_codes(a, labels)
    check_codes(b, labels)
    if clusters is None:
        wide = labels + 1
        keys = (a + 1) * wide + (b + 1)
        return cross_table(np.bincount(keys, minlength=wide * wide).reshape(wide, wide)[1:, 1:], scores)
    both = (a >= 0) & (b >= 0)
    sample = Sample.of(np.stack((a[both], b[both]), axis=1), clusters[both])
    return Cross(sample, label_scores(labels, scores), scores is not None)


def cross_table(table: AnyInts, scores: FloatArray | None = None) -> Cross:
    """A pair from its confusion table, units independent."""
    sample = Sample.counted(np.argwhere(table), table[table != 0])
    return Cross(sample, label_scores(table.shape[0], scores), scores is not None)


def pair_percent(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """The share of shared units to which both gave the same label. Range 0 to 1. Undefined without shared units.

    Wilson's interval for independent units; the bootstrap over clusters otherwise.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    return _share(pair, pair.rows == pair.columns, np.ones(len(pair.rows), dtype=np.bool_), plan)


def pair_within_one(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """The share of shared units on which the scores differ by at most 1. Range 0 to 1. Level: ordinal."""
    if pair.n == 0:
        return undefined(NO_SHARED)
    near = np.abs(pair.scores[pair.rows] - pair.scores[pair.columns]) <= 1.0 + 1e-12
    return _share(pair, near, np.ones(len(pair.rows), dtype=np.bool_), plan)


def label_agreement(pair: Cross, label: int, plan: Resampling | None = DEFAULT) -> Estimate:
    """Of the units to which either rater gave the label, the share to which both did. Range 0 to 1.

    `n` counts the units to which either gave it. Undefined if neither ever did. Wilson's interval for independent
    units; the bootstrap over clusters otherwise.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    first, second = pair.rows == label, pair.columns == label
    if not (first | second).any():
        return undefined("neither rater gave this label")
    return _share(pair, first & second, first | second, plan)


def _share(pair: Cross, hit: BoolArray, counted: BoolArray, plan: Resampling | None) -> Estimate:
    times = pair.sample.times
    hits, n = int(times[hit].sum()), int(times[counted].sum())
    if plan is None:
        return Estimate(value=hits / n, n=n)
    if not pair.sample.clustered:
        low, high = wilson(hits, n, plan.level)
        return Estimate(value=hits / n, low=low, high=high, n=n)
    sums = np.stack((hit, counted), axis=1).astype(np.float64)
    return pair.sample.estimate(sums, first_over_second, n, NO_SHARED, plan)


def macro_f1(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """The mean of the labels' F1, over the labels that either rater used; rows are the reference. Range 0 to 1.

    F1 is the same whichever rater is the reference. A label of the scale that neither used has no part (scikit-learn
    agrees unless told all labels). Undefined without shared units.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    return pair.sample.estimate(pair.margins, _macro_f1, pair.n, NO_SHARED, plan)


def _macro_f1(sums: FloatArray) -> FloatArray:
    both, first, second = np.split(sums, 3, axis=-1)
    either = first + second
    present = either > 0
    score = np.divide(2.0 * both, either, out=np.zeros_like(either), where=present)
    return ratio(score.sum(axis=-1), present.sum(axis=-1).astype(np.float64))
