"""The study's data for its owner's programs: items, ratings, agreement and measures, as JSON."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, Field

from evenhand.measures import measures, measures_json, targets
from evenhand.protocol.model import Protocol
from evenhand.records import Item, RaterRef, Rating, Status, Unit
from evenhand.report.build import agreements
from evenhand.report.json_form import Json, agree_json, plain
from evenhand.study import Study
from evenhand.table import Tables
from evenhand.web.auth import DeskOf, Owner
from evenhand.web.documents import AgreementDocument, Document, MeasuresDocument
from evenhand.web.faults import refusals
from evenhand.web.figures import FiguresOf

router = APIRouter(prefix="/api", tags=["data"])

MOST = 1000
LARGEST = 2**53 - 1
"""The largest number that every reader of JSON keeps whole."""

After = Annotated[int, Query(ge=0, le=LARGEST, description="`next` of the page before; 0 for the first page")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="the most entries of a page")]
Name = Annotated[str | None, Query(min_length=1, max_length=1000)]


class ItemSpan(BaseModel):
    """A half-open range of Unicode code points in one field of the item."""

    field: str
    start: int
    end: int


class UnitEntry(BaseModel):
    """What a rating is about: the item itself, or a sentence or question of it."""

    id: str
    position: int = Field(description="its place in the item, from 1")
    text: str | None
    span: ItemSpan | None
    answer: str | None = Field(description="the reference's own answer to a question")
    key_info: str | None = Field(description="what a question was made from")


class ItemEntry(BaseModel):
    """An item with its units. Fields that were not given are absent."""

    id: str
    fields: dict[str, str | float | list[str] | list[tuple[str, str, str]]]
    units: list[UnitEntry]


class NumberedItem(ItemEntry):
    """An item in its place."""

    number: int = Field(description="its place in the study, from 1")


class ItemPage(BaseModel):
    """Some items in the order of the study."""

    items: list[NumberedItem]
    next: int | None = Field(description="give it as `after` for the next page; null on the last")


class RatingEntry(BaseModel):
    """A rating as it is stored, and whose it is."""

    number: int = Field(description="grows with the time of arrival")
    id: str
    item: str
    position: int
    unit: str
    criterion: str
    rater: str
    kind: Literal["person", "model", "rule"]
    digest: str = Field(description="of the protocol it was made under")
    status: Status
    value: int | float | str | None = Field(description="there exactly when the status is `rated`")
    rationale: str | None
    confidence: float | None
    notes: str | None
    evidence: list[ItemSpan]
    misquoted: list[str]
    distribution: list[tuple[int | float | str, float]]
    mean: float | None
    reply: str | None
    seconds: float | None
    visible: list[str] = Field(description="whose ratings the rater could see")
    reason: str | None
    raw: str | None
    at: datetime
    supersedes: str | None = Field(description="the rating whose place it took")


class RatingPage(BaseModel):
    """Some ratings, oldest first."""

    ratings: list[RatingEntry]
    next: int | None = Field(description="give it as `after` for the next page; null on the last")
    revision: int = Field(description="number of the last rating there is; later ones have higher numbers")


class RaterEntry(BaseModel):
    """A rater; `role` where it is somebody who joined at the page."""

    id: str
    kind: Literal["person", "model", "rule"]
    version: str
    config: str
    role: Literal["rater", "adjudicator"] | None


class VersionEntry(BaseModel):
    """A version of the protocol under which this study was rated."""

    digest: str
    version: str
    adopted: datetime
    ratings: dict[str, int] = Field(description="ratings in force, by status")


class StudyEntry(BaseModel):
    """What the study is made of."""

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
    versions: list[VersionEntry] = Field(description="oldest first; the last is in force")


@router.get("/study", response_model=StudyEntry, summary="The study")
async def study_entry(_: Owner, desk: DeskOf) -> Document:
    """What is rated under which protocol, by whom, and how many ratings there are."""
    return Document(await desk.read(_study))


@router.get("/items", response_model=ItemPage, summary="Items, page by page")
async def item_page(_: Owner, desk: DeskOf, after: After = 0, limit: Limit = 100) -> Document:
    """Items with their units, in the order of the study."""

    def read(study: Study) -> Json:
        last = min(after + limit, study.store.count_items())
        found = study.store.items_at(range(after, last))
        return {
            "items": [{"number": number, **one} for number, one in enumerate(_items(study, found), start=after + 1)],
            "next": last if found and last < study.store.count_items() else None,
        }

    return Document(await desk.read(read))


@router.get("/items/one", response_model=ItemEntry, responses=refusals(404), summary="One item by its id")
async def one_item(_: Owner, desk: DeskOf, id: Annotated[str, Query(max_length=1000)]) -> Document:
    """An item with its units. The id is a parameter and no part of the path, because it may hold any character."""

    found = await desk.read(lambda study: _items(study, [item] if (item := study.item(id)) else []))
    if not found:
        raise HTTPException(404, "There is no item with this id in the study.")
    return Document(found[0])


@router.get(
    "/ratings",
    response_model=RatingPage,
    summary="Ratings, page by page",
)
async def rating_page(
    _: Owner,
    desk: DeskOf,
    item: Name = None,
    rater: Name = None,
    criterion: Name = None,
    history: Annotated[bool, Query(description="also those that were superseded")] = False,
    every_version: Annotated[bool, Query(description="also those under other versions of the protocol")] = False,
    after: After = 0,
    limit: Limit = 100,
) -> Document:
    """Ratings in the order in which they came.

    Whoever keeps a copy asks again with the last number as `after`: a rating that was changed since comes again under a
    higher number and names the one whose place it took.
    """

    def read(study: Study) -> Json:
        # One more than is shown says whether there is a next page.
        found = study.store.arrivals(
            after=after,
            limit=limit + 1,
            item=item,
            rater=rater,
            criterion=criterion,
            history=history,
            every_digest=every_version,
        )
        shown = found[:limit]
        raters = {known.id: known for known in study.raters()}
        return {
            "ratings": [_rating(study.protocol, number, one, raters[one.rater]) for number, one in shown],
            "next": shown[-1][0] if len(found) > limit else None,
            "revision": study.store.revision(),
        }

    return Document(await desk.read(read))


@router.get("/agreement", response_model=AgreementDocument, summary="Agreement")
async def agreement(_: Owner, figures: FiguresOf) -> Document:
    """How far the raters agree: the document that `evenhand agree --json` prints."""
    return Document(await figures.of("agreement", _agreement))


@router.get("/measures", response_model=MeasuresDocument, summary="Measures")
async def measured(_: Owner, figures: FiguresOf) -> Document:
    """The protocol's own figures: the document that `evenhand measures --json` prints."""
    return Document(await figures.of("measures", lambda tables: measures_json(tables, measures(tables))))


def _agreement(tables: Tables) -> Json:
    return agree_json(tables, agreements(tables), targets(tables, measures(tables)))


def _study(study: Study) -> Json:
    versions, counts = study.versions(), study.store.count_ratings()
    protocol = study.protocol
    roles = {member.rater: member.role for member in study.store.people.members()}
    return {
        "title": protocol.title,
        "protocol": protocol.name,
        "version": protocol.version,
        "digest": protocol.digest,
        "language": protocol.language,
        "unit": protocol.rule.of,
        "criteria": [criterion.id for criterion in protocol.criteria],
        "items": study.store.count_items(),
        "units": study.store.count_units(),
        "revision": study.store.revision(),
        "raters": [{**plain(rater), "role": roles.get(rater.id)} for rater in study.raters()],
        "versions": [
            {
                "digest": version.protocol.digest,
                "version": version.protocol.version,
                "adopted": version.adopted.isoformat(),
                "ratings": plain(counts.get(version.protocol.digest, {})),
            }
            for version in versions
        ],
    }


def _items(study: Study, found: Sequence[Item]) -> list[Json]:
    units = study.store.units_of([item.id for item in found])
    return [
        {
            "id": item.id,
            "fields": plain(item.fields),
            "units": [_unit(unit) for unit in units[item.id]],
        }
        for item in found
    ]


def _unit(unit: Unit) -> Json:
    return {
        "id": unit.id,
        "position": unit.position,
        "text": unit.text,
        "span": plain(unit.span),
        "answer": unit.answer,
        "key_info": unit.key_info,
    }


def _rating(protocol: Protocol, number: int, rating: Rating, rater: RaterRef) -> Json:
    item, position = rating.unit, 1
    if protocol.rule.of != "item":
        item, _, digits = rating.unit.rpartition("#")
        position = int(digits)
    return {"number": number, "item": item, "position": position, "kind": str(rater.kind), **plain(rating)}
