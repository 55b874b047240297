"""Results that are computed from all ratings: once for all who ask, until the ratings change.

A small study is computed again as soon as a rating is added. In a large one, where that takes seconds, results may be
up to ten times as old as they took to compute, so that pages that are left open do not keep a core busy.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any, TypeVar, cast

from evenhand.analysis.tables import Tables
from evenhand.study import Study

T = TypeVar("T")

FAST = 0.5
"""Seconds of work. A result that took less is never shown when it is out of date."""
PATIENCE = 10.0
"""A slow result is kept for this many times as long as it took."""


class Cache:
    """Belongs to the application. Each result is computed by one thread at a time; others wait for it."""

    def __init__(self, read: Callable[[], AbstractContextManager[Study]]) -> None:
        self._read = read
        self._entries: dict[str, tuple[object, Any, float]] = {}
        """The version of each result, the result, and until when it may be shown although it is out of date."""
        self._locks: dict[str, Lock] = {}

    def get(self, name: str, version: Callable[[], object], compute: Callable[[], T], *, patient: bool = False) -> T:
        """The result `name`, computed again if its version has changed; `patient`: later, if that takes long."""
        with self._locks.setdefault(name, Lock()):
            known, value, until = self._entries.get(name, (None, None, 0.0))
            if patient and time.monotonic() < until:
                return cast("T", value)
            current = version()
            if name not in self._entries or known != current:
                # The time of this thread, not of a clock, which also runs while other programs keep the machine busy.
                started = time.thread_time()
                value = compute()
                took = time.thread_time() - started
                until = time.monotonic() + PATIENCE * took if took > FAST else 0.0
                self._entries[name] = (current, value, until)
            return cast("T", value)

    def snapshot(self) -> tuple[object, Tables]:
        """The current ratings as arrays, and the version of the study that they belong to."""
        # The version is read before the tables: a rating that arrives in between makes them outdated, not wrong.
        return self.get("snapshot", self._version, lambda: (self._version(), self._tables()), patient=True)

    def from_tables(self, name: str, compute: Callable[[Tables], T], *, patient: bool = False) -> T:
        """A result that depends on nothing but the ratings."""
        version, tables = self.snapshot()
        return self.get(name, lambda: version, lambda: compute(tables), patient=patient)

    def forget(self, name: str) -> None:
        """Compute this result again the next time."""
        self._entries.pop(name, None)

    def _tables(self) -> Tables:
        with self._read() as study:
            return study.store.tables()

    def _version(self) -> object:
        """Equal versions have equal ratings, raters and roles."""
        with self._read() as study:
            store = study.store
            roles = tuple((member.rater, member.role) for member in store.people.members())
            return store.ratings.revision(), study.protocol.digest, len(store.ratings.raters()), roles
