"""A rater's tasks as the page gets them."""

from collections.abc import Mapping, Sequence
from typing import Literal

from evenhand.assign import Plan, Purpose, Task, repeats_among
from evenhand.records import Rating, Unit
from evenhand.store.people import TaskCounts
from evenhand.study import Study
from evenhand.web.answers import Ratings, closing, missing
from evenhand.web.feedback import feedback_of, others_of
from evenhand.web.forms import fields_of, rating_shape, sayable_or_none, shown_span
from evenhand.web.shapes import (
    FeedbackShape,
    ListedTaskShape,
    MissingShape,
    NextShape,
    ProgressShape,
    StandingShape,
    TaskShape,
    TasksShape,
    TaskStateShape,
    UnitShape,
)
from evenhand.web.tasks import example_of, fields_given, is_locked, protocol_in_force, said_so_far, units_of


def given_next(study: Study, rater: str, holding: Sequence[int]) -> Task | None:
    """The next task of a rater, given out where there is none yet."""
    protocol_in_force(study)
    return study.store.people.next_task(rater, holding=holding)


def next_shape(study: Study, rater: str, task: Task | None) -> NextShape:
    """A task that was just given out, or why there is none."""
    protocol_in_force(study)
    people = study.store.people
    plan, member = people.plan(), people.member(rater)
    progress = progress_of(study, rater, plan)
    if task is not None:
        return NextShape(state="task", task=task_shape(study, task, plan), progress=progress)
    if plan.paused or member is None or member.paused:
        return NextShape(state="paused", task=None, progress=progress)
    # Whoever holds something, or found nothing left to do from the start, has not completed anything yet.
    complete = progress.done > 0 and _counts(study, rater).open == 0
    return NextShape(state="done", task=None, progress=progress, completion=plan.completion if complete else None)


def progress_of(study: Study, rater: str, plan: Plan) -> ProgressShape:
    """How many tasks are done, training left aside; out of the rater's share, or of all items where all are theirs.

    Repeats count in both from the start, as many as the plan will give, so that neither number tells which they are.
    """
    counts, member = _counts(study, rater), study.store.people.member(rater)
    share = (member.share if member else None) or plan.share
    if share is None and plan.overlap is not None:
        return ProgressShape(done=counts.done, of=None)
    whole = study.store.count_items()
    items = whole if share is None else min(share, whole)
    if counts.own_given >= items:
        # Nothing new comes any more: what was given is all there is.
        return ProgressShape(done=counts.done, of=counts.done + counts.open)
    return ProgressShape(done=counts.done, of=items + max(repeats_among(items, plan), counts.repeats_given))


def listed(study: Study, rater: str, after: int, limit: int) -> TasksShape:
    """A rater's tasks, without what is in them."""
    people = study.store.people
    return TasksShape(
        tasks=[
            ListedTaskShape(
                number=task.number,
                purpose=_purpose(task),
                state=task.state,
                opened=task.opened.isoformat(),
                finished=task.finished.isoformat() if task.finished else None,
            )
            for task in people.tasks(rater, after=after, limit=limit)
        ],
        progress=progress_of(study, rater, people.plan()),
    )


def task_shape(study: Study, task: Task, plan: Plan) -> TaskShape:
    """A task with all that its rater may see."""
    protocol, said = study.protocol, said_so_far(study, task)
    example = example_of(protocol, task)
    return TaskShape(
        number=task.number,
        purpose=_purpose(task),
        state=task.state,
        locked=is_locked(task, plan),
        title=example.title if example else None,
        fields=fields_of(protocol, fields_given(study, task)),
        units=[unit_shape(study, unit, said.get(unit.id, {})) for unit in units_of(study, task)],
        feedback=feedback_shape(study, task, said),
        others=others_of(study, task, plan),
    )


def state_shape(task: Task, plan: Plan) -> TaskStateShape:
    return TaskStateShape(state=task.state, locked=is_locked(task, plan))


def unit_shape(study: Study, unit: Unit, ratings: Ratings) -> UnitShape:
    standing = standing_of(study, ratings)
    return UnitShape(
        position=unit.position,
        text=sayable_or_none(unit.text),
        span=shown_span(study.protocol, unit),
        finished=standing.finished,
        missing=standing.missing,
        ratings={criterion: rating_shape(rating) for criterion, rating in ratings.items()},
    )


def standing_of(study: Study, ratings: Ratings) -> StandingShape:
    """How far a unit is."""
    lacking = missing(study.protocol, ratings)
    return StandingShape(
        finished=not lacking and not closing(study.protocol, ratings),
        missing=[MissingShape(criterion=one.criterion, what=one.what) for one in lacking],
    )


def feedback_shape(study: Study, task: Task, said: Mapping[str, Ratings]) -> FeedbackShape | None:
    """Feedback on a worked example that is done: its answers are final by then. None for everything else."""
    example = example_of(study.protocol, task)
    if example is None or task.state != "done":
        return None
    return feedback_of(study.protocol, example, next(iter(said.values()), dict[str, Rating]()))


def _counts(study: Study, rater: str) -> TaskCounts:
    return study.store.people.task_counts(rater).get(rater, TaskCounts())


def _purpose(task: Task) -> Literal["training", "rate"]:
    """Gold items and repeats look like any other."""
    return "training" if task.purpose is Purpose.TRAINING else "rate"
