"""Confusion matrices: of two raters, and of two label fields of the items."""

from collections.abc import Sequence
from typing import cast

from evenhand.matrix import Agreement, Pair
from evenhand.measures import Measure
from evenhand.report.data import Report
from evenhand.report.figures import number
from evenhand.report.html.blocks import Section, figure, folded, note
from evenhand.report.html.matrices import FEW_LABELS, told_pairs
from evenhand.report.html.names import Names, words
from evenhand.report.markup import Markup, element, join
from evenhand.report.plots.heatmap import Cell, Head, heat_map, step_of


def confusions(report: Report, names: Names) -> Section:
    """A matrix for each pair; those of a person and a model are open, the others folded."""
    parts = [_of_fields(one) for one in report.measures if one.kind == "confusion_matrix" and one.stratum is None]
    for found in report.agreements.values():
        parts += _of_criterion(found, names)
    if not parts:
        parts = [note("There is no pair of raters to compare.")]
    intro = note(
        "A row is what one rater said, always the person where there is one; a column what the other said of the same "
        "units. Counts, with the share of the row below. The diagonal is agreement."
    )
    return Section("confusion", "Who says what where another says something else", join([intro, *parts]))


def _of_criterion(found: Agreement, names: Names) -> Sequence[Markup]:
    if not found.pairs:
        return []
    title = element("h3", names.criterion(found.criterion))
    if len(found.labels) > FEW_LABELS:
        return [title, note(f"{len(found.labels)} different answers: too many for a matrix.")]
    if len(told_pairs(found, names)) < len(found.pairs):
        return [title, note(f"{len(found.pairs):,} pairs of raters: too many for matrices. A report in JSON has them.")]
    mixed = [pair for pair in found.pairs if pair.kind == "person-model"]
    others = [pair for pair in found.pairs if pair.kind != "person-model"]
    if not mixed:
        mixed, others = others, []
    parts = [title, element("div", [_confusion(found, pair, names) for pair in mixed], class_="side-by-side")]
    if others:
        inside = element("div", [_confusion(found, pair, names) for pair in others], class_="side-by-side")
        parts.append(folded(f"{len(others)} more: people among themselves, models among themselves", inside))
    return parts


def _confusion(found: Agreement, pair: Pair, names: Names) -> Markup:
    said = [names.value(found.criterion, label) for label in pair.labels]
    heads = [str(label) if found.level == "ordinal" else said[place] for place, label in enumerate(pair.labels)]
    label = f"Confusion matrix of {pair.a} (rows) and {pair.b} (columns), {names.criterion(found.criterion)}"
    caption = join([names.pair(pair.a, pair.b), element("span", f"n {pair.n:,}", class_="aside")])
    return _drawn(caption, label, heads, said, pair.confusion, pair.a, pair.b)


def _of_fields(measure: Measure) -> Markup:
    """Truth against prediction, which needs no rater."""
    detail = measure.detail or {}
    labels = cast("Sequence[str]", detail["labels"])
    counts = cast("Sequence[Sequence[int]]", detail["counts"])
    rows, columns = words(str(detail["rows"])), words(str(detail["columns"]))
    caption = f"{rows} × {columns.lower()} of {measure.estimate.n:,} items"
    if not 0 < len(labels) <= FEW_LABELS:
        return note(f"{caption}: {len(labels)} labels make no matrix.")
    label = f"Confusion matrix of {rows} (rows) and {columns} (columns)"
    return element("div", _drawn(caption, label, labels, labels, counts, rows, columns), class_="side-by-side")


def _drawn(
    caption: str,
    label: str,
    heads: Sequence[str],
    said: Sequence[str],
    counts: Sequence[Sequence[int]],
    down: str,
    across: str,
) -> Markup:
    cells: dict[tuple[int, int], Cell] = {}
    for row, of_row in enumerate(counts):
        total = sum(of_row)
        for column, times in enumerate(of_row):
            share = times / total if total else 0.0
            title = f"{down} {said[row]}, {across} {said[column]}: {times:,} of {total:,}"
            outline = "diagonal" if row == column else ""
            small = number(share, "share") if times else ""
            cells[row, column] = Cell(f"{times:,}", title, step_of(share) if times else None, small, outline)
    names = [Head(head) for head in heads]
    return figure(caption, heat_map(names, names, cells, label, across=across, down=down, least=50))
