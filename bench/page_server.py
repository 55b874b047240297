"""The real `evenhand serve` on a study made for it: started, killed and started again at the same address."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol

import aiohttp

from evenhand.assignment import Plan
from evenhand.records import Item
from evenhand.store.people.access import new_invite
from evenhand.study import Study

PROTOCOL = "halo-support"
CRITERION = "support"
PATIENCE = 60.0
"""Seconds that a server may take to start, a large study included."""


def items(n: int) -> Iterator[Item]:
    """Items that say in their texts which they are, since a rater is told no id."""
    for number in range(n):
        question, answer = f"How long is span {number}?", f"It is {number} metres."
        evidence = f"Span {number} is {number} metres long. The bridge was built by engineers from two towns."
        yield Item(f"q{number}", {"question": question, "context": (evidence,), "generated_answer": answer})


def make_study(location: str, n: int, raters: int, plan: Plan) -> Mapping[str, str]:
    """A new study with its plan and an invite for each rater; the tokens by rater."""
    tokens: dict[str, str] = {}
    with Study.create(location, PROTOCOL, items(n)) as study:
        study.store.people.tasks.set_plan(plan)
        study.store.people.tasks.prepare()
        for number in range(raters):
            invite, token = new_invite(f"rater-{number:03}")
            study.store.people.access.add_invite(invite, token)
            tokens[f"rater-{number:03}"] = token
    return tokens


class Process(Protocol):
    """What a server needs of its process, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, sig: int, /) -> None: ...


def start_process(arguments: list[str], log: IO[bytes]) -> Process:
    """Start the command line with these arguments; it prints to `log`."""
    return subprocess.Popen([sys.executable, "-m", "evenhand", *arguments], stdout=log, stderr=log)


class Server:
    """A server process. Use it as an asynchronous context manager: it runs meanwhile."""

    def __init__(
        self, location: str, log: Path, start: Callable[[list[str], IO[bytes]], Process] = start_process
    ) -> None:
        self._location, self._log, self._start_process = location, log, start
        self._process: Process | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it and wait until it answers."""
        with self._log.open("ab") as log:
            self._process = self._start_process(["serve", self._location, "--port", str(self.port)], log)
        deadline = asyncio.get_running_loop().time() + PATIENCE
        async with aiohttp.ClientSession() as session:
            while not await self._answers(session):
                ended = self._process.poll() is not None
                if ended or asyncio.get_running_loop().time() > deadline:
                    raise RuntimeError(f"the server does not start:\n{self._log.read_text(errors='replace')}")
                await asyncio.sleep(0.05)

    async def _answers(self, session: aiohttp.ClientSession) -> bool:
        try:
            async with session.get(f"{self.url}/healthz") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    def kill(self) -> None:
        """End it as a power cut does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """End it as its owner does."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.kill()

    def cpu(self) -> float | None:
        """Seconds of processor time that it took so far, where the system tells."""
        assert self._process is not None
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def complaints(self) -> str:
        """What the server said of failures."""
        text = self._log.read_text(errors="replace")
        return text if "Traceback" in text else ""

    async def __aenter__(self) -> "Server":
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
