"""`evenhand agree`, `measures` and `report`: what the ratings show."""

from pathlib import Path

import click

from evenhand.cli.support import FILE, emit, json_option, open_study, overwrite_option, study_argument


@click.command()
@study_argument
@json_option
def agree(study: str, as_json: bool) -> None:
    """Print how far the raters of STUDY agree on each criterion, overall and pair by pair."""
    with open_study(study) as opened:
        emit(opened.agreement(), as_json)


@click.command()
@study_argument
@json_option
def measures(study: str, as_json: bool) -> None:
    """Print the figures that the protocol of STUDY defines, overall and by stratum."""
    with open_study(study) as opened:
        emit(opened.measures(), as_json)


@click.command()
@study_argument
@click.option("-o", "--output", required=True, type=FILE, help="report.html, .json or .txt.")
@overwrite_option
def report(study: str, output: Path, overwrite: bool) -> None:
    """Write a report: what the ratings of STUDY show, how certain that is, and how far to trust each rater.

    An .html file is self-contained, opens offline and prints well. A .json file holds all the data; a .txt file omits
    the texts of disputed units, confusion matrices, distributions and majority votes. An existing report is replaced;
    any other file only with --overwrite.
    """
    with open_study(study) as opened:
        emit(opened.report(output, overwrite=overwrite))
