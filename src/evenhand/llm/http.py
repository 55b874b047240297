"""Chat over HTTP with any server that speaks the chat completions format, in as many tries as it takes."""

import asyncio
import io
import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from random import Random
from typing import Any, Literal

import aiohttp

from evenhand.llm.base import BeforeRetry, CallError, Reply, Request, RunError
from evenhand.llm.dialect import Dialect, error_body
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

MOST_SUSPECT = 5
"""Requests in a row that a server may reject with an error about the key or the model once it has given a good reply:
some do so for an item that their moderation does not like."""

MOST_REJECTED = 50
"""Requests in a row that a server may reject for any reason once it has given a good reply: more than one text that is
too long or does not pass moderation has sentences."""

REJECTED = (400, 403, 404, 415, 422, 500, 501)
"""Statuses with which servers reject a part of a request."""

STEP = 1.0
"""Seconds after which the time of a call is counted. Time in which the event loop stands still counts as one step."""


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
    message. A call that is limited again waits `patience` in all, or as long as it was asked to at first.
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
    left out of all later requests. Until it has given a good reply, a request that it rejects without a reason that we
    understand is also tried without limits in its schema and without the schema, and LEAST_FAILED rejections in a row
    are a RunError, unless another call in progress succeeds; afterwards MOST_REJECTED are. Events are reported to
    `listener`.
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
        self._sessions: list[aiohttp.ClientSession] = []
        self._answered = self._replied = False
        self._gone = self._rejected = 0
        self._open = self._undecided = 0
        self._news = asyncio.Event()

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """The reply. Raises CallError when the tries are used up, RunError if no call can succeed."""
        clock = asyncio.get_running_loop().time
        failures = limits = 0
        waited = 0.0
        self._open += 1
        try:
            while True:
                began = clock()
                try:
                    reply = await self._attempt(request)
                except CallError as caught:
                    error = caught
                else:
                    self._answered, self._replied, self._gone, self._rejected = True, True, 0, 0
                    return reply
                await self._note(error, began)
                failures, limits = failures + (not error.limited), limits + error.limited
                wait = max(error.after or 0.0, self.waits.after(limits if error.limited else failures, self.random))
                if failures >= self.tries or (waited and waited + wait * error.limited > self.waits.patience):
                    raise self._given_up(error)
                waited += wait * error.limited
                self.listener(Event("limited" if error.limited else "retry", error.reason, wait))
                await (self.pace.back_off(wait) if error.limited else self.pace.sleep(wait))
                if before_retry is not None:
                    before_retry(error.charged)
        finally:
            self._open -= 1
            self._news.set()

    async def close(self) -> None:
        while self._sessions:
            await self._sessions.pop().close()

    async def _note(self, error: CallError, began: float) -> None:
        """Report overload to the rate limiter; raise the error if no other try can help."""
        self._answered |= error.reached
        if not error.again:
            raise await self._rejection(error)
        asked = error.after or 0.0
        if asked > self.waits.bound:
            raise RunError(
                f"the server at {self.endpoint.host} asks to wait {asked / 60:,.0f} minutes ({error.reason}); "
                "wait that long before you start again"
            )
        if error.overloaded:
            self.pace.overloaded(began, asked)

    async def _rejection(self, error: CallError) -> CallError:
        """The error of one call, or, if it is not the fault of what was asked, the one that stops the run.

        Until there is a good reply, that is known only when no other call can bring one: rejections come sooner.
        """
        if error.stop is None:
            return error
        self._rejected += 1
        if self._replied:
            return error.stop if self._rejected >= (MOST_SUSPECT if error.suspect else MOST_REJECTED) else error
        self._undecided += 1
        self._news.set()
        async with self.pace.without_place():
            while not self._replied and self._undecided < self._open:
                self._news.clear()
                await self._news.wait()
        self._undecided -= 1
        return error.stop if not self._replied and (error.suspect or self._rejected >= LEAST_FAILED) else error

    def _given_up(self, error: CallError) -> CallError:
        self.listener(Event("given up", error.reason))
        # A server that never gave a single reply is not judged by what it was asked.
        if not error.unavailable and self._replied:
            return error
        self._gone += 1
        enough = max(LEAST_FAILED, self.pace.width) if self._replied else LEAST_FAILED
        if not self._answered or self._gone >= enough:
            what = "keeps failing" if self._answered else "does not answer"
            return RunError(f"the server at {self.endpoint.host} {what} ({error.reason}); check that it is running")
        return error

    async def _attempt(self, request: Request) -> Reply:
        """One try. A dialect that the server rejects is not a failure: the next one is tried at once."""
        dialect, trials, rejection = self._dialect, [], None
        while True:
            began = time.perf_counter()
            used, dropped = trials[0] if trials else (dialect, "")
            status, headers, body = await self._post(body_of(request, self.endpoint.model, used), fresh=request.fresh)
            if 200 <= status < 300:
                reply = completion_of(body, self.endpoint, time.perf_counter() - began)
                if trials:
                    self._learn(dialect, used, dropped)
                return reply
            error = error_body(body.decode("utf-8", "replace"))
            failure = http_error(self.endpoint, status, headers, error)
            # A server that has given a good reply accepts the dialect: an error of its own is about something else.
            if status not in REJECTED or isinstance(failure, RunError) or (failure.again and self._replied):
                raise failure
            if rejection is None and (other := dialect.without_rejected(request, error)):
                dialect = self._learn(dialect, *other)
                continue
            # The server may not name what it rejects. As long as it has accepted nothing, it may be the schema.
            if rejection is None and not (self._replied or failure.again or failure.suspect or error.about_prompt):
                trials = [(dialect, ""), *dialect.without_schema(request)]
            rejection, trials = rejection or failure, trials[1:]
            if not trials:
                raise rejection

    def _learn(self, known: Dialect, other: Dialect, dropped: str) -> Dialect:
        """Leave out of all later requests what the server rejects."""
        # Calls in progress at once are rejected alike; the first of them has already changed the dialect.
        if known is self._dialect:
            self._dialect = other
            self.listener(Event("dropped", dropped))
        return self._dialect

    async def _post(self, body: bytes, *, fresh: bool) -> tuple[int, Mapping[str, str], bytes]:
        data = body if len(body) <= IN_ONE_GO else io.BytesIO(body)
        session = self._session(fresh=fresh)
        # The library's errors may contain the request with its key, so none is passed on, not even as a cause.
        try:
            async with (
                _CallTimeout(self.timeout),
                session.post(self.endpoint.url, data=data, allow_redirects=False) as response,
            ):
                return response.status, response.headers, await _read(response)
        except aiohttp.ClientHttpProxyError as error:
            why = f"the proxy does not connect to {self.endpoint.host} ({error.status}); check HTTPS_PROXY and NO_PROXY"
            raise RunError(why) from None
        except aiohttp.ClientConnectorCertificateError:
            raise RunError(f"the certificate of {self.endpoint.host} is not trusted; check the address") from None
        except aiohttp.ClientProxyConnectionError:
            raise CallError("connection to the proxy failed", again=True, unavailable=True, reached=False) from None
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            raise CallError("connection failed", again=True, unavailable=True, reached=False) from None
        except TimeoutError:
            raise CallError("timed out", again=True, overloaded=True, charged=True) from None
        except (aiohttp.ClientError, OSError):
            raise CallError("connection broken", again=True, unavailable=True, charged=True) from None

    def _session(self, *, fresh: bool) -> aiohttp.ClientSession:
        """Connections that are kept alive between calls; new ones, now and for all later calls, if `fresh`."""
        # Calls in progress keep the connections they have: older sessions are closed only with the chat.
        if self._sessions and not fresh:
            return self._sessions[-1]
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.endpoint.key is not None:
            headers["Authorization"] = f"Bearer {self.endpoint.key.reveal()}"
        session = aiohttp.ClientSession(
            # The rate limiter bounds the number of calls; a second bound would only hide it.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60.0, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(CONNECTING, self.timeout)),
            proxy=self.endpoint.proxy.reveal() if self.endpoint.proxy else None,
        )
        self._sessions.append(session)
        return session


class _CallTimeout:
    """Cancels a call that takes too long, with TimeoutError. Time in which the event loop stands still does not count:
    while the study's database waits for another writer, replies that have arrived cannot be read."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._timeout = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._next_step()

    async def __aexit__(self, *exc: Any) -> None:
        self._timer.cancel()
        await self._timeout.__aexit__(*exc)

    def _next_step(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(min(self._left, STEP), self._step)

    def _step(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._timer.when() < STEP / 2:
            self._left -= STEP
        if self._left > 0:
            self._next_step()
        else:
            self._timeout.reschedule(now)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    while part := await response.content.read(LARGEST):
        body += part
        if len(body) > LARGEST:
            response.close()
            raise CallError("the reply is too large", charged=True)
    return bytes(body)
