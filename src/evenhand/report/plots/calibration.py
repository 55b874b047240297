"""How sure a rater was against how often it was right."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from evenhand.report.html.elements import element
from evenhand.report.numbers import described, number
from evenhand.report.plots.track import Shape
from evenhand.statistics import Bin

_LEFT, _TOP, _SIDE = 52, 12, 200
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def calibration_plot(bins: Sequence[Bin], label: str, shape: Shape) -> Markup:
    """Dots as large as their share of the ratings, with intervals; on the diagonal confidence is earned."""
    most = max((one.right.n for one in bins), default=1)
    drawn = [element("title", label), *_frame()]
    for one in bins:
        drawn.append(_dot(one, most))
    width, height = _LEFT + _SIDE + 16, _TOP + _SIDE + 46
    box, class_ = f"0 0 {width} {height}", f"calibration {shape}"
    return element("svg", drawn, class_=class_, viewBox=box, width=width, height=height, role="img", aria_label=label)


def _x(value: float) -> float:
    return _LEFT + _SIDE * value


def _y(value: float) -> float:
    return _TOP + _SIDE * (1 - value)


def _frame() -> list[Markup]:
    marks = [element("rect", x=_LEFT, y=_TOP, width=_SIDE, height=_SIDE, class_="frame")]
    for value in _TICKS:
        marks += [
            element("line", x1=_x(value), x2=_x(value), y1=_TOP, y2=_TOP + _SIDE, class_="grid"),
            element("line", x1=_LEFT, x2=_LEFT + _SIDE, y1=_y(value), y2=_y(value), class_="grid"),
            element("text", number(value, "share"), x=_x(value), y=_TOP + _SIDE + 16, text_anchor="middle"),
            element("text", number(value, "share"), x=_LEFT - 6, y=_y(value) + 4, text_anchor="end"),
        ]
    marks.append(element("line", x1=_x(0), y1=_y(0), x2=_x(1), y2=_y(1), class_="diagonal"))
    below = _TOP + _SIDE + 38
    marks.append(element("text", "stated confidence", x=_x(0.5), y=below, text_anchor="middle", class_="axis-name"))
    turned = f"translate(12 {_y(0.5):.0f}) rotate(-90)"
    marks.append(element("text", "share that was right", transform=turned, text_anchor="middle", class_="axis-name"))
    return marks


def _dot(one: Bin, most: int) -> Markup:
    right = one.right
    if right.value is None:
        return Markup("")
    x = _x(one.confidence)
    said = f"confidence {number(one.low, 'share')} to {number(one.high, 'share')}: right {described(right, 'share')}"
    bar = None
    if right.low is not None and right.high is not None:
        bar = element("line", x1=x, x2=x, y1=_y(right.low), y2=_y(right.high), class_="whisker")
    radius = 3.5 + 5.5 * math.sqrt(right.n / most)
    return element(
        "g", element("title", said), bar, element("circle", cx=x, cy=_y(right.value), r=radius, class_="full")
    )
