"""Agreement label by label, and how the labels are spread."""

from dataclasses import dataclass

import numpy as np

from evenhand.statistics.arrays import first_over_second
from evenhand.statistics.counts import Counts
from evenhand.statistics.estimate import NO_OVERLAP, NO_RATINGS, Estimate, undefined
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling

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


def specific_agreement(counts: Counts, label: int, plan: Resampling | None = DEFAULT) -> Estimate:
    """The chance that, where one rating is the label, another rating of the same unit is it too. Range 0 to 1.

    For two raters it is 2·both / (2·both + only one): the F1 of the label, whichever rater is the reference. Each
    pairable rating weighs 1, as in α. `n` counts units rated twice. Undefined where no pairable rating is the label.
    """
    if counts.overlapping == 0:
        return undefined(NO_OVERLAP)
    raters, given = counts.raters.astype(np.float64), counts.table[:, label].astype(np.float64)
    paired = raters >= 2
    both = np.where(paired, given * (given - 1.0) / np.maximum(raters - 1.0, 1.0), 0.0)
    sums = np.stack((both, np.where(paired, given, 0.0)), axis=1)
    why = "no rating of a unit rated twice is this label"
    return counts.sample.estimate(sums, first_over_second, counts.overlapping, why, plan)


def rare_agreement(counts: Counts, plan: Resampling | None = DEFAULT) -> Estimate:
    """Specific agreement on the rare side: any label but the commonest, taken as one. Range 0 to 1.

    Undefined where every pairable rating is the commonest label, or no unit was rated twice.
    """
    found = spread(counts)
    if found is None:
        return undefined(NO_RATINGS)
    common = counts.table[:, found.commonest]
    return specific_agreement(counts.with_table(np.stack((common, counts.raters - common), axis=1)), 1, plan)
