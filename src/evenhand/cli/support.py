"""What the commands share: opening a study, printing results, common arguments and options."""

import math
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import Any

import click

from evenhand.errors import UserError
from evenhand.report.json import json_text
from evenhand.results import Result, RunResult
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


cost_options = with_options(
    click.option("--concurrency", type=click.IntRange(1, 1024), default=16, show_default=True,
                 help="Concurrent calls per rater; fewer while the server cannot keep up."),
    click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), help="Spend at most this many dollars."),
    click.option("--price", "prices", multiple=True, metavar="[SPEC=]IN/OUT",
                 help="Dollars per million tokens read and written, if you do not pay the published price."),
)  # fmt: skip


def check_finite(options: dict[str, Any]) -> None:
    """Raise UserError if an amount is not a finite number."""
    for name in ("max_cost", "timeout"):
        number = options.get(name)
        if number is not None and not math.isfinite(number):
            raise UserError(f"--{name.replace('_', '-')}: {number} is not a finite number; give one such as 5")


def emit_run(result: RunResult, next_step: str = "") -> int:
    """Print what a run did, and why it ended early or, if it did anything, what to do next; returns the exit code."""
    click.echo(result)
    if result.stopped:
        click.echo(result.reason, err=True)
        return 130 if result.stopped == "interrupted" else 1
    if next_step and result.units:
        click.echo(next_step)
    return 1 if result.failed_units else 0


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
