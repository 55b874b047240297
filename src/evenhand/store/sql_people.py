"""People over SQL: `people.People` on the tables of a study."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy import Connection, select, update

from evenhand.assign import Plan, Purpose, Task
from evenhand.errors import StudyError
from evenhand.protocol.model import Protocol
from evenhand.records import Rating, now
from evenhand.store import claims, invites, sessions, tasks
from evenhand.store.fit import Fit
from evenhand.store.members import enter, number_of, read_member, read_members, see
from evenhand.store.people import Invite, Member, Role, Session, TaskCounts
from evenhand.store.plans import read_in_force, write_plan
from evenhand.store.queue import ready, strata
from evenhand.store.raters import find_rater
from evenhand.store.rows import microseconds
from evenhand.store.schema import assignments, members
from evenhand.store.tasks import Turn
from evenhand.store.trials import append_trials, read_trials
from evenhand.store.versions import Versions
from evenhand.store.walks import find_walker

Access = Callable[[], AbstractContextManager[Connection]]


class SqlPeople:
    """The page's part of a study; see `people.People` for what it promises.

    `versions_as_of` gives the study's protocols, read again where the one of this number is in force and was not.
    """

    def __init__(
        self, location: str, reading: Access, writing: Access, versions_as_of: Callable[[int], Versions]
    ) -> None:
        self._location = location
        self._reading = reading
        self._writing = writing
        self._versions_as_of = versions_as_of
        self._fit = Fit()

    # Who may

    def add_invite(self, invite: Invite, token: str) -> None:
        with self._writing() as connection:
            invites.add_invite(connection, self._location, invite, token)

    def invites(self) -> Sequence[Invite]:
        with self._reading() as connection:
            return invites.read_invites(connection)

    def invite_of(self, token: str) -> Invite | None:
        with self._reading() as connection:
            return invites.find_invite(connection, token, _now())

    def revoke_invite(self, invite_id: str) -> bool:
        with self._writing() as connection:
            return invites.revoke(connection, invite_id, _now())

    def join(self, invite: Invite, rater: str, source: Mapping[str, str]) -> Member:
        with self._writing() as connection:
            invites.join(connection, self._location, invite.id, rater, source, _now())
            return self._known_member(connection, rater)

    def add_member(self, rater: str, role: Role, share: int | None = None) -> Member:
        with self._writing() as connection:
            enter(connection, self._location, rater, role, share=share, source={}, now=_now())
            return self._known_member(connection, rater)

    def _known_member(self, connection: Connection, rater: str) -> Member:
        member = read_member(connection, rater)
        assert member is not None, "somebody who came in this transaction is there"
        return member

    def members(self) -> Sequence[Member]:
        with self._reading() as connection:
            return read_members(connection)

    def member(self, rater: str) -> Member | None:
        with self._reading() as connection:
            return read_member(connection, rater)

    def set_member(self, rater: str, *, paused: bool | None = None, training_over: bool | None = None) -> None:
        with self._turn() as turn:
            number = number_of(turn.connection, self._location, rater)
            given = {"paused": paused, "training_over": training_over}
            values = {name: int(value) for name, value in given.items() if value is not None}
            if values:
                turn.connection.execute(update(members).where(members.c.rater == number).values(values))
            if training_over:
                tasks.end_training(turn, number)

    def see(self, rater: str) -> None:
        with self._writing() as connection:
            see(connection, number_of(connection, self._location, rater), _now())

    def open_session(self, session: Session, token: str) -> None:
        with self._writing() as connection:
            sessions.open_session(connection, self._location, session, token, _now())

    def session_of(self, token: str) -> Session | None:
        with self._reading() as connection:
            return sessions.find_session(connection, token, _now())

    def close_session(self, token: str) -> None:
        with self._writing() as connection:
            sessions.close_session(connection, token)

    # Who does what

    def plan(self) -> Plan:
        with self._reading() as connection:
            return read_in_force(connection).plan

    def set_plan(self, plan: Plan) -> None:
        with self._writing() as connection:
            in_force = read_in_force(connection)
            protocol = self._versions_as_of(in_force.protocol).current
            self._check_plan(connection, plan, protocol)
            before = in_force.plan
            fixed = [name for name in ("seed", "batch") if getattr(plan, name) != getattr(before, name)]
            fixed += ["by"] if strata(protocol, plan) != strata(protocol, before) else []
            hides = before.reveal != "never" and plan.reveal == "never"
            under_way = (fixed or hides) and self._is_under_way(connection, in_force.protocol)
            if fixed and under_way:
                raise StudyError(
                    f"{self._location}: {' and '.join(fixed)} of the plan cannot change any more: work was given out "
                    "in the order that they fix"
                )
            if hides and under_way:
                raise StudyError(
                    f"{self._location}: what others said was open to raters already, and answers given before that are "
                    "final; reveal can no longer be 'never'"
                )
            if plan == before:
                return
            write_plan(connection, plan, _now())
            if in_force.queue is not None:
                # Whoever changes the plan waits for what that takes, not the next rater.
                ready(connection, read_in_force(connection), protocol)

    def _check_plan(self, connection: Connection, plan: Plan, protocol: Protocol) -> None:
        labels = [name for name, spec in protocol.item.fields.items() if spec.kind == "label"]
        wrong = [name for name in plan.by or () if name not in labels]
        if wrong:
            valid = ", ".join(labels) or "none: no field of this protocol is a label"
            raise StudyError(f"{self._location}: batches cannot be balanced by {wrong[0]!r}; valid are {valid}")
        if plan.gold is not None and find_rater(connection, plan.gold) is None:
            raise StudyError(
                f"{self._location}: there is no rater {plan.gold!r} whose ratings could be the known answers; import "
                "them first, or choose another rater"
            )

    def _is_under_way(self, connection: Connection, protocol: int) -> bool:
        given = select(assignments.c.number).where(assignments.c.protocol == protocol)
        query = given.where(assignments.c.purpose != Purpose.TRAINING.value).limit(1)
        return connection.execute(query).first() is not None

    def prepare(self) -> None:
        with self._turn(look_again=True):
            pass

    @contextmanager
    def _turn(self, *, look_again: bool = False) -> Generator[Turn]:
        with self._writing() as connection:
            in_force = read_in_force(connection)
            protocol = self._versions_as_of(in_force.protocol).current
            queue = ready(connection, in_force, protocol, look_again=look_again)
            gold = None if queue.gold is None else find_rater(connection, queue.gold)
            yield Turn(
                connection, self._location, protocol, in_force.plan, queue, _now(), None if gold is None else gold[0]
            )

    def next_task(self, rater: str, *, holding: Sequence[int] = ()) -> Task | None:
        with self._turn() as turn:
            number = claims.next_task(turn, rater, holding)
            return None if number is None else tasks.read_task(turn.connection, turn.queue.protocol, rater, number)

    def task(self, rater: str, number: int) -> Task | None:
        with self._reading() as connection:
            return tasks.read_task(connection, read_in_force(connection).protocol, rater, number)

    def tasks(self, rater: str, *, after: int = 0, limit: int = 1000) -> Sequence[Task]:
        with self._reading() as connection:
            return tasks.read_tasks(connection, read_in_force(connection).protocol, rater, after, limit)

    def touch(self, rater: str, number: int) -> None:
        with self._turn() as turn:
            tasks.touch(turn, tasks.held_task(turn, rater, number))

    def finish(self, rater: str, number: int) -> None:
        with self._turn() as turn:
            tasks.finish(turn, tasks.held_task(turn, rater, number))

    def reopen(self, rater: str, number: int) -> None:
        with self._turn() as turn:
            tasks.reopen(turn, tasks.held_task(turn, rater, number))

    def give_back(self, rater: str, *, number: int | None = None) -> int:
        with self._turn() as turn:
            in_hand = find_walker(turn, rater).in_hand()
            chosen = [
                held for held in in_hand if held.purpose is not Purpose.TRAINING and number in (None, held.number)
            ]
            for held in chosen:
                tasks.put_back(turn, held)
            return len(chosen)

    def reassign(self, item: str, rater: str) -> Task:
        with self._turn() as turn:
            number = claims.reassign(turn, item, rater)
            task = tasks.read_task(turn.connection, turn.queue.protocol, rater, number)
        assert task is not None, "a task that was given in this transaction is there"
        return task

    def task_counts(self, rater: str | None = None) -> Mapping[str, TaskCounts]:
        with self._reading() as connection:
            return tasks.count_tasks(connection, read_in_force(connection).protocol, rater)

    # Trials

    def add_trials(self, number: int, ratings: Sequence[Rating]) -> None:
        if not ratings:
            return
        with self._writing() as connection:
            versions = self._versions_as_of(read_in_force(connection).protocol)
            append_trials(connection, self._location, versions, self._fit, number, ratings)

    def trials(self, rater: str | None = None, *, number: int | None = None) -> Iterator[tuple[int, Rating]]:
        with self._reading() as connection:
            in_force = read_in_force(connection).protocol
            rule = self._versions_as_of(in_force).current.rule.of
            return read_trials(connection, in_force, rule, rater, number)


def _now() -> int:
    return microseconds(now())
