"""How estimates are written in the report, in words."""

from typing import Literal

from evenhand.statistics import Estimate

Style = Literal["share", "coefficient", "score", "points"]
"""A percentage; a number to two places; the same in a scale's own units; a difference with its sign."""


def number(value: float, style: Style = "coefficient") -> str:
    if style == "share":
        return _minus(f"{100 * value:.0f}%")
    written = f"{value:+.2f}" if style == "points" else f"{value:.2f}"
    return written.lstrip("+-") if float(written) == 0 else _minus(written)


def tick(value: float, style: Style) -> str:
    """A number on an axis: no more places than it needs."""
    if style == "share":
        return number(value, style)
    return _minus(f"{value:+g}" if style == "points" and value else f"{value:g}")


def interval(estimate: Estimate, style: Style = "coefficient") -> str | None:
    if estimate.low is None or estimate.high is None:
        return None
    return f"{number(estimate.low, style)} to {number(estimate.high, style)}"


def described(estimate: Estimate, style: Style = "coefficient") -> str:
    """Value, interval and count in one line, or why there is none."""
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    between = interval(estimate, style)
    parts = [number(estimate.value, style), f"95% interval {between}" if between else "no interval"]
    return ", ".join([*parts, f"n {estimate.n:,}"]) + (f" ({estimate.note})" if estimate.note else "")


def _minus(written: str) -> str:
    return written.replace("-", "−")
