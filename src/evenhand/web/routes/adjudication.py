"""Disputes and rulings: what raters disagree on, all of their ratings together, and an adjudicator's own rating.

A ruling is a rating like any other, by a rater who has seen the others: it records whose ratings those were.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, HTTPException, Query, Response
from pydantic import Field

from evenhand.analysis.disagreements import DisputedTogether, disputed_together
from evenhand.analysis.tables import Table, Tables
from evenhand.errors import UserError
from evenhand.protocol.completion import is_answer
from evenhand.protocol.model import field_text
from evenhand.records import Item, Rating, Span, Unit
from evenhand.study import Study
from evenhand.web.answers import ANSWER_EXAMPLE, AnsweredUnit, AnswerRequest, SavedAnswer, save_answer
from evenhand.web.errors import error_responses
from evenhand.web.forms import FieldParts, Form, fields_of, form_of
from evenhand.web.routes.tasks import SAVES, Digest, IfMatch, IfNoneMatch, OtherRating, UnitView, replaced_id, unit_view
from evenhand.web.schemas import MAX_ID, Moment, ResponseModel, view_of
from evenhand.web.sessions import Adjudicator, AdjudicatorOrOwner, ServicesOf

router = APIRouter(prefix="/api", tags=["adjudication"])

UnitId = Annotated[
    str, Query(min_length=1, max_length=MAX_ID, description="the unit's id, from /api/disputes", examples=["q7"])
]
MAX_DISPUTES = 200
"""Disputes listed at once."""
EXCERPT = 160
"""Characters of the rated text, enough to recognise a unit."""


class Dispute(ResponseModel):
    """A unit with the distance between its ratings, from 0 to 1, on each criterion and on average.

    `text` is the unit's text, or the beginning of what is rated. `ruled`: an adjudicator has answered every criterion
    in dispute.
    """

    unit: str
    item: str
    position: int
    text: str
    disagreement: float
    by_criterion: Mapping[str, float]
    ruled: bool


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
        protocol, gold = study.protocol, study.store.people.tasks.plan().gold
        hidden = study.store.people.tasks.unfinished()
    if criterion is not None and criterion not in protocol.by_id:
        valid = ", ".join(known.id for known in protocol.criteria)
        raise UserError(f"there is no such criterion; there are: {valid}")
    version, tables = services.cache.snapshot()
    found = services.cache.get(
        f"disputes by {include} on {criterion}",
        lambda: (version, gold, hidden),
        lambda: _disputed_units(tables, _visible(tables, gold, hidden, include == "models"), criterion),
    )
    with services.read() as study:
        shown = list(islice(_disputes(study, tables, found, unruled=open), limit + 1))
    return DisputeList(shown[:limit], more=len(shown) > limit)


@router.get("/disputes/form", summary="Get the form: criteria, scales and fields")
def form(account: AdjudicatorOrOwner, services: ServicesOf) -> Form:
    """The form of the protocol, as /api/form returns it to raters."""
    with services.read() as study:
        return form_of(study.protocol, study.store.people.tasks.plan(), study.store.identity, account.name)


@router.get("/disputes/unit", summary="Get a unit with all of its ratings", responses=error_responses(404))
def unit_case(account: AdjudicatorOrOwner, services: ServicesOf, unit: UnitId) -> CaseView:
    """All current ratings of one unit, with rationale, confidence, notes and evidence.

    Known answers, and ratings by people who have not finished the item, are left out. The owner, who does not rate, has
    no ratings of their own here.
    """
    with services.read() as study:
        protocol, (item, found, ratings) = study.protocol, _find_unit(study, unit)
        kinds = {rater.id: rater.kind for rater in study.store.ratings.raters()}
        adjudicators = {member.rater for member in study.store.people.members() if member.role == "adjudicator"}
    own = {rating.criterion: rating for rating in ratings if rating.rater == account.name}
    others = [
        view_of(CaseRating, one, found, kind=kinds[one.rater], adjudicator=one.rater in adjudicators)
        for one in ratings
        if one.rater != account.name
    ]
    units = [unit_view(protocol, found, own)]
    services.shown.setdefault((account.name, found.id), set()).update(one.rater for one in others)
    return CaseView(found.id, item.id, fields_of(protocol, item.fields), units, others)


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

    It records whose ratings you were shown; the other ratings do not change. It is safe to send the same ruling again
    with the same id.
    """
    replaces = replaced_id(if_match, if_none_match)
    with services.write(digest) as study:
        item, unit, ratings = _find_unit(study, body.unit)
        own = {rating.criterion: rating for rating in ratings if rating.rater == account.name}
        # Without a record of what this server has shown, everything that it would show: better too much.
        shown = services.shown.get((account.name, unit.id), {rating.rater for rating in ratings})
        visible = tuple(sorted(shown - {account.name}))
        known = {"unit": unit.id, "rater": account.name, "digest": study.protocol.digest, "visible": visible}
        target = AnsweredUnit(study, unit.field, partial(Rating, **known), own)
        saved = save_answer(target, body.criterion, body, replaces, item.fields)
    response.headers["ETag"] = f'"{saved.rating.id}"'
    return saved


def _find_unit(study: Study, unit_id: str) -> tuple[Item, Unit, Sequence[Rating]]:
    """A unit with its item and its current ratings that may be seen; 404 if there is none with that id."""
    unit = study.store.items.unit(unit_id)
    item = study.store.items.find(unit.item) if unit else None
    if unit is None or item is None:
        raise HTTPException(404, "There is no such unit in this study.")
    tasks = study.store.people.tasks
    hidden = {tasks.plan().gold, *(rater for rater, _ in tasks.unfinished(item.id))}
    return item, unit, [rating for rating in _ratings_of(study, unit) if rating.rater not in hidden]


def _visible(tables: Tables, gold: str | None, hidden: Set[tuple[str, int]], models: bool) -> Tables:
    """The ratings that may be in dispute: those of people, but not of adjudicators, known answers, or items that their
    rater has not finished; `models` also counts models and rules."""
    view, numbers = tables.compared(), {rater.id: number for number, rater in enumerate(tables.raters)}
    apart = [numbers[name] for name in (gold,) if name in numbers] + ([] if models else view.machines())
    cells = [numbers[name] * tables.n_items + item for name, item in hidden if name in numbers]
    found: dict[str, Table] = {}
    for name, table in view.tables.items():
        items = table.unit if tables.clusters is None else tables.clusters[table.unit]
        kept = ~np.isin(table.rater, apart) & ~np.isin(table.rater * tables.n_items + items, cells)
        columns = {column: getattr(table, column)[kept] for column in ("unit", "rater", "code", "order")}
        found[name] = replace(table, **columns, confidence=None)
    return replace(view, tables=found)


def _disputed_units(tables: Tables, view: Tables, criterion: str | None) -> Sequence[DisputedTogether]:
    """The disputed units of a view, largest disagreement first: enough to fill a list without those that have a
    ruling."""
    if criterion is not None and criterion not in view.tables:
        return []
    statuses = [table.statuses[number] for table in tables.tables.values() for number in _adjudicators(tables)]
    most = MAX_DISPUTES + 1 + sum(sum(counts.values()) for counts in statuses)
    return disputed_together(view, None if criterion is None else [criterion], most)


def _disputes(study: Study, tables: Tables, found: Iterable[DisputedTogether], *, unruled: bool) -> Iterator[Dispute]:
    """The disputes with their texts; only those without a ruling if `unruled`."""
    # Units with a ruling, by criterion, as far as the tables know.
    tabled, adjudicators = tables.tables.items() if unruled else (), _adjudicators(tables)
    known = {name: set(table.unit[np.isin(table.rater, adjudicators)].tolist()) for name, table in tabled}
    for one in found:
        contested = {name for name, distance in one.by_criterion.items() if distance > 0}
        if unruled and all(one.unit in known[name] for name in contested):
            continue
        dispute = _dispute(study, tables, one, contested)
        if not (unruled and dispute.ruled):
            yield dispute


def _dispute(study: Study, tables: Tables, one: DisputedTogether, contested: Set[str]) -> Dispute:
    protocol, (number, position) = tables.protocol, tables.place(one.unit)
    item = study.store.items.at([number])[0]
    unit = next(unit for unit in study.store.items.units_of([item.id])[item.id] if unit.position == position)
    ruled = {
        rating.criterion
        for rating in _ratings_of(study, unit)
        if rating.rater in tables.adjudicators and is_answer(rating)
    }
    text = unit.text
    if text is None:
        shown = [name for name in protocol.shown_fields if name in item.fields]
        rated = [name for name in shown if protocol.item.fields[name].role == "rated"]
        text = next((field_text(item.fields[name]) for name in [*rated, *shown]), "")
    text = " ".join(text.split())
    text = text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1].rstrip()}…"
    more = {"unit": unit.id, "item": item.id, "position": position, "text": text, "ruled": contested <= ruled}
    return view_of(Dispute, one, **more)


def _ratings_of(study: Study, unit: Unit) -> Sequence[Rating]:
    """What was answered on the unit; overlap scores are no answers."""
    found = [rating for rating in study.store.ratings.all(item=unit.item) if rating.unit == unit.id]
    return [rating for rating in found if rating.criterion in study.protocol.by_id]


def _adjudicators(tables: Tables) -> list[int]:
    return [number for number, rater in enumerate(tables.raters) if rater.id in tables.adjudicators]
