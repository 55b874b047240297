"""The study behind the pages: one connection for writing and several for reading, each used by one thread at a time."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from threading import Lock

from fastapi import HTTPException

from evenhand.study import Study

READERS = 3


class StudyPool:
    """`with database.read() as study:` and `with database.write() as study:`.

    Reads run in parallel. Writes of this process run one after another, so that they do not wait for each other at the
    database. Do not nest the two in one thread.
    """

    def __init__(self, location: str) -> None:
        self._lock = Lock()
        self._free: SimpleQueue[Study] = SimpleQueue()
        with ExitStack() as opened:
            self._writer, *readers = [
                opened.enter_context(Study.open(location, check_source=False)) for _ in range(READERS + 1)
            ]
            self._close = opened.pop_all().close
        for study in readers:
            self._free.put(study)

    @contextmanager
    def read(self, *, refresh: bool = True) -> Generator[Study]:
        """A study to read from, with its current protocol unless `refresh` is False; writing to it is not allowed."""
        study = self._free.get()
        try:
            if refresh:
                study.store.protocols.versions()
            yield study
        finally:
            self._free.put(study)

    @contextmanager
    def write(self, digest: str | None = None) -> Generator[Study]:
        """A study to read and write in one transaction: all of it is stored, or, if the block raises, nothing.

        The transaction holds the writer's lock from the start: nobody else changes what the block has read. 409 if a
        digest is given, that of the protocol that the client uses, and the study has another protocol now.
        """
        with self._lock, self._writer.store.transaction():
            self._writer.store.protocols.versions()
            if digest not in (None, self._writer.protocol.digest):
                raise HTTPException(409, "The protocol has changed; reload the page.")
            yield self._writer

    def close(self) -> None:
        """Wait for the reads and the write that are running, then close all connections."""
        for _ in range(READERS):
            self._free.get()
        with self._lock:
            self._close()
