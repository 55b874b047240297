"""Paired comparison: of two systems on the same items, or of two raters with the same reference."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.agreement.arrays import AnyInts, FloatArray
from evenhand.agreement.blocks import cluster_blocks, single_blocks, unique_rows
from evenhand.agreement.bootstrap import DEFAULT, Plan, Statistic, estimate, sample_of
from evenhand.agreement.distributions import binomial_cdf, two_sided_p
from evenhand.agreement.intervals import error_of_mean, mean
from evenhand.agreement.kappa import kappa_of_cells
from evenhand.agreement.labels import macro_f1_of_cells
from evenhand.agreement.ratio import ratio
from evenhand.agreement.result import NO_OVERLAP, Estimate, undefined
from evenhand.agreement.weights import agreement_weights

With = Literal["percent", "kappa", "kappa_linear", "kappa_quadratic", "macro_f1"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first less the second, with its interval, and the two-sided p value of no difference (None if undefined)."""

    difference: Estimate
    first: float | None
    second: float | None
    p: float | None


def compare_means(
    first: FloatArray, second: FloatArray, clusters: AnyInts | None = None, level: float = 0.95
) -> Comparison:
    """Two systems' scores on the same items, NaN where missing: the mean difference by the paired t.

    Over clusters where given.
    Level: interval. Undefined without an item that both have.
    """
    both = ~(np.isnan(first) | np.isnan(second))
    if not both.any():
        return Comparison(undefined("no item has both scores"), None, None, None)
    gap = first[both] - second[both]
    groups = None if clusters is None else clusters[both]
    difference = mean(gap, groups, level)
    error, df = error_of_mean(gap, groups)
    p = two_sided_p(float(gap.mean()), error, df) if difference.low is not None else None
    return Comparison(difference, float(first[both].mean()), float(second[both].mean()), p)


def compare_shares(
    first: FloatArray, second: FloatArray, clusters: AnyInts | None = None, level: float = 0.95
) -> Comparison:
    """Two systems' zeros and ones on the same items.

    As `compare_means`, with McNemar's exact p where units are independent.
    """
    compared = compare_means(first, second, clusters, level)
    if clusters is not None or compared.first is None:
        return compared
    gained, lost = int((first - second == 1.0).sum()), int((first - second == -1.0).sum())
    p = min(1.0, 2.0 * binomial_cdf(min(gained, lost), gained + lost, 0.5)) if gained + lost else 1.0
    return Comparison(compared.difference, compared.first, compared.second, p)


def compare_raters(
    first: AnyInts,
    second: AnyInts,
    reference: AnyInts,
    labels: int,
    by: With = "kappa",
    scores: FloatArray | None = None,
    clusters: AnyInts | None = None,
    plan: Plan | None = DEFAULT,
) -> Comparison:
    """Two raters' agreement with one reference, over the units that all three rated, and the difference.

    Codes, -1 missing. The resamples are the same for both raters, so what they share cancels. Range -2 to 2 for κ, -1
    to 1 otherwise. The p value is left to the interval: None. Undefined where either agreement is.
    """
    used = (first >= 0) & (second >= 0) & (reference >= 0)
    n = int(used.sum())
    if n == 0:
        return Comparison(undefined(NO_OVERLAP), None, None, None)
    rows, inverse, times = unique_rows(np.stack((first[used], second[used], reference[used]), axis=1))
    blocks = single_blocks(times) if clusters is None else cluster_blocks(inverse, clusters[used])
    size = labels * labels
    cells = np.zeros((len(rows), 2 * size))
    cells[np.arange(len(rows)), rows[:, 2] * labels + rows[:, 0]] = 1.0
    cells[np.arange(len(rows)), size + rows[:, 2] * labels + rows[:, 1]] = 1.0
    one = _statistic(by, labels, np.arange(labels, dtype=np.float64) if scores is None else scores)
    total = (times.astype(np.float64) @ cells)[None, :]
    values = [float(one(total[:, :size])[0]), float(one(total[:, size:])[0])]
    difference = estimate(
        sample_of(blocks, cells),
        lambda sums: one(sums[..., :size]) - one(sums[..., size:]),
        n,
        "the agreement of one of the two with the reference is undefined",
        plan,
    )
    known = [value if np.isfinite(value) else None for value in values]
    return Comparison(difference, known[0], known[1], None)


def _statistic(by: With, labels: int, scores: FloatArray) -> Statistic:
    match by:
        case "percent":
            same = np.eye(labels).reshape(-1)
            return lambda cells: ratio(cells @ same, cells.sum(axis=-1))
        case "macro_f1":
            return macro_f1_of_cells(labels)
        case "kappa":
            return kappa_of_cells(1.0 - agreement_weights("identity", scores))
        case "kappa_linear":
            return kappa_of_cells(1.0 - agreement_weights("linear", scores))
        case "kappa_quadratic":
            return kappa_of_cells(1.0 - agreement_weights("quadratic", scores))
