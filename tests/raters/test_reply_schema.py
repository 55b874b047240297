import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from rater_cases import EVIDENCE, NAMES, protocol_named

from evenhand.raters.schema import evidence_fields, reply_schema


def objects(node: object) -> Iterator[Mapping[str, Any]]:
    """Every node of a schema that describes an object."""
    if isinstance(node, dict):
        known = cast("dict[str, Any]", node)
        if "properties" in known:
            yield known
        for child in known.values():
            yield from objects(child)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("positions", [(), (1, 2, 7)])
@pytest.mark.parametrize("name", [*NAMES, "evidence"])
def test_a_schema_is_valid_and_strict(name: str, positions: tuple[int, ...], bounded: bool):
    schema = reply_schema(protocol_named(name), positions, bounded=bounded)
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
    root = json.loads(reply_schema(EVIDENCE).text)
    assert list(root["properties"]) == ["quality", "certainty", "remark", "confidence", "notes"]
    assert list(root["properties"]["quality"]["properties"]) == ["rationale", "evidence", "answer"]
    assert list(root["properties"]["remark"]["properties"]) == ["evidence", "answer"]


def test_what_may_be_missing_may_be_null_and_nothing_else():
    properties = json.loads(reply_schema(EVIDENCE).text)["properties"]
    assert properties["quality"]["properties"]["answer"] == {"type": "integer", "enum": [1, 2, 3]}
    assert properties["quality"]["properties"]["rationale"] == {"type": "string"}
    assert properties["certainty"]["properties"]["answer"] == {"type": ["number", "null"]}
    assert properties["certainty"]["properties"]["rationale"] == {"type": ["string", "null"]}
    assert properties["remark"]["properties"]["answer"] == {"type": ["string", "null"]}
    severity = json.loads(reply_schema(protocol_named("stem-accuracy")).text)["properties"]["severity"]
    assert severity["properties"]["answer"] == {"type": ["string", "null"], "enum": ["Severe", "Not Severe", None]}


def test_quotations_come_from_shown_texts_that_are_evidence_or_rated():
    assert evidence_fields(EVIDENCE) == ["source", "answer"]
    assert evidence_fields(protocol_named("rag-quest-eval")) == ["generated"]
    quote = json.loads(reply_schema(EVIDENCE).text)["properties"]["quality"]["properties"]["evidence"]["items"]
    assert quote["properties"]["field"]["enum"] == ["source", "answer"]


def test_a_bounded_schema_says_how_long_texts_may_be():
    properties = json.loads(reply_schema(EVIDENCE, bounded=True).text)["properties"]
    quality = properties["quality"]["properties"]
    assert quality["rationale"]["maxLength"] == 600
    assert quality["evidence"]["maxItems"] == 3
    assert quality["evidence"]["items"]["properties"]["quote"]["maxLength"] == 300
    assert properties["remark"]["properties"]["answer"]["maxLength"] == 300
    assert properties["notes"]["maxLength"] == 600
    assert (properties["confidence"]["minimum"], properties["confidence"]["maximum"]) == (0, 100)


def test_units_that_are_rated_together_each_have_an_entry_that_is_required():
    sentences = json.loads(reply_schema(protocol_named("stem-accuracy"), (2, 3)).text)["properties"]["sentences"]
    assert sentences["required"] == ["2", "3"]
    questions = json.loads(reply_schema(protocol_named("rag-quest-eval"), (1, 2)).text)
    assert list(questions["properties"]) == ["questions"]
