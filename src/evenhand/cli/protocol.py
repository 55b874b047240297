"""`evenhand protocol`: show, check, schema, adopt."""

import json

import click

from evenhand.protocol.guideline import guideline
from evenhand.protocol.load import load_protocol, protocol_schema
from evenhand.study import Study


@click.group("protocol")
def command() -> None:
    """Show, check or adopt a protocol, or print the schema of its file."""


@command.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="The protocol's content as one JSON document.")
def show(name: str, as_json: bool) -> None:
    """Print the protocol NAME (or a file) as a guideline a rater can work from."""
    protocol = load_protocol(name)
    if as_json:
        content = {**protocol.model_dump(mode="json"), "digest": protocol.digest}
        click.echo(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        click.echo(guideline(protocol))


@command.command()
@click.argument("file")
def check(file: str) -> None:
    """Check a protocol FILE and report everything that is wrong with it, each with its line."""
    protocol = load_protocol(file)
    fields, criteria = len(protocol.item.fields), len(protocol.criteria)
    click.echo(f"{file}: valid. {protocol.name} {protocol.version}, digest {protocol.digest[:12]}")
    click.echo(f"  {fields} fields, unit: {protocol.unit}, {criteria} criteria, {len(protocol.measures)} measures")


@command.command()
def schema() -> None:
    """Print the JSON Schema of a protocol file, for editors."""
    click.echo(json.dumps(protocol_schema(), ensure_ascii=False, indent=2))


@command.command()
@click.argument("study", metavar="STUDY")
@click.argument("name", metavar="NAME|FILE")
def adopt(study: str, name: str) -> None:
    """Put a changed protocol in force in STUDY.

    Ratings made so far stay in the study under the protocol they were made with; from now on they are left out of
    exports and statistics, which say so.
    """
    with Study.open(study, check_source=False) as opened:
        before = opened.protocol
        earlier = opened.count_ratings()
        opened.adopt(name)
        after = opened.protocol
    if after.digest == before.digest:
        click.echo(f"{study} already uses this content of {after.name} (digest {after.digest[:12]}).")
        return
    click.echo(
        f"{study} now uses {after.name} {after.version} (digest {after.digest[:12]}) instead of "
        f"{before.name} {before.version} (digest {before.digest[:12]})."
    )
    click.echo(f"{earlier:,} ratings made under the earlier one are kept and left out from now on.")
