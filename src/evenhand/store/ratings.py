"""Ratings and the raters who gave them: appended, read in order, counted.

A cell is what one rater says on one criterion of one unit under one protocol. Its history is one line of ratings, each
of which names the one it replaces; the table `current` has the last of each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any, cast

from sqlalchemy import Connection, Select, Table, bindparam, case, func, insert, select, update

from evenhand.errors import ConflictError, StudyError
from evenhand.protocol.model import Protocol
from evenhand.records import Kind, RaterRef, Rating, Span, Status, Value, now
from evenhand.store.database import Database, batches, decode, encode, insert_rows, next_seq
from evenhand.store.items import locate
from evenhand.store.protocols import Protocols, Versions, read_versions
from evenhand.store.schema import current, items, protocols, raters, ratings, storable
from evenhand.store.validation import Fit
from evenhand.units import unit_id

PAGE = 2000

SHOWN = 5

Cell = tuple[int, int, str, int, int]
"""Item, position, criterion, rater, protocol: the columns of `ratings` in this order, names as numbers. In `trials` the
first is the number of the task."""

RatingRow = tuple[int, str, int, int, str, int, int, int, str, str | None, str, str | None]
"""The columns of `ratings` in their order: seq, id, the cell, supersedes, status, value, at, details."""

_STATUS = {status.value: status for status in Status}

# Statements are built once: SQLAlchemy takes longer to build one than SQLite to run it, and others wait meanwhile.
_RATER = select(raters.c.seq, raters.c.kind, raters.c.version, raters.c.config).where(raters.c.id == bindparam("id"))
_RATERS = select(raters.c.id, raters.c.kind, raters.c.version, raters.c.config).order_by(raters.c.seq)
_REVISION = select(func.coalesce(func.max(ratings.c.seq), 0))
_COUNTS = select(
    current.c.protocol, *(func.sum(case((current.c.status == status.value, 1), else_=0)) for status in Status)
).group_by(current.c.protocol)
_earlier = ratings.alias("earlier")
_CURRENT = (
    select(current.c.rating)
    .where(current.c.protocol == ratings.c.protocol, current.c.rater == ratings.c.rater)
    .where(current.c.item == ratings.c.item, current.c.position == ratings.c.position)
    .where(current.c.criterion == ratings.c.criterion)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class Added:
    """What happened to ratings that were sent: `known` were stored before under the same id, or say the same again."""

    new: int = 0
    superseding: int = 0
    known: int = 0

    def plus(self, other: "Added") -> "Added":
        return Added(self.new + other.new, self.superseding + other.superseding, self.known + other.known)


class Ratings:
    """The ratings of a study.

    1. Ratings are append-only. A stored rating is never changed or removed; a later one of the same unit, criterion,
       rater and protocol digest supersedes it and names it. The history of a cell is one line, never a tree.
    2. When `add` returns, the ratings are on the disk: they outlive this process, however it ends. When it raises, none
       of them is stored.
    3. A rating is known by its id. Sending the same one twice stores it once, so a writer that does not know whether
       its call went through may repeat it.
    4. Any number of processes may write at once. They wait for one another and never see "database is locked".
    5. Reading yields the ratings of the current protocol unless another digest, or all, is asked for: ratings of two
       digests are never mixed otherwise.
    """

    def __init__(self, database: Database, versions: Protocols) -> None:
        self._database = database
        self._protocols = versions
        self._names: _Names | None = None
        self._rule = versions.current.rule.of

    def raters(self) -> Sequence[RaterRef]:
        """Every rater of the study, in order of arrival."""
        with self._database.reading() as connection:
            rows = connection.execute(_RATERS).all()
        return [RaterRef(row[0], Kind(row[1]), row[2], row[3]) for row in rows]

    def add_rater(self, rater: RaterRef) -> None:
        """Make a rater known, or update the version and configuration of one that is; StudyError if the rater is known
        as another kind."""
        with self._database.transaction() as connection:
            introduce(connection, rater)

    def add(
        self,
        ratings: Iterable[Rating],
        *,
        raters: Iterable[RaterRef] = (),
        if_current: bool = False,
        keep_same: bool = False,
    ) -> Added:
        """Store ratings, and make `raters` known first, in one transaction.

        `if_current`: each rating's `supersedes` must name the current rating (None: there is none yet), otherwise
        ConflictError; without it the store fills `supersedes` in. `keep_same`: a rating that says the same as the
        current one (status, value, rationale, confidence, notes, evidence, misquoted, distribution, mean) is skipped
        and counted as known. Raises StudyError for a rating of an unknown unit, criterion, rater or digest, and for one
        that does not fit its protocol: a value, also in the distribution, that is not exactly one of its scale, a
        confidence beyond 0 to 100, probabilities that do not sum to 1, a mean beyond the scale. The reply that a rating
        names need not be stored here. If the iterable raises, nothing is stored; it may read this store meanwhile.
        """
        newcomers = list(raters)
        parts = batches(ratings)
        # The first batch is read before the lock is taken: an ordinary call keeps others out only while it stores.
        first = next(parts, list[Rating]())
        if not first and not newcomers:
            return Added()
        added = Added()
        with self._database.transaction() as connection:
            for rater in newcomers:
                introduce(connection, rater)
            names = self._known_names(connection, newcomers)
            for batch in chain([first], parts):
                if not names.cover(batch):
                    # Another process may have adopted a protocol, or introduced a rater.
                    names = self._read_names(connection)
                added = added.plus(
                    append(connection, _RATINGS, batch, names.cells, if_current=if_current, keep_same=keep_same)
                )
        self._names = names
        return added

    def _known_names(self, connection: Connection, newcomers: Sequence[RaterRef]) -> "_Names":
        names = self._names
        # What a transaction introduced that was rolled back does not exist.
        fresh = names is not None and names.rollbacks == self._database.rollbacks
        if names is None or not fresh or any(rater.id not in names.raters for rater in newcomers):
            return self._read_names(connection)
        return names

    def _read_names(self, connection: Connection) -> "_Names":
        versions = read_versions(connection)
        rows = connection.execute(select(raters.c.id, raters.c.seq))
        numbers = {row[0]: row[1] for row in rows}
        return _Names(self._rule, versions.by_digest, numbers, self._database.rollbacks)

    def all(
        self,
        *,
        criterion: str | None = None,
        rater: str | None = None,
        item: str | None = None,
        digest: str | None = None,
        every_digest: bool = False,
        history: bool = False,
    ) -> Iterator[Rating]:
        """Ratings in the order of units, then criteria as in the current protocol, then arrival.

        Current ones only, unless `history`; of the current protocol only, unless `digest` or `every_digest`. A page
        ends with an item, so an item appears as it was at one moment, however many pages the reading takes.
        """
        if digest is not None and every_digest:
            raise ValueError("ask for one digest or for every digest, not for both")
        chosen = None if every_digest else digest or self._protocols.current.digest
        given = _given(criterion, rater, item, chosen)
        return self._pages(_by_item(frozenset(given), history), given)

    def _pages(self, query: Select[Any], given: Mapping[str, str]) -> Iterator[Rating]:
        known = self._protocols.known
        after, size, more = 0, PAGE, True
        while more:
            with self._database.reading() as connection:
                page: Sequence[Any] = connection.execute(query, {**given, "after": after, "size": size}).all()
                known = read_versions(connection, known)
            more = len(page) == size
            if more:
                # The last item may go on beyond the page.
                page = [row for row in page if row[2] != page[-1][2]]
                size = size if page else 2 * size
            if page:
                after = page[-1][2]
                yield from _in_order(page, known)

    def arrivals(
        self,
        *,
        after: int = 0,
        limit: int = 1000,
        criterion: str | None = None,
        rater: str | None = None,
        item: str | None = None,
        every_digest: bool = False,
        history: bool = False,
    ) -> Sequence[tuple[int, Rating]]:
        """Ratings in the order in which they came, each with its number, which is the `revision` it made.

        Those after `after`, at most `limit`; current ones of the current protocol only, unless asked otherwise. A
        rating that is changed appears again under a higher number.
        """
        given = _given(criterion, rater, item, None if every_digest else self._protocols.current.digest)
        query = _by_arrival(frozenset(given), history)
        with self._database.reading() as connection:
            page = connection.execute(query, {**given, "after": after, "size": limit}).all()
            versions = read_versions(connection, self._protocols.known)
        return [(row[0], rating) for row, rating in zip(page, _records(page, versions), strict=True)]

    def count(self) -> Mapping[str, Mapping[Status, int]]:
        """Current ratings by protocol digest and status."""
        with self._database.reading() as connection:
            digests = read_versions(connection, self._protocols.known).digests
            rows = connection.execute(_COUNTS).all()
        return {
            digests[row[0]]: {status: int(number) for status, number in zip(Status, row[1:], strict=True) if number}
            for row in sorted(rows, key=lambda row: row[0])
        }

    def revision(self) -> int:
        """A number that grows with every stored rating: the same number, the same ratings."""
        with self._database.reading() as connection:
            return connection.execute(_REVISION).scalar_one()


# Raters


def find_rater(connection: Connection, rater_id: str) -> tuple[int, Kind] | None:
    """A rater's number and kind."""
    row = connection.execute(_RATER, {"id": rater_id}).first()
    return None if row is None else (row[0], Kind(row[1]))


def introduce(connection: Connection, rater: RaterRef) -> None:
    """Make a rater known, or update its version and configuration."""
    if not all(map(storable, (rater.id, rater.version, rater.config))):
        raise StudyError(f"the rater {rater!r} has a character that cannot be stored")
    row = connection.execute(_RATER, {"id": rater.id}).first()
    values = {"version": rater.version, "config": rater.config}
    if row is None:
        values |= {"id": rater.id, "kind": rater.kind.value, "created": now().isoformat()}
        connection.execute(insert(raters).values(seq=next_seq(connection, raters), **values))
    elif row[1] != rater.kind:
        raise StudyError(
            f"{rater.id!r} is known as a {row[1]} and cannot rate as a {rater.kind}; choose another rater id"
        )
    elif (row[2], row[3]) != (rater.version, rater.config):
        connection.execute(update(raters).where(raters.c.id == rater.id).values(**values))


# Appending


@dataclass(frozen=True, slots=True)
class _Names:
    """What the numbers of a row stand for, as of so many rollbacks of the database."""

    rule: str
    protocols: Mapping[str, tuple[int, Protocol]]
    raters: Mapping[str, int]
    rollbacks: int
    fit: Fit = field(default_factory=Fit)

    def cover(self, batch: Iterable[Rating]) -> bool:
        """Whether every rater and protocol of these ratings is known. Neither is ever removed."""
        return all(rating.rater in self.raters and rating.digest in self.protocols for rating in batch)

    def cells(self, connection: Connection, batch: Sequence[Rating]) -> list[Cell]:
        """Where these ratings go; StudyError with everything that is wrong with them."""
        places = locate(connection, {rating.unit for rating in batch}, self.rule)
        cells: list[Cell] = []
        wrong: list[str] = []
        for rating in batch:
            version = self.protocols.get(rating.digest)
            if rating.unit not in places:
                wrong.append(f"there is no unit {rating.unit!r}")
            elif version is None:
                wrong.append(f"the protocol with digest {rating.digest[:12]!r} was never adopted here")
            elif problem := self._problem(rating, version[1]):
                wrong.append(problem)
            else:
                cells.append((*places[rating.unit], rating.criterion, self.raters[rating.rater], version[0]))
        if wrong:
            different = list(dict.fromkeys(wrong))
            more = f" … and {len(different) - SHOWN:,} more" if len(different) > SHOWN else ""
            raise StudyError(f"no rating was stored: {'; '.join(different[:SHOWN])}{more}")
        return cells

    def _problem(self, rating: Rating, protocol: Protocol) -> str | None:
        if not protocol.has(rating.criterion):
            valid = ", ".join(criterion.id for criterion in protocol.criteria)
            return f"there is no criterion {rating.criterion!r} in {protocol.name}; there are {valid}"
        if rating.rater not in self.raters:
            return f"there is no rater {rating.rater!r}; make the rater known first"
        return self.fit.wrong(rating, protocol.criterion(rating.criterion))


@dataclass(frozen=True, slots=True)
class _Head:
    """The current rating of a cell; `says` is what a repetition is compared with."""

    seq: int
    id: str
    says: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Appendable:
    """A table with the columns of `ratings`, and the statements to append to it."""

    table: Table
    known: Select[Any]
    cells: Select[Any]

    @classmethod
    def of(cls, table: Table) -> "Appendable":
        known = select(table.c.id).where(table.c.id.in_(bindparam("ids", expanding=True)))
        cells = select(table)
        # The columns by themselves find some cells too many, but SQLite has no index search for a list of tuples.
        for column in (table.columns[2], table.c.position, table.c.rater, table.c.protocol):
            cells = cells.where(column.in_(bindparam(f"of_{column.name}", expanding=True)))
        return cls(table, known, cells)


_RATINGS = Appendable.of(ratings)


def append(
    connection: Connection,
    to: Appendable,
    batch: Sequence[Rating],
    cells_of: Callable[[Connection, Sequence[Rating]], Sequence[Cell]],
    *,
    if_current: bool,
    keep_same: bool = False,
) -> Added:
    """Append one batch to a table of ratings. The caller is the only writer: what is read here stays true meanwhile."""
    bad = [rating.id for rating in batch if not storable(rating.id)]
    if bad:
        raise StudyError(f"the rating id {bad[0]!r} has a character that cannot be stored")
    known = set(connection.execute(to.known, {"ids": [rating.id for rating in batch]}).scalars())
    fresh = [rating for rating in batch if rating.id not in known]
    cells = cells_of(connection, fresh)
    heads = _heads(connection, to, cells)
    seq = next_seq(connection, to.table) - 1
    rows: list[RatingRow] = []
    superseding = 0
    for rating, cell in zip(fresh, cells, strict=True):
        head = heads.get(cell)
        says = _says(rating)
        if rating.id in known or (keep_same and head is not None and head.says == says):
            continue
        if if_current and rating.supersedes != (head.id if head else None):
            raise _conflict(rating, head)
        known.add(rating.id)
        seq += 1
        superseding += head is not None
        rows.append(_row(seq, rating, cell, head))
        heads[cell] = _Head(seq, rating.id, says)
    insert_rows(connection, to.table, rows)
    return Added(len(rows) - superseding, superseding, len(batch) - len(rows))


def _heads(connection: Connection, to: Appendable, cells: Sequence[Cell]) -> dict[Cell, _Head]:
    """The last rating of each cell. Within a cell numbers only grow, so the last is the current one."""
    if not cells:
        return {}
    asked: dict[str, set[int]] = {}
    for place, column in ((0, to.table.columns[2].name), (1, "position"), (3, "rater"), (4, "protocol")):
        asked[f"of_{column}"] = {cast("int", cell[place]) for cell in cells}
    wanted = set(cells)
    last: dict[Cell, RatingRow] = {}
    for found in connection.execute(to.cells, {name: list(values) for name, values in asked.items()}):
        row = cast("RatingRow", found)
        cell: Cell = row[2], row[3], row[4], row[5], row[6]
        if cell in wanted and (cell not in last or last[cell][0] < row[0]):
            last[cell] = row
    return {cell: _Head(row[0], row[1], _says(rating_from(row, "", "", "", None))) for cell, row in last.items()}


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


def _conflict(rating: Rating, head: _Head | None) -> ConflictError:
    now_there = "a newer rating is there now" if head else "the rating it was to replace is not there"
    return ConflictError(
        f"{rating.criterion} of unit {rating.unit!r} by {rating.rater!r} was changed in the meantime: {now_there}. "
        "Nothing was stored; look at the present rating and decide again"
    )


# Reading


def _given(criterion: str | None, rater: str | None, item: str | None, digest: str | None) -> dict[str, str]:
    asked = {"of_criterion": criterion, "of_rater": rater, "of_item": item, "of_digest": digest}
    return {name: value for name, value in asked.items() if value is not None}


@lru_cache(maxsize=64)
def _by_item(given: frozenset[str], history: bool) -> Select[Any]:
    query = _selected(given, history).where(ratings.c.item > bindparam("after"))
    return query.order_by(ratings.c.item).limit(bindparam("size"))


@lru_cache(maxsize=64)
def _by_arrival(given: frozenset[str], history: bool) -> Select[Any]:
    query = _selected(given, history).where(ratings.c.seq > bindparam("after"))
    return query.order_by(ratings.c.seq).limit(bindparam("size"))


def _selected(given: frozenset[str], history: bool) -> Select[Any]:
    """Ratings with the ids of their item, their rater and the rating they replaced."""
    query = (
        select(*ratings.c, items.c.id, raters.c.id, _earlier.c.id)
        .join(items, items.c.seq == ratings.c.item)
        .join(raters, raters.c.seq == ratings.c.rater)
        .outerjoin(_earlier, _earlier.c.seq == ratings.c.supersedes)
    )
    if "of_criterion" in given:
        query = query.where(ratings.c.criterion == bindparam("of_criterion"))
    # Numbers and not ids, so that the database searches in the index over ratings.
    for name, table, column in (("of_rater", raters, "rater"), ("of_item", items, "item")):
        if name in given:
            number = select(table.c.seq).where(table.c.id == bindparam(name)).correlate(None).scalar_subquery()
            query = query.where(ratings.c[column] == number)
    if "of_digest" in given:
        number = select(protocols.c.seq).where(protocols.c.digest == bindparam("of_digest")).scalar_subquery()
        query = query.where(ratings.c.protocol == number)
    return query if history else query.where(ratings.c.seq == _CURRENT)


def _in_order(page: Sequence[Any], versions: Versions) -> Iterator[Rating]:
    # Criteria as in the current protocol, then those that only earlier ones had.
    newest_first = [version.protocol for version in reversed(versions.adopted)]
    ids = dict.fromkeys(criterion.id for protocol in newest_first for criterion in protocol.criteria)
    order = {criterion: place for place, criterion in enumerate(ids)}
    return _records(sorted(page, key=lambda row: (row[2], row[3], order[row[4]], row[0])), versions)


def _records(rows: Iterable[Any], versions: Versions) -> Iterator[Rating]:
    digests, rule = versions.digests, versions.current.rule.of
    for row in rows:
        item, rater, replaced = row[12:]
        yield rating_from(row, unit_id(item, row[3], rule), rater, digests[row[6]], replaced)


# Records to rows and back, exactly: a level stays an int, a percentage a float.


def _row(seq: int, rating: Rating, cell: Cell, head: _Head | None) -> RatingRow:
    supersedes = head.seq if head else 0
    value = None if rating.value is None else encode(rating.value)
    return (seq, rating.id, *cell, supersedes, rating.status.value, value, rating.at.isoformat(), _details(rating))


_SIMPLE_DETAILS = ("rationale", "confidence", "notes", "mean", "reply", "seconds", "reason", "raw")
_LIST_DETAILS = ("misquoted", "distribution", "visible")


def _details(rating: Rating) -> str | None:
    """What a rating says besides its value, as JSON; None if there is nothing."""
    details: dict[str, object] = {}
    for name in _SIMPLE_DETAILS:
        if (value := getattr(rating, name)) is not None:
            details[name] = value
    for name in _LIST_DETAILS:
        if value := getattr(rating, name):
            details[name] = value
    if rating.evidence:
        details["evidence"] = [(span.field, span.start, span.end) for span in rating.evidence]
    return encode(details) if details else None


@lru_cache(maxsize=4096)
def _value(text: str) -> Value:
    """Labels and levels repeat a million times; free texts push them out only for a moment."""
    return decode(text)


def rating_from(row: RatingRow, unit: str, rater: str, digest: str, supersedes: str | None) -> Rating:
    """A rating from its row and the names that its numbers stand for."""
    value, details = row[9], row[11]
    more = {} if details is None else _read_details(details)
    return Rating(
        unit=unit,
        criterion=row[4],
        rater=rater,
        digest=digest,
        status=_STATUS[row[8]],
        value=None if value is None else _value(value),
        at=datetime.fromisoformat(row[10]),
        id=row[1],
        supersedes=supersedes,
        **more,
    )


def _read_details(text: str) -> dict[str, Any]:
    more = cast("dict[str, Any]", decode(text))
    if "evidence" in more:
        more["evidence"] = tuple(Span(*span) for span in more["evidence"])
    if "distribution" in more:
        more["distribution"] = tuple((value, probability) for value, probability in more["distribution"])
    for name in ("misquoted", "visible"):
        if name in more:
            more[name] = tuple(more[name])
    return more
