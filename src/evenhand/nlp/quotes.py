"""Finding the place of a quotation in an item.

It is looked for literally first, then ignoring white space, typographic marks, invisible joiners, quotation marks
around it and an ellipsis at its ends; never ignoring case or wording. Offsets are those of the text that raters see.
"""

import re
from collections.abc import Mapping, Sequence

from evenhand.llm.fencing import JOINER, REPLACEMENT
from evenhand.records import Span

SHORTEST = 3
"""Characters a quotation needs to be worth looking for."""

_SAME = {
    **dict.fromkeys(map(ord, "‘’‚‛′`´"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys(map(ord, "\t\n\r\u00a0\u1680\u2028\u2029\u202f\u205f\u3000"), " "),
    **dict.fromkeys(range(0x2000, 0x200B), " "),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u00ad\ufeff"), JOINER),
    # A prompt shows these as the replacement character.
    **dict.fromkeys((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0)), REPLACEMENT),
    **dict.fromkeys(range(0xD800, 0xE000), REPLACEMENT),
}
"""Characters that count as the same; each becomes one character, so that offsets stay the same."""

_RUN = re.compile(f"[ {JOINER}]+|[^ {JOINER}]+")
_MARKS = "'\""
_ELLIPSIS = re.compile(r"^(?:…|\.\.\.+|\[…\]|\[\.\.\.\])\s*|\s*(?:…|\.\.\.+|\[…\]|\[\.\.\.\])$")


class Quotes:
    """Finds quotations in the texts of one item, by field, in the order in which they are searched."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._evened: dict[str, tuple[str, Sequence[int]]] = {}

    def find(self, quote: str, field: str | None = None) -> Span | None:
        """The first place of the quotation, in the named field before all others, or None.

        A quotation that is too short is not looked for.
        """
        if not worth_finding(quote):
            return None
        order = sorted(self._texts, key=lambda name: name != field)
        exact = quote.strip()
        for name in order:
            start = self._texts[name].find(exact)
            if start >= 0:
                return Span(name, start, start + len(exact))
        for wanted in _spellings(quote):
            for name in order:
                if name not in self._evened:
                    self._evened[name] = _even(self._texts[name])
                text, places = self._evened[name]
                start = text.find(wanted)
                if start >= 0:
                    return Span(name, places[start], places[start + len(wanted) - 1] + 1)
        return None


def worth_finding(quote: str) -> bool:
    """Whether a quotation is long enough to be looked for."""
    return len(_spellings(quote)[-1]) >= SHORTEST


def _spellings(quote: str) -> Sequence[str]:
    """The quotation as it is, then without marks around it and an ellipsis at its ends."""
    spellings = [_even(quote)[0].strip()]
    for _ in range(2):
        text = spellings[-1]
        if len(text) > 1 and text[0] in _MARKS and text[-1] in _MARKS:
            text = text[1:-1].strip()
        spellings.append(_ELLIPSIS.sub("", text).strip())
    return spellings


def _even(text: str) -> tuple[str, Sequence[int]]:
    """The text with even white space and without joiners; and the place in the original of each of its characters."""
    pieces: list[str] = []
    places: list[int] = []
    for run in _RUN.finditer(text.translate(_SAME)):
        piece = run[0] if run[0][0] not in f" {JOINER}" else " " if " " in run[0] else ""
        pieces.append(piece)
        places += range(run.start(), run.start() + len(piece))
    return "".join(pieces), places
