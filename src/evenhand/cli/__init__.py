"""The command line: one file per noun, loaded only when its command is called, so that the rest starts at once."""

import os
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

import click

from evenhand.cli.terminal import tame_output
from evenhand.errors import UserError, masked
from evenhand.version import __version__

COMMANDS = {
    "demo": ("evenhand.cli.demo", "Make a bundled sample study and show what is in it; no key, no network."),
    "protocols": ("evenhand.cli.protocols", "List the protocols that are installed."),
    "protocol": ("evenhand.cli.protocol", "Show, check or adopt a protocol, or print the schema of its file."),
    "new": ("evenhand.cli.new", "Make a study from a protocol and a file of items."),
    "questions": ("evenhand.cli.questions", "Make the questions of a study, write them out, or bring them back in."),
    "ratings": ("evenhand.cli.ratings", "Bring ratings in from a file, or write them out."),
    "judge": ("evenhand.cli.judge", "Have models rate a study."),
    "prompts": ("evenhand.cli.prompts", "Write what a model would be asked, for use by hand or in a batch queue."),
    "replies": ("evenhand.cli.replies", "Bring answers that were got elsewhere back as ratings."),
    "runs": ("evenhand.cli.runs", "List what models did in a study, and what it cost."),
    "serve": ("evenhand.cli.serve", "Serve the page where people rate a study."),
    "invite": ("evenhand.cli.invite", "Make, list or withdraw the links by which people join."),
    "plan": ("evenhand.cli.plan", "Say, or change, how a study is shared out among people."),
    "agree": ("evenhand.cli.agree", "Say how far the raters agree, all together and pair by pair."),
    "measures": ("evenhand.cli.measures", "Print the protocol's own figures, overall and by stratum."),
    "report": ("evenhand.cli.report", "Write everything about a study into one file: HTML, JSON or text."),
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

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # Here and not in `main`: click would print an empty line and give it another name.
            _end("interrupted", 130)
        except BrokenPipeError:
            # Whoever read our output has seen enough.
            _give_up_output()
            sys.exit(141)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evenhand")
def evenhand() -> None:
    """Rate generated text against its evidence, by people and by models under one protocol.

    STUDY is a path such as study.db, or a postgresql:// URL. Exit codes: 0 done, 1 done but something in it failed,
    2 wrong use or bad input (nothing changed), 130 interrupted (what was done stays).
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """The `evenhand` command; always ends with SystemExit."""
    tame_output()
    try:
        with _cleaning_up_when_told_to_end():
            code = evenhand.main(arguments, prog_name="evenhand", standalone_mode=False)
    except UserError as error:
        _end(f"error: {masked(str(error))}", 2)
    except click.exceptions.NoArgsIsHelpError as error:
        _end(error.format_message(), error.exit_code)
    except click.ClickException as error:
        _end(f"error: {masked(error.format_message())}{_hint(error)}", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _end("interrupted", 130)
    except OSError as error:
        # Files are opened by name, and their errors translated where that happens; what has no name is our output.
        if error.filename is not None:
            raise
        _give_up_output()
        _end(f"error: the output cannot be written: {error.strerror or error}", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _end(message: str, code: int) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(code)


def _hint(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"\n  see: {context.command_path} --help" if context else ""


@contextmanager
def _cleaning_up_when_told_to_end() -> Generator[None]:
    """SIGTERM ends the program the way an exception does, so that half-written files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _give_up_output() -> None:
    """Without this Python complains once more about what it could not write while it shuts down."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
