"""What is PostgreSQL's own: the driver, the URL, the schema `evenhand`, and one writer at a time."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlalchemy import URL, Connection, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from evenhand.errors import MissingExtraError, StudyError
from evenhand.store import sqlite
from evenhand.store.faults import from_connecting, from_postgres, not_a_study
from evenhand.store.load import copy_study
from evenhand.store.migrations import MIGRATIONS

SCHEMES = ("postgresql://", "postgres://", "postgresql+psycopg://")

PATIENCE = 300.0
"""Seconds after which a writer gives up."""

_WRITERS_LOCK = 0x4576656E
_SCHEMA = "evenhand"

# Every query of the store has an index made for it. In the middle of a large import the server has no statistics yet,
# takes the tables for small, and would read them through for every batch.
_POOR_PLANS = ("seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort")


class PostgresBackend:
    """A study in a PostgreSQL database: its tables live in the schema `evenhand`, apart from anything else there."""

    def __init__(self, url: str, patience: float = PATIENCE, *, new: bool = False) -> None:
        self._driver = _driver()
        self._url = _parse(url)
        self.location = shown(self._url)
        self._engine = create_engine(
            self._url,
            poolclass=QueuePool,
            pool_size=1,
            max_overflow=1,
            # A server that was restarted under a web page left open over lunch is no reason to fail.
            pool_pre_ping=True,
            connect_args={"client_encoding": "utf8"},
        )

        def prepare(connection: Any, _record: object) -> None:
            with connection.cursor() as cursor:
                cursor.execute(f"SET search_path TO {_SCHEMA}")
                # A server may be set to acknowledge what is not on the disk yet; a study's promise is stronger.
                cursor.execute("SET synchronous_commit TO on")
                cursor.execute(f"SET lock_timeout TO {int(patience * 1000)}")
                for plan in _POOR_PLANS:
                    cursor.execute(f"SET enable_{plan} TO off")
            connection.commit()

        event.listen(self._engine, "connect", prepare)
        try:
            self._check(new)
        except BaseException:
            self.close()
            raise

    def _check(self, new: bool) -> None:
        try:
            connection = self._engine.connect()
        except (DBAPIError, self._driver.Error) as error:
            raise from_connecting(self.location, error, self._url.password) from error
        with self._translated(), connection:
            if not new and not _holds_study(connection):
                raise not_a_study(self.location, "the database holds none")

    @contextmanager
    def reading(self) -> Generator[Connection]:
        with self._translated(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """The one writer of the moment.

        Writers queue at a lock instead of colliding: whoever holds it sees everything stored before, so no write has
        to be tried twice, and two imports that touch the same cells cannot deadlock.
        """
        with self._translated(), self._engine.connect() as connection, connection.begin():
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITERS_LOCK})")
            yield connection

    def backup(self, target: Path) -> None:
        """A copy of this moment as a SQLite study."""
        with self._translated(), self._engine.connect() as connection:
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                sqlite.create(target, lambda copy: copy_study(connection, copy, MIGRATIONS))

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except (DBAPIError, self._driver.Error) as error:
            raise from_postgres(self.location, error) from error

    def create(self, fill: Callable[[Connection], None]) -> None:
        """Make a study in this database, or change nothing."""
        with self.writing() as connection:
            if _holds_study(connection):
                raise StudyError(
                    f"{self.location}: this database holds a study already; nothing was changed. "
                    "Make another database for this one with: createdb NAME"
                )
            exists = connection.exec_driver_sql(f"SELECT 1 FROM pg_namespace WHERE nspname = '{_SCHEMA}'").scalar()
            if not exists:
                connection.exec_driver_sql(f"CREATE SCHEMA {_SCHEMA}")
            fill(connection)
            connection.exec_driver_sql("ANALYZE items, units")

    def close(self) -> None:
        self._engine.dispose()


def shown(url: URL) -> str:
    """A URL as it may be printed: without a password, wherever it was given."""
    harmless = {key: value for key, value in url.query.items() if "password" not in key}
    return url.set(drivername="postgresql", password=None, query=harmless).render_as_string()


def _driver() -> ModuleType:
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError("A study in PostgreSQL", "postgres") from error
    return psycopg


def _parse(url: str) -> URL:
    try:
        return make_url(url).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        # The URL itself may hold a password, so the message does not repeat it, nor the parser's own message.
        raise StudyError(
            "this PostgreSQL URL cannot be read; it looks like postgresql://USER:PASSWORD@HOST:5432/DATABASE, with "
            "special characters of the password written as %XX"
        ) from None


def _holds_study(connection: Connection) -> bool:
    return connection.exec_driver_sql(f"SELECT to_regclass('{_SCHEMA}.meta')").scalar() is not None
