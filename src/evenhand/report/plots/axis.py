"""A number line: where it begins and ends, its ticks, and where a value lies on it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evenhand.report.html.elements import element
from evenhand.report.numbers import Style, tick
from evenhand.statistics import Estimate

_MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`, with `ticks` between."""

    low: float
    high: float
    ticks: Sequence[float]
    style: Style = "coefficient"

    def place(self, value: float) -> float:
        """Where a value lies, in percent of the width; what is beyond an end lies on it."""
        return 100.0 * min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def axis(estimates: Iterable[Estimate], style: Style, low: float | None = None, high: float | None = None) -> Axis:
    """An axis that reaches from `low` to `high` at least and holds every value and interval."""
    ends = [end for one in estimates for end in (one.value, one.low, one.high) if end is not None]
    ends += [end for end in (low, high) if end is not None]
    start, stop = (min(ends), max(ends)) if ends else (0.0, 1.0)
    if stop - start < 1e-9:
        start, stop = start - 0.5, stop + 0.5
    step = _step(stop - start)
    first, last = math.floor(start / step + 1e-9), math.ceil(stop / step - 1e-9)
    ticks = [round(place * step, 10) for place in range(first, last + 1)]
    return Axis(ticks[0], ticks[-1], ticks, style)


def _step(span: float) -> float:
    """The smallest round step that needs few ticks."""
    size = 10.0 ** math.floor(math.log10(span / _MOST_TICKS))
    return next(size * factor for factor in (1, 2, 2.5, 5, 10) if span / (size * factor) <= _MOST_TICKS)


def grid(drawn: Axis) -> str:
    """What an element around tracks has for its `style`, so that the style sheet rules each track at the ticks."""
    return f"--ticks: {len(drawn.ticks) - 1}"


def ruler(drawn: Axis) -> Markup:
    """The numbers below a column of tracks."""
    labels = [
        element("text", tick(value, drawn.style), x=f"{drawn.place(value):.2f}%", y=13, text_anchor="middle")
        for value in drawn.ticks
    ]
    return element("svg", labels, class_="ruler", width="100%", height=18, aria_hidden="true")
