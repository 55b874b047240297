"""Agreement label by label, and how the labels are spread."""

from dataclasses import dataclass

import numpy as np

from evenhand.agreement.arrays import FloatArray
from evenhand.agreement.bootstrap import DEFAULT, Plan, Statistic, estimate, sample_of
from evenhand.agreement.counts import Counts
from evenhand.agreement.cross import Cross
from evenhand.agreement.intervals import wilson
from evenhand.agreement.ratio import first_over_second, ratio
from evenhand.agreement.result import NO_OVERLAP, NO_RATINGS, NO_SHARED, Estimate, undefined

SKEWED = 0.85
"""Past this share of one label, chance-corrected and plain agreement tell different stories."""


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


def spread(counts: Counts) -> Spread | None:
    """The labels' shares of all ratings; None without ratings."""
    used = counts.times @ counts.table
    total = int(used.sum())
    if total == 0:
        return None
    shares = used / total
    commonest = int(np.argmax(shares))
    top = float(shares[commonest])
    return Spread(shares=tuple(shares.tolist()), commonest=commonest, baseline=top, skewed=top > SKEWED, n=total)


def pair_percent(pair: Cross, plan: Plan | None = DEFAULT) -> Estimate:
    """The share of shared units to which both gave the same label. Range 0 to 1. Undefined without shared units.

    Wilson's interval for independent units; the bootstrap over clusters otherwise.
    """
    return _share(pair, np.eye(pair.labels), plan)


def pair_within_one(pair: Cross, plan: Plan | None = DEFAULT) -> Estimate:
    """The share of shared units on which the scores differ by at most 1. Range 0 to 1. Level: ordinal."""
    near = np.abs(np.subtract.outer(pair.scores, pair.scores)) <= 1.0 + 1e-12
    return _share(pair, near.astype(np.float64), plan)


def _share(pair: Cross, hit: FloatArray, plan: Plan | None) -> Estimate:
    if pair.n == 0:
        return undefined(NO_SHARED)
    hits = float((pair.table * hit).sum())
    if plan is None or not pair.blocks.clustered:
        low, high = wilson(hits, pair.n, plan.level) if plan is not None else (None, None)
        return Estimate(value=hits / pair.n, low=low, high=high, n=pair.n)
    columns = np.stack((hit.reshape(-1)[pair.cells], np.ones(len(pair.cells))), axis=1)
    sample = sample_of(pair.blocks, columns)
    return estimate(sample, first_over_second, pair.n, NO_SHARED, plan, pair.resampler(plan))


def label_agreement(pair: Cross, label: int, plan: Plan | None = DEFAULT) -> Estimate:
    """Of the units to which either rater gave the label, the share to which both did. Range 0 to 1.

    `n` counts the units to which either gave it. Undefined where neither ever did. Wilson's interval for independent
    units; the bootstrap over clusters otherwise.
    """
    both = int(pair.table[label, label])
    either = int(pair.table[label].sum() + pair.table[:, label].sum()) - both
    if pair.n == 0:
        return undefined(NO_SHARED)
    if either == 0:
        return undefined("neither rater gave this label")
    if plan is None or not pair.blocks.clustered:
        low, high = wilson(both, either, plan.level) if plan is not None else (None, None)
        return Estimate(value=both / either, low=low, high=high, n=either)
    rows, columns = np.divmod(pair.cells, pair.labels)
    one, two = rows == label, columns == label
    sums = np.stack((one & two, one | two), axis=1).astype(np.float64)
    sample = sample_of(pair.blocks, sums)
    return estimate(sample, first_over_second, either, NO_SHARED, plan, pair.resampler(plan))


def specific_agreement(counts: Counts, label: int, plan: Plan | None = DEFAULT) -> Estimate:
    """The chance that, where one rating is the label, another rating of the same unit is it too. Range 0 to 1.

    For two raters it is 2·both / (2·both + only one): the F1 of the label, whichever rater is the reference. Each
    pairable rating weighs 1, as in α. `n` counts units rated twice. Undefined where no pairable rating is the label.
    """
    if counts.overlapping == 0:
        return undefined(NO_OVERLAP)
    raters, given = counts.raters.astype(np.float64), counts.table[:, label].astype(np.float64)
    paired = raters >= 2
    both = np.where(paired, given * (given - 1.0) / np.maximum(raters - 1.0, 1.0), 0.0)
    sample = sample_of(counts.blocks, np.stack((both, np.where(paired, given, 0.0)), axis=1))
    why = "no rating of a unit rated twice is this label"
    return estimate(sample, first_over_second, counts.overlapping, why, plan, counts.resampler(plan))


def rare_agreement(counts: Counts, plan: Plan | None = DEFAULT) -> Estimate:
    """Specific agreement on the rare side: any label but the commonest, taken as one. Range 0 to 1.

    Undefined where every pairable rating is the commonest label, or no unit was rated twice.
    """
    found = spread(counts)
    if found is None:
        return undefined(NO_RATINGS)
    common = counts.table[:, found.commonest]
    folded = Counts(
        table=np.stack((common, counts.raters - common), axis=1),
        times=counts.times,
        blocks=counts.blocks,
        scores=np.array([0.0, 1.0]),
    )
    return specific_agreement(folded, 1, plan)


def macro_f1(pair: Cross, plan: Plan | None = DEFAULT) -> Estimate:
    """The mean of the labels' F1, over the labels that either rater used; rows are the reference. Range 0 to 1.

    F1 is the same whichever rater is the reference. A label of the scale that neither used has no part (scikit-learn
    agrees unless told all labels). Undefined without shared units.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    return estimate(pair.sample, macro_f1_of_cells(pair.labels), pair.n, NO_SHARED, plan, pair.resampler(plan))


def macro_f1_of_cells(labels: int) -> Statistic:
    """Macro-F1 as a function of a confusion table's cells, row by row."""

    def value(sums: FloatArray) -> FloatArray:
        table = sums.reshape(*sums.shape[:-1], labels, labels)
        either = table.sum(axis=-1) + table.sum(axis=-2)
        both = 2.0 * np.diagonal(table, axis1=-2, axis2=-1)
        present = either > 0
        score = np.divide(both, either, out=np.zeros_like(either), where=present)
        return ratio(score.sum(axis=-1), present.sum(axis=-1).astype(np.float64))

    return value
