"""On a terminal texts are shown, whatever control sequences stand in them."""

import json
import os
import pty
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from evenhand.records import Kind, RaterRef
from evenhand.store.work import RunSpec
from tests.hostile_texts import CONTROLS, hostile_study
from tests.processes import Forked

COUNTED = ("units", "failed_units", "calls", "reused", "input_tokens", "output_tokens")
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COMMANDS = [
    ("protocol", "show", "study.db"),
    ("protocol", "check", "protocol.yaml"),
    ("protocol", "show", "protocol.yaml"),
    ("protocol", "versions", "study.db"),
    ("agree", "study.db"),
    ("measures", "study.db"),
    ("ratings", "import", "study.db", "ratings.csv"),
    ("ratings", "import", "study.db", "wrong.csv", "--rater", "\x1b[31mred"),
    ("new", "another.db", "--protocol", "protocol.yaml", "--items", "items.jsonl"),
    ("new", "third.db", "--protocol", "protocol.yaml", "--items", "\x1b]0;owned\x07.csv"),
    ("runs", "study.db"),
    ("no-such\x1b[2Jcommand",),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_terminal_is_never_told_what_to_do(command: Sequence[str], terminal_study: Path):
    shown = on_a_terminal(command, terminal_study)
    # What is left is ours: line ends, and the progress bar's moves at the beginnings of lines.
    assert not OBEYED.search(re.sub(r"\r|\x1b\[\?25[hl]", "", shown))
    assert "Traceback" not in shown
    assert shown.strip()


@pytest.fixture(scope="module")
def terminal_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    text = " ".join(CONTROLS.values()) + "\u202e"
    with hostile_study(folder, text) as made:
        made.export_ratings(folder / "ratings.csv")
        spec = RunSpec(RaterRef("ann", Kind.PERSON), {"model": text})
        [run] = made.store.work.start_runs([spec], worker="w")
        made.store.work.leave(run, "w", "done", {"failures": {text: 1}, **dict.fromkeys(COUNTED, 1)})
        (folder / "protocol.yaml").write_text(made.protocol.canonical())
    (folder / "wrong.csv").write_text(f"item,level\n1,{text}\n", newline="")
    item = {"question": text, "context": [text], "answer": text, f"column {text}": "x"}
    (folder / "items.jsonl").write_text(json.dumps(item) + "\n")
    return folder


def on_a_terminal(command: Sequence[str], folder: Path) -> str:
    """What a terminal gets to see of a command."""
    ours, theirs = pty.openpty()
    process = Forked(folder, list(command), printed=theirs)
    os.close(theirs)
    shown = b"".join(iter(lambda: read_from(ours), b""))
    process.wait(timeout=60)
    os.close(ours)
    return shown.decode()


def read_from(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # how Linux says that nobody holds the other end any more
        return b""
