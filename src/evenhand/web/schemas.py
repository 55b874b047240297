"""What all requests and responses of the API have in common. The rest is described where it is made.

Requests are pydantic models. Responses are dataclasses, which FastAPI documents and serialises without validating them
again.
"""

import json
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar, dataclass_transform

from pydantic import BaseModel, ConfigDict, PlainSerializer
from starlette.responses import JSONResponse

from evenhand.statistics import Estimate

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MAX_ID = 2000
"""Characters in the id of an item, a unit or a rater."""

Moment = Annotated[datetime, PlainSerializer(datetime.isoformat, return_type=str)]
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


def view_of(view: type[V], *records: object, **more: object) -> V:
    """A view with the given fields. Each of the others is from the first record that has one of that name; an estimate
    becomes a StatisticView."""
    for name in [entry.name for entry in fields(view) if entry.name not in more]:
        found = [getattr(record, name) for record in records if hasattr(record, name)]
        if found:
            more[name] = StatisticView.of(found[0]) if isinstance(found[0], Estimate) else found[0]
    return view(**more)


class ErrorMessage(ResponseModel):
    """Why a request failed and what to do."""

    error: str


class InvalidBody(ErrorMessage):
    """A request that is not valid; `problems` lists what is wrong and where."""

    problems: list[str] = field(default_factory=list[str])


class StrictRequest(BaseModel):
    """A request body, or a part of one; unknown keys are rejected."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class StatisticView(ResponseModel):
    """A figure with its 95% interval `ci` and the number of units `n`.

    Without a value, `why` gives the reason; `note` explains a missing interval.
    """

    value: float | None
    ci: tuple[float, float] | None
    n: int
    why: str | None
    note: str | None = None

    @classmethod
    def of(cls, estimate: Estimate, *records: object, **more: object) -> Self:
        interval = None if estimate.low is None else (estimate.low, estimate.high)
        return view_of(cls, estimate, *records, ci=interval, **more)
