"""Trials: answers to worked examples and to repeated items, append-only like ratings and apart from them."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from sqlalchemy import Connection, bindparam, func, select

from evenhand.assign import Purpose
from evenhand.errors import ConflictError, StudyError
from evenhand.records import Rating
from evenhand.store.append import locate
from evenhand.store.fit import Fit
from evenhand.store.load import insert_rows
from evenhand.store.rows import RatingRow, details_text, rating_from, storable, value_text
from evenhand.store.schema import assignments, items, protocols, raters, trials
from evenhand.store.versions import Versions
from evenhand.units import unit_id

Cell = tuple[int, int, str, int, int]
"""Number, position, criterion, rater, protocol: the columns of `trials` in this order."""

_later = trials.alias("later")
_earlier = trials.alias("earlier")

_KNOWN = select(trials.c.id).where(trials.c.id.in_(bindparam("ids", expanding=True)))
_LAST = select(func.coalesce(func.max(trials.c.seq), 0))
_TASK = (
    select(assignments.c.rater, assignments.c.purpose, assignments.c.item, assignments.c.example)
    .join(raters, raters.c.seq == assignments.c.rater)
    .where(raters.c.id == bindparam("name"), assignments.c.protocol == bindparam("of_protocol"))
    .where(assignments.c.number == bindparam("of_number"))
)
_HEAD = (
    select(trials.c.seq, trials.c.id)
    .where(trials.c.rater == bindparam("of_rater"), trials.c.protocol == bindparam("of_protocol"))
    .where(trials.c.number == bindparam("of_number"), trials.c.position == bindparam("position"))
    .where(trials.c.criterion == bindparam("criterion"))
    .order_by(trials.c.seq.desc())
    .limit(1)
)
_REPLACED_BY = (
    select(_later.c.seq)
    .where(_later.c.rater == trials.c.rater, _later.c.protocol == trials.c.protocol)
    .where(_later.c.number == trials.c.number, _later.c.position == trials.c.position)
    .where(_later.c.criterion == trials.c.criterion, _later.c.supersedes == trials.c.seq)
    .limit(1)
    .scalar_subquery()
)
_IN_FORCE = (
    select(trials, raters.c.id, items.c.id, assignments.c.example, protocols.c.digest, _earlier.c.id)
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
    .outerjoin(_earlier, _earlier.c.seq == trials.c.supersedes)
    .where(trials.c.protocol == bindparam("of_protocol"), _REPLACED_BY.is_(None))
    .order_by(trials.c.seq)
)


def example_unit(example: int) -> str:
    """What the unit of a worked example is called."""
    return f"example:{example}"


def append_trials(
    connection: Connection, location: str, versions: Versions, fit: Fit, number: int, batch: Sequence[Rating]
) -> None:
    """Put trials behind those that are there; each must know the one it replaces."""
    bad = [rating.id for rating in batch if not storable(rating.id)]
    if bad:
        raise StudyError(f"{location}: the id {bad[0]!r} has a character that cannot be stored")
    known = set(connection.execute(_KNOWN, {"ids": [rating.id for rating in batch]}).scalars())
    seq: int = connection.execute(_LAST).scalar_one()
    for rating in batch:
        if rating.id in known:
            continue
        cell = _cell(connection, location, versions, fit, number, rating)
        head = connection.execute(_HEAD, _named(cell)).first()
        if rating.supersedes != (None if head is None else head[1]):
            raise ConflictError(
                f"{location}: {rating.criterion} of task {number} by {rating.rater!r} was changed in the meantime. "
                "Nothing was stored; look at the present answer and decide again"
            )
        seq += 1
        known.add(rating.id)
        before = 0 if head is None else head[0]
        said = rating.status.value, value_text(rating.value), rating.at.isoformat(), details_text(rating)
        insert_rows(connection, trials, [(seq, rating.id, *cell, before, *said)])


def read_trials(
    connection: Connection, protocol: int, rule: str, rater: str | None, number: int | None
) -> Iterator[tuple[int, Rating]]:
    """Trials in force with the numbers of their tasks. They are read at one moment and made into records one by one."""
    query = _IN_FORCE
    if rater is not None:
        query = query.where(raters.c.id == rater)
    if number is not None:
        query = query.where(trials.c.number == number)
    if rater is not None and not storable(rater):
        return iter(())
    rows = connection.execute(query, {"of_protocol": protocol}).all()
    return (_trial(row, rule) for row in rows)


def _trial(row: Any, rule: str) -> tuple[int, Rating]:
    name, item, example, digest, before = row[12:]
    unit = example_unit(example) if item is None else unit_id(item, row[3], rule)
    return row[2], rating_from(cast("RatingRow", tuple(row[:12])), unit, name, digest, before)


def _cell(connection: Connection, location: str, versions: Versions, fit: Fit, number: int, rating: Rating) -> Cell:
    """Where a trial goes; StudyError where it does not belong to the task, or does not fit its protocol."""
    version = versions.by_digest.get(rating.digest)
    task = None
    if version is not None and storable(rating.rater) and 0 < number < 2**31:
        asked = {"name": rating.rater, "of_protocol": version[0], "of_number": number}
        task = connection.execute(_TASK, asked).first()
    if version is None or task is None:
        raise StudyError(f"{location}: {rating.rater!r} has no task {number} under this protocol; nothing was stored")
    rater, purpose, item, example = task
    position = 1 if purpose == Purpose.TRAINING and rating.unit == example_unit(example) else None
    if purpose == Purpose.REPEAT:
        place = locate(connection, [rating.unit], version[1].rule.of).get(rating.unit)
        position = place[1] if place is not None and place[0] == item else None
    if position is None:
        raise StudyError(
            f"{location}: unit {rating.unit!r} is not one of task {number} of {rating.rater!r}, or that task is for "
            "ratings; nothing was stored"
        )
    if not version[1].has(rating.criterion):
        raise StudyError(f"{location}: there is no criterion {rating.criterion!r} in {version[1].name}")
    if misfit := fit.wrong(rating, version[1].criterion(rating.criterion)):
        raise StudyError(f"{location}: nothing was stored: {misfit}")
    return number, position, rating.criterion, rater, version[0]


def _named(cell: Cell) -> dict[str, object]:
    names = ("of_number", "position", "criterion", "of_rater", "of_protocol")
    return dict(zip(names, cell, strict=True))
