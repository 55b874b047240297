"""`evenhand agree`, `measures` and `report`: what the ratings show."""

from pathlib import Path

import click

from evenhand.cli.support import FILE, emit, json_option, open_study, overwrite_option, study_argument, with_options

_figure_options = with_options(
    click.option(
        "--by",
        multiple=True,
        metavar="FIELD[,FIELD…]",
        help="Break down by a label field, or by the combinations of several; repeatable.",
    ),
    click.option(
        "--combine",
        multiple=True,
        metavar="NAME=RULE(RATERS)",
        help="Compare several raters as one, repeatable: models=pool(models), reference=mean(people, step=0.5), "
        "vote=majority(ann, ben, cem), vote=plurality(people, ties=first|last|rater|none).",
    ),
    click.option(
        "--together",
        metavar="CRITERIA",
        help="Also measure agreement on these criteria, separated by commas, as on one; all for all of them.",
    ),
)


@click.command()
@study_argument
@_figure_options
@json_option
def agree(study: str, by: tuple[str, ...], combine: tuple[str, ...], together: str | None, as_json: bool) -> None:
    """Print how far the raters of STUDY agree on each criterion, overall and pair by pair."""
    with open_study(study) as opened:
        emit(opened.agreement(by=by, combine=combine, together=together), as_json)


@click.command()
@study_argument
@_figure_options
@json_option
def measures(study: str, by: tuple[str, ...], combine: tuple[str, ...], together: str | None, as_json: bool) -> None:
    """Print the figures that the protocol of STUDY defines, overall and by stratum.

    With --by, the strata are these and not the protocol's.
    """
    with open_study(study) as opened:
        emit(opened.measures(by=by, combine=combine, together=together), as_json)


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
