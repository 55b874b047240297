"""A user's own rater: any object with rate(item, unit)."""

import asyncio
import re
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from evenhand.errors import RaterFailure, UserError
from evenhand.protocol.completion import NO_ANSWER
from evenhand.protocol.load import load_protocol
from evenhand.raters import registry
from evenhand.raters.options import RunOptions
from evenhand.raters.registry import OwnRater
from evenhand.records import Answer, Item, Kind, Status, Unit
from evenhand.run.judge import judge
from evenhand.study import Study
from tests.raters.building import build

STEM = load_protocol("stem-accuracy")
ITEM = Item("x", {"question": "Q?", "article": "A.", "response": "One. Two. Three. Four."})


def stem_study(folder: Path) -> Study:
    return Study.create(folder / "study.db", STEM, [ITEM])


def halo_study(folder: Path) -> Study:
    item = Item("x", {"question": "When?", "context": "In 1902.", "generated_answer": "In 1902."})
    return Study.create(folder / "study.db", "halo-support", [item])


class Refusing:
    """A rater that always fails, with the reply it got."""

    def rate(self, item: Item, unit: Unit) -> Sequence[Answer]:
        raise RaterFailure("refused", raw="I cannot help with that.")


class Accurate:
    id = "mine"
    kind = "model"
    version = "2"

    def __init__(self, level: int = 1) -> None:
        self.settings = {"level": level}

    def rate(self, item: Item, unit: Unit) -> object:
        return {"accuracy": "accurate "}


def test_a_failure_is_stored_for_every_criterion_with_reason_and_reply(tmp_path: Path):
    with stem_study(tmp_path) as study:
        outcome = judge(study.store, [Refusing()])
        ratings = list(study.ratings())
    assert (outcome.total.units, outcome.total.statuses, outcome.total.failures) == (
        4,
        {Status.FAILED: 8},
        {"refused": 8},
    )
    assert {(rating.rater, rating.status, rating.value, rating.reason, rating.raw) for rating in ratings} == {
        ("Refusing", Status.FAILED, None, "refused", "I cannot help with that.")
    }


def test_a_run_continues_where_it_stopped_and_other_settings_are_rejected(tmp_path: Path):
    with stem_study(tmp_path) as study:
        assert judge(study.store, [Accurate()], run=RunOptions(limit=3)).total.units == 3
        assert judge(study.store, [Accurate()]).total.units == 1
        assert judge(study.store, [Accurate()]).total.units == 0
        assert [rating.unit for rating in study.ratings(criterion="accuracy")] == ["x#1", "x#2", "x#3", "x#4"]
        assert {rating.value for rating in study.ratings(criterion="accuracy")} == {"Accurate"}
        (ref,) = study.raters()
        assert (ref.id, ref.kind, ref.version) == ("mine", Kind.MODEL, "2")
        with pytest.raises(UserError, match="level 1 → 2"):
            judge(study.store, [Accurate(2)])


@pytest.mark.parametrize(
    ("beyond", "expected"),
    [
        (None, (Status.FAILED, NO_ANSWER)),
        ("it reads only the labels", (Status.CANNOT_ASSESS, "it reads only the labels")),
    ],
)
def test_a_required_criterion_that_is_left_out(tmp_path: Path, beyond: str | None, expected: tuple[Status, str]):
    class Partial:
        def __init__(self) -> None:
            self.beyond = beyond

        def rate(self, item: Item, unit: Unit) -> object:
            return {"accuracy": "Inaccurate"}

    with stem_study(tmp_path) as study:
        study.judge(Partial(), progress=False)
        assert {rating.value for rating in study.ratings(criterion="accuracy")} == {"Inaccurate"}
        assert {(rating.status, rating.reason) for rating in study.ratings(criterion="severity")} == {expected}


@pytest.mark.parametrize(
    "returned",
    ["SUPPORTED", {"support": "SUPPORTED"}, Answer("support", "SUPPORTED"), [Answer("support", "supported")]],
)
def test_what_rate_may_return(tmp_path: Path, returned: object):
    class Mine:
        async def rate(self, item: Item, unit: Unit) -> object:
            await asyncio.sleep(0)
            return returned

    with halo_study(tmp_path) as study:
        judge(study.store, [Mine()])
        assert [rating.value for rating in study.ratings()] == ["SUPPORTED"]


@pytest.mark.parametrize(("returned", "why"), [("Accurate", "by criterion"), ({"tone": 1}, "no criterion 'tone'")])
def test_what_it_may_not_return(tmp_path: Path, returned: object, why: str):
    class Mine:
        def rate(self, item: Item, unit: Unit) -> object:
            return returned

    with stem_study(tmp_path) as study, pytest.raises(UserError, match=why):
        judge(study.store, [Mine()])


def test_every_built_in_kind_is_named_in_the_message_and_the_guide():
    with pytest.raises(UserError) as caught:
        build("unheard-of", STEM)
    message = str(caught.value).partition("; installed kinds")[0]
    page = Path(__file__).parents[2] / "docs" / "how-to" / "rate-with-models.md"
    guide = " ".join(re.findall(r"^\| (`.*?) \|", page.read_text(encoding="utf-8"), re.MULTILINE))
    for kind, found in registry.kinds().items():
        if found.value.startswith("evenhand."):
            spec = re.compile(rf"[\s`]{'http' if kind == 'https' else kind}[:(,`]")
            assert spec.search(message), kind
            assert spec.search(guide), kind


def test_a_plug_in_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_plugin.py").write_text(
        "class Mine:\n    def rate(self, item, unit):\n        return 'SUPPORTED'\n"
        "def made(spec, name, context):\n    return Mine()\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found = EntryPoint("mine", "my_plugin:Mine", registry.GROUP)
    function = EntryPoint("made", "my_plugin:made", registry.GROUP)
    monkeypatch.setattr(registry, "kinds", lambda: {"mine": found, "made": function})
    with halo_study(tmp_path) as study:
        judge(study.store, ["mine", "named=mine", "made:with options"])
        assert [(rating.rater, rating.value) for rating in study.ratings()] == [
            ("mine", "SUPPORTED"),
            ("named", "SUPPORTED"),
            ("made:with options", "SUPPORTED"),
        ]
        with pytest.raises(UserError, match="takes no options"):
            judge(study.store, ["mine:x"])
    del sys.modules["my_plugin"]


def test_the_interface_fits() -> None:
    raters: list[OwnRater] = [Refusing(), Accurate()]
    assert raters
