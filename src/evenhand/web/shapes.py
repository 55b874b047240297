"""The JSON that the rating page speaks: what comes in is checked here, what goes out is described here."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from evenhand.web.faults import Invalid, Refusal

LONGEST = 20_000
"""Characters of anything a rater writes."""

MOST_SPANS = 100
LONGEST_TIME = 86_400

Asked = Literal["off", "optional", "required"]
Long = Annotated[StrictStr, Field(max_length=LONGEST)]
Value = StrictInt | StrictFloat | StrictStr
"""Strict, because `true` is no level and `"4"` no number."""


class Shape(BaseModel):
    """A part of a request or an answer; a key that means nothing here is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


# What is asked


class StudyShape(Shape):
    """`id` tells studies apart that are served at one address, one after the other."""

    id: str
    title: str
    protocol: str
    version: str
    digest: str
    language: str


class FieldShape(Shape):
    """A field that raters see; `labels` are the values a label field may have, with their definitions."""

    name: str
    title: str
    kind: Literal["text", "passages", "triples", "label", "number"]
    role: Literal["evidence", "rated", "reference", "context"]
    description: str | None
    labels: dict[str, str] | None


class ConditionShape(Shape):
    """When a criterion is asked; `words` says it to a rater."""

    criterion: str
    any_of: list[Value] | None
    at_least: float | None
    at_most: float | None
    words: str


class ChoiceShape(Shape):
    """One level or label; `text` says when to choose it."""

    value: Value
    label: str
    text: str


class ScaleShape(Shape):
    """A scale; levels run from lowest to highest. `unanswerable`: whether `<Unanswerable>` is an answer of its own."""

    type: Literal["ordinal", "nominal", "text", "percent"]
    values: list[ChoiceShape]
    unanswerable: bool = False


class CriterionShape(Shape):
    """A question; `cannot_assess`: whether a rater may say so, where no label of the scale says it already."""

    id: str
    title: str
    question: str
    required: bool
    overall: bool
    when: ConditionShape | None
    scale: ScaleShape
    rationale: Asked
    evidence: Asked
    cannot_assess: bool


class FormShape(Shape):
    """Everything about a protocol that the page needs to draw its form."""

    study: StudyShape
    rater: str
    unit: Literal["item", "sentence", "question"]
    rated_field: str | None = Field(description="the field whose sentences are rated one by one, where it is shown")
    fields: list[FieldShape]
    criteria: list[CriterionShape]
    confidence: Asked
    notes: Asked
    lead: str = Field(description="the criterion whose rating carries confidence and notes")
    evidence_fields: list[str] = Field(description="the fields that may be cited as evidence")
    training: int = Field(description="how many worked examples there are to rate first")
    training_optional: bool = Field(description="whether the training may be skipped")
    reveal: Literal["never", "models", "all"]


# What is rated


class PartShape(Shape):
    """A piece of a field's text; `offset` is its place in that text, counted in Unicode code points."""

    offset: int
    text: str
    label: str | None = None
    triple: tuple[str, str, str] | None = None


class FieldPartsShape(Shape):
    name: str
    parts: list[PartShape]


class SpanShape(Shape):
    """A half-open range of a field's text, counted in Unicode code points."""

    field: str
    start: Annotated[StrictInt, Field(ge=0)]
    end: Annotated[StrictInt, Field(ge=0)]


class RatingShape(Shape):
    """A rating in force."""

    id: str
    status: Literal["rated", "skipped", "cannot_assess", "not_asked", "failed"]
    value: Value | None
    rationale: str | None
    confidence: float | None
    notes: str | None
    evidence: list[SpanShape]
    reason: str | None
    at: str


class MissingShape(Shape):
    """What a unit still lacks; without a criterion it is about the unit as a whole."""

    criterion: str | None
    what: str


class StandingShape(Shape):
    """How far a unit is."""

    finished: bool
    missing: list[MissingShape]


class UnitShape(StandingShape):
    """One unit of a task with its rater's ratings by criterion."""

    position: int
    text: str | None
    span: SpanShape | None
    ratings: dict[str, RatingShape]


class VerdictShape(Shape):
    """One answer to a worked example, beside the expected one."""

    criterion: str
    expected: Value | None
    given: Value | None
    right: bool
    rationale: str | None


class FeedbackShape(Shape):
    explanation: str | None
    criteria: list[VerdictShape]


class OtherShape(Shape):
    """What somebody else said."""

    rater: str
    kind: Literal["person", "model", "rule"]
    position: int
    criterion: str
    status: Literal["rated", "skipped", "cannot_assess", "not_asked", "failed"]
    value: Value | None
    rationale: str | None


State = Literal["open", "done", "returned"]


class TaskShape(Shape):
    """An item or worked example in a rater's hands; `locked`: its answers are final."""

    number: int
    purpose: Literal["training", "rate"]
    state: State
    locked: bool
    title: str | None = Field(description="the title of a worked example")
    fields: list[FieldPartsShape]
    units: list[UnitShape]
    feedback: FeedbackShape | None
    others: list[OtherShape] | None


class ProgressShape(Shape):
    """How many tasks a rater has done, training left aside, and of how many, where that is known."""

    done: int
    of: int | None


class NextShape(Shape):
    """The next task, or why there is none; `completion` is where a rater goes who is done."""

    state: Literal["task", "paused", "done"]
    task: TaskShape | None
    progress: ProgressShape
    completion: str | None = None


class ListedTaskShape(Shape):
    number: int
    purpose: Literal["training", "rate"]
    state: State
    opened: str
    finished: str | None


class TasksShape(Shape):
    tasks: list[ListedTaskShape]
    progress: ProgressShape


class SavedShape(Shape):
    rating: RatingShape
    unit: StandingShape


class TaskStateShape(Shape):
    state: State
    locked: bool


class FinishedShape(Shape):
    unit: UnitShape
    task: TaskStateShape
    feedback: FeedbackShape | None
    others: list[OtherShape] | None


class TrainingOverShape(Shape):
    state: Literal["training_over"] = "training_over"


# What comes in


class HoldingShape(Shape):
    """The numbers of tasks that the page has already."""

    holding: Annotated[list[Annotated[StrictInt, Field(ge=1, le=2**31)]], Field(max_length=1000)] = []


class AnswerShape(Shape):
    """An answer on one criterion of one unit. Whoever sends it makes its id: sent twice, it is kept once."""

    id: Annotated[
        StrictStr, Field(pattern=r"^[0-9a-f]{32}$", description="32 lower-case hex digits, never used before")
    ]
    status: Literal["rated", "skipped", "cannot_assess"]
    value: StrictInt | StrictFloat | Long | None = None
    rationale: Long | None = None
    confidence: Annotated[float, Field(ge=0, le=100, strict=True)] | None = None
    notes: Long | None = None
    evidence: Annotated[list[SpanShape], Field(max_length=MOST_SPANS)] = []
    seconds: Annotated[float, Field(ge=0, le=LONGEST_TIME, strict=True)] | None = Field(
        default=None, description="time that the rater spent on this answer"
    )
    taken_back: bool = Field(default=False, description="with status skipped: there is no answer any more")


class SkipShape(Shape):
    reason: Long | None = None


# What goes wrong


class ConflictShape(Refusal):
    """`present` is the rating in force instead; none where there is none, or the task as a whole cannot be changed."""

    present: RatingShape | None = None


class IncompleteShape(Invalid):
    """`missing` says what the unit lacks."""

    missing: list[MissingShape] = Field(default_factory=list[MissingShape])
