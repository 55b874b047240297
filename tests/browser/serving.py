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
from evenhand.formats.items import read_items
from evenhand.formats.questions import read_questions
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Ask
from evenhand.study import Study
from evenhand.web.invites import join_link, new_invite

UNTRAINED = Plan(training="off")


@dataclass(frozen=True, slots=True)
class Served:
    """A running server: `url` without a slash at the end, the study's file, what the server printed so far, and the
    server itself."""

    url: str
    study: Path
    log: Path
    server: "subprocess.Popen[bytes]"

    def invite(self, name: str, role: Literal["rater", "adjudicator"] = "rater") -> str:
        """A link by which `name` joins this study."""
        invite, token = new_invite(name, role)
        with Study.open(self.study) as study:
            study.store.people.add_invite(invite, token)
        return join_link(self.url, token)

    def owner_link(self) -> str:
        """The link that `serve` printed for the study's owner."""
        found = re.search(r"https?://\S+", self.log.read_text())
        assert found is not None, self.log.read_text()
        return found[0].rstrip(".,")


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
        file = sample / "questions.json"
        with Study.create(path, loaded, items, questions=read_questions(file) if file.exists() else None) as study:
            if plan is not None:
                study.store.people.set_plan(plan)
    return path


@contextmanager
def serving(study: Path, *options: str, port: int | None = None) -> Generator[Served]:
    """The server, on a free port where none is given, ended like a person ends it."""
    port = port or _free_port()
    log = study.with_suffix(".log")
    command = [sys.executable, "-m", "evenhand", "serve", str(study), "--port", str(port), *options]
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}/healthz", server, log)
        yield Served(url, study, log, server)
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


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
