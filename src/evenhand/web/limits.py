"""How much one client may ask: small counters in memory, bounded whoever comes."""

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable

Clock = Callable[[], float]

MINUTE = 60.0
CLIENTS = 4096


class Failures:
    """Failed tries of the last minute, by client and of all together."""

    def __init__(self, each: int = 10, total: int = 100, clock: Clock = time.monotonic) -> None:
        self._each, self._total, self._clock = each, total, clock
        self._recent: deque[tuple[float, str]] = deque(maxlen=max(total, 1))

    def wait(self, client: str) -> int:
        """Seconds until this client may fail again; 0: it may now."""
        now = self._clock()
        while self._recent and now - self._recent[0][0] >= MINUTE:
            self._recent.popleft()
        own = [at for at, who in self._recent if who == client]
        first: list[float] = []
        if len(own) >= self._each:
            first.append(own[-self._each])
        if len(self._recent) >= self._total:
            first.append(self._recent[-self._total][0])
        return max((max(1, math.ceil(MINUTE - (now - at))) for at in first), default=0)

    def note(self, client: str) -> None:
        self._recent.append((self._clock(), client))


class Pace:
    """So many requests a second for each client, and a reserve for bursts."""

    def __init__(self, rate: float = 50, burst: float = 200, clock: Clock = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._reserves: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> int:
        """Count one request; seconds until it may come, 0: now."""
        now = self._clock()
        left, at = self._reserves.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        allowed = left >= 1
        self._reserves[client] = (left - 1 if allowed else left, now)
        while len(self._reserves) > CLIENTS:
            self._reserves.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1 - left) / self._rate))
