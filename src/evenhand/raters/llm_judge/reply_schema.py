"""The JSON Schema of a model's reply, made from the protocol, and the same reply described in words and by example.

It keeps to what the strict modes of servers allow: every property is required, none may be added, and what is optional
may be null. A rationale comes before its answer, so that a model, which writes from left to right, gives its reasons
before it decides. The schema depends only on the protocol, never on the unit, so that servers can cache it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from evenhand.llm.base import Schema
from evenhand.protocol.model import Asked, Criterion, Example, Protocol
from evenhand.scales import Nominal, Ordinal, Percent
from evenhand.text import listed

Node = Mapping[str, object]

UNIT_CODE = "unit_code"
"""The key under which a reply repeats the code of the unit it is about."""

LONGEST = {UNIT_CODE: 20, "rationale": 600, "quote": 300, "notes": 600, "answer": 300}
"""Characters that a bounded schema allows for each kind of text."""

MOST_QUOTES = 3
"""Quotations per answer that a bounded schema allows."""

_MEANINGS = {
    UNIT_CODE: "the unit's code, copied exactly",
    "rationale": "a text with your reasons",
    "quote": "words copied from that field",
    "confidence": "a whole number from 0 to 100",
    "notes": "a text",
}
"""What stands under a key of the reply, where its type alone does not tell."""

_TYPES = {"string": "a text", "integer": "a whole number", "number": "a number"}


def unit_noun(protocol: Protocol) -> str:
    """What a prompt calls a unit."""
    return "case" if protocol.rule.of == "item" else protocol.rule.of


def group_key(protocol: Protocol) -> str:
    """The key of the list of units that are rated together."""
    return f"{unit_noun(protocol)}s"


def may_be_null(criterion: Criterion) -> bool:
    """Whether a reply may leave this criterion without an answer."""
    return criterion.when is not None or not criterion.required


def reply_schema(protocol: Protocol, *, together: bool = False, bounded: bool = False) -> Schema:
    """The schema of a reply on one unit, or, with `together`, on any number of units.

    `bounded` limits lengths and numbers, which keeps small models from rambling; some servers reject such limits.
    """
    root = _root(protocol, together, bounded)
    return Schema(protocol.name[:64], json.dumps(root, ensure_ascii=False, separators=(",", ":")))


def described(protocol: Protocol, *, together: bool = False) -> str:
    """The JSON object that the schema asks for, with a description in place of each value."""
    root = _root(protocol, together, bounded=False)
    if not together:
        return _described_unit(root)
    key = group_key(protocol)
    unit = _described_unit(_child(root, "properties", key, "items"))
    return f'{{"{key}": [\n{unit},\n… one such object for each {unit_noun(protocol)}\n]}}'


def example_body(protocol: Protocol, example: Example, code: str) -> Mapping[str, object]:
    """A worked example as a reply. What the protocol requires but the example does not state is left out."""
    body: dict[str, object] = {UNIT_CODE: code}
    body |= {criterion.id: _example_entry(protocol, example, criterion) for criterion in protocol.criteria}
    confidence = example.confidence
    if confidence is not None and confidence == int(confidence):
        confidence = int(confidence)
    for name, asked, given in (
        ("confidence", protocol.ask.confidence, confidence),
        ("notes", protocol.ask.notes, example.notes),
    ):
        if asked == "optional" or (asked == "required" and given is not None):
            body[name] = given
    return body


def _example_entry(protocol: Protocol, example: Example, criterion: Criterion) -> Node:
    entry: dict[str, object] = {}
    given = criterion.id in example.ratings
    if protocol.asks_rationale(criterion):
        rationale = example.rationales.get(criterion.id)
        if rationale is not None or not given or protocol.ask.rationale == "optional":
            entry["rationale"] = rationale
    if protocol.ask.evidence != "off" and (not given or protocol.ask.evidence == "optional"):
        entry["evidence"] = None
    if given or may_be_null(criterion):
        entry["answer"] = example.ratings.get(criterion.id)
    return entry


def _root(protocol: Protocol, together: bool, bounded: bool) -> Node:
    unit = _unit(protocol, bounded)
    return _object({group_key(protocol): {"type": "array", "items": unit}}) if together else unit


def _object(properties: Mapping[str, Node]) -> Node:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _unit(protocol: Protocol, bounded: bool) -> Node:
    ask = protocol.ask
    properties: dict[str, Node] = {UNIT_CODE: _text(UNIT_CODE, False, bounded)}
    properties |= {criterion.id: _entry(protocol, criterion, bounded) for criterion in protocol.criteria}
    if ask.confidence != "off":
        limits = {"minimum": 0, "maximum": 100} if bounded else {}
        properties["confidence"] = {"type": _type("integer", _nullable(ask.confidence)), **limits}
    if ask.notes != "off":
        properties["notes"] = _text("notes", _nullable(ask.notes), bounded)
    return _object(properties)


def _entry(protocol: Protocol, criterion: Criterion, bounded: bool) -> Node:
    open_ended = may_be_null(criterion)
    properties: dict[str, Node] = {}
    if protocol.asks_rationale(criterion):
        nullable = open_ended or _nullable(protocol.ask.rationale)
        properties["rationale"] = _text("rationale", nullable, bounded)
    if protocol.ask.evidence != "off":
        nullable = open_ended or _nullable(protocol.ask.evidence)
        properties["evidence"] = _evidence(protocol, nullable, bounded)
    properties["answer"] = _answer(criterion, open_ended, bounded)
    return _object(properties)


def _evidence(protocol: Protocol, nullable: bool, bounded: bool) -> Node:
    fields: Node = {"type": "string", "enum": list(protocol.evidence_fields())}
    quote = _object({"field": fields, "quote": _text("quote", False, bounded)})
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


def _described_unit(unit: Node) -> str:
    """A unit's object with one key on each line."""
    properties = cast("Mapping[str, Node]", unit["properties"])
    lines = [f'  "{name}": {_described(node, name)}' for name, node in properties.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def _described(node: Node, name: str) -> str:
    """A node of the schema in words."""
    kind, nullable = node["type"], ""
    if isinstance(kind, list):
        (kind, _), nullable = cast("list[str]", kind), " or null"
    if "enum" in node:
        values = cast("Sequence[object]", node["enum"])
        return listed([json.dumps(value, ensure_ascii=False) for value in values], "or")
    if kind == "object":
        properties = cast("Mapping[str, Node]", node["properties"])
        return "{" + ", ".join(f'"{key}": {_described(child, key)}' for key, child in properties.items()) + "}"
    if kind == "array":
        return f"[{_described(_child(node, 'items'), name)}, …]{nullable}"
    return _MEANINGS.get(name, _TYPES[str(kind)]) + nullable


def _child(node: Node, *keys: str) -> Node:
    for key in keys:
        node = cast("Node", node[key])
    return node
