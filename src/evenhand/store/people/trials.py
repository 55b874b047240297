"""Trials: answers to worked examples and to repeated items, append-only like ratings and stored apart from them."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from sqlalchemy import Connection, bindparam, select

from evenhand.assignment import Purpose
from evenhand.errors import StudyError
from evenhand.records import Rating
from evenhand.store.database import Database
from evenhand.store.items import locate
from evenhand.store.protocols import Protocols, Versions
from evenhand.store.ratings import Added, Appendable, Cell, RatingRow, append, rating_from
from evenhand.store.schema import assignments, items, protocols, raters, trials
from evenhand.store.validation import Fit
from evenhand.units import unit_id

_TRIALS = Appendable.of(trials)
_TASK = (
    select(assignments.c.rater, assignments.c.purpose, assignments.c.item, assignments.c.example)
    .join(raters, raters.c.seq == assignments.c.rater)
    .where(raters.c.id == bindparam("name"), assignments.c.protocol == bindparam("of_protocol"))
    .where(assignments.c.number == bindparam("of_number"))
)
_OF_PROTOCOL = (
    select(trials, raters.c.id, items.c.id, assignments.c.example, protocols.c.digest)
    .select_from(trials)
    .join(raters, raters.c.seq == trials.c.rater)
    .join(protocols, protocols.c.seq == trials.c.protocol)
    .join(
        assignments,
        (assignments.c.rater == trials.c.rater)
        & (assignments.c.protocol == trials.c.protocol)
        & (assignments.c.number == trials.c.number),
    )
    .outerjoin(items, items.c.seq == assignments.c.item)
    .where(trials.c.protocol == bindparam("of_protocol"))
    .order_by(trials.c.seq)
)


def example_unit(example: int) -> str:
    """The id of the unit of a worked example."""
    return f"example:{example}"


class Trials:
    """Answers that are not ratings: kept for good like ratings, and never counted among them."""

    def __init__(self, database: Database, versions: Protocols) -> None:
        self._database = database
        self._protocols = versions
        self._fit = Fit()

    def add(self, number: int, ratings: Sequence[Rating]) -> Added:
        """Store answers to the worked example or repeated item of task `number` of their rater.

        The unit of a worked example is `example:N`, N being the task's `example`; that of a repeat, one of the item's
        own. Each must name the answer it supersedes: ConflictError otherwise. Known by id: sent twice, stored once.
        StudyError if the task takes ratings instead, or an answer does not fit the protocol.
        """
        if not ratings:
            return Added()
        with self._database.transaction() as connection:
            versions = self._protocols.refresh(connection)

            def cells(connection: Connection, batch: Sequence[Rating]) -> Sequence[Cell]:
                return [self._cell(connection, versions, number, rating) for rating in batch]

            return append(connection, _TRIALS, ratings, cells, if_current=True)

    def all(self, rater: str | None = None, *, number: int | None = None) -> Iterator[tuple[int, Rating]]:
        """Current trials under the current protocol with the numbers of their tasks, in order of arrival."""
        query = _OF_PROTOCOL
        if rater is not None:
            query = query.where(raters.c.id == rater)
        if number is not None:
            query = query.where(trials.c.number == number)
        with self._database.reading() as connection:
            versions = self._protocols.refresh(connection)
            rows = connection.execute(query, {"of_protocol": versions.current_number}).all()
        superseded = {row[7]: "" for row in rows if row[7]}
        for row in rows:
            if row[0] in superseded:
                superseded[row[0]] = row[1]
        rule = versions.current.rule.of
        return (_trial(row, rule, superseded.get(row[7])) for row in rows if row[0] not in superseded)

    def _cell(self, connection: Connection, versions: Versions, number: int, rating: Rating) -> Cell:
        """Where a trial goes; StudyError if it does not belong to the task, or does not fit its protocol."""
        version = versions.by_digest.get(rating.digest)
        task = None
        if version is not None and 0 < number < 2**31:
            asked = {"name": rating.rater, "of_protocol": version[0], "of_number": number}
            task = connection.execute(_TASK, asked).first()
        if version is None or task is None:
            raise StudyError(f"{rating.rater!r} has no task {number} under this protocol; nothing was stored")
        position = _position(connection, task, rating, version[1].rule.of)
        if position is None:
            raise StudyError(
                f"unit {rating.unit!r} is not one of task {number} of {rating.rater!r}, or that task is for ratings; "
                "nothing was stored"
            )
        if not version[1].has(rating.criterion):
            raise StudyError(f"there is no criterion {rating.criterion!r} in {version[1].name}")
        if misfit := self._fit.wrong(rating, version[1].criterion(rating.criterion)):
            raise StudyError(f"nothing was stored: {misfit}")
        return number, position, rating.criterion, task[0], version[0]


def _position(connection: Connection, task: Any, rating: Rating, rule: str) -> int | None:
    """The position of a trial's unit in its task; None if the task does not take it."""
    _, purpose, item, example = task
    if purpose == Purpose.TRAINING:
        return 1 if rating.unit == example_unit(example) else None
    if purpose == Purpose.REPEAT:
        place = locate(connection, [rating.unit], rule).get(rating.unit)
        return place[1] if place is not None and place[0] == item else None
    return None


def _trial(row: Any, rule: str, superseded: str | None) -> tuple[int, Rating]:
    rater, item, example, digest = row[12:]
    unit = example_unit(example) if item is None else unit_id(item, row[3], rule)
    return row[2], rating_from(cast("RatingRow", tuple(row[:12])), unit, rater, digest, superseded)
