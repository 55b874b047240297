"""What raters may see of others, and when their own answers are final."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.assignment import Plan
from evenhand.records import Kind, RaterRef, Rating, new_id
from evenhand.study import Study
from tests.web.hands import Hand, at_page, one_item, ratings_by


def two_raters(study: Study, reveal: str) -> Plan:
    plan = Plan.model_validate({"training": "off", "reveal": reveal})
    study.store.people.tasks.set_plan(plan)
    study.store.ratings.add([], raters=[RaterRef("bot", Kind.MODEL)])
    for unit in list(study.units()):
        rating = Rating(
            unit=unit.id, criterion="support", rater="bot", digest=study.protocol.digest, value="CONTRADICTED"
        )
        # An overlap score is no answer, and neither seen nor asked for.
        score = replace(rating, id=new_id(), criterion="ROUGE-L", value=0.5)
        study.store.ratings.add([replace(rating, rationale="half a \ud83d"), score])
    return plan


def rated_by_ben(rater: Callable[[str], Hand], study: Study) -> None:
    ben = rater("ben")
    for number in range(1, study.store.items.count() + 1):
        ben.take()
        ben.save(number, 1, "support", "NO EVIDENCE", notes="whisper")
        ben.finished(number)


@pytest.mark.parametrize(
    ("reveal", "seen"),
    [
        ("never", None),
        ("models", [("bot", "model", "CONTRADICTED")]),
        ("all", [("ben", "person", "NO EVIDENCE"), ("bot", "model", "CONTRADICTED")]),
    ],
)
def test_others_are_seen_only_when_the_task_is_done_and_then_it_is_locked(
    study: Study, reveal: str, seen: list[tuple[str, str, str]] | None
) -> None:
    two_raters(study, reveal)
    with at_page(study) as rater:
        rated_by_ben(rater, study)
        ann = rater("ann")
        assert "whisper" not in str(ann.take())
        before = ann.save(1, 1, "support", "SUPPORTED")["rating"]
        assert ann.task(1)["others"] is None
        done = ann.finished(1)
        others = done["others"]
        found = others and sorted((other["rater"], other["kind"], other["value"]) for other in others)
        assert found == seen
        assert ann.task(1)["others"] == others
        assert "whisper" not in str(ann.task(1)), "notes are not shown"
        locked = reveal != "never"
        assert (done["task"]["locked"], ann.task(1)["locked"]) == (locked, locked)
        assert ann.put(1, 1, "ROUGE-L", {"value": 0.5}).status_code == 404
        change = ann.put(1, 1, "support", {"value": "CONTRADICTED"}, before["id"])
        assert change.status_code == (409 if locked else 200)
        assert ann.finish(1).status_code == 200, "a finish that was lost on its way may be sent again"
        if locked:
            assert change.json()["present"] is None
            retry = ann.put(1, 1, "support", {"id": before["id"], "value": "SUPPORTED"})
            assert retry.status_code == 200, "an answer that was lost on its way may be sent again"
            taken_back = {"status": "skipped", "taken_back": True}
            assert ann.put(1, 1, "support", taken_back, before["id"]).status_code == 409


def test_what_was_taken_back_is_not_revealed(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s.db", "halo-support", [one_item()]) as study, at_page(study) as rater:
        study.store.people.tasks.set_plan(Plan(training="off", reveal="all"))
        ben, ann = rater("ben"), rater("ann")
        ben.take()
        first = ben.save(1, 1, "support", "SUPPORTED")["rating"]["id"]
        ben.put(1, 1, "support", {"status": "skipped", "taken_back": True}, first)
        ann.take()
        ann.save(1, 1, "support", "SUPPORTED")
        assert ann.finished(1)["others"] == []


def test_gold_and_repeats_look_like_any_other_item(study: Study) -> None:
    """Every second item has a known answer; every third was rated before, and is answered again from a clean sheet."""
    people = study.store.people
    study.store.ratings.add([], raters=[RaterRef("gold", Kind.PERSON)])
    digest = study.protocol.digest
    for unit in list(study.units())[:4]:
        rating = Rating(unit=unit.id, criterion="support", rater="gold", digest=digest, value="SUPPORTED")
        study.store.ratings.add([rating])
    people.tasks.set_plan(Plan(training="off", gold="gold", gold_every=2, repeat_every=3, repeat_after=1, share=9))
    with at_page(study) as rater:
        ann = rater("ann")
        while (found := ann.next())["state"] == "task":
            task = found["task"]
            assert (task["purpose"], task["units"][0]["ratings"]) == ("rate", {})
            ann.save(task["number"], 1, "support", "CONTRADICTED" if task["number"] > 5 else "SUPPORTED")
            assert ann.finished(task["number"])["task"]["state"] == "done"
        tasks = people.tasks.all("ann")
        purposes = [task.purpose for task in tasks]
        assert {"rate", "gold", "repeat"} <= set(purposes)
        assert {task["purpose"] for task in ann.client.get("/api/tasks").json()["tasks"]} == {"rate"}
    repeats = [task for task in tasks if task.purpose == "repeat"]
    assert {number for number, _ in people.trials.all("ann")} == {task.number for task in repeats}
    assert len(ratings_by(study, "ann", history=True)) == len(tasks) - len(repeats)


def test_a_repeat_after_a_reveal_says_whose_ratings_could_be_seen(study: Study) -> None:
    two_raters(study, "models")
    people = study.store.people
    people.tasks.set_plan(Plan(training="off", reveal="models", repeat_every=2, repeat_after=1))
    with at_page(study) as rater:
        ann = rater("ann")
        for _ in range(4):
            number = ann.take()["number"]
            ann.save(number, 1, "support", "SUPPORTED")
            ann.finished(number)
    trials = [rating for _, rating in people.trials.all("ann")]
    assert trials
    assert {rating.visible for rating in trials} == {("bot",)}
    assert {rating.visible for rating in ratings_by(study, "ann")} == {()}


def test_known_answers_are_not_among_what_is_revealed(study: Study) -> None:
    plan = two_raters(study, "all")
    study.store.people.tasks.set_plan(plan.model_copy(update={"gold": "bot"}))
    with at_page(study) as rater:
        rated_by_ben(rater, study)
        ann = rater("ann")
        ann.take()
        ann.save(1, 1, "support", "SUPPORTED")
        assert {other["rater"] for other in ann.finished(1)["others"]} == {"ben"}
