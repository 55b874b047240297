"""An item's evidence as one article, and places in the article as places in the item's fields.

The fields, and within them the passages and triples, follow one another as paragraphs. What raters see besides, the
numbers before passages and the arrows in triples, is left out: a verifier would read them as part of what is said.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evenhand.protocol.guideline import field_text
from evenhand.protocol.model import Protocol
from evenhand.raters.verifier.support_labels import evidence_fields
from evenhand.records import FieldValue, Item, Span, Triple
from evenhand.verify.evidence import Article

_BETWEEN = "\n\n"
_JOINED = re.compile(r"(?<=[a-z])([A-Z])(?=[a-z])")


@dataclass(frozen=True, slots=True)
class _Part:
    """One paragraph: `text` as it is read, and where it stands in what raters see of its field."""

    text: str
    field: str
    start: int
    end: int
    verbatim: bool = True

    def span(self, start: int, end: int) -> Span:
        """A range of the part's text as a range of the field; of a triple always the whole."""
        if not self.verbatim:
            return Span(self.field, self.start, self.end)
        return Span(self.field, self.start + start, self.start + end)


class EvidenceText:
    """The evidence of one item."""

    def __init__(self, protocol: Protocol, item: Item) -> None:
        named = [(name, item.fields[name]) for name in evidence_fields(protocol) if name in item.fields]
        self._parts = [part for name, value in named for part in _parts(name, value)]
        self.article = Article(_BETWEEN.join(part.text for part in self._parts), protocol.language)

    def spans(self, ranges: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
        """Ranges of the article as spans of fields, each once, in the order in which they came."""
        return tuple(dict.fromkeys(span for start, end in ranges for span in self._spans(start, end)))

    def _spans(self, start: int, end: int) -> Iterator[Span]:
        place = 0
        for part in self._parts:
            own_end = place + len(part.text)
            if start < own_end and place < end:
                yield part.span(max(start, place) - place, min(end, own_end) - place)
            place = own_end + len(_BETWEEN)


def _parts(field: str, value: FieldValue) -> Sequence[_Part]:
    seen = field_text(value)
    several = value if isinstance(value, tuple) else (seen,)
    parts, place = list[_Part](), 0
    for one in several:
        if isinstance(one, Triple):
            end = place + len(field_text((one,)))
            parts.append(_Part(_sentence(one), field, place, end, verbatim=False))
            place = end + len("\n")
        else:
            # Where there are several passages, each has its number before it: "[2] ".
            start = seen.index("] ", place) + 2 if len(several) > 1 else 0
            place = start + len(one)
            parts.append(_Part(one, field, start, place))
    return parts


def _sentence(triple: Triple) -> str:
    """A triple in words: `bornIn` and `born_in` are `born in`."""
    predicate = _JOINED.sub(lambda found: f" {found[1].lower()}", triple.predicate)
    return " ".join(f"{triple.subject} {predicate} {triple.object}.".replace("_", " ").split())
