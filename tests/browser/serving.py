"""A study from the bundled samples behind the real `evenhand serve`, for tests in a browser."""

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal, Protocol
from urllib.error import URLError

from evenhand.assign import Plan
from evenhand.study import Study

UNTRAINED = Plan(training="off")


@dataclass(frozen=True, slots=True)
class Served:
    """A running server: `url` without a slash at the end, the study's file, and what the server printed so far."""

    url: str
    study: Path
    log: Path

    def invite(self, name: str, role: Literal["rater", "adjudicator"] = "rater") -> str:
        """A link by which `name` joins this study."""
        printed = _evenhand("invite", self.study, "--name", name, "--role", role)
        found = re.search(r"/join/[^\s\"'<>]+", printed)
        assert found is not None, printed
        return self.url + found[0]

    def owner_link(self) -> str:
        """The link that `serve` printed for the study's owner."""
        found = re.search(r"https?://\S+", self.log.read_text())
        assert found is not None, self.log.read_text()
        return found[0].rstrip(".,")


class Serve(Protocol):
    """Starts the page for the sample of a protocol."""

    def __call__(self, protocol: str = ..., *, plan: Plan | None = ...) -> Served: ...


def make_study(folder: Path, protocol: str, plan: Plan | None = None) -> Path:
    """A new study of a sample; without `plan`, with the plan that every new study has."""
    path = folder / f"{protocol}.db"
    with as_file(files("evenhand.samples") / protocol) as sample:
        items = next(sample.glob("items.*"))
        questions = sample / "questions.json"
        more = ("--questions", questions) if questions.exists() else ()
        _evenhand("new", path, "--protocol", protocol, "--items", items, *more)
    if plan is not None:
        with Study.open(path) as study:
            study.store.people.set_plan(plan)
    return path


@contextmanager
def serving(study: Path, *options: str) -> Generator[Served]:
    """The server on a free port, ended like a person ends it."""
    port = _free_port()
    log = study.with_suffix(".log")
    command = [sys.executable, "-m", "evenhand", "serve", str(study), "--port", str(port), *options]
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}/healthz", server, log)
        yield Served(url, study, log)
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _evenhand(*arguments: object) -> str:
    command = [sys.executable, "-m", "evenhand", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            assert server.poll() is None, f"the server ended:\n{log.read_text(errors='replace')}"
            time.sleep(0.1)
    raise AssertionError(f"the server does not answer:\n{log.read_text(errors='replace')}")
