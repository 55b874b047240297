"""(protocol, item) → units: pure, with stable ids.

A whole item is one unit under the item's own id; the n-th sentence, question or claim of an item is `ITEM#n`, counted
from 1. The same item under the same rule gives the same units, today and on another machine.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.errors import UserError
from evenhand.nlp.sentences import MOST_MARKS, has_too_many, sentences
from evenhand.protocol.model import Protocol
from evenhand.records import UNANSWERABLE, Item, Span, Unit, is_unanswerable, unit_id

DERIVED = ("question", "claim")
"""The units that are made from a text, stored, and can be exchanged; all others follow from the texts."""

LONGEST_SOUGHT = 2_000
"""Characters of a claim that is looked for in its text; the search may take this many steps at each character."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question made from a reference, the reference's own answer, and the key information it asks for.

    The answer is None if it is unknown, and `<Unanswerable>` if it, or the question, says so in any spelling.
    """

    text: str
    answer: str | None
    key_info: str | None = None

    def __post_init__(self) -> None:
        if is_unanswerable(self.answer or self.text) or is_unanswerable(self.text):
            object.__setattr__(self, "answer", UNANSWERABLE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a field of the item, and where it stands there word for word, if that is known."""

    text: str
    field: str
    span: Span | None = dataclasses.field(default=None, compare=False)


Derived = Mapping[str, Sequence[Question | Claim]]
"""Questions or claims by item id."""


def check_unit(protocol: Protocol, noun: str, location: str | None = None) -> None:
    """Raise UserError if the protocol's unit is not a `question`, or not a `claim`."""
    if protocol.rule.of != noun:
        where = f"{location}: " if location else ""
        raise UserError(
            f"{where}the unit of {protocol.name} is {protocol.unit!r}; only a protocol whose unit is a {noun} has "
            f"{noun}s"
        )


def split(protocol: Protocol, item: Item, derived: Derived | None = None) -> Sequence[Unit]:
    """The units of one item. Questions and claims come from `derived`; an item without any has no units."""
    rule = protocol.rule
    if rule.of == "item":
        return (Unit(item.id, item.id, 1),)
    if rule.of == "sentence":
        (name,) = rule.fields
        # If it is missing, the item is a bad row, and the reader reports it after the last row.
        text = item.fields.get(name, "")
        assert isinstance(text, str), "the protocol's check demands a text field"
        if has_too_many(text):
            what = f"{name} has more than {MOST_MARKS:,} lines and sentences, which is the limit; split it"
            raise UserError(f"item {item.id}: {what}")
        return [
            Unit(unit_id(item.id, n, rule.of), item.id, n, text[start:end], Span(name, start, end))
            for n, (start, end) in enumerate(sentences(text, protocol.language), start=1)
        ]
    made = (derived or {}).get(item.id, ())
    return [_unit(item.id, n, one) for n, one in enumerate(_placed(item, made), start=1)]


def derived_from(unit: Unit) -> Question | Claim:
    """The question or claim that a unit is."""
    if unit.field is not None:
        return Claim(unit.text or "", unit.field, unit.span)
    return Question(unit.text or "", unit.answer, unit.key_info)


def _unit(item_id: str, position: int, made: Question | Claim) -> Unit:
    name = f"{item_id}#{position}"
    if isinstance(made, Claim):
        return Unit(name, item_id, position, made.text, made.span, field=made.field)
    return Unit(name, item_id, position, made.text, None, made.answer, made.key_info)


def _placed(item: Item, derived: Sequence[Question | Claim]) -> Iterator[Question | Claim]:
    """The claims with their places in the item's texts, each after the one before if it is there again."""
    ends: dict[str, int] = {}
    for one in derived:
        if isinstance(one, Claim):
            span = one.span or _span(item, one, ends.get(one.field, 0))
            ends[one.field] = span.end if span else ends.get(one.field, 0)
            one = replace(one, span=span)
        yield one


def _span(item: Item, claim: Claim, after: int) -> Span | None:
    """Where a claim stands word for word in its field, whether or not with its full stop."""
    text = str(item.fields.get(claim.field, ""))
    for words in filter(None, (claim.text, claim.text.rstrip(".。"))):
        if len(words) > LONGEST_SOUGHT or words not in text:
            continue
        pattern = re.compile(rf"(?<![A-Za-z0-9]){re.escape(words)}(?![A-Za-z0-9])")
        if found := pattern.search(text, after) or pattern.search(text):
            return Span(claim.field, *found.span())
    return None
