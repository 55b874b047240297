"""The policy for degenerate data, by every statistic that it names."""

import inspect
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

import evenhand.statistics as package
from evenhand.statistics.alpha import krippendorff_alpha
from evenhand.statistics.confusion import (
    Cross,
    cross,
    label_agreement,
    macro_f1,
    mean_over_labels,
    pair_percent,
    pair_within_one,
)
from evenhand.statistics.correlation import kendall, spearman
from evenhand.statistics.counts import Counts, count_wide, percent_agreement, rare_agreement, specific_agreement
from evenhand.statistics.estimate import Estimate, IntArray
from evenhand.statistics.icc import icc
from evenhand.statistics.intervals.bootstrap import Resampling
from evenhand.statistics.kappa import cohen_kappa, fleiss_kappa, gwet_ac
from evenhand.statistics.majority import match_with
from tests.statistics.reference import TABLE
from tests.statistics.tables import code_tables

RENAMED = {"correlation": "spearman"}
REMOVED = {"brennan_prediger"}
"""In the table of references, but no longer in the package."""
PLAN = Resampling(replicates=50)
POLICY: dict[str, dict[str, float | None]] = {row["case"]: row["expect"] for row in TABLE["policy_for_degenerate"]}


def scores_of(codes: IntArray) -> Estimate:
    return icc(np.where(codes >= 0, codes, np.nan))


EVERY: dict[str, Callable[[IntArray], Estimate]] = {
    "percent_agreement": lambda codes: percent_agreement(count_wide(codes, 4), plan=PLAN),
    "alpha": lambda codes: krippendorff_alpha(count_wide(codes, 4), "nominal", PLAN),
    "alpha_ordinal": lambda codes: krippendorff_alpha(count_wide(codes, 4), "ordinal", PLAN),
    "alpha_interval": lambda codes: krippendorff_alpha(count_wide(codes, 4), "interval", PLAN),
    "alpha_ratio": lambda codes: krippendorff_alpha(count_wide(codes, 4), "ratio", PLAN),
    "fleiss": lambda codes: fleiss_kappa(count_wide(codes, 4), plan=PLAN),
    "fleiss_quadratic": lambda codes: fleiss_kappa(count_wide(codes, 4), "quadratic", PLAN),
    "ac1": lambda codes: gwet_ac(count_wide(codes, 4), plan=PLAN),
    "ac2": lambda codes: gwet_ac(count_wide(codes, 4), "ordinal", PLAN),
    "kappa": lambda codes: cohen_kappa(cross(codes[:, 0], codes[:, 1], 4), plan=PLAN),
    "kappa_quadratic": lambda codes: cohen_kappa(cross(codes[:, 0], codes[:, 1], 4), "quadratic", PLAN),
    "spearman": lambda codes: spearman(cross(codes[:, 0], codes[:, 1], 4), PLAN),
    "kendall": lambda codes: kendall(cross(codes[:, 0], codes[:, 1], 4), PLAN),
    "icc": scores_of,
    "pair_percent": lambda codes: pair_percent(cross(codes[:, 0], codes[:, 1], 4), PLAN),
    "pair_within_one": lambda codes: pair_within_one(cross(codes[:, 0], codes[:, 1], 4), PLAN),
    "label": lambda codes: label_agreement(cross(codes[:, 0], codes[:, 1], 4), PLAN)[0],
    "macro_f1": lambda codes: macro_f1(cross(codes[:, 0], codes[:, 1], 4), PLAN),
    "mean_recall": lambda codes: mean_over_labels(cross(codes[:, 0], codes[:, 1], 4), "recall", plan=PLAN),
    "specific": lambda codes: specific_agreement(count_wide(codes, 4), PLAN)[0],
    "rare": lambda codes: rare_agreement(count_wide(codes, 4), PLAN),
    "standing": lambda codes: match_with(codes[:, 0], codes[:, 1]),
}
NOT_IN_EVERY = {"pair_statistics"}
"""Calls those of two raters; it is not a statistic of its own."""
CASES = {
    "every rating is the same label": np.full((10, 2), 2),
    "one rater constant, other varies": np.array([[1, 0], [1, 1], [1, 2], [1, 1], [1, 3]]),
    "perfect agreement, >=2 labels used": np.array([[0, 0], [1, 1], [2, 2], [1, 1]]),
}


def test_every_statistic_of_labels_is_checked() -> None:
    exported = inspect.getmembers(package, inspect.isfunction)
    of_labels = {
        name
        for name, function in exported
        if {Cross, Counts} & {one.annotation for one in inspect.signature(function, eval_str=True).parameters.values()}
    }
    called = {name for statistic in EVERY.values() for name in statistic.__code__.co_names}
    assert of_labels - called == NOT_IN_EVERY


@pytest.mark.parametrize("case", CASES)
def test_policy(case: str) -> None:
    for name, expected in POLICY[case].items():
        if name == "reason":
            continue
        name = RENAMED.get(name, name)
        if name not in EVERY:
            assert name in REMOVED, name
            continue
        found = EVERY[name](CASES[case])
        assert found.value == expected, name
        assert (found.why is None) == (expected is not None), name
        if name in ("kappa", "alpha", "fleiss") and expected is None:
            assert found.why is not None
            assert "expected disagreement is 0" in found.why


@pytest.mark.parametrize("name", EVERY)
def test_no_unit_rated_twice_leaves_everything_undefined(name: str) -> None:
    found = EVERY[name](np.array([[0, -1], [-1, 1], [2, -1]]))
    assert found.value is None
    assert found.low is None
    assert found.high is None
    assert found.why


def check(name: str, codes: IntArray) -> None:
    found = EVERY[name](codes)
    for number in (found.value, found.low, found.high):
        assert number is None or (isinstance(number, float) and math.isfinite(number))
    assert (found.value is None) == (found.why is not None)
    assert (found.low is None) == (found.high is None)
    if found.value is not None:
        assert (found.low is None) == (found.note is not None and found.note.startswith("no interval"))
    if found.value is not None and found.low is not None and found.high is not None:
        assert found.low - 1e-12 <= found.value <= found.high + 1e-12
    if found.value is not None:
        assert found.value <= 1.0 + 1e-12


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=60, deadline=None)
@given(codes=code_tables())
def test_never_nan_never_a_warning(name: str, codes: IntArray) -> None:
    check(name, codes)
