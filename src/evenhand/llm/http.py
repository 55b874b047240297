"""Chat over HTTP with any server that speaks the chat completions format, and what its errors mean."""

import io
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import partial
from random import Random

import aiohttp

from evenhand.llm.base import BeforeRetry, CallError, Reply, Request, RunError
from evenhand.llm.dialect import ErrorBody, error_body
from evenhand.llm.endpoints import Endpoint
from evenhand.llm.rate_limit import RateLimiter
from evenhand.llm.retry import WAITS, Event, Listener, Retries, Waits
from evenhand.llm.wire import NotACompletion, body_of, reply_of
from evenhand.text import masked

LARGEST = 10_000_000
"""Bytes of a reply that are read."""

CONNECTING = 30.0
"""Seconds for making a connection."""

IN_ONE_GO = 2**20
"""Bytes up to which a body is sent at once: aiohttp warns above a mebibyte, and sends a file piece by piece."""

KEPT = 2000
"""Characters of a server's answer that are kept with a failure."""

QUOTED = 300
"""Characters of a server's message that are quoted in ours."""

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
        self.model = endpoint.name
        self.pace = pace
        self._timeout = timeout
        report: Listener = listener or (lambda _: None)
        self._retries = Retries(endpoint, pace, tries, waits, random or Random(), report)
        self._dialect = endpoint.dialect
        self._connections: _Connections | None = None

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """The reply. Raises CallError when the tries are used up, RunError if no call can succeed."""
        return await self._retries.call(partial(self._attempt, request), before_retry)

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
                raise _http_error(self._endpoint, status, headers, error, text)
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
                raise _http_error(self._endpoint, error.status, {}, error, text) from None
            raw = _without_key(self._endpoint, text)
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


_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|AIza)[-_A-Za-z0-9*.…]{6,}")
_WRONG_KEY = re.compile(r"api[_ ]key[_ ](?:not[_ ]valid|invalid|expired)|invalid[_ ]api[_ ]key|incorrect api key")
_EMPTY_ACCOUNT = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|funds)|credit balance is too low|billing_hard_limit"
)


def _http_error(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: ErrorBody, text: str) -> CallError:
    """The error that an answer stands for: one call's, or a RunError if no other call can succeed either."""
    quoted = f': "{_without_key(endpoint, body.original[:QUOTED])}"' if body.original else ""
    if status == 402 or _EMPTY_ACCOUNT.search(f"{body.code} {body.message}"):
        return RunError(f"the account at {endpoint.host} is empty or at its spending limit ({status}){quoted}")
    if status in (401, 403) or _WRONG_KEY.search(f"{body.code} {body.message}"):
        return RunError(_about_key(endpoint, status) + quoted)
    if status in (404, 405):
        return RunError(
            f'{endpoint.host} has no model "{endpoint.model}" or no address {endpoint.url} ({status}); '
            f"check the model's name and the address{quoted}"
        )
    if 300 <= status < 400:
        place = masked(_without_key(endpoint, headers.get("Location", "").partition("?")[0]))
        return RunError(
            f"{endpoint.url} redirects to {place or 'another address'} ({status}); use that address in the rater spec"
        )
    later = status in (408, 409, 425)
    refused = "rate limited" if status == 429 else "not now" if later else "request refused"
    return CallError(
        f"{'server error' if status >= 500 else refused} ({status})",
        again=later or status == 429 or status >= 500,
        after=pause_asked(headers, body),
        limited=status == 429,
        overloaded=status in (429, 503, 529),
        unavailable=status in (429, 502, 503, 504),
        raw=_without_key(endpoint, text),
    )


def _about_key(endpoint: Endpoint, status: int) -> str:
    if endpoint.key is None:
        return f"{endpoint.host} needs a key ({status}); set the environment variable {endpoint.variable} to it"
    return f"{endpoint.host} does not accept the key in {endpoint.variable} for {endpoint.model} ({status}); check it"


def _without_key(endpoint: Endpoint, text: str) -> str:
    """The first KEPT characters of a server's answer, without the key or anything that looks like one."""
    if endpoint.key is not None:
        text = text.replace(endpoint.key.reveal(), "***")
    return _KEY_LIKE.sub("***", text[:KEPT]).replace("\0", "\ufffd")


def pause_asked(headers: Mapping[str, str], body: ErrorBody) -> float | None:
    """How many seconds the server asks to wait, in any of the usual ways; None if it does not ask."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    retry_after = headers.get("Retry-After")
    if retry_after is not None:
        seconds = _number(retry_after)
        return _until(retry_after) if seconds is None else seconds
    if body.delay is not None:
        return body.delay
    reset = _number(headers.get("x-ratelimit-reset"))
    # Milliseconds or seconds since 1970, or seconds from now: told apart by their size.
    if reset is not None and reset > 1e9:
        return max(0.0, (reset / 1000 if reset > 1e11 else reset) - time.time())
    return reset


def _number(text: str | None) -> float | None:
    """A number of seconds; `inf` and `nan` are not accepted."""
    return float(text) if text is not None and re.fullmatch(r"\s*\d{1,15}(\.\d*)?\s*", text, re.ASCII) else None


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
