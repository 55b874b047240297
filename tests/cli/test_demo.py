"""`evenhand demo`: whole or not at all, and never over somebody's own work."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.calling import Caller

BIN = Path(sys.executable).parent
LIMITED = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); " \
          "from evenhand.cli import main; main(sys.argv[1:])"  # fmt: skip


def with_path(path: str) -> dict[str, str]:
    return {**os.environ, "PATH": path}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which the demo was made as `d`, and what was printed."""
    place = tmp_path_factory.mktemp("demo")
    result = subprocess.run(
        [sys.executable, "-m", "evenhand", "demo", "d"],
        cwd=place,
        env=with_path("/usr/bin"),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return place, result.stdout


def test_a_demo_is_made_shown_and_shown_again(made: tuple[Path, str], call: Caller):
    place, first = made
    assert sorted(path.name for path in (place / "d").iterdir()) == [
        "blind.xlsx",
        "items.csv",
        "questions.db",
        "questions.html",
        "report.html",
        "study.db",
    ]
    assert re.search(r"^  verifier  model   .*SUPPORTED \d+", first, re.MULTILINE)
    assert re.search(r"^  ann and verifier +percent agreement 0\.\d{3} \[", first, re.MULTILINE)
    assert re.search(r"^  quest-eval  recall 0\.\d{3} \[.*precision 0\.\d{3} \[", first, re.MULTILINE)
    assert "already exists and is not changed" in call.fine("demo", place / "d")


def test_somebody_s_own_study_is_not_taken_for_the_demo(call: Caller, tmp_path: Path):
    (tmp_path / "items.csv").write_text("id,question,context,generated_answer\na,Q,C,A\n", encoding="utf-8")
    (tmp_path / "mine").mkdir()
    call.fine("new", "mine/study.db", "--protocol", "halo-support", "--items", "items.csv")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "study.db").write_text("not a study", encoding="utf-8")
    for folder in ("mine", "other"):
        result = call("demo", folder)
        assert result.code == 2
        assert f"{folder}/study.db exists and is not part of the demo; name another folder" in result.err


@pytest.mark.parametrize("folder", ["/dev/null", "items.csv/demo"])
def test_a_place_where_no_folder_can_be(call: Caller, tmp_path: Path, folder: str):
    (tmp_path / "items.csv").write_text("x", encoding="utf-8")
    result = call("demo", folder)
    assert result.code == 2
    assert result.err.startswith(f"error: {folder}: the demo cannot be created there: Not a directory")


@pytest.mark.parametrize("size", [2_000, 60_000])
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, size: int):
    # A limit on the size of files stands for the full disk: it is hit at the items, and at the study.
    command = [sys.executable, "-c", LIMITED.format(size=size), "demo", "new/demo"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 2, result.stderr
    assert result.stderr.startswith("error: new/demo")
    assert list(tmp_path.iterdir()) == []


def test_the_commands_it_prints_work_where_evenhand_is_not_on_the_path(made: tuple[Path, str]):
    place, first = made
    (place / "my bin").mkdir()
    shutil.copy(BIN / "evenhand", place / "my bin" / "evenhand")

    def printed(program: str, path: str) -> str:
        command = [program, "demo", "d"]
        return subprocess.run(command, cwd=place, env=with_path(path), capture_output=True, text=True).stdout

    assert f"{sys.executable} -m evenhand protocol show halo-support" in first
    assert "'my bin/evenhand' protocol show halo-support" in printed("my bin/evenhand", "/usr/bin")
    assert "  evenhand protocol show halo-support" in printed("evenhand", f"{BIN}{os.pathsep}/usr/bin")
