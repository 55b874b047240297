"""Sessions: which browsers are let in as whom, and until when."""

from sqlalchemy import Connection, bindparam, delete, insert, select

from evenhand.errors import StudyError
from evenhand.store.invites import digest_of
from evenhand.store.people import Session
from evenhand.store.raters import find_rater
from evenhand.store.rows import microseconds, moment, storable
from evenhand.store.schema import raters, sessions

_SESSION = (
    select(sessions, raters.c.id)
    .outerjoin(raters, raters.c.seq == sessions.c.rater)
    .where(sessions.c.token == bindparam("digest"))
)


def open_session(connection: Connection, location: str, session: Session, token: str, now: int) -> None:
    """Let a browser in. Sessions that are over are cleared away on this occasion."""
    connection.execute(delete(sessions).where(sessions.c.expires <= now))
    number = None
    if session.rater is not None:
        known = find_rater(connection, session.rater)
        if known is None:
            raise StudyError(f"{location}: there is no rater {session.rater!r}; make them a member first")
        number = known[0]
    if not all(storable(text) for text in (session.id, session.invite) if text is not None):
        raise StudyError(f"{location}: the session {session.id!r} has a character that cannot be stored")
    values: dict[str, object] = {"token": digest_of(token), "id": session.id, "access": session.access}
    values |= {"rater": number, "created": microseconds(session.created), "expires": microseconds(session.expires)}
    connection.execute(insert(sessions).values({**values, "invite": session.invite}))


def find_session(connection: Connection, token: str, now: int) -> Session | None:
    row = connection.execute(_SESSION, {"digest": digest_of(token)}).first()
    if row is None or row[5] <= now:
        return None
    return Session(row[1], row[2], row[7], moment(row[4]), moment(row[5]), row[6])


def close_session(connection: Connection, token: str) -> None:
    connection.execute(delete(sessions).where(sessions.c.token == digest_of(token)))
