"""Questions made from reference texts, as JSON by item id:
`{"ID": {"key_info": […], "question": […], "answers": […]}}`."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from itertools import groupby
from pathlib import Path
from typing import Annotated, Self, cast

from pydantic import BaseModel, StringConstraints, ValidationError, model_validator

from evenhand.errors import InputError, Problem
from evenhand.files import json_problem, parse_json, read_text, replacing
from evenhand.protocol.problems import validation_problems
from evenhand.records import Item, Unit
from evenhand.text import counted
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
    """The questions of each item, in order. The answers are those of the reference.

    `key_info` may be left out, and an unknown entry is null. An item with empty lists has no question.
    """
    try:
        content = parse_json(read_text(Path(path)))
    except ValueError as error:
        raise InputError(str(path), [json_problem(error)]) from error
    if not isinstance(content, dict):
        raise InputError(str(path), f"the shape is {SHAPE}, not a {type(content).__name__}")
    questions: dict[str, Sequence[Question]] = {}
    problems: list[Problem] = []
    for item_id, entry in cast("dict[str, object]", content).items():
        try:
            questions[item_id] = _ItemQuestions.model_validate(entry).questions()
        except ValidationError as error:
            found = validation_problems(error, _ItemQuestions, entry)
            key, fix = f"item {item_id!r}", f"the shape is {SHAPE}"
            problems += [replace(one, key=f"{key}, {one.key}" if one.key else key, fix=fix) for one in found]
    if problems:
        raise InputError(str(path), problems)
    if not questions:
        raise InputError(str(path), f"there are no questions in it; the shape is {SHAPE}")
    return Questions(questions, str(path))


def write_questions(
    path: str | Path, items: Iterable[Item], units: Iterable[Unit], *, overwrite: bool = False
) -> tuple[int, int]:
    """Write the questions of these items as `read_questions` reads them; return how many items and questions.

    An item without a question has empty lists, so that some can be added. Items and units come in the study's order.
    """
    content: dict[str, dict[str, list[str | None]]] = {item.id: {"question": [], "answers": []} for item in items}
    count = 0
    for item_id, group in groupby(units, key=lambda unit: unit.item):
        parts = [(unit.key_info, unit.text, unit.answer) for unit in group]
        key_info, questions, answers = map(list, zip(*parts, strict=True))
        count += len(questions)
        known = {"key_info": key_info} if any(key_info) else {}
        content[item_id] = {**known, "question": questions, "answers": answers}
    with replacing(Path(path), overwrite=overwrite) as temporary:
        try:
            temporary.write_text(f"{json.dumps(content, ensure_ascii=False, indent=2)}\n", encoding="utf-8", newline="")
        except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 cannot hold and JSON's own notation can
            temporary.write_text(f"{json.dumps(content, indent=2)}\n", encoding="utf-8", newline="")
    return len(content), count


def in_place(wanted: Sequence[Question], present: Sequence[Unit], fixed: Collection[str]) -> Sequence[Question]:
    """The wanted questions of an item, ordered so that those of the units `fixed` keep their positions.

    The others take the remaining positions, in their own order. A fixed one that is no longer wanted is left out.
    """
    before = [Question(unit.text or "", unit.answer or "", unit.key_info) for unit in present]
    rest = list(wanted)
    places: dict[int, Question] = {}
    for unit, question in zip(present, before, strict=True):
        # Reading strips white space from both ends, which does not count as a change.
        read = Question(*(text and text.strip() for text in astuple(question)))
        if unit.id in fixed and unit.position <= len(wanted) and read in rest:
            rest.remove(read)
            places[unit.position] = question
    others = iter(rest)
    return [places[place] if place in places else next(others) for place in range(1, len(wanted) + 1)]


_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _ItemQuestions(BaseModel):
    """The questions of one item as the file has them: three lists of the same length."""

    question: list[_Text]
    answers: list[_Text]
    key_info: list[_Text | None] = []

    @model_validator(mode="after")
    def _same_lengths(self) -> Self:
        if len(self.question) != len(self.answers):
            counts = f"{counted(len(self.question), 'question')} but {counted(len(self.answers), 'answer')}"
            raise ValueError(f"{counts}; each question needs one")
        if self.key_info and len(self.key_info) != len(self.question):
            entries = "1 entry" if len(self.key_info) == 1 else f"{len(self.key_info):,} entries"
            raise ValueError(f"{counted(len(self.question), 'question')} but {entries} of key_info; one each, or none")
        return self

    def questions(self) -> Sequence[Question]:
        key_info = self.key_info or [None] * len(self.question)
        return [Question(*parts) for parts in zip(self.question, self.answers, key_info, strict=True)]
