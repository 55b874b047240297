"""Agreement on percentages, of any number of raters and of two: from sums of scores and of their squares.

Nothing is spread out over units × different values, so a thousand different percentages cost no more than ten.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.statistics.confusion import Cross
from evenhand.statistics.estimate import NO_OVERLAP, NO_SHARED, ONE_LABEL, AnyInts, Estimate, FloatArray, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample, first_over_second, ratio
from evenhand.statistics.kappa import agreement_weights

LOWEST, HIGHEST = 0.0, 100.0
WHOLE = np.arange(LOWEST, HIGHEST + 1.0)
"""The labels that AC2 counts on: whole percents, whichever of them occur."""


@dataclass(frozen=True)
class Percentages:
    """Ratings in a long list: rating `i` gave the unit of row `row[i]` of the sample the percentage `score[i]`."""

    row: AnyInts
    score: FloatArray
    sample: Sample

    def by_row(self, weights: FloatArray | None = None) -> FloatArray:
        """How many ratings each row has, or the sums of their weights."""
        return np.bincount(self.row, weights=weights, minlength=len(self.sample.rows)).astype(np.float64)

    @cached_property
    def raters(self) -> FloatArray:
        """Ratings of each row's unit."""
        return self.by_row()

    @cached_property
    def pairs(self) -> FloatArray:
        """Ordered pairs of ratings of each row's unit."""
        return self.raters * (self.raters - 1.0)

    @cached_property
    def overlapping(self) -> int:
        """Units with at least two ratings: the `n` of every statistic here."""
        return int(self.sample.times[self.pairs > 0].sum())

    @cached_property
    def squared_differences(self) -> FloatArray:
        """The squared differences of the ratings of each row's unit, summed over its ordered pairs."""
        # Measured from one of them, so that equal ratings differ by exactly 0.
        origin = np.zeros(len(self.sample.rows))
        origin[self.row] = self.score
        gap = self.score - origin[self.row]
        return 2.0 * (self.raters * self.by_row(gap**2) - self.by_row(gap) ** 2)


def percentages(units: AnyInts, scores: FloatArray, clusters: AnyInts | None = None) -> Percentages:
    """Percentages from a long list: rating `i` gave unit `units[i]` the score `scores[i]`.

    `clusters`, if given, has one entry for each unit.
    """
    rated, row = np.unique(units, return_inverse=True)
    sample = Sample.of(np.arange(rated.size)[:, None], None if clusters is None else clusters[rated])
    return Percentages(row.reshape(-1), scores, sample)


def percentage_match(given: Percentages, plan: Resampling | None = DEFAULT) -> Estimate:
    """As `percent_agreement`: the share of equal pairs of ratings within a unit, averaged over units rated twice."""
    if given.overlapping == 0:
        return undefined(NO_OVERLAP)
    values, code = np.unique(given.score, return_inverse=True)
    cells, times = np.unique(given.row * values.size + code.reshape(-1), return_counts=True)
    equal = np.bincount(cells // values.size, weights=times * (times - 1.0), minlength=len(given.sample.rows))
    share = np.divide(equal, given.pairs, out=np.zeros(equal.shape), where=given.pairs > 0)
    sums = np.column_stack((share, given.pairs > 0)).astype(np.float64)
    return given.sample.estimate(sums, first_over_second, given.overlapping, NO_OVERLAP, plan, chance=1.0)


def percentage_alpha(given: Percentages, plan: Resampling | None = DEFAULT) -> Estimate:
    """Krippendorff's α with the interval metric, as `krippendorff_alpha` defines it."""
    if given.overlapping == 0:
        return undefined(NO_OVERLAP)
    pairable = given.pairs > 0
    middle = float(given.score.mean())
    moments = (given.raters, given.by_row(given.score - middle), given.by_row((given.score - middle) ** 2))
    observed = given.squared_differences / np.maximum(given.raters - 1.0, 1.0)
    sums = np.stack([np.where(pairable, column, 0.0) for column in (observed, *moments)], axis=1)

    def expected(sums: FloatArray) -> FloatArray:
        n, total, squares = sums[..., 1], sums[..., 2], sums[..., 3]
        found = n * squares - total**2
        # Rounding must not turn equal ratings into tiny differences.
        return 2.0 * np.where(found > 1e-12 * n * (squares + middle**2), found, 0.0)

    def alpha(sums: FloatArray) -> FloatArray:
        return 1.0 - (sums[..., 1] - 1.0) * ratio(sums[..., 0], expected(sums))

    whole: FloatArray = given.sample.times.astype(np.float64) @ sums
    chance = float(expected(whole)) / float(whole[1] ** 2 * (np.ptp(given.score) or 1.0) ** 2)
    return given.sample.estimate(sums, alpha, given.overlapping, ONE_LABEL, plan, chance)


def percentage_ac(given: Percentages, plan: Resampling | None = DEFAULT) -> Estimate:
    """Gwet's AC2 with quadratic weights on the scale from 0 to 100, as `gwet_ac` defines it.

    Disagreement reads the percentages as they are. Chance reads how often each of the 101 whole percents was given,
    after rounding, so the figure depends on the scale and not on which percentages happen to occur.
    """
    if given.overlapping == 0:
        return undefined(NO_OVERLAP)
    weights = agreement_weights("quadratic", WHOLE)
    scale = float(weights.sum()) / (WHOLE.size * (WHOLE.size - 1.0))
    whole = np.rint(given.score).astype(np.int64)
    per_rating = given.sample.times[given.row] / given.raters[given.row]
    pool = np.bincount(whole, weights=per_rating, minlength=WHOLE.size) / given.sample.times.sum()
    # A unit's part in Σ pool², to the first order: the shares of resampled pools need not be counted one by one.
    usual = given.by_row(pool[whole]) / given.raters
    disagreeing = given.squared_differences / np.maximum(given.pairs, 1.0) / (HIGHEST - LOWEST) ** 2
    sums = np.column_stack((disagreeing, given.pairs > 0, usual, np.ones_like(usual))).astype(np.float64)

    def expected(sums: FloatArray) -> FloatArray:
        return 1.0 - scale * (1.0 - 2.0 * ratio(sums[..., 2], sums[..., 3]) + float(pool @ pool))

    def value(sums: FloatArray) -> FloatArray:
        return 1.0 - ratio(ratio(sums[..., 0], sums[..., 1]), expected(sums))

    chance = float(expected(given.sample.times @ sums))
    return given.sample.estimate(sums, value, given.overlapping, "chance agreement is complete", plan, chance)


def percentage_pair_ac(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """`percentage_ac` of two raters."""
    row, codes = np.tile(np.arange(len(pair.rows)), 2), np.concatenate((pair.rows, pair.columns))
    return percentage_ac(Percentages(row, pair.scores[codes], pair.sample), plan)


def percentage_kappa(pair: Cross, plan: Resampling | None = DEFAULT) -> Estimate:
    """Cohen's κ with quadratic weights of two raters, as `cohen_kappa` defines it."""
    if pair.n == 0:
        return undefined(NO_SHARED)
    x, y = pair.scores[pair.rows], pair.scores[pair.columns]
    middle = 0.5 * (LOWEST + HIGHEST)
    x, y = x - middle, y - middle
    sums = np.stack(((x - y) ** 2, np.ones_like(x), x, y, x**2 + y**2), axis=1)

    def expected(sums: FloatArray) -> FloatArray:
        n, squares = sums[..., 1], sums[..., 4]
        found = n * squares - 2.0 * sums[..., 2] * sums[..., 3]
        return np.where(found > 1e-12 * n * squares, found, 0.0)

    def kappa(sums: FloatArray) -> FloatArray:
        return 1.0 - ratio(sums[..., 0] * sums[..., 1], expected(sums))

    apart = max(np.ptp(np.concatenate((x, y))), 1.0)
    chance = float(expected(pair.sample.times @ sums)) / (pair.n**2 * apart**2)
    return pair.sample.estimate(sums, kappa, pair.n, ONE_LABEL, plan, chance)
