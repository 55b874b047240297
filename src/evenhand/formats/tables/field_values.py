"""Cells of a table → values of an item's fields, and text made safe for spreadsheet programs.

A reader raises ValueError with what is wrong and what would be valid; the caller adds the location of the cell.
An empty cell is None: the field is absent.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

from evenhand.formats.tables.cells import listed, short, text_of
from evenhand.formats.tables.triples import read_triples
from evenhand.protocol.model import FieldSpec
from evenhand.records import FieldValue
from evenhand.scales import Label, label_key

CellReader = Callable[[object], FieldValue | None]


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
    """Reads a label: as the protocol spells it if the field has a list of labels, otherwise without outer space."""
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
    """A passage is a text, or an object with a `text` and perhaps a `title`, which is then put above it."""
    if not isinstance(entry, Mapping):
        return text_of(entry)
    passage = cast("Mapping[object, object]", entry)
    by_key = {str(key).casefold(): value for key, value in passage.items()}
    if "text" not in by_key:
        raise ValueError(f'the passage {short(passage)} has no "text"')
    parts = [text_of(by_key.get("title")), text_of(by_key["text"])]
    return "\n".join(part for part in parts if part) or None
