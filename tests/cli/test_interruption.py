"""How the program ends when it is interrupted, told to end, or cannot write what it has to say."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evenhand.store.sqlite import new_file
from tests.cli.calling import Caller
from tests.processes import Forked

EVENHAND = [sys.executable, "-m", "evenhand"]


@pytest.fixture
def half_done(tmp_path: Path) -> Forked:
    """`evenhand new`, in the middle of a file that takes a while."""
    with (tmp_path / "items.csv").open("w", encoding="utf-8") as file:
        file.write("id,question,context,generated_answer\n")
        file.writelines(f"i{n},Question {n}?,Context {n}.,Answer {n}.\n" for n in range(300_000))
    process = Forked(tmp_path, ["new", "study.db", "--protocol", "halo-support", "--items", "items.csv"])
    deadline = time.monotonic() + 120
    while not any(path.name.endswith(".part") for path in tmp_path.iterdir()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the study is not begun"
        time.sleep(0.02)
    return process


@pytest.mark.parametrize(
    ("sent", "code", "told"), [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "")], ids=["int", "term"]
)
def test_what_was_begun_is_removed(half_done: Forked, tmp_path: Path, sent: signal.Signals, code: int, told: str):
    half_done.send_signal(sent)
    _, err = half_done.communicate(timeout=60)
    assert (half_done.returncode, err) == (code, told)
    assert [path.name for path in tmp_path.iterdir()] == ["items.csv"]


def test_an_interrupt_finds_a_file_that_was_made_just_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    close = os.close

    def interrupted(descriptor: int) -> None:
        close(descriptor)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "close", interrupted)
        with pytest.raises(KeyboardInterrupt), new_file(tmp_path / "study.db"):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_under_the_output(tmp_path: Path):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run([*EVENHAND, "protocols"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert result.stderr == "error: the output cannot be written: No space left on device\n"


def test_a_terminal_that_cannot_show_every_character(tmp_path: Path):
    (tmp_path / "items.csv").write_text("id,question,context,answer\na,Q,C,A\n", encoding="utf-8")
    command = [*EVENHAND, "new", "study.db", "--protocol", "halo-support", "--items", "items.csv"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "generated_answer ? answer" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["new", "--nope"], "error: No such option '--nope'"),
        (["nope"], "error: No such command 'nope'"),
        (["new", "s.db"], "error: Missing option '--protocol'"),
        (["ratings", "export", "s.db", "-o", "a.csv", "--shape", "tall"], "error: Invalid value for '--shape'"),
    ],
)
def test_wrong_use_looks_like_every_other_error(call: Caller, arguments: list[str], told: str):
    result = call(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.replace(": --nope", " '--nope'").startswith(told)
    assert "--help" in result.err.splitlines()[-1]
    assert "Usage" not in result.err


def test_no_command_shows_the_help(call: Caller):
    result = call()
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Usage: evenhand")
    assert call("--version").code == 0


SECRETIVE = [
    ("new", "mysql://bob:secret@h/db", "--protocol", "halo-support", "--items", "items.csv"),
    ("new", "study.db", "--protocol", "halo-support", "--items", "https://bob:secret@h/items.csv"),
    ("backup", "study.db", "-o", "postgresql://bob:secret@h/db"),
    ("backup", "mysql://bob:secret@h/db", "-o", "copy.db"),
    ("ratings", "export", "study.db", "-o", "postgresql://bob:secret@h/db"),
    ("ratings", "export", "study.db", "postgresql://bob:secret@h/db", "-o", "a.csv"),
    ("protocol", "show", "mysql://bob:secret@h/db"),
    ("protocol", "versions", "Postgresql://bob:se@cret:secret@h/db"),
    ("demo", "postgresql://bob:secret@h/db"),
    ("report", "study.db", "-o", "mysql://bob:secret@h/db"),
    ("protocol", "check", "mysql://bob:secret@h/db"),
    ("protocol", "adopt", "study.db", "mysql:/bob:secret@h/db"),
]


@pytest.mark.parametrize("arguments", SECRETIVE, ids=lambda arguments: " ".join(arguments[:2]))
def test_no_message_repeats_a_password(call: Caller, tmp_path: Path, arguments: tuple[str, ...]):
    (tmp_path / "items.csv").write_text("id,question,context,generated_answer\na,Q,C,A\n", encoding="utf-8")
    if "study.db" in arguments[1:3] and arguments[0] != "new":
        call.fine("new", "study.db", "--protocol", "halo-support", "--items", "items.csv")
    result = call(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "secret" not in result.err
    assert "cret" not in result.err


def test_other_databases_and_backups_to_a_server_are_answered_with_what_is_valid(call: Caller, tmp_path: Path):
    (tmp_path / "items.csv").write_text("id,question,context,generated_answer\na,Q,C,A\n", encoding="utf-8")
    made = call(*SECRETIVE[0])
    assert "mysql://bob:***@h/db: a study is a SQLite file or a PostgreSQL database" in made.err
    call.fine("new", "study.db", "--protocol", "halo-support", "--items", "items.csv")
    assert "a backup is a SQLite file; give a path" in call(*SECRETIVE[2]).err
