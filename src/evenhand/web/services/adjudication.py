"""Units on which raters disagree, largest disagreement first, and everything that was said about one of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from fastapi import HTTPException

from evenhand.analysis.disagreements import DisputedTogether, disputed_together
from evenhand.analysis.tables import Tables
from evenhand.protocol.completion import UnitRatings, is_answer
from evenhand.protocol.model import Protocol, field_text
from evenhand.records import Item, Rating, Unit
from evenhand.study import Study
from evenhand.web.schemas import ResponseModel

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
    by_criterion: dict[str, float]
    ruled: bool


@dataclass(frozen=True, slots=True)
class DisputedCase:
    """A unit as an adjudicator sees it: their own current ratings by criterion, and those of everyone else."""

    item: Item
    unit: Unit
    own: UnitRatings
    others: Sequence[Rating]

    @property
    def visible(self) -> tuple[str, ...]:
        """Whose ratings are shown."""
        return tuple(sorted({rating.rater for rating in self.others}))


def find_case(study: Study, unit_id: str, adjudicator: str | None) -> DisputedCase:
    """A unit with all of its current ratings; 404 if there is none with that id."""
    unit = study.store.items.unit(unit_id)
    item = study.store.items.find(unit.item) if unit else None
    if unit is None or item is None:
        raise HTTPException(404, "There is no such unit in this study.")
    ratings = _ratings_of(study, unit)
    own = {rating.criterion: rating for rating in ratings if rating.rater == adjudicator}
    return DisputedCase(item, unit, own, [rating for rating in ratings if rating.rater != adjudicator])


def disputed_units(tables: Tables, criterion: str | None, models: bool) -> Sequence[DisputedTogether]:
    """The disputed units, largest disagreement first: enough of them to fill a list without those that have a ruling.

    People count, adjudicators never; `models` also counts models and rules.
    """
    view = tables.compared()
    if not models:
        people = {name: table.without(view.machines()) for name, table in view.tables.items()}
        view = replace(view, tables=people)
    if criterion is not None and criterion not in view.tables:
        return []
    return disputed_together(view, None if criterion is None else [criterion], MAX_DISPUTES + _rulings(tables) + 1)


def list_disputes(
    study: Study, tables: Tables, found: Iterable[DisputedTogether], *, unruled: bool, limit: int
) -> Sequence[Dispute]:
    """At most `limit` disputes with their texts; only those without a ruling if `unruled`."""
    settled = _known_rulings(tables) if unruled else frozenset[tuple[int, str]]()
    shown: list[Dispute] = []
    for one in found:
        if unruled and all((one.unit, name) in settled for name in _disputed_criteria(one)):
            continue
        dispute = _dispute(study, tables, one)
        if not (unruled and dispute.ruled):
            shown.append(dispute)
        if len(shown) == limit:
            break
    return shown


def _excerpt(protocol: Protocol, item: Item, unit: Unit) -> str:
    text = unit.text
    if text is None:
        shown = [name for name in protocol.shown_fields if name in item.fields]
        rated = [name for name in shown if protocol.item.fields[name].role == "rated"]
        text = next((field_text(item.fields[name]) for name in [*rated, *shown]), "")
    text = " ".join(text.split())
    return text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1].rstrip()}…"


def _dispute(study: Study, tables: Tables, one: DisputedTogether) -> Dispute:
    number, position = tables.place(one.unit)
    item = study.store.items.at([number])[0]
    unit = next(unit for unit in study.store.items.units_of([item.id])[item.id] if unit.position == position)
    ruled = {
        rating.criterion
        for rating in _ratings_of(study, unit)
        if rating.rater in tables.adjudicators and is_answer(rating)
    }
    return Dispute(
        unit.id,
        item.id,
        position,
        _excerpt(tables.protocol, item, unit),
        one.disagreement,
        dict(one.by_criterion),
        ruled.issuperset(_disputed_criteria(one)),
    )


def _ratings_of(study: Study, unit: Unit) -> Sequence[Rating]:
    return [rating for rating in study.store.ratings.all(item=unit.item) if rating.unit == unit.id]


def _disputed_criteria(one: DisputedTogether) -> Sequence[str]:
    return [name for name, distance in one.by_criterion.items() if distance > 0]


def _adjudicators(tables: Tables) -> list[int]:
    return [number for number, rater in enumerate(tables.raters) if rater.id in tables.adjudicators]


def _rulings(tables: Tables) -> int:
    return sum(
        sum(table.statuses[number].values()) for table in tables.tables.values() for number in _adjudicators(tables)
    )


def _known_rulings(tables: Tables) -> frozenset[tuple[int, str]]:
    """Units and criteria with a value by an adjudicator, as far as the tables know."""
    numbers = _adjudicators(tables)
    units = {name: table.unit[np.isin(table.rater, numbers)].tolist() for name, table in tables.tables.items()}
    return frozenset((unit, name) for name, found in units.items() for unit in found)
