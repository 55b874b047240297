"""`evenhand report`: everything about a study in one file."""

from pathlib import Path

import click

from evenhand.cli.opening import open_study
from evenhand.cli.paths import FILE
from evenhand.errors import counted
from evenhand.reporting import check_target, form_of, write_report


@click.command("report")
@click.argument("study", metavar="STUDY")
@click.option("-o", "--output", required=True, type=FILE, help="report.html, .json or .txt.")
def command(study: str, output: Path) -> None:
    """Write what the ratings of STUDY say, how sure that is and how far each rater can be trusted.

    An .html file is complete in itself, opens offline and prints well. A .json file holds all the data; a .txt file
    leaves out the texts of disputed units, confusion tables, distributions and majority votes. An existing report is
    replaced; any other file is left alone.
    """
    form_of(output)
    check_target(output)
    with open_study(study) as opened:
        found = write_report(opened, output)
    click.echo(f"{output}: {counted(found.source.n_units, 'unit')}, {counted(len(found.raters), 'rater')}")
