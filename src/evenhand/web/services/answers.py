"""Answers of raters and rulings of adjudicators: checked and stored one by one; a unit finished, an item skipped.

Each public function runs within one `services.write()` and so holds the writer's lock before it reads: what it has
read cannot change before it writes. The order of the checks is the same for all answers: the same id again returns what
is stored; an answer that is final or has changed is a conflict (409); an invalid one is a UserError (422).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import HTTPException
from pydantic import TypeAdapter

from evenhand.assignment import Purpose, Task
from evenhand.errors import UserError
from evenhand.protocol.completion import (
    SKIPPED,
    TAKEN_BACK,
    Missing,
    UnitRatings,
    effective_values,
    is_finished,
    is_taken_back,
    missing,
    statuses_on_finish,
)
from evenhand.protocol.guideline import condition_in_words, field_text
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import FieldValue, Rating, Span, Status, Unit, Value, now
from evenhand.scales import Text, same_value
from evenhand.study import Study
from evenhand.web.schemas import (
    AnswerRequest,
    FinishedUnit,
    RatingView,
    SavedAnswer,
    TaskStatus,
    TaskView,
    view_of,
)
from evenhand.web.services import tasks
from evenhand.web.services.adjudication import find_case
from evenhand.web.services.forms import offers_cannot_assess

RENEWED_AFTER = 0.1
"""The part of a claim's time after which an answer renews it; most answers need not write the claim as well."""

CHANGED = "This answer was changed in the meantime, perhaps in another window. Look at the current one."
ID_USED = "This answer was not saved, because its id was used before. Send it again with another id."

_CONTENT = ("status", "value", "rationale", "confidence", "notes", "evidence", "reason")
_RATING_JSON = TypeAdapter(RatingView)


@dataclass(frozen=True, slots=True)
class _Target:
    """The unit that is answered, by whom, and the rater's current ratings of it. A ruling has no task."""

    unit: str
    rater: str
    ratings: UnitRatings
    visible: tuple[str, ...]
    task: Task | None = None

    def rating(self, protocol: Protocol, criterion: str, status: Status, **more: Any) -> Rating:
        """A rating of this unit that replaces the current one."""
        present = self.ratings.get(criterion)
        known: dict[str, Any] = {"supersedes": present.id if present else None, "visible": self.visible, **more}
        return Rating(
            unit=self.unit, criterion=criterion, rater=self.rater, digest=protocol.digest, status=status, **known
        )


def save(
    study: Study,
    rater: str,
    number: int,
    position: int,
    criterion_id: str,
    answer: AnswerRequest,
    replaces: str | None,
) -> SavedAnswer:
    """Save a rater's answer in place of the one with the id `replaces`."""
    task = tasks.find_task(study, rater, number)
    [target] = _targets(study, task, [tasks.find_unit(study, task, position)])
    saved = _save(study, target, criterion_id, answer, replaces)
    if task.state == "done" and (answer.taken_back or not saved.unit.finished):
        # Otherwise it would count as done without an answer, and never come back.
        study.store.people.tasks.reopen(rater, number)
    if task.state == "open" and now() - task.touched > RENEWED_AFTER * (task.expires - task.touched):
        study.store.people.tasks.touch(rater, number)
    return saved


def rule(
    study: Study, adjudicator: str, unit_id: str, criterion_id: str, answer: AnswerRequest, replaces: str | None
) -> SavedAnswer:
    """Save an adjudicator's answer; criteria that are no longer asked after it are settled with it."""
    case = find_case(study, unit_id, adjudicator)
    target = _Target(case.unit.id, adjudicator, case.own, case.visible)
    return _save(study, target, criterion_id, answer, replaces)


def finish(study: Study, rater: str, number: int, position: int) -> FinishedUnit:
    """Settle what needs no decision in a unit; 422 with what is missing. The last unit completes the task."""
    protocol = study.protocol
    task = tasks.find_task(study, rater, number)
    unit = tasks.find_unit(study, task, position)
    [target] = _targets(study, task, [unit])
    lacking = missing(protocol, target.ratings)
    if lacking:
        raise _incomplete(protocol, lacking)
    settled = statuses_on_finish(protocol, target.ratings)
    _settle(study, task, [target.rating(protocol, name, status) for name, status in settled])
    ratings = tasks.current_ratings(study, task)
    if task.state != "done" and all(
        is_finished(protocol, ratings.get(one.id, {})) for one in tasks.units_of(study, task)
    ):
        study.store.people.tasks.finish(rater, number)
        task = tasks.find_task(study, rater, number)
    plan = study.store.people.tasks.plan()
    return FinishedUnit(
        unit=tasks.unit_view(protocol, unit, ratings.get(unit.id, {})),
        task=TaskStatus(task.state, tasks.is_locked(task, plan)),
        feedback=tasks.feedback_on(study, task, ratings),
        others=tasks.others_of(study, task, plan),
    )


def skip(study: Study, rater: str, number: int, reason: str | None) -> TaskView:
    """Skip an item: everything without an answer is skipped, and the task is done."""
    protocol = study.protocol
    task = tasks.find_task(study, rater, number)
    if task.purpose is Purpose.TRAINING:
        raise HTTPException(409, "A single worked example cannot be skipped; skip the whole training instead.")
    reason = (reason or "").strip() or SKIPPED
    if reason == TAKEN_BACK:
        raise UserError(f"give another reason than {TAKEN_BACK!r}, which marks an answer that was withdrawn")
    settled = [
        target.rating(protocol, name, status, reason=reason if status is Status.SKIPPED else None)
        for target in _targets(study, task, tasks.units_of(study, task))
        for name, status in statuses_on_finish(protocol, target.ratings, skipped=True)
    ]
    _settle(study, task, settled)
    if task.state != "done":
        study.store.people.tasks.finish(rater, number)
    return tasks.task_view(study, tasks.find_task(study, rater, number), study.store.people.tasks.plan())


def skip_training(study: Study, rater: str) -> None:
    """Skip the rest of the training; 409 if the plan requires it."""
    people = study.store.people
    if people.tasks.plan().training == "required":
        raise HTTPException(409, "The training is part of this study and cannot be skipped.")
    people.update(rater, training_over=True)


# Saving


def _targets(study: Study, task: Task, units: Sequence[Unit]) -> Sequence[_Target]:
    ratings, visible = tasks.current_ratings(study, task), tasks.raters_seen_before(study, task)
    return [_Target(unit.id, task.rater, ratings.get(unit.id, {}), visible, task) for unit in units]


def _save(study: Study, target: _Target, criterion_id: str, answer: AnswerRequest, replaces: str | None) -> SavedAnswer:
    protocol = study.protocol
    if not protocol.has(criterion_id):
        raise HTTPException(404, "There is no such criterion in this protocol.")
    criterion, present = protocol.criterion(criterion_id), target.ratings.get(criterion_id)
    rating = rating_from(criterion, target.rating(protocol, criterion_id, Status.SKIPPED, supersedes=replaces), answer)
    if present is not None and present.id == rating.id:
        if not same_answer(present, rating):
            raise _conflict(ID_USED, present)
        return SavedAnswer(view_of(RatingView, present), tasks.unit_state(protocol, target.ratings))
    if target.task is not None:
        _reject_if_locked(study, target.task)
    if (present.id if present else None) != replaces:
        raise _conflict(CHANGED, present)
    check(protocol, target.ratings, rating)
    if rating.evidence:
        check_evidence(rating.evidence, _texts(study, target))
    follow_ups = _no_longer_asked(protocol, target, rating) if target.task is None else list[Rating]()
    if _store(study, target.task, [rating, *follow_ups]):
        # The store ignores an id that it knows; whose it is must not be revealed.
        raise _conflict(ID_USED, present)
    ratings = {**target.ratings, **{one.criterion: one for one in [rating, *follow_ups]}}
    return SavedAnswer(view_of(RatingView, rating), tasks.unit_state(protocol, ratings))


def _store(study: Study, task: Task | None, ratings: Sequence[Rating]) -> int:
    """Store answers, as trials if the task is not to be counted; returns how many of their ids were used before."""
    if task is not None and task.purpose in tasks.TRIALS:
        return study.store.people.trials.add(task.number, ratings).known
    return study.store.ratings.add(ratings, if_current=True).known


def _settle(study: Study, task: Task, ratings: Sequence[Rating]) -> None:
    """Store what needs no decision; 409 if the task's answers are final."""
    if ratings:
        _reject_if_locked(study, task)
        _store(study, task, ratings)


def _reject_if_locked(study: Study, task: Task) -> None:
    if task.state == "done" and tasks.is_locked(task, study.store.people.tasks.plan()):
        shown = "the expected answers were" if task.purpose is Purpose.TRAINING else "other ratings of it can be"
        message = f"Task {task.number} is done and {shown} shown to you, so its answers are final."
        raise HTTPException(409, {"error": message, "present": None})


def _no_longer_asked(protocol: Protocol, target: _Target, ruling: Rating) -> Sequence[Rating]:
    """The follow-up questions of a criterion that are not asked after this ruling, and the follow-ups of those."""
    if ruling.status is not Status.RATED:
        return []
    statuses = dict(statuses_on_finish(protocol, {**target.ratings, ruling.criterion: ruling}))
    dependent, found = {ruling.criterion}, list[Rating]()
    for criterion in protocol.criteria:
        if criterion.when is not None and criterion.when.criterion in dependent:
            dependent.add(criterion.id)
            if statuses.get(criterion.id) is Status.NOT_ASKED:
                found.append(target.rating(protocol, criterion.id, Status.NOT_ASKED))
    return found


def _texts(study: Study, target: _Target) -> Mapping[str, str]:
    """The texts that evidence may be cited from: those of the fields that raters see."""
    values: Mapping[str, FieldValue]
    if target.task is not None:
        values = tasks.field_values(study, target.task)
    else:
        values = find_case(study, target.unit, target.rater).item.fields
    return {name: field_text(values[name]) for name in study.protocol.shown_fields() if name in values}


def _conflict(message: str, present: Rating | None) -> HTTPException:
    current = None if present is None else _RATING_JSON.dump_python(view_of(RatingView, present), mode="json")
    return HTTPException(409, {"error": message, "present": current})


def _incomplete(protocol: Protocol, lacking: Sequence[Missing]) -> HTTPException:
    titles = {criterion.id: criterion.title for criterion in protocol.criteria}
    listed = "; ".join(f"{titles[one.criterion]}: {one.what}" if one.criterion else one.what for one in lacking)
    parts = [{"criterion": one.criterion, "what": one.what} for one in lacking]
    return HTTPException(422, {"error": f"Some answers are missing: {listed}.", "missing": parts})


# Checking


def rating_from(criterion: Criterion, rating: Rating, answer: AnswerRequest) -> Rating:
    """`rating`, which has the unit and the rater, with the content of an answer."""
    if (answer.value is not None) != (answer.status == "rated"):
        raise UserError(f"{criterion.title}: an answer has a value exactly if its status is rated")
    if answer.taken_back and answer.status != "skipped":
        raise UserError(f"{criterion.title}: an answer that is taken back must have the status skipped")
    return replace(
        rating,
        id=answer.id,
        status=Status(answer.status),
        value=None if answer.value is None else _value_on_scale(criterion, answer.value),
        rationale=_stripped(answer.rationale),
        confidence=answer.confidence,
        notes=_stripped(answer.notes),
        evidence=tuple(dict.fromkeys(Span(span.field, span.start, span.end) for span in answer.evidence)),
        seconds=answer.seconds,
        reason=TAKEN_BACK if answer.taken_back else None,
    )


def same_answer(one: Rating, other: Rating) -> bool:
    """Whether two ratings have the same content, whatever time they took."""
    return all(getattr(one, name) == getattr(other, name) for name in _CONTENT)


def check(protocol: Protocol, ratings: UnitRatings, rating: Rating) -> None:
    """Reject a rating of something that is not asked, or with something that is not asked for.

    `ratings` are the current ones of the same unit.
    """
    criterion, values = protocol.criterion(rating.criterion), effective_values(protocol, ratings)
    if not is_taken_back(rating):
        _check_asked(protocol, criterion, values, rating)
    given = {
        "rationale": rating.rationale is not None and not protocol.asks_rationale(criterion),
        "evidence": bool(rating.evidence) and protocol.ask.evidence == "off",
        "confidence": rating.confidence is not None and protocol.ask.confidence == "off",
        "notes": rating.notes is not None and protocol.ask.notes == "off",
    }
    for part, unasked in given.items():
        if unasked:
            raise UserError(f"{criterion.title}: the protocol does not ask for {part} here")
    values = effective_values(protocol, {**ratings, criterion.id: rating})
    elsewhere = criterion.id != protocol.lead.id and protocol.lead.id in values
    if elsewhere and (rating.confidence is not None or rating.notes is not None):
        # Both are given once per unit: with another criterion only if the lead has no value.
        raise UserError(f"{criterion.title}: give confidence and notes with the answer on {protocol.lead.title}")


def _value_on_scale(criterion: Criterion, given: Value) -> Value:
    """A value as its scale reads it. Free text is tidied; a level or label must be given exactly."""
    try:
        value = criterion.scale.read(given)
    except ValueError as error:
        raise UserError(f"{criterion.title}: {error}") from None
    if isinstance(criterion.scale, Text) and not isinstance(given, str):
        raise UserError(f"{criterion.title}: {given!r} is not {criterion.scale.describe()}")
    if not isinstance(criterion.scale, Text) and not same_value(value, given):
        raise UserError(f"{criterion.title}: {given!r} must be given as {value!r}")
    return value


def _stripped(text: str | None) -> str | None:
    """A text without surrounding space; None if nothing is left."""
    return (text.strip() or None) if text is not None else None


def _check_asked(protocol: Protocol, criterion: Criterion, values: Mapping[str, Value], rating: Rating) -> None:
    if criterion.when is not None and not protocol.asked(criterion, values):
        condition = condition_in_words(protocol, criterion.when)
        raise UserError(f"{criterion.title} is asked only if {condition}, which is not the case here")
    if rating.status is Status.SKIPPED and criterion.required:
        raise UserError(f"{criterion.title} is required and cannot be skipped by itself")
    if rating.status is Status.CANNOT_ASSESS and not offers_cannot_assess(criterion.scale):
        raise UserError(f"{criterion.title}: choose the label that means this; there is {criterion.scale.describe()}")


def check_evidence(spans: Sequence[Span], texts: Mapping[str, str]) -> None:
    for span in spans:
        if span.field not in texts:
            raise UserError(f"evidence: there is no field {span.field!r} here; there are: {', '.join(texts)}")
        length = len(texts[span.field])
        if not span.start < span.end <= length:
            raise UserError(
                f"evidence: {span.start} to {span.end} is not a part of {span.field!r}, which has {length} characters"
            )
