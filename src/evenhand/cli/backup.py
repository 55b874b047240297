"""`evenhand backup`: a copy while others go on rating."""

from pathlib import Path

import click

from evenhand.cli.opening import open_study
from evenhand.cli.paths import FilePath
from evenhand.errors import counted

COPY = FilePath("a backup is a SQLite file; give a path such as copy.db")


@click.command("backup")
@click.argument("study", metavar="STUDY")
@click.option("-o", "--output", required=True, type=COPY, help="The copy; it must not exist.")
def command(study: str, output: Path) -> None:
    """Copy STUDY, whole and consistent, into a SQLite file, while others go on rating."""
    with open_study(study) as opened:
        opened.store.backup(output)
        items, ratings = opened.store.count_items(), opened.count_ratings(every_digest=True)
    click.echo(f"{output}: {counted(items, 'item')} and {counted(ratings, 'rating')}.")
