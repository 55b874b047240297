"""Trials: answers to worked examples and to repeated items, append-only like ratings and stored apart from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from sqlalchemy import Connection, select

from evenhand.assignment import EXAMPLE, Purpose
from evenhand.errors import StudyError
from evenhand.records import Rating, unit_id
from evenhand.store.database import Database
from evenhand.store.people.tasks import CURRENT_PROTOCOL, find_row
from evenhand.store.protocols import Protocols, Versions
from evenhand.store.ratings import Added, Cell, RatingRow, append, locate, misfit, rating_from
from evenhand.store.schema import assignments, items, protocols, raters, trials

_CURRENT = (
    select(trials, raters.c.id.label("name"), items.c.id.label("item"), assignments.c.example, protocols.c.digest)
    .select_from(trials)
    .join(raters, raters.c.seq == trials.c.rater)
    .join(protocols, protocols.c.seq == trials.c.protocol)
    .join(assignments, (assignments.c.rater == trials.c.rater) & (assignments.c.number == trials.c.number))
    .outerjoin(items, items.c.seq == assignments.c.item)
    .where(trials.c.protocol == CURRENT_PROTOCOL)
    .order_by(trials.c.seq)
)


@dataclass
class Trials:
    """Answers that are not ratings: kept for good like ratings, and never counted among them."""

    _database: Database
    _protocols: Protocols

    def add(self, number: int, ratings: Sequence[Rating]) -> Added:
        """Store answers to the worked example or repeated item of task `number` of their rater.

        The unit of a worked example is `example:N`, N being the task's `example`; that of a repeat, one of the item's
        own. Each must name the answer it supersedes: ConflictError otherwise. Known by id: sent twice, stored once.
        StudyError if the task takes ratings instead, or an answer does not fit the protocol.
        """
        with self._database.transaction() as connection:
            versions = self._protocols.refresh(connection)
            cells = [self._cell(connection, versions, number, rating) for rating in ratings]
            return append(connection, trials, ratings, cells, if_current=True)

    def all(self, rater: str | None = None, *, number: int | None = None) -> Sequence[tuple[int, Rating]]:
        """Current trials under the current protocol with the numbers of their tasks, in order of arrival."""
        query = _CURRENT
        if rater is not None:
            query = query.where(raters.c.id == rater)
        if number is not None:
            query = query.where(trials.c.number == number)
        rows = self._database.read(query)
        ids = {row.seq: row.id for row in rows}
        superseded, rule = {row.supersedes for row in rows}, self._protocols.known.current.rule.of
        found: list[tuple[int, Rating]] = []
        for row in rows:
            if row.seq not in superseded:
                unit = f"{EXAMPLE}{row.example}" if row.item is None else unit_id(row.item, row.position, rule)
                columns = cast("RatingRow", tuple(row[:12]))
                trial = rating_from(columns, unit, row.name, row.digest, ids.get(row.supersedes))
                found.append((row.number, trial))
        return found

    def _cell(self, connection: Connection, versions: Versions, number: int, rating: Rating) -> Cell:
        """Where a trial goes; StudyError if it does not belong to the task, or does not fit its protocol."""
        is_current = rating.digest == versions.current.digest
        task = find_row(connection, rating.rater, number) if is_current else None
        if task is None:
            raise StudyError(f"{rating.rater!r} has no task {number} under this protocol; nothing was stored")
        item, position = locate(connection, [rating.unit], versions.current.rule.of).get(rating.unit, (None, 1))
        is_example = task.purpose == Purpose.TRAINING and rating.unit == f"{EXAMPLE}{task.example}"
        if not is_example and (task.purpose != Purpose.REPEAT or item != task.item):
            raise StudyError(
                f"unit {rating.unit!r} is not one of task {number} of {rating.rater!r}, or that task is for ratings; "
                "nothing was stored"
            )
        if why := misfit(rating, versions.current):
            raise StudyError(f"nothing was stored: {why}")
        return number, 1 if is_example else position, rating.criterion, task.rater, versions.current_number
