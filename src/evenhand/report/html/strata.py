"""The protocol's figures by stratum."""

from collections.abc import Iterator, Sequence

from evenhand.measures import Measure
from evenhand.measures.record import PEOPLE
from evenhand.report.data import Report
from evenhand.report.html.blocks import Section, cell, folded, note, table
from evenhand.report.html.forest import Row, forest
from evenhand.report.html.measured import (
    TABLES,
    about,
    by_name,
    ends,
    is_individual,
    pooled,
    said,
    shape_of,
    style_of,
    told,
    who,
)
from evenhand.report.html.names import Names, words
from evenhand.report.markup import Markup, element, join

_IN_TABLES = ("sd", "majority", "per_label")


def strata(report: Report, names: Names) -> Section:
    figures = [one for one in report.measures if one.stratum is not None and one.kind not in TABLES]
    parts: list[Markup] = []
    for field in report.source.protocol.strata:
        of_field = [one for one in figures if one.stratum is not None and field in one.stratum]
        parts += [element("h3", f"By {words(field).lower()}"), *_field(field, of_field, report, names)]
    if not report.source.protocol.strata:
        parts = [note("The protocol names no field to break results down by.")]
    return Section("strata", "Breakdowns", join(parts))


def _field(field: str, figures: Sequence[Measure], report: Report, names: Names) -> Iterator[Markup]:
    if not figures:
        yield note("No item has a value in this field, or nothing was measured.")
        return
    for name, of_name in by_name(figures).items():
        drawn = _drawn(of_name, names)
        if drawn:
            yield _plot(field, name, drawn, report, names)
    tables = [_table(field, part, names) for part in _parts(figures)]
    yield folded(f"Every rater and every measure by {words(field).lower()}", tables)


def _drawn(figures: Sequence[Measure], names: Names) -> Sequence[Measure]:
    """People together and models; each rater where people were not taken together. Pairs by name stay in tables."""
    if figures[0].kind in _IN_TABLES:
        return ()
    if pooled(figures, names) or any(one.against for one in figures):
        return [one for one in figures if not is_individual(one, names)]
    return figures


def _plot(field: str, name: str, figures: Sequence[Measure], report: Report, names: Names) -> Markup:
    several = len({one.criterion for one in figures}) > 1
    rows: list[Row] = []
    for one in _in_order(told(figures, names)):
        value = (one.stratum or {})[field]
        title = join([element("bdi", value), element("span", who(one, names), class_="aside inline")])
        group = names.criterion(one.criterion) if several and one.criterion else ""
        rows.append(Row(title, f"{value}, {said(one)}", one.estimate, shape_of(one, names), group))
    protocol = report.source.protocol
    low, high = ends(protocol, name)
    caption = join([f"{words(name)} by {words(field).lower()}", element("span", about(protocol, name), class_="aside")])
    return forest(caption, rows, style_of(figures[0].kind), low=low, high=high)


def _in_order(figures: Sequence[Measure]) -> Sequence[Measure]:
    """By criterion, then stratum, people before models."""
    criteria = list(dict.fromkeys(one.criterion for one in figures))
    strata = list(dict.fromkeys(str(one.stratum) for one in figures))

    def place(one: Measure) -> tuple[int, int, bool]:
        return criteria.index(one.criterion), strata.index(str(one.stratum)), one.rater != PEOPLE

    return sorted(figures, key=place)


def _parts(figures: Sequence[Measure]) -> list[list[Measure]]:
    found: dict[tuple[str, str | None], list[Measure]] = {}
    for one in figures:
        found.setdefault((one.name, one.criterion), []).append(one)
    return list(found.values())


def _table(field: str, figures: Sequence[Measure], names: Names) -> Markup:
    values = list(dict.fromkeys((one.stratum or {})[field] for one in figures))
    sides = list(dict.fromkeys(_side(one) for one in told(figures, names)))
    cells = {((one.stratum or {})[field], _side(one)): one for one in figures}
    first = {_side(one): one for one in figures}
    style = style_of(figures[0].kind)
    rows = [
        [
            value,
            *(cell(cells[value, side].estimate, style) if (value, side) in cells else "not measured" for side in sides),
        ]
        for value in values
    ]
    heads = [words(field), *(_head(first[side], names) for side in sides)]
    criterion = f", {names.criterion(figures[0].criterion)}" if figures[0].criterion else ""
    return table(f"{words(figures[0].name)}{criterion}", heads, rows, "numbers")


def _side(one: Measure) -> tuple[str | None, str | None, str]:
    return one.rater, one.against, str(one.label)


def _head(one: Measure, names: Names) -> Markup:
    if one.label is not None and one.rater is not None:
        return join([str(one.label), " ", who(one, names)])
    return who(one, names)
