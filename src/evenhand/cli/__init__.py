"""The command line: one file per area, loaded only when one of its commands is called, so that it starts quickly."""

import io
import os
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any, NoReturn, cast

import click

from evenhand.errors import UserError
from evenhand.text import masked, visible
from evenhand.version import __version__

COMMANDS = {
    "demo": ("demo", "Create sample studies and show their results; needs no key and no network."),
    "protocols": ("protocol", "List the installed protocols."),
    "protocol": ("protocol", "Show, check or adopt a protocol, or print the schema of protocol files."),
    "chunks": ("generation", "Split text, Markdown and PDF files into chunks."),
    "qasper": ("generation", "Write the questions of Qasper files as items."),
    "generators": ("generation", "List the installed generators."),
    "generator": ("generation", "Show or check a generator, or print the schema of generator files."),
    "generate": ("generation", "Let a model write items: triples, question and answer pairs, feedback, answers."),
    "new": ("data", "Create a study from a protocol and a file of items."),
    "questions": ("models", "Make, export or import the questions of a study."),
    "claims": ("models", "Make, export or import the claims of a study."),
    "ratings": ("data", "Import or export ratings."),
    "models": ("models", "List models that the verifier can use instead of the built-in network."),
    "judge": ("models", "Let models rate a study."),
    "prompts": ("models", "Write the prompts to a file, for use by hand or in a batch queue."),
    "replies": ("models", "Import replies collected elsewhere as ratings."),
    "runs": ("models", "List or stop the runs of models in a study."),
    "calibrate": ("models", "Adjust a rater's probabilities to people's labels."),
    "serve": ("people", "Serve the page where people rate a study."),
    "invite": ("people", "Create, list or withdraw invite links."),
    "plan": ("people", "Show or change how items are assigned to people."),
    "agree": ("analysis", "Print how far the raters agree, overall and pair by pair."),
    "measures": ("analysis", "Print the protocol's own figures, overall and by stratum."),
    "report": ("analysis", "Write everything about a study into one file: HTML, JSON or text."),
    "backup": ("data", "Copy a study, even while people are rating."),
}
"""Command → (module of this package that defines it, one line of help)."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"evenhand.cli.{COMMANDS[cmd_name][0]}")
        return getattr(module, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # Here and not in `main`, where click would already have turned it into an Abort and printed a line.
            _end("interrupted", 130)
        except BrokenPipeError:
            # The reader of our output, such as `head`, has closed the pipe.
            _discard_output()
            sys.exit(141)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evenhand")
def evenhand() -> None:
    """Let people and models rate generated text against its evidence, under one protocol.

    STUDY is a path such as study.db, or a postgresql:// URL. Exit codes: 0 done, 1 stopped early or something failed
    this time, 2 wrong usage or invalid input (nothing changed), 130 interrupted (what was done is kept).
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """The `evenhand` command; always ends with SystemExit."""
    _tame_output()
    try:
        with _exit_on_sigterm():
            code = evenhand.main(arguments, prog_name="evenhand", standalone_mode=False)
    except UserError as error:
        _end(f"error: {masked(str(error))}", 2)
    except click.exceptions.NoArgsIsHelpError as error:
        _end(error.format_message(), error.exit_code)
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        hint = f"\n  see: {context.command_path} --help" if context else ""
        _end(f"error: {masked(error.format_message())}{hint}", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _end("interrupted", 130)
    except OSError as error:
        # Errors of named files are translated where they are opened; one without a name is about our own output.
        if error.filename is not None:
            raise
        _discard_output()
        _end(f"error: the output cannot be written: {error.strerror or error}", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _end(message: str, code: int) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(code)


@contextmanager
def _exit_on_sigterm() -> Generator[None]:
    """Let SIGTERM end the program like an exception, so that unfinished files are removed."""

    def end(number: int, frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    with ExitStack() as restored:
        with suppress(ValueError):  # only the main thread receives signals
            restored.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, end))
        yield


def _discard_output() -> None:
    """Keep Python from failing once more on unwritten output while it shuts down."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Terminal(io.TextIOWrapper):
    """A terminal's stream that shows control sequences in texts from files, raters and servers as symbols."""

    def write(self, text: str, /) -> int:
        if text.replace("\n", "").isprintable():  # faster to find out, and true for most texts
            super().write(text)
        else:
            # A progress bar writes the returns at the beginning and the end of a text.
            start = "\r" if text.startswith("\r") else ""
            end = "\r" if text.endswith("\r") and text != "\r" else ""
            super().write(start + visible(text.removeprefix("\r").removesuffix("\r")) + end)
        return len(text)


def _tame_output() -> None:
    """Make terminals show control sequences, and replace characters that they cannot show.

    Files and pipes get every text unchanged.
    """
    for name, errors in (("stdout", "replace"), ("stderr", "backslashreplace")):
        given: object = getattr(sys, name)
        if not isinstance(given, io.TextIOWrapper) or isinstance(given, Terminal):
            continue
        stream = cast("io.TextIOWrapper[Any]", given)
        if stream.isatty():
            encoding = stream.encoding
            setattr(sys, name, Terminal(stream.detach(), encoding, errors, line_buffering=True))
        else:
            stream.reconfigure(errors=errors)
