"""Overlap scores in the figures: means, and correlation with people, against scipy."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from evenhand.analysis.overlap_scores import OverlapScore, overlap_scores
from evenhand.protocol.load import load_protocol
from evenhand.records import Kind, RaterRef, Rating, Status, Value
from evenhand.report.html.page import render
from evenhand.study import Study
from tests.statistics import oracles

NEUREG, STEM, HALO = (load_protocol(name) for name in ("neureg-qa", "stem-accuracy", "halo-support"))
ANN, BEN, AUTO, RULE = (
    RaterRef("ann", Kind.PERSON),
    RaterRef("ben", Kind.PERSON),
    RaterRef("auto", Kind.MODEL),
    RaterRef("overlap", Kind.RULE),
)
CHRF = [0.1, 0.4, 0.35, 0.8, 0.75, 0.2]
TYPES = ["factual", "factual", "relational", "relational", "relational", "factual"]


def neureg(shot: Sequence[str] = ("zero",) * 6, chunk: Sequence[str] | None = None) -> Study:
    fields = {"question": "Q?", "answer": "A.", "source": "S.", "triples": "a | b | c"}
    items = [
        {"id": str(n), **fields, "question_type": TYPES[n], "shot_type": shot[n], "chunk_id": (chunk or "abcdef")[n]}
        for n in range(6)
    ]
    return Study.create(":memory:", NEUREG, items)


def rated(study: Study, rater: RaterRef, criterion: str, values: Sequence[Value | None], units: Sequence[str]) -> None:
    digest, cannot = study.protocol.digest, Status.CANNOT_ASSESS
    ratings = [
        Rating(unit=unit, criterion=criterion, rater=rater.id, digest=digest, value=value)
        if value is not None
        else Rating(unit=unit, criterion=criterion, rater=rater.id, digest=digest, status=cannot, reason="no reference")
        for unit, value in zip(units, values, strict=True)
    ]
    study.store.ratings.add(ratings, raters=[rater])


def scored(study: Study) -> Sequence[OverlapScore]:
    return overlap_scores(study.tables().compared())


SIX = [str(n) for n in range(6)]


def test_a_score_is_correlated_with_the_mean_of_the_people_and_with_each_model() -> None:
    with neureg() as study:
        rated(study, ANN, "fluency", [1, 2, 2, 5, 4, 3], SIX)
        rated(study, BEN, "fluency", [2, 2, 3, 5], SIX[:4])
        rated(study, AUTO, "fluency", [5, 1, 2, 3, 3], SIX[:5])
        rated(study, RULE, "chrF", CHRF, SIX)
        (found,) = scored(study)
    by_whom = {one.against: one for one in found.correlations if one.criterion == "fluency"}
    people = np.array([1.5, 2, 2.5, 5, 4, 3])
    for method, estimate in (("spearman", by_whom["people"].spearman), ("kendall", by_whom["people"].kendall)):
        assert estimate.value == pytest.approx(oracles.correlation(np.array(CHRF), people, method))
        assert estimate.n == 6
    model = by_whom["auto"].kendall
    expected = oracles.correlation(np.array(CHRF[:5]), np.array([5.0, 1, 2, 3, 3]), "kendall")
    assert (model.value, model.n) == (pytest.approx(expected), 5)
    assert (found.score, found.rater) == ("chrF", "overlap")
    # Nobody has rated relevance.
    assert {one.criterion for one in found.correlations} == {"fluency"}


def test_labels_are_shares_of_the_ratings_on_an_item_and_sentences_are_put_together() -> None:
    items = [{"id": name, "question": "Q?", "article": "A.", "response": "One. Two. Three."} for name in "abcd"]
    said = {"a": "AAA", "b": "AAI", "c": "AII", "d": "III"}
    labels = {"A": "Accurate", "I": "Inaccurate"}
    with Study.create(":memory:", STEM, items) as study:
        for name, letters in said.items():
            rated(study, ANN, "accuracy", [labels[one] for one in letters], [f"{name}#{n}" for n in (1, 2, 3)])
        rated(study, BEN, "accuracy", [labels["I"]], ["b#1"])
        rated(study, RULE, "ROUGE-L", [0.9, 0.2, 0.3, 0.1], [f"{name}#1" for name in said])
        (found,) = scored(study)
    shares = np.array([3 / 3, 2 / 4, 1 / 3, 0.0])
    of = {one.label: one for one in found.correlations if one.criterion == "accuracy"}
    expected = oracles.correlation(np.array([0.9, 0.2, 0.3, 0.1]), shares, "kendall")
    assert of["Accurate"].kendall.value == pytest.approx(expected)
    assert of["Inaccurate"].kendall.value == pytest.approx(-expected)
    assert of["Disputed"].kendall.value is None
    assert of["Disputed"].kendall.why == "one of the two does not vary"
    assert of["Accurate"].spearman.n == 4


def test_means_are_over_items_overall_and_by_stratum_without_what_has_no_score() -> None:
    with neureg() as study:
        rated(study, RULE, "chrF", [*CHRF[:5], None], SIX)
        (found,) = scored(study)
    whole, *parts = found.means
    assert (whole.estimate.value, whole.estimate.n) == (pytest.approx(sum(CHRF[:5]) / 5), 5)
    assert whole.left_out == {"cannot_assess": 1}
    assert whole.estimate.low is not None
    assert whole.estimate.low < sum(CHRF[:5]) / 5
    means = {tuple((one.stratum or {}).values()): one.estimate.value for one in parts}
    assert means[("factual",)] == pytest.approx((0.1 + 0.4) / 2)
    assert means[("relational", "zero")] == pytest.approx((0.35 + 0.8 + 0.75) / 3)


def test_items_of_one_cluster_are_one_block() -> None:
    with neureg(chunk="aaaaaa") as study:
        rated(study, ANN, "fluency", [1, 2, 2, 5, 4, 3], SIX)
        rated(study, RULE, "chrF", CHRF, SIX)
        (found,) = scored(study)
    assert found.means[0].estimate.note == "no interval: there is only one unit or cluster"
    for estimate in (found.correlations[0].spearman, found.correlations[0].kendall):
        assert estimate.note == "no interval: there is only one unit or cluster"


def test_too_few_items_have_a_reason() -> None:
    with neureg() as study:
        rated(study, ANN, "fluency", [1, 2], SIX[:2])
        rated(study, RULE, "chrF", CHRF, SIX)
        (found,) = scored(study)
    assert (found.correlations[0].spearman.value, found.correlations[0].spearman.n) == (None, 2)
    assert found.correlations[0].kendall.why == "fewer than 3 items have both"


def test_scores_are_in_every_output_and_change_no_other_figure() -> None:
    with neureg() as study:
        rated(study, ANN, "fluency", [1, 2, 2, 5, 4, 3], SIX)
        rated(study, BEN, "fluency", [1, 2, 3, 5, 4, 4], SIX)
        before, html = study.agreement(), render(study.report().report)
        assert "scores" not in before.to_dict()
        assert "Overlap scores" not in html
        rated(study, RULE, "chrF", CHRF, SIX)
        after, report = study.agreement(by=["question_type"]), study.report()
    assert after.to_dict()["criteria"] == before.to_dict()["criteria"]
    (score,) = after.to_dict()["scores"]
    assert (score["score"], score["rater"], score["mean"]["n"]) == ("chrF", "overlap", 6)
    assert score["status"] == {"rated": 6}
    strata = [{"question_type": name} for name in ("factual", "relational")]
    assert [one["stratum"] for one in score["strata"]] == strata
    (ranks,) = score["correlations"]
    assert (ranks["criterion"], ranks["against"], ranks["label"]) == ("fluency", "people", None)
    assert list(ranks["kendall"])[:4] == ["value", "ci", "n", "why"]
    frame = after.to_pandas()
    row = frame[(frame.criterion == "chrF") & (frame.statistic == "kendall")].iloc[0]
    assert (row.rater, row.against, row.value) == ("overlap", "fluency by people", ranks["kendall"]["value"])
    assert "Overlap scores: rank correlation with people" in str(after)
    assert json.dumps(report.to_dict()["scores"])
    html = render(report.report)
    assert 'id="overlap"' in html
    assert "chrF by overlap" in html
    assert next(row for row in report.report.raters if row.id == "overlap").statuses[Status.RATED] == 6
