"""Replies of models and runs, on every back end: promises 9 and 10 of `store/base.py`."""

from collections.abc import Generator, Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy.exc import DBAPIError

from evenhand.errors import StudyError
from evenhand.llm.base import Choice, Reply, Usage
from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Kind, RaterRef, Rating
from evenhand.store.items import ItemUnits
from evenhand.store.ratings import Added
from evenhand.store.replies import ReplyKey, StoredReply
from evenhand.store.store import Store, create_store, open_store
from evenhand.store.work import RunSpec

PROTOCOL = load_protocol("halo-support")
AT = datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
KEY = ReplyKey("5e1f", "m", '{"temperature": 0.0}')


def work() -> Iterator[ItemUnits]:
    yield Item("i1", {"question": "x"}), []


@pytest.fixture
def store(store_location: str) -> Generator[Store, None, None]:
    with create_store(store_location, PROTOCOL, "p", work()) as made:
        yield made


def stored(name: str, key: ReplyKey = KEY, text: str = "yes") -> StoredReply:
    return StoredReply(name, key, Reply(text), AT)


def engine(location: str) -> sqlalchemy.Engine:
    if location.startswith("postgresql:"):
        url = sqlalchemy.make_url(location).set(drivername="postgresql+psycopg")
        return sqlalchemy.create_engine(url, connect_args={"options": "-csearch_path=evenhand"})
    return sqlalchemy.create_engine(f"sqlite:///{location}")


def test_a_reply_comes_back_exactly(store: Store, store_location: str) -> None:
    full = Reply(
        text="Zeile\nmit \0 und \ud83d",
        finish="length",
        usage=Usage(1200, 34, 5),
        model="m-2026-01",
        choices=(Choice(11, "4", (("4", -0.1 - 0.2), ("5", float("-inf")))), Choice(12, "}", ())),
        seconds=0.1 + 0.2,
    )
    bare = Reply("")
    stored_fields = [field.name for field in fields(Reply) if field.compare]
    assert all(getattr(full, name) != getattr(bare, name) for name in stored_fields), "a field is untried"
    sent = [StoredReply("a", KEY, full, AT), StoredReply("b", replace(KEY, sample=1), bare, AT)]
    store.replies.add(sent)
    with open_store(store_location) as other:
        for study in (store, other):
            assert [study.replies.get("a"), study.replies.get("b")] == sent
            assert study.replies.find([one.key for one in sent]) == {one.key: one for one in sent}
    found = store.replies.get("a")
    assert found is not None
    assert [type(part) for part in (found.reply.choices, found.reply.choices[0].alternatives[0])] == [tuple, tuple]


@pytest.mark.parametrize("change", [{"prompt": "5e1e"}, {"model": "n"}, {"parameters": "{}"}, {"sample": 1}])
def test_every_part_of_a_key_tells_replies_apart(store: Store, change: dict[str, Any]) -> None:
    other = replace(KEY, **change)
    store.replies.add([stored("a")])
    assert store.replies.find([other]) == {}
    store.replies.add([stored("b", other)])
    found = store.replies.find([other, KEY, replace(KEY, sample=9), KEY])
    assert {key: one.id for key, one in found.items()} == {other: "b", KEY: "a"}


def test_keys_that_run_together_as_text_are_two_keys(store: Store) -> None:
    # Both are `a\nb\nc\n0\n0` when their parts are joined by line ends.
    first, second = ReplyKey("a\nb", "c", "0", 0), ReplyKey("a", "b\nc", "0", 0)
    store.replies.add([stored("a", first)])
    assert store.replies.find([second]) == {}
    store.replies.add([stored("b", second)])
    assert {key: one.id for key, one in store.replies.find([first, second]).items()} == {first: "a", second: "b"}


def test_of_several_replies_under_a_key_the_one_stored_last_counts(store: Store) -> None:
    earlier = replace(stored("c", text="third"), at=AT - timedelta(days=1))
    store.replies.add([stored("a", text="first"), stored("b", text="second")])
    store.replies.add([earlier])
    assert store.replies.find([KEY]) == {KEY: earlier}
    assert store.replies.get("a") == stored("a", text="first")


def test_a_reply_sent_twice_is_stored_once(store: Store, store_location: str) -> None:
    store.replies.add([stored("a", text="first"), stored("a", text="again"), stored("b")])
    with open_store(store_location) as other:
        other.replies.add([stored("c"), stored("a", text="later"), stored("b")])
    store.replies.add([])
    assert store.replies.get("a") == stored("a", text="first")
    database = engine(store_location)
    with database.connect() as connection:
        ids = connection.exec_driver_sql("SELECT id FROM replies ORDER BY seq").scalars().all()
    database.dispose()
    assert ids == ["a", "b", "c"]


def test_more_replies_than_a_batch_go_in_together_or_not_at_all(store: Store) -> None:
    many = [stored(f"r{number}", ReplyKey(str(number), "m", "{}")) for number in range(1203)]
    with pytest.raises(StudyError, match="cannot be stored"):
        store.replies.add([*many, stored("a\0")])
    assert store.replies.find([one.key for one in many]) == {}
    store.replies.add(many)
    assert store.replies.find([one.key for one in many]) == {one.key: one for one in many}


@pytest.mark.parametrize(
    "key", [replace(KEY, prompt="\ud83d"), replace(KEY, model="m\0"), replace(KEY, parameters="\0")]
)
def test_a_key_that_cannot_be_stored(store: Store, key: ReplyKey) -> None:
    with pytest.raises(StudyError, match="cannot be stored"):
        store.replies.add([stored("b"), stored("a", key)])
    assert store.replies.find([key, KEY]) == {}
    assert store.replies.get("\ud83d") is None


def test_the_database_itself_refuses_to_change_or_remove_replies(store: Store, store_location: str) -> None:
    store.replies.add([stored("a")])
    database = engine(store_location)
    try:
        for statement in ("UPDATE replies SET body = '{}'", "DELETE FROM replies"):
            with pytest.raises(DBAPIError, match="append-only"), database.begin() as connection:
                connection.exec_driver_sql(statement)
    finally:
        database.dispose()
    assert store.replies.get("a") == stored("a")


def test_what_yields_ratings_may_read_and_store_replies(store: Store) -> None:
    def writing() -> Iterator[Rating]:
        for number in range(600):
            yield Rating(unit="i1", criterion="support", rater="m", digest=PROTOCOL.digest, value="SUPPORTED")
            assert number < 500 or store.replies.get("a") is None
        store.replies.add([stored("a")])
        raise ValueError("broken off")

    with pytest.raises(ValueError, match="broken off"):
        store.ratings.add(writing(), raters=[RaterRef("m", Kind.MODEL)])
    assert store.replies.get("a") is None, "it was part of the same transaction"


# Runs

SETTINGS = {"model": "m", "shots": [1, "é\ud83d"], "more": {"x": None}}
SPEC = RunSpec(RaterRef("m", Kind.MODEL, config="c"), SETTINGS)


def test_runs_come_in_order_of_their_start_with_settings_and_counts(store: Store) -> None:
    [first] = store.work.start_runs([SPEC], worker="w")
    store.work.renew(first, "w", {"calls": 1})
    store.work.leave(first, "w", "done", {"calls": 3, "cost": 0.25})
    [second] = store.work.start_runs([SPEC], worker="w")
    assert [(run.id, run.state, run.settings, run.counts) for run in store.work.runs()] == [
        (first, "done", SETTINGS, {"calls": 3, "cost": 0.25}),
        (second, "running", SETTINGS, {}),
    ]


def test_a_run_with_a_name_that_cannot_be_stored(store: Store) -> None:
    with pytest.raises(StudyError, match="cannot be stored"):
        store.work.start_runs([RunSpec(RaterRef("\ud83d", Kind.MODEL), {})], worker="w")
    assert store.work.runs() == []


# Studies of before, and copies


def test_a_backup_has_the_replies_and_runs(store: Store, tmp_path: Path) -> None:
    sent = [stored("a"), stored("b", replace(KEY, sample=1), "\0\ud83d"), stored("a")]
    store.replies.add(sent)
    # A number that stays free where a reply was known must not trouble the copy.
    store.replies.add([stored("a"), stored("c", text="newer")])
    store.work.start_runs([SPEC], worker="w")
    store.backup(tmp_path / "copy.db")
    with open_store(tmp_path / "copy.db") as copy:
        assert copy.replies.find([KEY, sent[1].key]) == {KEY: stored("c", text="newer"), sent[1].key: sent[1]}
        assert copy.work.runs() == store.work.runs()
        copy.replies.add([stored("d", text="newest")])
        assert copy.replies.find([KEY])[KEY].id == "d"
        copy.work.start_runs([RunSpec(RaterRef("other", Kind.MODEL), {})], worker="w")
        assert len(copy.work.runs()) == 2
        assert copy.ratings.add([]) == Added()
