"""What a person is given next: an open task, training, an item with a known answer, a repeat, or the next free item."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, insert, literal_column, select, update

from evenhand.assignment import Plan, Purpose, TaskState, own_order, own_start, purposes_due
from evenhand.store.people.item_order import COUNTED, needed
from evenhand.store.protocols import Versions
from evenhand.store.schema import assignments, current, members, queue, units

MOST_OPEN = 3
"""Tasks that a rater has in hand at once: one on the page and what it has fetched ahead."""


def _mine(table: Any) -> Any:
    """What one rater has under one protocol."""
    return (table.c.rater == bindparam("of_rater")) & (table.c.protocol == bindparam("of_protocol"))


# What a rater was given, and may be given next. A database looks for constants of partial indexes in the text.
_MINE = _mine(assignments)
OWN = assignments.c.purpose != literal_column("'repeat'")
_IS_COUNTED = assignments.c.purpose.in_(COUNTED)
_LAST = (
    select(func.max(assignments.c.number)).where(assignments.c.rater == bindparam("of_rater")).correlate(None)
).scalar_subquery()
HISTORY = select(
    func.coalesce(_LAST, 0).label("last"),
    func.count().label("tasks"),
    func.count(case((assignments.c.purpose == Purpose.TRAINING.value, 1))).label("trained"),
    func.count(case((_IS_COUNTED & (assignments.c.state != "returned"), 1))).label("given"),
).where(_MINE)
# Subqueries that give a number instead of an `EXISTS`, of which PostgreSQL would make a join.
_GIVEN = select(assignments.c.number).where(_MINE, OWN, assignments.c.item == queue.c.item).limit(1)
_RATED = (
    select(func.count())
    .where(_mine(current), current.c.item == queue.c.item)
    .where(current.c.criterion.in_(bindparam("criteria", expanding=True)))
    .scalar_subquery()
)
_CELLS = select(func.count() * bindparam("n_criteria")).where(units.c.item == queue.c.item).scalar_subquery()
_NEXT = (
    select(queue.c.place, queue.c.item, queue.c.gold)
    .where(queue.c.place >= bindparam("start"), _GIVEN.scalar_subquery().is_(None), _RATED < _CELLS)
    .order_by(queue.c.place)
    .limit(bindparam("at_most"))
)
_NEXT_FREE = _NEXT.where(queue.c.free > literal_column("0"))
_NEXT_KNOWN = _NEXT.where(queue.c.gold == literal_column("1"))
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

_COMPLETE_ELSEWHERE = (
    select(current.c.item)
    .where(_mine(current), current.c.criterion.in_(bindparam("criteria", expanding=True)))
    .where(current.c.item.not_in(select(assignments.c.item).where(_MINE, OWN, assignments.c.item.is_not(None))))
    .group_by(current.c.item)
    .having(
        func.count()
        >= select(func.count() * bindparam("n_criteria")).where(units.c.item == current.c.item).scalar_subquery()
    )
)
ELSEWHERE = select(func.count()).select_from(_COMPLETE_ELSEWHERE.subquery())
_theirs = assignments.alias()
MAY_RETURN = (
    select(queue.c.item)
    .join(_theirs, _theirs.c.item == queue.c.item)
    .where(_theirs.c.protocol == bindparam("of_protocol"), _theirs.c.rater != bindparam("of_rater"))
    .where(_theirs.c.state == literal_column("'open'"))
    .where(_theirs.c.purpose != literal_column("'repeat'"), _theirs.c.purpose != literal_column("'training'"))
    .where(_GIVEN.where(assignments.c.lapsed == 0).scalar_subquery().is_(None), _RATED < _CELLS)
    .limit(1)
)

_ADD = insert(assignments)
_CHANGE = update(assignments).where(_MINE, assignments.c.number == bindparam("of_number"))
_ADD_FREE = update(queue).where(queue.c.item == bindparam("of_item")).values(free=queue.c.free + bindparam("more"))
_UPDATE_MEMBER = update(members).where(members.c.rater == bindparam("of_rater"))


@dataclass(frozen=True, slots=True)
class Turn:
    """One change by one writer: the time, and the protocol and plan of that time."""

    connection: Connection
    versions: Versions
    plan: Plan
    now: int

    def next(self, member: Any, tasks: Sequence[Any], holding: Sequence[int]) -> int | None:
        """The number of the task that a member with these open and lapsed tasks is to do; None if there is none now."""
        history = self.connection.execute(HISTORY, self.mine(member)).one()
        in_hand = [task for task in tasks if task.state == "open"]
        more_training = history.trained < len(self.versions.current.examples) or any(map(_is_training, in_hand))
        in_training = self.plan.training != "off" and not member.training_over and more_training
        paused = member.paused or self.plan.paused
        due = [task for task in in_hand if _is_training(task) == in_training]
        lapsed = [] if paused or in_training else [task for task in tasks if task.lapsed and is_free(task)]
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
        asked = cells_of(member, self.versions, start=start, at_most=at_most)
        return self.connection.execute(query, asked).all()

    def purpose(self, member: Any, place: Any) -> Purpose:
        """Why a member is given the item of a place in the queue."""
        return Purpose.GOLD if place.gold and member.id != self.plan.gold else Purpose.RATE

    def mine(self, row: Any, **more: Any) -> dict[str, Any]:
        """The key of what a member, or the rater of a task, has under this protocol."""
        return {"of_rater": row.rater, "of_protocol": self.versions.current_number, **more}

    def claim(self, task: Any) -> None:
        """A task is its rater's, from now on."""
        self.change(task, "open", **self._claimed())

    def change(self, task: Any, state: TaskState, **values: int) -> None:
        """Change a task. The item of one that is returned is for others; its rater gets it again if it `lapsed`."""
        changed = {"of_number": task.number, "state": state, "lapsed": 0, "finished": None, **values}
        self.connection.execute(_CHANGE, self.mine(task, **changed))
        self._count(task.name, task.purpose, task.item, (state == "returned") - (task.state == "returned"))

    def add(
        self, member: Any, number: int, purpose: Purpose, *, item: int | None = None, example: int | None = None
    ) -> int:
        """Put something into a member's hands; returns the number."""
        key = {"rater": member.rater, "protocol": self.versions.current_number, "number": number}
        what = {"purpose": purpose.value, "item": item, "example": example, "state": "open", "opened": self.now}
        self.connection.execute(_ADD, {**key, **what, "finished": None, **self._claimed()})
        self._count(member.id, purpose, item, -1)
        return number

    def _claimed(self) -> dict[str, int]:
        return {"lapsed": 0, "touched": self.now, "expires": self.now + round(self.plan.claim_minutes * 60_000_000)}

    def _count(self, rater: str, purpose: str, item: int | None, more: int) -> None:
        """Let so many more people have an item, or less; the rater with the known answers never counts."""
        if more and purpose in COUNTED and self.plan.overlap is not None and rater != self.plan.gold:
            self.connection.execute(_ADD_FREE, {"of_item": item, "more": more})

    def update_member(self, rater: int, **values: int) -> None:
        self.connection.execute(_UPDATE_MEMBER, {"of_rater": rater, **values})


def cells_of(member: Any, versions: Versions, **more: int) -> dict[str, Any]:
    """The key of what a member has under the current protocol, and the criteria of a complete rating."""
    criteria = needed(versions.current)
    key = {"of_rater": member.rater, "of_protocol": versions.current_number}
    return {**key, "criteria": criteria, "n_criteria": len(criteria), **more}


def _is_training(task: Any) -> bool:
    return task.purpose == Purpose.TRAINING


def is_free(task: Any) -> bool:
    """Whether its rater may have a task's item back; one with known answers is for every rater."""
    return task.purpose == Purpose.GOLD or (task.purpose == Purpose.RATE and (task.free or 0) > 0)
