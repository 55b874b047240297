import pytest

from evenhand.analysis.targets import more_items, more_items_for_share, verdict
from evenhand.statistics import Estimate, undefined, wilson


def test_verdicts() -> None:
    assert verdict(Estimate(0.9, 0.86, 0.93, 200), 0.85) == "met"
    assert verdict(Estimate(0.9, 0.80, 0.95, 50), 0.85) == "met at the point estimate"
    assert verdict(Estimate(0.8, 0.70, 0.88, 50), 0.85) == "missed at the point estimate"
    assert verdict(Estimate(0.8, 0.75, 0.84, 500), 0.85) == "missed"
    assert verdict(Estimate(1.0, None, None, 3), 0.85) == "met at the point estimate"
    assert verdict(undefined("no unit was rated twice"), 0.85) == "undefined"


def test_more_items_shrink_the_interval_by_the_root() -> None:
    # The lower end is 0.10 below the value, the goal 0.05 below: half the reach, four times the items.
    assert more_items(Estimate(0.9, 0.80, 0.95, 50), 0.85) == pytest.approx(150, abs=1)


def test_more_items_where_it_is_settled_or_never_will_be() -> None:
    assert more_items(Estimate(0.9, 0.86, 0.93, 200), 0.85) == 0
    assert more_items(Estimate(0.85, 0.80, 0.9, 100), 0.85) is None
    assert more_items(Estimate(1.0, None, None, 3), 0.85) is None
    assert more_items(undefined("no ratings"), 0.85) is None


def test_shares_are_exact() -> None:
    more = more_items_for_share(45, 50, 0.85)
    assert more is not None
    assert wilson(0.9 * (50 + more), 50 + more)[0] >= 0.85 > wilson(0.9 * (49 + more), 49 + more)[0]
    assert more_items_for_share(95, 100, 0.85) == 0
    assert more_items_for_share(85, 100, 0.85) is None
    assert more_items_for_share(0, 0, 0.85) is None
