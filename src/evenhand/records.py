"""Items, units, raters and ratings: the only vocabulary, frozen.

Nothing here knows a protocol or a file; whether a value fits its scale is settled in `scales` and `protocol`.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from secrets import token_hex
from typing import NamedTuple

UNANSWERABLE = "<Unanswerable>"
"""A text answer that says: the text does not answer this question. It is an answer, not a missing one."""

_UNANSWERABLE = frozenset(("unanswerable", "无法推断"))
"""How files and models write it; the second is how CRUD-RAG's do."""


def is_unanswerable(answer: str) -> bool:
    """Whether an answer says that the text does not answer the question, in any of its spellings."""
    return len(answer) < 40 and answer.strip(" \n<>\"'“”「」【】《》()（）.。!！,，").casefold() in _UNANSWERABLE


Value = int | float | str
"""A level (int), a percentage (float), a label or a text (str)."""


class Status(StrEnum):
    """What became of one question to one rater. Only `rated` carries a value."""

    RATED = "rated"
    NOT_ASKED = "not_asked"
    SKIPPED = "skipped"
    CANNOT_ASSESS = "cannot_assess"
    FAILED = "failed"


class Kind(StrEnum):
    """Who rates."""

    PERSON = "person"
    MODEL = "model"
    RULE = "rule"


class Triple(NamedTuple):
    """One statement of a knowledge graph."""

    subject: str
    predicate: str
    object: str


FieldValue = str | float | tuple[str, ...] | tuple[Triple, ...]
"""Text or label (str), number (float), passages and ids (tuple of str), triples (tuple of Triple)."""


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open character range of one field of the item; `end` is one past the last character.

    Passages and triples are counted as raters see them, in the text that `protocol.model.field_text` makes of them.
    """

    field: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Item:
    """One thing from the user's data. Optional fields that were not given are absent, never empty."""

    id: str
    fields: Mapping[str, FieldValue]


@dataclass(frozen=True, slots=True)
class Unit:
    """What a rating is about. `position` counts from 1 within the item.

    A sentence or claim has its `text` and the `field` that it comes from, and a `span` if it stands there word for
    word; a question has the question as `text`, and the reference's `answer` and the `key_info` it was made from; a
    whole item has none of these.
    """

    id: str
    item: str
    position: int
    text: str | None = None
    span: Span | None = None
    answer: str | None = None
    key_info: str | None = None
    field: str | None = None

    def __post_init__(self) -> None:
        if self.span is not None and self.field is None:
            object.__setattr__(self, "field", self.span.field)


def unit_id(item_id: str, position: int, rule: str) -> str:
    """The id of the n-th unit of an item, under the rule `item`, `sentence`, `question` or `claim`."""
    return item_id if rule == "item" else f"{item_id}#{position}"


@dataclass(frozen=True, slots=True)
class RaterRef:
    """Who rated: `version` and `config` (a digest of its configuration) tell two set-ups of one model apart."""

    id: str
    kind: Kind
    version: str = ""
    config: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model or program answers on one criterion, as it says it.

    `protocol.completion.ratings_of` checks whether the value fits the scale. `misquoted`, `distribution` and the rest
    mean the same as in Rating.
    """

    criterion: str
    value: object
    rationale: str | None = None
    confidence: float | None = None
    notes: str | None = None
    evidence: tuple[Span, ...] = ()
    misquoted: tuple[str, ...] = ()
    distribution: tuple[tuple[Value, float], ...] = ()


def new_id() -> str:
    """An id that no other writer makes, so that a rating sent twice is stored once.

    It begins with the time in milliseconds: what is stored together stands together in a database's index.
    """
    return f"{time.time_ns() // 1_000_000:012x}{token_hex(10)}"


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One rater's answer on one criterion of one unit.

    `value` is present exactly if `status` is `rated`. `digest` is the protocol's. `confidence` is a percentage.
    `visible` lists what the rater could see in addition to the item, such as other raters' labels. `misquoted` are
    quotations given as evidence that are not found in the item. `distribution` has the probability of each level or
    label, if the rater was asked several times or reported token probabilities; `mean` is the mean of the levels, and
    `value` their mode. `reply` is the id of the stored reply that the rating was parsed from. `reason` is why a rating
    failed, `raw` the reply as it was received. Ratings are never changed: a later one by the same rater on the same
    unit, criterion and digest supersedes it, and `supersedes` names the one it replaced.
    """

    unit: str
    criterion: str
    rater: str
    digest: str
    status: Status = Status.RATED
    value: Value | None = None
    rationale: str | None = None
    confidence: float | None = None
    notes: str | None = None
    evidence: tuple[Span, ...] = ()
    misquoted: tuple[str, ...] = ()
    distribution: tuple[tuple[Value, float], ...] = ()
    mean: float | None = None
    reply: str | None = None
    seconds: float | None = None
    visible: tuple[str, ...] = ()
    reason: str | None = None
    raw: str | None = None
    at: datetime = field(default_factory=now)
    id: str = field(default_factory=new_id)
    supersedes: str | None = None

    def __post_init__(self) -> None:
        if (self.value is not None) != (self.status is Status.RATED):
            raise ValueError(f"a rating has a value exactly when it is rated, not {self.status} with {self.value!r}")
        if self.status is Status.FAILED and not self.reason:
            raise ValueError("a failed rating says why")
