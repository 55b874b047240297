"""`evenhand invite`: links by which people join a study."""

import json
import os
from collections.abc import Sequence

import click

from evenhand.cli.opening import open_study
from evenhand.errors import UserError, counted, some_of
from evenhand.records import now
from evenhand.settings import Settings
from evenhand.store.people import Invite, Role
from evenhand.study import Study
from evenhand.web.config import PORT, check_url
from evenhand.web.invites import DAYS, MOST_SEATS, PROLIFIC, check_name, join_link, new_invite, state_of


@click.command("invite")
@click.argument("study", metavar="STUDY")
@click.option("--name", help="The rater id of the person to invite.")
@click.option("--open", "for_many", is_flag=True, help="Invite a group instead: each brings an id of their own.")
@click.option("--seats", type=click.IntRange(1, MOST_SEATS), help="With --open: the most people who may join.")
@click.option("--role", type=click.Choice(["rater", "adjudicator"]), default="rater", show_default=True,
              help="An adjudicator settles what raters disagree on.")  # fmt: skip
@click.option("--items", "share", type=click.IntRange(min=1), help="The most items for each, instead of the plan's.")
@click.option("--days", type=click.IntRange(1, 3650), default=DAYS, show_default=True, help="How long the link works.")
@click.option("--url", help=f"The address of the page, if not http://127.0.0.1:{PORT}; or set EVENHAND_URL.")
@click.option("--list", "listing", is_flag=True, help="List the invites.")
@click.option("--revoke", metavar="ID-OR-NAME", help="Withdraw an invite and end its sessions; ratings stay.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    study: str, name: str | None, for_many: bool, seats: int | None, role: Role, share: int | None, days: int,
    url: str | None, listing: bool, revoke: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Make a link by which somebody joins STUDY as a rater.

    The link is shown once. It works on any device until it is withdrawn or its days are over.
    """
    if sum((name is not None, for_many, listing, revoke is not None)) != 1:
        raise UserError("say what to do with one of --name NAME, --open --seats N, --list, --revoke ID-OR-NAME")
    if for_many != (seats is not None):
        raise UserError("a link for a group takes both --open and --seats N")
    with open_study(study) as opened:
        if listing:
            _list(opened.store.people.invites(), as_json)
        elif revoke is not None:
            _revoke(opened, revoke, as_json)
        else:
            address = _address(url)
            invite, token = new_invite(_checked(name), role, share=share, days=days, seats=seats)
            opened.store.people.add_invite(invite, token)
            _tell(invite, join_link(address, token), as_json)


def _checked(name: str | None) -> str | None:
    try:
        return None if name is None else check_name(name)
    except ValueError as error:
        raise UserError(f"--name {name!r}: {error}") from error


def _address(url: str | None) -> str:
    url = url or Settings.from_environment(os.environ).url
    return check_url(url) if url else f"http://127.0.0.1:{PORT}"


def _tell(invite: Invite, link: str, as_json: bool) -> None:
    if as_json:
        _print({"invite": _document(invite), "link": link})
        return
    if invite.name is None:
        seats = "1 person" if invite.seats == 1 else f"{invite.seats:,} people"
        click.echo(f"{link}\n\nfor up to {seats}, {_until(invite)}. Everybody is asked for an id of their own.")
        click.echo(f"On Prolific nobody is asked if this stands behind the link:\n  {PROLIFIC}")
    else:
        click.echo(f"{link}\n\nfor {invite.name}, {_until(invite)}. Whoever has the link rates under this name.")
    click.echo("It is shown this once: only its digest is stored.")
    if "://127.0.0.1" in link:
        click.echo("It works on this machine only; with --url or EVENHAND_URL it leads to where others reach the page.")


def _until(invite: Invite) -> str:
    return "without an end" if invite.expires is None else f"until {invite.expires:%Y-%m-%d %H:%M} UTC"


def _list(invites: Sequence[Invite], as_json: bool) -> None:
    if as_json:
        _print({"invites": [_document(invite) for invite in invites]})
        return
    for invite in invites:
        who = invite.name if invite.name is not None else f"a group, {invite.joined} of {invite.seats} joined"
        state = state_of(invite, now())
        ends = f", {_until(invite)}" if state in ("open", "full") else ""
        click.echo(f"{invite.id}  {invite.role}  {who}: {state}{ends}")
    if not invites:
        click.echo("nobody has been invited yet")


def _revoke(study: Study, which: str, as_json: bool) -> None:
    invites = study.store.people.invites()
    found = [one for one in invites if one.revoked is None and which in (one.id, one.name)]
    if not found:
        there = [one.name or one.id for one in invites if one.revoked is None]
        raise UserError(f"there is no invite {which!r} to withdraw; there are: {some_of(there) or 'none'}")
    for invite in found:
        study.store.people.revoke_invite(invite.id)
    if as_json:
        _print({"revoked": [invite.id for invite in found]})
        return
    click.echo(f"{counted(len(found), 'invite')} withdrawn; sessions that came from it are ended, ratings stay")


def _document(invite: Invite) -> dict[str, object]:
    return {
        "id": invite.id,
        "role": invite.role,
        "name": invite.name,
        "seats": invite.seats,
        "share": invite.share,
        "created": invite.created.isoformat(),
        "expires": invite.expires.isoformat() if invite.expires else None,
        "revoked": invite.revoked.isoformat() if invite.revoked else None,
        "joined": invite.joined,
        "state": state_of(invite, now()),
    }


def _print(document: dict[str, object]) -> None:
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))
