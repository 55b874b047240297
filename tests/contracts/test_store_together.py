"""What is stored together is stored as a whole or not at all."""

import pytest

from evenhand.errors import ConflictError, StudyError
from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Kind, RaterRef, Rating
from evenhand.store.people import TaskCounts
from evenhand.study import Study

HALO = load_protocol("halo-support")
FIELDS = {"question": "Q?", "context": ("C.",), "generated_answer": "A."}
ANN = RaterRef("ann", Kind.PERSON)


@pytest.fixture
def study(store_location: str):
    with Study.create(store_location, HALO, [Item("a", FIELDS), Item("b", FIELDS)]) as made:
        yield made


def rating(unit: str = "a", rater: str = "ann") -> Rating:
    return Rating(unit=unit, criterion="support", rater=rater, digest=HALO.digest, value="SUPPORTED")


def test_several_calls_are_stored_as_one_and_see_each_other(study: Study, store_location: str):
    with Study.open(store_location) as elsewhere:
        with study.store.together():
            study.store.add_ratings([rating()], raters=[ANN])
            study.store.add_ratings([rating("b")])
            assert [one.unit for one in study.ratings()] == ["a", "b"]
            assert list(elsewhere.ratings()) == []
        assert [one.unit for one in elsewhere.ratings()] == ["a", "b"]


def test_a_block_that_raises_stores_nothing_and_leaves_the_store_usable(study: Study):
    def all_then_fail() -> None:
        with study.store.together():
            study.store.add_ratings([rating()], raters=[ANN])
            study.store.people.add_member("ben", "rater")
            raise KeyError("nothing to do with the store")

    with pytest.raises(KeyError):
        all_then_fail()
    assert list(study.ratings()) == []
    assert list(study.raters()) == []
    with pytest.raises(StudyError, match="make the rater known"):
        study.store.add_ratings([rating()])
    study.store.add_ratings([rating()], raters=[ANN])
    assert len(list(study.ratings())) == 1


def test_a_failed_call_spoils_the_block_even_where_nobody_says_so(study: Study):
    study.store.add_ratings([rating()], raters=[ANN])

    def swallow() -> None:
        with study.store.together():
            study.store.add_ratings([rating("b")])
            with pytest.raises(ConflictError):
                study.store.add_ratings([rating()], if_current=True)

    with pytest.raises(RuntimeError, match="nothing is stored"):
        swallow()
    assert [one.unit for one in study.ratings()] == ["a"]
    with study.store.together():
        study.store.add_ratings([rating("b")])
    assert [one.unit for one in study.ratings()] == ["a", "b"]


def test_a_block_does_not_begin_within_another(study: Study):
    def nested() -> None:
        with study.store.together(), study.store.together():
            pass

    with pytest.raises(RuntimeError):
        nested()


def test_a_protocol_that_another_process_adopts_is_seen(study: Study, store_location: str):
    changed = HALO.model_copy(update={"title": "Another title"})
    with Study.open(store_location) as elsewhere:
        elsewhere.adopt(changed)
        elsewhere.adopt(HALO)
        elsewhere.adopt(changed)
    assert study.store.versions()[-1].protocol == changed
    assert study.protocol == changed


def test_one_raters_tasks_are_counted_alone(study: Study):
    people = study.store.people
    for name in ("ann", "ben"):
        people.add_member(name, "rater")
        people.set_member(name, training_over=True)
        people.next_task(name)
    assert people.task_counts("ann") == {"ann": TaskCounts(open=1)}
    assert people.task_counts("nobody") == {}
    assert people.task_counts("\0") == {}
