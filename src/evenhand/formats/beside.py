"""What a rating file says beside a rating's value: rationale, confidence, notes, status and the rest."""

import json
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from evenhand.formats.plain import short, text_of
from evenhand.formats.problems import Problems
from evenhand.formats.ratings_shapes import Cell
from evenhand.records import Span, Status
from evenhand.scales import PERCENT, label_key

SPAN = 'write it as [["FIELD", START, END], …], with character positions from 0'


def read_beside(
    cells: Mapping[str, Cell], fields: Collection[str], row: int, problems: Problems
) -> Mapping[str, Any] | None:
    """Keyword arguments for a Rating; None where a cell is bad, which is then reported."""
    readers: Mapping[str, Callable[[object], object]] = {
        "status": _status,
        "confidence": PERCENT.read,
        "evidence": lambda content: _evidence(content, fields),
        "seconds": _seconds,
        "visible": _visible,
        "at": _time,
    }
    found: dict[str, Any] = {}
    good = True
    for name, cell in cells.items():
        try:
            found[name] = readers.get(name, text_of)(cell.content)
        except ValueError as error:
            problems.add(str(error), row=row, column=cell.column)
            good = False
    return found if good else None


def _status(content: object) -> Status:
    text = text_of(content) or ""
    for status in Status:
        if label_key(text) == label_key(status):
            return status
    raise ValueError(f"{short(text)} is not one of {', '.join(Status)}")


def _seconds(content: object) -> float:
    text = text_of(content) or ""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{short(text)} is not a number of seconds")
    return seconds


def list_in(content: object) -> list[object] | None:
    """A cell's list, as it is or as JSON; None where it holds none."""
    if isinstance(content, str):
        try:
            content = cast("object", json.loads(content))
        except ValueError:
            return None
    return list(cast("list[object]", content)) if isinstance(content, list | tuple) else None


def _visible(content: object) -> tuple[str, ...]:
    """A list of names, or names with commas between them."""
    names = list_in(content)
    if names is None:
        names = [name.strip() for name in (text_of(content) or "").split(",")]
    return tuple(str(name) for name in names if name)


def _evidence(content: object, fields: Collection[str]) -> tuple[Span, ...]:
    spans = list_in(content)
    if spans is None:
        raise ValueError(f"{short(content)} is not a list of evidence; {SPAN}")
    return tuple(_span(span, fields) for span in spans)


def _span(entry: object, fields: Collection[str]) -> Span:
    parts = list_in(entry) or []
    if len(parts) == 3 and isinstance(parts[0], str) and type(parts[1]) is int and type(parts[2]) is int:
        if parts[0] not in fields:
            raise ValueError(f"there is no field {parts[0]!r} to take evidence from; there are: {', '.join(fields)}")
        if 0 <= parts[1] <= parts[2]:
            return Span(parts[0], parts[1], parts[2])
    raise ValueError(f"{short(entry)} is not evidence; {SPAN}")


def _time(content: object) -> datetime:
    try:
        time = content if isinstance(content, datetime) else datetime.fromisoformat((text_of(content) or "").strip())
    except ValueError:
        raise ValueError(f"{short(content)} is not a time such as 2026-01-31T09:30:00+00:00") from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
