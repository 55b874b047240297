"""JSON for raters: the form, their tasks, and their answers.

A rater names nothing but the numbers of their own tasks and the places of units in them, so that nobody reaches what
was not given to them.
"""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Response

from evenhand.study import Study
from evenhand.web import saving, showing
from evenhand.web.auth import DeskOf, Rater
from evenhand.web.checking import id_in_force
from evenhand.web.faults import refusals
from evenhand.web.forms import form_of
from evenhand.web.shapes import (
    AnswerShape,
    ConflictShape,
    FinishedShape,
    FormShape,
    HoldingShape,
    IncompleteShape,
    NextShape,
    SavedShape,
    SkipShape,
    TaskShape,
    TasksShape,
    TrainingOverShape,
)
from evenhand.web.tasks import held_task, protocol_in_force

router = APIRouter(prefix="/api", tags=["rating"])

Number = Annotated[int, Path(description="the number of one of your tasks, from 1")]
Position = Annotated[int, Path(description="the place of a unit in the task, from 1")]
Digest = Annotated[
    str | None, Header(alias="X-Evenhand-Protocol", description="the digest of the form that the answer was made by")
]

_IN_CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": ConflictShape, "description": "Something else is in force by now, or the task's answers are final"}
}
_INCOMPLETE: dict[int | str, dict[str, Any]] = {
    422: {"model": IncompleteShape, "description": "Something required is missing"}
}


@router.get("/form", summary="What is asked, on which scales")
async def form(who: Rater, desk: DeskOf) -> FormShape:
    def read(study: Study) -> FormShape:
        return form_of(protocol_in_force(study), study.store.people.plan(), study.store.identity, who.name)

    return await desk.read(read)


@router.post("/tasks/next", summary="The next task")
async def next_task(who: Rater, desk: DeskOf, body: HoldingShape) -> NextShape:
    """The first of your tasks that is open and not among those you hold, or a new one."""
    given = await desk.write(partial(showing.given_next, rater=who.name, holding=body.holding))
    # Shown by a reader, so that those who save meanwhile do not wait for it.
    return await desk.read(partial(showing.next_shape, rater=who.name, task=given))


@router.get("/tasks", summary="Your tasks")
async def tasks(
    who: Rater,
    desk: DeskOf,
    after: Annotated[int, Query(ge=0, le=2**31, description="tasks with a higher number than this")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> TasksShape:
    return await desk.read(lambda study: showing.listed(study, who.name, after, limit))


@router.get("/tasks/{number}", summary="One of your tasks", responses=refusals(404))
async def task(who: Rater, desk: DeskOf, number: Number) -> TaskShape:
    def read(study: Study) -> TaskShape:
        protocol_in_force(study)
        return showing.task_shape(study, held_task(study, who.name, number), study.store.people.plan())

    return await desk.read(read)


@router.put(
    "/tasks/{number}/units/{position}/ratings/{criterion}",
    summary="Save an answer",
    responses={**refusals(404, 428), **_IN_CONFLICT},
)
async def save(
    who: Rater,
    desk: DeskOf,
    response: Response,
    number: Number,
    position: Position,
    criterion: str,
    body: AnswerShape,
    if_match: Annotated[str | None, Header(description="the id of the rating in force, in double quotes")] = None,
    if_none_match: Annotated[str | None, Header(description="*: there is no rating yet")] = None,
    digest: Digest = None,
) -> SavedShape:
    """Save an answer on one criterion in place of the one that you know of.

    Where something else is in force by now, nothing is saved, and you are told what it is. Sending the same answer
    again under the same id does no harm.
    """
    in_force = id_in_force(if_match, if_none_match)

    def write(study: Study) -> SavedShape:
        protocol_in_force(study, digest)
        return saving.save(study, who.name, number, position, criterion, body, in_force)

    saved = await desk.write(write)
    response.headers["ETag"] = f'"{saved.rating.id}"'
    return saved


@router.post(
    "/tasks/{number}/units/{position}/finish",
    summary="Finish a unit",
    responses={**refusals(404), **_IN_CONFLICT, **_INCOMPLETE},
)
async def finish(who: Rater, desk: DeskOf, number: Number, position: Position, digest: Digest = None) -> FinishedShape:
    """Settle what is open and needs no decision. A task is done when all of its units are finished."""

    def write(study: Study) -> FinishedShape:
        protocol_in_force(study, digest)
        return saving.finish(study, who.name, number, position)

    return await desk.write(write)


@router.post(
    "/tasks/{number}/skip",
    summary="Skip an item",
    responses={**refusals(404), **_IN_CONFLICT},
)
async def skip(who: Rater, desk: DeskOf, number: Number, body: SkipShape, digest: Digest = None) -> TaskShape:
    """Skip whatever has no answer yet in a task; it is done then."""

    def write(study: Study) -> TaskShape:
        protocol_in_force(study, digest)
        return saving.skip(study, who.name, number, body.reason)

    return await desk.write(write)


@router.post("/training/skip", summary="Skip the training", responses=refusals(409))
async def skip_training(who: Rater, desk: DeskOf) -> TrainingOverShape:
    """Go on to the items without the worked examples that are left, where the study leaves that to you."""
    await desk.write(partial(saving.end_training, rater=who.name))
    return TrainingOverShape()
