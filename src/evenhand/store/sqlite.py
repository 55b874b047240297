"""What is SQLite's own: the file and its marks, its pragmas, and waiting for other writers."""

import os
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from evenhand.errors import StudyError
from evenhand.store.faults import from_file, from_sqlite, is_busy, not_a_study
from evenhand.store.files import new_file

APPLICATION_ID = 0x4576656E
"""Bytes 68 to 71 of a study's file, "Even": tells a study from anybody else's SQLite file."""

PATIENCE = 300.0
"""Seconds after which a writer gives up. Twenty busy writers wait milliseconds; minutes mean a stuck program."""

_LONGEST_PAUSE = 0.02
_MAGIC = b"SQLite format 3\0"

_OPEN: Counter[tuple[int, int] | None] = Counter()
"""How many backends of this process have a file open, by device and inode."""
_OPENING = Lock()


class SqliteBackend:
    """An open study file, with one connection."""

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self.location = str(path)
        self._path = path
        self._patience = patience
        with _OPENING:
            # To close a file that this process has open elsewhere would end SQLite's locks on it: another process
            # could then take the journal away under our hands.
            if not _OPEN[_identity(path)]:
                _check_file(path)
            self._connection = _connect(path)
            self._file = _identity(path)
            _OPEN[self._file] += 1
        try:
            with self._translated():
                self._set_up()
        except BaseException:
            self.close()
            raise

    def _set_up(self) -> None:
        # SQLite's own waiting is switched off: beyond a few collisions it looks only ten times a second, which lets
        # one eager writer starve the rest.
        self._connection.exec_driver_sql("PRAGMA busy_timeout = 0")
        self._connection.exec_driver_sql("PRAGMA foreign_keys = ON")
        self._connection.exec_driver_sql("PRAGMA synchronous = FULL")
        # Ids grow with time, so that writers touch the end of their index only and need little of it in memory.
        self._connection.exec_driver_sql("PRAGMA cache_size = -8192")
        self._connection.exec_driver_sql("PRAGMA journal_size_limit = 67108864")
        if self._patiently("PRAGMA journal_mode") != "wal":
            self._patiently("PRAGMA journal_mode = WAL")
        if not self._patiently("SELECT count(*) FROM sqlite_master WHERE name = 'meta'"):
            raise not_a_study(self.location, "its tables are missing")

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """One consistent view of the study."""
        with self._translated(), self._transaction("BEGIN"):
            # BEGIN alone takes no snapshot; the first read does, and is the only one that may have to wait.
            self._patiently("SELECT 1 FROM meta LIMIT 1")
            yield self._connection

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """The one writer of the moment; others wait.

        The lock is taken at the start: a transaction that reads first and writes later may find that somebody wrote
        in between, and no waiting helps it then.
        """
        with self._translated(), self._transaction("BEGIN IMMEDIATE"):
            yield self._connection

    @contextmanager
    def _transaction(self, begin: str) -> Generator[None]:
        self._patiently(begin)
        try:
            yield
            self._connection.exec_driver_sql("COMMIT")
        except BaseException:
            # A full disk makes SQLite roll back by itself; a statement that is interrupted makes SQLAlchemy give the
            # connection up, and it refuses the next one. Neither may hide what happened.
            with suppress(SQLAlchemyError):
                self._connection.exec_driver_sql("ROLLBACK")
            raise

    def _patiently(self, statement: str) -> object:
        """Run a statement, wait as long as others are in the way, and return its first value."""
        deadline = time.monotonic() + self._patience
        pause = 0.0005
        while True:
            try:
                result = self._connection.exec_driver_sql(statement)
                return result.scalar() if result.returns_rows else None
            except OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    @contextmanager
    def _translated(self) -> Generator[None]:
        with translated(self.location):
            yield

    def backup(self, target: Path) -> None:
        """A copy of this moment. One step of SQLite's backup is one read transaction, so writers go on."""
        with new_file(target) as temporary, translated(str(target)):
            source = self._connection.connection.driver_connection
            assert isinstance(source, sqlite3.Connection)
            copy = sqlite3.connect(temporary)
            try:
                copy.execute("PRAGMA synchronous = OFF")
                source.backup(copy)
            finally:
                copy.close()

    def close(self) -> None:
        with _OPENING:
            if not self._connection.closed:
                _OPEN[self._file] -= 1
            self._connection.close()
            self._connection.engine.dispose()


@contextmanager
def translated(location: str) -> Generator[None]:
    """SQLite's errors come out as `StudyError`."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        known = from_sqlite(location, error)
        if known is None:
            raise
        raise known from error


def create(path: Path, fill: Callable[[Connection], None]) -> None:
    """Make a study file from what `fill` puts into it, or none at all."""
    with new_file(path) as temporary, translated(str(path)):
        connection = _connect(temporary)
        try:
            # Nobody sees this file before it is complete, and a broken one is thrown away: nothing need reach the
            # disk before the end. The journal in memory stays empty while pages are only added.
            for pragma in (
                "journal_mode = MEMORY",
                "synchronous = OFF",
                "locking_mode = EXCLUSIVE",
                "cache_size = -32768",
            ):
                connection.exec_driver_sql(f"PRAGMA {pragma}")
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.exec_driver_sql("BEGIN")
            fill(connection)
            connection.exec_driver_sql("COMMIT")
        finally:
            connection.close()
            connection.engine.dispose()
        marked = sqlite3.connect(temporary)
        try:
            marked.execute("PRAGMA journal_mode = WAL")
        finally:
            marked.close()


def _connect(path: Path) -> Connection:
    """A connection that begins and ends transactions only when told. A file that is missing is not made."""
    address = f"{path.absolute().as_uri()}?mode=rw"
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(address, uri=True, timeout=0, isolation_level=None, check_same_thread=False),
        poolclass=StaticPool,
        isolation_level="AUTOCOMMIT",
    )
    try:
        with translated(str(path)):
            return engine.connect()
    except BaseException:
        engine.dispose()
        raise


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None  # what is wrong with it is said where it is opened
    return status.st_dev, status.st_ino


def is_sqlite(path: Path) -> bool:
    """Whether a file is SQLite's, a study's or another program's."""
    with _OPENING:
        if _OPEN[_identity(path)]:
            return True
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC


def _check_file(path: Path) -> None:
    """SQLite opens lazily and says little; look at the file first."""
    try:
        if not path.exists():
            raise StudyError(
                f"{path}: there is no such study. Check the path, or make one with: evenhand new {path} "
                "--protocol NAME --items FILE"
            )
        if not path.is_file():
            raise not_a_study(str(path), "it is a folder" if path.is_dir() else "it is not a file")
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise from_file(path, error) from error
    if not header:
        raise not_a_study(str(path), "the file is empty")
    if not header.startswith(_MAGIC):
        raise not_a_study(str(path), "it is some other kind of file")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise not_a_study(str(path), "it is the SQLite file of another program")
    for needed in (path, path.absolute().parent):
        if not os.access(needed, os.W_OK):
            raise StudyError(
                f"{path}: {'its folder' if needed is not path else 'the file'} is read-only, and a study needs to "
                "write beside itself even to be read. Change the permissions, or copy the study to another folder"
            )
