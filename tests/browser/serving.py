"""A study from the bundled samples behind the real `evenhand serve`, for tests in a browser."""

import multiprocessing
import os
import re
import signal
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.resources import as_file, files
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Literal, Protocol, TextIO
from urllib.request import urlopen

from evenhand.assignment import Plan
from evenhand.cli import main
from evenhand.formats.items import read_items
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Ask
from evenhand.store.people.access import new_invite
from evenhand.study import Study
from tests.processes import FORKS
from tests.sample_units import units_of_sample

UNTRAINED = Plan(training="off")


@dataclass(frozen=True, slots=True)
class Served:
    """A running server: `url` without a slash at the end, the study's file, and what the server printed."""

    url: str
    study: Path
    printed: str
    process: ForkServerProcess

    @property
    def owner_link(self) -> str:
        """The link that `serve` printed for the study's owner."""
        return self.printed.partition("owner's page")[2].split()[0]

    def invite(self, name: str, role: Literal["rater", "adjudicator"] = "rater") -> str:
        """A link by which `name` joins this study."""
        invite, token = new_invite(name, role)
        with Study.open(self.study) as study:
            study.store.people.access.add_invite(invite, token)
        return f"{self.url}/join/{token}"

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


class Serve(Protocol):
    """Starts the page for the sample of a protocol."""

    def __call__(self, protocol: str = ..., *, plan: Plan | None = ..., ask: Ask | None = ...) -> Served: ...


def make_study(folder: Path, protocol: str, plan: Plan | None = None, ask: Ask | None = None) -> Path:
    """A new study of a sample; without `plan`, with the plan that every new study has. `ask` takes the place of what
    the protocol asks beside the ratings."""
    path = folder / f"{protocol}.db"
    loaded = load_protocol(protocol)
    if ask is not None:
        loaded = loaded.model_copy(update={"ask": ask})
    with as_file(files("evenhand.samples") / protocol) as sample:
        items = read_items(next(sample.glob("items.*")), loaded)
        with Study.create(path, loaded, items, **units_of_sample(protocol)) as study:
            if plan is not None:
                study.store.people.tasks.set_plan(plan)
    return path


@contextmanager
def serving(study: Path, *options: str, port: int = 0) -> Generator[Served]:
    """The server, on a free port unless one is given, ended as a person ends it."""
    output, child_output = multiprocessing.Pipe(duplex=False)
    arguments = ["serve", str(study), "--port", str(port), *options]
    server = FORKS.Process(target=_run, args=(child_output, arguments, dict(os.environ)), daemon=True)
    server.start()
    child_output.close()
    try:
        with os.fdopen(output.fileno(), encoding="utf-8", closefd=False) as lines:
            printed = _read_until(lines, "Ctrl+C")
        url = re.search(r"https?://[^\s/]+", printed.partition("owner's page")[2])
        assert url is not None, f"the server ended:\n{printed}"
        with urlopen(f"{url[0]}/healthz", timeout=60):  # answers once the study is open
            pass
        yield Served(url[0], study, printed, server)
    finally:
        _end(server)
        output.close()


def _run(output: Connection, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """The command in a process of its own, which prints to `output`."""
    os.environ.clear()
    os.environ.update(environment)
    with open(output.fileno(), "w", encoding="utf-8") as stream, redirect_stdout(stream), redirect_stderr(stream):
        main(arguments)


def _read_until(lines: TextIO, last: str) -> str:
    """What is printed up to a line that ends so, or to the end of the server."""
    printed = ""
    for line in lines:
        printed += line
        if line.strip().endswith(last):
            break
    return printed


def _end(server: ForkServerProcess) -> None:
    if server.pid is not None and server.is_alive():
        os.kill(server.pid, signal.SIGINT)
    server.join(timeout=20)
    if server.is_alive():
        server.kill()
        server.join()
