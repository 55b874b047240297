"""JSON (a list of objects, or an object of id to object) and JSON Lines (an object on each line).

The columns are the union of all keys, in order of appearance; a key that an object does not have is an empty cell.
Nested values stay Python objects.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from evenhand.errors import InputError, Problem, Problems
from evenhand.files import check_size, json_problem, parse_json
from evenhand.formats.tables.cells import clean
from evenhand.formats.tables.csv import NOT_TEXT, LineTooLong, not_text, refuse_other, text_lines
from evenhand.formats.tables.table import InputTable, Sheet, objects_table
from evenhand.text import kind_of

_UNSAFE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")  # NUL, or half of a surrogate pair

SHAPES = 'a list of objects [{"id": …}, …], or an object that leads from each id to an object {"ID": {…}, …}'


def read_json_lines(path: Path) -> InputTable:
    """A JSON Lines file; rows are numbered as the lines of the file."""
    refuse_other(path)
    table = objects_table(str(path), partial(_lines, path))
    if not table.columns:
        raise InputError(str(path), 'the objects have no keys; each line is an object such as {"id": "1", …}')
    return table


def _lines(path: Path, problems: Problems) -> Iterator[tuple[int, Mapping[str, object]]]:
    number = 0
    try:
        for number, line in enumerate(text_lines(path), start=1):
            if not line.isspace():
                try:
                    entry = _object(parse_json(line))
                    if _UNSAFE.search(line):
                        problems.extend(replace(one, line=number) for one in _unsafe(entry))
                    yield number, entry
                except ValueError as error:
                    problems.extend([replace(json_problem(error), line=number, fix="each line is one JSON object")])
    except UnicodeError:
        problems.extend([_undecodable(path)])
    except LineTooLong as error:
        problems.extend([Problem(str(error), line=number + 1)])


def read_json(path: Path) -> InputTable:
    """A JSON file; its entries are numbered from 1."""
    refuse_other(path)
    check_size(str(path), path.stat().st_size)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if "\0" in text:
            raise UnicodeError("a NUL byte")
        document = parse_json(text)
    except UnicodeError as error:
        raise InputError(str(path), [_undecodable(path)]) from error
    except ValueError as error:
        raise InputError(str(path), [json_problem(error)]) from error
    entries, problems = list(_entries(document, str(path))), Problems(str(path))
    for row, entry in enumerate(entries, start=1) if _UNSAFE.search(text) else ():
        problems.extend(replace(one, row=row) for one in _unsafe(entry))
    problems.raise_if_any()
    table = objects_table(str(path), lambda _: enumerate(entries, start=1))
    if not table.columns:
        raise InputError(str(path), f"there is nothing in it; it must be {SHAPES}")
    return table


def _entries(document: object, source: str) -> Iterator[Mapping[str, object]]:
    """The objects of a document; the ids of an object of objects become its column `id`, unless they have one."""
    problems = Problems(source)
    if isinstance(document, dict):
        entries = cast("dict[str, object]", document).items()
    elif isinstance(document, list):
        entries = enumerate(cast("list[object]", document), start=1)
    else:
        raise InputError(source, f"{kind_of(document)} is not a table; it must be {SHAPES}")
    for key, value in entries:
        try:
            yield {"id": key, **_object(value)} if isinstance(key, str) else _object(value)
        except ValueError as error:
            what = f"the entry {key!r}: {error}" if isinstance(key, str) else str(error)
            row = None if isinstance(key, str) else key
            problems.add(what, row=row, fix=f"the file must be {SHAPES}")
    problems.raise_if_any()


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{kind_of(value)} where an object of names and values is needed")
    return cast("dict[str, object]", value)


def _unsafe(entry: Mapping[str, object]) -> Iterator[Problem]:
    """What an object holds that no text in UTF-8 can."""
    for name, cell in entry.items():
        written = json.dumps([name, cell], ensure_ascii=False).replace("\\\\", "")
        if found := re.search(r"\\u0000|[\ud800-\udfff]", written):
            what = "the character \\u0000" if found[0] == "\\u0000" else "half of a surrogate pair (\\ud800 to \\udfff)"
            yield Problem(f"a text holds {what}, which no text has", column=clean(name, nul=False))


def _undecodable(path: Path) -> Problem:
    """Where a file stops being UTF-8 text."""
    line = 1
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        while part := file.read(1 << 16):
            if found := NOT_TEXT.search(part):
                return replace(not_text(found[0]), line=line + part.count("\n", 0, found.start()))
            line += part.count("\n")
    return Problem("not UTF-8 text")


def write_json_lines(path: Path, sheet: Sheet) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for count, row in enumerate(sheet.rows, start=1):  # noqa: B007
            cells = (clean(cell, nul=False) if isinstance(cell, str) else cell for cell in row)
            file.write(f"{json.dumps(dict(zip(sheet.columns, cells, strict=True)), ensure_ascii=False)}\n")
    return count
