"""A protocol → the form that people fill in, and an item → the texts they see: what a prompt is to models. Pure.

Fields that are not shown, and what a question unit knows of its reference, stay out of both.
"""

import re
from collections.abc import Mapping, Sequence

from evenhand.assign import Plan
from evenhand.protocol.guideline import field_text, field_title
from evenhand.protocol.in_words import condition_in_words
from evenhand.protocol.model import Condition, Criterion, Example, Protocol
from evenhand.raters.quotes import Quotes
from evenhand.raters.schema import asks_rationale, evidence_fields
from evenhand.records import FieldValue, Rating, Span, Triple, Unit
from evenhand.scales import Nominal, Ordinal, Scale, Text, label_key
from evenhand.web.shapes import (
    ChoiceShape,
    ConditionShape,
    CriterionShape,
    FieldPartsShape,
    FieldShape,
    FormShape,
    PartShape,
    RatingShape,
    ScaleShape,
    SpanShape,
    StudyShape,
)

_CANNOT_ASSESS = re.compile(
    r"\b(can ?not|can'?t|unable to|could not|couldn't|not able to)( \w+)? (assess|judge|tell)\b"
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def form_of(protocol: Protocol, plan: Plan, study: str, rater: str) -> FormShape:
    """The form of a protocol for one rater of the study with this identity."""
    rule = protocol.rule
    sentences = rule.of == "sentence" and rule.field in protocol.shown_fields()
    return FormShape(
        study=StudyShape(
            id=study,
            title=protocol.title,
            protocol=protocol.name,
            version=protocol.version,
            digest=protocol.digest,
            language=protocol.language,
        ),
        rater=sayable(rater),
        unit=rule.of,
        rated_field=rule.field if sentences else None,
        fields=[_field(protocol, name) for name in protocol.shown_fields()],
        criteria=[_criterion(protocol, criterion) for criterion in protocol.criteria],
        confidence=protocol.ask.confidence,
        notes=protocol.ask.notes,
        lead=protocol.lead.id,
        evidence_fields=list(evidence_fields(protocol)),
        training=0 if plan.training == "off" else len(protocol.examples),
        training_optional=plan.training != "required",
        reveal=plan.reveal,
    )


def fields_of(protocol: Protocol, given: Mapping[str, FieldValue]) -> list[FieldPartsShape]:
    """The fields of an item that are shown and there, in the protocol's order."""
    return [
        FieldPartsShape(name=name, parts=parts_of(given[name])) for name in protocol.shown_fields() if name in given
    ]


def parts_of(value: FieldValue) -> list[PartShape]:
    """The parts of a field's text as raters see it, each with its place in `field_text(value)`."""
    if not isinstance(value, tuple):
        return [PartShape(offset=0, text=sayable(field_text(value)))]
    if any(isinstance(part, Triple) for part in value):
        return _triples([part for part in value if isinstance(part, Triple)])
    return _passages([part for part in value if not isinstance(part, Triple)])


def example_unit(protocol: Protocol, example: Example, unit_id: str) -> Unit:
    """The unit of a worked example: the whole of it, or a sentence with its place where it is found, or a question."""
    rule = protocol.rule
    span: Span | None = None
    if rule.of == "sentence" and example.unit is not None and rule.field is not None:
        value = protocol.example_fields(example).get(rule.field)
        span = Quotes({rule.field: field_text(value)}).find(example.unit) if value is not None else None
    return Unit(unit_id, unit_id, 1, example.unit, span)


def shown_span(protocol: Protocol, unit: Unit) -> SpanShape | None:
    """Where a unit stands, unless its field is kept from raters."""
    span = unit.span
    if span is None or span.field not in protocol.shown_fields():
        return None
    return SpanShape(field=span.field, start=span.start, end=span.end)


def rating_shape(rating: Rating) -> RatingShape:
    return RatingShape(
        id=rating.id,
        status=rating.status.value,
        value=sayable_value(rating.value),
        rationale=sayable_or_none(rating.rationale),
        confidence=rating.confidence,
        notes=sayable_or_none(rating.notes),
        evidence=[SpanShape(field=span.field, start=span.start, end=span.end) for span in rating.evidence],
        reason=sayable_or_none(rating.reason),
        at=rating.at.isoformat(),
    )


def may_say_cannot_assess(scale: Scale) -> bool:
    """Whether "cannot assess" is offered beside a scale: not where one of its own labels says so, however spelt."""
    spellings: list[str] = []
    if isinstance(scale, Ordinal):
        spellings = [anchor.label for anchor in scale.levels.values()]
    elif isinstance(scale, Nominal):
        spellings = [spelling for name, label in scale.labels.items() for spelling in (name, *label.aliases)]
    return not any(_CANNOT_ASSESS.search(label_key(spelling)) for spelling in spellings)


def sayable(text: str) -> str:
    """A text as JSON can carry it: half of a character, which UTF-8 does not know, becomes one that stands for it.

    The length stays, so that places in the text stay.
    """
    return text if text.isascii() else _LONE_SURROGATE.sub(_REPLACEMENT, text)


def sayable_or_none(text: str | None) -> str | None:
    return None if text is None else sayable(text)


def sayable_value(value: int | float | str | None) -> int | float | str | None:
    return sayable(value) if isinstance(value, str) else value


def _field(protocol: Protocol, name: str) -> FieldShape:
    spec = protocol.item.fields[name]
    labels = None if spec.labels is None else {label: meaning.definition for label, meaning in spec.labels.items()}
    return FieldShape(
        name=name,
        title=field_title(name, spec),
        kind=spec.kind,
        role=spec.role,
        description=spec.description,
        labels=labels,
    )


def _criterion(protocol: Protocol, criterion: Criterion) -> CriterionShape:
    return CriterionShape(
        id=criterion.id,
        title=criterion.title,
        question=criterion.question,
        required=criterion.required,
        overall=criterion.overall,
        when=None if criterion.when is None else _condition(protocol, criterion.when),
        scale=_scale(criterion.scale),
        rationale=protocol.ask.rationale if asks_rationale(protocol, criterion) else "off",
        evidence=protocol.ask.evidence,
        cannot_assess=may_say_cannot_assess(criterion.scale),
    )


def _condition(protocol: Protocol, condition: Condition) -> ConditionShape:
    return ConditionShape(
        criterion=condition.criterion,
        any_of=None if condition.any_of is None else list(condition.any_of),
        at_least=condition.at_least,
        at_most=condition.at_most,
        words=condition_in_words(protocol, condition),
    )


def _scale(scale: Scale) -> ScaleShape:
    if isinstance(scale, Ordinal):
        levels = [(level, scale.levels[level]) for level in scale.values]
        choices = [ChoiceShape(value=level, label=anchor.label, text=anchor.anchor) for level, anchor in levels]
        return ScaleShape(type="ordinal", values=choices)
    if isinstance(scale, Nominal):
        labels = scale.labels.items()
        choices = [ChoiceShape(value=name, label=name, text=label.definition) for name, label in labels]
        return ScaleShape(type="nominal", values=choices)
    return ScaleShape(type=scale.type, values=[], unanswerable=isinstance(scale, Text) and scale.unanswerable)


def _triples(triples: Sequence[Triple]) -> list[PartShape]:
    parts: list[PartShape] = []
    offset = 0
    for triple in triples:
        subject, predicate, object_ = map(sayable, triple)
        text = field_text((triple,))
        parts.append(PartShape(offset=offset, text=sayable(text), triple=(subject, predicate, object_)))
        offset += len(text) + len("\n")
    return parts


def _passages(passages: Sequence[str]) -> list[PartShape]:
    """Several passages have their number before them, "[1] " and so on, and an empty line between them."""
    if len(passages) == 1:
        return [PartShape(offset=0, text=sayable(passages[0]))]
    parts: list[PartShape] = []
    offset = 0
    for number, passage in enumerate(passages, start=1):
        offset += len(f"[{number}] ")
        parts.append(PartShape(offset=offset, text=sayable(passage), label=str(number)))
        offset += len(passage) + len("\n\n")
    return parts
