"""Every value of the reference table, each by the statistic that it names; none is left out."""

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest

from evenhand.statistics.alpha import krippendorff_alpha
from evenhand.statistics.confusion import Cross, cross_table, macro_f1, pair_within_one
from evenhand.statistics.correlation import cross_scores, kendall, spearman
from evenhand.statistics.counts import count_table, percent_agreement, specific_agreement
from evenhand.statistics.estimate import Estimate
from evenhand.statistics.icc import icc
from evenhand.statistics.kappa import cohen_kappa, fleiss_kappa, gwet_ac
from evenhand.statistics.models.alt_test import AltTest, alt_test
from evenhand.statistics.models.dawid_skene import Consensus, dawid_skene
from evenhand.statistics.models.prediction_powered import ppi_mean, tuned_weight
from evenhand.statistics.models.severity import severities
from tests.statistics.reference import CASES, EXPECTATIONS, TABLE, Expectation, counts_of, pair_of, scores_table

Answer = Callable[[str], Estimate | float | None]


def custom_kappa(case: str) -> Estimate:
    return cohen_kappa(pair_of(case), 1.0 - np.array(CASES[case]["disagreement_weights"], dtype=np.float64), None)


def ranked_pair(case: str) -> Cross:
    content = CASES[case]
    if "table" in content:
        return pair_of(case)
    x, y = (np.array(content[side], dtype=np.float64) for side in ("x", "y"))
    return cross_scores(x, y)


ANSWERS: dict[str, Answer] = {
    "alpha_nominal": lambda case: krippendorff_alpha(counts_of(case), "nominal", None),
    "alpha_ordinal": lambda case: krippendorff_alpha(counts_of(case), "ordinal", None),
    "alpha_interval": lambda case: krippendorff_alpha(counts_of(case), "interval", None),
    "alpha_ratio": lambda case: krippendorff_alpha(counts_of(case), "ratio", None),
    "ac1": lambda case: gwet_ac(counts_of(case), "identity", None),
    "ac2_linear": lambda case: gwet_ac(counts_of(case), "linear", None),
    "ac2_quadratic": lambda case: gwet_ac(counts_of(case), "quadratic", None),
    "fleiss_kappa": lambda case: fleiss_kappa(counts_of(case), "identity", None),
    "fleiss_kappa_linear": lambda case: fleiss_kappa(counts_of(case), "linear", None),
    "fleiss_kappa_quadratic": lambda case: fleiss_kappa(counts_of(case), "quadratic", None),
    "percent_agreement": lambda case: percent_agreement(counts_of(case), plan=None),
    "kappa": lambda case: cohen_kappa(pair_of(case), "identity", None),
    "kappa_linear": lambda case: cohen_kappa(pair_of(case), "linear", None),
    "kappa_quadratic": lambda case: cohen_kappa(pair_of(case), "quadratic", None),
    "kappa_custom": custom_kappa,
    "macro_f1_rows_are_reference": lambda case: macro_f1(pair_of(case), None),
    "within_1": lambda case: pair_within_one(pair_of(case), None),
    "spearman": lambda case: spearman(ranked_pair(case), None),
    "kendall_tau_b": lambda case: kendall(ranked_pair(case), None),
}


def icc_answer(end: str | None) -> Answer:
    def answer(case: str) -> float | None:
        found = icc(scores_table(case))
        return found.value if end is None else found.low if end == "lo" else found.high

    return answer


ANSWERS.update({"ICC2": icc_answer(None), "ICC2_ci95_lo": icc_answer("lo"), "ICC2_ci95_hi": icc_answer("hi")})


@lru_cache
def consensus(case: str) -> Consensus:
    long = np.array(CASES[case]["long"], dtype=np.int64) - 1
    return dawid_skene(long[:, 0], long[:, 1], long[:, 2], 4)


def class_marginal(label: int) -> Answer:
    return lambda case: float(consensus(case).shares[label])


def hard_label(unit: int) -> Answer:
    return lambda case: float(consensus(case).labels[unit] + 1)


ANSWERS.update({f"class_marginal_{label + 1}": class_marginal(label) for label in range(4)})
ANSWERS.update({f"hard_label_item_{unit}": hard_label(unit) for unit in (0, 1, 2, 7, 10, 35)})


def growing_kappa(rest: int) -> Answer:
    def answer(case: str) -> Estimate:
        a, b, c = CASES[case]["a_b_c"]
        return cohen_kappa(cross_table(np.array([[a, b], [c, rest]])), "identity", None)

    return answer


def positive_agreement(case: str) -> Estimate:
    a, b, c = CASES[case]["a_b_c"]
    units = [[2, 0]] * a + [[1, 1]] * (b + c) + [[0, 2]] * 100
    return specific_agreement(count_table(np.array(units)), None)[0]


ANSWERS.update({f"kappa_d={rest}": growing_kappa(rest) for rest in (100, 10_000, 1_000_000)})
ANSWERS["positive_specific_agreement_equals_F1"] = positive_agreement


def duel(scoring: str, epsilon: float) -> Callable[[str], AltTest]:
    def answer(case: str) -> AltTest:
        assert scoring in ("accuracy", "neg_rmse")
        return alt_test(scores_table(case), np.array(CASES[case]["judge"], dtype=np.float64), scoring, epsilon)

    return answer


def duel_answer(scoring: str, epsilon: float, name: str) -> Answer:
    run = duel(scoring, epsilon)
    return lambda case: run(case).winning_rate if name == "winning_rate" else run(case).advantage


for _scoring in ("accuracy", "neg_rmse"):
    for _epsilon in (0.0, 0.1, 0.2):
        for _name in ("winning_rate", "advantage_prob"):
            ANSWERS[f"{_name}|{_scoring}|eps={_epsilon}"] = duel_answer(_scoring, _epsilon, _name)


def powered(weight: float | None) -> Answer:
    def answer(case: str) -> Estimate:
        human, model, more = (np.array(CASES[case][key], dtype=np.float64) for key in ("Y", "F", "Fu"))
        return ppi_mean(human, model, more, "tuned" if weight is None else weight).combined

    return answer


def powered_weight(case: str) -> float:
    return tuned_weight(*(np.array(CASES[case][key], dtype=np.float64) for key in ("Y", "F", "Fu")))


ANSWERS.update({f"ppi_mean|lam={weight}": powered(weight) for weight in (0.0, 0.5, 1.0)})
ANSWERS.update({"ppi++_mean_tuned": powered(None), "ppi++_lambda": powered_weight})


def severity(rater: int) -> Answer:
    def answer(case: str) -> Estimate:
        rows = CASES[case]["items_x_raters_rows_as_strings"]
        return severities(np.array([[int(mark) for mark in row] for row in rows])).raters[rater]

    return answer


ANSWERS.update({f"severity_rater_{rater + 1}": severity(rater) for rater in range(4)})


REMOVED = re.compile(
    "ICC(1|3|1k|2k|3k)(_ci95_..)?|fleiss_(z|category_.)|brennan_prediger.*|conger|scott_pi|kappa_se_asymptotic"
    "|pearson|kendall_W_.*"
)
"""Statistics in the table of references that no function of the package computes."""
CHECKED = [expected for expected in EXPECTATIONS if not REMOVED.fullmatch(expected.stat)]


@pytest.mark.parametrize("expected", CHECKED, ids=str)
def test_reference_value(expected: Expectation) -> None:
    answer = ANSWERS[expected.stat](expected.case)
    value = answer.value if isinstance(answer, Estimate) else answer
    if expected.value is None:
        assert value is None
    else:
        # The table gives ten digits.
        assert value == pytest.approx(expected.value, abs=max(expected.tolerance, 6e-11), rel=0)


def test_every_expectation_of_the_table_is_answered() -> None:
    assert len(EXPECTATIONS) >= 327  # rows may be added; none may be lost
    assert {expected.stat for expected in CHECKED} == set(ANSWERS)


def test_published_digits_are_reproduced() -> None:
    for case in TABLE["cases"]:
        for row in case["expect"]:
            if "published" in row:
                digits = len(str(row["published"]).partition(".")[2])
                assert row["value"] == pytest.approx(row["published"], abs=0.51 * 10**-digits)
