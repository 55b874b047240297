"""The JSON object in a model's text, found by mechanical steps that never make a value up.

In this order: thoughts before `</think>` are skipped; anything around the object, code fences included, is skipped; an
object that is not JSON is read again with Python's literals, single or typographic quotation marks, surplus commas and
backslashes that escape nothing, and then it is JSON or it is not. Line breaks inside a string are accepted. NaN and
Infinity, and a key that occurs twice with different values, are kept as marks that fit no scale. An object that was
cut off is not completed.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import cast

MOST_UNCLOSED = 20
"""Unclosed braces that do not begin an object, after which the search for an object is given up."""


class Mark(Enum):
    """What replaces something that is not a usable value."""

    NOT_A_NUMBER = "NaN or Infinity"
    CLASH = "several different values"


@dataclass(frozen=True, slots=True)
class Found:
    """An object and its offset in the reply; None if it had to be repaired first."""

    body: Mapping[str, object]
    start: int | None


class Cut(Exception):
    """The text ends before its object does; `start` is where the object begins, None if it never did."""

    def __init__(self, start: int | None) -> None:
        self.start = start
        super().__init__(start)


class Ambiguous(Exception):
    """There are several different objects, and no way to tell which is the answer."""


def find_object(text: str, expected: Collection[str]) -> Found | None:
    """The object in a reply, or None. `expected` are folded keys, at least one of which an answer has.

    An object with such a key is preferred to one without. Raises Cut and Ambiguous.
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


def complete_objects(text: str, start: int) -> Sequence[Mapping[str, object]]:
    """The outermost objects inside a cut object that were complete before the cut."""
    opened: list[int] = []
    complete: list[tuple[int, int]] = []
    for piece in _PIECE.finditer(text, start):
        if piece[0] == "{":
            opened.append(piece.start())
        elif piece[0] == "}" and opened:
            begin = opened.pop()
            while complete and complete[-1][0] > begin:
                complete.pop()
            complete.append((begin, piece.end()))
    parsed = [_parsed(text[begin:end]) for begin, end in complete]
    return [one[0] for one in parsed if one is not None]


@lru_cache(maxsize=1024)
def folded(key: str) -> str:
    """A key without case, spaces, underscores and hyphens: spellings that differ only in these count as the same."""
    return _BETWEEN.sub("", key).casefold()


def is_json(text: str) -> bool:
    """Whether the text is JSON of any kind, with or without a code fence around it."""
    try:
        json.loads(_FENCE.sub("", text[_after_thinking(text) :]))
    except (ValueError, RecursionError, Cut):
        return False
    return True


# A string in single or typographic marks ends at a mark that a comma, colon or closing bracket follows, so that an
# apostrophe inside it does no harm.
_NOT_LAST = r"(?!\s*[,:}\]])"
_DOUBLE = r'"[^"\\]*+(?:\\.[^"\\]*+)*+'
_SINGLE = rf"'(?P<single>(?:[^'\\]|\\.|'{_NOT_LAST})*+)"
_CURLY = rf"[“”„](?P<curly>(?:[^“”\\]|\\.|[“”]{_NOT_LAST})*+)"
_CURLED = rf"[‘’‚](?P<curled>(?:[^‘’\\]|\\.|[‘’]{_NOT_LAST})*+)"
_LIKE_AN_OBJECT = re.compile(r"\{\s*(?:[\"'“”‘’]|$)")
_PIECE = re.compile(
    rf"""[{{}}] | {_DOUBLE}(?:"|\Z) | (?<=[{{\[,:\s]){_SINGLE}(?:'|\Z) | {_CURLY}(?:[“”]|\Z) | {_CURLED}(?:[‘’]|\Z)""",
    re.VERBOSE | re.DOTALL,
)
_BETWEEN = re.compile(r"[\s_\-]+")
_FENCE = re.compile(r"^\s*```\w*\s*\n|\n\s*```\s*$")
_THINKING = re.compile(r"\s*(?:<think(?:ing)?>|\[THINK\])", re.IGNORECASE)
_THOUGHT = re.compile(r"</think(?:ing)?>|\[/THINK\]", re.IGNORECASE)


def _after_thinking(text: str) -> int:
    """Where the answer begins. A text that opens with a brace has no thoughts before it, whatever it contains."""
    if text.lstrip()[:1] == "{":
        return 0
    closing = _THOUGHT.search(text)
    if closing and ("{" not in text[: closing.start()] or _THINKING.match(text)):
        return closing.end()
    if _THINKING.match(text):
        raise Cut(None)
    return 0


def _whole(text: str, start: int) -> Found | None:
    """The text from `start` on, if it is exactly one JSON object."""
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
    """The objects of the top level, each with its offset if it needed no repair."""
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


def _end(text: str, start: int) -> int | None:
    """The offset after the brace that closes the one at `start`; braces inside strings do not count."""
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
    """The object that a text is, and whether it was JSON without any repair."""
    body = _decoded(text)
    if body is not None:
        return body, True
    clean = repaired(text)
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
    # Beyond any scale; Python refuses to parse integers of many thousand digits.
    return int(digits) if len(digits) <= 16 else float(digits)


def _constant(_: str) -> Mark:
    return Mark.NOT_A_NUMBER


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_constant=_constant,
    parse_int=_whole_number,
    strict=False,
)


_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<mark>[{{}}\[\]:,])
    | (?P<double>{_DOUBLE}")
    | {_SINGLE}'
    | {_CURLY}[“”]
    | {_CURLED}[‘’]
    | (?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-]))
    | (?P<word>-?[A-Za-z]+(?!\w))
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_WORDS = {
    "True": "true",
    "False": "false",
    "None": "null",
    "true": "true",
    "false": "false",
    "null": "null",
    "NaN": "NaN",
    "nan": "NaN",
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
}
_STRAY = re.compile(r"\\(?:([\"\\/bfnrt]|u[0-9a-fA-F]{4})|(.))", re.DOTALL)


def repaired(text: str) -> str | None:
    """Almost-JSON as JSON, token by token, or None if it cannot be read as such. Nothing is ever added."""
    kept: list[str] = []
    for token in _tokens(text):
        if token is None:
            return None
        if token in ("}", "]") and kept[-1:] == [","]:
            kept.pop()
        kept.append(token)
    return " ".join(kept)  # a space between tokens, so that no two become one


def _tokens(text: str) -> Iterator[str | None]:
    """The tokens of the text as JSON writes them; None for one that is not understood, and nothing after it."""
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            yield None
            return
        place = match.end()
        kind, found = match.lastgroup, match[match.lastgroup or 0]
        if kind == "word":
            yield _WORDS.get(found)
        elif kind == "double":
            yield f'"{_escaped(found[1:-1])}"'
        elif kind in ("mark", "number"):
            yield found
        else:
            yield _string(found)


def _string(content: str) -> str:
    """The content of a string in other quotation marks, in double ones."""
    return '"' + re.sub(r'\\.|"', lambda m: m[0] if m[0] != '"' else '\\"', _escaped(content), flags=re.DOTALL) + '"'


def _escaped(content: str) -> str:
    """A backslash before something that JSON does not escape is a backslash, except `\\'`, which is an `'`."""

    def escape(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        return found[2] if found[2] in "'‘’“”" else json.dumps("\\" + found[2])[1:-1]

    return _STRAY.sub(escape, content)
