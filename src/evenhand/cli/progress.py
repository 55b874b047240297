"""The line that shows how a run goes: on a terminal always the same one, elsewhere a new one now and then."""

import os
import sys
import time

import click

from evenhand.cli.judging import money
from evenhand.run.tally import Tally

SELDOM = 30.0
"""Seconds between two lines where nobody watches."""


class ProgressLine:
    """Shows a run on stderr."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._shown_at = time.monotonic()
        self._length = 0
        self._ending = False

    def show(self, tally: Tally) -> None:
        """The state of the run, where it is time to show it."""
        if self._live:
            line = self._line(tally)
            width = _columns()
            click.echo("\r" + line[: width - 1].ljust(min(self._length, width - 1)), nl=False, err=True)
            self._length = len(line)
        elif time.monotonic() - self._shown_at > SELDOM or tally.ending != self._ending:
            self._shown_at = time.monotonic()
            self._ending = tally.ending
            click.echo(self._line(tally), err=True)

    def end(self) -> None:
        """Leave a clean line for what is said next."""
        if self._live and self._length:
            click.echo("\r" + " " * min(self._length, _columns() - 1) + "\r", nl=False, err=True)

    def _line(self, tally: Tally) -> str:
        parts = [f"{tally.units:,} of {tally.to_do:,}"]
        if tally.failed_units:
            kinds = ", ".join(f"{reason} {number:,}" for reason, number in tally.failures.most_common(2))
            parts.append(f"{tally.failed_units:,} failed ({kinds})")
        rate = tally.units / tally.seconds if tally.seconds else 0.0
        parts.append(f"{rate:,.1f}/s")
        parts.append(f"{tally.tokens:,} tokens")
        if tally.cost is not None:
            parts.append(money(tally.cost))
        if tally.retries:
            parts.append(f"{tally.retries:,} retries")
        if tally.ending:
            parts.append("stopping: calls under way are waited for; Ctrl-C again leaves them")
        elif rate:
            parts.append(f"{_duration((tally.to_do - tally.units) / rate)} left")
        return " · ".join(parts)


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        return 80


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
