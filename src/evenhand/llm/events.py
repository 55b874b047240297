"""What happens on the way to a reply, for a run's log and its progress line."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

EventKind = Literal["retry", "limited", "given up", "dropped"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    `retry`: a try failed for `reason`, the next begins in `wait` seconds. `limited`: the server asked for fewer calls.
    `given up`: a call ended without a reply. `dropped`: the server does not take a part of the requests, and all later
    ones go without it; `reason` names the part.
    """

    kind: EventKind
    reason: str
    wait: float = 0.0


Listener = Callable[[Event], None]
