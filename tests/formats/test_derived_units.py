import json
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.formats.derived_units import read_questions
from evenhand.units import Question


def written(folder: Path, content: object) -> Path:
    path = folder / "questions.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_questions_come_in_order_with_their_key_information(tmp_path: Path):
    entry = {
        "key_info": ["a lake", "1910"],
        "question": ["Where?", "When?"],
        "answers": ["at a lake", "<Unanswerable>"],
    }
    assert read_questions(written(tmp_path, {"x": entry})) == {
        "x": [Question("Where?", "at a lake", "a lake"), Question("When?", "<Unanswerable>", "1910")]
    }


def test_key_information_may_be_left_out(tmp_path: Path):
    assert read_questions(written(tmp_path, {"x": {"question": ["Who?"], "answers": ["Ada"]}})) == {
        "x": [Question("Who?", "Ada", None)]
    }


def test_published_files_have_entries_without_answers_and_other_numbers_of_key_information(tmp_path: Path):
    content = {
        "a": {"question": ["Who?"], "answers": [], "key_info": ["Ada", "1910"]},
        "b": {"question": ["Who?", "无法推断"], "answers": ["无法推断", "x"]},
    }
    assert read_questions(written(tmp_path, content)) == {
        "a": [Question("Who?", None, None)],
        "b": [Question("Who?", "<Unanswerable>"), Question("无法推断", "<Unanswerable>")],
    }


def test_every_wrong_entry_is_reported_at_once(tmp_path: Path):
    path = written(
        tmp_path,
        {
            "a": {"question": ["Q?"]},
            "b": {"question": ["Q?", "R?"], "answers": ["A"]},
            "c": ["Q?"],
            "d": {"question": "Q?", "answers": ["A"]},
            "f": {"question": ["Q?"], "answers": [""]},
        },
    )
    with pytest.raises(InputError) as caught:
        read_questions(path)
    problems = [str(problem) for problem in caught.value.problems]
    assert len(problems) == 5
    assert problems[0].startswith("item 'a': the key 'answers' is missing")
    assert problems[1].startswith("item 'b': 2 questions but 1 answer;")
    assert problems[2].startswith("item 'c': a mapping of keys is needed")
    assert problems[3].startswith("item 'd', question: a list is needed, not 'Q?'")
    assert problems[4].startswith("item 'f', answers.1: a text that is not empty is needed")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "the shape is"),
        ("{}", "no questions"),
        ("{", "line 1: not JSON"),
        ('{"a": {}, "a": {}}', "the key 'a' is there twice"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: str, message: str):
    with pytest.raises(InputError, match=message):
        read_questions(written(tmp_path, content))


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"nowhere\.json: no such file"):
        read_questions(tmp_path / "nowhere.json")
