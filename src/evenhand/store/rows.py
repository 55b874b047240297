"""Records to rows and back, exactly: a level stays an int, a percentage a float, a triple a Triple."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, cast

from pydantic_core import from_json, to_json

from evenhand.records import FieldValue, Item, Rating, Span, Status, Triple, Unit, Value
from evenhand.units import unit_id

RatingRow = tuple[int, str, int, int, str, int, int, int, str, str | None, str, str | None]
"""The columns of `ratings` in their order."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_STATUS = {status.value: status for status in Status}


def encode(data: object) -> str:
    """JSON text. pydantic's encoder is three times as quick as `json`, but knows no lone surrogates."""
    try:
        return to_json(data).decode()
    except ValueError:
        return json.dumps(data)


def decode(text: str) -> Any:
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)


def storable(text: str) -> bool:
    """Whether an id can be written: PostgreSQL knows no NUL, and UTF-8 no lone surrogate."""
    if text.isascii():
        return "\0" not in text
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def microseconds(at: datetime) -> int:
    """A moment as a number that a database can compare, exactly."""
    return (at - _EPOCH) // _MICROSECOND


def moment(count: int) -> datetime:
    return _EPOCH + count * _MICROSECOND


def fields_text(fields: Mapping[str, FieldValue]) -> str:
    return encode(fields if isinstance(fields, dict) else dict(fields))


def item_from(item_id: str, fields: str) -> Item:
    return Item(item_id, {name: _field(value) for name, value in cast("dict[str, Any]", decode(fields)).items()})


def _field(value: Any) -> FieldValue:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        if parts and isinstance(parts[0], list):
            return tuple(Triple(*part) for part in parts)
        return tuple(parts)
    return float(value)


def unit_text(unit: Unit) -> str | None:
    """What a unit has beside its place; None for a whole item."""
    content: dict[str, object] = {}
    if unit.text is not None:
        content["text"] = unit.text
    if unit.span is not None:
        content["span"] = (unit.span.field, unit.span.start, unit.span.end)
    if unit.answer is not None:
        content["answer"] = unit.answer
    if unit.key_info is not None:
        content["key_info"] = unit.key_info
    return encode(content) if content else None


def unit_from(item_id: str, position: int, content: str | None, rule: str) -> Unit:
    name = unit_id(item_id, position, rule)
    if content is None:
        return Unit(name, item_id, position)
    known: dict[str, Any] = decode(content)
    span = Span(*known["span"]) if "span" in known else None
    return Unit(name, item_id, position, known.get("text"), span, known.get("answer"), known.get("key_info"))


def details_text(rating: Rating) -> str | None:
    """What a rating says beside its value; None where there is nothing."""
    details: dict[str, object] = {}
    if rating.rationale is not None:
        details["rationale"] = rating.rationale
    if rating.confidence is not None:
        details["confidence"] = rating.confidence
    if rating.notes is not None:
        details["notes"] = rating.notes
    if rating.evidence:
        details["evidence"] = [(span.field, span.start, span.end) for span in rating.evidence]
    if rating.misquoted:
        details["misquoted"] = rating.misquoted
    if rating.distribution:
        details["distribution"] = rating.distribution
    if rating.mean is not None:
        details["mean"] = rating.mean
    if rating.reply is not None:
        details["reply"] = rating.reply
    if rating.seconds is not None:
        details["seconds"] = rating.seconds
    if rating.visible:
        details["visible"] = rating.visible
    if rating.reason is not None:
        details["reason"] = rating.reason
    if rating.raw is not None:
        details["raw"] = rating.raw
    return encode(details) if details else None


def value_text(value: Value | None) -> str | None:
    return None if value is None else encode(value)


@lru_cache(maxsize=4096)
def value_from(text: str) -> Value:
    """Labels and levels repeat a million times over; free texts push them out only for a moment."""
    return decode(text)


def rating_from(
    row: RatingRow, unit: str, rater: str, digest: str, supersedes: str | None, no_details: Mapping[str, Any] = {}
) -> Rating:
    """A rating from its row and the names its numbers stand for."""
    value, details = row[9], row[11]
    more = no_details if details is None else cast("dict[str, Any]", decode(details))
    return Rating(
        unit=unit,
        criterion=row[4],
        rater=rater,
        digest=digest,
        status=_STATUS[row[8]],
        value=None if value is None else value_from(value),
        rationale=more.get("rationale"),
        confidence=more.get("confidence"),
        notes=more.get("notes"),
        evidence=tuple(Span(*span) for span in more["evidence"]) if "evidence" in more else (),
        misquoted=tuple(more["misquoted"]) if "misquoted" in more else (),
        distribution=tuple((held, odds) for held, odds in more["distribution"]) if "distribution" in more else (),
        mean=more.get("mean"),
        reply=more.get("reply"),
        seconds=more.get("seconds"),
        visible=tuple(more["visible"]) if "visible" in more else (),
        reason=more.get("reason"),
        raw=more.get("raw"),
        at=datetime.fromisoformat(row[10]),
        id=row[1],
        supersedes=supersedes,
    )
