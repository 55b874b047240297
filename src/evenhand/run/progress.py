"""The progress bar of a run, in a terminal, a notebook or a log."""

import io
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

from evenhand.run.counters import RaterCounters
from evenhand.text import money

with warnings.catch_warnings():
    # Without ipywidgets tqdm warns, and shows a plain bar in a notebook. That will do.
    warnings.simplefilter("ignore")
    from tqdm.auto import tqdm

LOG_INTERVAL = 30.0
"""Seconds between two lines of progress if stderr is not a terminal."""


class ProgressBar:
    """Shows a run on stderr: a bar in a terminal or notebook, a line now and then in a log. A context manager."""

    def __init__(self) -> None:
        ipython: Any = sys.modules.get("IPython")
        notebook = ipython is not None and hasattr(ipython.get_ipython(), "kernel")
        self._live = sys.stderr.isatty() or notebook
        file = sys.stderr if self._live else io.StringIO()
        self._bar: Any = tqdm(unit=" units", leave=False, file=file, dynamic_ncols=True)
        self._shown_at = time.monotonic()
        self._stopping = False

    def show(self, raters: Sequence[RaterCounters], *, stopping: bool = False) -> None:
        """Show the state of the run; in a log only if it is time for it."""
        counters = RaterCounters.total(raters)
        self._bar.total, self._bar.n = counters.to_do, counters.units
        self._bar.set_postfix_str(_postfix(counters, stopping))
        due = stopping != self._stopping or time.monotonic() - self._shown_at > LOG_INTERVAL
        if due and not self._live:
            self._shown_at, self._stopping = time.monotonic(), stopping
            print(self._bar, file=sys.stderr)

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *exc: object) -> None:
        self._bar.close()


def _postfix(counters: RaterCounters, stopping: bool) -> str:
    parts = [f"{counters.input_tokens + counters.output_tokens:,} tokens"]
    if counters.cost is not None:
        parts.append(money(counters.cost))
    if counters.failed_units:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in counters.failures.most_common(2))
        parts.append(f"{counters.failed_units:,} failed ({reasons})")
    if counters.retries:
        parts.append(f"{counters.retries.total():,} retries")
    if stopping:
        parts.append("stopping: waiting for open calls; press Ctrl-C again to abandon them")
    return ", ".join(parts)
