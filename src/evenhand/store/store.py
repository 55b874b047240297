"""A stored study: a path is a SQLite file, a `postgresql://` URL a database; `:memory:` lasts as long as its object."""

import gc
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from evenhand.analysis.tables import Tables
from evenhand.errors import DuplicateItemError, StudyError
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Unit, now
from evenhand.store.arrays import read_tables
from evenhand.store.database import Database, batches, insert_rows
from evenhand.store.items import Items, ItemUnits, fields_text, unit_text
from evenhand.store.people.people import People
from evenhand.store.postgres import SCHEMES, PostgresDatabase
from evenhand.store.protocols import Protocols, add_adoption
from evenhand.store.ratings import Ratings
from evenhand.store.replies import Replies
from evenhand.store.schema import ITEM_INDEX, check_schema, create_schema, items, storable, units, write_meta
from evenhand.store.sqlite import MEMORY, SqliteDatabase, is_sqlite
from evenhand.store.work import Work
from evenhand.text import masked
from evenhand.units import unit_id


class Store:
    """An open study. Use it as a context manager; one object belongs to one thread.

    Each part states what it guarantees: `protocols`, `items`, `ratings`, `replies`, `work` (of programs) and `people`.
    The same contract tests run on SQLite and on PostgreSQL. Errors of the database are raised as `StudyError`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        try:
            with database.reading() as connection:
                created = check_schema(connection)["created"]
            self.protocols = Protocols(database, lambda: self.items.all())
            self.people = People(database, self.protocols)
            self.items = Items(database, self.protocol.rule.of, self.people.tasks)
            self.ratings = Ratings(database, self.protocols)
            self.replies = Replies(database)
            self.work = Work(database, self.protocols, self.ratings)
        except BaseException:
            database.close()
            raise
        first = self.protocols.known.adopted[0].protocol.digest
        self.identity = sha256(f"{created} {first}".encode()).hexdigest()[:16]
        """A name that no other study has, and that this one keeps wherever it is moved; copies share it."""

    @property
    def location(self) -> str:
        """The path, or the URL without its password."""
        return self._database.location

    @property
    def protocol(self) -> Protocol:
        """The current protocol, as of opening or the last call of `protocols.versions`, `protocols.adopt`, or one that
        gives out tasks."""
        return self.protocols.current

    def transaction(self) -> AbstractContextManager[object]:
        """Everything that is read and stored in this block is one transaction: all of it, or, if the block raises,
        nothing. Other writers wait meanwhile. A call in it that fails leaves no trace, and the rest may go on."""
        return self._database.transaction()

    def tables(self) -> Tables:
        """The current ratings under the current protocol as arrays, for statistics."""
        adjudicators = [member.rater for member in self.people.members() if member.role == "adjudicator"]
        return read_tables(self._database, self.protocols.known, self.items, self.ratings, frozenset(adjudicators))

    def backup(self, target: Path) -> None:
        """Write a consistent copy as a SQLite study while others go on writing; the target must not exist."""
        self._database.backup(target)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def create_store(location: str | Path, protocol: Protocol, source: str, work: Iterable[ItemUnits]) -> Store:
    """Create a study of these items and open it: the whole study or nothing.

    `work` is read once, as it comes; if it raises, nothing is left behind. Raises DuplicateItemError if ids are not
    unique, and StudyError if the place is taken or cannot be written.
    """

    def fill(connection: Connection) -> None:
        _fill(connection, protocol, source, work)

    if _is_url(location):
        return Store(PostgresDatabase.create(str(location), fill))
    if str(location) == MEMORY:
        return Store(SqliteDatabase.create_in_memory(fill))
    return Store(SqliteDatabase.create(Path(location), fill))


def open_store(location: str | Path) -> Store:
    """Open a study, in the same time whatever its size.

    Raises NotAStudyError, NewerStudyError, or StudyError if it is missing or cannot be read and written.
    """
    return Store(PostgresDatabase.open(str(location)) if _is_url(location) else SqliteDatabase.open(Path(location)))


def may_be_study(name: str) -> bool:
    """Whether a name is a database's URL or the path of a SQLite file: every study is one or the other."""
    if "://" in name:
        return True
    try:
        return Path(name).is_file() and is_sqlite(Path(name))
    except OSError:
        return False


def _is_url(location: str | Path) -> bool:
    if isinstance(location, str) and "://" in location and not location.startswith(SCHEMES):
        raise StudyError(
            "a study is a SQLite file or a PostgreSQL database; give a path such as study.db, or "
            "a URL such as postgresql://USER:PASSWORD@HOST:5432/DATABASE",
            location=masked(location),
        )
    return isinstance(location, str) and location.startswith(SCHEMES)


# Filling a new study: many rows, quickly, in constant memory.


def _fill(connection: Connection, protocol: Protocol, source: str, work: Iterable[ItemUnits]) -> None:
    create_schema(connection)
    add_adoption(connection, protocol, source)
    ITEM_INDEX.drop(connection)
    with _collector_paused():
        n_units = _insert_work(connection, protocol.rule.of, work)
    _index_items(connection)
    write_meta(connection, {"created": now().isoformat(), "units": str(n_units)})


@contextmanager
def _collector_paused() -> Generator[None]:
    """Millions of short-lived records trigger Python's cycle collector again and again, a sixth of the time of a load;
    none of them is in a cycle, so reference counting frees them all."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _insert_work(connection: Connection, rule: str, work: Iterable[ItemUnits]) -> int:
    """Insert items and units as they come; returns the number of units."""
    n_items = n_units = 0
    for batch in batches(work):
        item_rows: list[tuple[Any, ...]] = []
        unit_rows: list[tuple[Any, ...]] = []
        for item, its_units in batch:
            n_items += 1
            if not storable(item.id):
                raise StudyError(f"item {n_items}: the id {item.id!r} has a character that cannot be stored")
            item_rows.append((n_items, item.id, fields_text(item.fields)))
            if rule != "item":
                unit_rows += [_unit_row(n_items, item, unit, rule) for unit in its_units]
            elif its_units:
                _check_whole(item, its_units)
        n_units += len(unit_rows)
        insert_rows(connection, items, item_rows)
        insert_rows(connection, units, unit_rows)
    if rule == "item":
        # One unit for each item with nothing in it: the database makes a million of these faster than it reads them.
        connection.exec_driver_sql("INSERT INTO units (item, position) SELECT seq, 1 FROM items ORDER BY seq")
        return n_items
    return n_units


def _check_whole(item: Item, its_units: Sequence[Unit]) -> None:
    """Under the rule `item` nothing of the unit is stored, so it must be what reading will make of it."""
    if len(its_units) != 1 or its_units[0].id != item.id or its_units[0].text is not None:
        raise ValueError(f"item {item.id!r}: the rule `item` makes the item itself its one unit, not {its_units!r}")


def _unit_row(item_seq: int, item: Item, unit: Unit, rule: str) -> tuple[int, int, str | None]:
    if unit.item != item.id or unit.id != unit_id(item.id, unit.position, rule):
        raise ValueError(f"unit {unit.id!r} does not belong to item {item.id!r} at position {unit.position}")
    return item_seq, unit.position, unit_text(unit)


def _index_items(connection: Connection) -> None:
    # PostgreSQL answers nothing more in a transaction that failed, and the duplicates are to be found there.
    connection.exec_driver_sql("SAVEPOINT before_index")
    try:
        ITEM_INDEX.create(connection)
    except IntegrityError as error:
        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT before_index")
        raise DuplicateItemError(_duplicates(connection)) from error


def _duplicates(connection: Connection) -> list[tuple[str, list[int]]]:
    """Ids that occur more than once with the places of their items, in the order of the first."""
    repeated = select(items.c.id).group_by(items.c.id).having(func.count() > 1)
    rows = connection.execute(
        select(items.c.id, items.c.seq).where(items.c.id.in_(repeated)).order_by(items.c.id, items.c.seq)
    )
    found = [(item_id, [row[1] for row in group]) for item_id, group in groupby(rows, key=lambda row: str(row[0]))]
    return sorted(found, key=lambda duplicate: duplicate[1][0])
