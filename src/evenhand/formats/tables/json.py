"""JSON (a list of objects, or an object of id to object) and JSON Lines (an object on each line).

The columns are the union of all keys, in order of appearance; a key that an object does not have is an empty cell.
Nested values stay Python objects.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from evenhand.errors import InputError, Problem
from evenhand.formats.problems import Problems
from evenhand.formats.tables.csv import NOT_TEXT, open_text, refuse_other
from evenhand.formats.tables.header import Content, Row

SHAPES = 'a list of objects [{"id": …}, …], or an object that leads from each id to an object {"ID": {…}, …}'


def json_lines(path: Path) -> Content:
    """A JSON Lines file; rows are numbered as the lines of the file."""
    refuse_other(path)
    found, columns = Problems(str(path)), dict[str, None]()
    for _, value in _lines(path, found):
        columns.update(dict.fromkeys(value))
    found.raise_if_any()
    if not columns:
        raise InputError(str(path), 'the objects have no keys; each line is an object such as {"id": "1", …}')
    names = list(columns)

    def read(problems: Problems) -> Iterator[Row]:
        for number, value in _lines(path, problems):
            yield number, list(map(value.get, names))

    return Content(names, read)


def _lines(path: Path, problems: Problems) -> Iterator[tuple[int, Mapping[str, object]]]:
    number = 0
    try:
        with open_text(path) as file:
            for number, line in enumerate(file, start=1):
                if not line.isspace():
                    try:
                        yield number, _object(_parsed(line))
                    except ValueError as error:
                        problems.add(_told(error), line=number, fix="each line is one JSON object")
    except NOT_TEXT:
        problems.extend([_undecodable(path)])


def json_document(path: Path) -> Content:
    """A JSON file; its entries are numbered from 1."""
    refuse_other(path)
    try:
        with open_text(path) as file:
            document = _parsed(file.read())
    except NOT_TEXT as error:
        raise InputError(str(path), [_undecodable(path)]) from error
    except json.JSONDecodeError as error:
        raise InputError(str(path), [Problem(_told(error), line=error.lineno)]) from error
    except ValueError as error:
        raise InputError(str(path), str(error)) from error
    entries = _entries(document, Problems(str(path)))
    columns = list(dict.fromkeys(key for entry in entries for key in entry))
    if not columns:
        raise InputError(str(path), f"there is nothing in it; it must be {SHAPES}")

    def read(problems: Problems) -> Iterator[Row]:
        for number, entry in enumerate(entries, start=1):
            yield number, [entry.get(name) for name in columns]

    return Content(columns, read)


def _entries(document: object, problems: Problems) -> Sequence[Mapping[str, object]]:
    """The objects of a document; the ids of an object of objects become its column `id`, unless they have one."""
    if not isinstance(document, list | dict):
        problems.add(f"{_kind(document)} is not a table; it must be {SHAPES}")
    entries: list[Mapping[str, object]] = []
    if isinstance(document, dict):
        for key, value in cast("dict[str, object]", document).items():
            try:
                entries.append({"id": key, **_object(value)})
            except ValueError as error:
                problems.add(f"the entry {key!r}: {error}", fix=f"the file must be {SHAPES}")
    elif isinstance(document, list):
        for number, value in enumerate(cast("list[object]", document), start=1):
            try:
                entries.append(_object(value))
            except ValueError as error:
                problems.add(str(error), row=number, fix=f"the file must be {SHAPES}")
    problems.raise_if_any()
    return entries


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{_kind(value)} where an object of names and values is needed")
    return cast("dict[str, object]", value)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {"list": "a list", "str": "a text", "bool": "a truth value", "int": "a number", "float": "a number"}
    return names.get(type(value).__name__, "an object")


def _parsed(text: str) -> object:
    """A JSON value, strictly: no key twice, no text that UTF-8 cannot hold. Raises ValueError."""
    try:
        value: object = json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("values nested too deeply") from None
    if re.search(r"\\u(?:0000|[dD][89a-fA-F])", text):
        _check_characters(value)
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is there twice in one object")
    return value


def _check_characters(value: object) -> None:
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a text holds the character \\u0000, which no text has")
        if re.search("[\ud800-\udfff]", value):
            raise ValueError("a text holds half of a surrogate pair (\\ud800 to \\udfff), which is not a character")
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            _check_characters(key)
            _check_characters(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            _check_characters(inner)


def _told(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON at character {error.colno}: {error.msg[:1].lower()}{error.msg[1:]}"
    return str(error)


def _undecodable(path: Path) -> Problem:
    """Where a file stops being UTF-8 text."""
    data = path.read_bytes()
    line = 0
    for line, text in enumerate(data.split(b"\n"), start=1):
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = text[error.start]
            return Problem(f"not UTF-8 text: byte 0x{byte:02X}", line=line, fix="JSON is written in UTF-8")
        if b"\0" in text:
            break
    return Problem("a NUL byte, which no text has: the file is damaged", line=line, fix="export it again")
