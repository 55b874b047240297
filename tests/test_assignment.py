"""Order, batches and purposes: pure, so that the same plan shares a study out in the same way on any machine."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evenhand.assignment import Plan, Purpose, in_batches, own_order, own_start, purposes_due

SIZES = st.lists(st.integers(1, 60), min_size=1, max_size=8)


def strata_of(sizes: list[int]) -> list[tuple[int, tuple[str, ...]]]:
    """Numbered items, so many of each stratum, one stratum after the other."""
    names = [str(stratum) for stratum, size in enumerate(sizes) for _ in range(size)]
    return [(number, (name,)) for number, name in enumerate(names, start=1)]


@given(SIZES, st.integers(1, 30), st.integers(0, 2**63 - 1))
def test_batches_hold_every_item_once_and_all_but_the_last_are_full(sizes: list[int], batch: int, seed: int) -> None:
    batches = in_batches(strata_of(sizes), Plan(batch=batch, seed=seed))
    assert sorted(number for some in batches for number in some) == list(range(1, sum(sizes) + 1))
    assert all(len(some) == batch for some in batches[:-1])
    assert 0 < len(batches[-1]) <= batch


@given(SIZES, st.integers(1, 30), st.integers(0, 2**63 - 1))
def test_a_full_batch_has_each_stratum_in_proportion(sizes: list[int], batch: int, seed: int) -> None:
    strata = dict(strata_of(sizes))
    for some in in_batches(strata.items(), Plan(batch=batch, seed=seed)):
        if len(some) == batch:
            counts = Counter(int(strata[number][0]) for number in some)
            for stratum, size in enumerate(sizes):
                assert abs(counts[stratum] - batch * size / sum(sizes)) < 1


@given(SIZES, st.integers(1, 30))
def test_another_seed_gives_another_order_of_the_same_items(sizes: list[int], batch: int) -> None:
    items = strata_of(sizes)
    first, again = (in_batches(items, Plan(batch=batch, seed=7)) for _ in range(2))
    assert first == again == in_batches(reversed(items), Plan(batch=batch, seed=7))
    if sum(sizes) > 20 and len(sizes) == 1:
        assert first != in_batches(items, Plan(batch=batch, seed=8))


def test_the_batches_of_a_seed_are_the_same_on_any_machine() -> None:
    # Pinned when this was written: a study that was begun must go on in the same order for ever.
    items = strata_of([6, 3])
    assert in_batches(items, Plan(batch=3, seed=42)) == [[2, 1, 8], [3, 6, 9], [4, 5, 7]]
    assert own_order([1, 2, 3, 4, 5], "ann", 42) == [3, 2, 1, 5, 4]


def test_no_items_make_no_batches() -> None:
    assert list(in_batches([], Plan())) == []


@given(
    st.lists(st.integers(1, 10**6), unique=True, max_size=40), st.text(st.characters(codec="utf-8")), st.integers(0, 99)
)
def test_an_own_order_does_not_hang_on_what_is_left_out(batch: list[int], rater: str, seed: int) -> None:
    whole = list(own_order(batch, rater, seed))
    assert sorted(whole) == sorted(batch)
    assert list(own_order(batch[::2], rater, seed)) == [number for number in whole if number in batch[::2]]


def test_raters_have_orders_of_their_own() -> None:
    assert len({tuple(own_order(range(20), f"rater {n}", 0)) for n in range(50)}) == 50


@given(st.integers(1, 200), st.text(st.characters(codec="utf-8")), st.integers(0, 2**63 - 1))
def test_a_rater_begins_somewhere_in_a_list(size: int, rater: str, seed: int) -> None:
    assert own_start(size, rater, seed) in range(size)


def test_raters_begin_at_places_of_their_own() -> None:
    assert len({own_start(1000, f"rater {n}", 0) for n in range(50)}) > 40


def purpose_of(number: int, plan: Plan, *, gold_left: bool = True, repeat_left: bool = True) -> Purpose:
    gone = [Purpose.GOLD] * (not gold_left) + [Purpose.REPEAT] * (not repeat_left)
    return next(purpose for purpose in purposes_due(number, plan) if purpose not in gone)


def test_known_answers_and_repeats_come_at_their_distances() -> None:
    plan = Plan(gold="expert", gold_every=4, repeat_every=3)

    def purposes(gold_left: bool, repeat_left: bool) -> dict[int, Purpose]:
        found = {n: purpose_of(n, plan, gold_left=gold_left, repeat_left=repeat_left) for n in range(1, 14)}
        return {n: purpose for n, purpose in found.items() if purpose is not Purpose.RATE}

    gold = dict.fromkeys((4, 8, 12), Purpose.GOLD)
    # At 12 both are due: the repeat is put off to 13.
    repeats = dict.fromkeys((3, 6, 9, 13), Purpose.REPEAT)
    assert purposes(True, True) == {**gold, **repeats}
    assert purposes(False, True) == repeats
    assert purposes(True, False) == gold
    assert purposes(False, False) == {}


@given(st.integers(2, 50), st.integers(1, 50))
def test_neither_known_answers_nor_repeats_are_starved(gold_every: int, repeat_every: int) -> None:
    plan = Plan(gold="expert", gold_every=gold_every, repeat_every=repeat_every)
    found = [purposes_due(n, plan)[0] for n in range(1, 3 * gold_every * repeat_every + 2)]
    assert found.count(Purpose.GOLD) == (len(found)) // gold_every
    places = [n for n, purpose in enumerate(found) if purpose is Purpose.REPEAT]
    assert all(later - earlier <= repeat_every + 1 for earlier, later in pairwise(places))
    assert len(places) >= 2


def test_without_known_answers_repeats_are_not_put_off() -> None:
    plan = Plan(gold_every=4, repeat_every=4)
    found = [n for n in range(1, 13) if purpose_of(n, plan) is Purpose.REPEAT]
    assert found == [4, 8, 12]


@pytest.mark.parametrize(
    "wrong",
    [
        {"overlap": 0},
        {"share": 0},
        {"seed": -1},
        {"batch": 0},
        {"claim_minutes": 0},
        {"gold": ""},
        {"gold_every": 1},
        {"completion": "http://example.org"},
        {"completion": 'https://example.org/"onload='},
        {"training": "maybe"},
        {"unknown": 1},
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Plan.model_validate(wrong)
