"""Every value of the reference table, each by the statistic that it names; none is left out."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest

from evenhand.agreement.alpha import krippendorff_alpha
from evenhand.agreement.alt_test import AltTest, alt_test
from evenhand.agreement.correlation import correlation, kendall_w, pair_correlation
from evenhand.agreement.counts import count_table
from evenhand.agreement.cross import cross_table
from evenhand.agreement.dawid_skene import Consensus, dawid_skene
from evenhand.agreement.fleiss import fleiss_category_kappa, fleiss_kappa, fleiss_null_z
from evenhand.agreement.gwet import brennan_prediger, gwet_ac
from evenhand.agreement.icc import FORMS, Form, icc
from evenhand.agreement.kappa import cohen_kappa, conger_kappa, kappa_standard_error, scott_pi
from evenhand.agreement.labels import macro_f1, pair_within_one, specific_agreement
from evenhand.agreement.percent import percent_agreement
from evenhand.agreement.ppi import ppi_mean, tuned_weight
from evenhand.agreement.result import Estimate
from evenhand.agreement.severity import severities
from tests.agreement.reference import CASES, EXPECTATIONS, TABLE, Expectation, coded, counts_of, pair_of, scores_table

Answer = Callable[[str], Estimate | float | None]


def custom_kappa(case: str) -> Estimate:
    return cohen_kappa(pair_of(case), 1.0 - np.array(CASES[case]["disagreement_weights"], dtype=np.float64), None)


def conger(case: str) -> Estimate:
    codes, values = coded(case)
    return conger_kappa(codes, len(values), plan=None)


def either_correlation(method: str) -> Answer:
    def answer(case: str) -> Estimate:
        assert method in ("pearson", "spearman", "kendall")
        content = CASES[case]
        if "table" in content:
            return pair_correlation(pair_of(case), method, None)
        return correlation(
            np.array(content["x"], dtype=np.float64), np.array(content["y"], dtype=np.float64), method, plan=None
        )

    return answer


def category(label: int) -> Answer:
    return lambda case: fleiss_category_kappa(counts_of(case), label, None)


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
    "fleiss_z": lambda case: fleiss_null_z(counts_of(case)),
    "brennan_prediger": lambda case: brennan_prediger(counts_of(case), "identity", None),
    "brennan_prediger_linear": lambda case: brennan_prediger(counts_of(case), "linear", None),
    "brennan_prediger_quadratic": lambda case: brennan_prediger(counts_of(case), "quadratic", None),
    "percent_agreement": lambda case: percent_agreement(counts_of(case), plan=None),
    "conger": conger,
    "kappa": lambda case: cohen_kappa(pair_of(case), "identity", None),
    "kappa_linear": lambda case: cohen_kappa(pair_of(case), "linear", None),
    "kappa_quadratic": lambda case: cohen_kappa(pair_of(case), "quadratic", None),
    "kappa_custom": custom_kappa,
    "kappa_se_asymptotic": lambda case: kappa_standard_error(pair_of(case)),
    "scott_pi": lambda case: scott_pi(pair_of(case), None),
    "macro_f1_rows_are_reference": lambda case: macro_f1(pair_of(case), None),
    "within_1": lambda case: pair_within_one(pair_of(case), None),
    "pearson": either_correlation("pearson"),
    "spearman": either_correlation("spearman"),
    "kendall_tau_b": either_correlation("kendall"),
    "kendall_W_tie_uncorrected": lambda case: kendall_w(scores_table(case), ties=False),
    **{f"fleiss_category_{label + 1}": category(label) for label in range(5)},
}


def icc_answer(form: Form, end: str | None) -> Answer:
    def answer(case: str) -> float | None:
        found = icc(scores_table(case), form)
        return found.value if end is None else found.low if end == "lo" else found.high

    return answer


for _form in FORMS:
    ANSWERS[_form] = icc_answer(_form, None)
    ANSWERS[f"{_form}_ci95_lo"] = icc_answer(_form, "lo")
    ANSWERS[f"{_form}_ci95_hi"] = icc_answer(_form, "hi")


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
    return specific_agreement(count_table(np.array(units)), 0, None)


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


@pytest.mark.parametrize("expected", EXPECTATIONS, ids=str)
def test_reference_value(expected: Expectation) -> None:
    answer = ANSWERS[expected.stat](expected.case)
    value = answer.value if isinstance(answer, Estimate) else answer
    if expected.value is None:
        assert value is None
    else:
        # The table gives ten digits.
        assert value == pytest.approx(expected.value, abs=max(expected.tolerance, 6e-11), rel=0)


def test_every_expectation_of_the_table_is_answered() -> None:
    assert len(EXPECTATIONS) == 327
    assert {expected.stat for expected in EXPECTATIONS} == set(ANSWERS)


def test_published_digits_are_reproduced() -> None:
    for case in TABLE["cases"]:
        for row in case["expect"]:
            if "published" in row:
                digits = len(str(row["published"]).partition(".")[2])
                assert row["value"] == pytest.approx(row["published"], abs=0.51 * 10**-digits)
