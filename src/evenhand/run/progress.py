"""The progress bar of a run: in a terminal, in a notebook, and now and then as a line in a log."""

import io
import sys
import time
import warnings
from typing import Any

from evenhand.run.counters import RunCounters
from evenhand.text import money

with warnings.catch_warnings():
    # Without ipywidgets tqdm warns, and shows a plain bar in a notebook. That will do.
    warnings.simplefilter("ignore")
    from tqdm.auto import tqdm

LOG_INTERVAL = 30.0
"""Seconds between two lines if stderr is not a terminal."""


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython: Any = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class ProgressBar:
    """Shows a run on stderr. Use it as a context manager."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty() or in_notebook()
        self._bar: Any = None  # a bar of tqdm, once there is something to show
        self._shown_at = time.monotonic()
        self._stopping = False

    def show(self, counters: RunCounters) -> None:
        """Show the state of the run; in a log only if it is time for it."""
        if self._bar is None:
            file = sys.stderr if self._live else io.StringIO()
            self._bar = tqdm(total=counters.to_do, unit=" units", leave=False, file=file, dynamic_ncols=True)
        self._bar.total, self._bar.n = counters.to_do, counters.units
        self._bar.set_postfix_str(_postfix(counters))
        if not self._live and (self._due() or counters.stopping != self._stopping):
            self._shown_at, self._stopping = time.monotonic(), counters.stopping
            print(self._bar, file=sys.stderr)

    def _due(self) -> bool:
        return time.monotonic() - self._shown_at > LOG_INTERVAL

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _postfix(counters: RunCounters) -> str:
    parts = [f"{counters.tokens:,} tokens"]
    if counters.cost is not None:
        parts.append(money(counters.cost))
    if counters.failed_units:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in counters.failures.most_common(2))
        parts.append(f"{counters.failed_units:,} failed ({reasons})")
    if counters.retries:
        parts.append(f"{counters.retries:,} retries")
    if counters.stopping:
        parts.append("stopping: waiting for open calls; press Ctrl-C again to abandon them")
    return ", ".join(parts)
