"""The work, cut into independent batches, and what takes them up.

`Engine` is the whole of what a way of running must offer. A batch knows all it needs; rating it touches neither the
study nor another batch, only the desk where replies are kept. So batches may be taken up here, in another process or
on another machine, in any order, and a batch that was lost is simply done again: its replies are there.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol as Interface

from evenhand.protocol.model import Protocol
from evenhand.raters.base import Desk, Judge, Judgement, Task
from evenhand.run.desk import Stopped
from evenhand.store.base import Work

SIZE = 16
"""Tasks in a batch: its ratings are stored together when all of it is done."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some of one rater's tasks."""

    judge: Judge
    desk: Desk
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Rated:
    """What came of a batch; tasks that were not begun when the run ended are left out."""

    batch: Batch
    judgements: Sequence[Judgement]


RateBatch = Callable[[Batch], Awaitable[Rated]]


class Engine(Interface):
    """Takes batches up, several at a time, and hands back what came of each as it is done."""

    def run(self, batches: AsyncIterator[Batch], rate: RateBatch) -> AsyncGenerator[Rated]: ...


class LocalEngine:
    """Takes batches up in this event loop, as many as keep every place for calls taken."""

    def __init__(self, places: int) -> None:
        self._enough = 2 * places + SIZE

    async def run(self, batches: AsyncIterator[Batch], rate: RateBatch) -> AsyncGenerator[Rated]:
        under_way: dict[asyncio.Task[Rated], int] = {}
        more = True
        try:
            while more or under_way:
                while more and sum(under_way.values()) < self._enough:
                    batch = await anext(batches, None)
                    if batch is None:
                        more = False
                    else:
                        under_way[asyncio.ensure_future(rate(batch))] = len(batch.tasks)
                if not under_way:
                    return
                done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for finished in done:
                    del under_way[finished]
                    yield finished.result()
        finally:
            for running in under_way:
                running.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)


def rate_batch(protocol: Protocol) -> RateBatch:
    """How a batch under this protocol is rated: all of its tasks at once, each waiting for its own place."""

    async def rate(batch: Batch) -> Rated:
        found = await asyncio.gather(*(_judged(protocol, batch, task) for task in batch.tasks))
        return Rated(batch, [judgement for judgements in found for judgement in judgements])

    return rate


async def _judged(protocol: Protocol, batch: Batch, task: Task) -> Sequence[Judgement]:
    try:
        return await batch.judge.judge(protocol, task, batch.desk)
    except Stopped:
        return ()


def tasks_of(work: Work, together: bool) -> Iterator[Task]:
    """An item's units as tasks: all in one, or one by one."""
    item, units = work
    if together:
        yield Task(item, tuple(units))
    else:
        yield from (Task(item, (unit,)) for unit in units)
