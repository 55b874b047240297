"""SQLite's part of the store: the file and its marks, pragmas, waiting for other writers, and the words for errors."""

import errno
import os
import random
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import NullPool

from evenhand.errors import ConflictError, NotAStudyError, StudyError
from evenhand.store.database import Database, Mode

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
_MARK = f"application_id = {APPLICATION_ID}"

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


@dataclass(eq=False)
class SqliteDatabase(Database):
    """A study file, or a study in memory."""

    location: str
    patience: float = PATIENCE

    def _connect(self) -> Connection:
        if self.location == MEMORY:
            connection = _open(MEMORY)
            _set(connection, _MARK, *_WHILE_OPEN)
            return connection
        _check_file(Path(self.location))
        connection = _open(_uri(Path(self.location), "rw"))
        try:
            if self._patiently(connection, "PRAGMA application_id") != APPLICATION_ID:
                raise not_a_study("it is the SQLite file of another program")
            _set(connection, *_WHILE_OPEN)
            if self._patiently(connection, "PRAGMA journal_mode") != "wal":
                self._patiently(connection, "PRAGMA journal_mode = WAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin(self, connection: Connection, mode: Mode) -> None:
        if mode == "read":
            self._patiently(connection, "BEGIN")
            # BEGIN alone takes no snapshot; the first read does, and is the only one that may have to wait.
            self._patiently(connection, "SELECT 1 FROM sqlite_master LIMIT 1")
        else:
            # The lock is taken at the start: a transaction that reads first and writes later may find that another one
            # wrote in between, and no waiting helps it then.
            self._patiently(connection, "BEGIN IMMEDIATE")

    def _patiently(self, connection: Connection, statement: str) -> object:
        """Run a statement, wait while others are in the way, and return its first value."""
        started = time.monotonic()
        pause = 0.0005
        while True:
            try:
                result = connection.exec_driver_sql(statement)
                return result.scalar() if result.returns_rows else None
            except OperationalError as error:
                if _cause(error)[1] not in _BUSY or time.monotonic() - started > self.patience:
                    raise
            time.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    def holds_study(self, connection: Connection) -> bool:
        return bool(connection.exec_driver_sql("SELECT count(*) FROM sqlite_master WHERE name = 'meta'").scalar())

    def create(self, fill: Callable[[Connection], None]) -> None:
        if self.location == MEMORY:
            with self.transaction() as connection:
                fill(connection)
            return
        with self.translated(), new_file(Path(self.location)) as temporary:
            with closing(_open(_uri(temporary, "rw"))) as connection:
                _set(connection, *_WHILE_CREATING, _MARK)
                connection.exec_driver_sql("BEGIN")
                fill(connection)
                connection.exec_driver_sql("COMMIT")
            with closing(sqlite3.connect(temporary)) as finished:
                finished.execute("PRAGMA journal_mode = WAL")

    def backup(self, target: Path) -> None:
        # One step of SQLite's backup is one read transaction, so writers go on.
        with self.reading() as connection, self.translated(str(target)), new_file(target) as temporary:
            source = connection.connection.driver_connection
            assert isinstance(source, sqlite3.Connection)
            with closing(sqlite3.connect(temporary)) as copy:
                copy.execute("PRAGMA synchronous = OFF")
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = WAL")

    def explain(self, error: Exception) -> StudyError | None:
        cause, code = _cause(error)
        if code == sqlite3.SQLITE_NOTADB:
            return not_a_study("it is some other kind of file")
        if code == sqlite3.SQLITE_CONSTRAINT:
            return ConflictError(SAME_MOMENT)
        if code in _MESSAGES:
            return StudyError(f"{_MESSAGES[code]} ({cause})")
        if isinstance(cause, sqlite3.DatabaseError) and not isinstance(cause, sqlite3.ProgrammingError):
            return StudyError(f"the database reports: {cause}")
        return None


def is_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite file, a study or another program's. SQLite itself looks, because closing a file that
    this process has open elsewhere would end SQLite's locks on it."""
    if path.stat().st_size == 0:
        return False
    with closing(sqlite3.connect(_uri(path, "ro"), uri=True)) as connection:
        try:
            connection.execute("PRAGMA application_id")
        except sqlite3.Error as error:
            return _cause(error)[1] != sqlite3.SQLITE_NOTADB
    return True


def _uri(path: Path, mode: str) -> str:
    """The address of a file that must exist: a missing one is not made."""
    return f"{path.absolute().as_uri()}?mode={mode}"


def _open(address: str) -> Connection:
    """A connection that begins and ends transactions only by SQL."""
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(address, uri=True, timeout=0, isolation_level=None, check_same_thread=False),
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
    )
    return engine.connect()


def _set(connection: Connection, *pragmas: str) -> None:
    for pragma in pragmas:
        connection.exec_driver_sql(f"PRAGMA {pragma}")


def _check_file(path: Path) -> None:
    """SQLite opens lazily and explains little; check what the file system knows first, without opening the file."""
    with _file_errors(path):
        if not path.exists():
            raise StudyError(
                f"there is no such study. Check the path, or create one with: evenhand new {path} "
                "--protocol NAME --items FILE"
            )
        if not path.is_file():
            raise not_a_study("it is a folder" if path.is_dir() else "it is not a file")
        if path.stat().st_size == 0:
            raise not_a_study("the file is empty")
    if not os.access(path, os.R_OK):
        raise StudyError(_READ_ONLY)
    for needed, what in ((path, "the file"), (path.absolute().parent, "its folder")):
        if not os.access(needed, os.W_OK):
            raise StudyError(
                f"{what} is read-only, and a study needs to write next to itself even to be read. Change the "
                "permissions, or copy the study to another folder"
            )


# Files that appear whole or not at all, and never replace another.


@contextmanager
def new_file(target: Path) -> Generator[Path]:
    """A temporary file next to `target` that takes its name when the block succeeds and is removed when it fails."""
    _refuse_existing(target)
    temporary = target.with_name(f".{target.name}.{uuid4().hex[:8]}.part")
    # The file is created inside the block: an interrupt right after it must lead to its removal.
    try:
        with _file_errors(target):
            # Not `tempfile`: the study gets the permissions that the user's umask gives any new file.
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        yield temporary
        with _file_errors(target):
            _move(temporary, target)
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

FULL_DISK = "the disk is full (or a quota is used up); nothing of this was stored. Make room and try again"
SAME_MOMENT = "another process changed the same rating at the same moment; nothing was stored. Try again"
_READ_ONLY = (
    "cannot be written: the file, its folder or the disk is read-only, or belongs to another user. A study needs "
    "write permission for its file and its folder; change that, or put the study elsewhere"
)
_MESSAGES = {
    sqlite3.SQLITE_FULL: FULL_DISK,
    **dict.fromkeys((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN), _READ_ONLY),
    sqlite3.SQLITE_IOERR: "the disk did not read or write what it was asked to; it may be full, disconnected or "
    "failing. Nothing of this was stored",
    sqlite3.SQLITE_CORRUPT: "the file is damaged. Go back to the last backup, or rescue what is left with: "
    "sqlite3 FILE .recover",
    **dict.fromkeys(
        _BUSY,
        "another program keeps the study locked; nothing was stored. Close whatever has the file open, then try again",
    ),
}
_FILE_MESSAGES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), FULL_DISK),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT), _READ_ONLY),
}


def not_a_study(why: str) -> NotAStudyError:
    return NotAStudyError(
        f"this is not an Evenhand study: {why}. Create one with: evenhand new STUDY --protocol NAME --items FILE"
    )


@contextmanager
def _file_errors(path: Path) -> Generator[None]:
    """Turn errors of the file system into `StudyError`."""
    try:
        yield
    except OSError as error:
        message = _FILE_MESSAGES.get(error.errno or 0) or error.strerror or str(error)
        if error.errno in (errno.ENOENT, errno.ENOTDIR) and not path.parent.is_dir():
            message = f"there is no folder {str(path.parent)!r}; create it first"
        raise StudyError(message) from error


def _cause(error: Exception) -> tuple[object, int | None]:
    """The driver's own error, and SQLite's primary result code, if it has one."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    return cause, code & 0xFF if isinstance(code, int) else None
