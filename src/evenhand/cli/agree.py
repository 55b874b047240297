"""`evenhand agree`: how far the raters agree, all together and pair by pair."""

import json

import click

from evenhand.cli.opening import open_study
from evenhand.measures import measures, targets
from evenhand.report.build import agreements
from evenhand.report.json_form import agree_json
from evenhand.report.text import agreement_text


@click.command("agree")
@click.argument("study", metavar="STUDY")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(study: str, as_json: bool) -> None:
    """Say how far the raters of STUDY agree, criterion by criterion, all together and pair by pair."""
    with open_study(study) as opened:
        tables = opened.store.tables()
    found = agreements(tables)
    reached = targets(tables, measures(tables))
    if as_json:
        click.echo(json.dumps(agree_json(tables, found, reached), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo(agreement_text(tables, found, reached))
