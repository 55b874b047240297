"""One row of a forest plot, and one row of stacked shares. Both are as wide as their place allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from evenhand.report.html.elements import element
from evenhand.report.plots.axis import Axis
from evenhand.statistics import Estimate

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

HEIGHT = 26
_LEAST_LABELLED = 0.07
"""A narrower segment has no room for its number, which is in its tooltip and in the table."""


@dataclass(frozen=True, slots=True)
class Guide:
    """A value to hold others against: a line, and a band where it has an interval."""

    name: str
    estimate: Estimate
    class_: str


def glyph(shape: Shape) -> Markup:
    """The mark by itself, for legends and in front of names."""
    return element(
        "svg", Markup(_SHAPES[shape]), class_=f"glyph {shape}", viewBox="-8 -8 16 16", width=14, height=14,
        aria_hidden="true",
    )  # fmt: skip


def track(estimate: Estimate, drawn: Axis, shape: Shape, title: str, guides: Sequence[Guide] = ()) -> Markup:
    """A value as a mark, its interval as a bar through it. The grid behind it is the style sheet's: see `grid`."""
    marks: list[Markup] = []
    for guide in guides:
        marks += _guide(guide, drawn)
    if estimate.low is not None and estimate.high is not None:
        ends = {"x1": f"{drawn.place(estimate.low):.2f}%", "x2": f"{drawn.place(estimate.high):.2f}%"}
        marks.append(element("line", y1=HEIGHT / 2, y2=HEIGHT / 2, class_="whisker", **ends))
        marks += [_cap(ends["x1"]), _cap(ends["x2"])]
    if estimate.value is not None:
        at = f"{drawn.place(estimate.value):.2f}%"
        marks.append(element("svg", Markup(_SHAPES[shape]), x=at, y=HEIGHT / 2, overflow="visible", class_="mark"))
    return _row(title, marks, f"track {shape}")


def _upright(percent: float, class_: str) -> Markup:
    x = f"{percent:.2f}%"
    return element("line", x1=x, x2=x, y1=0, y2="100%", class_=class_)


def _cap(x: str) -> Markup:
    return element("line", x1=x, x2=x, y1=HEIGHT / 2 - 4, y2=HEIGHT / 2 + 4, class_="cap")


def _guide(guide: Guide, drawn: Axis) -> list[Markup]:
    found = guide.estimate
    marks: list[Markup] = []
    if found.low is not None and found.high is not None:
        start, end = drawn.place(found.low), drawn.place(found.high)
        marks.append(
            element(
                "rect",
                x=f"{start:.2f}%",
                width=f"{end - start:.2f}%",
                y=0,
                height="100%",
                class_=f"band {guide.class_}",
            )
        )
    if found.value is not None:
        marks.append(_upright(drawn.place(found.value), f"guide {guide.class_}"))
    return marks


def stack(counts: Sequence[int], names: Sequence[str], steps: Sequence[int], title: str) -> Markup:
    """Shares of a whole, side by side in the scale's order; each segment says what it is when pointed at."""
    total = sum(counts)
    marks: list[Markup] = []
    before = 0
    for times, name, step in zip(counts, names, steps, strict=True):
        if times == 0:
            continue
        share = times / total
        start = before / total
        x, width = f"{100 * start:.3f}%", f"{100 * share:.3f}%"
        label = f"{100 * share:.0f}" if share >= _LEAST_LABELLED else ""
        middle = f"{100 * (start + share / 2):.3f}%"
        marks.append(
            element(
                "g",
                element("title", f"{name}: {times:,} of {total:,} ({100 * share:.0f}%)"),
                element("rect", x=x, width=width, y=1, height=HEIGHT - 2, class_="segment"),
                element("text", label, x=middle, y=HEIGHT / 2 + 4, text_anchor="middle") if label else None,
                class_=f"h{step}",
            )
        )
        before += times
    return _row(title, marks, "stack")


def _row(title: str, marks: Sequence[Markup], class_: str) -> Markup:
    return element("svg", element("title", title), marks, class_=class_, width="100%", height=HEIGHT, role="img")


def steps_for(n: int) -> Sequence[int]:
    """Steps of the colour scale for `n` values in order, from pale to deep."""
    return [1 + round(8 * place / (n - 1)) for place in range(n)] if n > 1 else [6]
