import pytest

from evenhand.cli.progress import ProgressLine
from evenhand.records import Rating, Status
from evenhand.run.tally import RaterTally, Tally


class Terminal:
    """A stderr that says it is a terminal."""

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


def tally() -> Tally:
    rater = RaterTally("m", to_do=1200, input_tokens=900, output_tokens=100, cost=0.5)
    for number in range(10):
        failed = number == 0
        status, value = (Status.FAILED, None) if failed else (Status.RATED, "x")
        reason = "timed out" if failed else None
        rater.add_ratings(
            [Rating(unit="u", criterion="c", rater="m", digest="d", status=status, value=value, reason=reason)]
        )
    return Tally({"m": rater})


def test_the_line_says_how_far_it_is_what_failed_and_what_it_cost(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("evenhand.cli.progress._columns", lambda: 200)
    progress, state = ProgressLine(), tally()
    progress.show(state)
    shown = terminal.written
    assert shown.startswith("\r10 of 1,200 · 1 failed (timed out 1) · ")
    assert " · 1,000 tokens · $0.5000 · " in shown
    assert shown.rstrip().endswith("left")
    state.ending = True
    progress.show(state)
    assert "stopping: calls under way are waited for; Ctrl-C again leaves them" in terminal.written
    progress.end()
    assert terminal.written.endswith("\r")


def test_where_nobody_watches_only_the_end_is_announced_at_once(capsys: pytest.CaptureFixture[str]):
    progress, state = ProgressLine(), tally()
    progress.show(state)
    assert capsys.readouterr().err == ""
    state.ending = True
    progress.show(state)
    progress.show(state)
    assert capsys.readouterr().err.count("stopping") == 1
