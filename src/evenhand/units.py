"""(protocol, item) → units: pure, with stable ids.

A whole item is one unit under the item's own id; the n-th sentence or question of an item is `ITEM#n`, counted from 1.
The same item under the same rule gives the same units, today and on another machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.nlp.sentences import sentences
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Span, Unit


@dataclass(frozen=True, slots=True)
class Question:
    """A question made from a reference, the reference's own answer, and the key information it asks for."""

    text: str
    answer: str
    key_info: str | None = None


def unit_id(item_id: str, position: int, rule: str) -> str:
    """The id of the n-th unit of an item, under the rule `item`, `sentence` or `question`."""
    return item_id if rule == "item" else f"{item_id}#{position}"


def split(protocol: Protocol, item: Item, questions: Mapping[str, Sequence[Question]] | None = None) -> Sequence[Unit]:
    """The units of one item. Question units come from `questions`, by item id; an item without any has no units."""
    rule = protocol.rule
    if rule.of == "item":
        return (Unit(item.id, item.id, 1),)
    if rule.of == "sentence":
        assert rule.field is not None
        # If it is missing, the item is a bad row, and the reader reports it after the last row.
        text = item.fields.get(rule.field, "")
        assert isinstance(text, str), "the protocol's check demands a text field"
        return [
            Unit(unit_id(item.id, n, rule.of), item.id, n, text[start:end], Span(rule.field, start, end))
            for n, (start, end) in enumerate(sentences(text, protocol.language), start=1)
        ]
    return [
        Unit(unit_id(item.id, n, rule.of), item.id, n, question.text, None, question.answer, question.key_info)
        for n, question in enumerate((questions or {}).get(item.id, ()), start=1)
    ]
