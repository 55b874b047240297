"""Answers of raters and rulings of adjudicators: checked and stored one by one; a unit finished, an item skipped.

What changes something runs within one `services.write()` and so holds the writer's lock before it reads: what it has
read cannot change before it writes. The order of the checks is the same for all answers: the same id again returns what
is stored; an answer that is final or has changed is a conflict (409); an invalid one is a UserError (422).

Answers to items are ratings. Answers to worked examples and to repeated items are trials, which no statistic of the
study counts; the page treats them alike.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import HTTPException
from pydantic import Field, StrictFloat, StrictInt, StrictStr, TypeAdapter

from evenhand.assignment import Plan, Purpose, Task
from evenhand.errors import UserError
from evenhand.nlp.quotes import Quotes
from evenhand.protocol.completion import (
    SKIPPED,
    TAKEN_BACK,
    UnitRatings,
    effective_values,
    is_answer,
    is_finished,
    is_taken_back,
    missing,
    statuses_on_finish,
)
from evenhand.protocol.guideline import condition_in_words, field_text
from evenhand.protocol.model import Criterion, Example, Protocol
from evenhand.records import FieldValue, Kind, Rating, Span, Status, Unit, Value, now
from evenhand.scales import Text, same_value
from evenhand.study import Study
from evenhand.units import unit_id
from evenhand.web.schemas import Moment, ResponseModel, StrictRequest
from evenhand.web.services.adjudication import find_case
from evenhand.web.services.forms import offers_cannot_assess

TRIALS = (Purpose.TRAINING, Purpose.REPEAT)
"""Tasks whose answers are trials."""

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
    rationale: LongText | None = None
    confidence: Annotated[float, Field(ge=0, le=100, strict=True)] | None = None
    notes: LongText | None = None
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


class MissingPart(ResponseModel):
    """Something that a unit still needs. Without a criterion it concerns the unit as a whole."""

    criterion: str | None
    what: str


class UnitState(ResponseModel):
    """Whether a unit is finished, and what is missing."""

    finished: bool
    missing: list[MissingPart]


class SavedAnswer(ResponseModel):
    """The stored rating and the state of its unit."""

    rating: RatingView
    unit: UnitState


# What is answered


def current_protocol(study: Study, expected: str | None = None) -> Protocol:
    """The current protocol; 409 if the page uses another one, whose digest is `expected`."""
    protocol = study.store.protocols.versions()[-1].protocol
    if expected is not None and expected != protocol.digest:
        raise HTTPException(409, "The protocol has changed; reload the page.")
    return protocol


def find_task(study: Study, rater: str, number: int) -> Task:
    """A task of this rater; 404 if there is none with that number."""
    task = study.store.people.tasks.find(rater, number)
    if task is None:
        raise HTTPException(404, f"You have no task {number}.")
    return task


def units_of(study: Study, protocol: Protocol, task: Task) -> Sequence[Unit]:
    """The units of a task; a worked example has one, which is not stored."""
    if task.item is not None:
        return study.store.items.units_of([task.item]).get(task.item, ())
    example = example_of(protocol, task)
    return [example_unit(protocol, example, f"example:{task.example}")] if example else []


def find_unit(study: Study, protocol: Protocol, task: Task, position: int) -> Unit:
    """The unit at a position, from 1; 404 if there is none."""
    rule, found = protocol.rule.of, None
    if task.item is None:
        found = next(iter(units_of(study, protocol, task)), None) if position == 1 else None
    elif rule == "item":
        # A whole item is its only unit, so there is nothing to look up.
        found = Unit(task.item, task.item, 1) if position == 1 else None
    elif 0 < position < 2**31:
        found = study.store.items.unit(unit_id(task.item, position, rule))
    if found is None:
        raise HTTPException(404, f"Task {task.number} has no unit {position}.")
    return found


def example_of(protocol: Protocol, task: Task) -> Example | None:
    """The worked example of a training task, if the protocol still has it."""
    if task.example is None or task.example >= len(protocol.examples):
        return None
    return protocol.examples[task.example]


def example_unit(protocol: Protocol, example: Example, unit_id: str) -> Unit:
    """The unit of a worked example: the whole of it, a sentence with its span if it can be found, or a question."""
    rule, span = protocol.rule, None
    if rule.of == "sentence" and example.unit is not None and rule.field is not None:
        value = protocol.example_fields(example).get(rule.field)
        span = Quotes({rule.field: field_text(value)}).find(example.unit) if value is not None else None
    return Unit(unit_id, unit_id, 1, example.unit, span)


def field_values(study: Study, protocol: Protocol, task: Task) -> Fields:
    """The fields of the item or worked example, including those that raters do not see."""
    if task.item is None:
        example = example_of(protocol, task)
        return protocol.example_fields(example) if example else {}
    item = study.store.items.find(task.item)
    return item.fields if item else {}


def current_ratings(study: Study, task: Task) -> Mapping[str, UnitRatings]:
    """This rater's current ratings of a task, by unit and criterion; a unit without any is absent."""
    ratings: dict[str, dict[str, Rating]] = {}
    if task.purpose in TRIALS:
        for _, rating in study.store.people.trials.all(task.rater, number=task.number):
            ratings.setdefault(rating.unit, {})[rating.criterion] = rating
    else:
        for rating in study.store.ratings.all(item=task.item, rater=task.rater):
            ratings.setdefault(rating.unit, {})[rating.criterion] = rating
    return ratings


def is_locked(task: Task, plan: Plan) -> bool:
    """Whether the answers to a task are final, because the rater may have seen other ratings or the expected ones."""
    return task.state == "done" and (plan.reveal != "never" or task.purpose is Purpose.TRAINING)


def revealed(study: Study, task: Task, plan: Plan) -> Sequence[tuple[Kind, Rating]]:
    """What the others answered on an item, as far as the plan reveals it to raters who are done with it.

    The known answers are never revealed: raters must not learn which items have them.
    """
    if task.item is None or plan.reveal == "never":
        return []
    kinds = {rater.id: rater.kind for rater in study.store.ratings.raters()}
    return [
        (kinds[rating.rater], rating)
        for rating in study.store.ratings.all(item=task.item)
        if rating.rater not in (task.rater, plan.gold)
        and is_answer(rating)
        and (plan.reveal == "all" or kinds[rating.rater] is not Kind.PERSON)
    ]


def unit_state(protocol: Protocol, ratings: UnitRatings) -> UnitState:
    """Whether a unit is finished, and what is missing."""
    lacking, unsettled = missing(protocol, ratings), statuses_on_finish(protocol, ratings)
    return UnitState(not lacking and not unsettled, [MissingPart(one.criterion, one.what) for one in lacking])


def rating_view(one: Rating) -> RatingView:
    texts = one.rationale, one.confidence, one.notes
    return RatingView(one.id, one.status, one.value, *texts, one.evidence, one.reason, one.at)


# Answering


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
    protocol: Protocol,
    rater: str,
    number: int,
    position: int,
    criterion_id: str,
    answer: AnswerRequest,
    replaces: str | None,
) -> SavedAnswer:
    """Save a rater's answer in place of the one with the id `replaces`."""
    task = find_task(study, rater, number)
    [target] = _targets(study, task, [find_unit(study, protocol, task, position)])
    fields = partial(field_values, study, protocol, task)
    saved = _save(study, protocol, target, criterion_id, answer, replaces, fields)
    if task.state == "done" and (answer.taken_back or not saved.unit.finished):
        # Otherwise it would count as done without an answer, and never come back.
        study.store.people.tasks.reopen(rater, number)
    if task.state == "open" and now() - task.touched > RENEWED_AFTER * (task.expires - task.touched):
        study.store.people.tasks.touch(rater, number)
    return saved


def rule(
    study: Study,
    protocol: Protocol,
    adjudicator: str,
    unit_id: str,
    criterion_id: str,
    answer: AnswerRequest,
    replaces: str | None,
) -> SavedAnswer:
    """Save an adjudicator's answer; criteria that are no longer asked after it are settled with it."""
    case = find_case(study, unit_id, adjudicator)
    target = _Target(case.unit.id, adjudicator, case.own, case.visible)
    return _save(study, protocol, target, criterion_id, answer, replaces, lambda: case.item.fields)


def finish(study: Study, protocol: Protocol, rater: str, number: int, position: int) -> None:
    """Settle what needs no decision in a unit; 422 with what is missing. The last unit completes the task."""
    task = find_task(study, rater, number)
    [target] = _targets(study, task, [find_unit(study, protocol, task, position)])
    lacking = unit_state(protocol, target.ratings).missing
    if lacking:
        titles = {criterion.id: f"{criterion.title}: " for criterion in protocol.criteria}
        listed = "; ".join(f"{titles.get(one.criterion or '', '')}{one.what}" for one in lacking)
        more = [asdict(one) for one in lacking]
        raise HTTPException(422, {"error": f"Some answers are missing: {listed}.", "missing": more})
    settled = statuses_on_finish(protocol, target.ratings)
    _settle(study, task, [target.rating(protocol, name, status) for name, status in settled])
    ratings = current_ratings(study, task)
    if task.state != "done" and all(
        is_finished(protocol, ratings.get(one.id, {})) for one in units_of(study, protocol, task)
    ):
        study.store.people.tasks.finish(rater, number)


def skip(study: Study, protocol: Protocol, rater: str, number: int, reason: str | None) -> None:
    """Skip an item: everything without an answer is skipped, and the task is done."""
    task = find_task(study, rater, number)
    if task.purpose is Purpose.TRAINING:
        raise HTTPException(409, "A single worked example cannot be skipped; skip the whole training instead.")
    reason = (reason or "").strip() or SKIPPED
    if reason == TAKEN_BACK:
        raise UserError(f"give another reason than {TAKEN_BACK!r}, which marks an answer that was withdrawn")
    settled = [
        target.rating(protocol, name, status, reason=reason if status is Status.SKIPPED else None)
        for target in _targets(study, task, units_of(study, protocol, task))
        for name, status in statuses_on_finish(protocol, target.ratings, skipped=True)
    ]
    _settle(study, task, settled)
    if task.state != "done":
        study.store.people.tasks.finish(rater, number)


def skip_training(study: Study, rater: str) -> None:
    """Skip the rest of the training; 409 if the plan requires it."""
    people = study.store.people
    if people.tasks.plan().training == "required":
        raise HTTPException(409, "The training is part of this study and cannot be skipped.")
    people.update(rater, training_over=True)


def _targets(study: Study, task: Task, units: Sequence[Unit]) -> Sequence[_Target]:
    ratings, visible = current_ratings(study, task), set[str]()
    if task.purpose is Purpose.REPEAT:
        # The rater may have seen what was revealed after the first time.
        visible = {rating.rater for _, rating in revealed(study, task, study.store.people.tasks.plan())}
    return [_Target(unit.id, task.rater, ratings.get(unit.id, {}), tuple(sorted(visible)), task) for unit in units]


def _save(
    study: Study,
    protocol: Protocol,
    target: _Target,
    criterion_id: str,
    answer: AnswerRequest,
    replaces: str | None,
    fields: Callable[[], Fields],
) -> SavedAnswer:
    if not protocol.has(criterion_id):
        raise HTTPException(404, "There is no such criterion in this protocol.")
    criterion, present = protocol.criterion(criterion_id), target.ratings.get(criterion_id)
    rating = rating_from(criterion, target.rating(protocol, criterion_id, Status.SKIPPED, supersedes=replaces), answer)
    if present is not None and present.id == rating.id:
        if not same_answer(present, rating):
            raise _conflict(ID_USED, present)
        return SavedAnswer(rating_view(present), unit_state(protocol, target.ratings))
    if target.task is not None:
        _reject_if_locked(study, target.task)
    if (present.id if present else None) != replaces:
        raise _conflict(CHANGED, present)
    check(protocol, target.ratings, rating)
    if rating.evidence:
        shown = {name: value for name, value in fields().items() if name in protocol.shown_fields()}
        check_evidence(rating.evidence, {name: field_text(value) for name, value in shown.items()})
    follow_ups = _no_longer_asked(protocol, target, rating) if target.task is None else list[Rating]()
    if _store(study, target.task, [rating, *follow_ups]):
        # The store ignores an id that it knows; whose it is must not be revealed.
        raise _conflict(ID_USED, present)
    ratings = {**target.ratings, rating.criterion: rating, **{one.criterion: one for one in follow_ups}}
    return SavedAnswer(rating_view(rating), unit_state(protocol, ratings))


def _store(study: Study, task: Task | None, ratings: Sequence[Rating]) -> int:
    """Store answers, as trials if the task is not to be counted; returns how many of their ids were used before."""
    if task is not None and task.purpose in TRIALS:
        return study.store.people.trials.add(task.number, ratings).known
    return study.store.ratings.add(ratings, if_current=True).known


def _settle(study: Study, task: Task, ratings: Sequence[Rating]) -> None:
    """Store what needs no decision; 409 if the task's answers are final."""
    if ratings:
        _reject_if_locked(study, task)
        _store(study, task, ratings)


def _reject_if_locked(study: Study, task: Task) -> None:
    if task.state == "done" and is_locked(task, study.store.people.tasks.plan()):
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


def _conflict(message: str, present: Rating | None) -> HTTPException:
    current = None if present is None else TypeAdapter(RatingView).dump_python(rating_view(present), mode="json")
    return HTTPException(409, {"error": message, "present": current})


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
