"""A rater's tasks in the study: what there is to rate, what was said so far, and where an answer is kept.

Answers to items are ratings. Answers to worked examples and to repeated items are trials, which no statistic of the
study counts; for the page they are the same.
"""

from collections.abc import Mapping, Sequence

from fastapi import HTTPException

from evenhand.assign import Plan, Purpose, Task
from evenhand.protocol.model import Example, Protocol
from evenhand.records import FieldValue, Rating, Unit, now
from evenhand.study import Study
from evenhand.units import unit_id
from evenhand.web.answers import Ratings, is_finished
from evenhand.web.forms import example_unit

RENEWED_AFTER = 0.1
"""The part of a claim's time after which an answer renews it: most answers need not write the claim as well."""

_TRIALS = (Purpose.TRAINING, Purpose.REPEAT)


def protocol_in_force(study: Study, expected: str | None = None) -> Protocol:
    """The protocol in force now; 409 where the page works by another one, whose digest is `expected`."""
    study.store.versions()
    if expected is not None and expected != study.protocol.digest:
        raise HTTPException(409, "The protocol was changed; reload the page.")
    return study.protocol


def held_task(study: Study, rater: str, number: int) -> Task:
    """A task of this rater; 404 where there is none of that number."""
    task = study.store.people.task(rater, number)
    if task is None:
        raise HTTPException(404, f"You have no task {number}.")
    return task


def units_of(study: Study, task: Task) -> Sequence[Unit]:
    """The units of a task; those of a worked example are made up."""
    if task.item is not None:
        return study.store.units_of([task.item]).get(task.item, ())
    example = example_of(study.protocol, task)
    return [example_unit(study.protocol, example, f"example:{task.example}")] if example else []


def unit_at(study: Study, task: Task, position: int) -> Unit:
    """The unit at a position, from 1; 404 where there is none."""
    found: Unit | None = None
    if task.item is None:
        found = next((unit for unit in units_of(study, task) if unit.position == position), None)
    elif study.protocol.rule.of == "item":
        # A whole item is its one unit: nothing to look up, and most answers are about such.
        found = Unit(task.item, task.item, 1) if position == 1 else None
    elif 0 < position < 2**31:
        found = study.store.unit(unit_id(task.item, position, study.protocol.rule.of))
    if found is None:
        raise HTTPException(404, f"Task {task.number} has no unit {position}.")
    return found


def example_of(protocol: Protocol, task: Task) -> Example | None:
    """The worked example of a training task, where the protocol still has it."""
    if task.example is None or task.example >= len(protocol.examples):
        return None
    return protocol.examples[task.example]


def fields_given(study: Study, task: Task) -> Mapping[str, FieldValue]:
    """The fields of the item or worked example, those included that are not shown."""
    if task.item is None:
        example = example_of(study.protocol, task)
        return study.protocol.example_fields(example) if example else {}
    item = study.store.item(task.item)
    return item.fields if item else {}


def said_so_far(study: Study, task: Task) -> Mapping[str, Ratings]:
    """This rater's ratings in force on a task, by unit and criterion; a unit without any is absent."""
    if task.purpose in _TRIALS:
        found = [rating for _, rating in study.store.people.trials(task.rater, number=task.number)]
    else:
        found = list(study.store.ratings(item=task.item, rater=task.rater))
    said: dict[str, dict[str, Rating]] = {}
    for rating in found:
        said.setdefault(rating.unit, {})[rating.criterion] = rating
    return said


def keep(study: Study, task: Task, ratings: Sequence[Rating]) -> None:
    """Store answers, each in place of the one it names. ConflictError where another one is in force."""
    if not ratings:
        return
    if task.purpose in _TRIALS:
        study.store.people.add_trials(task.number, ratings)
    else:
        study.store.add_ratings(ratings, if_current=True)


def is_locked(task: Task, plan: Plan) -> bool:
    """Whether the answers to a task are final: others' ratings of it, or the expected answers, may have been seen."""
    return task.state == "done" and (plan.reveal != "never" or task.purpose is Purpose.TRAINING)


def refuse_if_locked(study: Study, task: Task) -> None:
    """409 where the answers to a task are final."""
    if task.state == "done" and is_locked(task, study.store.people.plan()):
        seen = "the expected answers were" if task.purpose is Purpose.TRAINING else "other ratings of it can be"
        why = f"Task {task.number} is done and {seen} shown to you, so its answers are final."
        raise HTTPException(409, {"error": why, "present": None})


def renew(study: Study, task: Task) -> None:
    """Renew the claim on an open task, where a good part of its time has passed."""
    if task.state == "open" and now() - task.touched > RENEWED_AFTER * (task.expires - task.touched):
        study.store.people.touch(task.rater, task.number)


def finish_if_whole(study: Study, task: Task, said: Mapping[str, Ratings]) -> Task:
    """The task, done where all of its units are finished."""
    units = units_of(study, task)
    if task.state != "done" and all(is_finished(study.protocol, said.get(unit.id, {})) for unit in units):
        study.store.people.finish(task.rater, task.number)
        return held_task(study, task.rater, task.number)
    return task
