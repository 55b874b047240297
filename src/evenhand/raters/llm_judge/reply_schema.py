"""The JSON Schema of a model's reply, made from the protocol, and the schema in words.

It keeps to what the strict modes of servers allow: every property is required, none may be added, and what is optional
may be null. A rationale comes before its answer, so that a model, which writes from left to right, gives its reasons
before it decides. The schema depends only on the protocol, never on the unit, so that servers can cache it.
"""

import json
from collections.abc import Sequence

from evenhand.llm.base import Node, Schema, strict_schema
from evenhand.protocol.model import Criterion, Protocol
from evenhand.scales import Nominal, Numeric, Ordinal
from evenhand.text import listed

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
    """What a prompt calls a unit. Units that are rated together are listed under its plural."""
    return "case" if protocol.rule.of == "item" else protocol.rule.of


def may_be_null(criterion: Criterion) -> bool:
    """Whether a reply may leave this criterion without an answer."""
    return criterion.when is not None or criterion.of is not None or not criterion.required


def reply_schema(protocol: Protocol, *, together: bool = False, bounded: bool = False) -> tuple[Schema, str]:
    """The schema of a reply on one unit, or, with `together`, on any number of units; and the same in words.

    `bounded` limits lengths and numbers, which keeps small models from rambling; some servers reject such limits.
    """
    properties = _SchemaBuilder(protocol, bounded).unit()
    lines = [f'  "{name}": {_described(node, name)}' for name, node in properties.items()]
    described = "{\n" + ",\n".join(lines) + "\n}"
    if together:
        noun = unit_noun(protocol)
        properties = {f"{noun}s": {"type": "array", "items": {"type": "object", "properties": properties}}}
        described = f'{{"{noun}s": [\n{described},\n… one such object for each {noun}\n]}}'
    return strict_schema(protocol.name, properties), described


class _SchemaBuilder:
    def __init__(self, protocol: Protocol, bounded: bool) -> None:
        self._protocol = protocol
        self._bounded = bounded

    def unit(self) -> dict[str, Node]:
        ask = self._protocol.ask
        properties = {UNIT_CODE: self._text(UNIT_CODE)}
        properties |= {criterion.id: self._entry(criterion) for criterion in self._protocol.criteria}
        if ask.confidence != "off":
            properties["confidence"] = self._node("integer", ask.confidence == "optional", minimum=0, maximum=100)
        if ask.notes != "off":
            properties["notes"] = self._text("notes", ask.notes == "optional")
        return properties

    def _entry(self, criterion: Criterion) -> Node:
        ask, nullable = self._protocol.ask, may_be_null(criterion)
        properties: dict[str, Node] = {}
        if criterion.id in self._protocol.with_rationale:
            properties["rationale"] = self._text("rationale", nullable or ask.rationale == "optional")
        if ask.evidence != "off":
            fields = {"type": "string", "enum": list(self._protocol.evidence_for(criterion))}
            quote = {"type": "object", "properties": {"field": fields, "quote": self._text("quote")}}
            list_node = self._node("array", nullable or ask.evidence == "optional", maxItems=MOST_QUOTES)
            properties["evidence"] = {"type": list_node["type"], "items": quote, **list_node}
        properties["answer"] = self._answer(criterion, nullable)
        return {"type": "object", "properties": properties}

    def _answer(self, criterion: Criterion, nullable: bool) -> Node:
        scale = criterion.scale
        if isinstance(scale, Numeric):
            lowest, highest = map(int, scale.ends)
            return self._node("number", nullable, minimum=lowest, maximum=highest)
        if not isinstance(scale, Ordinal | Nominal):
            return self._text("answer", nullable)
        kind, values = ("integer", scale.levels) if isinstance(scale, Ordinal) else ("string", scale.labels)
        return {**self._node(kind, nullable), "enum": [*values, *([None] if nullable else [])]}

    def _text(self, what: str, nullable: bool = False) -> Node:
        return self._node("string", nullable, maxLength=LONGEST[what])

    def _node(self, kind: str, nullable: bool, **limits: int) -> Node:
        return {"type": [kind, "null"] if nullable else kind, **(limits if self._bounded else {})}


def _described(node: Node, name: str) -> str:
    """A node of the schema in words."""
    kind: str | Sequence[str] = node["type"]
    kind, nullable = (kind, "") if isinstance(kind, str) else (kind[0], " or null")
    if "enum" in node:
        return listed([json.dumps(value, ensure_ascii=False) for value in node["enum"]], "or")
    if kind == "object":
        return "{" + ", ".join(f'"{key}": {_described(child, key)}' for key, child in node["properties"].items()) + "}"
    if kind == "array":
        return f"[{_described(node['items'], name)}, …]{nullable}"
    return _MEANINGS.get(name, _TYPES[kind]) + nullable
