"""A model's text → the JSON object in it, by mechanical steps that never make a value up.

In this order: what a model thought before `</think>` is passed over; what stands around the object, code fences
included, is passed over; an object that is not JSON is read with Python's literals, single or typographic quotation
marks, a comma too many, and backslashes that escape nothing, and then it is JSON or it is not. Line breaks inside a
text are read as they are. NaN and Infinity, and a key that is there twice with different values, are kept as marks that
fit no scale. An object that was cut off is not completed.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import cast

from evenhand.raters.mending import CURLED, CURLY, DOUBLE, SINGLE, mended

MOST_UNCLOSED = 20
"""Braces that nothing closes and that begin no object, of a text in which an object is still looked for."""


class Mark(Enum):
    """What stands in the place of a value that is none."""

    NOT_A_NUMBER = "NaN or Infinity"
    CLASH = "several different values"


@dataclass(frozen=True, slots=True)
class Found:
    """An object and where in the reply it begins; None where it had to be mended first."""

    body: Mapping[str, object]
    start: int | None


class Cut(Exception):
    """The text ends before its object does; `start` is where the object begins, None where it never did."""

    def __init__(self, start: int | None) -> None:
        self.start = start
        super().__init__(start)


class Ambiguous(Exception):
    """There are several objects that differ, and no way to tell which is the answer."""


def find_object(text: str, expected: Collection[str]) -> Found | None:
    """The object in a reply, or None where there is none. `expected` are keys of which the answer has one, folded.

    An object with such a key goes before one without. Raises Cut and Ambiguous.
    """
    start = _after_thinking(text)
    whole = _whole(text, start)
    if whole is not None:
        return whole
    found = _objects(text, start)
    fitting = [one for one in found if any(folded(key) in expected for key in one.body)]
    if any(repr(one.body) != repr(fitting[0].body) for one in fitting[1:]):
        raise Ambiguous
    return next(iter(fitting or found), None)


def complete_entries(text: str, start: int, within: Collection[str]) -> Mapping[str, object]:
    """The entries of a cut object that were complete before the cut, where they are objects themselves.

    `within` are the keys (folded) below which they are looked for, one level down.
    """
    entries: list[tuple[str, object]] = []
    place = start + 1
    while opening := _KEY.match(text, place):
        key = opening[1]
        place = opening.end()
        if text[place : place + 1] != "{":
            break
        end = _end(text, place)
        if end is None:
            if folded(key) not in within:
                break
            place += 1
            continue
        body = _parsed(text[place:end])
        if body is None:
            break
        entries.append((key, body[0]))
        place = end
    return _pairs(entries)


@lru_cache(maxsize=1024)
def folded(key: str) -> str:
    """The form under which two spellings of a key are the same: without case, spaces, underscores and hyphens."""
    return _BETWEEN.sub("", key).casefold()


def is_json(text: str) -> bool:
    """Whether the text is JSON of any kind, a code fence around it or not."""
    try:
        json.loads(_FENCE.sub("", text[_after_thinking(text) :]))
    except (ValueError, RecursionError):
        return False
    except Cut:
        return False
    return True


_BETWEEN = re.compile(r"[\s_\-]+")
_FENCE = re.compile(r"^\s*```\w*\s*\n|\n\s*```\s*$")
_KEY = re.compile(r"[\s,]*\"([^\"\\]*)\"\s*:\s*")
_THINKING = re.compile(r"\s*(?:<think(?:ing)?>|\[THINK\])", re.IGNORECASE)
_THOUGHT = re.compile(r"</think(?:ing)?>|\[/THINK\]", re.IGNORECASE)


def _after_thinking(text: str) -> int:
    """Where the answer begins. A text that opens with a brace has no thoughts before it, whatever its strings hold."""
    if text.lstrip()[:1] == "{":
        return 0
    closing = _THOUGHT.search(text)
    if closing and ("{" not in text[: closing.start()] or _THINKING.match(text)):
        return closing.end()
    if _THINKING.match(text):
        raise Cut(None)
    return 0


def _whole(text: str, start: int) -> Found | None:
    """The text from `start` on, where it is one JSON object and no more."""
    while start < len(text) and text[start].isspace():
        start += 1
    if text[start : start + 1] != "{":
        return None
    try:
        body, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return Found(cast("Mapping[str, object]", body), start) if not text[end:].strip() else None


def _objects(text: str, start: int) -> list[Found]:
    """The objects of the top level, each with its place where it needed no mending."""
    found: list[Found] = []
    unclosed = 0
    place = text.find("{", start)
    while place >= 0:
        end = _end(text, place)
        if end is None:
            if _LIKE_AN_OBJECT.match(text, place):
                raise Cut(place)
            unclosed += 1
            if unclosed > MOST_UNCLOSED:
                return []
            end = place + 1
        elif (parsed := _parsed(text[place:end])) is not None:
            body, as_it_came = parsed
            found.append(Found(body, place if as_it_came else None))
        place = text.find("{", end)
    return found


_LIKE_AN_OBJECT = re.compile(r"\{\s*(?:[\"'“”‘’]|$)")
_PIECE = re.compile(
    rf"""[{{}}] | {DOUBLE}(?:"|\Z) | (?<=[{{\[,:\s]){SINGLE}(?:'|\Z) | {CURLY}(?:[“”]|\Z) | {CURLED}(?:[‘’]|\Z)""",
    re.VERBOSE | re.DOTALL,
)


def _end(text: str, start: int) -> int | None:
    """One past the brace that closes the one at `start`; braces inside strings do not count."""
    depth = 0
    for piece in _PIECE.finditer(text, start):
        if piece[0] == "{":
            depth += 1
        elif piece[0] == "}":
            depth -= 1
            if depth == 0:
                return piece.end()
    return None


def _parsed(text: str) -> tuple[Mapping[str, object], bool] | None:
    """The object that a text is, and whether it was JSON as it came."""
    body = _decoded(text)
    if body is not None:
        return body, True
    clean = mended(text)
    body = None if clean is None else _decoded(clean)
    return None if body is None else (body, False)


def _decoded(text: str) -> Mapping[str, object] | None:
    try:
        body: object = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, object]", body) if isinstance(body, dict) else None


def _pairs(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    body = dict(pairs)
    if len(body) < len(pairs):
        seen: dict[str, object] = {}
        for key, value in pairs:
            if repr(seen.setdefault(key, value)) != repr(value):
                body[key] = Mark.CLASH
    return body


def _whole_number(digits: str) -> int | float:
    # Beyond any scale, and Python refuses to read integers of many thousand digits.
    return int(digits) if len(digits) <= 16 else float(digits)


def _constant(_: str) -> Mark:
    return Mark.NOT_A_NUMBER


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_constant=_constant,
    parse_int=_whole_number,
    strict=False,
)
