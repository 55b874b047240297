"""The people who rate at the page: members, invites and sessions."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Any, Literal

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select, update

from evenhand.assignment import Purpose
from evenhand.errors import StudyError, UserError
from evenhand.records import Kind, RaterRef, new_id, now
from evenhand.store.database import Database, decode, encode, insert_rows, microseconds, moment, next_seq, storable
from evenhand.store.people.tasks import MEMBER, MEMBERS, Tasks, member_row
from evenhand.store.people.trials import Trials
from evenhand.store.ratings import find_rater, introduce
from evenhand.store.schema import assignments, invites, joins, members, raters, sessions

Role = Literal["rater", "adjudicator"]
AccessLevel = Literal["rater", "adjudicator", "owner"]
InviteState = Literal["open", "full", "expired", "revoked"]

LONGEST_NAME = 200
INVITE_DAYS = 30
MOST_SESSIONS = 10
"""Sessions of one person at the same time; the oldest ends when there would be more."""
MOST_SEATS = 10_000

_FOR_EVER = 2**62
_JOINED = select(func.count()).where(joins.c.invite == invites.c.seq).scalar_subquery()
_INVITES = select(invites, _JOINED.label("joined"))
_SESSION = (
    select(sessions.c.access, raters.c.id.label("name"))
    .outerjoin(raters, raters.c.seq == sessions.c.rater)
    .where(sessions.c.token == bindparam("digest"), sessions.c.expires > bindparam("now"))
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
class Account:
    """Who is signed in: a rater or adjudicator with their id, or the owner, who has none."""

    access: AccessLevel
    name: str = ""


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


@dataclass
class Access:
    """Invites and sessions. Of a token, which callers pass as it is, only the SHA-256 is stored."""

    _database: Database

    def add_invite(self, invite: Invite, token: str) -> None:
        """Store an invite under the digest of its token. StudyError if its name belongs to a model or rule or to a
        member with another role, or cannot be a rater's id: blank, or longer than 200 characters."""
        with self._database.transaction() as connection:
            if invite.name is not None:
                _check_role(connection, invite.name, invite.role)
            if invite.seats < 1 or (invite.share is not None and invite.share < 1):
                raise StudyError("an invite needs at least one seat, and a share of at least one item")
            times = (invite.created, invite.expires, invite.revoked)
            what = invite.role, invite.name, invite.seats, invite.share, *(at and microseconds(at) for at in times)
            row = (next_seq(connection, invites), invite.id, _digest(token), *what)
            insert_rows(connection, invites, [row])

    def invites(self) -> Sequence[Invite]:
        """Every invite, oldest first."""
        return [_invite(row) for row in self._database.read(_INVITES.order_by(invites.c.seq))]

    def find_invite(self, token: str) -> Invite | None:
        """The invite of this token, if it is neither revoked nor expired."""
        found = map(_invite, self._database.read(_INVITES.where(invites.c.token == _digest(token))))
        return next((invite for invite in found if state_of(invite) in ("open", "full")), None)

    def revoke_invite(self, invite_id: str) -> bool:
        """End an invite and the sessions that came from it; False if there is none that is not revoked already."""
        with self._database.transaction() as connection:
            active = update(invites).where(invites.c.id == invite_id, invites.c.revoked.is_(None))
            if not connection.execute(active.values(revoked=microseconds())).rowcount:
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
            known = connection.execute(_INVITES.where(invites.c.id == invite.id)).first()
            if known is None or state_of(_invite(known)) in ("expired", "revoked"):
                raise StudyError("this invite is no longer valid; ask for a new one")
            if known.name not in (None, rater):
                raise StudyError(f"this invite is for {known.name!r} only")
            seat = select(joins.c.rater).join(raters, raters.c.seq == joins.c.rater)
            if connection.execute(seat.where(joins.c.invite == known.seq, raters.c.id == rater)).first() is not None:
                return member_from(admit(connection, rater, known.role, None, source))
            _check_role(connection, rater, known.role)
            if known.name is None and (find_rater(connection, rater) or _is_reserved(connection, rater)):
                raise StudyError(f"{someone_else(rater)}; check that it is yours, and if it is, ask who sent the link")
            if known.joined >= known.seats:
                raise StudyError(f"all {known.seats} seats of this invite are taken; ask for a new one")
            member = admit(connection, rater, known.role, known.share, source)
            connection.execute(insert(joins).values(invite=known.seq, rater=member.rater))
            return member_from(member)

    def open_session(self, token: str, account: Account, lifetime: timedelta, invite: str | None = None) -> None:
        """Store a browser's access under the digest of its token, until its invite expires at the latest. Expired
        sessions, and the oldest of those who have many, are deleted on this occasion."""
        with self._database.transaction() as connection:
            at, ends = microseconds(), select(invites.c.expires).where(invites.c.id == invite)
            expires = min(microseconds(now() + lifetime), connection.execute(ends).scalar() or _FOR_EVER)
            number = member_row(connection, account.name).rater if account.name else None
            same = sessions.c.access == account.access, sessions.c.rater.is_not_distinct_from(number)
            newest = select(sessions.c.token).where(*same).order_by(sessions.c.created.desc()).limit(MOST_SESSIONS - 1)
            surplus = and_(*same, sessions.c.token.not_in(newest))
            connection.execute(delete(sessions).where((sessions.c.expires <= at) | surplus))
            row = _digest(token), new_id(), account.access, number, at, expires, invite
            insert_rows(connection, sessions, [row])

    def find_session(self, token: str) -> Account | None:
        """Whose session this token is, if it has not expired."""
        found = self._database.read(_SESSION, {"digest": _digest(token), "now": microseconds()})
        return Account(found[0].access, found[0].name or "") if found else None

    def close_session(self, token: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(delete(sessions).where(sessions.c.token == _digest(token)))


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
        rows = self._database.read(MEMBERS.order_by(members.c.joined, members.c.rater))
        return [member_from(row) for row in rows]

    def member(self, rater: str) -> Member | None:
        return next(map(member_from, self._database.read(MEMBER, {"id": rater})), None)

    def admit(self, rater: str, role: Role, share: int | None = None) -> Member:
        """Make a person a member without an invite, or welcome them again; StudyError as in `Access.join`."""
        with self._database.transaction() as connection:
            return member_from(admit(connection, rater, role, share))

    def is_claimed(self, rater: str) -> bool:
        """Whether an id belongs to a person other than the owner: one who is invited, or has rated in another way."""
        with self._database.reading() as connection:
            joined = select(joins.c.rater).join(raters, raters.c.seq == joins.c.rater).where(raters.c.id == rater)
            if connection.execute(MEMBER, {"id": rater}).first() is None:
                known = find_rater(connection, rater)
                return (known is not None and known[1] is Kind.PERSON) or _is_reserved(connection, rater)
            return connection.execute(joined.limit(1)).first() is not None

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


def _digest(token: str) -> str:
    """What a token is known by. Tokens are long and random, so nothing slower is needed."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _invite(row: Any) -> Invite:
    created, expires, revoked = (at and moment(at) for at in (row.created, row.expires, row.revoked))
    return Invite(row.id, row.role, row.name, row.seats, row.share, created, expires, revoked, row.joined)


def admit(
    connection: Connection, rater: str, role: Role, share: int | None = None, source: Mapping[str, str] | None = None
) -> Any:
    """Make a person a member, or welcome them again with what they bring. A person who is known as a rater keeps their
    version and configuration."""
    member, at = _check_role(connection, rater, role), microseconds()
    if find_rater(connection, rater) is None:
        introduce(connection, RaterRef(rater, Kind.PERSON))
    if member is None:
        number = select(raters.c.seq).where(raters.c.id == rater).scalar_subquery()
        values = {"joined": at, "seen": at, "share": share, "paused": 0, "training_over": 0}
        connection.execute(insert(members).values(rater=number, role=role, source=encode(source or {}), **values))
    else:
        brought = encode({**decode(member.source), **(source or {})})
        values = {"seen": at, "source": brought, "share": member.share if share is None else share}
        connection.execute(update(members).where(members.c.rater == member.rater).values(values))
    return member_row(connection, rater)


def member_from(row: Any) -> Member:
    flags = bool(row.paused), bool(row.training_over)
    return Member(row.id, row.role, moment(row.joined), moment(row.seen), row.share, *flags, decode(row.source))


def someone_else(rater: str) -> str:
    return f"the id {rater!r} belongs to another person here"


def _is_reserved(connection: Connection, rater: str) -> bool:
    """Whether a named invite reserves an id: nobody is to rate in the name of another."""
    reserved = select(invites.c.seq).where(invites.c.name == rater, invites.c.revoked.is_(None)).limit(1)
    return connection.execute(reserved).first() is not None


def _check_role(connection: Connection, rater: str, role: Role) -> Any:
    """Raise StudyError if a person of this id cannot have this role; returns their row if they are a member."""
    if not rater.strip() or len(rater) > LONGEST_NAME or not storable(rater):
        raise StudyError(
            f"{rater[:LONGEST_NAME]!r} cannot be a rater's id; it must have 1 to {LONGEST_NAME} characters that can be "
            "stored, not only blanks"
        )
    known = find_rater(connection, rater)
    if known is not None and known[1] is not Kind.PERSON:
        raise StudyError(f"{rater!r} is known as a {known[1]} and cannot rate as a person; choose another rater id")
    member = connection.execute(MEMBER, {"id": rater}).first()
    if member is not None and member.role != role:
        names = {"rater": "a rater", "adjudicator": "an adjudicator"}
        raise StudyError(f"{rater!r} is here as {names[member.role]} and cannot be {names[role]}; use another id")
    return member
