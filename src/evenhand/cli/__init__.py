"""The command line: one file per noun, loaded only when its command is called, so that the rest starts at once."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from evenhand.errors import UserError
from evenhand.version import __version__

COMMANDS = {
    "demo": ("evenhand.cli.demo", "Make a bundled sample study and show what is in it; no key, no network."),
    "protocols": ("evenhand.cli.protocols", "List the protocols that are installed."),
    "protocol": ("evenhand.cli.protocol", "Show, check or adopt a protocol, or print the schema of its file."),
    "new": ("evenhand.cli.new", "Make a study from a protocol and a file of items."),
    "ratings": ("evenhand.cli.ratings", "Bring ratings in from a file, or write them out."),
    "backup": ("evenhand.cli.backup", "Copy a study while others go on rating."),
}
"""Command → (module that holds it as `command`, one line of help)."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evenhand")
def evenhand() -> None:
    """Rate generated text against its evidence, by people and by models under one protocol.

    STUDY is a path such as study.db, or a postgresql:// URL. Exit codes: 0 done, 1 done but something in it failed,
    2 wrong use or bad input (nothing changed).
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """The `evenhand` command; always ends with SystemExit."""
    try:
        evenhand(arguments, prog_name="evenhand")
    except UserError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read our output has seen enough; without this Python complains once more while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
