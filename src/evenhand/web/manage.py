"""Plan, people and progress as JSON, for the study's owner alone.

Raters are named in bodies and queries, never in paths: their ids may hold any character.
"""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query

from evenhand.assign import Plan, Task
from evenhand.store.people import People
from evenhand.study import Study
from evenhand.web.auth import DeskOf, Owner
from evenhand.web.documents import Document
from evenhand.web.faults import refusals
from evenhand.web.manage_shapes import (
    Assignment,
    GiveBack,
    GrowthShape,
    Locked,
    OpenTasks,
    Pause,
    PlanShape,
    ProgressShape,
    RaterId,
    Returned,
    TaskShape,
)
from evenhand.web.watch import WatchOf

router = APIRouter(tags=["manage"], default_response_class=Document)

LOCKED: tuple[Locked, ...] = ("seed", "batch", "by")
"""What fixes the order of the items, and so stays once items were given out in it."""
PAGE = 1000


@router.get("/api/plan", summary="How the study is shared out among people")
async def read_plan(owner: Owner, desk: DeskOf) -> PlanShape:
    return await desk.read(_plan)


@router.put("/api/plan", summary="Put a whole plan in force")
async def write_plan(plan: Plan, owner: Owner, desk: DeskOf, watch: WatchOf) -> PlanShape:
    def put(study: Study) -> PlanShape:
        if plan.gold is not None and plan.gold not in {rater.id for rater in study.raters()}:
            nobody = f"There is no rater {plan.gold!r}. Import the known answers first, or choose another rater."
            raise HTTPException(422, {"error": nobody, "problems": [f"body.gold: {nobody}"]})
        study.store.people.set_plan(plan)
        return _plan(study)

    stored = await desk.write(put)
    watch.forget()
    return stored


@router.get("/api/progress", summary="How far the study is, and how each rater comes along")
async def read_progress(owner: Owner, watch: WatchOf) -> ProgressShape:
    return await watch.progress()


@router.get("/api/growth", summary="Agreement of the people after each tenth of their ratings")
async def read_growth(owner: Owner, watch: WatchOf) -> GrowthShape:
    return await watch.growth()


@router.get("/api/raters/tasks", summary="What a rater has in hand", responses=refusals(404))
async def open_tasks(rater: Annotated[RaterId, Query()], owner: Owner, desk: DeskOf) -> OpenTasks:
    def read(study: Study) -> OpenTasks:
        people = _with(study, rater)
        return OpenTasks(rater=rater, tasks=[TaskShape.of(task) for task in _open(people, rater)])

    return await desk.read(read)


@router.post(
    "/api/raters/pause", summary="Give a rater nothing new, or go on", status_code=204, responses=refusals(404)
)
async def pause(body: Pause, owner: Owner, desk: DeskOf, watch: WatchOf) -> None:
    await desk.write(lambda study: _with(study, body.rater).set_member(body.rater, paused=body.paused))
    watch.forget()


@router.post("/api/raters/give-back", summary="Take open tasks out of a rater's hands", responses=refusals(404))
async def give_back(body: GiveBack, owner: Owner, desk: DeskOf, watch: WatchOf) -> Returned:
    returned = await desk.write(lambda study: _with(study, body.rater).give_back(body.rater, number=body.number))
    watch.forget()
    return Returned(returned=returned)


@router.post("/api/assignments", summary="Give an item to a rater", status_code=201, responses=refusals(404))
async def assign(body: Assignment, owner: Owner, desk: DeskOf, watch: WatchOf) -> TaskShape:
    def give(study: Study) -> TaskShape:
        people = _with(study, body.rater)
        if study.item(body.item) is None:
            raise HTTPException(404, f"There is no item {body.item!r} in this study.")
        return TaskShape.of(people.reassign(body.item, body.rater))

    task = await desk.write(give)
    watch.forget()
    return task


def _plan(study: Study) -> PlanShape:
    people = study.store.people
    given_out = any(one.open or one.done or one.returned for one in people.task_counts().values())
    return PlanShape(**people.plan().model_dump(), locked=list(LOCKED) if given_out else [])


def _with(study: Study, rater: str) -> People:
    """The people of a study, this rater among them; 404 otherwise."""
    people = study.store.people
    if people.member(rater) is None:
        raise HTTPException(404, f"There is nobody called {rater!r} who rates here.")
    return people


def _open(people: People, rater: str) -> list[Task]:
    found: list[Task] = []
    after = 0
    while page := people.tasks(rater, after=after, limit=PAGE):
        found += [task for task in page if task.state == "open"]
        after = page[-1].number
    return found
