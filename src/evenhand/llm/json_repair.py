"""The JSON object in a model's text, found by mechanical steps that never make a value up.

In this order: thoughts before `</think>` are skipped; anything around the object, code fences included, is skipped; an
object that is not JSON is read again with Python's literals, single or typographic quotation marks, surplus commas and
backslashes that escape nothing, and then it is JSON or it is not. Line breaks inside a string are accepted. Keys are
folded: spellings that differ only in case, spaces, underscores and hyphens are one key. NaN and Infinity, and a key
that occurs twice with different values, are kept as marks that fit no scale. An object that was cut off is not
completed.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import cast

from evenhand.llm.base import Reply


class Unread:
    """Why there is no object in a reply."""

    REFUSED = "refused"
    USED_UP = "token limit reached before any answer (raise --max-tokens)"
    EMPTY = "empty reply"
    TRUNCATED = "truncated"
    NOT_JSON = "not JSON"
    NOT_AN_OBJECT = "not a JSON object"
    MORE_THAN_ONE = "more than one answer"


HINTS = {
    Unread.EMPTY: "The reply was empty.",
    Unread.REFUSED: "There was no reply.",
    Unread.USED_UP: "There was no answer.",
    Unread.TRUNCATED: "The reply was cut off before its end: keep it shorter.",
    Unread.NOT_JSON: "The reply contains no JSON object that can be read.",
    Unread.NOT_AN_OBJECT: "The reply is JSON, but not an object.",
    Unread.MORE_THAN_ONE: "The reply contains several JSON objects that differ: give one.",
}
"""What the model is told about a reply without an object."""

HOPELESS = (Unread.REFUSED, Unread.USED_UP)
"""Another request would end in the same way: the model refused, or thought until it reached its limit."""

MOST_UNCLOSED = 20
"""Unclosed braces that do not begin an object, after which the search for an object is given up."""

Body = Mapping[str, object]


class Mark(Enum):
    """What replaces something that is not a usable value."""

    NOT_A_NUMBER = "NaN or Infinity"
    CLASH = "several different values"


@dataclass(frozen=True, slots=True)
class Found:
    """An object and its offset in the reply; None if it had to be repaired first."""

    body: Body
    start: int | None


class Unreadable(ValueError):
    """A text without an object that can be read; the message is the reason, of `Unread`."""


class Cut(Unreadable):
    """The text ends before its object does; `start` is where the object begins, None if it never did."""

    def __init__(self, start: int | None) -> None:
        self.start = start
        super().__init__(Unread.TRUNCATED)


def object_in(reply: Reply, expected: Collection[str]) -> Found:
    """The object in a reply, as `find_object` finds it. The reasons of Unreadable account for how the reply ended."""
    if reply.finish == "refusal":
        raise Unreadable(Unread.REFUSED)
    try:
        return find_object(reply.text, expected)
    except Cut as cut:
        if cut.start is None and reply.finish == "length":
            raise Unreadable(Unread.USED_UP) from cut
        raise
    except Unreadable as error:
        if reply.finish != "length" or str(error) == Unread.MORE_THAN_ONE:
            raise
        raise Unreadable(Unread.USED_UP if str(error) == Unread.EMPTY else Unread.TRUNCATED) from error


def find_object(text: str, expected: Collection[str]) -> Found:
    """The object in a reply, by its folded keys. An answer has at least one of the keys that are `expected`.

    An object with such a key is preferred to one without. Raises Unreadable, also if there are several different
    objects and no way to tell which is the answer; Cut if the object has no end.
    """
    start = _after_thinking(text)
    if not text[start:].strip():
        raise Unreadable(Unread.EMPTY)
    found = list(_objects(text, start))
    if not found:
        try:
            # Other JSON may have a code fence around it, too.
            json.loads(_FENCE.sub("", text[start:]))
        except (ValueError, RecursionError):
            raise Unreadable(Unread.NOT_JSON) from None
        raise Unreadable(Unread.NOT_AN_OBJECT)
    keys = set(map(folded, expected))
    fitting = [one for one in found if not keys.isdisjoint(one.body)]
    if not all(same(one.body, fitting[0].body) for one in fitting):
        raise Unreadable(Unread.MORE_THAN_ONE)
    return (fitting or found)[0]


def complete_objects(text: str, start: int) -> Sequence[Body]:
    """The outermost objects inside a cut object that were complete before the cut."""
    complete: list[tuple[int, int]] = []
    for begin, end in _braces(text, start):
        while complete and complete[-1][0] > begin:
            complete.pop()
        complete.append((begin, end))
    parsed = [_parsed(text, begin, end) for begin, end in complete]
    return [one.body for one in parsed if one is not None]


@lru_cache(maxsize=1024)
def folded(key: str) -> str:
    """A key without case, spaces, underscores and hyphens."""
    return _BETWEEN.sub("", key).casefold()


def same(one: object, other: object) -> bool:
    """Whether two values are written alike: 1, 1.0 and true differ."""
    try:
        return one is other or repr(one) == repr(other)
    except RecursionError:
        return False


# A string in single or typographic marks ends at a mark that a comma, colon or closing bracket follows, so that an
# apostrophe inside it does no harm.
_NOT_LAST = r"(?!\s*[,:}\]])"
_STRINGS = (
    (r'(?P<double>"[^"\\]*+(?:\\.[^"\\]*+)*+)', '"'),
    (rf"(?<=[{{\[,:\s])'(?P<single>(?:[^'\\]|\\.|'{_NOT_LAST})*+)", "'"),
    (rf"[“”„](?P<curly>(?:[^“”\\]|\\.|[“”]{_NOT_LAST})*+)", "[“”]"),
    (rf"[‘’‚](?P<curled>(?:[^‘’\\]|\\.|[‘’]{_NOT_LAST})*+)", "[‘’]"),
)
_PIECE = re.compile("|".join(["[{}]", *(rf"{begin}(?:{end}|\Z)" for begin, end in _STRINGS)]), re.DOTALL)
_REPAIRABLE = re.compile(
    "|".join([*(begin + end for begin, end in _STRINGS), r"(?P<comma>,)(?=\s*[}\]])", r"\b(?P<word>[A-Za-z]+)\b"]),
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null", "nan": "NaN"}
_STRAY = re.compile(r"\\(?:([\"\\/bfnrt]|u[0-9a-fA-F]{4})|(.))", re.DOTALL)
_UNESCAPED = re.compile(r'\\.|"', re.DOTALL)
_LIKE_AN_OBJECT = re.compile(r"\{\s*(?:[\"'“”‘’]|$)")
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


def _objects(text: str, start: int) -> Iterator[Found]:
    """The objects of the top level."""
    if (whole := _decoded(text)) is not None:  # as most replies are
        yield Found(whole, text.find("{"))
        return
    unclosed = 0
    place = text.find("{", start)
    while place >= 0:
        end = next((end for begin, end in _braces(text, place) if begin == place), None)
        if end is None:
            if _LIKE_AN_OBJECT.match(text, place):
                raise Cut(place)
            unclosed += 1
            if unclosed > MOST_UNCLOSED:
                raise Unreadable(Unread.NOT_JSON)
        elif (found := _parsed(text, place, end)) is not None:
            yield found
        place = text.find("{", end or place + 1)


def _braces(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Each pair of braces in the order in which they close; those inside strings do not count."""
    opened: list[int] = []
    for piece in _PIECE.finditer(text, start):
        if piece[0] == "{":
            opened.append(piece.start())
        elif piece[0] == "}" and opened:
            yield opened.pop(), piece.end()


def _parsed(text: str, start: int, end: int) -> Found | None:
    """The object that a part of a text is, if need be after a repair."""
    part = text[start:end]
    if (body := _decoded(part)) is not None:
        return Found(body, start)
    return None if (body := _decoded(repaired(part))) is None else Found(body, None)


def _decoded(text: str) -> Body | None:
    """The object that a text is, without any repair."""
    try:
        body: object = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return cast("Body", body) if isinstance(body, dict) else None


def _pairs(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    body: dict[str, object] = {}
    for name, value in pairs:
        key = folded(name)
        body[key] = value if key not in body or same(body[key], value) else Mark.CLASH
    return body


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_constant=lambda _: cast("float", Mark.NOT_A_NUMBER),
    # More digits are beyond any scale; Python refuses to parse integers of many thousand digits.
    parse_int=lambda digits: int(digits) if len(digits) <= 16 else float(digits),
    strict=False,
)


def repaired(text: str) -> str:
    """Almost-JSON as JSON, as far as it can be read as such. Nothing is ever added."""
    return _REPAIRABLE.sub(_repaired_piece, text)


def _repaired_piece(piece: re.Match[str]) -> str:
    kind, found = piece.lastgroup, piece[piece.lastgroup or 0]
    if kind == "comma":
        return ""
    if kind == "word":
        return _WORDS.get(found, found)
    if kind == "double":
        return f'"{_STRAY.sub(_escaped, found[1:])}"'
    # In other quotation marks a double one needs no backslash.
    return '"' + _UNESCAPED.sub(lambda one: one[0] if one[0] != '"' else '\\"', _STRAY.sub(_escaped, found)) + '"'


def _escaped(found: re.Match[str]) -> str:
    """A backslash before something that JSON does not escape is a backslash, except `\\'`, which is an `'`."""
    if found[1]:
        return found[0]
    return found[2] if found[2] in "'‘’“”" else json.dumps("\\" + found[2])[1:-1]
