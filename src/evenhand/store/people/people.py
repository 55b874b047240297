"""The people who rate at the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import update

from evenhand.assignment import Purpose
from evenhand.store.database import Database, microseconds
from evenhand.store.people.access import MEMBERS, Access, Member, Role, admit, member_from, member_row
from evenhand.store.people.tasks import Tasks
from evenhand.store.people.trials import Trials
from evenhand.store.schema import assignments, members, raters


@dataclass
class People:
    """The members of a study: who may rate at the page (`access`), what they were given (`tasks`), and what they
    answered for training and in repeats (`trials`). Nothing here changes a rating."""

    _database: Database
    access: Access
    tasks: Tasks
    trials: Trials

    def members(self) -> Sequence[Member]:
        """Every member, in the order in which they joined."""
        with self._database.reading() as connection:
            rows = connection.execute(MEMBERS.order_by(members.c.joined, members.c.rater))
            return [member_from(row) for row in rows]

    def member(self, rater: str) -> Member | None:
        with self._database.reading() as connection:
            row = connection.execute(MEMBERS.where(raters.c.id == rater)).first()
            return None if row is None else member_from(row)

    def admit(self, rater: str, role: Role, share: int | None = None) -> Member:
        """Make a person a member without an invite, or welcome them again; StudyError as in `Access.join`."""
        with self._database.transaction() as connection:
            return member_from(admit(connection, rater, role, share))

    def update(self, rater: str, *, paused: bool | None = None, training_over: bool | None = None) -> None:
        """Change what is given. Open worked examples are taken back when training is over."""
        given = {"paused": paused, "training_over": training_over}
        self._set(rater, {name: int(value) for name, value in given.items() if value is not None})

    def seen(self, rater: str) -> None:
        """Note that a member is active now."""
        self._set(rater, {"seen": microseconds()})

    def _set(self, rater: str, values: dict[str, int]) -> None:
        with self._database.transaction() as connection:
            number = member_row(connection, rater).rater
            if values:
                connection.execute(update(members).where(members.c.rater == number).values(values))
            if values.get("training_over"):
                training = update(assignments).where(assignments.c.purpose == Purpose.TRAINING.value)
                its_open = training.where(assignments.c.rater == number, assignments.c.state == "open")
                connection.execute(its_open.values(state="returned"))
