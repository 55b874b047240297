"""How many calls are in progress at once: as many as the user allows, fewer while the server cannot keep up."""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

_Queue = deque[asyncio.Future[None]]


class RateLimiter:
    """Gives out up to `most` places for calls, in the order of the requests. For use in one event loop.

    It starts with all places. An overloaded server halves the width, once for all calls that were in progress together:
    they say nothing about the width after it. If the server said how long to wait, nobody enters before that. As many
    good calls as there are places, calls whose block raises nothing, widen it by one.

    It has queues of its own and is not built on `asyncio.Condition`: leaving must not wait for a lock, because a call
    that is cancelled at that moment would take the wake-up of the next one with it.
    """

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError(f"at least one place is needed, not {most}")
        self._most = most
        self.width = most
        """The number of places at the moment."""
        self.in_use = 0
        """Places taken by calls that are not backing off."""
        self._backing_off = 0
        self._waiting: _Queue = deque()
        self._returning: _Queue = deque()
        self._pause: asyncio.TimerHandle | None = None
        self._halved_at = float("-inf")
        self._earlier = 0
        """Calls that were in progress at the last halving and still are, or as many others that ended before them."""
        self._good = 0
        self.ended = asyncio.Event()
        """Set when no call waits any more."""

    async def __aenter__(self) -> "RateLimiter":
        await self._enter(self._waiting)
        return self

    async def __aexit__(self, error: type[BaseException] | None, *_: object) -> None:
        self.in_use -= 1
        if self._earlier:
            self._earlier -= 1
        elif error is None:
            self._good += 1
            if self._good >= self.width:
                self._good = 0
                self.width = min(self.width + 1, self._most)
        self._admit()

    async def back_off(self, seconds: float) -> None:
        """Wait, and then until the width has room again, before trying once more. For calls that hold a place.

        The place is not given to a new call meanwhile, and is held again afterwards even after a cancellation. So
        rejected calls come back no faster than the narrowed width allows.
        """
        async with self.without_place():
            await self.sleep(seconds)

    @asynccontextmanager
    async def without_place(self) -> AsyncGenerator[None]:
        """Give up a place for the block; only calls that come back as `back_off` does may use it meanwhile."""
        self.in_use -= 1
        self._backing_off += 1
        self._admit()
        try:
            yield
            await self._enter(self._returning)
        except BaseException:
            self.in_use += 1
            raise
        finally:
            self._backing_off -= 1
            self._admit()

    async def sleep(self, seconds: float) -> None:
        """Wait, unless waiting has ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.ended.wait()

    def end_waits(self) -> None:
        """No call waits any more, neither for a pause nor for a place: because none of them is to be made."""
        self.ended.set()
        self.width = self._most = sys.maxsize
        if self._pause is not None:
            self._pause.cancel()
        self._resume()

    def overloaded(self, began: float, pause: float = 0.0) -> None:
        """A call that began then found the server overloaded; it asked for this pause in seconds."""
        loop = asyncio.get_running_loop()
        if began > self._halved_at:
            self._halved_at = loop.time()
            self.width = max(1, self.width // 2)
            self._good, self._earlier = 0, self.in_use + self._backing_off
        until = loop.time() + pause
        if pause > 0 and not self.ended.is_set() and (self._pause is None or until > self._pause.when()):
            if self._pause is not None:
                self._pause.cancel()
            self._pause = loop.call_at(until, self._resume)

    def _resume(self) -> None:
        self._pause = None
        self._admit()

    async def _enter(self, queue: _Queue) -> None:
        place = asyncio.get_running_loop().create_future()
        queue.append(place)
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                queue.remove(place)
            else:
                self.in_use -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        """Let in as many as there is room for, those that back off first."""
        while self._pause is None and self.in_use < self.width:
            if self._returning:
                place = self._returning.popleft()
            elif self._waiting and self.in_use + self._backing_off < self.width:
                place = self._waiting.popleft()
            else:
                return
            if not place.done():
                self.in_use += 1
                place.set_result(None)
