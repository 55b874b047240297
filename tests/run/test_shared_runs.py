"""Processes share the work of a rater: nothing is rated or paid twice, and the cap covers all of them."""

import threading
from collections import Counter
from pathlib import Path

import pytest

from evenhand.errors import StudyError
from evenhand.raters.options import RaterOptions, RunOptions
from evenhand.run.judge import judge
from evenhand.run.progress import Stopped
from evenhand.study import Study
from tests.chat_server import Answer, Call, ChatServer
from tests.run.judging import halo_study, judge_at, supported
from tests.run.shared_runs import CALL_COST, share

N, KILLS, PLACES = 80, 2, 4


def test_four_processes_two_of_them_killed_rate_everything_once(store_location: str):
    done = share(store_location, N, kills=KILLS, concurrency=PLACES)
    assert done.codes == [0] * 4
    assert done.ratings == Counter(f"i{number}" for number in range(N))
    assert len(done.prompts) == N
    # Only calls in flight at a kill are repeated.
    assert done.calls <= N + KILLS * PLACES


def test_the_cap_covers_all_processes_and_those_that_were_killed(store_location: str):
    # A call reserves about 0.03 dollars and costs 0.0003; what a killed process had reserved counts as spent.
    cap = 0.1
    done = share(store_location, N, kills=1, max_cost=cap, concurrency=2)
    assert set(done.codes) <= {0, 1}
    assert max(done.ratings.values()) == 1
    assert done.calls * CALL_COST <= done.spent <= cap * 1e6


class Gate:
    """A server that answers nothing until it is opened."""

    def __init__(self) -> None:
        self.asked, self.opened = threading.Event(), threading.Event()

    def __call__(self, call: Call) -> Answer:
        self.asked.set()
        return supported(delay=0.0 if self.opened.is_set() else 1.0)


def test_other_settings_or_another_cap_are_rejected_while_a_run_is_open_and_it_can_be_stopped(tmp_path: Path):
    gate = Gate()
    with ChatServer(gate) as server:
        halo_study(tmp_path, 200).close()
        outcomes: list[object] = []

        def run() -> None:
            with Study.open(tmp_path / "study.db") as study:
                outcomes.append(judge(study.store, [judge_at(server.url, places=1)]).why)

        thread = threading.Thread(target=run)
        thread.start()
        assert gate.asked.wait(30)
        with Study.open(tmp_path / "study.db") as study:
            with pytest.raises(StudyError, match="other settings"):
                judge(study.store, [judge_at(server.url, RaterOptions(shots=0))])
            with pytest.raises(StudyError, match="cap"):
                judge(study.store, [judge_at(server.url)], run=RunOptions(max_cost=1.0, prices=["1/10"]))
            (open_run,) = study.store.work.runs()
            assert (open_run.state, len(open_run.workers)) == ("running", 1)
            study.stop_run(open_run.id)
            gate.opened.set()
            thread.join(60)
            (ended,) = study.store.work.runs()
            assert ended.state == "stopped"
    assert isinstance(outcomes[0], Stopped)
