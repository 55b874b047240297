"""An answer as it was sent → a rating that fits, or what is wrong with it. Pure.

Whatever does not fit is a UserError, which tells the rater what would. An answer that was to replace another one than
that in force is a conflict.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fastapi import HTTPException

from evenhand.errors import UserError
from evenhand.protocol.in_words import condition_in_words
from evenhand.protocol.model import Criterion, Protocol
from evenhand.raters.schema import asks_rationale
from evenhand.records import Rating, Span, Status, Value
from evenhand.scales import Text, same_value
from evenhand.web.answers import TAKEN_BACK, Ratings, is_taken_back, values_of
from evenhand.web.forms import may_say_cannot_assess, rating_shape
from evenhand.web.shapes import AnswerShape

Texts = Callable[[], Mapping[str, str]]
"""The texts of the shown fields, fetched only where evidence has to be held against them."""

CHANGED = "This answer was changed in the meantime, perhaps in another window. Look at what is there now."
NOT_NEW = "This answer was not saved: its id is not new. Send it again under another one."


def id_in_force(if_match: str | None, if_none_match: str | None) -> str | None:
    """The id of the rating that a request says is in force; None: that there is none yet. 428 where it does not say."""
    if if_match is None and if_none_match is None:
        raise HTTPException(
            428, 'Say what is to be replaced: If-Match: "ID" of the rating in force, or If-None-Match: * for none.'
        )
    if if_match is None and if_none_match == "*":
        return None
    found = re.fullmatch(r'"([^"]+)"', if_match or "") if if_none_match is None else None
    if found is None:
        raise UserError("give either If-Match with one id in double quotes, or If-None-Match: *")
    return found[1]


def rating_of(criterion: Criterion, answer: AnswerShape, rating: Rating) -> Rating:
    """The rating that an answer makes of `rating`, which has unit, rater and what else the answer cannot say."""
    if (answer.value is not None) != (answer.status == "rated"):
        raise UserError(f"{criterion.title}: an answer has a value exactly when its status is rated")
    if answer.taken_back and answer.status != "skipped":
        raise UserError(f"{criterion.title}: an answer that is taken back has the status skipped")
    return replace(
        rating,
        id=answer.id,
        status=Status(answer.status),
        value=None if answer.value is None else _canonical(criterion, answer.value),
        rationale=_text(answer.rationale),
        confidence=answer.confidence,
        notes=_text(answer.notes),
        evidence=tuple(dict.fromkeys(Span(span.field, span.start, span.end) for span in answer.evidence)),
        seconds=answer.seconds,
        reason=TAKEN_BACK if answer.taken_back else None,
    )


def says_the_same(one: Rating, other: Rating) -> bool:
    """Whether two ratings are the same answer."""
    return all(getattr(one, name) == getattr(other, name) for name in _CONTENT)


_CONTENT = ("status", "value", "rationale", "confidence", "notes", "evidence", "reason")


def is_repeated(present: Rating | None, rating: Rating) -> bool:
    """Whether an answer is the one in force, sent again; 409 where it says something else under the same id."""
    if present is None or present.id != rating.id:
        return False
    if not says_the_same(present, rating):
        raise conflict(NOT_NEW, present)
    return True


def refuse_if_changed(present: Rating | None, in_force: str | None) -> None:
    """409 where another rating is in force than the one that the sender knows of."""
    if (present.id if present else None) != in_force:
        raise conflict(CHANGED, present)


def conflict(what: str, present: Rating | None) -> HTTPException:
    """409 with the rating that is in force instead."""
    return HTTPException(409, {"error": what, "present": rating_shape(present).model_dump() if present else None})


def check(protocol: Protocol, ratings: Ratings, rating: Rating, texts: Texts) -> None:
    """Refuse a rating that is not open to its rater, or says what was not asked for.

    `ratings` are those of the same unit in force until now.
    """
    criterion = protocol.criterion(rating.criterion)
    if not is_taken_back(rating):
        _check_asked(protocol, criterion, ratings, rating)
    _check_beside(protocol, criterion, rating)
    _check_once(protocol, criterion, values_of(protocol, {**ratings, criterion.id: rating}), rating)
    if rating.evidence:
        _check_spans(rating.evidence, texts())


def _canonical(criterion: Criterion, given: Value) -> Value:
    """A value as its scale reads it. Free text is tidied; a level or label must be given as it is."""
    try:
        value = criterion.scale.read(given)
    except ValueError as error:
        raise UserError(f"{criterion.title}: {error}") from None
    if isinstance(criterion.scale, Text) and not isinstance(given, str):
        raise UserError(f"{criterion.title}: {given!r} is not {criterion.scale.describe()}")
    if not isinstance(criterion.scale, Text) and not same_value(value, given):
        raise UserError(f"{criterion.title}: {given!r} must be given as {value!r}")
    return value


def _text(given: str | None) -> str | None:
    """A text that says something, or None."""
    return (given.strip() or None) if given is not None else None


def _check_asked(protocol: Protocol, criterion: Criterion, ratings: Ratings, rating: Rating) -> None:
    if criterion.when is not None and not protocol.asked(criterion, values_of(protocol, ratings)):
        when = condition_in_words(protocol, criterion.when)
        raise UserError(f"{criterion.title} is asked only when {when}, and that is not so here")
    if rating.status is Status.SKIPPED and criterion.required:
        raise UserError(f"{criterion.title} must be answered; it cannot be skipped by itself")
    if rating.status is Status.CANNOT_ASSESS and not may_say_cannot_assess(criterion.scale):
        raise UserError(f"{criterion.title}: choose the label that says so; there is {criterion.scale.describe()}")


def _check_beside(protocol: Protocol, criterion: Criterion, rating: Rating) -> None:
    if rating.rationale is not None and not asks_rationale(protocol, criterion):
        raise UserError(f"{criterion.title}: no rationale is asked for here")
    if rating.evidence and protocol.ask.evidence == "off":
        raise UserError(f"{criterion.title}: no evidence is asked for here")
    if rating.confidence is not None and protocol.ask.confidence == "off":
        raise UserError(f"{criterion.title}: no confidence is asked for here")
    if rating.notes is not None and protocol.ask.notes == "off":
        raise UserError(f"{criterion.title}: no notes are asked for here")


def _check_once(protocol: Protocol, criterion: Criterion, values: Mapping[str, Value], rating: Rating) -> None:
    """Confidence and notes are given once: with the lead, and with another criterion only while that has no value."""
    if criterion.id == protocol.lead.id or protocol.lead.id not in values:
        return
    if rating.confidence is not None or rating.notes is not None:
        raise UserError(f"{criterion.title}: confidence and notes go with the answer on {protocol.lead.title}")


def _check_spans(spans: Sequence[Span], texts: Mapping[str, str]) -> None:
    for span in spans:
        if span.field not in texts:
            raise UserError(f"evidence: there is no field {span.field!r} here; there are: {', '.join(texts)}")
        length = len(texts[span.field])
        if not span.start < span.end <= length:
            where = f"{span.start} to {span.end} is no part of {span.field!r}"
            raise UserError(f"evidence: {where}, which runs from 0 to {length}")
