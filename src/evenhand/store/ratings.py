"""Ratings and the raters who gave them: appended, read in order, counted.

A cell is what one rater says on one criterion of one unit under one protocol. Its history is one line of ratings, each
of which names the one it replaces; the table `current` has the last of each.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import astuple, dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any

from sqlalchemy import Column, Connection, ScalarSelect, Select, Table, bindparam, case, func, select, update

from evenhand.errors import ConflictError, StudyError
from evenhand.protocol.model import SCORES, Protocol
from evenhand.records import Kind, RaterRef, Rating, Span, Status, Value, now, unit_id
from evenhand.scales import PERCENT, Nominal, Ordinal, Scale, check_distribution, check_mean, is_within
from evenhand.store.database import Database, batches, decode, encode, insert_rows, next_seq
from evenhand.store.items import Place
from evenhand.store.protocols import Protocols, Versions, read_versions
from evenhand.store.schema import current, items, protocols, raters, ratings, units

PAGE = 2000

SHOWN = 5

MOST_STORED = 1_000_000
"""Characters that one cell may take with all it said before; each rating counts `ROW` and its texts. The page saves a
text whenever its rater pauses, which makes some dozens of ratings."""
ROW = 500

Cell = tuple[int, int, str, int, int]
"""Item, position, criterion, rater, protocol: the columns of `ratings` in this order, names as numbers. In `trials` the
first is the number of the task."""

RatingRow = tuple[int, str, int, int, str, int, int, int, str, str | None, str, str | None]
"""The columns of `ratings` in their order: seq, id, the cell, supersedes, status, value, at, details."""

_STATUS = {status.value: status for status in Status}

# Statements are built once: SQLAlchemy takes longer to build one than SQLite to run it, and others wait meanwhile.
_RATER = select(raters.c.seq, raters.c.kind, raters.c.version, raters.c.config).where(raters.c.id == bindparam("id"))
_RATERS = select(raters.c.id, raters.c.kind, raters.c.version, raters.c.config).order_by(raters.c.seq)
_RATER_NUMBERS = select(raters.c.id, raters.c.seq)
_COUNTS = select(
    current.c.protocol, *(func.sum(case((current.c.status == status.value, 1), else_=0)) for status in Status)
).group_by(current.c.protocol)
_RATED = (
    select(current.c.criterion, raters.c.id)
    .join(raters, raters.c.seq == current.c.rater)
    .join(protocols, protocols.c.seq == current.c.protocol)
    .where(protocols.c.digest.in_(bindparam("digests", expanding=True)))
    .distinct()
)
# Items and positions by themselves find some pairs too many, but SQLite has no index search for a list of pairs.
_PLACES = (
    select(items.c.id, items.c.seq, units.c.position)
    .join(units, units.c.item == items.c.seq)
    .where(items.c.id.in_(bindparam("items", expanding=True)))
    .where(units.c.position.in_(bindparam("positions", expanding=True)))
)
_earlier = ratings.alias("earlier")
_CURRENT = (
    select(current.c.rating)
    .where(*(current.c[name] == ratings.c[name] for name in ("protocol", "rater", "item", "position", "criterion")))
    .scalar_subquery()
)


def _number_of(identifier: Column[str], name: str) -> ScalarSelect[int]:
    """The number of the row with an id: by numbers, the database searches in the index over ratings."""
    return select(identifier.table.c.seq).where(identifier == bindparam(name)).correlate(None).scalar_subquery()


_CONDITIONS = {
    "of_criterion": ratings.c.criterion == bindparam("of_criterion"),
    "of_rater": ratings.c.rater == _number_of(raters.c.id, "of_rater"),
    "of_item": ratings.c.item == _number_of(items.c.id, "of_item"),
    "of_digest": ratings.c.protocol == _number_of(protocols.c.digest, "of_digest"),
}


@dataclass(frozen=True, slots=True)
class Added:
    """What happened to ratings that were sent: `known` were stored before under the same id, or say the same again."""

    new: int = 0
    superseding: int = 0
    known: int = 0


@dataclass
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

    _database: Database
    _protocols: Protocols
    _versions: Versions = field(init=False)
    _raters: Mapping[str, int] = field(init=False)
    _as_of: int | None = None

    def raters(self) -> Sequence[RaterRef]:
        """Every rater of the study, in order of arrival."""
        return [RaterRef(row[0], Kind(row[1]), row[2], row[3]) for row in self._database.read(_RATERS)]

    def rater(self, rater_id: str) -> RaterRef | None:
        rows = self._database.read(_RATER, {"id": rater_id})
        return RaterRef(rater_id, Kind(rows[0].kind), rows[0].version, rows[0].config) if rows else None

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
        newcomers, parts = list(raters), batches(ratings)
        # The first batch is read before the lock is taken: an ordinary call keeps others out only while it stores.
        first = next(parts, list[Rating]())
        if not first and not newcomers:
            return Added()
        with self._database.transaction() as connection:
            for rater in newcomers:
                introduce(connection, rater)
            added = [self.append(connection, batch, if_current, keep_same) for batch in chain([first], parts)]
        return Added(*map(sum, zip(*map(astuple, added), strict=True)))

    def append(
        self, connection: Connection, batch: Sequence[Rating], if_current: bool = False, keep_same: bool = False
    ) -> Added:
        """Store ratings of known raters in the transaction of a caller that is the only writer; otherwise as `add`."""
        # Raters and protocols are never removed, except when a transaction that introduced one is rolled back.
        if self._as_of != self._database.rollbacks or not all(
            rating.rater in self._raters and rating.digest in self._versions.by_digest for rating in batch
        ):
            self._versions = read_versions(connection)
            self._raters = {row[0]: row[1] for row in connection.execute(_RATER_NUMBERS)}
            self._as_of = self._database.rollbacks
        cells = self._cells(connection, batch)
        return append(connection, ratings, batch, cells, if_current=if_current, keep_same=keep_same)

    def _cells(self, connection: Connection, batch: Sequence[Rating]) -> list[Cell]:
        """Where these ratings go; StudyError with everything that is wrong with them."""
        versions = self._versions
        places = locate(connection, {rating.unit for rating in batch}, versions.current.rule.of)
        cells: list[Cell] = []
        wrong: dict[str, None] = {}
        for rating in batch:
            number, protocol = versions.by_digest.get(rating.digest, (0, None))
            if rating.unit not in places:
                wrong[f"there is no unit {rating.unit!r}"] = None
            elif protocol is None:
                wrong[f"the protocol with digest {rating.digest[:12]!r} was never adopted here"] = None
            elif rating.rater not in self._raters:
                wrong[f"there is no rater {rating.rater!r}; make the rater known first"] = None
            elif why := misfit(rating, protocol):
                wrong[why] = None
            else:
                cells.append((*places[rating.unit], rating.criterion, self._raters[rating.rater], number))
        if wrong:
            more = f" … and {len(wrong) - SHOWN:,} more" if len(wrong) > SHOWN else ""
            raise StudyError(f"no rating was stored: {'; '.join(list(wrong)[:SHOWN])}{more}")
        return cells

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
        chosen = None if every_digest else digest or self._protocols.known.current.digest
        asked = _asked(criterion=criterion, rater=rater, item=item, digest=chosen)
        query = _selected(frozenset(asked), history, ratings.c.item)
        known, after, size, more = self._protocols.known, 0, PAGE, True
        while more:
            with self._database.reading() as connection:
                page: Sequence[Any] = connection.execute(query, {**asked, "after": after, "size": size}).all()
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
        digest = None if every_digest else self._protocols.known.current.digest
        asked = _asked(criterion=criterion, rater=rater, item=item, digest=digest)
        query = _selected(frozenset(asked), history, ratings.c.seq)
        with self._database.reading() as connection:
            page = connection.execute(query, {**asked, "after": after, "size": limit}).all()
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

    def rated(self, *digests: str) -> Collection[tuple[str, str]]:
        """The criteria and scores that have ratings under these protocols, each with the rater who gave them."""
        return {(row.criterion, row.id) for row in self._database.read(_RATED, {"digests": digests})}

    def revision(self) -> int:
        """A number that grows with every stored rating: the same number, the same ratings."""
        with self._database.reading() as connection:
            return next_seq(connection, ratings) - 1


# Raters


def find_rater(connection: Connection, rater_id: str) -> tuple[int, Kind] | None:
    """A rater's number and kind."""
    row = connection.execute(_RATER, {"id": rater_id}).first()
    return None if row is None else (row[0], Kind(row[1]))


def introduce(connection: Connection, rater: RaterRef) -> None:
    """Make a rater known, or update its version and configuration."""
    row = connection.execute(_RATER, {"id": rater.id}).first()
    if row is None:
        seq, made = next_seq(connection, raters), now().isoformat()
        insert_rows(connection, raters, [(seq, rater.id, rater.kind.value, rater.version, rater.config, made)])
    elif row[1] != rater.kind:
        raise StudyError(
            f"{rater.id!r} is known as a {row[1]} and cannot rate as a {rater.kind}; choose another rater id"
        )
    elif (row[2], row[3]) != (rater.version, rater.config):
        values = {"version": rater.version, "config": rater.config}
        connection.execute(update(raters).where(raters.c.seq == row[0]).values(**values))


# Where the units are


def locate(connection: Connection, unit_ids: Iterable[str], rule: str) -> dict[str, Place]:
    """Item number and position of each of these units; one that does not exist is absent."""
    wanted = {name: place for name in unit_ids if (place := _parsed_unit_id(name, rule)) is not None}
    names, positions = zip(*wanted.values(), strict=True) if wanted else ((), ())
    rows = connection.execute(_PLACES, {"items": list({*names}), "positions": list({*positions})})
    there = {(row[0], row[2]): row[1] for row in rows}
    return {name: (there[place], place[1]) for name, place in wanted.items() if place in there}


def _parsed_unit_id(name: str, rule: str) -> tuple[str, int] | None:
    """The item's id and the position that a unit's id consists of; None if it is not a unit's id."""
    if rule == "item":
        return name, 1
    item_id, _, digits = name.rpartition("#")
    # `#01` and `#１` would be read as 1, but no unit is called that; ten digits are beyond any position.
    if not digits.isdecimal() or len(digits) > 9 or unit_id(item_id, int(digits), rule) != name:
        return None
    return item_id, int(digits)


# Whether a rating fits its protocol: a store keeps nothing that no statistic could read.


def misfit(rating: Rating, protocol: Protocol) -> str | None:
    """What does not fit, and what would; None if all is well."""
    criterion = protocol.by_id.get(rating.criterion) or SCORES.get(rating.criterion)
    if criterion is None:
        return f"there is no criterion {rating.criterion!r} in {protocol.name}; there are {', '.join(protocol.by_id)}"
    try:
        _check(rating, criterion.scale)
    except ValueError as error:
        return f"unit {rating.unit!r}, criterion {rating.criterion!r}: {error}"
    return None


def _check(rating: Rating, scale: Scale) -> None:
    if rating.confidence is not None and not is_within(rating.confidence, 0, 100):
        raise ValueError(f"the confidence {rating.confidence!r} is not {PERCENT.describe()}")
    if rating.mean is not None:
        check_mean(rating.mean, scale)
    if rating.distribution:
        try:
            for value, _ in rating.distribution:
                _check_value(value, scale)
            check_distribution(rating.distribution)
        except ValueError as error:
            raise ValueError(f"the distribution: {error}") from error
    if rating.value is not None:
        _check_value(rating.value, scale)


def _check_value(value: Value, scale: Scale) -> None:
    """Raise ValueError unless a value is the very one that its scale reads: `4` is a level, `"4"` and `4.0` are not."""
    # Labels and levels arrive by the million: a look at the scale is quicker than reading them.
    if isinstance(scale, Ordinal):
        if type(value) is int and value in scale.levels:
            return
    elif isinstance(scale, Nominal) and value in scale.labels:
        return
    try:
        read = scale.read(value)
    except ValueError:
        raise ValueError(f"the value {value!r} is not {scale.describe()}") from None
    if type(read) is not type(value) or read != value:
        raise ValueError(f"the value {value!r} must be given as {read!r}, {scale.describe()}")


# Appending


@cache
def _lookups(table: Table) -> tuple[Select[Any], Select[Any]]:
    """Finds known ids in a table with the columns of `ratings`, and all that is said in some cells."""
    known = select(table.c.id).where(table.c.id.in_(bindparam("ids", expanding=True)))
    # Not from `current`, which has no trials. The columns by themselves find some cells too many, but SQLite has no
    # index search for a list of tuples.
    cells = select(table)
    for place, column in enumerate(list(table.columns)[2:7]):
        if column.name != "criterion":
            cells = cells.where(column.in_(bindparam(f"of_{place}", expanding=True)))
    return known, cells


def append(
    connection: Connection,
    table: Table,
    batch: Sequence[Rating],
    cells: Sequence[Cell],
    *,
    if_current: bool,
    keep_same: bool = False,
) -> Added:
    """Append one batch to `ratings` or `trials`, each to its cell. The caller is the only writer: what is read here
    stays true meanwhile."""
    if not batch:
        return Added()
    find_known, find_cells = _lookups(table)
    known = set(connection.execute(find_known, {"ids": [rating.id for rating in batch]}).scalars())
    asked = {f"of_{place}": list({cell[place] for cell in cells}) for place in (0, 1, 3, 4)}
    said = connection.execute(find_cells, asked).all()
    heads = _heads(said, set(cells))
    if if_current:
        _check_growth(said, set(cells))
    contents = list(map(_content, batch))
    seq = next_seq(connection, table)
    rows: list[RatingRow] = []
    superseding = 0
    for rating, cell, content in zip(batch, cells, contents, strict=True):
        replaced, head = heads.get(cell, (0, None))
        if rating.id in known or (keep_same and head is not None and _says(head) == _says(rating)):
            continue
        if if_current and rating.supersedes != (head.id if head else None):
            raise _conflict(rating, head)
        known.add(rating.id)
        superseding += head is not None
        heads[cell] = seq + len(rows), rating
        rows.append((seq + len(rows), rating.id, *cell, replaced, *content))
    insert_rows(connection, table, rows)
    return Added(len(rows) - superseding, superseding, len(batch) - len(rows))


def _check_growth(rows: Iterable[Any], wanted: Set[Cell]) -> None:
    """Raise StudyError if a cell is full: what it said before is kept for good, so nobody may change it for ever."""
    stored: Counter[Cell] = Counter()
    for row in rows:
        cell: Cell = row[2], row[3], row[4], row[5], row[6]
        stored[cell] += ROW + len(row[9] or "") + len(row[11] or "")
    if any(stored[cell] > MOST_STORED for cell in wanted):
        raise StudyError(
            "this answer was changed so often that its earlier versions, which are all kept, take too much room; it "
            "can no longer be changed, and the current one counts"
        )


def _heads(rows: Iterable[Any], wanted: Set[Cell]) -> dict[Cell, tuple[int, Rating]]:
    """The last rating of each cell with its number. Within a cell numbers only grow, so the last is the current one."""
    last: dict[Cell, RatingRow] = {}
    for row in rows:
        cell: Cell = row[2], row[3], row[4], row[5], row[6]
        if cell in wanted and (cell not in last or last[cell][0] < row[0]):
            last[cell] = row
    return {cell: (row[0], rating_from(row, "", "", "", None)) for cell, row in last.items()}


_says: Callable[[Rating], tuple[object, ...]] = attrgetter(
    "status", "value.__class__", "value", "rationale", "confidence", "notes", "evidence", "misquoted", "distribution",
    "mean",
)  # fmt: skip


def _conflict(rating: Rating, head: Rating | None) -> ConflictError:
    now_there = "a newer rating is there now" if head else "the rating it was to replace is not there"
    return ConflictError(
        f"{rating.criterion} of unit {rating.unit!r} by {rating.rater!r} was changed in the meantime: {now_there}. "
        "Nothing was stored; look at the present rating and decide again"
    )


# Reading


def _asked(**wanted: str | None) -> dict[str, str]:
    return {f"of_{name}": value for name, value in wanted.items() if value is not None}


@lru_cache(maxsize=64)
def _selected(asked: frozenset[str], history: bool, order: Column[int]) -> Select[Any]:
    """Ratings with the ids of their item, their rater and the rating they replaced."""
    query = (
        select(*ratings.c, items.c.id, raters.c.id, _earlier.c.id)
        .join(items, items.c.seq == ratings.c.item)
        .join(raters, raters.c.seq == ratings.c.rater)
        .outerjoin(_earlier, _earlier.c.seq == ratings.c.supersedes)
        .where(order > bindparam("after"))
    )
    query = query.where(*(condition for name, condition in _CONDITIONS.items() if name in asked))
    query = query if history else query.where(ratings.c.seq == _CURRENT)
    return query.order_by(order).limit(bindparam("size"))


def _in_order(page: Sequence[Any], versions: Versions) -> Iterator[Rating]:
    # Criteria as in the current protocol, then those that only earlier ones had, then overlap scores.
    newest_first = [version.protocol for version in reversed(versions.adopted)]
    ids = dict.fromkeys(criterion.id for protocol in newest_first for criterion in protocol.criteria)
    order = {criterion: place for place, criterion in enumerate((*ids, *SCORES))}
    return _records(sorted(page, key=lambda row: (row[2], row[3], order[row[4]], row[0])), versions)


def _records(rows: Iterable[Any], versions: Versions) -> Iterator[Rating]:
    digests, rule = versions.digests, versions.current.rule.of
    for row in rows:
        item, rater, replaced = row[12:]
        yield rating_from(row, unit_id(item, row[3], rule), rater, digests[row[6]], replaced)


# Details and values as JSON and back, exactly: a level stays an int, a percentage a float.


_DETAILS = ("rationale", "confidence", "notes", "mean", "reply", "seconds", "reason", "raw")
_LISTS = ("misquoted", "distribution", "visible")


def _content(rating: Rating) -> tuple[str, str | None, str, str | None]:
    """Status, value, time, and as JSON what a rating says besides; None if there is nothing."""
    details: dict[str, object] = {name: value for name in _DETAILS if (value := getattr(rating, name)) is not None}
    details |= {name: value for name in _LISTS if (value := getattr(rating, name))}
    if rating.evidence:
        details["evidence"] = [(span.field, span.start, span.end) for span in rating.evidence]
    value = None if rating.value is None else encode(rating.value)
    return rating.status.value, value, rating.at.isoformat(), encode(details) if details else None


# Labels and levels repeat a million times; free texts push them out only for a moment.
_value: Callable[[str], Value] = lru_cache(maxsize=4096)(decode)


def rating_from(row: RatingRow, unit: str, rater: str, digest: str, supersedes: str | None) -> Rating:
    """A rating from its row and the names that its numbers stand for."""
    value, details = row[9], row[11]
    more: dict[str, Any] = {} if details is None else decode(details)
    if "evidence" in more:
        more["evidence"] = tuple(Span(*span) for span in more["evidence"])
    if "distribution" in more:
        more["distribution"] = tuple((value, probability) for value, probability in more["distribution"])
    more |= {name: tuple(more[name]) for name in ("misquoted", "visible") if name in more}
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
