"""How many calls are under way at once: as many as the user allows, fewer while the server cannot keep up."""

import asyncio
from collections import deque

WINDOW = 8
SLOW = 2.0
FADE = 1.1

_Queue = deque[asyncio.Future[None]]


class AdaptivePace:
    """At most `most` places, given out in the order they were asked for; use it from one event loop.

    It starts with all places. Trouble (`strained`) halves the width, once for all calls that were under way together:
    a call that began before the last halving says nothing about the width after it. Where the server said how long to
    wait, nobody enters before. Each window of good calls (`eased`), as many as there are places and no fewer than
    WINDOW, widens it by one, unless the calls of that window took SLOW times as long as those of the best window: then
    more at once would only wait longer. The best fades a little each time it holds the width back, so that one lucky
    window does not do so for good.
    """

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError(f"at least one place is needed, not {most}")
        self.most = most
        self._width = most
        self._used = 0
        self._aside = 0
        self._waiting: _Queue = deque()
        self._returning: _Queue = deque()
        self._held: asyncio.TimerHandle | None = None
        self._halved_at = float("-inf")
        self._halvings = 0
        self._good = 0
        self._seconds = 0.0
        self._best: float | None = None

    @property
    def width(self) -> int:
        """How many places there are now."""
        return self._width

    @property
    def in_use(self) -> int:
        return self._used

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return len(self._waiting) + len(self._returning)

    @property
    def held(self) -> bool:
        """Whether nobody may enter now because the server asked for a pause."""
        return self._held is not None

    @property
    def halvings(self) -> int:
        """How often the width was halved so far."""
        return self._halvings

    async def __aenter__(self) -> "AdaptivePace":
        if self._used + self._aside < self._width and self._held is None and not self._waiting:
            self._used += 1
        else:
            await self._queue(self._waiting)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._used -= 1
        if self._waiting or self._returning:
            self._admit()

    async def step_aside(self, seconds: float) -> None:
        """Give one's place up, wait, and take one again, before anybody who has not had one yet.

        So calls that were refused come back no faster than the narrowed width lets them, and nobody new takes the
        places they left. For holders of a place only; they hold one afterwards whatever happens, a cancellation
        included.
        """
        self._used -= 1
        self._aside += 1
        self._admit()
        try:
            await asyncio.sleep(seconds)
            await self._queue(self._returning)
        except BaseException:
            self._used += 1
            raise
        finally:
            self._aside -= 1
            self._admit()

    def eased(self, began: float, seconds: float) -> None:
        """A call went well: when it began, by the event loop's clock, and how long it took."""
        if began < self._halved_at:
            return
        self._good += 1
        self._seconds += seconds
        if self._good < max(self._width, WINDOW):
            return
        mean, self._good, self._seconds = self._seconds / self._good, 0, 0.0
        if self._best is None or mean < self._best:
            self._best = mean
        if mean > SLOW * self._best:
            self._best *= FADE
        elif self._width < self.most:
            self._width += 1
            self._admit()

    def strained(self, began: float, pause: float = 0.0) -> None:
        """A call that began then met a server that could not keep up, and asked for this pause in seconds."""
        loop = asyncio.get_running_loop()
        if began > self._halved_at:
            self._halved_at = loop.time()
            self._halvings += 1
            self._width = max(1, self._width // 2)
            self._good, self._seconds = 0, 0.0
        until = loop.time() + pause
        if pause > 0 and (self._held is None or until > self._held.when()):
            if self._held is not None:
                self._held.cancel()
            self._held = loop.call_at(until, self._open)

    def _open(self) -> None:
        self._held = None
        self._admit()

    def _admit(self) -> None:
        while self._held is None and self._used < self._width:
            if self._returning:
                place = self._returning.popleft()
            elif self._waiting and self._used + self._aside < self._width:
                place = self._waiting.popleft()
            else:
                return
            if not place.done():
                self._used += 1
                place.set_result(None)

    async def _queue(self, queue: _Queue) -> None:
        place = asyncio.get_running_loop().create_future()
        queue.append(place)
        # There may be room: those before in the queue may have left it, and nobody else looks.
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._used -= 1
                self._admit()
            elif place in queue:
                queue.remove(place)
            raise
