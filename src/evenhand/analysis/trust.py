"""How far each rater can be trusted on a criterion. People are the yardstick; a person is compared with the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.tables import FREE_TEXT, Level, Table, Tables, compared
from evenhand.records import Kind, Value
from evenhand.statistics import DEFAULT, AltTest, Calibration, Comparison, PredictionPowered, Resampling
from evenhand.statistics.estimate import MISSING, BoolArray, Estimate, FloatArray, IntArray, undefined
from evenhand.statistics.models.alt_test import FEWEST_UNITS

MEAN = "mean"
MOST_PEOPLE = 50
"""A model is compared with at most this many people, those with the most ratings: no reader needs a longer list."""
_MOST_WORK = 1_000_000_000
NO_MAJORITY = "numbers have no majority label"


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


@dataclass(frozen=True, slots=True)
class Powered:
    """What the people would have said of every unit, from their few ratings and a model's many: prediction-powered
    estimates of the `mean` score, or the share of each label.

    `labelled` units have the people's value and the model's, `further` the model's alone. Left out: `tied` units, whose
    people have no majority label, and `people_only` ones, which the model did not rate. `why` says what keeps the model
    from adding anything.
    """

    estimates: Mapping[str, PredictionPowered]
    labelled: int
    further: int
    tied: int
    people_only: int
    why: str | None = None


@dataclass(frozen=True, slots=True)
class StandIn:
    """The alternative-annotator test of a model, with a rater beside it who always says `constant`.

    `people` names the person of each duel, in the order of the duels; `took_part` those with units enough. `epsilon`
    is the lead that a person must have over the model to hold the place, as a share of units. `meaning` says the
    outcome in one sentence. Without a test `why` is the reason.
    """

    epsilon: float
    people: Sequence[str]
    took_part: Sequence[str]
    n_units: int
    model: AltTest | None
    beside: AltTest | None
    constant: Value | None
    meaning: str
    why: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ModelTrust:
    """One model or rule: estimates with its help, the stand-in test, its match with the people, and with each person.

    `people_left_out` counts those it was not compared with because there are too many.
    """

    rater: str
    kind: Kind
    powered: Powered
    stand_in: StandIn
    standing: Standing
    against: Sequence[Against]
    people_left_out: int


@dataclass(frozen=True, slots=True)
class Trust:
    """One criterion. `people` is each person's match with the other people: what a model can be expected to reach.

    `rivals` compares each two models; `silent` names raters without a rating here. `why` has the reason for every part
    that is empty, by its name. `coverage` is what the intervals are meant to have.
    """

    criterion: str
    level: Level
    labels: Sequence[Value]
    people: Sequence[Standing]
    models: Sequence[ModelTrust]
    rivals: Sequence[Against]
    confidences: Sequence[Confidence]
    severities: Sequence[Severity]
    silent: Sequence[str]
    why: Mapping[str, str]
    coverage: float


def trust(tables: Tables, criterion: str, plan: Resampling = DEFAULT, epsilon: float = 0.2) -> Trust:
    """How far each rater can be trusted on a criterion. `epsilon` is the stand-in test's allowance for a model."""
    view = compared(tables.tables[criterion])
    table = view or tables.tables[criterion]
    people, machines = (table.people, table.machines) if view else ([], [])
    raters = sorted([*people, *machines])
    stated = confidences(tables, table, raters, plan)
    return Trust(
        criterion=criterion,
        level=table.level,
        labels=table.labels,
        people=[standing(table, person, plan) for person in people],
        models=[_model(table, machine, plan, epsilon) for machine in machines],
        rivals=[against(table, first, second, plan) for first, second in combinations(machines, 2)],
        confidences=stated,
        severities=[severity(table, rater, plan) for rater in raters] if table.scores is not None else [],
        silent=[
            rater.id
            for number, rater in enumerate(tables.raters)
            if rater.id not in tables.adjudicators and not table.units_of(number).size
        ],
        why=_why(table, bool(stated)) if view else dict.fromkeys(_PARTS, FREE_TEXT),
        coverage=plan.level,
    )


_PARTS = ("people", "models", "rivals", "confidences", "severities")


def _why(table: Table, stated: bool) -> Mapping[str, str]:
    no_severity = "labels without an order have no severity" if table.scores is None else "there are no ratings"
    reasons = (
        (table.people, "no person has rated this criterion"),
        (table.machines, "no model or rule has rated this criterion"),
        (len(table.machines) > 1, "fewer than two models or rules have rated this criterion"),
        (stated, "no rater stated a confidence"),
        (table.scores is not None and (table.people or table.machines), no_severity),
    )
    return {part: why for part, (there, why) in zip(_PARTS, reasons, strict=True) if not there}


def _model(table: Table, model: int, plan: Resampling, epsilon: float) -> ModelTrust:
    by_work = sorted(table.people, key=lambda person: -table.units_of(person).size)
    busiest = sorted(by_work[:MOST_PEOPLE])
    return ModelTrust(
        rater=table.raters[model].id,
        kind=table.raters[model].kind,
        powered=_powered(table, model, plan),
        stand_in=_stand_in(table, model, epsilon),
        standing=standing(table, model, plan),
        against=[against(table, model, person, plan) for person in busiest],
        people_left_out=len(table.people) - len(busiest),
    )


def _powered(table: Table, model: int, plan: Resampling) -> Powered:
    """One model's estimates. A unit's people value is their majority label, or their mean score."""
    units = table.units_of(model)
    people, codes = table.people_at(units), table.codes_at(model, units)
    rated = people.count > 0
    known = rated if table.scores is not None else people.majority >= 0
    how = "auto", table.clusters_of(units[known]), table.clusters_of(units[~rated]), plan.level
    if table.scores is not None:
        values = table.scores[codes]
        estimates = {MEAN: statistics.ppi_mean(people.mean[known], values[known], values[~rated], *how, table.ends)}
    else:
        shares = statistics.ppi_labels(people.majority[known], codes[known], codes[~rated], len(table.labels), *how)
        estimates = {str(label): share for label, share in zip(table.labels, shares, strict=True)}
    labelled, further = int(known.sum()), int((~rated).sum())
    why = None
    if not table.people:
        why = "no person rated this criterion: nothing says how wrong the model is"
    elif labelled == 0:
        why = "no unit has both the people's value and the model's: nothing says how wrong the model is"
    elif further == 0:
        why = "the model rated no units beyond those that people rated, so it adds nothing to their figures"
    people_only = int((table.of_people.count > 0).sum() - rated.sum())
    return Powered(estimates, labelled, further, int((rated & ~known).sum()), people_only, why)


def _stand_in(table: Table, model: int, epsilon: float) -> StandIn:
    """The test, on units that the model and at least two people rated: by distance of scores, or by equal labels."""
    name, units = table.raters[model].id, table.units_of(model)
    units = units[table.people_at(units).count >= 2]
    people = [person for person in table.people if (table.codes_at(person, units) != MISSING).any()]
    n, why = int(units.size), None
    if len(table.people) < 2:
        why = f"{len(table.people) or 'no'} person rated; the test leaves one out and needs another to compare with"
    elif n < FEWEST_UNITS:
        why = f"{n} units were rated by the model and two people, fewer than {FEWEST_UNITS}"
    elif n * len(people) ** 2 > _MOST_WORK:
        why = f"{len(people)} people on {n:,} units are too many to compare each with all the others"
    if why is not None:
        return StandIn(epsilon, [], [], n, None, None, None, _untested(name, why), why)
    scoring = "accuracy" if table.scores is None else "neg_rmse"
    scores = np.stack([table.numbers_at(person, units) for person in people], axis=1)
    by_model = table.numbers_at(model, units)
    tested, beside, score = statistics.alt_test_beside_constant(scores, by_model, scoring, epsilon)
    names = [table.raters[person].id for person in people]
    took_part = [names[duel.rater] for duel in tested.duels if duel.p is not None]
    constant = None if score is None else int(score) if score == int(score) else score
    if constant is not None and table.scores is None:
        constant = table.labels[int(constant)]
    meaning = _meaning(name, tested, beside, constant, epsilon)
    two = "only two people: each is compared with the other alone; three make a better test"
    note = two if len(took_part) == 2 else None
    return StandIn(epsilon, names, took_part, n, tested, beside, constant, meaning, tested.why, note)


def _untested(name: str, why: str | None) -> str:
    return f"Whether {name} could replace a person cannot be tested: {why}."


def _meaning(name: str, model: AltTest, beside: AltTest, constant: Value | None, epsilon: float) -> str:
    if model.passed is None:
        return _untested(name, model.why)
    tested = sum(duel.p is not None for duel in model.duels)
    won = sum(duel.won for duel in model.duels)
    counted = f"it replaces {won} of {tested} people, being forgiven a gap of up to {epsilon * 100:g} points"
    always = f"a rater who always says {constant}"
    if model.passed and beside.passed:
        return f"{name} passes the stand-in test ({counted}), but so does {always}: here passing shows nothing."
    if model.passed:
        return f"{name} passes the stand-in test ({counted}); {always} does not."
    also = f", although {always} does" if beside.passed else f", and neither does {always}"
    return f"{name} does not pass the stand-in test ({counted}){also}."


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
        others = table.people_at(units, (rater,), machines=True)
    # The mean of the others in place of their ratings: the gap to it is the same, and one column is enough.
    scores = np.stack((table.scores[table.code[places]], others.mean), axis=1)
    position = np.argsort(np.argsort(table.order[places])).astype(np.float64)
    leniency = statistics.leniency(scores, 0, table.clusters_of(units), plan.level)
    drift = statistics.drift(scores, 0, position, plan.level)
    return Severity(ref.id, ref.kind, "people" if by_people else "raters", leniency, drift)
