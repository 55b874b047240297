"""The reply in words and by example: the shape a model is told to answer in, and the answers of worked examples."""

import json
from collections.abc import Mapping, Sequence

from evenhand.protocol.model import Criterion, Example, Protocol
from evenhand.raters.schema import asks_rationale, evidence_fields, group_key, may_be_null
from evenhand.records import UNANSWERABLE
from evenhand.scales import Nominal, Ordinal, Percent

Body = Mapping[str, object]


def shape(protocol: Protocol, *, together: bool) -> str:
    """The JSON object that is wanted, with a description in the place of each value."""
    lines = [f"{_quoted(criterion.id)}: {_entry_shape(protocol, criterion)}" for criterion in protocol.criteria]
    ask = protocol.ask
    if ask.confidence != "off":
        lines.append(f'"confidence": a whole number from 0 to 100{_or_null(ask.confidence == "optional")}')
    if ask.notes != "off":
        lines.append(f'"notes": a text{_or_null(ask.notes == "optional")}')
    if not together:
        return _block(lines)
    number = "the number of a sentence" if protocol.rule.of == "sentence" else "the number of a question"
    inner = _block([f'"{number}": {_block(lines)}', "… and so on, for every number"])
    return _block([f"{_quoted(group_key(protocol))}: {inner}"])


def example_body(protocol: Protocol, example: Example) -> Body:
    """A worked example's answers in the shape of a reply. What is required and not in the example is left out."""
    body: dict[str, object] = {c.id: _example_entry(protocol, example, c) for c in protocol.criteria}
    for name, asked, given in (
        ("confidence", protocol.ask.confidence, _plain(example.confidence)),
        ("notes", protocol.ask.notes, example.notes),
    ):
        if asked == "optional" or (asked == "required" and given is not None):
            body[name] = given
    return body


def as_text(body: Body) -> str:
    return json.dumps(body, ensure_ascii=False)


def _example_entry(protocol: Protocol, example: Example, criterion: Criterion) -> Body:
    entry: dict[str, object] = {}
    given = criterion.id in example.ratings
    if asks_rationale(protocol, criterion):
        rationale = example.rationales.get(criterion.id)
        if rationale is not None or not given or protocol.ask.rationale == "optional":
            entry["rationale"] = rationale
    if protocol.ask.evidence != "off" and (not given or protocol.ask.evidence == "optional"):
        entry["evidence"] = None
    if given or may_be_null(criterion):
        entry["answer"] = example.ratings.get(criterion.id)
    return entry


def _entry_shape(protocol: Protocol, criterion: Criterion) -> str:
    parts: list[str] = []
    open_ended = may_be_null(criterion)
    if asks_rationale(protocol, criterion):
        nullable = open_ended or protocol.ask.rationale == "optional"
        parts.append(f'"rationale": a text, your reasons{_or_null(nullable)}')
    if protocol.ask.evidence != "off":
        nullable = open_ended or protocol.ask.evidence == "optional"
        names = " or ".join(map(_quoted, evidence_fields(protocol)))
        parts.append(f'"evidence": [{{"field": {names}, "quote": words copied from it}}, …]{_or_null(nullable)}')
    parts.append(f'"answer": {_answer_shape(criterion)}{_or_null(open_ended)}')
    return "{" + ", ".join(parts) + "}"


def _answer_shape(criterion: Criterion) -> str:
    scale = criterion.scale
    if isinstance(scale, Ordinal):
        return scale.describe()
    if isinstance(scale, Nominal):
        return " or ".join(map(_quoted, scale.values))
    if isinstance(scale, Percent):
        return scale.describe()
    return f"a string, or {_quoted(UNANSWERABLE)}" if scale.unanswerable else "a string"


def _block(lines: Sequence[str]) -> str:
    inner = ",\n".join(lines).replace(",\n…", "\n…").replace("\n", "\n  ")
    return f"{{\n  {inner}\n}}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _or_null(nullable: bool) -> str:
    return " or null" if nullable else ""


def _plain(number: float | None) -> float | None:
    return int(number) if number is not None and number == int(number) else number
