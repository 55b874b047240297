"""How often a rater gives the label that the other people give, and which of two raters does so more often."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.analysis.tables import Opinions, Table
from evenhand.records import Kind
from evenhand.statistics import (
    Comparison,
    Estimate,
    IntArray,
    Resampling,
    compare_means,
    compare_raters,
    compare_shares,
    match_with,
    undefined,
)

NO_MAJORITY = "percentages have no majority label"
MOST_PEOPLE = 50
"""A model is compared with at most this many people, those with the most ratings: no reader needs a longer list."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A rater's exact match with the majority of the people, the rater left out; `n` ratings in all."""

    rater: str
    kind: Kind
    n: int
    match: Estimate


@dataclass(frozen=True, slots=True)
class Against:
    """Two raters against the same people, neither of the two among them, on units that all rated; first less second.

    `match` compares exact match with the majority, `kappa` the chance-corrected agreement with it (`weights` says
    which), `distance` the mean distance from the people's mean score, where less is closer. Those that do not fit the
    scale are None.
    """

    first: str
    second: str
    n: int
    match: Comparison | None = None
    kappa: Comparison | None = None
    weights: Literal["kappa", "kappa_quadratic"] | None = None
    distance: Comparison | None = None
    why: str | None = None


def standing(table: Table, rater: int, plan: Resampling) -> Standing:
    """How often one rater agrees with the other people."""
    ref, units = table.raters[rater], table.units_of(rater)
    return Standing(ref.id, ref.kind, int(units.size), _match(table, rater, units, plan))


def _match(table: Table, rater: int, units: IntArray, plan: Resampling) -> Estimate:
    if not table.labels:
        return undefined(NO_MAJORITY)
    if not set(table.people) - {rater}:
        return undefined("no other person rated" if table.people else "no person rated")
    majority = table.people_at(units, (rater,)).majority
    return match_with(table.codes_at(rater, units), majority, table.clusters_of(units), plan.level)


def against(table: Table, first: int, second: int, plan: Resampling) -> Against:
    """The paired comparison of two raters, both with the same people."""
    names = table.raters[first].id, table.raters[second].id
    units = np.intersect1d(table.units_of(first), table.units_of(second), assume_unique=True)
    people = table.people_at(units, (first, second))
    shared = units[people.count > 0]
    if shared.size == 0:
        return Against(*names, 0, why="no unit was rated by both and by another person")
    people = people.only(people.count > 0)
    codes = table.codes_at(first, shared), table.codes_at(second, shared)
    clusters = table.clusters_of(shared)
    if not table.labels:
        return Against(*names, int(shared.size), distance=_distance(table, codes, people, clusters, plan))
    weights = "kappa" if table.scores is None else "kappa_quadratic"
    weighting = "identity" if table.scores is None else "quadratic"
    return Against(
        *names,
        int(shared.size),
        match=_exact(codes, people, clusters, plan),
        kappa=compare_raters(
            codes[0], codes[1], people.majority, len(table.labels), weighting, table.scores, clusters, plan
        ),
        weights=weights,
        distance=None if table.scores is None else _distance(table, codes, people, clusters, plan),
    )


def _exact(
    codes: tuple[IntArray, IntArray], people: Opinions, clusters: IntArray | None, plan: Resampling
) -> Comparison:
    known = people.majority >= 0
    hits = [(own[known] == people.majority[known]).astype(np.float64) for own in codes]
    compared = compare_shares(hits[0], hits[1], None if clusters is None else clusters[known], plan.level)
    if compared.first is None:
        return Comparison(undefined("no unit that both rated has a majority"), None, None, None)
    return compared


def _distance(
    table: Table, codes: tuple[IntArray, IntArray], people: Opinions, clusters: IntArray | None, plan: Resampling
) -> Comparison:
    assert table.scores is not None
    away = [np.abs(table.scores[own] - people.mean) for own in codes]
    return compare_means(away[0], away[1], clusters, plan.level)


def busiest(table: Table) -> Sequence[int]:
    """The people to compare a model with, in their own order."""
    by_work = sorted(table.people, key=lambda person: -table.units_of(person).size)
    return sorted(by_work[:MOST_PEOPLE])
