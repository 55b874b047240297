"""What routes depend on: the services of the application, and who is signed in."""

import itertools
import math
import time
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from evenhand.store.people.access import AccessLevel, Account
from evenhand.web.sessions import Services

SEEN_EVERY = 60.0
"""Seconds between two notes of when a member was last active."""


# Asynchronous, although it waits for nothing: FastAPI would run a plain function in a thread.
async def services_of(request: Request) -> Services:
    """The services of the application that received this request."""
    services: Services = request.app.state.services
    return services


ServicesOf = Annotated[Services, Depends(services_of)]


def accounts_of(request: Request, services: ServicesOf) -> list[Account]:
    """Everyone that this request is signed in as."""
    return services.accounts(request)


Accounts = Annotated[list[Account], Depends(accounts_of)]


def _cookie(kind: str, route: str) -> APIKeyCookie:
    note = f"set by POST {route}; requests that change something also need the header X-Evenhand: 1"
    return APIKeyCookie(name=f"evenhand_{kind}", scheme_name=f"{kind} session", auto_error=False, description=note)


_rater_cookie, _owner_cookie = _cookie("rater", "/api/session"), _cookie("owner", "/api/session/owner")
_bearer = HTTPBearer(
    scheme_name="token",
    auto_error=False,
    description="the token of an invite with a name, for what its rater or adjudicator may do; the owner's password, "
    "or the token printed by `evenhand serve`, for what the owner may do",
)

_GROUPS = {"rater": "raters", "adjudicator": "adjudicators", "owner": "the study's owner"}
_INVITED = "You are not signed in. Open your invite link again."
_OWNER = "You are not signed in as the study's owner. Sign in at /login."


def signed(
    allowed: SecurityScopes,
    request: Request,
    services: ServicesOf,
    _rater: Annotated[str | None, Security(_rater_cookie)] = None,
    _owner: Annotated[str | None, Security(_owner_cookie)] = None,
    _token: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)] = None,
) -> Account:
    """The account with the first of the allowed kinds of access; 401 or 403 if there is none."""
    accounts = services.accounts(request)
    for access, account in itertools.product(allowed.scopes, accounts):
        if account.access != access:
            continue
        at = time.monotonic()
        if account.name and at - services.seen.get(account.name, -math.inf) >= SEEN_EVERY:
            services.seen[account.name] = at
            with services.write() as study:
                study.store.people.seen(account.name)
        return account
    if not accounts:
        raise HTTPException(401, _OWNER if allowed.scopes[0] == "owner" else _INVITED, {"WWW-Authenticate": "Bearer"})
    groups = " and ".join(_GROUPS[access] for access in allowed.scopes)
    names = " and ".join(f"{one.access} {one.name}" if one.name else "the owner" for one in accounts)
    raise HTTPException(403, f"This is for {groups}; you are signed in as {names}.")


def Signed(*access: AccessLevel) -> Any:
    """A dependency that admits these kinds of access, preferring the first: `Annotated[Account, Signed("owner")]`."""
    return Security(signed, scopes=access)


Rater = Annotated[Account, Signed("rater")]
Adjudicator = Annotated[Account, Signed("adjudicator")]
Owner = Annotated[Account, Signed("owner")]
AdjudicatorOrOwner = Annotated[Account, Signed("adjudicator", "owner")]
