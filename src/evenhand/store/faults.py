"""What a database or the file system reports, in words that say what to do. Nothing of sqlite3 or psycopg goes further.

Errors that only a mistake of ours can cause (a closed connection used, wrong SQL) are not translated: they keep their
traceback.
"""

import errno
import sqlite3
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from evenhand.errors import ConflictError, NotAStudyError, StudyError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)

_FULL_DISK = "the disk is full (or a quota is used up); nothing of this was stored. Make room and try again"
_DAMAGED = "the file is damaged. Go back to the last backup, or rescue what is left with: sqlite3 FILE .recover"
_READ_ONLY = (
    "cannot be written: the file, its folder or the disk is read-only, or belongs to somebody else. A study needs "
    "write permission for its file and its folder; change that, or copy the study elsewhere"
)
_FAILING_DISK = (
    "the disk did not read or write what it was asked to; it may be full, disconnected or failing. "
    "Nothing of this was stored"
)
_SQLITE = {
    sqlite3.SQLITE_FULL: _FULL_DISK,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: _READ_ONLY,
    sqlite3.SQLITE_IOERR: _FAILING_DISK,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
}

_SAME_MOMENT = "somebody else changed the same rating at the same moment; nothing was stored. Try again"


def sqlite_code(error: BaseException) -> int | None:
    """SQLite's primary result code, where the error has one."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def is_busy(error: BaseException) -> bool:
    """Whether SQLite only asks to wait for somebody else."""
    return sqlite_code(error) in _BUSY


def from_sqlite(location: str, error: Exception) -> StudyError | None:
    """SQLite's error as ours; None for one that is a mistake in our own code."""
    code = sqlite_code(error)
    cause = error.orig if isinstance(error, DBAPIError) else error
    if code == sqlite3.SQLITE_NOTADB:
        return not_a_study(location, "SQLite cannot read it")
    if code == sqlite3.SQLITE_CONSTRAINT:
        return ConflictError(f"{location}: {_SAME_MOMENT}")
    if code in _BUSY:
        return StudyError(
            f"{location}: another program keeps the study locked; nothing was stored. "
            "Close whatever has the file open, then try again"
        )
    if code in _SQLITE:
        return StudyError(f"{location}: {_SQLITE[code]} ({cause})")
    if isinstance(cause, sqlite3.DatabaseError) and not isinstance(cause, sqlite3.ProgrammingError):
        return StudyError(f"{location}: the database reports: {cause}")
    return None


def from_file(path: Path, error: OSError) -> StudyError:
    """An error of the file system as ours."""
    if error.errno in _FULL:
        return StudyError(f"{path}: {_FULL_DISK}")
    if error.errno in _REFUSED:
        return StudyError(f"{path}: {_READ_ONLY}")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return StudyError(f"{path}: there is no folder {str(path.parent)!r}; make it first")
    return StudyError(f"{path}: {error.strerror or error}")


def not_a_study(location: str, why: str) -> NotAStudyError:
    return NotAStudyError(
        f"{location}: this is not an Evenhand study: {why}. Make one with: evenhand new STUDY --protocol NAME "
        "--items FILE"
    )


_POSTGRES = {
    "53100": _FULL_DISK,
    "55P03": "other writers kept the study busy for minutes; nothing was stored. Try again",
    "40P01": _SAME_MOMENT,
    "40001": _SAME_MOMENT,
    "42501": "this database user may not do that. Ask for the right to create the schema evenhand in this database, "
    "or for the rights on the tables in it",
    "25006": "the server accepts no changes: it is read-only or a standby",
    "53300": "the server has no free connections; try again later",
    "22P05": "the database cannot hold every character; make it with: createdb --encoding UTF8 NAME",
    "54000": "an id is too long for the database's index; item ids must stay below about 2,000 characters",
}


def from_postgres(location: str, error: Exception) -> StudyError:
    """An error during work on a connection that stood."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(cause, "sqlstate", None)
    if state == "23505":
        return ConflictError(f"{location}: {_SAME_MOMENT}")
    if state in _POSTGRES:
        return StudyError(f"{location}: {_POSTGRES[state]}")
    if state is None or state.startswith(("08", "57P")):
        return StudyError(
            f"{location}: the connection to the server broke; it is not known whether the last change was stored. "
            "Repeat it: a rating that was stored already is not stored twice"
        )
    return StudyError(f"{location}: the database reports: {_first_line(cause)}")


def from_connecting(location: str, error: Exception, password: str | None) -> StudyError:
    """An error on the way to the server. libpq has no codes here, so its words decide, with a fallback for others."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    words = _first_line(cause)
    if password:
        words = words.replace(password, "***")
    if "authentication failed" in words or "no password supplied" in words:
        what = "the server refuses the user name or password; check both in the URL"
    elif "database" in words and "does not exist" in words:
        what = "there is no such database; make it with: createdb NAME"
    else:
        what = "the PostgreSQL server cannot be reached; check host and port, and that the server is running"
    return StudyError(f"{location}: {what} ({words})")


def _first_line(error: BaseException | None) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
