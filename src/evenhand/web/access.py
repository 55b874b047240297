"""Signing in and out, and invites, as JSON."""

import re
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from evenhand.errors import StudyError
from evenhand.records import now
from evenhand.store.people import Access, Invite, Member, Role
from evenhand.study import Study
from evenhand.web.auth import ConfigOf, DeskOf, Door, Owner, bearer_of, client_of, present
from evenhand.web.faults import refusals
from evenhand.web.invites import DAYS, MOST_SEATS, State, check_name, join_link, new_invite, state_of

router = APIRouter()

Name = Annotated[str, Field(max_length=200), AfterValidator(check_name)]
OWN_ID = r"^[A-Za-z0-9_-]{1,64}$"
Next = Literal["/rate", "/adjudicate", "/manage"]

BAD_LINK = (
    "This link does not work: it was not copied whole, or it was withdrawn, or its time is over. "
    "Ask whoever sent it for a new one."
)
WHICH_ID = "This link is for a group. Enter the participant id that you were given."
TAKEN = "Somebody else goes by this id here. Check that it is yours; if it is, ask whoever sent the link."


def _own_id(text: str) -> str:
    if not re.fullmatch(OWN_ID.removesuffix("$"), text):
        raise ValueError("an id has up to 64 letters, digits, - and _, and nothing else")
    return text


OwnId = Annotated[str, AfterValidator(_own_id), WithJsonSchema({"type": "string", "pattern": OWN_ID})]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Source(Body):
    """What a crowd platform hands over about a participant."""

    PROLIFIC_PID: OwnId | None = None
    STUDY_ID: OwnId | None = None
    SESSION_ID: OwnId | None = None
    id: OwnId | None = Field(default=None, description="an id of the participant's own, where no platform gives one")


class Joining(Body):
    token: str = Field(min_length=1, max_length=200, description="the part of the invite link after /join/")
    source: Source = Field(default=Source(), description="for an invite without a name: who joins")


class Joined(BaseModel):
    access: Role
    rater: str
    next: Next = Field(description="the page to go to")


class OwnerSignIn(Body):
    password: str = Field(min_length=1, max_length=1000, description="the owner's password, or this run's token")


class SignedIn(BaseModel):
    next: Next


class Acting(Body):
    name: Name
    role: Role = "rater"


class Me(BaseModel):
    access: list[Access]
    rater: str | None
    study: str = Field(description="the study's title")


class InviteOut(BaseModel):
    id: str
    role: Role
    name: str | None = Field(description="the rater id; none: for anybody who brings an id of their own")
    seats: int
    share: int | None = Field(description="the most items for each person, instead of the plan's")
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    joined: int = Field(description="how many people came with it")
    state: State

    @classmethod
    def of(cls, invite: Invite, at: datetime) -> "InviteOut":
        return cls(
            id=invite.id, role=invite.role, name=invite.name, seats=invite.seats, share=invite.share,
            created=invite.created, expires=invite.expires, revoked=invite.revoked, joined=invite.joined,
            state=state_of(invite, at),
        )  # fmt: skip


class Invites(BaseModel):
    invites: list[InviteOut]


class Inviting(Body):
    name: Name | None = Field(default=None, description="the rater id; leave it out, and give seats, for a group")
    role: Role = "rater"
    share: int | None = Field(default=None, ge=1, le=10_000_000)
    days: float = Field(default=DAYS, gt=0, le=3650)
    seats: int | None = Field(default=None, ge=1, le=MOST_SEATS)


class Invited(BaseModel):
    invite: InviteOut
    link: str = Field(description="shown this once: only a digest of its token is kept")


@router.post("/api/session", tags=["access"], summary="Join or come back with an invite's token")
async def join(body: Joining, request: Request, response: Response, desk: DeskOf, door: Door) -> Joined:
    invite = await desk.read(lambda study: study.store.people.invite_of(body.token))
    if invite is None:
        door.failed(client_of(request))
        raise HTTPException(401, BAD_LINK)
    rater = invite.name or body.source.PROLIFIC_PID or body.source.id
    if rater is None:
        raise HTTPException(422, {"error": WHICH_ID, "problems": ["body.source: an id is missing"]})
    member = await desk.write(lambda study: _admit(study, invite, rater, body.source))
    await door.sign_in(response, member.role, member.rater, invite.id)
    return Joined(access=member.role, rater=member.rater, next=_page(member.role))


@router.post("/api/session/owner", tags=["access"], summary="Sign in as the study's owner")
async def sign_in_owner(
    body: OwnerSignIn, request: Request, response: Response, config: ConfigOf, door: Door
) -> SignedIn:
    client = client_of(request)
    if not door.is_run_token(body.password) and not door.is_password(body.password, client):
        door.failed(client)
        wrong = "That is not the password. Try again."
        old = "This link is from an earlier start of the server. Open the one that it printed last."
        raise HTTPException(401, wrong if config.owner_password else old)
    await door.sign_in(response, "owner", None)
    return SignedIn(next="/manage")


@router.post("/api/session/as", tags=["access"], summary="Rate or adjudicate as the owner, under a name")
async def act_as(body: Acting, owner: Owner, response: Response, desk: DeskOf, door: Door) -> SignedIn:
    member = await desk.write(lambda study: study.store.people.add_member(body.name, body.role))
    await door.sign_in(response, member.role, member.rater)
    return SignedIn(next=_page(member.role))


@router.delete("/api/session", tags=["access"], summary="Sign out", status_code=204)
async def sign_out(request: Request, response: Response, door: Door) -> None:
    await door.sign_out(request, response)


@router.get("/api/me", tags=["access"], summary="Who is signed in in this browser")
async def me(request: Request, desk: DeskOf) -> Me:
    """Nobody is signed in: an empty list. A token that is sent must be a right one."""
    here = await present(request)
    if not here and bearer_of(request.headers.get("authorization")) is not None:
        raise HTTPException(401, "This token is not valid, or its time is over.", {"WWW-Authenticate": "Bearer"})
    title = await desk.read(lambda study: study.protocol.title)
    rater = next((who.rater for who in here if who.rater is not None), None)
    return Me(access=[who.access for who in here], rater=rater, study=title)


@router.get("/api/invites", tags=["access"], summary="Every invite, oldest first")
async def list_invites(owner: Owner, desk: DeskOf) -> Invites:
    found = await desk.read(lambda study: study.store.people.invites())
    return Invites(invites=[InviteOut.of(invite, now()) for invite in found])


@router.post("/api/invites", tags=["access"], summary="Make an invite", status_code=201)
async def add_invite(body: Inviting, owner: Owner, desk: DeskOf, config: ConfigOf) -> Invited:
    invite, token = new_invite(body.name, body.role, share=body.share, days=body.days, seats=body.seats)
    await desk.write(lambda study: study.store.people.add_invite(invite, token))
    return Invited(invite=InviteOut.of(invite, now()), link=join_link(config.url, token))


@router.delete(
    "/api/invites/{invite_id}", tags=["access"], summary="Withdraw an invite and end its sessions", status_code=204,
    responses=refusals(404),
)  # fmt: skip
async def revoke_invite(invite_id: str, owner: Owner, desk: DeskOf, door: Door) -> None:
    revoked = await desk.write(lambda study: study.store.people.revoke_invite(invite_id))
    door.forget()
    if not revoked:
        raise HTTPException(404, "There is no such invite that could be withdrawn.")


def _admit(study: Study, invite: Invite, rater: str, source: Source) -> Member:
    """Let somebody join. With a link for a group nobody may take the name of a rater who came another way."""
    people = study.store.people
    if invite.name is not None:
        return people.join(invite, rater, {})
    member = people.member(rater)
    theirs = member.source.get("invite") == invite.id if member else rater not in {one.id for one in study.raters()}
    if not theirs:
        raise StudyError(TAKEN)
    return people.join(invite, rater, {**source.model_dump(exclude_none=True), "invite": invite.id})


def _page(role: Role) -> Next:
    return "/adjudicate" if role == "adjudicator" else "/rate"
