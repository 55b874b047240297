"""PostgreSQL's part of the store: the driver, the URL, the schema `evenhand`, the lock, and the words for errors. Its
`COPY` is in `insert_rows` of `database.py`, which is called with a connection to either database."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from evenhand.errors import ConflictError, StudyError, optional_module
from evenhand.store.database import BATCH, Database, Mode, insert_rows
from evenhand.store.schema import COPIED, ITEM_INDEX, create_schema, meta
from evenhand.store.sqlite import FULL_DISK, PATIENCE, SAME_MOMENT, SqliteDatabase

SCHEMES = ("postgresql://", "postgres://", "postgresql+psycopg://")

_WRITERS_LOCK = 0x4576656E
_SCHEMA = "evenhand"

# Every query of the store has an index made for it. In the middle of a large import the server has no statistics yet,
# takes the tables for small, and would read them through for every batch.
_POOR_PLANS = ("seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort")


class PostgresDatabase(Database):
    """A study in a PostgreSQL database: its tables live in the schema `evenhand`, apart from anything else there."""

    _waiting: Any = None
    """The driver's connection while it waits for other writers."""

    def __init__(self, url: str, patience: float = PATIENCE) -> None:
        self._driver = optional_module("psycopg", "A study in PostgreSQL", "postgres")
        try:
            self._url = make_url(url).set(drivername="postgresql+psycopg")
        except (ArgumentError, ValueError):
            # The URL itself may hold a password, so the message does not repeat it, nor the parser's own message.
            raise StudyError(
                "this PostgreSQL URL cannot be read; it looks like postgresql://USER:PASSWORD@HOST:5432/DATABASE, with "
                "special characters of the password written as %XX"
            ) from None
        self.patience = patience
        # Without a password, wherever it was given.
        harmless = {key: value for key, value in self._url.query.items() if "password" not in key}
        self.location = self._url.set(drivername="postgresql", password=None, query=harmless).render_as_string()

    def _connect(self) -> Connection:
        options = {"poolclass": NullPool, "isolation_level": "AUTOCOMMIT"}
        engine = create_engine(self._url, connect_args={"client_encoding": "utf8"}, **options)
        event.listen(engine, "connect", self._prepare)
        try:
            return engine.connect()
        except (DBAPIError, self._driver.Error) as error:
            raise _from_connecting(error, self._url.password) from error

    def _prepare(self, connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET search_path TO {_SCHEMA}")
            # A server may be set to acknowledge what is not on the disk yet; a study guarantees more.
            cursor.execute("SET synchronous_commit TO on")
            cursor.execute(f"SET lock_timeout TO {int(self.patience * 1000)}")
            for plan in _POOR_PLANS:
                cursor.execute(f"SET enable_{plan} TO off")
            # A plan that is switched off and needed all the same looks expensive enough to be compiled first.
            cursor.execute("SET jit TO off")
        connection.commit()

    def _begin(self, connection: Connection, mode: Mode) -> None:
        try:
            connection.exec_driver_sql("BEGIN")
        except DBAPIError as error:
            # Survive a restart of the server under a web page that was left open over lunch.
            if not error.connection_invalidated:
                raise
            connection.rollback()
            connection.exec_driver_sql("BEGIN")
        if mode == "locked":
            # Writers queue at a lock instead of colliding: the one that holds it sees everything stored before, so
            # no write has to be tried twice, and two imports that touch the same cells cannot deadlock.
            self._waiting = connection.connection.driver_connection
            try:
                if not self.patience:
                    connection.exec_driver_sql("SET LOCAL lock_timeout TO 1")
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITERS_LOCK})")
            finally:
                self._waiting = None

    def stop_waiting(self) -> None:
        super().stop_waiting()
        if self._waiting is not None:
            self._waiting.cancel()

    def holds_study(self, connection: Connection) -> bool:
        return connection.exec_driver_sql(f"SELECT to_regclass('{_SCHEMA}.meta')").scalar() is not None

    def create(self, fill: Callable[[Connection], None]) -> None:
        with self.transaction() as connection:
            if self.holds_study(connection):
                raise StudyError(
                    "this database holds a study already; nothing was changed. Create another database for this one "
                    "with: createdb NAME"
                )
            # Not IF NOT EXISTS: that asks for the right to create one even if the administrator has made it.
            if not connection.exec_driver_sql(f"SELECT 1 FROM pg_namespace WHERE nspname = '{_SCHEMA}'").scalar():
                connection.exec_driver_sql(f"CREATE SCHEMA {_SCHEMA}")
            fill(connection)
            connection.exec_driver_sql("ANALYZE items, units")

    def backup(self, target: Path) -> None:
        with self.reading() as connection:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            SqliteDatabase(str(target)).create(lambda copy: _copy(connection, copy))

    def explain(self, error: Exception) -> StudyError | None:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if not isinstance(error, DBAPIError | self._driver.Error):
            return None
        state = getattr(cause, "sqlstate", None)
        if state == "23505":
            return ConflictError(SAME_MOMENT)
        if state in _MESSAGES:
            return StudyError(_MESSAGES[state])
        if state is None or state.startswith(("08", "57P")):
            return StudyError(
                "the connection to the server broke; it is not known whether the last change was stored. "
                "Repeat it: a rating that was stored already is not stored twice"
            )
        return StudyError(f"the database reports: {_first_line(cause)}")


def _copy(source: Connection, target: Connection) -> None:
    """Copy every row into an empty SQLite database, numbers and ids included."""
    create_schema(target)
    target.execute(meta.delete())
    ITEM_INDEX.drop(target)
    for table in COPIED:
        query = select(table).order_by(*table.primary_key.columns).execution_options(yield_per=BATCH)
        for rows in source.execute(query).partitions():
            insert_rows(target, table, [tuple(row) for row in rows])
    ITEM_INDEX.create(target)


_MESSAGES = {
    "53100": FULL_DISK,
    **dict.fromkeys(("55P03", "57014"), "other writers keep the study busy; nothing was stored. Try again"),
    "40P01": SAME_MOMENT,
    "40001": SAME_MOMENT,
    "42501": "this database user may not do that. Ask for the right to create the schema evenhand in this database, "
    "or for the rights on the tables in it",
    "25006": "the server accepts no changes: it is read-only or a standby",
    "53300": "the server has no free connections; try again later",
    "22P05": "the database cannot hold every character; create it with: createdb --encoding UTF8 NAME",
    "54000": "an id is too long for the database's index; item ids must stay below about 2,000 characters",
}


def _from_connecting(error: Exception, password: str | None) -> StudyError:
    """An error while connecting. libpq has no codes here, so its words decide, with a fallback for others."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    words = _first_line(cause)
    if password:
        words = words.replace(password, "***")
    if "authentication failed" in words or "no password supplied" in words:
        what = "the server rejects the user name or password; check both in the URL"
    elif "database" in words and "does not exist" in words:
        what = "there is no such database; create it with: createdb NAME"
    else:
        what = "the PostgreSQL server cannot be reached; check host and port, and that the server is running"
    return StudyError(f"{what} ({words})")


def _first_line(error: BaseException | None) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
