import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evenhand.errors import InputError, UserError
from evenhand.evaluate_model.gen_ai import PROTOCOLS, ModelType, built_in, gen_ai_template, protocol_of, write_gen_ai
from evenhand.scales import Nominal, Ordinal

FEEDBACK = gen_ai_template("feedback_generation")
SMALL = {"feedback_generation": {"role": "You are a strict examiner."}}


def changed(**changes: Any) -> dict[str, Any]:
    """A complete file whose part for feedback has these keys instead of its own."""
    return {"feedback_generation": {**deepcopy(FEEDBACK), **changes}}


def told(data: object) -> list[str]:
    """What is wrong with a file: each problem in one line."""
    with pytest.raises(InputError) as caught:
        protocol_of("feedback_generation", data)  # pyright: ignore[reportArgumentType]
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("model_type", list(PROTOCOLS))
def test_the_template_changes_nothing_but_the_instructions(model_type: ModelType):
    before, after = built_in(model_type), protocol_of(model_type, {model_type: gen_ai_template(model_type)})
    for part in ("name", "title", "item", "unit", "examples", "ask", "measures"):
        assert getattr(after, part) == getattr(before, part)
    assert [c.scale for c in after.criteria] == [c.scale for c in before.criteria]
    assert [c.question for c in after.criteria] == [c.question for c in before.criteria]
    assert after.version == f"{before.version}+gen_ai"
    assert after.digest != before.digest


def test_without_a_file_the_built_in_protocol_is_used():
    assert protocol_of("ai_detection", None).digest == built_in("ai_detection").digest


def test_the_level_names_are_those_of_the_rating_scale():
    levels = FEEDBACK["criteria"]["overall"]["levels"]
    assert {level: words["name"] for level, words in levels.items()} == {
        "5": "Excellent",
        "4": "Good",
        "3": "Fair/Adequate",
        "2": "Poor",
        "1": "Unacceptable",
    }
    assert FEEDBACK["criteria"]["tone"]["levels"]["3"]["name"] == "Average"


def test_role_duties_and_qualities_become_the_instructions():
    data = {
        "feedback_generation": {
            "role": "You are a strict examiner.",
            "responsibilities": ["Read all of it.", "Rate it."],
            "qualities": {"objective": "one yardstick", "precise": "quote"},
        }
    }
    assert protocol_of("feedback_generation", data).instructions == (
        "You are a strict examiner.\n\n"
        "What you do:\n\n- Read all of it.\n- Rate it.\n\n"
        "What is expected of you:\n\n- *objective*: one yardstick\n- *precise*: quote\n"
    )


def test_what_a_file_leaves_out_stays_as_it_is_built_in():
    before, after = built_in("feedback_generation"), protocol_of("feedback_generation", SMALL)
    assert (after.criteria, after.examples, after.ask) == (before.criteria, before.examples, before.ask)


def test_one_level_of_one_criterion_can_be_reworded():
    criteria = {"tone": {"question": "Is it kind?", "levels": {"3": {"name": "Middling", "description": "So so."}}}}
    after = protocol_of("feedback_generation", {"feedback_generation": {"role": "R.", "criteria": criteria}})
    scale = after.criterion("tone").scale
    assert isinstance(scale, Ordinal)
    assert (scale.levels[3].label, scale.levels[3].anchor) == ("Middling", "So so.")
    before = built_in("feedback_generation").criterion("tone").scale
    assert isinstance(before, Ordinal)
    assert scale.levels[5] == before.levels[5]
    assert after.criterion("tone").question == "Is it kind?"


def test_a_label_keeps_its_spellings_when_its_definition_changes():
    criteria = {"verdict": {"levels": {"correct": {"description": "It hits."}}}}
    after = protocol_of("ai_detection", {"ai_detection": {"role": "R.", "criteria": criteria}})
    scale = after.criterion("verdict").scale
    assert isinstance(scale, Nominal)
    assert scale.labels["correct"].definition == "It hits."
    assert scale.read("right") == "correct"


def test_examples_and_what_is_asked_can_be_replaced():
    example = {"title": "One", "input": {"feedback": "Fine."}, "scores": {"tone": 4}, "reasoning": {"tone": "Polite."}}
    part = {"role": "R.", "examples": [example], "output": {"rationale": "optional"}}
    after = protocol_of("feedback_generation", {"feedback_generation": part})
    assert [(e.title, dict(e.fields), dict(e.ratings)) for e in after.examples] == [
        ("One", {"feedback": "Fine."}, {"tone": 4})
    ]
    assert (after.ask.rationale, after.ask.confidence) == ("optional", "off")


def test_a_level_may_be_written_as_a_number_in_a_mapping():
    criteria = {"tone": {"levels": {5: {"description": "Warm."}}}}
    after = protocol_of("feedback_generation", {"feedback_generation": {"role": "R.", "criteria": criteria}})
    scale = after.criterion("tone").scale
    assert isinstance(scale, Ordinal)
    assert scale.levels[5].anchor == "Warm."


def keys(data: object) -> list[str | None]:
    """The keys of what is wrong with a file."""
    with pytest.raises(InputError) as caught:
        protocol_of("feedback_generation", data)  # pyright: ignore[reportArgumentType]
    return [problem.key for problem in caught.value.problems]


def test_every_problem_is_reported_at_once_with_its_key():
    criteria = {
        "tonne": {"question": "Kind?"},
        "tone": {"levels": {"6": {"description": "Beyond."}, "5": {"descripton": "Warm."}}},
        "improvements": {"levels": {"1": {"description": "None."}}},
    }
    examples = [
        {"title": "", "input": {"feedback": "Fine."}, "scores": {"tone": 4}, "reasoning": {"tone": 3}},
        {"title": "Two", "input": {"feedbak": "Fine."}, "scores": {"tone": 7, "mood": 1}},
    ]
    part = {"roles": "R.", "criteria": criteria, "examples": examples, "output": {"confidence": "sometimes"}}
    prefix = "feedback_generation"
    assert sorted(map(str, keys({prefix: part, "ai_detectoin": {}}))) == sorted(
        [
            "None",  # ai_detectoin
            prefix,  # role is missing
            prefix,  # roles is unknown
            f"{prefix}.criteria.improvements.levels",
            f"{prefix}.criteria.tone.levels.5",  # description is missing
            f"{prefix}.criteria.tone.levels.5",  # descripton is unknown
            f"{prefix}.criteria.tone.levels.6",
            f"{prefix}.criteria.tonne",
            f"{prefix}.examples.1.reasoning.tone",
            f"{prefix}.examples.1.title",
            f"{prefix}.examples.2.input",
            f"{prefix}.examples.2.scores",
            f"{prefix}.examples.2.scores.tone",
            f"{prefix}.output.confidence",
        ]
    )


def test_two_levels_cannot_be_called_the_same():
    criteria = {"tone": {"levels": {"4": {"name": "excellent", "description": "Warm."}}}}
    assert told({"feedback_generation": {"role": "R.", "criteria": criteria}}) == [
        "feedback_generation.criteria.tone.levels: two levels are called 'Excellent': labels must differ"
    ]


def test_a_label_of_detection_has_no_other_name():
    criteria = {"verdict": {"levels": {"correct": {"name": "Yes", "description": "It hits."}}}}
    assert keys({**SMALL, "ai_detection": {"role": "R.", "criteria": criteria}}) == [
        "ai_detection.criteria.verdict.levels.correct.name"
    ]


def test_an_example_gives_the_kind_of_value_that_the_field_has():
    example = {"title": "One", "input": {"feedback": ["Fine."]}, "scores": {"tone": "4"}}
    assert told({"feedback_generation": {"role": "R.", "examples": [example]}}) == [
        "feedback_generation.examples.1.input.feedback: a field of kind text is a text",
        "feedback_generation.examples.1.scores.tone: '4' must be written as 4",
    ]


def test_wrong_kinds_of_value_are_named():
    part: dict[str, object] = {
        "role": 3,
        "responsibilities": "Read.",
        "qualities": [],
        "criteria": {"tone": 4},
        "examples": {},
    }
    assert keys({"feedback_generation": part}) == [
        "feedback_generation.role",
        "feedback_generation.responsibilities",
        "feedback_generation.qualities",
        "feedback_generation.criteria.tone",
        "feedback_generation.examples",
    ]


def test_a_file_without_the_part_that_is_needed_is_refused():
    assert told({"ai_detection": {"role": "R."}}) == [
        "there is no part 'feedback_generation'; the file has: ai_detection "
        "(EvaluateModel.gen_ai_template('feedback_generation') returns a complete one to start from)"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"feedback_generation": {\n"role": }}', "line 2: not JSON at character 9: expecting value"),
        ('{"ai_detection": {"role": "A", "role": "B"}}', "the key 'role' is there twice in one object"),
        ("[]", "an object with the keys feedback_generation and ai_detection is needed"),
    ],
)
def test_a_file_that_is_no_json_object_is_refused(tmp_path: Path, text: str, problem: str):
    file = tmp_path / "gen_ai.json"
    file.write_text(text, encoding="utf-8")
    assert told(file) == [problem]


def test_a_file_that_is_missing_or_not_utf_8_is_refused(tmp_path: Path):
    assert told(tmp_path / "none.json") == ["no such file"]
    (tmp_path / "latin.json").write_bytes('{"role": "Prüfer"}'.encode("latin-1"))
    assert told(tmp_path / "latin.json") == ["line 1: not UTF-8 text (save the file as UTF-8)"]


def test_a_mapping_that_is_no_json_is_refused():
    assert told({"feedback_generation": {"role": pd.DataFrame()}}) == [
        "this cannot be written as JSON: Object of type DataFrame is not JSON serializable"
    ]


def test_a_written_file_is_complete_and_never_overwritten_unasked(tmp_path: Path):
    file = tmp_path / "gen_ai.json"
    write_gen_ai(file)
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written == {name: gen_ai_template(name) for name in list(PROTOCOLS)}
    assert protocol_of("feedback_generation", file) == protocol_of("feedback_generation", written)
    with pytest.raises(UserError, match="already exists"):
        write_gen_ai(file)
    file.write_text("{}", encoding="utf-8")
    write_gen_ai(file, overwrite=True)
    assert json.loads(file.read_text(encoding="utf-8")) == written


def test_a_change_of_any_element_changes_the_digest():
    whole = protocol_of("feedback_generation", changed()).digest
    qualities = {**FEEDBACK["qualities"], "precise": "quote three words"}
    assert protocol_of("feedback_generation", changed(qualities=qualities)).digest != whole
    assert protocol_of("feedback_generation", changed(examples=[])).digest != whole
    assert protocol_of("feedback_generation", changed()).digest == whole
