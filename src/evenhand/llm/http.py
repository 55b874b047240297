"""Chat over HTTP with any server that speaks the chat completions format."""

import io
import time
from collections.abc import Mapping
from random import Random

import aiohttp

from evenhand.llm.base import BeforeRetry, CallError, Reply, Request, RunError
from evenhand.llm.complaints import complaint_of
from evenhand.llm.endpoints import Endpoint
from evenhand.llm.events import Event, Listener
from evenhand.llm.faults import ConnectionFault, TimedOut, fault_of, without_key
from evenhand.llm.forms import first_form, lesser_form
from evenhand.llm.pace import AdaptivePace
from evenhand.llm.steady import WAITS, Steady, Waits
from evenhand.llm.wire import NotACompletion, body_of, reply_of

LARGEST = 10_000_000
CONNECTING = 30.0
# aiohttp writes bytes in one go and warns from a mebibyte on; from a file it writes piece by piece.
IN_ONE_GO = 2**20

Answer = tuple[int, Mapping[str, str], bytes]


class HttpChat:
    """A model behind an endpoint.

    `timeout` bounds one try in seconds, from connecting to the last byte of the reply. `tries` and `waits` are those
    of `Steady`. Whoever asks holds a place of `pace`. What the server does not take is left out of all later requests
    and told to `listener`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        pace: AdaptivePace,
        timeout: float = 120.0,
        tries: int = 6,
        waits: Waits = WAITS,
        random: Random | None = None,
        listener: Listener | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._pace = pace
        self._timeout = timeout
        self._steady = Steady(endpoint.host, pace, tries=tries, waits=waits, random=random, listener=listener)
        self._form = first_form(endpoint)
        self._opened: aiohttp.ClientSession | None = None

    @property
    def model(self) -> str:
        return self._endpoint.name

    @property
    def pace(self) -> AdaptivePace:
        return self._pace

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """The reply. Raises CallError where the tries are used up, RunError where no call can succeed."""
        return await self._steady.call(lambda: self._attempt(request), before_retry)

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()
            self._opened = None

    async def _attempt(self, request: Request) -> Reply:
        """One try. A form that the server does not take is no failure: the next one is sent at once."""
        while True:
            form, began = self._form, time.perf_counter()
            status, headers, body = await self._post(body_of(request, self._endpoint.model, form))
            if 200 <= status < 300:
                return self._reply(body, time.perf_counter() - began)
            text = body.decode("utf-8", "replace")
            complaint = complaint_of(text)
            lesser = lesser_form(form, request, complaint) if status in (400, 403, 422) else None
            if lesser is None:
                raise fault_of(self._endpoint, status, headers, complaint, text)
            # Calls under way at once are refused alike; the first to hear of it has already told and changed the form.
            if form is self._form:
                self._form, dropped = lesser
                self._steady.tell(Event("dropped", dropped))

    def _reply(self, body: bytes, seconds: float) -> Reply:
        try:
            return reply_of(body, seconds=seconds)
        except NotACompletion:
            text = body.decode("utf-8", "replace")
            complaint = complaint_of(text)
            if complaint.status is not None:
                raise fault_of(self._endpoint, complaint.status, {}, complaint, text) from None
            raw = without_key(self._endpoint, text)
            raise CallError("the reply is not a chat completion", again=True, charged=True, raw=raw) from None

    async def _post(self, body: bytes) -> Answer:
        data = body if len(body) <= IN_ONE_GO else io.BytesIO(body)
        # The library's own errors may hold the request with its key, so none of them is passed on, not even as a cause.
        try:
            async with self._session().post(self._endpoint.url, data=data, allow_redirects=False) as response:
                return response.status, response.headers, await _read(response)
        except aiohttp.ClientConnectorCertificateError:
            raise RunError(f"the certificate of {self._endpoint.host} is not trusted; check the address") from None
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            raise ConnectionFault(reached=False) from None
        except TimeoutError:
            raise TimedOut from None
        except (aiohttp.ClientError, OSError):
            raise ConnectionFault(reached=True) from None

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            if self._endpoint.key is not None:
                headers["Authorization"] = f"Bearer {self._endpoint.key.reveal()}"
            self._opened = aiohttp.ClientSession(
                # The pace says how many calls there are at once; a second bound would only hide it.
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60.0, ttl_dns_cache=300),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=min(CONNECTING, self._timeout)),
            )
        return self._opened


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
