"""`evenhand demo`: a bundled sample study, rated and shown; no key, no network."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

import click

from evenhand.errors import UserError
from evenhand.formats.items import read_items
from evenhand.protocol.load import load_protocol
from evenhand.raters.base import Answer
from evenhand.raters.scripted import ScriptedRater
from evenhand.records import Status
from evenhand.run import rate
from evenhand.study import Study

PROTOCOL = "halo-support"
SAMPLE = files("evenhand.samples") / PROTOCOL


@click.command("demo")
@click.argument("folder", metavar="[DIR]", default="evenhand-demo", type=click.Path(path_type=Path, file_okay=False))
def command(folder: Path) -> None:
    """Make a sample study in DIR: two people and a scripted rater say whether contexts support the answers."""
    path = folder / "study.db"
    if path.exists():
        click.echo(f"{path} is already there and stays as it is; delete {folder} to start over.\n")
        with Study.open(path) as study:
            _show(study, folder)
        return
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder}: the folder is not empty; name a new one: evenhand demo DIR")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "items.csv").write_bytes((SAMPLE / "items.csv").read_bytes())
    except OSError as error:
        raise UserError(f"{folder}: cannot be made: {error.strerror}; name another: evenhand demo DIR") from error
    with _make(path) as study:
        study.export_ratings(folder / "blind.xlsx", shape="blind")
        _show(study, folder)


def _make(path: Path) -> Study:
    """The study, with the ratings of the two people and those that the scripted rater gives on the spot."""
    with as_file(SAMPLE / "items.csv") as items_file, as_file(SAMPLE / "ratings.csv") as ratings_file:
        study = Study.create(path, PROTOCOL, read_items(items_file, load_protocol(PROTOCOL)))
        study.import_ratings(ratings_file)
    rate(study, ScriptedRater("script", _script()))
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
    click.echo(f"""
Next:
  rate it yourself     fill in {folder}/blind.xlsx, then
                       evenhand ratings import {store.location} {folder}/blind.xlsx --rater YOU
  see every rating     evenhand ratings export {store.location} -o {folder}/diagnosis.csv --shape diagnosis
  read the guideline   evenhand protocol show {study.protocol.name}""")
