"""Which rendering a report file gets: HTML, JSON or text, by its suffix."""

from collections.abc import Callable
from pathlib import Path

from evenhand.errors import UserError
from evenhand.report.data import Report
from evenhand.report.html.page import render
from evenhand.report.json import report_json_text
from evenhand.report.text import report_text

RENDERERS: dict[str, Callable[[Report], str]] = {
    ".html": render,
    ".htm": render,
    ".json": report_json_text,
    ".txt": report_text,
}


def renderer_of(path: Path) -> Callable[[Report], str]:
    """The rendering for a file. Raises UserError if its suffix is not one of a report's."""
    found = RENDERERS.get(path.suffix.lower())
    if found is None:
        raise UserError(f"{path}: a report's name ends in {', '.join(RENDERERS)}, not in {path.suffix!r}")
    return found
