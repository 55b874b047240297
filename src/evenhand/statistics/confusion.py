"""Two raters crossed: their confusion table, and what it says without a correction for chance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from evenhand.statistics.counts import MOST_CELLS, check_codes, label_scores
from evenhand.statistics.estimate import NO_SHARED, AnyInts, BoolArray, Estimate, FloatArray, IntArray, undefined
from evenhand.statistics.intervals.analytic import FEW, clustered_share, wilson
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample, ratio

FEWEST_OF_A_LABEL = 10
"""Units or clusters with a label below which a mean over the labels has no interval.

A label counts the same however rare it is, and one that the sample lacks is missing from the mean: with 300 five-point
ratings, 80 to 95 % of them fives, the bootstrap alone covers 65 to 95 %.
"""


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
    wide = labels + 1
    if clusters is None and wide * wide <= MOST_CELLS:
        keys = (a + 1) * wide + (b + 1)
        return cross_table(np.bincount(keys, minlength=wide * wide).reshape(wide, wide)[1:, 1:], scores)
    both = (a >= 0) & (b >= 0)
    sample = Sample.of(np.stack((a[both], b[both]), axis=1), None if clusters is None else clusters[both])
    return Cross(sample, label_scores(labels, scores), scores is not None)


def cross_table(table: AnyInts, scores: FloatArray | None = None) -> Cross:
    """A pair from its confusion table, units independent."""
    times = table[table != 0].astype(np.int64)
    return Cross(Sample(np.argwhere(table), times, times), label_scores(table.shape[0], scores), scores is not None)


def pair_percent(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """The share of shared units to which both gave the same label. Range 0 to 1. Undefined without shared units.

    Wilson's interval, at the effective size if there are clusters.
    """
    return _share(pair, pair.rows == pair.columns, np.ones(len(pair.rows), dtype=np.bool_), plan)


def pair_within_one(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """The share of shared units on which the scores differ by at most 1. Range 0 to 1. Level: ordinal."""
    near = np.abs(pair.scores[pair.rows] - pair.scores[pair.columns]) <= 1.0 + 1e-12
    return _share(pair, near, np.ones(len(pair.rows), dtype=np.bool_), plan)


def label_agreement(pair: Cross, plan: Resampling | None = DEFAULT) -> Sequence[Estimate]:
    """For each label, of the units to which either rater gave it, the share to which both did. Range 0 to 1.

    `n` counts the units to which either gave it. Undefined if neither ever did. Wilson's interval, at the effective
    size if there are clusters.
    """
    sides = [(pair.rows == label, pair.columns == label) for label in range(pair.scores.size)]
    return [_share(pair, first & second, first | second, plan) for first, second in sides]


def _share(pair: Cross, hit: BoolArray, counted: BoolArray, plan: Resampling | None) -> Estimate:
    times = pair.sample.times
    hits, n = int(times[hit].sum()), int(times[counted].sum())
    if n == 0:
        return undefined("neither rater gave this label" if pair.n else NO_SHARED)
    if plan is None or pair.sample.member_kind is None:
        low, high = (None, None) if plan is None else wilson(hits, n, plan.level)
        return Estimate(value=hits / n, low=low, high=high, n=n)
    sums = pair.sample.by_block(np.stack((hit, counted), axis=1).astype(np.float64))
    return clustered_share(sums[:, 0], sums[:, 1], pair.sample.blocks, plan.level)


def macro_f1(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """The mean of the labels' F1, over the labels that either rater used; rows are the reference. Range 0 to 1.

    F1 is the same whichever rater is the reference. A label of the scale that neither used has no part (scikit-learn
    agrees unless told all labels). Undefined without shared units.
    """
    return mean_over_labels(pair, "f1", plan=plan)


Score = Literal["precision", "recall", "f1"]


def mean_over_labels(pair: Cross, score: Score, weighted: bool = False, plan: Resampling | None = DEFAULT) -> Estimate:
    """The labels' precision, recall or F1, averaged over the labels that occur; rows are the truth. Range 0 to 1.

    `weighted` weighs a label by how often it is true. A label that was never predicted has a precision of 0, one that
    is never true a recall of 0. Undefined without shared units. With equal weights a rare label counts as much as any
    other: no interval if a label of the scale was given to fewer than ten units or clusters, unless there was no
    disagreement at all. If both gave some label to fewer than ten, the interval also holds what that leaves open.
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

    if plan is not None and np.array_equal(pair.rows, pair.columns):
        return pair.sample.perfect(_worst_mean(pair, weighted, pair.sample.unseen(plan.level)), pair.n)
    sums = np.concatenate((truth * given, truth, given), axis=1)
    fewest = min(pair.sample.blocks_with(label) for label in (truth + given).T > 0)
    too_few = f"too few {pair.sample.block}s have the rarest label of the scale: {fewest} of {FEWEST_OF_A_LABEL} needed"
    no_interval = too_few if fewest < FEWEST_OF_A_LABEL and not weighted else None
    informative = pair.sample.n_blocks if pair.sample.few_clusters else None
    found = pair.sample.estimate(sums, value, pair.n, NO_SHARED, plan, informative=informative, no_interval=no_interval)
    return _held_by_labels(pair, score, weighted, found, plan)


def _worst_mean(pair: Cross, weighted: bool, unseen: float) -> float:
    """The least mean over all labels of the scale if, without a disagreement so far, this share of the units has one.

    At worst they are the units of the rarest labels, one after the other; a label that did not occur is lost at once.
    """
    if weighted:
        return 1.0 - unseen
    shares = np.sort(np.diagonal(pair.table)) / pair.n
    left = np.maximum(unseen - np.append(0.0, np.cumsum(shares)[:-1]), 0.0)
    return 1.0 - float(np.divide(np.minimum(left, shares), shares, out=np.ones_like(shares), where=shares > 0).mean())


def _held_by_labels(pair: Cross, score: Score, weighted: bool, found: Estimate, plan: Resampling | None) -> Estimate:
    """The estimate with an interval that holds what few units leave open on which both gave the same label.

    If a sample happens to have none or few of them, hardly any resample has more: with 95 % fives, 300 units and no
    agreement beyond chance, the bootstrap alone covers 55 %. What is uncertain is then a plain share for each label,
    and Wilson's reaches of these shares add up as those of independent parts do.
    """
    if plan is None or found.value is None or found.low is None or found.high is None:
        return found
    labels = np.arange(pair.scores.size)[:, None]
    true, predicted = pair.rows == labels, pair.columns == labels
    occurring = list((true | predicted).any(axis=1).nonzero()[0])
    if min(pair.sample.blocks_with(true[label] & predicted[label]) for label in occurring) >= FEW:
        return found
    below = above = 0.0
    for label in occurring:
        hit, either = true[label] & predicted[label], true[label] | predicted[label]
        share = _share(pair, hit, {"precision": predicted[label], "recall": true[label], "f1": either}[score], plan)
        ends = (share.value or 0.0, share.low or 0.0, 1.0 if share.high is None else share.high)
        middle, low, high = (2.0 * end / (1.0 + end) for end in ends) if score == "f1" else ends
        weight = float(pair.sample.times @ true[label]) / pair.n if weighted else 1.0 / len(occurring)
        below, above = math.hypot(below, weight * (middle - low)), math.hypot(above, weight * (high - middle))
    low, high = max(0.0, found.value - below), min(1.0, found.value + above)
    return replace(found, low=min(found.low, low), high=max(found.high, high))
