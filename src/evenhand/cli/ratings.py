"""`evenhand ratings`: import and export."""

from collections.abc import Sequence
from pathlib import Path

import click

from evenhand.cli.opening import open_study
from evenhand.cli.paths import FILE
from evenhand.errors import counted
from evenhand.formats.columns import parse_map
from evenhand.formats.summary import ImportSummary
from evenhand.records import Kind
from evenhand.store.base import Added
from evenhand.study import Shape, Study


@click.group("ratings")
def command() -> None:
    """Bring ratings in from a file, or write them out."""


@command.command("import")
@click.argument("study", metavar="STUDY")
@click.argument("file", type=FILE)
@click.option("--rater", metavar="ID", help="Who gave these ratings, where the file does not say.")
@click.option("--kind", type=click.Choice(["person", "model"]), help="What that rater is; a person if nothing is said.")
@click.option("--id", "id_column", metavar="COLUMN", help="The column with the items' ids.")
@click.option("--map", "mappings", multiple=True, metavar="CRITERION=COLUMN", help="Which column is which criterion.")
def import_(
    study: str, file: Path, rater: str | None, kind: str | None, id_column: str | None, mappings: Sequence[str]
) -> None:
    """Bring the ratings in FILE into STUDY: all of them, or, where a cell is wrong, none."""
    with open_study(study) as opened:
        summary, added = opened.import_ratings(
            file,
            rater=rater,
            kind=Kind(kind) if kind else None,
            id_column=id_column,
            mapping=parse_map(mappings),
        )
    _report(file, summary, added)


def _report(file: Path, summary: ImportSummary, added: Added) -> None:
    who = ", ".join(f"{rater} {count:,}" for rater, count in summary.ratings.items()) or "none"
    not_asked = f"; not asked, because their condition does not hold: {summary.not_asked:,}"
    apart = not_asked if summary.not_asked else ""
    click.echo(f"{file}: {counted(summary.rows, 'row')}; ratings by rater: {who}{apart}")
    stored = [f"{added.new:,} new"]
    stored += [f"{added.superseding:,} that replace an earlier one"] if added.superseding else []
    stored += [f"{added.known:,} the study had already"] if added.known else []
    click.echo(f"  stored: {', '.join(stored)}")
    notes = {
        f"{counted(summary.blanks, 'blank cell')}, taken as not rated": summary.blanks,
        f"rationales, confidences or notes left out, with no rating beside them: {summary.left_out:,}": (
            summary.left_out
        ),
        f"{counted(summary.without_rationale, 'rating')} without the rationale that the protocol demands": (
            summary.without_rationale
        ),
        f"{counted(summary.without_confidence, 'unit')} without the confidence that the protocol demands": (
            summary.without_confidence
        ),
        f"no column for: {', '.join(summary.without_column)}": len(summary.without_column),
    }
    for note, count in notes.items():
        if count:
            click.echo(f"  {note}")


@command.command("export")
@click.argument("study", metavar="STUDY")
@click.option("-o", "--output", required=True, type=FILE, help="The file to write.")
@click.option(
    "--shape",
    type=click.Choice(["long", "wide", "blind", "diagnosis"]),
    default="long",
    show_default=True,
    help="long: a row for each rating; wide: a row for each unit; blind: a sheet for one rater to fill in; "
    "diagnosis: what was used, and why not.",
)
@click.option("--digest", metavar="PREFIX", help="The ratings under an earlier version of the protocol, long or wide.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
def export(study: str, output: Path, shape: Shape, digest: str | None, overwrite: bool) -> None:
    """Write the ratings of STUDY to a file: .csv, .tsv, .jsonl, .xlsx or .parquet."""
    with open_study(study) as opened:
        rows = opened.export_ratings(output, shape, digest=digest, overwrite=overwrite)
        click.echo(f"{output}: {counted(rows, 'row')}")
        if digest is None:
            _say_what_is_left_out(opened, shape)


def _say_what_is_left_out(opened: Study, shape: Shape) -> None:
    earlier = opened.count_ratings(every_digest=True) - opened.count_ratings()
    if earlier and shape in ("long", "wide"):
        click.echo(
            f"  left out, because made under an earlier version of the protocol: {counted(earlier, 'rating')}; "
            f"evenhand protocol versions {opened.store.location} lists the versions, --digest exports one",
            err=True,
        )
