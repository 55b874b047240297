"""Put ratings behind those that are there: known ones passed over, every cell's history kept one line.

A cell is what one rater says on one criterion of one unit under one protocol. All of this happens inside a write
transaction, and a store has one writer at a time: what is read here stays true until the rows are in.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from sqlalchemy import Connection, bindparam, func, select

from evenhand.errors import ConflictError, StudyError
from evenhand.protocol.model import Protocol
from evenhand.records import Rating
from evenhand.store.base import Added
from evenhand.store.fit import Fit
from evenhand.store.load import insert_rows
from evenhand.store.rows import RatingRow, details_text, rating_from, storable, value_text
from evenhand.store.schema import items, ratings, units
from evenhand.units import unit_id

Cell = tuple[int, int, str, int, int]
"""Item, position, criterion, rater, protocol: the columns of `ratings` in this order, names as numbers."""

SHOWN = 5

# Written once, because SQLAlchemy takes longer to put a statement together than SQLite to answer it, and others wait.
# Items and positions by themselves find some pairs too many, but SQLite has no index search for a list of pairs.
_KNOWN = select(ratings.c.id).where(ratings.c.id.in_(bindparam("ids", expanding=True)))
_PLACES = (
    select(items.c.id, items.c.seq, units.c.position)
    .join(units, units.c.item == items.c.seq)
    .where(items.c.id.in_(bindparam("items", expanding=True)))
    .where(units.c.position.in_(bindparam("positions", expanding=True)))
)
_CELLS = (
    select(ratings)
    .where(ratings.c.item.in_(bindparam("items", expanding=True)))
    .where(ratings.c.position.in_(bindparam("positions", expanding=True)))
    .where(ratings.c.rater.in_(bindparam("raters", expanding=True)))
)
_LAST = select(func.coalesce(func.max(ratings.c.seq), 0))


@dataclass(frozen=True, slots=True)
class Names:
    """What the numbers of a row stand for."""

    location: str
    rule: str
    protocols: Mapping[str, tuple[int, Protocol]]
    raters: Mapping[str, int]
    fit: Fit = field(default_factory=Fit)

    def cover(self, batch: Iterable[Rating]) -> bool:
        """Whether every rater and protocol of these ratings is known. Neither is ever removed, so once is for good."""
        return all(rating.rater in self.raters and rating.digest in self.protocols for rating in batch)


@dataclass(frozen=True, slots=True)
class Head:
    """The rating in force in a cell; `says` is what a repetition is compared with."""

    seq: int
    id: str
    says: tuple[object, ...]


def append(
    connection: Connection, names: Names, batch: Sequence[Rating], *, if_current: bool, keep_same: bool
) -> Added:
    """Store one batch."""
    known = _known(connection, names, batch)
    fresh = [rating for rating in batch if rating.id not in known]
    cells = _cells(connection, names, fresh)
    heads = _heads(connection, cells)
    seq: int = connection.execute(_LAST).scalar_one()
    rows: list[tuple[Any, ...]] = []
    superseding = 0
    for rating, cell in zip(fresh, cells, strict=True):
        head = heads.get(cell)
        if rating.id in known or (keep_same and head is not None and head.says == _says(rating)):
            continue
        if if_current and rating.supersedes != (head.id if head else None):
            raise _conflict(names, rating, head)
        known.add(rating.id)
        seq += 1
        superseding += head is not None
        rows.append(_row(seq, rating, cell, head))
        heads[cell] = Head(seq, rating.id, _says(rating))
    insert_rows(connection, ratings, rows)
    return Added(len(rows) - superseding, superseding, len(batch) - len(rows))


def locate(connection: Connection, unit_ids: Iterable[str], rule: str) -> dict[str, tuple[int, int]]:
    """Item number and position of each of these units; one that is not there is absent."""
    wanted: dict[str, tuple[str, int]] = {}
    for name in unit_ids:
        place = _taken_apart(name, rule)
        if place is not None:
            wanted[name] = place
    asked = {"items": {item for item, _ in wanted.values()}, "positions": {position for _, position in wanted.values()}}
    there = {(row[0], row[2]): row[1] for row in connection.execute(_PLACES, {key: list(asked[key]) for key in asked})}
    return {name: (there[place], place[1]) for name, place in wanted.items() if place in there}


def _taken_apart(name: str, rule: str) -> tuple[str, int] | None:
    """The item's id and the position that a unit's id is made of; None where it is no unit's id."""
    if not storable(name):
        return None
    if rule == "item":
        return name, 1
    item_id, _, digits = name.rpartition("#")
    # `#01` and `#１` would be read as 1, but are not how a unit is called; ten digits are beyond any position.
    if not digits.isdecimal() or len(digits) > 9 or unit_id(item_id, int(digits), rule) != name:
        return None
    return item_id, int(digits)


def _known(connection: Connection, names: Names, batch: Sequence[Rating]) -> set[str]:
    bad = [rating.id for rating in batch if not storable(rating.id)]
    if bad:
        raise StudyError(f"{names.location}: the rating id {bad[0]!r} has a character that cannot be stored")
    return set(connection.execute(_KNOWN, {"ids": [rating.id for rating in batch]}).scalars())


def _cells(connection: Connection, names: Names, batch: Sequence[Rating]) -> list[Cell]:
    places = locate(connection, {rating.unit for rating in batch}, names.rule)
    cells: list[Cell] = []
    wrong: list[str] = []
    for rating in batch:
        version = names.protocols.get(rating.digest)
        if rating.unit not in places:
            wrong.append(f"there is no unit {rating.unit!r}")
        elif version is None:
            wrong.append(f"the protocol with digest {rating.digest[:12]!r} was never adopted here")
        elif not version[1].has(rating.criterion):
            valid = ", ".join(criterion.id for criterion in version[1].criteria)
            wrong.append(f"there is no criterion {rating.criterion!r} in {version[1].name}; there are {valid}")
        elif rating.rater not in names.raters:
            wrong.append(f"there is no rater {rating.rater!r}; make the rater known first")
        elif misfit := names.fit.wrong(rating, version[1].criterion(rating.criterion)):
            wrong.append(misfit)
        else:
            cells.append((*places[rating.unit], rating.criterion, names.raters[rating.rater], version[0]))
    if wrong:
        different = list(dict.fromkeys(wrong))
        more = f" … and {len(different) - SHOWN:,} more" if len(different) > SHOWN else ""
        raise StudyError(f"{names.location}: no rating was stored: {'; '.join(different[:SHOWN])}{more}")
    return cells


def _heads(connection: Connection, cells: Sequence[Cell]) -> dict[Cell, Head]:
    """The last rating of each cell. Within a cell numbers only grow, so the last is the one in force."""
    if not cells:
        return {}
    asked = {"items": {cell[0] for cell in cells}, "positions": {cell[1] for cell in cells}}
    asked["raters"] = {cell[3] for cell in cells}
    found = connection.execute(_CELLS, {key: list(asked[key]) for key in asked})
    wanted = set(cells)
    last: dict[Cell, RatingRow] = {}
    for found_row in found:
        row = cast("RatingRow", found_row)
        cell: Cell = row[2], row[3], row[4], row[5], row[6]
        if cell in wanted and (cell not in last or last[cell][0] < row[0]):
            last[cell] = row
    return {cell: Head(row[0], row[1], _says(rating_from(row, "", "", "", None))) for cell, row in last.items()}


def _says(rating: Rating) -> tuple[object, ...]:
    return (
        rating.status,
        type(rating.value),
        rating.value,
        rating.rationale,
        rating.confidence,
        rating.notes,
        rating.evidence,
        rating.misquoted,
        rating.distribution,
        rating.mean,
    )


def _row(seq: int, rating: Rating, cell: Cell, head: Head | None) -> RatingRow:
    supersedes = head.seq if head else 0
    value, details = value_text(rating.value), details_text(rating)
    return (seq, rating.id, *cell, supersedes, rating.status.value, value, rating.at.isoformat(), details)


def _conflict(names: Names, rating: Rating, head: Head | None) -> ConflictError:
    now_there = "a newer rating is there now" if head else "the rating it was to replace is not there"
    return ConflictError(
        f"{names.location}: {rating.criterion} of unit {rating.unit!r} by {rating.rater!r} was changed in the "
        f"meantime: {now_there}. Nothing was stored; look at the present rating and decide again"
    )
