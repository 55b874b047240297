"""The protocol's measures by stratum."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from evenhand.analysis.figures import PEOPLE, Figure
from evenhand.report.data import Report
from evenhand.report.html.elements import Section, aside, element, estimate_cell, folded, join, note, table
from evenhand.report.html.names import Names, words
from evenhand.report.html.sections.measures import (
    TABLES,
    about,
    by_name,
    ends,
    is_individual,
    owner,
    pooled,
    shape_of,
    shown,
    spoken,
    style_of,
)
from evenhand.report.plots.forest import Row, forest

_IN_TABLES = ("sd", "majority", "per_label")


def breakdowns_section(report: Report, names: Names) -> Section:
    figures = [one for one in report.measures if one.stratum is not None and one.kind not in TABLES]
    parts: list[Markup] = []
    for field in report.source.protocol.strata:
        of_field = [one for one in figures if one.stratum is not None and field in one.stratum]
        parts += [element("h3", f"By {words(field).lower()}"), *_field(field, of_field, report, names)]
    if not report.source.protocol.strata:
        parts = [note("The protocol names no fields to break the results down by.")]
    return Section("strata", "Breakdowns", join(parts))


def _field(field: str, figures: Sequence[Figure], report: Report, names: Names) -> Iterator[Markup]:
    if not figures:
        yield note("No item has a value in this field, or nothing was measured.")
        return
    for name, of_name in by_name(figures).items():
        drawn = _drawn(of_name, names)
        if drawn:
            yield _plot(field, name, drawn, report, names)
    tables = [_table(field, part, names) for part in _parts(figures)]
    yield folded(f"Every rater and every measure by {words(field).lower()}", tables)


def _drawn(figures: Sequence[Figure], names: Names) -> Sequence[Figure]:
    """All people together and the models, or each rater if there is no figure for all people. Pairs stay in tables."""
    if figures[0].kind in _IN_TABLES:
        return ()
    if pooled(figures, names) or any(one.against for one in figures):
        return [one for one in figures if not is_individual(one, names)]
    return figures


def _plot(field: str, name: str, figures: Sequence[Figure], report: Report, names: Names) -> Markup:
    several = len({one.criterion for one in figures}) > 1
    rows: list[Row] = []
    for one in _in_order(shown(figures, names)):
        value = (one.stratum or {})[field]
        title = join([element("bdi", value), element("span", owner(one, names), class_="aside inline")])
        group = names.criterion(one.criterion) if several and one.criterion else ""
        rows.append(Row(title, f"{value}, {spoken(one)}", one.estimate, shape_of(one, names), group))
    protocol = report.source.protocol
    low, high = ends(protocol, name)
    caption = join([f"{words(name)} by {words(field).lower()}", aside(about(protocol, name))])
    return forest(caption, rows, style_of(figures[0].kind), low=low, high=high)


def _in_order(figures: Sequence[Figure]) -> Sequence[Figure]:
    """By criterion, then stratum, people before models."""
    criteria = list(dict.fromkeys(one.criterion for one in figures))
    strata = list(dict.fromkeys(str(one.stratum) for one in figures))

    def place(one: Figure) -> tuple[int, int, bool]:
        return criteria.index(one.criterion), strata.index(str(one.stratum)), one.rater != PEOPLE

    return sorted(figures, key=place)


def _parts(figures: Sequence[Figure]) -> list[list[Figure]]:
    found: dict[tuple[str, str | None], list[Figure]] = {}
    for one in figures:
        found.setdefault((one.statistic, one.criterion), []).append(one)
    return list(found.values())


def _table(field: str, figures: Sequence[Figure], names: Names) -> Markup:
    values = list(dict.fromkeys((one.stratum or {})[field] for one in figures))
    sides = list(dict.fromkeys(_side(one) for one in shown(figures, names)))
    cells = {((one.stratum or {})[field], _side(one)): one for one in figures}
    first = {_side(one): one for one in figures}
    style = style_of(figures[0].kind)

    def cell(value: str, side: tuple[str | None, str | None, str]) -> str:
        found = cells.get((value, side))
        return "not measured" if found is None else estimate_cell(found.estimate, style)

    rows = [[value, *(cell(value, side) for side in sides)] for value in values]
    heads = [words(field), *(_head(first[side], names) for side in sides)]
    criterion = f", {names.criterion(figures[0].criterion)}" if figures[0].criterion else ""
    return table(f"{words(figures[0].statistic)}{criterion}", heads, rows, "numbers")


def _side(one: Figure) -> tuple[str | None, str | None, str]:
    return one.rater, one.against, str(one.label)


def _head(one: Figure, names: Names) -> Markup:
    if one.label is not None and one.rater is not None:
        return join([str(one.label), " ", owner(one, names)])
    return owner(one, names)
