"""Adjudicators have seen what the others said: in the figures of their own ratings, in no agreement."""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from evenhand.analysis.figures import Figure
from evenhand.analysis.measures import measures
from evenhand.analysis.tables import TableBuilder, Tables
from evenhand.analysis.targets import targets
from evenhand.analysis.trust import trust
from evenhand.errors import UserError
from evenhand.formats.items import read_items
from evenhand.protocol.load import load_protocol
from evenhand.records import Kind, Rating, Status
from evenhand.report.build import agreement_report
from evenhand.report.html.page import render
from evenhand.report.json import agree_json, plain
from evenhand.report.text import agreement_text, report_text
from evenhand.scales import PERCENT, Nominal, Ordinal
from evenhand.statistics import Resampling
from evenhand.study import Study
from tests.analysis.test_tables import SUPPORT

FEW = Resampling(replicates=50)


def sample(name: str, folder: Path) -> Study:
    """A study of the samples that come with the package, with its ratings."""
    with as_file(files("evenhand.samples") / name) as source:
        items = next(path for path in sorted(source.iterdir()) if path.stem == "items")
        study = Study.create(folder / f"{name}.db", name, read_items(items, load_protocol(name)))
        study.import_ratings(source / "ratings.csv")
    return study


def rule(study: Study, rater: str = "cem", seen: tuple[str, ...] = ("ann", "ben")) -> None:
    """Have an adjudicator rule on everything: the last value of each scale, and once that it cannot be told."""
    study.store.people.admit(rater, "adjudicator")
    rulings: list[Rating] = []
    for unit in study.units():
        for criterion in study.protocol.criteria:
            scale = criterion.scale
            value = scale.values[-1] if isinstance(scale, Ordinal | Nominal) else "another answer"
            rulings.append(
                Rating(
                    unit=unit.id,
                    criterion=criterion.id,
                    rater=rater,
                    digest=study.protocol.digest,
                    value=value,
                    confidence=99.0,
                    visible=seen,
                )
            )
    rulings[0] = replace(rulings[0], status=Status.CANNOT_ASSESS, value=None)
    study.store.ratings.add(rulings)


def figures(tables: Tables) -> dict[str, Any]:
    view = tables.compared()
    return {
        "agreement": agree_json(agreement_report(tables, plan=FEW))["criteria"],
        "targets": plain(targets(tables, measures(tables, plan=FEW))),
        "trust": {
            name: plain(trust(view, name, FEW)) for name, table in view.tables.items() if table.criterion.scale.values
        },
        "people": [tables.raters[number].id for number in tables.people()],
    }


def of_others(found: list[Figure]) -> Iterator[str]:
    """Measures that are not those of the adjudicator alone."""
    return (json.dumps(plain(one), sort_keys=True) for one in found if one.rater != "cem")


@pytest.mark.parametrize("name", ["halo-support", "feedback", "stem-accuracy", "ai-detection"])
def test_agreement_and_trust_are_the_same_with_rulings_as_without(name: str, tmp_path: Path):
    with sample(name, tmp_path) as study:
        before, measured = study.store.tables(), measures(study.store.tables(), plan=FEW)
        rule(study)
        after = study.store.tables()
        assert after.adjudicators == {"cem"}
        assert figures(after) == figures(before)
        assert list(of_others(measures(after, plan=FEW))) == list(of_others(measured))


def test_an_adjudicator_has_figures_of_their_own(tmp_path: Path):
    with sample("feedback", tmp_path) as study:
        rule(study)
        own = [one for one in measures(study.store.tables(), plan=FEW) if one.rater == "cem" and one.kind == "mean"]
    # All rulings are the highest level, 5, and so are their means.
    assert {one.estimate.value for one in own if one.stratum is None} == {5.0}


def test_a_percentage_that_only_an_adjudicator_gave_is_no_label_of_the_others():
    builder = TableBuilder(SUPPORT.model_copy(update={"scale": PERCENT}), n_units=2, n_raters=2)
    for unit, rater, value in ((0, 0, 40.0), (1, 0, 80.0), (0, 1, 55.0)):
        builder.add(unit, rater, Status.RATED, value, confidence=10.0 if rater else None)
    left = builder.build().without([1])
    assert list(left.values) == [40.0, 80.0]
    assert left.codes.tolist() == [[0, -1], [1, -1]]
    assert left.statuses == [{Status.RATED: 2}, {}]
    assert left.confidence is None


def test_what_is_left_out_is_said_in_words_and_in_json(tmp_path: Path):
    with sample("halo-support", tmp_path) as study:
        silent = study.store.tables()
        assert "adjudicators" not in agreement_text(agreement_report(silent, plan=FEW))
        assert agree_json(agreement_report(silent, plan=FEW))["left_out"]["adjudicators"] == []
        rule(study)
        rule(study, "<dan>")
        tables = study.store.tables()
        words = "cem and <dan> are left out of agreement: adjudicators have seen the others' ratings."
        agreement = agreement_report(tables, plan=FEW)
        assert agree_json(agreement)["left_out"] == {"earlier_protocols": {}, "adjudicators": ["cem", "<dan>"]}
        assert words in agreement_text(agreement)
        report = study.report(plan=FEW).report
    assert words in report_text(report)
    assert "Adjudicators see the other raters" in render(report)
    assert plain(report)["source"]["adjudicators"] == ["cem", "<dan>"]


def test_an_adjudicator_who_has_not_ruled_is_not_spoken_of(tmp_path: Path):
    with sample("halo-support", tmp_path) as study:
        study.store.people.admit("cem", "adjudicator")
        tables = study.store.tables()
    assert tables.ruled() == []
    assert [rater.kind for rater in tables.raters if rater.id == "cem"] == [Kind.PERSON]
    assert "cem" not in trust(tables.compared(), "support", FEW).silent


@pytest.mark.parametrize("figures_of", [Study.agreement, Study.measures])
def test_a_combination_refuses_an_adjudicator(figures_of: Callable[..., object], tmp_path: Path):
    with sample("halo-support", tmp_path) as study:
        rule(study)
        with pytest.raises(UserError, match="final: 'cem' is an adjudicator, and rulings are left out of agreement"):
            figures_of(study, combine=["final=majority(cem, ann, ben)"], plan=FEW)


def test_the_report_marks_rulings_and_what_they_settle(tmp_path: Path):
    with sample("halo-support", tmp_path) as study:
        before = study.report(plan=FEW).report
        rule(study)
        after = study.report(plan=FEW).report
    assert ">ruling</span>" not in render(before)
    cases = render(after).split('id="disagreements"')[1]
    open_ones = [one for case in after.cases for one in case.ratings if one.rater == "cem" and one.value is None]
    assert cases.count(">ruling</span>") == len(after.cases)
    assert cases.count(", settled by a ruling") == len(after.cases) - len(open_ones)
    for case in after.cases:
        assert f"apart, {case.disputed.ratings} ratings" in cases
        assert case.disputed.ratings == len(case.ratings) - 1


def test_the_wide_export_has_the_rulings(tmp_path: Path):
    with sample("halo-support", tmp_path) as study:
        rule(study)
        study.export_ratings(tmp_path / "wide.csv", shape="wide")
    with (tmp_path / "wide.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["support:cem"] for row in rows} == {"", "NO EVIDENCE"}
