"""Cells of a table → values of an item's fields, and text made safe for spreadsheet programs.

A reader raises ValueError with what is wrong and what would be valid; where the cell stands is the caller's to say.
An empty cell is None: the field is absent.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

from evenhand.formats.plain import listed, short, text_of
from evenhand.formats.triples import read_triples
from evenhand.protocol.model import FieldSpec
from evenhand.records import FieldValue
from evenhand.scales import Label, label_key

CellReader = Callable[[object], FieldValue | None]

_RISKY = re.compile(r"'*[=+\-@\t\r]")
_MADE_SAFE = re.compile(r"'+[=+\-@\t\r]")


class AsItIs(str):
    """A text that only looks as if `made_safe` had put an apostrophe before it: the file says that it did not."""

    __slots__ = ()


def cell_reader(spec: FieldSpec) -> CellReader:
    """The function that reads the cells of one field."""
    if spec.kind == "text":
        return text_of
    if spec.kind == "label":
        return _label_reader(spec.labels or {})
    if spec.kind == "number":
        return _number
    if spec.kind == "triples":
        return read_triples
    return partial(_passages, delimiter=spec.delimiter)


def _label_reader(labels: Mapping[str, Label]) -> CellReader:
    """Reads a label: as the protocol spells it where the field has a list of labels, without outer space otherwise."""
    canonical = {label_key(alias): name for name, label in labels.items() for alias in (name, *label.aliases)}
    known: dict[object, str] = {name: name for name in labels}

    def read(cell: object) -> str | None:
        if type(cell) is str and cell in known:
            return known[cell]
        text = text_of(cell)
        if text is None or not labels:
            return text and text.strip()
        name = canonical.get(label_key(text))
        if name is None:
            raise ValueError(f"{short(text)} is not one of {', '.join(labels)}")
        known[text] = name
        return name

    return read


def _number(cell: object) -> float | None:
    text = text_of(cell)
    if text is None:
        return None
    try:
        number = float(text) if "_" not in text and not isinstance(cell, bool) else None
    except ValueError:
        number = None
    if number is None or abs(number) == float("inf"):
        raise ValueError(f"{short(text)} is not a number such as 3 or 0.5")
    return None if number != number else number


def _passages(cell: object, delimiter: str | None) -> tuple[str, ...] | None:
    """A list; a list written as JSON or Python in a text; a text split at the delimiter; otherwise one passage."""
    if type(cell) is str and (text := cell.strip()) and text[0] != "[" and (not delimiter or delimiter not in text):
        # The case of nearly every cell of a large file, decided without the detours below.
        return (text,)
    if isinstance(cell, list | tuple):
        found = [_passage(entry) for entry in cast("Sequence[object]", cell)]
        return tuple(passage for passage in found if passage) or None
    if isinstance(cell, Mapping):
        return _passages((cast("object", cell),), None)
    text = text_of(cell)
    if text is None:
        return None
    inner = listed(text) if re.match(r"\s*\[\s*[\"'{\]]", text) else None
    if isinstance(inner, list):
        return _passages(cast("list[object]", inner), None)
    pieces = (piece.strip() for piece in text.split(delimiter)) if delimiter else (text.strip(),)
    return tuple(piece for piece in pieces if piece) or None


def _passage(entry: object) -> str | None:
    """A passage is a text, or an object with a `text` and perhaps a `title`, which then stands above it."""
    if not isinstance(entry, Mapping):
        return text_of(entry)
    passage = cast("Mapping[object, object]", entry)
    by_key = {str(key).casefold(): value for key, value in passage.items()}
    if "text" not in by_key:
        raise ValueError(f'the passage {short(passage)} has no "text"')
    parts = [text_of(by_key.get("title")), text_of(by_key["text"])]
    return "\n".join(part for part in parts if part) or None


def looks_risky(text: str) -> bool:
    """Whether a spreadsheet program may take a text for a formula, or strip the apostrophe that keeps it from that."""
    return _RISKY.match(text) is not None


def looks_made_safe(text: str) -> bool:
    return text[:1] == "'" and _MADE_SAFE.match(text) is not None


def made_safe(text: str) -> str:
    """A text that no spreadsheet program takes for a formula; `taken_back` undoes it exactly.

    A text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return, or with apostrophes before one of them,
    gets one more apostrophe.
    """
    return f"'{text}" if looks_risky(text) else text


def taken_back(text: str) -> str:
    """The text that `made_safe` was given; one that comes `AsItIs` it never had."""
    if isinstance(text, AsItIs):
        return str(text)
    return text[1:] if looks_made_safe(text) else text
