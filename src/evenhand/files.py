"""Files: reading text and JSON, and the atomic writer, which leaves either the complete new file or the old one."""

import difflib
import errno
import json
import os
import re
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from evenhand.errors import InputError, Problem, UserError

MARK_WITHIN = 4096
"""Bytes at the beginning and at the end of a file in which its generator's mark is looked for."""

LIMIT, MOST_MB = "EVENHAND_MAX_MB", 100
"""The environment variable that sets the limit of what is read as a whole, and the limit without it."""

MOST_VALUES = 3_000_000
"""Values of one JSON document: each takes a hundred bytes of memory, however few it has in the file."""


def read_text(path: Path, *, largest: int | None = None, error: type[InputError] = InputError) -> str:
    """The text of a UTF-8 file, without its byte order mark.

    Raises `error` if it is not a file, has more than `largest` bytes, or is not UTF-8 text.
    """
    with reading(path, error):
        if largest is not None and path.stat().st_size > largest:
            raise error(str(path), f"larger than {largest:,} bytes: this cannot be the right file")
        check_size(str(path), path.stat().st_size)
        try:
            return path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as fault:
            line = path.read_bytes()[: fault.start].count(b"\n") + 1
            raise error(str(path), [Problem("not UTF-8 text", line=line, fix="save the file as UTF-8")]) from fault


@contextmanager
def reading(path: Path, error: type[InputError] = InputError) -> Generator[None]:
    """For reading a file: raises `error` if there is none, or if it cannot be read, or only once."""
    try:
        if not path.exists():
            beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
            close = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.8)
            fix = f"did you mean {path.parent / close[0]}?" if close else None
            raise error(str(path), [Problem("no such file", fix=fix)])
        if not path.is_file():
            raise error(str(path), f"this is a {'folder' if path.is_dir() else 'device or a pipe'}; give a file")
        yield
    except OSError as fault:
        raise error(str(path), f"cannot be read: {fault.strerror or fault}") from fault


def check_size(source: str, size: int, what: str = "the file") -> None:
    """Raise InputError if what has to be read as a whole is larger than the limit, UserError if that is not valid."""
    given = os.environ.get(LIMIT, "").strip() or str(MOST_MB)
    limit, actual = float(given) if re.fullmatch(r"\d+(\.\d+)?", given) else 0, size / 1e6
    if not limit:
        raise UserError(f"the environment variable {LIMIT} is {given!r}; valid is a number of megabytes above 0")
    if actual > limit:
        fix = f"split it, or set the environment variable {LIMIT} to the megabytes that your memory allows"
        raise InputError(source, [Problem(f"{what} has {actual:,g} MB, and the limit is {limit:,g} MB", fix=fix)])


def parse_json(text: str) -> object:
    """A JSON value, nested at most as deeply as Python can read, with no key twice in one object. Raises ValueError."""
    if len(text) > MOST_VALUES and sum(map(text.count, ",[{")) > MOST_VALUES:
        raise ValueError(f"more than {MOST_VALUES:,} values, which is the limit; split it, or write JSON Lines")
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise ValueError("values nested too deeply; a thousand levels are too many") from None
    except ValueError as error:
        found = re.search(r'(?<![\d."])\d{4301}', text) if "integer string conversion" in str(error) else None
        if found is None:
            raise
        what = "a whole number with more than 4,300 digits, which is the limit; write it as a text"
        raise json.JSONDecodeError(what, text, found.start()) from None


def json_problem(error: ValueError) -> Problem:
    """What `parse_json` says is wrong, and in which line."""
    if isinstance(error, json.JSONDecodeError):
        what = f"not JSON at character {error.colno}: {error.msg[:1].lower()}{error.msg[1:]}"
        return Problem(what, line=error.lineno)
    return Problem(str(error))


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice!r} is there twice in one object")
    return value


@contextmanager
def replacing(path: Path, *, overwrite: bool = False, mark: bytes | None = None) -> Generator[Path]:
    """A temporary file that replaces `path` if the block succeeds, and is removed if it does not.

    An existing file is refused unless `overwrite`, or unless it contains `mark` near its beginning or end: the mark
    that our own program leaves in the files it generates.
    """
    temporary = path.parent / f".{path.name}.{uuid4().hex[:8]}.part"
    try:
        if path.is_dir():
            raise UserError(f"{path}: this is a folder; give the name of a file")
        if path.exists() and not path.is_file():
            raise UserError(f"{path}: this is a device or a pipe; give the name of a file")
        if path.exists() and not overwrite and not _has_mark(path, mark):
            raise UserError(f"{path}: the file already exists; choose another name, or replace it with --overwrite")
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {_advice(error, path)}") from error
    finally:
        with suppress(OSError):  # in a read-only folder there is nothing left of a file that could not be finished
            temporary.unlink(missing_ok=True)


def _has_mark(path: Path, mark: bytes | None) -> bool:
    if mark is None:
        return False
    with path.open("rb") as file:
        beginning = file.read(MARK_WITHIN)
        file.seek(max(0, path.stat().st_size - MARK_WITHIN))
        return mark in beginning or mark in file.read()


def _advice(error: OSError, path: Path) -> str:
    folder = path.absolute().parent
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full; make room, or choose another folder than {folder}"
    if error.errno in (errno.ENOENT, errno.ENOTDIR) and not folder.is_dir():
        return f"there is no folder {folder}; create it first"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT):
        return f"the folder {folder} is not writable; choose another one"
    return error.strerror or str(error)
