"""How often a rater says what the other people say, and which of two raters does so more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.agreement import compare as paired
from evenhand.agreement.bootstrap import Plan
from evenhand.agreement.majority import standing as standing_of
from evenhand.agreement.result import Estimate, undefined
from evenhand.records import Kind
from evenhand.table import IntArray
from evenhand.trust.reading import NO_MAJORITY, Others, Reading

MOST_PEOPLE = 50
"""A model is compared with this many people at most, those with the most ratings: beyond, nobody reads the list."""


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
    match: paired.Comparison | None = None
    kappa: paired.Comparison | None = None
    weights: Literal["kappa", "kappa_quadratic"] | None = None
    distance: paired.Comparison | None = None
    why: str | None = None


def standing(reading: Reading, rater: int, plan: Plan) -> Standing:
    """How one rater stands to the other people."""
    ref, units = reading.raters[rater], reading.units_of(rater)
    return Standing(ref.id, ref.kind, int(units.size), _match(reading, rater, units, plan))


def _match(reading: Reading, rater: int, units: IntArray, plan: Plan) -> Estimate:
    if not reading.labels:
        return undefined(NO_MAJORITY)
    if not set(reading.people) - {rater}:
        return undefined("no other person rated" if reading.people else "no person rated")
    majority = reading.people_at(units, (rater,)).majority
    codes = np.stack((reading.codes_at(rater, units), majority), axis=1)
    return standing_of(codes, len(reading.labels), 0, reading.clusters_of(units), plan.level).with_others


def against(reading: Reading, first: int, second: int, plan: Plan) -> Against:
    """The paired comparison of two raters; the people they are held against are the same for both."""
    names = reading.raters[first].id, reading.raters[second].id
    units = np.intersect1d(reading.units_of(first), reading.units_of(second), assume_unique=True)
    people = reading.people_at(units, (first, second))
    shared = units[people.count > 0]
    if shared.size == 0:
        return Against(*names, 0, why="no unit was rated by both and by another person")
    kept = people.count > 0
    people = Others(people.majority[kept], people.mean[kept], people.count[kept])
    codes = reading.codes_at(first, shared), reading.codes_at(second, shared)
    clusters = reading.clusters_of(shared)
    if not reading.labels:
        return Against(*names, int(shared.size), distance=_distance(reading, codes, people, clusters, plan))
    weights = "kappa" if reading.scores is None else "kappa_quadratic"
    return Against(
        *names,
        int(shared.size),
        match=_exact(codes, people, clusters, plan),
        kappa=paired.compare_raters(
            codes[0], codes[1], people.majority, len(reading.labels), weights, reading.scores, clusters, plan
        ),
        weights=weights,
        distance=None if reading.scores is None else _distance(reading, codes, people, clusters, plan),
    )


def _exact(
    codes: tuple[IntArray, IntArray], people: Others, clusters: IntArray | None, plan: Plan
) -> paired.Comparison:
    known = people.majority >= 0
    hits = [(own[known] == people.majority[known]).astype(np.float64) for own in codes]
    compared = paired.compare_shares(hits[0], hits[1], None if clusters is None else clusters[known], plan.level)
    if compared.first is None:
        return paired.Comparison(undefined("no unit that both rated has a majority"), None, None, None)
    return compared


def _distance(
    reading: Reading, codes: tuple[IntArray, IntArray], people: Others, clusters: IntArray | None, plan: Plan
) -> paired.Comparison:
    assert reading.scores is not None
    away = [np.abs(reading.scores[own] - people.mean) for own in codes]
    return paired.compare_means(away[0], away[1], clusters, plan.level)


def busiest(reading: Reading) -> Sequence[int]:
    """The people to compare a model with, in their own order."""
    by_work = sorted(reading.people, key=lambda person: -reading.units_of(person).size)
    return sorted(by_work[:MOST_PEOPLE])
