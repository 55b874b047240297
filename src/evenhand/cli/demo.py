"""`evenhand demo`: bundled sample studies, rated and shown; no key, no network."""

import csv
import io
import shlex
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from evenhand.cli.paths import FilePath
from evenhand.cli.program import program
from evenhand.errors import NotAStudyError, UserError
from evenhand.formats.items import read_items
from evenhand.formats.questions import read_questions
from evenhand.matrix import agreement
from evenhand.measures import measures
from evenhand.protocol.load import load_protocol
from evenhand.raters.registry import Workshop, judge_of
from evenhand.records import Kind, Status
from evenhand.report.text import shown
from evenhand.reporting import write_report
from evenhand.run.judge import judge
from evenhand.settings import Settings
from evenhand.study import Study

PROTOCOL, QUESTIONS = "halo-support", "rag-quest-eval"
SAMPLES = files("evenhand.samples")


@click.command("demo")
@click.argument("folder", metavar="[DIR]", default="evenhand-demo", type=FilePath("give the path of a folder"))
def command(folder: Path) -> None:
    """Make two sample studies in DIR. People and the built-in verifier say whether contexts support answers; people and
    the built-in quest-eval answer questions from generated texts."""
    support, questions = _prepared(folder)
    with support, questions:
        _show(support, questions, folder)


def _prepared(folder: Path) -> tuple[Study, Study]:
    """The demo's studies in a folder: those that are there, or new ones."""
    support, questions = folder / "study.db", folder / "questions.db"
    try:
        if support.exists() or questions.exists():
            found = _opened(support, PROTOCOL), _opened(questions, QUESTIONS)
            click.echo(f"{support} is already there and stays as it is; delete {folder} to start over.\n")
            return found
        if folder.exists() and any(folder.iterdir()):
            raise UserError(f"{folder}: the folder is not empty; name a new one: {program()} demo DIR")
        with _whole_or_nothing(folder):
            (folder / "items.csv").write_bytes((SAMPLES / PROTOCOL / "items.csv").read_bytes())
            return _make_support(support), _make_questions(questions)
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


def _opened(path: Path, protocol: str) -> Study:
    """One of the demo's own studies; somebody's own of that name is refused."""
    refusal = f"{path} is there and is not the demo's; name another folder: {program()} demo DIR"
    try:
        study = Study.open(path)
    except NotAStudyError as error:
        raise UserError(refusal) from error
    with as_file(SAMPLES / protocol / "items.csv") as file:
        sample = list(read_items(file, load_protocol(protocol)))
    if study.store.count_items() != len(sample) or list(study.items()) != sample:
        study.close()
        raise UserError(refusal)
    return study


def _make_support(path: Path) -> Study:
    """The study of answers against contexts, with the ratings of two people and those that the verifier gives on the
    spot, a sheet for one more person, and the report."""
    with as_file(SAMPLES / PROTOCOL / "items.csv") as items:
        study = Study.create(path, PROTOCOL, read_items(items, load_protocol(PROTOCOL)))
    with _closed_on_failure(study):
        _rated(study, "verifier")
        study.export_ratings(path.with_name("blind.xlsx"), shape="blind")
        write_report(study, path.with_name("report.html"))
    return study


def _make_questions(path: Path) -> Study:
    """The study of questions to generated texts, with the answers of two people and of quest-eval, and its report."""
    folder = SAMPLES / QUESTIONS
    with as_file(folder / "items.csv") as items, as_file(folder / "questions.json") as questions:
        source = read_items(items, load_protocol(QUESTIONS))
        study = Study.create(path, QUESTIONS, source, questions=read_questions(questions))
    with _closed_on_failure(study):
        _rated(study, "quest-eval")
        write_report(study, path.with_name("questions.html"))
    return study


@contextmanager
def _closed_on_failure(study: Study) -> Generator[None]:
    try:
        yield
    except BaseException:
        study.close()
        raise


def _rated(study: Study, spec: str) -> None:
    """What people said, as it came with the sample, and what a rater in the box says now."""
    with TemporaryDirectory() as folder:
        people = Path(folder) / "people.csv"
        people.write_text(_said_by_people(study.protocol.name), encoding="utf-8")
        study.import_ratings(people)
    judge(study, [judge_of(spec, study.protocol, Workshop(Settings()))])


def _said_by_people(protocol: str) -> str:
    """The sample's ratings without the model that they invent."""
    rows = list(csv.reader(io.StringIO((SAMPLES / protocol / "ratings.csv").read_text(encoding="utf-8"), newline="")))
    kind = rows[0].index("kind")
    kept = io.StringIO(newline="")
    csv.writer(kept).writerows(row for row in rows if row[kind] in ("kind", Kind.PERSON))
    return kept.getvalue()


def _show(support: Study, questions: Study, folder: Path) -> None:
    _show_support(support)
    _show_questions(questions)
    blind, report, other = (shlex.quote(str(folder / name)) for name in ("blind.xlsx", "report.html", "questions.html"))
    command, place = program(), shlex.quote(support.store.location)
    click.echo(f"""
The verifier and quest-eval ran on this machine, with what the installation brought; the samples are invented.
The report is {report}, that on the questions {other}: open them in a browser.

Next:
  rate it yourself     {command} serve {place}
                       then open the link that it prints, give your name and rate; afterwards
                       {command} report {place} -o {report}
  or in a spreadsheet  fill in {blind}, then
                       {command} ratings import {place} {blind} --rater YOU
  how far they agree   {command} agree {place}
  read the guideline   {command} protocol show {support.protocol.name}""")


def _show_support(study: Study) -> None:
    store = study.store
    click.echo(f"{store.location}: {store.count_items()} items, protocol {study.protocol.name}\n")
    for rater in store.raters():
        statuses = Counter[Status](rating.status for rating in study.ratings(rater=rater.id))
        labels = Counter(str(rating.value) for rating in study.ratings(rater=rater.id) if rating.value is not None)
        shares = ", ".join(f"{label} {count}" for label, count in labels.most_common())
        others = ", ".join(f"{status} {n}" for status, n in statuses.items() if status is not Status.RATED)
        click.echo(f"  {rater.id:<10}{rater.kind:<8}{shares}{f' ({others})' if others else ''}")
    click.echo("")
    for pair in agreement(store.tables().compared(), "support").pairs:
        who = f"{pair.a} and {pair.b}"
        click.echo(f"  {who:<20}same answer {shown(pair.percent)}, κ {shown(pair.kappa)} on {pair.n} items")


def _show_questions(study: Study) -> None:
    """Each rater in one line: how much of the reference they found in the texts, and how right it is."""
    store = study.store
    click.echo(f"\n{store.location}: {store.count_units()} questions on {store.count_items()} texts, "
               f"protocol {study.protocol.name}\n")  # fmt: skip
    found = {(one.rater, one.name): one for one in measures(store.tables()) if one.stratum is None}
    for rater in store.raters():
        figures = ", ".join(
            f"{name} {shown(found[rater.id, name].estimate)}"
            for name in ("recall", "precision")
            if (rater.id, name) in found
        )
        click.echo(f"  {rater.id:<12}{figures}")
