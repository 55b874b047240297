"""Make a study, or open one: a path is a SQLite file, a `postgresql://` URL a database."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy import Connection

from evenhand.errors import StudyError, masked
from evenhand.protocol.model import Protocol
from evenhand.store import sqlite
from evenhand.store.base import Store, Work
from evenhand.store.load import fill
from evenhand.store.migrations import MIGRATIONS, Migration
from evenhand.store.postgres import SCHEMES, PostgresBackend
from evenhand.store.sql import SqlStore


def create_store(
    location: str | Path,
    protocol: Protocol,
    source: str,
    work: Iterable[Work],
    *,
    migrations: Sequence[Migration] = MIGRATIONS,
) -> Store:
    """Make a study of these items and open it. `work` is read once, as it comes; if it raises, nothing is left behind.

    Raises DuplicateItemError where ids are not unique, and StudyError where the place is taken or cannot be written.
    """
    if _is_url(location):
        backend = PostgresBackend(str(location), new=True)
        try:
            place = backend.location
            backend.create(lambda connection: fill(connection, place, protocol, source, work, migrations))
        except BaseException:
            backend.close()
            raise
        return SqlStore(backend, migrations)

    def into_file(connection: Connection) -> None:
        fill(connection, str(location), protocol, source, work, migrations)

    sqlite.create(Path(location), into_file)
    return open_store(location, migrations=migrations)


def open_store(location: str | Path, *, migrations: Sequence[Migration] = MIGRATIONS) -> Store:
    """Open a study. One made by an older version is brought up to date first.

    Raises NotAStudyError, NewerStudyError, or StudyError where it is missing or cannot be read and written.
    """
    if _is_url(location):
        return SqlStore(PostgresBackend(str(location)), migrations)
    return SqlStore(sqlite.SqliteBackend(Path(location)), migrations)


def may_be_study(name: str) -> bool:
    """Whether a name is a database's URL or leads to a SQLite file, as any study is the one or the other."""
    if "://" in name:
        return True
    try:
        return Path(name).is_file() and sqlite.is_sqlite(Path(name))
    except OSError:
        return False


def _is_url(location: str | Path) -> bool:
    if isinstance(location, str) and "://" in location and not location.startswith(SCHEMES):
        raise StudyError(
            f"{masked(location)}: a study is a SQLite file or a PostgreSQL database; give a path such as study.db, or "
            "a URL such as postgresql://USER:PASSWORD@HOST:5432/DATABASE"
        )
    return isinstance(location, str) and location.startswith(SCHEMES)
