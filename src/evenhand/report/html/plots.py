"""Plots as SVG strings and HTML tables: no plotting library, no script.

Colours come from classes that the page's style sheet fills in, so that one drawing serves light, dark and paper. Marks
that must keep their size while a page grows or shrinks are placed at percentages of the width.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from markupsafe import Markup

from evenhand.report.html.elements import Content, aside, element, join, note
from evenhand.report.numbers import Style, described, interval, number, tick
from evenhand.statistics import Bin, Estimate

Shape = Literal["person", "people", "model", "rule", "pair", "plain"]
"""Who a mark stands for: a full circle is a person, two are all people, an open square is a model, a diamond a rule."""

_SHAPES = {
    "person": '<circle r="5.2" class="full"/>',
    "people": '<circle cx="-2.8" r="4.6" class="full"/><circle cx="2.8" r="4.6" class="full"/>',
    "model": '<rect x="-4.6" y="-4.6" width="9.2" height="9.2" class="open"/>',
    "rule": '<path d="M0-6.4L6.4 0L0 6.4L-6.4 0Z" class="open"/>',
    "pair": '<path d="M0-5.8L5.4 3.9H-5.4Z" class="full"/>',
    "plain": '<circle r="5.2" class="full"/>',
}
_RANGES: dict[Style, tuple[float | None, float | None]] = {
    "share": (0.0, 1.0),
    "coefficient": (0.0, 1.0),
    "score": (None, None),
    "points": (0.0, None),
}
_HEIGHT = 26
_MOST_TICKS = 6
_LEAST_LABELLED = 0.07
"""A narrower segment has no room for its number, which is in its tooltip and in the table."""


def glyph(shape: Shape) -> Markup:
    """The mark by itself, for legends and in front of names."""
    box = {"viewBox": "-8 -8 16 16", "width": 14, "height": 14}
    return element("svg", Markup(_SHAPES[shape]), class_=f"glyph {shape}", **box, aria_hidden="true")


class Axis(NamedTuple):
    """A number line from the first to the last of its ticks."""

    ticks: Sequence[float]
    style: Style = "coefficient"

    def place(self, value: float) -> float:
        """Where a value lies, in percent of the width; what is beyond an end lies on it."""
        low, high = self.ticks[0], self.ticks[-1]
        return 100.0 * min(1.0, max(0.0, (value - low) / (high - low)))

    @property
    def grid(self) -> str:
        """What an element around tracks has for its `style`, so that the style sheet rules each track at the ticks."""
        return f"--ticks: {len(self.ticks) - 1}"

    def ruler(self) -> Markup:
        """The numbers below a column of tracks."""
        labels = [
            element("text", tick(value, self.style), x=f"{self.place(value):.2f}%", y=13, text_anchor="middle")
            for value in self.ticks
        ]
        return element("svg", labels, class_="ruler", width="100%", height=18, aria_hidden="true")


def axis(estimates: Iterable[Estimate], style: Style, *places: float | None) -> Axis:
    """An axis that holds every value and interval, and these places."""
    ends = [end for one in estimates for end in (one.value, one.low, one.high)]
    known = [end for end in [*ends, *places] if end is not None] or [0.0, 1.0]
    start, stop = min(known), max(known)
    if stop - start < 1e-9:
        start, stop = start - 0.5, stop + 0.5
    # The smallest round step that needs few ticks.
    size = 10.0 ** math.floor(math.log10((stop - start) / _MOST_TICKS))
    step = next(size * by for by in (1, 2, 2.5, 5, 10) if (stop - start) / (size * by) <= _MOST_TICKS)
    first, last = math.floor(start / step + 1e-9), math.ceil(stop / step - 1e-9)
    return Axis([round(place * step, 10) for place in range(first, last + 1)], style)


class Guide(NamedTuple):
    """A value to compare others with, drawn as a line."""

    name: str
    value: float
    class_: str


class Row(NamedTuple):
    """One estimate: `name` as shown, `said` as read out. Rows of one `group` that follow each other share a heading."""

    name: str
    said: str
    estimate: Estimate
    shape: Shape = "plain"
    group: str = ""


def forest(
    caption: str,
    rows: Sequence[Row],
    style: Style = "coefficient",
    *,
    guides: Sequence[Guide] = (),
    low: float | None = None,
    high: float | None = None,
    below: Content = None,
) -> Markup:
    """Estimates one below the other with their intervals, on one axis: a figure that is also a table.

    The axis holds all values; shares and coefficients reach from 0 to 1 at least.
    """
    least, most = _RANGES[style]
    ends = least if low is None else low, most if high is None else high
    drawn = axis([row.estimate for row in rows], style, *ends, *(guide.value for guide in guides))
    first = element("span", "what", class_="unseen")
    heads = [element("th", head, scope="col") for head in (first, "95% interval drawn", "value", "interval", "n")]
    body: list[Markup] = []
    group = ""
    for row in rows:
        if row.group and row.group != group:
            body.append(element("tr", element("th", row.group, colspan=5, scope="colgroup"), class_="group"))
        group = row.group
        body.append(_line(row, drawn, guides))
    parts = [element("caption", caption), element("thead", element("tr", heads)), element("tbody", body)]
    if guides or any(row.estimate.value is not None for row in rows):
        foot = element("tr", element("td"), element("td", drawn.ruler(), class_="plot"), element("td", colspan=3))
        parts.append(element("tfoot", foot, aria_hidden="true"))
    inside = element("table", parts, class_="forest", style=drawn.grid)
    named = [element("li", element("span", class_=f"swatch {guide.class_}"), guide.name) for guide in guides]
    legend = element("ul", named, class_="legend") if named else None
    return element("div", inside, legend, _remarks(rows), below, class_="figure")


def _line(row: Row, drawn: Axis, guides: Sequence[Guide]) -> Markup:
    found, style = row.estimate, drawn.style
    if found.value is None:
        reason = element("td", described(found), colspan=4, class_="why")
        return element("tr", element("th", row.name, scope="row"), reason)
    between = interval(found, style)
    remark = aside(found.note) if found.note and not between else None
    return element(
        "tr",
        element("th", row.name, remark, scope="row"),
        element("td", track(found, drawn, row.shape, f"{row.said}: {described(found, style)}", guides), class_="plot"),
        element("td", number(found.value, style), class_="value"),
        element("td", f"{between}{'*' if found.note else ''}" if between else "no interval", class_="interval"),
        element("td", f"{found.n:,}", class_="n"),
    )


def _remarks(rows: Sequence[Row]) -> Markup | None:
    """The notes on intervals that carry an asterisk."""
    marked = [row for row in rows if row.estimate.low is not None and row.estimate.note]
    lines = dict.fromkeys(f"{row.said}: {row.estimate.note}" for row in marked)
    return note(f"* {'; '.join(lines)}.") if lines else None


def estimate_cell(estimate: Estimate, style: Style = "coefficient") -> Markup:
    """An estimate in a table: its value with the interval below, or why there is none."""
    if estimate.value is None:
        return element("span", described(estimate), class_="why")
    between = interval(estimate, style) or estimate.note or "no interval"
    return join([element("b", number(estimate.value, style)), element("span", between, class_="between")])


def track(estimate: Estimate, drawn: Axis, shape: Shape, title: str, guides: Sequence[Guide] = ()) -> Markup:
    """A value as a mark, its interval as a bar through it. The grid behind it is the style sheet's: see `Axis.grid`."""
    middle = _HEIGHT / 2
    marks = [_upright(f"{drawn.place(guide.value):.2f}%", 0, "100%", f"guide {guide.class_}") for guide in guides]
    if estimate.low is not None and estimate.high is not None:
        low, high = (f"{drawn.place(end):.2f}%" for end in (estimate.low, estimate.high))
        marks.append(element("line", y1=middle, y2=middle, class_="whisker", x1=low, x2=high))
        marks += [_upright(end, middle - 4, middle + 4, "cap") for end in (low, high)]
    if estimate.value is not None:
        at = f"{drawn.place(estimate.value):.2f}%"
        marks.append(element("svg", Markup(_SHAPES[shape]), x=at, y=middle, overflow="visible", class_="mark"))
    return _row(title, marks, f"track {shape}")


def _upright(x: str | float, y1: float, y2: str | float, class_: str) -> Markup:
    return element("line", x1=x, x2=x, y1=y1, y2=y2, class_=class_)


def _row(title: str, marks: Sequence[Markup], class_: str) -> Markup:
    return element("svg", element("title", title), marks, class_=class_, width="100%", height=_HEIGHT, role="img")


def stack(counts: Sequence[int], names: Sequence[str], steps: Sequence[int], title: str) -> Markup:
    """Shares of a whole, side by side in the scale's order; each segment has a tooltip."""
    total = sum(counts)
    marks: list[Markup] = []
    for times, end, name, step in zip(counts, accumulate(counts), names, steps, strict=True):
        if times == 0:
            continue
        share, start = times / total, (end - times) / total
        middle = f"{100 * (start + share / 2):.3f}%"
        label = element("text", f"{100 * share:.0f}", x=middle, y=_HEIGHT / 2 + 4, text_anchor="middle")
        x, width = f"{100 * start:.3f}%", f"{100 * share:.3f}%"
        tooltip = element("title", f"{name}: {times:,} of {total:,} ({100 * share:.0f}%)")
        segment = element("rect", x=x, width=width, y=1, height=_HEIGHT - 2, class_="segment")
        shown = label if share >= _LEAST_LABELLED else None
        marks.append(element("g", tooltip, segment, shown, class_=f"h{step}"))
    return _row(title, marks, "stack")


def steps_for(n: int) -> Sequence[int]:
    """Steps of the colour scale for `n` values in order, from pale to deep."""
    return [1 + round(8 * place / (n - 1)) for place in range(n)] if n > 1 else [6]


class HeatCell(NamedTuple):
    """What is in a cell, its tooltip, how deep its colour is (None: no colour), and its outline."""

    text: str
    title: str
    step: int | None = None
    small: str = ""
    outline: str = ""


def colour_step(value: float) -> int:
    """The step of the colour scale, 0 to 10, for a value from 0 to 1; what is below 0 is as pale as 0."""
    return min(10, max(0, round(10 * value)))


def heat_map(
    corner: str, rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[int, int], HeatCell], label: str
) -> Markup:
    """A grid of values, deeper colour for more; a place without a cell gets a dash.

    `corner` names rows and columns, `label` is for screen readers.
    """
    heads = [element("th", corner, scope="col", class_="corner")]
    heads += [element("th", column, scope="col") for column in columns]
    body = [
        element("tr", element("th", row, scope="row"), [_cell(cells.get((down, n))) for n in range(len(columns))])
        for down, row in enumerate(rows)
    ]
    caption = element("caption", label, class_="unseen")
    return element("table", caption, element("thead", element("tr", heads)), element("tbody", body), class_="heat")


def _cell(cell: HeatCell | None) -> Markup:
    if cell is None:
        return element("td", "–", class_="blank")
    colour = "blank" if cell.step is None else f"h{cell.step}"
    small = element("small", cell.small) if cell.small else None
    return element("td", cell.text, small, title=cell.title, class_=f"{colour} {cell.outline}".strip())


_LEFT, _TOP, _SIDE = 52, 12, 200


def calibration_plot(bins: Sequence[Bin], label: str, shape: Shape) -> Markup:
    """Stated confidence against accuracy: dots as large as their share of the ratings, with intervals."""
    most = max((one.right.n for one in bins), default=1)
    drawn = [element("title", label), *_frame(), *(_dot(one, most) for one in bins)]
    width, height = _LEFT + _SIDE + 16, _TOP + _SIDE + 46
    box, class_ = f"0 0 {width} {height}", f"calibration {shape}"
    return element("svg", drawn, class_=class_, viewBox=box, width=width, height=height, role="img", aria_label=label)


def _x(value: float) -> float:
    return _LEFT + _SIDE * value


def _y(value: float) -> float:
    return _TOP + _SIDE * (1 - value)


def _frame() -> list[Markup]:
    bottom, middle = _TOP + _SIDE, {"text_anchor": "middle"}
    marks = [element("rect", x=_LEFT, y=_TOP, width=_SIDE, height=_SIDE, class_="frame")]
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        marks += [
            _upright(_x(value), _TOP, bottom, "grid"),
            element("line", x1=_LEFT, x2=_LEFT + _SIDE, y1=_y(value), y2=_y(value), class_="grid"),
            element("text", number(value, "share"), x=_x(value), y=bottom + 16, **middle),
            element("text", number(value, "share"), x=_LEFT - 6, y=_y(value) + 4, text_anchor="end"),
        ]
    turned = f"translate(12 {_y(0.5):.0f}) rotate(-90)"
    return [
        *marks,
        element("line", x1=_x(0), y1=_y(0), x2=_x(1), y2=_y(1), class_="diagonal"),
        element("text", "stated confidence", x=_x(0.5), y=bottom + 38, **middle, class_="axis-name"),
        element("text", "share that was right", transform=turned, **middle, class_="axis-name"),
    ]


def _dot(one: Bin, most: int) -> Markup | None:
    right, x = one.right, _x(one.confidence)
    if right.value is None:
        return None
    said = f"confidence {number(one.low, 'share')} to {number(one.high, 'share')}: right {described(right, 'share')}"
    bar = None
    if right.low is not None and right.high is not None:
        bar = _upright(x, _y(right.low), _y(right.high), "whisker")
    dot = element("circle", cx=x, cy=_y(right.value), r=3.5 + 5.5 * math.sqrt(right.n / most), class_="full")
    return element("g", element("title", said), bar, dot)
