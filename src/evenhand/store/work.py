"""The work of programs: what a rater has yet to rate, runs, and the leases by which several processes share a run.

A worker is one process that takes part in a run. It leases items, rates them, and finishes its leases; meanwhile it
renews them. The leases of a worker that was killed expire, and other workers take them over. Money is in integer
micro-dollars, and the time is the database's.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from socket import gethostname
from typing import Any, Literal, TypeGuard, cast

from sqlalchemy import Connection, bindparam, delete, func, insert, select, union_all, update

from evenhand.errors import StudyError
from evenhand.records import Item, RaterRef, Rating, Status, Unit, new_id, now
from evenhand.store.database import Database, batches, decode, encode, insert_rows, moment, next_seq, storable
from evenhand.store.items import ItemUnits, item_from, locate, unit_from
from evenhand.store.protocols import Protocols
from evenhand.store.ratings import Ratings, find_rater
from evenhand.store.schema import current, items, leases, ratings, runs, units, workers

PAGE = 200
"""Items that are handed on from one query; another process may rate them before they are taken up."""

_WIDEST = 20_000

# Subqueries that yield a number, not `EXISTS`: PostgreSQL turns that into a join, and before it knows how many ratings
# there are, it reads all of them for every unit.
_ON_UNIT = (
    select(current.c.rating)
    .where(current.c.protocol == bindparam("protocol"), current.c.rater == bindparam("rater"))
    .where(current.c.item == units.c.item, current.c.position == units.c.position)
    .limit(1)
)
_STRETCH = select(units.c.item, units.c.position).where(
    units.c.item > bindparam("after"), units.c.item <= bindparam("end")
)
_UNRATED = _STRETCH.where(_ON_UNIT.scalar_subquery().is_(None))
_FAILED = _STRETCH.where(_ON_UNIT.where(current.c.status == Status.FAILED.value).scalar_subquery().is_not(None))
# Failures up to a revision: those that a run produces itself are not tried again in it.
_FAILED_BEFORE = _STRETCH.where(
    _ON_UNIT.where(current.c.status == Status.FAILED.value, current.c.rating <= bindparam("revision"))
    .scalar_subquery()
    .is_not(None)
)
_EITHER = union_all(_UNRATED, _FAILED).subquery()
_COUNT_UNRATED = _UNRATED.with_only_columns(func.count(units.c.item.distinct()), func.count())
_COUNT_EITHER = select(func.count(_EITHER.c.item.distinct()), func.count())
_LAST_ITEM = select(func.coalesce(func.max(items.c.seq), 0))
_ITEMS = select(items).where(items.c.seq.in_(bindparam("items", expanding=True))).order_by(items.c.seq)
_UNITS = (
    select(units.c.item, units.c.position, units.c.content)
    .where(units.c.item.in_(bindparam("items", expanding=True)))
    .order_by(units.c.item, units.c.position)
)
_FAILURES = (
    select(current.c.item, current.c.position, ratings.c.at)
    .join(ratings, ratings.c.seq == current.c.rating)
    .where(current.c.protocol == bindparam("protocol"), current.c.rater == bindparam("rater"))
    .where(current.c.item.in_(bindparam("items", expanding=True)))
    .where(current.c.position.in_(bindparam("positions", expanding=True)))
    .where(current.c.status == Status.FAILED.value)
)

TERM = 30.0
"""Seconds that a lease lasts unless it is renewed: the longest wait for the items of a killed worker."""

RunState = Literal["running", "done", "stopped", "failed"]

Cost = Callable[[Item, Sequence[Unit]], int]
"""The most that rating these units of an item can cost, in micro-dollars."""

_THIS_RUN = runs.c.id == bindparam("run")
_RUN = select(runs).where(_THIS_RUN)
_OPEN_RUN = (
    select(runs)
    .where(runs.c.rater == bindparam("rater"), runs.c.protocol == bindparam("protocol"), runs.c.state == "running")
    .order_by(runs.c.seq.desc())
    .limit(1)
)
_WORKERS = select(workers).order_by(workers.c.run, workers.c.started, workers.c.id)
_LEASE_COUNTS = select(leases.c.run, leases.c.worker, func.count()).group_by(leases.c.run, leases.c.worker)
_MINE = (leases.c.run == bindparam("of_run")) & (leases.c.worker == bindparam("of_worker"))
_OF_RATER = (leases.c.rater == bindparam("of_rater")) & (leases.c.protocol == bindparam("of_protocol"))
_LEASED = select(leases.c.item).where(_OF_RATER)
_RENEW = update(leases).where(_MINE).values(until=bindparam("end"))
_SEE_WORKER = (
    update(workers)
    .where(workers.c.run == bindparam("of_run"), workers.c.id == bindparam("of_worker"))
    .values(until=bindparam("end"), counts=bindparam("new_counts"))
)
# Both at once: what is freed and what is spent. `purse` is the run that holds the money.
_SETTLE = (
    update(runs)
    .where(runs.c.seq == bindparam("of_purse"))
    .values(spent=runs.c.spent + bindparam("more_spent"), reserved=runs.c.reserved - bindparam("freed"))
)
_RESERVE = (
    update(runs)
    .where(runs.c.seq == bindparam("of_purse"))
    .where(runs.c.cap.is_(None) | (runs.c.spent + runs.c.reserved + bindparam("more") <= runs.c.cap))
    .values(reserved=runs.c.reserved + bindparam("more"))
)


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A process that takes or took part in a run. `alive`: it has renewed its leases in time."""

    id: str
    host: str
    pid: int
    started: datetime
    seen_until: datetime
    alive: bool
    leases: int
    counts: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Run:
    """One rater's work through a study by a program. `settings` and `counts` hold what JSON can.

    `cap`, `spent` and `reserved` are micro-dollars; runs that were started together share them. A run without a live
    worker is not "running".
    """

    id: str
    rater: str
    started: datetime
    ended: datetime | None
    state: RunState
    settings: Mapping[str, object]
    counts: Mapping[str, object]
    digest: str = ""
    config: str = ""
    cap: int | None = None
    spent: int = 0
    reserved: int = 0
    workers: Sequence[WorkerInfo] = ()


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a command asks of one rater; `rater.config` is the digest of its configuration."""

    rater: RaterRef
    settings: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Lease:
    """An item that is this worker's for now, with the units to rate and the money reserved for them."""

    item: Item
    units: Sequence[Unit]
    reserved: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """What `take` found.

    `left` says what comes after these leases: `more`: take again; `others`: nothing is free now, but other workers hold
    items or money, so wait and take again; `none`: everything is rated; `cap`: the cap allows no further item;
    `stopped`: the run was stopped.
    """

    leases: Sequence[Lease]
    left: Literal["more", "others", "none", "cap", "stopped"]


@dataclass(frozen=True, slots=True)
class Finished:
    """A leased item with its ratings and what they cost."""

    item: str
    ratings: Sequence[Rating]
    spent: int = 0


class Work:
    """What programs have to rate, and their runs.

    Several processes, on one machine or on several, may share a run: `start_runs`, then `take`, `renew` and `finish` in
    a loop, and `leave`. At any time an item is leased to at most one worker, and only the worker that has the lease
    stores its ratings, so nothing is rated twice. Together the workers never reserve more than the cap.

    `pending` and `count_pending` look only at ratings by this rater under the current protocol. A unit with such a
    rating on any criterion and of any status is rated; one with a failed current rating is pending again if the caller
    asks for it. Between two pages `pending` keeps nothing open, its memory does not grow with the study, and no item is
    left out or comes twice because of ratings that are stored meanwhile.
    """

    def __init__(self, database: Database, protocols: Protocols, given: Ratings) -> None:
        self._database = database
        self._protocols = protocols
        self._ratings = given
        self._terms: dict[str, int] = {}
        self._reached: dict[str, int] = {}

    def pending(self, rater: str, *, failed: bool = False) -> Iterator[ItemUnits]:
        """Every item with the units that this rater has yet to rate, in the order of the study.

        An item without such units is skipped. `failed`: units with a failed current rating are among them.
        """
        number, rule = self._protocols.known.current_number, self._protocols.current.rule.of
        after, width, last = 0, PAGE, 1
        while after < last:
            with self._database.reading() as connection:
                last = connection.execute(_LAST_ITEM).scalar_one()
                end = min(after + width, last)
                places = _places(connection, _asked(connection, rater, number), after, end, failed)
                chosen = {item: places[item] for item in sorted(places)[:PAGE]}
                page = _work(connection, chosen, rule)
            after = end if len(chosen) == len(places) else max(chosen)
            # Stretches grow while little is found, so that a run that is continued near its end gets there soon.
            width = min(2 * width, _WIDEST) if len(places) < PAGE else PAGE
            yield from page

    def count_pending(self, rater: str, *, failed: bool = False) -> tuple[int, int]:
        """How many items and units `pending` would yield now."""
        query = _COUNT_EITHER if failed else _COUNT_UNRATED
        with self._database.reading() as connection:
            asked = _asked(connection, rater, self._protocols.known.current_number)
            end: int = connection.execute(_LAST_ITEM).scalar_one()
            row = connection.execute(query, {**asked, "after": 0, "end": end}).one()
        return row[0], row[1]

    def failed_at(self, rater: str, unit_ids: Sequence[str]) -> Mapping[str, datetime]:
        """When the latest failed current rating of each of these units was made, by this rater under the current
        protocol; a unit without one is absent."""
        found: dict[str, datetime] = {}
        with self._database.reading() as connection:
            asked = _asked(connection, rater, self._protocols.known.current_number)
            for some in batches(dict.fromkeys(unit_ids)):
                places = locate(connection, some, self._protocols.current.rule.of)
                names = {place: name for name, place in places.items()}
                asked |= {"items": [item for item, _ in names], "positions": [position for _, position in names]}
                for item, position, text in connection.execute(_FAILURES, asked):
                    name, at = names.get((item, position)), datetime.fromisoformat(text)
                    if name is not None and (name not in found or found[name] < at):
                        found[name] = at
        return found

    # Runs

    def start_runs(
        self, specs: Sequence[RunSpec], *, worker: str, cap: int | None = None, term: float = TERM
    ) -> Sequence[str]:
        """Start a run for each rater, or join the one that is open; returns the ids of the runs, in one transaction.

        A run is open while one of its workers is alive. StudyError if an open run of the same rater under the current
        protocol has another configuration or cap, or if the raters belong to open runs with separate caps. All runs of
        one command share one cap.
        """
        with self._database.transaction() as connection:
            at = self._now(connection)
            digest = self._protocols.refresh(connection).current.digest
            opened = [self._open_run(connection, spec, digest, cap, at) for spec in specs]
            purses = {run["purse"] for run in opened if run is not None}
            if len(purses) > 1:
                raise StudyError("these raters are at work in separate runs, each with its own cap; start them apart")
            purse = purses.pop() if purses else None
            found: list[str] = []
            for spec, run in zip(specs, opened, strict=True):
                if run is None:
                    run = _add_run(connection, spec, digest, cap, purse)
                purse = run["purse"]
                row = (run["seq"], worker, gethostname(), os.getpid(), at, at + _micros(term), "{}")
                connection.execute(delete(workers).where(workers.c.run == run["seq"], workers.c.id == worker))
                insert_rows(connection, workers, [row])
                found.append(run["id"])
            self._terms[worker] = _micros(term)
            return found

    def _open_run(
        self, connection: Connection, spec: RunSpec, digest: str, cap: int | None, at: int
    ) -> Mapping[Any, Any] | None:
        """The open run that a command joins; one whose workers are all gone is ended first."""
        run = connection.execute(_OPEN_RUN, {"rater": spec.rater.id, "protocol": digest}).mappings().first()
        if run is None:
            return None
        alive = select(workers.c.id).where(workers.c.run == run["seq"], workers.c.until > at).limit(1)
        if connection.execute(alive).first() is None:
            _end(connection, run["seq"], "stopped")
            gone = delete(leases).where(leases.c.run == run["seq"]).returning(leases.c.reserved)
            lost = sum(connection.execute(gone).scalars())
            connection.execute(_SETTLE, {"of_purse": run["purse"], "more_spent": lost, "freed": lost})
            return None
        if run["stop"]:
            raise StudyError(f"{spec.rater.id!r}: the run {run['id']} is being stopped; try again in a moment")
        if run["config"] != spec.rater.config:
            raise StudyError(
                f"{spec.rater.id!r} is at work with other settings in the run {run['id']}; use the same settings to "
                "join it, wait for it, or give this rater a name of its own: --rater NAME=SPEC"
            )
        purse = connection.execute(select(runs.c.cap).where(runs.c.seq == run["purse"])).scalar()
        if purse != cap:
            raise StudyError(
                f"{spec.rater.id!r} is at work in the run {run['id']} with {_dollars(purse)}, not {_dollars(cap)}; use "
                "the same cap to join it, or wait for it"
            )
        return run

    def take(self, run: str, worker: str, n: int, *, cost: Cost | None = None, failed: bool = False) -> Taken:
        """Lease up to `n` items that are still to rate.

        Leases that expired are removed first; what they had reserved counts as spent, because a dead worker may have
        paid. `cost` is called, if the run has a cap, to reserve the worst case of each item. `failed`: units whose
        rating failed before the run started are among those to rate.
        """
        with self._database.transaction(lock=False) as connection:
            row = self._row(connection, run)
            money = _lock_purse(connection, row["purse"])
            if row["stop"] or row["state"] != "running":
                return Taken((), "stopped")
            expired = self._expire(connection, row)
            found, others = self._find(connection, row, n, expired, failed)
            if not found:
                return Taken((), "others" if others else "none")
            chosen = _affordable(found, money, cost)
            if not chosen:
                # The cap is not used up while other items may give back some of what they reserved.
                return Taken((), "others" if money.reserved > 0 else "cap")
            until = self._now(connection) + self._term(worker)
            names = row["rater"], row["protocol"]
            rows = [(*names, seq, row["seq"], worker, until, lease.reserved) for seq, lease in chosen.items()]
            insert_rows(connection, leases, rows)
            reserved = sum(lease.reserved for lease in chosen.values())
            connection.execute(_RESERVE, {"of_purse": row["purse"], "more": reserved})
            return Taken(list(chosen.values()), "more")

    def _find(
        self, connection: Connection, row: Mapping[Any, Any], n: int, expired: Sequence[int], failed: bool
    ) -> tuple[dict[int, ItemUnits], bool]:
        """Up to `n` items to rate that no worker has, by their numbers, and whether any item is leased.

        Every worker remembers how far it has come in the study. When no item is leased any more, it looks through all
        of it again, because another worker may have given items back.
        """
        # First the leases, then the ratings: a worker that ends a lease stores its ratings with it.
        theirs = {"of_rater": row["rater"], "of_protocol": row["protocol"]}
        leased = set(connection.execute(_LEASED, theirs).scalars())
        asked = _asked(connection, row["rater"], self._protocols.known.by_digest[row["protocol"]][0])
        asked["revision"] = row["revision"]
        places: dict[int, set[int]] = {}
        for item in expired[:n]:
            places |= _places(connection, asked, item - 1, item, failed)
        start = self._reached.get(row["id"], 0)
        for after in (start, 0) if start and not leased else (start,):
            if not places:
                places, self._reached[row["id"]] = _free_places(connection, asked, after, n, leased, failed)
        work = _work(connection, places, self._protocols.current.rule.of)
        return dict(zip(sorted(places), work, strict=True)), bool(leased)

    def _expire(self, connection: Connection, row: Mapping[Any, Any]) -> list[int]:
        """Remove the expired leases of this rater, and count their reserve as spent; returns their items."""
        at = self._now(connection)
        over = select(leases.c.item).where(_OF_RATER, leases.c.until <= at).with_for_update(skip_locked=True)
        asked = {"of_rater": row["rater"], "of_protocol": row["protocol"]}
        numbers = list(connection.execute(over, asked).scalars())
        if not numbers:
            return []
        gone = connection.execute(
            delete(leases)
            .where(_OF_RATER, leases.c.item.in_(bindparam("items", expanding=True)))
            .returning(leases.c.run, leases.c.reserved),
            {**asked, "items": numbers},
        ).all()
        for seq, reserved in gone:
            purse = connection.execute(select(runs.c.purse).where(runs.c.seq == seq)).scalar_one()
            connection.execute(_SETTLE, {"of_purse": purse, "more_spent": reserved, "freed": reserved})
        return numbers

    def lease(self, run: str, worker: str, item_ids: Sequence[str]) -> Set[str]:
        """Lease these items for work other than rating; returns the ids of those that no other worker has."""
        with self._database.transaction(lock=False) as connection:
            row = self._row(connection, run)
            theirs = {"of_rater": row["rater"], "of_protocol": row["protocol"]}
            leased = set(connection.execute(_LEASED, theirs).scalars())
            free = {name: seq for name, seq in _item_numbers(connection, item_ids).items() if seq not in leased}
            until = self._now(connection) + self._term(worker)
            names = row["rater"], row["protocol"]
            insert_rows(connection, leases, [(*names, seq, row["seq"], worker, until, 0) for seq in free.values()])
            return free.keys()

    def reserve(self, run: str, worker: str, item_id: str, amount: int) -> bool:
        """Enlarge what is reserved for a leased item; False if the cap does not allow it or the lease is gone."""
        with self._database.transaction(lock=False) as connection:
            row = self._row(connection, run)
            if not _enlarge(connection, row, worker, item_id, amount):
                return False
            if connection.execute(_RESERVE, {"of_purse": row["purse"], "more": amount}).rowcount:
                return True
            _enlarge(connection, row, worker, item_id, -amount)
            # What a dead worker had reserved will not be given back: nobody is to wait for it.
            self._expire(connection, row)
            return False

    def settle(self, run: str, worker: str, item_id: str, reserved: int, spent: int) -> None:
        """Give back what was reserved for a leased item, of which `spent` is gone. If the lease is gone, all is."""
        with self._database.transaction(lock=False) as connection:
            row = self._row(connection, run)
            if _enlarge(connection, row, worker, item_id, -reserved):
                connection.execute(_SETTLE, {"of_purse": row["purse"], "more_spent": spent, "freed": reserved})

    def renew(self, run: str, worker: str, counts: Mapping[str, object]) -> bool:
        """Prolong this worker's leases and note its counts; False if the run is to stop.

        A worker calls this every third of the term. Leases that were taken over stay with their new worker.
        """
        with self._database.transaction(lock=False) as connection:
            row = self._row(connection, run)
            self._see(connection, row["seq"], worker, counts)
            return row["state"] == "running" and not row["stop"]

    def _see(self, connection: Connection, run: int, worker: str, counts: Mapping[str, object]) -> None:
        end = self._now(connection) + self._term(worker)
        mine = {"of_run": run, "of_worker": worker, "end": end}
        connection.execute(_RENEW, mine)
        connection.execute(_SEE_WORKER, {**mine, "new_counts": encode(dict(counts))})

    def finish(
        self,
        run: str,
        worker: str,
        done: Sequence[Finished],
        *,
        rater: RaterRef | None = None,
        counts: Mapping[str, object] | None = None,
    ) -> Set[str]:
        """Store the ratings of leased items and end their leases, in one transaction; returns the ids of the items.

        Only leases that this worker still has are ended, and only their ratings stored: an item that another worker
        took over is not rated twice. `rater` is made known first.
        """
        with self._database.transaction() as connection:
            row = self._row(connection, run)
            numbers = _item_numbers(connection, [one.item for one in done])
            ended = connection.execute(
                delete(leases)
                .where(_MINE, leases.c.item.in_(bindparam("items", expanding=True)))
                .returning(leases.c.item, leases.c.reserved),
                {"of_run": row["seq"], "of_worker": worker, "items": list(numbers.values())},
            ).all()
            held = {row[0]: row[1] for row in ended}
            mine = [one for one in done if numbers.get(one.item) in held]
            freed, spent = sum(held.values()), sum(one.spent for one in mine)
            connection.execute(_SETTLE, {"of_purse": row["purse"], "more_spent": spent, "freed": freed})
            ratings = [rating for one in mine for rating in one.ratings]
            if ratings:
                self._ratings.add(ratings, raters=() if rater is None else (rater,))
            if counts is not None:
                self._see(connection, row["seq"], worker, counts)
            return {one.item for one in mine}

    def leave(
        self, run: str, worker: str, state: RunState, counts: Mapping[str, object], *, trace: bool = True
    ) -> None:
        """Take a worker out of a run: its leases and what they reserved are free again. The last worker ends the run.

        Without `trace` the worker leaves nothing behind, and a run that no other worker took part in is deleted.
        """
        with self._database.transaction() as connection:
            row, at = self._row(connection, run), self._now(connection)
            mine = {"of_run": row["seq"], "of_worker": worker}
            freed = sum(connection.execute(delete(leases).where(_MINE).returning(leases.c.reserved), mine).scalars())
            connection.execute(_SETTLE, {"of_purse": row["purse"], "more_spent": 0, "freed": freed})
            others = select(workers.c.until).where(workers.c.run == row["seq"], workers.c.id != worker)
            ends = list(connection.execute(others).scalars())
            this = (workers.c.run == row["seq"]) & (workers.c.id == worker)
            if trace:
                connection.execute(update(workers).where(this).values(until=at, counts=encode(dict(counts))))
            else:
                connection.execute(delete(workers).where(this))
            if not any(end > at for end in ends):
                _end(connection, row["seq"], "stopped" if row["stop"] else state)
            if not trace and not ends:
                _forget(connection, row)

    def stop(self, run: str) -> bool:
        """Ask every worker of a run to stop, wherever it is; False if there is no such run, or it has ended."""
        with self._database.transaction(lock=False) as connection:
            asked = update(runs).where(_THIS_RUN, runs.c.state == "running").values(stop=1)
            return bool(connection.execute(asked, {"run": run}).rowcount)

    def runs(self) -> Sequence[Run]:
        """Every run in order of its start, with its workers."""
        with self._database.reading() as connection:
            at = self._now(connection)
            rows = connection.execute(select(runs).order_by(runs.c.seq)).mappings().all()
            held = {(run, worker): count for run, worker, count in connection.execute(_LEASE_COUNTS)}
            by_run: dict[int, list[WorkerInfo]] = {}
            for worker in connection.execute(_WORKERS).mappings():
                info = _worker(worker, held.get((worker["run"], worker["id"]), 0), at)
                by_run.setdefault(worker["run"], []).append(info)
        purses = {row["seq"]: row for row in rows}
        found = [_run(row, purses.get(row["purse"], row), by_run.get(row["seq"], ())) for row in rows]
        return sorted(found, key=lambda run: run.started.timestamp())

    def save_run(self, run: Run) -> None:
        """Store a run that has no leases, or bring one of the same id up to date."""
        values = {
            "id": run.id,
            "rater": run.rater,
            "started": run.started.isoformat(),
            "ended": run.ended.isoformat() if run.ended else None,
            "state": run.state,
            "settings": encode(dict(run.settings)),
            "counts": encode(dict(run.counts)),
        }
        with self._database.transaction() as connection:
            if not all(map(storable, (run.id, run.rater))):
                raise StudyError(f"the run {run.id!r} of {run.rater!r} has a character that cannot be stored")
            if not connection.execute(update(runs).where(runs.c.id == run.id).values(**values)).rowcount:
                seq = next_seq(connection, runs)
                values |= {"protocol": self._protocols.current.digest, "config": run.config, "stop": 0, "revision": 0}
                values |= {"purse": seq, "cap": run.cap, "spent": run.spent, "reserved": run.reserved}
                connection.execute(insert(runs).values(seq=seq, **values))

    def _row(self, connection: Connection, run: str) -> Mapping[Any, Any]:
        row = connection.execute(_RUN, {"run": run}).mappings().first()
        if row is None:
            raise StudyError(f"there is no run {run!r}")
        return row

    def _now(self, connection: Connection) -> int:
        return int(connection.exec_driver_sql(f"SELECT {self._database.clock}").scalar_one())

    def _term(self, worker: str) -> int:
        return self._terms.get(worker, _micros(TERM))


@dataclass(frozen=True, slots=True)
class _Money:
    """What is left of a cap, None without one, and what is reserved."""

    left: int | None
    reserved: int


def _lock_purse(connection: Connection, seq: int) -> _Money:
    """Look at a run's money. On PostgreSQL its row stays locked: no other worker takes or finishes items meanwhile."""
    query = select(runs.c.cap, runs.c.spent, runs.c.reserved).where(runs.c.seq == seq).with_for_update()
    cap, spent, reserved = connection.execute(query).one()
    return _Money(None if cap is None else cap - spent - reserved, reserved)


def _enlarge(connection: Connection, row: Mapping[Any, Any], worker: str, item_id: str, amount: int) -> bool:
    """Add to what is reserved for an item that a worker has leased; False if the lease is gone."""
    number = select(items.c.seq).where(items.c.id == item_id).scalar_subquery()
    larger = update(leases).where(_MINE, leases.c.item == number).values(reserved=leases.c.reserved + amount)
    return bool(connection.execute(larger, {"of_run": row["seq"], "of_worker": worker}).rowcount)


def _affordable(found: Mapping[int, ItemUnits], money: _Money, cost: Cost | None) -> dict[int, Lease]:
    """As many of these items, from the first on, as the rest of the cap allows."""
    chosen: dict[int, Lease] = {}
    left = money.left
    for seq, (item, its_units) in found.items():
        worst = cost(item, its_units) if cost is not None and left is not None else 0
        if left is not None:
            if worst > left:
                break
            left -= worst
        chosen[seq] = Lease(item, its_units, worst)
    return chosen


def _free_places(
    connection: Connection, asked: Mapping[str, Any], after: int, n: int, leased: Set[int], failed: bool
) -> tuple[dict[int, set[int]], int]:
    """The next `n` items with units to rate that are not leased, and the item up to which the search came."""
    last: int = connection.execute(_LAST_ITEM).scalar_one()
    places: dict[int, set[int]] = {}
    width = PAGE
    while after < last and len(places) < n:
        end = min(after + width, last)
        found = _places(connection, asked, after, end, failed)
        free = sorted(found.keys() - leased)[: n - len(places)]
        places |= {item: found[item] for item in free}
        after = end if len(places) < n else free[-1]
        width = min(2 * width, _WIDEST)
    return places, after


def _add_run(
    connection: Connection, spec: RunSpec, digest: str, cap: int | None, purse: int | None
) -> Mapping[Any, Any]:
    seq = next_seq(connection, runs)
    revision: int = connection.execute(select(func.coalesce(func.max(ratings.c.seq), 0))).scalar_one()
    values: dict[str, Any] = {"seq": seq, "id": new_id(), "rater": spec.rater.id, "protocol": digest}
    values |= {"config": spec.rater.config, "started": now().isoformat(), "ended": None, "state": "running"}
    values |= {"stop": 0, "settings": encode(dict(spec.settings)), "counts": "{}", "revision": revision}
    values |= {"purse": seq if purse is None else purse, "cap": cap, "spent": 0, "reserved": 0}
    insert_rows(connection, runs, [tuple(values[name] for name in list(runs.columns.keys()))])
    return values


def _end(connection: Connection, run: int, state: RunState) -> None:
    ended = update(runs).where(runs.c.seq == run, runs.c.state == "running")
    connection.execute(ended.values(state=state, ended=now().isoformat()))


def _forget(connection: Connection, row: Mapping[Any, Any]) -> None:
    """Delete a run that brought nothing; if it holds other runs' money, it stays."""
    sharing = select(runs.c.seq).where(runs.c.purse == row["seq"], runs.c.seq != row["seq"]).limit(1)
    spent = select(runs.c.spent).where(runs.c.seq == row["seq"])
    if connection.execute(sharing).first() is None and not connection.execute(spent).scalar_one():
        connection.execute(delete(runs).where(runs.c.seq == row["seq"]))


def _item_numbers(connection: Connection, item_ids: Sequence[str]) -> dict[str, int]:
    query = select(items.c.id, items.c.seq).where(items.c.id.in_(list(item_ids)))
    return {row[0]: row[1] for row in connection.execute(query)}


def _worker(row: Mapping[Any, Any], held: int, at: int) -> WorkerInfo:
    times = moment(row["started"]), moment(row["until"])
    return WorkerInfo(row["id"], row["host"], row["pid"], *times, row["until"] > at, held, decode(row["counts"]))


def _run(row: Mapping[Any, Any], purse: Mapping[Any, Any], its_workers: Sequence[WorkerInfo]) -> Run:
    state: RunState = row["state"]
    ended = datetime.fromisoformat(row["ended"]) if row["ended"] else None
    if state == "running" and its_workers and not any(worker.alive for worker in its_workers):
        # Every worker was killed. When the last of them was alive is when the run ended.
        state, ended = "stopped", max(worker.seen_until for worker in its_workers)
    counts: dict[str, object] = decode(row["counts"])
    for worker in its_workers:
        counts = _sum(counts, worker.counts)
    started = datetime.fromisoformat(row["started"])
    money = purse["cap"], purse["spent"], purse["reserved"]
    names = row["protocol"], row["config"]
    return Run(
        row["id"], row["rater"], started, ended, state, decode(row["settings"]), counts, *names, *money, its_workers
    )


def _sum(first: Mapping[str, object], second: Mapping[str, object]) -> dict[str, object]:
    """Counts of two workers together: numbers add up, also in mappings; of anything else the later counts."""
    total = dict(first)
    for name, value in second.items():
        before = total.get(name)
        if _is_number(before) and _is_number(value):
            total[name] = before + value
        elif isinstance(before, dict) and isinstance(value, dict):
            total[name] = _sum(cast("dict[str, object]", before), cast("dict[str, object]", value))
        else:
            total[name] = value
    return total


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _micros(seconds: float) -> int:
    return round(seconds * 1_000_000)


def _dollars(amount: int | None) -> str:
    return "no cap" if amount is None else f"a cap of ${amount / 1_000_000:g}"


def _asked(connection: Connection, rater: str, protocol: int) -> dict[str, Any]:
    """The rater may become known while the work goes on; until then it has rated nothing."""
    known = find_rater(connection, rater)
    return {"rater": 0 if known is None else known[0], "protocol": protocol}


def _places(
    connection: Connection, asked: Mapping[str, Any], after: int, end: int, failed: bool
) -> dict[int, set[int]]:
    """Numbers of items, each with the positions of its pending units."""
    places: dict[int, set[int]] = {}
    failures = _FAILED_BEFORE if "revision" in asked else _FAILED
    for query in (_UNRATED, failures) if failed else (_UNRATED,):
        for item, position in connection.execute(query, {**asked, "after": after, "end": end}):
            places.setdefault(item, set()).add(position)
    return places


def _work(connection: Connection, places: Mapping[int, set[int]], rule: str) -> list[ItemUnits]:
    if not places:
        return []
    wanted = {"items": list(places)}
    found = {seq: item_from(item_id, fields) for seq, item_id, fields in connection.execute(_ITEMS, wanted)}
    pending: dict[int, list[Unit]] = {seq: [] for seq in found}
    for seq, position, content in connection.execute(_UNITS, wanted):
        if position in places[seq]:
            pending[seq].append(unit_from(found[seq].id, position, content, rule))
    return [(found[seq], pending[seq]) for seq in found]
