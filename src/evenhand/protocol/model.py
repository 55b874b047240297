"""What a protocol file holds, key by key. `load` reads it, `check` compares its parts."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import AfterValidator, Field

from evenhand.records import FieldValue, Triple, Value
from evenhand.scales import Labels, Scale, Strict, Text
from evenhand.text import listed

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", description="lower-case letters, digits and underscores")]
Asked = Literal["off", "optional", "required"]
Role = Literal["evidence", "rated", "reference", "context"]


def _in_order(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(sorted(values.items()))


_SORTED = AfterValidator(_in_order)
"""For keys whose order in the file means nothing: the digest must not depend on it."""


class FieldSpec(Strict):
    """One field of an item."""

    role: Role = Field(
        description="evidence: what is checked against; rated: what is rated; reference: a known good "
        "answer; context: everything else"
    )
    kind: Literal["text", "passages", "triples", "label", "number"] = "text"
    title: str | None = Field(default=None, description="what raters see as its heading; the field's name otherwise")
    description: str | None = Field(default=None, description="one line on what it holds")
    required: bool = True
    shown: bool = Field(default=True, description="false: kept from every rater, people and models alike")
    aliases: tuple[str, ...] = Field(default=(), description="column names that are read as this field")
    delimiter: str | None = Field(default=None, min_length=1, description="passages in one cell are split here")
    labels: Labels | None = Field(default=None, description="kind label: the values it may have")


class ItemSpec(Strict):
    """The fields an item needs, and those it may have."""

    fields: Annotated[Mapping[Name, FieldSpec], Field(min_length=1)]


class Condition(Strict):
    """True when an earlier criterion of the same unit was rated so. Give one of the three tests."""

    criterion: str
    any_of: tuple[Value, ...] | None = Field(default=None, min_length=1, description="labels or levels")
    at_least: float | None = None
    at_most: float | None = None

    def holds(self, value: Value | None) -> bool:
        """Whether it holds for the earlier criterion's value; never for a criterion without one."""
        if value is None:
            return False
        if self.any_of is not None and value not in self.any_of:
            return False
        if isinstance(value, str):
            return self.at_least is None and self.at_most is None
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    @property
    def test(self) -> str:
        """What the value has to be, in words."""
        if self.any_of is not None:
            return listed(self.any_of, "or")
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{which} {bound:g}" for which, bound in bounds if bound is not None)

    def describe(self) -> str:
        """The condition in words."""
        return f"{self.criterion} is {self.test}"


class Criterion(Strict):
    """One thing asked about a unit."""

    id: Name
    question: str = Field(min_length=1)
    scale: Scale
    name: str | None = Field(default=None, description="what raters see; made from the id otherwise")
    required: bool = True
    when: Condition | None = Field(default=None, description="asked only when this holds")
    overall: bool = Field(default=False, description="sums the other criteria up")
    columns: tuple[str, ...] = Field(default=(), description="column names of rating files read as this criterion")
    model_columns: Annotated[Mapping[str, str], _SORTED] = Field(
        default_factory=dict[str, str],
        description="column names of rating files that hold a model's values, each with that model's rater id",
    )

    @cached_property
    def title(self) -> str:
        return self.name or self.id.replace("_", " ").capitalize()


class Ask(Strict):
    """What else is asked. Rationale and evidence belong to each criterion, confidence and notes to the unit.

    A criterion answered in free text has no rationale of its own.
    """

    rationale: Asked = "off"
    confidence: Asked = "off"
    notes: Asked = "off"
    evidence: Asked = "off"


class MeanMeasure(Strict):
    """The mean of ordinal or percent criteria, or their standard deviation; `together`: of each unit's average."""

    name: Name
    kind: Literal["mean", "sd"]
    criteria: Annotated[tuple[str, ...], Field(min_length=1)]
    together: bool = False


class ProportionMeasure(Strict):
    """The share of ratings with these labels, for which `also` holds, among those without the excluded labels."""

    name: Name
    kind: Literal["proportion"]
    criterion: str
    any_of: Annotated[tuple[Value, ...], Field(min_length=1)]
    also: Condition | None = None
    exclude: tuple[Value, ...] = ()


class AnswerMeasure(Strict):
    """Questions answered from the text (`answered`), or the token F1 of answer and reference (`answer_f1`).

    Questions that the reference itself does not answer are left out and counted. `over` says what `answer_f1`
    divides by: the answered questions, or all of them (an unanswered one then counts as 0).
    """

    name: Name
    kind: Literal["answered", "answer_f1"]
    criterion: str
    over: Literal["answered", "all"] = "all"


class AgreementMeasure(Strict):
    """How far raters agree on each of these criteria.

    `between`: any two raters, people with models, or each model with the people's majority.
    """

    name: Name
    kind: Literal["percent_match", "kappa", "per_label", "confusion", "majority", "exact_match", "macro_f1"]
    criteria: Annotated[tuple[str, ...], Field(min_length=1)]
    between: Literal["all", "person-model", "majority-model"] = "all"


class ClassificationMeasure(Strict):
    """How well one label field of the items predicts another; needs no rating.

    Precision, recall and F1 are those of each label in turn, averaged over the labels.
    """

    name: Name
    kind: Literal["accuracy", "precision", "recall", "f1", "confusion_matrix"]
    truth: str
    prediction: str


Measure = Annotated[
    MeanMeasure | ProportionMeasure | AnswerMeasure | AgreementMeasure | ClassificationMeasure,
    Field(discriminator="kind"),
]


class Target(Strict):
    """A threshold on a measure: what would be good enough."""

    measure: str
    at_least: float


class Example(Strict):
    """A worked example: shown to people as training and to models as a shot."""

    title: str = Field(min_length=1)
    fields: Annotated[Mapping[str, object], _SORTED]
    unit: str | None = Field(default=None, description="the sentence or question rated, where the unit is not the item")
    ratings: Annotated[Mapping[str, Value], _SORTED]
    rationales: Annotated[Mapping[str, str], _SORTED] = Field(default_factory=dict[str, str])
    confidence: float | None = Field(default=None, ge=0, le=100)
    notes: str | None = None
    explanation: str | None = Field(default=None, description="why, for people in training")


class UnitRule(NamedTuple):
    """The unit rule, taken apart: `item`, `sentence` of a field, `question` from a field."""

    of: Literal["item", "sentence", "question"]
    field: str | None


_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON writes plainly but YAML folds or refuses."""


class Protocol(Strict):
    """What is rated, in which units, on which scales."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", description="lower-case letters, digits and hyphens")]
    version: str = Field(min_length=1)
    title: str = Field(min_length=1)
    item: ItemSpec
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)]
    language: str = Field(default="en", pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", description="BCP 47, e.g. en, zh")
    instructions: str = Field(default="", description="Markdown for raters")
    strata: tuple[str, ...] = Field(default=(), description="label fields by which results are broken down")
    cluster: str | None = Field(
        default=None, description="a label field whose equal values hold items together, such as their document"
    )
    unit: str = Field(
        default="item",
        pattern=r"^(item|sentence of [a-z][a-z0-9_]*|question from [a-z][a-z0-9_]*)$",
        description='"item", "sentence of FIELD" or "question from FIELD"',
    )
    ask: Ask = Ask()
    measures: tuple[Measure, ...] = ()
    targets: tuple[Target, ...] = ()
    examples: tuple[Example, ...] = ()

    def model_post_init(self, context: object) -> None:
        """Derive now what every rating looks up, so that nothing changes when threads share the protocol."""
        for name in ("rule", "by_id", "lead", "with_rationale", "titles", "shown_fields", "evidence_fields"):
            getattr(self, name)
        for criterion in self.criteria:
            _ = criterion.title

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content: comments, layout and defaults written out do not change it."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def canonical(self, *, indent: int | None = None) -> str:
        """The content as JSON in one fixed form; `read_protocol` takes it back. The digest is that without `indent`."""
        data = self.model_dump(mode="json", exclude_defaults=True)
        separators = (",", ":") if indent is None else None
        text = json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)
        return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

    @cached_property
    def rule(self) -> UnitRule:
        of, *field = self.unit.split(" ")
        return UnitRule(cast("Literal['item', 'sentence', 'question']", of), field[-1] if field else None)

    @cached_property
    def by_id(self) -> Mapping[str, Criterion]:
        return {criterion.id: criterion for criterion in self.criteria}

    def criterion(self, criterion_id: str) -> Criterion:
        return self.by_id[criterion_id]

    @cached_property
    def lead(self) -> Criterion:
        """The criterion whose rating carries what is asked once for a unit, confidence and notes."""
        return next((criterion for criterion in self.criteria if criterion.overall), self.criteria[0])

    @cached_property
    def with_rationale(self) -> Collection[str]:
        """The ids of the criteria on which a rationale is asked for; free text needs none."""
        return {one.id for one in self.criteria if self.ask.rationale != "off" and not isinstance(one.scale, Text)}

    @cached_property
    def evidence_fields(self) -> Sequence[str]:
        """The fields that evidence may be quoted from: shown texts that are evidence or rated, else all shown."""
        shown = [(name, self.item.fields[name]) for name in self.shown_fields]
        texts = [(name, spec) for name, spec in shown if spec.kind not in ("label", "number")]
        return [name for name, spec in texts if spec.role in ("evidence", "rated")] or self.shown_fields

    def example_fields(self, example: Example) -> Mapping[str, FieldValue]:
        """The fields of a worked example as an item has them, in the protocol's order; those not shown are left out."""
        given = {name: (spec, example.fields.get(name)) for name, spec in self.item.fields.items() if spec.shown}
        return {name: _field_value(spec, value) for name, (spec, value) in given.items() if value is not None}

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """What raters see as the heading of each field."""
        return {name: spec.title or name.replace("_", " ").capitalize() for name, spec in self.item.fields.items()}

    @cached_property
    def shown_fields(self) -> Sequence[str]:
        return [name for name, spec in self.item.fields.items() if spec.shown]


def _field_value(spec: FieldSpec, value: object) -> FieldValue:
    """A value of an example, which was checked when the protocol was read."""
    if spec.kind == "triples":
        return tuple(Triple(*parts) for parts in cast("Sequence[Sequence[str]]", value))
    if spec.kind == "passages":
        return tuple(cast("Sequence[str]", value))
    return float(cast("float", value)) if spec.kind == "number" else cast("str", value)


def field_text(value: FieldValue) -> str:
    """A field's value as a rater reads it: triples one on each line; several passages are numbered."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return f"{value:g}"
    first = value[0] if value else ""
    if isinstance(first, Triple):
        return "\n".join(map(" → ".join, value))
    return first if len(value) < 2 else "\n\n".join(f"[{n}] {part}" for n, part in enumerate(value, start=1))


def field_texts(fields: Mapping[str, FieldValue]) -> Mapping[str, str]:
    """The values of fields as a rater reads them."""
    return {name: field_text(value) for name, value in fields.items()}
