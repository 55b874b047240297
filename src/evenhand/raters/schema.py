"""A protocol → the JSON Schema of a model's reply.

It keeps to what the strict modes of servers allow: every property is required, none may be added, and what is optional
may be null. A rationale stands before its answer, so that a model that writes from left to right gives its reasons
before it decides.
"""

import json
from collections.abc import Mapping, Sequence

from evenhand.llm.base import Schema
from evenhand.protocol.model import Asked, Criterion, Protocol
from evenhand.scales import Nominal, Ordinal, Percent, Text

Node = Mapping[str, object]

LONGEST = {"rationale": 600, "quote": 300, "notes": 600, "answer": 300}
"""Characters that a bounded schema allows for each kind of text."""

MOST_QUOTES = 3


def group_key(protocol: Protocol) -> str:
    """The key under which units that are rated together stand, by position."""
    return "questions" if protocol.rule.of == "question" else "sentences"


def evidence_fields(protocol: Protocol) -> Sequence[str]:
    """The fields a quotation may come from: the shown texts that are evidence or rated; failing those, all shown."""
    fields = protocol.item.fields
    bearing = [
        name
        for name in protocol.shown_fields()
        if fields[name].role in ("evidence", "rated") and fields[name].kind not in ("label", "number")
    ]
    return bearing or protocol.shown_fields()


def asks_rationale(protocol: Protocol, criterion: Criterion) -> bool:
    """Whether a rationale is asked for this criterion; free text has none."""
    return protocol.ask.rationale != "off" and not isinstance(criterion.scale, Text)


def may_be_null(criterion: Criterion) -> bool:
    """Whether a reply may leave this criterion without an answer."""
    return criterion.when is not None or not criterion.required


def reply_schema(protocol: Protocol, positions: Sequence[int] = (), *, bounded: bool = False) -> Schema:
    """The schema of a reply on one unit, or on the units at these positions, rated together.

    `bounded` adds limits to lengths and numbers, which keep small models from rambling; some servers refuse them.
    """
    unit = _unit(protocol, bounded)
    if positions:
        # Written once and referred to: a long text's schema stays small, and so does the grammar made of it.
        each = _object({str(position): {"$ref": "#/$defs/unit"} for position in positions})
        root: Node = {**_object({group_key(protocol): each}), "$defs": {"unit": unit}}
    else:
        root = unit
    return Schema(protocol.name[:64], json.dumps(root, ensure_ascii=False, separators=(",", ":")))


def _object(properties: Mapping[str, Node]) -> Node:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _unit(protocol: Protocol, bounded: bool) -> Node:
    properties = {criterion.id: _entry(protocol, criterion, bounded) for criterion in protocol.criteria}
    ask = protocol.ask
    if ask.confidence != "off":
        limits = {"minimum": 0, "maximum": 100} if bounded else {}
        properties["confidence"] = {"type": _type("integer", _nullable(ask.confidence)), **limits}
    if ask.notes != "off":
        properties["notes"] = _text("notes", _nullable(ask.notes), bounded)
    return _object(properties)


def _entry(protocol: Protocol, criterion: Criterion, bounded: bool) -> Node:
    open_ended = may_be_null(criterion)
    properties: dict[str, Node] = {}
    if asks_rationale(protocol, criterion):
        nullable = open_ended or _nullable(protocol.ask.rationale)
        properties["rationale"] = _text("rationale", nullable, bounded)
    if protocol.ask.evidence != "off":
        nullable = open_ended or _nullable(protocol.ask.evidence)
        properties["evidence"] = _evidence(protocol, nullable, bounded)
    properties["answer"] = _answer(criterion, open_ended, bounded)
    return _object(properties)


def _evidence(protocol: Protocol, nullable: bool, bounded: bool) -> Node:
    quote = _object(
        {
            "field": {"type": "string", "enum": list(evidence_fields(protocol))},
            "quote": _text("quote", False, bounded),
        }
    )
    return {"type": _type("array", nullable), "items": quote, **({"maxItems": MOST_QUOTES} if bounded else {})}


def _answer(criterion: Criterion, nullable: bool, bounded: bool) -> Node:
    scale = criterion.scale
    if isinstance(scale, Ordinal | Nominal):
        kind = "integer" if isinstance(scale, Ordinal) else "string"
        return {"type": _type(kind, nullable), "enum": [*scale.values, *([None] if nullable else [])]}
    if isinstance(scale, Percent):
        limits = {"minimum": 0, "maximum": 100} if bounded else {}
        return {"type": _type("number", nullable), **limits}
    return _text("answer", nullable, bounded)


def _text(what: str, nullable: bool, bounded: bool) -> Node:
    return {"type": _type("string", nullable), **({"maxLength": LONGEST[what]} if bounded else {})}


def _type(kind: str, nullable: bool) -> object:
    return [kind, "null"] if nullable else kind


def _nullable(asked: Asked) -> bool:
    return asked == "optional"
