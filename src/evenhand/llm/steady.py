"""Ask until a reply comes: tries, waits between them, and when to stop for good."""

import asyncio
import random as random_module
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random

from evenhand.llm.base import BeforeRetry, CallError, Reply, RunError
from evenhand.llm.events import Event, Listener
from evenhand.llm.faults import OVERLOADED, UNAVAILABLE, ConnectionFault, StatusFault, TimedOut
from evenhand.llm.pace import AdaptivePace

LEAST_FAILED = 3


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds. A wait is anywhere between none and `first`, doubled at each further failure, up to `longest`.

    What the server asks for is waited for in full, unless it is more than `bound`: then the run stops and says so. A
    call that is told again and again that there are too many waits `patience` in all.
    """

    first: float = 1.0
    longest: float = 60.0
    bound: float = 600.0
    patience: float = 300.0

    def after(self, failures: int, random: Random) -> float:
        # Beyond 2 ** 60 the doubling means nothing any more, and at 2 ** 1024 it would be no float.
        return random.uniform(0.0, min(self.longest, self.first * 2.0 ** min(failures - 1, 60)))


WAITS = Waits()


class Steady:
    """The tries of all calls to one server; it tells the pace how they go.

    A failure uses up one of the call's `tries`. Being limited is no failure and is bounded by patience. A server that
    is gone is no unit's fault either: RunError, after max(LEAST_FAILED, width) calls in a row that were given up on
    because it could not be reached, broke off, was unavailable or let nobody in; at once if it never answered at all.
    """

    def __init__(
        self,
        host: str,
        pace: AdaptivePace,
        *,
        tries: int,
        waits: Waits,
        random: Random | None = None,
        listener: Listener | None = None,
    ) -> None:
        if tries < 1:
            raise ValueError(f"at least one try is needed, not {tries}")
        self._host = host
        self._pace = pace
        self._tries = tries
        self._waits = waits
        self._random = random or random_module.Random()
        self._listener = listener
        self._answered = False
        self._replied = False
        self._gone = 0

    async def call(self, attempt: Callable[[], Awaitable[Reply]], before_retry: BeforeRetry | None = None) -> Reply:
        """The reply of the first attempt that brings one. For holders of a place."""
        clock = asyncio.get_running_loop().time
        count = _Count()
        while True:
            began = clock()
            try:
                reply = await attempt()
            except CallError as error:
                wait = self._wait_after(error, began, count)
                limited, charged = error.limited, error.charged
            else:
                self._answered, self._replied, self._gone = True, True, 0
                self._pace.eased(began, clock() - began)
                return reply
            if limited:
                await self._pace.step_aside(wait)
            else:
                await asyncio.sleep(wait)
            if before_retry is not None:
                before_retry(charged)

    def tell(self, event: Event) -> None:
        if self._listener is not None:
            self._listener(event)

    def _wait_after(self, error: CallError, began: float, count: "_Count") -> float:
        """How long to wait before the next try; raises where there is to be none."""
        self._answered |= not isinstance(error, ConnectionFault) or error.reached
        if isinstance(error, RunError) or not error.again:
            raise error
        asked = error.after or 0.0
        if asked > self._waits.bound:
            raise RunError(
                f"the server at {self._host} asks to wait {asked / 60:,.0f} minutes ({error.reason}); "
                "run the same command again after that to go on"
            )
        if isinstance(error, TimedOut) or (isinstance(error, StatusFault) and error.status in OVERLOADED):
            self._pace.strained(began, asked)
        if error.limited:
            count.limits += 1
            wait = max(asked, self._waits.after(count.limits, self._random))
            count.waited += wait
            over = count.waited > self._waits.patience
        else:
            count.failures += 1
            wait = max(asked, self._waits.after(count.failures, self._random))
            over = count.failures >= self._tries
        if over:
            raise self._given_up(error)
        self.tell(Event("limited" if error.limited else "retry", error.reason, wait))
        return wait

    def _given_up(self, error: CallError) -> CallError:
        self.tell(Event("given up", error.reason))
        # A server that never gave a single reply is not judged by what it was asked.
        if not _gone(error) and self._replied:
            return error
        self._gone += 1
        enough = max(LEAST_FAILED, self._pace.width) if self._replied else LEAST_FAILED
        if not self._answered or self._gone >= enough:
            return RunError(
                f"the server at {self._host} does not answer ({error.reason}); "
                "see whether it runs, then run the same command again to go on"
            )
        return error


@dataclass(slots=True)
class _Count:
    """What one call has been through."""

    failures: int = 0
    limits: int = 0
    waited: float = 0.0


def _gone(error: CallError) -> bool:
    """Whether the error is about the server as a whole, whatever it was asked."""
    if isinstance(error, StatusFault):
        return error.limited or error.status in UNAVAILABLE
    return isinstance(error, ConnectionFault)
