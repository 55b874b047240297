"""Answers of raters into the study: saved one by one, a unit finished, an item skipped.

Each function reads, decides and writes in one turn of the desk's writer. What it answers is what was stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fastapi import HTTPException

from evenhand.assign import Purpose, Task
from evenhand.errors import ConflictError, UserError
from evenhand.protocol.guideline import field_text
from evenhand.records import Rating, Status, Unit
from evenhand.study import Study
from evenhand.web.answers import SKIPPED, TAKEN_BACK, Missing, Ratings, closing, missing, skipping
from evenhand.web.checking import CHANGED, NOT_NEW, check, conflict, is_repeated, rating_of, refuse_if_changed
from evenhand.web.feedback import others_of, seen_before
from evenhand.web.forms import rating_shape
from evenhand.web.shapes import AnswerShape, FinishedShape, SavedShape, TaskShape
from evenhand.web.showing import feedback_shape, standing_of, state_shape, task_shape, unit_shape
from evenhand.web.tasks import (
    fields_given,
    finish_if_whole,
    held_task,
    keep,
    refuse_if_locked,
    renew,
    said_so_far,
    unit_at,
    units_of,
)


def save(
    study: Study, rater: str, number: int, position: int, criterion_id: str, answer: AnswerShape, in_force: str | None
) -> SavedShape:
    """Save one answer in place of the one whose id is `in_force`."""
    protocol = study.protocol
    task = held_task(study, rater, number)
    unit = unit_at(study, task, position)
    if not protocol.has(criterion_id):
        raise HTTPException(404, "There is no such criterion in this protocol.")
    before = said_so_far(study, task).get(unit.id, {})
    present = before.get(criterion_id)
    rating = rating_of(protocol.criterion(criterion_id), answer, _blank(study, task, unit, criterion_id, in_force))
    if is_repeated(present, rating):
        return SavedShape(rating=rating_shape(before[criterion_id]), unit=standing_of(study, before))
    refuse_if_locked(study, task)
    refuse_if_changed(present, in_force)

    def texts() -> Mapping[str, str]:
        given = fields_given(study, task)
        return {name: field_text(given[name]) for name in protocol.shown_fields() if name in given}

    check(protocol, before, rating, texts)
    stored = _stored(study, task, rating)
    standing = standing_of(study, stored)
    if task.state == "done" and (answer.taken_back or not standing.finished):
        # Otherwise it would count as done without an answer, and never come back.
        study.store.people.reopen(rater, number)
    renew(study, task)
    return SavedShape(rating=rating_shape(stored[criterion_id]), unit=standing)


def finish(study: Study, rater: str, number: int, position: int) -> FinishedShape:
    """Settle what needs no decision in a unit; 422 with what is missing. The task is done with its last unit."""
    protocol = study.protocol
    task = held_task(study, rater, number)
    unit = unit_at(study, task, position)
    said = said_so_far(study, task)
    ratings = said.get(unit.id, {})
    lacking = missing(protocol, ratings)
    if lacking:
        what = [{"criterion": one.criterion, "what": one.what} for one in lacking]
        raise HTTPException(
            422, {"error": f"Not everything is answered yet: {_listed(study, lacking)}.", "missing": what}
        )
    settled = closing(protocol, ratings)
    if settled:
        _settle(study, task, [_settled(study, task, unit, name, status, ratings) for name, status in settled])
        said = said_so_far(study, task)
    task, plan = finish_if_whole(study, task, said), study.store.people.plan()
    return FinishedShape(
        unit=unit_shape(study, unit, said.get(unit.id, {})),
        task=state_shape(task, plan),
        feedback=feedback_shape(study, task, said),
        others=others_of(study, task, plan),
    )


def skip(study: Study, rater: str, number: int, reason: str | None) -> TaskShape:
    """Skip a whole item: whatever has no answer yet is skipped, and the task is done."""
    task = held_task(study, rater, number)
    if task.purpose is Purpose.TRAINING:
        raise HTTPException(409, "A worked example cannot be skipped by itself; skip the training as a whole.")
    said = said_so_far(study, task)
    why = (reason or "").strip() or SKIPPED
    if why == TAKEN_BACK:
        raise UserError(f"give another reason than {TAKEN_BACK!r}, which stands for an answer that was taken back")
    settled = [
        replace(_settled(study, task, unit, name, status, ratings), reason=why if status is Status.SKIPPED else None)
        for unit in units_of(study, task)
        for ratings in [said.get(unit.id, {})]
        for name, status in skipping(study.protocol, ratings)
    ]
    _settle(study, task, settled)
    if task.state != "done":
        study.store.people.finish(rater, number)
    return task_shape(study, held_task(study, rater, number), study.store.people.plan())


def end_training(study: Study, rater: str) -> None:
    """Pass over the rest of the training; 409 where the plan requires it."""
    people = study.store.people
    if people.plan().training == "required":
        raise HTTPException(409, "The training is part of this study and cannot be skipped.")
    people.set_member(rater, training_over=True)


def _blank(study: Study, task: Task, unit: Unit, criterion: str, replaces: str | None) -> Rating:
    return Rating(
        unit=unit.id,
        criterion=criterion,
        rater=task.rater,
        digest=study.protocol.digest,
        status=Status.SKIPPED,
        visible=tuple(seen_before(study, task)),
        supersedes=replaces,
    )


def _settled(study: Study, task: Task, unit: Unit, criterion: str, status: Status, ratings: Ratings) -> Rating:
    present = ratings.get(criterion)
    return replace(_blank(study, task, unit, criterion, present.id if present else None), status=status)


def _settle(study: Study, task: Task, ratings: Sequence[Rating]) -> None:
    """Store what needs no decision; 409 where the task's answers are final, or somebody was quicker."""
    if ratings:
        refuse_if_locked(study, task)
    try:
        keep(study, task, ratings)
    except ConflictError:
        raise conflict(CHANGED, None) from None


def _stored(study: Study, task: Task, rating: Rating) -> Ratings:
    """Store a rating and read back what is in force in its unit; 409 where that is another one."""
    try:
        keep(study, task, [rating])
    except ConflictError:
        # Another process was quicker.
        now_there = said_so_far(study, task).get(rating.unit, {})
        raise conflict(CHANGED, now_there.get(rating.criterion)) from None
    there = said_so_far(study, task).get(rating.unit, {})
    present = there.get(rating.criterion)
    if present is None or present.id != rating.id:
        # The store passes over an id that it knows, and whose it is, is nobody else's business.
        raise conflict(NOT_NEW, present)
    return there


def _listed(study: Study, lacking: Sequence[Missing]) -> str:
    names = {criterion.id: criterion.title for criterion in study.protocol.criteria}
    return "; ".join(f"{names[one.criterion]}: {one.what}" if one.criterion else one.what for one in lacking)
