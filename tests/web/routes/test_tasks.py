"""Raters at the JSON that the page speaks: their tasks and their answers."""

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evenhand.assignment import Plan
from evenhand.protocol.completion import TAKEN_BACK
from evenhand.records import Kind, RaterRef, Rating, Status, new_id
from evenhand.study import Study
from tests.web.browsing import Browsers
from tests.web.hands import Hand, at_page, halo, one_item, ratings_by, stem_item, text_of


@pytest.fixture
def plain(study: Study) -> Study:
    """The small study without training."""
    study.store.people.tasks.set_plan(Plan(training="off"))
    return study


@pytest.fixture
def hand(plain: Study, client: Browsers) -> Hand:
    """Ann, who rates the small study."""
    return Hand(client.rater("ann"))


# Tasks


def test_a_task_shows_the_item_and_one_open_unit(hand: Hand) -> None:
    found = hand.next()
    task = found["task"]
    assert (task["number"], task["purpose"], task["state"], task["locked"]) == (1, "rate", "open", False)
    assert text_of(task, "question").startswith("How far is it to place")
    assert [field["name"] for field in task["fields"]] == ["question", "context", "generated_answer"]
    assert task["units"] == [
        {
            "position": 1,
            "text": None,
            "span": None,
            "field": None,
            "finished": False,
            "missing": [{"criterion": "support", "what": "choose a label"}],
            "ratings": {},
        }
    ]
    assert (task["title"], task["feedback"], task["others"]) == (None, None, None)
    assert found["progress"] == {"done": 0, "of": 12}


def test_what_is_held_is_not_given_again(hand: Hand) -> None:
    assert hand.take()["number"] == 1
    assert hand.take()["number"] == 1
    assert hand.take(1)["number"] == 2
    listed = hand.client.get("/api/tasks").json()
    assert [(task["number"], task["purpose"], task["state"]) for task in listed["tasks"]] == [
        (1, "rate", "open"),
        (2, "rate", "open"),
    ]
    assert [task["number"] for task in hand.client.get("/api/tasks?after=1").json()["tasks"]] == [2]


def test_a_rater_reaches_nothing_but_their_own_tasks(hand: Hand, client: Browsers) -> None:
    task = hand.take()
    ben = Hand(client.rater("ben"))
    assert ben.client.get(f"/api/tasks/{task['number']}").status_code == 404
    answer = ben.put(1, 1, "support", {"value": "SUPPORTED"})
    assert answer.status_code == 404
    assert ben.finish(1).status_code == 404
    assert ben.skip(1).status_code == 404


def test_unknown_places_are_told(hand: Hand) -> None:
    hand.take()
    for place, code in (
        ("99/units/1/ratings/support", 404),
        ("1/units/2/ratings/support", 404),
        ("1/units/0/ratings/support", 404),
        ("1/units/99999999999999999999/ratings/support", 404),
        ("99999999999999999999/units/1/ratings/support", 404),
        ("-1/units/1/ratings/support", 404),
        ("1/units/1/ratings/tone", 404),
        ("x/units/1/ratings/support", 422),
    ):
        body = {"id": new_id(), "status": "rated", "value": "SUPPORTED"}
        answer = hand.client.put(f"/api/tasks/{place}", json=body, headers={"If-None-Match": "*"})
        assert (answer.status_code, bool(answer.json()["error"])) == (code, True), place


def test_progress_counts_to_the_share_or_to_nothing(study: Study) -> None:
    study.store.people.tasks.set_plan(Plan(training="off", overlap=2))
    with at_page(study) as rater:
        assert rater("ann").next()["progress"] == {"done": 0, "of": None}
        study.store.people.tasks.set_plan(Plan(training="off", overlap=2, share=3))
        assert rater("ben").next()["progress"] == {"done": 0, "of": 3}


def test_whoever_is_done_is_told_so_with_where_to_go(study: Study) -> None:
    link = "https://example.org/complete?cc=X1"
    study.store.people.tasks.set_plan(Plan(training="off", share=1, completion=link))
    with at_page(study) as rater:
        ann = rater("ann")
        assert ann.take()["number"] == 1
        holding = ann.next(1)
        assert (holding["state"], holding["completion"]) == ("done", None), "a task is still in hand"
        ann.save(1, 1, "support", "SUPPORTED")
        ann.finished(1)
        assert ann.next() == {
            "state": "done",
            "task": None,
            "progress": {"done": 1, "of": 1},
            "completion": link,
        }


def test_whoever_rated_every_item_in_a_spreadsheet_is_done(plain: Study, client: Browsers) -> None:
    _rate_all(plain, "ann", range(1, 13))
    assert Hand(client.rater("ann")).next()["progress"] == {"done": 12, "of": 12}
    plain.store.people.tasks.set_plan(Plan(training="off", overlap=1))
    assert Hand(client.rater("ann")).next()["progress"] == {"done": 12, "of": 12}
    ben = Hand(client.rater("ben")).next()
    assert (ben["state"], ben["progress"]) == ("done", {"done": 0, "of": 0}), "others have rated everything"


def test_items_rated_in_a_spreadsheet_are_done_already(plain: Study, client: Browsers) -> None:
    _rate_all(plain, "ann", range(1, 12))
    ann = Hand(client.rater("ann"))
    found = ann.next()
    assert (found["task"]["number"], found["progress"]) == (1, {"done": 11, "of": 12})
    ann.save(1, 1, "support", "SUPPORTED")
    ann.finished(1)
    assert ann.next()["progress"] == {"done": 12, "of": 12}


def test_what_somebody_else_has_in_hand_may_still_come(plain: Study, client: Browsers) -> None:
    plain.store.people.tasks.set_plan(Plan(training="off", overlap=1))
    _rate_all(plain, "cem", range(1, 12))
    ann, ben = Hand(client.rater("ann")), Hand(client.rater("ben"))
    ann.take()
    assert ben.next()["progress"] == {"done": 0, "of": None}
    ann.save(1, 1, "support", "SUPPORTED")
    ann.finished(1)
    assert ben.next()["progress"] == {"done": 0, "of": 0}


def _rate_all(study: Study, rater: str, items: Iterable[int]) -> None:
    """As when a spreadsheet with all answers is imported."""
    digest = study.protocol.digest
    rated = [
        Rating(unit=f"q{number}", criterion="support", rater=rater, digest=digest, value="SUPPORTED")
        for number in items
    ]
    study.store.ratings.add(rated, raters=[RaterRef(rater, Kind.PERSON)])
    study.store.people.tasks.prepare()


def test_a_paused_member_gets_nothing_new_and_may_finish(hand: Hand, plain: Study) -> None:
    hand.take()
    plain.store.people.update("ann", paused=True)
    assert hand.take()["number"] == 1, "what is in hand can be finished"
    assert hand.next(1)["state"] == "paused"
    hand.save(1, 1, "support", "SUPPORTED")
    assert hand.finished(1)["task"]["state"] == "done"
    assert (hand.next()["state"], hand.next()["task"]) == ("paused", None)


def test_a_paused_study_gives_nothing_new(hand: Hand, plain: Study) -> None:
    hand.take()
    plain.store.people.tasks.set_plan(Plan(training="off", paused=True))
    assert hand.take()["number"] == 1
    hand.save(1, 1, "support", "SUPPORTED")
    hand.finished(1)
    assert hand.next()["state"] == "paused"


def test_a_returned_task_may_still_be_answered_and_finished(hand: Hand, plain: Study) -> None:
    hand.take()
    assert plain.store.people.tasks.give_back("ann") == 1
    assert hand.task(1)["state"] == "returned"
    hand.save(1, 1, "support", "SUPPORTED")
    assert hand.finished(1)["task"] == {"state": "done", "locked": False}


# Saving


def test_an_answer_is_a_rating_in_the_study(hand: Hand, plain: Study) -> None:
    hand.take()
    answer_id = new_id()
    body = {"id": answer_id, "value": "NO EVIDENCE", "notes": " too thin ", "seconds": 12.5}
    answer = hand.put(1, 1, "support", body)
    assert answer.status_code == 200
    assert answer.headers["ETag"] == f'"{answer_id}"'
    assert answer.json()["unit"] == {"finished": True, "missing": []}
    [rating] = ratings_by(plain, "ann")
    assert answer.json()["rating"] == {
        "id": answer_id,
        "status": "rated",
        "value": "NO EVIDENCE",
        "rationale": None,
        "confidence": None,
        "notes": "too thin",
        "evidence": [],
        "reason": None,
        "at": rating.at.isoformat(),
    }
    assert (rating.id, rating.value, rating.notes, rating.seconds) == (answer_id, "NO EVIDENCE", "too thin", 12.5)
    assert (rating.digest, rating.visible) == (plain.protocol.digest, ())
    assert hand.task(1)["units"][0]["ratings"]["support"] == answer.json()["rating"]


def test_the_same_answer_twice_is_kept_once(hand: Hand, plain: Study) -> None:
    hand.take()
    body = {"id": new_id(), "value": "SUPPORTED"}
    first, again = hand.put(1, 1, "support", body), hand.put(1, 1, "support", body)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json() == first.json()
    assert len(ratings_by(plain, "ann", history=True)) == 1


def test_an_id_that_said_something_else_is_refused(hand: Hand) -> None:
    hand.take()
    body = {"id": new_id(), "value": "SUPPORTED"}
    first = hand.put(1, 1, "support", body).json()["rating"]
    other = hand.put(1, 1, "support", {**body, "value": "CONTRADICTED"})
    assert (other.status_code, other.json()["present"]) == (409, first)


def test_a_change_must_name_what_it_replaces(hand: Hand, plain: Study) -> None:
    hand.take()
    first = hand.save(1, 1, "support", "SUPPORTED")["rating"]
    unaware = hand.put(1, 1, "support", {"value": "CONTRADICTED"})
    assert (unaware.status_code, unaware.json()["present"]) == (409, first)
    second = hand.put(1, 1, "support", {"value": "CONTRADICTED"}, first["id"])
    assert second.status_code == 200
    late = hand.put(1, 1, "support", {"value": "NO EVIDENCE"}, first["id"])
    assert (late.status_code, late.json()["present"]) == (409, second.json()["rating"])
    assert [rating.value for rating in ratings_by(plain, "ann", history=True)] == ["SUPPORTED", "CONTRADICTED"]


def test_replacing_what_is_not_there_is_a_conflict(hand: Hand) -> None:
    hand.take()
    answer = hand.put(1, 1, "support", {"value": "SUPPORTED"}, new_id())
    assert (answer.status_code, answer.json()["present"]) == (409, None)


def test_of_two_answers_at_once_one_is_kept_and_the_other_is_told_which(plain: Study) -> None:
    """Two pages of one study, as two processes serve them; Ann has a window open at each."""
    with at_page(plain) as here, at_page(plain) as there, ThreadPoolExecutor(2) as at_once:
        windows = [here("ann"), there("ann")]
        windows[0].take()
        present: str | None = None
        for _ in range(5):
            sent = [
                at_once.submit(window.put, 1, 1, "support", {"value": value}, present)
                for window, value in zip(windows, ("SUPPORTED", "CONTRADICTED"), strict=True)
            ]
            answers = sorted((answer.result() for answer in sent), key=lambda answer: answer.status_code)
            assert [answer.status_code for answer in answers] == [200, 409]
            kept = answers[0].json()["rating"]
            assert answers[1].json()["present"] == kept
            present = kept["id"]
    assert len(ratings_by(plain, "ann", history=True)) == 5


def test_an_answer_without_a_condition_is_refused(hand: Hand) -> None:
    hand.take()
    assert hand.put(1, 1, "support", {"value": "SUPPORTED"}, headers={}).status_code == 428
    weak = hand.put(1, 1, "support", {"value": "SUPPORTED"}, headers={"If-Match": "abc"})
    assert weak.status_code == 422


def test_an_id_of_another_cell_or_rater_is_refused_and_tells_nothing(hand: Hand, client: Browsers) -> None:
    hand.take()
    hand.take(1)
    taken = hand.save(1, 1, "support", "CONTRADICTED", notes="secret")["rating"]["id"]
    elsewhere = hand.put(2, 1, "support", {"id": taken, "value": "SUPPORTED"})
    ben = Hand(client.rater("ben"))
    ben.take()
    by_ben = ben.put(1, 1, "support", {"id": taken, "value": "SUPPORTED"})
    for answer in (elsewhere, by_ben):
        assert (answer.status_code, answer.json()["present"]) == (409, None)
        assert "secret" not in answer.text
        assert "CONTRADICTED" not in answer.text
    assert ben.task(1)["units"][0]["ratings"] == {}


UNFIT: Sequence[Mapping[str, Any]] = [
    {"value": "supported"},
    {"value": "Supported "},
    {"value": 1},
    {"value": True},
    {"value": None},
    {"value": ["SUPPORTED"]},
    {"value": "SUPPORTED", "status": "not_asked"},
    {"value": "SUPPORTED", "status": "failed"},
    {"value": "SUPPORTED", "confidence": 50},
    {"value": "SUPPORTED", "rationale": "because"},
    {"value": "SUPPORTED", "notes": "x" * 20_001},
    {"value": "SUPPORTED", "notes": "\ud800"},
    {"value": "SUPPORTED", "seconds": -1},
    {"value": "SUPPORTED", "seconds": 86_401},
    {"value": "SUPPORTED", "reason": "mine"},
    {"value": "SUPPORTED", "id": "A" * 32},
    {"value": "SUPPORTED", "id": "0" * 31},
    {"value": "SUPPORTED", "taken_back": True},
    {"value": "SUPPORTED", "evidence": [{"field": "context", "start": 0, "end": 1}]},
    {"status": "skipped"},
]


def test_what_does_not_fit_is_refused_with_a_reason(hand: Hand, plain: Study) -> None:
    hand.take()
    for body in UNFIT:
        answer = hand.put(1, 1, "support", body)
        assert (answer.status_code, bool(answer.json()["error"])) == (422, True), body
    assert ratings_by(plain, "ann") == []


def test_an_answer_taken_back_counts_as_none(hand: Hand, plain: Study) -> None:
    hand.take()
    first = hand.save(1, 1, "support", "SUPPORTED")["rating"]
    answer = hand.put(1, 1, "support", {"status": "skipped", "taken_back": True}, first["id"]).json()
    assert (answer["rating"]["status"], answer["rating"]["reason"]) == ("skipped", TAKEN_BACK)
    assert answer["unit"] == {"finished": False, "missing": [{"criterion": "support", "what": "choose a label"}]}
    assert hand.finish(1).status_code == 422
    again = hand.put(1, 1, "support", {"value": "SUPPORTED"}, answer["rating"]["id"])
    assert again.json()["unit"]["finished"]
    assert [rating.status for rating in ratings_by(plain, "ann", history=True)] == ["rated", "skipped", "rated"]


def test_a_done_task_is_open_again_once_an_answer_is_taken_back(hand: Hand) -> None:
    hand.take()
    first = hand.save(1, 1, "support", "SUPPORTED")["rating"]
    hand.finished(1)
    hand.save(1, 1, "support", "CONTRADICTED")
    assert hand.task(1)["state"] == "done", "another answer is an answer"
    assert hand.take()["number"] == 2
    present = hand.task(1)["units"][0]["ratings"]["support"]["id"]
    assert present != first["id"]
    hand.put(1, 1, "support", {"status": "skipped", "taken_back": True}, present)
    task = hand.task(1)
    assert (task["state"], task["units"][0]["finished"]) == ("open", False)
    listed = hand.client.get("/api/tasks").json()
    assert [(one["number"], one["state"], one["finished"]) for one in listed["tasks"]] == [
        (1, "open", None),
        (2, "open", None),
    ]
    assert listed["progress"]["done"] == 0
    assert hand.take()["number"] == 1, "before anything else"
    hand.save(1, 1, "support", "CONTRADICTED")
    assert hand.finished(1)["task"]["state"] == "done"
    assert hand.take()["number"] == 2


def test_an_answer_taken_back_in_a_repeat_opens_it_again(study: Study) -> None:
    study.store.people.tasks.set_plan(Plan(training="off", share=4, repeat_every=3, repeat_after=1))
    with at_page(study) as rater:
        ann = rater("ann")
        for number in (1, 2, 3):
            assert ann.take()["number"] == number
            ann.save(number, 1, "support", "SUPPORTED")
            ann.finished(number)
        assert len(ratings_by(study, "ann")) == 2, "the third was a repeat"
        present = ann.task(3)["units"][0]["ratings"]["support"]["id"]
        ann.put(3, 1, "support", {"status": "skipped", "taken_back": True}, present)
        again = ann.take()
        assert (again["number"], again["state"]) == (3, "open")
        ann.save(3, 1, "support", "SUPPORTED")
        assert ann.finished(3)["task"]["state"] == "done"
        assert ann.take()["number"] == 4


def test_progress_moves_alike_for_items_and_repeats_and_ends_at_the_whole(study: Study) -> None:
    study.store.people.tasks.set_plan(Plan(training="off", share=5, repeat_every=3, repeat_after=1))
    with at_page(study) as rater:
        ann = rater("ann")
        told: list[tuple[int, int]] = []
        while (found := ann.next())["state"] == "task":
            told.append((found["progress"]["done"], found["progress"]["of"]))
            ann.save(found["task"]["number"], 1, "support", "SUPPORTED")
            ann.finished(found["task"]["number"])
        # Of seven things the third and the sixth are repeats.
        assert told == [(done, 7) for done in range(7)]
        assert found["progress"] == {"done": 7, "of": 7}
        assert study.store.people.tasks.count("ann")["ann"].repeats_done == 2


def test_a_claim_is_renewed_when_a_good_part_of_it_has_passed(study: Study) -> None:
    study.store.people.tasks.set_plan(Plan(training="off", claim_minutes=0.1))
    with at_page(study) as rater:
        ann = rater("ann")
        ann.take()
        before = study.store.people.tasks.find("ann", 1)
        assert before is not None
        time.sleep(0.7)  # more than a tenth of six seconds
        ann.save(1, 1, "support", "SUPPORTED")
        after = study.store.people.tasks.find("ann", 1)
        assert after is not None
        assert after.expires > before.expires


def test_a_claim_that_has_expired_is_renewed_by_an_answer_while_the_item_is_free(study: Study) -> None:
    tasks = study.store.people.tasks
    tasks.set_plan(Plan(training="off", overlap=1))
    with at_page(study) as rater:
        ann, ben = rater("ann"), rater("ben")
        for number in (1, 2):
            ann.take(*range(1, number))
            tasks.set_plan(tasks.plan().model_copy(update={"claim_minutes": 1e-6}))
            tasks.touch("ann", number)
            tasks.set_plan(tasks.plan().model_copy(update={"claim_minutes": 60}))
        # ben gets one of the two items whose time has run out.
        taken = text_of(ben.take(), "question")
        answers = {
            text_of(ann.task(number), "question"): ann.save(number, 1, "support", "SUPPORTED") for number in (1, 2)
        }
        assert answers.pop(taken)["task"] == "returned", "its rater is told"
        [kept] = answers.values()
        assert kept["task"] == "open"
        # What ann has again is not given to another.
        others = {text_of(ben.take(*range(1, held + 1)), "question") for held in (1, 2)}
        assert not others & answers.keys()


def test_an_ordinary_answer_leaves_the_claim_alone(hand: Hand, plain: Study) -> None:
    hand.take()
    before = plain.store.people.tasks.find("ann", 1)
    hand.save(1, 1, "support", "SUPPORTED")
    assert plain.store.people.tasks.find("ann", 1) == before


# Finishing


def test_finishing_says_what_is_missing(hand: Hand) -> None:
    hand.take()
    answer = hand.finish(1)
    assert answer.status_code == 422
    assert answer.json() == {
        "error": "Some answers are missing: Support: choose a label.",
        "missing": [{"criterion": "support", "what": "choose a label"}],
    }


def test_finishing_twice_does_no_harm(hand: Hand, plain: Study) -> None:
    hand.take()
    hand.save(1, 1, "support", "SUPPORTED")
    assert hand.finished(1) == hand.finished(1)
    assert hand.next()["progress"]["done"] == 1
    assert len(ratings_by(plain, "ann", history=True)) == 1


def test_a_task_is_done_with_the_last_of_its_units(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s.db", "stem-accuracy", [stem_item()]) as study:
        study.store.people.tasks.set_plan(Plan(training="off"))
        with at_page(study) as rater:
            ann = rater("ann")
            task = ann.take()
            assert [(unit["position"], unit["text"]) for unit in task["units"]] == [(1, "It is so."), (2, "It is not.")]
            assert task["units"][1]["span"] == {"field": "response", "start": 10, "end": 20}
            ann.save(1, 2, "accuracy", "Accurate")
            assert ann.finished(1, 2)["task"]["state"] == "open"
            ann.save(1, 1, "accuracy", "Accurate")
            assert ann.finished(1, 1)["task"]["state"] == "done"


def test_a_follow_up_comes_and_goes_with_its_condition(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s.db", "stem-accuracy", [stem_item()]) as study:
        study.store.people.tasks.set_plan(Plan(training="off"))
        with at_page(study) as rater:
            ann = rater("ann")
            ann.take()
            refused = ann.put(1, 1, "severity", {"value": "Severe"})
            assert refused.status_code == 422
            assert "Asked only when Accuracy is" in refused.json()["error"]
            standing = ann.save(1, 1, "accuracy", "Inaccurate")["unit"]
            assert standing["missing"] == [{"criterion": "severity", "what": "choose a label"}]
            ann.save(1, 1, "severity", "Severe")
            assert not ann.save(1, 1, "accuracy", "Accurate")["unit"]["finished"]
            unit = ann.finished(1, 1)["unit"]
            assert (unit["finished"], unit["ratings"]["severity"]["status"]) == (True, "not_asked")
            standing = ann.save(1, 1, "accuracy", "Disputed")["unit"]
            assert standing["missing"] == [{"criterion": "severity", "what": "choose a label"}]
            ann.save(1, 1, "severity", "Not Severe")
            assert ann.finished(1, 1)["unit"]["finished"]
        history = [rating for rating in ratings_by(study, "ann", history=True) if rating.criterion == "severity"]
        assert [(rating.status, rating.value) for rating in history] == [
            (Status.RATED, "Severe"),
            (Status.NOT_ASKED, None),
            (Status.RATED, "Not Severe"),
        ]


def test_evidence_rationale_confidence_and_notes_are_kept_as_sent(tmp_path: Path) -> None:
    protocol = halo(rationale="required", evidence="required", confidence="required", notes="required")
    with Study.create(tmp_path / "s.db", protocol, [one_item()]) as study:
        study.store.people.tasks.set_plan(Plan(training="off"))
        with at_page(study) as rater:
            ann = rater("ann")
            task = ann.take()
            second = task["fields"][1]["parts"][1]
            assert (second["label"], second["text"]) == ("2", "Bergen 👩‍🔬.")
            lacking = ann.save(1, 1, "support", "SUPPORTED")["unit"]["missing"]
            assert [(one["criterion"], one["what"]) for one in lacking] == [
                ("support", "say why in words"),
                ("support", "mark the evidence"),
                (None, "say how sure you are"),
                (None, "write a note"),
            ]
            start, end = second["offset"], second["offset"] + len(second["text"])
            given = {
                "rationale": "it says so",
                "confidence": 80,
                "notes": "n\0ul",
                "evidence": [{"field": "context", "start": start, "end": end}],
            }
            saved = ann.save(1, 1, "support", "SUPPORTED", **given)
            assert {name: saved["rating"][name] for name in given} == given
            assert saved["unit"]["finished"]
            too_far = {"evidence": [{"field": "context", "start": start, "end": end + 1}]}
            present = saved["rating"]["id"]
            assert ann.put(1, 1, "support", {"value": "SUPPORTED", **too_far}, present).status_code == 422


def test_an_item_can_be_skipped_as_a_whole(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s.db", "stem-accuracy", [stem_item()]) as study:
        study.store.people.tasks.set_plan(Plan(training="off"))
        with at_page(study) as rater:
            ann = rater("ann")
            ann.take()
            ann.save(1, 1, "accuracy", "Inaccurate")
            answer = ann.skip(1, "not my field")
            assert answer.status_code == 200
            task = answer.json()
            assert task["state"] == "done"
            assert all(unit["finished"] for unit in task["units"])
            assert ann.skip(1).json() == task
        by_status = [(rating.criterion, rating.status, rating.reason) for rating in ratings_by(study, "ann")]
        assert by_status == [
            ("accuracy", Status.RATED, None),
            ("severity", Status.SKIPPED, "not my field"),
            ("accuracy", Status.SKIPPED, "not my field"),
            ("severity", Status.SKIPPED, "not my field"),
        ]


def test_skipping_gives_a_reason_of_its_own_and_refuses_the_one_for_taking_back(hand: Hand) -> None:
    hand.take()
    assert hand.skip(1, TAKEN_BACK).status_code == 422
    skipped = hand.skip(1, "  ").json()["units"][0]["ratings"]["support"]
    assert (skipped["status"], skipped["reason"]) == ("skipped", "skipped by the rater")


def test_an_answer_can_be_changed_often_but_not_for_ever(hand: Hand, plain: Study) -> None:
    hand.take()
    present, error, texts = None, None, 0
    while error is None and texts < 100:
        notes = f"{texts} ".ljust(20_000, "x")
        answer = hand.put(1, 1, "support", {"value": "SUPPORTED", "notes": notes}, present)
        texts, error = texts + 1, answer.json().get("error")
        present = present if error else answer.json()["rating"]["id"]
    assert error is not None
    assert "can no longer be changed" in error
    stored = ratings_by(plain, "ann", history=True)
    assert len(stored) == texts - 1 >= 40
    # The last one counts, and the rater goes on.
    assert ratings_by(plain, "ann")[0].id == present
    hand.finished(1)
    hand.save(hand.take()["number"], 1, "support", "SUPPORTED")


# Another protocol


def test_answers_under_a_protocol_that_was_changed_are_refused_until_the_page_is_reloaded(
    hand: Hand, plain: Study, client: Browsers
) -> None:
    hand.take()
    saved = hand.put(1, 1, "support", {"value": "SUPPORTED"})
    assert saved.status_code == 200
    plain.adopt(halo(notes="off").model_copy(update={"version": "2"}))
    for answer in (hand.put(1, 1, "support", {"value": "CONTRADICTED"}, saved.json()["rating"]["id"]), hand.finish(1)):
        assert (answer.status_code, answer.json()["error"]) == (409, "The protocol has changed; reload the page.")
    again = Hand(client.rater("ann"))
    assert again.form["study"]["version"] == "2"
    number = again.take()["number"]
    again.save(number, 1, "support", "NO EVIDENCE")
    [rating] = ratings_by(plain, "ann")
    assert rating.digest == plain.protocol.digest


def test_a_program_that_does_not_name_the_protocol_cannot_answer_on_another_item(hand: Hand, plain: Study) -> None:
    before = [hand.take(), hand.take(1)]
    plain.adopt(halo(notes="off").model_copy(update={"version": "2"}))
    after = [hand.take(), hand.take(3)]
    assert [task["number"] for task in before + after] == [1, 2, 3, 4]
    assert [(task["place"], task["previous"]) for task in after] == [(1, None), (2, 3)]
    sent = hand.put(1, 1, "support", {"value": "SUPPORTED"}, headers={"If-None-Match": "*"})
    assert (sent.status_code, ratings_by(plain, "ann")) == (404, [])
    for request in ("units/1/finish", "skip"):
        assert hand.client.post(f"/api/tasks/1/{request}", json={}).status_code == 404
