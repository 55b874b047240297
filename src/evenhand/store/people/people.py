"""The people who rate at the page."""

from collections.abc import Sequence

from sqlalchemy import Connection, update

from evenhand.records import now
from evenhand.store.database import Database, microseconds
from evenhand.store.people.access import (
    Access,
    Member,
    Role,
    admit,
    known_member,
    read_member,
    read_members,
)
from evenhand.store.people.tasks import Tasks
from evenhand.store.people.trials import Trials
from evenhand.store.protocols import Protocols
from evenhand.store.ratings import find_rater
from evenhand.store.schema import members


class People:
    """The members of a study: who may rate at the page (`access`), what they were given (`tasks`), and what they
    answered for training and in repeats (`trials`). Nothing here changes a rating."""

    def __init__(self, database: Database, protocols: Protocols) -> None:
        self._database = database
        self.access = Access(database)
        self.tasks = Tasks(database, protocols)
        self.trials = Trials(database, protocols)

    def members(self) -> Sequence[Member]:
        """Every member, in the order in which they joined."""
        with self._database.reading() as connection:
            return read_members(connection)

    def member(self, rater: str) -> Member | None:
        with self._database.reading() as connection:
            return read_member(connection, rater)

    def admit(self, rater: str, role: Role, share: int | None = None) -> Member:
        """Make a person a member without an invite, or welcome them again; StudyError as in `Access.join`."""
        with self._database.transaction() as connection:
            admit(connection, rater, role, share)
            return known_member(connection, rater)

    def update(self, rater: str, *, paused: bool | None = None, training_over: bool | None = None) -> None:
        """Change what is given. Open worked examples are taken back when training is over."""
        given = {"paused": paused, "training_over": training_over}
        values = {name: int(value) for name, value in given.items() if value is not None}
        with self._database.transaction() as connection:
            self._set(connection, rater, values)
            if training_over:
                self.tasks.end_training(rater)

    def seen(self, rater: str) -> None:
        """Note that a member is active now."""
        with self._database.transaction() as connection:
            self._set(connection, rater, {"seen": microseconds(now())})

    def _set(self, connection: Connection, rater: str, values: dict[str, int]) -> None:
        known_member(connection, rater)
        number = find_rater(connection, rater)
        if values and number is not None:
            connection.execute(update(members).where(members.c.rater == number[0]).values(values))
