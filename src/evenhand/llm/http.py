"""Chat over HTTP with any server that speaks the chat completions format, in as many tries as it takes."""

import asyncio
import io
import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from random import Random
from typing import Literal

import aiohttp

from evenhand.llm.base import BeforeRetry, CallError, Reply, Request, RunError
from evenhand.llm.dialect import error_body
from evenhand.llm.endpoints import Endpoint
from evenhand.llm.rate_limit import RateLimiter
from evenhand.llm.wire import body_of, completion_of, http_error

LARGEST = 10_000_000
"""Bytes of a reply that are read."""

CONNECTING = 30.0
"""Seconds for making a connection."""

IN_ONE_GO = 2**20
"""Bytes up to which a body is sent at once: aiohttp warns above a mebibyte, and sends a file piece by piece."""

LEAST_FAILED = 3
"""Calls in a row that fail before a server counts as gone, unless more are in progress at once."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on the way to a reply, for a run's log and its progress line.

    `retry`: a try failed for `reason`, the next begins in `wait` seconds. `limited`: the server asked for fewer calls.
    `given up`: a call ended without a reply. `dropped`: the server rejects a part of the requests, named in `reason`,
    and all later requests are sent without it.
    """

    kind: Literal["retry", "limited", "given up", "dropped"]
    reason: str
    wait: float = 0.0


Listener = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds. A wait is a random part of `first`, which doubles at each further failure, up to `longest`.

    What the server asks for is waited for in full, unless it is more than `bound`: then the run stops with that
    message. A call that is limited again and again waits `patience` in all.
    """

    first: float = 1.0
    longest: float = 60.0
    bound: float = 600.0
    patience: float = 300.0

    def after(self, failures: int, random: Random) -> float:
        # Beyond 2 ** 60 doubling makes no difference any more, and 2 ** 1024 is not a float.
        return random.uniform(0.0, min(self.longest, self.first * 2.0 ** min(failures - 1, 60)))


@dataclass(eq=False, repr=False)
class HttpChat:
    """A model behind an endpoint. Callers hold a place of `pace`.

    `timeout` bounds one try in seconds, from connecting to the last byte of the reply. A failure uses up one of the
    call's `tries`. Being limited is not a failure and is bounded by patience. A server that is gone is not the fault of
    any unit: RunError, after max(LEAST_FAILED, width) calls in a row that were given up because it could not be
    reached, broke off, was unavailable or admitted no calls; at once if it never answered. What the server rejects is
    left out of all later requests. Events are reported to `listener`.
    """

    endpoint: Endpoint
    _: KW_ONLY
    pace: RateLimiter
    timeout: float = 120.0
    tries: int = 6
    waits: Waits = field(default_factory=Waits)
    random: Random = field(default_factory=Random)
    listener: Listener = lambda _: None

    def __post_init__(self) -> None:
        self.model = self.endpoint.name
        self._dialect = self.endpoint.dialect
        self._connections: _Connections | None = None
        self._answered = self._replied = False
        self._gone = 0

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """The reply. Raises CallError when the tries are used up, RunError if no call can succeed."""
        clock = asyncio.get_running_loop().time
        failures = limits = 0
        waited = 0.0
        while True:
            began = clock()
            try:
                reply = await self._attempt(request)
            except CallError as caught:
                error = caught
            else:
                self._answered, self._replied, self._gone = True, True, 0
                self.pace.succeeded(began)
                return reply
            self._note(error, began)
            failures, limits = failures + (not error.limited), limits + error.limited
            wait = max(error.after or 0.0, self.waits.after(limits if error.limited else failures, self.random))
            waited += wait if error.limited else 0.0
            if failures >= self.tries or waited > self.waits.patience:
                raise self._given_up(error)
            self.listener(Event("limited" if error.limited else "retry", error.reason, wait))
            await (self.pace.back_off(wait) if error.limited else asyncio.sleep(wait))
            if before_retry is not None:
                before_retry(error.charged)

    async def close(self) -> None:
        if self._connections is not None:
            await self._connections.session.close()
            self._connections = None

    def _note(self, error: CallError, began: float) -> None:
        """Report overload to the rate limiter; raise the error if no other try can help."""
        self._answered |= error.reached
        if not error.again:
            raise error
        asked = error.after or 0.0
        if asked > self.waits.bound:
            raise RunError(
                f"the server at {self.endpoint.host} asks to wait {asked / 60:,.0f} minutes ({error.reason}); "
                "run the same command again after that to continue"
            )
        if error.overloaded:
            self.pace.overloaded(began, asked)

    def _given_up(self, error: CallError) -> CallError:
        self.listener(Event("given up", error.reason))
        # A server that never gave a single reply is not judged by what it was asked.
        if not error.unavailable and self._replied:
            return error
        self._gone += 1
        enough = max(LEAST_FAILED, self.pace.width) if self._replied else LEAST_FAILED
        if not self._answered or self._gone >= enough:
            return RunError(
                f"the server at {self.endpoint.host} does not answer ({error.reason}); "
                "check that it is running, then run the same command again to continue"
            )
        return error

    async def _attempt(self, request: Request) -> Reply:
        """One try. A dialect that the server rejects is not a failure: the next one is tried at once."""
        while True:
            dialect, began = self._dialect, time.perf_counter()
            sent = body_of(request, self.endpoint.model, dialect)
            status, headers, body = await self._post(sent, fresh=request.fresh)
            if 200 <= status < 300:
                return completion_of(body, self.endpoint, time.perf_counter() - began)
            error = error_body(body.decode("utf-8", "replace"))
            other = dialect.without_rejected(request, error) if status in (400, 403, 422) else None
            if other is None:
                raise http_error(self.endpoint, status, headers, error)
            # Calls in progress at once are rejected alike; the first of them has already changed the dialect.
            if dialect is self._dialect:
                self._dialect, dropped = other
                self.listener(Event("dropped", dropped))

    async def _post(self, body: bytes, *, fresh: bool) -> tuple[int, Mapping[str, str], bytes]:
        data = body if len(body) <= IN_ONE_GO else io.BytesIO(body)
        connections = await self._open(fresh=fresh)
        # The library's errors may contain the request with its key, so none is passed on, not even as a cause.
        try:
            async with (
                connections as session,
                session.post(self.endpoint.url, data=data, allow_redirects=False) as response,
            ):
                return response.status, response.headers, await _read(response)
        except aiohttp.ClientConnectorCertificateError:
            raise RunError(f"the certificate of {self.endpoint.host} is not trusted; check the address") from None
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            raise CallError("connection failed", again=True, unavailable=True, reached=False) from None
        except TimeoutError:
            raise CallError("timed out", again=True, overloaded=True, charged=True) from None
        except (aiohttp.ClientError, OSError):
            raise CallError("connection broken", again=True, unavailable=True, charged=True) from None

    async def _open(self, *, fresh: bool) -> "_Connections":
        """The connections of this chat; new ones, now and for all later calls, if the request asks for a fresh one."""
        if fresh and self._connections is not None:
            retired, self._connections = self._connections, None
            await retired.retire()
        if self._connections is not None:
            return self._connections
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.endpoint.key is not None:
            headers["Authorization"] = f"Bearer {self.endpoint.key.reveal()}"
        session = aiohttp.ClientSession(
            # The rate limiter bounds the number of calls; a second bound would only hide it.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60.0, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=self.timeout, sock_connect=min(CONNECTING, self.timeout)),
        )
        self._connections = _Connections(session)
        return self._connections


class _Connections:
    """Connections kept alive between calls. Once retired, they are closed as soon as no call uses them."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session
        self._users = 1  # this chat, until it retires them

    async def __aenter__(self) -> aiohttp.ClientSession:
        self._users += 1
        return self.session

    async def __aexit__(self, *exc: object) -> None:
        self._users -= 1
        if not self._users:
            await self.session.close()

    retire = __aexit__


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    while part := await response.content.read(LARGEST):
        body += part
        if len(body) > LARGEST:
            response.close()
            raise CallError("the reply is too large", charged=True)
    return bytes(body)
