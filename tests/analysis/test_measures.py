"""The protocols' own figures, against hand derivations, scikit-learn and statsmodels."""

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evenhand.analysis.measures import measures
from evenhand.analysis.tables import Tables
from evenhand.analysis.targets import TargetResult, more_items_for_share, targets
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import UNANSWERABLE, Status
from tests.measured import CANNOT, Ratings, Said, custom, interval, one, study
from tests.statistics.oracles import metrics, proportion, weighted

SUPPORT = ("SUPPORTED", "CONTRADICTED", "NO EVIDENCE")


YES_NO = "scale: {type: nominal, labels: {yes: {definition: It is.}, no: {definition: It is not.}}}"


class TestMeans:
    SPEC = "{name: mean, kind: mean, criteria: [grade]}, {name: sd, kind: sd, criteria: [grade]}"
    LEVELS = ", ".join(f"{level}: {{label: L{level}, anchor: Level {level}.}}" for level in range(1, 6))
    GRADE = f"{{id: grade, question: How good, scale: {{type: ordinal, levels: {{{LEVELS}}}}}}}"

    def test_mean_and_sd_of_one_rater_have_the_t_interval_and_a_bootstrap(self):
        # 2, 3, 4, 3: mean 3, squares 1 + 0 + 1 + 0 over 3, sd = √(2/3).
        found = measures(study(custom(self.GRADE, self.SPEC), {"ann": {"grade": [2, 3, 4, 3]}}, 4))
        mean, sd = one(found, "mean", "ann"), one(found, "sd", "ann")
        assert (mean.estimate.value, mean.estimate.n) == (3.0, 4)
        assert interval(mean) == pytest.approx(weighted.DescrStatsW([2, 3, 4, 3]).tconfint_mean())
        assert sd.estimate.value == pytest.approx((2 / 3) ** 0.5)
        assert sd.estimate.low is not None
        assert 0 <= sd.estimate.low < (2 / 3) ** 0.5
        assert [m.rater for m in found] == ["ann", "ann"]

    def test_people_together_are_their_ratings_with_units_kept_together(self):
        # Ann 5 3, Ben 4 and nothing, the model apart: (5 + 3 + 4) / 3 = 4 over two units.
        ratings: Ratings = {"ann": {"grade": [5, 3]}, "ben": {"grade": [4, None]}, "auto": {"grade": [1, 1]}}
        found = measures(study(custom(self.GRADE, self.SPEC), ratings, 2))
        pooled = one(found, "mean", "people")
        assert (pooled.estimate.value, pooled.estimate.n) == (4.0, 2)
        assert pooled.detail == {"raters": ["ann", "ben"], "ratings": 3}
        assert one(found, "mean", "auto").estimate.value == 1.0
        # Deviations 5-4 + 4-4 = 1 and 3-4 = -1 of two clusters: √(2/1 · 2) / 3 = 2/3, times t(1) = 12.7062, which
        # leaves the scale on both sides.
        assert interval(pooled) == (1.0, 5.0)

    def test_an_average_needs_every_criterion(self):
        two = f"{self.GRADE}, {self.GRADE.replace('grade', 'tone')}"
        spec = "{name: both, kind: mean, criteria: [grade, tone], together: true}"
        ratings: Ratings = {"ann": {"grade": [5, 4, 3], "tone": [1, Status.SKIPPED, 2]}}
        both = one(measures(study(custom(two, spec), ratings, 3)), "both", "ann")
        assert (both.criterion, both.estimate.value, both.estimate.n) == (None, 2.75, 2)  # (3 + 2.5) / 2
        assert both.left_out == {"incomplete": 1}

    def test_what_failed_is_left_out_once_for_each_unit_and_in_its_stratum(self):
        whole = [Status.FAILED] * 2
        criteria = ("relevance", "accuracy", "completeness", "fluency", "kg_alignment")
        ratings: Ratings = {"auto": {name: [5, 4, 3, *whole] for name in criteria}}
        types = ["factual", "factual", "relational", "relational", "factual"]
        found = measures(study("neureg-qa", ratings, 5, {"question_type": types}))
        left_out = {str(m.stratum): m.left_out for m in found if (m.statistic, m.rater) == ("overall_mean", "auto")}
        assert left_out == {
            "None": {"failed": 2},
            "{'question_type': 'factual'}": {"failed": 1},
            "{'question_type': 'relational'}": {"failed": 1},
        }

    def test_percentages_have_means_but_no_kappa(self):
        sure = "{id: sure, question: How sure, scale: {type: percent}}"
        spec = "{name: mean, kind: mean, criteria: [sure]}, {name: same, kind: percent_match, criteria: [sure]}, "
        spec += "{name: kappa, kind: kappa, criteria: [sure]}, {name: vote, kind: majority, criteria: [sure]}"
        ratings: Ratings = {"ann": {"sure": [10.0, 99.5, 50.0]}, "auto": {"sure": [10.0, 99.0, None]}}
        found = measures(study(custom(sure, spec), ratings, 3))
        assert one(found, "mean", "ann").estimate.value == pytest.approx(159.5 / 3)
        assert one(found, "same", "auto", against="ann").estimate.value == 0.5
        assert "no labels" in str(one(found, "kappa").estimate.why)
        assert "no labels" in str(one(found, "vote").estimate.why)

    def test_strata_are_taken_one_field_at_a_time_and_in_the_combinations_that_the_protocol_names(self):
        levels = {"ann": {name: [5, 4, 1, 2] for name in ("relevance", "accuracy", "completeness", "fluency")}}
        labels = {"question_type": ["factual", "relational", "factual", None], "shot_type": ["zero"] * 4}
        found = [m for m in measures(study("neureg-qa", levels, 4, labels)) if m.criterion == "fluency"]
        means = {str(m.stratum): m.estimate.value for m in found if m.statistic == "mean"}
        assert means == {
            "None": 3.0,
            "{'question_type': 'factual'}": 3.0,  # (5 + 1) / 2
            "{'question_type': 'relational'}": 4.0,
            "{'shot_type': 'zero'}": 3.0,
            "{'question_type': 'factual', 'shot_type': 'zero'}": 3.0,
            "{'question_type': 'relational', 'shot_type': 'zero'}": 4.0,
        }
        single = one(found, "sd", "ann", stratum={"question_type": "relational"})
        assert single.estimate.why == "a standard deviation needs two ratings"


class TestProportions:
    def test_document_004(self):
        # Five sentences have a claim: 2 of 5 accurate, 2 of 5 inaccurate, 1 of 5 inaccurate and severe.
        accuracy = ["Accurate", "Accurate", "Inaccurate", "Inaccurate", "Unsupported", CANNOT]
        severity = [None, None, "Severe", "Not Severe", "Severe", None]
        found = measures(
            study("stem-accuracy", {"ann": {"accuracy": accuracy, "severity": severity}}, [0, 0, 0, 1, 1, 2])
        )
        values = {m.statistic: (m.estimate.value, m.estimate.n, m.left_out) for m in found}
        left_out = {"excluded_label": 1}
        assert values == {
            "accurate": (0.4, 5, left_out),
            "inaccurate": (0.4, 5, left_out),
            "severely_inaccurate": (0.2, 5, left_out),
        }

    def test_a_sentence_whose_severity_is_missing_is_neither_severe_nor_not(self):
        accuracy = ["Accurate", "Inaccurate", "Inaccurate", Status.FAILED]
        severity = [Status.NOT_ASKED, Status.SKIPPED, "Severe", Status.NOT_ASKED]
        found = measures(study("stem-accuracy", {"ann": {"accuracy": accuracy, "severity": severity}}, [0, 1, 2, 3]))
        assert one(found, "inaccurate", "ann").estimate.value == pytest.approx(2 / 3)
        severe = one(found, "severely_inaccurate", "ann")
        assert (severe.estimate.value, severe.estimate.n) == (0.5, 2)
        assert severe.left_out == {"failed": 1, "also_not_rated": 1}

    def test_a_share_whose_condition_was_never_answered_is_unknown(self):
        accuracy = ["Accurate", "Inaccurate", "Inaccurate", "Accurate"]
        found = measures(study("stem-accuracy", {"ann": {"accuracy": accuracy}}, [0, 1, 2, 3]))
        severe = one(found, "severely_inaccurate", "ann")
        assert severe.estimate.value is None
        assert severe.estimate.why == "none of 2 ratings answers its further condition"

    def test_a_share_whose_condition_was_answered_in_part_says_so(self):
        accuracy, severity = ["Accurate", "Inaccurate", "Inaccurate"], [None, None, "Severe"]
        found = measures(study("stem-accuracy", {"ann": {"accuracy": accuracy, "severity": severity}}, [0, 1, 2]))
        assert str(one(found, "severely_inaccurate", "ann").estimate.note).startswith("1 ratings lack an answer")

    def test_a_condition_on_what_was_not_asked_does_not_hold(self):
        criteria = f"{{id: fair, question: Fair, {YES_NO}}}, "
        criteria += f"{{id: gentle, question: Gentle, {YES_NO}, when: {{criterion: fair, any_of: [no]}}}}"
        spec = "{name: both, kind: proportion, criterion: fair, any_of: [yes, no], "
        spec += "also: {criterion: gentle, any_of: [yes]}}"
        ratings: Ratings = {"ann": {"fair": ["yes", "no", "no"], "gentle": [None, "yes", None]}}
        both = one(measures(study(custom(criteria, spec), ratings, 3)), "both", "ann")
        # The first was not asked: a miss. The third was asked and has no answer: left out.
        assert (both.estimate.value, both.left_out) == (0.5, {"also_not_rated": 1})
        assert interval(both) == pytest.approx(proportion.proportion_confint(1, 2, method="wilson"))


class TestAnswers:
    REFERENCES = ("Harbour Street", "Ilse Norden", "11 million euros", UNANSWERABLE)

    def test_document_001(self):
        # "Mill Street" against "Harbour Street" shares 1 word of 2 and 2: F1 0.5. The fourth question is no question.
        answers = ["Mill Street", "Ilse Norden", UNANSWERABLE, "April"]
        found = measures(study("rag-quest-eval", {"auto": {"answer": answers}}, [0, 0, 1, 1], None, self.REFERENCES))
        recall, precision, over_all = (one(found, name, "auto") for name in ("recall", "precision", "precision_all"))
        assert recall.estimate.value == pytest.approx(2 / 3)
        assert precision.estimate.value == 0.75
        assert over_all.estimate.value == 0.5
        assert [m.estimate.n for m in (recall, precision, over_all)] == [3, 2, 3]
        assert recall.left_out == over_all.left_out == {"unanswerable_reference": 1}
        assert precision.left_out == {"unanswerable_reference": 1, "unanswered": 1}

    def test_nothing_answered_has_a_recall_and_no_precision(self):
        answers = [UNANSWERABLE] * 3 + [Status.FAILED]
        found = measures(study("rag-quest-eval", {"auto": {"answer": answers}}, [0, 0, 1, 1], None, self.REFERENCES))
        assert one(found, "recall", "auto").estimate.value == 0.0
        assert one(found, "precision_all", "auto").estimate.value == 0.0
        precision = one(found, "precision", "auto")
        assert precision.estimate.why == "every rating is left out: 3 unanswered"
        assert precision.left_out == {"failed": 1, "unanswered": 3}


class TestPairs:
    ANN = ("SUPPORTED", "SUPPORTED", "CONTRADICTED", "NO EVIDENCE", "SUPPORTED", Status.SKIPPED)
    AUTO = ("SUPPORTED", "CONTRADICTED", "CONTRADICTED", "NO EVIDENCE", Status.FAILED, "SUPPORTED")

    def test_a_unit_is_left_out_under_one_reason(self):
        both = {"fluency": [1, 2, 3, 4], "accuracy": [1, 2, 3, 4]}
        other = {"fluency": [1, None, 3, 4], "accuracy": [1, Status.SKIPPED, 3, None]}
        tables = study("neureg-qa", {"ann": both, "auto": other}, 4)
        exact = [one(measures(tables), "exact_match", "auto", criterion=name) for name in both]
        assert [figure.left_out for figure in exact] == [{"unmatched": 1}, {"skipped": 1, "unmatched": 1}]
        together = measures(tables, together=("fluency", "accuracy"))
        joined = one(together, "exact_match", "auto", criterion=None)
        assert (joined.estimate.n, joined.left_out) == (5, {"skipped": 1, "unmatched": 2})

    def test_document_003(self):
        found = measures(study("halo-support", {"ann": {"support": self.ANN}, "auto": {"support": self.AUTO}}, 6))
        match = one(found, "percent_match", "auto", against="ann")
        assert (match.estimate.value, match.estimate.n) == (0.75, 4)
        assert interval(match) == pytest.approx(proportion.proportion_confint(3, 4, method="wilson"))
        # Units 5 and 6 have a reason of their own, so neither is also unmatched.
        assert match.left_out == {"skipped": 1, "failed": 1}
        # Shares 2, 1, 1 of 4 and 1, 2, 1 of 4: chance (2 + 2 + 1) / 16; κ = (0.75 - 5/16) / (11/16) = 7/11.
        assert one(found, "kappa", "auto").estimate.value == pytest.approx(7 / 11)
        per_label = {m.label: m.estimate.value for m in found if m.statistic == "per_label"}
        assert per_label == {"SUPPORTED": 0.5, "CONTRADICTED": 0.5, "NO EVIDENCE": 1.0}
        table = one(found, "confusion", "auto").detail
        counts = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
        assert table == {"labels": list(SUPPORT), "rows": "ann", "columns": "auto", "counts": counts}

    def test_kappa_of_every_pair_is_scikit_learn_s(self):
        codes = np.random.default_rng(1).integers(0, 3, size=(3, 60))
        codes[1] = np.where(np.arange(60) % 4, codes[0], codes[1])
        names = ("ann", "ben", "rule")
        ratings: Ratings = {
            name: {"support": [SUPPORT[int(c)] for c in row]} for name, row in zip(names, codes, strict=True)
        }
        found = measures(study("halo-support", ratings, 60))
        pairs = {(m.against, m.rater): m.estimate.value for m in found if m.statistic == "kappa_raters"}
        expected = {
            (names[a], names[b]): metrics.cohen_kappa_score(codes[a], codes[b]) for a, b in ((0, 1), (0, 2), (1, 2))
        }
        assert pairs == pytest.approx(expected)
        assert {m.against for m in found if m.statistic == "kappa"} == {"ann", "ben"}

    def test_models_are_held_against_the_people_s_majority(self):
        rng = np.random.default_rng(2)
        levels = np.clip(rng.integers(1, 6, size=40)[None, :] + rng.integers(-1, 2, size=(4, 40)), 1, 5)
        names = ("ann", "ben", "chloe", "auto")
        ratings = {name: {"fluency": row.tolist()} for name, row in zip(names, levels, strict=True)}
        found = measures(study("neureg-qa", ratings, 40))
        votes = [statistics.multimode(column) for column in levels[:3].T.tolist()]
        kept = [place for place, vote in enumerate(votes) if len(vote) == 1]
        truth, said = [votes[place][0] for place in kept], levels[3, kept]
        exact = one(found, "exact_match", "auto", criterion="fluency")
        assert exact.against == "people's majority"
        assert exact.estimate.value == pytest.approx(metrics.accuracy_score(truth, said))
        assert exact.left_out == {"no_majority": 40 - len(kept)}
        macro = one(found, "macro_f1", "auto", criterion="fluency")
        assert macro.estimate.value == pytest.approx(metrics.f1_score(truth, said, average="macro", zero_division=0))

    def test_the_vote_of_the_people(self):
        # Three voters: full, a majority, none. Two voters: full. One voter: no vote. The model has none.
        columns = {
            "ann": [5, 4, 1, 2, 3],
            "ben": [5, 4, 2, 2, None],
            "chloe": [5, 3, 3, None, None],
            "auto": [5, 3, 3, 1, 3],
        }
        found = measures(study("neureg-qa", {name: {"fluency": said} for name, said in columns.items()}, 5))
        vote = [m for m in found if m.statistic == "majority" and m.criterion == "fluency"]
        shares = {m.label: (m.estimate.value, (m.detail or {})["by_count"]) for m in vote if m.rater is None}
        assert shares == {
            "full": (0.5, {"2": 1, "3": 1}),
            "majority": (0.25, {"2": 0, "3": 1}),
            "none": (0.25, {"2": 0, "3": 1}),
        }
        assert {m.left_out["incomplete"] for m in vote} == {1}
        # A majority is on the first, second and fourth: 5, 4, 2.
        with_all = {m.rater: m.estimate.value for m in vote if m.against == "majority"}
        assert with_all == pytest.approx({"ann": 1.0, "ben": 1.0, "chloe": 0.5, "auto": 1 / 3})
        # Ann against Ben and Chloe: they agree on the first; on the fourth there is only Ben.
        others = {m.rater: (m.estimate.value, m.estimate.n) for m in vote if m.against == "majority of the others"}
        assert others["ann"] == (1.0, 2)
        # The model against all three: 5, 4, 2, and on the last unit Ann's 3.
        assert others["auto"] == (0.5, 4)

    def test_models_vote_if_there_are_no_two_people(self):
        columns = {"ann": [5, 4], "auto": [5, 3], "rule": [5, 3]}
        found = measures(study("neureg-qa", {name: {"fluency": said} for name, said in columns.items()}, 2))
        shares = {m.label: m.estimate.value for m in found if m.statistic == "majority" and m.criterion == "fluency"}
        assert (shares["full"], shares["majority"], shares["none"]) == (0.5, 0.5, 0.0)

    def test_between_all_holds_each_rater_against_the_others_majority(self):
        spec = "{name: exact, kind: exact_match, criteria: [fair]}"
        protocol = custom(f"{{id: fair, question: Fair, {YES_NO}}}", spec)
        columns = {"ann": ["yes", "no"], "ben": ["yes", "no"], "chloe": ["yes", "yes"]}
        found = measures(study(protocol, {name: {"fair": said} for name, said in columns.items()}, 2))
        assert {m.rater: m.estimate.value for m in found} == {"ann": 1.0, "ben": 1.0, "chloe": 0.5}
        assert {m.against for m in found} == {"majority of the others"}


def test_classification_is_scikit_learn_s():
    rng = np.random.default_rng(3)
    truth: list[str | None] = rng.choice(["AI", "human"], size=50).tolist()
    prediction: list[str | None] = rng.choice(["AI", "human"], size=50).tolist()
    labels = {"label": [*truth, None], "prediction": [*prediction, "AI"]}
    found = {m.statistic: m for m in measures(study("ai-detection", {}, 51, labels))}
    assert found["accuracy"].estimate.value == pytest.approx(metrics.accuracy_score(truth, prediction))
    for name in ("precision", "recall", "f1"):
        score: Callable[..., Any] = getattr(metrics, f"{name}_score")
        assert found[name].estimate.value == pytest.approx(score(truth, prediction, average="macro"))
        per_label = dict(
            zip(("AI", "human"), score(truth, prediction, average=None, labels=["AI", "human"]), strict=True)
        )
        assert (found[name].detail or {})["per_label"] == pytest.approx(per_label)
        assert found[name].estimate.low is not None
    matrix = metrics.confusion_matrix(truth, prediction, labels=["AI", "human"]).tolist()
    assert (found["confusion_matrix"].detail or {})["counts"] == matrix
    assert {(m.rater, m.estimate.n, m.left_out["no_label"]) for m in found.values()} == {(None, 50, 1)}


def test_classification_respects_documents():
    # Twenty documents of ten items, fifteen of them right on every item and five wrong on every item.
    truth = ["AI", "human"] * 100
    wrong = {"AI": "human", "human": "AI"}
    prediction = [label if item < 150 else wrong[label] for item, label in enumerate(truth)]
    alone = study("ai-detection", {}, 200, {"label": truth, "prediction": prediction})
    together = replace(alone, documents=np.repeat(np.arange(20), 10))
    narrow, wide = ({m.statistic: m for m in measures(tables)} for tables in (alone, together))
    assert (wide["accuracy"].estimate.value, wide["accuracy"].estimate.n) == (0.75, 200)
    assert interval(wide["accuracy"]) == pytest.approx((0.510, 0.896), abs=5e-4)
    for name in ("precision", "recall", "f1"):
        assert wide[name].estimate.value == narrow[name].estimate.value
        (low, high), (inner_low, inner_high) = interval(wide[name]), interval(narrow[name])
        assert low is not None
        assert high is not None
        assert inner_low is not None
        assert inner_high is not None
        # The effective number is twenty and not two hundred.
        assert high - low > 2.5 * (inner_high - inner_low)


def test_items_of_several_units_are_classified_by_their_documents():
    tables = study("ai-detection", {}, [0, 0, 1, 3, 3], {"label": ["AI"] * 4, "prediction": ["AI"] * 4})
    tables = replace(tables, documents=np.array([7, 7, 7, 8, 8]))
    (accuracy,) = (m.estimate for m in measures(tables, only={"accuracy"}))
    # Items 0 and 1 are one document, 2 has no unit and 3 another document: three clusters and t with two degrees.
    assert accuracy.low == pytest.approx(3 / (3 + 4.3027**2), abs=1e-4)


def test_a_label_that_is_never_predicted_has_a_precision_of_0_in_the_mean():
    labels = {"label": ["AI", "human", "human"], "prediction": ["human", "human", "human"]}
    found = {m.statistic: m.estimate.value for m in measures(study("ai-detection", {}, 3, labels))}
    assert found["precision"] == pytest.approx((0 + 2 / 3) / 2)
    assert found["recall"] == pytest.approx((0 + 1) / 2)
    assert found["f1"] == pytest.approx((0 + 0.8) / 2)


class TestTargets:
    @staticmethod
    def held(people: Sequence[Said], auto: Sequence[Said]) -> tuple[Tables, list[TargetResult]]:
        tables = study("halo-support", {"ann": {"support": people}, "auto": {"support": auto}}, len(people))
        return tables, targets(tables, measures(tables))

    def test_met_only_where_the_lower_end_clears_the_goal(self):
        _, (match, kappa) = self.held(SUPPORT * 40, SUPPORT * 40)
        assert (match.measure, match.goal, match.a, match.b) == ("percent_match", 0.85, "ann", "auto")
        assert (match.met, match.verdict, match.more_items) == (True, "met", 0)
        assert (kappa.met, kappa.goal) == (True, 0.70)

    @pytest.mark.parametrize("units", ["items of documents", "units of items"])
    def test_complete_agreement_meets_its_targets_where_units_belong_together(self, units: str):
        said, groups = (*SUPPORT, *SUPPORT[:1]) * 100, np.arange(400) // 4
        ratings = {"ann": {"support": said}, "auto": {"support": said}}
        if units == "units of items":
            tables = study("halo-support", ratings, groups.tolist())
        else:
            tables = replace(study("halo-support", ratings, 400), documents=groups)
        assert {(result.measure, result.verdict) for result in targets(tables)} == {
            ("percent_match", "met"),
            ("kappa", "met"),
        }

    def test_met_at_the_point_estimate_is_said_apart_with_what_would_settle_it(self):
        _, (match, _) = self.held(SUPPORT * 3, SUPPORT * 3)
        # Nine of nine: Wilson's lower end is n / (n + z²), above 0.85 from 0.85 z² / 0.15 = 21.8 units on.
        assert (match.met, match.verdict, match.more_items) == (False, "met at the point estimate", 22 - 9)

    def test_missed_and_undefined(self):
        _, (match, kappa) = self.held(SUPPORT * 20, (*SUPPORT[1:], SUPPORT[0]) * 20)
        assert {(result.met, result.verdict) for result in (match, kappa)} == {(False, "missed")}
        tables, results = self.held([*SUPPORT, None], [None, None, None, "SUPPORTED"])
        assert {(result.verdict, result.met, result.more_items) for result in results} == {("undefined", False, None)}
        assert json.loads(json.dumps([one.to_dict() for one in results], allow_nan=False))[0]["value"] is None
        shares = ("supported", "contradicted", "no_evidence")
        between = [measure for measure in measures(tables) if measure.statistic not in shares]
        assert all(measure.estimate.why for measure in between)

    def test_more_items_are_items_where_an_item_has_several_units(self):
        accuracy = ["Accurate"] * 9 + ["Inaccurate"]
        items = [unit // 2 for unit in range(40)]
        protocol = load_protocol("stem-accuracy")
        more = {"targets": ({"measure": "accurate", "at_least": 0.8},)}
        protocol = Protocol.model_validate({**protocol.model_dump(exclude_defaults=True), **more})
        tables = study(protocol, {"ann": {"accuracy": accuracy * 4}}, items)
        (result,) = targets(tables, measures(tables))
        assert (result.a, result.b, result.verdict) == ("ann", None, "met at the point estimate")
        low = result.estimate.low
        assert low is not None
        # The interval reaches 0.9 - low below the value and must reach 0.1: as many units times the square of that.
        units = np.ceil(40 * ((0.9 - low) / 0.1) ** 2) - 40
        assert result.more_items == np.ceil(units / 2)

    def test_more_items_for_a_label_are_items_of_any_label(self):
        # Ten of 200 units are CONTRADICTED for either, nine for both: as many more of them as a share of 9 of 10 needs,
        # of which there is one in 20 units.
        own = ["CONTRADICTED"] * 10 + ["SUPPORTED"] * 190
        other = ["CONTRADICTED"] * 9 + ["SUPPORTED"] * 191
        more = {"targets": ({"measure": "per_label", "at_least": 0.85},)}
        protocol = load_protocol("halo-support").model_dump(exclude_defaults=True)
        tables = study(
            Protocol.model_validate({**protocol, **more}), {"ann": {"support": own}, "auto": {"support": other}}, 200
        )
        found = {result.label: result for result in targets(tables, measures(tables))}
        more_of_them = more_items_for_share(9, 10, 0.85)
        assert more_of_them is not None
        assert found["CONTRADICTED"].more_items == 20 * more_of_them
        assert (found["SUPPORTED"].verdict, found["SUPPORTED"].more_items) == ("met", 0)

    def test_more_items_of_a_share_count_units_with_an_excluded_label(self):
        accuracy = ["Accurate"] * 9 + ["Inaccurate"] + [CANNOT] * 10
        protocol = load_protocol("stem-accuracy").model_dump(exclude_defaults=True)
        more = {"targets": ({"measure": "accurate", "at_least": 0.8},)}
        tables = study(Protocol.model_validate({**protocol, **more}), {"ann": {"accuracy": accuracy}}, list(range(20)))
        (result,) = targets(tables, measures(tables))
        alone = study(
            Protocol.model_validate({**protocol, **more}), {"ann": {"accuracy": accuracy[:10]}}, list(range(10))
        )
        (every,) = targets(alone, measures(alone))
        assert result.estimate == every.estimate
        assert every.more_items is not None
        assert result.more_items == 2 * every.more_items
