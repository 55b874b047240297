"""The JSON that the owner's page speaks: plan, people, progress and growth."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StrictStr

from evenhand.agreement.result import Estimate
from evenhand.assign import Plan, Purpose, Task, TaskState
from evenhand.measures import statistic
from evenhand.protocol.model import Protocol
from evenhand.records import Status
from evenhand.store.people import Role
from evenhand.web.documents import Statistic
from evenhand.web.growth import Point
from evenhand.web.hints import Record
from evenhand.web.matching import Alike, Match
from evenhand.web.progress import Progress
from evenhand.web.shapes import Shape

RaterId = Annotated[StrictStr, Field(min_length=1, max_length=2000)]
Locked = Literal["seed", "batch", "by"]


def statistic_shape(found: Estimate) -> Statistic:
    """A statistic in the form that every JSON document has."""
    return Statistic.model_validate(statistic(found))


class AlikeShape(Shape):
    """One criterion: the share of same answers; of levels also those at most one apart, and weighted κ."""

    same: Statistic
    within_one: Statistic | None
    kappa_quadratic: Statistic | None

    @classmethod
    def of(cls, found: Alike) -> "AlikeShape":
        near, kappa = found.within_one, found.kappa_quadratic
        return cls(
            same=statistic_shape(found.same),
            within_one=None if near is None else statistic_shape(near),
            kappa_quadratic=None if kappa is None else statistic_shape(kappa),
        )


class MatchShape(Statistic):
    """The share of same answers over all criteria; `n` counts answers, `units` the units they belong to."""

    units: int
    by_criterion: dict[str, AlikeShape]

    @classmethod
    def of_match(cls, found: Match | None) -> "MatchShape | None":
        if found is None:
            return None
        by_criterion = {name: AlikeShape.of(alike) for name, alike in found.by_criterion.items()}
        return cls(**statistic_shape(found.same).model_dump(), units=found.units, by_criterion=by_criterion)


class PlanShape(Plan):
    """The plan in force; `locked` are the parts that no longer change because work was given out."""

    locked: list[Locked]


class TasksShape(Shape):
    """A rater's tasks. `done` counts each item once; `repeats` that are done are told apart."""

    training: int
    open: int
    done: int
    returned: int
    repeats: int


class RaterShape(Shape):
    """One member. `units_rated` have an answer of theirs; `per_hour` counts units in an hour of active time."""

    rater: str
    role: Role
    paused: bool
    joined: datetime
    seen: datetime
    tasks: TasksShape
    share: int | None
    units_rated: int
    per_hour: float | None
    seconds_per_unit: float | None
    statuses: dict[Status, int]
    gold: MatchShape | None
    repeat: MatchShape | None
    training: MatchShape | None
    with_others: MatchShape | None
    needs_help: list[str]

    @classmethod
    def of(cls, record: Record, plan: Plan, hints: Sequence[str]) -> "RaterShape":
        member, counts = record.member, record.counts
        share = member.share if member.share is not None else plan.share
        return cls(
            rater=member.rater,
            role=member.role,
            paused=member.paused,
            joined=member.joined,
            seen=member.seen,
            tasks=TasksShape(
                training=counts.training, open=counts.open, done=counts.own_done, returned=counts.returned,
                repeats=counts.repeats_done,
            ),
            share=share,
            units_rated=record.diary.units,
            per_hour=record.pace.per_hour,
            seconds_per_unit=record.pace.seconds_per_unit,
            statuses=dict(record.diary.statuses),
            gold=MatchShape.of_match(record.known),
            repeat=MatchShape.of_match(record.repeats),
            training=MatchShape.of_match(record.training),
            with_others=MatchShape.of_match(record.others),
            needs_help=list(hints),
        )  # fmt: skip


class ReachedShape(Shape):
    """How far the study is. `units_rated` have a value from somebody, `units_done` from as many people as wanted;
    `items_wanted` counts an item once for each person who is to rate it."""

    title: str
    protocol: str
    version: str
    items: int
    units: int
    unit: Literal["item", "sentence", "question"]
    overlap: int | None
    raters: int
    units_rated: int
    units_done: int
    items_wanted: int
    items_given: int
    paused: bool


class ElsewhereShape(Shape):
    """Somebody who does not rate at the page; `units_rated` have a value of theirs."""

    rater: str
    units_rated: int


class ProgressShape(Shape):
    study: ReachedShape
    raters: list[RaterShape]
    elsewhere: list[ElsewhereShape] = Field(description="people who rated in another way only, such as a spreadsheet")
    at: datetime

    @classmethod
    def of(cls, found: Progress, protocol: Protocol, plan: Plan, at: datetime) -> "ProgressShape":
        reached = found.reached
        study = ReachedShape(
            title=protocol.title,
            protocol=protocol.name,
            version=protocol.version,
            items=reached.items,
            units=reached.units,
            unit=protocol.rule.of,
            overlap=plan.overlap,
            raters=reached.people,
            units_rated=reached.units_rated,
            units_done=reached.units_done,
            items_wanted=reached.items_wanted,
            items_given=reached.items_given,
            paused=plan.paused,
        )
        records = [RaterShape.of(one, plan, found.hints.get(one.member.rater, ())) for one in found.records]
        elsewhere = [ElsewhereShape(rater=name, units_rated=units) for name, units in found.elsewhere.items()]
        return cls(study=study, raters=records, elsewhere=elsewhere, at=at)


class PointShape(Statistic):
    """α after so many ratings; `units` were rated twice by then. `percent` is plain agreement."""

    ratings: int
    units: int
    percent: Statistic


class CurveShape(Shape):
    title: str
    statistic: Literal["alpha"] = "alpha"
    points: list[PointShape]


class GrowthShape(Shape):
    criteria: dict[str, CurveShape]

    @classmethod
    def of(cls, found: Mapping[str, Sequence[Point]], protocol: Protocol) -> "GrowthShape":
        return cls(
            criteria={
                name: CurveShape(title=protocol.criterion(name).title, points=[_point(point) for point in points])
                for name, points in found.items()
            }
        )


def _point(point: Point) -> PointShape:
    alpha = statistic_shape(point.alpha).model_dump()
    return PointShape(**alpha, ratings=point.ratings, units=point.units, percent=statistic_shape(point.percent))


class TaskShape(Shape):
    """Something in a rater's hands, as only the owner sees it: by its item and with its purpose."""

    number: int
    purpose: Purpose
    item: str | None = Field(description="None: a worked example")
    state: TaskState
    opened: datetime
    touched: datetime
    expires: datetime

    @classmethod
    def of(cls, task: Task) -> "TaskShape":
        return cls(
            number=task.number,
            purpose=task.purpose,
            item=task.item,
            state=task.state,
            opened=task.opened,
            touched=task.touched,
            expires=task.expires,
        )


class OpenTasks(Shape):
    rater: str
    tasks: list[TaskShape]


class Pause(Shape):
    rater: RaterId
    paused: bool


class GiveBack(Shape):
    rater: RaterId
    number: int | None = Field(default=None, ge=1, description="one task; empty: all that are open")


class Returned(Shape):
    returned: int = Field(description="how many tasks went back")


class Assignment(Shape):
    item: Annotated[StrictStr, Field(min_length=1, max_length=2000)]
    rater: RaterId
