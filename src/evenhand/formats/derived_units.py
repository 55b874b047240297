"""Questions made from reference texts, and claims made from answers, as JSON by item id.

Questions are `{"ID": {"key_info": […], "question": […], "answers": […]}}`; claims are by field,
`{"ID": {"generated_answer": ["claim", …], "gold_answer": […]}}`.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Annotated, Self, TypeVar, cast

from pydantic import BaseModel, RootModel, StringConstraints, ValidationError, model_validator

from evenhand.errors import InputError, Problem
from evenhand.files import json_problem, parse_json, read_text, replacing
from evenhand.protocol.check import mapping_of
from evenhand.protocol.model import Protocol
from evenhand.protocol.problems import validation_problems
from evenhand.records import Item, Unit
from evenhand.text import counted, did_you_mean, kind_of, listed, quoted
from evenhand.units import Claim, Derived, Question, check_unit, derived_from

SHAPE = '{"ID": {"key_info": […], "question": […], "answers": […]}}'

_U = TypeVar("_U", Question, Claim)
_Entry = TypeVar("_Entry", bound=BaseModel)


class DerivedUnits(dict[str, Sequence[_U]]):
    """Questions or claims by item id; `source` is the file they came from."""

    def __init__(self, units: Mapping[str, Sequence[_U]], source: str) -> None:
        super().__init__(units)
        self.source = source

    def only(self, item_ids: Collection[str]) -> "DerivedUnits[_U]":
        """The units of these items."""
        return DerivedUnits({name: entry for name, entry in self.items() if name in item_ids}, self.source)


Check = Callable[[Derived], None]
"""Raises InputError with what does not fit the items of a study."""


def read_questions(path: str | Path, check: Check | None = None) -> DerivedUnits[Question]:
    """The questions of each item, in order. The answers are those of the reference.

    An unknown answer or key information is null, and either list may be left empty if all are unknown. Key
    information that is not one entry for each question, as some published files have it, belongs to none of them. An
    item with empty lists has no question. If the file has an error, what `check` finds wrong is added to it.
    """
    return _read(path, "questions", SHAPE, _ItemQuestions, _ItemQuestions.questions, check)


def read_claims(path: str | Path, protocol: Protocol, check: Check | None = None) -> DerivedUnits[Claim]:
    """The claims of each item, field by field in the protocol's order.

    An empty list means that the text claims nothing. Only an optional field may be left out. Raises InputError with
    everything that is wrong in the file and, if anything is, with what `check` finds wrong; and UserError if the
    protocol's unit is not a claim.
    """
    check_unit(protocol, "claim")
    fields = {name: protocol.item.fields[name].required for name in protocol.rule.fields}
    shape = json.dumps({"ID": {name: ["…"] for name in fields}}, ensure_ascii=False)

    def misfits(entry: object) -> Iterator[str]:
        given = mapping_of(entry)
        for name in [name for name in given if name not in fields]:
            valid = f"{did_you_mean(name, fields)}; {listed(list(fields))} {'has' if len(fields) == 1 else 'have'} them"
            yield f"{quoted(name)} is not a field with claims{valid}"
        for name, is_required in fields.items() if isinstance(entry, dict) else ():
            if is_required and name not in given:
                yield f"the key {name!r} is missing; an empty list says that nothing is claimed"

    return _read(path, "claims", shape, _ItemClaims, lambda entry: entry.claims(list(fields)), check, misfits)


def _read(
    path: str | Path,
    noun: str,
    shape: str,
    model: type[_Entry],
    units: Callable[[_Entry], Sequence[_U]],
    check: Check | None,
    misfits: Callable[[object], Iterable[str]] = lambda _: (),
) -> DerivedUnits[_U]:
    """The units of each item as the entries of a file have them. Raises InputError with everything that is wrong.

    `misfits` says what is wrong with the keys of an entry.
    """
    try:
        content = parse_json(read_text(Path(path)))
    except ValueError as error:
        raise InputError(str(path), [json_problem(error)]) from error
    if not isinstance(content, dict):
        raise InputError(str(path), f"the shape is {shape}, not {kind_of(content)}")
    found: dict[str, Sequence[_U]] = {}
    problems: list[Problem] = []
    for item_id, entry in cast("dict[str, object]", content).items():
        key = f"item {item_id!r}"
        problems += [Problem(what, key=key) for what in misfits(entry)]
        try:
            found[item_id] = units(model.model_validate(entry))
        except ValidationError as error:
            found[item_id] = ()
            own = validation_problems(error, model, entry)
            problems += [replace(one, key=f"{key}, {one.key}" if one.key else key) for one in own]
    if problems:
        problems[0] = replace(problems[0], fix=f"the shape is {shape}")
        try:
            if check is not None:
                check(found)
        except InputError as error:
            problems += error.problems
        raise InputError(str(path), problems)
    if not found:
        raise InputError(str(path), f"there are no {noun} in it; the shape is {shape}")
    return DerivedUnits(found, str(path))


def write_units(
    path: str | Path, protocol: Protocol, items: Iterable[Item], units: Iterable[Unit], *, overwrite: bool = False
) -> tuple[int, int]:
    """Write the questions or claims of these items as they are read again; return how many items and units.

    An item without any has empty lists, so that some can be added; of claims, one for each field that it has. Items
    and units come in the study's order.
    """
    fields = protocol.rule.fields
    asks = protocol.rule.of == "question"
    content: dict[str, Mapping[str, Sequence[str | None]]] = {
        item.id: {"question": [], "answers": []} if asks else {name: [] for name in fields if name in item.fields}
        for item in items
    }
    count = 0
    for item_id, group in groupby(units, key=lambda unit: unit.item):
        own = list(group)
        count += len(own)
        if asks:
            content[item_id] = question_lists(own)
        else:
            content[item_id] = {name: [unit.text for unit in own if unit.field == name] for name in content[item_id]}
    with replacing(Path(path), overwrite=overwrite) as temporary:
        try:
            temporary.write_text(f"{json.dumps(content, ensure_ascii=False, indent=2)}\n", encoding="utf-8", newline="")
        except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 cannot hold and JSON's own notation can
            temporary.write_text(f"{json.dumps(content, indent=2)}\n", encoding="utf-8", newline="")
    return len(content), count


def question_lists(questions: Iterable[Question | Unit]) -> Mapping[str, Sequence[str | None]]:
    """The questions of an item as the file has them, in lists."""
    own = list(questions)
    key_info = [one.key_info for one in own]
    known = {"key_info": key_info} if any(key_info) else {}
    return {**known, "question": [one.text for one in own], "answers": [one.answer for one in own]}


def in_place(
    wanted: Sequence[Question | Claim], present: Sequence[Unit], fixed: Collection[str]
) -> Sequence[Question | Claim]:
    """The wanted questions or claims of an item, ordered so that those of the units `fixed` keep their positions.

    The others take the remaining positions, in their own order. A fixed one that is no longer wanted is left out.
    """
    rest = list(wanted)
    places: dict[int, Question | Claim] = {}
    for unit in present:
        before = derived_from(unit)
        read = _stripped(before)
        if unit.id in fixed and unit.position <= len(wanted) and read in rest:
            rest.remove(read)
            places[unit.position] = before
    others = iter(rest)
    return [places[place] if place in places else next(others) for place in range(1, len(wanted) + 1)]


def _stripped(one: Question | Claim) -> Question | Claim:
    """As it is read from a file: white space at both ends does not count as a change."""
    if isinstance(one, Claim):
        return replace(one, text=one.text.strip())
    return Question(one.text.strip(), *(text and text.strip() for text in (one.answer, one.key_info)))


_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _ItemQuestions(BaseModel):
    """The questions of one item as the file has them, in lists."""

    question: list[_Text]
    answers: list[_Text | None]
    key_info: list[_Text | None] = []

    @model_validator(mode="after")
    def _same_lengths(self) -> Self:
        if self.answers and len(self.question) != len(self.answers):
            counts = f"{counted(len(self.question), 'question')} but {counted(len(self.answers), 'answer')}"
            raise ValueError(f"{counts}; each question needs one")
        return self

    def questions(self) -> Sequence[Question]:
        unknown = [None] * len(self.question)
        key_info = self.key_info if len(self.key_info) == len(self.question) else unknown
        return [Question(*parts) for parts in zip(self.question, self.answers or unknown, key_info, strict=True)]


class _ItemClaims(RootModel[dict[str, list[_Text]]]):
    """The claims of one item as the file has them, by field."""

    def claims(self, fields: Sequence[str]) -> Sequence[Claim]:
        return [Claim(text, name) for name in fields for text in self.root.get(name, ())]
