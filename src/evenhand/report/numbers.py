"""How estimates are written in the report, in words."""

from collections.abc import Sequence
from typing import Literal

from evenhand.analysis.agreement import Agreement
from evenhand.analysis.tables import MOST_PAIRS
from evenhand.statistics import Estimate
from evenhand.text import counted

Style = Literal["share", "coefficient", "score", "points", "exact share", "exact"]
"""A percentage; a number to two places; the same in a scale's own units; a difference with its sign; one more digit."""

_FORMATS = {"share": ".0%", "points": "+.2f", "exact share": ".1%", "exact": ".3f"}


def number(value: float, style: Style = "coefficient") -> str:
    written = f"{value:{_FORMATS.get(style, '.2f')}}"
    return written.lstrip("+-") if float(written.rstrip("%")) == 0 else _minus(written)


def apart(style: Style, goal: float, found: Estimate) -> Style:
    """The style, with one more digit if without it another number reads like the goal."""
    others = [one for one in (found.value, found.low, found.high) if one is not None and one != goal]
    alike = number(goal, style) in [number(one, style) for one in others]
    return style if not alike else "exact share" if style == "share" else "exact"


def tick(value: float, style: Style) -> str:
    """A number on an axis: no more places than it needs."""
    if style in ("share", "exact share"):
        return number(value, "share")
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


def pairs_left_out(found: Agreement) -> Sequence[str]:
    """How many pairs of raters were not compared, and why: a sentence for each reason."""
    sentences: list[str] = []
    if found.unpaired:
        sentences.append(f"{counted(found.unpaired, 'pair')} of raters without a shared unit left out.")
    if found.omitted:
        rule = f"at most {MOST_PAIRS} are compared, first those with a model, then those that share the most units"
        sentences.append(f"{counted(found.omitted, 'pair')} of raters with shared units left out: {rule}.")
    return sentences


def _minus(written: str) -> str:
    return written.replace("-", "−")
