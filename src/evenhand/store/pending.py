"""What a rater has yet to rate, page by page in the order of the study.

A stretch of items is looked through at a time, with a search in the unique index over a cell for each of its units.
Stretches grow where little is found, so that a run taken up near its end is there soon; a page does not.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, literal_column, select, union_all

from evenhand.records import Status, Unit
from evenhand.store.append import locate
from evenhand.store.base import Work
from evenhand.store.load import batches
from evenhand.store.rows import item_from, storable, unit_from
from evenhand.store.schema import items, raters, ratings, units

PAGE = 200
"""Items that are handed on from one look; another process may rate them before they are taken up."""

_WIDEST = 20_000

_later = ratings.alias("later")

# Subqueries that give a number and no `EXISTS`: of that PostgreSQL makes a join, and before it knows how many ratings
# there are, it goes through all of them for every unit.
_REPLACED_BY = (
    select(_later.c.seq)
    .where(_later.c.item == ratings.c.item, _later.c.position == ratings.c.position)
    .where(_later.c.criterion == ratings.c.criterion, _later.c.rater == ratings.c.rater)
    .where(_later.c.protocol == ratings.c.protocol, _later.c.supersedes == ratings.c.seq)
    .limit(1)
    .scalar_subquery()
)
_THEIRS = (
    (ratings.c.rater == bindparam("rater"))
    & (ratings.c.protocol == bindparam("protocol"))
    # Every rating under the protocol is on one of these; to name them makes the whole index usable.
    & ratings.c.criterion.in_(bindparam("criteria", expanding=True))
)
# The empty text keeps databases from the index over `status`, which would go through every failure of the study.
_FAILED_NOW = (ratings.c.status + literal_column("''") == Status.FAILED.value) & _REPLACED_BY.is_(None)
_ON_UNIT = (
    select(ratings.c.seq)
    .where(ratings.c.item == units.c.item, ratings.c.position == units.c.position)
    .where(_THEIRS)
    .limit(1)
)
_STRETCH = select(units.c.item, units.c.position).where(
    units.c.item > bindparam("after"), units.c.item <= bindparam("end")
)
_UNRATED = _STRETCH.where(_ON_UNIT.scalar_subquery().is_(None))
_FAILED = _STRETCH.where(_ON_UNIT.where(_FAILED_NOW).scalar_subquery().is_not(None))
_EITHER = union_all(_UNRATED, _FAILED).subquery()
_COUNT_UNRATED = _UNRATED.with_only_columns(func.count(units.c.item.distinct()), func.count())
_COUNT_EITHER = select(func.count(_EITHER.c.item.distinct()), func.count())
_ITEMS = select(items).where(items.c.seq.in_(bindparam("items", expanding=True))).order_by(items.c.seq)
_UNITS = (
    select(units.c.item, units.c.position, units.c.content)
    .where(units.c.item.in_(bindparam("items", expanding=True)))
    .order_by(units.c.item, units.c.position)
)
_TIMES = (
    select(ratings.c.item, ratings.c.position, ratings.c.at)
    .where(ratings.c.item.in_(bindparam("items", expanding=True)))
    .where(ratings.c.position.in_(bindparam("positions", expanding=True)))
    .where(_THEIRS, _FAILED_NOW)
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose work is looked for: under the protocol of this number and its criteria, in a study of so many items."""

    rater: str
    protocol: int
    criteria: Sequence[str]
    failed: bool
    n_items: int
    rule: str

    def numbers(self, connection: Connection) -> dict[str, Any]:
        """The rater may become known while the work goes on; until then it has rated nothing."""
        query = select(raters.c.seq).where(raters.c.id == self.rater)
        number = connection.execute(query).scalar() if storable(self.rater) else None
        return {"rater": number or 0, "protocol": self.protocol, "criteria": list(self.criteria)}


def read_pending(reading: Callable[[], AbstractContextManager[Connection]], asked: Asked) -> Iterator[Work]:
    """Items with the units that are to be rated."""
    after, width = 0, PAGE
    while after < asked.n_items:
        end = min(after + width, asked.n_items)
        with reading() as connection:
            places = _places(connection, asked, after, end)
            chosen = {item: places[item] for item in sorted(places)[:PAGE]}
            page = _work(connection, chosen, asked.rule)
        after = end if len(chosen) == len(places) else max(chosen)
        width = min(2 * width, _WIDEST) if len(places) < PAGE else PAGE
        yield from page


def count_pending(connection: Connection, asked: Asked) -> tuple[int, int]:
    query = _COUNT_EITHER if asked.failed else _COUNT_UNRATED
    row = connection.execute(query, {**asked.numbers(connection), "after": 0, "end": asked.n_items}).one()
    return row[0], row[1]


def failure_times(connection: Connection, asked: Asked, unit_ids: Sequence[str]) -> Mapping[str, datetime]:
    """When the latest failed rating in force of each of these units was made."""
    numbers = asked.numbers(connection)
    found: dict[str, datetime] = {}
    for some in batches(dict.fromkeys(unit_ids)):
        names = {place: name for name, place in locate(connection, some, asked.rule).items()}
        places = {"items": sorted({item for item, _ in names}), "positions": sorted({place for _, place in names})}
        for item, position, text in connection.execute(_TIMES, {**numbers, **places}):
            name, at = names.get((item, position)), datetime.fromisoformat(text)
            if name is not None and (name not in found or found[name] < at):
                found[name] = at
    return found


def _places(connection: Connection, asked: Asked, after: int, end: int) -> dict[int, set[int]]:
    """Numbers of items, each with the positions of its pending units."""
    wanted = {**asked.numbers(connection), "after": after, "end": end}
    places: dict[int, set[int]] = {}
    for query in (_UNRATED, _FAILED) if asked.failed else (_UNRATED,):
        for item, position in connection.execute(query, wanted):
            places.setdefault(item, set()).add(position)
    return places


def _work(connection: Connection, places: Mapping[int, set[int]], rule: str) -> list[Work]:
    if not places:
        return []
    wanted = {"items": list(places)}
    found = {seq: item_from(item_id, fields) for seq, item_id, fields in connection.execute(_ITEMS, wanted)}
    pending: dict[int, list[Unit]] = {seq: [] for seq in found}
    for seq, position, content in connection.execute(_UNITS, wanted):
        if position in places[seq]:
            pending[seq].append(unit_from(found[seq].id, position, content, rule))
    return [(found[seq], pending[seq]) for seq in found]
