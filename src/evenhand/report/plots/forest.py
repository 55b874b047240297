"""Estimates one below the other with their intervals, on one axis: a figure that is also a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evenhand.report.html.elements import Content, element, join
from evenhand.report.numbers import Style, described, interval, number, why
from evenhand.report.plots.axis import Axis, axis, grid, ruler
from evenhand.report.plots.track import Guide, Shape, track
from evenhand.statistics import Estimate


@dataclass(frozen=True, slots=True)
class Row:
    """One estimate: `name` as shown, `said` as read out. Rows of one `group` that follow each other share a heading."""

    name: str
    said: str
    estimate: Estimate
    shape: Shape = "plain"
    group: str = ""


_RANGES: dict[Style, tuple[float | None, float | None]] = {
    "share": (0.0, 1.0),
    "coefficient": (0.0, 1.0),
    "score": (None, None),
    "points": (0.0, None),
}


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
    """The plot. The axis holds all values; shares and coefficients reach from 0 to 1 at least."""
    least, most = _RANGES[style]
    shown = [row.estimate for row in rows] + [guide.estimate for guide in guides]
    drawn = axis(shown, style, least if low is None else low, most if high is None else high)
    first = element("span", "what", class_="unseen")
    heads = [element("th", head, scope="col") for head in (first, "95% interval drawn", "value", "interval", "n")]
    body: list[Markup] = []
    group = ""
    for row in rows:
        if row.group and row.group != group:
            body.append(element("tr", element("th", row.group, colspan=5, scope="colgroup"), class_="group"))
        group = row.group
        body.append(_line(row, drawn, style, guides))
    foot = element("tr", element("td"), element("td", ruler(drawn), class_="plot"), element("td", colspan=3))
    inside = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", heads)),
        element("tbody", body),
        element("tfoot", foot, aria_hidden="true") if any(one.value is not None for one in shown) else None,
        class_="forest",
        style=grid(drawn),
    )
    return element("div", inside, _legend(guides, style), _remarks(rows), below, class_="figure")


def _line(row: Row, drawn: Axis, style: Style, guides: Sequence[Guide]) -> Markup:
    between = interval(row.estimate, style)
    remark = row.estimate.note if row.estimate.value is not None and not between else None
    aside = element("span", remark, class_="aside") if remark else None
    name = element("th", row.name, aside, scope="row")
    if row.estimate.value is None:
        return element("tr", name, element("td", why(row.estimate), colspan=4, class_="why"))
    title = f"{row.said}: {described(row.estimate, style)}"
    return element(
        "tr",
        name,
        element("td", track(row.estimate, drawn, row.shape, title, guides), class_="plot"),
        element("td", number(row.estimate.value, style), class_="value"),
        element("td", f"{between}{'*' if row.estimate.note else ''}" if between else "no interval", class_="interval"),
        element("td", f"{row.estimate.n:,}", class_="n"),
    )


def _remarks(rows: Sequence[Row]) -> Markup | None:
    """What is to be said of intervals that carry an asterisk."""
    marked = [row for row in rows if row.estimate.low is not None and row.estimate.note]
    lines = dict.fromkeys(f"{row.said}: {row.estimate.note}" for row in marked)
    return element("p", f"* {'; '.join(lines)}.", class_="note") if lines else None


def _legend(guides: Sequence[Guide], style: Style) -> Markup | None:
    if not guides:
        return None
    entries = [element("li", element("span", class_=f"swatch {guide.class_}"), _said(guide, style)) for guide in guides]
    return element("ul", join(entries), class_="legend")


def _said(guide: Guide, style: Style) -> str:
    """A guide that was not measured, such as no difference, needs its name only."""
    return f"{guide.name}: {described(guide.estimate, style)}" if guide.estimate.n else guide.name
