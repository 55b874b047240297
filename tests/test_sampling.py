from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from evenhand.sampling import allocate, draw


def test_shares_are_proportional_by_largest_remainder():
    # 10 of 50/30/20: 5, 3, 2. 7 of 50/30/20: 3.5, 2.1, 1.4 -> 3+1, 2, 1 (the .5 has the largest remainder).
    assert allocate({("a",): 50, ("b",): 30, ("c",): 20}, 10) == {("a",): 5, ("b",): 3, ("c",): 2}
    assert allocate({("a",): 50, ("b",): 30, ("c",): 20}, 7) == {("a",): 4, ("b",): 2, ("c",): 1}


def test_a_rare_stratum_is_not_lost():
    # 1 of 1,000 has a share of 0.01 of ten; it still gets one, taken from the largest.
    assert allocate({("common",): 999, ("rare",): 1}, 10) == {("common",): 9, ("rare",): 1}


def test_fewer_than_strata_goes_to_the_largest_shares():
    assert allocate({("a",): 6, ("b",): 3, ("c",): 1}, 2) == {("a",): 1, ("b",): 1, ("c",): 0}


def test_more_than_there_are_draws_all():
    result = draw([("x", ("a",)), ("y", ("b",))], 5, seed=1)
    assert result.chosen == {0, 1}
    assert result.strata == {("a",): (1, 1), ("b",): (1, 1)}


def test_the_draw_does_not_depend_on_the_order_of_rows():
    rows = [(f"id{n}", (str(n % 3),)) for n in range(200)]
    forward = {rows[n] for n in draw(rows, 20, seed=7).chosen}
    turned = rows[::-1]
    assert {turned[n] for n in draw(turned, 20, seed=7).chosen} == forward


def test_another_seed_draws_others():
    rows = [(f"id{n}", ()) for n in range(1000)]
    assert draw(rows, 50, seed=1).chosen != draw(rows, 50, seed=2).chosen


def test_every_item_is_about_equally_likely():
    rows = [(f"id{n}", ()) for n in range(20)]
    hits = Counter(ordinal for seed in range(2000) for ordinal in draw(rows, 5, seed).chosen)
    # Each is drawn with probability 1/4: 500 of 2,000, sd sqrt(2000 * 3/16) = 19.4; five of them are 97.
    assert all(abs(hits[n] - 500) < 97 for n in range(20))


@given(st.dictionaries(st.text(max_size=2), st.integers(1, 500), min_size=1, max_size=8), st.integers(1, 600))
def test_shares_add_up_and_fit(totals: dict[str, int], size: int):
    strata = {(name,): count for name, count in totals.items()}
    shares = allocate(strata, size)
    assert sum(shares.values()) == min(size, sum(totals.values()))
    assert all(0 <= shares[stratum] <= strata[stratum] for stratum in strata)
    if size >= len(strata):
        assert all(shares.values())
