"""`evenhand demo`: bundled sample studies, rated and reported; no key, no network."""

import csv
import io
import shlex
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path

import click

from evenhand.cli.support import FilePath, program
from evenhand.errors import NotAStudyError, UserError
from evenhand.formats.derived_units import read_questions
from evenhand.formats.items import read_items
from evenhand.protocol.load import load_protocol
from evenhand.records import Kind
from evenhand.report.text import shown
from evenhand.study import Study

SUPPORT, QUESTIONS = "halo-support", "rag-quest-eval"
SAMPLES = files("evenhand.samples")


@click.command()
@click.argument("folder", metavar="[DIR]", default="evenhand-demo", type=FilePath("give the path of a folder"))
def demo(folder: Path) -> None:
    """Create two sample studies in DIR. In one, people and the built-in verifier judge whether contexts support
    answers; in the other, people and the built-in quest-eval answer questions from generated texts.
    """
    support, questions = _prepared(folder)
    with support, questions:
        _print_support(support)
        _print_questions(questions)
        _print_next_steps(support, folder)


def _prepared(folder: Path) -> tuple[Study, Study]:
    """The studies of the demo in a folder: the existing ones, or new ones."""
    support, questions = folder / "study.db", folder / "questions.db"
    try:
        if support.exists() or questions.exists():
            found = _opened(support, SUPPORT), _opened(questions, QUESTIONS)
            click.echo(f"{support} already exists and is not changed; delete {folder} to start over.\n")
            return found
        if folder.exists() and any(folder.iterdir()):
            raise UserError(f"{folder}: the folder is not empty; name a new one: {program()} demo DIR")
        with _complete_or_removed(folder):
            (folder / "items.csv").write_bytes((SAMPLES / SUPPORT / "items.csv").read_bytes())
            _create(support, SUPPORT, "verifier", "report.html")
            _create(questions, QUESTIONS, "quest-eval", "questions.html")
            study = Study.open(support)
            study.export_ratings(folder / "blind.xlsx", shape="blind")  # a sheet for one more person
            return study, Study.open(questions)
    except OSError as error:
        what = f"{folder}: the demo cannot be created there: {error.strerror or error}"
        raise UserError(f"{what}; name another folder: {program()} demo DIR") from error


@contextmanager
def _complete_or_removed(folder: Path) -> Generator[None]:
    """The folder, created with its parents; if the demo cannot be completed, everything created is removed."""
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


def _opened(path: Path, protocol: str) -> Study:
    """A study of the demo; a user's own study of that name is refused."""
    refusal = f"{path} exists and is not part of the demo; name another folder: {program()} demo DIR"
    try:
        study = Study.open(path)
    except NotAStudyError as error:
        raise UserError(refusal) from error
    with as_file(SAMPLES / protocol / "items.csv") as file:
        sample = list(read_items(file, load_protocol(protocol)))
    if study.store.items.count() != len(sample) or list(study.items()) != sample:
        study.close()
        raise UserError(refusal)
    return study


def _create(path: Path, protocol: str, rater: str, report: str) -> None:
    """A sample rated by two people and a built-in rater, without its invented model; with the report."""
    folder = SAMPLES / protocol
    with as_file(folder / "items.csv") as items, as_file(folder / "questions.json") as questions:
        asked = read_questions(questions) if questions.exists() else None
        study = Study.create(path, protocol, items, questions=asked)
    with study:
        ratings = csv.DictReader(io.StringIO((folder / "ratings.csv").read_text(encoding="utf-8"), newline=""))
        study.import_ratings([row for row in ratings if row["kind"] == Kind.PERSON])
        study.judge(rater, progress=False)
        study.report(path.with_name(report))


def _print_support(study: Study) -> None:
    """For each rater the labels given, and for each pair how far they agree."""
    click.echo(f"{study.store.location}: {study.store.items.count()} items, protocol {study.protocol.name}\n")
    for rater in study.raters():
        found = Counter((rating.status, rating.value) for rating in study.ratings(rater=rater.id))
        shares = ", ".join(f"{value} {count}" for (_, value), count in found.most_common() if value is not None)
        others = ", ".join(f"{status} {count}" for (status, value), count in found.items() if value is None)
        click.echo(f"  {rater.id:<10}{rater.kind:<8}{shares}{f' ({others})' if others else ''}")
    click.echo("")
    for pair in study.agreement().pairs["support"]:
        names = f"{pair.a} and {pair.b}"
        click.echo(f"  {names:<20}percent agreement {shown(pair.percent)}, κ {shown(pair.kappa)} on {pair.n} items")


def _print_questions(study: Study) -> None:
    """For each rater how much of the reference they found in the texts, and how right it is."""
    store = study.store
    click.echo(f"\n{store.location}: {store.items.count_units()} questions on {store.items.count()} texts, "
               f"protocol {study.protocol.name}\n")  # fmt: skip
    found = {(one.rater, one.statistic): one for one in study.measures() if one.stratum is None}
    for rater in study.raters():
        figures = ", ".join(
            f"{name} {shown(found[rater.id, name].estimate)}"
            for name in ("recall", "precision")
            if (rater.id, name) in found
        )
        click.echo(f"  {rater.id:<12}{figures}")


def _print_next_steps(support: Study, folder: Path) -> None:
    blind, report, other = (shlex.quote(str(folder / name)) for name in ("blind.xlsx", "report.html", "questions.html"))
    command, study = program(), shlex.quote(support.store.location)
    click.echo(f"""
The verifier and quest-eval ran on this machine, without a key or a download; the samples are invented.
The reports are {report} and {other}: open them in a browser.

Next:
  rate it yourself     {command} serve {study}
                       then open the link it prints, enter your name and rate; afterwards
                       {command} report {study} -o {report}
  or in a spreadsheet  fill in {blind}, then
                       {command} ratings import {study} {blind} --rater YOU
  see the agreement    {command} agree {study}
  read the guideline   {command} protocol show {support.protocol.name}""")
