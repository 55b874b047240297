"""Two raters' agreement beyond chance: Cohen's κ, weighted or plain, and its kin; Conger's κ for more."""

import math

import numpy as np

from evenhand.agreement.arrays import AnyInts, FloatArray
from evenhand.agreement.blocks import cluster_blocks, single_blocks, unique_rows
from evenhand.agreement.bootstrap import DEFAULT, Plan, Statistic, estimate, sample_of
from evenhand.agreement.cross import Cross
from evenhand.agreement.distributions import normal_quantile
from evenhand.agreement.rare import rare_of_pair, widened
from evenhand.agreement.ratio import ratio
from evenhand.agreement.result import NO_OVERLAP, NO_SHARED, ONE_LABEL, Estimate, undefined
from evenhand.agreement.weights import Weighting, agreement_weights


def cohen_kappa(pair: Cross, weighting: Weighting | FloatArray = "identity", plan: Plan | None = DEFAULT) -> Estimate:
    """Agreement beyond that of two independent raters with these two raters' own habits.

    Range: -1 to 1, 0 is chance. Level: nominal plain, ordinal or interval with weights. 0 where one rater is constant
    and the other is not; undefined where both gave one and the same label throughout, or shared no unit.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)
    disagreement = 1.0 - agreement_weights(weighting, pair.scores)
    statistic = kappa_of_cells(disagreement)
    found = estimate(pair.sample, statistic, pair.n, ONE_LABEL, plan, pair.resampler(plan), _chance(disagreement))
    return found if plan is None else widened(found, rare_of_pair(pair), plan.level)


def scott_pi(pair: Cross, plan: Plan | None = DEFAULT) -> Estimate:
    """Agreement beyond that of two raters who share one pool of labels. Range -1 to 1. Level: nominal.

    Undefined where every rating is the same label, or no unit was shared.
    """
    if pair.n == 0:
        return undefined(NO_SHARED)

    def value(sums: FloatArray) -> FloatArray:
        table = _square(sums, pair.labels)
        pool = table.sum(axis=-1) + table.sum(axis=-2)
        n = table.sum(axis=(-1, -2))
        agreeing = np.trace(table, axis1=-2, axis2=-1)
        return 1.0 - ratio((n - agreeing) * 4.0 * n, 4.0 * n**2 - (pool**2).sum(axis=-1))

    found = estimate(pair.sample, value, pair.n, ONE_LABEL, plan, pair.resampler(plan))
    return found if plan is None else widened(found, rare_of_pair(pair), plan.level)


def _square(sums: FloatArray, labels: int) -> FloatArray:
    return sums.reshape(*sums.shape[:-1], labels, labels)


def _chance(disagreement: FloatArray) -> Statistic:
    """Expected disagreement as a share of the largest that two labels can have."""

    def value(sums: FloatArray) -> FloatArray:
        table = _square(sums, disagreement.shape[0])
        rows, columns = table.sum(axis=-1), table.sum(axis=-2)
        return ((rows @ disagreement) * columns).sum(axis=-1) / (rows.sum(axis=-1) ** 2 * disagreement.max())

    return value


def kappa_of_cells(disagreement: FloatArray) -> Statistic:
    """κ as a function of a confusion table's cells, row by row."""

    def value(sums: FloatArray) -> FloatArray:
        table = _square(sums, disagreement.shape[0])
        rows, columns = table.sum(axis=-1), table.sum(axis=-2)
        observed = sums @ disagreement.reshape(-1)
        expected = ((rows @ disagreement) * columns).sum(axis=-1)
        return 1.0 - ratio(observed * rows.sum(axis=-1), expected)

    return value


def kappa_standard_error(pair: Cross, weighting: Weighting | FloatArray = "identity") -> float | None:
    """The large-sample standard error of κ (Fleiss, Cohen and Everitt 1969), units independent.

    None if κ is undefined.
    """
    value = cohen_kappa(pair, weighting, None).value
    if value is None:
        return None
    weight = agreement_weights(weighting, pair.scores)
    share = pair.table / pair.n
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    chance = float(rows @ weight @ columns)
    margins = np.add.outer(weight @ columns, rows @ weight)
    spread = float((share * (weight - margins * (1.0 - value)) ** 2).sum()) - (value - chance * (1.0 - value)) ** 2
    return math.sqrt(max(spread, 0.0) / pair.n) / (1.0 - chance)


def cohen_kappa_asymptotic(
    pair: Cross, weighting: Weighting | FloatArray = "identity", level: float = 0.95
) -> Estimate:
    """κ with its large-sample interval: for independent units and a hundred of them or more; else use the bootstrap."""
    point = cohen_kappa(pair, weighting, None)
    error = kappa_standard_error(pair, weighting)
    if point.value is None or error is None:
        return point
    if error == 0.0:
        return Estimate(value=point.value, n=point.n, note="no interval: the standard error is 0")
    reach = normal_quantile(0.5 + 0.5 * level) * error
    return Estimate(value=point.value, low=point.value - reach, high=min(1.0, point.value + reach), n=point.n)


def conger_kappa(codes: AnyInts, labels: int, clusters: AnyInts | None = None, plan: Plan | None = DEFAULT) -> Estimate:
    """Cohen's κ for any number of raters (Conger): chance from each rater's own label shares. Level: nominal.

    Range: at most 1, 0 is chance. `codes` is units × raters, -1 missing. A rater's shares come from all units that the
    rater rated. Undefined without a unit rated twice, and where every rating is the same label.
    """
    rated = (codes >= 0).sum(axis=1)
    n = int((rated >= 2).sum())
    active = (codes >= 0).any(axis=0)
    if n == 0:
        return undefined(NO_OVERLAP)
    kept = codes[rated > 0][:, active]
    rows, inverse, times = unique_rows(kept + 1)
    rows = rows - 1
    raters = rows.shape[1]
    given = (rows[:, :, None] == np.arange(labels)[None, None, :]).astype(np.float64)
    counts = given.sum(axis=1)
    ratings = counts.sum(axis=1)
    pairs = ratings * (ratings - 1.0)
    alike = (counts * (counts - 1.0)).sum(axis=1)
    differing = np.divide(pairs - alike, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    columns = [differing[:, None], (pairs > 0).astype(np.float64)[:, None], given.reshape(len(rows), -1)]
    blocks = single_blocks(times) if clusters is None else cluster_blocks(inverse, clusters[rated > 0])

    def value(sums: FloatArray) -> FloatArray:
        own = sums[..., 2:].reshape(*sums.shape[:-1], raters, labels)
        share = ratio(own, own.sum(axis=-1, keepdims=True))
        together = share.sum(axis=-2)
        # Chance disagreement of two different raters, averaged over the pairs.
        alike = (together**2 - (share**2).sum(axis=-2)).sum(axis=-1) / (raters * (raters - 1.0))
        chance = np.where(1.0 - alike > 1e-12, 1.0 - alike, 0.0)
        return 1.0 - ratio(ratio(sums[..., 0], sums[..., 1]), chance)

    return estimate(sample_of(blocks, np.concatenate(columns, axis=1)), value, n, ONE_LABEL, plan)
