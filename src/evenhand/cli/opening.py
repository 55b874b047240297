"""Open the study a command was given, and say what the user should know about it first."""

import click

from evenhand.errors import masked
from evenhand.study import Study


def open_study(location: str) -> Study:
    """The study at a path or URL; a changed protocol is announced on stderr."""
    study = Study.open(location)
    if study.change is not None:
        click.echo(masked(f"note: {study.change}"), err=True)
    return study
