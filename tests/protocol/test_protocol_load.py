import copy
import json
import random
from functools import cache
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError, ProtocolError
from evenhand.protocol.completion import is_asked
from evenhand.protocol.definitions import LARGEST
from evenhand.protocol.guideline import guideline, guideline_rows
from evenhand.protocol.load import (
    PROTOCOLS,
    available,
    load_protocol,
    protocol_schema,
    protocol_text,
    read_protocol,
)

TOXICITY = """\
name: dialogue-toxicity
version: "1"
title: Toxicity of dialogue turns
instructions: Read the turn in the light of the dialogue before it. Judge the words, not the person.
item:
  fields:
    dialogue: {role: context, title: Dialogue so far, required: false}
    turn: {role: rated, title: Turn to rate, aliases: [utterance]}
    platform: {role: context, kind: label, required: false, shown: false}
strata: [platform]
criteria:
  - id: toxicity
    question: How toxic is this turn?
    scale:
      type: ordinal
      levels:
        0: {label: None, anchor: Nothing that a reasonable reader would mind.}
        1: {label: Mild, anchor: Rude or dismissive but aimed at nobody.}
        2: {label: Strong, anchor: Insults or demeans a person or a group.}
        3: {label: Extreme, anchor: Threatens or calls for harm.}
  - id: target
    question: At whom is it aimed?
    when: {criterion: toxicity, at_least: 2}
    scale:
      type: nominal
      labels:
        person: {definition: A single person, aliases: [individual]}
        group: {definition: People for what they have in common.}
ask: {rationale: optional, notes: off}
measures:
  - {name: mean_toxicity, kind: mean, criteria: [toxicity]}
  - {name: toxic, kind: proportion, criterion: toxicity, any_of: [2, 3]}
  - {name: kappa, kind: kappa, criteria: [toxicity, target]}
targets: [{measure: kappa, at_least: 0.6}]
"""

MINIMAL: dict[str, Any] = {
    "name": "small",
    "version": "1",
    "title": "Small",
    "item": {"fields": {"text": {"role": "rated"}}},
    "criteria": [{"id": "answer", "question": "What?", "scale": {"type": "text"}}],
}


def test_a_protocol_of_one_s_own_is_a_file_of_at_most_40_lines(tmp_path: Path) -> None:
    path = tmp_path / "toxicity.yaml"
    path.write_text(TOXICITY, encoding="utf-8")
    assert len(TOXICITY.splitlines()) <= 40
    protocol = load_protocol(path)
    toxicity, target = protocol.criteria
    assert [toxicity.scale.read(raw) for raw in ("0", "none", "3 - Extreme")] == [0, 0, 3]
    assert [is_asked(target, {"toxicity": level}) for level in range(4)] == [False, False, True, True]
    assert not is_asked(target, {})
    assert (protocol.ask.rationale, protocol.ask.notes) == ("optional", "off")
    assert "Asked only when Toxicity is at least 2." in guideline(protocol)


def test_a_file_that_starts_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "toxicity.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + TOXICITY.encode())
    assert load_protocol(path).digest == read_protocol(TOXICITY, "x").digest


def digest_of(data: dict[str, Any]) -> str:
    return read_protocol(json.dumps(data), "x").digest


def test_the_digest_does_not_depend_on_comments_layout_or_written_out_defaults() -> None:
    plain = read_protocol(TOXICITY, "x")
    tree, _ = PROTOCOLS.parse(TOXICITY, "x")
    assert read_protocol(f"# why\n{TOXICITY}\n\n# end\n", "x").digest == plain.digest
    assert read_protocol(json.dumps(tree.value, indent=3), "x").digest == plain.digest
    assert read_protocol(yaml.safe_dump(tree.value, sort_keys=False), "x").digest == plain.digest
    assert read_protocol(TOXICITY + "language: en\nunit: item\nexamples: []\n", "x").digest == plain.digest


def test_the_digest_does_not_depend_on_the_order_of_keys() -> None:
    tree, _ = PROTOCOLS.parse(TOXICITY, "x")
    data = cast("dict[str, Any]", tree.value)
    backwards = dict(reversed(data.items()))
    backwards["criteria"] = [dict(reversed(criterion.items())) for criterion in data["criteria"]]
    scale = backwards["criteria"][0]["scale"] = dict(data["criteria"][0]["scale"])
    scale["levels"] = dict(reversed(scale["levels"].items()))
    assert digest_of(backwards) == digest_of(data)


def test_the_digest_does_not_depend_on_the_order_within_an_example() -> None:
    text = protocol_text("stem-accuracy")[0]
    given = "ratings: {accuracy: Inaccurate, severity: Severe}"
    turned = "ratings: {severity: Severe, accuracy: Inaccurate}"
    assert given in text
    assert read_protocol(text.replace(given, turned), "x").digest == read_protocol(text, "x").digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Judge the words", "Weigh the words"),
        ('version: "1"', 'version: "2"'),
        ("at_least: 2", "at_least: 1"),
        ("dialogue: {role: context, title: Dialogue so far, required: false}\n    turn: ", "turn: "),
        ("at_least: 0.6", "at_least: 0.7"),
        ("label: Mild", "label: Slight"),
    ],
)
def test_the_digest_changes_with_the_content(old: str, new: str) -> None:
    assert old in TOXICITY
    assert read_protocol(TOXICITY.replace(old, new), "x").digest != read_protocol(TOXICITY, "x").digest


def test_the_order_of_criteria_and_labels_is_content() -> None:
    tree, _ = PROTOCOLS.parse(TOXICITY, "x")
    data = cast("dict[str, Any]", tree.value)
    labels = data["criteria"][1]["scale"]["labels"]
    data["criteria"][1]["scale"]["labels"] = dict(reversed(labels.items()))
    assert digest_of(data) != read_protocol(TOXICITY, "x").digest


@given(st.text(min_size=1), st.text())
def test_any_text_survives_the_canonical_form(title: str, instructions: str) -> None:
    protocol = read_protocol(json.dumps(MINIMAL), "x").model_copy(update={"title": title, "instructions": instructions})
    again = read_protocol(protocol.canonical(), "x")
    assert (again.title, again.instructions) == (title, instructions)
    assert again.digest == protocol.digest


TEN_MISTAKES = """\
name: Ten Mistakes
version: 1
titel: Ten
item:
  fields:
    text: {role: judged}
    notes: {role: context}
    answer: {role: rated, kind: label, delimiter: "|"}
strata: [genre]
criteria:
  - id: score
    question: How good?
    scale: {type: likert}
  - id: follow_up
    question: Why?
    when: {criterion: scor, any_of: [1]}
    scale: {type: text}
measures:
  - {name: m, kind: average, criteria: [score]}
"""


def test_all_mistakes_of_a_file_are_reported_at_once_each_with_its_line() -> None:
    with pytest.raises(ProtocolError) as caught:
        read_protocol(TEN_MISTAKES, "ten.yaml")
    assert str(caught.value).splitlines() == [
        "ten.yaml: 11 problems",
        "  line 1, name: 'Ten Mistakes' is not valid here; valid: lower-case letters, digits and hyphens",
        "  line 1: the key 'title' is missing",
        "  line 2, version: a text is needed, not 1; put it in quotes",
        "  line 3: unknown key 'titel' (did you mean 'title'?); valid here: ask, cluster, combine, criteria, "
        "crossed, examples, instructions, item, language, measures, name, strata, targets, title, unit, version",
        "  line 6, item.fields.text.role: 'judged' is not valid here; valid: 'evidence', 'rated', 'reference' or "
        "'context'",
        "  line 7, item.fields.notes: 'notes' is a column of rating files; choose another name",
        "  line 8, item.fields.answer: only a field of kind passages, ids or text has a delimiter, not label",
        "  line 9, strata.1: there is no field 'genre'; there are: text, notes, answer",
        "  line 13, criteria.1.scale: type 'likert' is not one of ordinal, nominal, text, percent, continuous",
        "  line 16, criteria.2.when.criterion: there is no criterion 'scor' (did you mean 'score'?); there are: score",
        "  line 19, measures.1: kind 'average' is not one of mean, sd, proportion, answered, answer_f1, percent_match, "
        "kappa, per_label, confusion, majority, exact_match, macro_f1, accuracy, precision, recall, f1, "
        "confusion_matrix, text_match, token_f1, coverage, abstention, retrieval",
    ]


WRONG: list[tuple[dict[str, object], str]] = [
    ({"criteria": []}, "criteria: at least 1 is needed, not an empty list"),
    ({"criteria": "relevance"}, "criteria: a list is needed, not 'relevance'"),
    ({"item": ["text"]}, "item: a mapping of keys is needed, not a list"),
    ({"title": ""}, "title: a text that is not empty is needed, not ''"),
    ({"title": None}, "title: a text is needed, not nothing"),
    ({"title": True}, "title: a text is needed, not true; put it in quotes"),
    ({"language": "English"}, "language: 'English' is not valid here; valid: BCP 47, e.g. en, zh"),
    ({"unit": "paragraph of text"}, "unit: 'paragraph of text' is not valid here; valid: \"item\""),
    ({"ask": {"rationale": "never"}}, "ask.rationale: 'never' is not valid here; valid: 'off', 'optional'"),
    ({"targets": [{"measure": "m"}]}, "targets.1: the key 'at_least' is missing"),
    ({"targets": [{"measure": "m", "at_least": "much"}]}, "targets.1.at_least: a number is needed, not 'much'"),
    ({"criteria": [{"id": "a", "question": "?", "scale": {}}]}, "criteria.1.scale: the key 'type' is missing"),
    (
        {"criteria": [{"id": "a", "question": "?", "scale": {"type": "nominal", "labels": {"a": {}, "b": {}}}}]},
        "criteria.1.scale.labels.a: the key 'definition' is missing",
    ),
    ({"examples": [{"title": "t", "fields": {}, "ratings": {"answer": [1]}}]}, "a number or a text is needed"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_a_mistake_is_named_in_plain_words(change: dict[str, object], message: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_protocol(json.dumps({**MINIMAL, **change}, indent=1), "x")
    assert message in str(caught.value)
    assert all(problem.line is not None for problem in caught.value.problems)


def test_a_text_cut_at_a_comma_is_recognised() -> None:
    with pytest.raises(ProtocolError) as caught:
        read_protocol(TOXICITY.replace("Rude or dismissive but", "Rude or dismissive, but"), "x")
    assert str(caught.value) == (
        "x: line 18, criteria.1.scale.levels.1: unknown key 'but aimed at nobody.'; valid here: anchor, label "
        "(within { } a text with a comma must be in quotes)"
    )


def test_a_finding_about_a_union_is_reported_once() -> None:
    broken = {**MINIMAL, "examples": [{"title": "t", "fields": {}, "ratings": {"answer": [1]}}]}
    with pytest.raises(ProtocolError) as caught:
        read_protocol(json.dumps(broken), "x")
    assert [problem.what for problem in caught.value.problems] == ["a number or a text is needed, not a list"]


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words\n", "42\n", "{}\n"])
def test_a_file_that_is_no_mapping(text: str) -> None:
    with pytest.raises(ProtocolError, match="a protocol is a mapping of keys such as name, item and criteria"):
        read_protocol(text, "x")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("name: x\ntitle: Qualität\n".encode("latin-1"))
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * (LARGEST + 1))
    with pytest.raises(ProtocolError, match=r"latin\.yaml: line 2: not UTF-8 text \(save the file as UTF-8\)"):
        load_protocol(latin)
    with pytest.raises(InputError, match="this cannot be the right file"):
        load_protocol(large)
    with pytest.raises(ProtocolError, match="no such file"):
        load_protocol(tmp_path / "missing.yaml")
    with pytest.raises(ProtocolError, match="this is a folder; give a file"):
        load_protocol(tmp_path)
    with pytest.raises(ProtocolError, match="this is a device or a pipe; give a file"):
        load_protocol("/dev/zero")


def test_a_wrong_name_is_answered_with_the_right_ones() -> None:
    with pytest.raises(ProtocolError, match=r"did you mean 'halo-support'\?\); choose one of ai-detection, feedback, "):
        load_protocol("halo-suport")


def test_the_schema_refuses_what_the_reader_refuses() -> None:
    schema = protocol_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(MINIMAL, schema)
    broken: list[dict[str, object]] = [
        {**MINIMAL, "extra": 1},
        {**MINIMAL, "criteria": []},
        {**MINIMAL, "name": "Not A Name"},
        {**MINIMAL, "unit": "paragraph of text"},
        {**MINIMAL, "ask": {"rationale": "never"}},
        {**MINIMAL, "criteria": [{"id": "a", "question": "?", "scale": {"type": "likert"}}]},
        {**MINIMAL, "measures": [{"name": "m", "kind": "average", "criteria": ["answer"]}]},
        {key: value for key, value in MINIMAL.items() if key != "title"},
    ]
    for data in broken:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(data, schema)
        with pytest.raises(ProtocolError):
            read_protocol(json.dumps(data), "x")


JUNK: list[object] = [None, True, 0, -3, 2.5, "", "x", "no", "item", [], {}, [1], ["x"], {"a": 1}, [[]], {1: 2}, [None]]


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, child in cast("dict[str | int, object]", value).items():
            found += places(child, (*path, key))
    if isinstance(value, list):
        for index, child in enumerate(cast("list[object]", value)):
            found += places(child, (*path, index))
    return found


@cache
def parsed(name: str) -> object:
    return PROTOCOLS.parse(protocol_text(name)[0], name)[0].value


@settings(deadline=None)
@given(st.sampled_from(sorted(available())), st.randoms(use_true_random=False), st.sampled_from(JUNK), st.booleans())
def test_a_damaged_protocol_is_read_or_refused_with_lines(
    name: str, dice: random.Random, junk: object, delete: bool
) -> None:
    """Wherever a value is replaced or removed: no crash, and no problem without a place."""
    tree = copy.deepcopy(parsed(name))
    path = dice.choice(places(tree))
    here: Any = tree
    for key in path[:-1]:
        here = here[key]
    if delete:
        del here[path[-1]]
    else:
        here[path[-1]] = junk
    try:
        protocol = read_protocol(yaml.safe_dump(tree, sort_keys=False), name)
    except ProtocolError as error:
        unplaced = [problem for problem in error.problems if problem.line is None]
    else:
        unplaced = []
        assert guideline(protocol)
        assert guideline_rows(protocol)
        assert read_protocol(protocol.canonical(), name).digest == protocol.digest
    assert unplaced == []
