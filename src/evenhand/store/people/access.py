"""Access to the rating page: invites, sessions, and how a person becomes a member."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from evenhand.errors import StudyError, UserError
from evenhand.records import Kind, RaterRef, new_id, now
from evenhand.store.database import Database, decode, encode, insert_rows, microseconds, moment, next_seq
from evenhand.store.ratings import find_rater, introduce
from evenhand.store.schema import invites, joins, members, raters, sessions, storable

Role = Literal["rater", "adjudicator"]
AccessLevel = Literal["rater", "adjudicator", "owner"]
InviteState = Literal["open", "full", "expired", "revoked"]

LONGEST_NAME = 200
INVITE_DAYS = 30
MOST_SEATS = 10_000

_MEMBERS = select(raters.c.id, members).join(raters, raters.c.seq == members.c.rater)
_MEMBER = _MEMBERS.where(raters.c.id == bindparam("id"))
_JOINED = select(func.count()).select_from(joins).where(joins.c.invite == invites.c.seq).scalar_subquery()
_INVITES = select(invites, _JOINED)
_BY_TOKEN = _INVITES.where(invites.c.token == bindparam("digest"))
_BY_ID = _INVITES.where(invites.c.id == bindparam("id"))
_SESSION = (
    select(sessions, raters.c.id)
    .outerjoin(raters, raters.c.seq == sessions.c.rater)
    .where(sessions.c.token == bindparam("digest"))
)


@dataclass(frozen=True, slots=True)
class Invite:
    """A link with which people join. With a `name`, one person under that rater id; without, anyone who brings an id of
    their own, up to `seats` people. `share` is the most items for each, instead of the plan's."""

    id: str
    role: Role
    name: str | None
    seats: int
    share: int | None
    created: datetime
    expires: datetime | None
    revoked: datetime | None = None
    joined: int = 0


def state_of(invite: Invite) -> InviteState:
    """Whether an invite can be used. One with a name is never full: the person may use another device."""
    if invite.revoked is not None:
        return "revoked"
    if invite.expires is not None and invite.expires <= now():
        return "expired"
    return "full" if invite.name is None and invite.joined >= invite.seats else "open"


def new_invite(
    name: str | None, role: Role = "rater", *, share: int | None = None, days: float = INVITE_DAYS,
    seats: int | None = None,
) -> tuple[Invite, str]:  # fmt: skip
    """An invite and its token: for one person with a name, or for a group with a number of seats."""
    if name is None and seats is None:
        raise UserError("an invite needs the name of one person, or the number of seats for several")
    if name is not None and seats not in (None, 1):
        raise UserError("an invite with a name is for one person: omit the seats, or the name")
    if name is None and role != "rater":
        raise UserError("an adjudicator must be invited by name")
    made = now()
    return Invite(new_id(), role, name, seats or 1, share, made, made + timedelta(days=days)), token_urlsafe(32)


def check_name(name: str) -> str:
    """The name of a person as it is stored; ValueError if it is not valid."""
    name = name.strip()
    if not name or len(name) > 100:
        raise ValueError("a name has 1 to 100 characters")
    if not name.isprintable():
        raise ValueError("a name contains only printable characters and no line breaks")
    return name


@dataclass(frozen=True, slots=True)
class Session:
    """One browser's access. The owner's has no rater."""

    id: str
    access: AccessLevel
    rater: str | None
    created: datetime
    expires: datetime
    invite: str | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A person who may rate at the page. `source` holds what came with them, such as Prolific's ids."""

    rater: str
    role: Role
    joined: datetime
    seen: datetime
    share: int | None = None
    paused: bool = False
    training_over: bool = False
    source: Mapping[str, str] = field(default_factory=dict[str, str])


class Access:
    """Invites and sessions. Of a token, which callers pass as it is, only the SHA-256 is stored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_invite(self, invite: Invite, token: str) -> None:
        """Store an invite under the digest of its token. StudyError if its name belongs to a model or rule or to a
        member with another role, or cannot be a rater's id: blank, or longer than 200 characters."""
        with self._database.transaction() as connection:
            if not storable(invite.id) or connection.execute(_BY_ID, {"id": invite.id}).first() is not None:
                raise StudyError(f"an invite cannot have the id {invite.id!r}: it is taken, or cannot be stored")
            if invite.name is not None:
                _check_role(connection, invite.name, invite.role)
            if invite.seats < 1 or (invite.share is not None and invite.share < 1):
                raise StudyError("an invite needs at least one seat, and a share of at least one item")
            values: dict[str, object] = {"seq": next_seq(connection, invites), "token": digest_of(token)}
            values |= {name: getattr(invite, name) for name in ("id", "role", "name", "seats", "share")}
            for name in ("created", "expires", "revoked"):
                at: datetime | None = getattr(invite, name)
                values[name] = None if at is None else microseconds(at)
            connection.execute(insert(invites).values(values))

    def invites(self) -> Sequence[Invite]:
        """Every invite, oldest first."""
        with self._database.reading() as connection:
            return [_invite(row) for row in connection.execute(_INVITES.order_by(invites.c.seq))]

    def find_invite(self, token: str) -> Invite | None:
        """The invite of this token, if it is neither revoked nor expired."""
        with self._database.reading() as connection:
            row = connection.execute(_BY_TOKEN, {"digest": digest_of(token)}).first()
        return None if row is None or not _is_valid(row) else _invite(row)

    def revoke_invite(self, invite_id: str) -> bool:
        """End an invite and the sessions that came from it; False if there is none that is not revoked already."""
        with self._database.transaction() as connection:
            active = update(invites).where(invites.c.id == invite_id, invites.c.revoked.is_(None))
            if not connection.execute(active.values(revoked=microseconds(now()))).rowcount:
                return False
            connection.execute(delete(sessions).where(sessions.c.invite == invite_id))
            return True

    def join(self, invite: Invite, rater: str, source: Mapping[str, str]) -> Member:
        """Make a person a member and a rater of kind person, or welcome them again.

        StudyError if the invite has ended, its seats are taken, or it is for another person; if the rater is known as a
        model or rule, or as a member with another role; and if an invite without a name is used under an id that was
        here before, or that a named invite reserves.
        """
        with self._database.transaction() as connection:
            row = connection.execute(_BY_ID, {"id": invite.id}).first()
            if row is None or not _is_valid(row):
                raise StudyError("this invite is no longer valid; ask for a new one")
            known = _invite(row)
            if known.name is not None and rater != known.name:
                raise StudyError(f"this invite is for {known.name!r} only")
            again = _has_joined(connection, row[0], rater)
            if not again:
                _check_seat(connection, known, rater)
            number = admit(connection, rater, known.role, None if again else known.share, source)
            if not again:
                connection.execute(insert(joins).values(invite=row[0], rater=number))
            return known_member(connection, rater)

    def open_session(self, session: Session, token: str) -> None:
        """Store a session under the digest of its token. Expired sessions are deleted on this occasion."""
        with self._database.transaction() as connection:
            connection.execute(delete(sessions).where(sessions.c.expires <= microseconds(now())))
            number = None
            if session.rater is not None:
                known = find_rater(connection, session.rater)
                if known is None:
                    raise StudyError(f"there is no rater {session.rater!r}; make them a member first")
                number = known[0]
            times = microseconds(session.created), microseconds(session.expires)
            row = (digest_of(token), session.id, session.access, number, *times, session.invite)
            insert_rows(connection, sessions, [row])

    def find_session(self, token: str) -> Session | None:
        """The session of this token, if it has not expired."""
        with self._database.reading() as connection:
            row = connection.execute(_SESSION, {"digest": digest_of(token)}).first()
        if row is None or row[5] <= microseconds(now()):
            return None
        return Session(row[1], row[2], row[7], moment(row[4]), moment(row[5]), row[6])

    def close_session(self, token: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(delete(sessions).where(sessions.c.token == digest_of(token)))


def digest_of(token: str) -> str:
    """What a token is known by. Tokens are long and random, so nothing slower is needed."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


# Members


def admit(
    connection: Connection, rater: str, role: Role, share: int | None = None, source: Mapping[str, str] | None = None
) -> int:
    """Make a person a member, or welcome them again with what they bring; returns their number."""
    _check_role(connection, rater, role)
    introduce_person(connection, rater)
    found = find_rater(connection, rater)
    assert found is not None, "introduced above"
    member = read_member(connection, rater)
    at = microseconds(now())
    if member is None:
        values: dict[str, object] = {"rater": found[0], "role": role, "joined": at, "seen": at, "share": share}
        values |= {"paused": 0, "training_over": 0, "source": encode(dict(source or {}))}
        connection.execute(insert(members).values(values))
        return found[0]
    values = {"seen": at, "source": encode({**member.source, **(source or {})})}
    if share is not None:
        values["share"] = share
    connection.execute(update(members).where(members.c.rater == found[0]).values(values))
    return found[0]


def introduce_person(connection: Connection, rater: str) -> None:
    """Make a person known as a rater; one who is known keeps their version and configuration."""
    if find_rater(connection, rater) is None:
        introduce(connection, RaterRef(rater, Kind.PERSON))


def read_members(connection: Connection) -> Sequence[Member]:
    """Every member, in the order in which they joined."""
    rows = connection.execute(_MEMBERS.order_by(members.c.joined, members.c.rater))
    return [_member(row) for row in rows]


def read_member(connection: Connection, rater: str) -> Member | None:
    row = connection.execute(_MEMBER, {"id": rater}).first()
    return None if row is None else _member(row)


def known_member(connection: Connection, rater: str) -> Member:
    """A member; StudyError if there is none of this id."""
    member = read_member(connection, rater)
    if member is None:
        raise StudyError(f"{rater!r} is not a member of this study; invite them first")
    return member


def _member(row: Any) -> Member:
    rater, _, role, joined, seen, share, paused, training_over, source = row
    times = moment(joined), moment(seen)
    return Member(rater, role, *times, share, bool(paused), bool(training_over), decode(source))


def _check_role(connection: Connection, rater: str, role: Role) -> None:
    """Raise StudyError if a person of this id cannot have this role."""
    if not rater.strip() or len(rater) > LONGEST_NAME or not storable(rater):
        raise StudyError(
            f"{rater[:LONGEST_NAME]!r} cannot be a rater's id; it must have 1 to {LONGEST_NAME} characters that can be "
            "stored, not only blanks"
        )
    known = find_rater(connection, rater)
    if known is not None and known[1] is not Kind.PERSON:
        raise StudyError(f"{rater!r} is known as a {known[1]} and cannot rate as a person; choose another rater id")
    member = read_member(connection, rater)
    if member is not None and member.role != role:
        raise StudyError(f"{rater!r} is here as {_a(member.role)} and cannot be {_a(role)}; use another id")


def _a(role: Role) -> str:
    return f"an {role}" if role == "adjudicator" else f"a {role}"


# Invites


def _is_valid(row: Any) -> bool:
    expires, revoked = row[8], row[9]
    return revoked is None and (expires is None or expires > microseconds(now()))


def _invite(row: Any) -> Invite:
    _, invite_id, _, role, name, seats, share, created, expires, revoked, joined = row
    ends = None if expires is None else moment(expires), None if revoked is None else moment(revoked)
    return Invite(invite_id, role, name, seats, share, moment(created), *ends, joined)


def _has_joined(connection: Connection, invite: int, rater: str) -> bool:
    query = select(joins.c.rater).join(raters, raters.c.seq == joins.c.rater)
    return connection.execute(query.where(joins.c.invite == invite, raters.c.id == rater)).first() is not None


def _check_seat(connection: Connection, invite: Invite, rater: str) -> None:
    """Raise StudyError if a newcomer cannot join with this invite under this id."""
    _check_role(connection, rater, invite.role)
    if invite.joined >= invite.seats:
        raise StudyError(f"all {invite.seats} seats of this invite are taken; ask for a new one")
    if invite.name is None and _belongs_to_another(connection, rater):
        raise StudyError(f"the id {rater!r} belongs to another person; use your own")


def _belongs_to_another(connection: Connection, rater: str) -> bool:
    """Whether an id is known here, or reserved, other than from an invite to bring one's own. An open invite must not
    let anyone rate in the name of a person who was there before."""
    known = find_rater(connection, rater)
    if known is not None:
        own = select(joins.c.invite).join(invites, invites.c.seq == joins.c.invite)
        if connection.execute(own.where(joins.c.rater == known[0], invites.c.name.is_(None)).limit(1)).first() is None:
            return True
    reserved = select(invites.c.seq).where(invites.c.name == rater, invites.c.revoked.is_(None)).limit(1)
    return connection.execute(reserved).first() is not None
