"""The study's items, ratings, agreement and measures as JSON, for the owner's programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from evenhand.protocol.model import UnitKind
from evenhand.records import FieldValue, Item, Kind, RaterRef, Rating, Span, Status, now
from evenhand.report.build import agreement_report, measures_report
from evenhand.report.json import agree_json, measures_json
from evenhand.store.people.access import Role
from evenhand.study import Study
from evenhand.web.errors import error_responses
from evenhand.web.schemas import AsciiJSONResponse, Moment, ResponseModel, view_of
from evenhand.web.sessions import Owner, ServicesOf

router = APIRouter(prefix="/api", tags=["data"])

MAX_PAGE = 1000
MAX_NUMBER = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly."""

After = Annotated[int, Query(ge=0, le=MAX_NUMBER, description="`next` of the previous page; 0 for the first page")]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="entries per page")]


class UnitEntry(ResponseModel):
    """What a rating is about: the item itself, or a sentence, question or claim of it.

    `position` is its place in the item, from 1. A sentence or claim has the `field` that it comes from, and a `span` if
    it stands there word for word. A question has the reference's own `answer` and the `key_info` that it
    was made from.
    """

    id: str
    position: int
    text: str | None
    span: Span | None
    field: str | None
    answer: str | None
    key_info: str | None


class ItemEntry(ResponseModel):
    """An item with its units. Fields without a value are absent."""

    id: str
    fields: Mapping[str, FieldValue]
    units: list[UnitEntry]


class NumberedItem(ItemEntry):
    """An item with its place in the study, from 1."""

    number: int


class ItemPage(ResponseModel):
    """Items in the order of the study. `next` is the `after` of the next page; null on the last."""

    items: list[NumberedItem]
    next: int | None


@dataclass(frozen=True, kw_only=True)
class RatingEntry(Rating):
    """A stored rating with its item, the position of its unit, and the kind of its rater.

    `number` increases in order of arrival. `visible` names the raters whose ratings could be seen; `supersedes` is the
    rating that this one replaced.
    """

    number: int
    item: str
    position: int
    kind: Kind
    at: Moment = field(default_factory=now)


class RatingPage(ResponseModel):
    """Ratings, oldest first. `next` is the `after` of the next page; `revision` the number of the newest rating."""

    ratings: list[RatingEntry]
    next: int | None
    revision: int


@dataclass(frozen=True, slots=True)
class RaterEntry(RaterRef):
    """A rater; `role` if it is a person who joined in the browser."""

    role: Role | None = None


class VersionEntry(ResponseModel):
    """A version of the protocol that this study was rated under, and its current ratings by status."""

    digest: str
    version: str
    adopted: Moment
    ratings: Mapping[Status, int]


class StudyEntry(ResponseModel):
    """What the study consists of. `versions` are listed oldest first; the last is current."""

    title: str
    protocol: str
    version: str
    digest: str
    language: str
    unit: UnitKind
    criteria: list[str]
    items: int
    units: int
    revision: int
    raters: list[RaterEntry]
    versions: list[VersionEntry]


@router.get("/study", summary="Get the study")
def study_entry(_: Owner, services: ServicesOf) -> StudyEntry:
    """What is rated under which protocol, by whom, and how many ratings there are."""
    with services.read() as study:
        store = study.store
        versions, counts, protocol = store.protocols.versions(), store.ratings.count(), study.protocol
        roles = {member.rater: member.role for member in store.people.members()}
        return view_of(
            StudyEntry,
            protocol,
            protocol=protocol.name,
            unit=protocol.rule.of,
            criteria=[criterion.id for criterion in protocol.criteria],
            items=store.items.count(),
            units=store.items.count_units(),
            revision=store.ratings.revision(),
            raters=[view_of(RaterEntry, rater, role=roles.get(rater.id)) for rater in store.ratings.raters()],
            versions=[
                view_of(VersionEntry, one, one.protocol, ratings=counts.get(one.protocol.digest, {}))
                for one in versions
            ],
        )


@router.get("/items", summary="List items, page by page")
def item_page(_: Owner, services: ServicesOf, after: After = 0, limit: Limit = 100) -> ItemPage:
    """Items with their units, in the order of the study."""
    with services.read() as study:
        total = study.store.items.count()
        last = min(after + limit, total)
        found = enumerate(_with_units(study, study.store.items.at(range(after, last))), start=after + 1)
        items = [view_of(NumberedItem, entry, number=number) for number, entry in found]
    return ItemPage(items, last if items and last < total else None)


@router.get("/items/one", responses=error_responses(404), summary="Get one item by its id")
def one_item(_: Owner, services: ServicesOf, id: Annotated[str, Query(max_length=1000, examples=["q7"])]) -> ItemEntry:
    """An item with its units. The id is a query parameter because it may contain any character."""
    with services.read() as study:
        item = study.store.items.find(id)
        if item is None:
            raise HTTPException(404, "There is no item with this id in the study.")
        return _with_units(study, [item])[0]


@router.get("/ratings", summary="List ratings, page by page")
def rating_page(
    _: Owner,
    services: ServicesOf,
    item: Annotated[str | None, Query(min_length=1, max_length=1000, examples=["q7"])] = None,
    rater: Annotated[str | None, Query(min_length=1, max_length=1000, examples=["ann"])] = None,
    criterion: Annotated[str | None, Query(min_length=1, max_length=1000, examples=["support"])] = None,
    history: Annotated[bool, Query(description="include ratings that were superseded")] = False,
    every_version: Annotated[bool, Query(description="include other versions of the protocol")] = False,
    after: After = 0,
    limit: Limit = 100,
) -> RatingPage:
    """Ratings in order of arrival.

    To keep a copy up to date, ask again with the last number as `after`: a rating that has changed since appears again
    with a higher number and names the one that it replaced.
    """
    with services.read() as study:
        # One more than is shown, to see whether there is a next page.
        found = study.store.ratings.arrivals(
            after=after,
            limit=limit + 1,
            item=item,
            rater=rater,
            criterion=criterion,
            history=history,
            every_digest=every_version,
        )
        shown = found[:limit]
        kinds = {known.id: known.kind for known in study.store.ratings.raters()}
        ratings = [_rating_entry(study, number, rating, kinds[rating.rater]) for number, rating in shown]
        return RatingPage(ratings, shown[-1][0] if len(found) > limit else None, study.store.ratings.revision())


def _with_units(study: Study, items: Sequence[Item]) -> Sequence[ItemEntry]:
    units = study.store.items.units_of([item.id for item in items])
    return [view_of(ItemEntry, item, units=[view_of(UnitEntry, unit) for unit in units[item.id]]) for item in items]


def _rating_entry(study: Study, number: int, rating: Rating, kind: Kind) -> RatingEntry:
    item, position = rating.unit, 1
    if study.protocol.rule.of != "item":
        item, _, digits = rating.unit.rpartition("#")
        position = int(digits)
    return view_of(RatingEntry, rating, number=number, item=item, position=position, kind=kind)


@router.get("/agreement", response_model=dict[str, Any], summary="Get the agreement between raters")
def agreement(_: Owner, services: ServicesOf) -> AsciiJSONResponse:
    """The document that `evenhand agree --json` prints: `protocol`, `digest`, `raters`, `criteria` with the agreement
    of all raters and of every pair, `targets`, and `left_out`."""
    document = services.cache.from_tables("agreement", lambda tables: agree_json(agreement_report(tables)))
    return AsciiJSONResponse(document)


@router.get("/measures", response_model=dict[str, Any], summary="Get the protocol's measures")
def measured(_: Owner, services: ServicesOf) -> AsciiJSONResponse:
    """The document that `evenhand measures --json` prints: `protocol`, `digest`, and `measures` with each figure."""
    document = services.cache.from_tables("measures", lambda tables: measures_json(measures_report(tables)))
    return AsciiJSONResponse(document)
