"""Disputes and rulings: what raters disagree on, all of their ratings together, and an adjudicator's own rating.

A ruling is a rating like any other, by a rater who has seen the others: it records whose ratings those were.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from evenhand.errors import UserError
from evenhand.records import Span
from evenhand.web.dependencies import Adjudicator, AdjudicatorOrOwner, ServicesOf
from evenhand.web.errors import error_responses
from evenhand.web.routes.tasks import SAVES, Digest, IfMatch, IfNoneMatch, replaced_id
from evenhand.web.schemas import MAX_ID, Moment, ResponseModel, view_of
from evenhand.web.services import adjudication, answers, tasks
from evenhand.web.services.adjudication import MAX_DISPUTES, Dispute
from evenhand.web.services.answers import ANSWER_EXAMPLE, AnswerRequest, SavedAnswer
from evenhand.web.services.forms import FieldParts, Form, fields_of, form_of
from evenhand.web.services.tasks import OtherRating, UnitView

router = APIRouter(prefix="/api", tags=["adjudication"])

UnitId = Annotated[
    str, Query(min_length=1, max_length=MAX_ID, description="the unit's id, from /api/disputes", examples=["q7"])
]


class DisputeList(ResponseModel):
    """Disputes, largest disagreement first; `more`: there are others."""

    disputes: list[Dispute]
    more: bool


class CaseRating(OtherRating):
    """Another rater's answer with everything that belongs to it; `adjudicator`: it is another adjudicator's ruling."""

    confidence: float | None
    notes: str | None
    evidence: tuple[Span, ...]
    reason: str | None
    at: Moment
    adjudicator: bool


class CaseView(ResponseModel):
    """A unit with its texts, the adjudicator's own ratings in `units` and all other ratings in `ratings`."""

    unit: str
    item: str
    fields: list[FieldParts]
    units: list[UnitView]
    ratings: list[CaseRating]


class RulingRequest(
    AnswerRequest, json_schema_extra={"examples": [{"unit": "q7", "criterion": "support", **ANSWER_EXAMPLE}]}
):
    """An adjudicator's answer on one criterion of one unit."""

    unit: Annotated[str, Field(min_length=1, max_length=MAX_ID)]
    criterion: Annotated[str, Field(min_length=1, max_length=200)]


@router.get("/disputes", summary="List units on which raters disagree")
def disputes(
    _: AdjudicatorOrOwner,
    services: ServicesOf,
    criterion: Annotated[str | None, Query(max_length=200, description="only disagreement on this criterion")] = None,
    open: Annotated[bool, Query(description="omit units that have a ruling")] = True,
    include: Annotated[Literal["people", "models"], Query(description="models: include models")] = "people",
    limit: Annotated[int, Query(ge=1, le=MAX_DISPUTES)] = 50,
) -> DisputeList:
    """Largest disagreement first. Free texts are in dispute if some raters found no answer and others gave one.

    Disagreement is from 0 to 1, the largest possible distance between two ratings, and averaged over criteria.
    """
    with services.read() as study:
        protocol = study.protocol
    if criterion is not None and criterion not in protocol.by_id:
        valid = ", ".join(known.id for known in protocol.criteria)
        raise UserError(f"there is no such criterion; there are: {valid}")
    tables, found = services.cache.from_tables(
        f"disputes by {include} on {criterion}",
        lambda tables: (tables, adjudication.disputed_units(tables, criterion, include == "models")),
    )
    with services.read() as study:
        shown = adjudication.list_disputes(study, tables, found, unruled=open, limit=limit + 1)
    return DisputeList(list(shown[:limit]), more=len(shown) > limit)


@router.get("/disputes/form", summary="Get the form: criteria, scales and fields")
def form(account: AdjudicatorOrOwner, services: ServicesOf) -> Form:
    """The form of the protocol, as /api/form returns it to raters."""
    with services.read() as study:
        return form_of(study.protocol, study.store.people.tasks.plan(), study.store.identity, account.name)


@router.get("/disputes/unit", summary="Get a unit with all of its ratings", responses=error_responses(404))
def unit_case(account: AdjudicatorOrOwner, services: ServicesOf, unit: UnitId) -> CaseView:
    """All current ratings of one unit, with rationale, confidence, notes and evidence.

    The owner, who does not rate, has no ratings of their own here.
    """
    with services.read() as study:
        protocol, case = study.protocol, adjudication.find_case(study, unit, account.name)
        kinds = {rater.id: rater.kind for rater in study.store.ratings.raters()}
        adjudicators = {member.rater for member in study.store.people.members() if member.role == "adjudicator"}
    return CaseView(
        unit=case.unit.id,
        item=case.item.id,
        fields=fields_of(protocol, case.item.fields),
        units=[tasks.unit_view(protocol, case.unit, case.own)],
        ratings=[
            view_of(
                CaseRating,
                rating,
                kind=kinds[rating.rater],
                position=case.unit.position,
                adjudicator=rating.rater in adjudicators,
            )
            for rating in case.others
        ],
    )


@router.put("/rulings", summary="Rule on one criterion of a unit", responses=SAVES)
def put_ruling(
    account: Adjudicator,
    services: ServicesOf,
    response: Response,
    body: RulingRequest,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
    digest: Digest = None,
) -> SavedAnswer:
    """Save an adjudicator's rating in place of the one you know.

    It records whose ratings were visible; the other ratings do not change. It is safe to send the same ruling again
    with the same id.
    """
    replaces = replaced_id(if_match, if_none_match)
    with services.write(digest) as study:
        case = adjudication.find_case(study, body.unit, account.name)
        saved = answers.rule(study, case, account.name, body.criterion, body, replaces)
    response.headers["ETag"] = f'"{saved.rating.id}"'
    return saved
