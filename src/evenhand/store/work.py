"""The work of programs: what a rater has yet to rate, runs, and the leases by which several processes share a run.

A worker is one process that takes part in a run. It leases items, rates them, and finishes its leases; meanwhile it
renews them. The leases of a worker that was killed expire, and other workers take them over. Money is in integer
micro-dollars, and the time is the database's.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from secrets import token_hex
from socket import gethostname
from typing import Any, Literal, cast

from sqlalchemy import BindParameter, Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import BigInteger, Integer, Text

from evenhand.errors import StudyError
from evenhand.records import Item, RaterRef, Rating, Status, Unit, new_id, now
from evenhand.store.database import BATCH, Database, decode, encode, insert_rows, moment, next_seq
from evenhand.store.items import ItemUnits, item_from, numbers_of, unit_from
from evenhand.store.protocols import Protocols
from evenhand.store.ratings import Ratings, introduce
from evenhand.store.schema import current, items, leases, protocols, raters, ratings, runs, units, workers

PAGE = 200
"""Items that are handed on from one query; another process may rate them before they are taken up."""

TERM = 30.0
"""Seconds that a lease lasts unless it is renewed: the longest wait for the items of a killed worker."""

ROOM = 2**18
"""Bytes that must fit on the disk before a run begins: the replies to as many calls as are usually in progress."""

RunState = Literal["running", "done", "stopped", "failed"]


class clock(FunctionElement[int]):
    """The database's own time in microseconds since 1970."""

    type = BigInteger()
    inherit_cache = True


@compiles(clock)
def _clock_sql(_: clock, compiler: SQLCompiler, **__: Any) -> str:
    if compiler.dialect.name == "sqlite":
        return "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"


# What is to rate. `revision` is the last rating whose failure is tried again, 0 for none: the failures that a run
# produces itself are not tried again in it.
_REVISION = bindparam("revision", type_=BigInteger)
_EVER = 2**62


_RATER_SEQ = select(raters.c.seq).where(raters.c.id == bindparam("rater")).scalar_subquery()
_PROTOCOL_SEQ = select(protocols.c.seq).where(protocols.c.digest == bindparam("protocol")).scalar_subquery()
# A rater may become known while the work goes on; until then it has rated nothing.
_BY_RATER = (current.c.protocol == _PROTOCOL_SEQ) & (current.c.rater == _RATER_SEQ)


def _on_unit(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    """A rating of the unit by the rater. A number, not `EXISTS`: PostgreSQL turns that into a join, and before it knows
    how many ratings there are, it reads all of them for every unit."""
    cell = select(current.c.rating).where(current.c.item == units.c.item, current.c.position == units.c.position)
    return cell.where(_BY_RATER, *conditions).limit(1).scalar_subquery()


_FAILED = current.c.status == Status.FAILED.value
_IS_PENDING = _on_unit().is_(None) | ((_REVISION > 0) & _on_unit(_FAILED, current.c.rating <= _REVISION).is_not(None))
_PENDING_ITEMS = (
    select(units.c.item)
    .where(units.c.item > bindparam("after"), _IS_PENDING)
    .distinct()
    .order_by(units.c.item)
    .limit(bindparam("n", type_=Integer))
)
_OF_ITEMS: BindParameter[Any] = bindparam("items", expanding=True)
_PENDING_UNITS = (
    select(units.c.item, units.c.position, units.c.content)
    .where(units.c.item.in_(_OF_ITEMS), _IS_PENDING)
    .order_by(units.c.item, units.c.position)
)
_ITEMS = select(items).where(items.c.seq.in_(_OF_ITEMS)).order_by(items.c.seq)
_COUNT = select(func.count()).select_from(units).where(_IS_PENDING)

# Leases and the money reserved on them. What is freed and what is spent changes at once, in the run that holds the
# money.
_RUN = select(runs).where(runs.c.id == bindparam("run"))
_OF_RATER = (leases.c.rater == bindparam("rater")) & (leases.c.protocol == bindparam("protocol"))
_MINE = (leases.c.run == bindparam("of_run")) & (leases.c.worker == bindparam("of_worker"))
_LEASED = select(leases.c.item).where(_OF_RATER)
_UNTIL = clock() + bindparam("term", type_=BigInteger)
_free = _PENDING_ITEMS.where(units.c.item.not_in(_LEASED)).subquery()
_LEASE = (
    insert(leases)
    .from_select(
        leases.columns.keys(),
        select(
            bindparam("rater", type_=Text),
            bindparam("protocol", type_=Text),
            _free.c.item,
            bindparam("of_run", type_=BigInteger),
            bindparam("of_worker", type_=Text),
            _UNTIL,
            bindparam("reserved", 0, type_=BigInteger),
        ),
    )
    .returning(leases.c.item)
)
_NAME = select(items.c.id).where(items.c.seq == leases.c.item).scalar_subquery().label("name")
_GONE = leases.c.run, leases.c.item, leases.c.reserved, _NAME
_OVER = _LEASED.where(leases.c.until <= clock()).with_for_update(skip_locked=True)
_EXPIRE = delete(leases).where(_OF_RATER, leases.c.item.in_(_OVER)).returning(*_GONE)
_ABANDON = delete(leases).where(leases.c.run == bindparam("of_run")).returning(*_GONE)
_NAMED = select(items.c.seq).where(items.c.id.in_(bindparam("names", expanding=True)))
_FINISH = delete(leases).where(_MINE, leases.c.item.in_(_NAMED)).returning(*_GONE)
_LEAVE = delete(leases).where(_MINE).returning(*_GONE)
_RENEW = update(leases).where(_MINE).values(until=_UNTIL)
_ENLARGE = (
    update(leases)
    .where(_MINE)
    .where(leases.c.item == select(items.c.seq).where(items.c.id == bindparam("of_item")).scalar_subquery())
    .values(reserved=leases.c.reserved + bindparam("more"))
)
_own = runs.alias("own")
_HOLDS_MONEY = runs.c.seq == select(_own.c.purse).where(_own.c.seq == bindparam("of_run")).scalar_subquery()
_SETTLE = (
    update(runs)
    .where(_HOLDS_MONEY)
    .values(spent=runs.c.spent + bindparam("more_spent"), reserved=runs.c.reserved - bindparam("freed"))
)
_RESERVE = (
    update(runs)
    .where(_HOLDS_MONEY)
    .where(runs.c.cap.is_(None) | (runs.c.spent + runs.c.reserved + bindparam("more") <= runs.c.cap))
    .values(reserved=runs.c.reserved + bindparam("more"))
)

_THIS_WORKER = (workers.c.run == bindparam("of_run")) & (workers.c.id == bindparam("of_worker"))
_SEE_WORKER = update(workers).where(_THIS_WORKER).values(until=_UNTIL, counts=bindparam("new_counts"))
_ALIVE = select(workers.c.id).where(workers.c.run == bindparam("of_run"), workers.c.until > clock()).limit(1)
_RUNS = (
    select(runs, _own.c.cap.label("common_cap"), _own.c.spent.label("all_spent"), _own.c.reserved.label("all_reserved"))
    .join(_own, _own.c.seq == runs.c.purse)
    .order_by(runs.c.seq)
)
_OPEN_RUNS = _RUNS.where(
    runs.c.rater == bindparam("rater"), runs.c.protocol == bindparam("protocol"), runs.c.state == "running"
)
_WORKERS = (
    select(workers, (workers.c.until > clock()).label("alive"), func.count(leases.c.item).label("leases"))
    .outerjoin(leases, (leases.c.run == workers.c.run) & (leases.c.worker == workers.c.id))
    .group_by(*workers.c)
    .order_by(workers.c.run, workers.c.started, workers.c.id)
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
class Taken:
    """What `take` found: items that are this worker's for now, with the units to rate.

    `left` says what comes after these leases: `more`: take again; `others`: nothing is free now, but other workers hold
    items, so wait and take again; `none`: everything is rated; `stopped`: the run was stopped.
    """

    leases: Sequence[ItemUnits]
    left: Literal["more", "others", "none", "stopped"]


@dataclass(frozen=True, slots=True)
class Finished:
    """A leased item with its ratings and what they cost."""

    item: str
    ratings: Sequence[Rating]
    spent: int = 0


@dataclass
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

    _database: Database
    _protocols: Protocols
    _ratings: Ratings
    _terms: dict[str, int] = field(default_factory=dict[str, int])
    _reached: dict[str, int] = field(default_factory=dict[str, int])
    """How far this worker has come in the study, by run."""

    def pending(self, rater: str, *, failed: bool = False) -> Iterator[ItemUnits]:
        """Items with the units that this rater has yet to rate, or has failed to rate if `failed`, in their order."""
        after, asked = 0, self._asked(rater, failed)
        while True:
            with self._database.reading() as connection:
                numbers = connection.execute(_PENDING_ITEMS, {**asked, "after": after, "n": PAGE}).scalars().all()
                page = self._pending_units(connection, numbers, asked)
            if not numbers:
                return
            yield from page
            after = numbers[-1]

    def count_pending(
        self, rater: str, limit: int | None = None, together: bool = False, *, failed: bool = False
    ) -> int:
        """How many units `pending` would yield now, as far as a limit allows them: see `limited`."""
        if limit is None:
            return self._database.read(_COUNT, self._asked(rater, failed))[0][0]
        return sum(len(its_units) for _, its_units in limited(self.pending(rater, failed=failed), limit, together))

    def _asked(self, rater: str, failed: bool = False) -> dict[str, Any]:
        digest = self._protocols.known.current.digest
        return {"rater": rater, "protocol": digest, "revision": _EVER if failed else 0}

    def _pending_units(
        self, connection: Connection, numbers: Sequence[int], asked: Mapping[str, Any]
    ) -> list[ItemUnits]:
        """These items with the units that are to rate."""
        found: dict[int, tuple[Item, list[Unit]]] = {}
        for seq, name, fields in connection.execute(_ITEMS, {"items": numbers}):
            found[seq] = item_from(name, decode(fields)), []
        rule = self._protocols.known.current.rule.of
        for seq, position, content in connection.execute(_PENDING_UNITS, {**asked, "items": numbers}):
            item, its_units = found[seq]
            its_units.append(unit_from(item.id, position, content, rule))
        return list(found.values())

    # Runs

    def start_runs(
        self, specs: Sequence[RunSpec], *, worker: str, cap: int | None = None, term: float = TERM
    ) -> Sequence[str]:
        """Start a run for each rater, or join the one that is open; returns the ids of the runs, in one transaction.

        A run is open while one of its workers is alive. StudyError if an open run of the same rater under the current
        protocol has another configuration or cap, or if the raters belong to open runs with separate caps. All runs of
        one command share one cap. StudyError, with nothing stored, also if the disk has no room for ROOM bytes.
        """
        self._terms[worker] = round(term * 1_000_000)
        started = now().isoformat()
        with self._database.transaction() as connection:
            digest = self._protocols.refresh(connection).current.digest
            opened = [self._open_run(connection, spec, digest, cap) for spec in specs]
            purses = {run.purse for run in opened if run is not None}
            if len(purses) > 1:
                raise StudyError("these raters are at work in separate runs, each with its own cap; start them apart")
            at: int = connection.execute(select(clock())).scalar_one()
            purse = purses.pop() if purses else next_seq(connection, runs)
            revision = next_seq(connection, ratings) - 1
            found: dict[int, str] = {}
            # Without room for the first replies the run does not start: they would be paid for again and again.
            room = encode({"room": token_hex(ROOM // 2)})
            for spec, run in zip(specs, opened, strict=True):
                seq, name = (next_seq(connection, runs), new_id()) if run is None else (run.seq, run.id)
                if run is None:
                    names = name, spec.rater.id, digest, spec.rater.config
                    rest = started, None, "running", 0, encode(dict(spec.settings)), revision, purse, cap, 0, 0
                    insert_rows(connection, runs, [(seq, *names, *rest)])
                connection.execute(delete(workers).where(workers.c.run == seq, workers.c.id == worker))
                times = at, at + self._terms[worker]
                insert_rows(connection, workers, [(seq, worker, gethostname(), os.getpid(), *times, room)])
                found[seq] = name
        seen = {"of_worker": worker, "term": self._terms[worker], "new_counts": encode({})}
        with self._database.transaction(lock=False) as connection:
            for seq in found:
                connection.execute(_SEE_WORKER, {**seen, "of_run": seq})
        return list(found.values())

    def _open_run(self, connection: Connection, spec: RunSpec, digest: str, cap: int | None) -> Any:
        """The open run that a command joins; one whose workers are all gone is ended first."""
        found = connection.execute(_OPEN_RUNS, {"rater": spec.rater.id, "protocol": digest}).all()
        if not found:
            return None
        run = found[-1]
        if connection.execute(_ALIVE, {"of_run": run.seq}).first() is None:
            # Leases before the run's row, as everywhere: a worker that was only slow may hold one and wait for the row.
            _end_leases(connection, _ABANDON, {"of_run": run.seq})
            _end(connection, run.seq, "stopped")
            return None
        if run.stop:
            raise StudyError(f"{spec.rater.id!r}: the run {run.id} is being stopped; try again in a moment")
        if run.config != spec.rater.config:
            raise StudyError(
                f"{spec.rater.id!r} is at work with other settings in the run {run.id}; use the same settings to "
                "join it, wait for it, or give this rater a name of its own: NAME=SPEC"
            )
        if run.common_cap != cap:
            raise StudyError(
                f"{spec.rater.id!r} is at work in the run {run.id} with {_dollars(run.common_cap)}, not "
                f"{_dollars(cap)}; use the same cap to join it, or wait for it"
            )
        return run

    def take(self, run: str, worker: str, n: int, *, failed: bool = False) -> Taken:
        """Lease up to `n` items that are still to rate, after removing the leases that expired.

        `failed`: units whose rating failed before the run started are among those to rate.
        """
        with self._database.transaction(lock=False) as connection:
            # On PostgreSQL the row of the run stays locked: no other worker takes items meanwhile.
            row = _row(connection, run, lock=True)
            if row.stop or row.state != "running":
                return Taken((), "stopped")
            self._expire(connection, row)
            asked = {"rater": row.rater, "protocol": row.protocol, "revision": row.revision if failed else 0}
            mine = {**self._mine(row, worker), **asked, "n": n, "after": self._reached.get(run, 0)}
            numbers = sorted(connection.execute(_LEASE, mine).scalars())
            others = not numbers and connection.execute(_LEASED, mine).first() is not None
            if not numbers and mine["after"] and not others:
                # Another worker may have given items back that this one had passed.
                numbers = sorted(connection.execute(_LEASE, {**mine, "after": 0}).scalars())
            self._reached[run] = numbers[-1] if numbers else next_seq(connection, items) - 1
            if not numbers:
                return Taken((), "others" if others else "none")
            return Taken(self._pending_units(connection, numbers, asked), "more")

    def lease(self, run: str, worker: str, item_ids: Sequence[str]) -> Set[str]:
        """Lease these items for work other than rating; returns the ids of those that no other worker has."""
        with self._database.transaction(lock=False) as connection:
            row = _row(connection, run, lock=True)
            leased = set(connection.execute(_LEASED, {"rater": row.rater, "protocol": row.protocol}).scalars())
            free = {name: seq for name, seq in numbers_of(connection, item_ids).items() if seq not in leased}
            until = connection.execute(select(clock())).scalar_one() + self._mine(row, worker)["term"]
            names = row.rater, row.protocol
            insert_rows(connection, leases, [(*names, seq, row.seq, worker, until, 0) for seq in free.values()])
            return free.keys()

    def _expire(self, connection: Connection, row: Any) -> None:
        """Remove the expired leases of this rater, and count their reserve as spent: dead workers may have paid."""
        gone = _end_leases(connection, _EXPIRE, {"rater": row.rater, "protocol": row.protocol})
        if gone:
            self._reached[row.id] = min(self._reached.get(row.id, 0), min(lease.item for lease in gone) - 1)

    def reserve(
        self,
        run: str,
        worker: str,
        item_id: str,
        amount: int,
        settled: Mapping[tuple[str, str, str], tuple[int, int]] | None = None,
    ) -> bool:
        """Enlarge what is reserved for a leased item; False if the cap does not allow it or the lease is gone.

        `settled` are calls that are over, by run, worker and item: what was reserved for them is given back first, and
        what they cost is spent. If a lease is gone, all that was reserved for it counts as spent already.
        """
        with self._database.transaction(lock=False) as connection:
            over: list[dict[str, Any]] = []
            for (its_run, its_worker, its_item), (reserved, spent) in (settled or {}).items():
                lease = {**self._mine(_row(connection, its_run), its_worker), "of_item": its_item}
                if connection.execute(_ENLARGE, {**lease, "more": -reserved}).rowcount:
                    over.append({"of_run": lease["of_run"], "more_spent": spent, "freed": reserved})
            row = _row(connection, run)
            lease = {**self._mine(row, worker), "of_item": item_id}
            leased = connection.execute(_ENLARGE, {**lease, "more": amount}).rowcount
            # Only now the row with the money: a transaction that holds it waits for no lease.
            if over:
                connection.execute(_SETTLE, over)
            if not leased:
                return False
            if connection.execute(_RESERVE, {"of_run": row.seq, "more": amount}).rowcount:
                return True
            connection.execute(_ENLARGE, {**lease, "more": -amount})
            # What a dead worker had reserved will not be given back: nobody is to wait for it.
            self._expire(connection, row)
            return False

    def renew(self, run: str, worker: str, counts: Mapping[str, object]) -> bool:
        """Prolong the leases that this worker still has and note its counts; False if the run is to stop."""
        with self._database.transaction(lock=False) as connection:
            row = _row(connection, run)
            mine = self._mine(row, worker)
            connection.execute(_RENEW, mine)
            connection.execute(_SEE_WORKER, {**mine, "new_counts": encode(dict(counts))})
            return row.state == "running" and not row.stop

    def finish(self, run: str, worker: str, done: Sequence[Finished], *, rater: RaterRef | None = None) -> Set[str]:
        """Store the ratings of leased items and end their leases, in one transaction, as far as this worker still has
        them; returns the ids of the items. `rater` is made known first."""
        with self._database.transaction() as connection:
            row = _row(connection, run)
            ended = {**self._mine(row, worker), "names": [one.item for one in done]}
            held = {lease.name for lease in _end_leases(connection, _FINISH, ended, lost=False)}
            mine = [one for one in done if one.item in held]
            if spent := sum(one.spent for one in mine):
                connection.execute(_SETTLE, {"of_run": row.seq, "more_spent": spent, "freed": 0})
            # A worker that was suspended may have taken an item again that it was still working on: it counts once.
            once = {one.item: one for one in mine}
            found = [rating for one in once.values() for rating in one.ratings]
            if found and rater is not None:
                introduce(connection, rater)
            for start in range(0, len(found), BATCH):
                self._ratings.append(connection, found[start : start + BATCH])
            return set(once)

    def leave(
        self, run: str, worker: str, state: RunState, counts: Mapping[str, object], *, trace: bool = True
    ) -> None:
        """Take a worker out of a run: its leases and what they reserved are free again. The last worker ends the run.

        Without `trace` the worker leaves nothing behind, and a run that no other worker took part in is deleted.
        """
        with self._database.transaction() as connection:
            row = _row(connection, run)
            mine = self._mine(row, worker) | {"term": 0, "new_counts": encode(dict(counts))}
            _end_leases(connection, _LEAVE, mine, lost=False)
            connection.execute(_SEE_WORKER if trace else delete(workers).where(_THIS_WORKER), mine)
            if connection.execute(_ALIVE, mine).first() is None:
                _end(connection, row.seq, "stopped" if row.stop else state)
            if not trace:
                # A run that brought nothing is forgotten, unless it holds other runs' money.
                part = select(workers.c.id).where(workers.c.run == row.seq).exists()
                share = select(_own.c.seq).where(_own.c.purse == row.seq, _own.c.seq != row.seq).exists()
                connection.execute(delete(runs).where(runs.c.seq == row.seq, runs.c.spent == 0, ~part, ~share))

    def stop(self, run: str) -> bool:
        """Ask every worker of a run to stop, wherever it is; False if there is no such run, or it has ended."""
        with self._database.transaction(lock=False) as connection:
            asked = update(runs).where(runs.c.id == run, runs.c.state == "running").values(stop=1)
            return bool(connection.execute(asked).rowcount)

    def runs(self) -> Sequence[Run]:
        """Every run in order of its start, with its workers."""
        with self._database.reading() as connection:
            rows = connection.execute(_RUNS).all()
            by_run: dict[int, list[WorkerInfo]] = {}
            for row in connection.execute(_WORKERS):
                times = moment(row.started), moment(row.until)
                info = WorkerInfo(row.id, row.host, row.pid, *times, bool(row.alive), row.leases, decode(row.counts))
                by_run.setdefault(row.run, []).append(info)
        return [_run(row, by_run.get(row.seq, ())) for row in rows]

    def _mine(self, row: Any, worker: str) -> dict[str, Any]:
        term = self._terms.get(worker, round(TERM * 1_000_000))
        return {"of_run": row.seq, "of_worker": worker, "term": term}


def limited(work: Iterable[ItemUnits], limit: int | None, together: bool) -> Iterator[ItemUnits]:
    """Items with the units that a limit allows; it never splits sentences that are rated together."""
    for item, its_units in work:
        if limit is not None and limit <= 0:
            return
        chosen = its_units if limit is None or together else its_units[:limit]
        limit = None if limit is None else limit - len(chosen)
        yield item, chosen


def _row(connection: Connection, run: str, *, lock: bool = False) -> Any:
    row = connection.execute(_RUN.with_for_update() if lock else _RUN, {"run": run}).first()
    if row is None:
        raise StudyError(f"there is no run {run!r}")
    return row


def _end_leases(connection: Connection, delete: Any, asked: Mapping[str, Any], *, lost: bool = True) -> Sequence[Any]:
    """Delete leases and give back what they had reserved; `lost`: it counts as spent. Returns their rows."""
    gone = connection.execute(delete, asked).all()
    for run in {row.run for row in gone if row.reserved}:
        freed = sum(row.reserved for row in gone if row.run == run)
        connection.execute(_SETTLE, {"of_run": run, "more_spent": freed if lost else 0, "freed": freed})
    return gone


def _end(connection: Connection, run: int, state: RunState) -> None:
    ended = update(runs).where(runs.c.seq == run, runs.c.state == "running")
    connection.execute(ended.values(state=state, ended=now().isoformat()))


def _run(row: Any, its_workers: Sequence[WorkerInfo]) -> Run:
    state: RunState = row.state
    ended = datetime.fromisoformat(row.ended) if row.ended else None
    if state == "running" and not any(worker.alive for worker in its_workers):
        # Every worker was killed. When the last of them was alive is when the run ended.
        state, ended = "stopped", max((worker.seen_until for worker in its_workers), default=None)
    counts = reduce(_sum, (worker.counts for worker in its_workers), dict[str, object]())
    what = datetime.fromisoformat(row.started), ended, state, decode(row.settings), counts
    return Run(row.id, row.rater, *what, row.common_cap, row.all_spent, row.all_reserved, its_workers)


def _sum(first: Mapping[str, object], second: Mapping[str, object]) -> dict[str, object]:
    """Counts of two workers together: numbers add up, also in mappings; of anything else the later counts."""
    total = dict(first)
    for name, value in second.items():
        before = total.get(name)
        if isinstance(before, int | float) and isinstance(value, int | float):
            total[name] = before + value
        elif isinstance(before, dict) and isinstance(value, dict):
            total[name] = _sum(cast("dict[str, object]", before), cast("dict[str, object]", value))
        else:
            total[name] = value
    return total


def _dollars(amount: int | None) -> str:
    return "no cap" if amount is None else f"a cap of ${amount / 1_000_000:g}"
