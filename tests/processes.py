"""Processes for the tests, forked from one that has imported everything already: they start in a tenth of the time."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Literal, TextIO

from evenhand.cli import main

FORKS = multiprocessing.get_context("forkserver")
# One list for all tests: a worker of pytest has one fork server, and the list that was set last counts.
FORKS.set_forkserver_preload(["tests.preload", "psycopg"])


def start_fork_server() -> None:
    """Start it if it does not run yet."""
    ensure_running()


def run_evenhand(folder: Path, arguments: list[str], environment: Mapping[str, str] = os.environ) -> tuple[int, str]:
    """Run a command in `folder`; return its exit code and everything it printed."""
    return _run(folder, main, arguments, environment)


def run_python(folder: Path, code: str) -> tuple[int, str]:
    """Run a program in `folder`; return its exit code and everything it printed."""
    return _run(folder, execute, code, os.environ)


def execute(code: str) -> None:
    """Run a program as if it were a file."""
    exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})


class Forked:
    """A function in a process of its own, by default the command line, started in `folder`.

    What it prints goes to the descriptor `printed`, or is read from `stdout` and `stderr`. Beyond that it behaves like
    a `subprocess.Popen`.
    """

    def __init__(
        self,
        folder: Path,
        argument: object,
        *,
        function: Callable[[Any], object] = main,
        environment: Mapping[str, str] = os.environ,
        printed: int | None = None,
    ) -> None:
        pipes = [os.pipe(), os.pipe()] if printed is None else []
        writing = [write for _, write in pipes] or [os.dup(printed or 0), os.dup(printed or 0)]
        streams = [Connection(descriptor, readable=False) for descriptor in writing]
        self._process = FORKS.Process(
            target=_call, args=(streams, folder, dict(environment), function, argument), daemon=True
        )
        self._process.start()
        for stream in streams:
            stream.close()
        self._readers = [_opened(read, "r") for read, _ in pipes]

    @property
    def stdout(self) -> TextIO:
        return self._readers[0]

    @property
    def stderr(self) -> TextIO:
        return self._readers[1]

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        assert self._process.exitcode is not None, "the process does not end"
        return self._process.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end; return what is left to read from `stdout` and from `stderr`."""
        with self.stdout, self.stderr:
            printed = self.stdout.read(), self.stderr.read()
        self.wait(timeout)
        return printed

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it as a power cut does, unless it has ended already."""
        self._process.kill()
        self._process.join()
        for reader in self._readers:
            reader.close()


def fork_evenhand(arguments: list[str], log: IO[bytes]) -> Forked:
    """Start the command line where we are; it prints to `log`."""
    return Forked(Path.cwd(), arguments, printed=log.fileno())


def _run(
    folder: Path, function: Callable[[Any], object], argument: object, environment: Mapping[str, str]
) -> tuple[int, str]:
    with TemporaryFile(mode="w+", encoding="utf-8") as output:
        process = Forked(folder, argument, function=function, environment=environment, printed=output.fileno())
        code = process.wait()
        output.seek(0)
        return code, output.read()


def _call(
    streams: Sequence[Connection],
    folder: Path,
    environment: Mapping[str, str],
    function: Callable[[Any], object],
    argument: object,
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, "")
    # A shell that runs the tests in the background has them ignore the interrupt, and their children after them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream.fileno(), number)
        stream.close()
    # New ones: those that came with the fork remember what kind of file they were opened on.
    sys.stdout, sys.stderr = (_opened(number, "w") for number in (1, 2))
    function(argument)


def _opened(descriptor: int, mode: Literal["r", "w"]) -> TextIO:
    return open(descriptor, mode, buffering=1, encoding="utf-8", errors="backslashreplace")
