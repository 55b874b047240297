"""Two raters crossed: their confusion table, and what it says without a correction for chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from evenhand.statistics.counts import check_codes, label_scores
from evenhand.statistics.estimate import NO_SHARED, AnyInts, BoolArray, Estimate, FloatArray, IntArray, undefined
from evenhand.statistics.intervals.analytic import wilson
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample, first_over_second, ratio


@dataclass(frozen=True)
class Cross:
    """Two raters on the units that both rated: `sample.rows` has the different pairs of codes, first rater first.

    `scores` are the labels' positions on their scale, 0, 1, 2, … unless given; `ordered` says that they were given.
    """

    sample: Sample
    scores: FloatArray
    ordered: bool = False

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
        table = np.zeros((self.scores.size, self.scores.size), dtype=np.int64)
        table[self.rows, self.columns] = self.sample.times
        return table

    @cached_property
    def n(self) -> int:
        """Units that both rated."""
        return int(self.sample.times.sum())


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
    times = table[table != 0].astype(np.int64)
    return Cross(Sample(np.argwhere(table), times, times), label_scores(table.shape[0], scores), scores is not None)


def pair_percent(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """The share of shared units to which both gave the same label. Range 0 to 1. Undefined without shared units.

    Wilson's interval for independent units; the bootstrap over clusters otherwise.
    """
    return _share(pair, pair.rows == pair.columns, np.ones(len(pair.rows), dtype=np.bool_), plan)


def pair_within_one(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """The share of shared units on which the scores differ by at most 1. Range 0 to 1. Level: ordinal."""
    near = np.abs(pair.scores[pair.rows] - pair.scores[pair.columns]) <= 1.0 + 1e-12
    return _share(pair, near, np.ones(len(pair.rows), dtype=np.bool_), plan)


def label_agreement(pair: Cross, plan: Resampling | None = DEFAULT) -> Sequence[Estimate]:
    """For each label, of the units to which either rater gave it, the share to which both did. Range 0 to 1.

    `n` counts the units to which either gave it. Undefined if neither ever did. Wilson's interval for independent
    units; the bootstrap over clusters otherwise.
    """
    sides = [(pair.rows == label, pair.columns == label) for label in range(pair.scores.size)]
    return [_share(pair, first & second, first | second, plan) for first, second in sides]


def _share(pair: Cross, hit: BoolArray, counted: BoolArray, plan: Resampling | None) -> Estimate:
    times = pair.sample.times
    hits, n = int(times[hit].sum()), int(times[counted].sum())
    if n == 0:
        return undefined("neither rater gave this label" if pair.n else NO_SHARED)
    if plan is None:
        return Estimate(value=hits / n, n=n)
    if pair.sample.member_kind is None:
        low, high = wilson(hits, n, plan.level)
        return Estimate(value=hits / n, low=low, high=high, n=n)
    sums = np.stack((hit, counted), axis=1).astype(np.float64)
    return pair.sample.estimate(sums, first_over_second, n, NO_SHARED, plan)


def macro_f1(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """The mean of the labels' F1, over the labels that either rater used; rows are the reference. Range 0 to 1.

    F1 is the same whichever rater is the reference. A label of the scale that neither used has no part (scikit-learn
    agrees unless told all labels). Undefined without shared units.
    """
    return mean_over_labels(pair, "f1", plan=plan)


def mean_over_labels(
    pair: Cross, score: Literal["precision", "recall", "f1"], weighted: bool = False, plan: Resampling | None = DEFAULT
) -> Estimate:
    """The labels' precision, recall or F1, averaged over the labels that occur; rows are the truth. Range 0 to 1.

    `weighted` weighs a label by how often it is true. A label that was never predicted has a precision of 0, one that
    is never true a recall of 0. Undefined without shared units.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    each_label = np.eye(pair.scores.size)
    truth, given = each_label[pair.rows], each_label[pair.columns]

    def value(sums: FloatArray) -> FloatArray:
        hits, true, predicted = np.split(sums, 3, axis=-1)
        either = true + predicted
        bottom = {"precision": predicted, "recall": true, "f1": 0.5 * either}[score]
        each = np.divide(hits, bottom, out=np.zeros_like(bottom), where=bottom > 0)
        weight = true if weighted else (either > 0).astype(np.float64)
        return ratio((each * weight).sum(axis=-1), weight.sum(axis=-1))

    sums = np.concatenate((truth * given, truth, given), axis=1)
    return pair.sample.estimate(sums, value, pair.n, NO_SHARED, plan)
