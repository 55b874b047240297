"""The form that people fill in, from the protocol, and the texts that they see, from an item. Pure.

Fields that raters must not see, and what a question unit contains of its reference, are left out of both.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from evenhand.assignment import Plan
from evenhand.protocol.guideline import condition_in_words
from evenhand.protocol.model import Criterion, Protocol, UnitKind, field_text
from evenhand.records import FieldValue, Span, Triple, Unit, Value
from evenhand.scales import Nominal, Numeric, Ordinal, Scale, Text, exempt_from_evidence, label_key
from evenhand.web.schemas import ResponseModel, view_of

_CANNOT_ASSESS = re.compile(
    r"\b(can ?not|can'?t|unable to|could not|couldn't|not able to)( \w+)? (assess|judge|tell)\b"
)

Asked = Literal["off", "optional", "required"]


class StudyInfo(ResponseModel):
    """The study and its protocol. `id` tells studies apart that are served at the same address one after another."""

    id: str
    title: str
    protocol: str
    version: str
    digest: str
    language: str


class FormField(ResponseModel):
    """A field that raters see; `labels` are the possible values of a label field, with their definitions."""

    name: str
    title: str
    kind: Literal["text", "passages", "triples", "ids", "label", "number"]
    role: Literal["evidence", "rated", "reference", "context"]
    description: str | None
    labels: dict[str, str] | None


class FormCondition(ResponseModel):
    """When a criterion is asked; `words` states the condition for raters."""

    criterion: str
    any_of: Sequence[Value] | None
    at_least: float | None
    at_most: float | None
    words: str


class ScaleChoice(ResponseModel):
    """A level or label; `text` explains when to choose it."""

    value: Value
    label: str
    text: str


class FormScale(ResponseModel):
    """A scale. Levels are listed from lowest to highest. `unanswerable`: `<Unanswerable>` is a valid answer.

    `exempt_from_evidence` are the answers that need no evidence even if it is required. `ends`: any number from the
    first to the second is an answer.
    """

    type: Literal["ordinal", "nominal", "text", "percent", "continuous"]
    values: list[ScaleChoice]
    exempt_from_evidence: Sequence[str]
    unanswerable: bool = False
    ends: tuple[float, float] | None = None


class FormCriterion(ResponseModel):
    """A question. `cannot_assess`: raters may choose "cannot assess", because no label of the scale means that.

    `of` is the field whose claims it is asked about, if not about all. `against`: the fields to check against, which
    may be cited as evidence, if they are not the form's.
    """

    id: str
    title: str
    question: str
    required: bool
    overall: bool
    when: FormCondition | None
    of: str | None
    against: Sequence[str] | None
    scale: FormScale
    rationale: Asked
    evidence: Asked
    cannot_assess: bool


class Form(ResponseModel):
    """Everything that the rating page needs to know about the protocol.

    `rated_field` is the field whose sentences are rated one by one, if raters see it. The rating of the criterion
    `lead`, or of the first one that is asked if that is not, carries confidence and notes. `evidence_fields` may be
    cited as evidence. `training` is the number of worked examples to rate first; `training_optional`: they may be
    skipped.
    """

    study: StudyInfo
    rater: str
    unit: UnitKind
    rated_field: str | None
    fields: list[FormField]
    criteria: list[FormCriterion]
    confidence: Asked
    notes: Asked
    lead: str
    evidence_fields: Sequence[str]
    training: int
    training_optional: bool
    reveal: Literal["never", "models", "all"]


class FieldPart(ResponseModel):
    """A part of a field's text; `offset` is its position in that text, in Unicode code points."""

    offset: int
    text: str
    label: str | None = None
    triple: tuple[str, str, str] | None = None


class FieldParts(ResponseModel):
    """The text of one field, in parts."""

    name: str
    parts: list[FieldPart]


def form_of(protocol: Protocol, plan: Plan, study: str, rater: str) -> Form:
    """The form of a protocol for one rater of the study with this identity."""
    rule = protocol.rule
    sentences_shown = rule.of == "sentence" and rule.fields[0] in protocol.shown_fields
    return view_of(
        Form,
        protocol,
        protocol.ask,
        plan,
        study=view_of(StudyInfo, protocol, id=study, protocol=protocol.name),
        rater=rater,
        unit=rule.of,
        rated_field=rule.fields[0] if sentences_shown else None,
        fields=[_field(protocol, name) for name in protocol.shown_fields],
        criteria=[_criterion(protocol, criterion) for criterion in protocol.criteria],
        lead=protocol.lead.id,
        training=0 if plan.training == "off" else len(protocol.examples),
        training_optional=plan.training != "required",
    )


def fields_of(protocol: Protocol, values: Mapping[str, FieldValue]) -> list[FieldParts]:
    """The fields of an item that raters see and that have a value, in the protocol's order."""
    return [FieldParts(name, parts_of(values[name])) for name in protocol.shown_fields if name in values]


def parts_of(value: FieldValue) -> list[FieldPart]:
    """The parts of a field's text as raters see it, each with its offset in `field_text(value)`.

    Triples are lines. Several passages are numbered, "[1] " and so on, with an empty line between them.
    """
    if not isinstance(value, tuple):
        return [FieldPart(0, field_text(value))]
    parts: list[FieldPart] = []
    offset = 0
    for number, part in enumerate(value, start=1):
        if isinstance(part, Triple):
            text, end = field_text((part,)), "\n"
            parts.append(FieldPart(offset, text, triple=(part.subject, part.predicate, part.object)))
        else:
            text, end = part, "\n\n"
            offset += len(f"[{number}] ") if len(value) > 1 else 0
            parts.append(FieldPart(offset, text, label=str(number) if len(value) > 1 else None))
        offset += len(text) + len(end)
    return parts


def shown_span(protocol: Protocol, unit: Unit) -> Span | None:
    """The span of a unit, unless its field is hidden from raters."""
    return unit.span if unit.span is not None and unit.span.field in protocol.shown_fields else None


def offers_cannot_assess(scale: Scale) -> bool:
    """Whether raters may answer "cannot assess": not if a label of the scale means that, in whatever spelling."""
    spellings: list[str] = []
    if isinstance(scale, Ordinal):
        spellings = [anchor.label for anchor in scale.levels.values()]
    elif isinstance(scale, Nominal):
        spellings = [spelling for name, label in scale.labels.items() for spelling in (name, *label.aliases)]
    return not any(_CANNOT_ASSESS.search(label_key(spelling)) for spelling in spellings)


def _field(protocol: Protocol, name: str) -> FormField:
    spec = protocol.item.fields[name]
    labels = None if spec.labels is None else {label: meaning.definition for label, meaning in spec.labels.items()}
    return view_of(FormField, spec, name=name, title=protocol.titles[name], labels=labels)


def _criterion(protocol: Protocol, criterion: Criterion) -> FormCriterion:
    when = criterion.when
    return view_of(
        FormCriterion,
        criterion,
        when=when and view_of(FormCondition, when, words=condition_in_words(protocol, when)),
        scale=_scale(criterion.scale),
        rationale=protocol.ask.rationale if criterion.id in protocol.with_rationale else "off",
        evidence=protocol.ask.evidence,
        cannot_assess=offers_cannot_assess(criterion.scale),
    )


def _scale(scale: Scale) -> FormScale:
    choices: list[ScaleChoice] = []
    if isinstance(scale, Ordinal):
        choices = [ScaleChoice(level, anchor.label, anchor.anchor) for level, anchor in scale.levels.items()]
    elif isinstance(scale, Nominal):
        choices = [ScaleChoice(name, name, label.definition) for name, label in scale.labels.items()]
    unanswerable = isinstance(scale, Text) and scale.unanswerable
    ends = scale.ends if isinstance(scale, Numeric) else None
    return FormScale(scale.type, choices, exempt_from_evidence(scale), unanswerable=unanswerable, ends=ends)
