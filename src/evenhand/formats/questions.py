"""Questions made from reference texts, as JSON by item id:
`{"ID": {"key_info": […], "question": […], "answers": […]}}`."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import cast

from evenhand.errors import InputError, Problem, counted
from evenhand.units import Question

SHAPE = '{"ID": {"key_info": […], "question": […], "answers": […]}}'


class Questions(dict[str, Sequence[Question]]):
    """Questions by item id; `source` is the file they came from."""

    def __init__(self, questions: Mapping[str, Sequence[Question]], source: str) -> None:
        super().__init__(questions)
        self.source = source

    def only(self, item_ids: Collection[str]) -> "Questions":
        """The questions of these items."""
        return Questions({name: entry for name, entry in self.items() if name in item_ids}, self.source)


def read_questions(path: str | Path) -> Questions:
    """The questions of each item, in order. `key_info` may be left out; the answers are the reference's own."""
    content = _json(Path(path))
    if not isinstance(content, dict):
        raise InputError(str(path), f"the shape is {SHAPE}, not a {type(content).__name__}")
    questions: dict[str, Sequence[Question]] = {}
    problems: list[Problem] = []
    for item_id, entry in cast("dict[str, object]", content).items():
        try:
            questions[item_id] = _entry(entry)
        except ValueError as error:
            problems.append(Problem(str(error), key=f"item {item_id!r}", fix=f"the shape is {SHAPE}"))
    if problems:
        raise InputError(str(path), problems)
    if not questions:
        raise InputError(str(path), f"no questions in it; the shape is {SHAPE}")
    return Questions(questions, str(path))


def _json(path: Path) -> object:
    try:
        if path.exists() and not path.is_file():
            raise InputError(str(path), f"this is a {'folder' if path.is_dir() else 'device or a pipe'}; give a file")
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), "not UTF-8 text; save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        problem = Problem(f"not valid JSON: {error.msg.lower()}", line=error.lineno)
        raise InputError(str(path), [problem]) from error
    except RecursionError as error:
        raise InputError(str(path), "not valid JSON: nested too deeply") from error


def _entry(entry: object) -> Sequence[Question]:
    if not isinstance(entry, dict):
        raise ValueError(f"a mapping is needed, not {type(entry).__name__}")
    lists = cast("dict[str, object]", entry)
    questions, answers = _texts(lists, "question"), _texts(lists, "answers")
    key_info = _texts(lists, "key_info") if "key_info" in lists else []
    if len(questions) != len(answers):
        raise ValueError(
            f"{counted(len(questions), 'question')} but {counted(len(answers), 'answer')}; each question needs one"
        )
    if key_info and len(key_info) != len(questions):
        entries = "1 entry" if len(key_info) == 1 else f"{len(key_info):,} entries"
        raise ValueError(f"{counted(len(questions), 'question')} but {entries} of key_info; one each, or none")
    return [
        Question(question, answer, key_info[n] if key_info else None)
        for n, (question, answer) in enumerate(zip(questions, answers, strict=True))
    ]


def _texts(lists: Mapping[str, object], key: str) -> list[str]:
    if key not in lists:
        raise ValueError(f"{key!r} is missing")
    values = lists[key]
    if not isinstance(values, list):
        raise ValueError(f"{key!r} is a list of texts, not {type(values).__name__}")
    texts: list[str] = []
    for value in cast("list[object]", values):
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{key!r} has an entry that is {'blank' if value == '' else 'not a text'}: {value!r}")
        texts.append(value.strip())
    return texts
