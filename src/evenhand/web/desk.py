"""The study behind the page: opened several times, each opening in one thread at a time.

A store belongs to one thread. Reads run beside each other; writes go one after the other through one opening, so that
writers of this process do not have to wait for one another at the database.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from evenhand.study import Study

T = TypeVar("T")

READERS = 3


class Desk:
    """`read` and `write` run a function on the study in a thread; what it raises comes out here.

    A function given to `read` must not write. One given to `write` may read, and should be quick: all that it does is
    one transaction, stored as a whole or, where it raises, not at all.
    """

    def __init__(self, location: str, readers: int = READERS) -> None:
        self._writer_study = Study.open(location, check_source=False)
        self._free: SimpleQueue[Study] = SimpleQueue()
        self._readers: list[Study] = []
        try:
            for _ in range(readers):
                study = Study.open(location, check_source=False)
                self._readers.append(study)
                self._free.put(study)
        except BaseException:
            self.close()
            raise
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="evenhand-write")
        self._reading = ThreadPoolExecutor(readers, thread_name_prefix="evenhand-read")

    async def read(self, work: Callable[[Study], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._reading, self._read, work)

    async def write(self, work: Callable[[Study], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._write, work)

    def _read(self, work: Callable[[Study], T]) -> T:
        study = self._free.get()
        try:
            return work(study)
        finally:
            self._free.put(study)

    def _write(self, work: Callable[[Study], T]) -> T:
        # One transaction instead of dozens: most of the time of a small one is spent on its beginning and its end.
        with self._writer_study.store.together():
            return work(self._writer_study)

    def close(self) -> None:
        """Finish what is being done, and all that is to be written; reads that nobody began are left."""
        for pool in ("_reading", "_writing"):
            executor: ThreadPoolExecutor | None = getattr(self, pool, None)
            if executor is not None:
                executor.shutdown(cancel_futures=pool == "_reading")
        for study in (*self._readers, self._writer_study):
            study.close()
