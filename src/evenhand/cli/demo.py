"""`evenhand demo`: a bundled sample study, rated and shown; no key, no network."""

import csv
import io
import shlex
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path

import click

from evenhand.cli.paths import FilePath
from evenhand.cli.program import program
from evenhand.errors import NotAStudyError, UserError
from evenhand.formats.items import read_items
from evenhand.matrix import agreement
from evenhand.protocol.load import load_protocol
from evenhand.raters.base import Answer
from evenhand.raters.scripted import ScriptedRater
from evenhand.records import Status
from evenhand.report.text import shown
from evenhand.reporting import write_report
from evenhand.run.rate import rate
from evenhand.study import Study

PROTOCOL = "halo-support"
SAMPLE = files("evenhand.samples") / PROTOCOL


@click.command("demo")
@click.argument("folder", metavar="[DIR]", default="evenhand-demo", type=FilePath("give the path of a folder"))
def command(folder: Path) -> None:
    """Make a sample study in DIR: two people and a scripted rater say whether contexts support the answers."""
    study = _prepared(folder)
    with study:
        _show(study, folder)


def _prepared(folder: Path) -> Study:
    """The demo's study in a folder: the one that is there, or a new one."""
    path = folder / "study.db"
    try:
        if path.exists():
            study = _opened(path)
            click.echo(f"{path} is already there and stays as it is; delete {folder} to start over.\n")
            return study
        if folder.exists() and any(folder.iterdir()):
            raise UserError(f"{folder}: the folder is not empty; name a new one: {program()} demo DIR")
        with _whole_or_nothing(folder):
            (folder / "items.csv").write_bytes((SAMPLE / "items.csv").read_bytes())
            return _make(path)
    except OSError as error:
        what = f"{folder}: the demo cannot be made there: {error.strerror or error}"
        raise UserError(f"{what}; name another folder: {program()} demo DIR") from error


@contextmanager
def _whole_or_nothing(folder: Path) -> Generator[None]:
    """The folder, made with its parents; where the demo cannot be finished, everything that was made is removed."""
    new = [part for part in (folder, *folder.parents) if not part.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        with suppress(OSError):
            for file in folder.iterdir():  # it was empty
                file.unlink()
            for part in new:
                part.rmdir()
        raise


def _opened(path: Path) -> Study:
    """The demo's own study; somebody's own of that name is refused."""
    refusal = f"{path} is there and is not the demo's; name another folder: {program()} demo DIR"
    try:
        study = Study.open(path)
    except NotAStudyError as error:
        raise UserError(refusal) from error
    with as_file(SAMPLE / "items.csv") as file:
        sample = list(read_items(file, load_protocol(PROTOCOL)))
    if study.store.count_items() != len(sample) or list(study.items()) != sample:
        study.close()
        raise UserError(refusal)
    return study


def _make(path: Path) -> Study:
    """The study, with the ratings of the two people and those that the scripted rater gives on the spot, a sheet for
    one more person, and the report."""
    with as_file(SAMPLE / "items.csv") as items_file, as_file(SAMPLE / "ratings.csv") as ratings_file:
        study = Study.create(path, PROTOCOL, read_items(items_file, load_protocol(PROTOCOL)))
        try:
            study.import_ratings(ratings_file)
            rate(study, ScriptedRater("script", _script()))
            study.export_ratings(path.with_name("blind.xlsx"), shape="blind")
            write_report(study, path.with_name("report.html"))
        except BaseException:
            study.close()
            raise
    return study


def _script() -> Mapping[str, Sequence[Answer]]:
    text = (SAMPLE / "script.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return {row["item"]: [Answer("support", row["value"], rationale=row["rationale"])] for row in rows}


def _show(study: Study, folder: Path) -> None:
    store = study.store
    click.echo(f"{store.location}: {store.count_items()} items, protocol {study.protocol.name}\n")
    for rater in store.raters():
        statuses = Counter[Status](rating.status for rating in study.ratings(rater=rater.id))
        labels = Counter(str(rating.value) for rating in study.ratings(rater=rater.id) if rating.value is not None)
        shares = ", ".join(f"{label} {count}" for label, count in labels.most_common())
        others = ", ".join(f"{status} {n}" for status, n in statuses.items() if status is not Status.RATED)
        click.echo(f"  {rater.id:<8}{rater.kind:<8}{shares}{f' ({others})' if others else ''}")
    failed = [rating for rating in study.ratings() if rating.status is Status.FAILED]
    for rating in failed:
        click.echo(f"\n  {rating.rater} failed on {rating.unit}: {rating.reason}. That is a record, not a score.")
    _show_agreement(study)
    blind, report = (shlex.quote(str(folder / name)) for name in ("blind.xlsx", "report.html"))
    command, place = program(), shlex.quote(store.location)
    click.echo(f"""
The report is {report}: open it in a browser.

Next:
  rate it yourself     {command} serve {place}
                       then open the link that it prints, give your name and rate; afterwards
                       {command} report {place} -o {report}
  or in a spreadsheet  fill in {blind}, then
                       {command} ratings import {place} {blind} --rater YOU
  how far they agree   {command} agree {place}
  read the guideline   {command} protocol show {study.protocol.name}""")


def _show_agreement(study: Study) -> None:
    """Each pair in one line: what they share, beside what chance would give."""
    click.echo("")
    for pair in agreement(study.store.tables().compared(), "support").pairs:
        who = f"{pair.a} and {pair.b}"
        click.echo(f"  {who:<16}same answer {shown(pair.percent)}, κ {shown(pair.kappa)} on {pair.n} items")
