"""Several `evenhand judge` processes on one study against one server, some of which are killed."""

import os
import random
import time
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import dataclass
from multiprocessing.process import BaseProcess

from evenhand.cli import main
from evenhand.records import Item
from evenhand.run import worker
from evenhand.study import Study
from tests.chat_server import ChatServer
from tests.processes import FORKS
from tests.run.judging import supported

CALL_COST = 300
"""Micro-dollars that each call costs at $1 and $10 per million tokens: 100 tokens read, 20 written."""


def _judge(lease: float, arguments: list[str]) -> None:
    """The command, with leases that end sooner than usual; only errors are shown."""
    worker.LEASE_SECONDS = lease
    with open(os.devnull, "w", encoding="utf-8") as nothing, redirect_stdout(nothing):
        main(arguments)


@dataclass(frozen=True)
class Shared:
    """What came of a shared run."""

    prompts: Counter[str]
    """How often each prompt was sent."""
    ratings: Counter[str]
    """Ratings by unit, superseded ones included."""
    codes: list[int | None]
    """Exit codes of the processes that were not killed."""
    spent: int
    """Micro-dollars that the study counts as spent."""
    seconds: float

    @property
    def calls(self) -> int:
        return self.prompts.total()


def make_study(location: str, n: int) -> None:
    items = [
        Item(f"i{number}", {"question": "When?", "context": f"It was {number}.", "generated_answer": f"In {number}."})
        for number in range(n)
    ]
    Study.create(location, "halo-support", items).close()


def share(
    location: str, n: int, *, processes: int = 4, kills: int = 2, max_cost: float | None = None, lease: float = 5.0,
    concurrency: int = 8, delay: float = 0.01,
) -> Shared:  # fmt: skip
    """Judge a new study of `n` items with several processes; each one that is killed is replaced."""
    make_study(location, n)
    chance = random.Random(5)
    began = time.monotonic()
    with ChatServer(supported(delay=delay)) as server:
        options = ["--rater", f"judge={server.url}#m", "--concurrency", str(concurrency), "--price", "1/10"]
        options += [] if max_cost is None else ["--max-cost", str(max_cost)]

        def start() -> BaseProcess:
            process = FORKS.Process(target=_judge, args=(lease, ["judge", location, *options]))
            process.start()
            return process

        running = [start() for _ in range(processes)]
        for kill in range(kills):
            _wait_for_calls(server, (kill + 1) * n // (kills + 2), running)
            victim = running.pop(chance.randrange(len(running)))
            assert victim.is_alive()
            victim.kill()
            victim.join()
            running.append(start())
        for process in running:
            process.join(timeout=600)
        prompts = Counter(str(call.body["messages"][1]["content"]) for call in server.calls)
    with Study.open(location) as study:
        ratings = Counter(rating.unit for rating in study.store.ratings.all(history=True))
        spent = max((run.spent + run.reserved for run in study.store.work.runs()), default=0)
        elapsed = time.monotonic() - began
        _wait_for_ends(study)
    codes = [process.exitcode for process in running]
    return Shared(prompts, ratings, codes, spent, elapsed)


def _wait_for_ends(study: Study) -> None:
    """No run stays running: that of a killed process ends with its term at the latest."""
    deadline = time.monotonic() + 60
    while any(run.state == "running" for run in study.store.work.runs()):
        assert time.monotonic() < deadline, "a run stays running"
        time.sleep(0.05)


def _wait_for_calls(server: ChatServer, wanted: int, running: list[BaseProcess]) -> None:
    deadline = time.monotonic() + 300
    while len(server.calls) < wanted and any(process.is_alive() for process in running):
        assert time.monotonic() < deadline, "the run makes no calls"
        time.sleep(0.005)
