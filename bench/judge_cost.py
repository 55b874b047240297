"""What a command cost: time, CPU of all its threads and processes, and memory."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """The cost of judging this many items; `cpu` and `seconds` include the start of the program."""

    items: int
    seconds: float
    cpu: float
    memory: float
    """The most memory at one time, in MB."""


@dataclass(frozen=True)
class Pace:
    """The cost of one more item, from a large and a small run: what a program takes to start is in both."""

    start: Cost
    whole: Cost

    @property
    def cpu(self) -> float:
        """Milliseconds of CPU an item."""
        return 1000 * (self.whole.cpu - self.start.cpu) / (self.whole.items - self.start.items)

    @property
    def rate(self) -> float:
        """Items a second."""
        return (self.whole.items - self.start.items) / (self.whole.seconds - self.start.seconds)

    @property
    def rate_from_start(self) -> float:
        """Items a second with the start of the program counted in."""
        return self.whole.items / self.whole.seconds


def spent(command: Sequence[str], items: int, *, folder: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command in a folder. What it printed is shown only where it fails, and the benchmark ends there."""
    with tempfile.TemporaryFile() as printed:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **(environment or {})}, stdout=printed, stderr=printed
        )
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            printed.seek(0)
            said = printed.read().decode("utf-8", "replace")[-2000:]
            sys.exit(f"exit code {process.returncode}: {' '.join(command)}\n{said}")
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return Cost(items, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / unit)
