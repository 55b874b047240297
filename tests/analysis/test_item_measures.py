"""Measures of items against values worked out by hand, and against scikit-learn's nDCG."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from evenhand.analysis.figures import ABSENT_FIELDS, Figure
from evenhand.analysis.measures import measures
from evenhand.analysis.tables import Tables
from evenhand.analysis.targets import targets
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import FieldValue, Status
from evenhand.statistics import resampled_mean, wilson
from evenhand.study import Study
from evenhand.units import Claim
from tests.measured import CANNOT, Ratings, interval, one, study
from tests.statistics.oracles import metrics

HEAD = """
name: mine
version: "1"
title: Mine
cluster: source
strata: [topic]
item:
  fields:
    context: {role: evidence, kind: passages, required: false}
    answer: {role: rated}
    gold: {role: reference, required: false}
    golds: {role: reference, kind: passages, required: false}
    found: {role: context, kind: ids, required: false}
    relevant: {role: reference, kind: ids, required: false}
    source: {role: context, kind: label, required: false}
    topic: {role: context, kind: label, required: false}
criteria: [{id: good, question: "Good?", scale: {type: text}}]
"""
MEASURES = """
measures:
  - {name: exact, kind: text_match, field: answer, reference: gold}
  - {name: f1, kind: token_f1, field: answer, reference: gold}
  - {name: best_f1, kind: token_f1, field: answer, reference: golds}
  - {name: covered, kind: coverage, field: context, reference: gold}
  - {name: abstained, kind: abstention, field: answer}
  - {name: search, kind: retrieval, retrieved: found, relevant: relevant, at: [1, 3]}
"""


def protocol(more: str = "") -> Protocol:
    return read_protocol(HEAD + MEASURES + more, "mine.yaml")


def of_items(items: Sequence[Mapping[str, FieldValue]], own: Protocol | None = None) -> Tables:
    own = own or protocol()
    labels = {name: [cast("str | None", item.get(name)) for item in items] for name in ("source", "topic")}
    read = dict.fromkeys(name for spec in own.item_measures.values() for name in spec.reads)
    tables = study(own, {}, len(items), labels)
    return replace(tables, fields={name: [item.get(name) for item in items] for name in read})


def measured(*items: Mapping[str, FieldValue], own: Protocol | None = None) -> list[Figure]:
    return measures(of_items(items, own))


def value(name: str, *items: Mapping[str, FieldValue], label: str | None = None) -> float | None:
    return one(measured(*items), name, label=label).estimate.value


def test_text_measures_after_case_marks_and_articles() -> None:
    item = {"answer": "The Eiffel-Tower, in Paris!", "gold": "Eiffel tower"}
    assert value("exact", item) == 0.0
    assert value("exact", {**item, "answer": "the eiffel tower."}) == 1.0
    # eiffel tower in paris and eiffel tower: precision 2/4, recall 2/2.
    assert value("f1", item) == pytest.approx(2 / 3)
    assert value("f1", {"answer": "the", "gold": "a"}) == 1.0
    assert value("f1", {"answer": "the", "gold": "Paris"}) == 0.0


def test_of_several_references_the_best_counts() -> None:
    assert value("best_f1", {"answer": "Oslo", "golds": ("the city of Oslo", "Oslo")}) == 1.0


def test_coverage_counts_repeated_words_as_often_as_the_context_has_them() -> None:
    # gold: big big city (3 words); the passages have big once and city twice: 2/3.
    assert value("covered", {"answer": "x", "gold": "A big, big city", "context": ("Big city.", "City")}) == (
        pytest.approx(2 / 3)
    )


def test_chinese_texts_are_cut_into_words() -> None:
    assert value("exact", {"answer": "北京。", "gold": "北京"}) == 1.0
    # 北京|大学 is one word of jieba's dictionary, 北京 another.
    assert value("covered", {"answer": "x", "gold": "北京天气", "context": ("北京的天气很好。",)}) == 1.0


def test_what_cannot_be_scored_is_left_out_and_counted_by_reason() -> None:
    items = [{"answer": "Paris", "gold": "Paris", "context": ("Paris",)}, {"answer": "Paris"},
             {"answer": "Paris", "gold": "the!", "context": ("Paris",)}, {"answer": " ", "gold": "Paris"}]  # fmt: skip
    found = measured(*items)
    covered = one(found, "covered")
    assert (covered.estimate.value, covered.estimate.n) == (1.0, 1)
    assert covered.left_out == {"no_context": 2, "no_words": 1}
    # Of the words of "the!" none is left: an F1 of 0 with "Paris".
    assert one(found, "f1").left_out == {"no_gold": 1, "no_answer": 1}
    assert one(found, "f1").estimate.value == 0.5
    abstained = one(found, "abstained")
    assert (abstained.estimate.value, abstained.estimate.n, abstained.left_out) == (0.0, 3, {"no_answer": 1})


def test_shares_have_wilsons_interval_and_other_means_a_bootstrap_interval() -> None:
    items = [{"answer": answer, "gold": "red brick house"} for answer in ("red house", "red brick house", "x", "brick")]
    items.append({"answer": "There is not enough information.", "gold": "red"})
    found = measured(*items)
    exact, abstained, f1 = (one(found, name) for name in ("exact", "abstained", "f1"))
    assert exact.estimate.value == abstained.estimate.value == 0.2
    assert interval(exact) == interval(abstained) == pytest.approx(wilson(1, 5))
    assert f1.estimate.value == pytest.approx((0.8 + 1 + 0 + 0.5 + 0) / 5)
    assert f1.estimate == resampled_mean(np.array([0.8, 1, 0, 0.5, 0]))


def test_items_of_one_document_are_not_independent() -> None:
    rights = ["Paris"] * 10 + ["Rome"] * 10
    alone = [{"answer": answer, "gold": "Paris"} for answer in rights]
    together = [{**item, "source": f"s{n // 5}"} for n, item in enumerate(alone)]
    # Four documents, each all right or all wrong: the evidence of four items.
    documents = np.array([n // 5 for n in range(20)])
    tables = replace(of_items(together), documents=documents)
    low, high = interval(one(measures(tables), "exact"))
    assert (low or 0) < wilson(10, 20)[0] < wilson(10, 20)[1] < (high or 1)


def test_breakdown_by_stratum() -> None:
    items = [{"answer": "a b", "gold": "b", "topic": "x"}, {"answer": "b", "gold": "b", "topic": "y"}]
    found = measured(*items, {"answer": "c", "topic": "y"})
    of_y = one(found, "exact", stratum={"topic": "y"})
    assert (of_y.estimate.value, of_y.estimate.n, of_y.left_out) == (1.0, 1, {"no_gold": 1})


# Retrieval


def test_retrieval_by_hand() -> None:
    item = {"answer": "x", "found": ("b", "a", "c", "d"), "relevant": ("a", "d")}
    assert value("search", item, label="recall@1") == 0.0
    assert value("search", item, label="recall@3") == 1 / 2
    assert value("search", item, label="precision@3") == pytest.approx(1 / 3)
    assert value("search", item, label="mrr") == 1 / 2
    # The one relevant id is in second place; at best two would be in places one and two.
    assert value("search", item, label="ndcg@3") == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize("k", [1, 3])
def test_ndcg_is_scikit_learns(k: int) -> None:
    ids, relevant = tuple("bacdef"), tuple("adf")
    truth = np.array([[float(one in relevant) for one in ids]])
    expected = metrics.ndcg_score(truth, np.array([[6, 5, 4, 3, 2, 1]]), k=k)
    assert value("search", {"answer": "x", "found": ids, "relevant": relevant}, label=f"ndcg@{k}") == (
        pytest.approx(expected)
    )


def test_an_id_that_was_retrieved_twice_counts_at_its_first_rank() -> None:
    item = {"answer": "x", "found": ("a", "a", "b"), "relevant": ("a", "b", "b")}
    found = measured(item, {"answer": "x", "found": ("a",), "relevant": ("a",)})
    # Two relevant ids, of which the second is in the third place.
    recall = one(found, "search", label="recall@3")
    assert recall.estimate.value == 1.0
    assert recall.detail == {"repeated_ids": 1}
    assert value("search", item, label="precision@3") == pytest.approx(2 / 3)
    assert value("search", item, label="ndcg@3") == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))


def test_nothing_retrieved_is_a_miss_and_nothing_relevant_is_no_item() -> None:
    items = [{"answer": "x", "found": (), "relevant": ("a",)}, {"answer": "x", "found": ("a",), "relevant": ()},
             {"answer": "x", "relevant": ("a",)}]  # fmt: skip
    figure = one(measured(*items), "search", label="mrr")
    assert (figure.estimate.value, figure.estimate.n) == (0.0, 1)
    assert figure.left_out == {"no_relevant": 1, "no_found": 1}


def test_fields_that_no_item_has_leave_one_figure_with_the_reason() -> None:
    figures = [one for one in measured({"answer": "x"}, {"answer": "y"}) if one.statistic == "search"]
    assert [(one.label, one.estimate.value, one.left_out) for one in figures] == [(None, None, {"no_found": 2})]
    assert figures[0].detail == {ABSENT_FIELDS: ["found", "relevant"]}
    assert figures[0].estimate.why is not None


def test_half_of_the_fields_is_no_reason_to_hide_the_measure() -> None:
    figure = one(measured({"answer": "x", "found": ("a",)}), "search")
    assert (figure.detail, figure.left_out) == (None, {"no_relevant": 1})


def test_a_target_on_one_part() -> None:
    own = protocol("targets:\n  - {measure: search, label: recall@3, at_least: 0.5}\n")
    items = [{"answer": "x", "found": ("a",), "relevant": ("a",)}] * 30
    (met,) = targets(of_items(items, own))
    assert (met.label, met.verdict, met.estimate.value) == ("recall@3", "met", 1.0)
    (undecided,) = targets(of_items([{"answer": "x"}], own))
    assert undecided.verdict == "undefined"


@pytest.mark.parametrize("name", ["halo-support", "halo-claims"])
def test_built_in_protocols_ask_for_retrieval(name: str) -> None:
    assert load_protocol(name).item_measures["retrieval"].reads == ("retrieved_ids", "relevant_ids")


# Shares of the units of items

S, C, N = "SUPPORTED", "CONTRADICTED", "NO EVIDENCE"
HALO = load_protocol("halo-claims")
A, G = "generated_answer", "gold_answer"


def claims(
    units: Sequence[tuple[int, str]],
    ratings: Ratings,
    answers: Sequence[str] = (),
    golds: Sequence[str | None] = (),
    own: Protocol = HALO,
) -> Tables:
    """Claims, each with its item and the field it comes from; all items have the answer "x" by default."""
    tables = study(own, ratings, [item for item, _ in units])
    items = max(tables.n_items, len(answers))
    texts: dict[str, Sequence[FieldValue | None]] = {A: answers or ["x"] * items, G: golds or [None] * items}
    return replace(tables, n_items=items, unit_fields=[field for _, field in units], fields=texts)


def test_shares_are_averaged_over_items_and_pooled_over_claims() -> None:
    units = [(0, A), (0, A), (0, A), (0, G), (1, A), (1, G), (1, G)]
    found = measures(claims(units, {"ann": {"support": [S, C, N, S, S, S, C]}}))
    precision, pooled = one(found, "factual_precision", "ann"), one(found, "supported_claims", "ann")
    assert (precision.estimate.value, precision.estimate.n) == (pytest.approx((1 / 3 + 1) / 2), 2)
    assert pooled.estimate.value == pytest.approx(2 / 4)
    assert one(found, "factual_recall", "ann").estimate.value == pytest.approx((1 + 1 / 2) / 2)
    assert one(found, "supported_gold_claims", "ann").estimate.value == pytest.approx(2 / 3)
    assert one(found, "hallucination_rate", "ann").estimate.value == pytest.approx((2 / 3 + 0) / 2)


def test_recall_against_the_answer_reads_the_gold_claims_alone() -> None:
    units = [(0, A), (0, G), (0, G), (1, G)]
    ratings: Ratings = {"ann": {"support": [S, S, S, S], "answer_support": [Status.NOT_ASKED, S, N, C]}}
    recall = one(measures(claims(units, ratings)), "answer_recall", "ann")
    assert (recall.estimate.value, recall.estimate.n, recall.left_out) == (pytest.approx(1 / 4), 2, {})


@pytest.mark.parametrize("gap", [Status.FAILED, Status.SKIPPED, Status.CANNOT_ASSESS, None])
def test_an_item_with_a_claim_that_is_not_rated_is_left_out_and_counted(gap: Status | None) -> None:
    units = [(0, A), (0, A), (1, A), (2, A)]
    found = measures(claims(units, {"ann": {"support": [S, gap, S, N]}, "bob": {"support": [S, S, None, None]}}))
    precision = one(found, "factual_precision", "ann")
    assert (precision.estimate.value, precision.estimate.n) == (0.5, 2)
    assert precision.left_out == ({} if gap is None else {str(gap): 1}) | {"incomplete": 1}
    # Pooled over claims, only the claim itself is missing.
    pooled = one(found, "supported_claims", "ann")
    assert pooled.estimate.value == pytest.approx(2 / 3)
    assert pooled.left_out == ({} if gap is None else {str(gap): 1})
    # What a rater has not come to yet is not counted at all.
    assert one(found, "factual_precision", "bob").left_out == {}


def test_an_item_of_which_every_claim_failed_is_incomplete() -> None:
    found = measures(claims([(0, A), (1, A)], {"auto": {"support": [Status.FAILED, S]}}))
    assert one(found, "factual_precision", "auto").left_out == {"failed": 1, "incomplete": 1}


def test_gaps_in_the_claims_of_another_field_do_not_matter() -> None:
    found = measures(claims([(0, A), (0, G)], {"ann": {"support": [S, Status.FAILED]}}))
    assert one(found, "factual_precision", "ann").estimate.value == 1.0
    assert one(found, "supported_claims", "ann").left_out == {}
    assert one(found, "factual_recall", "ann").left_out == {"failed": 1, "incomplete": 1}


def test_an_answer_without_claims_is_reported_and_never_a_zero() -> None:
    # The second item has only a gold claim, the third none at all.
    tables = claims([(0, A), (1, G)], {"ann": {"support": [S, S]}}, answers=["x", "Hm.", "Hm."])
    precision = one(measures(tables), "factual_precision", "ann")
    assert (precision.estimate.value, precision.estimate.n, precision.left_out) == (1.0, 1, {"no_claims": 2})
    only = claims([(0, G)], {"ann": {"support": [S]}}, answers=["Hm."])
    undefined = one(measures(only), "factual_precision", "ann").estimate
    assert (undefined.value, undefined.n) == (None, 0)
    assert undefined.why is not None


def test_an_answer_that_abstains_hallucinates_nothing_whatever_its_claims_were_rated() -> None:
    silent = "I cannot answer that."
    units, answers = [(0, A), (1, A), (2, G)], ["x", silent, silent, silent]
    found = measures(claims(units, {"ann": {"support": [C, N, S]}}, answers))
    rate = one(found, "hallucination_rate", "ann")
    assert (rate.estimate.value, rate.estimate.n, rate.left_out) == (1 / 4, 4, {})
    # It is not therefore precise: its one claim is not supported, and the others have none.
    assert one(found, "factual_precision", "ann").estimate.value == 0.0
    assert one(found, "factual_precision", "ann").left_out == {"no_claims": 2}
    assert one(found, "abstention_rate").estimate.value == 3 / 4


def test_verified_f1_is_the_product_within_each_item() -> None:
    units, answers = [(0, A), (0, A), (1, A), (2, A)], ["red brick house", "blue", "green"]
    tables = claims(units, {"ann": {"support": [S, N, S, S]}}, answers, ["red house", "blue", None])
    verified = one(measures(tables), "verified_f1", "ann")
    # F1 of the first is 2·(2/3)/(5/3) = 4/5, of which half is supported; the third has no gold answer.
    assert verified.estimate.value == pytest.approx((0.8 * 0.5 + 1 * 1) / 2)
    assert (verified.estimate.n, verified.left_out) == (2, {"no_gold_answer": 1})


def test_people_together_and_models() -> None:
    units = [(0, A), (1, A), (2, A)]
    said: Ratings = {"ann": {"support": [S, S, N]}, "bob": {"support": [S, N, N]}, "auto": {"support": [C, C, C]}}
    found = measures(claims(units, said))
    people = one(found, "factual_precision", "people")
    assert (people.estimate.value, people.estimate.n) == (0.5, 3)
    assert people.detail == {"raters": ["ann", "bob"], "ratings": 6}
    assert one(found, "factual_precision", "auto").estimate.value == 0.0


def test_shares_by_stratum_and_by_document() -> None:
    units = [(n, A) for n in range(20)]
    tables = claims(units, {"ann": {"support": [S] * 10 + [N] * 10}})
    tables = replace(tables, labels={"question_type": ["factual", None] * 10})
    found = measures(tables)
    part = one(found, "factual_precision", "ann", stratum={"question_type": "factual"})
    assert (part.estimate.value, part.estimate.n) == (0.5, 10)
    assert interval(one(found, "factual_precision", "ann")) == pytest.approx(wilson(10, 20))
    by_document = replace(tables, documents=np.array([n // 5 for n in range(20)]))
    low, high = interval(one(measures(by_document), "factual_precision", "ann"))
    assert (low or 0) < wilson(10, 20)[0] < wilson(10, 20)[1] < (high or 1)


def test_excluded_labels_and_conditions_within_an_item() -> None:
    stem = load_protocol("stem-accuracy")
    share = next(one for one in stem.measures if one.name == "accurate").model_copy(update={"per": "item"})
    severe = next(one for one in stem.measures if one.name == "severely_inaccurate").model_copy(update={"per": "item"})
    own = stem.model_copy(update={"measures": (share, severe)})
    said: Ratings = {
        "ann": {
            "accuracy": ["Accurate", CANNOT, "Inaccurate", CANNOT, "Inaccurate", "Accurate"],
            "severity": [None, None, "Severe", None, Status.SKIPPED, None],
        }
    }
    found = measures(study(own, said, [0, 0, 0, 1, 2, 2]))
    accurate = one(found, "accurate", "ann")
    assert (accurate.estimate.value, accurate.left_out) == (pytest.approx((1 / 2 + 1 / 2) / 2), {"excluded_label": 1})
    severely = one(found, "severely_inaccurate", "ann")
    assert (severely.estimate.value, severely.left_out) == (1 / 2, {"incomplete": 1, "excluded_label": 1})


def test_a_study_on_disk_gives_the_figures_of_halo_rag(tmp_path: Path) -> None:
    items = [
        {"id": "a", "question": "Q?", "context": ["Big city."], "generated_answer": "Big. Old.", "gold_answer": "Big",
         "retrieved_docs": [4, 7], "relevant_docs": [7]},
        {"id": "b", "question": "Q?", "context": ["x"], "generated_answer": "No information.", "gold_answer": "Small"},
    ]  # fmt: skip
    made = {"a": [Claim("Big", A), Claim("Old", A), Claim("Big", G)], "b": [Claim("Small", G)]}
    labels = {"a": [S, N, S], "b": [N]}
    ratings = [
        {"rater": "ann", "item": item, "unit": unit, "criterion": "support", "value": value}
        for item, some in labels.items() for unit, value in enumerate(some, start=1)
    ]  # fmt: skip
    study = Study.create(tmp_path / "s.db", "halo-claims", items, claims=made)
    study.import_ratings(ratings)
    found = study.measures()
    values = {(one.statistic, one.label): one.estimate.value for one in found if one.rater in ("ann", None)}
    assert values["factual_precision", None] == 0.5
    assert values["factual_recall", None] == 0.5
    assert values["hallucination_rate", None] == 0.25
    assert values["abstention_rate", None] == 0.5
    assert values["coverage", None] == 0.5
    assert values["retrieval", "mrr"] == 0.5
    document = found.to_dict()["measures"]
    (recall,) = [one for one in document if one["label"] == "recall@1"]
    assert {name: recall[name] for name in ("name", "criterion", "rater", "value", "n")} == {
        "name": "retrieval", "criterion": None, "rater": None, "value": 0.0, "n": 1,
    }  # fmt: skip
    assert "retrieval  " in str(found)
    study.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert all(name in page for name in ("Factual precision", "ndcg@3", "Hallucination rate"))


def test_a_study_without_the_fields_is_silent_about_them(tmp_path: Path) -> None:
    item = {"question": "Q?", "context": ["x"], "generated_answer": "y"}
    study = Study.create(tmp_path / "s.db", "halo-support", [item])
    assert "retrieval" not in str(study.measures())
    assert [one.estimate.value for one in study.measures() if one.statistic == "retrieval"] == [None]
    study.report(tmp_path / "r.html")
    assert "recall@" not in (tmp_path / "r.html").read_text(encoding="utf-8")
