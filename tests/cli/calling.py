"""Call the command line as a user would, within this process."""

from dataclasses import dataclass

import pytest

from evenhand.cli import main


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str


class Caller:
    """`call("new", "study.db", …)` runs `evenhand new study.db …`."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Result:
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Result(ended.value.code, captured.out, captured.err)

    def fine(self, *arguments: object) -> str:
        """The same, for a call that must end well; what it printed on stdout."""
        result = self(*arguments)
        assert result.code == 0, result.err
        return result.out
