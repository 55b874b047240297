from pathlib import Path

import pytest

from tests.cli.calling import Caller


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    """The command line, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Caller(capsys)
