"""Text within drawings, where nothing wraps by itself.

No font can be measured here: widths are estimates, on the safe side.
"""

import re
import unicodedata
from collections.abc import Sequence

from evenhand.report.markup import Markup, element, visible

_NARROW = set("iljtfrI.,:;'|!()[] ")


def width(text: str) -> float:
    """How wide a text is at 12 pixels, about."""
    return sum(map(_letter, text))


def _letter(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 12.5
    if letter in _NARROW:
        return 4.4
    return 9.6 if letter.isupper() or letter in "mw@%#&+=<>—…" else 7.5


def short(text: str, most: float) -> str:
    """The text on one line, cut with an ellipsis where it is wider than `most` pixels."""
    line = " ".join(visible(text).split())
    if width(line) <= most:
        return line
    kept, used = "", _letter("…")
    for letter in line:
        used += _letter(letter)
        if used > most:
            break
        kept += letter
    return kept.rstrip() + "…"


def pieces(text: str) -> Sequence[str]:
    """Where a name may be broken: before a space, which stays with what follows, and after - _ : and /."""
    return re.findall(r"\s*[^\s\-_:/]*[\-_:/]+|\s*[^\s\-_:/]+", " ".join(visible(text).split()))


def wrapped(text: str, most: float, lines: int) -> Sequence[str]:
    """At most `lines` lines, none wider than `most` pixels; the last is cut where the text goes on."""
    rest = list(pieces(text))
    found: list[str] = []
    while rest and len(found) < lines:
        line = rest.pop(0).lstrip()
        while rest and width(line + rest[0]) <= most:
            line += rest.pop(0)
        if rest and len(found) == lines - 1:
            line += "".join(rest)
        found.append(short(line, most))
    return found


def lines_at(lines: Sequence[str], x: float, y: float, height: float, anchor: str, class_: str) -> Markup:
    """Lines of text, the last one's baseline at `y`."""
    first = y - height * (len(lines) - 1)
    spans = [element("tspan", line, x=x, y=first + height * place) for place, line in enumerate(lines)]
    return element("text", spans, text_anchor=anchor, class_=class_)
