"""A rater's tasks: what there is to rate, the answers so far, and what the rater may see when a task is done.

Answers to items are ratings. Answers to worked examples and to repeated items are trials, which no statistic of the
study counts; the page treats them alike.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from fastapi import HTTPException

from evenhand.assignment import Plan, Purpose, Task, repeats_among
from evenhand.nlp.words import token_f1
from evenhand.protocol.completion import UnitRatings, effective_values, is_answer, missing, statuses_on_finish
from evenhand.protocol.model import Criterion, Example, Protocol
from evenhand.records import UNANSWERABLE, FieldValue, Kind, Rating, Unit, Value
from evenhand.scales import Text, same_value
from evenhand.store.people.tasks import TaskCounts
from evenhand.study import Study
from evenhand.units import unit_id
from evenhand.web.schemas import (
    ExampleVerdict,
    Feedback,
    MissingPart,
    NextTask,
    OtherRating,
    RatingView,
    TaskList,
    TaskProgress,
    TaskSummary,
    TaskView,
    UnitState,
    UnitView,
    view_of,
)
from evenhand.web.services.forms import example_unit, fields_of, shown_span

TRIALS = (Purpose.TRAINING, Purpose.REPEAT)
"""Tasks whose answers are trials."""

SIMILAR = 0.5
"""The token F1 from which a text counts as equal to the expected one."""


# What there is to rate


def current_protocol(study: Study, expected: str | None = None) -> Protocol:
    """The current protocol; 409 if the page uses another one, whose digest is `expected`."""
    study.store.protocols.versions()
    if expected is not None and expected != study.protocol.digest:
        raise HTTPException(409, "The protocol has changed; reload the page.")
    return study.protocol


def find_task(study: Study, rater: str, number: int) -> Task:
    """A task of this rater; 404 if there is none with that number."""
    task = study.store.people.tasks.find(rater, number)
    if task is None:
        raise HTTPException(404, f"You have no task {number}.")
    return task


def units_of(study: Study, task: Task) -> Sequence[Unit]:
    """The units of a task; a worked example has one, which is not stored."""
    if task.item is not None:
        return study.store.items.units_of([task.item]).get(task.item, ())
    example = _example_of(study.protocol, task)
    return [example_unit(study.protocol, example, f"example:{task.example}")] if example else []


def find_unit(study: Study, task: Task, position: int) -> Unit:
    """The unit at a position, from 1; 404 if there is none."""
    found: Unit | None = None
    if task.item is None:
        found = next((unit for unit in units_of(study, task) if unit.position == position), None)
    elif study.protocol.rule.of == "item":
        # A whole item is its only unit, so there is nothing to look up.
        found = Unit(task.item, task.item, 1) if position == 1 else None
    elif 0 < position < 2**31:
        found = study.store.items.unit(unit_id(task.item, position, study.protocol.rule.of))
    if found is None:
        raise HTTPException(404, f"Task {task.number} has no unit {position}.")
    return found


def field_values(study: Study, task: Task) -> Mapping[str, FieldValue]:
    """The fields of the item or worked example, including those that raters do not see."""
    if task.item is None:
        example = _example_of(study.protocol, task)
        return study.protocol.example_fields(example) if example else {}
    item = study.store.items.find(task.item)
    return item.fields if item else {}


def current_ratings(study: Study, task: Task) -> Mapping[str, UnitRatings]:
    """This rater's current ratings of a task, by unit and criterion; a unit without any is absent."""
    if task.purpose in TRIALS:
        found = [rating for _, rating in study.store.people.trials.all(task.rater, number=task.number)]
    else:
        found = list(study.store.ratings.all(item=task.item, rater=task.rater))
    ratings: dict[str, dict[str, Rating]] = {}
    for rating in found:
        ratings.setdefault(rating.unit, {})[rating.criterion] = rating
    return ratings


def is_locked(task: Task, plan: Plan) -> bool:
    """Whether the answers to a task are final, because the rater may have seen other ratings or the expected ones."""
    return task.state == "done" and (plan.reveal != "never" or task.purpose is Purpose.TRAINING)


# Tasks as the page gets them


def next_task(study: Study, rater: str, task: Task | None) -> NextTask:
    """A task that was just assigned, or why there is none."""
    current_protocol(study)
    people = study.store.people
    plan, member = people.tasks.plan(), people.member(rater)
    progress = progress_of(study, rater, plan)
    if task is not None:
        return NextTask("task", task_view(study, task, plan), progress)
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


def task_view(study: Study, task: Task, plan: Plan) -> TaskView:
    """A task with everything that its rater may see."""
    protocol, ratings = study.protocol, current_ratings(study, task)
    example = _example_of(protocol, task)
    return TaskView(
        number=task.number,
        purpose=_shown_purpose(task),
        state=task.state,
        locked=is_locked(task, plan),
        title=example.title if example else None,
        fields=fields_of(protocol, field_values(study, task)),
        units=[unit_view(protocol, unit, ratings.get(unit.id, {})) for unit in units_of(study, task)],
        feedback=feedback_on(study, task, ratings),
        others=others_of(study, task, plan),
    )


def unit_view(protocol: Protocol, unit: Unit, ratings: UnitRatings) -> UnitView:
    state = unit_state(protocol, ratings)
    return UnitView(
        finished=state.finished,
        missing=state.missing,
        position=unit.position,
        text=unit.text,
        span=shown_span(protocol, unit),
        ratings={criterion: view_of(RatingView, rating) for criterion, rating in ratings.items()},
    )


def unit_state(protocol: Protocol, ratings: UnitRatings) -> UnitState:
    """Whether a unit is finished, and what is missing."""
    lacking, unsettled = missing(protocol, ratings), statuses_on_finish(protocol, ratings)
    return UnitState(not lacking and not unsettled, [MissingPart(one.criterion, one.what) for one in lacking])


# What a rater may see when a task is done


def feedback_on(study: Study, task: Task, ratings: Mapping[str, UnitRatings]) -> Feedback | None:
    """The expected answers to a worked example that is done, and so can no longer be changed; otherwise None."""
    example = _example_of(study.protocol, task)
    if example is None or task.state != "done":
        return None
    return compare_with_example(study.protocol, example, next(iter(ratings.values()), dict[str, Rating]()))


def compare_with_example(protocol: Protocol, example: Example, ratings: UnitRatings) -> Feedback:
    """The answers to a worked example with the expected ones, where the example has one or none is asked for."""
    given = effective_values(protocol, ratings)
    verdicts: list[ExampleVerdict] = []
    for criterion in protocol.criteria:
        expected = example.ratings.get(criterion.id)
        if expected is None and protocol.asked(criterion, example.ratings):
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


def others_of(study: Study, task: Task, plan: Plan) -> list[OtherRating] | None:
    """What the others answered on the item of a task that is done; None if the plan does not reveal it."""
    if task.state != "done" or task.purpose in TRIALS or plan.reveal == "never":
        return None
    return _revealed(study, task, plan)


def _revealed(study: Study, task: Task, plan: Plan) -> list[OtherRating]:
    """What the others answered on an item, as far as the plan reveals it to raters who are done with it.

    The known answers are never revealed: raters must not learn which items have them.
    """
    if task.item is None or plan.reveal == "never":
        return []
    kinds = {rater.id: rater.kind for rater in study.store.ratings.raters()}
    positions = {unit.id: unit.position for unit in study.store.items.units_of([task.item]).get(task.item, ())}
    return [
        view_of(OtherRating, rating, kind=kinds[rating.rater], position=positions[rating.unit])
        for rating in study.store.ratings.all(item=task.item)
        if rating.rater not in (task.rater, plan.gold)
        and is_answer(rating)
        and (plan.reveal == "all" or kinds[rating.rater] is not Kind.PERSON)
    ]


def raters_seen_before(study: Study, task: Task) -> tuple[str, ...]:
    """Whose ratings of this item its rater may have seen: in a repeat, those revealed after the first time."""
    if task.purpose is not Purpose.REPEAT:
        return ()
    return tuple(sorted({other.rater for other in _revealed(study, task, study.store.people.tasks.plan())}))


def _example_of(protocol: Protocol, task: Task) -> Example | None:
    """The worked example of a training task, if the protocol still has it."""
    if task.example is None or task.example >= len(protocol.examples):
        return None
    return protocol.examples[task.example]


def _counts(study: Study, rater: str) -> TaskCounts:
    return study.store.people.tasks.count(rater).get(rater, TaskCounts())


def _shown_purpose(task: Task) -> Literal["training", "rate"]:
    """Items with known answers and repeats look like any other."""
    return "training" if task.purpose is Purpose.TRAINING else "rate"
