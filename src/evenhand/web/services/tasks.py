"""A rater's tasks as the page gets them, and what the rater may see when a task is done."""

from typing import Literal

from evenhand.assignment import Plan, Purpose, Task, TaskState, repeats_among
from evenhand.nlp.words import token_f1
from evenhand.protocol.completion import UnitRatings, effective_values, is_asked
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import UNANSWERABLE, Kind, Rating, Span, Status, Unit, Value
from evenhand.scales import Text, same_value
from evenhand.store.people.tasks import TaskCounts
from evenhand.study import Study
from evenhand.web.schemas import Moment, ResponseModel, view_of
from evenhand.web.services.answers import RaterTask, RatingView, UnitState, rating_view, unit_state
from evenhand.web.services.forms import FieldParts, fields_of, shown_span

SIMILAR = 0.5
"""The token F1 from which a text counts as equal to the expected one."""


class UnitView(UnitState):
    """A unit with its rater's current ratings, by criterion."""

    position: int
    text: str | None
    span: Span | None
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
    """One answer to a worked example, with the expected one."""

    criterion: str
    expected: Value | None
    given: Value | None
    right: bool
    rationale: str | None


class Feedback(ResponseModel):
    """The expected answers to a worked example."""

    explanation: str | None
    criteria: list[ExampleVerdict]


class TaskView(ResponseModel):
    """An item or a worked example for one rater. `title` is the worked example's. `locked`: its answers are final."""

    number: int
    purpose: Literal["training", "rate"]
    state: TaskState
    locked: bool
    title: str | None
    fields: list[FieldParts]
    units: list[UnitView]
    feedback: Feedback | None
    others: list[OtherRating] | None


class TaskProgress(ResponseModel):
    """The number of tasks a rater has done, without training, and the total, if it is known."""

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


def next_task(study: Study, rater: str, task: Task | None) -> NextTask:
    """A task that was just assigned, or why there is none."""
    people = study.store.people
    plan, member = people.tasks.plan(), people.member(rater)
    progress = progress_of(study, rater, plan)
    if task is not None:
        return NextTask("task", task_view(RaterTask(study, rater, task.number)), progress)
    if plan.paused or member is None or member.paused:
        return NextTask("paused", None, progress)
    # A rater with open tasks, or without any from the start, has not completed anything yet.
    complete = progress.done > 0 and _counts(study, rater).open == 0
    return NextTask("done", None, progress, plan.completion if complete else None)


def progress_of(study: Study, rater: str, plan: Plan) -> TaskProgress:
    """The number of tasks done, without training, out of the rater's share, or of all items if there is no share.

    Repeats count in both numbers from the start, as many as the plan will give, so that neither reveals which they are.
    """
    counts, member = _counts(study, rater), study.store.people.member(rater)
    share = (member.share if member else None) or plan.share
    if share is None and plan.overlap is not None:
        return TaskProgress(counts.done, None)
    total = study.store.items.count()
    items = total if share is None else min(share, total)
    if counts.own_given >= items:
        # Everything has been assigned: there is nothing more to come.
        return TaskProgress(counts.done, counts.done + counts.open)
    return TaskProgress(counts.done, items + max(repeats_among(items, plan), counts.repeats_given))


def task_list(study: Study, rater: str, after: int, limit: int) -> TaskList:
    """A rater's tasks without their content."""
    people = study.store.people
    tasks = people.tasks.all(rater, after=after, limit=limit)
    return TaskList(
        [view_of(TaskSummary, task, purpose=_shown_purpose(task)) for task in tasks],
        progress_of(study, rater, people.tasks.plan()),
    )


def task_view(task: RaterTask) -> TaskView:
    """A task with everything that its rater may see."""
    return TaskView(
        number=task.task.number,
        purpose=_shown_purpose(task.task),
        state=task.task.state,
        locked=task.locked,
        title=task.example.title if task.example else None,
        fields=fields_of(task.protocol, task.fields),
        units=[unit_view(task.protocol, unit, task.ratings.get(unit.id, {})) for unit in task.units],
        feedback=feedback_on(task),
        others=others_of(task),
    )


def unit_view(protocol: Protocol, unit: Unit, ratings: UnitRatings) -> UnitView:
    state = unit_state(protocol, ratings)
    return UnitView(
        finished=state.finished,
        missing=state.missing,
        position=unit.position,
        text=unit.text,
        span=shown_span(protocol, unit),
        ratings={criterion: rating_view(rating) for criterion, rating in ratings.items()},
    )


def finished_unit(task: RaterTask, position: int) -> FinishedUnit:
    """A unit that was just finished, with what its rater may see now."""
    unit = task.unit(position)
    return FinishedUnit(
        unit=unit_view(task.protocol, unit, task.ratings.get(unit.id, {})),
        task=TaskStatus(task.task.state, task.locked),
        feedback=feedback_on(task),
        others=others_of(task),
    )


# What a rater may see when a task is done


def feedback_on(task: RaterTask) -> Feedback | None:
    """The answers to a worked example that is done, and so can no longer be changed, with the expected ones: where the
    example has one or none is asked for. None for any other task."""
    example, protocol = task.example, task.protocol
    if example is None or task.task.state != "done":
        return None
    given = effective_values(protocol, next(iter(task.ratings.values()), dict[str, Rating]()))
    verdicts: list[ExampleVerdict] = []
    for criterion in protocol.criteria:
        expected = example.ratings.get(criterion.id)
        if expected is None and is_asked(criterion, example.ratings):
            continue
        answer = given.get(criterion.id)
        right = is_right(criterion, expected, answer, protocol.language)
        rationale = example.rationales.get(criterion.id)
        verdicts.append(ExampleVerdict(criterion.id, expected, answer, right, rationale))
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
