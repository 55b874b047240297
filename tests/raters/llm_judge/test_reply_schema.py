import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from evenhand.protocol.model import Protocol
from evenhand.raters.llm_judge.reply_schema import reply_schema
from tests.raters.rater_cases import EVIDENCE, NAMES, protocol_named


def schema_of(protocol: Protocol, *, together: bool = False, bounded: bool = False) -> Any:
    return json.loads(reply_schema(protocol, together=together, bounded=bounded)[0].text)


def objects(node: object) -> Iterator[Mapping[str, Any]]:
    """Every node of a schema that describes an object."""
    if isinstance(node, dict):
        known = cast("dict[str, Any]", node)
        if "properties" in known:
            yield known
        for child in known.values():
            yield from objects(child)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("name", [*NAMES, "evidence"])
def test_a_schema_is_valid_and_strict(name: str, together: bool, bounded: bool):
    schema, _ = reply_schema(protocol_named(name), together=together, bounded=bounded)
    root = json.loads(schema.text)
    Draft202012Validator.check_schema(root)
    assert root["type"] == "object"
    for node in objects(root):
        assert node["required"] == list(node["properties"])
        assert node["additionalProperties"] is False
    assert schema.text == json.dumps(root, ensure_ascii=False, separators=(",", ":"))
    limits = ("maxLength", "maxItems", "minimum", "maximum")
    assert bounded or not any(f'"{limit}"' in schema.text for limit in limits)


def test_a_rationale_stands_before_evidence_and_evidence_before_the_answer():
    root = schema_of(EVIDENCE)
    assert list(root["properties"]) == ["unit_code", "quality", "certainty", "remark", "confidence", "notes"]
    assert list(root["properties"]["quality"]["properties"]) == ["rationale", "evidence", "answer"]
    assert list(root["properties"]["remark"]["properties"]) == ["evidence", "answer"]


def test_what_may_be_missing_may_be_null_and_nothing_else():
    properties = schema_of(EVIDENCE)["properties"]
    assert properties["quality"]["properties"]["answer"] == {"type": "integer", "enum": [1, 2, 3]}
    assert properties["quality"]["properties"]["rationale"] == {"type": "string"}
    assert properties["certainty"]["properties"]["answer"] == {"type": ["number", "null"]}
    assert properties["certainty"]["properties"]["rationale"] == {"type": ["string", "null"]}
    assert properties["remark"]["properties"]["answer"] == {"type": ["string", "null"]}
    severity = schema_of(protocol_named("stem-accuracy"))["properties"]["severity"]
    assert severity["properties"]["answer"] == {"type": ["string", "null"], "enum": ["Severe", "Not Severe", None]}


def test_quotations_come_from_shown_texts_that_are_evidence_or_rated():
    assert EVIDENCE.evidence_fields == ["source", "answer"]
    assert protocol_named("rag-quest-eval").evidence_fields == ["generated"]
    quote = schema_of(EVIDENCE)["properties"]["quality"]["properties"]["evidence"]["items"]
    assert quote["properties"]["field"]["enum"] == ["source", "answer"]


def test_a_bounded_schema_says_how_long_texts_may_be():
    properties = schema_of(EVIDENCE, bounded=True)["properties"]
    quality = properties["quality"]["properties"]
    assert quality["rationale"]["maxLength"] == 600
    assert quality["evidence"]["maxItems"] == 3
    assert quality["evidence"]["items"]["properties"]["quote"]["maxLength"] == 300
    assert properties["remark"]["properties"]["answer"]["maxLength"] == 300
    assert properties["notes"]["maxLength"] == 600
    assert (properties["confidence"]["minimum"], properties["confidence"]["maximum"]) == (0, 100)


def test_the_code_of_a_unit_is_asked_for_as_a_plain_text():
    assert schema_of(EVIDENCE)["properties"]["unit_code"] == {"type": "string"}


def test_one_schema_serves_any_number_of_units_that_are_rated_together():
    sentences = schema_of(protocol_named("stem-accuracy"), together=True)["properties"]["sentences"]
    assert sentences["type"] == "array"
    assert sentences["items"] == schema_of(protocol_named("stem-accuracy"))
    questions = schema_of(protocol_named("rag-quest-eval"), together=True)
    assert list(questions["properties"]) == ["questions"]


def test_the_description_of_a_reply_names_every_key_and_value_of_the_schema():
    assert (
        reply_schema(EVIDENCE)[1]
        == """\
{
  "unit_code": the unit's code, copied exactly,
  "quality": {"rationale": a text with your reasons, "evidence": [{"field": "source" or "answer", "quote": words \
copied from that field}, …], "answer": 1, 2 or 3},
  "certainty": {"rationale": a text with your reasons or null, "evidence": [{"field": "source" or "answer", "quote": \
words copied from that field}, …] or null, "answer": a number or null},
  "remark": {"evidence": [{"field": "source" or "answer", "quote": words copied from that field}, …] or null, \
"answer": a text or null},
  "confidence": a whole number from 0 to 100,
  "notes": a text
}"""
    )
    together = reply_schema(protocol_named("stem-accuracy"), together=True)[1]
    assert together.startswith('{"sentences": [\n{\n  "unit_code": ')
    assert '"severity": {"answer": "Severe", "Not Severe" or null}' in together
    assert "one such object for each sentence" in together
