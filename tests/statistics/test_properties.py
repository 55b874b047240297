"""What must not matter: the order of raters and units, the names of labels, empty rows, how the list is written."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.statistics.alpha import krippendorff_alpha
from evenhand.statistics.confusion import cross
from evenhand.statistics.counts import Counts, count_long, count_table, count_wide, percent_agreement
from evenhand.statistics.estimate import IntArray
from evenhand.statistics.intervals.bootstrap import Resampling
from evenhand.statistics.kappa import cohen_kappa, fleiss_kappa, gwet_ac
from tests.statistics.tables import code_tables

MANY: dict[str, Callable[[Counts], float | None]] = {
    "alpha nominal": lambda counts: krippendorff_alpha(counts, "nominal", None).value,
    "alpha ordinal": lambda counts: krippendorff_alpha(counts, "ordinal", None).value,
    "alpha interval": lambda counts: krippendorff_alpha(counts, "interval", None).value,
    "fleiss": lambda counts: fleiss_kappa(counts, "linear", None).value,
    "ac1": lambda counts: gwet_ac(counts, "identity", None).value,
    "ac2": lambda counts: gwet_ac(counts, "quadratic", None).value,
    "percent": lambda counts: percent_agreement(counts, plan=None).value,
}


def same(one: float | None, two: float | None) -> None:
    assert (one is None) == (two is None)
    if one is not None:
        assert one == pytest.approx(two, abs=1e-9)


@pytest.mark.parametrize("name", MANY)
@settings(max_examples=60, deadline=None)
@given(codes=code_tables(), data=st.data())
def test_order_of_raters_and_units(name: str, codes: IntArray, data: st.DataObject) -> None:
    raters = data.draw(st.permutations(range(codes.shape[1])))
    units = data.draw(st.permutations(range(codes.shape[0])))
    same(MANY[name](count_wide(codes, 4)), MANY[name](count_wide(codes[units][:, raters], 4)))


@pytest.mark.parametrize("name", ["alpha nominal", "ac1", "percent"])
@settings(max_examples=60, deadline=None)
@given(codes=code_tables(), data=st.data())
def test_names_of_labels(name: str, codes: IntArray, data: st.DataObject) -> None:
    renamed = np.array([*data.draw(st.permutations(range(4))), -1])
    same(MANY[name](count_wide(codes, 4)), MANY[name](count_wide(renamed[codes], 4)))


@pytest.mark.parametrize("name", MANY)
@settings(max_examples=60, deadline=None)
@given(codes=code_tables())
def test_turning_the_scale_round(name: str, codes: IntArray) -> None:
    turned = np.where(codes >= 0, 3 - codes, -1)
    same(MANY[name](count_wide(codes, 4)), MANY[name](count_wide(turned, 4)))


@pytest.mark.parametrize("name", MANY)
@settings(max_examples=60, deadline=None)
@given(codes=code_tables())
def test_empty_units_and_raters(name: str, codes: IntArray) -> None:
    padded = np.pad(codes, ((1, 2), (1, 1)), constant_values=-1)
    same(MANY[name](count_wide(codes, 4)), MANY[name](count_wide(padded, 4)))


@pytest.mark.parametrize("name", MANY)
@settings(max_examples=60, deadline=None)
@given(codes=code_tables(), times=st.integers(2, 4))
def test_merging_duplicates(name: str, codes: IntArray, times: int) -> None:
    """Counting a table several times over equals writing its rows several times."""
    written = np.repeat(codes, times, axis=0)
    counts = count_wide(codes, 4)
    from_rows = count_table(np.repeat(counts.sample.rows, counts.sample.times * times, axis=0))
    same(MANY[name](count_wide(written, 4)), MANY[name](from_rows))
    assert count_wide(written, 4).sample.times.tolist() == (counts.sample.times * times).tolist()


@settings(max_examples=60, deadline=None)
@given(codes=code_tables(), data=st.data())
def test_wide_and_long_have_the_same_interval(codes: IntArray, data: st.DataObject) -> None:
    units, raters = np.nonzero(codes >= 0)
    order = np.array(data.draw(st.permutations(range(len(units)))), dtype=np.int64)
    if len(units) == 0:
        return
    long = count_long(units[order], codes[units, raters][order], 4)
    plan = Resampling(replicates=40)
    one = krippendorff_alpha(count_wide(codes, 4), "ordinal", plan)
    two = krippendorff_alpha(long, "ordinal", plan)
    same(one.value, two.value)
    assert one.n == two.n


@settings(max_examples=60, deadline=None)
@given(codes=code_tables(fewest_raters=2, most_raters=2), data=st.data())
def test_kappa_does_not_care_who_is_first_nor_for_names(codes: IntArray, data: st.DataObject) -> None:
    renamed = np.array([*data.draw(st.permutations(range(4))), -1])
    one = cohen_kappa(cross(codes[:, 0], codes[:, 1], 4), plan=None).value
    same(one, cohen_kappa(cross(codes[:, 1], codes[:, 0], 4), plan=None).value)
    same(one, cohen_kappa(cross(renamed[codes[:, 0]], renamed[codes[:, 1]], 4), plan=None).value)
