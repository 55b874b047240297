"""Units on which raters disagree, the worst first, and whether an adjudicator has ruled on them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.protocol.guideline import field_text
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Rating, Unit
from evenhand.study import Study
from evenhand.table import Tables
from evenhand.trust.disputes import DisputedTogether, disputed_together
from evenhand.web.answers import is_answer

MOST = 200
"""Disputes that are listed at once."""
EXCERPT = 160
"""Characters of what is rated, for somebody to know a unit by."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A unit with how far its ratings lie apart, from 0 to 1, on each criterion and on average."""

    unit: Unit
    excerpt: str
    disagreement: float
    by_criterion: dict[str, float]
    ruled: bool


def disputed_units(tables: Tables, criterion: str | None, models: bool) -> Sequence[DisputedTogether]:
    """The disputed units, the worst first: enough of them to fill a list when all that are ruled on are left out.

    People count, adjudicators never; `models` also counts models and rules.
    """
    view = tables.compared()
    if not models:
        people = {name: table.without(view.machines()) for name, table in view.tables.items()}
        view = replace(view, tables=people)
    if criterion is not None and criterion not in view.tables:
        return []
    return disputed_together(view, None if criterion is None else [criterion], MOST + _rulings(tables) + 1)


def listed(
    study: Study, tables: Tables, found: Iterable[DisputedTogether], *, unruled: bool, limit: int
) -> Sequence[Dispute]:
    """At most `limit` disputes with their texts; only those without a ruling where `unruled`."""
    settled = _surely_ruled(tables) if unruled else frozenset[tuple[int, str]]()
    shown: list[Dispute] = []
    for one in found:
        criteria = _apart(one)
        if unruled and all((one.unit, name) in settled for name in criteria):
            continue
        dispute = _dispute(study, tables, one)
        if not (unruled and dispute.ruled):
            shown.append(dispute)
        if len(shown) == limit:
            break
    return shown


def excerpt_of(protocol: Protocol, item: Item, unit: Unit) -> str:
    """The words of a unit, or the beginning of what is rated in the item."""
    text = unit.text
    if text is None:
        shown = [name for name in protocol.shown_fields() if name in item.fields]
        rated = [name for name in shown if protocol.item.fields[name].role == "rated"]
        text = next((field_text(item.fields[name]) for name in [*rated, *shown]), "")
    text = " ".join(text.split())
    return text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1].rstrip()}…"


def is_ruled(criteria: Iterable[str], ratings: Iterable[Rating], adjudicators: frozenset[str]) -> bool:
    """Whether an adjudicator has an answer in force on each of these criteria; ratings are those of one unit."""
    answered = {one.criterion for one in ratings if one.rater in adjudicators and is_answer(one)}
    return answered.issuperset(criteria)


def _dispute(study: Study, tables: Tables, one: DisputedTogether) -> Dispute:
    number, position = tables.place(one.unit)
    item = study.store.items_at([number])[0]
    unit = next(unit for unit in study.store.units_of([item.id])[item.id] if unit.position == position)
    ratings = [rating for rating in study.store.ratings(item=item.id) if rating.unit == unit.id]
    return Dispute(
        unit,
        excerpt_of(tables.protocol, item, unit),
        one.disagreement,
        dict(one.by_criterion),
        is_ruled(_apart(one), ratings, tables.adjudicators),
    )


def _apart(one: DisputedTogether) -> list[str]:
    return [name for name, apart in one.by_criterion.items() if apart > 0]


def _adjudicators(tables: Tables) -> list[int]:
    return [number for number, rater in enumerate(tables.raters) if rater.id in tables.adjudicators]


def _rulings(tables: Tables) -> int:
    return sum(
        sum(table.statuses[number].values()) for table in tables.tables.values() for number in _adjudicators(tables)
    )


def _surely_ruled(tables: Tables) -> frozenset[tuple[int, str]]:
    """Units and criteria with a value by an adjudicator, known without a look into the study."""
    numbers = _adjudicators(tables)
    units = {name: table.unit[np.isin(table.rater, numbers)].tolist() for name, table in tables.tables.items()}
    return frozenset((unit, name) for name, found in units.items() for unit in found)
