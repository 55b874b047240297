"""Processes for the tests, forked from one that has imported everything already: they start in a tenth of the time."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from evenhand.cli import main

FORKS = multiprocessing.get_context("forkserver")
# One list for all tests: a worker of pytest has one fork server, and the list that was set last counts.
FORKS.set_forkserver_preload(["evenhand.cli", "evenhand.study", "evenhand.web.app", "uvicorn", "psycopg", "pytest"])


def run_evenhand(folder: Path, arguments: list[str], environment: Mapping[str, str] = os.environ) -> tuple[int, str]:
    """Run a command in `folder`; return its exit code and everything it printed."""
    return _run(folder, main, arguments, environment)


def run_python(folder: Path, code: str) -> tuple[int, str]:
    """Run a program in `folder`; return its exit code and everything it printed."""
    return _run(folder, _execute, code, os.environ)


def _execute(code: str) -> None:
    exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})


def _run(
    folder: Path, function: Callable[[Any], object], argument: object, environment: Mapping[str, str]
) -> tuple[int, str]:
    with NamedTemporaryFile(mode="r", encoding="utf-8") as output:
        process = FORKS.Process(target=_call, args=(output.name, folder, dict(environment), function, argument))
        process.start()
        process.join()
        return process.exitcode or 0, output.read()


def _call(
    output: str, folder: Path, environment: Mapping[str, str], function: Callable[[Any], object], argument: object
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, "")
    descriptor = os.open(output, os.O_WRONLY | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    function(argument)
