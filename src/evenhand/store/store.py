"""A stored study: a path is a SQLite file, a `postgresql://` URL a database; `:memory:` lasts as long as its object."""

import gc
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from evenhand.analysis.tables import Tables
from evenhand.errors import DuplicateItemError, StudyError
from evenhand.protocol.model import Protocol
from evenhand.records import now
from evenhand.store.arrays import read_tables
from evenhand.store.database import Database
from evenhand.store.items import Items, ItemUnits, insert_work
from evenhand.store.people.access import Access, People
from evenhand.store.people.tasks import Tasks
from evenhand.store.people.trials import Trials
from evenhand.store.postgres import SCHEMES, PostgresDatabase
from evenhand.store.protocols import Protocols, add_adoption, read_versions
from evenhand.store.ratings import Ratings
from evenhand.store.replies import Replies
from evenhand.store.schema import ITEM_INDEX, check_schema, create_schema, items, write_meta
from evenhand.store.sqlite import PATIENCE, SqliteDatabase, is_sqlite, not_a_study
from evenhand.store.work import Work
from evenhand.text import masked


class Store:
    """An open study. Use it as a context manager; one object belongs to one thread.

    Each part states what it guarantees: `protocols`, `items`, `ratings`, `replies`, `work` (of programs) and `people`.
    The same contract tests run on SQLite and on PostgreSQL. Errors of the database are raised as `StudyError`.
    """

    def __init__(self, database: Database) -> None:
        try:
            with database.reading() as connection:
                if not database.holds_study(connection):
                    raise not_a_study("the database holds none")
                created = check_schema(connection)["created"]
                versions = read_versions(connection)
        except BaseException:
            database.close()
            raise
        self._database = database
        self.location = database.location
        """The path, or the URL without its password."""
        self.transaction = database.transaction
        """Everything that is read and stored in this block is one transaction: all of it, or, if the block raises,
        nothing. Other writers wait meanwhile. A call in it that fails leaves no trace, and the rest may go on."""
        self.backup, self.stop_waiting, self.close = database.backup, database.stop_waiting, database.close
        self.items = Items(database, versions.current.rule.of)
        self.protocols = Protocols(database, self.items, versions)
        tasks, trials = Tasks(database, self.protocols), Trials(database, self.protocols)
        self.people = People(database, Access(database), tasks, trials)
        self.ratings = Ratings(database, self.protocols)
        self.replies = Replies(database)
        self.work = Work(database, self.protocols, self.ratings)
        first = versions.adopted[0].protocol.digest
        self.identity = sha256(f"{created} {first}".encode()).hexdigest()[:16]
        """A name that no other study has, and that this one keeps wherever it is moved; copies share it."""

    @property
    def protocol(self) -> Protocol:
        """The current protocol, as of opening or the last call of `protocols.versions`, `protocols.adopt`, or one that
        gives out tasks."""
        return self.protocols.known.current

    def tables(self) -> Tables:
        """The current ratings under the current protocol as arrays, for statistics."""
        return read_tables(self._database, self.protocols.known)

    def probe(self) -> None:
        """Store something that means nothing. Raises StudyError if the study cannot be written now."""
        with self.transaction() as connection:
            write_meta(connection, {"probed": now().isoformat()})

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def create_store(location: str | Path, protocol: Protocol, source: str, work: Iterable[ItemUnits]) -> Store:
    """Create a study of these items and open it: the whole study or nothing.

    `work` is read once, as it comes; if it raises, nothing is left behind. Raises DuplicateItemError if ids are not
    unique, and StudyError if the place is taken or cannot be written.
    """
    database = _database(location)
    try:
        database.create(lambda connection: _fill(connection, protocol, source, work))
    except BaseException:
        database.close()
        raise
    return Store(database)


def open_store(location: str | Path, *, patience: float = PATIENCE) -> Store:
    """Open a study, in the same time whatever its size. Raises NotAStudyError, NewerStudyError, or StudyError if it is
    missing or cannot be read and written. `patience`: seconds to wait for others who keep it locked."""
    return Store(_database(location, patience))


def may_be_study(name: str) -> bool:
    """Whether a name is a database's URL or the path of a SQLite file: every study is one or the other."""
    if "://" in name:
        return True
    try:
        return Path(name).is_file() and is_sqlite(Path(name))
    except OSError:
        return False


def _database(location: str | Path, patience: float = PATIENCE) -> Database:
    if isinstance(location, Path) or (location.strip() and "://" not in location):
        return SqliteDatabase(str(location), patience)
    if location.startswith(SCHEMES):
        return PostgresDatabase(location, patience)
    raise StudyError(
        "a study is a SQLite file or a PostgreSQL database; give a path such as study.db, or "
        "a URL such as postgresql://USER:PASSWORD@HOST:5432/DATABASE",
        location=masked(location.strip()) or None,
    )


# Filling a new study: many rows, quickly, in constant memory.


def _fill(connection: Connection, protocol: Protocol, source: str, work: Iterable[ItemUnits]) -> None:
    create_schema(connection)
    add_adoption(connection, protocol, source)
    ITEM_INDEX.drop(connection)
    # Millions of short-lived records trigger Python's cycle collector again and again, a sixth of the time of a load;
    # none of them is in a cycle, so reference counting frees them all.
    collecting = gc.isenabled()
    gc.disable()
    try:
        insert_work(connection, protocol.rule.of, work)
    finally:
        if collecting:
            gc.enable()
    _index_items(connection)
    write_meta(connection, {"created": now().isoformat()})


def _index_items(connection: Connection) -> None:
    # PostgreSQL answers nothing more in a transaction that failed, and the duplicates are to be found there.
    connection.exec_driver_sql("SAVEPOINT before_index")
    try:
        ITEM_INDEX.create(connection)
    except IntegrityError as error:
        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT before_index")
        # Ids that occur more than once with the places of their items, in the order of the first.
        repeated = select(items.c.id).group_by(items.c.id).having(func.count() > 1)
        query = select(items.c.id, items.c.seq).where(items.c.id.in_(repeated)).order_by(items.c.seq)
        found: dict[str, list[int]] = {}
        for item_id, place in connection.execute(query):
            found.setdefault(item_id, []).append(place)
        raise DuplicateItemError(list(found.items())) from error
