"""What the commands share: opening a study, printing results, common arguments and options."""

import shlex
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import Any

import click

from evenhand.report.json import json_text
from evenhand.results import Result
from evenhand.study import Study
from evenhand.text import masked

NAME = "evenhand"

study_argument = click.argument("study", metavar="STUDY")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace an existing file.")


def open_study(location: str) -> Study:
    """The study at a path or URL; a changed protocol is announced on stderr."""
    study = Study.open(location)
    if study.change is not None:
        click.echo(masked(f"note: {study.change}"), err=True)
    return study


def emit(result: Result, as_json: bool = False) -> None:
    """Print a result, as text or as one JSON document."""
    click.echo(json_text(result.to_dict()) if as_json else str(result))


def show_result(document: object, lines: Iterable[str], as_json: bool) -> None:
    """Print one JSON document, or lines of text."""
    click.echo(json_text(document) if as_json else "\n".join(lines))


def with_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A decorator that adds several options to a command, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


class FilePath(click.Path):
    """The path of a file. A URL, which may hold a password, is refused without being repeated."""

    def __init__(self, expected: str = "give the path of a file") -> None:
        super().__init__(path_type=Path)
        self._expected = expected

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if isinstance(value, str) and "://" in value:
            self.fail(f"this is a URL; {self._expected}", param, ctx)
        return Path(str(value))


FILE = FilePath()


def program() -> str:
    """How to call this program in a command to be copied: `evenhand` if the shell finds it, or as it was called."""
    if shutil.which(NAME):
        return NAME
    called = Path(sys.argv[0])
    if called.stem == NAME and called.is_file():
        return shlex.quote(str(called))
    return f"{shlex.quote(sys.executable)} -m {NAME}"
