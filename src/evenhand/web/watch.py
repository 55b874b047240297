"""Progress and growth for everybody who watches: reckoned once for all, and not at all while nothing happens."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import Depends, Request

from evenhand.assign import Plan
from evenhand.protocol.model import Protocol
from evenhand.records import Rating, now
from evenhand.store.base import Store
from evenhand.store.people import Member, TaskCounts
from evenhand.study import Study
from evenhand.table import Tables
from evenhand.web.desk import Desk
from evenhand.web.diary import Diarist, Diary
from evenhand.web.figures import PATIENCE, QUICK, Figures, figures_of
from evenhand.web.growth import growth
from evenhand.web.manage_shapes import GrowthShape, ProgressShape
from evenhand.web.progress import Person, progress

LARGE = 200_000
"""Ratings from which on growth is reckoned once a minute at most."""
A_MINUTE = timedelta(minutes=1)
"""Who is silent changes with the time alone, so an answer is not kept for longer."""
PAGE = 5000
FEW = 10


@dataclass(frozen=True, slots=True)
class _People:
    """Who is here and what they have in hand, at one moment; cheap to read."""

    members: Sequence[Member]
    counts: Mapping[str, TaskCounts]
    plan: Plan


@dataclass(frozen=True, slots=True)
class _Watched:
    tables: Tables
    people: _People
    answer: ProgressShape
    ended: float
    took: float


class Diaries:
    """The members' diaries, brought up to date by what came since the last time; for one thread at a time."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._after: int | None = None
        self._of: dict[str, Diarist] = {}

    @property
    def protocol(self) -> Protocol:
        return self._protocol

    def of(self, store: Store, members: Sequence[Member]) -> Mapping[str, Diary]:
        """Every member's diary as it is now."""
        new = [member.rater for member in members if member.rater not in self._of]
        self._of |= {rater: Diarist(self._protocol) for rater in new}
        if self._after is None:
            # Looking for one person's ratings costs little where most are models'; looking for everybody's does not.
            self._after = 0 if len(new) > FEW else store.revision()
        if self._after:
            for rater in new:
                self._take(store, 0, self._after, rater)
        self._after = self._take(store, self._after, None, None)
        return {member.rater: self._of[member.rater].diary() for member in members}

    def _take(self, store: Store, after: int, until: int | None, rater: str | None) -> int:
        while page := store.arrivals(after=after, limit=PAGE, rater=rater, history=True):
            for number, rating in page:
                if until is not None and number > until:
                    return until
                if rating.digest == self._protocol.digest and rating.rater in self._of:
                    self._of[rating.rater].add(rating)
                after = number
        return after


class Watch:
    """Belongs to the application; one reckoning at a time, however many ask."""

    def __init__(self, desk: Desk, figures: Figures) -> None:
        self._desk, self._figures = desk, figures
        self._lock = asyncio.Lock()
        self._watched: _Watched | None = None
        self._diaries: Diaries | None = None
        self._growing = asyncio.Lock()
        self._grown: tuple[Tables, float, GrowthShape] | None = None

    async def progress(self) -> ProgressShape:
        """How everybody comes along. What takes long to reckon is at most ten times as old as that."""
        async with self._lock:
            held = self._watched
            if held is not None and held.took > QUICK and time.monotonic() - held.ended < PATIENCE * held.took:
                return held.answer
            tables, at = await self._figures.tables(), now()
            people = await self._desk.read(_people)
            if held is None or held.tables is not tables or held.people != people or at - held.answer.at >= A_MINUTE:
                held = self._watched = await self._desk.read(lambda study: self._watch(study, tables, people, at))
            return held.answer

    def forget(self) -> None:
        """Reckon anew at the next question: the owner has changed something and wants to see it."""
        self._watched = None

    async def growth(self) -> GrowthShape:
        """How agreement has grown."""
        async with self._growing:
            tables, held = await self._figures.tables(), self._grown
            if held is not None and (held[0] is tables or _can_wait(tables, held[1])):
                return held[2]
            shape = GrowthShape.of(await asyncio.to_thread(growth, tables), tables.protocol)
            self._grown = tables, time.monotonic(), shape
            return shape

    def _watch(self, study: Study, tables: Tables, people: _People, at: datetime) -> _Watched:
        # Set aside while they are read: diaries that a failure left half read are not gone on with.
        held, self._diaries = self._diaries, None
        if held is None or held.protocol.digest != tables.protocol.digest:
            held = Diaries(tables.protocol)
        diaries = held.of(study.store, people.members)
        self._diaries = held
        # Only what is done each time counts against how often: the diaries are read through once.
        began = time.monotonic()
        trials: dict[str, list[tuple[int, Rating]]] = {}
        for number, trial in study.store.people.trials():
            trials.setdefault(trial.rater, []).append((number, trial))
        persons = [
            Person(
                member,
                people.counts.get(member.rater, TaskCounts()),
                diaries[member.rater],
                trials.get(member.rater, ()),
            )
            for member in people.members
        ]
        found = progress(tables, persons, people.plan, at)
        answer = ProgressShape.of(found, tables.protocol, people.plan, at)
        ended = time.monotonic()
        return _Watched(tables, people, answer, ended, ended - began)


def _people(study: Study) -> _People:
    people = study.store.people
    return _People(people.members(), people.task_counts(), people.plan())


def _can_wait(tables: Tables, at: float) -> bool:
    ratings = sum(table.code.size for table in tables.tables.values())
    return ratings > LARGE and time.monotonic() - at < A_MINUTE.total_seconds()


def watch_of(request: Request) -> Watch:
    state = request.app.state
    if not hasattr(state, "watch"):
        state.watch = Watch(state.desk, figures_of(request))
    return state.watch


WatchOf = Annotated[Watch, Depends(watch_of)]
