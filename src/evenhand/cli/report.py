"""`evenhand report`: everything about a study in one file."""

from pathlib import Path

import click

from evenhand.cli.opening import open_study
from evenhand.reporting import form_of, write_report


@click.command("report")
@click.argument("study", metavar="STUDY")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="report.html, .json or .txt.")
def command(study: str, output: Path) -> None:
    """Write what the ratings of STUDY say, how sure that is and how far each rater can be trusted.

    An .html file is complete in itself, opens offline and prints well; .json and .txt hold the same figures. An
    existing report is replaced.
    """
    form_of(output)
    with open_study(study) as opened:
        found = write_report(opened, output)
    click.echo(f"{output}: {found.source.n_units:,} units, {len(found.raters)} raters")
