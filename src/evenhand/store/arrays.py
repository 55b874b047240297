"""Ratings → arrays for statistics, in one pass over the numbers that the database has anyway.

No Rating is built on the way: a million units by three raters are three million rows, and building records of them
would take longer than all the statistics.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import bindparam, select

from evenhand.analysis.tables import Table, TableBuilder, Tables
from evenhand.protocol.model import Protocol
from evenhand.records import RaterRef, Status, Value
from evenhand.statistics import IntArray
from evenhand.store.database import Database, decode
from evenhand.store.items import Items
from evenhand.store.protocols import Versions
from evenhand.store.ratings import Ratings
from evenhand.store.schema import raters, ratings, units

PAGE = 20_000

_STATUS = {status.value: status for status in Status}

_ROWS = (
    select(
        ratings.c.item,
        ratings.c.position,
        ratings.c.criterion,
        ratings.c.rater,
        ratings.c.status,
        ratings.c.value,
        ratings.c.details,
    )
    .where(ratings.c.protocol == bindparam("of_protocol"))
    .where(ratings.c.seq > bindparam("after"), ratings.c.seq <= bindparam("end"))
    .order_by(ratings.c.seq)
)


def read_tables(
    database: Database, versions: Versions, items: Items, given: Ratings, adjudicators: frozenset[str]
) -> Tables:
    """The current ratings under the current protocol."""
    # The last rating first: its rater is then among the raters.
    protocol, last, known = versions.current, given.revision(), given.raters()
    clusters = _unit_items(database, protocol)
    n_units = items.count() if clusters is None else len(clusters)
    rows = _rows(database, versions.current_number, last)
    tables, failures = _tabulate(rows, protocol, _rater_places(database, known), known, n_units, clusters)
    labels = _labels(protocol, items)
    return Tables(
        protocol,
        known,
        items.count(),
        n_units,
        tables,
        clusters,
        labels,
        [unit.answer for unit in items.units()] if protocol.rule.of == "question" else None,
        {digest: sum(found.values()) for digest, found in given.count().items() if digest != protocol.digest},
        failures,
        _documents(labels[protocol.cluster], clusters) if protocol.cluster else None,
        adjudicators,
    )


def _unit_items(database: Database, protocol: Protocol) -> IntArray | None:
    """Each unit's item, counted from 0; None if every item is its own only unit."""
    if protocol.rule.of == "item":
        return None
    with database.reading() as connection:
        rows = connection.execute(select(units.c.item).order_by(units.c.item, units.c.position)).scalars()
        return np.fromiter(rows, dtype=np.int64) - 1


def _rater_places(database: Database, known: Sequence[RaterRef]) -> Mapping[int, int]:
    """The place in `known` of each rater's row number."""
    places = {rater.id: place for place, rater in enumerate(known)}
    with database.reading() as connection:
        rows = connection.execute(select(raters.c.seq, raters.c.id))
        return {seq: places[name] for seq, name in rows if name in places}


def _labels(protocol: Protocol, items: Items) -> Mapping[str, Sequence[str | None]]:
    names = [name for name, spec in protocol.item.fields.items() if spec.kind == "label"]
    if not names:
        return {}
    found: dict[str, list[str | None]] = {name: [] for name in names}
    for item in items.all():
        for name, values in found.items():
            value = item.fields.get(name)
            values.append(None if value is None else str(value))
    return found


def _documents(names: Sequence[str | None], clusters: IntArray | None) -> IntArray:
    """Each unit's document, numbered in order of appearance; an item that names none is a document by itself."""
    numbers: dict[str | int, int] = {}
    of_items = [numbers.setdefault(item if name is None else name, len(numbers)) for item, name in enumerate(names)]
    found = np.array(of_items, dtype=np.int64)
    return found if clusters is None else found[clusters]


def _tabulate(
    rows: Iterator[Sequence[Any]],
    protocol: Protocol,
    places: Mapping[int, int],
    known: Sequence[RaterRef],
    n_units: int,
    clusters: IntArray | None,
) -> tuple[Mapping[str, Table], Mapping[str, Mapping[str, int]]]:
    """A table for each criterion, and the current failures by rater and reason. Of a cell's ratings the last counts."""
    builders = {criterion.id: TableBuilder(criterion, n_units, len(known)) for criterion in protocol.criteria}
    first_unit = _first_units(clusters)
    values: dict[str, Value] = {}
    failed: dict[tuple[str, int, int], str] = {}
    for item, position, criterion, rater, status, value, details in rows:
        unit = _number(item, position, first_unit)
        if value is not None and value not in values:
            values[value] = decode(value)
        place = places[rater]
        builders[criterion].add(
            unit, place, _STATUS[status], None if value is None else values[value], _confidence(details)
        )
        if status == Status.FAILED:
            failed[criterion, unit, place] = str(decode(details or "{}").get("reason"))
        elif failed:
            failed.pop((criterion, unit, place), None)
    reasons: dict[str, dict[str, int]] = {}
    for (_, _, place), reason in failed.items():
        counts = reasons.setdefault(known[place].id, {})
        counts[reason] = counts.get(reason, 0) + 1
    return {name: builder.build() for name, builder in builders.items()}, reasons


def _number(item: int, position: int, first_unit: Sequence[int] | None) -> int:
    return item - 1 if first_unit is None else first_unit[item - 1] + position - 1


def _first_units(clusters: IntArray | None) -> list[int] | None:
    """The number of each item's first unit."""
    if clusters is None:
        return None
    counts = np.bincount(clusters, minlength=int(clusters.max()) + 1 if clusters.size else 0)
    starts: IntArray = np.cumsum(counts) - counts
    return [int(start) for start in starts]


def _rows(database: Database, protocol: int, last: int) -> Iterator[Sequence[Any]]:
    """Ratings in the order of their arrival up to number `last`, page by page."""
    for after in range(0, last, PAGE):
        with database.reading() as connection:
            asked = {"of_protocol": protocol, "after": after, "end": min(after + PAGE, last)}
            page = connection.execute(_ROWS, asked).all()
        yield from page


def _confidence(details: str | None) -> float | None:
    # Nearly all details have none, and looking for the word is a tenth of the cost of parsing the JSON.
    if details is None or '"confidence"' not in details:
        return None
    return decode(details).get("confidence")
