"""Plan, people and progress as JSON, for the study's owner only.

Raters are named in bodies and queries, never in paths: their ids may contain any character.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, get_args

from fastapi import APIRouter, Body, HTTPException, Query
from pydantic import Field, StrictStr

from evenhand.analysis.agreement import agreement_curve
from evenhand.analysis.tables import Tables
from evenhand.assignment import Plan, Purpose, TaskState
from evenhand.monitoring.activity import Participant, activity_of
from evenhand.monitoring.progress import StudyProgress, progress
from evenhand.monitoring.quality import Match
from evenhand.protocol.model import UnitKind
from evenhand.records import Rating, Status, now
from evenhand.store.people.access import Member, People, Role
from evenhand.store.people.tasks import TaskCounts
from evenhand.study import Study
from evenhand.web.errors import error_responses
from evenhand.web.schemas import MAX_ID, ResponseModel, StatisticView, StrictRequest, view_of
from evenhand.web.sessions import Owner, ServicesOf

router = APIRouter(prefix="/api", tags=["manage"])

RaterId = Annotated[StrictStr, Field(min_length=1, max_length=MAX_ID)]
LockedPart = Literal["seed", "batch", "by"]
LOCKED: tuple[LockedPart, ...] = get_args(LockedPart)
"""What determines the order of the items, and cannot change once items have been assigned in it."""
PROGRESS = "progress"
"""The name of the progress in the cache; forgotten when the owner has changed something and wants to see it."""
PLAN_EXAMPLE = {"overlap": 2, "batch": 20, "training": "offered", "repeat_every": 25}


class PlanView(Plan):
    """The current plan; `locked` are the parts that can no longer change because work has been assigned."""

    locked: list[LockedPart]


class OpenTask(ResponseModel):
    """An open task as only the owner sees it: with its item, if it is not a worked example, and its purpose."""

    number: int
    purpose: Purpose
    item: str | None
    state: TaskState
    opened: datetime
    touched: datetime
    expires: datetime


class OpenTasks(ResponseModel):
    """The open tasks of one rater."""

    rater: str
    tasks: list[OpenTask]


class PauseRequest(StrictRequest, json_schema_extra={"examples": [{"rater": "ann", "paused": True}]}):
    """Pause a rater, or let them continue."""

    rater: RaterId
    paused: bool


class GiveBackRequest(StrictRequest, json_schema_extra={"examples": [{"rater": "ann", "number": 3}]}):
    """Take back one task, or, without a number, all open ones."""

    rater: RaterId
    number: int | None = Field(default=None, ge=1, description="one task; by default all that are open")


class ReturnedTasks(ResponseModel):
    """The number of tasks that were taken back."""

    returned: int


class AssignmentRequest(StrictRequest, json_schema_extra={"examples": [{"item": "q7", "rater": "ann"}]}):
    """Assign an item to a rater."""

    item: RaterId
    rater: RaterId


@router.get("/plan", summary="Get the plan: how work is assigned")
def read_plan(_: Owner, services: ServicesOf) -> PlanView:
    with services.read() as study:
        return _plan(study)


@router.put("/plan", summary="Replace the plan", responses=error_responses(400))
def write_plan(plan: Annotated[Plan, Body(examples=[PLAN_EXAMPLE])], _: Owner, services: ServicesOf) -> PlanView:
    with services.write() as study:
        if plan.gold is not None and plan.gold not in {rater.id for rater in study.store.ratings.raters()}:
            message = f"There is no rater {plan.gold!r}. Import the known answers first, or choose another rater."
            raise HTTPException(422, {"error": message, "problems": [f"body.gold: {message}"]})
        study.store.people.tasks.set_plan(plan)
        stored = _plan(study)
    services.cache.forget(PROGRESS)
    return stored


@router.get("/raters/tasks", summary="List the open tasks of a rater", responses=error_responses(404))
def open_tasks(rater: Annotated[RaterId, Query(examples=["ann"])], _: Owner, services: ServicesOf) -> OpenTasks:
    with services.read() as study:
        tasks = _people_with(study, rater).tasks.all(rater, limit=2**31 - 1)
    return OpenTasks(rater, [view_of(OpenTask, task) for task in tasks if task.state == "open"])


@router.post(
    "/raters/pause", summary="Pause a rater, or let them continue", status_code=204, responses=error_responses(400, 404)
)
def pause(body: PauseRequest, _: Owner, services: ServicesOf) -> None:
    with services.write() as study:
        _people_with(study, body.rater).update(body.rater, paused=body.paused)
    services.cache.forget(PROGRESS)


@router.post("/raters/give-back", summary="Take back open tasks from a rater", responses=error_responses(400, 404))
def give_back(body: GiveBackRequest, _: Owner, services: ServicesOf) -> ReturnedTasks:
    with services.write() as study:
        returned = _people_with(study, body.rater).tasks.give_back(body.rater, number=body.number)
    services.cache.forget(PROGRESS)
    return ReturnedTasks(returned)


@router.post("/assignments", summary="Assign an item to a rater", status_code=201, responses=error_responses(400, 404))
def assign(body: AssignmentRequest, _: Owner, services: ServicesOf) -> OpenTask:
    with services.write() as study:
        people = _people_with(study, body.rater)
        if study.store.items.find(body.item) is None:
            raise HTTPException(404, f"There is no item {body.item!r} in this study.")
        task = people.tasks.reassign(body.item, body.rater)
    services.cache.forget(PROGRESS)
    return view_of(OpenTask, task)


def _plan(study: Study) -> PlanView:
    people = study.store.people
    assigned = any(one.open or one.done or one.returned for one in people.tasks.count().values())
    return PlanView(**people.tasks.plan().model_dump(), locked=list(LOCKED) if assigned else [])


def _people_with(study: Study, rater: str) -> People:
    """The people of a study; 404 if this rater is not one of them."""
    people = study.store.people
    if people.member(rater) is None:
        raise HTTPException(404, f"There is no rater {rater!r} in this study.")
    return people


# Progress


class CriterionMatchView(ResponseModel):
    """The share of equal answers; for levels also of those at most one apart, and weighted κ."""

    same: StatisticView
    within_one: StatisticView | None
    kappa_quadratic: StatisticView | None


class MatchView(StatisticView, kw_only=True):
    """The share of equal answers over all criteria; `n` counts answers, `units` the units they belong to."""

    units: int
    by_criterion: dict[str, CriterionMatchView]


class RaterTasks(ResponseModel):
    """A rater's tasks. `done` counts each item once; `repeats` are the repeats that are done."""

    training: int
    open: int
    done: int
    returned: int
    repeats: int


class RaterProgress(ResponseModel):
    """One member. `units_rated` have an answer by them; `per_hour` counts units per hour of active time."""

    rater: str
    role: Role
    paused: bool
    joined: datetime
    seen: datetime
    tasks: RaterTasks
    share: int | None
    units_rated: int
    per_hour: float | None
    seconds_per_unit: float | None
    statuses: Mapping[Status, int]
    gold: MatchView | None
    repeat: MatchView | None
    training: MatchView | None
    with_others: MatchView | None
    needs_help: list[str]


@dataclass(frozen=True, slots=True)
class StudyProgressView(StudyProgress):
    """How far the study is. `units_rated` have a value from at least one person, `units_done` from as many as planned;
    `items_wanted` counts an item once for each person who is to rate it."""

    title: str
    protocol: str
    version: str
    unit: UnitKind
    overlap: int | None
    paused: bool


class ElsewhereProgress(ResponseModel):
    """A person who rated only in another way, such as in a spreadsheet; `units_rated` have a value by them."""

    rater: str
    units_rated: int


class ProgressView(ResponseModel):
    """How far the study and each person are."""

    study: StudyProgressView
    raters: list[RaterProgress]
    elsewhere: list[ElsewhereProgress]
    at: datetime


class GrowthPointView(StatisticView, kw_only=True):
    """α after the first `ratings` ratings; `units` were rated at least twice by then."""

    ratings: int
    units: int
    percent: StatisticView


class GrowthCurve(ResponseModel):
    """The agreement on one criterion after each tenth of the ratings."""

    title: str
    points: list[GrowthPointView]
    statistic: Literal["alpha"] = "alpha"


class GrowthView(ResponseModel):
    """The curve of each criterion."""

    criteria: dict[str, GrowthCurve]


@router.get("/progress", summary="Get the progress of the study and of each rater")
def read_progress(_: Owner, services: ServicesOf) -> ProgressView:
    ratings_version, tables = services.cache.snapshot()
    with services.read() as study:
        people = study.store.people
        members, counts, plan = people.members(), people.tasks.count(), people.tasks.plan()
    at = now()
    # Computed again once a minute, too, because inactivity depends on the time alone.
    version = ratings_version, members, counts, plan, at.replace(second=0, microsecond=0)

    def compute() -> ProgressView:
        with services.read() as study:
            participants = _participants(study, members, counts)
        protocol, found = tables.protocol, progress(tables, participants, plan, at)
        more = {"protocol": protocol.name, "unit": protocol.rule.of}
        whole = view_of(StudyProgressView, found.study, protocol, plan, **more)
        raters = [_rater(person, plan, found.hints.get(person.member.rater, ())) for person in found.people]
        return ProgressView(whole, raters, [ElsewhereProgress(*one) for one in found.elsewhere.items()], at)

    return services.cache.get(PROGRESS, lambda: version, compute, patient=True)


@router.get("/growth", summary="Get the agreement of the people after each tenth of their ratings")
def read_growth(_: Owner, services: ServicesOf) -> GrowthView:
    return services.cache.from_tables("growth", _growth, patient=True)


def _participants(study: Study, members: Sequence[Member], counts: Mapping[str, TaskCounts]) -> Sequence[Participant]:
    trials: dict[str, list[Rating]] = {}
    for _, trial in study.store.people.trials.all():
        trials.setdefault(trial.rater, []).append(trial)
    return [
        Participant(
            member,
            counts.get(member.rater, TaskCounts()),
            activity_of(study.protocol, study.store.ratings.all(rater=member.rater, history=True)),
            trials.get(member.rater, ()),
        )
        for member in members
    ]


def _rater(person: Participant, plan: Plan, hints: Sequence[str]) -> RaterProgress:
    member, counts, activity = person.member, person.counts, person.activity
    return view_of(
        RaterProgress,
        member,
        activity,
        tasks=view_of(RaterTasks, counts, done=counts.own_done, repeats=counts.repeats_done),
        share=member.share if member.share is not None else plan.share,
        units_rated=activity.units,
        gold=_match(person.known),
        repeat=_match(person.repeats),
        training=_match(person.training),
        with_others=_match(person.others),
        needs_help=list(hints),
    )


def _match(match: Match | None) -> MatchView | None:
    if match is None:
        return None
    by_criterion = {name: view_of(CriterionMatchView, one) for name, one in match.by_criterion.items()}
    return MatchView.of(match.same, match, by_criterion=by_criterion)


def _growth(tables: Tables) -> GrowthView:
    curves: dict[str, GrowthCurve] = {}
    for name, points in agreement_curve(tables).items():
        shown = [GrowthPointView.of(point.alpha, point) for point in points]
        curves[name] = GrowthCurve(tables.protocol.criterion(name).title, shown)
    return GrowthView(curves)
