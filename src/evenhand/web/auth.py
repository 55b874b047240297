"""Who is asking: the dependencies that let people in, by the session in a cookie or by a token in the request.

A request with a bearer token is judged by that token alone: what a browser adds on its own, cookies, counts only where
the guard has checked that the request comes from our own page.
"""

from typing import Annotated

from fastapi import Depends, HTTPException, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from evenhand.store.people import Access
from evenhand.web.config import Config
from evenhand.web.desk import Desk
from evenhand.web.doorkeeper import Doorkeeper, Who

SIGN_IN = {
    "rater": "You are not signed in. Open your invite link again.",
    "adjudicator": "You are not signed in. Open your invite link again.",
    "owner": "You are not signed in as the study's owner. Sign in at /login.",
}


def desk_of(request: Request) -> Desk:
    """The study behind this page."""
    desk: Desk = request.app.state.desk
    return desk


def config_of(request: Request) -> Config:
    config: Config = request.app.state.config
    return config


def doorkeeper_of(request: Request) -> Doorkeeper:
    doorkeeper: Doorkeeper = request.app.state.doorkeeper
    return doorkeeper


def client_of(request: Request) -> str:
    """The address that the connection comes from; what a header says about it is not believed."""
    return request.client.host if request.client else ""


def bearer_of(authorization: str | None) -> str | None:
    """The token of an Authorization header. Other schemes are not for us: a proxy may ask for a password of its own."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


async def present(request: Request) -> list[Who]:
    """Everybody who this request speaks for: a browser may hold a rater's and the owner's session at once."""
    door, config = doorkeeper_of(request), config_of(request)
    token = bearer_of(request.headers.get("authorization"))
    if token is not None:
        who = await door.of_bearer(token, client_of(request))
        return [who] if who else []
    tokens = [(kind, request.cookies.get(config.cookie(kind))) for kind in ("rater", "owner")]
    found = [await door.of_session(token, kind) for kind, token in tokens if token]
    return [who for who in found if who is not None]


_rater_cookie = APIKeyCookie(
    name="evenhand_rater",
    scheme_name="rater session",
    auto_error=False,
    description="set by POST /api/session; requests that change something also need the header X-Evenhand: 1",
)
_owner_cookie = APIKeyCookie(
    name="evenhand_owner",
    scheme_name="owner session",
    auto_error=False,
    description="set by POST /api/session/owner; requests that change something also need the header X-Evenhand: 1",
)
_bearer = HTTPBearer(
    scheme_name="token",
    auto_error=False,
    description="the token of an invite with a name, for what its rater or adjudicator may do; the owner's password, "
    "or the token printed by `evenhand serve`, for what the owner may do",
)
_RaterCookie = Annotated[str | None, Security(_rater_cookie)]
_OwnerCookie = Annotated[str | None, Security(_owner_cookie)]
_Bearer = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]


async def a_rater(request: Request, _cookie: _RaterCookie = None, _token: _Bearer = None) -> Who:
    """Let raters in."""
    return await _one_of(request, "rater")


async def an_adjudicator(request: Request, _cookie: _RaterCookie = None, _token: _Bearer = None) -> Who:
    """Let adjudicators in."""
    return await _one_of(request, "adjudicator")


async def the_owner(request: Request, _cookie: _OwnerCookie = None, _token: _Bearer = None) -> Who:
    """Let the owner in."""
    return await _one_of(request, "owner")


async def adjudicator_or_owner(
    request: Request, _rater: _RaterCookie = None, _owner: _OwnerCookie = None, _token: _Bearer = None
) -> Who:
    """Let adjudicators in, and the owner; somebody who is both comes as adjudicator."""
    return await _one_of(request, "adjudicator", "owner")


Rater = Annotated[Who, Depends(a_rater)]
Adjudicator = Annotated[Who, Depends(an_adjudicator)]
Owner = Annotated[Who, Depends(the_owner)]
AdjudicatorOrOwner = Annotated[Who, Depends(adjudicator_or_owner)]


# FastAPI sends plain functions to a thread, which takes longer than all that they do.
async def _desk(request: Request) -> Desk:
    return desk_of(request)


async def _config(request: Request) -> Config:
    return config_of(request)


async def _doorkeeper(request: Request) -> Doorkeeper:
    return doorkeeper_of(request)


DeskOf = Annotated[Desk, Depends(_desk)]
ConfigOf = Annotated[Config, Depends(_config)]
Door = Annotated[Doorkeeper, Depends(_doorkeeper)]


async def _one_of(request: Request, *wanted: Access) -> Who:
    here = await present(request)
    for access in wanted:
        for who in here:
            if who.access == access:
                if who.rater is not None:
                    await doorkeeper_of(request).see(who.rater)
                return who
    if not here:
        raise HTTPException(401, SIGN_IN[wanted[0]], {"WWW-Authenticate": "Bearer"})
    raise HTTPException(403, f"This is for {_LISTED[wanted]}; you are signed in as {_signed_in(here)}.")


_LISTED: dict[tuple[Access, ...], str] = {
    ("rater",): "raters",
    ("adjudicator",): "adjudicators",
    ("owner",): "the study's owner",
    ("adjudicator", "owner"): "adjudicators and the study's owner",
}


def _signed_in(here: list[Who]) -> str:
    return " and ".join("the owner" if who.access == "owner" else f"{who.access} {who.rater}" for who in here)
