"""The JSON of the API, as far as several routes share it: requests are checked here, responses described.

Requests are pydantic models. Responses are dataclasses, which FastAPI documents and serialises without validating them
again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, dataclass_transform

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, StrictFloat, StrictInt, StrictStr
from starlette.responses import JSONResponse

from evenhand.assignment import TaskState
from evenhand.records import Kind, Span, Status, Value
from evenhand.statistics import Estimate

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MAX_TEXT = 20_000
"""Characters in anything a rater writes."""
MAX_SPANS = 100
MAX_SECONDS = 86_400
"""A day."""
MAX_ID = 2000
"""Characters in the id of an item, a unit or a rater."""

Asked = Literal["off", "optional", "required"]
Moment = Annotated[datetime, PlainSerializer(datetime.isoformat, return_type=str)]
LongText = Annotated[StrictStr, Field(max_length=MAX_TEXT)]
V = TypeVar("V", bound="DataclassInstance")


class AsciiJSONResponse(JSONResponse):
    """JSON in ASCII. Data may contain lone surrogates, which UTF-8 cannot encode but JSON escapes can."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


@dataclass_transform(frozen_default=True)
class ResponseModel:
    """A part of a response. Every subclass is a frozen dataclass."""

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        dataclass(frozen=True, kw_only=kw_only)(cls)


def view_of(view: type[V], record: object, **more: object) -> V:
    """A view with the fields that `record` has under the same names, and the given ones."""
    own = {entry.name: getattr(record, entry.name) for entry in fields(view) if entry.name not in more}
    return view(**own, **more)


# Errors


class ErrorMessage(ResponseModel):
    """Why a request failed and what to do."""

    error: str


class InvalidBody(ErrorMessage):
    """A request that is not valid; `problems` lists what is wrong and where."""

    problems: list[str] = field(default_factory=list[str])


# The form


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
    kind: Literal["text", "passages", "triples", "label", "number"]
    role: Literal["evidence", "rated", "reference", "context"]
    description: str | None
    labels: dict[str, str] | None


class FormCondition(ResponseModel):
    """When a criterion is asked; `words` states the condition for raters."""

    criterion: str
    any_of: list[Value] | None
    at_least: float | None
    at_most: float | None
    words: str


class ScaleChoice(ResponseModel):
    """A level or label; `text` explains when to choose it."""

    value: Value
    label: str
    text: str


class FormScale(ResponseModel):
    """A scale. Levels are listed from lowest to highest. `unanswerable`: `<Unanswerable>` is a valid answer."""

    type: Literal["ordinal", "nominal", "text", "percent"]
    values: list[ScaleChoice]
    unanswerable: bool = False


class FormCriterion(ResponseModel):
    """A question. `cannot_assess`: raters may choose "cannot assess", because no label of the scale means that."""

    id: str
    title: str
    question: str
    required: bool
    overall: bool
    when: FormCondition | None
    scale: FormScale
    rationale: Asked
    evidence: Asked
    cannot_assess: bool


class Form(ResponseModel):
    """Everything that the rating page needs to know about the protocol.

    `rated_field` is the field whose sentences are rated one by one, if raters see it. The rating of the criterion
    `lead` carries confidence and notes. `evidence_fields` may be cited as evidence. `training` is the number of worked
    examples to rate first; `training_optional`: they may be skipped.
    """

    study: StudyInfo
    rater: str
    unit: Literal["item", "sentence", "question"]
    rated_field: str | None
    fields: list[FormField]
    criteria: list[FormCriterion]
    confidence: Asked
    notes: Asked
    lead: str
    evidence_fields: list[str]
    training: int
    training_optional: bool
    reveal: Literal["never", "models", "all"]


# Items, units and ratings


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


class RatingView(ResponseModel):
    """A current rating."""

    id: str
    status: Status
    value: Value | None
    rationale: str | None
    confidence: float | None
    notes: str | None
    evidence: Sequence[Span]
    reason: str | None
    at: Moment


class MissingPart(ResponseModel):
    """Something that a unit still needs. Without a criterion it concerns the unit as a whole."""

    criterion: str | None
    what: str


class UnitState(ResponseModel):
    """Whether a unit is finished, and what is missing."""

    finished: bool
    missing: list[MissingPart]


class UnitView(UnitState):
    """A unit with its rater's current ratings, by criterion."""

    position: int
    text: str | None
    span: Span | None
    ratings: dict[str, RatingView]


class OtherRating(ResponseModel):
    """Another rater's answer."""

    rater: str
    kind: Kind
    position: int
    criterion: str
    status: Status
    value: Value | None
    rationale: str | None


class SavedAnswer(ResponseModel):
    """The stored rating and the state of its unit."""

    rating: RatingView
    unit: UnitState


# Tasks


class ExampleVerdict(ResponseModel):
    """One answer to a worked example, with the expected one."""

    criterion: str
    expected: Value | None
    given: Value | None
    right: bool
    rationale: str | None


class Feedback(ResponseModel):
    """The expected answers to a worked example."""

    explanation: str | None
    criteria: list[ExampleVerdict]


class TaskView(ResponseModel):
    """An item or a worked example for one rater. `title` is the worked example's. `locked`: its answers are final."""

    number: int
    purpose: Literal["training", "rate"]
    state: TaskState
    locked: bool
    title: str | None
    fields: list[FieldParts]
    units: list[UnitView]
    feedback: Feedback | None
    others: list[OtherRating] | None


class TaskProgress(ResponseModel):
    """The number of tasks a rater has done, without training, and the total, if it is known."""

    done: int
    of: int | None


class NextTask(ResponseModel):
    """The next task, or why there is none; `completion` is the address to go to when everything is done."""

    state: Literal["task", "paused", "done"]
    task: TaskView | None
    progress: TaskProgress
    completion: str | None = None


class TaskSummary(ResponseModel):
    """A task without its content."""

    number: int
    purpose: Literal["training", "rate"]
    state: TaskState
    opened: Moment
    finished: Moment | None


class TaskList(ResponseModel):
    """A rater's tasks, in order."""

    tasks: list[TaskSummary]
    progress: TaskProgress


class TaskStatus(ResponseModel):
    """Whether a task is done, and whether its answers are final."""

    state: TaskState
    locked: bool


class FinishedUnit(ResponseModel):
    """A finished unit and its task."""

    unit: UnitView
    task: TaskStatus
    feedback: Feedback | None
    others: list[OtherRating] | None


class TrainingSkipped(ResponseModel):
    """The rater continues with the items."""

    state: Literal["training_over"] = "training_over"


# Requests


class StrictRequest(BaseModel):
    """A request body, or a part of one; unknown keys are rejected."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


ANSWER_EXAMPLE: Mapping[str, Any] = {
    "id": "019a8b6c0f2a4d5e6f708192a3b4c5d6",
    "status": "rated",
    "value": "SUPPORTED",
    "confidence": 90,
    "seconds": 12.5,
}


class EvidenceSpan(StrictRequest):
    """A half-open range of a field's text, in Unicode code points."""

    field: str
    start: Annotated[StrictInt, Field(ge=0)]
    end: Annotated[StrictInt, Field(ge=0)]


class AnswerRequest(StrictRequest, json_schema_extra={"examples": [ANSWER_EXAMPLE]}):
    """An answer on one criterion of one unit. The sender makes its id: if it is sent twice, it is stored once."""

    id: Annotated[
        StrictStr, Field(pattern=r"^[0-9a-f]{32}$", description="32 lower-case hexadecimal digits, never used before")
    ]
    status: Literal["rated", "skipped", "cannot_assess"]
    value: StrictInt | StrictFloat | LongText | None = None
    rationale: LongText | None = None
    confidence: Annotated[float, Field(ge=0, le=100, strict=True)] | None = None
    notes: LongText | None = None
    evidence: Annotated[list[EvidenceSpan], Field(max_length=MAX_SPANS)] = []
    seconds: Annotated[float, Field(ge=0, le=MAX_SECONDS, strict=True)] | None = Field(
        default=None, description="time the rater spent on this answer"
    )
    taken_back: bool = Field(default=False, description="with status skipped: the answer is withdrawn")


class NextTaskRequest(StrictRequest, json_schema_extra={"examples": [{"holding": []}]}):
    """The numbers of the tasks that the page already has."""

    holding: Annotated[list[Annotated[StrictInt, Field(ge=1, le=2**31)]], Field(max_length=1000)] = []


class SkipRequest(StrictRequest, json_schema_extra={"examples": [{"reason": "the text is cut off"}]}):
    """Why an item is skipped."""

    reason: LongText | None = None


# Errors with more than a message


class ConflictBody(ErrorMessage):
    """`present` is the current rating; null if there is none, or if the task as a whole cannot be changed."""

    present: RatingView | None = None


class IncompleteBody(InvalidBody):
    """`missing` lists what the unit still needs."""

    missing: list[MissingPart] = field(default_factory=list[MissingPart])


# Statistics


class StatisticView(ResponseModel):
    """A figure with its 95 % interval `ci` and the number of units `n`.

    Without a value, `why` gives the reason; `note` explains a missing interval.
    """

    value: float | None
    ci: tuple[float, float] | None
    n: int
    why: str | None
    note: str | None = None

    @classmethod
    def of(cls, estimate: Estimate, **more: object) -> Self:
        low, high = estimate.low, estimate.high
        interval = None if low is None or high is None else (low, high)
        return view_of(cls, estimate, ci=interval, **more)
