"""Tasks: the plan, what each person is given next, and what becomes of it."""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, insert, literal_column, or_, select, update

from evenhand.assignment import Plan, Purpose, Task, TaskState, own_order, own_start, purposes_due
from evenhand.errors import StudyError
from evenhand.protocol.model import Protocol
from evenhand.store.database import Database, insert_rows, microseconds, moment, next_seq
from evenhand.store.people.item_order import COUNTED, is_made, make_queue, needed, strata
from evenhand.store.protocols import Protocols
from evenhand.store.ratings import find_rater
from evenhand.store.schema import adoptions, assignments, current, items, members, plans, queue, raters, units

MOST_OPEN = 3
"""Tasks that a rater has in hand at once: one on the page and what it has fetched ahead."""

LAPSES = 20
"""Claims that one call takes back at most; the next call goes on."""


def _mine(table: Any) -> Any:
    """What one rater has under one protocol."""
    return (table.c.rater == bindparam("of_rater")) & (table.c.protocol == bindparam("of_protocol"))


# Statements are built once: SQLAlchemy takes longer to build one than the database to answer it.
_LAST_ADOPTION = select(func.max(adoptions.c.seq)).correlate(None).scalar_subquery()
CURRENT_PROTOCOL = select(adoptions.c.protocol).where(adoptions.c.seq == _LAST_ADOPTION).scalar_subquery()
"""The number of the current protocol."""

MEMBERS = select(raters.c.id, members).join(raters, raters.c.seq == members.c.rater)
MEMBER = MEMBERS.where(raters.c.id == bindparam("id"))
_PLAN = select(plans.c.document).where(plans.c.seq == select(func.max(plans.c.seq)).correlate(None).scalar_subquery())
_TASKS = (
    select(assignments, raters.c.id.label("name"), items.c.id.label("item_id"), queue.c.free)
    .select_from(assignments)
    .join(raters, raters.c.seq == assignments.c.rater)
    .outerjoin(items, items.c.seq == assignments.c.item)
    .outerjoin(queue, queue.c.item == assignments.c.item)
    .where(assignments.c.protocol == CURRENT_PROTOCOL)
)
_OF_RATER = _TASKS.where(raters.c.id == bindparam("name")).order_by(assignments.c.number)
_ONE = _OF_RATER.where(assignments.c.number == bindparam("of_number"))
_PAGE = _OF_RATER.where(assignments.c.number > bindparam("after")).limit(bindparam("at_most"))
_OPEN = assignments.c.state == literal_column("'open'")
_OPEN_OR_LAPSED = _OF_RATER.where(or_(_OPEN, assignments.c.lapsed == 1))
# Constants of partial indexes are in the text, because a database looks for them there.
_BEFORE = (
    select(func.count().label("tasks"), func.max(assignments.c.number).label("previous"))
    .join(raters, raters.c.seq == assignments.c.rater)
    .where(assignments.c.protocol == CURRENT_PROTOCOL, raters.c.id == bindparam("name"))
    .where(assignments.c.number < bindparam("of_number"))
)
_OWN = assignments.c.purpose != literal_column("'repeat'")
_WITH_ITEM = _OF_RATER.where(_OWN, assignments.c.item == bindparam("of_item"))
_EXPIRED = (
    _TASKS.where(_OPEN, _OWN, assignments.c.purpose != literal_column("'training'"))
    .where(assignments.c.expires <= bindparam("now"))
    .order_by(assignments.c.expires)
    .limit(LAPSES)
)
# Members without tasks have a row without a purpose.
_COUNTS = (
    select(raters.c.id, assignments.c.purpose, assignments.c.state, func.count())
    .select_from(members)
    .join(raters, raters.c.seq == members.c.rater)
    .outerjoin(assignments, (assignments.c.rater == raters.c.seq) & (assignments.c.protocol == CURRENT_PROTOCOL))
    .group_by(raters.c.seq, raters.c.id, assignments.c.purpose, assignments.c.state)
    .order_by(raters.c.seq)
)

_UNFINISHED = (
    select(raters.c.id, assignments.c.item)
    .join(raters, raters.c.seq == assignments.c.rater)
    .where(assignments.c.protocol == CURRENT_PROTOCOL, assignments.c.state != "done")
    .where(assignments.c.purpose.in_(COUNTED))
)

# What a rater was given, and may be given next.
_MINE = _mine(assignments)
_IS_COUNTED = assignments.c.purpose.in_(COUNTED)
_LAST = (
    select(func.max(assignments.c.number)).where(assignments.c.rater == bindparam("of_rater")).correlate(None)
).scalar_subquery()
_HISTORY = select(
    func.coalesce(_LAST, 0).label("last"),
    func.count().label("tasks"),
    func.count(case((assignments.c.purpose == Purpose.TRAINING.value, 1))).label("trained"),
    func.count(case((_IS_COUNTED & (assignments.c.state != "returned"), 1))).label("given"),
).where(_MINE)
# Subqueries that give a number instead of an `EXISTS`, of which PostgreSQL would make a join.
_GIVEN = select(assignments.c.number).where(_MINE, _OWN, assignments.c.item == queue.c.item).limit(1).scalar_subquery()
_RATED = (
    select(func.count())
    .where(_mine(current), current.c.item == queue.c.item)
    .where(current.c.criterion.in_(bindparam("criteria", expanding=True)))
    .scalar_subquery()
)
_CELLS = select(func.count() * bindparam("n_criteria")).where(units.c.item == queue.c.item).scalar_subquery()
_NEXT = (
    select(queue.c.place, queue.c.item, queue.c.gold)
    .where(queue.c.place >= bindparam("start"), _GIVEN.is_(None), _RATED < _CELLS)
    .order_by(queue.c.place)
    .limit(bindparam("at_most"))
)
_NEXT_FREE = _NEXT.where(queue.c.free > literal_column("0"))
_NEXT_KNOWN = _NEXT.where(queue.c.gold == literal_column("1"))
_COMPLETE_ELSEWHERE = (
    select(current.c.item)
    .where(_mine(current), current.c.criterion.in_(bindparam("criteria", expanding=True)))
    .where(current.c.item.not_in(select(assignments.c.item).where(_MINE, _OWN, assignments.c.item.is_not(None))))
    .group_by(current.c.item)
    .having(
        func.count()
        >= select(func.count() * bindparam("n_criteria")).where(units.c.item == current.c.item).scalar_subquery()
    )
)
_ELSEWHERE = select(func.count()).select_from(_COMPLETE_ELSEWHERE.subquery())
_theirs = assignments.alias()
_MAY_RETURN = (
    select(queue.c.item)
    .join(_theirs, _theirs.c.item == queue.c.item)
    .where(_theirs.c.protocol == bindparam("of_protocol"), _theirs.c.rater != bindparam("of_rater"))
    .where(_theirs.c.state == literal_column("'open'"))
    .where(_theirs.c.purpose != literal_column("'repeat'"), _theirs.c.purpose != literal_column("'training'"))
    .where(
        select(assignments.c.number)
        .where(_MINE, _OWN, assignments.c.item == queue.c.item, assignments.c.lapsed == 0)
        .limit(1)
        .scalar_subquery()
        .is_(None),
        _RATED < _CELLS,
    )
    .limit(1)
)
_QUEUE_SIZE = select(func.coalesce(func.max(queue.c.place), 0) + 1)
_first, _repeat = assignments.alias(), assignments.alias()
_LAST_REPEAT = select(_repeat.c.item).where(_mine(_repeat), _repeat.c.purpose == Purpose.REPEAT.value)
_LAST_REPEATED = select(_first.c.number).where(
    _mine(_first),
    _first.c.purpose != literal_column("'repeat'"),
    _first.c.item == _LAST_REPEAT.order_by(_repeat.c.number.desc()).limit(1).scalar_subquery(),
)
_NEXT_REPEAT = (
    select(assignments.c.item)
    .where(_MINE, _IS_COUNTED, assignments.c.state == "done", assignments.c.number <= bindparam("until"))
    .where(assignments.c.number > func.coalesce(_LAST_REPEATED.scalar_subquery(), 0))
    .order_by(assignments.c.number.desc())
    .limit(1)
)
_ITEM = (
    select(items.c.seq, queue.c.place, queue.c.gold)
    .outerjoin(queue, queue.c.item == items.c.seq)
    .where(items.c.id == bindparam("id"))
)

_ADD = insert(assignments)
_CHANGE = update(assignments).where(_MINE, assignments.c.number == bindparam("of_number"))
_ADD_FREE = update(queue).where(queue.c.item == bindparam("of_item")).values(free=queue.c.free + bindparam("more"))
_UPDATE_MEMBER = update(members).where(members.c.rater == bindparam("of_rater"))


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """A rater's tasks: finished worked examples apart, repeats among the rest. Of the open and the done tasks,
    `repeats_open` and `repeats_done` are repeats."""

    training: int = 0
    open: int = 0
    done: int = 0
    returned: int = 0
    repeats_open: int = 0
    repeats_done: int = 0

    @property
    def own_done(self) -> int:
        """Items done, each counted once."""
        return self.done - self.repeats_done


@dataclass
class Tasks:
    """What people are given to rate.

    1. What is given out is given once. With an overlap of K, at most K people hold or have done an item at any time,
       also when several processes ask at the same moment; expired and returned items are given out again. People who
       had rated an item before the queue was made count among the K; the rater with the known answers never does.
       Beyond the K an item comes to a person only as one with a known answer, by `reassign`, or because they finish a
       task that was returned. Nobody is given an item that they have rated in another way.
    2. A rater's tasks are numbered 1, 2, 3 … without gaps, whatever protocol they belong to. A number keeps its item
       for good, and no number is used again: what a client sends late cannot end up at another item.
    3. `next` takes the same time in a study of any size; it grows with what this rater was given before.
    4. Only tasks of the current protocol in the database are found, also when another process adopted it. Under a
       changed one everyone begins again; an earlier one that is adopted again continues where it was left.
    """

    _database: Database
    _protocols: Protocols

    # The plan: every plan stays, the last one counts.

    def plan(self) -> Plan:
        with self._database.reading() as connection:
            return _read_plan(connection)

    def set_plan(self, plan: Plan) -> None:
        """Make a plan the current one. StudyError if seed, batch or strata change after work was given out, if a field
        of `by` is not a label field, if `gold` is not a rater here, or if `reveal` would go back to never after work
        was given out under another."""
        with self._database.transaction() as connection:
            versions = self._protocols.refresh(connection)
            number, protocol, before = versions.current_number, versions.current, _read_plan(connection)
            _check_plan(connection, plan, protocol)
            given = select(assignments.c.number).where(assignments.c.protocol == number)
            work = given.where(assignments.c.purpose != Purpose.TRAINING.value).limit(1)
            too_late = _too_late(plan, before, protocol)
            if too_late and connection.execute(work).first() is not None:
                raise StudyError(too_late)
            if plan == before:
                return
            insert_rows(connection, plans, [(next_seq(connection, plans), microseconds(), plan.model_dump_json())])
            if is_made(connection):
                # The person who changes the plan waits for what that takes, not the next rater.
                make_queue(connection, number, protocol, plan)

    def prepare(self) -> None:
        """Put the items in order, count who has rated which, and find all known answers. Takes time with the size of
        the study; `next` does it if it was never done for this protocol and plan."""
        with self._turn(again=True):
            pass

    @contextmanager
    def _turn(self, *, again: bool = False) -> Generator["_Turn"]:
        with self._database.transaction() as connection:
            versions, plan = self._protocols.refresh(connection), _read_plan(connection)
            make_queue(connection, versions.current_number, versions.current, plan, again=again)
            yield _Turn(connection, versions.current_number, versions.current, plan, microseconds())

    # Tasks

    def next(self, rater: str, *, holding: Sequence[int] = ()) -> Task | None:
        """The first open task of a member that is not among `holding`; if there is none, one whose claim expired and
        whose item is still free, then a new one, or None: three are open, the share is done, or nothing is left.

        While the member or the plan is paused, only open tasks. Only training, one example at a time, is given to a
        member before `training_over`, if the plan has training and the protocol examples. Adjudicators are given
        nothing; StudyError for a rater who is not a member.
        """
        with self._turn() as turn:
            for task in turn.connection.execute(_EXPIRED, {"now": turn.now}).all():
                turn.change(task, "returned", lapsed=1)
            member = member_row(turn.connection, rater)
            turn.see(member.rater)
            number = turn.next(member, holding) if member.role == "rater" else None
            return None if number is None else _task(find_row(turn.connection, rater, number))

    def find(self, rater: str, number: int) -> Task | None:
        with self._database.reading() as connection:
            row = find_row(connection, rater, number)
            return None if row is None else _task(row)

    def unfinished(self, item: str | None = None) -> frozenset[tuple[str, int]]:
        """Raters with the places, from 0, of items that they were given and have not finished; of one item, or all."""
        chosen = assignments.c.item == select(items.c.seq).where(items.c.id == item).scalar_subquery()
        rows = self._database.read(_UNFINISHED if item is None else _UNFINISHED.where(chosen))
        return frozenset((rater, number - 1) for rater, number in rows)

    def before(self, rater: str, number: int) -> tuple[int, int | None]:
        """How many tasks a rater was given before this one, and the number of the last of them."""
        ((tasks, previous),) = self._database.read(_BEFORE, {"name": rater, "of_number": number})
        return tasks, previous

    def elsewhere(self, rater: str) -> int:
        """How many items a member has rated completely without being given them, as when ratings are imported; 0 for a
        rater who has not joined yet."""
        with self._database.reading() as connection:
            if connection.execute(MEMBER, {"id": rater}).first() is None:
                return 0
            return connection.execute(_ELSEWHERE, self._cells_of(connection, rater)).scalar_one()

    def may_return(self, rater: str) -> bool:
        """Whether another person has an item in hand that this member could be given if it were returned."""
        with self._database.reading() as connection:
            return connection.execute(_MAY_RETURN, self._cells_of(connection, rater)).first() is not None

    def _cells_of(self, connection: Connection, rater: str) -> dict[str, Any]:
        versions = self._protocols.refresh(connection)
        member, criteria = member_row(connection, rater), needed(versions.current)
        mine = {"of_rater": member.rater, "of_protocol": versions.current_number}
        return {**mine, "criteria": criteria, "n_criteria": len(criteria)}

    def all(self, rater: str, *, after: int = 0, limit: int = 1000) -> Sequence[Task]:
        asked = {"name": rater, "after": min(max(after, 0), 2**31 - 1), "at_most": limit}
        return [_task(row) for row in self._database.read(_PAGE, asked)]

    @contextmanager
    def _task_turn(self, rater: str, number: int) -> Generator[tuple["_Turn", Any]]:
        """A turn of a rater who is working on a task; StudyError if there is no such task."""
        with self._turn() as turn:
            task = find_row(turn.connection, rater, number)
            if task is None:
                raise StudyError(f"{rater!r} has no task {number}")
            turn.see(task.rater)
            yield turn, task

    def touch(self, rater: str, number: int) -> TaskState:
        """Renew the claim on an open task, or claim a returned one again while its item is free; returns its state."""
        with self._task_turn(rater, number) as (turn, task):
            if task.state == "open" or (task.state == "returned" and _is_free(task)):
                turn.claim(task)
            return find_row(turn.connection, rater, number).state

    def finish(self, rater: str, number: int) -> None:
        """Mark an open or returned task as done; a second time changes nothing."""
        with self._task_turn(rater, number) as (turn, task):
            if task.state != "done":
                turn.change(task, "done", finished=turn.now)
                if task.purpose == Purpose.TRAINING and task.example == len(turn.protocol.examples) - 1:
                    turn.connection.execute(_UPDATE_MEMBER, {"of_rater": task.rater, "training_over": 1})

    def reopen(self, rater: str, number: int) -> TaskState:
        """Open a finished task again under a new claim; its item stayed with this rater. Training stays done. Returns
        its state."""
        with self._task_turn(rater, number) as (turn, task):
            if task.state == "done" and task.purpose != Purpose.TRAINING:
                turn.claim(task)
            return find_row(turn.connection, rater, number).state

    def give_back(self, rater: str, *, number: int | None = None) -> int:
        """Return open tasks, or one of them, for others; returns how many. This rater is not given them again. Training
        stays."""
        with self._turn() as turn:
            member_row(turn.connection, rater)
            chosen = [
                task
                for task in turn.connection.execute(_OPEN_OR_LAPSED, {"name": rater}).all()
                if task.state == "open" and task.purpose != Purpose.TRAINING and number in (None, task.number)
            ]
            for task in chosen:
                turn.change(task, "returned")
            return len(chosen)

    def reassign(self, item: str, rater: str) -> Task:
        """Give an item to a member, whatever the overlap; the task that exists already, if there is one. A returned one
        is open again. StudyError if the item or the member is unknown, the member is an adjudicator, or the item has no
        unit."""
        with self._turn() as turn:
            member = member_row(turn.connection, rater)
            row = turn.connection.execute(_ITEM, {"id": item}).first()
            if row is None:
                raise StudyError(f"there is no item {item!r}")
            if member.role != "rater":
                raise StudyError(f"{rater!r} is an adjudicator; only raters are given items")
            if row.place is None:
                raise StudyError(f"item {item!r} has nothing to rate")
            there = turn.connection.execute(_WITH_ITEM, {"name": rater, "of_item": row.seq}).first()
            if there is None:
                last = turn.connection.execute(_HISTORY, turn.mine(member)).one().last
                number = turn.add(member, last + 1, turn.purpose(member, row), item=row.seq)
            else:
                number = there.number
                if there.state == "returned":
                    turn.claim(there)
            return _task(find_row(turn.connection, rater, number))

    def count(self, rater: str | None = None) -> Mapping[str, TaskCounts]:
        """Every member's tasks, members without tasks included; with `rater`, that one's alone."""
        query = _COUNTS if rater is None else _COUNTS.where(raters.c.id == rater)
        counts: dict[str, Counter[str]] = {}
        for name, purpose, state, number in self._database.read(query):
            found = counts.setdefault(name, Counter())
            if purpose == Purpose.TRAINING:
                found["training"] += number if state == "done" else 0
            elif purpose is not None:
                found[state] += number
                if purpose == Purpose.REPEAT and state != "returned":
                    found[f"repeats_{state}"] += number
        return {name: TaskCounts(**found) for name, found in counts.items()}


@dataclass(frozen=True, slots=True)
class _Turn:
    """One change by one writer: the time, and the protocol and plan of that time."""

    connection: Connection
    protocol_number: int
    protocol: Protocol
    plan: Plan
    now: int

    def mine(self, row: Any, **more: Any) -> dict[str, Any]:
        """The key of what a member, or the rater of a task, has under this protocol."""
        return {"of_rater": row.rater, "of_protocol": self.protocol_number, **more}

    def see(self, rater: int) -> None:
        self.connection.execute(_UPDATE_MEMBER, {"of_rater": rater, "seen": self.now})

    def claim(self, task: Any) -> None:
        """A task is its rater's, from now on."""
        self.change(task, "open", **_claimed(self.plan, self.now))

    def change(self, task: Any, state: TaskState, **values: int) -> None:
        """Change a task. The item of one that is returned is for others; its rater gets it again if it `lapsed`."""
        changed = {"of_number": task.number, "state": state, "lapsed": 0, "finished": None, **values}
        self.connection.execute(_CHANGE, self.mine(task, **changed))
        self._count(task.name, task.purpose, task.item, (state == "returned") - (task.state == "returned"))

    def add(
        self, member: Any, number: int, purpose: Purpose, *, item: int | None = None, example: int | None = None
    ) -> int:
        """Put something into a member's hands; returns the number."""
        key = {"rater": member.rater, "protocol": self.protocol_number, "number": number}
        what = {"purpose": purpose.value, "item": item, "example": example, "state": "open", "opened": self.now}
        self.connection.execute(_ADD, {**key, **what, "finished": None, **_claimed(self.plan, self.now)})
        self._count(member.id, purpose, item, -1)
        return number

    def _count(self, rater: str, purpose: str, item: int | None, more: int) -> None:
        """Let so many more people have an item, or less; the rater with the known answers never counts."""
        if more and purpose in COUNTED and self.plan.overlap is not None and rater != self.plan.gold:
            self.connection.execute(_ADD_FREE, {"of_item": item, "more": more})

    def next(self, member: Any, holding: Sequence[int]) -> int | None:
        """The number of the task that a member is to do; None if there is nothing for them now."""
        tasks = self.connection.execute(_OPEN_OR_LAPSED, {"name": member.id}).all()
        history = self.connection.execute(_HISTORY, self.mine(member)).one()
        in_hand = [task for task in tasks if task.state == "open"]
        more_training = history.trained < len(self.protocol.examples) or any(map(_is_training, in_hand))
        in_training = self.plan.training != "off" and not member.training_over and more_training
        paused = member.paused or self.plan.paused
        due = [task for task in in_hand if _is_training(task) == in_training]
        lapsed = [] if paused or in_training else [task for task in tasks if task.lapsed and _is_free(task)]
        for task in (*due, *lapsed):
            if task.number not in holding:
                self.claim(task)
                return task.number
        if paused or (in_training and due):
            return None
        if in_training:
            return self.add(member, history.last + 1, Purpose.TRAINING, example=history.trained)
        share = self.plan.share if member.share is None else member.share
        if len(due) >= MOST_OPEN or (share is not None and history.given >= share):
            return None
        return self._give_new(member, history)

    def _give_new(self, member: Any, history: Any) -> int | None:
        find = {Purpose.GOLD: self._next_known, Purpose.REPEAT: self._next_repeat, Purpose.RATE: self._next_free}
        number = history.last + 1
        for due in purposes_due(history.tasks + 1 - history.trained, self.plan):
            found = find[due](member, number)
            if found is not None:
                purpose = Purpose.REPEAT if due is Purpose.REPEAT else self.purpose(member, found)
                return self.add(member, number, purpose, item=found.item)
        return None

    def purpose(self, member: Any, place: Any) -> Purpose:
        """Why a member is given the item of a place in the queue."""
        return Purpose.GOLD if place.gold and member.id != self.plan.gold else Purpose.RATE

    def _next_free(self, member: Any, _: int) -> Any:
        """Of the first batch that has something for this member, the first in their own order."""
        found = self._places(_NEXT_FREE, member, 0, self.plan.batch)
        batch = {row.item: row for row in found if row.place // self.plan.batch == found[0].place // self.plan.batch}
        return batch[own_order(list(batch), member.id, self.plan.seed)[0]] if batch else None

    def _next_known(self, member: Any, _: int) -> Any:
        """The next item with a known answer; every rater begins at a place of their own."""
        if member.id == self.plan.gold:
            return None
        begin = own_start(self.connection.execute(_QUEUE_SIZE).scalar_one(), member.id, self.plan.seed)
        found = self._places(_NEXT_KNOWN, member, begin, 1) or self._places(_NEXT_KNOWN, member, 0, 1)
        return found[0] if found else None

    def _next_repeat(self, member: Any, number: int) -> Any:
        """The latest task that is far enough back; those before it are passed over, so that the distance stays the
        same."""
        asked = self.mine(member, until=number - self.plan.repeat_after - 1)
        return self.connection.execute(_NEXT_REPEAT, asked).first()

    def _places(self, query: Any, member: Any, start: int, at_most: int) -> Sequence[Any]:
        """The next places of the queue for a member."""
        criteria = needed(self.protocol)
        asked = self.mine(member, criteria=criteria, n_criteria=len(criteria), start=start, at_most=at_most)
        return self.connection.execute(query, asked).all()


def member_row(connection: Connection, rater: str) -> Any:
    """A member's row, with the id of the rater; StudyError if there is none."""
    row = connection.execute(MEMBER, {"id": rater}).first()
    if row is None:
        raise StudyError(f"{rater!r} is not a member of this study; invite them first")
    return row


def find_row(connection: Connection, rater: str, number: int) -> Any:
    """A row of `assignments` with the ids of rater and item, under the current protocol; None if there is none."""
    # Numbers beyond what a column holds are nobody's.
    return connection.execute(_ONE, {"name": rater, "of_number": number}).first() if 0 < number < 2**31 else None


def _task(row: Any) -> Task:
    times = moment(row.opened), moment(row.touched), moment(row.expires)
    finished = None if row.finished is None else moment(row.finished)
    return Task(row.name, row.number, Purpose(row.purpose), row.item_id, row.example, row.state, *times, finished)


def _is_training(task: Any) -> bool:
    return task.purpose == Purpose.TRAINING


def _is_free(task: Any) -> bool:
    """Whether its rater may have a task's item back; one with known answers is for every rater."""
    return task.purpose == Purpose.GOLD or (task.purpose == Purpose.RATE and (task.free or 0) > 0)


def _claimed(plan: Plan, now: int) -> dict[str, int]:
    return {"lapsed": 0, "touched": now, "expires": now + round(plan.claim_minutes * 60_000_000)}


# Plans


# The plan is read with every task that is given out, and seldom changes.
_parsed = lru_cache(maxsize=32)(Plan.model_validate_json)


def _read_plan(connection: Connection) -> Plan:
    return _parsed(connection.execute(_PLAN).scalar() or "{}")


def _check_plan(connection: Connection, plan: Plan, protocol: Protocol) -> None:
    """Raise StudyError if a plan does not fit the study."""
    labels = [name for name, spec in protocol.item.fields.items() if spec.kind == "label"]
    wrong = [name for name in plan.by or () if name not in labels]
    if wrong:
        valid = ", ".join(labels) or "none: no field of this protocol is a label"
        raise StudyError(f"batches cannot be balanced by {wrong[0]!r}; valid are {valid}")
    if plan.gold is not None and find_rater(connection, plan.gold) is None:
        raise StudyError(
            f"there is no rater {plan.gold!r} whose ratings could be the known answers; import them first, or "
            "choose another rater"
        )


def _too_late(plan: Plan, before: Plan, protocol: Protocol) -> str | None:
    """Why a plan cannot replace another when work, not only training, was given out; None if it can."""
    fixed = [name for name in ("seed", "batch") if getattr(plan, name) != getattr(before, name)]
    fixed += ["by"] if strata(protocol, plan) != strata(protocol, before) else []
    if fixed:
        return f"{' and '.join(fixed)} of the plan cannot change any more: work was given out in the order they fix"
    if before.reveal != "never" and plan.reveal == "never":
        return (
            "what others said was open to raters already, and answers given before that are final; reveal can no "
            "longer be 'never'"
        )
    return None
