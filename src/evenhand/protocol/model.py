"""What a protocol file holds, key by key. `load` reads it, `check` compares its parts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast

from pydantic import AfterValidator, Field

from evenhand.nlp.quotes import Quotes
from evenhand.protocol.definitions import Definition
from evenhand.records import FieldValue, Triple, Value
from evenhand.scales import CONTINUOUS, Labels, Numeric, Ordinal, Scale, Strict, Text
from evenhand.text import listed

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", description="lower-case letters, digits and underscores")]
Asked = Literal["off", "optional", "required"]
Role = Literal["evidence", "rated", "reference", "context"]
UnitKind = Literal["item", "sentence", "question", "claim"]


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
    kind: Literal["text", "passages", "triples", "ids", "label", "number"] = "text"
    title: str | None = Field(default=None, description="what raters see as its heading; the field's name otherwise")
    description: str | None = Field(default=None, description="one line on what it holds")
    required: bool = True
    shown: bool = Field(default=True, description="false: kept from every rater, people and models alike")
    aliases: tuple[str, ...] = Field(default=(), description="column names that are read as this field")
    delimiter: str | None = Field(
        default=None,
        min_length=1,
        description="passages, ids: a text in one cell is split here; text: a list of texts is joined with it",
    )
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
    of: str | None = Field(default=None, description="asked only about the claims or sentences of this field")
    against: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="the fields to check against, instead of the protocol's evidence"
    )
    overall: bool = Field(default=False, description="sums the other criteria up")
    columns: tuple[str, ...] = Field(default=(), description="column names of rating files read as this criterion")
    model_columns: Annotated[Mapping[str, str], _SORTED] = Field(
        default_factory=dict[str, str],
        description="column names of rating files that hold a model's values, each with that model's rater id",
    )

    @cached_property
    def title(self) -> str:
        return self.name or self.id.replace("_", " ").capitalize()


_COMPARED = {
    **{f"BLEU-{n}": f"sequences of up to {n} words, as sacrebleu counts them" for n in range(1, 5)},
    "ROUGE-L": "the longest common subsequence of words, F measure",
    "chrF": "sequences of up to 6 characters, F measure",
    "token-F1": "words, F measure",
    "BERTScore": "the vectors that an encoder gives each token, F measure",
}
SCORES: Mapping[str, Criterion] = {
    # Not validated: no criterion of a protocol may have such an id, so that none is mistaken for a score.
    name: Criterion.model_construct(
        id=name, name=name, question=f"How far does the text overlap with its references in {what}?", scale=CONTINUOUS
    )
    for name, what in _COMPARED.items()
}
"""Overlap scores, by name: what programs may rate of the items in any study. They are asked of no person and no
language model, so no protocol lists them. A score is about the item and is stored with the item's first unit."""


class Ask(Strict):
    """What else is asked. Rationale and evidence belong to each criterion, confidence and notes to the unit.

    A criterion answered in free text has no rationale of its own.
    """

    rationale: Asked = "off"
    confidence: Asked = "off"
    notes: Asked = "off"
    evidence: Asked = "off"


class MeanMeasure(Strict):
    """The mean of criteria that are numbers, or their standard deviation; `together`: of each unit's average."""

    name: Name
    kind: Literal["mean", "sd"]
    criteria: Annotated[tuple[str, ...], Field(min_length=1)]
    together: bool = False


class ProportionMeasure(Strict):
    """The share of ratings with these labels, for which `also` holds, among those without the excluded labels.

    `per: item`: the share in each item, averaged over items; one with a unit that the rater did not rate is left out.
    """

    name: Name
    kind: Literal["proportion"]
    criterion: str
    any_of: Annotated[tuple[Value, ...], Field(min_length=1)]
    also: Condition | None = None
    exclude: tuple[Value, ...] = ()
    of: str | None = Field(default=None, description="only units that come from this field")
    per: Literal["rating", "item"] = "rating"
    abstained: float | None = Field(
        default=None, ge=0, le=1, description="per item: the share in an item whose text in the field `of` abstains"
    )
    times: str | None = Field(
        default=None, description="per item: the share is multiplied with the item's value on this measure of texts"
    )


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
    """How far raters agree on each of these criteria; `together`: on all of them taken as one.

    `between`: any two raters, people with models, or each model with the people's majority.
    """

    name: Name
    kind: Literal["percent_match", "kappa", "per_label", "confusion", "majority", "exact_match", "macro_f1"]
    criteria: Annotated[tuple[str, ...], Field(min_length=1)]
    between: Literal["all", "person-model", "majority-model"] = "all"
    together: bool = False


class FieldMeasure(Strict):
    """A measure that reads fields of the items and no rating; `kinds` are the keys that name them, with their kinds."""

    kinds: ClassVar[Mapping[str, Sequence[str]]]

    @property
    def reads(self) -> Sequence[str]:
        """The fields that it reads."""
        return tuple(getattr(self, key) for key in self.kinds)


class ClassificationMeasure(FieldMeasure):
    """How well one label field of the items predicts another; needs no rating.

    Precision, recall and F1 are those of each label in turn, averaged over the labels.
    """

    name: Name
    kind: Literal["accuracy", "precision", "recall", "f1", "confusion_matrix"]
    kinds: ClassVar = {"truth": ("label",), "prediction": ("label",)}
    truth: str
    prediction: str


class TextMeasure(FieldMeasure):
    """How far a text of each item agrees with a reference, averaged over items; needs no rating.

    `text_match`: both have the same words; `token_f1`: the F1 of their words; `coverage`: the share of the reference's
    words that the field has. Case, punctuation and articles do not count. Of several references the best counts.
    """

    name: Name
    kind: Literal["text_match", "token_f1", "coverage"]
    kinds: ClassVar = {"field": ("text", "passages"), "reference": ("text", "passages")}
    field: str = Field(description="a field of kind text or passages")
    reference: str = Field(description="a field of kind text, or passages if there are several references")


class AbstentionMeasure(FieldMeasure):
    """The share of items whose text declines to answer: it has one of the phrases, in any case. Needs no rating."""

    name: Name
    kind: Literal["abstention"]
    kinds: ClassVar = {"field": ("text",)}
    field: str = Field(description="a field of kind text")
    phrases: tuple[Annotated[str, Field(pattern=r"\S")], ...] = Field(default=(), description="further phrases")
    built_in: bool = Field(default=True, description="false: only `phrases` count, not Evenhand's own")


class RetrievalMeasure(FieldMeasure):
    """How well the ids in one field of each item find those in another, averaged over items; needs no rating.

    recall@k, precision@k and nDCG@k for each k in `at`, and the reciprocal rank of the first relevant id (MRR).
    """

    name: Name
    kind: Literal["retrieval"]
    kinds: ClassVar = {"retrieved": ("ids",), "relevant": ("ids",)}
    retrieved: str = Field(description="a field of kind ids, the best first")
    relevant: str = Field(description="a field of kind ids")
    at: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] = (1, 3, 5, 10)

    @property
    def parts(self) -> Sequence[str]:
        """The names of its figures."""
        return [*(f"{name}@{k}" for name in ("recall", "precision", "ndcg") for k in dict.fromkeys(self.at)), "mrr"]


ItemMeasure = TextMeasure | AbstentionMeasure | RetrievalMeasure
"""A measure that is computed for each item from its fields."""

Measure = Annotated[
    MeanMeasure | ProportionMeasure | AnswerMeasure | AgreementMeasure | ClassificationMeasure | ItemMeasure,
    Field(discriminator="kind"),
]


class Target(Strict):
    """A threshold on a measure: what would be good enough."""

    measure: str
    at_least: float
    label: Value | None = Field(
        default=None,
        description="the part that it applies to if the measure has several, as in recall@5; all otherwise",
    )


CombinationRule = Literal["pool", "mean", "majority", "plurality"]
_RULES_WITH = {"step": ("mean",), "ties": ("plurality",), "fewest": ("mean", "majority", "plurality")}


class Combination(Strict):
    """Several raters taken as one, to be compared with the others: all their ratings, their mean, their vote."""

    rule: CombinationRule
    of: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        default=("people",), description="rater ids, or people or models for all of them"
    )
    step: float = Field(default=1.0, gt=0, description="mean: rounded to a multiple of this")
    ties: Literal["none", "first", "last", "rater"] = Field(
        default="none",
        description="plurality: which of equally frequent labels counts: the first or the last of the scale, or that "
        "of the rater named first",
    )
    fewest: int = Field(default=1, ge=1, description="ratings that a unit needs; a pool has no use for it")

    def misfit(self, scales: Iterable[object]) -> str | None:
        """Why it cannot be used with criteria on these scales: an option of another rule, or too large a step."""
        for name, rules in _RULES_WITH.items():
            if name in self.model_fields_set and self.rule not in rules:
                return f"{name!r} is an option of {listed(rules, 'or')}, not of {self.rule}"
        lengths = [scale.ends[1] - scale.ends[0] for scale in scales if isinstance(scale, Ordinal | Numeric)]
        too_long = self.rule == "mean" and self.step > max(lengths, default=0.0)
        return f"no criterion has a scale of numbers as long as the mean's step, {self.step:g}" if too_long else None

    def describe(self) -> str:
        """How the raters are combined, in words."""
        ties = {"none": "with no label for a tie", "rater": "that of the first rater in a tie"}
        how = {
            "pool": "pool of every rating by",
            "mean": f"mean, rounded to {self.step:g}, of",
            "majority": "majority, more than half, of",
            "plurality": f"most frequent label, {ties.get(self.ties, f'the {self.ties} of the scale in a tie')}, of",
        }
        needed = f", on units with {self.fewest} ratings or more" if self.fewest > 1 else ""
        return f"{how[self.rule]} {listed(self.of)}{needed}"


class Example(Strict):
    """A worked example: shown to people as training and to models as a shot."""

    title: str = Field(min_length=1)
    fields: Annotated[Mapping[str, object], _SORTED]
    unit: str | None = Field(
        default=None, description="the sentence, question or claim rated, where the unit is not the item"
    )
    of: str | None = Field(
        default=None, description="the field of that claim; by default the first of the unit's fields"
    )
    ratings: Annotated[Mapping[str, Value], _SORTED]
    rationales: Annotated[Mapping[str, str], _SORTED] = Field(default_factory=dict[str, str])
    evidence: Annotated[Mapping[str, tuple[str, ...]], _SORTED] = Field(
        default_factory=dict[str, tuple[str, ...]],
        description="quotations from the fields by criterion; an empty list says that there is nothing to quote",
    )
    confidence: float | None = Field(default=None, ge=0, le=100)
    notes: str | None = None
    explanation: str | None = Field(default=None, description="why, for people in training")


class UnitRule(NamedTuple):
    """The unit rule, taken apart: `item`, `sentence` of a field, `question` from a field, `claim` of some fields."""

    of: UnitKind
    fields: tuple[str, ...]


class Protocol(Definition):
    """What is rated, in which units, on which scales."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", description="lower-case letters, digits and hyphens")]
    version: str = Field(min_length=1)
    title: str = Field(min_length=1)
    item: ItemSpec
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)]
    language: str = Field(default="en", pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", description="BCP 47, e.g. en, zh")
    instructions: str = Field(default="", description="Markdown for raters")
    strata: tuple[str, ...] = Field(default=(), description="label fields by which results are broken down")
    crossed: tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...] = Field(
        default=(), description="lists of label fields by whose combinations results are broken down"
    )
    combine: Annotated[Mapping[Name, Combination], _SORTED] = Field(
        default_factory=dict[str, Combination], description="raters taken as one, by the name that figures give them"
    )
    cluster: str | None = Field(
        default=None, description="a label field whose equal values hold items together, such as their document"
    )
    unit: str = Field(
        default="item",
        pattern=r"^(item|sentence of {0}|question from {0}|claim of {0}(, {0})*)$".format("[a-z][a-z0-9_]*"),
        description='"item", "sentence of FIELD", "question from FIELD" or "claim of FIELD, FIELD"',
    )
    ask: Ask = Ask()
    measures: tuple[Measure, ...] = ()
    targets: tuple[Target, ...] = ()
    examples: tuple[Example, ...] = ()

    def model_post_init(self, context: object) -> None:
        """Derive now what every rating looks up, so that nothing changes when threads share the protocol."""
        for part in (self, *self.criteria):
            for name, value in vars(type(part)).items():
                if isinstance(value, cached_property):
                    getattr(part, name)

    @cached_property
    def rule(self) -> UnitRule:
        of, *_ = self.unit.split(" ")
        return UnitRule(cast("UnitKind", of), unit_fields(self.unit))

    @cached_property
    def by_id(self) -> Mapping[str, Criterion]:
        return {criterion.id: criterion for criterion in self.criteria}

    def criterion(self, criterion_id: str) -> Criterion:
        """A criterion of this protocol, or an overlap score. Raises KeyError if it is neither."""
        return self.by_id.get(criterion_id) or SCORES[criterion_id]

    @cached_property
    def item_measures(self) -> Mapping[str, ItemMeasure]:
        """The measures that are computed from the fields of each item, by name."""
        return {one.name: one for one in self.measures if isinstance(one, ItemMeasure)}

    @cached_property
    def measured_fields(self) -> Sequence[str]:
        """The fields that these measures read."""
        return [name for one in self.item_measures.values() for name in one.reads]

    def field_of(self, measure: ProportionMeasure) -> str | None:
        """The field whose units a proportion is about; None for all units of several fields, or whole items."""
        only = self.rule.fields[0] if len(self.rule.fields) == 1 else None
        return measure.of or self.criterion(measure.criterion).of or only

    def abstention_of(self, field: str | None) -> AbstentionMeasure | None:
        """The measure that says which texts in a field abstain."""
        known = (one for one in self.item_measures.values() if isinstance(one, AbstentionMeasure))
        return next((one for one in known if one.field == field), None)

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
        return _evidence_fields(self.item.fields)

    def evidence_for(self, criterion: Criterion) -> Sequence[str]:
        """The fields that evidence on a criterion may be quoted from."""
        return criterion.against or self.evidence_fields

    def example_field(self, example: Example) -> str | None:
        """The field that the sentence or claim of a worked example comes from."""
        return example.of or (self.rule.fields[0] if self.rule.of in ("sentence", "claim") else None)

    def example_evidence(self, example: Example) -> Mapping[str, Mapping[str, str | None]]:
        """The quotations of a worked example by criterion, each with its field; None if none of the fields has it."""
        against = {criterion.id: self.evidence_for(criterion) for criterion in self.criteria}
        return quoted_evidence(self.item.fields, against, example)

    def example_fields(self, example: Example) -> Mapping[str, FieldValue]:
        """The fields of a worked example as an item has them, in the protocol's order; those not shown are left out."""
        given = {name: (spec, example.fields.get(name)) for name, spec in self.item.fields.items() if spec.shown}
        return {name: field_value(spec, value) for name, (spec, value) in given.items() if value is not None}

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """What raters see as the heading of each field."""
        return field_titles(self.item.fields)

    @cached_property
    def shown_fields(self) -> Sequence[str]:
        return [name for name, spec in self.item.fields.items() if spec.shown]


def unit_fields(unit: str) -> tuple[str, ...]:
    """The fields that a unit rule names."""
    return tuple(unit.replace(",", " ").split()[2:])


def _evidence_fields(fields: Mapping[str, FieldSpec]) -> Sequence[str]:
    shown = {name: spec for name, spec in fields.items() if spec.shown}
    texts = [(name, spec) for name, spec in shown.items() if spec.kind not in ("ids", "label", "number")]
    return [name for name, spec in texts if spec.role in ("evidence", "rated")] or list(shown)


def quoted_evidence(
    fields: Mapping[str, FieldSpec], against: Mapping[str, Sequence[str]], example: Example
) -> Mapping[str, Mapping[str, str | None]]:
    """`Protocol.example_evidence` for some of its parts; `against` has the fields by criterion."""
    texts = {
        name: field_text(field_value(spec, example.fields[name]))
        for name, spec in fields.items()
        if name in example.fields
    }
    found: dict[str, Mapping[str, str | None]] = {}
    for criterion, some in example.evidence.items():
        names = against.get(criterion) or _evidence_fields(fields)
        quotes = Quotes({name: texts[name] for name in names if name in texts})
        spans = {quote: quotes.find(quote) for quote in some}
        found[criterion] = {quote: span.field if span else None for quote, span in spans.items()}
    return found


def field_titles(fields: Mapping[str, FieldSpec]) -> Mapping[str, str]:
    """The heading of each field."""
    return {name: spec.title or name.replace("_", " ").capitalize() for name, spec in fields.items()}


def field_value(spec: FieldSpec, value: object) -> FieldValue:
    """A value of a worked example, which was checked when its file was read."""
    if spec.kind == "triples":
        return tuple(Triple(*parts) for parts in cast("Sequence[Sequence[str]]", value))
    if spec.kind in ("passages", "ids"):
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
