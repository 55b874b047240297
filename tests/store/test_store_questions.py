"""Promise 6 of `store/base.py`: questions may be exchanged until somebody has answered them, on every back end."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy.exc import DBAPIError

from evenhand.assignment import Plan, Purpose
from evenhand.errors import StudyError
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Span, Status, Unit
from evenhand.store.items import Replaced
from evenhand.store.store import Store, create_store, open_store

PROTOCOL = read_protocol(
    """
name: asked
version: "1"
title: Asked
item: {fields: {text: {role: rated}, source: {role: reference, shown: false}}}
unit: question from source
criteria: [{id: answer, question: "What is it?", scale: {type: text, unanswerable: true}}]
""",
    "asked.yaml",
)
LATER = PROTOCOL.model_copy(update={"version": "2"})
BOT = RaterRef("bot", Kind.MODEL)


def units(item: str, *texts: str) -> list[Unit]:
    return [Unit(f"{item}#{n}", item, n, text, None, f"answer to {text}") for n, text in enumerate(texts, start=1)]


def rated(unit: str, rater: str = "bot", **more: Any) -> Rating:
    known: dict[str, Any] = {"digest": PROTOCOL.digest, "value": "an answer", **more}
    return Rating(unit=unit, criterion="answer", rater=rater, **known)


def texts(store: Store) -> dict[str, list[str]]:
    """The questions of every item, as each way of reading units gives them."""
    found: dict[str, list[str]] = {item.id: [] for item in store.items.all()}
    for unit in store.items.units():
        assert store.items.unit(unit.id) == unit
        found[unit.item].append(str(unit.text))
    by_item = store.items.units_of(list(found))
    assert {name: [unit.text for unit in of] for name, of in by_item.items()} == found
    assert store.items.count_units() == sum(map(len, found.values()))
    return found


@pytest.fixture
def store(store_location: str) -> Generator[Store, None, None]:
    """Items a, b and c with two, one and no questions; the model bot may rate."""
    fields = {"text": "T.", "source": "S."}
    work = [
        (Item("a", fields), units("a", "a1", "a2")),
        (Item("b", fields), units("b", "b1")),
        (Item("c", fields), list[Unit]()),
    ]
    with create_store(store_location, PROTOCOL, "asked.yaml", work) as made:
        made.ratings.add([], raters=[BOT])
        yield made


def test_questions_are_changed_added_and_removed_and_others_stay(store: Store, store_location: str) -> None:
    with open_store(store_location) as other:
        assert other.items.count_units() == 3
        done = store.items.replace_units([("a", units("a", "a1", "new")), ("b", []), ("c", units("c", "c1", "c2"))])
        assert done == Replaced(kept=1, changed=1, added=2, removed=1)
        assert texts(store) == texts(other) == {"a": ["a1", "new"], "b": [], "c": ["c1", "c2"]}
    assert store.items.replace_units([("a", units("a", "a1", "new"))]) == Replaced(kept=2)
    assert store.items.replace_units([]) == Replaced()
    assert [unit.answer for unit in store.items.units_of(["c"])["c"]] == ["answer to c1", "answer to c2"]


def test_what_is_pending_and_what_is_tabulated_follow(store: Store) -> None:
    store.ratings.add([rated("b#1")])
    assert store.work.count_pending("bot") == 2
    store.items.replace_units([("a", units("a", "a1", "a2", "a3")), ("c", units("c", "c1"))])
    assert store.work.count_pending("bot") == 4
    assert [(item.id, [unit.id for unit in its]) for item, its in store.work.pending("bot")] == [
        ("a", ["a#1", "a#2", "a#3"]),
        ("c", ["c#1"]),
    ]
    tables = store.tables()
    assert (tables.n_units, list(tables.references or ())) == (
        5,
        ["answer to a1", "answer to a2", "answer to a3", "answer to b1", "answer to c1"],
    )
    # The fourth unit of the study is b's, now that a has three.
    assert tables.tables["answer"].unit.tolist() == [3]


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(["a1", "other"], id="changed"),
        pytest.param(["a1"], id="removed"),
        pytest.param(["a2", "a1"], id="moved"),
        pytest.param([], id="all removed"),
    ],
)
@pytest.mark.parametrize("status", [Status.RATED, Status.FAILED])
def test_a_question_with_a_rating_stays_as_it_is_and_where_it_is(
    store: Store, wanted: Sequence[str], status: Status
) -> None:
    more: dict[str, Any] = {} if status is Status.RATED else {"status": status, "value": None, "reason": "no reply"}
    store.ratings.add([rated("a#2", **more)])
    assert store.items.rated_units(["a", "b", "nobody", "\0"]) == {"a#2"}
    with pytest.raises(StudyError, match=r"1 unit has ratings .*: a#2\. No unit was changed"):
        store.items.replace_units([("b", units("b", "other")), ("a", units("a", *wanted))])
    assert texts(store) == {"a": ["a1", "a2"], "b": ["b1"], "c": []}
    # Its neighbour has none, and may.
    assert store.items.replace_units([("a", units("a", "other", "a2", "a3"))]) == Replaced(kept=1, changed=1, added=1)
    assert [rating.unit for rating in store.ratings.all()] == ["a#2"]


def test_ratings_under_an_earlier_protocol_count_too_and_all_units_are_named(store: Store) -> None:
    store.ratings.add([rated("a#1"), rated("a#2"), rated("b#1")])
    store.protocols.adopt(LATER, "later.yaml")
    assert store.items.rated_units(["a", "b"]) == {"a#1", "a#2", "b#1"}
    with pytest.raises(StudyError, match=r"3 units have ratings .*: a#1, a#2, b#1\."):
        store.items.replace_units([("a", []), ("b", units("b", "other"))])


def test_an_iterable_that_raises_changes_nothing(store: Store) -> None:
    def failing() -> Generator[tuple[str, list[Unit]]]:
        yield "a", units("a", *(str(unit.text) for unit in store.items.units_of(["b"])["b"]))
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - the very one that was raised
        store.items.replace_units(failing())
    assert texts(store)["a"] == ["a1", "a2"]


def test_more_items_than_a_batch_holds(tmp_path: Path) -> None:
    work = [(Item(f"i{n}", {"text": "T.", "source": "S."}), units(f"i{n}", "old")) for n in range(1200)]
    with create_store(str(tmp_path / "large.db"), PROTOCOL, "asked.yaml", work) as store:
        store.ratings.add([rated("i1100#1")], raters=[BOT])
        with pytest.raises(StudyError, match="i1100#1"):
            store.items.replace_units((item.id, units(item.id, "new")) for item, _ in work)
        assert {unit.text for unit in store.items.units()} == {"old"}, "the first batch was not kept either"
        done = store.items.replace_units(
            (item.id, units(item.id, "new", "more")) for item, _ in work if item.id != "i1100"
        )
        assert done == Replaced(changed=1199, added=1199)
        assert store.items.count_units() == 2 * 1199 + 1


def test_only_questions_and_claims_are_exchanged(store_location: str) -> None:
    whole = PROTOCOL.model_copy(update={"unit": "item"})
    with create_store(store_location, whole, "", [(Item("a", {"text": "T.", "source": "S."}), ())]) as store:
        with pytest.raises(StudyError, match="only questions and claims"):
            store.items.replace_units([("a", units("a", "x"))])
        assert store.items.rated_units(["a"]) == set()


def test_the_database_itself_keeps_rated_units(store: Store, store_location: str) -> None:
    store.ratings.add([rated("a#1")])
    if store_location.startswith("postgresql:"):
        url = sqlalchemy.make_url(store_location).set(drivername="postgresql+psycopg")
        engine = sqlalchemy.create_engine(url, connect_args={"options": "-csearch_path=evenhand"})
    else:
        engine = sqlalchemy.create_engine(f"sqlite:///{store_location}")
    try:
        for statement in ("UPDATE units SET content = ''", "DELETE FROM units WHERE item = 1 AND position = 1"):
            with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
                connection.exec_driver_sql(statement)
    finally:
        engine.dispose()
    assert texts(store)["a"] == ["a1", "a2"]


# People


def given(store: Store, rater: str) -> list[str | None]:
    """Everything somebody is given when they finish one thing after the other."""
    found: list[str | None] = []
    while (task := store.people.tasks.next(rater)) is not None:
        found.append(task.item)
        for unit in store.items.units_of([str(task.item)])[str(task.item)]:
            if not any(rating.unit == unit.id for rating in store.ratings.all(rater=rater)):
                store.ratings.add([rated(unit.id, rater)])
        store.people.tasks.finish(rater, task.number)
    return found


def test_an_item_that_gets_its_first_question_is_given_out(store: Store) -> None:
    store.people.admit("ann", "rater")
    assert sorted(map(str, given(store, "ann"))) == ["a", "b"]
    store.items.replace_units([("c", units("c", "c1"))])
    assert given(store, "ann") == ["c"]


def test_an_item_that_loses_its_questions_is_not_given_out(store: Store) -> None:
    store.people.admit("ann", "rater")
    store.people.tasks.prepare()
    store.items.replace_units([("a", [])])
    assert given(store, "ann") == ["b"]
    with pytest.raises(StudyError, match="item 'a' has nothing to rate"):
        store.people.tasks.reassign("a", "ann")


def test_what_somebody_has_in_hand_does_not_change_under_their_eyes(store: Store) -> None:
    store.people.admit("ann", "rater")
    task = store.people.tasks.next("ann")
    assert task is not None
    item = str(task.item)
    with pytest.raises(StudyError, match=rf"working on these items .*: {item} \(ann\)\. No unit was changed"):
        store.items.replace_units([(item, units(item, "other"))])
    more = [*(str(unit.text) for unit in store.items.units_of([item])[item]), "one more"]
    assert store.items.replace_units([(item, units(item, *more))]).added == 1
    store.people.tasks.give_back("ann")
    assert store.items.replace_units([(item, units(item, "other"))]).changed == 1


def test_whoever_was_done_has_an_item_with_a_further_question_again(store: Store) -> None:
    store.people.tasks.set_plan(Plan(overlap=1))
    for name in ("ann", "ben"):
        store.people.admit(name, "rater")
    done = given(store, "ann")
    assert sorted(map(str, done)) == ["a", "b"]
    store.items.replace_units([("b", units("b", "b1", "b2"))])
    # With an overlap of 1 it is ann's and nobody else's.
    assert given(store, "ben") == []
    counts = store.people.tasks.count("ann")["ann"]
    assert (counts.open, counts.done) == (1, 1)
    assert given(store, "ann") == ["b"]
    assert {rating.unit for rating in store.ratings.all(rater="ann")} == {"a#1", "a#2", "b#1", "b#2"}


def test_what_was_rated_in_a_spreadsheet_is_complete_only_with_every_question(store: Store) -> None:
    store.people.tasks.set_plan(Plan(overlap=1))
    store.people.admit("ann", "rater")
    store.people.admit("ben", "rater")
    store.ratings.add([rated("b#1", "ben")])
    store.people.tasks.prepare()
    assert given(store, "ann") == ["a"]
    store.items.replace_units([("b", units("b", "b1", "b2"))])
    assert given(store, "ann") == ["b"]


def test_an_answer_to_a_repeat_keeps_its_question_too(store: Store) -> None:
    people = store.people
    people.tasks.set_plan(Plan(repeat_every=2, repeat_after=1))
    people.admit("ann", "rater")
    store.items.replace_units([("a", units("a", "a1")), ("c", units("c", "c1"))])
    while (task := people.tasks.next("ann")) is not None and task.purpose is not Purpose.REPEAT:
        people.tasks.finish("ann", task.number)
    assert task is not None
    unit = f"{task.item}#1"
    people.trials.add(task.number, [rated(unit, "ann")])
    people.tasks.finish("ann", task.number)
    assert list(store.ratings.all()) == []
    assert store.items.rated_units(["a", "b", "c"]) == {unit}
    with pytest.raises(StudyError, match=unit):
        store.items.replace_units([(str(task.item), [])])


def test_a_backup_has_the_questions_of_its_moment(store: Store, tmp_path: Path) -> None:
    store.items.replace_units([("a", units("a", "other"))])
    store.backup(tmp_path / "copy.db")
    store.items.replace_units([("a", [])])
    with open_store(str(tmp_path / "copy.db")) as copy:
        assert texts(copy) == {"a": ["other"], "b": ["b1"], "c": []}


def test_claims_keep_their_field_and_their_place_and_are_exchanged_like_questions(store_location: str) -> None:
    protocol = load_protocol("halo-claims")
    item = Item("a", {"question": "Q?", "context": ("C.",), "generated_answer": "It is.", "gold_answer": "It was."})
    claims = [
        Unit("a#1", "a", 1, "It is.", Span("generated_answer", 0, 6)),
        Unit("a#2", "a", 2, "It has been.", field="gold_answer"),
    ]
    with create_store(store_location, protocol, "", [(item, claims)]) as made:
        assert list(made.items.units()) == claims
        assert [unit.field for unit in made.items.units()] == ["generated_answer", "gold_answer"]
        moved = replace(claims[1], field="generated_answer")
        assert made.items.replace_units([("a", [claims[0], moved])]) == Replaced(kept=1, changed=1)
        rating = Rating(unit="a#2", criterion="support", rater="bot", digest=protocol.digest, value="SUPPORTED")
        made.ratings.add([rating], raters=[BOT])
        with pytest.raises(StudyError):
            made.items.replace_units([("a", claims)])
    with open_store(store_location) as again:
        assert list(again.items.units()) == [claims[0], moved]
