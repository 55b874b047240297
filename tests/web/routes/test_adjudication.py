"""Disputes and rulings: found worst first, shown with everything that was said, ruled on without losing anything."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand.assignment import Plan
from evenhand.records import UNANSWERABLE, Item, Kind, RaterRef, Rating, Span, Status, new_id
from evenhand.study import Study
from evenhand.units import Question
from tests.web.browsing import Browsers
from tests.web.hands import Hand


def say(study: Study, rater: str, unit: str, value: Any, criterion: str = "support", **more: Any) -> Rating:
    """Store what somebody says of a unit."""
    kind = Kind.MODEL if rater.startswith("model") else Kind.PERSON
    known: dict[str, Any] = {"criterion": criterion, "rater": rater, "digest": study.protocol.digest, **more}
    made = Rating(unit=unit, value=value, **known)
    study.store.ratings.add([made], raters=[RaterRef(rater, kind)])
    return made


@pytest.fixture
def disputed(client: Browsers) -> Browsers:
    """ann and ben agree on q1 and differ on q2 and q3; on q3 a third one agrees with ann; a model differs on q1."""
    said = {"q1": "SS", "q2": "SC", "q3": "SNS"}
    values = {"S": "SUPPORTED", "C": "CONTRADICTED", "N": "NO EVIDENCE"}
    for unit, letters in said.items():
        for rater, letter in zip(("ann", "ben", "cleo"), letters, strict=False):
            say(client.study, rater, unit, values[letter], notes=f"{rater} on {unit}")
    say(client.study, "model-a", "q1", "CONTRADICTED", confidence=55.0, evidence=(Span("context", 0, 8),))
    return client


def units(client: TestClient, **asked: Any) -> list[str]:
    answer = client.get("/api/disputes", params=asked)
    assert answer.status_code == 200, answer.text
    return [one["unit"] for one in answer.json()["disputes"]]


def ruled(
    client: TestClient, unit: str, value: Any, after: str | None = None, criterion: str = "support", **more: Any
) -> Any:
    """Rule on one criterion on top of the rating `after`."""
    condition = {"If-None-Match": "*"} if after is None else {"If-Match": f'"{after}"'}
    status = {"status": "rated", "value": value} if value is not None else {"status": "cannot_assess", "value": None}
    body = {"id": new_id(), "unit": unit, "criterion": criterion, **status, **more}
    return client.put("/api/rulings", json=body, headers=condition)


def test_disputes_are_listed_the_worst_first_with_their_words(disputed: Browsers):
    answer = disputed.adjudicator().get("/api/disputes").json()
    # Two who differ differ in all of their one pair; of three, two of three pairs.
    assert [(one["unit"], round(one["disagreement"], 3)) for one in answer["disputes"]] == [("q2", 1.0), ("q3", 0.667)]
    first = answer["disputes"][0]
    assert first["text"] == "It is 2 km away."
    assert (first["item"], first["position"], first["by_criterion"], first["ruled"]) == (
        "q2",
        1,
        {"support": 1.0},
        False,
    )
    assert answer["more"] is False


def test_models_count_only_where_they_are_asked_for(disputed: Browsers):
    eve = disputed.adjudicator()
    assert units(eve) == ["q2", "q3"]
    assert set(units(eve, include="models")) == {"q1", "q2", "q3"}


def test_a_list_is_cut_and_says_so(disputed: Browsers):
    answer = disputed.adjudicator().get("/api/disputes", params={"limit": 1}).json()
    assert (len(answer["disputes"]), answer["more"]) == (1, True)


def test_an_unknown_criterion_is_answered_with_those_there_are(disputed: Browsers):
    answer = disputed.adjudicator().get("/api/disputes", params={"criterion": "tone"})
    assert answer.status_code == 422
    assert "support" in answer.json()["error"]


def test_raters_see_no_dispute_and_the_owner_reads_without_ruling(disputed: Browsers):
    for path in ("/api/disputes", "/api/disputes/form", "/api/disputes/unit?unit=q2"):
        assert disputed.browser().get(path).status_code == 401
        assert disputed.rater("ann").get(path).status_code == 403
        assert disputed.owner().get(path).status_code == 200
    assert ruled(disputed.owner(), "q2", "SUPPORTED").status_code == 403
    assert ruled(disputed.rater("ann"), "q2", "SUPPORTED").status_code == 403
    assert ruled(disputed.browser(), "q2", "SUPPORTED").status_code == 401


def test_a_unit_shows_everything_that_was_said_of_it(disputed: Browsers):
    say(disputed.study, "model-b", "q1", 0.4, "ROUGE-L")  # an overlap score is no answer
    found = disputed.adjudicator().get("/api/disputes/unit", params={"unit": "q1"}).json()
    assert [(one["rater"], one["kind"], one["value"], one["notes"]) for one in found["ratings"]] == [
        ("ann", "person", "SUPPORTED", "ann on q1"),
        ("ben", "person", "SUPPORTED", "ben on q1"),
        ("model-a", "model", "CONTRADICTED", None),
    ]
    assert found["ratings"][2]["confidence"] == 55.0
    assert found["ratings"][2]["evidence"] == [{"field": "context", "start": 0, "end": 8}]
    assert {field["name"] for field in found["fields"]} == {"question", "context", "generated_answer"}
    assert found["units"][0]["ratings"] == {}
    assert disputed.adjudicator().get("/api/disputes/unit", params={"unit": "q99"}).status_code == 404


def test_a_ruling_is_a_rating_that_says_whom_the_adjudicator_saw(disputed: Browsers):
    eve = disputed.adjudicator("eve")
    answer = ruled(eve, "q3", "NO EVIDENCE", notes="the context is silent")
    assert answer.status_code == 200, answer.text
    assert answer.headers["ETag"] == f'"{answer.json()["rating"]["id"]}"'
    assert answer.json()["unit"] == {"finished": True, "missing": []}
    [stored] = disputed.study.store.ratings.all(rater="eve")
    assert (stored.value, stored.notes) == ("NO EVIDENCE", "the context is silent")
    assert stored.visible == ("ann", "ben", "cleo")
    assert units(eve) == ["q2"]
    assert [(one["unit"], one["ruled"]) for one in eve.get("/api/disputes?open=false").json()["disputes"]] == [
        ("q2", False),
        ("q3", True),
    ]


def test_a_rating_that_comes_after_the_adjudicator_looked_was_not_seen(disputed: Browsers):
    eve = disputed.adjudicator("eve")
    eve.get("/api/disputes/unit", params={"unit": "q2"})
    say(disputed.study, "cleo", "q2", "NO EVIDENCE")
    first = ruled(eve, "q2", "NO EVIDENCE").json()["rating"]
    eve.get("/api/disputes/unit", params={"unit": "q2"})
    assert ruled(eve, "q2", "SUPPORTED", after=first["id"]).status_code == 200
    before, after = disputed.study.store.ratings.all(rater="eve", history=True)
    assert (before.visible, after.visible) == (("ann", "ben"), ("ann", "ben", "cleo"))


def seen(client: TestClient, unit: str) -> list[str]:
    return [one["rater"] for one in client.get("/api/disputes/unit", params={"unit": unit}).json()["ratings"]]


def test_ratings_of_an_item_that_its_rater_has_not_finished_are_not_shown(client: Browsers):
    client.study.store.people.tasks.set_plan(Plan(training="off"))
    say(client.study, "ben", "q1", "SUPPORTED")
    say(client.study, "cleo", "q1", "NO EVIDENCE")
    dora, eve = Hand(client.rater("dora")), client.adjudicator("eve")
    number = client.owner().post("/api/assignments", json={"item": "q1", "rater": "dora"}).json()["number"]
    dora.save(number, 1, "support", "CONTRADICTED")
    assert seen(eve, "q1") == ["ben", "cleo"]
    assert ruled(eve, "q1", "SUPPORTED").status_code == 200
    [ruling] = client.study.store.ratings.all(rater="eve")
    assert ruling.visible == ("ben", "cleo")
    dora.finished(number)
    assert seen(eve, "q1") == ["ben", "cleo", "dora"]


def test_a_dispute_is_listed_once_all_who_are_in_it_have_finished(client: Browsers):
    client.study.store.people.tasks.set_plan(Plan(training="off"))
    say(client.study, "ben", "q1", "SUPPORTED")
    dora, eve = Hand(client.rater("dora")), client.adjudicator("eve")
    number = client.owner().post("/api/assignments", json={"item": "q1", "rater": "dora"}).json()["number"]
    dora.save(number, 1, "support", "CONTRADICTED")
    assert units(eve) == []
    dora.finished(number)
    assert units(eve) == ["q1"]


def test_known_answers_are_not_shown_to_adjudicators(disputed: Browsers):
    disputed.study.store.people.tasks.set_plan(Plan(gold="ben"))
    eve = disputed.adjudicator("eve")
    assert seen(eve, "q2") == ["ann"]
    assert units(eve) == []
    assert ruled(eve, "q3", "SUPPORTED").status_code == 200
    [ruling] = disputed.study.store.ratings.all(rater="eve")
    assert ruling.visible == ("ann", "cleo")


def test_a_ruling_changes_no_agreement(disputed: Browsers):
    owner = disputed.owner()
    before = owner.get("/api/agreement").json()
    assert ruled(disputed.adjudicator("eve"), "q2", "NO EVIDENCE").status_code == 200
    after = owner.get("/api/agreement").json()
    assert after["criteria"] == before["criteria"]
    assert after["left_out"]["adjudicators"] == ["eve"]


def test_that_it_cannot_be_told_is_a_ruling_too(disputed: Browsers):
    eve = disputed.adjudicator()
    assert ruled(eve, "q2", None).status_code == 200
    assert units(eve) == ["q3"]


def test_two_adjudicators_do_not_write_over_each_other(disputed: Browsers):
    eve, dan = disputed.adjudicator("eve"), disputed.adjudicator("dan")
    assert ruled(eve, "q2", "SUPPORTED").status_code == 200
    assert ruled(dan, "q2", "CONTRADICTED").status_code == 200
    [stored] = disputed.study.store.ratings.all(rater="dan")
    assert stored.visible == ("ann", "ben", "eve")
    shown = dan.get("/api/disputes/unit?unit=q2").json()["ratings"]
    assert [(one["rater"], one["adjudicator"]) for one in shown] == [("ann", False), ("ben", False), ("eve", True)]


def test_a_ruling_is_changed_only_by_who_knows_the_one_in_force(disputed: Browsers):
    eve = disputed.adjudicator("eve")
    first = ruled(eve, "q2", "SUPPORTED").json()["rating"]
    lost = ruled(eve, "q2", "CONTRADICTED")
    assert lost.status_code == 409
    assert lost.json()["present"]["id"] == first["id"]
    assert ruled(eve, "q2", "CONTRADICTED", after=new_id()).status_code == 409
    second = ruled(eve, "q2", "CONTRADICTED", after=first["id"])
    assert second.status_code == 200
    history = list(disputed.study.store.ratings.all(rater="eve", history=True))
    assert [(one.value, one.supersedes) for one in history] == [("SUPPORTED", None), ("CONTRADICTED", first["id"])]
    assert ruled(eve, "q1", "SUPPORTED", after=first["id"]).status_code == 409


def test_a_ruling_that_is_sent_twice_is_stored_once(disputed: Browsers):
    eve, name = disputed.adjudicator("eve"), new_id()
    answers = [ruled(eve, "q2", "SUPPORTED", id=name) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert len(list(disputed.study.store.ratings.all(rater="eve", history=True))) == 1
    assert ruled(eve, "q2", "CONTRADICTED", id=name).status_code == 409
    assert ruled(eve, "q3", "SUPPORTED", id=name).status_code == 409


@pytest.mark.parametrize(
    ("change", "headers", "status"),
    [
        ({}, {}, 428),
        ({}, {"If-Match": "bare"}, 422),
        ({"value": "MAYBE"}, {"If-None-Match": "*"}, 422),
        ({"value": 3}, {"If-None-Match": "*"}, 422),
        ({"status": "rated", "value": None}, {"If-None-Match": "*"}, 422),
        ({"evidence": [{"field": "context", "start": 0, "end": 9999}]}, {"If-None-Match": "*"}, 422),
        ({"unit": "q99"}, {"If-None-Match": "*"}, 404),
        ({"unit": "\x00"}, {"If-None-Match": "*"}, 404),
        ({"criterion": "tone"}, {"If-None-Match": "*"}, 404),
        ({"id": "short"}, {"If-None-Match": "*"}, 422),
        ({"extra": 1}, {"If-None-Match": "*"}, 422),
        ({"notes": "x" * 20_001}, {"If-None-Match": "*"}, 422),
        ({}, {"If-None-Match": "*", "X-Evenhand-Protocol": "another"}, 409),
    ],
)
def test_what_is_no_ruling_is_refused_with_words(
    change: dict[str, Any], headers: dict[str, str], status: int, disputed: Browsers
):
    body = {"id": new_id(), "unit": "q2", "criterion": "support", "status": "rated", "value": "SUPPORTED", **change}
    answer = disputed.adjudicator("eve").put("/api/rulings", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]
    assert list(disputed.study.store.ratings.all(rater="eve")) == []


@pytest.fixture
def sentences(tmp_path: Path) -> Generator[Browsers]:
    item = Item("i", {"question": "Why?", "article": "One. Two.", "response": "First claim. Second claim."})
    with Study.create(tmp_path / "stem.db", "stem-accuracy", [item]) as study, Browsers(study) as browsers:
        for rater, accuracy in (("ann", "Inaccurate"), ("ben", "Accurate")):
            say(study, rater, "i#2", accuracy, "accuracy")
        say(study, "ann", "i#2", "Severe", "severity")
        say(study, "ben", "i#2", None, "severity", status=Status.NOT_ASKED)
        yield browsers


def test_a_follow_up_that_is_not_asked_after_a_ruling_is_settled_with_it(sentences: Browsers):
    eve, store = sentences.adjudicator("eve"), sentences.study.store
    found = eve.get("/api/disputes").json()["disputes"]
    assert [(one["unit"], one["position"], one["text"]) for one in found] == [("i#2", 2, "Second claim.")]
    first = ruled(eve, "i#2", "Inaccurate", criterion="accuracy").json()
    assert first["unit"]["finished"] is False
    assert ruled(eve, "i#2", "Severe", criterion="severity").json()["unit"]["finished"] is True
    second = ruled(eve, "i#2", "Accurate", criterion="accuracy", after=first["rating"]["id"])
    assert second.json()["unit"] == {"finished": True, "missing": []}
    said = {one.criterion: (one.status, one.value) for one in store.ratings.all(rater="eve")}
    assert said == {"accuracy": (Status.RATED, "Accurate"), "severity": (Status.NOT_ASKED, None)}
    [severity] = [one.id for one in store.ratings.all(rater="eve") if one.criterion == "severity"]
    assert ruled(eve, "i#2", "Severe", criterion="severity", after=severity).status_code == 422


def test_a_ruling_that_is_taken_back_counts_no_longer(disputed: Browsers):
    eve = disputed.adjudicator("eve")
    first = ruled(eve, "q2", "SUPPORTED").json()["rating"]
    assert units(eve) == ["q3"]
    back = ruled(eve, "q2", None, after=first["id"], status="skipped", taken_back=True)
    assert back.status_code == 200
    assert units(eve) == ["q2", "q3"]


def test_free_answers_are_in_dispute_where_some_find_none(tmp_path: Path):
    item = Item("i", {"reference": "Ulm lies on the Danube.", "generated": "Ulm is a city."})
    questions = {"i": [Question("Where is Ulm?", "on the Danube"), Question("What is Ulm?", "a city")]}
    with (
        Study.create(tmp_path / "quest.db", "rag-quest-eval", [item], questions=questions) as study,
        Browsers(study) as browsers,
    ):
        for rater, first in (("ann", "by a river"), ("ben", UNANSWERABLE)):
            say(study, rater, "i#1", first, "answer")
            say(study, rater, "i#2", f"a city, says {rater}", "answer")
        assert units(browsers.adjudicator()) == ["i#1"]
