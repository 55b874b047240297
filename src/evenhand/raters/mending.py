"""Almost JSON → JSON, token by token. What is no token of either makes the whole text unreadable; nothing is added.

Strings may stand in single or typographic quotation marks: such a string ends at a mark that a comma, colon or closing
bracket follows, so that an apostrophe within it does no harm.
"""

import json
import re
from collections.abc import Iterator

CLOSED = r"(?!\s*[,:}\]])"
"""After a quotation mark that does not end its string."""

DOUBLE = r'"[^"\\]*+(?:\\.[^"\\]*+)*+'
SINGLE = rf"'(?P<single>(?:[^'\\]|\\.|'{CLOSED})*+)"
CURLY = rf"[“”„](?P<curly>(?:[^“”\\]|\\.|[“”]{CLOSED})*+)"
CURLED = rf"[‘’‚](?P<curled>(?:[^‘’\\]|\\.|[‘’]{CLOSED})*+)"
"""Strings in the marks a model may use, up to the mark that ends them."""

_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<mark>[{{}}\[\]:,])
    | (?P<double>{DOUBLE}")
    | {SINGLE}'
    | {CURLY}[“”]
    | {CURLED}[‘’]
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


def mended(text: str) -> str | None:
    """The text as JSON, or None where it cannot be read as such."""
    kept: list[str] = []
    for token in _tokens(text):
        if token is None:
            return None
        if token in ("}", "]") and kept[-1:] == [","]:
            kept.pop()
        kept.append(token)
    return " ".join(kept)  # a space between them, so that no two tokens become one


def _tokens(text: str) -> Iterator[str | None]:
    """The tokens of the text as JSON writes them; None for one that is not understood, and no more after it."""
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
    """The content of a string in other marks, in double ones."""
    return '"' + re.sub(r'\\.|"', lambda m: m[0] if m[0] != '"' else '\\"', _escaped(content), flags=re.DOTALL) + '"'


def _escaped(content: str) -> str:
    """A backslash before something that JSON does not escape is meant as it stands, but for `\\'`, which is an `'`."""

    def escape(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        return found[2] if found[2] in "'‘’“”" else json.dumps("\\" + found[2])[1:-1]

    return _STRAY.sub(escape, content)
