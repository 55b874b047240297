"""Raters: everybody who may rate here, known by id and numbered by arrival."""

from sqlalchemy import Connection, bindparam, func, insert, select, update

from evenhand.errors import StudyError
from evenhand.records import Kind, RaterRef, now
from evenhand.store.rows import storable
from evenhand.store.schema import raters

_NUMBER = select(raters.c.seq, raters.c.kind).where(raters.c.id == bindparam("id"))


def find_rater(connection: Connection, rater_id: str) -> tuple[int, Kind] | None:
    """A rater's number and kind."""
    row = connection.execute(_NUMBER, {"id": rater_id}).first() if storable(rater_id) else None
    return None if row is None else (row[0], Kind(row[1]))


def introduce(connection: Connection, location: str, rater: RaterRef) -> None:
    """Make a rater known, or bring its version and configuration up to date."""
    if not all(map(storable, (rater.id, rater.version, rater.config))):
        raise StudyError(f"{location}: the rater {rater!r} has a character that cannot be stored")
    columns = select(raters.c.kind, raters.c.version, raters.c.config)
    row = connection.execute(columns.where(raters.c.id == rater.id)).first()
    if row is None:
        seq = connection.execute(select(func.coalesce(func.max(raters.c.seq), 0))).scalar_one() + 1
        values = {"kind": rater.kind.value, "version": rater.version, "config": rater.config}
        connection.execute(insert(raters).values(seq=seq, id=rater.id, created=now().isoformat(), **values))
    elif row[0] != rater.kind:
        raise StudyError(
            f"{location}: {rater.id!r} is known as a {row[0]} and cannot rate as a {rater.kind}; "
            "choose another rater id"
        )
    elif (row[1], row[2]) != (rater.version, rater.config):
        changed = update(raters).where(raters.c.id == rater.id)
        connection.execute(changed.values(version=rater.version, config=rater.config))
