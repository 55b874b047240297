"""The documented sequence of commands, from a text to two reports by cell, with a scripted model."""

import json
import re
from pathlib import Path

import pytest

from evenhand.study import Study
from tests.chat_server import Answer, Call, ChatServer, says
from tests.cli.calling import Caller
from tests.generation.writing import pair, reply, system_of
from tests.run.judging import levels

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "generate.md"
TEXT = """# Funding

The Secretary of State for Education provides funding for education provision.

# Payments

The ESFA pays colleges each month.

# Claims

Colleges send claims to the ESFA.

# Withdrawal

A college returns the funding of a learner who withdraws within six weeks.

# Greeting

Welcome, and thank you for reading!
"""


def scripted(call: Call) -> Answer:
    """Writes triples and pairs, finds no facts in a greeting, and rates."""
    if "You are a rater" in system_of(call):
        return says(json.dumps(levels(4)))
    user = str(call.body["messages"][1]["content"])
    if "Welcome" in user:
        return says(reply(declined="The chunk states no facts.", triples=None))
    if "question_type" in system_of(call):
        return says(pair(call))
    found = re.search(r"\[begin source \w+\]\n(.*)\n\[end source", user)
    assert found is not None
    triple = {"quote": found[1], "subject": "it", "predicate": "states", "object": found[1].rstrip(".")}
    return says(reply(triples=[triple]))


def test_the_documented_sequence_ends_in_reports_by_cell(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    call = Caller(capsys)
    Path("regulations.md").write_text(TEXT, encoding="utf-8")
    block = re.search(r"<!-- sequence -->\n```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    with ChatServer(scripted) as server:
        for line in block[1].splitlines():
            words = line.replace("http://127.0.0.1:8080/v1", server.url).split()
            printed = call.fine(*words[1:])
            if "kg-triples" in words:
                assert "4 outputs, 1 declined, 0 failed, 0 left, of 5 cells" in printed
                assert "declined 1: The chunk states no facts." in printed
    for name in ("pairs", "support"):
        with Study.open(f"{name}.db") as study:
            assert len(list(study.items())) == 48
            figures = study.measures().figures()
            strata = {tuple((figure.stratum or {}).items()) for figure in figures}
            found = study.report()
        if name == "support":
            cells = [one for one in figures if one.statistic == "supported" and len(one.stratum or {}) == 2]
            assert {(one.estimate.n, one.rater) for one in cells} == {(4, "verifier")}
            assert len(cells) == 12
        if name == "pairs":
            assert {(("question_type", "factual"),), (("shot_type", "few"),)} <= strata
            assert dict(found.report.source.own_output) == {"judge": 48}
    html = Path("pairs.html").read_text(encoding="utf-8")
    assert "A judge of its own output" in html
    assert "inferential" in html
