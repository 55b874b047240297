"""SQLite's part of the store: the file and its marks, pragmas, waiting for other writers, and the words for errors."""

import errno
import os
import random
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from evenhand.errors import ConflictError, NotAStudyError, StudyError
from evenhand.store.database import Database

MEMORY = ":memory:"
"""The location of a study that lives as long as its `Store`."""

APPLICATION_ID = 0x4576656E
"""Bytes 68 to 71 of a study's file, "Even": tells a study from another program's SQLite file."""

PATIENCE = 300.0
"""Seconds after which a writer gives up. Twenty busy writers wait milliseconds; minutes mean a stuck program."""

COMPANIONS = ("-wal", "-shm", "-journal")
"""Files that SQLite keeps next to a database while it is in use."""

_LONGEST_PAUSE = 0.02
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)

# Nobody sees a new file before it is complete, and a broken one is thrown away: nothing need reach the disk before the
# end. The journal in memory stays empty while pages are only added.
_WHILE_CREATING = ("journal_mode = MEMORY", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -32768")

_WHILE_OPEN = (
    # SQLite's own waiting is switched off: after a few collisions it looks only ten times a second, which lets one
    # eager writer starve the rest.
    "busy_timeout = 0",
    "foreign_keys = ON",
    "synchronous = FULL",
    # Ids grow with time, so that writers touch only the end of their index and need little of it in memory.
    "cache_size = -8192",
    "journal_size_limit = 67108864",
)


class SqliteDatabase(Database):
    """An open study file, or a study in memory, with one connection."""

    clock = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"

    def __init__(self, location: str, connection: Connection, patience: float = PATIENCE) -> None:
        super().__init__(location)
        self._only = connection
        self._patience = patience
        try:
            with self.located(), self.translated():
                self._set_up()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, path: Path, patience: float = PATIENCE) -> "SqliteDatabase":
        _check_file(path)
        with _located(path):
            connection = _connect(path)
            try:
                with translated():
                    mark = connection.exec_driver_sql("PRAGMA application_id").scalar()
                if mark != APPLICATION_ID:
                    raise not_a_study("it is the SQLite file of another program")
            except StudyError as error:
                connection.close()
                connection.engine.dispose()
                # A writer that is just about to close the last connection holds the file for a moment.
                if not is_busy(error.__cause__):
                    raise
                connection = _connect(path)
        return cls(str(path), connection, patience)

    @classmethod
    def create(cls, path: Path, fill: Callable[[Connection], None]) -> "SqliteDatabase":
        """Create a study file from what `fill` puts into it, or none at all, and open it."""
        create_file(path, fill)
        return cls.open(path)

    @classmethod
    def create_in_memory(cls, fill: Callable[[Connection], None]) -> "SqliteDatabase":
        connection = _connect(None)
        connection.exec_driver_sql("BEGIN")
        try:
            fill(connection)
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            connection.close()
            connection.engine.dispose()
            raise
        return cls(MEMORY, connection)

    def _set_up(self) -> None:
        for pragma in _WHILE_OPEN:
            self._only.exec_driver_sql(f"PRAGMA {pragma}")
        if self._patiently("PRAGMA journal_mode") not in ("wal", "memory"):
            self._patiently("PRAGMA journal_mode = WAL")
        if not self._patiently("SELECT count(*) FROM sqlite_master WHERE name = 'meta'"):
            raise not_a_study("its tables are missing")

    @contextmanager
    def _begin_reading(self) -> Generator[Connection]:
        with self.translated(), self._transaction("BEGIN"):
            # BEGIN alone takes no snapshot; the first read does, and is the only one that may have to wait.
            self._patiently("SELECT 1 FROM meta LIMIT 1")
            yield self._only

    @contextmanager
    def _begin_writing(self, lock: bool) -> Generator[Connection]:
        # The lock is taken at the start: a transaction that reads first and writes later may find that another one
        # wrote in between, and no waiting helps it then.
        with self.translated(), self._transaction("BEGIN IMMEDIATE"):
            yield self._only

    @contextmanager
    def _transaction(self, begin: str) -> Generator[None]:
        self._patiently(begin)
        try:
            yield
            self._only.exec_driver_sql("COMMIT")
        except BaseException:
            # A full disk makes SQLite roll back by itself; a statement that is interrupted makes SQLAlchemy give the
            # connection up, and it refuses the next one. Neither may hide what happened.
            with suppress(SQLAlchemyError):
                self._only.exec_driver_sql("ROLLBACK")
            raise

    def _patiently(self, statement: str) -> object:
        """Run a statement, wait while others are in the way, and return its first value."""
        deadline = time.monotonic() + self._patience
        pause = 0.0005
        while True:
            try:
                result = self._only.exec_driver_sql(statement)
                return result.scalar() if result.returns_rows else None
            except OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    @contextmanager
    def translated(self) -> Generator[None]:
        with translated():
            yield

    def backup(self, target: Path) -> None:
        # One step of SQLite's backup is one read transaction, so writers go on.
        with _located(target), new_file(target) as temporary, translated():
            source = self._only.connection.driver_connection
            assert isinstance(source, sqlite3.Connection)
            copy = sqlite3.connect(temporary)
            try:
                copy.execute("PRAGMA synchronous = OFF")
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = WAL")
            finally:
                copy.close()

    def close(self) -> None:
        self._only.close()
        self._only.engine.dispose()


def create_file(path: Path, fill: Callable[[Connection], None]) -> None:
    """Create a study file from what `fill` puts into it, or none at all."""
    with _located(path), new_file(path) as temporary, translated():
        connection = _connect(temporary)
        try:
            for pragma in (*_WHILE_CREATING, f"application_id = {APPLICATION_ID}"):
                connection.exec_driver_sql(f"PRAGMA {pragma}")
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


def is_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite file, a study or another program's. SQLite itself looks, because closing a file that
    this process has open elsewhere would end SQLite's locks on it."""
    if path.stat().st_size == 0:
        return False
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("PRAGMA application_id")
    except sqlite3.Error as error:
        return _code(error) != sqlite3.SQLITE_NOTADB
    finally:
        connection.close()
    return True


def _connect(path: Path | None) -> Connection:
    """A connection that begins and ends transactions only when told; None: in memory. A missing file is not made."""
    address = MEMORY if path is None else f"{path.absolute().as_uri()}?mode=rw"
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(address, uri=True, timeout=0, isolation_level=None, check_same_thread=False),
        poolclass=StaticPool,
        isolation_level="AUTOCOMMIT",
    )
    try:
        with translated():
            return engine.connect()
    except BaseException:
        engine.dispose()
        raise


def _check_file(path: Path) -> None:
    """SQLite opens lazily and explains little; check what the file system knows first, without opening the file."""
    with _located(path):
        try:
            missing = not path.exists()
            is_file = path.is_file()
            empty = is_file and path.stat().st_size == 0
        except OSError as error:
            raise from_file(path, error) from error
        if missing:
            raise StudyError(
                f"there is no such study. Check the path, or create one with: evenhand new {path} "
                "--protocol NAME --items FILE"
            )
        if not is_file:
            raise not_a_study("it is a folder" if path.is_dir() else "it is not a file")
        if empty:
            raise not_a_study("the file is empty")
        if not os.access(path, os.R_OK):
            raise StudyError(_READ_ONLY)
        for needed in (path, path.absolute().parent):
            if not os.access(needed, os.W_OK):
                raise StudyError(
                    f"{'its folder' if needed is not path else 'the file'} is read-only, and a study needs to write "
                    "next to itself even to be read. Change the permissions, or copy the study to another folder"
                )


# Files that appear whole or not at all, and never replace another.


@contextmanager
def new_file(target: Path) -> Generator[Path]:
    """A temporary file next to `target` that takes its name when the block succeeds and is removed when it fails."""
    _refuse_existing(target)
    temporary = target.with_name(f".{target.name}.{uuid4().hex[:8]}.part")
    # The file is created inside the block: an interrupt right after it must lead to its removal.
    try:
        try:
            # Not `tempfile`: the study gets the permissions that the user's umask gives any new file.
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        except OSError as error:
            raise from_file(target, error) from error
        yield temporary
        try:
            _move(temporary, target)
        except OSError as error:
            raise from_file(target, error) from error
    finally:
        for suffix in ("", *COMPANIONS):
            with suppress(OSError):
                os.unlink(f"{temporary}{suffix}")


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        raise StudyError("exists already; nothing was changed. Choose another name, or move it away first")
    for suffix in COMPANIONS:
        # SQLite would take a leftover log for the new study's own and apply it.
        if os.path.lexists(f"{target}{suffix}"):
            raise StudyError(
                "left over from an earlier study of that name, and would damage a new one. Move it away, or choose "
                "another name",
                location=f"{target}{suffix}",
            )


def _move(temporary: Path, target: Path) -> None:
    _sync(temporary)
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise StudyError("another process created it in the meantime; nothing was changed") from None
    except OSError:
        # Some file systems have no hard links. Another process could still slip in between these two lines.
        _refuse_existing(target)
        os.rename(temporary, target)
    if os.name != "nt":
        _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Errors in words that say what to do. Those that only a mistake of ours can cause keep their traceback.

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)

FULL_DISK = "the disk is full (or a quota is used up); nothing of this was stored. Make room and try again"
SAME_MOMENT = "another process changed the same rating at the same moment; nothing was stored. Try again"
_DAMAGED = "the file is damaged. Go back to the last backup, or rescue what is left with: sqlite3 FILE .recover"
_READ_ONLY = (
    "cannot be written: the file, its folder or the disk is read-only, or belongs to another user. A study needs "
    "write permission for its file and its folder; change that, or copy the study elsewhere"
)
_FAILING_DISK = (
    "the disk did not read or write what it was asked to; it may be full, disconnected or failing. "
    "Nothing of this was stored"
)
_MESSAGES = {
    sqlite3.SQLITE_FULL: FULL_DISK,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: _READ_ONLY,
    sqlite3.SQLITE_IOERR: _FAILING_DISK,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
}


@contextmanager
def translated() -> Generator[None]:
    """Turn SQLite's errors into `StudyError`."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        known = _from_sqlite(error)
        if known is None:
            raise
        raise known from error


def is_busy(error: BaseException | None) -> bool:
    """Whether SQLite only asks to wait for another process."""
    return error is not None and _code(error) in _BUSY


def not_a_study(why: str) -> NotAStudyError:
    return NotAStudyError(
        f"this is not an Evenhand study: {why}. Create one with: evenhand new STUDY --protocol NAME --items FILE"
    )


def from_file(path: Path, error: OSError) -> StudyError:
    """An error of the file system as ours."""
    if error.errno in _FULL:
        return StudyError(FULL_DISK)
    if error.errno in _REFUSED:
        return StudyError(_READ_ONLY)
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return StudyError(f"there is no folder {str(path.parent)!r}; create it first")
    return StudyError(error.strerror or str(error))


def _code(error: BaseException) -> int | None:
    """SQLite's primary result code, if the error has one."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _from_sqlite(error: Exception) -> StudyError | None:
    """SQLite's error as ours; None for one that is a mistake in our own code."""
    code = _code(error)
    cause = error.orig if isinstance(error, DBAPIError) else error
    if code == sqlite3.SQLITE_NOTADB:
        return not_a_study("it is some other kind of file")
    if code == sqlite3.SQLITE_CONSTRAINT:
        return ConflictError(SAME_MOMENT)
    if code in _BUSY:
        return StudyError(
            "another program keeps the study locked; nothing was stored. "
            "Close whatever has the file open, then try again"
        )
    if code in _MESSAGES:
        return StudyError(f"{_MESSAGES[code]} ({cause})")
    if isinstance(cause, sqlite3.DatabaseError) and not isinstance(cause, sqlite3.ProgrammingError):
        return StudyError(f"the database reports: {cause}")
    return None


@contextmanager
def _located(path: Path) -> Generator[None]:
    try:
        yield
    except StudyError as error:
        if error.location is None:
            error.location = str(path)
        raise
