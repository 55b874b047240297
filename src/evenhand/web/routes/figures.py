"""Agreement and measures as JSON, for the owner's programs.

The documents are those that `agree --json` and `measures --json` print. The models here only describe them.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field

from evenhand.analysis.tables import Tables
from evenhand.report.build import agreement_report, measures_report
from evenhand.report.json import Json, agree_json, measures_json
from evenhand.web.dependencies import Owner, ServicesOf
from evenhand.web.schemas import AsciiJSONResponse, StatisticView

router = APIRouter(prefix="/api", tags=["data"])

Number = float | None


@dataclass(frozen=True, kw_only=True)
class PairAgreement:
    """Two raters on the units that both rated. Coefficients that do not suit the scale are absent."""

    a: str
    b: str
    kind: Literal["person-person", "person-model", "model-model"]
    n: int
    percent: StatisticView
    kappa: StatisticView
    kappa_linear: StatisticView | None = None
    kappa_quadratic: StatisticView | None = None
    within_one: StatisticView | None = None
    spearman: StatisticView | None = None
    ac: StatisticView
    macro_f1: StatisticView
    per_label: dict[str, StatisticView]
    labels: list[int | float | str]
    confusion: Annotated[list[list[int]], Field(description="rows: a, columns: b, in the order of labels")]


@dataclass(frozen=True, kw_only=True)
class MajorityVote:
    """Units that every rater rated: all ratings equal, more than half equal, neither."""

    n: int
    full: int
    majority: int
    none: int
    per_rater: Annotated[dict[str, Number], Field(description="each rater's match with the majority")]
    with_others: Annotated[
        dict[str, StatisticView], Field(description="each rater's match with the majority of the others")
    ]


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """The agreement of the people with each other."""

    percent: StatisticView
    alpha: StatisticView


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """The most frequent label of the people, which a constant rater would always give."""

    label: int | float | str
    share: float


@dataclass(frozen=True, kw_only=True)
class CriterionAgreement:
    """The agreement of all raters, and of every pair, on one criterion."""

    level: Literal["nominal", "ordinal", "interval"]
    n_units: Annotated[int, Field(description="units rated by two raters or more")]
    percent: StatisticView
    alpha: StatisticView
    ac: StatisticView
    fleiss: StatisticView
    icc: StatisticView | None = None
    forms: Annotated[dict[str, str], Field(description="the exact form of each statistic")]
    majority: MajorityVote
    ceiling: Ceiling
    baseline: Baseline | None
    shares: dict[str, float]
    specific: Annotated[dict[str, StatisticView], Field(description="agreement on each label")]
    rare: Annotated[StatisticView, Field(description="agreement on the rare labels")]
    warnings: list[str]
    pairs: list[PairAgreement]
    status: Annotated[dict[str, int], Field(description="ratings by status")]


@dataclass(frozen=True, kw_only=True)
class RaterIdentity:
    """A rater and its kind."""

    id: str
    kind: Literal["person", "model", "rule"]


@dataclass(frozen=True, kw_only=True)
class TargetEntry(StatisticView):
    """A figure compared with the protocol's goal for it."""

    measure: str
    goal: float
    criterion: str | None
    a: str | None
    b: str | None
    label: int | float | str | None
    verdict: str
    met: bool
    more_items: Annotated[int | None, Field(description="more items needed to decide it, if known")]


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """What the figures leave out."""

    earlier_protocols: Annotated[dict[str, int], Field(description="ratings under other protocol versions, by digest")]
    adjudicators: Annotated[list[str], Field(description="raters who saw the ratings of others")]


@dataclass(frozen=True, kw_only=True)
class AgreementDocument:
    """What `evenhand agree --json` prints."""

    protocol: str
    digest: str
    raters: list[RaterIdentity]
    criteria: dict[str, CriterionAgreement]
    targets: list[TargetEntry]
    left_out: LeftOut


@dataclass(frozen=True, kw_only=True)
class MeasureFigure(StatisticView):
    """One figure of a measure: of one rater or pair, overall or in one stratum."""

    name: str
    kind: str
    criterion: str | None
    rater: str | None
    against: str | None
    stratum: dict[str, str] | None
    label: int | float | str | None
    detail: Annotated[dict[str, Any] | None, Field(description="more than one number, such as a confusion table")]
    left_out: Annotated[dict[str, int], Field(description="ratings not used, by reason")]


@dataclass(frozen=True, kw_only=True)
class MeasuresDocument:
    """What `evenhand measures --json` prints."""

    protocol: str
    digest: str
    measures: list[MeasureFigure]


@router.get("/agreement", response_model=AgreementDocument, summary="Get the agreement between raters")
def agreement(_: Owner, services: ServicesOf) -> AsciiJSONResponse:
    """The document that `evenhand agree --json` prints."""
    return AsciiJSONResponse(services.cache.from_tables("agreement", _agreement))


@router.get("/measures", response_model=MeasuresDocument, summary="Get the protocol's measures")
def measured(_: Owner, services: ServicesOf) -> AsciiJSONResponse:
    """The document that `evenhand measures --json` prints."""
    return AsciiJSONResponse(services.cache.from_tables("measures", _measures))


def _agreement(tables: Tables) -> Json:
    return agree_json(agreement_report(tables))


def _measures(tables: Tables) -> Json:
    return measures_json(measures_report(tables))
