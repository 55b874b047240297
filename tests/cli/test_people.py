"""`evenhand invite` and `evenhand plan`: who joins, and how the work is shared out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evenhand.study import Study
from tests.cli.calling import Caller


@pytest.fixture
def invite(call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    """The command line in a folder with a study."""
    monkeypatch.delenv("EVENHAND_URL", raising=False)
    (tmp_path / "items.csv").write_text("id,question,context,generated_answer\na,Q,C,A\n", encoding="utf-8")
    call.fine("new", "study.db", "--protocol", "halo-support", "--items", "items.csv")
    return call


def listed(call: Caller) -> list[dict[str, Any]]:
    return json.loads(call.fine("invite", "study.db", "--list", "--json"))["invites"]


def test_the_link_is_shown_once_and_its_token_is_not_stored(invite: Caller, tmp_path: Path):
    made = invite("invite", "study.db", "--name", "ann", "--items", "5")
    found = re.match(r"http://127\.0\.0\.1:8400/join/([\w-]{43})\n\nFor ann, until \d{4}-", made.out)
    assert found is not None
    assert "works on this machine only" in made.err
    assert found[1].encode() not in (tmp_path / "study.db").read_bytes()
    with Study.open("study.db") as study:
        known = study.store.people.access.find_invite(found[1])
    assert known is not None
    assert known.expires is not None
    assert (known.name, known.role, known.share, (known.expires - known.created).days) == ("ann", "rater", 5, 30)


def test_the_address_comes_from_the_option_or_the_environment(invite: Caller, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVENHAND_URL", "https://rate.example.org/")
    told = invite.fine("invite", "study.db", "--name", "ann", "--days", "2")
    assert told.startswith("https://rate.example.org/join/")
    assert "this machine" not in told
    other = invite.fine("invite", "study.db", "--name", "bob", "--url", "http://10.0.0.5:8400")
    assert other.startswith("http://10.0.0.5:8400/join/")
    assert invite("invite", "study.db", "--name", "cem", "--url", "10.0.0.5").code == 2
    assert [one["name"] for one in listed(invite)] == ["ann", "bob"]


def test_a_crowd_gets_one_link_and_the_query_of_its_platform(invite: Caller):
    told = invite.fine("invite", "study.db", "--open", "--seats", "50")
    assert "For up to 50 people" in told
    assert "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}" in told
    [one] = listed(invite)
    assert (one["name"], one["seats"], one["state"]) == (None, 50, "open")


def test_invites_are_listed_and_withdrawn_by_name_or_id(invite: Caller):
    assert invite.fine("invite", "study.db", "--list") == "no one has been invited yet\n"
    invite.fine("invite", "study.db", "--name", "ann")
    made = json.loads(invite.fine("invite", "study.db", "--name", "eve", "--role", "adjudicator", "--json"))
    assert made["invite"]["role"] == "adjudicator"
    assert invite.fine("invite", "study.db", "--revoke", "ann").startswith("1 invite withdrawn")
    invite.fine("invite", "study.db", "--revoke", made["invite"]["id"])
    assert [one["state"] for one in listed(invite)] == ["revoked", "revoked"]
    assert "rater  ann: revoked\n" in invite.fine("invite", "study.db", "--list")
    again = invite("invite", "study.db", "--revoke", "ann")
    assert (again.code, again.out) == (2, "")
    assert "there is no invite 'ann' to withdraw" in again.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--name", "ann", "--list"],
        ["--open"],
        ["--seats", "3"],
        ["--name", "ann", "--seats", "3"],
        ["--open", "--seats", "3", "--role", "adjudicator"],
        ["--name", " "],
        ["--name", "a\nb"],
        ["--name", "ann", "--days", "0"],
        ["--name", "ann", "--role", "owner"],
    ],
)
def test_what_cannot_be_meant_changes_nothing(invite: Caller, arguments: list[str]):
    result = invite("invite", "study.db", *arguments)
    assert (result.code, result.out) == (2, "")
    assert listed(invite) == []


def plan(call: Caller, *options: object) -> dict[str, Any]:
    return json.loads(call.fine("plan", "study.db", *options, "--json"))


def test_the_plan_is_told_in_words_and_as_json(invite: Caller):
    told = invite.fine("plan", "study.db")
    assert told.startswith("Each person rates every item\n")
    assert "batches of 20" in told
    before = plan(invite)
    assert (before["overlap"], before["seed"], before["reveal"], before["paused"]) == (None, 0, "never", False)


def test_the_plan_is_changed_option_by_option_and_back(invite: Caller):
    changed = plan(invite, "--overlap", 3, "--share", 50, "--seed", 7, "--batch", 10, "--by", "none")
    assert (changed["overlap"], changed["share"], changed["seed"], changed["batch"]) == (3, 50, 7, 10)
    assert changed["by"] == []
    assert plan(invite, "--by", "strata")["by"] is None
    assert plan(invite, "--pause")["paused"] is True
    told = invite.fine("plan", "study.db", "--reveal", "models", "--training", "required", "--repeat-every", "15")
    assert "Each item is rated by 3 people" in told
    assert "Paused" in told
    assert "One in 15 items is repeated" in told
    back = plan(invite, "--overlap", "all", "--share", "none", "--resume", "--completion", "https://example.org/done")
    assert (back["overlap"], back["share"], back["paused"]) == (None, None, False)
    assert back["completion"] == "https://example.org/done"
    assert plan(invite, "--completion", "none")["completion"] is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--overlap", "0"], "--overlap: a number of at least 1 is needed"),
        (["--overlap", "few"], "--overlap: a whole number is needed, not 'few'"),
        (["--completion", "http://example.org"], "--completion: 'http://example.org' is not an https:// address"),
        (["--pause", "--resume"], "--pause and --resume contradict each other"),
        (["--gold", "nobody"], "nobody"),
        (["--by", "question"], "question"),
        (["--claim-minutes", "nan"], "--claim-minutes"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(invite: Caller, arguments: list[str], told: str):
    before = plan(invite)
    result = invite("plan", "study.db", *arguments)
    assert (result.code, result.out) == (2, "")
    assert told in result.err
    assert plan(invite) == before
