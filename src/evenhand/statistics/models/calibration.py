"""Whether a rater's stated confidence can be believed."""

from dataclasses import dataclass

import numpy as np

from evenhand.statistics.estimate import NO_RATINGS, AnyInts, Estimate, FloatArray, undefined
from evenhand.statistics.intervals.analytic import mean, proportion
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample, ratio

BINS, PERCENTS = 10, 101


@dataclass(frozen=True, slots=True)
class Bin:
    """Ratings whose confidence lies between `low` and `high`: how sure the rater was, how often right."""

    low: float
    high: float
    confidence: float
    right: Estimate


@dataclass(frozen=True, slots=True)
class Calibration:
    """Stated confidence against being right.

    `overconfidence`: mean confidence less share right, -1 to 1, 0 is best. `brier`: mean squared distance, 0 to 1, 0 is
    best. `error`: the bins' distances from the diagonal, weighted (expected calibration error), 0 to 1; biased upward
    where bins are small, so it has no interval. `discrimination`: the chance that a right rating was given with more
    confidence than a wrong one (area under the curve), 0.5 is a coin; undefined where all are right or all wrong.
    """

    n: int
    overconfidence: Estimate
    brier: Estimate
    error: Estimate
    discrimination: Estimate
    bins: tuple[Bin, ...]


def calibration(
    confidence: FloatArray, right: FloatArray, clusters: AnyInts | None = None, plan: Resampling = DEFAULT
) -> Calibration:
    """Calibration of confidences from 0 to 1 against zeros and ones, NaN where either is missing; no empty bins."""
    known = ~(np.isnan(confidence) | np.isnan(right))
    sure, hit = confidence[known], right[known]
    if sure.size and (float(sure.min()) < 0.0 or float(sure.max()) > 1.0):
        raise ValueError("confidence must lie between 0 and 1")
    groups = None if clusters is None else clusters[known]
    if sure.size == 0:
        nothing = undefined(NO_RATINGS)
        return Calibration(0, nothing, nothing, nothing, nothing, ())
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    table: list[Bin] = []
    for number in np.unique(place).tolist():
        inside = place == number
        share = proportion(hit[inside], None if groups is None else groups[inside], plan.level)
        table.append(Bin(number / BINS, (number + 1) / BINS, float(sure[inside].mean()), share))
    distance = sum(one.right.n * abs(one.confidence - (one.right.value or 0.0)) for one in table) / sure.size
    return Calibration(
        n=int(sure.size),
        overconfidence=mean(sure - hit, groups, plan.level),
        brier=mean((sure - hit) ** 2, groups, plan.level),
        error=Estimate(value=distance, n=int(sure.size), note="no interval: biased upward where bins are small"),
        discrimination=_discrimination(sure, hit, groups, plan),
        bins=tuple(table),
    )


def _discrimination(sure: FloatArray, hit: FloatArray, groups: AnyInts | None, plan: Resampling) -> Estimate:
    why = "all ratings are right, or all wrong"
    if float(hit.min()) == float(hit.max()):
        return undefined(why, int(hit.size))
    values, levels = np.unique(sure, return_inverse=True)
    if values.size > PERCENTS:
        # No rater is sure to a tenth of a percent, and the sums stay few.
        values, levels = np.unique(np.round(sure, 2), return_inverse=True)
    sample = Sample.of(np.stack((levels.reshape(-1), hit.astype(np.int64)), axis=1), groups)
    cells = np.eye(2 * values.size)[sample.rows[:, 1] * values.size + sample.rows[:, 0]]

    def value(sums: FloatArray) -> FloatArray:
        wrong, right = sums[..., : values.size], sums[..., values.size :]
        below = np.cumsum(wrong, axis=-1) - 0.5 * wrong
        return ratio((right * below).sum(axis=-1), right.sum(axis=-1) * wrong.sum(axis=-1))

    return sample.estimate(cells, value, int(hit.size), why, plan)
