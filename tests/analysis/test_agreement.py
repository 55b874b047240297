"""Agreement of raters and pairs, against scikit-learn and by hand."""

import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from evenhand.analysis.agreement import criterion_agreement
from evenhand.analysis.measures import measures
from evenhand.analysis.tables import MOST_PAIRS, TableBuilder, Tables, compared
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Kind, RaterRef, Status, Value
from evenhand.report.numbers import pairs_left_out
from evenhand.statistics import Resampling, Votes
from tests.statistics import oracles

HALO = load_protocol("halo-support")
S, C, N = "SUPPORTED", "CONTRADICTED", "NO EVIDENCE"

ORDINAL = read_protocol(
    """\
name: mine
version: "1"
title: Mine
item: {fields: {turn: {role: rated}}}
criteria:
  - id: tone
    question: How is the tone?
    scale:
      type: ordinal
      levels: {1: {label: A, anchor: a}, 2: {label: B, anchor: b}, 3: {label: C, anchor: c}, 4: {label: D, anchor: d}}
""",
    "mine",
)


def tables_of(
    protocol: Protocol, ratings: Mapping[str, Sequence[Value | None]], kinds: Mapping[str, Kind] | None = None
) -> Tables:
    """One criterion, one column of values for each rater, None where there is none."""
    criterion = protocol.criteria[0]
    n_units = max((len(values) for values in ratings.values()), default=0)
    builder = TableBuilder(criterion, n_units, len(ratings))
    for rater, values in enumerate(ratings.values()):
        for unit, value in enumerate(values):
            if value is not None:
                builder.add(unit, rater, Status.RATED, value)
    raters = [RaterRef(name, (kinds or {}).get(name, Kind.PERSON)) for name in ratings]
    return Tables(protocol, raters, n_units, n_units, {criterion.id: builder.build()})


def test_a_pair_by_hand():
    # ann and auto on six units: same on four. Shares ann 3/6 S, 2/6 C, 1/6 N; auto 3/6, 1/6, 2/6.
    # Chance: 1/4 + 2/36 + 2/36 = 13/36. κ = (4/6 - 13/36) / (1 - 13/36) = 11/23.
    tables = tables_of(HALO, {"auto": [S, S, C, N, N, S], "ann": [S, S, C, C, N, C]}, {"auto": Kind.MODEL})
    tables_turned = criterion_agreement(tables.tables["support"]).pairs[0]
    assert (tables_turned.a, tables_turned.b, tables_turned.kind) == ("ann", "auto", "person-model")
    pair = tables_turned
    assert pair.percent.value == pytest.approx(4 / 6)
    # ann: S S C C N C is 2 S, 3 C, 1 N; auto: 3 S, 1 C, 2 N. Chance: (2·3 + 3·1 + 1·2) / 36 = 11/36.
    assert pair.kappa.value == pytest.approx((24 / 36 - 11 / 36) / (25 / 36))
    # Rows are the person: C was said three times, once by both.
    assert pair.confusion == [[2, 0, 0], [1, 1, 1], [0, 0, 1]]
    # S: either gave it on units 1, 2, 6; both on 1, 2.
    assert pair.per_label[S].value == pytest.approx(2 / 3)
    assert pair.per_label[C].value == pytest.approx(1 / 3)
    assert pair.per_label[N].value == pytest.approx(1 / 2)
    assert pair.kappa_quadratic is None


def test_pairs_agree_with_scikit_learn():
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 5, 80)
    noisy = {f"r{n}": np.clip(truth + rng.integers(-1, 2, 80), 1, 4).tolist() for n in range(3)}
    found = criterion_agreement(tables_of(ORDINAL, noisy).tables["tone"])
    assert [(pair.a, pair.b) for pair in found.pairs] == [("r0", "r1"), ("r0", "r2"), ("r1", "r2")]
    codes = {name: np.array(values) - 1 for name, values in noisy.items()}
    for pair in found.pairs:
        one, two = codes[pair.a], codes[pair.b]
        assert pair.kappa.value == pytest.approx(oracles.kappa(one, two, 4, None))
        assert pair.kappa_linear is not None
        assert pair.kappa_linear.value == pytest.approx(oracles.kappa(one, two, 4, "linear"))
        assert pair.kappa_quadratic is not None
        assert pair.kappa_quadratic.value == pytest.approx(oracles.kappa(one, two, 4, "quadratic"))
        assert pair.macro_f1.value == pytest.approx(oracles.macro_f1(one, two))
        assert pair.kappa.low is not None
        assert pair.kappa.high is not None
        assert pair.kappa.low < (pair.kappa.value or 0) < pair.kappa.high


def test_missing_ratings_leave_a_pair_its_shared_units():
    found = criterion_agreement(tables_of(HALO, {"ann": [S, None, C, N], "ben": [S, C, None, S]}).tables["support"])
    assert found.pairs[0].n == 2
    assert found.pairs[0].percent.value == 0.5
    assert found.n_units == 2


def test_one_label_only_is_no_coefficient_but_a_reason():
    found = criterion_agreement(tables_of(HALO, {"ann": [S] * 5, "ben": [S] * 5}).tables["support"])
    for estimate in (found.alpha, found.fleiss, found.pairs[0].kappa):
        assert estimate.value is None
        assert estimate.why == "every rating is the same label: expected disagreement is 0"
    assert found.percent.value == 1.0
    assert found.ac.value == 1.0
    assert found.warnings[0].startswith("100% of the ratings are SUPPORTED")


@pytest.mark.parametrize("ratings", [{}, {"ann": []}, {"ann": [S, C]}, {"ann": [S, None], "ben": [None, C]}])
def test_without_overlap_there_is_a_reason_and_no_number(ratings: Mapping[str, Sequence[Value | None]]):
    found = criterion_agreement(tables_of(HALO, ratings).tables["support"])
    assert found.alpha.value is None
    assert found.alpha.why
    assert found.percent.value is None
    assert all(pair.percent.value is None for pair in found.pairs)


def test_the_majority_is_that_of_units_with_two_votes_by_how_many_they_have():
    ratings = {"ann": [S, S, C, S, S, S], "ben": [S, S, N, C, None, None], "cem": [S, C, S, C, S, None]}
    majority = criterion_agreement(tables_of(HALO, ratings).tables["support"]).majority
    # Units 1 to 4 have three votes: all the same, two of three, none, two of three. Unit 5 has two, unit 6 one.
    assert majority.by_count == {2: Votes(n=1, full=1), 3: Votes(n=4, full=1, majority=2, none=1)}
    assert majority.votes == Votes(n=5, full=2, majority=2, none=1)
    # With a majority: units 1 (S), 2 (S), 4 (C), 5 (S). ann is with it on all but 4, cem on all but 2.
    matches = {name: (estimate.value, estimate.n) for name, estimate in majority.plain.items()}
    assert matches == {"ann": (0.75, 4), "ben": (1.0, 3), "cem": (0.75, 4)}


def test_any_plan_with_overlap_2_has_a_vote():
    # Three people, each unit rated by two of them.
    ratings = {"ann": [S, S, None], "ben": [S, None, C], "cem": [None, C, C]}
    assert criterion_agreement(tables_of(HALO, ratings).tables["support"]).majority.votes == Votes(3, 2, 0, 1)


@pytest.mark.parametrize("clustered", [False, True])
def test_the_figures_of_two_raters_have_one_interval(clustered: bool):
    rng = np.random.default_rng(4)
    ratings = {name: rng.choice([S, S, C, N], 60).tolist() for name in ("ann", "ben")}
    tables = tables_of(HALO, ratings)
    if clustered:
        tables = replace(tables, documents=np.arange(60) // 3)
    found = criterion_agreement(tables.tables["support"])
    assert found.percent.low is not None
    assert found.percent == found.ceiling == found.pairs[0].percent
    assert found.ac == found.pairs[0].ac


def test_a_third_rater_of_other_units_does_not_change_the_pair_s_interval():
    ratings = {"ann": [S, S, C, C, None], "ben": [S, C, C, N, None], "cem": [None, None, None, None, S]}
    found = criterion_agreement(tables_of(HALO, ratings).tables["support"])
    assert found.percent == found.pairs[0].percent
    assert found.unpaired == 2
    # AC reads how often each label was given, by cem, too.
    assert found.ac.value != found.pairs[0].ac.value


def test_people_s_own_agreement_stands_beside_the_models():
    ratings = {"ann": [S, C, N, S], "ben": [S, C, N, C], "auto": [C, C, C, C]}
    found = criterion_agreement(tables_of(HALO, ratings, {"auto": Kind.MODEL}).tables["support"])
    assert found.ceiling.value == 0.75
    assert found.baseline is not None
    # Of the people's eight ratings three are S and three are C: the first of the two is the commonest.
    assert found.baseline.baseline == 3 / 8
    assert [pair.kind for pair in found.pairs] == ["person-person", "person-model", "person-model"]


def test_free_answers_are_compared_on_whether_there_is_one():
    protocol = load_protocol("rag-quest-eval")
    ratings = {"ann": ["1910", "<Unanswerable>", "a lake"], "ben": ["in 1910", "<Unanswerable>", "<Unanswerable>"]}
    found = criterion_agreement(tables_of(protocol, ratings).compared().tables["answer"])
    assert list(found.labels) == ["answered", "<Unanswerable>"]
    assert found.percent.value == pytest.approx(2 / 3)


def test_other_free_text_is_not_compared():
    tables = tables_of(load_protocol("feedback"), {"ann": [5], "ben": [4]})
    assert "correctness" in tables.compared().tables
    improvements = load_protocol("feedback").criterion("improvements")
    assert compared(TableBuilder(improvements, 1, 1).build()) is None


def test_items_of_one_document_count_as_one_for_the_interval():
    rng = np.random.default_rng(11)
    # Twenty documents of ten items each; on a document the two raters agree on everything or on nothing.
    first = [S if n % 2 else C for n in range(200)]
    second = [
        S if (n % 2 == 1) == same else C
        for n, same in zip(range(200), np.repeat(rng.random(20) < 0.7, 10), strict=True)
    ]
    alone = tables_of(HALO, {"ann": first, "ben": second})
    together = replace(alone, documents=np.repeat(np.arange(20), 10))
    narrow, wide = (criterion_agreement(tables.tables["support"]).alpha for tables in (alone, together))
    assert narrow.value == wide.value
    assert narrow.low is not None
    assert wide.low is not None
    assert narrow.high is not None
    assert wide.high is not None
    # The effective number is twenty and not two hundred: the interval is about sqrt(10) times as wide.
    assert 2.5 < (wide.high - wide.low) / (narrow.high - narrow.low) < 4


def test_ratings_that_are_all_the_same_make_kappa_undefined_and_not_near_0():
    found = criterion_agreement(tables_of(HALO, {"ann": [S] * 5, "ben": [S] * 5}).tables["support"])
    assert "κ and α are undefined because every rating is the same" in found.warnings[0]
    nearly = criterion_agreement(tables_of(HALO, {"ann": [S] * 400, "ben": [S] * 399 + [C]}).tables["support"])
    assert nearly.warnings[0].startswith("More than 99% of the ratings are SUPPORTED. κ and α near 0 are then correct")


def test_an_icc_without_ratings_says_so():
    for ratings, why in (({}, "there are no ratings"), ({"ann": [1, 2]}, "there is only one rater")):
        found = criterion_agreement(tables_of(ORDINAL, ratings).tables["tone"]).icc
        assert found is not None
        assert found.why == why


def test_only_pairs_that_share_a_unit_are_computed_and_the_others_are_counted():
    # Raters 0 and 1 rate unit 0, raters 2 and 3 unit 1, and so on; 200 raters make 200 · 199 / 2 pairs.
    columns = {f"r{n:03}": [None] * (n // 2) + [S] for n in range(200)}
    found = criterion_agreement(tables_of(HALO, columns).tables["support"])
    assert [(pair.a, pair.b) for pair in found.pairs] == [(f"r{n:03}", f"r{n + 1:03}") for n in range(0, 200, 2)]
    assert found.unpaired == 19_900 - 100


def test_of_very_many_pairs_those_with_a_model_and_with_most_shared_units_are_compared():
    columns = {f"r{n}": [S, None] for n in range(38)} | {"r38": [S, S], "r39": [C, C], "auto": [C, S]}
    tables = tables_of(HALO, columns, {"auto": Kind.MODEL})
    found = criterion_agreement(tables.tables["support"], Resampling(replicates=50))
    assert (len(found.pairs), found.omitted, found.unpaired) == (MOST_PAIRS, 41 * 40 // 2 - MOST_PAIRS, 0)
    assert {pair.a for pair in found.pairs if pair.b == "auto"} == {f"r{n}" for n in range(40)}
    assert ("r38", "r39", 2) in {(pair.a, pair.b, pair.n) for pair in found.pairs}
    assert [line for line in pairs_left_out(found) if line.startswith("320 pairs")]
    kappas = measures(tables, only=["kappa_raters"], by=())
    assert {(one.against, one.rater) for one in kappas} == {(pair.a, pair.b) for pair in found.pairs}


PERCENT = read_protocol(
    """\
name: sure
version: "1"
title: Sure
item: {fields: {turn: {role: rated}}}
criteria: [{id: sure, question: How sure, scale: {type: percent}}]
""",
    "sure",
)


def test_percentages_are_compared_as_numbers_and_summed_up():
    found = criterion_agreement(
        tables_of(PERCENT, {"ann": [10.0, 99.5, 50.0, 0.0], "ben": [10.0, 99.0, 70.5, 20.0]}).tables["sure"]
    )
    (pair,) = found.pairs
    assert pair.percent.value == 0.25
    assert pair.within_one is not None
    assert pair.within_one.value == 0.5
    assert pair.kappa_quadratic is not None
    # Squared differences: 0, 0.25, 420.25, 400. Expected: over all sixteen combinations, per pair.
    ann, ben = np.array([10, 99.5, 50, 0]), np.array([10, 99, 70.5, 20])
    expected = (np.subtract.outer(ann, ben) ** 2).mean()
    assert pair.kappa_quadratic.value == pytest.approx(1 - 820.5 / 4 / expected)
    assert pair.kappa.value is None
    assert (pair.per_label, pair.labels, pair.confusion, found.specific) == ({}, (), [], {})
    assert found.values == {"different": 7, "lowest": 0.0, "median": 35.0, "mean": 44.875, "highest": 99.5}
    assert found.alpha.value is not None
    assert found.fleiss.value is None


@pytest.mark.parametrize("raters", [2, 3])
def test_ac2_of_percentages_is_that_of_the_scale_from_0_to_100(raters: int):
    # Only values from 40 to 70 occur, in tens.
    columns = [[40, 50, 60, 70, 40, 50], [40, 60, 60, 70, 50, 50], [50, 50, 60, 60, 40, 70]][:raters]
    tables = tables_of(PERCENT, {f"r{n}": [float(value) for value in column] for n, column in enumerate(columns)})
    found = criterion_agreement(tables.tables["sure"])
    given = np.array(columns)
    apart = np.mean([(a - b) ** 2 / 100**2 for a, b in combinations(given, 2)])
    share = np.array([(given == value).mean() for value in (40, 50, 60, 70)])
    # Two of the 101 whole percents differ by 1,700 in the mean square: the weights' sum is 101² · (1 - 0.17).
    chance = 1 - 101**2 * 0.83 / (101 * 100) * (share * (1 - share)).sum()
    assert found.ac.value == pytest.approx(1 - apart / chance)
    assert all(pair.ac.value is not None for pair in found.pairs)
    if raters == 2:
        assert found.pairs[0].ac.value == found.ac.value


def test_memory_for_percentages_grows_with_the_ratings_and_not_with_their_square():
    rng = np.random.default_rng(9)
    # 2,000 units and 4,000 different values: a table of units by values would take 64 MB, one of values 128 MB.
    values = rng.permutation(4_000) / 40.0
    tables = tables_of(PERCENT, {"ann": values[:2_000].tolist(), "ben": values[2_000:].tolist()})
    tracemalloc.start()
    found = criterion_agreement(tables.tables["sure"], Resampling(replicates=100))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.n_units == 2_000
    assert most < 60_000_000
