"""Answers of raters and rulings of adjudicators: checked and stored one by one; a unit finished, an item skipped.

What changes something runs within one `services.write()` and so holds the writer's lock before it reads: what it has
read cannot change before it writes. The order of the checks is the same for all answers: the same id again returns what
is stored; an answer that is final or has changed is a conflict (409); an invalid one is a UserError (422).

Answers to items are ratings. Answers to worked examples and to repeated items are trials, which no statistic of the
study counts; the page treats them alike.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Any, Literal

from fastapi import HTTPException
from pydantic import AfterValidator, Field, StrictFloat, StrictInt, StrictStr, TypeAdapter

from evenhand.assignment import EXAMPLE, Plan, Purpose, TaskState
from evenhand.errors import UserError
from evenhand.nlp.quotes import Quotes
from evenhand.protocol.completion import (
    SKIPPED,
    TAKEN_BACK,
    MissingPart,
    UnitRatings,
    effective_values,
    is_answer,
    is_asked,
    is_finished,
    is_taken_back,
    lead_for,
    missing,
    statuses_on_finish,
)
from evenhand.protocol.guideline import asked_when
from evenhand.protocol.model import Criterion, Example, Protocol, field_text
from evenhand.records import FieldValue, Kind, Rating, Span, Status, Unit, Value, now
from evenhand.scales import Text, same_value
from evenhand.study import Study
from evenhand.web.forms import offers_cannot_assess
from evenhand.web.schemas import Moment, ResponseModel, StrictRequest, view_of

MAX_TEXT = 20_000
"""Characters in anything a rater writes."""
MAX_SPANS = 100
MAX_SECONDS = 86_400
"""A day."""

RENEWED_AFTER = 0.1
"""The part of a claim's time after which an answer renews it; most answers need not write the claim as well."""

CHANGED = "This answer was changed in the meantime, perhaps in another window. Look at the current one."
ID_USED = "This answer was not saved, because its id was used before. Send it again with another id."

_CONTENT = ("status", "value", "rationale", "confidence", "notes", "evidence", "reason")

LongText = Annotated[StrictStr, Field(max_length=MAX_TEXT)]
Remark = Annotated[LongText, AfterValidator(lambda text: text.strip() or None)]
"""A text without surrounding space; None if nothing is left."""
Fields = Mapping[str, FieldValue]

ANSWER_EXAMPLE: Mapping[str, Any] = {
    "id": "019a8b6c0f2a4d5e6f708192a3b4c5d6",
    "status": "rated",
    "value": "SUPPORTED",
    "confidence": 90,
    "seconds": 12.5,
}


class EvidenceSpan(StrictRequest):
    """A half-open range of a field's text, in Unicode code points."""

    field: str
    start: Annotated[StrictInt, Field(ge=0)]
    end: Annotated[StrictInt, Field(ge=0)]


class AnswerRequest(StrictRequest, json_schema_extra={"examples": [ANSWER_EXAMPLE]}):
    """An answer on one criterion of one unit. The sender makes its id: if it is sent twice, it is stored once."""

    id: Annotated[
        StrictStr, Field(pattern=r"^[0-9a-f]{32}$", description="32 lower-case hexadecimal digits, never used before")
    ]
    status: Literal["rated", "skipped", "cannot_assess"]
    value: StrictInt | StrictFloat | LongText | None = None
    rationale: Remark | None = None
    confidence: Annotated[float, Field(ge=0, le=100, strict=True)] | None = None
    notes: Remark | None = None
    evidence: list[EvidenceSpan] = Field(default=[], max_length=MAX_SPANS)
    seconds: Annotated[float, Field(ge=0, le=MAX_SECONDS, strict=True)] | None = Field(
        default=None, description="time the rater spent on this answer"
    )
    taken_back: bool = Field(default=False, description="with status skipped: the answer is withdrawn")


class RatingView(ResponseModel):
    """A current rating."""

    id: str
    status: Status
    value: Value | None
    rationale: str | None
    confidence: float | None
    notes: str | None
    evidence: Sequence[Span]
    reason: str | None
    at: Moment


class UnitState(ResponseModel):
    """Whether a unit is finished, and what is missing."""

    finished: bool
    missing: Sequence[MissingPart]


class SavedAnswer(ResponseModel):
    """The stored rating and the state of its unit.

    `task` is the state of a rater's task, null for a ruling. If it is `returned`, its time has run out and another
    person has the item now; the answer counts all the same.
    """

    rating: RatingView
    unit: UnitState
    task: TaskState | None = None


# What is answered


class RaterTask:
    """A rater's task with its item or worked example and the rater's answers, each read when it is first needed."""

    def __init__(self, study: Study, rater: str, number: int) -> None:
        """404 if the rater has no task with this number."""
        found = study.store.people.tasks.find(rater, number)
        if found is None:
            raise HTTPException(404, f"You have no task {number} under the study's current protocol.")
        self.study, self.protocol, self.task = study, study.store.protocols.known.current, found
        self.is_trial = found.purpose in (Purpose.TRAINING, Purpose.REPEAT)

    @cached_property
    def plan(self) -> Plan:
        return self.study.store.people.tasks.plan()

    @cached_property
    def example(self) -> Example | None:
        """The worked example of a training task, if the protocol still has it."""
        place, examples = self.task.example, self.protocol.examples
        return None if place is None or place >= len(examples) else examples[place]

    @cached_property
    def units(self) -> Sequence[Unit]:
        """A worked example has one unit, which is not stored."""
        if self.task.item is not None:
            return self.study.store.items.units_of([self.task.item]).get(self.task.item, ())
        return [example_unit(self.protocol, self.example, f"{EXAMPLE}{self.task.example}")] if self.example else []

    def unit(self, position: int) -> Unit:
        """The unit at a position, from 1; 404 if there is none."""
        for unit in self.units:
            if unit.position == position:
                return unit
        raise HTTPException(404, f"Task {self.task.number} has no unit {position}.")

    @property
    def fields(self) -> Fields:
        """The fields of the item or worked example, including those that raters do not see."""
        if self.task.item is None:
            return self.protocol.example_fields(self.example) if self.example else {}
        item = self.study.store.items.find(self.task.item)
        return item.fields if item else {}

    @cached_property
    def ratings(self) -> Mapping[str, UnitRatings]:
        """This rater's current ratings, by unit and criterion; a unit without any is absent."""
        task, store = self.task, self.study.store
        if self.is_trial:
            current = [rating for _, rating in store.people.trials.all(task.rater, number=task.number)]
        else:
            current = store.ratings.all(item=task.item, rater=task.rater)
        found: dict[str, dict[str, Rating]] = {}
        for rating in current:
            found.setdefault(rating.unit, {})[rating.criterion] = rating
        return found

    @property
    def locked(self) -> bool:
        """Whether the answers are final, because the rater may have seen other ratings or the expected ones."""
        done, training = self.task.state == "done", self.task.purpose is Purpose.TRAINING
        return done and (training or self.plan.reveal != "never")

    @cached_property
    def revealed(self) -> Sequence[tuple[Kind, Rating]]:
        """What the others answered on the item, as far as the plan reveals it to raters who are done with it.

        The known answers are never revealed: raters must not learn which items have them.
        """
        task, plan, ratings = self.task, self.plan, self.study.store.ratings
        if task.item is None or plan.reveal == "never":
            return []
        kinds = {rater.id: rater.kind for rater in ratings.raters()}
        return [
            (kinds[rating.rater], rating)
            for rating in ratings.all(item=task.item)
            if rating.rater not in (task.rater, plan.gold)
            and rating.criterion in self.protocol.by_id
            and is_answer(rating)
            and (plan.reveal == "all" or kinds[rating.rater] is not Kind.PERSON)
        ]


def example_unit(protocol: Protocol, example: Example, unit_id: str) -> Unit:
    """The unit of a worked example: the whole of it, a sentence or claim with its span if found, or a question."""
    field, span = protocol.example_field(example), None
    if field is not None and example.unit is not None:
        value = protocol.example_fields(example).get(field)
        span = Quotes({field: field_text(value)}).find(example.unit) if value is not None else None
    return Unit(unit_id, unit_id, 1, example.unit, span, field=field)


def unit_state(protocol: Protocol, ratings: UnitRatings, field: str | None) -> UnitState:
    """Whether a unit from a field is finished, and what is missing."""
    lacking = missing(protocol, ratings, field)
    return UnitState(not lacking and not statuses_on_finish(protocol, ratings, field), lacking)


# Answering


@dataclass(frozen=True, slots=True)
class AnsweredUnit:
    """The unit that is answered: how a rating of it is made, and the rater's current ones. A ruling has no task.

    `field` is the one that the unit comes from.
    """

    study: Study
    field: str | None
    rate: Callable[..., Rating]
    ratings: UnitRatings
    task: RaterTask | None = None

    @classmethod
    def of(cls, task: RaterTask, unit: Unit) -> "AnsweredUnit":
        # The rater of a repeat may have seen what was revealed after the first time.
        revealed = task.revealed if task.task.purpose is Purpose.REPEAT else ()
        visible = tuple(sorted({rating.rater for _, rating in revealed}))
        known: dict[str, Any] = {"digest": task.protocol.digest, "visible": visible}
        rate = partial(Rating, unit=unit.id, rater=task.task.rater, **known)
        return cls(task.study, unit.field, rate, task.ratings.get(unit.id, {}), task)

    def settled(self, criterion: str, status: Status, reason: str | None = None) -> Rating:
        """A rating without a value in place of the current one."""
        present = self.ratings.get(criterion)
        return self.rate(criterion=criterion, status=status, reason=reason, supersedes=present.id if present else None)


def save(task: RaterTask, position: int, criterion: str, answer: AnswerRequest, replaces: str | None) -> SavedAnswer:
    """Save a rater's answer in place of the one with the id `replaces`."""
    target = AnsweredUnit.of(task, task.unit(position))
    saved = save_answer(target, criterion, answer, replaces, task.fields if answer.evidence else {})
    tasks, known, state = task.study.store.people.tasks, task.task, task.task.state
    if known.state == "done" and (answer.taken_back or not saved.unit.finished):
        # Otherwise it would count as done without an answer, and never come back.
        state = tasks.reopen(known.rater, known.number)
    passed = now() - known.touched > RENEWED_AFTER * (known.expires - known.touched)
    if state == "returned" or (state == "open" and passed):
        state = tasks.touch(known.rater, known.number)
    return replace(saved, task=state)


def finish(task: RaterTask, position: int) -> None:
    """Settle what needs no decision in a unit; 422 with what is missing. The last unit completes the task."""
    unit, protocol = task.unit(position), task.protocol
    target = AnsweredUnit.of(task, unit)
    lacking = missing(protocol, target.ratings, unit.field)
    if lacking:
        titles = {criterion.id: f"{criterion.title}: " for criterion in protocol.criteria}
        listed = "; ".join(f"{titles.get(one.criterion or '', '')}{one.what}" for one in lacking)
        more = [asdict(one) for one in lacking]
        raise HTTPException(422, {"error": f"Some answers are missing: {listed}.", "missing": more})
    statuses = statuses_on_finish(protocol, target.ratings, unit.field)
    settled = {name: target.settled(name, status) for name, status in statuses}
    ratings = {**task.ratings, unit.id: {**target.ratings, **settled}}
    done = all(is_finished(protocol, ratings.get(one.id, {}), one.field) for one in task.units)
    _settle(task, list(settled.values()), done=done)


def skip(task: RaterTask, reason: str | None) -> None:
    """Skip an item: everything without an answer is skipped, and the task is done."""
    if task.task.purpose is Purpose.TRAINING:
        raise HTTPException(409, "A single worked example cannot be skipped; skip the whole training instead.")
    reason = reason or SKIPPED
    if reason == TAKEN_BACK:
        raise UserError(f"give another reason than {TAKEN_BACK!r}, which marks an answer that was withdrawn")
    settled = [
        target.settled(name, status, reason if status is Status.SKIPPED else None)
        for target in [AnsweredUnit.of(task, unit) for unit in task.units]
        for name, status in statuses_on_finish(task.protocol, target.ratings, target.field, skipped=True)
    ]
    _settle(task, settled, done=True)


def save_answer(
    target: AnsweredUnit, criterion_id: str, answer: AnswerRequest, replaces: str | None, fields: Fields
) -> SavedAnswer:
    """Save an answer in place of the one with the id `replaces`; it may cite `fields` as evidence.

    Criteria that are no longer asked after a ruling are settled with it.
    """
    protocol, present = target.study.store.protocols.known.current, target.ratings.get(criterion_id)
    criterion = protocol.by_id.get(criterion_id)
    if criterion is None:
        raise HTTPException(404, "There is no such criterion in this protocol.")
    rating = target.rate(criterion=criterion_id, supersedes=replaces, **content_of(criterion, answer))
    if present is not None and present.id == rating.id:
        if not same_answer(present, rating):
            raise _conflict(ID_USED, present)
        return SavedAnswer(view_of(RatingView, present), unit_state(protocol, target.ratings, target.field))
    if target.task is not None:
        _reject_if_locked(target.task)
    if (present.id if present else None) != replaces:
        raise _conflict(CHANGED, present)
    check(protocol, criterion, target.ratings, rating, target.field)
    shown = {name: field_text(value) for name, value in fields.items() if name in protocol.shown_fields}
    check_evidence(rating.evidence, shown)
    follow_ups = _no_longer_asked(protocol, target, rating) if target.task is None else list[Rating]()
    if _store(target.study, target.task, [rating, *follow_ups]):
        # The store ignores an id that it knows; whose it is must not be revealed.
        raise _conflict(ID_USED, present)
    ratings = {**target.ratings, **{one.criterion: one for one in (rating, *follow_ups)}}
    state = unit_state(protocol, ratings, target.field)
    return SavedAnswer(view_of(RatingView, rating), state)


def _store(study: Study, task: RaterTask | None, ratings: Sequence[Rating]) -> int:
    """Store answers, as trials if the task is not to be counted; returns how many of their ids were used before."""
    if task is not None and task.is_trial:
        return study.store.people.trials.add(task.task.number, ratings).known
    return study.store.ratings.add(ratings, if_current=True).known


def _settle(task: RaterTask, ratings: Sequence[Rating], *, done: bool) -> None:
    """Store what needs no decision, and complete the task if it is `done`; 409 if its answers are final."""
    if ratings:
        _reject_if_locked(task)
        _store(task.study, task, ratings)
    if done and task.task.state != "done":
        task.study.store.people.tasks.finish(task.task.rater, task.task.number)


def _reject_if_locked(task: RaterTask) -> None:
    if task.locked:
        training = task.task.purpose is Purpose.TRAINING
        shown = "the expected answers were" if training else "other ratings of it can be"
        message = f"Task {task.task.number} is done and {shown} shown to you, so its answers are final."
        raise HTTPException(409, {"error": message, "present": None})


def _no_longer_asked(protocol: Protocol, target: AnsweredUnit, ruling: Rating) -> Sequence[Rating]:
    """The follow-up questions of a criterion that are not asked after this ruling, and the follow-ups of those."""
    if ruling.status is not Status.RATED:
        return []
    statuses = dict(statuses_on_finish(protocol, {**target.ratings, ruling.criterion: ruling}, target.field))
    dependent, found = {ruling.criterion}, list[Rating]()
    for criterion in protocol.criteria:
        if criterion.when is not None and criterion.when.criterion in dependent:
            dependent.add(criterion.id)
            if statuses.get(criterion.id) is Status.NOT_ASKED:
                found.append(target.settled(criterion.id, Status.NOT_ASKED))
    return found


def _conflict(message: str, present: Rating | None) -> HTTPException:
    current = present and TypeAdapter(RatingView).dump_python(view_of(RatingView, present), mode="json")
    return HTTPException(409, {"error": message, "present": current})


# Checking


def content_of(criterion: Criterion, answer: AnswerRequest) -> Mapping[str, Any]:
    """What an answer contributes to its rating: all but the unit, the rater and what it replaces."""
    if (answer.value is not None) != (answer.status == "rated"):
        raise UserError(f"{criterion.title}: an answer has a value exactly if its status is rated")
    if answer.taken_back and answer.status != "skipped":
        raise UserError(f"{criterion.title}: an answer that is taken back must have the status skipped")
    return {
        **answer.model_dump(include={"id", "rationale", "confidence", "notes", "seconds"}),
        "status": Status(answer.status),
        "evidence": tuple(dict.fromkeys(Span(span.field, span.start, span.end) for span in answer.evidence)),
        "reason": TAKEN_BACK if answer.taken_back else None,
        "value": None if answer.value is None else _value_on_scale(criterion, answer.value),
    }


def same_answer(one: Rating, other: Rating) -> bool:
    """Whether two ratings have the same content, whatever time they took."""
    return all(getattr(one, name) == getattr(other, name) for name in _CONTENT)


def check(
    protocol: Protocol, criterion: Criterion, ratings: UnitRatings, rating: Rating, field: str | None = None
) -> None:
    """Reject a rating of something that is not asked, or with something that is not asked for.

    `ratings` are the current ones of the same unit, which comes from `field`.
    """
    taken_back, values = is_taken_back(rating), effective_values(protocol, {**ratings, criterion.id: rating}, field)
    if not taken_back and not is_asked(criterion, values, field):
        raise UserError(f"{criterion.title} is not asked here. {asked_when(protocol, criterion)}")
    if rating.status is Status.SKIPPED and criterion.required and not taken_back:
        raise UserError(f"{criterion.title} is required and cannot be skipped by itself")
    if rating.status is Status.CANNOT_ASSESS and not offers_cannot_assess(criterion.scale):
        raise UserError(f"{criterion.title}: choose the label that means this; there is {criterion.scale.describe()}")
    given = {
        "rationale": rating.rationale is not None and criterion.id not in protocol.with_rationale,
        "evidence": bool(rating.evidence) and protocol.ask.evidence == "off",
        "confidence": rating.confidence is not None and protocol.ask.confidence == "off",
        "notes": rating.notes is not None and protocol.ask.notes == "off",
    }
    for part, unasked in given.items():
        if unasked:
            raise UserError(f"{criterion.title}: the protocol does not ask for {part} here")
    lead = lead_for(protocol, field)
    if criterion is not lead and lead.id in values and (rating.confidence is not None or rating.notes is not None):
        # Both are given once per unit: with another criterion only if the lead has no value.
        raise UserError(f"{criterion.title}: give confidence and notes with the answer on {lead.title}")


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


def check_evidence(spans: Sequence[Span], texts: Mapping[str, str]) -> None:
    for span in spans:
        if span.field not in texts:
            raise UserError(f"evidence: there is no field {span.field!r} here; there are: {', '.join(texts)}")
        length = len(texts[span.field])
        if not span.start < span.end <= length:
            raise UserError(
                f"evidence: {span.start} to {span.end} is not a part of {span.field!r}, which has {length} characters"
            )
