"""The units on which raters disagree most."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.agreement.alpha import squared_differences
from evenhand.agreement.arrays import AnyInts, FloatArray

By = Literal["nominal", "interval"]


@dataclass(frozen=True, slots=True)
class Disputed:
    """A unit, how far its ratings lie apart (0 all the same; 1 the most that two ratings can differ), its ratings."""

    unit: int
    disagreement: float
    ratings: int


def unit_disagreement(codes: AnyInts, labels: int, by: By = "nominal", scores: FloatArray | None = None) -> FloatArray:
    """Mean squared difference of two ratings of each unit, over the largest possible; NaN for fewer than two ratings.

    `codes` is units × raters, -1 missing. Range 0 to 1. `nominal` counts differing pairs; `interval` reads the scores.
    """
    positions = np.arange(labels, dtype=np.float64) if scores is None else scores
    difference = squared_differences(by, positions)
    largest = float(difference.max()) if difference.size else 0.0
    tally = np.zeros((codes.shape[0], labels))
    for label in range(labels):
        tally[:, label] = (codes == label).sum(axis=1)
    raters = tally.sum(axis=1)
    pairs = raters * (raters - 1.0)
    out = np.full(len(codes), np.nan)
    np.divide(((tally @ difference) * tally).sum(axis=1), pairs * (largest or 1.0), out=out, where=pairs > 0)
    return out


def most_disputed(
    codes: AnyInts, labels: int, by: By = "nominal", scores: FloatArray | None = None, most: int = 20
) -> tuple[Disputed, ...]:
    """The units with any disagreement, the worst first.

    Among equals those with more ratings, then in their own order.
    """
    apart = unit_disagreement(codes, labels, by, scores)
    ratings = (codes >= 0).sum(axis=1)
    found = np.flatnonzero(np.where(np.isnan(apart), 0.0, apart) > 0)
    order = found[np.lexsort((found, -ratings[found], -apart[found]))][:most]
    return tuple(Disputed(unit=int(u), disagreement=float(apart[u]), ratings=int(ratings[u])) for u in order)
