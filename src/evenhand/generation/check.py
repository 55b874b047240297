"""Check the parts of a generator against each other. Valid parts are checked even if others are not."""

from collections.abc import Collection, Iterator
from typing import Annotated, TypeVar

from pydantic import BaseModel, StringConstraints, TypeAdapter, ValidationError

from evenhand.errors import Problem
from evenhand.generation.model import CellValue, InputField, OutputField, WorkedExample
from evenhand.generation.prompt import ENTRY_KEYS
from evenhand.protocol.check import (
    RESERVED,
    entries_of,
    example_problem,
    field_problems,
    mapping_of,
    valid_fields,
    valid_or_none,
)
from evenhand.protocol.load import available
from evenhand.protocol.problems import Content, KeyPath
from evenhand.text import unknown

PROVENANCE = ("input_id", "generated_by", "model", "generator", "generator_digest", "shot_count", "seed", "settings")
"""Fields of every generated item that record where it comes from."""

_Words = Annotated[str, StringConstraints(strict=True, pattern=r"\S")]


_Part = TypeVar("_Part", bound=BaseModel)

_TEXT, _ENTRIES = TypeAdapter[str](_Words), TypeAdapter(list[dict[str, _Words]])


def contradictions(content: Content) -> list[Problem]:
    """Every place where one valid part of the generator does not fit another."""
    check = _GeneratorCheck(content)
    return [
        *check.inputs(),
        *check.outputs(),
        *check.dimensions(),
        *check.filters(),
        *(problem for index in range(len(check.examples)) for problem in check.example(index)),
        *check.enough_examples(),
        *check.protocols(),
    ]


class _GeneratorCheck:
    """The parts of a generator, as far as they are valid; None for those of which too little is."""

    def __init__(self, content: Content) -> None:
        self.problem = content.problem
        self.raw = mapping_of(content.value)
        self.input = valid_fields(self.raw.get("input"), InputField)
        self.output = {
            str(name): _usable(OutputField, spec, "description", ("kind", "labels"))
            for name, spec in mapping_of(self.raw.get("output")).items()
        }
        self.cells = {
            str(name): {
                str(value): _usable(CellValue, spec, "definition", ("shots",))
                for value, spec in mapping_of(values).items()
            }
            for name, values in mapping_of(self.raw.get("cells")).items()
        }
        self.examples = [
            valid_or_none(WorkedExample.model_validate, one) for one in entries_of(self.raw.get("examples"))
        ]

    def inputs(self) -> Iterator[Problem]:
        yield from field_problems(self.input, ("input",), self.problem)
        for name in self.input.keys() & set(PROVENANCE):
            yield self.problem(f"{name!r} records where an output comes from; choose another name", ("input", name))
        texts = [spec for spec in self.input.values() if spec and spec.kind == "text" and spec.required and spec.shown]
        if self.input and None not in self.input.values() and not texts:
            yield self.problem("a model writes from a text: one required field of kind text must be shown", ("input",))

    def outputs(self) -> Iterator[Problem]:
        for name, spec in self.output.items():
            path: KeyPath = ("output", name)
            if name in RESERVED or name in PROVENANCE or name in self.input or name in ("code", "declined"):
                yield self.problem(f"{name!r} is taken; choose another name", path)
            if spec is None:
                continue
            if (spec.labels is None) == (spec.kind == "label"):
                yield self.problem("a field of kind label has labels, and no other has", path)
            if spec.offered is not None:
                for place, label in enumerate(spec.offered):
                    if label not in (spec.labels or {}):
                        yield self.unknown("label", label, spec.labels or {}, (*path, "offered", place))
            if spec.quotes_from is not None:
                quoted = self.input.get(spec.quotes_from)
                if spec.kind != "triples":
                    yield self.problem(f"only triples quote, not {spec.kind}", (*path, "quotes_from"))
                elif spec.quotes_from not in self.input:
                    yield self.unknown("input field", spec.quotes_from, self.input, (*path, "quotes_from"))
                elif quoted and (quoted.kind != "text" or not quoted.shown):
                    yield self.problem("quotes come from a field of kind text that is shown", (*path, "quotes_from"))
            if spec.kind == "questions" and (len(self.output) > 1 or self.cells):
                yield self.problem("questions are the only output, and have no cells", path)

    def dimensions(self) -> Iterator[Problem]:
        with_shots = list[str]()
        for name, values in self.cells.items():
            path: KeyPath = ("cells", name)
            if name in RESERVED or name in PROVENANCE or name in self.input or name in self.output:
                yield self.problem(f"{name!r} is taken; choose another name", path)
            shots = [value.shots is not None for value in values.values() if value is not None]
            if any(shots):
                with_shots.append(name)
                if not all(shots):
                    yield self.problem("either all values of a dimension state their shots, or none does", path)
        for name in with_shots[1:]:
            yield self.problem(f"{with_shots[0]!r} already states the shots", ("cells", name))

    def filters(self) -> Iterator[Problem]:
        for place, raw in enumerate(entries_of(self.raw.get("filters"))):
            name, path = mapping_of(raw).get("field"), ("filters", place, "field")
            if not isinstance(name, str):
                continue
            spec = self.output.get(name)
            if name not in self.output:
                yield self.unknown("output field", name, self.output, path)
            elif spec and spec.kind != "text":
                yield self.problem(f"{name!r} is of kind {spec.kind}; filters are for texts", path)

    def example(self, index: int) -> Iterator[Problem]:
        example, path = self.examples[index], ("examples", index)
        if example is None:
            return
        for name, value in example.cell.items():
            values = self.cells.get(name)
            if values is None:
                yield self.unknown("dimension", name, self.cells, (*path, "cell"), name)
            elif value not in values:
                yield self.unknown("value", value, values, (*path, "cell", name))
        for name, value in example.input.items():
            spec = self.input.get(name)
            if name not in self.input:
                yield self.unknown("input field", name, self.input, (*path, "input"), name)
            elif spec and (wrong := example_problem(spec, value)):
                yield self.problem(wrong, (*path, "input", name))
        for name in self.output.keys() - example.output.keys():
            yield self.problem(f"the output {name!r} is missing", (*path, "output"))
        for name, value in example.output.items():
            spec = self.output.get(name)
            if name not in self.output:
                yield self.unknown("output field", name, self.output, (*path, "output"), name)
            elif spec:
                yield from self.example_output(spec, value, example, (*path, "output", name))

    def example_output(
        self, spec: OutputField, value: object, example: WorkedExample, path: KeyPath
    ) -> Iterator[Problem]:
        keys = (*ENTRY_KEYS.get(spec.kind, ()), *(("quote",) if spec.quotes_from else ()))
        entries = valid_or_none(_ENTRIES.validate_python, value) if keys else None
        if keys and (entries is None or not all(entry.keys() >= set(keys) for entry in entries)):
            yield self.problem(f"an output of kind {spec.kind} is a list of {{{', '.join(keys)}}}", path)
        elif not keys and valid_or_none(_TEXT.validate_python, value) is None:
            yield self.problem(f"an output of kind {spec.kind} is a {spec.kind}", path)
        elif spec.kind == "label" and value not in (spec.labels or {}):
            yield self.unknown("label", value, spec.labels or {}, path)
        elif spec.quotes_from:
            source = str(example.input.get(spec.quotes_from, ""))
            for place, entry in enumerate(entries or ()):
                if entry["quote"] not in source:
                    what = f"the quote {entry['quote']!r} is not in {spec.quotes_from!r}"
                    yield self.problem(what, (*path, place, "quote"))

    def enough_examples(self) -> Iterator[Problem]:
        """Each value that stands for a number of examples has that many for every value of the other dimensions."""
        if None in self.examples:
            return
        examples = [one for one in self.examples if one is not None]
        for name, values in self.cells.items():
            shots = {value: spec.shots for value, spec in values.items() if spec and spec.shots}
            others = {other: given for other, given in self.cells.items() if other != name}
            pairs = [(other, value) for other, given in others.items() for value in given] or [("", "")]
            for place, needed in shots.items():
                for other, value in pairs:
                    found = [one for one in examples if one.cell.get(other, value) == value]
                    if needed > len([one for one in found if one.cell.get(name, place) == place]):
                        which = f" of {other} {value!r}" if other else ""
                        yield self.problem(f"{place!r} needs {needed} worked examples{which}", ("cells", name, place))

    def protocols(self) -> Iterator[Problem]:
        for place, name in enumerate(entries_of(self.raw.get("protocols"))):
            if isinstance(name, str) and name not in available():
                yield self.unknown("protocol", name, available(), ("protocols", place))

    def unknown(self, what: str, name: object, valid: Collection[str], path: KeyPath, *within: str | int) -> Problem:
        return self.problem(unknown(what, name, valid), path, *within)


def _usable(model: type[_Part], given: object, text: str, decisive: Collection[str]) -> _Part | None:
    """A part of a generator with what is valid of it; None if nothing is known of a `decisive` key.

    The key `text` is required, but nothing else depends on it.
    """
    try:
        return model.model_validate(given)
    except ValidationError as error:
        wrong = {detail["loc"][0] for detail in error.errors() if detail["loc"]}
    rest = {name: value for name, value in mapping_of(given).items() if name not in wrong}
    if not isinstance(given, dict) or wrong & {*decisive}:
        return None
    return valid_or_none(model.model_validate, {text: "-", **rest})
