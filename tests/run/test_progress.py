import pytest

from evenhand.records import Rating, Status
from evenhand.run.progress import ProgressBar, RaterCounters


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
    rater = RaterCounters("m", to_do=1200, input_tokens=900, output_tokens=100, cost=0.5)
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
    with ProgressBar() as bar:
        bar.show([state])
        assert "10/1200" in terminal.written
        assert "1,000 tokens, $0.5000, 1 failed (timed out 1)" in terminal.written
        bar.show([state], stopping=True)
        assert "stopping" in terminal.written
    assert terminal.written.endswith("\r")


def test_in_a_log_only_the_end_is_shown_at_once(capsys: pytest.CaptureFixture[str]):
    state = tally()
    with ProgressBar() as bar:
        bar.show([state])
        assert capsys.readouterr().err == ""
        bar.show([state], stopping=True)
        bar.show([state], stopping=True)
        assert capsys.readouterr().err.count("stopping") == 1
