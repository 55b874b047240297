"""Invites: links with which people join. The token appears once, in the link; only its digest is stored."""

from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Literal

from evenhand.errors import UserError
from evenhand.records import new_id, now
from evenhand.store.people.access import Invite, Role

DAYS = 30
MOST_SEATS = 10_000

InviteState = Literal["open", "full", "expired", "revoked"]

PROLIFIC = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""The query that Prolific fills in, so that the participant's id becomes the rater id."""


def new_invite(
    name: str | None, role: Role = "rater", *, share: int | None = None, days: float = DAYS, seats: int | None = None
) -> tuple[Invite, str]:
    """An invite and its token: for one person with a name, or for a group with a number of seats."""
    if name is None and seats is None:
        raise UserError("an invite needs the name of one person, or the number of seats for several")
    if name is not None and seats not in (None, 1):
        raise UserError("an invite with a name is for one person: omit the seats, or the name")
    if name is None and role != "rater":
        raise UserError("an adjudicator must be invited by name")
    made = now()
    invite = Invite(new_id(), role, name, seats or 1, share, made, made + timedelta(days=days))
    return invite, token_urlsafe(32)


def join_link(url: str, token: str) -> str:
    return f"{url}/join/{token}"


def state_of(invite: Invite, at: datetime) -> InviteState:
    """Whether an invite can be used. One with a name is never full: the person may use another device."""
    if invite.revoked is not None:
        return "revoked"
    if invite.expires is not None and invite.expires <= at:
        return "expired"
    return "full" if invite.name is None and invite.joined >= invite.seats else "open"


def check_name(name: str) -> str:
    """A rater id as it is stored; ValueError if it is not valid."""
    name = name.strip()
    if not name or len(name) > 100:
        raise ValueError("a name has 1 to 100 characters")
    if not name.isprintable():
        raise ValueError("a name contains only printable characters and no line breaks")
    return name
