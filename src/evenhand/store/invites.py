"""Invites: the links by which people join. Of a link's token only the digest is kept."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from evenhand.errors import StudyError
from evenhand.store.members import brought_own_id, check_role, enter
from evenhand.store.people import Invite
from evenhand.store.raters import find_rater
from evenhand.store.rows import microseconds, moment, storable
from evenhand.store.schema import invites, joins, sessions

_JOINED = select(func.count()).select_from(joins).where(joins.c.invite == invites.c.seq).scalar_subquery()
_INVITES = select(invites, _JOINED)
_BY_TOKEN = _INVITES.where(invites.c.token == bindparam("digest"))
_BY_ID = _INVITES.where(invites.c.id == bindparam("id"))


def digest_of(token: str) -> str:
    """What a token is known by. Tokens are long and random, so nothing slower is needed."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def add_invite(connection: Connection, location: str, invite: Invite, token: str) -> None:
    if not storable(invite.id) or _row(connection, invite.id) is not None:
        raise StudyError(f"{location}: an invite cannot have the id {invite.id!r}: it is taken, or cannot be stored")
    if invite.name is not None:
        check_role(connection, location, invite.name, invite.role)
    if invite.seats < 1 or (invite.share is not None and invite.share < 1):
        raise StudyError(f"{location}: an invite needs at least one seat, and a share of at least one item")
    seq = connection.execute(select(func.coalesce(func.max(invites.c.seq), 0))).scalar_one() + 1
    values: dict[str, object] = {"seq": seq, "id": invite.id, "token": digest_of(token), "role": invite.role}
    values |= {"name": invite.name, "seats": invite.seats, "share": invite.share}
    values |= {"created": microseconds(invite.created)}
    values |= {"expires": None if invite.expires is None else microseconds(invite.expires)}
    values |= {"revoked": None if invite.revoked is None else microseconds(invite.revoked)}
    connection.execute(insert(invites).values(values))


def read_invites(connection: Connection) -> Sequence[Invite]:
    return [_invite(row) for row in connection.execute(_INVITES.order_by(invites.c.seq))]


def find_invite(connection: Connection, token: str, now: int) -> Invite | None:
    """The invite that a token opens now."""
    row = connection.execute(_BY_TOKEN, {"digest": digest_of(token)}).first()
    return None if row is None or not _in_use(row, now) else _invite(row)


def revoke(connection: Connection, invite_id: str, now: int) -> bool:
    if not storable(invite_id):
        return False
    ended = update(invites).where(invites.c.id == invite_id, invites.c.revoked.is_(None)).values(revoked=now)
    if not connection.execute(ended).rowcount:
        return False
    connection.execute(delete(sessions).where(sessions.c.invite == invite_id))
    return True


def join(
    connection: Connection, location: str, invite_id: str, rater: str, source: Mapping[str, str], now: int
) -> None:
    """Let somebody in by an invite, for the first time or again."""
    row = _row(connection, invite_id)
    if row is None or not _in_use(row, now):
        raise StudyError(f"{location}: this invite is no longer good; ask for a new one")
    invite = _invite(row)
    if invite.name is not None and rater != invite.name:
        raise StudyError(f"{location}: this invite is for {invite.name!r} only")
    check_role(connection, location, rater, invite.role)
    known = find_rater(connection, rater)
    back = known is not None and _has_joined(connection, row[0], known[0])
    if not back:
        if invite.joined >= invite.seats:
            raise StudyError(f"{location}: all {invite.seats} seats of this invite are taken; ask for a new one")
        if invite.name is None and _is_somebody(connection, rater, None if known is None else known[0]):
            raise StudyError(f"{location}: the id {rater!r} is somebody else's; use your own")
    share = None if back else invite.share
    number = enter(connection, location, rater, invite.role, share=share, source=source, now=now)
    if not back:
        connection.execute(insert(joins).values(invite=row[0], rater=number))


def _row(connection: Connection, invite_id: str) -> Any:
    return connection.execute(_BY_ID, {"id": invite_id}).first()


def _in_use(row: Any, now: int) -> bool:
    expires, revoked = row[8], row[9]
    return revoked is None and (expires is None or expires > now)


def _invite(row: Any) -> Invite:
    _, invite_id, _, role, name, seats, share, created, expires, revoked, joined = row
    ends = None if expires is None else moment(expires), None if revoked is None else moment(revoked)
    return Invite(invite_id, role, name, seats, share, moment(created), *ends, joined)


def _has_joined(connection: Connection, invite: int, rater: int) -> bool:
    query = select(joins.c.rater).where(joins.c.invite == invite, joins.c.rater == rater)
    return connection.execute(query).first() is not None


def _is_somebody(connection: Connection, rater: str, number: int | None) -> bool:
    """Whether an id is known here, or kept for somebody, other than from an invite to bring one's own. An invite for
    everybody must not let anybody rate in the name of a person who was there before."""
    if number is not None and not brought_own_id(connection, number):
        return True
    kept = select(invites.c.seq).where(invites.c.name == rater, invites.c.revoked.is_(None)).limit(1)
    return connection.execute(kept).first() is not None
