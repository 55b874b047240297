"""A study → its report: where the store meets the statistics."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from evenhand.agreement.bootstrap import DEFAULT, Plan
from evenhand.errors import UserError
from evenhand.formats.writing import replacing
from evenhand.records import Item, Rating, Unit, now
from evenhand.report.build import build
from evenhand.report.data import Report
from evenhand.report.html import GENERATOR, render
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

_PAGE = re.compile(rf'<!DOCTYPE html>\s.*<meta name="generator" content="{GENERATOR} ', re.DOTALL)
_OURS = {
    ".html": _PAGE,
    ".htm": _PAGE,
    ".json": re.compile(r'\{\s*"source": \{\s*"location": '),
    ".txt": re.compile(r"[^\n]*\nprotocol [^\n]*, digest [0-9a-f]{64}\n"),
}
"""How each rendering begins: by this a file is known as a report, which may be replaced."""
_BEGINNING = 8_192


def make_report(study: Study, plan: Plan = DEFAULT) -> Report:
    """What the study's ratings say, how sure that is, and how far each rater can be trusted."""
    tables = study.store.tables()
    return build(tables, study.store.location, now(), lambda numbers: _fetched(study, tables, numbers), plan)


def write_report(study: Study, path: str | Path, plan: Plan = DEFAULT) -> Report:
    """Write the report as `.html`, `.json` or `.txt`. An existing report is replaced; any other file is refused."""
    target = Path(path)
    form = form_of(target)
    check_target(target)
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


def check_target(path: Path) -> None:
    """Refuse to replace a file that is not a report."""
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING).decode("utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror or error}") from error
    if not _OURS[path.suffix.lower()].match(beginning):
        raise UserError(f"{path}: this file exists and is not a report; choose another name")


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
