"""JSON for raters: the form, their tasks, and their answers.

A rater refers only to the numbers of their own tasks and to positions of units in them, and so cannot reach anything
that was not assigned to them.
"""

import re
from dataclasses import field
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Path, Query, Response
from pydantic import Field, StrictInt

from evenhand.errors import UserError
from evenhand.protocol.completion import MissingPart
from evenhand.web.dependencies import Rater, ServicesOf
from evenhand.web.errors import error_responses
from evenhand.web.schemas import ErrorMessage, InvalidBody, ResponseModel, StrictRequest
from evenhand.web.services import answers, tasks
from evenhand.web.services.answers import AnswerRequest, RaterTask, RatingView, Remark, SavedAnswer
from evenhand.web.services.forms import Form, form_of
from evenhand.web.services.tasks import FinishedUnit, NextTask, TaskList, TaskView

router = APIRouter(prefix="/api", tags=["rating"])

Number = Annotated[int, Path(description="the number of one of your tasks, from 1", examples=[1])]
Position = Annotated[int, Path(description="the position of a unit in the task, from 1", examples=[1])]
CriterionId = Annotated[str, Path(examples=["support"])]
IfMatch = Annotated[str | None, Header(description="the id of your current rating, in double quotes")]
IfNoneMatch = Annotated[str | None, Header(description="*: you have no rating yet", examples=["*"])]
Digest = Annotated[
    str | None, Header(alias="X-Evenhand-Protocol", description="the digest of the form that the answer was made with")
]


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
        return tasks.next_task(study, account.name, task)


@router.get("/tasks", summary="List your tasks")
def list_tasks(
    account: Rater,
    services: ServicesOf,
    after: Annotated[int, Query(ge=0, le=2**31, description="only tasks with a higher number")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> TaskList:
    with services.read() as study:
        return tasks.task_list(study, account.name, after, limit)


@router.get("/tasks/{number}", summary="Get one of your tasks", responses=error_responses(404))
def get_task(account: Rater, services: ServicesOf, number: Number) -> TaskView:
    with services.read() as study:
        return tasks.task_view(RaterTask(study, account.name, number))


@router.put("/tasks/{number}/units/{position}/ratings/{criterion}", summary="Save an answer", responses=SAVES)
def save(
    account: Rater,
    services: ServicesOf,
    response: Response,
    number: Number,
    position: Position,
    criterion: CriterionId,
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
        return tasks.finished_unit(RaterTask(study, account.name, number), position)


@router.post("/tasks/{number}/skip", summary="Skip an item", responses={**error_responses(400, 404), **CONFLICT})
def skip(account: Rater, services: ServicesOf, number: Number, body: SkipRequest, digest: Digest = None) -> TaskView:
    """Skip everything in a task that has no answer yet. The task is done then."""
    with services.write(digest) as study:
        answers.skip(RaterTask(study, account.name, number), body.reason)
        return tasks.task_view(RaterTask(study, account.name, number))


@router.post("/training/skip", summary="Skip the training", responses=error_responses(409))
def skip_training(account: Rater, services: ServicesOf) -> TrainingSkipped:
    """Continue with the items without the remaining worked examples, if the study allows it."""
    with services.write() as study:
        answers.skip_training(study, account.name)
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
