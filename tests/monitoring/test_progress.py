"""Figures of the people against values worked out by hand; each hint with a case that gives it and one without."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from evenhand.analysis.tables import TableBuilder, Tables
from evenhand.assignment import Plan
from evenhand.monitoring.activity import Activity, Participant, activity_of
from evenhand.monitoring.hints import hints
from evenhand.monitoring.progress import Progress, progress
from evenhand.monitoring.quality import (
    Match,
    comparable_criteria,
    match_with_examples,
    match_with_known,
    match_with_others,
    match_with_self,
)
from evenhand.protocol.completion import TAKEN_BACK
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Kind, RaterRef, Rating, Status, Value
from evenhand.statistics import Estimate
from evenhand.store.people.access import Member
from evenhand.store.people.tasks import TaskCounts

HALO = load_protocol("halo-support")
NEUREG = load_protocol("neureg-qa")
STEM = load_protocol("stem-accuracy")
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
S, C, N = "SUPPORTED", "CONTRADICTED", "NO EVIDENCE"


def rating(unit: str, value: Value | None = S, criterion: str = "support", **more: object) -> Rating:
    given = {"status": Status.RATED if value is not None else Status.SKIPPED, **more}
    return Rating(unit=unit, criterion=criterion, rater="ann", digest="d", value=value, **given)  # type: ignore[arg-type]


def tables_of(
    protocol: Protocol,
    columns: Mapping[str, Mapping[str, Sequence[Value | None]]],
    *,
    clusters: Sequence[int] | None = None,
    adjudicators: Sequence[str] = (),
) -> Tables:
    """Tables from each rater's values on each criterion, unit by unit; everybody is a person."""
    n_units = max(len(values) for of in columns.values() for values in of.values())
    raters = [RaterRef(name, Kind.PERSON) for name in columns]
    builders = {one.id: TableBuilder(one, n_units, len(raters)) for one in protocol.criteria}
    for number, of in enumerate(columns.values()):
        for criterion, values in of.items():
            for unit, value in enumerate(values):
                if value is not None:
                    builders[criterion].add(unit, number, Status.RATED, value)
    items = n_units if clusters is None else max(clusters) + 1
    return Tables(
        protocol, raters, items, n_units, {name: builder.build() for name, builder in builders.items()},
        None if clusters is None else np.array(clusters), adjudicators=frozenset(adjudicators),
    )  # fmt: skip


def member(name: str = "ann", **more: object) -> Member:
    return replace(Member(name, "rater", NOON - timedelta(days=1), NOON), **more)  # type: ignore[arg-type]


# Activity and speed


def test_activity_counts_what_is_in_force_and_forgets_what_was_taken_back():
    kept = activity_of(
        HALO,
        [
            rating("a", S, seconds=10),
            rating("a", C, seconds=5),
            rating("b", S, seconds=30),
            rating("b", None, reason=TAKEN_BACK, seconds=2),
            rating("c", None, status=Status.CANNOT_ASSESS, seconds=20),
        ],
    )
    assert kept.units == 2
    assert kept.statuses == {Status.RATED: 1, Status.CANNOT_ASSESS: 1}
    assert kept.values == {("a", "support"): C}
    # Both answers to a took time; b has no answer any more, so its time is not that of a rated unit.
    assert kept.seconds == {"a": 15, "c": 20}
    assert (kept.required, kept.left_out) == (2, 1)


def test_only_required_criteria_count_as_left_out():
    severity = STEM.criterion("severity")
    assert STEM.criterion("accuracy").required
    protocol = STEM.model_copy(update={"criteria": (STEM.criteria[0], severity.model_copy(update={"required": False}))})
    kept = activity_of(protocol, [rating("a#1", None, "accuracy"), rating("a#1", None, "severity")])
    assert (kept.units, kept.required, kept.left_out) == (1, 1, 1)
    assert kept.statuses == {Status.SKIPPED: 2}


def test_speed_is_units_over_active_time_and_the_median_is_robust():
    kept = activity_of(
        HALO, [rating(name, S, seconds=spent) for name, spent in (("a", 10), ("b", 20), ("c", 330), ("d", None))]
    )
    # 3 units in 360 seconds are 30 an hour; of 10, 20 and 330 the middle one is 20; d's time is not known.
    assert (len(kept.seconds), kept.per_hour, kept.seconds_per_unit) == (3, 30.0, 20)


def test_there_is_no_speed_without_times():
    kept = activity_of(HALO, [rating("a", S)])
    assert (kept.per_hour, kept.seconds_per_unit) == (None, None)


# Known answers and the others


def test_the_match_with_known_answers_counts_units_that_both_rated():
    tables = tables_of(HALO, {"ann": {"support": [S, S, C, N, None]}, "key": {"support": [S, C, C, None, S]}})
    found = match_with_known(comparable_criteria(tables), 0, 1)
    # Units 1 to 3 were rated by both, 1 and 3 the same. Wilson's interval for 2 of 3 is 0.208 to 0.939.
    assert (found.same.value, found.same.n, found.units) == (pytest.approx(2 / 3), 3, 3)
    assert found.same.low == pytest.approx(0.2077, abs=1e-4)
    assert found.same.high == pytest.approx(0.9385, abs=1e-4)


def test_the_match_over_several_criteria_takes_its_interval_over_units():
    good = {"relevance": [5, 5, 5, 1], "fluency": [4, 4, 4, 4]}
    tables = tables_of(NEUREG, {"ann": good, "key": {"relevance": [5, 5, 5, 5], "fluency": [4, 4, 4, 3]}})
    found = match_with_known(comparable_criteria(tables), 0, 1)
    assert (found.same.value, found.same.n, found.units) == (0.75, 8, 4)
    assert {name: alike.same.value for name, alike in found.by_criterion.items()} == {
        "relevance": 0.75,
        "fluency": 0.75,
    }
    # Both misses are in one unit, so there are effectively 4 cases and not 8: wider than Wilson for 6 of 8.
    alone = match_with_known({"relevance": comparable_criteria(tables)["relevance"]}, 0, 1)
    assert found.same.high is not None
    assert alone.same.high is not None
    assert found.same.high - 0.75 > 0.9285 - 0.75
    assert alone.same.n == 4


def test_a_rater_is_held_against_the_majority_of_the_others_without_adjudicators():
    tables = tables_of(
        HALO,
        {
            "ann": {"support": [S, S, C, S]},
            "bob": {"support": [S, C, C, None]},
            "cem": {"support": [S, C, N, None]},
            "eve": {"support": [S, S, C, N]},
        },
        adjudicators=["eve"],
    )
    found = match_with_others(comparable_criteria(tables.independent()), 0)
    # Unit 1: S by both others, hit. Unit 2: C by both, miss. Unit 3: C and N, no majority. Unit 4: nobody else but eve.
    assert (found.same.value, found.same.n, found.units) == (0.5, 2, 2)


def test_without_anything_to_compare_the_reason_is_given():
    tables = tables_of(HALO, {"ann": {"support": [S]}, "key": {"support": [None]}})
    assert match_with_known(comparable_criteria(tables), 0, 1).same.why == "no item with a known answer is rated yet"
    assert match_with_others(comparable_criteria(tables), 0).same.why == "no unit has a majority of other people yet"
    assert match_with_known({}, 0, 1).same.why == "no criterion of this protocol has answers that can be the same"


# Repeats and training


def test_repeats_are_held_against_the_answers_in_force():
    first = {("a", "relevance"): 5, ("b", "relevance"): 4, ("c", "relevance"): 1, ("d", "relevance"): 2}
    again = [rating(unit, value, "relevance") for unit, value in zip("abcd", (5, 3, 4, 2), strict=True)]
    found = match_with_self(NEUREG, first, [*again, rating("e", 5, "relevance"), rating("example:0", 5, "relevance")])
    assert found is not None
    alike = found.by_criterion["relevance"]
    assert (found.same.value, found.same.n, found.units) == (0.5, 4, 4)
    # a and d the same, b one apart, c three apart.
    assert alike.within_one is not None
    assert alike.within_one.value == 0.75
    # Squared distances 0, 1, 9, 0: mean 2.5. Expected: the mean over all 16 pairs of a first with a second answer.
    firsts, seconds = np.array([5, 4, 1, 2]), np.array([5, 3, 4, 2])
    expected = float(np.subtract.outer(firsts, seconds).astype(float).__pow__(2).mean())
    assert alike.kappa_quadratic is not None
    assert alike.kappa_quadratic.value == pytest.approx(1 - 2.5 / expected)


def test_labels_have_no_distance():
    found = match_with_self(HALO, {("a", "support"): S}, [rating("a", C)])
    assert found is not None
    assert found.by_criterion["support"].within_one is None
    assert found.by_criterion["support"].kappa_quadratic is None


def test_sentences_of_one_item_are_one_cluster_of_repeats():
    first = {(f"{item}#{n}", "accuracy"): "Accurate" for item in "ab" for n in (1, 2)}
    again = [rating(f"a#{n}", "Accurate", "accuracy") for n in (1, 2)]
    again += [rating(f"b#{n}", "Disputed", "accuracy") for n in (1, 2)]
    found = match_with_self(STEM, first, again)
    assert found is not None
    assert (found.same.value, found.same.n, found.units) == (0.5, 4, 4)
    # Two clusters, one all right and one all wrong: as good as nothing is known.
    assert found.same.low == pytest.approx(0.0, abs=0.05)
    assert found.same.high == pytest.approx(1.0, abs=0.05)


def test_training_is_held_against_the_worked_examples():
    expected = [str(example.ratings["support"]) for example in HALO.examples]
    assert expected[:3] == [S, C, N]
    trials = [rating("example:0", S), rating("example:1", S), rating("example:2", None, status=Status.CANNOT_ASSESS)]
    found = match_with_examples(HALO, [*trials, rating("example:3", None), rating("q1", S)])
    assert found is not None
    # Right, wrong, and an answer that the example does not give; a skipped one does not count, nor does a repeat.
    assert (found.same.value, found.same.n) == (pytest.approx(1 / 3), 3)


def test_a_level_next_to_the_expected_one_counts_half_in_training():
    expected = NEUREG.examples[0].ratings
    assert expected["relevance"] == 5
    for level, credit in ((5, 1.0), (4, 0.5), (3, 0.0), (1, 0.0)):
        found = match_with_examples(NEUREG, [rating("example:0", level, "relevance")])
        assert found is not None
        assert (found.same.value, found.same.n) == (credit, 1)


def test_an_item_that_is_called_like_an_example_is_an_item():
    first = {("example:one", "support"): S}
    found = match_with_self(HALO, first, [rating("example:one", S)])
    assert found is not None
    assert found.same.n == 1
    assert match_with_examples(HALO, [rating("example:one", S), rating("example:99", S)]) is None


# The study as a whole


def test_the_study_counts_units_and_items_of_people_and_not_of_adjudicators():
    tables = tables_of(
        STEM,
        {
            "ann": {"accuracy": ["Accurate", "Accurate", "Disputed", None]},
            "bob": {"accuracy": ["Accurate", None, None, None]},
            "eve": {"accuracy": ["Accurate"] * 4},
        },
        clusters=[0, 0, 1, 2],
        adjudicators=["eve"],
    )
    people = [
        Participant(member("ann"), TaskCounts(done=3)),
        Participant(member("bob"), TaskCounts(open=1)),
        Participant(member("eve", role="adjudicator")),
    ]
    reached = progress(tables, people, Plan(overlap=2), NOON).study
    assert (reached.items, reached.units, reached.raters) == (3, 4, 2)
    # Units 1 to 3 have a value; only the first has two. Ann has done all three items (the third without a value), bob
    # has begun one of them.
    assert (reached.units_rated, reached.units_done) == (3, 1)
    assert (reached.items_given, reached.items_wanted) == (4, 6)


def test_a_repeated_item_is_not_counted_twice():
    tables = tables_of(HALO, {"ann": {"support": [S, S, None]}})
    person = Participant(member(), TaskCounts(done=3, repeats_done=1), trials=[rating("q1", S)])
    assert progress(tables, [person], Plan(), NOON).study.items_given == 2


def test_more_ratings_of_an_item_than_wanted_do_not_make_up_for_others():
    tables = tables_of(HALO, {name: {"support": [S, None, None]} for name in ("ann", "bob", "cem")})
    reached = progress(tables, [Participant(member("ann"))], Plan(overlap=2), NOON).study
    assert (reached.items_given, reached.items_wanted) == (2, 6)


def test_without_an_overlap_only_people_who_rate_here_count():
    tables = tables_of(HALO, {"ann": {"support": [S, None]}, "elsewhere": {"support": [S, S]}})
    reached = progress(tables, [Participant(member("ann"))], Plan(), NOON).study
    assert (reached.items_given, reached.items_wanted, reached.units_done) == (1, 2, 1)


def test_people_who_rated_elsewhere_are_named_and_their_units_are_rated():
    tables = tables_of(HALO, {"ann": {"support": [S, None, None]}, "ben": {"support": [S, S, None]}})
    found = progress(tables, [Participant(member("ann"))], Plan(), NOON)
    assert (found.elsewhere, found.study.units_rated) == ({"ben": 2}, 2)
    nobody_here = progress(tables, [], Plan(), NOON)
    assert (nobody_here.elsewhere, nobody_here.study.units_rated) == ({"ann": 1, "ben": 2}, 2)


def test_the_rater_with_the_known_answers_is_nobody_among_the_people():
    columns = {"ann": {"support": [S, S]}, "ben": {"support": [C, None]}, "key": {"support": [C, C]}}
    tables = tables_of(HALO, columns)
    people = [Participant(member("ann")), Participant(member("ben")), Participant(member("key"))]
    found = progress(tables, people, Plan(overlap=2, gold="key"), NOON)
    assert (found.study.units_rated, found.study.units_done, found.study.items_given) == (2, 1, 3)
    assert found.study.raters == 3
    ann = found.people[0]
    assert ann.others is not None
    assert (ann.others.same.value, ann.others.same.n) == (0.0, 1), "against ben alone"
    assert progress(tables, people, Plan(gold="key"), NOON).study.items_wanted == 4
    assert progress(tables, people[:2], Plan(gold="key"), NOON).elsewhere == {}


def test_every_member_has_figures_and_only_raters_have_hints():
    tables = tables_of(
        HALO, {"ann": {"support": [S] * 6}, "key": {"support": [S] * 6}, "eve": {"support": [S]}}, adjudicators=["eve"]
    )
    people = [Participant(member("ann")), Participant(member("key")), Participant(member("eve", role="adjudicator"))]
    found = progress(tables, people, Plan(gold="key"), NOON)
    ann, key, eve = found.people
    assert ann.known is not None
    assert (ann.known.same.value, ann.known.same.n) == (1.0, 6)
    assert key.known is None
    assert (eve.known, eve.others) == (None, None)
    assert list(found.hints) == ["ann", "key"]
    assert isinstance(found, Progress)


def test_a_member_whom_the_tables_do_not_know_yet_has_no_figures():
    found = progress(tables_of(HALO, {"ann": {"support": [S]}}), [Participant(member("new"))], Plan(gold="ann"), NOON)
    assert (found.people[0].known, found.people[0].others) == (None, None)


# Who needs help


def share(hits: int, n: int, low: float, high: float, units: int | None = None) -> Match:
    return Match(Estimate(hits / n, low, high, n), n if units is None else units)


def record(name: str = "ann", **more: object) -> Participant:
    plain = Participant(member(name))
    return replace(plain, **more)  # type: ignore[arg-type]


def told(person: Participant, *rest: Participant, plan: Plan | None = None) -> Sequence[str]:
    return hints(person, rest, plan or Plan(), NOON)


def test_known_answers_below_what_the_others_reach():
    others = [record("bob", known=share(9, 10, 0.6, 0.98)), record("cem", known=share(7, 10, 0.4, 0.89))]
    # The others have 16 of 20 right.
    assert told(record(known=share(4, 10, 0.17, 0.69)), *others) == [
        "Gives the known answer in 4 of 10 answers (40%, interval 17% to 69%); the others reach 80%."
    ]
    assert told(record(known=share(6, 10, 0.31, 0.83)), *others) == []
    assert told(record(known=share(0, 4, 0.0, 0.49)), *others) == []


def test_known_answers_of_somebody_alone():
    assert told(record(known=share(2, 10, 0.06, 0.51))) == [
        "Gives the known answer in 2 of 10 answers (20%, interval 6% to 51%); that is less than 70%."
    ]
    assert told(record(known=share(5, 10, 0.24, 0.76))) == []
    # Somebody with three cases is no measure for others.
    assert told(record(known=share(5, 10, 0.24, 0.76)), record("bob", known=share(3, 3, 0.44, 1.0))) == []


def test_repeats_answered_otherwise():
    assert told(record(repeats=share(3, 12, 0.09, 0.53))) == [
        "Answers repeated items the same way in 3 of 12 answers (25%, interval 9% to 53%); that is less than 70%."
    ]
    assert told(record(repeats=share(6, 12, 0.25, 0.75))) == []
    assert told(record(repeats=share(0, 8, 0.0, 0.32, units=4))) == []


def test_agreement_with_the_others_below_the_median_of_the_rest():
    rest = [record(name, others=share(hits, 20, 0.0, 1.0)) for name, hits in (("bob", 18), ("cem", 16), ("dee", 10))]
    assert told(record(others=share(6, 20, 0.15, 0.52)), *rest) == [
        "Agrees with the majority of the others in 6 of 20 answers (30%, interval 15% to 52%); the rest reach 80%."
    ]
    assert told(record(others=share(14, 20, 0.48, 0.85)), *rest) == []
    assert told(record(others=share(6, 20, 0.15, 0.52))) == []


def working(units: int, seconds: float) -> Activity:
    return Activity(seconds={f"u{number}": seconds for number in range(units)})


def test_unusually_fast():
    rest = [record(name, activity=working(20, seconds)) for name, seconds in (("bob", 50.0), ("cem", 40.0))]
    assert told(record(activity=working(10, 12.0)), *rest) == [
        "Is unusually fast: 12 seconds per unit; the others take 45."
    ]
    assert told(record(activity=working(10, 15.0)), *rest) == []
    assert told(record(activity=working(9, 12.0)), *rest) == []
    assert told(record(activity=working(10, 12.0))) == []


def test_silent_with_items_in_hand():
    away = member(seen=NOON - timedelta(minutes=125))
    assert told(record(member=away, counts=TaskCounts(open=2))) == ["Has 2 open items and was last active 2 hours ago."]
    assert told(record(member=away, counts=TaskCounts(done=2))) == []
    assert told(record(member=away, counts=TaskCounts(open=2)), plan=Plan(claim_minutes=126)) == []
    assert told(record(member=replace(away, paused=True), counts=TaskCounts(open=2))) == []


def test_much_is_left_out():
    assert told(record(activity=Activity(units=10, required=20, left_out=7))) == [
        "Skips or cannot assess 7 of 20 answers (35%)."
    ]
    assert told(record(activity=Activity(units=10, required=20, left_out=6))) == []
    assert told(record(activity=Activity(units=9, required=9, left_out=9))) == []


def test_training_with_less_than_half_right():
    assert told(record(training=share(2, 6, 0.1, 0.7))) == [
        "Scored 33% on 6 training answers; a level next to the expected one counts half."
    ]
    assert told(record(training=share(3, 6, 0.2, 0.8))) == []
    assert told(record(training=share(0, 4, 0.0, 0.5))) == []
