"""Tasks: the plan, and what each person is given next."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, bindparam, delete, select, update

from evenhand.assignment import Plan, Purpose, Task
from evenhand.errors import StudyError
from evenhand.protocol.model import Protocol
from evenhand.records import now
from evenhand.store.database import Database, microseconds
from evenhand.store.people import assignments as rows
from evenhand.store.people import claims
from evenhand.store.people.assignments import TaskCounts as TaskCounts
from evenhand.store.people.assignments import Turn
from evenhand.store.people.plans import read_in_force, write_plan
from evenhand.store.people.queue import ready, strata
from evenhand.store.people.walks import find_walker
from evenhand.store.protocols import Protocols
from evenhand.store.ratings import find_rater
from evenhand.store.schema import assignments, items, meta, raters

_HOLDERS = (
    select(items.c.id, raters.c.id)
    .select_from(assignments)
    .join(items, items.c.seq == assignments.c.item)
    .join(raters, raters.c.seq == assignments.c.rater)
    .where(assignments.c.item.in_(bindparam("of_items", expanding=True)))
    .where(assignments.c.state == "open", assignments.c.expires > bindparam("now"))
    .order_by(items.c.seq, raters.c.seq)
)
_TAKE_UP = (
    update(assignments)
    .where(assignments.c.item.in_(bindparam("of_items", expanding=True)), assignments.c.state == "done")
    .where(assignments.c.purpose.in_((Purpose.RATE.value, Purpose.GOLD.value)))
    .values(state="open", lapsed=0, touched=bindparam("now"), expires=bindparam("until"), finished=None)
)


class Tasks:
    """What people are given to rate.

    1. What is given out is given once. With an overlap of K, at most K people hold or have done an item at any time,
       also when several processes ask at the same moment; expired and returned items are given out again. People who
       had rated an item before the queue was made count among the K; the rater with the known answers never does.
       Beyond the K an item comes to a person only as one with a known answer, by `reassign`, or because they finish a
       task that was returned. Nobody is given an item that they have rated in another way.
    2. A rater's tasks are numbered 1, 2, 3 … without gaps. A number keeps its item for good.
    3. `next` takes the same time in a study of any size. It skips what a rater cannot have, each item once.
    4. Tasks and their numbers belong to the current protocol in the database, also when another process adopted it.
       Under a changed one everyone begins again at 1; an earlier one that is adopted again continues where it was left.
    """

    def __init__(self, database: Database, protocols: Protocols) -> None:
        self._database = database
        self._protocols = protocols

    def plan(self) -> Plan:
        with self._database.reading() as connection:
            return read_in_force(connection).plan

    def set_plan(self, plan: Plan) -> None:
        """Make a plan the current one. StudyError if seed, batch or strata change after work was given out, if a field
        of `by` is not a label field, if `gold` is not a rater here, or if `reveal` would go back to never after work
        was given out under another."""
        with self._database.transaction() as connection:
            in_force = read_in_force(connection)
            protocol = self._protocols.refresh(connection).current
            self._check_plan(connection, plan, protocol)
            before = in_force.plan
            fixed = [name for name in ("seed", "batch") if getattr(plan, name) != getattr(before, name)]
            fixed += ["by"] if strata(protocol, plan) != strata(protocol, before) else []
            hides = before.reveal != "never" and plan.reveal == "never"
            under_way = (fixed or hides) and self._is_under_way(connection, in_force.protocol)
            if fixed and under_way:
                raise StudyError(
                    f"{' and '.join(fixed)} of the plan cannot change any more: work was given out in the order that "
                    "they fix"
                )
            if hides and under_way:
                raise StudyError(
                    "what others said was open to raters already, and answers given before that are final; reveal can "
                    "no longer be 'never'"
                )
            if plan == before:
                return
            write_plan(connection, plan, _now())
            if in_force.queue is not None:
                # The person who changes the plan waits for what that takes, not the next rater.
                ready(connection, read_in_force(connection), protocol)

    def _check_plan(self, connection: Connection, plan: Plan, protocol: Protocol) -> None:
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

    def _is_under_way(self, connection: Connection, protocol: int) -> bool:
        given = select(assignments.c.number).where(assignments.c.protocol == protocol)
        query = given.where(assignments.c.purpose != Purpose.TRAINING.value).limit(1)
        return connection.execute(query).first() is not None

    def prepare(self) -> None:
        """Put the items in order, unless that was done for this protocol and plan, and find all known answers. Takes
        time with the size of the study; `next` does it if it was never done."""
        with self._turn(look_again=True):
            pass

    @contextmanager
    def _turn(self, *, look_again: bool = False) -> Generator[Turn]:
        with self._database.transaction() as connection:
            in_force = read_in_force(connection)
            protocol = self._protocols.refresh(connection).current
            queue = ready(connection, in_force, protocol, look_again=look_again)
            gold = None if queue.gold is None else find_rater(connection, queue.gold)
            yield Turn(connection, protocol, in_force.plan, queue, _now(), None if gold is None else gold[0])

    def next(self, rater: str, *, holding: Sequence[int] = ()) -> Task | None:
        """The first open task of a member that is not among `holding`; if there is none, one whose claim expired and
        whose item is still free, then a new one, or None: three are open, the share is done, or nothing is left.

        While the member or the plan is paused, only open tasks. Only training, one example at a time, is given to a
        member before `training_over`, if the plan has training and the protocol examples. Adjudicators are given
        nothing; StudyError for a rater who is not a member.
        """
        with self._turn() as turn:
            number = claims.next_task(turn, rater, holding)
            return None if number is None else rows.read_task(turn.connection, turn.queue.protocol, rater, number)

    def find(self, rater: str, number: int) -> Task | None:
        with self._database.reading() as connection:
            return rows.read_task(connection, read_in_force(connection).protocol, rater, number)

    def all(self, rater: str, *, after: int = 0, limit: int = 1000) -> Sequence[Task]:
        with self._database.reading() as connection:
            return rows.read_tasks(connection, read_in_force(connection).protocol, rater, after, limit)

    def touch(self, rater: str, number: int) -> None:
        """Renew the claim on an open task, or claim a returned one again while its item is free. StudyError if there is
        no such task, as in `finish`."""
        with self._turn() as turn:
            rows.touch(turn, rows.held_task(turn, rater, number))

    def finish(self, rater: str, number: int) -> None:
        """Mark an open or returned task as done; a second time changes nothing."""
        with self._turn() as turn:
            rows.finish(turn, rows.held_task(turn, rater, number))

    def reopen(self, rater: str, number: int) -> None:
        """Open a finished task again under a new claim; its item stayed with this rater. Training stays done."""
        with self._turn() as turn:
            rows.reopen(turn, rows.held_task(turn, rater, number))

    def give_back(self, rater: str, *, number: int | None = None) -> int:
        """Return open tasks, or one of them, for others; returns how many. This rater is not given them again. Training
        stays."""
        with self._turn() as turn:
            in_hand = find_walker(turn, rater).in_hand()
            chosen = [
                held for held in in_hand if held.purpose is not Purpose.TRAINING and number in (None, held.number)
            ]
            for held in chosen:
                rows.put_back(turn, held)
            return len(chosen)

    def reassign(self, item: str, rater: str) -> Task:
        """Give an item to a member, whatever the overlap; the task that exists already, if there is one. A returned one
        is open again. StudyError if the item or the member is unknown, the member is an adjudicator, or the item has no
        unit."""
        with self._turn() as turn:
            number = claims.reassign(turn, item, rater)
            task = rows.read_task(turn.connection, turn.queue.protocol, rater, number)
        assert task is not None, "a task that was given in this transaction is there"
        return task

    def count(self, rater: str | None = None) -> Mapping[str, TaskCounts]:
        """Every member's tasks, members without tasks included; with `rater`, that one's alone."""
        with self._database.reading() as connection:
            return rows.count_tasks(connection, read_in_force(connection).protocol, rater)

    def end_training(self, rater: str) -> None:
        """Take open worked examples back."""
        with self._turn() as turn:
            found = find_rater(turn.connection, rater)
            if found is not None:
                rows.end_training(turn, found[0])

    def holders(self, connection: Connection, items: Sequence[int]) -> Sequence[tuple[str, str]]:
        found = connection.execute(_HOLDERS, {"of_items": list(items), "now": _now()})
        return [(row[0], row[1]) for row in found]

    def reopen_items(self, connection: Connection, items: Sequence[int]) -> None:
        until = _now() + round(read_in_force(connection).plan.claim_minutes * 60_000_000)
        connection.execute(_TAKE_UP, {"of_items": list(items), "now": _now(), "until": until})

    def rebuild_queue(self) -> None:
        with self._database.transaction() as connection:
            in_force = read_in_force(connection)
            if in_force.queue is not None:
                connection.execute(delete(meta).where(meta.c.key == "queue"))
                ready(connection, read_in_force(connection), self._protocols.refresh(connection).current)


def _now() -> int:
    return microseconds(now())
