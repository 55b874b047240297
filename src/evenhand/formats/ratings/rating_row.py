"""What a rating file may say about a rating besides its value: rationale, confidence, notes, status and the rest."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import fsum
from typing import Annotated, Any, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from evenhand.formats.tables.cells import short, text_of
from evenhand.protocol.model import Criterion
from evenhand.records import Span, Status, Value
from evenhand.scales import PERCENT, Ordinal, Percent, label_key

TOLERANCE = 1e-6
"""How far probabilities may be from summing to 1; files round them."""


@dataclass(frozen=True, slots=True)
class RowContext:
    """What a row is checked against: the fields that evidence may come from, and the criterion that is rated."""

    fields: Collection[str]
    criterion: Criterion


def _status(cell: object) -> object:
    return label_key(text_of(cell) or "").replace(" ", "_")


def _listed(cell: object) -> object:
    """A cell's list, as it is or as JSON."""
    try:
        return json.loads(cell) if isinstance(cell, str) else cell
    except ValueError:
        return cell


def _names(cell: object) -> object:
    """A list of names, or names with commas between them."""
    found = _listed(cell)
    names = cast("Sequence[object]", found) if isinstance(found, list | tuple) else (text_of(cell) or "").split(",")
    return [str(name).strip() for name in names if name and str(name).strip()]


def _time(cell: object) -> object:
    return cell if isinstance(cell, datetime) else datetime.fromisoformat((text_of(cell) or "").strip())


Plain = Annotated[str, BeforeValidator(text_of)]
Number = Annotated[float, BeforeValidator(text_of)]
Probability = Annotated[float, Field(strict=True, ge=0, le=1)]


class RatingRow(BaseModel):
    """The cells of one rating by their names; blank cells are left out. A description says what is valid."""

    status: Annotated[Status, BeforeValidator(_status)] = Field(Status.RATED, description=f"one of {', '.join(Status)}")
    rationale: Plain | None = None
    confidence: Annotated[float, BeforeValidator(PERCENT.read)] | None = None
    notes: Plain | None = None
    reason: Plain | None = None
    evidence: Annotated[tuple[tuple[StrictStr, StrictInt, StrictInt], ...], BeforeValidator(_listed)] = Field(
        (), description='evidence; write it as [["FIELD", START, END], …], with character positions from 0'
    )
    misquoted: Annotated[tuple[StrictStr, ...], BeforeValidator(_listed)] = Field(
        (), description='a list of texts; write it as ["TEXT", …]'
    )
    distribution: Annotated[tuple[tuple[object, Probability], ...], BeforeValidator(_listed)] = Field(
        (),
        description="a list of values with their probabilities from 0 to 1; write it as [[VALUE, PROBABILITY], …]",
    )
    mean: Number | None = Field(None, description="a number")
    reply: Plain | None = None
    seconds: Number | None = Field(None, ge=0, allow_inf_nan=False, description="a number of seconds")
    visible: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    raw: Plain | None = None
    at: Annotated[datetime, BeforeValidator(_time)] | None = Field(
        None, description="a time such as 2026-01-31T09:30:00+00:00"
    )

    @field_validator("evidence")
    @classmethod
    def _spans(cls, parts: tuple[tuple[str, int, int], ...], info: ValidationInfo) -> tuple[Any, ...]:
        fields = _context(info).fields
        for field, start, end in parts:
            if field not in fields:
                raise ValueError(f"there is no field {field!r} to take evidence from; there are: {', '.join(fields)}")
            if not 0 <= start <= end:
                raise ValueError(f"{start} to {end} is not a range of characters; positions count from 0")
        return tuple(Span(*part) for part in parts)

    @field_validator("distribution")
    @classmethod
    def _on_the_scale(cls, pairs: tuple[tuple[object, float], ...], info: ValidationInfo) -> tuple[Any, ...]:
        scale = _context(info).criterion.scale
        found: dict[Value, float] = {}
        for given, probability in pairs:
            value = scale.read(given)
            if value in found:
                raise ValueError(f"the value {value!r} is there twice")
            found[value] = probability
        total = fsum(found.values())
        if found and abs(total - 1) > TOLERANCE:
            raise ValueError(f"the probabilities sum to {total:.7g}, not to 1")
        return tuple(found.items())

    @field_validator("mean")
    @classmethod
    def _within_the_scale(cls, mean: float | None, info: ValidationInfo) -> float | None:
        scale = _context(info).criterion.scale
        if not isinstance(scale, Ordinal | Percent):
            raise ValueError("only numbers have a mean, and this criterion is rated with labels or text")
        lowest, highest = (scale.values[0], scale.values[-1]) if isinstance(scale, Ordinal) else (0, 100)
        slack = TOLERANCE * max(abs(lowest), abs(highest))
        if mean is not None and not lowest - slack <= mean <= highest + slack:
            raise ValueError(f"{mean:g} is not a number from {lowest} to {highest}")
        return mean

    @field_validator("at")
    @classmethod
    def _in_utc(cls, time: datetime | None) -> datetime | None:
        return time if time is None else time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


NAMES = tuple(RatingRow.model_fields)
"""The columns of a long file that a rating may have besides its value."""


def read_row(cells: Mapping[str, object], context: RowContext) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Keyword arguments for a Rating from the cells that are there, and what is wrong with each bad cell."""
    if not cells:
        return {}, {}
    try:
        row = RatingRow.model_validate(dict(cells), context=context)
    except ValidationError as error:
        wrong: dict[str, str] = {}
        for detail in error.errors():
            name = str(detail["loc"][0])
            said = detail["msg"].removeprefix("Value error, ") if detail["type"] == "value_error" else None
            valid = RatingRow.model_fields[name].description
            if said is None or name == "at":
                said = f"{short(cells[name])} is not {valid}"
            wrong.setdefault(name, said)
        return {}, wrong
    return {name: getattr(row, name) for name in row.model_fields_set}, {}


def _context(info: ValidationInfo) -> RowContext:
    assert isinstance(info.context, RowContext), "rows are read with their context"
    return info.context
