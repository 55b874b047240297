"""How a run ends before its work is done: what it keeps, what it pays for, and what it reports."""

import os
import resource
import signal
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from evenhand.cli import main
from evenhand.errors import UserError
from evenhand.llm.base import RunError
from evenhand.raters.options import RunOptions
from evenhand.records import Status
from evenhand.run.budget import Price
from evenhand.run.judge import judge
from evenhand.study import Study
from tests.chat_server import Answer, Call, ChatServer, fails, hangs_up, says, script
from tests.processes import Forked
from tests.run.judging import halo_study, judge_at, supported


def test_a_wrong_key_of_one_rater_does_not_stop_the_others(tmp_path: Path):
    def behaviour(call: Call) -> Answer:
        return supported() if call.body["model"] == "a" else fails(401, "bad key")

    with ChatServer(behaviour) as server, halo_study(tmp_path, 30) as study:
        outcome = judge(study.store, [judge_at(server.url, name=name, model=name) for name in ("a", "b")])
        states = [(run.rater, run.state) for run in study.store.work.runs()]
    assert {name: one.units for name, one in outcome.counters.items()} == {"a": 30, "b": 0}
    assert isinstance(outcome.why, RunError)
    assert "b: " in (outcome.reason() or "")
    assert "b ended early: " in str(outcome)
    # The run of the other one leaves no trace; it may hold the money of both.
    assert ("a", "done") in states
    assert ("b", "running") not in states


def test_numbers_that_no_float_can_hold_do_not_end_a_run(tmp_path: Path):
    huge = supported(usage=(10**400, 10**400, 0))
    with ChatServer(huge) as server, halo_study(tmp_path, 3) as study:
        one = judge_at(server.url)
        worst = Price(1.0, 10.0).worst(one.first_request(study))
        outcome = judge(study.store, [one], run=RunOptions(prices=["1/10"]))
    assert (outcome.why, outcome.total.statuses) == (None, {Status.RATED: 3})
    assert outcome.total.cost == pytest.approx(3 * worst, rel=0.01)


@pytest.mark.parametrize("answers", [[supported(usage=None)], [hangs_up(), supported()]])
def test_a_cost_that_is_a_worst_case_is_labelled_as_one(tmp_path: Path, answers: list[Answer]):
    with ChatServer(script(*answers)) as server, halo_study(tmp_path, 1) as study:
        outcome = judge(study.store, [judge_at(server.url)], run=RunOptions(prices=["1/10"]))
    assert outcome.total.cost is not None
    assert 0 < outcome.total.assumed_cost <= outcome.total.cost
    assert "; at most $" in str(outcome)


def test_a_cost_that_the_server_counted_is_not_labelled(tmp_path: Path):
    with ChatServer(supported()) as server, halo_study(tmp_path, 1) as study:
        outcome = judge(study.store, [judge_at(server.url)], run=RunOptions(prices=["1/10"]))
    assert outcome.total.assumed_cost == 0
    assert "at most" not in str(outcome)


def test_what_the_server_does_not_accept_is_printed(tmp_path: Path):
    def behaviour(call: Call) -> Answer:
        return fails(400, "no maxLength please") if "maxLength" in call.raw.decode() else supported()

    with ChatServer(behaviour) as server, halo_study(tmp_path, 2) as study:
        result = study.judge(f"judge={server.url}#m", concurrency=1)
    assert (result.units, result.failed_units) == (2, 0)
    assert "left out: limits on lengths and numbers in the JSON schema" in str(result)


def test_a_model_that_thinks_until_its_limit_is_not_asked_again_with_the_same_limit(tmp_path: Path):
    with ChatServer(says("", finish="length")) as server, halo_study(tmp_path, 3) as study:
        outcome = judge(study.store, [judge_at(server.url)])
        assert len(server.calls) == 3
    ((reason, number),) = outcome.total.failures.items()
    assert (reason.startswith("token limit"), number) == (True, 3)


def test_replies_that_arrive_while_the_study_is_locked_are_not_paid_for_again(tmp_path: Path):
    other: list[sqlite3.Connection] = []

    def behaviour(call: Call) -> Answer:
        if call.number == 1:
            connection = sqlite3.connect(tmp_path / "study.db", check_same_thread=False, isolation_level=None)
            connection.execute("BEGIN IMMEDIATE")
            other.append(connection)
            # Longer than the timeout of a call.
            threading.Timer(1.5, lambda: connection.execute("ROLLBACK")).start()
        return supported(delay=0.05 * call.number)

    with ChatServer(behaviour) as server, halo_study(tmp_path, 6) as study:
        outcome = judge(study.store, [judge_at(server.url, timeout=0.6)])
        assert len(server.calls) == 6
    assert (outcome.total.statuses, outcome.total.retries) == ({Status.RATED: 6}, {})
    other[0].close()


def judge_on_a_small_disk(arguments: list[str]) -> None:
    """The command with files of at most so many bytes, which come first."""
    size = int(arguments[0])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    main(arguments[1:])


def run_small(folder: Path, size: int, url: str) -> tuple[int | None, str]:
    arguments = [str(size), "judge", "study.db", "--rater", f"m={url}#m", "--concurrency", "2"]
    process = Forked(folder, arguments, function=judge_on_a_small_disk)
    _, err = process.communicate(timeout=120)
    return process.returncode, err


def test_on_a_full_disk_nothing_is_asked_and_what_was_stored_before_it_filled_up_counts(tmp_path: Path):
    halo_study(tmp_path, 200).close()
    long = says('{"unit_code": "@CODE", "support": {"answer": "SUPPORTED"}, "notes": "%s"}' % ("x" * 3_000))
    with ChatServer(long) as server:
        code, err = run_small(tmp_path, 100_000, server.url)
        assert (code, server.calls) == (2, []), err
        code, err = run_small(tmp_path, 2_000_000, server.url)
        assert code == 1, err
        assert "the same command continues" in err
        paid = len(server.calls)
        with Study.open(tmp_path / "study.db") as study:
            assert 0 < study.count_ratings() < 200
        code, err = run_small(tmp_path, 100_000, server.url)
        assert (code, len(server.calls)) == (2, paid), err


def started(folder: Path, url: str, server: ChatServer, calls: int, *options: str) -> Forked:
    """A run of which so many calls have arrived."""
    run = Forked(folder, ["judge", "study.db", "--rater", f"m={url}#m", "--concurrency", "4", *options])
    deadline = time.monotonic() + 60
    while len(server.calls) < calls:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return run


@pytest.mark.parametrize(
    ("calls", "options"),
    [(4, []), (1, ["--price", "1/10", "--max-cost", "0.04"])],  # a call reserves about 0.03 dollars
)
def test_sigterm_ends_a_run_that_pauses_because_the_server_asked_for_it(tmp_path: Path, calls: int, options: list[str]):
    halo_study(tmp_path, 20).close()
    with ChatServer(fails(429, "slow down", headers={"Retry-After": "500"})) as server:
        run = started(tmp_path, server.url, server, calls, *options)
        os.kill(run.pid, signal.SIGTERM)
        run.wait(timeout=30)
        _, err = run.communicate()
        assert (run.returncode, len(server.calls)) == (130, calls), err
    with Study.open(tmp_path / "study.db") as study:
        assert (study.count_ratings(), study.store.work.runs()) == (0, [])


def test_ctrl_c_while_a_run_is_ending_abandons_open_calls_and_keeps_the_reason(tmp_path: Path):
    halo_study(tmp_path, 20).close()

    def behaviour(call: Call) -> Answer:
        # The fifth call is made only when the first is over, while three are open.
        return {1: supported(), 5: fails(402, "no money left")}.get(call.number, supported(delay=300.0))

    with ChatServer(behaviour) as server:
        run = started(tmp_path, server.url, server, 5)
        while "stopping" not in run.stderr.readline():
            pass
        os.kill(run.pid, signal.SIGINT)
        run.wait(timeout=30)
        _, err = run.communicate()
    assert run.returncode == 1, err
    assert "no money left" in err
    assert "Traceback" not in err


def test_a_run_in_which_no_call_can_succeed_is_an_error_of_the_user(tmp_path: Path):
    with ChatServer(fails(401)) as server, halo_study(tmp_path, 2) as study, pytest.raises(UserError, match="key"):
        study.judge(f"judge={server.url}#m")
