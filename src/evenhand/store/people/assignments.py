"""Tasks: what was given to whom, and what becomes of it. Everything that changes one happens in a turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, literal_column, select, update

from evenhand.assignment import Plan, Purpose, Task
from evenhand.errors import StudyError
from evenhand.protocol.model import Protocol
from evenhand.store.database import moment
from evenhand.store.people.queue import Made
from evenhand.store.schema import assignments, gold, items, members, queue, raters, reopened, walks

LAPSES = 20
"""Claims that one call turns back at most; the next call goes on."""

# Statements are written once: SQLAlchemy takes longer to put one together than the database to answer it. Constants of
# partial indexes stand in the text, because a database looks for them there.
OWN = assignments.c.purpose != literal_column("'repeat'")
OPEN = assignments.c.state == literal_column("'open'")
LAPSED = assignments.c.lapsed == literal_column("1")
_THIS = (
    (assignments.c.rater == bindparam("of_rater"))
    & (assignments.c.protocol == bindparam("of_protocol"))
    & (assignments.c.number == bindparam("of_number"))
)
_TASK = (
    select(raters.c.id, items.c.id, assignments)
    .select_from(assignments)
    .join(raters, raters.c.seq == assignments.c.rater)
    .outerjoin(items, items.c.seq == assignments.c.item)
    .where(raters.c.id == bindparam("name"), assignments.c.protocol == bindparam("of_protocol"))
)
_ONE = _TASK.where(assignments.c.number == bindparam("of_number"))
_PAGE = (
    _TASK.where(assignments.c.number > bindparam("after")).order_by(assignments.c.number).limit(bindparam("at_most"))
)
_COUNTS = (
    select(raters.c.id, assignments.c.purpose, assignments.c.state, func.count())
    .join(raters, raters.c.seq == assignments.c.rater)
    .where(assignments.c.protocol == bindparam("of_protocol"))
    .group_by(raters.c.id, assignments.c.purpose, assignments.c.state)
)
_COUNTS_OF = _COUNTS.where(raters.c.id == bindparam("name"))
_CLAIM = (
    update(assignments)
    .where(_THIS)
    .values(state="open", lapsed=0, touched=bindparam("now"), expires=bindparam("until"), finished=None)
)
_END = update(assignments).where(_THIS).values({name: bindparam(name) for name in ("state", "lapsed", "finished")})
_END_TRAINING = (
    update(assignments)
    .where(OPEN, assignments.c.purpose == Purpose.TRAINING.value)
    .where(assignments.c.rater == bindparam("of_rater"), assignments.c.protocol == bindparam("of_protocol"))
    .values(state="returned")
)
_ADD = insert(assignments)
_COUNT_PEOPLE = (
    update(queue)
    .where(queue.c.item == bindparam("of_item"))
    .values(taken=queue.c.taken + bindparam("more"), free=queue.c.free - bindparam("slots"))
)
_COUNT_GIVEN = (
    update(walks).where(walks.c.rater == bindparam("of_rater")).values(given=walks.c.given + bindparam("more"))
)
_REOPEN = insert(reopened).from_select(
    ["seq", "place"],
    select(select(func.coalesce(func.max(reopened.c.seq), 0) + 1).scalar_subquery(), queue.c.place).where(
        queue.c.item == bindparam("of_item")
    ),
)
_EXPIRED = (
    select(assignments.c.rater, assignments.c.number, assignments.c.item)
    .where(OPEN, OWN, assignments.c.purpose != literal_column("'training'"))
    .where(assignments.c.protocol == bindparam("of_protocol"), assignments.c.expires <= bindparam("now"))
    .order_by(assignments.c.expires)
    .limit(LAPSES)
)
_FREE = select(queue.c.free).where(queue.c.item == bindparam("of_item"))
_KNOWN = select(gold.c.place).where(gold.c.item == bindparam("of_item"))
_SEEN = update(members).where(members.c.rater == bindparam("of_rater")).values(seen=bindparam("now"))


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

    @property
    def own_given(self) -> int:
        """Items open or done, each counted once."""
        return self.own_done + self.open - self.repeats_open

    @property
    def repeats_given(self) -> int:
        return self.repeats_open + self.repeats_done


@dataclass(frozen=True, slots=True)
class Turn:
    """One change by one writer: the time, and the protocol and plan of that time. `gold` is the number of the rater
    with the known answers."""

    connection: Connection
    protocol: Protocol
    plan: Plan
    queue: Made
    now: int
    gold: int | None

    @property
    def expires(self) -> int:
        return self.now + round(self.plan.claim_minutes * 60_000_000)

    def is_known(self, item: int) -> bool:
        """Whether an item is one with known answers."""
        return self.connection.execute(_KNOWN, {"of_item": item}).first() is not None

    def is_free(self, held: "Held") -> bool:
        """Whether its rater may have a task's item back; one with known answers is for every rater."""
        if held.purpose is Purpose.GOLD:
            return True
        free: int | None = self.connection.execute(_FREE, {"of_item": held.item}).scalar()
        return free is not None and free > 0


@dataclass(frozen=True, slots=True)
class Held:
    """A row of `assignments`, as far as changing it needs it."""

    rater: int
    number: int
    purpose: Purpose
    item: int | None
    example: int | None
    state: str

    @property
    def counts(self) -> bool:
        """Whether its rater is one of the people who have the item."""
        return self.purpose in (Purpose.RATE, Purpose.GOLD)


def read_task(connection: Connection, protocol: int, rater: str, number: int) -> Task | None:
    # Numbers beyond what a column holds are nobody's.
    if not 0 < number < 2**31:
        return None
    row = connection.execute(_ONE, {"name": rater, "of_protocol": protocol, "of_number": number}).first()
    return None if row is None else _task(row)


def read_tasks(connection: Connection, protocol: int, rater: str, after: int, limit: int) -> Sequence[Task]:
    if after >= 2**31:
        return []
    asked = {"name": rater, "of_protocol": protocol, "after": max(after, 0), "at_most": limit}
    return [_task(row) for row in connection.execute(_PAGE, asked)]


def _task(row: Any) -> Task:
    rater, item, _, _, number, purpose, _, example, state, _, opened, touched, expires, finished = row
    times = moment(opened), moment(touched), moment(expires), None if finished is None else moment(finished)
    return Task(rater, number, Purpose(purpose), item, example, state, *times)


def count_tasks(connection: Connection, protocol: int, rater: str | None = None) -> Mapping[str, TaskCounts]:
    """Every member's, those without a task included; or one rater's, where there are any."""
    counts: dict[str, dict[str, int]] = {}
    if rater is None:
        everybody = connection.execute(select(raters.c.id).join(members, members.c.rater == raters.c.seq))
        counts = {row[0]: {} for row in everybody}
        rows = connection.execute(_COUNTS, {"of_protocol": protocol})
    else:
        rows = connection.execute(_COUNTS_OF, {"of_protocol": protocol, "name": rater})
    for name, purpose, state, number in rows:
        found = counts.setdefault(name, {})
        if purpose != Purpose.TRAINING:
            found[state] = found.get(state, 0) + number
            if purpose == Purpose.REPEAT and state in ("open", "done"):
                found[f"repeats_{state}"] = number
        elif state == "done":
            found["training"] = number
    return {name: TaskCounts(**found) for name, found in counts.items()}


def held_task(turn: Turn, rater: str, number: int) -> Held:
    """A task that is to be changed; StudyError where there is none."""
    asked = {"name": rater, "of_protocol": turn.queue.protocol, "of_number": number}
    row = turn.connection.execute(_ONE, asked).first() if 0 < number < 2**31 else None
    if row is None:
        raise StudyError(f"{rater!r} has no task {number}")
    return Held(row[2], row[4], Purpose(row[5]), row[6], row[7], row[8])


def add_task(turn: Turn, rater: int, number: int, purpose: Purpose, item: int | None, example: int | None) -> None:
    """Put something into a rater's hands."""
    values = {"rater": rater, "protocol": turn.queue.protocol, "number": number, "purpose": purpose.value}
    values |= {"item": item, "example": example, "state": "open", "lapsed": 0}
    values |= {"opened": turn.now, "touched": turn.now, "expires": turn.expires, "finished": None}
    turn.connection.execute(_ADD, values)
    if item is not None and purpose is not Purpose.REPEAT:
        _count(turn, rater, item, 1)


def count_person(turn: Turn, rater: int, item: int, more: int) -> None:
    """One more, or one less, of the people who have an item."""
    if rater == turn.gold:
        return
    slots = 0 if turn.plan.overlap is None else more
    turn.connection.execute(_COUNT_PEOPLE, {"of_item": item, "more": more, "slots": slots})


def _count(turn: Turn, rater: int, item: int, more: int) -> None:
    count_person(turn, rater, item, more)
    turn.connection.execute(_COUNT_GIVEN, {"of_rater": rater, "more": more})


def claim(turn: Turn, held: Held) -> None:
    """A task is its rater's, from now on."""
    turn.connection.execute(_CLAIM, {**_place(turn, held), "now": turn.now, "until": turn.expires})
    if held.state == "returned" and held.counts and held.item is not None:
        _count(turn, held.rater, held.item, 1)


def touch(turn: Turn, held: Held) -> None:
    """Renew a claim; one that lapsed is taken up again while nobody else has the item."""
    see(turn, held.rater)
    if held.state == "open" or (held.state == "returned" and held.counts and turn.is_free(held)):
        claim(turn, held)


def finish(turn: Turn, held: Held) -> None:
    see(turn, held.rater)
    if held.state == "done":
        return
    turn.connection.execute(_END, {**_place(turn, held), "state": "done", "lapsed": 0, "finished": turn.now})
    if held.state == "returned" and held.counts and held.item is not None:
        _count(turn, held.rater, held.item, 1)
    if held.purpose is Purpose.TRAINING and held.example == len(turn.protocol.examples) - 1:
        turn.connection.execute(update(members).where(members.c.rater == held.rater).values(training_over=1))


def reopen(turn: Turn, held: Held) -> None:
    """A task that was done is in its rater's hands again."""
    see(turn, held.rater)
    if held.state == "done" and held.purpose is not Purpose.TRAINING:
        claim(turn, held)


def put_back(turn: Turn, held: Held, *, lapsed: bool = False) -> None:
    """An open task goes back; its item is for others, and for its rater again only where the claim lapsed."""
    turn.connection.execute(_END, {**_place(turn, held), "state": "returned", "lapsed": int(lapsed), "finished": None})
    if held.counts and held.item is not None:
        _count(turn, held.rater, held.item, -1)
        if turn.plan.overlap is not None:
            turn.connection.execute(_REOPEN, {"of_item": held.item})


def _place(turn: Turn, held: Held) -> dict[str, int]:
    return {"of_rater": held.rater, "of_protocol": turn.queue.protocol, "of_number": held.number}


def end_training(turn: Turn, rater: int) -> None:
    """Worked examples that a rater has in hand are no longer to be done."""
    turn.connection.execute(_END_TRAINING, {"of_rater": rater, "of_protocol": turn.queue.protocol})


def lapse(turn: Turn) -> None:
    """Take back claims that nobody renewed, the oldest first."""
    asked = {"of_protocol": turn.queue.protocol, "now": turn.now}
    for rater, number, item in turn.connection.execute(_EXPIRED, asked).all():
        put_back(turn, Held(rater, number, Purpose.RATE, item, None, "open"), lapsed=True)


def see(turn: Turn, rater: int) -> None:
    turn.connection.execute(_SEEN, {"of_rater": rater, "now": turn.now})
