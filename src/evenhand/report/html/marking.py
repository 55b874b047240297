"""Texts with passages marked in them: the rated sentence, the evidence that raters cited."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evenhand.protocol.guideline import field_text
from evenhand.records import FieldValue
from evenhand.report.figures import count
from evenhand.report.html.blocks import folded
from evenhand.report.markup import Markup, element, join

LONG = 700
"""Texts longer than this are folded."""
_AROUND = 180


@dataclass(frozen=True, slots=True)
class Mark:
    """A passage from `start` up to `end`, why it is marked (`rated`, `cited`), and what is said of it."""

    start: int
    end: int
    why: str
    said: str


def marked(text: str, marks: Iterable[Mark], start: int = 0, end: int | None = None) -> Markup:
    """The text from `start` to `end` with its marks; they may overlap, reach beyond it or be empty."""
    end = len(text) if end is None else end
    within = [mark for mark in marks if max(mark.start, start) < min(mark.end, end)]
    cuts = {start, end}
    for mark in within:
        cuts |= {max(mark.start, start), min(mark.end, end)}
    edges = sorted(cuts)
    parts = [
        _piece(text[a:b], [mark for mark in within if mark.start <= a and b <= mark.end]) for a, b in pairwise(edges)
    ]
    return join(parts)


def _piece(text: str, marks: Sequence[Mark]) -> str:
    if not marks:
        return text
    said = "; ".join(dict.fromkeys(mark.said for mark in marks))
    return element("mark", text, class_=" ".join(sorted({mark.why for mark in marks})), title=said)


def field(value: FieldValue, marks: Sequence[Mark]) -> Markup:
    """A field as a rater read it. A long one is folded, with what is marked in it shown before."""
    text = field_text(value)
    whole = element("div", marked(text, marks), class_="text", dir="auto")
    if len(text) <= LONG:
        return whole
    excerpts = [
        element("div", *_excerpt(text, marks, *place), class_="text excerpt", dir="auto")
        for place in _around(text, marks)
    ]
    if not excerpts:
        excerpts = [element("div", f"{_beginning(text)} …", class_="text excerpt", dir="auto")]
    return join([*excerpts, folded(f"The whole text, {count(len(text), 'character')}", whole)])


def _beginning(text: str) -> str:
    """The first words; a text without spaces is cut where it must be."""
    start = text[:_AROUND]
    return start.rsplit(maxsplit=1)[0] if len(start.split()) > 1 else start


def _around(text: str, marks: Sequence[Mark]) -> Sequence[tuple[int, int]]:
    """The stretches of text around its marks, joined where they meet."""
    found: list[tuple[int, int]] = []
    for mark in sorted(marks, key=lambda mark: mark.start):
        start, end = max(0, mark.start - _AROUND), min(len(text), mark.end + _AROUND)
        if end <= start or mark.start >= len(text):
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _excerpt(text: str, marks: Sequence[Mark], start: int, end: int) -> Sequence[str]:
    before, after = "… " if start else "", " …" if end < len(text) else ""
    return [before, marked(text, marks, start, end), after]
