"""How far each rater can be trusted on one criterion: all parts, as data for a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evenhand.analysis.tables import FREE_TEXT, Level, Table, Tables, compared
from evenhand.analysis.trust.confidence import NOT_STATED, Confidence, confidences
from evenhand.analysis.trust.powered import Powered, powered
from evenhand.analysis.trust.severity import NO_ORDER, Severity, severity
from evenhand.analysis.trust.stand_in import StandIn, stand_in
from evenhand.analysis.trust.standing import Against, Standing, against, busiest, standing
from evenhand.records import Kind, Value
from evenhand.statistics import DEFAULT, Resampling

NO_MODEL = "no model or rule has rated this criterion"
NO_PERSON = "no person has rated this criterion"


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
    known, table = view is not None, view or tables.tables[criterion]
    people, machines = (table.people, table.machines) if known else ([], [])
    raters = sorted([*people, *machines])
    stated = confidences(tables, table, raters, plan)
    ordered = table.scores is not None
    return Trust(
        criterion=criterion,
        level=table.level,
        labels=table.labels,
        people=[standing(table, person, plan) for person in people],
        models=[_model(table, machine, plan, epsilon) for machine in machines],
        rivals=[against(table, first, second, plan) for first, second in combinations(machines, 2)],
        confidences=stated,
        severities=[severity(table, rater, plan) for rater in raters] if ordered else [],
        silent=[
            rater.id
            for number, rater in enumerate(tables.raters)
            if rater.id not in tables.adjudicators and not table.units_of(number).size
        ],
        why=_why(table, known, bool(stated)),
        coverage=plan.level,
    )


def _model(table: Table, model: int, plan: Resampling, epsilon: float) -> ModelTrust:
    compared = busiest(table)
    return ModelTrust(
        rater=table.raters[model].id,
        kind=table.raters[model].kind,
        powered=powered(table, model, plan),
        stand_in=stand_in(table, model, epsilon),
        standing=standing(table, model, plan),
        against=[against(table, model, person, plan) for person in compared],
        people_left_out=len(table.people) - len(compared),
    )


def _why(table: Table, known: bool, stated: bool) -> Mapping[str, str]:
    if not known:
        return dict.fromkeys(("people", "models", "rivals", "confidences", "severities"), FREE_TEXT)
    rated = bool(table.people or table.machines)
    reasons = {
        "people": None if table.people else NO_PERSON,
        "models": None if table.machines else NO_MODEL,
        "rivals": None if len(table.machines) > 1 else "fewer than two models or rules have rated this criterion",
        "confidences": None if stated else NOT_STATED,
        "severities": NO_ORDER if table.scores is None else None if rated else "there are no ratings",
    }
    return {part: why for part, why in reasons.items() if why is not None}
