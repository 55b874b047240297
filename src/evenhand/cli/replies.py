"""`evenhand replies`: answers that were got elsewhere become ratings."""

from pathlib import Path

import click

from evenhand.cli.opening import open_study
from evenhand.cli.paths import FILE
from evenhand.errors import counted
from evenhand.run.offline import read_replies


@click.command("replies")
@click.argument("study", metavar="STUDY")
@click.argument("file", type=FILE)
@click.option("--rater", required=True, metavar="ID", help="Who answered: the name these ratings are kept under.")
def command(study: str, file: Path, rater: str) -> int:
    """Bring the replies in FILE into STUDY as ratings of a model.

    FILE is what `evenhand prompts` wrote, with the replies filled in, or the output of a batch. A file with a row that
    belongs to no prompt of the study is refused as a whole; a reply that cannot be read is a failure with its reason.
    """
    with open_study(study) as opened:
        tally = read_replies(opened, file, rater)
    click.echo(f"{file}: replies for {counted(tally.units, 'unit')} by {rater}")
    click.echo(f"  ratings: {', '.join(f'{status} {number:,}' for status, number in tally.statuses.items())}")
    for reason, number in tally.failures.most_common():
        click.echo(f"    failed {number:,}: {reason}")
    if tally.quotes:
        click.echo(f"  quotes as evidence: {tally.quotes:,}, of which {tally.misquoted:,} stand nowhere in the item")
    return 1 if tally.failed_units else 0
