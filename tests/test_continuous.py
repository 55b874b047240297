"""The scale `continuous` on every way into and out of a study."""

import json
from pathlib import Path

import numpy as np
import pytest
from openpyxl import load_workbook

from evenhand.analysis.agreement import criterion_agreement
from evenhand.assignment import Plan
from evenhand.errors import InputError, ProtocolError
from evenhand.protocol.completion import Judgement, missing, ratings_of
from evenhand.protocol.guideline import guideline
from evenhand.protocol.load import read_protocol
from evenhand.protocol.model import Protocol
from evenhand.raters.ensemble import combined
from evenhand.raters.llm_judge.prompt import PromptCase, Prompts
from evenhand.raters.llm_judge.reply_schema import reply_schema
from evenhand.records import Answer, Item, Status, Unit
from evenhand.report.html.page import render
from evenhand.study import Study
from evenhand.web.forms import form_of
from tests.measured import Ratings, study

HEAD = 'name: mine\nversion: "1"\ntitle: Mine\nitem: {fields: {text: {role: rated}}}\ncriteria:\n'
CRITERION = "  - {id: close, question: How close, scale: {type: continuous}}\n"
REASON = (
    "  - {id: why, question: Why, scale: {type: text}, required: false, when: {criterion: close, at_most: BOUND}}\n"
)
MEASURES = (
    "measures: [{name: mean, kind: mean, criteria: [close]}, {name: same, kind: percent_match, criteria: [close]}]\n"
)
UNIT = Unit("a", "a", 1)


def protocol(bound: str = "0.5", scale: str = "continuous") -> Protocol:
    text = HEAD + CRITERION + REASON.replace("BOUND", bound) + MEASURES
    return read_protocol(text.replace("type: continuous", f"type: {scale}"), "mine.yaml")


def test_conditions_are_checked_against_its_ends() -> None:
    assert protocol("0.01").criteria[1].when is not None
    with pytest.raises(ProtocolError, match="this never holds"):
        protocol("-0.5")


def test_guideline_prompt_schema_form_and_request_say_what_is_valid() -> None:
    mine = protocol()
    assert "from 0 to 1." in guideline(mine)
    case = PromptCase.of(mine, Item("a", {"text": "T."}), [UNIT])
    assert "Answer with a number from 0 to 1." in Prompts(mine).text(case)
    answer = json.loads(reply_schema(mine, bounded=True)[0].text)["properties"]["close"]["properties"]["answer"]
    assert (answer["type"], answer["minimum"], answer["maximum"]) == ("number", 0, 1)
    scale = form_of(mine, Plan(), "study", "ann").criteria[0].scale
    assert (scale.type, scale.ends, scale.values) == ("continuous", (0.0, 1.0), [])
    assert [one.what for one in missing(mine, {})] == ["give a number from 0 to 1"]


def test_a_models_answer_beyond_its_ends_is_a_failure_and_a_jurys_is_the_mean() -> None:
    mine = protocol()
    beyond = ratings_of(mine, "m", Judgement(UNIT, [Answer("close", 1.2)]))[0]
    assert (beyond.status, beyond.value) == (Status.FAILED, None)
    votes = [Judgement(UNIT, [Answer("close", value)]) for value in (0.2, "0.9", 0.4)]
    assert combined(mine, UNIT, votes, "votes").answers[0].value == pytest.approx(0.5)


def test_sheets_go_out_and_ratings_come_in_and_go_out_again(tmp_path: Path) -> None:
    with Study.create(":memory:", protocol(), [{"id": "a", "text": "T."}, {"id": "b", "text": "U."}]) as mine:
        mine.export_ratings(tmp_path / "blind.xlsx", "blind")
        rules = load_workbook(tmp_path / "blind.xlsx")["Ratings"].data_validations.dataValidation
        assert (rules[0].type, rules[0].formula1, rules[0].formula2) == ("decimal", "0", "1")
        mine.import_ratings([{"id": "a", "close": "0.25"}, {"id": "b", "close": 1}], rater="ann")
        mine.export_ratings(tmp_path / "long.csv")
        with pytest.raises(InputError, match="from 0 to 1"):
            mine.import_ratings([{"id": "a", "close": "25%"}], rater="ben")
        values = {rating.unit: rating.value for rating in mine.ratings(criterion="close")}
    assert values == {"a": 0.25, "b": 1.0}
    assert [type(value) for value in values.values()] == [float, float]
    with Study.create(":memory:", protocol(), [{"id": "a", "text": "T."}, {"id": "b", "text": "U."}]) as copy:
        copy.import_ratings(tmp_path / "long.csv")
        assert {rating.unit: rating.value for rating in copy.ratings(criterion="close")} == values


SAID = {
    "ann": [0.1, 0.5, 0.53, 0.9, 0.25, 0.7],
    "ben": [0.2, 0.5, 0.6, 0.95, 0.2, None],
    "auto": [0.1, 0.4, 0.5, 1.0, 0.0, 0.8],
}


def times(factor: float) -> Ratings:
    return {name: {"close": [one if one is None else factor * one for one in said]} for name, said in SAID.items()}


def test_agreement_is_that_of_the_same_ratings_in_percent() -> None:
    found = criterion_agreement(study(protocol(), times(1.0), 6).tables["close"])
    other = criterion_agreement(study(protocol("50", "percent"), times(100.0), 6).tables["close"])
    for name in ("percent", "alpha", "ac", "icc", "ceiling", "ceiling_alpha"):
        ours, theirs = getattr(found, name), getattr(other, name)
        assert (ours.value, ours.low, ours.n) == (pytest.approx(theirs.value), pytest.approx(theirs.low), theirs.n)
    for ours, theirs in zip(found.pairs, other.pairs, strict=True):
        assert ours.statistics.keys() == theirs.statistics.keys()
        for name, estimate in ours.statistics.items():
            assert estimate.value == pytest.approx(theirs.statistics[name].value, abs=1e-9), name
    assert found.values is not None
    assert (found.values["lowest"], found.values["highest"]) == (0.0, 1.0)
    given = [one for said in SAID.values() for one in said if one is not None]
    assert found.values["mean"] == pytest.approx(np.mean(given))


def test_means_have_intervals_within_its_ends_and_the_report_names_them() -> None:
    items = [{"id": str(n), "text": "T."} for n in range(3)]
    with Study.create(":memory:", protocol(), items) as mine:
        mine.import_ratings([{"id": str(n), "close": value} for n, value in enumerate((1.0, 0.2, 0.9))], rater="ann")
        mine.import_ratings([{"id": str(n), "close": value} for n, value in enumerate((0.8, 0.3, 0.9))], rater="ben")
        mean = next(one for one in mine.measures() if one.statistic == "mean" and one.rater == "ann")
        assert (mean.estimate.value, mean.estimate.high) == (pytest.approx(0.7), 1.0)
        assert mean.estimate.low == 0.0
        assert mine.trust("close").to_dict()
        page = render(mine.report().report)
    assert "a number from 0 to 1" in page
