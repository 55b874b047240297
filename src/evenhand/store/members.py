"""Members: the people who may rate or adjudicate at the page."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from evenhand.errors import StudyError
from evenhand.records import Kind, RaterRef
from evenhand.store.people import Member, Role
from evenhand.store.raters import find_rater, introduce
from evenhand.store.rows import decode, encode, moment, storable
from evenhand.store.schema import invites, joins, members, raters

LONGEST_NAME = 200

_MEMBERS = select(raters.c.id, members).join(raters, raters.c.seq == members.c.rater)
_ONE = _MEMBERS.where(raters.c.id == bindparam("id"))
_SEE = update(members).where(members.c.rater == bindparam("of_rater")).values(seen=bindparam("now"))


def check_name(location: str, rater: str) -> None:
    """Raise StudyError where nobody can be called so."""
    if not rater.strip() or len(rater) > LONGEST_NAME or not storable(rater):
        raise StudyError(
            f"{location}: {rater[:LONGEST_NAME]!r} cannot be a rater's id; it must have 1 to {LONGEST_NAME} "
            "characters that can be stored, not only blanks"
        )


def check_role(connection: Connection, location: str, rater: str, role: Role) -> None:
    """Raise StudyError where somebody of this id cannot have this role."""
    check_name(location, rater)
    known = find_rater(connection, rater)
    if known is not None and known[1] is not Kind.PERSON:
        raise StudyError(
            f"{location}: {rater!r} is known as a {known[1]} and cannot rate as a person; choose another rater id"
        )
    member = read_member(connection, rater)
    if member is not None and member.role != role:
        raise StudyError(f"{location}: {rater!r} is here as {_a(member.role)} and cannot be {_a(role)}; use another id")


def _a(role: Role) -> str:
    return f"an {role}" if role == "adjudicator" else f"a {role}"


def read_members(connection: Connection) -> Sequence[Member]:
    """Every member, in the order in which they joined."""
    rows = connection.execute(_MEMBERS.order_by(members.c.joined, members.c.rater))
    return [_member(row) for row in rows]


def read_member(connection: Connection, rater: str) -> Member | None:
    row = connection.execute(_ONE, {"id": rater}).first() if storable(rater) else None
    return None if row is None else _member(row)


def _member(row: Any) -> Member:
    rater, _, role, joined, seen, share, paused, training_over, source = row
    times = moment(joined), moment(seen)
    return Member(rater, role, *times, share, bool(paused), bool(training_over), decode(source))


def enter(
    connection: Connection,
    location: str,
    rater: str,
    role: Role,
    *,
    share: int | None,
    source: Mapping[str, str],
    now: int,
) -> int:
    """Make somebody a member, or greet them again with what they bring; their number."""
    check_role(connection, location, rater, role)
    known = find_rater(connection, rater)
    if known is None:
        introduce(connection, location, RaterRef(rater, Kind.PERSON))
        known = find_rater(connection, rater)
        assert known is not None
    number = known[0]
    member = read_member(connection, rater)
    if member is None:
        values: dict[str, object] = {"rater": number, "role": role, "joined": now, "seen": now, "share": share}
        values |= {"paused": 0, "training_over": 0, "source": encode(dict(source))}
        connection.execute(insert(members).values(values))
        return number
    values = {"seen": now, "source": encode({**member.source, **source})}
    if share is not None:
        values["share"] = share
    connection.execute(update(members).where(members.c.rater == number).values(values))
    return number


def number_of(connection: Connection, location: str, rater: str) -> int:
    """A member's number; StudyError where there is no such member."""
    query = select(members.c.rater).join(raters, raters.c.seq == members.c.rater).where(raters.c.id == rater)
    number = connection.execute(query).scalar() if storable(rater) else None
    if number is None:
        raise StudyError(f"{location}: {rater!r} is no member of this study; invite them first")
    return number


def see(connection: Connection, number: int, now: int) -> None:
    connection.execute(_SEE, {"of_rater": number, "now": now})


def brought_own_id(connection: Connection, number: int) -> bool:
    """Whether somebody joined by an invite without a name, under an id of their own."""
    query = select(joins.c.invite).join(invites, invites.c.seq == joins.c.invite)
    return (
        connection.execute(query.where(joins.c.rater == number, invites.c.name.is_(None)).limit(1)).first() is not None
    )
