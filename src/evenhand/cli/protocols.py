"""`evenhand protocols`: what is installed."""

import json

import click

from evenhand.protocol.load import available, load_protocol


@click.command("protocols")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(as_json: bool) -> None:
    """List the protocols that are installed."""
    protocols = [load_protocol(name) for name in available()]
    if as_json:
        rows = [
            {
                "name": protocol.name,
                "version": protocol.version,
                "digest": protocol.digest,
                "title": protocol.title,
                "unit": protocol.unit,
                "fields": list(protocol.item.fields),
                "criteria": [criterion.id for criterion in protocol.criteria],
            }
            for protocol in protocols
        ]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    width = max((len(protocol.name) for protocol in protocols), default=0)
    for protocol in protocols:
        click.echo(f"{protocol.name:<{width}}  {protocol.title}")
        criteria = ", ".join(criterion.id for criterion in protocol.criteria)
        click.echo(f"{'':<{width}}  unit: {protocol.unit}; criteria: {criteria}")
    click.echo("\nevenhand protocol show NAME prints one as a guideline for raters.")
