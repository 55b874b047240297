"""JSON for raters: the form, their tasks, their answers, and what they may see when a task is done.

A rater refers only to the numbers of their own tasks and to positions of units in them, and so cannot reach anything
that was not assigned to them.
"""

import re
from dataclasses import field
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Path, Query, Response
from pydantic import Field, StrictInt

from evenhand.assignment import Plan, Purpose, Task, TaskState, repeats_among
from evenhand.errors import UserError
from evenhand.nlp.words import token_f1
from evenhand.protocol.completion import MissingPart, UnitRatings, concerns, effective_values, is_asked
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import UNANSWERABLE, Kind, Rating, Span, Status, Unit, Value
from evenhand.scales import Text, is_next_level, same_value
from evenhand.store.people.tasks import TaskCounts
from evenhand.study import Study
from evenhand.web import answers
from evenhand.web.answers import AnswerRequest, RaterTask, RatingView, Remark, SavedAnswer, UnitState, unit_state
from evenhand.web.errors import error_responses
from evenhand.web.forms import FieldParts, Form, fields_of, form_of, shown_span
from evenhand.web.schemas import ErrorMessage, InvalidBody, Moment, ResponseModel, StrictRequest, view_of
from evenhand.web.sessions import Rater, ServicesOf

router = APIRouter(prefix="/api", tags=["rating"])

Number = Annotated[int, Path(description="the number of one of your tasks, from 1", examples=[1])]
Position = Annotated[int, Path(description="the position of a unit in the task, from 1", examples=[1])]
IfMatch = Annotated[str | None, Header(description="the id of your current rating, in double quotes")]
IfNoneMatch = Annotated[str | None, Header(description="*: you have no rating yet", examples=["*"])]
Digest = Annotated[
    str | None, Header(alias="X-Evenhand-Protocol", description="the digest of the form that the answer was made with")
]
SIMILAR = 0.5
"""The token F1 from which a text counts as equal to the expected one."""


class UnitView(UnitState):
    """A unit with its rater's current ratings, by criterion; `field` is the one that it comes from."""

    position: int
    text: str | None
    span: Span | None
    field: str | None
    ratings: dict[str, RatingView]


class OtherRating(ResponseModel):
    """Another rater's answer."""

    rater: str
    kind: Kind
    position: int
    criterion: str
    status: Status
    value: Value | None
    rationale: str | None


class ExampleVerdict(ResponseModel):
    """One answer to a worked example, with the expected one. `close`: it is one level off."""

    criterion: str
    expected: Value | None
    given: Value | None
    right: bool
    close: bool
    rationale: str | None
    evidence: list[str]


class Feedback(ResponseModel):
    """The expected answers to a worked example."""

    explanation: str | None
    criteria: list[ExampleVerdict]


class TaskView(ResponseModel):
    """An item or a worked example for one rater. `locked`: its answers are final.

    `title` is the worked example's, once it is done: a title may give the answer away. `place`
    counts the rater's tasks under this protocol from 1; `previous` is the number of the one before.
    """

    number: int
    place: int
    previous: int | None
    purpose: Literal["training", "rate"]
    state: TaskState
    locked: bool
    title: str | None
    fields: list[FieldParts]
    units: list[UnitView]
    feedback: Feedback | None
    others: list[OtherRating] | None


class TaskProgress(ResponseModel):
    """The number of items a rater has done, without training, and the total, if it is known. `done` includes repeats,
    and, where the total is known, items that were rated elsewhere and imported. Once nothing can come any more, the
    two are equal."""

    done: int
    of: int | None


class NextTask(ResponseModel):
    """The next task, or why there is none; `completion` is the address to go to when everything is done."""

    state: Literal["task", "paused", "done"]
    task: TaskView | None
    progress: TaskProgress
    completion: str | None = None


class TaskSummary(ResponseModel):
    """A task without its content."""

    number: int
    purpose: Literal["training", "rate"]
    state: TaskState
    opened: Moment
    finished: Moment | None


class TaskList(ResponseModel):
    """A rater's tasks, in order."""

    tasks: list[TaskSummary]
    progress: TaskProgress


class TaskStatus(ResponseModel):
    """Whether a task is done, and whether its answers are final."""

    state: TaskState
    locked: bool


class FinishedUnit(ResponseModel):
    """A finished unit and its task."""

    unit: UnitView
    task: TaskStatus
    feedback: Feedback | None
    others: list[OtherRating] | None


class TrainingSkipped(ResponseModel):
    """The rater continues with the items."""

    state: Literal["training_over"] = "training_over"


class NextTaskRequest(StrictRequest, json_schema_extra={"examples": [{"holding": []}]}):
    """The numbers of the tasks that the page already has."""

    holding: list[Annotated[StrictInt, Field(ge=1, le=2**31)]] = Field(default=[], max_length=1000)


class SkipRequest(StrictRequest, json_schema_extra={"examples": [{"reason": "the text is cut off"}]}):
    """Why an item is skipped."""

    reason: Remark | None = None


class ConflictBody(ErrorMessage):
    """`present` is the current rating; null if there is none, or if the task as a whole cannot be changed."""

    present: RatingView | None = None


class IncompleteBody(InvalidBody):
    """`missing` lists what the unit still needs."""

    missing: list[MissingPart] = field(default_factory=list[MissingPart])


_ETAG = {"description": "the id of the current rating, in double quotes", "schema": {"type": "string"}}
CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": ConflictBody, "description": "The answer has changed in the meantime, or the answers are final"}
}
SAVES: dict[int | str, dict[str, Any]] = {
    200: {"headers": {"ETag": _ETAG}},
    **error_responses(400, 404, 428),
    **CONFLICT,
}
_INCOMPLETE: dict[int | str, dict[str, Any]] = {422: {"model": IncompleteBody, "description": "An answer is missing"}}


@router.get("/form", summary="Get the form: criteria, scales and fields")
def form(account: Rater, services: ServicesOf) -> Form:
    with services.read() as study:
        return form_of(study.protocol, study.store.people.tasks.plan(), study.store.identity, account.name)


@router.post("/tasks/next", summary="Get the next task", responses=error_responses(400))
def next_task(account: Rater, services: ServicesOf, body: NextTaskRequest) -> NextTask:
    """The first of your open tasks that you do not hold yet, or a new one."""
    with services.write() as study:
        task = study.store.people.tasks.next(account.name, holding=body.holding)
    # Rendered from a reading connection, so that other raters can save meanwhile.
    with services.read() as study:
        plan, member = study.store.people.tasks.plan(), study.store.people.member(account.name)
        progress = progress_of(study, account.name, plan)
        if task is not None:
            return NextTask("task", task_view(RaterTask(study, account.name, task.number)), progress)
        if plan.paused or member is None or member.paused:
            return NextTask("paused", None, progress)
        counts = _counts(study, account.name)
        # While a page holds tasks, more may come when they are done.
        if not body.holding and counts.open == 0 and not study.store.people.tasks.may_return(account.name):
            done = counts.done + study.store.people.tasks.elsewhere(account.name)
            progress = TaskProgress(done, done)
        # A rater with open tasks, or without any from the start, has not completed anything yet.
        complete = progress.done > 0 and counts.open == 0
        return NextTask("done", None, progress, plan.completion if complete else None)


@router.get("/tasks", summary="List your tasks")
def list_tasks(
    account: Rater,
    services: ServicesOf,
    after: Annotated[int, Query(ge=0, le=2**31, description="only tasks with a higher number")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> TaskList:
    with services.read() as study:
        people = study.store.people
        tasks = people.tasks.all(account.name, after=after, limit=limit)
        shown = [view_of(TaskSummary, task, purpose=_shown_purpose(task)) for task in tasks]
        return TaskList(shown, progress_of(study, account.name, people.tasks.plan()))


@router.get("/tasks/{number}", summary="Get one of your tasks", responses=error_responses(404))
def get_task(account: Rater, services: ServicesOf, number: Number) -> TaskView:
    with services.read() as study:
        return task_view(RaterTask(study, account.name, number))


@router.put("/tasks/{number}/units/{position}/ratings/{criterion}", summary="Save an answer", responses=SAVES)
def save(
    account: Rater,
    services: ServicesOf,
    response: Response,
    number: Number,
    position: Position,
    criterion: Annotated[str, Path(examples=["support"])],
    body: AnswerRequest,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
    digest: Digest = None,
) -> SavedAnswer:
    """Save an answer on one criterion in place of the one you know.

    If the current answer is a different one, nothing is saved and the current one is returned. It is safe to send the
    same answer again with the same id.
    """
    replaces = replaced_id(if_match, if_none_match)
    with services.write(digest) as study:
        saved = answers.save(RaterTask(study, account.name, number), position, criterion, body, replaces)
    response.headers["ETag"] = f'"{saved.rating.id}"'
    return saved


@router.post(
    "/tasks/{number}/units/{position}/finish",
    summary="Finish a unit",
    responses={**error_responses(404), **CONFLICT, **_INCOMPLETE},
)
def finish(
    account: Rater, services: ServicesOf, number: Number, position: Position, digest: Digest = None
) -> FinishedUnit:
    """Settle the criteria that need no answer. A task is done when all of its units are finished."""
    with services.write(digest) as study:
        answers.finish(RaterTask(study, account.name, number), position)
        shown = task_view(RaterTask(study, account.name, number))
    unit = next(unit for unit in shown.units if unit.position == position)
    return view_of(FinishedUnit, shown, unit=unit, task=view_of(TaskStatus, shown))


@router.post("/tasks/{number}/skip", summary="Skip an item", responses={**error_responses(400, 404), **CONFLICT})
def skip(account: Rater, services: ServicesOf, number: Number, body: SkipRequest, digest: Digest = None) -> TaskView:
    """Skip everything in a task that has no answer yet. The task is done then."""
    with services.write(digest) as study:
        answers.skip(RaterTask(study, account.name, number), body.reason)
        return task_view(RaterTask(study, account.name, number))


@router.post("/training/skip", summary="Skip the training", responses=error_responses(409))
def skip_training(account: Rater, services: ServicesOf) -> TrainingSkipped:
    """Continue with the items without the remaining worked examples, if the study allows it."""
    with services.write() as study:
        if study.store.people.tasks.plan().training == "required":
            raise HTTPException(409, "The training is part of this study and cannot be skipped.")
        study.store.people.update(account.name, training_over=True)
    return TrainingSkipped()


def replaced_id(if_match: str | None, if_none_match: str | None) -> str | None:
    """The id of the rating that a request replaces; None if there is none yet. 428 if the request does not say."""
    if if_match is None and if_none_match is None:
        raise HTTPException(
            428, 'Specify what to replace: If-Match: "ID" with the id of the current rating, or If-None-Match: *.'
        )
    if if_match is None and if_none_match == "*":
        return None
    found = re.fullmatch(r'"([^"]+)"', if_match or "") if if_none_match is None else None
    if found is None:
        raise UserError("give either If-Match with one id in double quotes, or If-None-Match: *")
    return found[1]


# What the page gets


def progress_of(study: Study, rater: str, plan: Plan) -> TaskProgress:
    """The number of tasks done, without training, out of the rater's share, or of all items if there is no share.

    Items that they rated elsewhere count as done, and not towards the share. Repeats count in both numbers from the
    start, as many as the plan will give, so that neither reveals which they are.
    """
    counts, member = _counts(study, rater), study.store.people.member(rater)
    share = (member.share if member else None) or plan.share
    if share is None and plan.overlap is not None:
        return TaskProgress(counts.done, None)
    elsewhere = study.store.people.tasks.elsewhere(rater)
    left = study.store.items.count() - elsewhere
    items = left if share is None else min(share, left)
    done = counts.done + elsewhere
    if counts.own_done + counts.open - counts.repeats_open >= items:
        # Everything has been assigned: there is nothing more to come.
        return TaskProgress(done, done + counts.open)
    repeats = max(repeats_among(items, plan), counts.repeats_open + counts.repeats_done)
    return TaskProgress(done, elsewhere + items + repeats)


def task_view(task: RaterTask) -> TaskView:
    """A task with everything that its rater may see."""
    before, previous = task.study.store.people.tasks.before(task.task.rater, task.task.number)
    return view_of(
        TaskView,
        task.task,
        place=before + 1,
        previous=previous,
        purpose=_shown_purpose(task.task),
        locked=task.locked,
        title=task.example.title if task.example and task.task.state == "done" else None,
        fields=fields_of(task.protocol, task.fields),
        units=[unit_view(task.protocol, unit, task.ratings.get(unit.id, {})) for unit in task.units],
        feedback=feedback_on(task),
        others=others_of(task),
    )


def unit_view(protocol: Protocol, unit: Unit, ratings: UnitRatings) -> UnitView:
    shown = {criterion: view_of(RatingView, rating) for criterion, rating in ratings.items()}
    return view_of(
        UnitView, unit_state(protocol, ratings, unit.field), unit, span=shown_span(protocol, unit), ratings=shown
    )


# What a rater may see when a task is done


def feedback_on(task: RaterTask) -> Feedback | None:
    """The answers to a worked example that is done, and so can no longer be changed, with the expected ones: where the
    example has one or none is asked for. None for any other task."""
    example, protocol = task.example, task.protocol
    if example is None or task.task.state != "done":
        return None
    field = task.units[0].field
    given = effective_values(protocol, next(iter(task.ratings.values()), dict[str, Rating]()), field)
    verdicts: list[ExampleVerdict] = []
    for criterion in protocol.criteria:
        expected = example.ratings.get(criterion.id)
        if not concerns(criterion, field) or (expected is None and is_asked(criterion, example.ratings, field)):
            continue
        answer = given.get(criterion.id)
        right = is_right(criterion, expected, answer, protocol.language)
        close, rationale = is_next_level(criterion.scale, expected, answer), example.rationales.get(criterion.id)
        quotes = list(example.evidence.get(criterion.id, ()))
        verdicts.append(ExampleVerdict(criterion.id, expected, answer, right, close, rationale, quotes))
    return Feedback(example.explanation, verdicts)


def is_right(criterion: Criterion, expected: Value | None, given: Value | None, language: str) -> bool:
    """Whether an answer is the expected one; None means that the criterion is not asked, or has no value."""
    if not isinstance(criterion.scale, Text) or expected is None or given is None:
        return same_value(expected, given)
    if UNANSWERABLE in (expected, given):
        return expected == given
    return token_f1(str(given), str(expected), language) >= SIMILAR


def others_of(task: RaterTask) -> list[OtherRating] | None:
    """What the others answered on the item of a task that is done; None if the plan does not reveal it."""
    if task.task.state != "done" or task.is_trial or task.plan.reveal == "never":
        return None
    positions = {unit.id: unit.position for unit in task.units}
    return [view_of(OtherRating, rating, kind=kind, position=positions[rating.unit]) for kind, rating in task.revealed]


def _counts(study: Study, rater: str) -> TaskCounts:
    return study.store.people.tasks.count(rater).get(rater, TaskCounts())


def _shown_purpose(task: Task) -> Literal["training", "rate"]:
    """Items with known answers and repeats look like any other."""
    return "training" if task.purpose is Purpose.TRAINING else "rate"
