"""Invites: links by which people join. Pure; the token is seen once, in the link, and stored as a digest only."""

from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Literal

from evenhand.errors import UserError
from evenhand.records import new_id, now
from evenhand.store.people import Invite, Role

DAYS = 30
MOST_SEATS = 10_000

State = Literal["open", "full", "expired", "revoked"]

PROLIFIC = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""What Prolific fills in behind a link, so that the rater id is the participant's."""


def new_invite(
    name: str | None, role: Role = "rater", *, share: int | None = None, days: float = DAYS, seats: int | None = None
) -> tuple[Invite, str]:
    """An invite and its token: for one person with a name, or for as many as there are seats."""
    if name is None and seats is None:
        raise UserError("an invite needs the name of one person, or the number of seats for several")
    if name is not None and seats not in (None, 1):
        raise UserError("an invite with a name is for one person: leave the seats out, or the name")
    if name is None and role != "rater":
        raise UserError("an adjudicator is invited by name")
    made = now()
    invite = Invite(new_id(), role, name, seats or 1, share, made, made + timedelta(days=days))
    return invite, token_urlsafe(32)


def join_link(url: str, token: str) -> str:
    return f"{url}/join/{token}"


def state_of(invite: Invite, at: datetime) -> State:
    """What an invite is good for by now. One with a name is never full: its person may come from another device."""
    if invite.revoked is not None:
        return "revoked"
    if invite.expires is not None and invite.expires <= at:
        return "expired"
    return "full" if invite.name is None and invite.joined >= invite.seats else "open"


def check_name(name: str) -> str:
    """A rater id as it is stored; ValueError where it cannot be one."""
    name = name.strip()
    if not name or len(name) > 100:
        raise ValueError("a name has 1 to 100 characters")
    if not name.isprintable():
        raise ValueError("a name holds characters that can be seen, and no line breaks")
    return name
