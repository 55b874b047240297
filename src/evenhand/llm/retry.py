"""Asking until a reply comes: tries, waits between them, and when to stop for good."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from evenhand.llm.base import BeforeRetry, CallError, Reply, RunError
from evenhand.llm.endpoints import Endpoint
from evenhand.llm.rate_limit import RateLimiter

LEAST_FAILED = 3
"""Calls in a row that fail before a server counts as gone, unless more are in progress at once."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on the way to a reply, for a run's log and its progress line.

    `retry`: a try failed for `reason`, the next begins in `wait` seconds. `limited`: the server asked for fewer calls.
    `given up`: a call ended without a reply. `dropped`: the server rejects a part of the requests, named in `reason`,
    and all later requests are sent without it.
    """

    kind: Literal["retry", "limited", "given up", "dropped"]
    reason: str
    wait: float = 0.0


Listener = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds. A wait is a random part of `first`, which doubles at each further failure, up to `longest`.

    What the server asks for is waited for in full, unless it is more than `bound`: then the run stops with that
    message. A call that is limited again and again waits `patience` in all.
    """

    first: float = 1.0
    longest: float = 60.0
    bound: float = 600.0
    patience: float = 300.0

    def after(self, failures: int, random: Random) -> float:
        # Beyond 2 ** 60 doubling makes no difference any more, and 2 ** 1024 is not a float.
        return random.uniform(0.0, min(self.longest, self.first * 2.0 ** min(failures - 1, 60)))


WAITS = Waits()


@dataclass
class Retries:
    """The tries of all calls to one server, which also report to its rate limiter.

    A failure uses up one of the call's `tries`. Being limited is not a failure and is bounded by patience. A server
    that is gone is not the fault of any unit: RunError, after max(LEAST_FAILED, width) calls in a row that were given
    up because it could not be reached, broke off, was unavailable or admitted no calls; at once if it never answered.
    """

    endpoint: Endpoint
    limiter: RateLimiter
    tries: int
    waits: Waits
    random: Random
    report: Listener
    _answered: bool = field(default=False, init=False)
    _replied: bool = field(default=False, init=False)
    _gone: int = field(default=0, init=False)

    async def call(self, attempt: Callable[[], Awaitable[Reply]], before_retry: BeforeRetry | None = None) -> Reply:
        """The reply of the first attempt that brings one. For calls that hold a place of the rate limiter."""
        clock = asyncio.get_running_loop().time
        failures = limits = 0
        waited = 0.0
        while True:
            began = clock()
            try:
                reply = await attempt()
            except CallError as caught:
                error = caught
            else:
                self._answered, self._replied, self._gone = True, True, 0
                self.limiter.succeeded(began)
                return reply
            self._note(error, began)
            failures, limits = failures + (not error.limited), limits + error.limited
            wait = max(error.after or 0.0, self.waits.after(limits if error.limited else failures, self.random))
            waited += wait if error.limited else 0.0
            if failures >= self.tries or waited > self.waits.patience:
                raise self._given_up(error)
            self.report(Event("limited" if error.limited else "retry", error.reason, wait))
            await (self.limiter.back_off(wait) if error.limited else asyncio.sleep(wait))
            if before_retry is not None:
                before_retry(error.charged)

    def _note(self, error: CallError, began: float) -> None:
        """Report overload to the rate limiter; raise the error if no other try can help."""
        self._answered |= error.reached
        if not error.again:
            raise error
        asked = error.after or 0.0
        if asked > self.waits.bound:
            raise RunError(
                f"the server at {self.endpoint.host} asks to wait {asked / 60:,.0f} minutes ({error.reason}); "
                "run the same command again after that to continue"
            )
        if error.overloaded:
            self.limiter.overloaded(began, asked)

    def _given_up(self, error: CallError) -> CallError:
        self.report(Event("given up", error.reason))
        # A server that never gave a single reply is not judged by what it was asked.
        if not error.unavailable and self._replied:
            return error
        self._gone += 1
        enough = max(LEAST_FAILED, self.limiter.width) if self._replied else LEAST_FAILED
        if not self._answered or self._gone >= enough:
            return RunError(
                f"the server at {self.endpoint.host} does not answer ({error.reason}); "
                "check that it is running, then run the same command again to continue"
            )
        return error
