"""Chat over HTTP with any server that speaks the chat completions format."""

import io
import time
from collections.abc import Mapping
from random import Random

import aiohttp

from evenhand.llm.base import BeforeRetry, CallError, Reply, Request, RunError
from evenhand.llm.dialect import Dialect, error_body
from evenhand.llm.endpoints import Endpoint
from evenhand.llm.http_errors import ConnectionFault, TimedOut, http_error, without_key
from evenhand.llm.rate_limit import RateLimiter
from evenhand.llm.retry import WAITS, Event, Listener, Retries, Waits
from evenhand.llm.wire import NotACompletion, body_of, reply_of

LARGEST = 10_000_000
"""Bytes of a reply that are read."""

CONNECTING = 30.0
"""Seconds for making a connection."""

IN_ONE_GO = 2**20
"""Bytes up to which a body is sent at once: aiohttp warns above a mebibyte, and sends a file piece by piece."""

HttpAnswer = tuple[int, Mapping[str, str], bytes]
"""Status, headers, body."""


class HttpChat:
    """A model behind an endpoint.

    `timeout` bounds one try in seconds, from connecting to the last byte of the reply; `tries` and `waits` are those of
    `Retries`. Callers hold a place of `pace`. What the server rejects is left out of all later requests and reported to
    `listener`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        pace: RateLimiter,
        timeout: float = 120.0,
        tries: int = 6,
        waits: Waits = WAITS,
        random: Random | None = None,
        listener: Listener | None = None,
    ) -> None:
        self._endpoint = endpoint
        self.pace = pace
        self._timeout = timeout
        self._retries = Retries(endpoint.host, pace, tries=tries, waits=waits, random=random, listener=listener)
        self._dialect = Dialect.of(endpoint)
        self._connections: _Connections | None = None

    @property
    def model(self) -> str:
        return self._endpoint.name

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """The reply. Raises CallError when the tries are used up, RunError if no call can succeed."""
        return await self._retries.call(lambda: self._attempt(request), before_retry)

    async def close(self) -> None:
        if self._connections is not None:
            await self._connections.session.close()
            self._connections = None

    async def _attempt(self, request: Request) -> Reply:
        """One try. A dialect that the server rejects is not a failure: the next one is tried at once."""
        while True:
            dialect, began = self._dialect, time.perf_counter()
            sent = body_of(request, self._endpoint.model, dialect)
            status, headers, body = await self._post(sent, fresh=request.fresh)
            if 200 <= status < 300:
                return self._reply(body, time.perf_counter() - began)
            text = body.decode("utf-8", "replace")
            error = error_body(text)
            other = dialect.without_rejected(request, error) if status in (400, 403, 422) else None
            if other is None:
                raise http_error(self._endpoint, status, headers, error, text)
            # Calls in progress at once are rejected alike; the first of them has already changed the dialect.
            if dialect is self._dialect:
                self._dialect, dropped = other
                self._retries.report(Event("dropped", dropped))

    def _reply(self, body: bytes, seconds: float) -> Reply:
        try:
            return reply_of(body, seconds=seconds)
        except NotACompletion:
            text = body.decode("utf-8", "replace")
            error = error_body(text)
            if error.status is not None:
                raise http_error(self._endpoint, error.status, {}, error, text) from None
            raw = without_key(self._endpoint, text)
            raise CallError("the reply is not a chat completion", again=True, charged=True, raw=raw) from None

    async def _post(self, body: bytes, *, fresh: bool) -> HttpAnswer:
        data = body if len(body) <= IN_ONE_GO else io.BytesIO(body)
        connections = await self._open(fresh=fresh)
        # The library's errors may contain the request with its key, so none is passed on, not even as a cause.
        try:
            async with (
                connections as session,
                session.post(self._endpoint.url, data=data, allow_redirects=False) as response,
            ):
                return response.status, response.headers, await _read(response)
        except aiohttp.ClientConnectorCertificateError:
            raise RunError(f"the certificate of {self._endpoint.host} is not trusted; check the address") from None
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            raise ConnectionFault(reached=False) from None
        except TimeoutError:
            raise TimedOut from None
        except (aiohttp.ClientError, OSError):
            raise ConnectionFault(reached=True) from None

    async def _open(self, *, fresh: bool) -> "_Connections":
        """The connections of this chat; new ones, now and for all later calls, if the request asks for a fresh one."""
        if fresh and self._connections is not None:
            retired, self._connections = self._connections, None
            await retired.retire()
        if self._connections is None:
            self._connections = _Connections(self._session())
        return self._connections

    def _session(self) -> aiohttp.ClientSession:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._endpoint.key is not None:
            headers["Authorization"] = f"Bearer {self._endpoint.key.reveal()}"
        return aiohttp.ClientSession(
            # The rate limiter bounds the number of calls; a second bound would only hide it.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60.0, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=min(CONNECTING, self._timeout)),
        )


class _Connections:
    """Connections kept alive between calls. Once retired, they are closed as soon as no call uses them."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session
        self._calls = 0
        self._retired = False

    async def __aenter__(self) -> aiohttp.ClientSession:
        self._calls += 1
        return self.session

    async def __aexit__(self, *exc: object) -> None:
        self._calls -= 1
        await self._close_if_idle()

    async def retire(self) -> None:
        self._retired = True
        await self._close_if_idle()

    async def _close_if_idle(self) -> None:
        if self._retired and not self._calls:
            await self.session.close()


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = await response.content.read(LARGEST)
    if response.content.at_eof():
        return body
    parts, size = [body], len(body)
    while part := await response.content.read(LARGEST):
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            response.close()
            raise CallError("the reply is too large", charged=True)
    return b"".join(parts)
