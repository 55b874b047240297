"""`evenhand backup`: a copy while others go on rating."""

from pathlib import Path

import click

from evenhand.cli.opening import open_study


@click.command("backup")
@click.argument("study", metavar="STUDY")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The copy; it must not exist.")
def command(study: str, output: Path) -> None:
    """Copy STUDY, whole and consistent, into a SQLite file, while others go on rating."""
    with open_study(study) as opened:
        opened.store.backup(output)
        items, ratings = opened.store.count_items(), opened.count_ratings(every_digest=True)
    click.echo(f"{output}: {items:,} items and {ratings:,} ratings.")
