"""What happens on the way to replies: into the run's log, and counted by rater and reason."""

import logging
from collections import Counter, defaultdict

from evenhand.llm.events import Event

LOG = logging.getLogger("evenhand.run")
LOG.addHandler(logging.NullHandler())


class Happenings:
    """Hears of every retry, limit and dropped part of a request."""

    def __init__(self) -> None:
        self.retries: defaultdict[str, Counter[str]] = defaultdict(Counter[str])
        self.dropped: defaultdict[str, list[str]] = defaultdict(list[str])

    def heard(self, rater: str, event: Event) -> None:
        if event.kind == "dropped":
            self.dropped[rater].append(event.reason)
            LOG.warning("%s: the server does not take %s; all further requests go without it", rater, event.reason)
            return
        wait = f", next try in {event.wait:.1f} s" if event.wait else ""
        LOG.info("%s: %s: %s%s", rater, event.kind, event.reason, wait)
        if event.kind in ("retry", "limited"):
            self.retries[rater][event.reason] += 1
