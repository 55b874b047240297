"""How fast a person works, in active time: the clock of the page stops when they do."""

from dataclasses import dataclass
from statistics import median

from evenhand.web.diary import Diary


@dataclass(frozen=True, slots=True)
class Pace:
    """Units an hour and the median of seconds per unit, over the `units` whose time is known; None where none is."""

    units: int
    per_hour: float | None
    seconds_per_unit: float | None


def pace(of: Diary) -> Pace:
    """The pace of one person."""
    spent = [seconds for seconds in of.seconds.values() if seconds > 0]
    if not spent:
        return Pace(0, None, None)
    return Pace(len(spent), 3600.0 * len(spent) / sum(spent), median(spent))
