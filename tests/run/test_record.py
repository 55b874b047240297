import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from evenhand.errors import RaterFailure
from evenhand.llm.base import Chat, Request
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Answer, Judgement, Stored, Task, Trim
from evenhand.raters.program import Program
from evenhand.raters.scripted import ScriptedRater
from evenhand.records import Item, Kind, RaterRef, Rating, Status, Unit
from evenhand.run.rate import rate
from evenhand.run.record import ratings_of
from evenhand.study import Study

STEM = load_protocol("stem-accuracy")
ITEM = Item("x", {"question": "Q?", "article": "A.", "response": "One. Two. Three. Four."})


def stem_study(folder: Path) -> Study:
    return Study.create(folder / "study.db", STEM, [ITEM])


class NoDesk:
    """For programs that ask nobody."""

    async def ask(
        self, chat: Chat, request: Request, *, sample: int = 0, since: datetime | None = None, trim: Trim | None = None
    ) -> Stored:
        raise AssertionError("nobody is to be asked")

    def check(self) -> None: ...


def rated(script: Mapping[str, Sequence[Answer]], unit: str) -> Sequence[Rating]:
    task = Task(ITEM, (Unit(unit, "x", 1),))
    (judgement,) = asyncio.run(Program(ScriptedRater("s", script)).judge(STEM, task, NoDesk()))
    return ratings_of(STEM, "s", judgement)


def said(script: Mapping[str, Sequence[Answer]], unit: str) -> dict[str, tuple[Status, object, str | None]]:
    ratings = rated(script, unit)
    return {rating.criterion: (rating.status, rating.value, rating.reason) for rating in ratings}


def test_an_answer_in_any_spelling_becomes_the_label_of_the_scale():
    script = {"x#1": [Answer("accuracy", "inaccurate "), Answer("severity", "NOT_SEVERE")]}
    assert said(script, "x#1") == {
        "accuracy": (Status.RATED, "Inaccurate", None),
        "severity": (Status.RATED, "Not Severe", None),
    }


def test_a_follow_up_is_not_asked_when_its_condition_is_false_whatever_the_rater_says():
    script = {"x#1": [Answer("accuracy", "Accurate"), Answer("severity", "Severe")]}
    assert said(script, "x#1")["severity"] == (Status.NOT_ASKED, None, None)


def test_a_value_that_is_not_on_the_scale_is_a_failure_with_the_reply_kept():
    script = {"x#1": [Answer("accuracy", "4 stars")]}
    (accuracy, severity) = rated(script, "x#1")
    assert (accuracy.status, accuracy.value, accuracy.raw) == (Status.FAILED, None, "4 stars")
    assert accuracy.reason is not None
    assert accuracy.reason.startswith("not on the scale: '4 stars' is not one of Accurate")
    assert severity.status is Status.NOT_ASKED


def test_a_required_answer_that_is_missing_is_a_failure():
    script = {"x#1": [Answer("accuracy", "Disputed")]}
    assert said(script, "x#1")["severity"] == (Status.FAILED, None, "the rater gave no answer on this criterion")


def test_what_is_beyond_a_rater_is_neither_a_failure_nor_a_label_and_only_where_it_is_asked():
    def ratings(value: str) -> dict[str, tuple[Status, str | None]]:
        given = Judgement(Unit("x#1", "x", 1), [Answer("accuracy", value)], beyond={"severity": "it cannot tell"})
        return {rating.criterion: (rating.status, rating.reason) for rating in ratings_of(STEM, "s", given)}

    assert ratings("Inaccurate")["severity"] == (Status.CANNOT_ASSESS, "it cannot tell")
    assert ratings("Accurate")["severity"] == (Status.NOT_ASKED, None)


class Refusing:
    """A rater that always fails, with the reply it got."""

    ref = RaterRef("refusing", Kind.MODEL, "1")

    def rate(self, protocol: Protocol, item: Item, unit: Unit) -> Sequence[Answer]:
        raise RaterFailure("refused", raw="I cannot help with that.")


def test_a_failure_is_stored_for_every_criterion_with_reason_and_reply(tmp_path: Path):
    with stem_study(tmp_path) as study:
        outcome = rate(study, Refusing())
        ratings = list(study.ratings())
    assert (outcome.units, outcome.statuses, outcome.failures) == (4, {Status.FAILED: 8}, {"refused": 8})
    assert {(rating.status, rating.value, rating.reason, rating.raw) for rating in ratings} == {
        (Status.FAILED, None, "refused", "I cannot help with that.")
    }


def test_a_run_goes_on_where_it_stopped(tmp_path: Path):
    script = {f"x#{n}": [Answer("accuracy", "Accurate")] for n in range(1, 5)}
    with stem_study(tmp_path) as study:
        assert rate(study, ScriptedRater("s", script), limit=3).units == 3
        assert rate(study, ScriptedRater("s", script)).units == 1
        assert rate(study, ScriptedRater("s", script)).units == 0
        assert [rating.unit for rating in study.ratings(criterion="accuracy")] == ["x#1", "x#2", "x#3", "x#4"]


def test_a_confidence_that_is_none_is_a_failure(tmp_path: Path):
    script = {"x#1": [Answer("accuracy", "Accurate", confidence=110.0)]}
    status, value, reason = said(script, "x#1")["accuracy"]
    assert (status, value) == (Status.FAILED, None)
    assert reason == "confidence: '110.0' is not a number from 0 to 100"


def test_the_mean_of_the_levels_stands_beside_their_mode():
    neureg = load_protocol("neureg-qa")
    given = Judgement(
        Unit("x", "x", 1),
        [Answer(criterion.id, 4, distribution=((3, 0.25), (4, 0.75))) for criterion in neureg.criteria],
    )
    ratings = ratings_of(neureg, "s", given)
    # 3 · 0.25 + 4 · 0.75 = 3.75
    assert {(rating.value, rating.mean) for rating in ratings} == {(4, 3.75)}


def test_labels_have_no_mean():
    given = Judgement(Unit("x#1", "x", 1), [Answer("accuracy", "Accurate", distribution=(("Accurate", 1.0),))])
    assert ratings_of(STEM, "s", given)[0].mean is None
