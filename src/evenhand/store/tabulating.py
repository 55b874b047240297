"""Ratings → arrays for statistics, in one pass over the numbers the database has anyway.

No Rating is made on the way: a million units by three raters are three million rows, and building records of them would
take longer than all the statistics.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from evenhand.protocol.model import Protocol
from evenhand.records import RaterRef, Status, Value
from evenhand.store.rows import decode
from evenhand.store.schema import ratings, units
from evenhand.table import IntArray, Table, TableBuilder

PAGE = 20_000

Reading = Callable[[], AbstractContextManager[Connection]]

_STATUS = {status.value: status for status in Status}


def unit_items(reading: Reading, protocol: Protocol) -> IntArray | None:
    """Each unit's item, counted from 0; None where every item is its own one unit."""
    if protocol.rule.of == "item":
        return None
    with reading() as connection:
        rows = connection.execute(select(units.c.item).order_by(units.c.item, units.c.position)).scalars()
        return np.fromiter(rows, dtype=np.int64) - 1


def documents(names: Sequence[str | None], clusters: IntArray | None) -> IntArray:
    """Each unit's document, numbered in the order they come; an item that names none is a document by itself."""
    numbers: dict[str | int, int] = {}
    of_items = [numbers.setdefault(item if name is None else name, len(numbers)) for item, name in enumerate(names)]
    found = np.array(of_items, dtype=np.int64)
    return found if clusters is None else found[clusters]


def tabulate(
    reading: Reading,
    protocol: Protocol,
    protocol_seq: int,
    raters: Mapping[int, int],
    known: Sequence[RaterRef],
    n_units: int,
    clusters: IntArray | None,
) -> tuple[Mapping[str, Table], Mapping[str, Mapping[str, int]]]:
    """A table for each criterion, of the ratings under one protocol, and the failures in force by rater and reason.

    `raters` leads from row numbers to places in `known`.
    """
    builders = {criterion.id: TableBuilder(criterion, n_units, len(known)) for criterion in protocol.criteria}
    first_unit = _first_units(clusters)
    values: dict[str, Value] = {}
    failed: dict[tuple[str, int, int], str] = {}
    for row in _rows(reading, protocol_seq):
        _, item, position, criterion, rater, status, value, details = row
        unit = _number(item, position, first_unit)
        if value is not None and value not in values:
            values[value] = decode(value)
        place = raters[rater]
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


def _first_units(clusters: IntArray | None) -> Sequence[int] | None:
    """The number of each item's first unit."""
    if clusters is None:
        return None
    counts = np.bincount(clusters, minlength=int(clusters.max()) + 1 if clusters.size else 0)
    starts: IntArray = np.cumsum(counts) - counts
    return [int(start) for start in starts]


def _rows(reading: Reading, protocol_seq: int) -> Iterator[Sequence[Any]]:
    """Ratings in the order of their arrival, up to the last that is there when the reading begins."""
    columns = select(
        ratings.c.seq,
        ratings.c.item,
        ratings.c.position,
        ratings.c.criterion,
        ratings.c.rater,
        ratings.c.status,
        ratings.c.value,
        ratings.c.details,
    ).where(ratings.c.protocol == protocol_seq)
    with reading() as connection:
        last: int = connection.execute(select(func.coalesce(func.max(ratings.c.seq), 0))).scalar_one()
    after = 0
    while after < last:
        page_end = min(after + PAGE, last)
        query = columns.where(ratings.c.seq > after, ratings.c.seq <= page_end).order_by(ratings.c.seq)
        with reading() as connection:
            page = connection.execute(query).all()
        yield from page
        after = page_end


def _confidence(details: str | None) -> float | None:
    # Nearly all details have none, and looking for the word is a tenth of the cost of reading the JSON.
    if details is None or '"confidence"' not in details:
        return None
    return decode(details).get("confidence")
