"""What is found of any rater, person or model: match with the other people, confidence, leniency and drift."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.tables import Table, Tables
from evenhand.records import Kind
from evenhand.statistics import (
    BoolArray,
    Calibration,
    Comparison,
    Estimate,
    FloatArray,
    IntArray,
    Resampling,
    undefined,
)

NO_MAJORITY = "percentages have no majority label"
MOST_DIFFERENT = 102
"""Different confidences that are kept as they are: the 101 whole percents, and not stated."""


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


@dataclass(frozen=True, slots=True)
class Confidence:
    """A rater's stated confidence, compared with matching the majority of the other people.

    `stated` ratings have a confidence; `lent` of them had it from the leading criterion's rating of the same unit,
    since it is asked once for a unit. Without a calibration `why` is the reason.
    """

    rater: str
    kind: Kind
    stated: int
    lent: int
    calibration: Calibration | None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Severity:
    """Leniency in points of the scale, positive for a lenient rater; drift from first to last rating, likewise.

    Both beside the other people on the same units; beside all other raters where no other person shares one.
    """

    rater: str
    kind: Kind
    beside: Literal["people", "raters"]
    leniency: Estimate
    drift: Estimate


def standing(table: Table, rater: int, plan: Resampling) -> Standing:
    """How often one rater agrees with the other people."""
    ref, units = table.raters[rater], table.units_of(rater)
    if not table.labels:
        match = undefined(NO_MAJORITY)
    elif not set(table.people) - {rater}:
        match = undefined("no other person rated" if table.people else "no person rated")
    else:
        majority = table.people_at(units, (rater,)).majority
        match = statistics.match_with(table.codes_at(rater, units), majority, table.clusters_of(units), plan.level)
    return Standing(ref.id, ref.kind, int(units.size), match)


def against(table: Table, first: int, second: int, plan: Resampling) -> Against:
    """The paired comparison of two raters, both with the same people."""
    names = table.raters[first].id, table.raters[second].id
    units = np.intersect1d(table.units_of(first), table.units_of(second), assume_unique=True)
    people = table.people_at(units, (first, second))
    shared = units[people.count > 0]
    if shared.size == 0:
        return Against(*names, 0, why="no unit was rated by both and by another person")
    people, clusters = people.at(people.count > 0), table.clusters_of(shared)
    own, other = table.codes_at(first, shared), table.codes_at(second, shared)
    match = kappa = weights = distance = None
    if table.scores is not None:
        away, further = (np.abs(table.scores[codes] - people.mean) for codes in (own, other))
        distance = statistics.compare_means(away, further, clusters, plan.level)
    if table.labels:
        majority, labels = people.majority, len(table.labels)
        hits = [np.where(majority >= 0, codes == majority, np.nan) for codes in (own, other)]
        match = statistics.compare_shares(hits[0], hits[1], clusters, plan.level)
        if match.first is None:
            match = Comparison(undefined("no unit that both rated has a majority"), None, None, None)
        weights = "kappa" if table.scores is None else "kappa_quadratic"
        weighting = "identity" if table.scores is None else "quadratic"
        kappa = statistics.compare_raters(own, other, majority, labels, weighting, table.scores, clusters, plan)
    return Against(*names, int(shared.size), match, kappa, weights, distance)


def confidences(tables: Tables, table: Table, raters: list[int], plan: Resampling) -> list[Confidence]:
    """The calibration of each rater who stated a confidence."""
    sure, lent = _stated(tables, table)
    by_rater = {rater: table.by_rater(rater) for rater in raters}
    stated = {rater: own[~np.isnan(sure[own])] for rater, own in by_rater.items()}
    return [_confidence(table, rater, own, sure[own], lent, plan) for rater, own in stated.items() if own.size]


def _confidence(
    table: Table, rater: int, own: IntArray, sure: FloatArray, lent: BoolArray, plan: Resampling
) -> Confidence:
    """One rater's, from the places of the ratings that state a confidence, and the confidences."""
    ref, units = table.raters[rater], table.unit[own]
    majority = table.people_at(units, (rater,)).majority
    right = np.where(majority >= 0, (table.code[own] == majority).astype(np.float64), np.nan)
    counts = int(own.size), int(lent[own].sum())
    if np.isnan(right).all():
        why = "no unit with a confidence has a majority of other people" if table.labels else NO_MAJORITY
        return Confidence(ref.id, ref.kind, *counts, None, why)
    if np.unique(sure).size > MOST_DIFFERENT:
        # To the whole percent if hardly two are equal: no rater is sure to a tenth of one.
        sure = np.rint(sure * 100.0) / 100.0
    return Confidence(ref.id, ref.kind, *counts, statistics.calibration(sure, right, table.clusters_of(units), plan))


def _stated(tables: Tables, table: Table) -> tuple[FloatArray, BoolArray]:
    """Each rating's confidence from 0 to 1, NaN if none was stated, and whether it came from another criterion.

    Confidence is asked once for a unit and kept with the leading criterion; a rating without one takes it from there.
    One outside 0 to 100 counts as not stated.
    """
    own = np.full(table.unit.size, np.nan) if table.confidence is None else table.confidence
    lead = tables.tables.get(tables.protocol.lead.id)
    lent = np.zeros(own.size, dtype=np.bool_)
    if lead is not None and lead.criterion.id != table.criterion.id and lead.confidence is not None and own.size:
        places = lead.places_of(table.rater, table.unit)
        there = np.where(places >= 0, lead.confidence[places], np.nan)
        lent = np.isnan(own) & ~np.isnan(there)
        own = np.where(lent, there, own)
    return np.where((own >= 0.0) & (own <= 100.0), own / 100.0, np.nan), lent


def severity(table: Table, rater: int, plan: Resampling) -> Severity:
    """One rater's severity; only for scales with scores."""
    assert table.scores is not None
    ref, places = table.raters[rater], table.by_rater(rater)
    units = table.unit[places]
    others = table.people_at(units, (rater,))
    by_people = bool((others.count > 0).any())
    if not by_people:
        others = table.raters_at(units, (rater,))
    # The mean of the others in place of their ratings: the gap to it is the same, and one column is enough.
    scores = np.stack((table.scores[table.code[places]], others.mean), axis=1)
    position = np.argsort(np.argsort(table.order[places])).astype(np.float64)
    return Severity(
        rater=ref.id,
        kind=ref.kind,
        beside="people" if by_people else "raters",
        leniency=statistics.leniency(scores, 0, table.clusters_of(units), plan.level),
        drift=statistics.drift(scores, 0, position, plan.level),
    )
