"""The study's items and ratings as JSON, for the owner's programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query

from evenhand.records import FieldValue, Item, Kind, RaterRef, Rating, Span, Status, now
from evenhand.store.people.access import Role
from evenhand.study import Study
from evenhand.web.dependencies import Owner, ServicesOf
from evenhand.web.errors import error_responses
from evenhand.web.schemas import Moment, view_of

router = APIRouter(prefix="/api", tags=["data"])

MAX_PAGE = 1000
MAX_NUMBER = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly."""

After = Annotated[int, Query(ge=0, le=MAX_NUMBER, description="`next` of the previous page; 0 for the first page")]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="entries per page")]
ItemId = Annotated[str | None, Query(min_length=1, max_length=1000, examples=["q7"])]
RaterName = Annotated[str | None, Query(min_length=1, max_length=1000, examples=["ann"])]
CriterionName = Annotated[str | None, Query(min_length=1, max_length=1000, examples=["support"])]


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """What a rating is about: the item itself, or a sentence or question of it.

    `position` is its place in the item, from 1. A question has the reference's own `answer` and the `key_info` that it
    was made from.
    """

    id: str
    position: int
    text: str | None
    span: Span | None
    answer: str | None
    key_info: str | None


@dataclass(frozen=True, slots=True)
class ItemEntry:
    """An item with its units. Fields without a value are absent."""

    id: str
    fields: Mapping[str, FieldValue]
    units: list[UnitEntry]


@dataclass(frozen=True, slots=True)
class NumberedItem(ItemEntry):
    """An item with its place in the study, from 1."""

    number: int


@dataclass(frozen=True, slots=True)
class ItemPage:
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


@dataclass(frozen=True, slots=True)
class RatingPage:
    """Ratings, oldest first. `next` is the `after` of the next page; `revision` the number of the newest rating."""

    ratings: list[RatingEntry]
    next: int | None
    revision: int


@dataclass(frozen=True, slots=True)
class RaterEntry(RaterRef):
    """A rater; `role` if it is a person who joined in the browser."""

    role: Role | None = None


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """A version of the protocol that this study was rated under, and its current ratings by status."""

    digest: str
    version: str
    adopted: Moment
    ratings: Mapping[Status, int]


@dataclass(frozen=True, slots=True)
class StudyEntry:
    """What the study consists of. `versions` are listed oldest first; the last is current."""

    title: str
    protocol: str
    version: str
    digest: str
    language: str
    unit: Literal["item", "sentence", "question"]
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
                view_of(VersionEntry, one.protocol, adopted=one.adopted, ratings=counts.get(one.protocol.digest, {}))
                for one in versions
            ],
        )


@router.get("/items", summary="List items, page by page")
def item_page(_: Owner, services: ServicesOf, after: After = 0, limit: Limit = 100) -> ItemPage:
    """Items with their units, in the order of the study."""
    with services.read() as study:
        total = study.store.items.count()
        last = min(after + limit, total)
        found = study.store.items.at(range(after, last))
        items = [
            NumberedItem(item.id, item.fields, units, number)
            for number, (item, units) in enumerate(_with_units(study, found), start=after + 1)
        ]
    return ItemPage(items, last if items and last < total else None)


@router.get("/items/one", responses=error_responses(404), summary="Get one item by its id")
def one_item(_: Owner, services: ServicesOf, id: Annotated[str, Query(max_length=1000, examples=["q7"])]) -> ItemEntry:
    """An item with its units. The id is a query parameter because it may contain any character."""
    with services.read() as study:
        item = study.store.items.find(id)
        if item is None:
            raise HTTPException(404, "There is no item with this id in the study.")
        [(item, units)] = _with_units(study, [item])
    return ItemEntry(item.id, item.fields, units)


@router.get("/ratings", summary="List ratings, page by page")
def rating_page(
    _: Owner,
    services: ServicesOf,
    item: ItemId = None,
    rater: RaterName = None,
    criterion: CriterionName = None,
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


def _with_units(study: Study, items: Sequence[Item]) -> Sequence[tuple[Item, list[UnitEntry]]]:
    units = study.store.items.units_of([item.id for item in items])
    return [(item, [view_of(UnitEntry, unit) for unit in units[item.id]]) for item in items]


def _rating_entry(study: Study, number: int, rating: Rating, kind: Kind) -> RatingEntry:
    item, position = rating.unit, 1
    if study.protocol.rule.of != "item":
        item, _, digits = rating.unit.rpartition("#")
        position = int(digits)
    known: dict[str, Any] = {entry.name: getattr(rating, entry.name) for entry in fields(rating)}
    return RatingEntry(**known, number=number, item=item, position=position, kind=kind)
