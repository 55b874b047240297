"""How often a client may do something: what it may do at once, and how soon it may do it again."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock


class RateLimit:
    """A token bucket for each client: `rate` requests per second, and a reserve of `burst`."""

    MAX_CLIENTS = 4096

    def __init__(self, rate: float = 50, burst: float = 200, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def wait(self, client: str) -> int:
        """Count one request; the seconds to wait before it is allowed, 0 if it is allowed now."""
        with self._lock:
            now = self._clock()
            left, at = self._buckets.pop(client, (self._burst, now))
            left = min(self._burst, left + (now - at) * self._rate)
            allowed = left >= 1
            self._buckets[client] = (left - 1 if allowed else left, now)
            while len(self._buckets) > self.MAX_CLIENTS:
                self._buckets.popitem(last=False)
            return 0 if allowed else max(1, math.ceil((1 - left) / self._rate))
