import json
import os
import re
import signal
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from evenhand.records import Kind, RaterRef, Span
from evenhand.settings import KEYS
from evenhand.store.work import RunSpec
from evenhand.study import Study
from tests.chat_server import CODE, ChatServer, fails, says, script
from tests.cli.calling import Caller
from tests.processes import Forked
from tests.run.judging import halo_study, supported


@pytest.fixture
def study(tmp_path: Path) -> str:
    halo_study(tmp_path, 5).close()
    return str(tmp_path / "study.db")


@pytest.fixture
def server() -> Generator[ChatServer]:
    with ChatServer(supported()) as running:
        yield running


def test_models_rate_a_study_and_the_summary_says_what_it_took(call: Caller, study: str, server: ChatServer):
    out = call.fine("judge", study, "--rater", f"m={server.url}#m")
    assert out.splitlines()[:3] == [
        "m: 5 of 5 units done",
        "  ratings: rated 5",
        "  5 calls; 500 tokens read, 100 written; price unknown",
    ]
    assert call.fine("judge", study, "--rater", f"m={server.url}#m").startswith("m: nothing to do, every unit is rated")
    runs = call.fine("runs", study)
    assert "5 units, 0 failed; 5 calls" in runs
    assert "model as reported by the server: test-model-2025-01-01 (5 replies)" in runs


def test_a_run_without_calls_has_no_price(call: Caller, study: str):
    call.fine("judge", study, "--rater", "words=overlap(token-f1, rated=question, against=context)")
    runs = call.fine("runs", study)
    assert "5 units, 0 failed\n" in runs + "\n"
    assert "scores (token-F1 words as in answer_f1)" in runs
    assert not re.search("call|price|{", runs)


def test_a_dry_run_sends_and_stores_nothing(call: Caller, study: str, server: ChatServer):
    out = call.fine("judge", study, "--rater", f"{server.url}#m", "--dry-run", "--price", "1/2", "--max-cost", "0.5")
    assert f"{server.url}#m: 5 units to rate" in out
    assert re.search(
        r"5 calls\n    about [\d,]+ tokens to read, 450 to write\n    cost: about \$0\.\d+, at most \$", out
    )
    assert "--- system ---" in out
    assert "In 0." in out
    assert out.endswith("\nNothing was sent.\n")
    assert server.calls == []
    assert call.fine("runs", study) == "no model has rated this study yet\n"


@pytest.mark.parametrize(
    "spec",
    [
        "openai:gpt-x",
        "gemini:g",
        "anthropic:c",
        "verifier(openai:gpt-x)",
        "jury(openai:gpt-x, verifier, gemini:g)",
        "jury(verifier(anthropic:c), openai:gpt-x)",
    ],
)
def test_a_dry_run_needs_no_key(call: Caller, study: str, spec: str, monkeypatch: pytest.MonkeyPatch):
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    assert call.fine("judge", study, "--rater", spec, "--dry-run").endswith("\nNothing was sent.\n")
    result = call("judge", study, "--rater", spec)
    assert result.code == 2
    assert "needs a key" in result.err


def test_failures_are_listed_by_reason_and_the_exit_code_is_1(call: Caller, study: str):
    with ChatServer(says("no idea")) as server:
        result = call("judge", study, "--rater", f"m={server.url}#m", "--limit", 2)
    assert result.code == 1
    assert "m: 2 of 2 units done\n  ratings: failed 2\n    failed 2: not JSON\n" in result.out
    assert "--retry-failed" in result.out


def test_a_rater_in_the_box_is_not_to_be_asked_again(call: Caller, tmp_path: Path):
    said = "Der Turm wurde im Jahr 1889 von einem Ingenieur gebaut und ist seitdem nicht mehr verändert worden."
    row = {"question": "Wie alt ist der Turm?", "answer": said, "context": said}
    (tmp_path / "items.jsonl").write_text(json.dumps(row), encoding="utf-8")
    study = str(tmp_path / "german.db")
    call.fine("new", study, "--protocol", "halo-support", "--items", tmp_path / "items.jsonl")
    result = call("judge", study, "--rater", "verifier")
    assert result.code == 1
    assert "ratings: failed 1" in result.out
    assert "on the same texts this rater would fail again" in result.out
    assert "--retry-failed" not in result.out


def test_a_server_that_refuses_the_key_is_an_error_and_nothing_is_stored(call: Caller, study: str):
    with ChatServer(fails(401)) as server:
        result = call("judge", study, "--rater", f"m={server.url}#m")
    assert result.code == 2
    # A slow run may have shown its progress before.
    assert result.err.splitlines()[-1].startswith("error: ")
    assert "EVENHAND_API_KEY" in result.err
    assert result.err.rstrip().endswith("Nothing was rated")
    assert call.fine("runs", study) == "no model has rated this study yet\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rater", "gpt-4"), "there is no rater 'gpt-4'; valid are openai:MODEL"),
        (("--rater", "openai:gpt-x"), "openai:gpt-x needs a key: set the environment variable OPENAI_API_KEY"),
        (("--rater", "http://127.0.0.1:1/v1"), "lacks the name of the model"),
        (("--rater", "jury(http://127.0.0.1:1/v1#a)"), "is not a jury: name two raters or more"),
        (("--rater", "http://127.0.0.1:1/v1#a", "--price", "cheap"), "'cheap' is not a price"),
        (
            ("--rater", "http://127.0.0.1:1/v1#a", "--price", "b=1/2"),
            "this run does not use such a model; it uses: http",
        ),
        (
            ("--rater", "http://127.0.0.1:1/v1#a", "--max-cost", "nan", "--price", "1/2"),
            "--max-cost: nan is not a finite number",
        ),
        (("--rater", "http://127.0.0.1:1/v1#a", "--timeout", "inf"), "--timeout: inf is not a finite number"),
        (("--rater", "http://127.0.0.1:1/v1#a", "--logprobs", "--samples", "2"), "choose one of them"),
        (("--rater", "jury(http://127.0.0.1:1/v1#a, b=http://127.0.0.1:1/v1#a)"), "twice: it would have two votes"),
        (("--rater", "ann=http://127.0.0.1:1/v1#a"), "'ann' is known here as a person and cannot rate as a model"),
        (("--rater", "http://127.0.0.1:1/v1#a", "--max-cost", "1"), "a cost limit needs a price"),
        (("--rater", "a=http://127.0.0.1:1/v1#a", "--rater", "a=http://127.0.0.1:1/v1#b"), "two raters are called 'a'"),
    ],
)
def test_wrong_use_is_said_before_anything_is_sent(
    call: Caller, study: str, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Study.open(study) as opened:
        opened.store.ratings.add([], raters=[RaterRef("ann", Kind.PERSON)])
    result = call("judge", study, *arguments)
    assert result.code == 2
    assert said in result.err


def test_a_key_appears_nowhere(call: Caller, study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    key = "sk-secret-0123456789abcdef"
    monkeypatch.setenv("EVENHAND_API_KEY", key)
    answers = [fails(500, f"wrong: {key}"), supported(), fails(400, f"key {key} is odd"), supported()]
    with ChatServer(script(*answers)) as server:
        options = ("--concurrency", 1, "--log", tmp_path / "log.txt", "--tries", 2)
        result = call("judge", study, "--rater", f"m={server.url}#m", *options)
        assert {call.headers["Authorization"] for call in server.calls} == {f"Bearer {key}"}
    log = (tmp_path / "log.txt").read_text(encoding="utf-8")
    assert "retry: server error (500)" in log
    call.fine("ratings", "export", study, "-o", tmp_path / "ratings.csv")
    for text in (result.out, result.err, log, (tmp_path / "ratings.csv").read_text(encoding="utf-8")):
        assert key not in text
    assert all(key.encode() not in path.read_bytes() for path in tmp_path.glob("study.db*"))


def test_the_cap_on_cost_stops_the_run_with_exit_code_1(call: Caller, study: str, server: ChatServer):
    options = ("--price", "1000/1000", "--max-cost", "0.001")
    result = call("judge", study, "--rater", f"m={server.url}#m", *options)
    assert result.code == 1
    assert re.search(
        r"reached: a single call may cost up to \$\d.*, so raise the limit above that; nothing was rated$", result.err
    )
    assert server.calls == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_waits_for_its_calls_and_keeps_their_replies(tmp_path: Path, number: signal.Signals):
    halo_study(tmp_path, 2000).close()
    with ChatServer(supported(delay=0.3)) as server:
        run = Forked(tmp_path, ["judge", "study.db", "--rater", f"m={server.url}#m"])
        deadline = time.monotonic() + 60
        while len(server.calls) < 40 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(run.pid, number)
        out, err = run.communicate(timeout=60)
        calls = len(server.calls)
    assert run.returncode == 130, err
    with Study.open(tmp_path / "study.db") as opened:
        assert opened.count_ratings() == calls
        assert [(kept.state, kept.counts["units"]) for kept in opened.store.work.runs()] == [("stopped", calls)]
    assert "stopping: waiting for open calls" in err
    assert "interrupted; the same command continues from here and pays for nothing twice" in err
    assert f"m: {calls} of 2,000 units done" in out


def test_a_second_interrupt_leaves_the_calls_under_way(tmp_path: Path):
    halo_study(tmp_path, 200).close()
    with ChatServer(supported(delay=30)) as server:
        run = Forked(tmp_path, ["judge", "study.db", "--rater", f"m={server.url}#m"])
        deadline = time.monotonic() + 60
        while len(server.calls) < 16 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGINT)
        assert any("stopping" in line for line in run.stderr)  # it has noticed the first one
        os.kill(run.pid, signal.SIGINT)
        _, err = run.communicate(timeout=25)
    assert run.returncode == 130, err
    assert "Traceback" not in err
    assert "interrupted; nothing was rated" in err


def test_a_run_elsewhere_with_another_configuration_is_not_joined_but_can_be_stopped(
    call: Caller, study: str, server: ChatServer
):
    with Study.open(study) as opened:
        spec = RunSpec(RaterRef("m", Kind.MODEL, config="another"), {"spec": "another"})
        [run] = opened.store.work.start_runs([spec], worker="elsewhere", term=600)
    result = call("judge", study, "--rater", f"m={server.url}#m")
    assert result.code == 2
    assert server.calls == []
    assert "running" in call.fine("runs", study)
    call.fine("runs", study, "--stop", run)
    with Study.open(study) as opened:
        assert not opened.store.work.renew(run, "elsewhere", {})  # the worker is asked to stop
    call.fine("judge", study, "--rater", f"other={server.url}#m")


def test_reasons_are_asked_for_and_kept_where_the_protocol_asks_for_none(call: Caller, study: str, tmp_path: Path):
    reply = {
        "unit_code": CODE,
        "support": {
            "rationale": "It says so.",
            "evidence": [{"field": "context", "quote": "It was"}],
            "answer": "SUPPORTED",
        },
        "confidence": 80,
        "notes": None,
    }
    with ChatServer(says(json.dumps(reply))) as server:
        out = call.fine("judge", study, "--rater", f"m={server.url}#m", "--reasons")
    assert "quotes as evidence: 5, all found in the item" in out
    with Study.open(study) as opened:
        rating = next(iter(opened.ratings()))
        assert rating.digest == opened.protocol.digest
    assert (rating.rationale, rating.confidence, rating.evidence) == ("It says so.", 80.0, (Span("context", 0, 6),))


def test_prompts_and_replies_by_hand(call: Caller, study: str, tmp_path: Path):
    out = call.fine("prompts", study, "-o", tmp_path / "prompts.csv", "--shots", 0)
    assert out.splitlines()[0] == f"{tmp_path / 'prompts.csv'}: 5 prompts"
    assert call("replies", study, tmp_path / "prompts.csv", "--rater", "chat").code == 2
    assert call("prompts", study, "-o", tmp_path / "x.jsonl", "--batch", "openai").code == 2
    assert call("prompts", study, "-o", tmp_path / "x.csv", "--batch", "openai", "--model", "m").code == 2
    assert call("prompts", study, "-o", tmp_path / "x.jsonl", "--seed", 1).code == 2
    assert "5 prompts" in call.fine("prompts", study, "-o", tmp_path / "x.jsonl", "--batch", "openai", "--model", "m")
