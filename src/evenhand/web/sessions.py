"""Who a request comes from: session cookies, bearer tokens, and the owner's password."""

import hmac
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from secrets import token_urlsafe
from threading import Lock
from typing import Literal

from fastapi import HTTPException, Request, Response

from evenhand.records import new_id, now
from evenhand.store.people.access import AccessLevel, Session
from evenhand.study import Study
from evenhand.web.config import Config
from evenhand.web.database import StudyPool
from evenhand.web.middleware import bearer_token

LIFETIMES = {"rater": timedelta(days=14), "adjudicator": timedelta(days=14), "owner": timedelta(hours=12)}
SEEN_EVERY = 60.0
"""Seconds between two notes of when a member was last active."""
MINUTE = 60.0

CookieKind = Literal["rater", "owner"]
"""A browser may have a rater's (or adjudicator's) session and the owner's at the same time."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who is signed in: a rater or adjudicator with their id, or the owner, who has none."""

    access: AccessLevel
    name: str = ""

    @property
    def rater(self) -> str | None:
        return self.name or None


class FailedAttempts:
    """The failed attempts of the last minute, per client and in total."""

    def __init__(self, per_client: int = 10, total: int = 100, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_client, self._total, self._clock = per_client, total, clock
        self._recent: deque[tuple[float, str]] = deque(maxlen=max(total, 1))
        self._lock = Lock()

    def wait(self, client: str) -> int:
        """The seconds until this client may try again, 0 if it may now."""
        with self._lock:
            now = self._clock()
            while self._recent and now - self._recent[0][0] >= MINUTE:
                self._recent.popleft()
            own = [at for at, other in self._recent if other == client]
            oldest: list[float] = []
            if len(own) >= self._per_client:
                oldest.append(own[-self._per_client])
            if len(self._recent) >= self._total:
                oldest.append(self._recent[-self._total][0])
            return max((max(1, math.ceil(MINUTE - (now - at))) for at in oldest), default=0)

    def add(self, client: str) -> None:
        with self._lock:
            self._recent.append((self._clock(), client))


class Sessions:
    """Verifies tokens and opens and closes sessions."""

    def __init__(self, config: Config, database: StudyPool, clock: Callable[[], float] = time.monotonic) -> None:
        self._config, self._database, self._clock = config, database, clock
        self._failures = FailedAttempts(clock=clock)
        self._seen: dict[str, float] = {}
        self._cookies: dict[CookieKind, str] = {"rater": config.cookie("rater"), "owner": config.cookie("owner")}

    def accounts(self, request: Request) -> list[Account]:
        """Everyone that a request is signed in as: by its bearer token alone if it has one, otherwise by cookies."""
        token = bearer_token(request.headers.get("authorization"))
        if token is not None:
            account = self.verify_bearer(token, client_of(request))
            return [account] if account else []
        accounts: list[Account] = []
        for kind, name in self._cookies.items():
            token = request.cookies.get(name)
            account = self.verify(token, kind) if token else None
            if account is not None:
                accounts.append(account)
        return accounts

    def verify(self, token: str, kind: CookieKind) -> Account | None:
        """Whose session a cookie belongs to."""
        with self._database.read() as study:
            session = study.store.people.access.find_session(self._stored(token, kind))
        return Account(session.access, session.rater or "") if session else None

    def verify_bearer(self, token: str, client: str) -> Account | None:
        """Whose invite or password a token is; 429 after too many failed attempts."""
        if self.is_run_token(token):
            return Account("owner")
        account = self._invited(token)
        if account is None and self.is_password(token, client):
            return Account("owner")
        if account is None:
            self.record_failure(client)
        return account

    def is_run_token(self, given: str) -> bool:
        token = self._config.run_token
        return token is not None and _equal(given, token)

    def is_password(self, given: str, client: str) -> bool:
        """Whether this is the owner's password; 429 if the client seems to guess.

        Tokens are too long to be guessed, so people who have one are never locked out by others who guess.
        """
        password = self._config.owner_password
        if password is None:
            return False
        self._reject_guessing(client)
        return _equal(given, password.reveal())

    def record_failure(self, client: str) -> None:
        """Count a wrong token or password; 429 if there were too many."""
        self._reject_guessing(client)
        self._failures.add(client)

    def sign_in(
        self, study: Study, response: Response, access: AccessLevel, rater: str | None, invite: str | None = None
    ) -> None:
        """Open a session and put it into a cookie."""
        kind: CookieKind = "owner" if access == "owner" else "rater"
        token, lifetime = token_urlsafe(32), LIFETIMES[access]
        session = Session(new_id(), access, rater, now(), now() + lifetime, invite)
        study.store.people.access.open_session(session, self._stored(token, kind))
        response.set_cookie(
            self._cookies[kind], token, max_age=int(lifetime.total_seconds()), path="/",
            secure=self._config.https, httponly=True, samesite="strict",
        )  # fmt: skip

    def sign_out(self, study: Study, request: Request, response: Response) -> None:
        """Close the sessions of a browser."""
        for kind, name in self._cookies.items():
            token = request.cookies.get(name)
            if token:
                study.store.people.access.close_session(self._stored(token, kind))
                response.delete_cookie(name, path="/", secure=self._config.https, httponly=True, samesite="strict")

    def note_activity(self, rater: str) -> None:
        """Store that a member is active, at most once a minute."""
        at = self._clock()
        if at - self._seen.get(rater, -SEEN_EVERY) >= SEEN_EVERY:
            self._seen[rater] = at
            with self._database.write() as study:
                study.store.people.seen(rater)

    def _stored(self, token: str, kind: CookieKind) -> str:
        """The token as the store knows it. The owner's is valid only with the password that it was issued for."""
        if kind != "owner":
            return token
        password = self._config.owner_password
        return f"{token} {_digest(password.reveal() if password else self._config.run_token or '')}"

    def _invited(self, token: str) -> Account | None:
        """The rater or adjudicator of a named invite, who joins with the first request."""
        with self._database.read() as study:
            people = study.store.people
            invite = people.access.find_invite(token)
            if invite is None or invite.name is None:
                return None
            joined = people.member(invite.name) is not None
        if not joined:
            with self._database.write() as study:
                study.store.people.access.join(invite, invite.name, {})
        return Account(invite.role, invite.name)

    def _reject_guessing(self, client: str) -> None:
        wait = self._failures.wait(client)
        if wait:
            message = "There were too many failed attempts. Wait a minute, then try again."
            raise HTTPException(429, message, {"Retry-After": str(wait)})


def client_of(request: Request) -> str:
    """The address that the connection comes from; headers about it are not trusted."""
    return request.client.host if request.client else ""


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(_digest(one), _digest(other))
