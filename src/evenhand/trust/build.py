"""Everything about trust on one criterion, as data for a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evenhand.agreement.bootstrap import DEFAULT, Plan
from evenhand.records import Kind, Value
from evenhand.table import Tables
from evenhand.trust.confidence import NOT_STATED, Confidence, confidence
from evenhand.trust.powered import Powered, powered
from evenhand.trust.reading import FREE_TEXT, Level, Reading, comparable, read
from evenhand.trust.severity import NO_ORDER, Severity, severity
from evenhand.trust.stand_in import StandIn, stand_in
from evenhand.trust.standing import Against, Standing, against, busiest, standing

NO_MODEL = "no model or rule has rated this criterion"
NO_PERSON = "no person has rated this criterion"


@dataclass(frozen=True, slots=True)
class ModelTrust:
    """One model or rule: estimates with its help, the stand-in test, its match with the people, and beside each person.

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


def trust(tables: Tables, criterion: str, plan: Plan = DEFAULT, epsilon: float = 0.2) -> Trust:
    """How far each rater can be trusted on a criterion. `epsilon` is the stand-in test's allowance for a model."""
    reading = read(tables, criterion)
    known = comparable(tables.tables[criterion])
    people, machines = (reading.people, reading.machines) if known else ([], [])
    raters = sorted([*people, *machines])
    confidences = [found for rater in raters if (found := confidence(reading, rater, plan)) is not None]
    ordered = reading.scores is not None
    return Trust(
        criterion=criterion,
        level=reading.level,
        labels=reading.labels,
        people=[standing(reading, person, plan) for person in people],
        models=[_model(reading, machine, plan, epsilon) for machine in machines],
        rivals=[against(reading, first, second, plan) for first, second in combinations(machines, 2)],
        confidences=confidences,
        severities=[severity(reading, rater, plan) for rater in raters] if ordered else [],
        silent=[
            rater.id
            for number, rater in enumerate(tables.raters)
            if rater.id not in tables.adjudicators and not reading.units_of(number).size
        ],
        why=_why(reading, known, bool(confidences)),
        coverage=plan.level,
    )


def _model(reading: Reading, model: int, plan: Plan, epsilon: float) -> ModelTrust:
    compared = busiest(reading)
    return ModelTrust(
        rater=reading.raters[model].id,
        kind=reading.raters[model].kind,
        powered=powered(reading, model, plan),
        stand_in=stand_in(reading, model, epsilon),
        standing=standing(reading, model, plan),
        against=[against(reading, model, person, plan) for person in compared],
        people_left_out=len(reading.people) - len(compared),
    )


def _why(reading: Reading, known: bool, stated: bool) -> Mapping[str, str]:
    if not known:
        return dict.fromkeys(("people", "models", "rivals", "confidences", "severities"), FREE_TEXT)
    rated = bool(reading.people or reading.machines)
    reasons = {
        "people": None if reading.people else NO_PERSON,
        "models": None if reading.machines else NO_MODEL,
        "rivals": None if len(reading.machines) > 1 else "fewer than two models or rules have rated this criterion",
        "confidences": None if stated else NOT_STATED,
        "severities": NO_ORDER if reading.scores is None else None if rated else "there are no ratings",
    }
    return {part: why for part, why in reasons.items() if why is not None}
