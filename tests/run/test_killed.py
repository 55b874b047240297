"""Killed at any moment, a run goes on where it was: nothing is rated twice, hardly anything asked twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from evenhand.records import Status
from evenhand.study import Study
from tests.chat_server import Call, ChatServer
from tests.run.judging import halo_study, supported

N, KILLS, PLACES = 2000, 10, 16


def start(study: Path, url: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "evenhand", "judge", str(study), "--rater", f"judge={url}#m"]
    command += ["--concurrency", str(PLACES)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for_calls(server: ChatServer, more: int) -> None:
    wanted = len(server.calls) + more
    deadline = time.monotonic() + 120
    while len(server.calls) < wanted:
        assert time.monotonic() < deadline, "the run makes no calls"
        time.sleep(0.005)


def user_text(call: Call) -> str:
    return str(call.body["messages"][1]["content"])


def test_a_run_that_is_killed_ten_times_rates_everything_once(tmp_path: Path):
    chance = random.Random(5)
    with ChatServer(supported(delay=0.01)) as server:
        halo_study(tmp_path, N).close()
        for _ in range(KILLS):
            run = start(tmp_path / "study.db", server.url)
            # Anywhere in the work, and on average so far in that ten kills leave some of it.
            wait_for_calls(server, chance.randint(1, N // (KILLS + 2)))
            time.sleep(chance.uniform(0, 0.02))
            os.kill(run.pid, signal.SIGKILL)
            run.communicate()
        last = start(tmp_path / "study.db", server.url)
        _, errors = last.communicate(timeout=240)
        assert last.returncode == 0, errors.decode()
        asked = Counter(map(user_text, server.calls))
    with Study.open(tmp_path / "study.db") as study:
        ratings = list(study.store.ratings(history=True))
    assert Counter(rating.unit for rating in ratings) == Counter(f"i{number}" for number in range(N))
    assert {(rating.status, rating.value) for rating in ratings} == {(Status.RATED, "SUPPORTED")}
    assert len(asked) == N
    # Each kill may lose the one call that each place had under way.
    assert asked.total() <= N + KILLS * PLACES
