import json
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.raters.options import RATER_DEFAULTS, RunOptions
from evenhand.records import Item, Rating, Status
from evenhand.run.estimate import estimate
from evenhand.run.judge import judge
from evenhand.run.progress import ProgressBar, RaterCounters
from evenhand.run.recorded_chat import Recorder
from evenhand.run.worker import RatingWorker, run_workers
from evenhand.study import Study
from tests.chat_server import Answer, Call, ChatServer, code, says
from tests.run.judging import halo_study, judge_at, supported


class Terminal:
    """A stderr that claims to be a terminal."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.written = ""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None: ...


def tally() -> RaterCounters:
    rater = RaterCounters("m", to_do=1200, finished=10, input_tokens=900, output_tokens=100, cost=0.5)
    for number in range(10):
        failed = number == 0
        status, value = (Status.FAILED, None) if failed else (Status.RATED, "x")
        reason = "timed out" if failed else None
        rater.add_ratings(
            [Rating(unit="u", criterion="c", rater="m", digest="d", status=status, value=value, reason=reason)]
        )
    return rater


def test_the_bar_shows_progress_failures_and_cost(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    state = tally()
    with closing(ProgressBar([state])) as bar:
        bar.show()
        assert "10/1200" in terminal.written
        assert "1,000 tokens, $0.5000, 1 failed (timed out 1)" in terminal.written
        bar.show(stopping=True)
        assert "stopping" in terminal.written
    assert terminal.written.endswith("\r")


def test_in_a_log_only_the_end_is_shown_at_once(capsys: pytest.CaptureFixture[str]):
    state = tally()
    with closing(ProgressBar([state])) as bar:
        bar.show()
        assert capsys.readouterr().err == ""
        bar.show(stopping=True)
        bar.show(stopping=True)
        assert capsys.readouterr().err.count("stopping") == 1


def test_progress_moves_with_every_unit(tmp_path: Path):
    seen: list[int] = []

    def behaviour(_: Call) -> Answer:
        seen.append(worker.counters.finished)
        return supported()

    with ChatServer(behaviour) as server, halo_study(tmp_path, 6) as study:
        recorder = Recorder(study.store, RunOptions())
        (rater,) = recorder.raters([judge_at(server.url, places=1)], RATER_DEFAULTS)
        worker = RatingWorker(recorder, rater)
        run_workers(recorder, [worker])
    assert seen == [0, 1, 2, 3, 4, 5]
    assert (worker.counters.finished, worker.counters.units) == (6, 6)


def test_a_limit_takes_whole_items_of_sentences_and_counts_their_units(tmp_path: Path):
    fields = {"question": "Q?", "article": "A.", "response": " ".join(f"It is number {n}." for n in range(9))}
    entry = {"accuracy": {"answer": "Accurate"}, "severity": {"answer": None}}
    reply = json.dumps({"sentences": [{"unit_code": code(n), **entry} for n in range(1, 10)]})
    limit = RunOptions(limit=12)
    items = [Item(f"i{n}", fields) for n in range(5)]
    with ChatServer(says(reply)) as server, Study.create(tmp_path / "s.db", "stem-accuracy", items) as study:
        rater = judge_at(server.url)
        assert estimate(study.store, [rater], run=limit).units == {"judge": 18}
        outcome = judge(study.store, [rater], run=limit)
        assert (outcome.total.to_do, outcome.total.units, outcome.total.finished) == (18, 18, 18)
        assert len({rating.unit for rating in study.ratings()}) == 18
        assert (outcome.total.replies, outcome.total.reused) == (1, 1)
        # The items that were not rated are free for the next run.
        assert judge(study.store, [rater]).total.units == 27
