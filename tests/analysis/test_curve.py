"""The curve of agreement against values worked out by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from evenhand.analysis.agreement import agreement_curve
from evenhand.analysis.tables import TableBuilder, Tables
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Criterion
from evenhand.records import Kind, RaterRef, Status, Value
from evenhand.scales import PERCENT

HALO = load_protocol("halo-support")
S, C = "SUPPORTED", "CONTRADICTED"


def tables_of(
    given: Sequence[tuple[int, int, Value]], kinds: tuple[Kind, ...], adjudicators: tuple[str, ...] = ()
) -> Tables:
    """Tables from (unit, rater, value) in the order in which they came."""
    units = max((unit for unit, _, _ in given), default=0) + 1
    builder = TableBuilder(HALO.criteria[0], units, len(kinds))
    for unit, rater, value in given:
        builder.add(unit, rater, Status.RATED, value)
    raters = [RaterRef(f"r{number}", kind) for number, kind in enumerate(kinds)]
    return Tables(HALO, raters, units, units, {"support": builder.build()}, adjudicators=frozenset(adjudicators))


def test_the_curve_follows_the_order_of_arrival():
    # Two people rate ten units, unit by unit; they agree on the first five and not on the others.
    given = [(unit, rater, S if unit % 2 else C) for unit in range(5) for rater in (0, 1)]
    given += [(unit, rater, S if rater else C) for unit in range(5, 10) for rater in (0, 1)]
    points = agreement_curve(tables_of(given, (Kind.PERSON, Kind.PERSON)))["support"]
    assert [point.ratings for point in points] == [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert [point.units for point in points] == list(range(1, 11))
    percent = [point.percent.value for point in points]
    assert percent == pytest.approx([1, 1, 1, 1, 1, 5 / 6, 5 / 7, 5 / 8, 5 / 9, 5 / 10])
    # One unit, both C: no disagreement can be expected.
    assert points[0].alpha.value is None
    assert points[0].alpha.why
    # All units: Do = 5/10. 11 C and 9 S among 20: De = 2·11·9/(20·19) = 198/380. α = 1 - 0.5·380/198 = 8/198.
    assert points[-1].alpha.value == pytest.approx(8 / 198)
    assert points[-1].alpha.low is not None
    assert points[-1].alpha.high is not None


def test_models_and_adjudicators_have_no_part_in_it():
    people = [(unit, rater, S if unit % 2 else C) for unit in range(6) for rater in (0, 1)]
    others = [(unit, rater, C) for unit in range(6) for rater in (2, 3)]
    kinds = (Kind.PERSON, Kind.PERSON, Kind.MODEL, Kind.PERSON)
    alone = agreement_curve(tables_of(people, (Kind.PERSON, Kind.PERSON)))
    assert agreement_curve(tables_of(people + others, kinds, ("r3",))) == alone


def test_few_ratings_give_few_points_and_none_give_none():
    points = agreement_curve(tables_of([(0, 0, S), (0, 1, S)], (Kind.PERSON, Kind.PERSON)))["support"]
    assert [point.ratings for point in points] == [1, 2]
    assert agreement_curve(tables_of([], (Kind.PERSON,)))["support"] == []


def test_the_same_ratings_give_the_same_curve():
    generator = np.random.default_rng(5)
    given: list[tuple[int, int, Value]] = [
        (unit, rater, (S, C)[generator.integers(2)]) for unit in range(40) for rater in range(3)
    ]
    tables = tables_of(given, (Kind.PERSON,) * 3)
    assert agreement_curve(tables) == agreement_curve(tables)


def test_percentages_are_followed_too():
    sure = Criterion(id="sure", question="How sure", scale=PERCENT)
    builder = TableBuilder(sure, 3, 2)
    for unit, values in enumerate([(10.0, 20.5), (50.0, 50.0), (90.0, 70.0)]):
        for rater, value in enumerate(values):
            builder.add(unit, rater, Status.RATED, value)
    raters = [RaterRef("ann", Kind.PERSON), RaterRef("ben", Kind.PERSON)]
    last = agreement_curve(Tables(HALO, raters, 3, 3, {"sure": builder.build()}))["sure"][-1]
    # Observed: the squared differences 110.25, 0 and 400, twice each. Expected: those of all ordered pairs of the six.
    given = np.array([10.0, 20.5, 50.0, 50.0, 90.0, 70.0])
    expected = (np.subtract.outer(given, given) ** 2).sum() / 5
    assert last.alpha.value == pytest.approx(1 - 2 * 510.25 / expected)
    assert (last.units, last.percent.value) == (3, pytest.approx(1 / 3))
