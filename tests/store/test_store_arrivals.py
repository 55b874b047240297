"""Ratings in the order in which they came, on every back end."""

from dataclasses import replace

from evenhand.records import Rating
from evenhand.store.store import Store, create_store
from tests.store.test_store import ANN, BOT, RENAMED, WHOLE, rating, whole


def made(location: str) -> Store:
    store = create_store(location, WHOLE, "whole.yaml", whole(3))
    store.ratings.add([], raters=[ANN])
    store.ratings.add([], raters=[BOT])
    return store


def test_ratings_come_in_the_order_in_which_they_came_page_by_page(store_location: str):
    sent = [rating("i3"), rating("i1", rater="bot"), rating("i2"), rating("i1", "certainty", 40.0)]
    with made(store_location) as store:
        for one in sent:
            store.ratings.add([one])
        first = store.ratings.arrivals(limit=3)
        rest = store.ratings.arrivals(after=first[-1][0], limit=3)
        assert [one for _, one in [*first, *rest]] == sent
        assert [number for number, _ in [*first, *rest]] == [1, 2, 3, 4]
        assert store.ratings.arrivals(after=4) == []


def test_the_revision_is_the_number_of_the_last_rating(store_location: str):
    with made(store_location) as store:
        assert store.ratings.revision() == 0
        store.ratings.add([rating("i1"), rating("i2")])
        assert store.ratings.revision() == 2
        store.ratings.add([rating("i1", value=2)])
        assert store.ratings.revision() == store.ratings.arrivals()[-1][0] == 3


def test_only_what_is_in_force_comes_unless_history_is_asked_for(store_location: str):
    first = rating("i1")
    with made(store_location) as store:
        store.ratings.add([first, rating("i2")])
        second = rating("i1", value=2)
        store.ratings.add([second])
        numbers = [(number, one.id, one.supersedes) for number, one in store.ratings.arrivals()]
        assert numbers == [(2, store.ratings.arrivals()[0][1].id, None), (3, second.id, first.id)]
        assert [one.id for _, one in store.ratings.arrivals(history=True)][::2] == [first.id, second.id]


def test_arrivals_can_be_asked_for_by_rater_item_criterion_and_protocol(store_location: str):
    def ids(*found: tuple[int, Rating]) -> list[str]:
        return [one.id for _, one in found]

    with made(store_location) as store:
        one, two, three = rating("i1"), rating("i2", rater="bot"), rating("i2", "certainty", 40.0)
        store.ratings.add([one, two, three])
        assert ids(*store.ratings.arrivals(rater="bot")) == [two.id]
        assert ids(*store.ratings.arrivals(item="i2")) == [two.id, three.id]
        assert ids(*store.ratings.arrivals(criterion="certainty")) == [three.id]
        assert store.ratings.arrivals(item="i9") == store.ratings.arrivals(rater="\x00") == []
        store.protocols.adopt(RENAMED, "")
        later = replace(rating("i1"), digest=RENAMED.digest)
        store.ratings.add([later])
        assert ids(*store.ratings.arrivals()) == [later.id]
        assert ids(*store.ratings.arrivals(every_digest=True)) == [one.id, two.id, three.id, later.id]
