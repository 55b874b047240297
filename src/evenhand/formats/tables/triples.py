"""Triples of a knowledge graph, in the notations people keep them in.

- `Subject → Predicate → Object`, one on each line; also with `->`, `=>`, `|` or a tab; `;` between triples of one line
- `(Subject, Predicate, Object)`, one or several
- JSON or Python lists: `[["s", "p", "o"], …]`, `[{"subject": …, "predicate": …, "object": …}, …]`, lists of lines
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from evenhand.formats.tables.cells import listed, text_of
from evenhand.records import Triple
from evenhand.text import counted, quoted

VALID = "write it as Subject → Predicate → Object"
KEYS = (
    ("subject", "head", "s", "subj", "h"),
    ("predicate", "relation", "p", "pred", "rel", "r", "property"),
    ("object", "tail", "o", "obj", "t"),
)
SEPARATORS = tuple(map(re.compile, (r"→|⟶|--?>|==?>", r"\|", r"\t")))
BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
BRACKETS = re.compile(r"\)\s*+(?:[,;]\s*+)?\(")


def read_triples(cell: object) -> tuple[Triple, ...] | None:
    """The triples in a cell, None if it has none. Raises ValueError, naming the first bad one."""
    return tuple(_triples(cell)) or None


def _triples(cell: object) -> Iterator[Triple]:
    if isinstance(cell, list | tuple):
        yield from _from_list(cast("Sequence[object]", cell))
    elif isinstance(cell, Mapping):
        yield _from_mapping(cast("Mapping[object, object]", cell))
    elif text := text_of(cell):
        inner = listed(text) if text.lstrip()[:1] in "[({" else None
        if inner is not None:
            yield from _triples(inner)
        else:
            for line in text.splitlines():
                yield from _from_line(line.strip())


def _from_list(entries: Sequence[object]) -> Iterator[Triple]:
    """A list of triples, or the three parts of a single one."""
    texts = [str(entry).strip() for entry in entries if not isinstance(entry, list | tuple | Mapping)]
    # Texts may also be triples of their own; a part of one may be in brackets.
    are_lines = any(map(_separator, texts)) or all(map(_in_brackets, texts))
    if entries and len(texts) == len(entries) and not are_lines:
        yield _triple(entries, entries)
        return
    for entry in entries:
        if isinstance(entry, Mapping):
            yield _from_mapping(cast("Mapping[object, object]", entry))
        elif isinstance(entry, list | tuple):
            parts = cast("Sequence[object]", entry)
            yield _triple(parts, parts)
        elif line := text_of(entry):
            yield from _from_line(line.strip())


def _in_brackets(line: str) -> bool:
    return line.startswith("(") and line.rstrip(";,").endswith(")") and "," in line


def _from_mapping(entry: Mapping[object, object]) -> Triple:
    by_key = {str(key).strip().casefold(): value for key, value in entry.items()}
    parts = [next((by_key[name] for name in names if name in by_key), None) for names in KEYS]
    missing = [names[0] for names, part in zip(KEYS, parts, strict=True) if part is None]
    if missing:
        raise ValueError(f"the triple {quoted(entry)} has no {' and no '.join(missing)}")
    return _triple(parts, entry)


def _from_line(line: str) -> Iterator[Triple]:
    line = BULLET.sub("", line)
    if line.startswith("[(") and line.endswith(")]"):
        line = line[1:-1]
    separator = _separator(line)
    if separator is None and _in_brackets(line):
        for inner in BRACKETS.split(line.rstrip(";,")[1:-1]):
            yield _triple([part.strip().strip("\"'") for part in inner.split(",")], f"({inner})")
    elif separator is None:
        if line:
            raise ValueError(f"{quoted(line)} is not a triple; {VALID}")
    else:
        # A semicolon may be part of a name; it separates triples where both of its sides have separators of their own.
        pieces = [piece.strip() for piece in line.split(";") if piece.strip()]
        whole = not all(separator.search(piece) for piece in pieces)
        for piece in [line] if whole else pieces:
            bare = piece[1:-1] if piece.startswith("(") and piece.endswith(")") else piece
            yield _triple(separator.split(bare), piece)


def _separator(line: str) -> re.Pattern[str] | None:
    return next((separator for separator in SEPARATORS if separator.search(line)), None)


def _triple(parts: Sequence[object], given: object) -> Triple:
    if len(parts) != 3:
        raise ValueError(f"the triple {quoted(given)} has {counted(len(parts), 'part')}, not three; {VALID}")
    texts = [(text_of(part) or "").strip() for part in parts]
    if not all(texts):
        raise ValueError(f"the triple {quoted(given)} has an empty part; {VALID}")
    return Triple(*texts)
