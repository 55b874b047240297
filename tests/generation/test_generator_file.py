"""Generator files: valid ones, all errors at once, the schema, the digest."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from evenhand.errors import InputError
from evenhand.generation.embedding import embedding_model
from evenhand.generation.load import GENERATORS, available_generators, load_generator
from tests.cli.calling import Caller

ONNX = Path(__file__).parents[1] / "raters" / "onnx"
SMALL: dict[str, Any] = {
    "name": "small",
    "version": "1",
    "title": "Small",
    "instructions": "Write.",
    "input": {"text": {}},
    "output": {"note": {"description": "a note"}},
}


def read(**changed: object) -> object:
    return GENERATORS.read(json.dumps({**SMALL, **changed}), "g.yaml")


@pytest.mark.parametrize("name", available_generators())
def test_a_built_in_generator_is_named_like_its_file_and_obeys_the_schema(name: str):
    found = load_generator(name)
    assert found.name == name
    text, _ = GENERATORS.text(name)
    jsonschema.validate(yaml.safe_load(text), GENERATORS.schema())
    assert GENERATORS.read(found.canonical(), "x").digest == found.digest
    assert GENERATORS.read(f"# a comment\n{text}", "x").digest == found.digest


def test_the_question_types_and_shot_types_of_the_document():
    cells = load_generator("neureg-qa").cells
    assert list(cells["question_type"]) == ["factual", "relational", "comparative", "inferential"]
    assert {name: value.shots for name, value in cells["shot_type"].items()} == {"zero": 0, "one": 1, "few": 3}


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"colour": "red"}, "unknown key 'colour'"),
    ({"input": {"text": {"kind": "label"}}}, "one required field of kind text"),
    ({"input": {"text": {}, "seed": {}}}, "records where an output comes from"),
    ({"output": {"text": {"description": "x"}}}, "'text' is taken"),
    ({"output": {"a": {"description": "x", "kind": "label"}}}, "has labels"),
    ({"output": {"a": {"description": "x", "quotes_from": "text"}}}, "only triples quote"),
    ({"output": {"a": {"description": "x", "kind": "triples", "quotes_from": "b"}}}, "no input field 'b'"),
    ({"output": {"q": {"description": "x", "kind": "questions"}, "b": {"description": "y"}}}, "the only output"),
    ({"cells": {"note": {"a": {"definition": "x"}}}}, "'note' is taken"),
    ({"cells": {"kind_of": {"a": {"definition": "x", "shots": 2}}}}, "'a' needs 2 worked examples"),
    ({"filters": [{"kind": "words", "field": "b", "at_least": 2}]}, "no output field 'b'"),
    ({"filters": [{"kind": "length", "field": "note"}]}, "is not one of words, similarity"),
    ({"examples": [{"input": {"b": "x"}, "output": {"note": "y"}}]}, "no input field 'b'"),
    ({"examples": [{"input": {}, "output": {}}]}, "the output 'note' is missing"),
    ({"protocols": ["halo"]}, "there is no protocol 'halo'"),
]


@pytest.mark.parametrize(("changed", "said"), CONTRADICTIONS)
def test_a_file_that_contradicts_itself(changed: dict[str, Any], said: str):
    with pytest.raises(InputError) as raised:
        read(**changed)
    assert said in str(raised.value)


def test_all_errors_at_once_each_with_its_line(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    fields = "input:\n  text: {kind: label}\noutput:\n  note: {}\n"
    text = f"name: Bad Name\n{fields}filters:\n  - {{kind: words, field: b, at_least: 0}}\n"
    (tmp_path / "bad.yaml").write_text(text, encoding="utf-8")
    result = Caller(capsys)("generator", "check", tmp_path / "bad.yaml")
    assert result.code == 2
    for part in ("line 1, name", "line 2, input", "'description' is missing", "'version' is missing", "line 7"):
        assert part in result.err, part


def test_what_is_missing_in_a_part_does_not_hide_what_else_is_wrong_with_it():
    with pytest.raises(InputError) as raised:
        read(
            output={
                "topic": {"kind": "label", "colour": "red"},
                "facts": {"kind": "triples", "quotes_from": "b"},
                "note": {"kind": "remark", "labels": {}},
            },
            cells={"style": {"plain": {"shots": 1}, "short": {"definition": "x"}}},
            filters=[
                {"kind": "words", "field": "topic"},
                {"kind": "words", "field": "facts", "at_least": 0},
                {"kind": "words", "field": "note", "at_least": 1},
            ],
        )
    found = {(one.key, one.what.split(";")[0]) for one in raised.value.problems}
    assert found >= {
        ("output.topic", "the key 'description' is missing"),
        ("output.topic", "a field of kind label has labels, and no other has"),
        ("output.facts", "the key 'description' is missing"),
        ("output.facts.quotes_from", "there is no input field 'b'"),
        ("cells.style.plain", "the key 'definition' is missing"),
        ("cells.style", "either all values of a dimension state their shots, or none does"),
        ("filters.1.field", "'topic' is of kind label"),
        ("filters.2.field", "'facts' is of kind triples"),
    }
    assert not any(key == "filters.3.field" for key, _ in found), "of what kind the note should be is not known"


def test_the_commands(capsys: pytest.CaptureFixture[str]):
    call = Caller(capsys)
    listed = json.loads(call.fine("generators", "--json"))
    assert {one["name"] for one in listed} >= {"kg-triples", "neureg-qa", "feedback", "ai-detection",
                                               "answer-with-context", "quest-eval-questions"}  # fmt: skip
    assert "inferential" in call.fine("generator", "show", "neureg-qa")
    assert (
        json.loads(call.fine("generator", "show", "feedback", "--json"))["digest"] == load_generator("feedback").digest
    )
    assert "cells" in json.loads(call.fine("generator", "schema"))["properties"]


def test_texts_are_embedded_by_a_network():
    (folder,) = [path.parent for path in sorted(ONNX.rglob("model.onnx")) if (path.parent / "tokenizer.json").exists()][
        :1
    ]
    vectors = embedding_model(folder)(["a text", "another one", "a text"])
    assert (vectors**2).sum(axis=1) == pytest.approx([1, 1, 1])
    assert vectors[0] @ vectors[2] == pytest.approx(1.0)
