"""What a generator file holds, key by key. `load` reads it, `check` compares its parts."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Annotated, Literal

from pydantic import Field

from evenhand.errors import UserError
from evenhand.llm.tokens import estimated_tokens
from evenhand.protocol.definitions import Definition
from evenhand.protocol.model import Criterion, FieldSpec, ItemSpec, Name, Protocol, Role, field_titles, field_value
from evenhand.records import FieldValue
from evenhand.scales import Labels, Strict, Text
from evenhand.text import unknown

OUTPUT = "output"
"""The criterion of a generator's own protocol: its value is an output as JSON."""

Output = Mapping[str, object]
"""What a model wrote, by output field: a text or label, or a list of objects for triples, questions and claims."""

Cell = Mapping[str, str]
"""The stratum that is written for: a value for each of the generator's dimensions."""


class InputField(FieldSpec):
    """One field of the items that a model writes from; `shown: false` keeps it from the model, but not from the
    output."""

    role: Role = "evidence"


class OutputField(Strict):
    """One thing that a model writes."""

    kind: Literal["text", "label", "triples", "questions", "claims"] = Field(
        default="text",
        description="text; label: one of the labels; triples: subject, predicate and object; questions: each with the "
        "key information that it asks for; claims: each a text",
    )
    description: str = Field(min_length=1, description="what to write, as the model reads it")
    labels: Labels | None = Field(default=None, description="kind label: the labels, each with its definition")
    offered: tuple[str, ...] | None = Field(
        default=None,
        min_length=2,
        description="kind label: the labels that a model may choose from by default; all of them otherwise",
    )
    quotes_from: str | None = Field(
        default=None, description="kind triples: the input field that each triple quotes, word for word"
    )
    longest: int = Field(default=2000, ge=1, description="characters of a text, for servers that enforce a limit")
    most: int = Field(default=30, ge=1, description="entries of a list, for servers that enforce a limit")


class CellValue(Strict):
    """One value of a dimension of the cells."""

    definition: str = Field(min_length=1, description="what it means, as the model reads it")
    shots: int | None = Field(
        default=None, ge=0, description="the number of worked examples that this value stands for; the model reads "
        "the examples, not the definition"
    )  # fmt: skip


class WordsFilter(Strict):
    """A text must have at least this many words."""

    kind: Literal["words"]
    field: str
    at_least: int = Field(ge=1)


class SimilarityFilter(Strict):
    """A text must be less similar than this to those written before from the same input, by cosine."""

    kind: Literal["similarity"]
    field: str
    below: float = Field(gt=0, le=1)


Filter = Annotated[WordsFilter | SimilarityFilter, Field(discriminator="kind")]


class WorkedExample(Strict):
    """A worked example. It suits the cells that have the values it names."""

    cell: Mapping[str, str] = Field(default_factory=dict[str, str], description="dimension: value")
    input: Mapping[str, object] = Field(default_factory=dict[str, object])
    output: Mapping[str, object]


class Generator(Definition):
    """What a model writes, from what, in which cells, and what is accepted."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", description="lower-case letters, digits and hyphens")]
    version: str = Field(min_length=1)
    title: str = Field(min_length=1)
    language: str = Field(default="en", pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", description="BCP 47, e.g. en, zh")
    protocols: tuple[str, ...] = Field(
        default=(), description="the protocols under which the output can be rated, the usual one first"
    )
    instructions: str = Field(min_length=1, description="the task, in Markdown")
    input: Annotated[Mapping[Name, InputField], Field(min_length=1)]
    output: Annotated[Mapping[Name, OutputField], Field(min_length=1)]
    cells: Mapping[Name, Annotated[Mapping[str, CellValue], Field(min_length=1)]] = Field(
        default_factory=dict[str, Mapping[str, CellValue]],
        description="dimension: {value: {definition, shots}}; one output is written for each combination of values",
    )
    per_cell: int = Field(default=1, ge=1, le=1000, description="outputs for each cell of each item")
    shots: int | None = Field(
        default=None, ge=0, description="worked examples in the prompt if no dimension says so; all by default"
    )
    filters: tuple[Filter, ...] = ()
    retries: int = Field(default=3, ge=0, le=10, description="how many times a rejected output is requested again")
    max_tokens: int = Field(default=2048, ge=16, description="the longest reply, in tokens")
    examples: tuple[WorkedExample, ...] = ()

    @cached_property
    def shown(self) -> Mapping[str, InputField]:
        """The input fields that the model reads."""
        return {name: spec for name, spec in self.input.items() if spec.shown}

    @cached_property
    def all_cells(self) -> Sequence[Cell]:
        """Every combination of the values of its dimensions; one empty cell if there is no dimension."""
        return [dict(zip(self.cells, values, strict=True)) for values in product(*self.cells.values())]

    def select_cells(self, chosen: Mapping[str, Sequence[str]], shots: Sequence[int] | None) -> Sequence[Cell]:
        """The cells with these values, and with these numbers of worked examples. Raises UserError if there is none."""
        for name, values in chosen.items():
            if name not in self.cells:
                raise UserError(f"{self.name}: {unknown('dimension', name, self.cells)}")
            for value in values:
                if value not in self.cells[name]:
                    wrong = unknown(f"value of {name}", value, self.cells[name])
                    hint = "; give --cells once for each dimension" if "=" in value else ""
                    raise UserError(f"{self.name}: {wrong}{hint}")
        cells = [cell for cell in self.all_cells if all(cell[name] in values for name, values in chosen.items())]
        if shots is not None and self.shot_counts:
            for number in shots:
                if number not in self.shot_counts:
                    valid = ", ".join(map(str, self.shot_counts))
                    raise UserError(f"{self.name} has no cell with {number} worked examples; it has: {valid}")
            cells = [cell for cell in cells if self._stated_shots(cell) in shots]
        if not cells:
            raise UserError(f"{self.name}: no cell is left to write for; choose other cells or shots")
        return cells

    @cached_property
    def shot_counts(self) -> Sequence[int]:
        """The numbers of worked examples that its cells stand for; none if no dimension states them."""
        stated = (value.shots for values in self.cells.values() for value in values.values())
        return sorted({shots for shots in stated if shots is not None})

    def _stated_shots(self, cell: Cell) -> int | None:
        given = (self.cells[name][value].shots for name, value in cell.items())
        return next((shots for shots in given if shots is not None), self.shots)

    def shots_for(self, cell: Cell) -> int:
        """How many worked examples the prompt for a cell has."""
        found, suitable = self._stated_shots(cell), len(self.examples_for(cell))
        return suitable if found is None else min(found, suitable)

    def examples_for(self, cell: Cell) -> Sequence[WorkedExample]:
        """The worked examples that suit a cell."""
        return [one for one in self.examples if all(cell.get(name) == value for name, value in one.cell.items())]

    def labels_of(self, field: str) -> Labels:
        """The labels that a model may choose from."""
        spec = self.output[field]
        labels = spec.labels or {}
        return labels if spec.offered is None else {name: labels[name] for name in spec.offered}

    def offering(self, labels: Sequence[str]) -> "Generator":
        """The generator with these labels to choose from, of those it defines. Raises UserError."""
        name = next((name for name, spec in self.output.items() if spec.kind == "label"), None)
        if name is None:
            raise UserError(f"{self.name} has no output that is a label")
        known = self.output[name].labels or {}
        for label in labels:
            if label not in known:
                raise UserError(f"{self.name}: {unknown('label', label, known)}; others go into a file of your own")
        if len(set(labels)) < 2:
            raise UserError("give at least two labels to choose from")
        spec = self.output[name].model_copy(update={"offered": tuple(dict.fromkeys(labels))})
        return self.model_copy(update={"output": {**self.output, name: spec}})

    @cached_property
    def reply_tokens(self) -> int | None:
        """Tokens that a reply has, going by the worked examples."""
        texts = [json.dumps(one.output, ensure_ascii=False) for one in self.examples]
        return sum(map(estimated_tokens, texts)) // len(texts) if texts else None

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The heading of each input field."""
        return field_titles(self.input)

    def example_fields(self, example: WorkedExample) -> Mapping[str, FieldValue]:
        """What a worked example shows of its input, in the generator's order."""
        given = {name: (spec, example.input.get(name)) for name, spec in self.shown.items()}
        return {name: field_value(spec, value) for name, (spec, value) in given.items() if value is not None}

    def protocol(self, *also: str) -> Protocol:
        """The protocol of the study in which it is run: its units are cells, and the one criterion is the output.

        Its digest depends on the generator's content and on what else changes the output, given as `also`.
        """
        unit = next(name for name, spec in self.shown.items() if spec.kind == "text" and spec.required)
        return Protocol(
            name=self.name,
            version=" ".join([self.version, self.digest, *also]),
            title=self.title,
            language=self.language,
            item=ItemSpec(fields=self.input),
            unit=f"question from {unit}",
            criteria=(Criterion(id=OUTPUT, question="What is the output, as JSON?", scale=Text(type="text")),),
        )
