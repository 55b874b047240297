"""Signing in and out, and invites, as JSON."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Path, Request, Response
from pydantic import AfterValidator, Field, WithJsonSchema

from evenhand.errors import UserError
from evenhand.store.people.access import (
    INVITE_DAYS,
    MOST_SEATS,
    AccessLevel,
    Account,
    Invite,
    InviteState,
    Role,
    check_name,
    new_invite,
    someone_else,
    state_of,
)
from evenhand.web.errors import error_responses
from evenhand.web.schemas import ResponseModel, StrictRequest, view_of
from evenhand.web.sessions import Owner, ServicesOf

router = APIRouter(prefix="/api", tags=["access"])

PersonName = Annotated[str, Field(max_length=200), AfterValidator(check_name)]
PARTICIPANT_ID = r"^[A-Za-z0-9_-]{1,64}$"
NextPage = Literal["/rate", "/adjudicate", "/manage"]

BAD_LINK = (
    "This link does not work: it is incomplete, it was withdrawn, or it has expired. "
    "Ask the person who sent it for a new one."
)
ID_NEEDED = "This link is for a group. Enter the participant id that you were given."
WRONG_PASSWORD = "That is not the password. Try again."
OLD_LINK = "This link is from an earlier start of the server. Open the one that it printed last."


def _participant_id(text: str) -> str:
    if not re.fullmatch(PARTICIPANT_ID.removesuffix("$"), text):
        raise ValueError("an id has up to 64 letters, digits, - and _, and nothing else")
    return text


ParticipantId = Annotated[
    str, AfterValidator(_participant_id), WithJsonSchema({"type": "string", "pattern": PARTICIPANT_ID})
]


class ParticipantSource(StrictRequest):
    """What a crowdsourcing platform reports about a participant."""

    PROLIFIC_PID: ParticipantId | None = None
    STUDY_ID: ParticipantId | None = None
    SESSION_ID: ParticipantId | None = None
    id: ParticipantId | None = Field(default=None, description="the participant's own id, without a platform")


class JoinRequest(
    StrictRequest, json_schema_extra={"examples": [{"token": "the part of an invite link after /join/"}]}
):
    """Join, or come back, with an invite."""

    token: str = Field(min_length=1, max_length=200, description="the part of the invite link after /join/")
    source: ParticipantSource = Field(default=ParticipantSource(), description="who joins, if the invite has no name")


class Joined(ResponseModel):
    """Who is signed in now, and the page to go to."""

    access: Role
    rater: str
    next: NextPage


class OwnerRequest(StrictRequest, json_schema_extra={"examples": [{"password": "the owner's password"}]}):
    """Sign in as the owner."""

    password: str = Field(
        min_length=1, max_length=1000, description="the owner's password, or the token printed by `evenhand serve`"
    )


class SignedIn(ResponseModel):
    """The page to go to."""

    next: NextPage


class ActAsRequest(StrictRequest, json_schema_extra={"examples": [{"name": "dana", "role": "adjudicator"}]}):
    """Rate or adjudicate as the owner."""

    name: PersonName
    role: Role = "rater"


class Me(ResponseModel):
    """Who is signed in, and the title of the study."""

    access: list[AccessLevel]
    rater: str | None
    study: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteView(Invite):
    """An invite and whether it can be used.

    Without a `name` it is for a group: everyone brings an id. `share` is the maximum number of items per person, if it
    differs from the plan's. `joined` counts the people who used it.
    """

    state: InviteState


class InviteList(ResponseModel):
    """All invites, oldest first."""

    invites: list[InviteView]


class InviteRequest(StrictRequest, json_schema_extra={"examples": [{"name": "ann", "role": "rater", "days": 30}]}):
    """Invite one person by name, or a group with a number of seats."""

    name: PersonName | None = Field(default=None, description="the rater id; for a group, give seats instead")
    role: Role = "rater"
    share: int | None = Field(default=None, ge=1, le=10_000_000)
    days: float = Field(default=INVITE_DAYS, gt=0, le=3650)
    seats: int | None = Field(default=None, ge=1, le=MOST_SEATS)


class NewInvite(ResponseModel):
    """A new invite. Its link is shown only once, because only a digest of the token is stored."""

    invite: InviteView
    link: str


@router.post("/session", summary="Join, or come back, with the token of an invite", responses=error_responses(400))
def join(body: JoinRequest, request: Request, response: Response, services: ServicesOf) -> Joined:
    with services.read() as study:
        invite = study.store.people.access.find_invite(body.token)
    if invite is None:
        raise services.wrong_credential(request, BAD_LINK)
    rater = invite.name or body.source.PROLIFIC_PID or body.source.id
    if rater is None:
        raise HTTPException(422, {"error": ID_NEEDED, "problems": ["body.source: an id is missing"]})
    with services.write() as study:
        source = {} if invite.name else body.source.model_dump(exclude_none=True)
        member = study.store.people.access.join(invite, rater, source)
        services.sign_in(study, response, Account(member.role, member.rater), invite.id)
    return Joined(member.role, member.rater, _page(member.role))


@router.post("/session/owner", summary="Sign in as the study's owner", responses=error_responses(400))
def sign_in_owner(body: OwnerRequest, request: Request, response: Response, services: ServicesOf) -> SignedIn:
    if not services.is_owner(body.password):
        raise services.wrong_credential(request, WRONG_PASSWORD if services.config.owner_password else OLD_LINK)
    with services.write() as study:
        services.sign_in(study, response, Account("owner"))
    return SignedIn("/manage")


@router.post("/session/as", summary="Rate or adjudicate as the owner, under a name", responses=error_responses(400))
def act_as(body: ActAsRequest, _: Owner, response: Response, services: ServicesOf) -> SignedIn:
    with services.write() as study:
        if study.store.people.is_claimed(body.name):
            raise UserError(f"{someone_else(body.name)}; choose another name for yourself")
        member = study.store.people.admit(body.name, body.role)
        services.sign_in(study, response, Account(member.role, member.rater))
    return SignedIn(_page(member.role))


@router.delete("/session", summary="Sign out", status_code=204)
def sign_out(request: Request, response: Response, services: ServicesOf) -> None:
    with services.write() as study:
        services.sign_out(study, request, response)


@router.get("/me", summary="Get who is signed in")
def me(request: Request, services: ServicesOf) -> Me:
    """If nobody is signed in, `access` is empty. A token that is sent must be valid."""
    accounts = services.accounts(request)
    with services.read() as study:
        title = study.protocol.title
    rater = next((account.name for account in accounts if account.name), None)
    return Me([account.access for account in accounts], rater, title)


@router.get("/invites", summary="List all invites, oldest first")
def list_invites(_: Owner, services: ServicesOf) -> InviteList:
    with services.read() as study:
        return InviteList([_view(invite) for invite in study.store.people.access.invites()])


@router.post("/invites", summary="Create an invite", status_code=201, responses=error_responses(400))
def add_invite(body: InviteRequest, _: Owner, services: ServicesOf) -> NewInvite:
    invite, token = new_invite(body.name, body.role, share=body.share, days=body.days, seats=body.seats)
    with services.write() as study:
        study.store.people.access.add_invite(invite, token)
    return NewInvite(_view(invite), f"{services.config.url}/join/{token}")


@router.delete(
    "/invites/{invite_id}", summary="Withdraw an invite and end its sessions", status_code=204,
    responses=error_responses(404),
)  # fmt: skip
def revoke_invite(invite_id: Annotated[str, Path()], _: Owner, services: ServicesOf) -> None:
    with services.write() as study:
        if not study.store.people.access.revoke_invite(invite_id):
            raise HTTPException(404, "There is no such invite that could be withdrawn.")


def _view(invite: Invite) -> InviteView:
    return view_of(InviteView, invite, state=state_of(invite))


def _page(role: Role) -> NextPage:
    return "/adjudicate" if role == "adjudicator" else "/rate"
