"""Confusion matrices: of two raters, and of two label fields of the items."""

from collections.abc import Sequence
from typing import cast

from markupsafe import Markup

from evenhand.analysis.agreement import Agreement, Pair
from evenhand.analysis.figures import Figure
from evenhand.report.data import Report
from evenhand.report.html.elements import Section, aside, element, figure, folded, join, note
from evenhand.report.html.names import Names, words
from evenhand.report.html.sections.agreement import FEW_LABELS
from evenhand.report.numbers import number
from evenhand.report.plots.heat_map import HeatCell, colour_step, heat_map


def confusion_section(report: Report, names: Names) -> Section:
    """A matrix for each pair; those of a person and a model are open, the others folded."""
    parts = [_of_fields(one) for one in report.measures if one.kind == "confusion_matrix" and one.stratum is None]
    for found in report.agreements.values():
        parts += _of_criterion(found, names)
    if not parts:
        parts = [note("There is no pair of raters to compare.")]
    intro = note(
        "Rows are one rater's answers (the person's, if only one of the two is a person), columns the other's on the "
        "same units. Counts, with the share of the row below. The diagonal is agreement."
    )
    return Section("confusion", "Confusion matrices", join([intro, *parts]))


def _of_criterion(found: Agreement, names: Names) -> Sequence[Markup]:
    if not found.pairs:
        return []
    title = element("h3", names.criterion(found.criterion))
    if len(found.labels) > FEW_LABELS:
        return [title, note(f"{len(found.labels)} different answers: too many for a matrix.")]
    if len(names.pairs(found)) < len(found.pairs):
        return [title, note(f"{len(found.pairs):,} pairs of raters: too many for matrices. The JSON report has them.")]
    mixed = [pair for pair in found.pairs if pair.kind == "person-model"]
    others = [pair for pair in found.pairs if pair.kind != "person-model"]
    if not mixed:
        mixed, others = others, []
    parts = [title, element("div", [_of_pair(found, pair, names) for pair in mixed], class_="side-by-side")]
    if others:
        inside = element("div", [_of_pair(found, pair, names) for pair in others], class_="side-by-side")
        parts.append(folded(f"{len(others)} more: people among themselves, models among themselves", inside))
    return parts


def _of_pair(found: Agreement, pair: Pair, names: Names) -> Markup:
    titles = [names.value(found.criterion, label) for label in pair.labels]
    heads = [str(label) for label in pair.labels] if found.level == "ordinal" else titles
    label = f"Confusion matrix of {pair.a} (rows) and {pair.b} (columns), {names.criterion(found.criterion)}"
    caption = join([names.pair(pair.a, pair.b), aside(f"n {pair.n:,}")])
    return figure(caption, _matrix(label, heads, titles, pair.confusion, pair.a, pair.b))


def _of_fields(measure: Figure) -> Markup:
    """Truth against prediction, which needs no rater."""
    detail = measure.detail or {}
    labels = cast("Sequence[str]", detail["labels"])
    counts = cast("Sequence[Sequence[int]]", detail["counts"])
    rows, columns = words(str(detail["rows"])), words(str(detail["columns"]))
    caption = f"{rows} × {columns.lower()} of {measure.estimate.n:,} items"
    if not 0 < len(labels) <= FEW_LABELS:
        return note(f"{caption}: no matrix for {len(labels)} labels.")
    label = f"Confusion matrix of {rows} (rows) and {columns} (columns)"
    return element("div", figure(caption, _matrix(label, labels, labels, counts, rows, columns)), class_="side-by-side")


def _matrix(
    label: str, heads: Sequence[str], titles: Sequence[str], counts: Sequence[Sequence[int]], down: str, across: str
) -> Markup:
    cells: dict[tuple[int, int], HeatCell] = {}
    for row, of_row in enumerate(counts):
        total = sum(of_row)
        for column, times in enumerate(of_row):
            share = times / total if total else 0.0
            title = f"{down} {titles[row]}, {across} {titles[column]}: {times:,} of {total:,}"
            step, small = (colour_step(share), number(share, "share")) if times else (None, "")
            cells[row, column] = HeatCell(f"{times:,}", title, step, small, "diagonal" if row == column else "")
    return heat_map(f"{down} ↓ {across} →", heads, heads, cells, label)
