"""Every promise of `store/base.py`, on every back end."""

import os
import random
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import inspect
from sqlalchemy.exc import DBAPIError

from evenhand.errors import ConflictError, DuplicateItemError, NewerStudyError, NotAStudyError, StudyError
from evenhand.protocol.load import read_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Span, Status, Triple, Unit, Value
from evenhand.store.items import ItemUnits
from evenhand.store.ratings import Added
from evenhand.store.schema import metadata
from evenhand.store.store import Store, create_store, open_store
from evenhand.study import Study
from evenhand.units import Question
from tests.postgres import engine_of
from tests.processes import FORKS

FIELDS = """
name: reply-check
version: "1"
title: Reply check
item:
  fields:
    reply: {role: rated}
    passages: {role: evidence, kind: passages, required: false}
    triples: {role: evidence, kind: triples, required: false}
    score: {role: context, kind: number, required: false}
    topic: {role: context, kind: label, required: false}
strata: [topic]
"""
CRITERIA = """
criteria:
  - id: tone
    question: How friendly is it?
    scale: {type: ordinal, levels: {1: {label: Cold, anchor: Cold.}, 2: {label: Warm, anchor: Warm.}}}
  - {id: certainty, question: "How sure is it?", scale: {type: percent}, required: false}
  - {id: comment, question: "What else?", scale: {type: text}, required: false}
"""
WHOLE = read_protocol(FIELDS + "unit: item" + CRITERIA, "whole.yaml")
SENTENCES = read_protocol(FIELDS + "unit: sentence of reply" + CRITERIA, "sentences.yaml")
RENAMED = WHOLE.model_copy(update={"version": "2"})
ANN, BOT = RaterRef("ann", Kind.PERSON), RaterRef("bot", Kind.MODEL, "2026-01", "c0ffee")


def whole(n: int) -> Iterator[ItemUnits]:
    for number in range(1, n + 1):
        item = Item(f"i{number}", {"reply": f"Reply {number}."})
        yield item, [Unit(item.id, item.id, 1)]


def rating(unit: str = "i1", criterion: str = "tone", value: Value = 1, **more: Any) -> Rating:
    known: dict[str, Any] = {"rater": "ann", "digest": WHOLE.digest, **more}
    return Rating(unit=unit, criterion=criterion, value=value, **known)


@pytest.fixture
def store(store_location: str) -> Generator[Store, None, None]:
    """A study of three whole items that ann and bot may rate."""
    with create_store(store_location, WHOLE, "whole.yaml", whole(3)) as made:
        made.ratings.add([], raters=[ANN])
        made.ratings.add([], raters=[BOT])
        yield made


def said(ratings: Iterator[Rating]) -> list[tuple[str, str, object]]:
    return [(one.unit, one.criterion, one.value) for one in ratings]


# Items and units


def test_items_and_units_come_back_as_they_went_in_and_in_order(store_location: str) -> None:
    first = Item(
        "z/1",
        {
            "reply": "One. Two.",
            "passages": ("p1", "p2"),
            "triples": (Triple("a", "b", "c"), Triple("d", "e", "f")),
            "score": 0.1 + 0.2,
            "topic": "河流",
        },
    )
    second = Item("a#1", {"reply": "Control \0 and broken \ud83d.", "passages": (), "score": 4.0})
    sentences = [
        Unit("z/1#1", "z/1", 1, "One.", Span("reply", 0, 4)),
        Unit("z/1#2", "z/1", 2, "Two.", Span("reply", 5, 9)),
    ]
    work: list[ItemUnits] = [
        (first, sentences),
        (second, [Unit("a#1#1", "a#1", 1, "Question \ud83d?", None, "An answer", "key")]),
        (Item("none", {"reply": ""}), []),
    ]
    with create_store(store_location, SENTENCES, "s", work) as made, open_store(store_location) as opened:
        for study in (made, opened):
            assert list(study.items.all()) == [item for item, _ in work]
            assert list(study.items.units()) == [unit for _, units in work for unit in units]
            assert (study.items.count(), study.items.count_units()) == (3, 3)
            found = study.items.find("z/1")
            assert found is not None
            assert [type(value) for value in found.fields.values()] == [str, tuple, tuple, float, str]
            triples = cast("tuple[object, ...]", found.fields["triples"])
            assert all(isinstance(triple, Triple) for triple in triples)
            assert study.items.find("missing") is None
            assert study.items.unit("a#1#1") == work[1][1][0]
            assert study.items.units_of(["none", "z/1", "missing", "z/1"]) == {"z/1": work[0][1], "none": []}


@pytest.mark.parametrize(
    "name", ["z/1", "z/1#0", "z/1#3", "z/1#01", "z/1#１", "#1", "z/1#" + "9" * 30, "z\0#1", "\ud83d"]
)
def test_what_is_no_unit_is_not_found(tmp_path: Path, name: str) -> None:
    item = Item("z/1", {"reply": "One. Two."})
    units = [Unit(f"z/1#{n}", "z/1", n, "One.", Span("reply", 0, 4)) for n in (1, 2)]
    with create_store(tmp_path / "s.db", SENTENCES, "s", [(item, units)]) as made:
        assert made.items.unit(name) is None


def test_a_study_may_be_larger_than_a_page(store_location: str) -> None:
    work: list[ItemUnits] = []
    for number in range(1, 1203):
        units = [Unit(f"i{number}#{n}", f"i{number}", n, f"{number}.{n}") for n in range(1, 5)]
        work.append((Item(f"i{number}", {"reply": "x"}), units))
    with create_store(store_location, SENTENCES, "s", iter(work)) as made:
        assert [item.id for item in made.items.all()] == [item.id for item, _ in work]
        assert list(made.items.units()) == [unit for _, units in work for unit in units]
        wanted = [item.id for item, _ in work]
        assert made.items.units_of(wanted) == {item.id: units for item, units in work}


def test_a_study_is_made_whole_or_not_at_all(store_location: str) -> None:
    def broken() -> Iterator[ItemUnits]:
        yield from whole(1500)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        create_store(store_location, WHOLE, "w", broken())
    with pytest.raises(StudyError):
        open_store(store_location)
    with create_store(store_location, WHOLE, "w", whole(2)) as made:
        assert made.items.count() == 2


def test_a_study_is_never_made_in_the_place_of_another(store: Store, store_location: str) -> None:
    store.ratings.add([rating()])
    with pytest.raises(StudyError, match="already"):
        create_store(store_location, WHOLE, "w", whole(1))
    with open_store(store_location) as opened:
        assert said(opened.ratings.all()) == [("i1", "tone", 1)]


def test_every_duplicate_id_is_reported_with_all_its_places(store_location: str) -> None:
    names = ["a", "b", "a", "c", "b", "a", "d"]
    work = [(Item(name, {"reply": "x"}), [Unit(name, name, 1)]) for name in names]
    with pytest.raises(DuplicateItemError) as caught:
        create_store(store_location, WHOLE, "w", work)
    assert caught.value.duplicates == [("a", [1, 3, 6]), ("b", [2, 5])]
    with pytest.raises(StudyError):
        open_store(store_location)


def test_an_item_id_that_cannot_be_stored_is_refused(store_location: str) -> None:
    with pytest.raises(StudyError, match="items: the id"):
        create_store(store_location, WHOLE, "w", [(Item("a\0", {"reply": "x"}), [Unit("a\0", "a\0", 1)])])


# Ratings


def test_a_rating_comes_back_exactly(store: Store) -> None:
    full = rating(
        value=2,
        rationale="Zeile\nmit \0 und \ud83d",
        confidence=87.5,
        notes="=1+1",
        evidence=(Span("reply", 0, 3), Span("passages", 1, 2)),
        misquoted=("nowhere \0", "\ud83d"),
        distribution=((2, 0.1 + 0.2), (1, 1 - (0.1 + 0.2))),
        mean=1.3,
        reply="r1",
        seconds=0.1,
        visible=("bot",),
        raw='{"x": "\ud83d"}',
        at=datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC),
    )
    sent = [
        full,
        rating(criterion="certainty", value=50.0, distribution=((50.0, 1),), mean=50.0),
        rating(criterion="comment", value="4", distribution=(("4", 0.5), ("é\0", 0.5))),
        Rating(unit="i2", criterion="tone", rater="bot", digest=WHOLE.digest, status=Status.FAILED, reason="timed out"),
        Rating(unit="i3", criterion="tone", rater="bot", digest=WHOLE.digest, status=Status.CANNOT_ASSESS),
    ]
    assert store.ratings.add(sent) == Added(new=5)
    found = list(store.ratings.all())
    assert found == sent
    assert [type(one.value) for one in found] == [int, float, str, type(None), type(None)]
    assert [type(one.distribution[0][0]) for one in found[:3]] == [int, float, str]
    untried = {"status", "reason", "supersedes"}
    bare = Rating(unit="", criterion="", rater="", digest="", value="")
    for name in {field.name for field in fields(Rating)} - untried:
        assert getattr(full, name) != getattr(bare, name), f"{name} is untried"


def test_a_later_rating_supersedes_and_the_history_is_one_line(store: Store) -> None:
    first, second, third = rating(value=1), rating(value=2), rating(value=1, supersedes="whatever")
    store.ratings.add([first])
    assert store.ratings.add([second, third]) == Added(superseding=2)
    assert list(store.ratings.all()) == [replace(third, supersedes=second.id)]
    assert list(store.ratings.all(history=True)) == [
        first,
        replace(second, supersedes=first.id),
        replace(third, supersedes=second.id),
    ]
    assert store.ratings.count() == {WHOLE.digest: {Status.RATED: 1}}


def test_raters_criteria_and_units_do_not_supersede_each_other(store: Store) -> None:
    sent = [rating(), rating(rater="bot"), rating("i2"), rating(criterion="comment", value="x")]
    assert store.ratings.add(sent) == Added(new=4)
    assert len(list(store.ratings.all())) == 4


def test_a_rating_sent_twice_is_stored_once(store: Store, store_location: str) -> None:
    first, second = rating(value=1), rating(value=2)
    store.ratings.add([first, second])
    assert store.ratings.add([first, second], if_current=True) == Added(known=2)
    with open_store(store_location) as other:
        assert other.ratings.add([second, second, first]) == Added(known=3)
    new = rating("i2")
    assert store.ratings.add([new, new]) == Added(new=1, known=1)
    assert [one.id for one in store.ratings.all(history=True)] == [first.id, second.id, new.id]


def test_if_current_refuses_to_replace_what_the_writer_has_not_seen(store: Store, store_location: str) -> None:
    seen = rating(value=1)
    store.ratings.add([seen], if_current=True)
    with open_store(store_location) as other:
        other.ratings.add([rating(value=2, supersedes=seen.id)], if_current=True)
    with pytest.raises(ConflictError, match="i1"):
        store.ratings.add([rating("i2"), rating(value=1, supersedes=seen.id)], if_current=True)
    with pytest.raises(ConflictError):
        store.ratings.add([rating(value=1)], if_current=True)
    with pytest.raises(ConflictError):
        store.ratings.add([rating("i2", supersedes=seen.id)], if_current=True)
    assert said(store.ratings.all()) == [("i1", "tone", 2)]


def test_keep_same_passes_over_what_says_the_same(store: Store) -> None:
    told: dict[str, Any] = {"rationale": "why", "confidence": 50.0, "notes": "n", "evidence": (Span("reply", 0, 1),)}
    told |= {"misquoted": ("x",), "distribution": ((1, 0.75), (2, 0.25)), "mean": 1.25}
    store.ratings.add([rating(value=1, **told)])
    again = rating(value=1, **told, seconds=9.0, reply="another", raw="x")
    assert store.ratings.add([again], keep_same=True) == Added(known=1)
    changes: list[dict[str, Any]] = [{"rationale": "other"}, {"confidence": None}, {"notes": "m"}, {"evidence": ()}]
    changes += [{"misquoted": ()}, {"distribution": ((1, 0.5), (2, 0.5))}, {"mean": 1.5}]
    for change in changes:
        assert store.ratings.add([rating(value=1, **{**told, **change})], keep_same=True) == Added(superseding=1)
    assert store.ratings.add([rating(value=2), rating(value=2)], keep_same=True) == Added(superseding=1, known=1)
    assert store.ratings.add([rating(value=2)]) == Added(superseding=1)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (rating("i9"), "'i9'"),
        (rating(criterion="taste"), "tone, certainty, comment"),
        (rating(rater="bob"), "'bob'"),
        (rating(digest="0" * 64), "000000000000"),
        (rating(id="a\0"), "ratings: the id"),
    ],
)
def test_a_rating_of_something_unknown_is_refused_and_nothing_stored(store: Store, wrong: Rating, named: str) -> None:
    with pytest.raises(StudyError, match=named):
        store.ratings.add([rating(), wrong])
    assert list(store.ratings.all(every_digest=True)) == []


def test_if_the_ratings_break_off_nothing_is_stored(store: Store) -> None:
    def broken() -> Iterator[Rating]:
        for number in range(1200):
            yield rating(rater="eve", value=1 + number % 2)
        raise ValueError("row 1201")

    with pytest.raises(ValueError, match="row 1201"):
        store.ratings.add(broken(), raters=[RaterRef("eve", Kind.PERSON)])
    assert list(store.ratings.all()) == []
    assert store.ratings.raters() == [ANN, BOT]
    assert [store.ratings.rater(name) for name in ("ann", "bot", "eve", "\ud83d")] == [ANN, BOT, None, None]
    assert store.ratings.add([]) == Added()


def test_ratings_come_in_the_order_of_units_criteria_and_time(store: Store) -> None:
    store.ratings.add([rating("i3", "comment", "a"), rating("i1", "comment", "b"), rating("i3", "tone", 1)])
    store.ratings.add([rating("i1", "comment", "c", rater="bot"), rating("i1", "tone", 2)])
    expected = [
        ("i1", "tone", 2),
        ("i1", "comment", "b"),
        ("i1", "comment", "c"),
        ("i3", "tone", 1),
        ("i3", "comment", "a"),
    ]
    assert said(store.ratings.all()) == expected
    assert said(store.ratings.all(rater="bot")) == [("i1", "comment", "c")]
    assert said(store.ratings.all(criterion="tone")) == [("i1", "tone", 2), ("i3", "tone", 1)]
    assert said(store.ratings.all(item="i3")) == [("i3", "tone", 1), ("i3", "comment", "a")]
    for nobody in (store.ratings.all(rater="x"), store.ratings.all(item="x"), store.ratings.all(criterion="x\0")):
        assert list(nobody) == []


def test_an_item_with_more_ratings_than_a_page_holds(store: Store) -> None:
    sent = [rating(value=1 + number % 2) for number in range(4500)]
    store.ratings.add([rating("i1", "comment", "x"), *sent, rating("i2")])
    assert [one.id for one in store.ratings.all(history=True, criterion="tone", item="i1")] == [one.id for one in sent]
    assert said(store.ratings.all()) == [("i1", "tone", 2), ("i1", "comment", "x"), ("i2", "tone", 1)]


def test_the_store_may_be_written_while_it_is_read(store: Store) -> None:
    for unit in store.items.units():
        store.ratings.add([rating(unit.id, value=2)])
    assert store.ratings.add(rating(unit.id, value=1) for unit in store.items.units()) == Added(superseding=3)
    copied = (replace(one, id=one.id + "+", rater="bot") for one in store.ratings.all())
    assert store.ratings.add(copied) == Added(new=3)


def test_what_yields_ratings_may_write_and_is_undone_with_them(store: Store) -> None:
    def writing() -> Iterator[Rating]:
        for _ in range(600):
            yield rating()
        store.ratings.add([], raters=[RaterRef("eve", Kind.PERSON)])
        yield rating(rater="eve")
        raise ValueError("broken off")

    with pytest.raises(ValueError, match="broken off"):
        store.ratings.add(writing())
    assert store.ratings.raters() == [ANN, BOT]
    assert list(store.ratings.all()) == []
    assert store.ratings.add([rating()]) == Added(new=1)


def test_the_database_itself_refuses_to_change_or_remove(store: Store, store_location: str) -> None:
    store.ratings.add([rating()])
    engine = engine_of(store_location)
    try:
        for statement in (
            "UPDATE ratings SET value = '5'",
            "DELETE FROM ratings",
            "DELETE FROM items",
            "UPDATE items SET fields = '{}'",
            "UPDATE units SET content = ''",
        ):
            with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
                connection.exec_driver_sql(statement)
    finally:
        engine.dispose()
    assert said(store.ratings.all()) == [("i1", "tone", 1)]


# Raters


def test_a_rater_keeps_its_kind_and_takes_a_new_version(store: Store) -> None:
    newer = RaterRef("bot", Kind.MODEL, "2026-02", "beef")
    store.ratings.add([], raters=[newer, RaterRef("eve", Kind.RULE)])
    store.ratings.add([], raters=[ANN])
    assert store.ratings.raters() == [ANN, newer, RaterRef("eve", Kind.RULE)]
    with pytest.raises(StudyError, match="model"):
        store.ratings.add([], raters=[RaterRef("bot", Kind.PERSON)])
    with pytest.raises(StudyError):
        store.ratings.add([], raters=[RaterRef("\ud83d", Kind.PERSON)])


# Protocols


def test_ratings_of_two_digests_are_never_mixed_unasked(store: Store, store_location: str) -> None:
    store.ratings.add([rating(value=1), rating("i2", value=1)])
    with open_store(store_location) as other:
        store.protocols.adopt(RENAMED, "renamed.yaml")
        assert list(store.ratings.all()) == []
        assert store.protocol == RENAMED
        assert store.ratings.add([rating(value=2, digest=RENAMED.digest)]) == Added(new=1)
        # A form that was open before the change still counts under the protocol it showed, and is not lost.
        assert other.protocol == WHOLE
        assert other.ratings.add([rating("i3", value=1), rating("i3", value=2, digest=RENAMED.digest)]) == Added(new=2)
        assert other.protocols.versions()[-1].protocol == RENAMED
        assert other.protocol == RENAMED
    assert said(store.ratings.all()) == [("i1", "tone", 2), ("i3", "tone", 2)]
    assert said(store.ratings.all(digest=WHOLE.digest)) == [("i1", "tone", 1), ("i2", "tone", 1), ("i3", "tone", 1)]
    assert [one.digest for one in store.ratings.all(every_digest=True, item="i1")] == [WHOLE.digest, RENAMED.digest]
    assert list(store.ratings.all(digest="0" * 64)) == []
    assert store.ratings.count() == {WHOLE.digest: {Status.RATED: 3}, RENAMED.digest: {Status.RATED: 2}}
    with pytest.raises(ValueError, match="both"):
        next(store.ratings.all(digest=WHOLE.digest, every_digest=True))


def test_versions_are_in_order_of_adoption_and_the_last_is_in_force(store: Store, store_location: str) -> None:
    store.ratings.add([rating()])
    store.protocols.adopt(RENAMED, "renamed.yaml")
    store.protocols.adopt(RENAMED, "again.yaml")
    assert [version.source for version in store.protocols.versions()] == ["whole.yaml", "renamed.yaml"]
    store.protocols.adopt(WHOLE, "back.yaml")
    assert [version.source for version in store.protocols.versions()] == ["renamed.yaml", "back.yaml"]
    with open_store(store_location) as opened:
        assert opened.protocol.digest == WHOLE.digest
        assert said(opened.ratings.all()) == [("i1", "tone", 1)]
        adopted = [version.adopted for version in opened.protocols.versions()]
        assert adopted == sorted(adopted)
        assert adopted[0].tzinfo is not None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"unit": "sentence of reply"}, "sentence of reply"),
        ({"fields": {"topic": {"role": "context"}}}, "'topic': 2 items do not have it, the first is 'i2'"),
        ({"fields": {"reply": {"role": "rated", "kind": "number"}}}, "'reply': 3 items"),
        (
            {
                "fields": {
                    "topic": {
                        "role": "context",
                        "kind": "label",
                        "required": False,
                        "labels": {"sea": {"definition": "S"}},
                    }
                }
            },
            "'topic': 1 items",
        ),
    ],
)
def test_a_protocol_that_does_not_fit_the_items_is_refused(
    store_location: str, change: dict[str, object], named: str
) -> None:
    work = list(whole(3))
    work[0] = Item("i1", {"reply": "x", "topic": "rivers"}), work[0][1]
    document = WHOLE.model_dump(mode="json", exclude_defaults=True)
    document["version"] = "3"
    document["unit"] = change.get("unit", "item")
    document["item"]["fields"].update(change.get("fields", {}))
    with create_store(store_location, WHOLE, "w", work) as made:
        with pytest.raises(StudyError, match=named):
            made.protocols.adopt(Protocol.model_validate(document), "changed")
        assert made.protocol == WHOLE
        assert len(made.protocols.versions()) == 1


def test_a_protocol_that_asks_less_or_something_new_is_adopted(store: Store) -> None:
    document = RENAMED.model_dump(mode="json", exclude_defaults=True)
    document["item"]["fields"]["extra"] = {"role": "context", "kind": "number", "required": False}
    document["criteria"] = document["criteria"][::-1]
    reversed_criteria = Protocol.model_validate(document)
    store.protocols.adopt(reversed_criteria, "r")
    digest = reversed_criteria.digest
    store.ratings.add([rating(digest=digest), rating(criterion="comment", value="x", digest=digest)])
    assert [one.criterion for one in store.ratings.all()] == ["comment", "tone"]


# Versions of the schema


@pytest.mark.parametrize(("number", "error"), [("999", NewerStudyError), ("4", StudyError), ("", NotAStudyError)])
def test_a_study_of_another_schema_is_refused(
    store: Store, store_location: str, number: str, error: type[StudyError]
) -> None:
    engine = engine_of(store_location)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE meta SET value = '{number}' WHERE key = 'schema'")
    engine.dispose()
    with pytest.raises(StudyError) as raised:
        open_store(store_location)
    assert type(raised.value) is error
    assert raised.value.location == store.location


def test_a_new_study_has_the_tables_that_queries_expect(store: Store, store_location: str) -> None:
    engine = engine_of(store_location)
    try:
        found = inspect(engine)
        schema = None if engine.dialect.name == "sqlite" else "evenhand"
        assert set(found.get_table_names(schema=schema)) == set(metadata.tables)
        for name, table in metadata.tables.items():
            columns = found.get_columns(name, schema=schema)
            assert [column["name"] for column in columns] == table.columns.keys()
            assert found.get_pk_constraint(name, schema=schema)["constrained_columns"] == [
                column.name for column in table.primary_key
            ]
    finally:
        engine.dispose()


# Many processes

WRITERS, EACH = 20, 100


def _write(location: str, writer: int, pipe: Pipe) -> None:
    """Twenty ratings in calls of their own, the rest twenty at a time."""
    name = f"writer-{writer}"
    sent = [
        Rating(unit=f"i{number + 1}", criterion="tone", rater=name, digest=WHOLE.digest, value=1)
        for number in range(EACH)
    ]
    with open_store(location) as study:
        study.ratings.add([], raters=[RaterRef(name, Kind.MODEL)])
        for one in sent[:20]:
            assert study.ratings.add([one]) == Added(new=1)
        for start in range(20, EACH, 20):
            assert study.ratings.add(sent[start : start + 20]) == Added(new=20)
    pipe.send([one.id for one in sent])
    pipe.close()


def test_twenty_processes_write_at_once_and_nothing_is_lost_or_doubled(store_location: str) -> None:
    create_store(store_location, WHOLE, "w", whole(EACH)).close()
    acknowledged = sorted(rating_id for ids in _run(_write, store_location, range(WRITERS)) for rating_id in ids)
    with open_store(store_location) as study:
        assert sorted(one.id for one in study.ratings.all(history=True)) == acknowledged
        assert len(acknowledged) == WRITERS * EACH
        assert study.ratings.count() == {WHOLE.digest: {Status.RATED: WRITERS * EACH}}


def _quarrel(location: str, writer: int, pipe: Pipe) -> None:
    """Write to the cell that the others write to as well; in between only on top of what is there."""
    ids: list[str] = []
    with open_store(location) as study:
        for number in range(25):
            new = rating(value=1 + number % 2, notes=str(writer))
            if number % 2:
                current = next(study.ratings.all(), None)
                new = replace(new, supersedes=current.id if current else None)
            try:
                study.ratings.add([new], if_current=bool(number % 2))
                ids.append(new.id)
            except ConflictError:
                pass
    pipe.send(ids)
    pipe.close()


def test_writers_of_one_cell_leave_one_line(store: Store, store_location: str) -> None:
    ids = {rating_id for found in _run(_quarrel, store_location, range(6)) for rating_id in found}
    line = list(store.ratings.all(history=True))
    assert {one.id for one in line} == ids
    assert [one.supersedes for one in line] == [None, *(one.id for one in line[:-1])]


def _write_until_killed(location: str, writer: int, pipe: Pipe) -> None:
    with open_store(location) as study:
        pipe.send(())
        while True:
            batch = [rating(f"i{number}", value=1 + writer % 2) for number in range(1, 4)]
            study.ratings.add(batch)
            pipe.send([one.id for one in batch])


def test_a_killed_writer_loses_nothing_that_was_acknowledged(store: Store, store_location: str) -> None:
    chance = random.Random(7)
    acknowledged: set[str] = set()
    for attempt in range(8):
        mine, its = FORKS.Pipe(duplex=False)
        process = FORKS.Process(target=_write_until_killed, args=(store_location, attempt, its))
        process.start()
        its.close()
        for _ in range(chance.randrange(1, 12)):
            acknowledged.update(mine.recv())
        time.sleep(chance.uniform(0.0, 0.02))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        try:
            while True:
                acknowledged.update(mine.recv())
        except (EOFError, OSError):
            pass
        mine.close()
        process.join()
        with open_store(store_location) as study:
            stored = [one.id for one in study.ratings.all(history=True)]
        assert acknowledged <= set(stored)
        assert len(stored) % 3 == 0, "a call's ratings are stored together"
    assert acknowledged
    assert store.ratings.add([rating()]) == Added(superseding=1)


def _run(target: Callable[[str, int, Pipe], None], location: str, writers: Sequence[int]) -> list[list[str]]:
    """Run one process for each writer, and return what each sent back."""
    pipes: list[Pipe] = []
    processes: list[BaseProcess] = []
    for writer in writers:
        mine, its = FORKS.Pipe(duplex=False)
        process = FORKS.Process(target=target, args=(location, writer, its))
        process.start()
        its.close()
        pipes.append(mine)
        processes.append(process)
    answers = [pipe.recv() for pipe in pipes]
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.close()
        process.join()
        assert process.exitcode == 0
    return answers


# Backup


def test_a_backup_is_the_whole_study(store: Store, tmp_path: Path) -> None:
    store.ratings.add([rating(value=1), rating(value=2, rationale="\0\ud83d"), rating("i2", rater="bot")])
    store.protocols.adopt(RENAMED, "renamed.yaml")
    store.ratings.add([rating(value=2, digest=RENAMED.digest)])
    target = tmp_path / "copy.db"
    store.backup(target)
    assert sorted(path.name for path in tmp_path.iterdir() if "copy" in path.name) == ["copy.db"]
    with open_store(target) as copy:
        assert list(copy.items.all()) == list(store.items.all())
        assert list(copy.items.units()) == list(store.items.units())
        assert copy.ratings.raters() == store.ratings.raters()
        assert copy.protocols.versions() == store.protocols.versions()
        everything = list(store.ratings.all(every_digest=True, history=True))
        assert list(copy.ratings.all(every_digest=True, history=True)) == everything
        assert copy.ratings.count() == store.ratings.count()
        assert copy.items.count() == 3
        assert copy.ratings.add([rating(digest=RENAMED.digest)]) == Added(superseding=1)
    assert list(store.ratings.all(every_digest=True, history=True)) == everything
    with pytest.raises(StudyError, match="exists already"):
        store.backup(target)


def test_a_backup_while_others_write_is_one_moment(store: Store, store_location: str, tmp_path: Path) -> None:
    mine, its = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=_write_until_killed, args=(store_location, 0, its))
    process.start()
    its.close()
    mine.recv()
    acknowledged: list[str] = []
    for number in range(5):
        acknowledged += mine.recv()
        before = set(acknowledged)
        store.backup(tmp_path / f"copy-{number}.db")
        with open_store(tmp_path / f"copy-{number}.db") as copy:
            stored = {one.id for one in copy.ratings.all(history=True)}
        assert before <= stored
        assert len(stored) % 3 == 0
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    mine.close()


# What fits its protocol


def test_items_are_found_by_their_ids(store: Store) -> None:
    found = store.items.find_many(["i3", "missing", "i1", "i3", "\ud83d"])
    assert found == {"i1": Item("i1", {"reply": "Reply 1."}), "i3": Item("i3", {"reply": "Reply 3."})}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (rating(value=3), "the value 3 is not a whole number from 1 to 2"),
        (rating(value="2"), "the value '2' must be given as 2, a whole number from 1 to 2"),
        (rating(value=2.0), "the value 2.0 must be given as 2, a whole number from 1 to 2"),
        (rating(value=True), "the value True is not a whole number from 1 to 2"),
        (rating(criterion="certainty", value=101.0), "the value 101.0 is not a number from 0 to 100"),
        (rating(criterion="certainty", value=50), "the value 50 must be given as 50.0, a number from 0 to 100"),
        (rating(criterion="comment", value=" x"), "the value ' x' must be given as 'x', a text"),
        (rating(criterion="comment", value=""), "the value '' is not a text"),
        (rating(confidence=110.0), "the confidence 110.0 is not a number from 0 to 100"),
        (rating(confidence=float("nan")), "the confidence nan is not a number from 0 to 100"),
        (rating(mean=2.1), "the mean 2.1 is not a number from 1 to 2"),
        (rating(mean=float("nan")), "the mean nan is not a number from 1 to 2"),
        (rating(criterion="certainty", value=1.0, mean=-1.0), "the mean -1.0 is not a number from 0 to 100"),
        (rating(criterion="comment", value="x", mean=1.0), "only numbers have a mean"),
        (rating(distribution=((1, 0.5), (3, 0.5))), "the distribution: the value 3 is not a whole number from 1 to 2"),
        (rating(distribution=((1, 0.5), ("2", 0.5))), "the distribution: the value '2' must be given as 2"),
        (rating(distribution=((1, 1.5), (2, -0.5))), "the distribution: the value 1 has the probability 1.5"),
        (rating(distribution=((1, 1.0), (2, -0.0001))), "the distribution: the value 2 has the probability -0.0001"),
        (rating(distribution=((1, float("nan")),)), "the distribution: the value 1 has the probability nan"),
        (rating(distribution=((1, True),)), "the distribution: the value 1 has the probability True"),
        (rating(distribution=((1, 0.5), (1, 0.5))), "the distribution: the value 1 is there twice"),
        (
            rating(distribution=((1, 0.5), (2, 0.49999))),
            "the distribution: the probabilities sum to 0.99999, not to 1",
        ),
    ],
)
def test_a_rating_that_does_not_fit_its_protocol_is_refused(store: Store, wrong: Rating, told: str) -> None:
    store.ratings.add([rating("i2")])
    for _ in range(2):  # what was refused once is not taken for good the next time
        with pytest.raises(StudyError) as caught:
            store.ratings.add([rating("i3"), wrong])
        assert f"unit 'i1', criterion {wrong.criterion!r}: " in str(caught.value)
        assert told in str(caught.value)
    assert said(store.ratings.all()) == [("i2", "tone", 1)]


def test_probabilities_may_miss_1_by_what_rounding_leaves(store: Store) -> None:
    thirds = ((1, 0.3333333), (2, 0.6666668))  # 1.0000001 in all
    store.ratings.add([rating(value=2, distribution=thirds, mean=1.6666669), rating("i2", value=2, mean=2.000001)])
    assert [one.distribution for one in store.ratings.all()] == [thirds, ()]


def test_a_rating_without_a_value_fits_any_scale(store: Store) -> None:
    store.ratings.add([Rating(unit="i1", criterion="tone", rater="ann", digest=WHOLE.digest, status=Status.SKIPPED)])
    assert [one.status for one in store.ratings.all()] == [Status.SKIPPED]


def test_items_are_added_after_those_that_are_there_all_or_none(store_location: str):
    rows = [{"id": str(n), "question": "q", "context": "c", "generated_answer": f"a{n}"} for n in range(6)]
    with Study.create(store_location, "halo-support", rows[:2]) as study:
        study.import_ratings([{"id": "0", "support": "SUPPORTED"}], rater="ann")
        assert study.add_items(rows[1:4]) == 2
        with pytest.raises(StudyError, match="other content"):
            study.add_items([rows[4], {**rows[0], "context": "another"}])
        assert study.add_items(rows[:4]) == 0
        assert [item.id for item in study.items()] == ["0", "1", "2", "3"]
        assert (study.store.items.count(), study.store.items.count_units()) == (4, 4)
        assert study.store.work.count_pending("m") == 4
        assert study.tables().n_items == 4
    questions = {"b": [Question("When?", "1990")]}
    with Study.create(":memory:", "rag-quest-eval", [{"id": "a", "reference": "x", "generated": "y"}]) as study:
        before = study.store.items.count_units()
        assert study.add_items([{"id": "b", "reference": "x", "generated": "y"}], questions=questions) == 1
        assert study.store.items.count_units() == before + 1
