"""Who was let in, by which token, and for how long."""

import hmac
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import TypeVar

from fastapi import HTTPException, Request, Response

from evenhand.records import new_id, now
from evenhand.store.people import Access, Session
from evenhand.study import Study
from evenhand.web.config import Config
from evenhand.web.desk import Desk
from evenhand.web.limits import Failures

T = TypeVar("T")

LIVES = {"rater": timedelta(days=14), "adjudicator": timedelta(days=14), "owner": timedelta(hours=12)}
REMEMBERED = 4.0
"""Seconds for which an answer of the store is taken for granted: as late may a session of another process end."""
SEEN_EVERY = 60.0
KNOWN = 4096


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody who was let in. The owner has no rater id."""

    access: Access
    rater: str | None

    @property
    def name(self) -> str:
        """The rater id of somebody who has one."""
        assert self.rater is not None
        return self.rater


class Doorkeeper:
    """Knows for a few seconds whom it let in, so that a busy page does not ask the store at every click."""

    def __init__(self, config: Config, desk: Desk, clock: Callable[[], float] = time.monotonic) -> None:
        self.failures = Failures(clock=clock)
        self._config, self._desk, self._clock = config, desk, clock
        self._known: OrderedDict[str, tuple[float, Who | None]] = OrderedDict()
        self._seen: OrderedDict[str, float] = OrderedDict()

    def forget(self) -> None:
        """Ask the store again from now on: something was revoked."""
        self._known.clear()

    async def of_session(self, token: str, access: str) -> Who | None:
        """Whose session a cookie is."""
        stored = self._stored(token, access)
        return await self._remembered(f"session {_digest(stored)}", lambda: self._session(stored))

    async def of_bearer(self, token: str, client: str) -> Who | None:
        """Whose invite or password a token is. 429 after too many that were nobody's."""
        if self.is_run_token(token):
            return Who("owner", None)
        who = await self._remembered(f"invite {_digest(token)}", lambda: self._invited(token))
        if who is None and self.is_password(token, client):
            return Who("owner", None)
        if who is None:
            self.failed(client)
        return who

    def is_run_token(self, given: str) -> bool:
        token = self._config.run_token
        return token is not None and _same(given, token)

    def is_password(self, given: str, client: str) -> bool:
        """Whether this is the owner's password; 429 where the client guesses. Tokens are too long to be guessed, so
        that those who have one are never kept out by those who try."""
        password = self._config.owner_password
        if password is None:
            return False
        self._refuse_if_guessing(client)
        return _same(given, password.reveal())

    def failed(self, client: str) -> None:
        """Count a token or password that was nobody's; 429 where there were too many."""
        self._refuse_if_guessing(client)
        self.failures.note(client)

    def _refuse_if_guessing(self, client: str) -> None:
        wait = self.failures.wait(client)
        if wait:
            why = "There were too many tries that failed. Wait a minute, then try again."
            raise HTTPException(429, why, {"Retry-After": str(wait)})

    async def sign_in(self, response: Response, access: Access, rater: str | None, invite: str | None = None) -> None:
        """Open a session and put it into a cookie of the answer."""
        token, kind = token_urlsafe(32), "owner" if access == "owner" else "rater"
        session = Session(new_id(), access, rater, now(), now() + LIVES[access], invite)
        await self._desk.write(lambda study: study.store.people.open_session(session, self._stored(token, kind)))
        response.set_cookie(
            self._config.cookie(kind), token, max_age=int(LIVES[access].total_seconds()), path="/",
            secure=self._config.https, httponly=True, samesite="strict",
        )  # fmt: skip

    async def sign_out(self, request: Request, response: Response) -> None:
        """End the sessions of a browser."""
        for kind in ("rater", "owner"):
            token = request.cookies.get(self._config.cookie(kind))
            if token:
                stored = self._stored(token, kind)
                await self._desk.write(lambda study, stored=stored: study.store.people.close_session(stored))
                response.delete_cookie(
                    self._config.cookie(kind), path="/", secure=self._config.https, httponly=True, samesite="strict"
                )
        self.forget()

    async def see(self, rater: str) -> None:
        """Note that somebody is here, at most once a minute."""
        at = self._clock()
        if at - self._seen.get(rater, -SEEN_EVERY) >= SEEN_EVERY:
            _keep(self._seen, rater, at)
            await self._desk.write(lambda study: study.store.people.see(rater))

    def _stored(self, token: str, kind: str) -> str:
        """The token that the store knows. The owner's holds good with the password it was given for only."""
        if kind != "owner":
            return token
        password = self._config.owner_password
        return f"{token} {_digest(password.reveal() if password else self._config.run_token or '')}"

    async def _remembered(self, key: str, ask: Callable[[], Awaitable[Who | None]]) -> Who | None:
        until, who = self._known.get(key, (0.0, None))
        if self._clock() < until:
            return who
        who = await ask()
        if who is not None:
            _keep(self._known, key, (self._clock() + REMEMBERED, who))
        return who

    async def _session(self, token: str) -> Who | None:
        session = await self._desk.read(lambda study: study.store.people.session_of(token))
        return Who(session.access, session.rater) if session else None

    async def _invited(self, token: str) -> Who | None:
        invite = await self._desk.read(lambda study: study.store.people.invite_of(token))
        if invite is None or invite.name is None:
            return None
        name = invite.name

        def join(study: Study) -> None:
            if study.store.people.member(name) is None:
                study.store.people.join(invite, name, {})

        await self._desk.write(join)
        return Who(invite.role, name)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(_digest(one), _digest(other))


def _keep(known: OrderedDict[str, T], key: str, value: T) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > KNOWN:
        known.popitem(last=False)
