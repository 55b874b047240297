"""Finding the place of a quotation in an item.

It is looked for literally first, then ignoring white space, typographic marks, invisible joiners, quotation marks
around it and an ellipsis at its ends; never ignoring case or wording. Offsets are those of the text that raters see.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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

_UNEVEN = re.compile(f"[ {JOINER}]{{2,}}|{JOINER}")
_MARKS = "'\""
_ELLIPSIS = re.compile(r"^(?:…|\.\.\.+|\[…\]|\[\.\.\.\])\s*|\s*(?:…|\.\.\.+|\[…\]|\[\.\.\.\])$")


@dataclass(frozen=True, slots=True)
class _Even:
    """A text with even white space; from each of `breaks` on, the shift leads back to the offset in the original."""

    text: str
    breaks: Sequence[int]
    shifts: Sequence[int]

    def original(self, place: int) -> int:
        return place + self.shifts[bisect_right(self.breaks, place) - 1]


class Quotes:
    """Finds quotations in the texts of one item, by field, in the order in which they are searched."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._evened: dict[str, _Even] = {}

    def find(self, quote: str, field: str | None = None) -> Span | None:
        """The first place of the quotation, in the named field before all others, or None.

        A quotation that is too short is not looked for.
        """
        if not worth_finding(quote):
            return None
        order = [field] if field is not None and field in self._texts else []
        order += [name for name in self._texts if name not in order]
        exact = quote.strip()
        for name in order:
            start = self._texts[name].find(exact)
            if start >= 0:
                return Span(name, start, start + len(exact))
        for wanted in _spellings(quote):
            for name in order:
                even = self._even(name)
                start = even.text.find(wanted)
                if start >= 0:
                    last = start + len(wanted) - 1
                    return Span(name, even.original(start), even.original(last) + 1)
        return None

    def _even(self, name: str) -> _Even:
        if name not in self._evened:
            self._evened[name] = _even(self._texts[name])
        return self._evened[name]


def worth_finding(quote: str) -> bool:
    """Whether a quotation is long enough to be looked for."""
    return len(_bare(_bare(_even(quote).text.strip()))) >= SHORTEST


def _spellings(quote: str) -> Iterable[str]:
    """The quotation as it is, then without marks around it and an ellipsis at its ends."""
    whole = _even(quote).text.strip()
    bare = _bare(whole)
    return dict.fromkeys((whole, bare, _bare(bare)))


def _bare(text: str) -> str:
    if len(text) > 1 and text[0] in _MARKS and text[-1] in _MARKS:
        text = text[1:-1].strip()
    return _ELLIPSIS.sub("", text).strip()


def _even(text: str) -> _Even:
    same = text.translate(_SAME)
    pieces: list[str] = []
    breaks, shifts = [0], [0]
    length = place = 0
    for match in _UNEVEN.finditer(same):
        kept = same[place : match.start()] + (" " if " " in match[0] else "")
        pieces.append(kept)
        length += len(kept)
        place = match.end()
        breaks.append(length)
        shifts.append(place - length)
    pieces.append(same[place:])
    return _Even("".join(pieces), breaks, shifts)
