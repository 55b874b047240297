"""Questions made from reference texts, as JSON by item id:
`{"ID": {"key_info": […], "question": […], "answers": […]}}`."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple
from itertools import groupby
from pathlib import Path
from typing import cast

from evenhand.errors import InputError, Problem, counted
from evenhand.formats.writing import replacing
from evenhand.records import Item, Unit
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
    """The questions of each item, in order. The answers are the reference's own.

    `key_info` may be left out, and one that is not known is null. An item with empty lists has no question.
    """
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


def write_questions(
    path: str | Path, items: Iterable[Item], units: Iterable[Unit], *, overwrite: bool = False
) -> tuple[int, int]:
    """Write the questions of these items, as `read_questions` takes them; says how many items and questions it were.

    An item without a question has empty lists, so that some can be added. Both come in the order of the study.
    """
    content: dict[str, dict[str, list[str | None]]] = {item.id: {"question": [], "answers": []} for item in items}
    count = 0
    for item_id, group in groupby(units, key=lambda unit: unit.item):
        its_units = list(group)
        count += len(its_units)
        known = {"key_info": [unit.key_info for unit in its_units]}
        content[item_id] = {
            **(known if any(known["key_info"]) else {}),
            "question": [unit.text for unit in its_units],
            "answers": [unit.answer for unit in its_units],
        }
    with replacing(Path(path), overwrite=overwrite) as temporary:
        temporary.write_bytes(_encoded(content))
    return len(content), count


def in_place(wanted: Sequence[Question], present: Sequence[Unit], fixed: Collection[str]) -> Sequence[Question]:
    """The wanted questions of an item, in an order in which those of the units `fixed` stand where they stood.

    Others take the places that are left, in their own order. A fixed one that is not wanted any more is just not there.
    """
    before = [Question(unit.text or "", unit.answer or "", unit.key_info) for unit in present]
    rest = list(wanted)
    places: dict[int, Question] = {}
    for unit, question in zip(present, before, strict=True):
        # Reading took white space off the ends, which is no change.
        read = Question(*(text and text.strip() for text in astuple(question)))
        if unit.id in fixed and unit.position <= len(wanted) and read in rest:
            rest.remove(read)
            places[unit.position] = question
    others = iter(rest)
    return [places[place] if place in places else next(others) for place in range(1, len(wanted) + 1)]


def _encoded(content: object) -> bytes:
    try:
        return f"{json.dumps(content, ensure_ascii=False, indent=2)}\n".encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair, which UTF-8 cannot hold and JSON's own notation can.
        return f"{json.dumps(content, indent=2)}\n".encode()


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
    questions, answers = _all_texts(lists, "question"), _all_texts(lists, "answers")
    key_info = _texts(lists, "key_info", may_be_null=True) if "key_info" in lists else []
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


def _all_texts(lists: Mapping[str, object], key: str) -> list[str]:
    return [text for text in _texts(lists, key) if text is not None]


def _texts(lists: Mapping[str, object], key: str, *, may_be_null: bool = False) -> list[str | None]:
    if key not in lists:
        raise ValueError(f"{key!r} is missing")
    values = lists[key]
    if not isinstance(values, list):
        raise ValueError(f"{key!r} is a list of texts, not {type(values).__name__}")
    texts: list[str | None] = []
    for value in cast("list[object]", values):
        if value is None and may_be_null:
            texts.append(None)
        elif not isinstance(value, str) or not value.strip():
            raise ValueError(f"{key!r} has an entry that is {'blank' if value == '' else 'not a text'}: {value!r}")
        else:
            texts.append(value.strip())
    return texts
