"""The documentation is true: examples run and print what they say, every command stands in the reference.

In Markdown, `<!-- file: NAME -->` before a code block makes a file of it, a `console` block runs its `$` lines and
compares what they print (`…` stands for anything, `[exit 2]` for that exit code), a `python` block runs as it is. The
blocks of a page share one folder. `python -m tests.test_docs` rewrites the reference of commands.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from evenhand.cli import COMMANDS, evenhand
from tests.processes import run_evenhand, run_python

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = ROOT / "docs" / "reference" / "command-line.md"
BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
BIN = Path(sys.executable).parent


def examples(page: Path) -> list[re.Match[str]]:
    blocks = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [block for block in blocks if block["file"] or block["kind"] in ("console", "python")]


def run(command: str, folder: Path) -> tuple[int, str]:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    if command.startswith("evenhand ") and not re.search(r"[|<>;&*$`]", command):
        return run_evenhand(folder, shlex.split(command)[1:], environment)
    result = subprocess.run(
        command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return result.returncode, result.stdout


def pattern_of(expected: str) -> re.Pattern[str]:
    """A line of `…` stands for any lines, `…` within a line for anything on it.

    Figures of the built-in models may differ between processors, whose 8-bit arithmetic rounds differently.
    """

    def pattern(line: str) -> str:
        if line == "…":
            return r"(?:.*\n)*?"
        literal = ".*".join(map(re.escape, line.split("…")))
        models = "verifier  " in line or "quest-eval  " in line or " and verifier" in line
        return (re.sub(r"\d+", r"\\d+", literal) if models else literal) + r"\n"

    lines = expected.rstrip("\n").split("\n") if expected.strip() else []
    return re.compile("".join(map(pattern, lines)) + r"\s*")


def commands(text: str) -> Iterator[tuple[str, str, int]]:
    """Each command of a console block with what it should print and how it should end."""
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = step.partition("\n")
        ended = re.search(r"^\[exit (\d+)\]\n", printed, flags=re.MULTILINE)
        yield command, printed.replace(ended[0], "") if ended else printed, int(ended[1]) if ended else 0


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path):
    (tmp_path / "Makefile").write_text(f"demo:\n\t@{BIN}/evenhand demo demo\n", encoding="utf-8")
    for block in examples(page):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"], encoding="utf-8")
        elif block["kind"] == "python":
            code, printed = run_python(tmp_path, block["text"])
            assert code == 0, printed
        else:
            for command, expected, ending in commands(block["text"]):
                code, printed = run(command, tmp_path)
                assert code == ending, f"$ {command}\n{printed}"
                assert pattern_of(expected).fullmatch(printed), f"$ {command}\n{printed}\n— expected:\n{expected}"


def test_links_lead_somewhere():
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def help_texts() -> Iterator[tuple[str, str]]:
    """Every command with its help, groups before their members."""
    context = click.Context(evenhand, info_name="evenhand", terminal_width=100, help_option_names=["-h", "--help"])
    yield "evenhand", evenhand.get_help(context)
    for name in COMMANDS:
        command = evenhand.get_command(context, name)
        assert command is not None
        inner = click.Context(
            command, parent=context, info_name=name, terminal_width=100, help_option_names=["-h", "--help"]
        )
        yield f"evenhand {name}", command.get_help(inner)
        for member, member_command in command.commands.items() if isinstance(command, click.Group) else ():
            deeper = click.Context(
                member_command, parent=inner, info_name=member, terminal_width=100, help_option_names=["-h", "--help"]
            )
            yield f"evenhand {name} {member}", member_command.get_help(deeper)


def reference() -> str:
    text = "# Command line\n\nErrors go to stderr and say what, where, what would be valid and what to do.\n"
    for name, help_text in help_texts():
        text += f"\n## {name}\n\n```text\n{help_text}\n```\n"
    return text


def test_every_command_stands_in_the_reference():
    assert REFERENCE.read_text(encoding="utf-8") == reference(), "run: python -m tests.test_docs"


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
