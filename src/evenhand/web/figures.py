"""The study's ratings as arrays, and what is reckoned from them: read once for everybody who asks, until they change.

Statistics read every rating. A small study is read anew as soon as a rating was added. A large one, whose reading takes
seconds, is at most ten times as old as its reading took, so that pages that are left open do not keep a core busy.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends, Request

from evenhand.store.people import Member
from evenhand.study import Study
from evenhand.table import Tables
from evenhand.web.desk import Desk

T = TypeVar("T")

QUICK = 0.5
"""Seconds. What is read within them is never shown when it is out of date."""
PATIENCE = 10.0

Mark = tuple[object, ...]
"""What the ratings hang on; the same mark, the same ratings."""


@dataclass
class _Read:
    """Tables as they were at one moment, and what was reckoned from them, by name."""

    tables: Tables
    mark: Mark
    at: float
    took: float
    made: dict[str, Any] = field(default_factory=dict[str, Any])
    locks: dict[str, asyncio.Lock] = field(default_factory=dict[str, asyncio.Lock])


class Figures:
    """Belongs to the application; one reading at a time, however many ask."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = asyncio.Lock()
        self._held: _Read | None = None

    async def tables(self) -> Tables:
        """Everything that statistics need of the study."""
        return (await self._current()).tables

    async def of(self, name: str, make: Callable[[Tables], T]) -> T:
        """What `make` reckons from the tables, in a thread, once for each state of the study; known by its name."""
        held = await self._current()
        async with held.locks.setdefault(name, asyncio.Lock()):
            if name not in held.made:
                held.made[name] = await asyncio.to_thread(make, held.tables)
        return cast("T", held.made[name])

    async def _current(self) -> _Read:
        async with self._lock:
            held = self._held
            if held is not None and held.took > QUICK and time.monotonic() - held.at < PATIENCE * held.took:
                return held
            mark = await self._desk.read(_mark)
            if held is None or held.mark != mark:
                held = self._held = await self._desk.read(_read)
            return held


def _mark(study: Study) -> Mark:
    return (
        study.store.revision(),
        study.protocol.digest,
        len(study.raters()),
        tuple(map(_role, study.store.people.members())),
    )


def _role(member: Member) -> tuple[str, str]:
    return member.rater, member.role


def _read(study: Study) -> _Read:
    began = time.monotonic()
    # The mark first: a rating that comes while the tables are read makes them out of date, not unnoticed.
    mark = _mark(study)
    tables = study.store.tables()
    ended = time.monotonic()
    return _Read(tables, mark, ended, ended - began)


def figures_of(request: Request) -> Figures:
    state = request.app.state
    if not hasattr(state, "figures"):
        state.figures = Figures(state.desk)
    return state.figures


FiguresOf = Annotated[Figures, Depends(figures_of)]
