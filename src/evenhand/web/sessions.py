"""The study behind the page, and who is signed in to it: by session cookie, bearer token or the owner's password.

Routes depend on `ServicesOf`, and on `Rater`, `Adjudicator` or `Owner` if only those may call them.
"""

import hmac
import itertools
import math
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from hashlib import sha256
from queue import SimpleQueue
from secrets import token_urlsafe
from threading import Lock
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request, Response, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from evenhand.errors import StudyError
from evenhand.store.people.access import Account
from evenhand.store.store import Store, open_store
from evenhand.study import Study
from evenhand.text import masked
from evenhand.web.cache import Cache
from evenhand.web.config import Config
from evenhand.web.errors import LOG
from evenhand.web.middleware import BUSY, bearer_token
from evenhand.web.rate_limit import RateLimit

LIFETIMES = {"rater": timedelta(days=14), "adjudicator": timedelta(days=14), "owner": timedelta(hours=12)}
MINUTE = 60.0
READERS = 3
"""Connections that only read."""
SEEN_EVERY = 60.0
"""Seconds between two notes of when a member was last active."""
PATIENCE = 15.0
"""Seconds that a request waits for other writers; the page gives up after 20."""
SPARE_PATIENCE = 1.0
"""Seconds that something waits for other writers that may as well be written another time."""
PROBE_EVERY = 0.5
"""Seconds between two attempts to find out whether the study can be written."""


class Services:
    """The study, results computed from it, and who is signed in. Made when the application starts.

    `with services.read() as study:` and `with services.write() as study:` lend one of several connections, which one
    thread uses at a time. Reads run in parallel. Writes of this process run one after another, so that they do not wait
    for each other at the database. Do not nest the two in one thread.

    A browser may have a rater's (or adjudicator's) session and the owner's at the same time, each in its own cookie.
    """

    def __init__(self, config: Config) -> None:
        self._lock = Lock()
        self._free: SimpleQueue[Study] = SimpleQueue()
        with ExitStack() as opened:
            stores = [opened.enter_context(open_store(config.location, patience=PATIENCE)) for _ in range(READERS + 1)]
            self._spare = opened.enter_context(open_store(config.location, patience=SPARE_PATIENCE))
            self._close = opened.pop_all().close
        self._stores, self._patience = (*stores, self._spare), PATIENCE
        self._writer, *readers = map(Study, stores)
        for study in readers:
            self._free.put(study)
        self._spare_lock, self._healthy, self._probed = Lock(), True, -math.inf
        self.config, self.cache, self.seen = config, Cache(self.read), dict[str, float]()
        self.shown: dict[tuple[str, str], set[str]] = {}
        """Whose ratings each adjudicator was shown, by adjudicator and unit."""
        self._logged = RateLimit(1 / MINUTE, 1)
        self._client_failures, self._all_failures = RateLimit(10 / MINUTE, 10), RateLimit(100 / MINUTE, 100)
        self._cookies = {kind: config.cookie(kind) for kind in ("rater", "owner")}
        self._attributes: Any = {"path": "/", "secure": config.https, "httponly": True, "samesite": "strict"}
        password = config.owner_password
        self._owner_digest = _digest(password.reveal() if password else config.run_token or "")

    @contextmanager
    def read(self, *, refresh: bool = True) -> Generator[Study]:
        """A study to read from, with its current protocol unless `refresh` is False; writing to it is not allowed."""
        study = self._free.get()
        try:
            if refresh:
                study.store.protocols.versions()
            yield study
        finally:
            self._free.put(study)

    @contextmanager
    def write(self, digest: str | None = None) -> Generator[Study]:
        """A study to read and write in one transaction: all of it is stored, or, if the block raises, nothing.

        The transaction holds the writer's lock from the start: nobody else changes what the block has read. 409 if a
        digest is given, that of the protocol that the client uses, and the study has another protocol now.
        """
        with self._only_writer(), self._writer.store.transaction():
            protocols = self._writer.store.protocols
            protocols.versions()
            if digest not in (None, protocols.known.current.digest):
                raise HTTPException(409, "The protocol has changed; reload the page.")
            yield self._writer

    @contextmanager
    def _only_writer(self) -> Generator[None]:
        """Wait for the other writers of this process, as long as the database would wait for those of others."""
        started = time.monotonic()
        while not self._lock.acquire(timeout=0.1):
            if time.monotonic() - started > self._patience:
                raise HTTPException(503, BUSY, {"Retry-After": "5"})
        try:
            yield
        finally:
            self._lock.release()

    def is_healthy(self) -> bool:
        """Whether the study could be read and written a moment ago."""
        if time.monotonic() - self._probed > PROBE_EVERY and self._spare_lock.acquire(blocking=False):
            try:
                self._healthy = self._try(Store.probe)
                self._probed = time.monotonic()
            finally:
                self._spare_lock.release()
        return self._healthy

    def try_write(self, write: Callable[[Store], object]) -> None:
        """Write something that may as well be written another time, so that requests that only read need not wait for
        those who write, nor for room on the disk."""
        if self._spare_lock.acquire(blocking=False):
            try:
                self._try(write)
            finally:
                self._spare_lock.release()

    def _try(self, write: Callable[[Store], object]) -> bool:
        try:
            write(self._spare)
        except StudyError as error:
            if error.__cause__ is None:
                raise  # not the database: what was asked for is not allowed
            self.log_failure(error)
            return False
        return True

    def log_failure(self, error: StudyError) -> None:
        """Log that the study failed, each reason once a minute: on a full disk every save fails."""
        reason = masked(str(error))
        if not self._logged.wait(reason):
            LOG.error("the study failed: %s (logged at most once a minute)", reason)

    def stop(self) -> None:
        """Let requests that wait for a locked study fail now: the server is to end. Safe in a signal handler."""
        self._patience = 0.0
        for store in self._stores:
            store.stop_waiting()

    def close(self) -> None:
        """Wait for the reads and the write that are running, then close all connections."""
        for _ in range(READERS):
            self._free.get()
        with self._lock:
            self._close()

    def accounts(self, request: Request) -> list[Account]:
        """Everyone that a request is signed in as: by its bearer token alone if it has one, otherwise by cookies."""
        token = bearer_token(request)
        if token is not None:
            return [self._bearer(token, request)]
        tokens = self._tokens(request).values()
        with self.read(refresh=False) as study:
            return [account for account in map(study.store.people.access.find_session, tokens) if account]

    def is_owner(self, given: str) -> bool:
        """Whether this is the token of this run or the owner's password."""
        token, password = self.config.run_token, self.config.owner_password
        rights = filter(None, (token, password and password.reveal()))
        return any(hmac.compare_digest(_digest(given), _digest(right)) for right in rights)

    def wrong_credential(self, request: Request, message: str) -> HTTPException:
        """The response to a wrong token or password: 401, or 429, which is delayed, if there were too many.

        Only wrong ones are counted and delayed. A right one is always accepted: nobody can lock others out by guessing.
        """
        # The address that the connection comes from; headers about it are not trusted.
        client = request.client.host if request.client else ""
        wait = max(self._client_failures.wait(client), self._all_failures.wait(""))
        if wait:
            return HTTPException(429, f"{message} There were too many failed attempts.", {"Retry-After": str(wait)})
        return HTTPException(401, message, {"WWW-Authenticate": "Bearer"})

    def sign_in(self, study: Study, response: Response, account: Account, invite: str | None = None) -> None:
        """Open a session and put it into a cookie."""
        kind = "owner" if account.access == "owner" else "rater"
        lifetime, token = LIFETIMES[account.access], token_urlsafe(32)
        study.store.people.access.open_session(self._stored(token, kind), account, lifetime, invite)
        response.set_cookie(self._cookies[kind], token, int(lifetime.total_seconds()), **self._attributes)

    def sign_out(self, study: Study, request: Request, response: Response) -> None:
        """Close the sessions of a browser."""
        for kind, token in self._tokens(request).items():
            study.store.people.access.close_session(token)
            response.delete_cookie(self._cookies[kind], **self._attributes)

    def _tokens(self, request: Request) -> dict[str, str]:
        """The tokens of a browser's cookies, as the store knows them."""
        given = {kind: request.cookies.get(name) for kind, name in self._cookies.items()}
        return {kind: self._stored(token, kind) for kind, token in given.items() if token}

    def _stored(self, token: str, kind: str) -> str:
        """The token as the store knows it. The owner's is valid only with the password that it was issued for."""
        return f"{token} {self._owner_digest}" if kind == "owner" else token

    def _bearer(self, token: str, request: Request) -> Account:
        """Whose invite or password a token is. The person of a named invite joins with the first request, if possible,
        and at the latest with the first that changes something."""
        with self.read() as study:
            people = study.store.people
            invite = people.access.find_invite(token)
            name = invite.name if invite else None
            joined = name is not None and people.member(name) is not None
        if invite is None or name is None:
            if self.is_owner(token):
                return Account("owner")
            raise self.wrong_credential(request, "This token is not valid, or it has expired.")
        if not joined and request.method == "GET":
            self.try_write(lambda store: store.people.access.join(invite, name, {}))
        elif not joined:
            with self.write() as study:
                study.store.people.access.join(invite, name, {})
        return Account(invite.role, name)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


# What routes depend on


# Asynchronous, although it waits for nothing: FastAPI would run a plain function in a thread.
async def services_of(request: Request) -> Services:
    """The services of the application that received this request."""
    services: Services = request.app.state.services
    return services


ServicesOf = Annotated[Services, Depends(services_of)]


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


def _note_seen(name: str, store: Store) -> None:
    # The program of an invited person that could not join yet may read all the same.
    if store.people.member(name) is not None:
        store.people.seen(name)


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
            services.try_write(partial(_note_seen, account.name))
        return account
    if not accounts:
        raise HTTPException(401, _OWNER if allowed.scopes[0] == "owner" else _INVITED, {"WWW-Authenticate": "Bearer"})
    groups = " and ".join(_GROUPS[access] for access in allowed.scopes)
    names = " and ".join(f"{one.access} {one.name}" if one.name else "the owner" for one in accounts)
    raise HTTPException(403, f"This is for {groups}; you are signed in as {names}.")


Rater = Annotated[Account, Security(signed, scopes=["rater"])]
Adjudicator = Annotated[Account, Security(signed, scopes=["adjudicator"])]
Owner = Annotated[Account, Security(signed, scopes=["owner"])]
AdjudicatorOrOwner = Annotated[Account, Security(signed, scopes=["adjudicator", "owner"])]
