"""Files that appear whole or not at all, and never in the place of another."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from evenhand.errors import StudyError
from evenhand.store.faults import from_file

COMPANIONS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database while it is in use."""


@contextmanager
def new_file(target: Path) -> Generator[Path]:
    """A temporary file beside `target` that takes its name when the block ends well and vanishes when it does not."""
    _refuse_taken(target)
    temporary = target.with_name(f".{target.name}.{uuid4().hex[:8]}.part")
    # The file is made inside: an interrupt that comes right after it must find the way to its removal.
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


def _refuse_taken(target: Path) -> None:
    if os.path.lexists(target):
        raise StudyError(f"{target}: exists already; nothing was changed. Choose another name, or move it away first")
    for suffix in COMPANIONS:
        # SQLite would take a left-over log for the new study's own and apply it.
        if os.path.lexists(f"{target}{suffix}"):
            raise StudyError(
                f"{target}{suffix}: left over from an earlier study of that name, and a danger to a new one. "
                "Move it away, or choose another name"
            )


def _move(temporary: Path, target: Path) -> None:
    _sync(temporary)
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise StudyError(f"{target}: somebody else made it in the meantime; nothing was changed") from None
    except OSError:
        # Some file systems have no hard links. Another process could still slip in between these two lines.
        _refuse_taken(target)
        os.rename(temporary, target)
    if os.name != "nt":
        _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
