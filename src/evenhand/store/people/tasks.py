"""Tasks: what each person was given, and what becomes of it. `next_task` chooses what comes next, by the `plan`."""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, literal_column, or_, select

from evenhand.assignment import Plan, Purpose, Task, TaskState
from evenhand.errors import StudyError
from evenhand.store.database import Database, microseconds, moment
from evenhand.store.people.item_order import COUNTED, make_queue
from evenhand.store.people.next_task import ELSEWHERE, HISTORY, MAY_RETURN, OWN, Turn, cells_of, is_free
from evenhand.store.people.plan import read_plan, set_plan
from evenhand.store.protocols import Protocols
from evenhand.store.schema import adoptions, assignments, items, members, queue, raters

LAPSES = 20
"""Claims that one call takes back at most; the next call goes on."""

# Statements are built once: SQLAlchemy takes longer to build one than the database to answer it.
_LAST_ADOPTION = select(func.max(adoptions.c.seq)).correlate(None).scalar_subquery()
CURRENT_PROTOCOL = select(adoptions.c.protocol).where(adoptions.c.seq == _LAST_ADOPTION).scalar_subquery()
"""The number of the current protocol."""

MEMBERS = select(raters.c.id, members).join(raters, raters.c.seq == members.c.rater)
MEMBER = MEMBERS.where(raters.c.id == bindparam("id"))
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
# As in `next_task`, constants of partial indexes are in the text.
_OPEN = assignments.c.state == literal_column("'open'")
_OPEN_WORK = _OF_RATER.where(_OPEN, assignments.c.purpose != literal_column("'training'"))
_OPEN_OR_LAPSED = _OF_RATER.where(or_(_OPEN, assignments.c.lapsed == 1))
_BEFORE = (
    select(func.count().label("tasks"), func.max(assignments.c.number).label("previous"))
    .join(raters, raters.c.seq == assignments.c.rater)
    .where(assignments.c.protocol == CURRENT_PROTOCOL, raters.c.id == bindparam("name"))
    .where(assignments.c.number < bindparam("of_number"))
)
_WITH_ITEM = _OF_RATER.where(OWN, assignments.c.item == bindparam("of_item"))
_EXPIRED = (
    _TASKS.where(_OPEN, OWN, assignments.c.purpose != literal_column("'training'"))
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

_ITEM = (
    select(items.c.seq, queue.c.place, queue.c.gold)
    .outerjoin(queue, queue.c.item == items.c.seq)
    .where(items.c.id == bindparam("id"))
)


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

    def plan(self) -> Plan:
        with self._database.reading() as connection:
            return read_plan(connection)

    def set_plan(self, plan: Plan) -> None:
        """Make a plan the current one. StudyError if seed, batch or strata change after work was given out, if a field
        of `by` is not a label field, if `gold` is not a rater here, or if `reveal` would go back to never after work
        was given out under another."""
        with self._database.transaction() as connection:
            set_plan(connection, self._protocols.refresh(connection), plan)

    def prepare(self) -> None:
        """Put the items in order, count who has rated which, and find all known answers. Takes time with the size of
        the study; `next` does it if it was never done for this protocol and plan."""
        with self._turn(again=True):
            pass

    @contextmanager
    def _turn(self, *, again: bool = False) -> Generator[Turn]:
        with self._database.transaction() as connection:
            versions, plan = self._protocols.refresh(connection), read_plan(connection)
            make_queue(connection, versions.current_number, versions.current, plan, again=again)
            yield Turn(connection, versions, plan, microseconds())

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
            turn.update_member(member.rater, seen=turn.now)
            tasks = turn.connection.execute(_OPEN_OR_LAPSED, {"name": rater}).all()
            number = turn.next(member, tasks, holding) if member.role == "rater" else None
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
            member = connection.execute(MEMBER, {"id": rater}).first()
            if member is None:
                return 0
            return connection.execute(ELSEWHERE, cells_of(member, self._protocols.refresh(connection))).scalar_one()

    def may_return(self, rater: str) -> bool:
        """Whether another person has an item in hand that this member could be given if it were returned."""
        with self._database.reading() as connection:
            member, versions = member_row(connection, rater), self._protocols.refresh(connection)
            return connection.execute(MAY_RETURN, cells_of(member, versions)).first() is not None

    def all(self, rater: str, *, after: int = 0, limit: int = 1000) -> Sequence[Task]:
        asked = {"name": rater, "after": min(max(after, 0), 2**31 - 1), "at_most": limit}
        return [_task(row) for row in self._database.read(_PAGE, asked)]

    @contextmanager
    def _task_turn(self, rater: str, number: int) -> Generator[tuple[Turn, Any]]:
        """A turn of a rater who is working on a task; StudyError if there is no such task."""
        with self._turn() as turn:
            task = find_row(turn.connection, rater, number)
            if task is None:
                raise StudyError(f"{rater!r} has no task {number}")
            turn.update_member(task.rater, seen=turn.now)
            yield turn, task

    def touch(self, rater: str, number: int) -> TaskState:
        """Renew the claim on an open task, or claim a returned one again while its item is free; returns its state."""
        with self._task_turn(rater, number) as (turn, task):
            if task.state == "open" or (task.state == "returned" and is_free(task)):
                turn.claim(task)
            return find_row(turn.connection, rater, number).state

    def finish(self, rater: str, number: int) -> None:
        """Mark an open or returned task as done; a second time changes nothing."""
        with self._task_turn(rater, number) as (turn, task):
            if task.state != "done":
                turn.change(task, "done", finished=turn.now)
                if task.purpose == Purpose.TRAINING and task.example == len(turn.versions.current.examples) - 1:
                    turn.update_member(task.rater, training_over=1)

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
            work = turn.connection.execute(_OPEN_WORK, {"name": rater}).all()
            chosen = [task for task in work if number in (None, task.number)]
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
                last = turn.connection.execute(HISTORY, turn.mine(member)).one().last
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
    times = (at and moment(at) for at in (row.opened, row.touched, row.expires, row.finished))
    return Task(row.name, row.number, Purpose(row.purpose), row.item_id, row.example, row.state, *times)
