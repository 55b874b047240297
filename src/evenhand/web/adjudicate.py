"""Disputes and rulings: what raters disagree on, everything they said side by side, and an adjudicator's own rating.

A ruling is a rating like any other, by somebody who has seen the others: it says whose ratings those were.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Response
from pydantic import Field

from evenhand.errors import UserError
from evenhand.study import Study
from evenhand.table import Tables
from evenhand.trust.disputes import DisputedTogether
from evenhand.web.auth import Adjudicator, AdjudicatorOrOwner, DeskOf
from evenhand.web.checking import id_in_force
from evenhand.web.disputes import MOST, Dispute, disputed_units, listed
from evenhand.web.faults import refusals
from evenhand.web.figures import FiguresOf
from evenhand.web.forms import fields_of, form_of, rating_shape, sayable
from evenhand.web.rulings import Case, case_of, rule
from evenhand.web.shapes import (
    AnswerShape,
    ConflictShape,
    FieldPartsShape,
    FormShape,
    OtherShape,
    SavedShape,
    Shape,
    SpanShape,
    UnitShape,
)
from evenhand.web.showing import unit_shape
from evenhand.web.tasks import protocol_in_force

router = APIRouter(prefix="/api", tags=["adjudication"])

UnitId = Annotated[str, Query(min_length=1, max_length=2000, description="the unit's id, as /api/disputes lists it")]
IfMatch = Annotated[str | None, Header(description="the id of your ruling in force, in double quotes")]
IfNoneMatch = Annotated[str | None, Header(description="*: there is no ruling of yours yet")]
Digest = Annotated[
    str | None, Header(alias="X-Evenhand-Protocol", description="the digest of the form that the ruling was made by")
]


class DisputeShape(Shape):
    """A unit on which raters disagree."""

    unit: str
    item: str
    position: int
    text: str = Field(description="the unit's words, or the beginning of what is rated")
    disagreement: float = Field(description="from 0 to 1, the most that two ratings can lie apart; mean of criteria")
    by_criterion: dict[str, float] = Field(description="criteria with two ratings or more")
    ruled: bool = Field(description="whether an adjudicator has answered each criterion in dispute")


class DisputesShape(Shape):
    """The worst first; `more`: there are others beyond these."""

    disputes: list[DisputeShape]
    more: bool


class SaidShape(OtherShape):
    """What somebody said, with all that stood beside it."""

    confidence: float | None
    notes: str | None
    evidence: list[SpanShape]
    reason: str | None
    at: str
    adjudicator: bool = Field(description="whether it is a ruling by another adjudicator")


class CaseShape(Shape):
    """A unit with its texts, the adjudicator's own ratings in `units` and everybody else's in `ratings`."""

    unit: str
    item: str
    fields: list[FieldPartsShape]
    units: list[UnitShape]
    ratings: list[SaidShape]


class RulingShape(AnswerShape):
    """An adjudicator's answer on one criterion of one unit."""

    unit: Annotated[str, Field(min_length=1, max_length=2000)]
    criterion: Annotated[str, Field(min_length=1, max_length=200)]


@router.get("/disputes", summary="Units on which raters disagree")
async def disputes(
    _: AdjudicatorOrOwner,
    desk: DeskOf,
    figures: FiguresOf,
    criterion: Annotated[str | None, Query(max_length=200, description="only disagreement on this criterion")] = None,
    open: Annotated[bool, Query(description="leave out what is ruled on")] = True,
    include: Annotated[
        Literal["people", "models"], Query(description="models: count models and rules, too")
    ] = "people",
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
) -> DisputesShape:
    """The worst first. Free answers are in dispute where some say that there is no answer and others give one."""

    def reckon(tables: Tables) -> tuple[Tables, Sequence[DisputedTogether]]:
        return tables, disputed_units(tables, criterion, include == "models")

    protocol = await desk.read(protocol_in_force)
    if criterion is not None and not protocol.has(criterion):
        valid = ", ".join(known.id for known in protocol.criteria)
        raise UserError(f"there is no such criterion; there are: {valid}")
    tables, found = await figures.of(f"disputes by {include} on {criterion}", reckon)
    shown = await desk.read(lambda study: listed(study, tables, found, unruled=open, limit=limit + 1))
    return DisputesShape(disputes=[_dispute(one) for one in shown[:limit]], more=len(shown) > limit)


@router.get("/disputes/form", summary="What is asked, on which scales")
async def form(who: AdjudicatorOrOwner, desk: DeskOf) -> FormShape:
    """The form of the protocol, as /api/form gives it to raters."""

    def read(study: Study) -> FormShape:
        return form_of(protocol_in_force(study), study.store.people.plan(), study.store.identity, who.rater or "")

    return await desk.read(read)


@router.get("/disputes/unit", summary="A unit with everything that was said of it", responses=refusals(404))
async def unit_case(who: AdjudicatorOrOwner, desk: DeskOf, unit: UnitId) -> CaseShape:
    """All ratings in force of one unit, with rationales, confidence, notes and evidence. The owner has none of their
    own here."""

    def read(study: Study) -> CaseShape:
        protocol_in_force(study)
        return _case(study, case_of(study, unit, who.rater))

    return await desk.read(read)


@router.put(
    "/rulings",
    summary="Rule on one criterion of a unit",
    responses={
        **refusals(404, 428),
        409: {"model": ConflictShape, "description": "Something else is in force by now"},
    },
)
async def put_ruling(
    who: Adjudicator,
    desk: DeskOf,
    response: Response,
    body: RulingShape,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
    digest: Digest = None,
) -> SavedShape:
    """Save an adjudicator's rating in place of the one that you know of.

    It says whose ratings were visible; the ratings of the others stay as they are. Sending the same ruling again under
    the same id does no harm.
    """
    in_force = id_in_force(if_match, if_none_match)
    answer = AnswerShape.model_validate(body.model_dump(exclude={"unit", "criterion"}))

    def write(study: Study) -> SavedShape:
        protocol_in_force(study, digest)
        return rule(study, who.name, body.unit, body.criterion, answer, in_force)

    saved = await desk.write(write)
    response.headers["ETag"] = f'"{saved.rating.id}"'
    return saved


def _dispute(one: Dispute) -> DisputeShape:
    return DisputeShape(
        unit=sayable(one.unit.id),
        item=sayable(one.unit.item),
        position=one.unit.position,
        text=sayable(one.excerpt),
        disagreement=one.disagreement,
        by_criterion=one.by_criterion,
        ruled=one.ruled,
    )


def _case(study: Study, case: Case) -> CaseShape:
    kinds = {rater.id: rater.kind for rater in study.raters()}
    adjudicators = {member.rater for member in study.store.people.members() if member.role == "adjudicator"}
    return CaseShape(
        unit=sayable(case.unit.id),
        item=sayable(case.item.id),
        fields=fields_of(study.protocol, case.item.fields),
        units=[unit_shape(study, case.unit, case.own)],
        ratings=[
            SaidShape(
                **rating_shape(rating).model_dump(exclude={"id"}),
                rater=sayable(rating.rater),
                kind=kinds[rating.rater].value,
                position=case.unit.position,
                criterion=rating.criterion,
                adjudicator=rating.rater in adjudicators,
            )
            for rating in case.others
        ],
    )
