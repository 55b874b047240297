"""A study → its report: where the store meets the statistics."""

from collections.abc import Callable, Sequence
from pathlib import Path

from evenhand.agreement.bootstrap import DEFAULT, Plan
from evenhand.errors import UserError
from evenhand.formats.writing import replacing
from evenhand.records import Item, Rating, Unit, now
from evenhand.report.build import build
from evenhand.report.data import Report
from evenhand.report.html import render
from evenhand.report.json_form import report_json_text
from evenhand.report.text import report_text
from evenhand.study import Study
from evenhand.table import Tables

FORMS: dict[str, Callable[[Report], str]] = {
    ".html": render,
    ".htm": render,
    ".json": report_json_text,
    ".txt": report_text,
}
"""Renderings by the end of the file's name."""


def make_report(study: Study, plan: Plan = DEFAULT) -> Report:
    """What the study's ratings say, how sure that is, and how far each rater can be trusted."""
    tables = study.store.tables()
    return build(tables, study.store.location, now(), lambda numbers: _fetched(study, tables, numbers), plan)


def write_report(study: Study, path: str | Path, plan: Plan = DEFAULT) -> Report:
    """Write the report as `.html`, `.json` or `.txt`; an existing one is replaced."""
    target = Path(path)
    form = form_of(target)
    report = make_report(study, plan)
    text = form(report)
    with replacing(target, overwrite=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return report


def form_of(path: Path) -> Callable[[Report], str]:
    """The rendering that the end of a file's name asks for."""
    form = FORMS.get(path.suffix.lower())
    if form is None:
        raise UserError(f"{path}: a report ends in {', '.join(FORMS)}, not in {path.suffix!r}")
    return form


def _fetched(study: Study, tables: Tables, numbers: Sequence[int]) -> list[tuple[Item, Unit, list[Rating]]]:
    """Units by their numbers with items and ratings, for the few that a person will read."""
    places = [tables.place(number) for number in numbers]
    items = study.store.items_at([item for item, _ in places])
    units = study.store.units_of([item.id for item in items])
    found: list[tuple[Item, Unit, list[Rating]]] = []
    for item, (_, position) in zip(items, places, strict=True):
        unit = next(unit for unit in units[item.id] if unit.position == position)
        found.append((item, unit, [rating for rating in study.store.ratings(item=item.id) if rating.unit == unit.id]))
    return found
