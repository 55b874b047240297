"""The shapes of what `agree --json` and `measures --json` print, for the description of the API.

The documents themselves are made by `report` and `measures`, for the command line and for the page alike; the models
here say what is in them.
"""

import json
from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

Number = float | None
Interval = tuple[float, float] | None


class Document(JSONResponse):
    """JSON in plain ASCII: data may hold halves of characters, which UTF-8 cannot."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class Statistic(BaseModel):
    """A figure: its value or why there is none, its 95% interval, and the units it rests on."""

    value: Number
    ci: Interval = Field(description="lower and upper end, or null")
    n: int = Field(description="units used")
    why: str | None = Field(description="why there is no value")
    note: str | None = Field(default=None, description="why there is no interval, where there is none")


class PairAgreement(BaseModel):
    """Two raters on the units that both rated. Coefficients that do not fit the scale's level are absent."""

    a: str
    b: str
    kind: Literal["person-person", "person-model", "model-model"]
    n: int
    percent: Statistic
    kappa: Statistic
    kappa_linear: Statistic | None = None
    kappa_quadratic: Statistic | None = None
    within_one: Statistic | None = None
    spearman: Statistic | None = None
    ac: Statistic
    macro_f1: Statistic
    per_label: dict[str, Statistic]
    labels: list[int | float | str]
    confusion: list[list[int]] = Field(description="rows: a, columns: b, in the order of labels")


class MajorityVote(BaseModel):
    """Units that every rater rated: all the same, more than half the same, neither."""

    n: int
    full: int
    majority: int
    none: int
    per_rater: dict[str, Number] = Field(description="each rater's match with the majority")
    with_others: dict[str, Statistic] = Field(description="each rater's match with the majority of the others")


class Ceiling(BaseModel):
    """What people reach among themselves."""

    percent: Statistic
    alpha: Statistic


class Baseline(BaseModel):
    """The commonest label among people, which a rater without eyes would always give."""

    label: int | float | str
    share: float


class CriterionAgreement(BaseModel):
    """How far all raters agree on one criterion, and every pair."""

    level: Literal["nominal", "ordinal", "interval"]
    n_units: int = Field(description="units rated by two or more")
    percent: Statistic
    alpha: Statistic
    ac: Statistic
    fleiss: Statistic
    icc: Statistic | None = None
    forms: dict[str, str] = Field(description="which of the forms that go by one name each figure is")
    majority: MajorityVote
    ceiling: Ceiling
    baseline: Baseline | None
    shares: dict[str, float]
    specific: dict[str, Statistic] = Field(description="agreement on each label")
    rare: Statistic = Field(description="agreement on the rare labels")
    warnings: list[str]
    pairs: list[PairAgreement]
    status: dict[str, int] = Field(description="ratings by status")


class RaterName(BaseModel):
    """A rater and what it is."""

    id: str
    kind: Literal["person", "model", "rule"]


class Target(Statistic):
    """A figure against the protocol's goal for it."""

    measure: str
    goal: float
    criterion: str | None
    a: str | None
    b: str | None
    label: int | float | str | None
    verdict: str
    met: bool
    more_items: int | None = Field(description="how many more items would settle it; null where no number is known to")


class LeftOut(BaseModel):
    """What no agreement counts."""

    earlier_protocols: dict[str, int] = Field(description="ratings under other versions of the protocol, by digest")
    adjudicators: list[str] = Field(description="raters who saw what others had said")


class AgreementDocument(BaseModel):
    """What `evenhand agree --json` prints."""

    protocol: str
    digest: str
    raters: list[RaterName]
    criteria: dict[str, CriterionAgreement]
    targets: list[Target]
    left_out: LeftOut


class MeasureFigure(Statistic):
    """One figure of a measure: of one rater or pair, overall or in one stratum."""

    name: str
    kind: str
    criterion: str | None
    rater: str | None
    against: str | None
    stratum: dict[str, str] | None
    label: int | float | str | None
    detail: dict[str, Any] | None = Field(description="what is no single number, such as a confusion table")
    left_out: dict[str, int] = Field(description="ratings not used, by reason")


class MeasuresDocument(BaseModel):
    """What `evenhand measures --json` prints."""

    protocol: str
    digest: str
    measures: list[MeasureFigure]
