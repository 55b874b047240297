"""What a rater has yet to rate, on every back end: promise 11 of `store/base.py`."""

from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from evenhand.protocol.load import read_protocol
from evenhand.raters.base import Rater
from evenhand.records import Item, Kind, RaterRef, Rating, Status, Unit
from evenhand.run.worker import calls_for
from evenhand.store.items import ItemUnits
from evenhand.store.store import Store, create_store, open_store
from evenhand.store.work import PAGE, limited

PROTOCOL = read_protocol(
    """
name: sentence-check
version: "1"
title: Sentence check
item:
  fields:
    reply: {role: rated}
unit: sentence of reply
criteria:
  - id: tone
    question: How friendly is it?
    scale: {type: ordinal, levels: {1: {label: Cold, anchor: Cold.}, 2: {label: Warm, anchor: Warm.}}}
  - {id: comment, question: "What else?", scale: {type: text}, required: false}
""",
    "sentences.yaml",
)
CHANGED = PROTOCOL.model_copy(update={"version": "2"})
BOT, EVE = RaterRef("bot", Kind.MODEL), RaterRef("eve", Kind.MODEL)
AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def work(sentences: list[int]) -> Iterator[ItemUnits]:
    """An item for each number, with so many sentences."""
    for number, count in enumerate(sentences, 1):
        units = [Unit(f"i{number}#{n}", f"i{number}", n, f"Text {number}.{n}") for n in range(1, count + 1)]
        yield Item(f"i{number}", {"reply": f"Reply {number}"}), units


@pytest.fixture
def store(store_location: str) -> Generator[Store, None, None]:
    """Four items of 2, 1, 0 and 3 sentences."""
    with create_store(store_location, PROTOCOL, "s", work([2, 1, 0, 3])) as made:
        made.ratings.add([], raters=[EVE])
        made.ratings.add([], raters=[BOT])
        yield made


def rating(
    unit: str, status: Status = Status.RATED, criterion: str = "tone", rater: str = "bot", hours: int = 0
) -> Rating:
    return Rating(
        unit=unit,
        criterion=criterion,
        rater=rater,
        digest=PROTOCOL.digest,
        status=status,
        value=(1 if criterion == "tone" else "x") if status is Status.RATED else None,
        reason="refused" if status is Status.FAILED else None,
        at=AT + timedelta(hours=hours),
    )


def ids(pending: Iterator[ItemUnits]) -> list[str]:
    return [unit.id for _, units in pending for unit in units]


def test_before_anybody_has_rated_everything_with_a_unit_is_pending(store: Store) -> None:
    expected = [(item, units) for item, units in work([2, 1, 0, 3]) if units]
    for rater in ("bot", "nobody knows me", "\ud83d"):
        for failed in (False, True):
            assert list(store.work.pending(rater, failed=failed)) == expected
            assert store.work.count_pending(rater, failed=failed) == 6


def test_a_limit_splits_the_units_of_an_item_unless_they_are_rated_together(store: Store) -> None:
    # The items have 2, 1, 0 and 3 units.
    assert [store.work.count_pending("bot", limit) for limit in range(8)] == [0, 1, 2, 3, 4, 5, 6, 6]
    assert [store.work.count_pending("bot", limit, together=True) for limit in range(8)] == [0, 2, 2, 3, 6, 6, 6, 6]
    assert ids(limited(store.work.pending("bot"), 4, together=False)) == ["i1#1", "i1#2", "i2#1", "i4#1"]


def test_a_unit_is_rated_by_any_rating_of_this_rater_whatever_its_status(store: Store) -> None:
    store.ratings.add(
        [
            rating("i1#1", criterion="comment"),
            rating("i2#1", Status.SKIPPED),
            rating("i4#1", Status.NOT_ASKED),
            rating("i4#3", Status.FAILED),
            rating("i1#2", rater="eve"),
        ]
    )
    expected = [("i1", ["i1#2"]), ("i4", ["i4#2"])]
    assert [(item.id, [unit.id for unit in units]) for item, units in store.work.pending("bot")] == expected
    assert store.work.count_pending("bot") == 2
    assert ids(store.work.pending("eve")) == ["i1#1", "i2#1", "i4#1", "i4#2", "i4#3"]
    assert store.work.count_pending("eve") == 5


def test_ratings_under_another_protocol_do_not_count(store: Store) -> None:
    store.ratings.add([rating(unit) for unit in ("i1#1", "i1#2", "i2#1")])
    store.protocols.adopt(CHANGED, "c")
    assert store.work.count_pending("bot") == 6
    store.protocols.adopt(PROTOCOL, "s")
    assert ids(store.work.pending("bot")) == ["i4#1", "i4#2", "i4#3"]


def test_a_failed_rating_in_force_makes_a_unit_pending_again_where_asked(store: Store) -> None:
    store.ratings.add([rating(unit.id) for unit in store.items.units()])
    store.ratings.add(
        [
            rating("i1#2", Status.FAILED),  # in force
            rating("i2#1", Status.FAILED),
            rating("i2#1"),  # put right since
            rating("i4#1", Status.FAILED, criterion="comment"),  # one criterion of two
            rating("i4#2", Status.FAILED, rater="eve"),  # somebody else's
        ]
    )
    assert ids(store.work.pending("bot")) == []
    assert store.work.count_pending("bot") == 0
    assert ids(store.work.pending("bot", failed=True)) == ["i1#2", "i4#1"]
    assert store.work.count_pending("bot", failed=True) == 2
    assert ids(store.work.pending("eve", failed=True)) == [unit.id for unit in store.items.units()]
    # i1 and i2 and i4 are untouched by eve but for one unit, which failed: every unit counts once.
    assert store.work.count_pending("eve", failed=True) == 6


def test_when_the_failure_was(store: Store) -> None:
    store.ratings.add(
        [
            rating("i1#1", Status.FAILED, hours=1),
            rating("i1#1", Status.FAILED, criterion="comment", hours=3),
            rating("i1#2", Status.FAILED, hours=5),
            rating("i1#2", hours=6),
            rating("i2#1", Status.FAILED, hours=1),
            rating("i2#1", Status.FAILED, hours=2),
            rating("i4#1", Status.FAILED, rater="eve"),
        ]
    )
    assert since(store, "bot") == {"i1#1": AT + timedelta(hours=3), "i2#1": AT + timedelta(hours=2)}
    assert since(store, "bot", retry=False) == {}
    assert since(store, "nobody") == {}
    store.protocols.adopt(CHANGED, "c")
    assert since(store, "bot") == {}


def since(store: Store, rater: str, retry: bool = True) -> dict[str, datetime]:
    """Up to when replies are not used again, by unit, if there is such a time."""
    one_by_one = cast("Rater", SimpleNamespace(ref=RaterRef(rater, Kind.MODEL), together=False))
    items = {item.id: item for item in store.items.all()}
    calls = [
        call
        for name, units in store.items.units_of(list(items)).items()
        for call in calls_for(store, one_by_one, retry, items[name], units)
    ]
    return {call.units[0].id: call.since for call in calls if call.since is not None}


def test_a_study_of_many_pages_gives_every_item_once(store_location: str) -> None:
    sentences = [number % 4 for number in range(5 * PAGE + 7)]
    with create_store(store_location, PROTOCOL, "s", work(sentences)) as made:
        made.ratings.add([], raters=[BOT])
        everything = [unit.id for unit in made.items.units()]
        assert ids(made.work.pending("bot")) == everything
        # A long stretch that is done, with one unit left in it and one that failed, before much that is not.
        done = everything[: len(everything) // 2]
        made.ratings.add(
            rating(unit, Status.FAILED if number == 99 else Status.RATED)
            for number, unit in enumerate(done)
            if number != 399
        )
        left = [done[399], *everything[len(done) :]]
        again = [done[99], *left]
        assert ids(made.work.pending("bot")) == left
        assert ids(made.work.pending("bot", failed=True)) == again
        assert made.work.count_pending("bot", failed=True) == len(again)


def test_what_is_rated_meanwhile_does_not_disturb_the_order(store_location: str) -> None:
    with create_store(store_location, PROTOCOL, "s", work([1] * (2 * PAGE + 50))) as made:
        made.ratings.add([], raters=[BOT])
        seen: list[str] = []
        with open_store(store_location) as other:
            for item, units in made.work.pending("bot"):
                seen.append(item.id)
                # The run rates what it is given; another process fails at an earlier item and rates the very last one.
                made.ratings.add([rating(unit.id) for unit in units])
                if len(seen) == 3:
                    other.ratings.add([rating("i1#1", Status.FAILED), rating(f"i{2 * PAGE + 50}#1")])
        assert seen == [f"i{number}" for number in range(1, 2 * PAGE + 50)]
        assert ids(made.work.pending("bot")) == []
        assert ids(made.work.pending("bot", failed=True)) == ["i1#1"]
