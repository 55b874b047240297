"""What is stored in one transaction is stored as a whole or not at all."""

from collections.abc import Generator

import pytest

from evenhand.errors import ConflictError, StudyError
from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Kind, RaterRef, Rating
from evenhand.store.people.tasks import TaskCounts
from evenhand.store.store import Store, create_store, open_store

HALO = load_protocol("halo-support")
FIELDS = {"question": "Q?", "context": ("C.",), "generated_answer": "A."}
ANN = RaterRef("ann", Kind.PERSON)


@pytest.fixture
def store(store_location: str) -> Generator[Store, None, None]:
    with create_store(store_location, HALO, "", [(Item("a", FIELDS), ()), (Item("b", FIELDS), ())]) as made:
        yield made


def rating(unit: str = "a", rater: str = "ann") -> Rating:
    return Rating(unit=unit, criterion="support", rater=rater, digest=HALO.digest, value="SUPPORTED")


def rated(store: Store) -> list[str]:
    return [one.unit for one in store.ratings.all()]


def test_several_calls_are_stored_as_one_and_see_each_other(store: Store, store_location: str) -> None:
    with open_store(store_location) as elsewhere:
        with store.transaction():
            store.ratings.add([rating()], raters=[ANN])
            store.ratings.add([rating("b")])
            assert rated(store) == ["a", "b"]
            assert rated(elsewhere) == []
        assert rated(elsewhere) == ["a", "b"]


def test_a_block_that_raises_stores_nothing_and_leaves_the_store_usable(store: Store) -> None:
    def all_then_fail() -> None:
        with store.transaction():
            store.ratings.add([rating()], raters=[ANN])
            store.people.admit("ben", "rater")
            raise KeyError("nothing to do with the store")

    with pytest.raises(KeyError):
        all_then_fail()
    assert rated(store) == []
    assert list(store.ratings.raters()) == []
    with pytest.raises(StudyError, match="make the rater known"):
        store.ratings.add([rating()])
    store.ratings.add([rating()], raters=[ANN])
    assert rated(store) == ["a"]


def test_a_call_that_fails_in_a_block_is_undone_by_itself(store: Store) -> None:
    store.ratings.add([rating()], raters=[ANN])
    with store.transaction():
        store.ratings.add([rating("b")])
        with pytest.raises(ConflictError):
            store.ratings.add([rating(), rating()], raters=[RaterRef("ben", Kind.PERSON)], if_current=True)
        assert rated(store) == ["a", "b"]
    assert rated(store) == ["a", "b"]
    assert list(store.ratings.raters()) == [ANN]


def test_a_block_within_a_block_is_part_of_it(store: Store) -> None:
    def nested() -> None:
        with store.transaction():
            with store.transaction():
                store.ratings.add([rating()], raters=[ANN])
            raise KeyError

    with pytest.raises(KeyError):
        nested()
    assert rated(store) == []


def test_a_protocol_that_another_process_adopts_is_seen(store: Store, store_location: str) -> None:
    changed = HALO.model_copy(update={"title": "Another title"})
    with open_store(store_location) as elsewhere:
        elsewhere.protocols.adopt(changed, "")
        elsewhere.protocols.adopt(HALO, "")
        elsewhere.protocols.adopt(changed, "")
    assert store.protocols.versions()[-1].protocol == changed
    assert store.protocol == changed


def test_one_raters_tasks_are_counted_alone(store: Store) -> None:
    people = store.people
    for name in ("ann", "ben"):
        people.admit(name, "rater")
        people.update(name, training_over=True)
        people.tasks.next(name)
    assert people.tasks.count("ann") == {"ann": TaskCounts(open=1)}
    assert people.tasks.count("nobody") == {}
    assert people.tasks.count("\0") == {}


def test_a_study_in_memory_lives_as_long_as_its_object() -> None:
    for _ in range(2):
        with create_store(":memory:", HALO, "", [(Item("a", FIELDS), ())]) as made:
            made.ratings.add([rating()], raters=[ANN])
            assert rated(made) == ["a"]
            assert made.location == ":memory:"
