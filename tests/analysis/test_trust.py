"""Trust in raters: small cases worked out by hand, simulated studies whose truth is known, the samples, odd data."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib.resources import files
from math import isfinite, sqrt
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from evenhand.analysis.comparison import compare
from evenhand.analysis.disagreements import disputed, disputed_together
from evenhand.analysis.tables import TableBuilder, Tables
from evenhand.analysis.trust import Trust, trust
from evenhand.formats.items import read_items
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Kind, RaterRef, Status, Value
from evenhand.report.trust_sentences import in_words
from evenhand.statistics import FloatArray, IntArray, Resampling, alt_test_beside_constant, ppi_mean
from evenhand.study import Study
from tests.sample_units import units_of_sample

QUICK = Resampling(replicates=200)
ANN, BEN, CHLOE = (RaterRef(name, Kind.PERSON) for name in ("ann", "ben", "chloe"))
AUTO, RIVAL = RaterRef("auto", Kind.MODEL), RaterRef("rival", Kind.RULE)
S, C, N = "SUPPORTED", "CONTRADICTED", "NO EVIDENCE"
PERCENT = """\
name: sure
version: "1"
title: Sure
item: {fields: {text: {role: rated}}}
criteria: [{id: share, question: How much of it holds, scale: {type: percent}}]
"""

Rows = Sequence[Value | None]


def study(
    protocol: str | Protocol,
    ratings: Mapping[str, Mapping[RaterRef, Rows]],
    confidence: Mapping[str, Mapping[RaterRef, Sequence[float | None]]] | None = None,
    labels: Mapping[str, Sequence[str | None]] | None = None,
    clusters: IntArray | None = None,
    order: Sequence[int] | None = None,
) -> Tables:
    """Criterion → rater → a value for each unit, None where there is none; all criteria have tables."""
    protocol = load_protocol(protocol) if isinstance(protocol, str) else protocol
    raters = list(dict.fromkeys(rater for of in ratings.values() for rater in of))
    units = max((len(values) for of in ratings.values() for values in of.values()), default=0)
    builders = {each.id: TableBuilder(each, units, len(raters)) for each in protocol.criteria}
    for name, of in ratings.items():
        for rater, values in of.items():
            sure = (confidence or {}).get(name, {}).get(rater, [None] * len(values))
            for unit in order if order is not None else range(len(values)):
                if values[unit] is not None:
                    builders[name].add(unit, raters.index(rater), Status.RATED, values[unit], sure[unit])
    tables = {name: builder.build() for name, builder in builders.items()}
    items = units if clusters is None else int(clusters.max()) + 1
    return Tables(protocol, raters, items, units, tables, clusters, labels or {})


def scores(values: FloatArray | IntArray) -> list[Value | None]:
    return [None if np.isnan(value) else int(value) for value in values]


def numbers(thing: object) -> Iterator[float]:
    """Every float that a result holds, however deep."""
    if is_dataclass(thing) and not isinstance(thing, type):
        for each in fields(thing):
            yield from numbers(getattr(thing, each.name))
    elif isinstance(thing, Mapping):
        for each in cast("Mapping[object, object]", thing).values():
            yield from numbers(each)
    elif isinstance(thing, list | tuple):
        for each in cast("Sequence[object]", thing):
            yield from numbers(each)
    elif isinstance(thing, float):
        yield thing


def sound(tables: Tables, criterion: str) -> Trust:
    """The whole of it runs, without NaN, infinity, or words that a program left behind."""
    found = trust(tables, criterion, QUICK)
    worst = disputed(tables, criterion), disputed_together(tables)
    assert all(isfinite(number) for number in numbers((found, worst)))
    words = in_words(found)
    assert not [text for text in words if "nan" in text.split() or "None" in text or not text.endswith(".")]
    return found


# Prediction-powered estimates


def test_the_mean_is_the_models_corrected_by_the_people():
    # People's values: (4 + 5) / 2 = 4.5 and 2. The model says 5 and 3 there, so it is 0.75 too high on average (4
    # against 3.25); of the forty further units it says 4 and 2 by turns, mean 3: combined 3.25 + (3 - 4) = 2.25.
    # Its own mean is (5 + 3 + 20 · 4 + 20 · 2) / 42.
    tables = study(
        "neureg-qa",
        {"accuracy": {ANN: [4, 2, *[None] * 40], BEN: [5, *[None] * 41], AUTO: [5, 3, *[4, 2] * 20]}},
    )
    found = trust(tables, "accuracy", QUICK).models[0].powered
    one = found.estimates["mean"]
    assert (found.labelled, found.further, found.tied, found.people_only, found.why) == (2, 40, 0, 0, None)
    assert (one.combined.value, one.human_only.value, one.model_only.value) == pytest.approx((2.25, 3.25, 128 / 42))
    assert (one.weight, one.tuned) == (1.0, False)
    assert one.note is not None


def test_no_mean_is_beyond_the_ends_of_the_scale():
    # The model gives ann's fives a four and all others a five: corrected by that, they would have a mean of 5.9.
    own, model = [5] * 36 + [4] * 4, [4] * 36 + [3] * 4 + [5] * 60
    found = trust(study("neureg-qa", {"relevance": {ANN: own + [None] * 60, AUTO: model}}), "relevance", QUICK)
    (powered,) = found.models[0].powered.estimates.values()
    assert powered.weight == 1.0
    for one in (powered.combined, powered.human_only, powered.model_only):
        assert all(1.0 <= end <= 5.0 for end in (one.value, one.low, one.high) if end is not None)
    assert powered.combined.value == 5.0


def test_a_mean_without_an_interval_is_told_with_the_reason():
    own, model = [4] * 3 + [5] * 97, [4] * 4 + [5] * 96
    ratings = {"relevance": {ANN: own + [None] * 60, AUTO: model + [5] * 60}}
    told = in_words(trust(study("neureg-qa", ratings), "relevance", QUICK))
    (powered,) = (words for words in told if "corrected by them" in words)
    assert "(no interval: the human ratings leave too little to go by)" in powered


def test_a_model_with_few_further_units_gets_no_weight():
    # A model that says what the people say, and two units more: their spread, which is 0, tells nothing.
    same = [S, C, N] * 20
    tables = study("halo-support", {"support": {ANN: [*same, None, None], AUTO: [*same, S, S]}})
    one = trust(tables, "support", QUICK).models[0].powered.estimates[S]
    assert one.combined.value == pytest.approx(1 / 3)
    assert one.weight == 0.0
    assert one.note == "the model rated only 2 further units: people alone"
    assert not [text for text in in_words(trust(tables, "support", QUICK)) if "is off" in text]


def test_labels_count_by_the_majority_and_ties_are_left_out():
    # Majorities: S, C, none, and S on a unit that the model left out. The model: S, S; further S, N by turns.
    # Share of S: people 1/2, model there 1, further 1/2: 1/2 + (1/2 - 1) = 0. Of C: 1/2 + (0 - 0) = 1/2. Of N: 1/2.
    nobody = [None] * 40
    people = {ANN: [S, C, S, S, *nobody], BEN: [S, None, C, None, *nobody]}
    tables = study("halo-support", {"support": {**people, AUTO: [S, S, S, None, *[S, N] * 20]}})
    found = trust(tables, "support", QUICK).models[0].powered
    assert (found.labelled, found.further, found.tied, found.people_only) == (2, 40, 1, 1)
    assert {label: one.combined.value for label, one in found.estimates.items()} == pytest.approx(
        {S: 0.0, C: 0.5, N: 0.5}
    )
    assert "Left out of this: 1 unit without a majority label of the people and 1 unit that people rated" in " ".join(
        in_words(trust(tables, "support", QUICK))
    )


def test_nothing_is_gained_without_further_units():
    tables = study("neureg-qa", {"accuracy": {ANN: [4, 2, 3], AUTO: [5, 3, 3]}})
    found = trust(tables, "accuracy", QUICK).models[0].powered
    one = found.estimates["mean"]
    assert found.further == 0
    assert found.why == "the model rated no units beyond those that people rated, so it adds nothing to their figures"
    assert one.weight == 0.0
    assert one.combined.value == one.human_only.value == 3.0


def simulated(units: int, rated: int, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Two people on the first units and a model on all, half a point too kind; the people's values of all units."""
    generator = np.random.default_rng(seed)
    quality = generator.normal(3.0, 0.9, units)

    def told(shift: float) -> FloatArray:
        return np.clip(np.rint(quality + shift + 0.4 * generator.normal(size=units)), 1, 5)

    people = np.stack((told(0.0), told(0.0)), axis=1)
    truth = people.mean(axis=1)
    people[rated:] = np.nan
    return people, told(0.5), truth


def test_the_truth_is_covered_where_the_model_alone_misses_it():
    people, model, truth = simulated(4000, 300)
    tables = study(
        "neureg-qa", {"accuracy": {ANN: scores(people[:, 0]), BEN: scores(people[:, 1]), AUTO: scores(model)}}
    )
    found = trust(tables, "accuracy", QUICK)
    one = found.models[0].powered.estimates["mean"]
    assert one == ppi_mean(truth[:300], model[:300], model[300:])
    low, high = one.combined.low, one.combined.high
    assert low is not None
    assert high is not None
    assert low < float(truth.mean()) < high
    assert one.model_only.low is not None
    assert one.model_only.low > float(truth.mean()) + 0.3
    assert "On its own, auto is biased: its mean lies outside the range that the people's ratings allow." in in_words(
        found
    )


# May it stand in for a person?


def test_the_stand_in_test_reads_the_units_that_two_people_and_the_model_share():
    people, model, _ = simulated(60, 60)
    people = np.column_stack((people, np.clip(people[:, 0] + 1, 1, 5)))
    people[:10, 1:] = np.nan
    people[20:30, 2] = np.nan
    model[55:] = np.nan
    columns = {rater: scores(people[:, place]) for place, rater in enumerate((ANN, BEN, CHLOE))}
    found = trust(study("neureg-qa", {"accuracy": {**columns, AUTO: scores(model)}}), "accuracy", QUICK, epsilon=0.1)
    test = found.models[0].stand_in
    # By hand: units 10 to 54 have at least two people and the model; the others are in no duel.
    expected, _, _ = alt_test_beside_constant(people, model, "neg_rmse", 0.1)
    assert (test.model, test.epsilon, test.n_units) == (expected, 0.1, 45)
    assert test.people == test.took_part == ["ann", "ben", "chloe"]


def test_a_model_as_good_as_a_person_passes_where_a_constant_does_not():
    people, _, _ = simulated(300, 300)
    columns = {ANN: scores(people[:, 0]), BEN: scores(people[:, 1]), AUTO: scores(people[:, 0])}
    test = trust(study("neureg-qa", {"accuracy": columns}), "accuracy", QUICK).models[0].stand_in
    assert test.beside is not None
    assert test.model is not None
    assert (test.model.passed, test.beside.passed) == (True, False)
    assert test.meaning.startswith("auto passes the stand-in test (it replaces 2 of 2 people, being forgiven")
    assert test.note is not None
    assert "only two people" in test.note


def test_on_skewed_ratings_a_constant_passes_and_is_said_to():
    generator = np.random.default_rng(4)
    people = np.where(generator.random((400, 3)) < 0.96, 5, 4)
    columns = {rater: scores(people[:, place]) for place, rater in enumerate((ANN, BEN, CHLOE))}
    found = trust(study("neureg-qa", {"fluency": {**columns, AUTO: [5] * 400}}), "fluency", QUICK)
    test = found.models[0].stand_in
    assert test.model is not None
    assert test.beside is not None
    assert (test.model.passed, test.beside.passed, test.constant) == (True, True, 5)
    assert test.meaning.endswith("but so does a rater who always says 5: here passing shows nothing.")
    assert test.meaning in in_words(found)


@pytest.mark.parametrize(
    ("people", "units", "reason"),
    [
        ((), 40, "no person rated"),
        ((ANN,), 40, "1 person rated"),
        ((ANN, BEN), 29, "29 units were rated by the model and two people, fewer than 30"),
    ],
)
def test_too_few_for_the_stand_in_test_is_said(people: Sequence[RaterRef], units: int, reason: str):
    columns: dict[RaterRef, Rows] = {person: [1, 3] * (units // 2) + [2] * (units % 2) for person in people}
    tables = study("neureg-qa", {"accuracy": {**columns, AUTO: [3] * units}})
    test = sound(tables, "accuracy").models[0].stand_in
    assert test.model is None
    assert test.why is not None
    assert test.why.startswith(reason)
    assert test.meaning == f"Whether auto could replace a person cannot be tested: {test.why}."


# Matching the people


FOUR = {ANN: [S, S, C, N], BEN: [S, S, C, C], CHLOE: [S, C, C, N], AUTO: [S, C, C, C]}


def test_match_with_the_majority_leaves_the_rater_out():
    # The people's majorities: S, S, C, N; the model has two of them. Without ann the units 2 and 4 are tied, and she
    # matches on the rest; without ben unit 2 is tied, and he misses N; without chloe unit 4 is, and she misses S.
    found = trust(study("halo-support", {"support": FOUR}), "support", QUICK)
    assert found.models[0].standing.match.value == 0.5
    assert {one.rater: (one.match.value, one.match.n) for one in found.people} == {
        "ann": (1.0, 2),
        "ben": (pytest.approx(2 / 3), 3),
        "chloe": (pytest.approx(2 / 3), 3),
    }


def test_a_model_and_a_person_meet_the_same_majority():
    # Compared with ann and chloe (S, tie, C, N): the model S C C, ben S C C of three. Against ann and ben (S, S, C,
    # tie): the model S -, C of three, chloe the same.
    found = trust(study("halo-support", {"support": FOUR}), "support", QUICK).models[0].against
    told = {one.second: (one.n, one.match.first, one.match.second) for one in found if one.match is not None}
    assert told == {
        "ann": (4, 1.0, 1.0),
        "ben": (4, pytest.approx(2 / 3), pytest.approx(2 / 3)),
        "chloe": (4, pytest.approx(2 / 3), pytest.approx(2 / 3)),
    }
    assert [one.weights for one in found] == ["kappa"] * 3
    assert [one.distance for one in found] == [None] * 3


def test_scores_are_compared_by_their_distance_from_the_others():
    # Others of auto and ann: ben alone, 3 3 3 3. auto is 1 1 0 0 away, ann 2 2 2 0: mean 0.5 against 1.5.
    tables = study("neureg-qa", {"accuracy": {ANN: [5, 5, 1, 3], BEN: [3, 3, 3, 3], AUTO: [4, 2, 3, 3]}})
    (one, _) = trust(tables, "accuracy", QUICK).models[0].against
    assert (one.first, one.second) == ("auto", "ann")
    assert one.distance is not None
    assert (one.distance.first, one.distance.second) == (0.5, 1.5)
    # Differences -1 -1 -2 0: mean -1, sd sqrt(2/3), and t(0.975; 3) = 3.1824.
    reach = 3.1824 * sqrt(2 / 3) / 2
    assert (one.distance.difference.low, one.distance.difference.high) == pytest.approx(
        (-1 - reach, -1 + reach), abs=1e-4
    )
    assert one.match is not None
    assert (one.match.first, one.match.second) == (0.5, 0.25)
    assert one.weights == "kappa_quadratic"


def test_of_two_models_the_closer_one_is_named():
    generator = np.random.default_rng(2)
    truth = generator.integers(0, 3, 200)
    labels = np.array([S, C, N])

    def told(right: float) -> list[Value | None]:
        seen = np.where(generator.random(200) < right, truth, generator.integers(0, 3, 200))
        return [str(label) for label in labels[seen]]

    tables = study("halo-support", {"support": {ANN: told(0.95), BEN: told(0.95), AUTO: told(0.9), RIVAL: told(0.4)}})
    found = trust(tables, "support", QUICK)
    assert [one.rater for one in found.models] == ["auto", "rival"]
    assert len(found.rivals) == 1
    assert (found.rivals[0].first, found.rivals[0].second) == ("auto", "rival")
    assert found.rivals[0].match is not None
    assert found.rivals[0].match.p is not None
    assert found.rivals[0].match.p < 1e-6
    assert any(text.startswith("Compared with the people") and "auto is closer" in text for text in in_words(found))


def test_a_comparison_without_another_person_has_a_reason():
    alone = study("halo-support", {"support": {ANN: [S, C], AUTO: [S, S]}})
    (one,) = trust(alone, "support", QUICK).models[0].against
    assert one.why == "no unit was rated by both and by another person"


def test_a_crowd_is_counted_and_not_listed():
    generator = np.random.default_rng(5)
    crowd = {RaterRef(f"p{place:02}", Kind.PERSON): scores(generator.integers(1, 6, 12)) for place in range(60)}
    found = sound(study("neureg-qa", {"accuracy": {**crowd, AUTO: scores(generator.integers(1, 6, 12))}}), "accuracy")
    assert (len(found.people), len(found.models[0].against), found.models[0].people_left_out) == (60, 50, 10)
    words = in_words(found)
    assert len(words) < 12
    # 61 raters at 95 %.
    assert any(text.startswith("Of 61 raters") and "would give about 3 of either" in text for text in words)


# Confidence


def test_confidence_is_checked_against_the_other_people():
    # ann matches ben on three of four units and says 80, 80, 80, 40: sure 0.7, right 0.75. The model matches where the
    # two agree (units 1, 2, 4) on two of three and says 90 each time: 0.9 - 2/3.
    tables = study(
        "feedback",
        {"overall": {ANN: [5, 5, 3, 2], BEN: [5, 5, 4, 2], AUTO: [5, 5, 3, 1]}},
        {"overall": {ANN: [80, 80, 80, 40], AUTO: [90, 90, 90, 90]}},
    )
    ann, auto = sound(tables, "overall").confidences
    assert (ann.rater, ann.stated, ann.lent, auto.stated) == ("ann", 4, 0, 4)
    assert ann.calibration is not None
    assert auto.calibration is not None
    assert ann.calibration.overconfidence.value == pytest.approx(0.7 - 0.75)
    assert (auto.calibration.n, auto.calibration.overconfidence.value) == (3, pytest.approx(0.9 - 2 / 3))


def test_confidence_in_the_unit_is_lent_to_its_other_criteria():
    # Stated with the leading criterion, overall; ann's tone has a confidence of its own on the first unit.
    tables = study(
        "feedback",
        {"overall": {ANN: [1, 1, None], BEN: [5, 5, 5]}, "tone": {ANN: [5, 5, 4], BEN: [5, 4, 4]}},
        {"overall": {ANN: [60, 60, None]}, "tone": {ANN: [100, None, None]}},
    )
    (ann,) = sound(tables, "tone").confidences
    # Units 1 (sure 1.0, right) and 2 (0.6, wrong): 0.8 - 0.5.
    assert (ann.stated, ann.lent) == (2, 1)
    assert ann.calibration is not None
    assert ann.calibration.overconfidence.value == pytest.approx(0.3)


def test_no_confidence_and_nobody_to_check_it_are_told_apart():
    rows: dict[RaterRef, Rows] = {ANN: [5, 4], AUTO: [5, 5]}
    silent = sound(study("feedback", {"overall": rows}), "overall")
    assert (silent.confidences, silent.why["confidences"]) == ([], "no rater stated a confidence")
    alone = sound(study("feedback", {"overall": rows}, {"overall": {ANN: [90, 200]}}), "overall")
    (ann,) = alone.confidences
    # 200 is no percentage and counts as not stated.
    assert (ann.stated, ann.calibration) == (1, None)
    assert ann.why == "no unit with a confidence has a majority of other people"


@pytest.mark.parametrize(("sure", "way"), [(0.62, "more"), (0.58, "less")])
def test_a_small_gap_between_confidence_and_accuracy_has_a_direction(sure: float, way: str):
    truth = np.arange(200) % 5 + 1
    told = np.where(np.arange(200) % 10 < 6, truth, 1 + truth % 5)
    tables = study(
        "feedback",
        {"overall": {ANN: scores(truth), BEN: scores(truth), AUTO: scores(told)}},
        {"overall": {AUTO: [100 * sure] * 200}},
    )
    said = next(text for text in in_words(trust(tables, "overall", QUICK)) if "confident" in text)
    assert re.match(rf"On 200 units auto is 2 points \(−\d+ to \d+\) {way} confident than accurate, which may be", said)


def test_an_overconfident_rater_is_found_out():
    generator = np.random.default_rng(7)
    truth = generator.integers(1, 6, 400)
    told = np.where(generator.random(400) < 0.6, truth, 1 + truth % 5)
    tables = study(
        "feedback",
        {"overall": {ANN: scores(truth), BEN: scores(truth), AUTO: scores(told)}},
        {"overall": {AUTO: [95.0] * 400}},
    )
    (auto,) = sound(tables, "overall").confidences
    assert auto.calibration is not None
    over = auto.calibration.overconfidence
    assert over.low is not None
    assert over.high is not None
    assert over.low < 0.35 < over.high
    assert any("auto is overconfident by" in text for text in in_words(trust(tables, "overall", QUICK)))


# Severity


def test_leniency_is_the_gap_to_the_other_people():
    # ann - ben: 1 1 2, mean 4/3. auto against their means 2.5 3.5 4: 0.5 0.5 0, mean 1/3; it does not move the people.
    tables = study("neureg-qa", {"accuracy": {ANN: [3, 4, 5], BEN: [2, 3, 3], AUTO: [3, 4, 4]}})
    found = {one.rater: one for one in trust(tables, "accuracy", QUICK).severities}
    values = {name: one.leniency.value for name, one in found.items()}
    assert values == pytest.approx({"ann": 4 / 3, "ben": -4 / 3, "auto": 1 / 3})
    assert {one.beside for one in found.values()} == {"people"}


def test_one_person_is_seen_beside_the_models():
    tables = study("neureg-qa", {"accuracy": {ANN: [3, 4, 5], AUTO: [2, 3, 4]}})
    found = {one.rater: (one.beside, one.leniency.value) for one in trust(tables, "accuracy", QUICK).severities}
    assert found == {"ann": ("raters", 1.0), "auto": ("people", -1.0)}


def test_drift_follows_the_order_in_which_ratings_came():
    # In the order 3, 2, 1 of the units ann's gap to ben is 0, 1, 2: two points from first to last.
    rows: dict[RaterRef, Rows] = {ANN: [5, 4, 3], BEN: [3, 3, 3]}
    back = trust(study("neureg-qa", {"accuracy": rows}, order=(2, 1, 0)), "accuracy", QUICK).severities[0]
    forth = trust(study("neureg-qa", {"accuracy": rows}), "accuracy", QUICK).severities[0]
    assert (back.drift.value, forth.drift.value) == pytest.approx((2.0, -2.0))


def test_labels_without_order_have_no_severity():
    found = trust(study("halo-support", {"support": FOUR}), "support", QUICK)
    assert (found.severities, found.why["severities"]) == ([], "labels without an order have no severity")


# Disputed units


def test_disputed_units_come_worst_first_with_what_was_said():
    # Of 16, the largest squared distance: 1 and 5 differ by all of it; 3 4 5 by (1 + 1 + 4) / 3 = 2 of 16; 4 5 by 1/16.
    tables = study(
        "neureg-qa", {"accuracy": {ANN: [4, 3, 1, 2, 4], BEN: [5, 4, 5, 2, None], AUTO: [None, 5, None, 2, None]}}
    )
    found = disputed(tables, "accuracy")
    assert [(one.unit, one.disagreement, one.ratings) for one in found] == [(2, 1.0, 2), (1, 0.125, 3), (0, 0.0625, 2)]
    assert found[1].values == {"ann": 3, "auto": 5, "ben": 4}
    assert [one.unit for one in disputed(tables, "accuracy", most=1)] == [2]
    assert disputed(tables, "accuracy", most=0) == []


def test_percentages_and_free_answers_are_disputed_too():
    # A gap of 100, or of 1, is the most there can be; one of half of that is a quarter of it, squared.
    for scale, most in (("percent", 100.0), ("continuous", 1.0)):
        given = {ANN: [0.25 * most, 0.5 * most, 0.0], AUTO: [0.75 * most, 0.5 * most, most]}
        share = study(read_protocol(PERCENT.replace("percent", scale), "sure"), {"share": given})
        assert [(one.unit, one.disagreement) for one in disputed(share, "share")] == [(2, 1.0), (0, 0.25)]
    answers = study("rag-quest-eval", {"answer": {ANN: ["May", "June"], AUTO: ["<Unanswerable>", "in June"]}})
    (one,) = disputed(answers, "answer")
    assert (one.unit, one.disagreement, one.values) == (0, 1.0, {"ann": "May", "auto": "<Unanswerable>"})
    text = study("feedback", {"improvements": {ANN: ["a"], AUTO: ["b"]}})
    assert disputed(text, "improvements") == []


def test_criteria_are_taken_together_by_the_mean_of_those_rated_twice():
    # Unit 0: accuracy 1, fluency 0: mean 1/2. Unit 1: accuracy 1/16 alone, since fluency was rated once. Unit 2: none.
    tables = study(
        "neureg-qa",
        {"accuracy": {ANN: [1, 4, 3], BEN: [5, 5, 3]}, "fluency": {ANN: [5, 1, None], BEN: [5, None, None]}},
    )
    found = disputed_together(tables, ("accuracy", "fluency"))
    assert [(one.unit, one.disagreement) for one in found] == [(0, 0.5), (1, 0.0625)]
    assert found[0].by_criterion == {"accuracy": 1.0, "fluency": 0.0}
    assert found[1].by_criterion == {"accuracy": 0.0625}
    assert found[1].values == {"accuracy": {"ann": 4, "ben": 5}, "fluency": {"ann": 1}}
    assert [one.unit for one in disputed_together(tables)] == [0, 1]


# Comparing groups of items


SHOTS = ["zero", "few", "zero", "few", "one", None]


def test_two_strata_by_the_peoples_means():
    # People's means: zero 4.5 and 3, few 2 and 4; the model's: zero 5 and 1, few 2 and 3.
    tables = study(
        "neureg-qa",
        {"accuracy": {ANN: [4, 2, 3, 4, 1, 1], BEN: [5, 2, None, None, 1, 1], AUTO: [5, 2, 1, 3, 1, 1]}},
        labels={"shot_type": SHOTS},
    )
    people, auto = (compare(tables, "accuracy", "shot_type", "zero", "few", rater) for rater in (None, "auto"))
    told = [(one.n_a, one.n_b, one.differences["mean"].first, one.differences["mean"].second) for one in (people, auto)]
    assert told == [(2, 2, 3.75, 3.0), (2, 2, 3.0, 2.5)]
    assert people.differences["mean"].difference.value == 0.75


def test_the_difference_of_groups_has_the_interval_of_welch():
    people, _, _ = simulated(600, 600, seed=3)
    zero, few = people[:400, 0], people[400:, 0]
    tables = study(
        "neureg-qa", {"accuracy": {ANN: scores(people[:, 0])}}, labels={"shot_type": ["zero"] * 400 + ["few"] * 200}
    )
    found = compare(tables, "accuracy", "shot_type", "zero", "few").differences["mean"].difference
    error = sqrt(float(zero.var(ddof=1)) / 400 + float(few.var(ddof=1)) / 200)
    middle = float(zero.mean() - few.mean())
    assert (found.low, found.high) == pytest.approx((middle - 1.965 * error, middle + 1.965 * error), abs=0.15 * error)


def test_pairs_are_compared_within_themselves():
    # Pair x: 5 against 3, y: 4 against 3, z: 2 against 2; w has one side only. Differences 2 1 0: mean 1, sd 1, and
    # t(0.975; 2) = 4.3027.
    tables = study(
        "neureg-qa",
        {"accuracy": {ANN: [5, 3, 4, 3, 2, 2, 1]}},
        labels={
            "shot_type": ["zero", "few", "zero", "few", "zero", "few", "few"],
            "question_type": ["x", "x", "y", "y", "z", "z", "w"],
        },
    )
    found = compare(tables, "accuracy", "shot_type", "zero", "few", pair="question_type")
    assert (found.paired_by, found.n_a, found.n_b) == ("question_type", 3, 4)
    one = found.differences["mean"].difference
    assert (one.value, one.n) == (1.0, 3)
    assert (one.low, one.high) == pytest.approx((1 - 4.3027 / sqrt(3), 1 + 4.3027 / sqrt(3)), abs=1e-4)


def test_shares_of_paired_items_have_mcnemars_p():
    # Five pairs, all gained from NO EVIDENCE to SUPPORTED: p = 2 / 2^5.
    tables = study(
        "halo-support",
        {"support": {ANN: [S, N] * 5}},
        labels={"system": ["a", "b"] * 5, "question": [str(place // 2) for place in range(10)]},
    )
    found = compare(tables, "support", "system", "a", "b", pair="question").differences
    assert (found[S].difference.value, found[S].p) == (1.0, pytest.approx(2 / 32))
    assert (found[C].difference.value, found[C].p) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("colour", "zero", "few"), "colour is not a label field of the items; there are: shot_type"),
        (("shot_type", "zero", "zero"), "a group does not differ from itself"),
        (("shot_type", "zero", "many"), "no unit with shot_type many has a value"),
        (("shot_type", "zero", "few", "dora"), "no rater is called dora"),
        (("shot_type", "zero", "few", None, "pairs"), "pairs is not a label field of the items; there are: shot_type"),
    ],
)
def test_groups_that_cannot_be_compared_have_a_reason(arguments: tuple[Any, ...], reason: str):
    tables = study("neureg-qa", {"accuracy": {ANN: [4, 2, 3, 4, 1, 1]}}, labels={"shot_type": SHOTS})
    found = compare(tables, "accuracy", *arguments)
    assert (found.differences, found.why) == ({}, reason)


# Odd data


def test_an_empty_study_says_so():
    found = sound(study("neureg-qa", {}), "accuracy")
    assert (found.people, found.models, found.severities) == ([], [], [])
    assert in_words(found) == [
        "No person has rated this criterion.",
        "No model or rule has rated this criterion.",
    ]
    assert disputed_together(study("neureg-qa", {})) == []
    assert compare(study("neureg-qa", {}), "accuracy", "shot_type", "a", "b").why is not None


ODD: Mapping[str, Mapping[RaterRef, Rows]] = {
    "one person": {ANN: [1, 2, 3]},
    "one model": {AUTO: [1, 2, 3]},
    "two models": {AUTO: [1, 2, 3], RIVAL: [1, 2, 4]},
    "no overlap": {ANN: [1, None, None], BEN: [None, 2, None], AUTO: [None, None, 3]},
    "one label": {ANN: [5] * 40, BEN: [5] * 40, CHLOE: [5] * 40, AUTO: [5] * 40},
    "one item": {ANN: [3], BEN: [4], AUTO: [5]},
    "a rater without ratings": {ANN: [3, 4], BEN: [None, None], AUTO: [None, None]},
    "never a majority": {ANN: [1] * 40, BEN: [2] * 40, AUTO: [3] * 40},
}


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("case", ODD)
def test_odd_data_get_an_answer_or_a_reason(case: str, clustered: bool):
    units = max(len(values) for values in ODD[case].values())
    clusters = np.arange(units) // 3 if clustered else None
    ordinal = study("neureg-qa", {"accuracy": ODD[case]}, clusters=clusters, labels={"shot_type": SHOTS[:1] * units})
    as_labels = {
        rater: [None if v is None else (S, C, N, S, C)[int(v) - 1] for v in vs] for rater, vs in ODD[case].items()
    }
    as_shares = {rater: [None if v is None else 20.0 * int(v) for v in vs] for rater, vs in ODD[case].items()}
    for tables, criterion in (
        (ordinal, "accuracy"),
        (study("halo-support", {"support": as_labels}, clusters=clusters), "support"),
        (study(read_protocol(PERCENT, "sure"), {"share": as_shares}, clusters=clusters), "share"),
    ):
        found = sound(tables, criterion)
        assert len(found.people) + len(found.models) + len(found.silent) == len(tables.raters)
        for model in found.models:
            for one in model.powered.estimates.values():
                assert (one.combined.value is None) == (one.combined.why is not None)


def test_random_studies_never_break():
    generator = np.random.default_rng(11)
    everybody = (ANN, BEN, CHLOE, AUTO, RIVAL)
    for _ in range(40):
        units, raters = int(generator.integers(1, 45)), int(generator.integers(1, 6))
        values = generator.choice((np.nan, 1.0, 3.0, 5.0), (units, raters), p=generator.dirichlet((1, 1, 1, 1)))
        order: list[int] = generator.permutation(5)[:raters].tolist()
        chosen = [everybody[place] for place in order]
        rows = {rater: scores(values[:, place]) for place, rater in enumerate(chosen)}
        sure = {rater: generator.choice((50.0, 90.0, 100.0), units).tolist() for rater in chosen}
        clusters = None if generator.random() < 0.5 else np.sort(generator.integers(0, 5, units))
        if clusters is not None:
            clusters = np.unique(clusters, return_inverse=True)[1].reshape(-1).astype(np.int64)
        sound(study("feedback", {"overall": rows}, {"overall": sure}, clusters=clusters), "overall")


def test_free_text_is_not_compared():
    found = sound(study("feedback", {"improvements": {ANN: ["Shorter."], AUTO: ["Longer."]}}), "improvements")
    assert in_words(found) == ["Answers in free text cannot be compared as such."]
    answers = study("rag-quest-eval", {"answer": {ANN: ["May", "<Unanswerable>"], AUTO: ["in May", "June"]}})
    shares = sound(answers, "answer").models[0].powered.estimates
    assert list(shares) == ["answered", "<Unanswerable>"]


# The bundled samples, read from their files by another route


SAMPLES = ("ai-detection", "feedback", "halo-claims", "halo-support", "neureg-qa", "rag-quest-eval", "stem-accuracy")


def sample(name: str, folder: Path) -> Tables:
    source = Path(str(files("evenhand.samples").joinpath(name)))
    items = source / ("items.jsonl" if (source / "items.jsonl").is_file() else "items.csv")
    read = read_items(items, load_protocol(name))
    with Study.create(folder / "s.db", name, read, **units_of_sample(name)) as made:
        made.import_ratings(source / "ratings.csv")
        return made.store.tables()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_told_in_words(name: str, tmp_path: Path):
    tables = sample(name, tmp_path)
    for criterion in tables.tables:
        assert in_words(sound(tables, criterion))


@pytest.mark.parametrize(("name", "criterion"), [("neureg-qa", "accuracy"), ("stem-accuracy", "accuracy")])
def test_a_samples_match_is_what_counting_its_file_gives(name: str, criterion: str, tmp_path: Path):
    found = trust(sample(name, tmp_path), criterion, QUICK).models[0]
    text = files("evenhand.samples").joinpath(name, "ratings.csv").read_text(encoding="utf-8")
    said: dict[tuple[str, str], dict[str, str]] = {}
    for row in csv.DictReader(text.splitlines(keepends=True)):
        if row["criterion"] == criterion and row["status"] == "rated":
            said.setdefault((row["item"], row.get("unit", "")), {})[row["rater"]] = row["value"]
    hits: list[bool] = []
    for values in said.values():
        people = Counter(value for rater, value in values.items() if rater != "auto")
        label, times = people.most_common(1)[0] if people else ("", 0)
        if "auto" in values and 2 * times > people.total():
            hits.append(values["auto"] == label)
    match = found.standing.match
    assert (match.n, match.value) == (len(hits), pytest.approx(sum(hits) / len(hits)))
