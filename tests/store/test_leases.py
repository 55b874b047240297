"""How several workers share a run: every item rated once, the cap kept, dead workers' items taken over."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.process import BaseProcess
from typing import Any

import pytest
import sqlalchemy

from evenhand.errors import StudyError
from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Status, Unit
from evenhand.store.items import ItemUnits
from evenhand.store.store import Store, create_store, open_store
from evenhand.store.work import Finished, RunSpec
from tests.processes import FORKS

HALO = load_protocol("halo-support")
FIELDS = {"question": "Q?", "context": ("C.",), "generated_answer": "A."}
BOT = RaterRef("bot", Kind.MODEL, "1", "c0ffee")
OTHER = RaterRef("other", Kind.MODEL)
SPEC = RunSpec(BOT, {"spec": "bot"})


def work(n: int) -> Iterator[ItemUnits]:
    for number in range(1, n + 1):
        yield Item(f"i{number}", FIELDS), ()


def rating(unit: str, **more: Any) -> Rating:
    known: dict[str, Any] = {"value": "SUPPORTED", **more}
    return Rating(unit=unit, criterion="support", rater="bot", digest=HALO.digest, **known)


def finished(lease: ItemUnits, spent: int = 0) -> Finished:
    return Finished(lease[0].id, [rating(unit.id) for unit in lease[1]], spent)


def reserved(store: Store, run: str, worker: str, n: int, cost: int) -> list[ItemUnits]:
    """Items that this worker takes and reserves the cost of, as far as the cap allows."""
    taken = store.work.take(run, worker, n).leases
    return [lease for lease in taken if store.work.reserve(run, worker, lease[0].id, cost)]


def ids(leases: Sequence[ItemUnits]) -> list[str]:
    return [lease[0].id for lease in leases]


@pytest.fixture
def store(store_location: str) -> Generator[Store, None, None]:
    with create_store(store_location, HALO, "", work(5)) as made:
        yield made


def test_workers_share_what_is_to_rate(store: Store, store_location: str) -> None:
    with open_store(store_location) as elsewhere:
        [run] = store.work.start_runs([SPEC], worker="a")
        assert elsewhere.work.start_runs([SPEC], worker="b") == [run]
        first = store.work.take(run, "a", 2)
        second = elsewhere.work.take(run, "b", 2)
        assert (ids(first.leases), first.left) == (["i1", "i2"], "more")
        assert ids(second.leases) == ["i3", "i4"]
        assert [unit.id for unit in first.leases[0][1]] == ["i1"]
        assert ids(store.work.take(run, "a", 9).leases) == ["i5"]
        assert store.work.take(run, "a", 9).left == "others"
        assert store.work.finish(run, "a", [finished(lease) for lease in first.leases], rater=BOT) == {"i1", "i2"}
        assert elsewhere.work.finish(run, "b", [finished(lease) for lease in second.leases]) == {"i3", "i4"}
        elsewhere.work.leave(run, "b", "done", {"units": 2})
        assert [one.state for one in store.work.runs()] == ["running"]
        store.work.leave(run, "a", "stopped", {"units": 2, "statuses": {"rated": 2}})
        [ended] = store.work.runs()
        assert (ended.state, ended.counts) == ("stopped", {"units": 4, "statuses": {"rated": 2}})
        # What was given back is taken up by the next run.
        [again] = store.work.start_runs([SPEC], worker="c")
        assert again != run
        taken = store.work.take(again, "c", 9)
        assert ids(taken.leases) == ["i5"]
        store.work.finish(again, "c", [finished(taken.leases[0])])
        assert store.work.take(again, "c", 9).left == "none"
    assert len(list(store.ratings.all(history=True))) == 5


def test_what_a_worker_gives_back_is_taken_by_another(store: Store) -> None:
    [run] = store.work.start_runs([SPEC], worker="a")
    store.work.start_runs([SPEC], worker="b")
    store.work.take(run, "a", 2)
    rest = store.work.take(run, "b", 9)
    store.work.finish(run, "b", [finished(lease) for lease in rest.leases], rater=BOT)
    assert store.work.take(run, "b", 9).left == "others"
    store.work.leave(run, "a", "stopped", {})
    assert ids(store.work.take(run, "b", 9).leases) == ["i1", "i2"]


def test_an_expired_lease_is_taken_over_and_its_first_worker_stores_nothing(store: Store) -> None:
    [run] = store.work.start_runs([SPEC], worker="quick", cap=1000)
    store.work.start_runs([SPEC], worker="slow", cap=1000, term=0)
    slow = reserved(store, run, "slow", 2, 100)
    assert ids(slow) == ["i1", "i2"]
    quick = reserved(store, run, "quick", 2, 100)
    assert ids(quick) == ["i1", "i2"]
    assert store.work.finish(run, "quick", [finished(lease, 10) for lease in quick], rater=BOT) == {"i1", "i2"}
    assert store.work.finish(run, "slow", [finished(lease, 10) for lease in slow]) == set()
    assert len(list(store.ratings.all(history=True))) == 2
    [seen] = store.work.runs()
    # A worker that lost its leases may have paid all that was reserved.
    assert (seen.spent, seen.reserved) == (220, 0)


def test_renewing_keeps_the_leases(store: Store) -> None:
    [run] = store.work.start_runs([SPEC], worker="a", term=0.2)
    store.work.start_runs([SPEC], worker="b")
    mine = store.work.take(run, "a", 5)
    for _ in range(5):
        time.sleep(0.05)
        assert store.work.renew(run, "a", {"units": 0})
    assert store.work.take(run, "b", 5).left == "others"
    assert len(store.work.finish(run, "a", [finished(lease) for lease in mine.leases], rater=BOT)) == 5


def test_the_cap_is_never_exceeded(store: Store) -> None:
    [run] = store.work.start_runs([SPEC], worker="a", cap=250)
    first, second = reserved(store, run, "a", 5, 100)
    assert store.work.reserve(run, "a", first[0].id, 50)
    assert not store.work.reserve(run, "a", first[0].id, 1)
    assert not store.work.reserve(run, "nobody", first[0].id, 0)
    store.work.finish(run, "a", [finished(first, 140)], rater=BOT)
    [seen] = store.work.runs()
    assert (seen.cap, seen.spent, seen.reserved) == (250, 140, 100)
    store.work.finish(run, "a", [finished(second, 60)])
    assert not store.work.reserve(run, "a", "i3", 51)
    assert store.work.reserve(run, "a", "i3", 50)


def test_a_call_is_settled_when_it_is_over_and_a_dead_worker_keeps_nobody_waiting(store: Store) -> None:
    [run] = store.work.start_runs([SPEC], worker="a", cap=250)
    store.work.start_runs([SPEC], worker="dead", cap=250, term=0)
    assert store.work.lease(run, "dead", ["i1"]) == {"i1"}
    assert store.work.lease(run, "a", ["i1", "i2"]) == {"i2"}, "i1 is another worker's"
    assert store.work.reserve(run, "dead", "i1", 200)
    assert store.work.reserve(run, "a", "i2", 50)
    # 30 of the 50 were spent, and 20 are free again.
    assert store.work.reserve(run, "a", "i2", 20, {(run, "a", "i2"): (50, 30)})
    [seen] = store.work.runs()
    assert (seen.spent, seen.reserved) == (30, 220)
    assert not store.work.reserve(run, "a", "i2", 50, {(run, "a", "i2"): (20, 10)})
    [seen] = store.work.runs()
    # Nothing is reserved any more, so nothing will be given back.
    assert (seen.spent, seen.reserved) == (240, 0)
    assert store.work.reserve(run, "a", "i2", 10, {(run, "dead", "i1"): (200, 5)})
    [seen] = store.work.runs()
    assert (seen.spent, seen.reserved) == (240, 10)


def test_a_run_whose_workers_are_dead_leaves_no_lease_to_the_next(store: Store) -> None:
    [run] = store.work.start_runs([SPEC], worker="dead", cap=250, term=0)
    store.work.lease(run, "dead", ["i1"])
    store.work.reserve(run, "dead", "i1", 200)
    [again] = store.work.start_runs([SPEC], worker="a", cap=250)
    assert store.work.lease(again, "a", ["i1"]) == {"i1"}
    assert [(one.state, one.spent, one.reserved) for one in store.work.runs()] == [
        ("stopped", 200, 0), ("running", 0, 0),
    ]  # fmt: skip


def test_raters_of_one_command_share_its_cap(store: Store) -> None:
    other = RunSpec(OTHER, {})
    first, second = store.work.start_runs([SPEC, other], worker="a", cap=150)
    assert len(reserved(store, first, "a", 5, 100)) == 1
    assert reserved(store, second, "a", 5, 100) == []
    assert [(one.rater, one.cap, one.reserved) for one in store.work.runs()] == [("bot", 150, 100), ("other", 150, 100)]
    assert store.work.start_runs([other], worker="b", cap=150) == [second]


@pytest.mark.parametrize("change", ["config", "cap"])
def test_an_open_run_is_not_joined_with_other_settings(store: Store, change: str) -> None:
    [run] = store.work.start_runs([SPEC], worker="a", cap=100)
    spec = RunSpec(RaterRef("bot", Kind.MODEL, "1", "beef"), {}) if change == "config" else SPEC
    with pytest.raises(StudyError):
        store.work.start_runs([spec], worker="b", cap=200 if change == "cap" else 100)
    store.work.leave(run, "a", "done", {})
    assert store.work.start_runs([spec], worker="b", cap=200) != [run]


def test_a_run_is_stopped_from_elsewhere(store: Store, store_location: str) -> None:
    [run] = store.work.start_runs([SPEC], worker="a")
    assert store.work.renew(run, "a", {})
    with open_store(store_location) as elsewhere:
        assert elsewhere.work.stop(run)
        assert not elsewhere.work.stop("another")
    assert not store.work.renew(run, "a", {})
    assert store.work.take(run, "a", 5).left == "stopped"
    store.work.leave(run, "a", "done", {})
    assert [one.state for one in store.work.runs()] == ["stopped"]
    assert not store.work.stop(run)


def test_a_run_whose_workers_were_killed_is_not_running(store: Store) -> None:
    [run] = store.work.start_runs([SPEC], worker="a", term=0)
    [seen] = store.work.runs()
    assert seen.state == "stopped"
    assert seen.ended is not None
    [worker] = seen.workers
    assert (worker.id, worker.pid, worker.alive) == ("a", os.getpid(), False)
    assert store.work.start_runs([SPEC], worker="b") != [run]


def test_a_worker_that_leaves_no_trace(store: Store) -> None:
    [run] = store.work.start_runs([SPEC], worker="a")
    store.work.take(run, "a", 5)
    store.work.leave(run, "a", "failed", {}, trace=False)
    assert list(store.work.runs()) == []
    assert list(store.ratings.raters()) == []
    with pytest.raises(StudyError, match="no run"):
        store.work.take(run, "a", 5)


def test_failures_from_before_the_run_are_tried_once(store: Store) -> None:
    failure: dict[str, Any] = {"value": None, "status": Status.FAILED, "reason": "refused"}
    store.ratings.add([rating("i2", **failure)], raters=[BOT])
    [run] = store.work.start_runs([SPEC], worker="a")
    taken = store.work.take(run, "a", 5, failed=True)
    assert ids(taken.leases) == ["i1", "i2", "i3", "i4", "i5"]
    store.work.finish(run, "a", [Finished(lease[0].id, [rating(lease[0].id, **failure)]) for lease in taken.leases])
    assert store.work.take(run, "a", 5, failed=True).left == "none"
    assert store.work.count_pending("bot", failed=True) == 5


def test_an_item_that_a_suspended_worker_took_twice_is_rated_once(store: Store):
    [run] = store.work.start_runs([SPEC], worker="a", term=60)
    [lease] = store.work.take(run, "a", 1).leases
    store.work.finish(run, "a", [finished(lease, spent=1), finished(lease, spent=2)], rater=BOT)
    assert [one.unit for one in store.ratings.all(history=True)] == [lease[0].id]
    assert [one.spent for one in store.work.runs()] == [3], "both were paid for"


# Many processes

ITEMS, CAP, WORST = 300, 1_000_000, 4_000


def _work(location: str, name: str) -> None:
    """A worker that pays before it stores, as real ones do."""
    chance = random.Random(name)
    with open_store(location) as study:
        [run] = study.work.start_runs([SPEC], worker=name, cap=CAP, term=1)
        while True:
            taken = study.work.take(run, name, 4)
            if taken.left not in ("more", "others"):
                break
            if taken.left == "others":
                time.sleep(0.05)
                study.work.renew(run, name, {})
            paid = [lease for lease in taken.leases if study.work.reserve(run, name, lease[0].id, WORST)]
            done = [finished(lease, chance.randrange(1, WORST)) for lease in paid]
            study.work.finish(run, name, done, rater=BOT)
            if len(paid) < len(taken.leases):
                break
        study.work.leave(run, name, "done", {})


@pytest.mark.postgres
def test_a_run_is_ended_while_a_slow_worker_of_it_reserves_money(postgres_location: str) -> None:
    engine = sqlalchemy.create_engine(
        sqlalchemy.make_url(postgres_location).set(drivername="postgresql+psycopg"),
        connect_args={"options": "-csearch_path=evenhand"},
    )
    with create_store(postgres_location, HALO, "", work(1)) as store, engine.begin() as slow:
        (run,) = store.work.start_runs([SPEC], worker="a", term=0)
        store.work.take(run, "a", 1)
        slow.exec_driver_sql("UPDATE leases SET reserved = 1")
        with ThreadPoolExecutor(1) as others:
            started = others.submit(_start, postgres_location)
            time.sleep(1)
            slow.exec_driver_sql("UPDATE runs SET reserved = 1")
            slow.commit()
            assert started.result() != run
    engine.dispose()


def _start(location: str) -> str:
    with open_store(location) as store:
        return store.work.start_runs([SPEC], worker="b")[0]


def test_processes_that_are_killed_leave_nothing_twice_and_keep_the_cap(store_location: str) -> None:
    create_store(store_location, HALO, "", work(ITEMS)).close()
    chance = random.Random(3)
    numbers = iter(range(1000))
    running: list[BaseProcess] = []

    def start() -> None:
        process = FORKS.Process(target=_work, args=(store_location, f"worker-{next(numbers)}"))
        process.start()
        running.append(process)

    for _ in range(3):
        start()
    with open_store(store_location) as study:
        for kills in range(1, 4):
            while study.ratings.revision() < kills * ITEMS // 6 and any(process.is_alive() for process in running):
                time.sleep(0.01)
            victim = chance.choice(running)
            with suppress(ProcessLookupError):
                os.kill(victim.pid or 0, signal.SIGKILL)
            running.remove(victim)
            start()
        for process in running:
            process.join(120)
            assert process.exitcode == 0
        rated = Counter(one.unit for one in study.ratings.all(history=True))
        [run, *_] = study.work.runs()
        assert set(rated.values()) == {1}
        assert 0 < run.spent <= CAP
        assert run.reserved == 0
        assert len(rated) == ITEMS or run.spent + WORST > CAP


def test_units_of_a_lease_are_those_still_to_rate(store_location: str) -> None:
    stem = load_protocol("stem-accuracy")
    item = Item("a", {"question": "Q?", "article": "A.", "response": "One. Two."})
    units = [Unit(f"a#{n}", "a", n, "One.") for n in (1, 2)]
    with create_store(store_location, stem, "", [(item, units)]) as made:
        made.ratings.add(
            [Rating(unit="a#1", criterion="accuracy", rater="bot", digest=stem.digest, value="Accurate")], raters=[BOT]
        )
        [run] = made.work.start_runs([SPEC], worker="a")
        [lease] = made.work.take(run, "a", 5).leases
        assert [unit.id for unit in lease[1]] == ["a#2"]
