"""Which criteria of a unit are asked, answered and missing, and how answers become ratings.

Every channel follows these rules: the rating page, imported files, models and programs. `web/static` has the same rules
in JavaScript, for raters who are offline; both are tested with `tests/protocol/completion_cases.json`.

A criterion is asked if it has no condition, or if its condition holds for the values of the criteria before it; one
with the key `of`, only about units that come from that `field`. A value that is no longer asked for does not count, so
it cannot cause a follow-up question. A rationale is required for a value on a scale, never for free text; evidence,
unless there is nothing to cite. Confidence and notes are given once per unit, with the answer on the lead criterion, or
with the first criterion that has a value if the lead has none.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from evenhand.errors import RaterFailure
from evenhand.protocol.model import SCORES, Condition, Criterion, Protocol
from evenhand.records import Answer, Rating, Status, Unit, Value
from evenhand.scales import PERCENT, Ordinal, exempt_from_evidence

TAKEN_BACK = "taken back"
"""The reason stored with a rating that withdraws an answer."""

SKIPPED = "skipped by the rater"
"""The reason stored if a rater skips an item without giving one."""

NO_ANSWER = "the rater gave no answer on this criterion"

UnitRatings = Mapping[str, Rating]
"""One rater's current ratings of one unit, by criterion."""

_REQUESTS = {
    "ordinal": "choose a level",
    "nominal": "choose a label",
    "percent": "give a percentage",
    "continuous": "give a number from 0 to 1",
    "text": "write an answer",
}
"""What a rater has to do, by the type of the scale."""


_STRAY = re.compile(r"([0-9]+|[!-~])?")
"""A bare number or a single key, as it gets into a field that was focused meanwhile: not a rationale."""


@dataclass(frozen=True, slots=True)
class MissingPart:
    """Something that a unit still needs. Without a criterion it concerns the unit as a whole."""

    criterion: str | None
    what: str
    """What the rater has to do."""


def is_answer(rating: Rating) -> bool:
    """Whether a rating is an answer: one that failed or was taken back is not."""
    return rating.status is not Status.FAILED and not is_taken_back(rating)


def is_taken_back(rating: Rating) -> bool:
    return rating.status is Status.SKIPPED and rating.reason == TAKEN_BACK


def concerns(criterion: Criterion, field: str | None) -> bool:
    """Whether a criterion is asked about units that come from this field at all."""
    return criterion.of is None or criterion.of == field


def lead_for(protocol: Protocol, field: str | None) -> Criterion:
    """The lead among the criteria that are asked about units from a field."""
    asked = [criterion for criterion in protocol.criteria if concerns(criterion, field)]
    return protocol.lead if protocol.lead in asked or not asked else asked[0]


def is_asked(criterion: Criterion, values: Mapping[str, Value], field: str | None = None) -> bool:
    """Whether a criterion is asked about a unit from `field`, given the unit's values so far."""
    if not concerns(criterion, field):
        return False
    return criterion.when is None or criterion.when.holds(values.get(criterion.when.criterion))


def effective_values(protocol: Protocol, ratings: UnitRatings, field: str | None = None) -> Mapping[str, Value]:
    """The values that count, by criterion: those of criteria that are asked, given the values before them."""
    values: dict[str, Value] = {}
    for criterion in protocol.criteria:
        rating = ratings.get(criterion.id)
        if rating is not None and rating.value is not None and is_asked(criterion, values, field):
            values[criterion.id] = rating.value
    return values


def carrier(protocol: Protocol, values: Mapping[str, Value]) -> str | None:
    """The criterion whose rating carries confidence and notes; None if no criterion has a value."""
    return protocol.lead.id if protocol.lead.id in values else next(iter(values), None)


def missing(protocol: Protocol, ratings: UnitRatings, field: str | None = None) -> Sequence[MissingPart]:
    """What is needed before the unit can be finished. Nothing is, if the item was skipped."""
    values, ask = effective_values(protocol, ratings, field), protocol.ask
    asked = [criterion for criterion in protocol.criteria if is_asked(criterion, values, field)]
    if any(_was_skipped(criterion, ratings) for criterion in asked):
        return []
    found: list[MissingPart] = []
    for criterion in asked:
        rating = ratings.get(criterion.id)
        if criterion.id in values and rating is not None:
            given_why = rating.rationale is not None and not _STRAY.fullmatch(rating.rationale.strip())
            if ask.rationale == "required" and criterion.id in protocol.with_rationale and not given_why:
                found.append(MissingPart(criterion.id, "say why in words"))
            cited = ask.evidence != "required" or rating.evidence or rating.misquoted
            if not cited and values[criterion.id] not in exempt_from_evidence(criterion.scale):
                found.append(MissingPart(criterion.id, "mark the evidence"))
        elif criterion.required and not _is_settled(rating):
            found.append(MissingPart(criterion.id, _REQUESTS[criterion.scale.type]))
    where, lead = carrier(protocol, values), lead_for(protocol, field).id
    # Notes may have been left on the lead although it could not be assessed.
    carriers = [ratings[name] for name in (where, lead) if name in ratings] if where else []
    if carriers and ask.confidence == "required" and all(rating.confidence is None for rating in carriers):
        found.append(MissingPart(None, "say how sure you are"))
    if carriers and ask.notes == "required" and not any(rating.notes for rating in carriers):
        found.append(MissingPart(None, "write a note"))
    return found


def statuses_on_finish(
    protocol: Protocol, ratings: UnitRatings, field: str | None = None, *, skipped: bool = False
) -> Sequence[tuple[str, Status]]:
    """The criteria that finishing the unit settles, each with its status: not asked, or optional and skipped.

    They include a follow-up that was answered before its condition became false. If the item is `skipped`, so are the
    required criteria, and those of which it is unknown whether they would have been asked.
    """
    values = effective_values(protocol, ratings, field)
    settled: list[tuple[str, Status]] = []
    for criterion in protocol.criteria:
        rating, when = ratings.get(criterion.id), criterion.when
        if not concerns(criterion, field):
            if rating is None or rating.status is not Status.NOT_ASKED:
                settled.append((criterion.id, Status.NOT_ASKED))
        elif is_asked(criterion, values, field) or when is None:
            if (skipped or not criterion.required) and not _is_settled(rating):
                settled.append((criterion.id, Status.SKIPPED))
        elif not _stays_unasked(when, rating, values):
            known = not skipped or when.criterion in values
            settled.append((criterion.id, Status.NOT_ASKED if known else Status.SKIPPED))
    return settled


def is_finished(protocol: Protocol, ratings: UnitRatings, field: str | None = None) -> bool:
    """Whether every criterion is settled and nothing required is missing."""
    return not missing(protocol, ratings, field) and not statuses_on_finish(protocol, ratings, field)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A program's answers on one unit, or the failure that takes their place.

    `reply` is the id of the stored reply that the answers were read from. `beyond` is why this rater
    cannot judge any other criterion: required ones that are asked and not answered become `cannot_assess`.
    `notes` are kept with what has no answer. `scores` are the overlap scores that it is about instead of the
    protocol's criteria; with any unit but the item's first they are not asked.
    """

    unit: Unit
    answers: Sequence[Answer] = ()
    failure: RaterFailure | None = None
    seconds: float | None = None
    reply: str | None = None
    beyond: str | None = None
    notes: str | None = None
    scores: Sequence[str] = ()


def ratings_of(protocol: Protocol, rater: str, judgement: Judgement) -> Sequence[Rating]:
    """One rating per criterion of the unit, whatever the rater did. This is where a failure becomes a record.

    A rater that failed, omitted a required criterion, or gave a value or confidence that is not on its scale gets
    `failed` ratings with the reason, never a score.
    """
    unit, failure = judgement.unit, judgement.failure
    known = {"seconds": judgement.seconds, "reply": judgement.reply, "notes": judgement.notes}
    make = partial(Rating, unit=unit.id, rater=rater, digest=protocol.digest, **known)
    criteria = [SCORES[name] for name in judgement.scores] or protocol.criteria
    asked_here = not judgement.scores or unit.position == 1
    if failure is not None:
        failed = partial(make, status=Status.FAILED, reason=failure.reason, raw=failure.raw)
        concerned = {criterion.id: concerns(criterion, unit.field) for criterion in criteria}
        not_asked = partial(make, status=Status.NOT_ASKED)
        return [(failed if asked else not_asked)(criterion=name) for name, asked in concerned.items()]
    given = {answer.criterion: answer for answer in judgement.answers}
    values: dict[str, Value] = {}
    ratings: list[Rating] = []
    for criterion in criteria:
        here, name = partial(make, criterion=criterion.id), criterion.id
        if not asked_here or not is_asked(criterion, values, unit.field):
            rating = here(status=Status.NOT_ASKED)
        elif name in given:
            rating = _rated(here, criterion, given[name])
        elif not criterion.required:
            rating = here(status=Status.SKIPPED)
        elif judgement.beyond is not None:
            rating = here(status=Status.CANNOT_ASSESS, reason=judgement.beyond)
        else:
            rating = here(status=Status.FAILED, reason=NO_ANSWER)
        if rating.value is not None:
            values[name] = rating.value
        ratings.append(rating)
    return ratings


def _rated(make: Callable[..., Rating], criterion: Criterion, answer: Answer) -> Rating:
    try:
        value = criterion.scale.read(answer.value)
    except ValueError as error:
        return make(status=Status.FAILED, reason=f"not on the scale: {error}", raw=str(answer.value))
    try:
        confidence = None if answer.confidence is None else PERCENT.read(answer.confidence)
    except ValueError as error:
        return make(status=Status.FAILED, reason=f"confidence: {error}", raw=str(answer.confidence))
    levels = [(level, share) for level, share in answer.distribution if not isinstance(level, str)]
    mean = sum(level * share for level, share in levels) if levels and isinstance(criterion.scale, Ordinal) else None
    parts = {part: getattr(answer, part) for part in ("rationale", "notes", "evidence", "misquoted", "distribution")}
    return make(value=value, confidence=confidence, mean=mean, **parts)


def _is_settled(rating: Rating | None) -> bool:
    """Whether a criterion that is asked has an answer. `not_asked` is none once the condition holds again."""
    return rating is not None and is_answer(rating) and rating.status is not Status.NOT_ASKED


def _was_skipped(criterion: Criterion, ratings: UnitRatings) -> bool:
    """Whether a required criterion was skipped, which only happens if the whole item was."""
    rating = ratings.get(criterion.id)
    return criterion.required and rating is not None and rating.status is Status.SKIPPED and is_answer(rating)


def _stays_unasked(when: Condition, rating: Rating | None, values: Mapping[str, Value]) -> bool:
    """Whether the rating of a criterion that is not asked needs no change.

    One that was skipped with the item needs none as long as it is unknown whether it would have been asked.
    """
    if rating is not None and rating.status is Status.SKIPPED and is_answer(rating):
        return when.criterion not in values
    return rating is not None and rating.status is Status.NOT_ASKED
