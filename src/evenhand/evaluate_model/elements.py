"""The elements that a prompt is made of, as a `gen_ai.json` holds them, and the protocol that they make.

They never stand beside a protocol: they are laid into a copy of the built-in one, so that prompt, output schema and
ratings come from one place, under a digest of its own.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Ask, Criterion, Example, Protocol
from evenhand.records import Value
from evenhand.scales import Nominal, Ordinal, Scale, Strict

ModelType = Literal["feedback_generation", "ai_detection"]

PROTOCOLS: Mapping[str, str] = {"feedback_generation": "feedback", "ai_detection": "ai-detection"}
"""The built-in protocol of each model type."""

Words = Annotated[str, Field(min_length=1)]


class LevelWords(Strict):
    """When a level or a label is chosen."""

    name: Words | None = Field(default=None, description="the level's short name, such as Excellent")
    description: Words


class CriterionWords(Strict):
    """What is asked on one criterion; what is left out stays as the built-in protocol has it."""

    name: Words | None = None
    question: Words | None = None
    levels: Mapping[str, LevelWords] = Field(default_factory=dict[str, LevelWords])


class ExampleWords(Strict):
    """A worked example: the fields of an item, the scores it gets, and why."""

    title: Words
    input: Annotated[Mapping[str, object], Field(min_length=1)]
    scores: Annotated[Mapping[str, Value], Field(min_length=1)]
    reasoning: Mapping[str, str] = Field(default_factory=dict[str, str])
    confidence: float | None = Field(default=None, ge=0, le=100)
    notes: str | None = None
    explanation: str | None = None


class Elements(Strict):
    """Everything that the prompt of one model type is made of."""

    role: Words
    responsibilities: tuple[Words, ...] = ()
    qualities: Mapping[str, Words] = Field(default_factory=dict[str, str])
    criteria: Mapping[str, CriterionWords] = Field(default_factory=dict[str, CriterionWords])
    examples: tuple[ExampleWords, ...] | None = None
    output: Ask | None = None


class GenAi(Strict):
    """A whole `gen_ai.json`: one part for each model type."""

    feedback_generation: Elements | None = None
    ai_detection: Elements | None = None


def built_in(model_type: ModelType) -> Protocol:
    """The protocol that a model type is rated under, as it is shipped."""
    return load_protocol(PROTOCOLS[model_type])


def with_elements(protocol: Protocol, elements: Elements) -> Protocol:
    """A copy of the protocol with these elements in place of its own."""
    criteria = [_reworded(criterion, elements.criteria.get(criterion.id)) for criterion in protocol.criteria]
    examples = protocol.examples if elements.examples is None else tuple(map(_example, elements.examples))
    return protocol.model_copy(
        update={
            "version": f"{protocol.version}+gen_ai",
            "instructions": _instructions(elements),
            "criteria": tuple(criteria),
            "examples": examples,
            "ask": protocol.ask if elements.output is None else elements.output,
        }
    )


def reworded_scale(scale: Scale, levels: Mapping[str, LevelWords]) -> Scale:
    """The scale with these words for its levels. Raises ValueError where two levels come to be called the same."""
    if isinstance(scale, Ordinal):
        spoken = {str(level): level for level in scale.levels}
        anchors = {level: anchor.model_dump() for level, anchor in scale.levels.items()}
        for name, words in levels.items():
            old = anchors[spoken[name]]
            anchors[spoken[name]] = {"label": words.name or old["label"], "anchor": words.description}
        return Ordinal.model_validate({"type": "ordinal", "levels": anchors})
    if isinstance(scale, Nominal):
        labels = dict(scale.labels)
        for name, words in levels.items():
            labels[name] = labels[name].model_copy(update={"definition": words.description})
        return Nominal(type="nominal", labels=labels)
    return scale


def template(model_type: ModelType) -> dict[str, Any]:
    """The elements of the built-in protocol, complete, as a file would have them."""
    protocol = built_in(model_type)
    elements = Elements(
        role=_ROLES[model_type],
        responsibilities=_RESPONSIBILITIES[model_type],
        qualities=_QUALITIES[model_type],
        criteria={criterion.id: _words_of(criterion) for criterion in protocol.criteria},
        examples=tuple(map(_words_of_example, protocol.examples)),
        output=protocol.ask,
    )
    return elements.model_dump(mode="json", exclude_none=True)


def _reworded(criterion: Criterion, words: CriterionWords | None) -> Criterion:
    if words is None:
        return criterion
    update = {
        "name": words.name or criterion.name,
        "question": words.question or criterion.question,
        "scale": reworded_scale(criterion.scale, words.levels),
    }
    return criterion.model_copy(update=update)


def _example(words: ExampleWords) -> Example:
    return Example(
        title=words.title,
        fields=words.input,
        ratings=words.scores,
        rationales=words.reasoning,
        confidence=words.confidence,
        notes=words.notes,
        explanation=words.explanation,
    )


def _words_of(criterion: Criterion) -> CriterionWords:
    scale, levels = criterion.scale, dict[str, LevelWords]()
    if isinstance(scale, Ordinal):
        spoken = sorted(scale.levels.items(), reverse=True)
        levels = {str(level): LevelWords(name=anchor.label, description=anchor.anchor) for level, anchor in spoken}
    elif isinstance(scale, Nominal):
        levels = {name: LevelWords(description=label.definition) for name, label in scale.labels.items()}
    return CriterionWords(name=criterion.title, question=criterion.question, levels=levels)


def _words_of_example(example: Example) -> ExampleWords:
    return ExampleWords(
        title=example.title,
        input=example.fields,
        scores=example.ratings,
        reasoning=example.rationales,
        confidence=example.confidence,
        notes=example.notes,
        explanation=example.explanation,
    )


def _instructions(elements: Elements) -> str:
    parts = [elements.role.strip()]
    if elements.responsibilities:
        duties = "\n".join(f"- {duty.strip()}" for duty in elements.responsibilities)
        parts.append(f"What you do:\n\n{duties}")
    if elements.qualities:
        expected = "\n".join(f"- *{name.strip()}*: {words.strip()}" for name, words in elements.qualities.items())
        parts.append(f"What is expected of you:\n\n{expected}")
    return "\n\n".join(parts) + "\n"


_ROLES: Mapping[str, str] = {
    "feedback_generation": (
        "A model has written feedback on a student's work. You rate how good that feedback is, as an experienced "
        "teacher would who wants the student to learn from it. You never rate the student's work itself."
    ),
    "ai_detection": (
        "A detector has read a text and predicted who wrote it, a person or a machine. You see the text, its label and "
        "the prediction, and you say whether the prediction is right, and why."
    ),
}

_RESPONSIBILITIES: Mapping[str, tuple[str, ...]] = {
    "feedback_generation": (
        "Read the feedback to its end before you rate, with the criterion, the domain and, where it is shown, the "
        "student's work in mind.",
        "Choose on each criterion the level from 1 to 5 whose description fits best.",
        "Give a reason for each level that points at words of the feedback.",
        "Give the overall rating. It grows out of the six and may lie above or below their average where a strength or "
        "a weakness is out of the ordinary.",
        "Say how sure you are, as a percentage.",
        "Add what you would improve, in the feedback or in these criteria.",
    ),
    "ai_detection": (
        "Read the text first and form a view of your own before you look at label and prediction.",
        "Compare the prediction with the label, which is the reference: the same origin is correct, any other is "
        "incorrect, however it is spelt.",
        "Give reasons from the text: what may have led the detector to its prediction, and whether that was a good "
        "ground or a misleading one.",
        "Go by the label even where the text makes you doubt it, and say so in your reasons.",
    ),
}

_QUALITIES: Mapping[str, Mapping[str, str]] = {
    "feedback_generation": {
        "objective": "the same yardstick for every text, whoever wrote it",
        "precise": "argue from what the feedback says and not from what it may have meant",
        "educationally aware": "ask what the feedback will do for this student's learning",
    },
    "ai_detection": {
        "objective": "the same yardstick for the texts of people and of machines",
        "precise": "argue from wording that stands in the text",
        "educationally aware": "bear in mind how learners and second-language writers write",
    },
}
