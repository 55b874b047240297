"""Fleiss' κ: agreement of many raters beyond that of ratings dealt from one pool."""

import numpy as np

from evenhand.agreement.arrays import FloatArray
from evenhand.agreement.bootstrap import DEFAULT, Plan
from evenhand.agreement.counts import Counts
from evenhand.agreement.percent import corrected
from evenhand.agreement.rare import rare_of_counts, widened
from evenhand.agreement.result import ONE_LABEL, Estimate
from evenhand.agreement.weights import Weighting, agreement_weights


def fleiss_kappa(
    counts: Counts, weighting: Weighting | FloatArray = "identity", plan: Plan | None = DEFAULT
) -> Estimate:
    """Agreement beyond that of ratings dealt at random from one common pool (Fleiss; for two raters Scott's π).

    Range: at most 1, 0 is chance. Level: by `weighting`. Units may have unequal numbers of ratings: the pool is the
    mean of the units' label shares over all rated units, the agreement that over units rated twice. With two ratings
    for each unit it is Scott's π. Undefined without a unit rated twice, and where all ratings are one label.
    """
    weight = agreement_weights(weighting, counts.scores)

    def chance(pool: FloatArray) -> FloatArray:
        return ((pool @ (1.0 - weight)) * pool).sum(axis=-1)

    found = corrected(counts, weight, chance, ONE_LABEL, plan)
    return found if plan is None else widened(found, rare_of_counts(counts), plan.level)


def fleiss_category_kappa(counts: Counts, label: int, plan: Plan | None = DEFAULT) -> Estimate:
    """Fleiss' κ of one label against all others. Undefined where every rating, or none, is that label."""
    rest = counts.table.sum(axis=1) - counts.table[:, label]
    folded = Counts(
        table=np.stack((counts.table[:, label], rest), axis=1),
        times=counts.times,
        blocks=counts.blocks,
        scores=np.array([0.0, 1.0]),
    )
    return fleiss_kappa(folded, "identity", plan)


def fleiss_null_z(counts: Counts) -> float | None:
    """Fleiss' κ over its standard error under chance agreement (1971), for units with equally many ratings.

    None where κ is undefined or the units have unequal numbers of ratings.
    """
    raters = counts.raters
    value = fleiss_kappa(counts, "identity", None).value
    if value is None or len(set(raters.tolist())) != 1:
        return None
    m, n = int(raters[0]), counts.units
    share = (counts.times @ counts.table) / (n * m)
    spread = float((share * (1.0 - share)).sum())
    inner = spread**2 - float((share * (1.0 - share) * (1.0 - 2.0 * share)).sum())
    return value / float(np.sqrt(2.0 * inner / (spread**2 * n * m * (m - 1))))
