"""Figures on combinations: of strata, of raters and of criteria, by hand."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import cast

import pytest

from evenhand.analysis.combined import parse_combination, selections
from evenhand.analysis.figures import Figure
from evenhand.analysis.measures import measures
from evenhand.analysis.tables import Tables
from evenhand.errors import UserError
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Combination, Protocol
from evenhand.report.build import FigureOptions, agreement_report, figure_options, measures_report
from evenhand.statistics import Resampling, Votes
from tests.measured import Ratings, interval, one, study

QUICK = Resampling(replicates=100)
RATINGS: Ratings = {
    "ann": {"fluency": [5, 4, 2, 3], "accuracy": [5, 5, 1, 1]},
    "ben": {"fluency": [5, 3, 2, 4], "accuracy": [5, 4, 1, 2]},
    "cem": {"fluency": [4, 3, 1, 5], "accuracy": [5, 4, 2, 3]},
    "auto1": {"fluency": [5, 3, 2, 4], "accuracy": [4, 4, 1, 1]},
    "auto2": {"fluency": [4, 3, 5, 4], "accuracy": [5, 4, 1, 3]},
}
LABELS = {"shot_type": ["zero", "zero", "few", "few"], "question_type": ["factual", "relational", "factual", "factual"]}


def tables() -> Tables:
    return study("neureg-qa", RATINGS, 4, LABELS)


def about(*specs: str) -> list[Figure]:
    """The measures about combined raters."""
    combinations = dict(map(parse_combination, specs))
    return [figure for some in selections(tables(), combinations) for figure in measures(some, QUICK)]


def test_strata_can_be_crossed():
    found = [m for m in measures(tables(), QUICK, by=[("shot_type", "question_type")]) if m.criterion == "fluency"]
    means = {
        tuple((m.stratum or {}).items()): m.estimate.value for m in found if m.statistic == "mean" and m.rater == "ann"
    }
    assert means == {
        (): 3.5,
        (("shot_type", "zero"), ("question_type", "factual")): 5.0,
        (("shot_type", "zero"), ("question_type", "relational")): 4.0,
        (("shot_type", "few"), ("question_type", "factual")): 2.5,
    }


def test_agreement_can_be_broken_down():
    report = agreement_report(tables(), plan=QUICK, criterion="fluency", options=FigureOptions(by=[("shot_type",)]))
    found = {(one.stratum or {})["shot_type"]: one for one in report.by_stratum}
    # ann and ben: equal on one of the two zero-shot units, and on one of the two few-shot units.
    assert {shot: (one.pairs[0].percent.value, one.pairs[0].n) for shot, one in found.items()} == {
        "zero": (0.5, 2),
        "few": (0.5, 2),
    }
    assert report.agreements["fluency"].stratum is None


def test_models_can_be_pooled_into_one_figure():
    found = about("both=pool(models)")
    mean = one(found, "mean", "both", criterion="fluency")
    assert (mean.estimate.value, mean.estimate.n) == (pytest.approx((14 + 16) / 8), 4)
    # The people's majority is 5, 3, 2 and none. auto1 gives all three, auto2 the second alone: 4 of 6.
    exact = one(found, "exact_match", "both", criterion="fluency")
    assert (exact.against, exact.estimate.value, exact.estimate.n) == ("people's majority", pytest.approx(4 / 6), 6)
    assert exact.left_out == {"no_majority": 2}
    # Two comparisons of one unit are not independent, so the interval is not that of 4 in 6.
    assert interval(exact) != interval(one(measures(tables(), QUICK), "exact_match", "auto1", criterion="fluency"))


def test_a_reference_can_be_the_people_s_mean_rounded_to_halves():
    found = about("reference=mean(people, step=0.5)")
    # Means 14/3, 10/3, 5/3, 4: 4.5, 3.5, 1.5, 4. Both models give 4 on the last unit, and nothing else is equal.
    for model in ("auto1", "auto2"):
        exact = one(found, "exact_match", model, criterion="fluency", against="reference")
        assert (exact.estimate.value, exact.estimate.n) == (0.25, 4)
    assert one(found, "mean", "reference", criterion="fluency").estimate.value == pytest.approx(
        (4.5 + 3.5 + 1.5 + 4) / 4
    )
    report = agreement_report(
        tables(), plan=QUICK, options=FigureOptions(combine={"reference": Combination(rule="mean", step=0.5)})
    )
    agreement = report.agreements["fluency"]
    pair = next(pair for pair in agreement.pairs if (pair.a, pair.b) == ("reference", "auto1"))
    assert pair.kind == "person-model"
    # Distances 0.5, 0.5, 0.5 and 0.
    assert pair.within_one is not None
    assert pair.within_one.value == 1.0
    assert {pair.a for pair in agreement.pairs if pair.b == "auto1"} == {"ann", "ben", "cem", "reference"}
    # It is not another opinion: what all raters reach is as before, and so is the scale of every other pair.
    alone = agreement_report(tables(), plan=QUICK).agreements["fluency"]
    assert (agreement.alpha, agreement.ac, agreement.majority) == (alone.alpha, alone.ac, alone.majority)
    assert agreement.pairs[: len(alone.pairs)] == alone.pairs


def test_a_protocol_can_ask_for_combined_raters_and_criteria_together():
    asked = load_protocol("neureg-qa").model_dump(exclude_defaults=True)
    asked["combine"] = {"reference": {"rule": "mean", "step": 0.5}}
    match = {"name": "all", "kind": "exact_match", "criteria": ["fluency", "accuracy"], "together": True}
    asked["measures"] = [*asked["measures"], {**match, "between": "person-model"}]
    asking = study(Protocol.model_validate(asked), RATINGS, 4, LABELS)
    pairs = agreement_report(asking, plan=QUICK, criterion="fluency").agreements["fluency"].pairs
    assert {pair.b for pair in pairs if pair.a == "reference"} >= {"auto1", "auto2"}
    found = measures_report(asking, plan=QUICK).measures
    exact = one(found, "all", "auto1", criterion=None, against="reference")
    # On accuracy the people's means are 5, 4.5, 1.5 and 2 after rounding; only fluency's last, 4, is equal.
    assert (exact.estimate.value, exact.estimate.n) == (1 / 8, 8)


@pytest.mark.parametrize(
    ("step", "expected"), [(1, [5, 3, 2, 4]), (0.5, [4.5, 3.5, 1.5, 4]), (2, [4, 4, 2, 4]), (7, [5, 1, 1, 5])]
)
def test_means_are_rounded_to_the_step_and_half_a_step_up_within_the_scale(step: float, expected: Sequence[float]):
    (made,) = selections(tables(), {"reference": Combination(rule="mean", step=step)})
    table = made.tables["fluency"]
    assert [table.values[code] for code in table.code[table.rater == 5]] == expected


@pytest.mark.parametrize(
    ("ties", "expected"), [("none", [4, None]), ("first", [4, 2]), ("last", [4, 5]), ("rater", [4, 2])]
)
def test_a_plurality_has_a_stated_rule_for_ties(ties: str, expected: Sequence[int | None]):
    # Two of four give 4, which is no majority; then two give 2 and two give 5.
    ratings: Ratings = {
        name: {"fluency": list(said)}
        for name, said in zip(("ann", "ben", "cem", "dan"), [(4, 2), (4, 5), (3, 2), (5, 5)], strict=True)
    }
    name, how = parse_combination(f"vote=plurality(people, ties={ties})")
    (made,) = selections(study("neureg-qa", ratings, 2), {name: how})
    table = made.tables["fluency"]
    said = dict(zip(table.unit[table.rater == 4].tolist(), table.code[table.rater == 4].tolist(), strict=True))
    assert [table.values[said[unit]] if unit in said else None for unit in range(2)] == expected
    (made,) = selections(study("neureg-qa", ratings, 2), {"vote": Combination(rule="majority")})
    assert not (made.tables["fluency"].rater == 4).any()


def test_a_majority_can_be_taken_over_all_criteria_together():
    found = [m for m in measures(tables(), QUICK, together=("fluency", "accuracy")) if m.statistic == "majority"]
    overall = [m for m in found if m.label is not None and m.stratum is None]
    counts = {(m.criterion, m.label): cast("int", (m.detail or {})["count"]) for m in overall}
    for label in ("full", "majority", "none"):
        assert counts[None, label] == sum(counts[name, label] for name in ("fluency", "accuracy"))
    share = one(found, "majority", None, criterion=None, label="full")
    assert (share.estimate.value, share.estimate.n) == (1 / 8, 8)
    report = agreement_report(tables(), plan=QUICK, options=FigureOptions(together=("fluency", "accuracy")))
    assert report.agreements["all criteria"].majority.votes == Votes(n=8, full=1, majority=5, none=2)
    both = FigureOptions(together=("fluency", "accuracy"))
    single = agreement_report(tables(), plan=QUICK, criterion="fluency", options=both)
    assert single.agreements == {name: report.agreements[name] for name in ("fluency", "all criteria")}


def test_the_figures_of_a_published_vote_over_all_criteria():
    """NeuReg's analysis, by its own means: `Counter.most_common`, whose tie goes to the rater who comes first."""
    generator = random.Random(3)
    criteria = ("relevance", "accuracy", "completeness", "fluency", "kg_alignment")
    judges = [f"auto{number}" for number in range(5)]
    given: dict[str, dict[str, list[int | None]]] = {
        name: {one: [generator.choice((3, 4, 5, 5)) for _ in range(60)] for one in criteria} for name in judges
    }
    cells = [(unit, one) for unit in range(60) for one in criteria]
    # One judge lacks three pairs, which the published figures leave out.
    given["auto4"] = {one: [None, None, None, *values[3:]] for one, values in given["auto4"].items()}
    complete = [(unit, one) for unit, one in cells if unit >= 3]
    top = {cell: Counter(given[name][cell[1]][cell[0]] for name in judges).most_common(1)[0] for cell in complete}
    times = Counter(sum(top[unit, one][1] >= 3 for one in criteria) for unit in range(3, 60))
    study_tables = study("neureg-qa", given, 60)
    name, how = parse_combination("vote=plurality(models, ties=rater, fewest=5)")
    options = FigureOptions(combine={name: how}, together=criteria)
    report = agreement_report(study_tables, plan=QUICK, options=options)
    pairs = {pair.b: pair for pair in report.agreements["all criteria"].pairs if pair.a == "vote"}
    pairs |= {pair.a: pair for pair in report.agreements["all criteria"].pairs if pair.b == "vote"}
    for name in judges:
        agreements = sum(given[name][one][unit] == top[unit, one][0] for unit, one in complete)
        assert pairs[name].n == len(complete) == 285
        assert pairs[name].percent.value == pytest.approx(agreements / len(complete))
    found = measures(study_tables, QUICK, together=criteria)
    of_units = [m for m in found if m.criterion is None and m.statistic == "majority" and m.stratum is None]
    counts = {str(m.label): cast("dict[str, int]", (m.detail or {}).get("by_count", {})) for m in of_units}
    assert counts["on all"]["5"] == times[5] > 0
    assert counts["on some"]["5"] == sum(times[number] for number in range(1, 5)) > 0
    assert counts["on none"]["5"] == times[0]
    assert sum(sum(counts[label].values()) for label in ("on all", "on some", "on none")) == 60


def test_two_combined_raters_are_compared_with_each_other():
    found = about("reference=mean(people, step=0.5)", "both=pool(models)")
    exact = one(found, "exact_match", "both", criterion="fluency", against="reference")
    assert (exact.estimate.value, exact.estimate.n) == (0.25, 8)


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("people", "NAME=RULE(RATERS)"),
        ("x=sum(people)", "rule"),
        ("x=mean(people, step=-1)", "step: a number greater than 0"),
        ("x=mean(people, step=half)", "step: a number is needed"),
        ("x=plurality(people, ties=random)", "ties"),
        ("x=mean(peopel)", "people"),
        ("ann=mean(people)", "ann"),
    ],
)
def test_what_cannot_be_combined_is_reported(spec: str, names: str):
    with pytest.raises(UserError, match=names.replace("(", r"\(").replace(")", r"\)")):
        about(spec)


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("x=mean(people, step=4.5)", "step, 4.5"),
        ("x=mean(people, ties=first)", "plurality"),
        ("x=pool(people, fewest=4)", "majority"),
        ("x=majority(people, step=2)", "mean"),
    ],
)
def test_options_that_a_rule_cannot_use_are_reported(spec: str, names: str):
    assert figure_options(tables(), (), ["x=mean(people, step=4)", "y=plurality(people, ties=first, fewest=2)"], None)
    with pytest.raises(UserError, match=names):
        figure_options(tables(), (), [spec], None)


def test_no_field_or_criterion_is_named_twice():
    for by, together in ((["shot_type,shot_type"], None), ([], "fluency,fluency")):
        with pytest.raises(UserError, match="twice"):
            figure_options(tables(), by, (), together)
    # As a study has it whose protocol was stored before it was checked for this.
    found = [m for m in measures(tables(), QUICK, by=[("shot_type", "shot_type")]) if m.stratum]
    assert {m.estimate.n for m in found if (m.statistic, m.criterion, m.rater) == ("mean", "fluency", "ann")} == {2}


def test_other_wrong_names_are_reported():
    with pytest.raises(UserError, match="shot_type"):
        measures(tables(), QUICK, by=[("shot_typ",)])
    with pytest.raises(UserError, match="same labels"):
        study("stem-accuracy", {}, [0]).joined(("accuracy", "severity"))
