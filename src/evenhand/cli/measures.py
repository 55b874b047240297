"""`evenhand measures`: the protocol's own figures."""

import json

import click

from evenhand.cli.opening import open_study
from evenhand.measures import measures, measures_json
from evenhand.report.text import measures_text


@click.command("measures")
@click.argument("study", metavar="STUDY")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(study: str, as_json: bool) -> None:
    """Print the figures that the protocol of STUDY asks for, overall and by stratum."""
    with open_study(study) as opened:
        tables = opened.store.tables()
    found = measures(tables)
    if as_json:
        click.echo(json.dumps(measures_json(tables, found), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo(measures_text(tables, found))
