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

    A function given to `read` must not write. One given to `write` may read, and should be quick.
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
        return await asyncio.get_running_loop().run_in_executor(self._writing, work, self._writer_study)

    def _read(self, work: Callable[[Study], T]) -> T:
        study = self._free.get()
        try:
            return work(study)
        finally:
            self._free.put(study)

    def close(self) -> None:
        for pool in ("_writing", "_reading"):
            executor: ThreadPoolExecutor | None = getattr(self, pool, None)
            if executor is not None:
                executor.shutdown()
        for study in (*self._readers, self._writer_study):
            study.close()
