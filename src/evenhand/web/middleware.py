"""What happens to every request before a route sees it: host, CSRF header, size and rate. Adds the security headers to
every response, errors included."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenhand.web.config import Config, is_address, is_loopback
from evenhand.web.errors import INTERNAL_ERROR, LOG, error_response
from evenhand.web.rate_limit import RateLimit

MAX_BODY = 1_000_000
"""Bytes of a request."""
MAX_UPLOAD_SECONDS = 60.0
"""Seconds until a request must have arrived completely."""
MAX_WRITERS, MAX_WAIT = 1, 15.0
"""Requests that change something at the same time, and seconds to wait for a turn. There is one writer: more threads
would only get in each other's way, and those that a lock stops would be missing for reading."""
GUESS_SECONDS = 1.0
BUSY = "The study is busy, and nothing was stored. Try again in a moment."
STOPPING = "The server is stopping. Send this again in a moment; what was stored is not stored twice."
TOO_SLOW = "This request took too long to arrive. Send it again."
TOO_LARGE = "This is more than the 1 MB that one request may contain. Send less at once."
CSRF_HEADER = "X-Evenhand"

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
STRICT_TRANSPORT = "max-age=31536000"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class SecurityMiddleware:
    """ASGI middleware around the whole app, its error responses included."""

    def __init__(
        self,
        app: ASGIApp,
        config: Config,
        rate_limit: RateLimit | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._app, self._config, self._rate_limit, self._sleep = app, config, rate_limit or RateLimit(), sleep
        self._writers = asyncio.Semaphore(MAX_WRITERS)
        self._cookies = [config.cookie(kind) for kind in ("rater", "owner")]
        self._headers = HEADERS | ({"Strict-Transport-Security": STRICT_TRANSPORT} if config.https else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, guessed, slot = False, False, ExitStack()
        if scope["method"] == "HEAD":
            # Routes know only GET. Of the response, uvicorn leaves out the body.
            scope = {**scope, "method": "GET"}

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                slot.close()
                if guessed and message["status"] == 429:
                    await self._sleep(GUESS_SECONDS)
                kept = "no-cache" if scope["path"].startswith("/static/") else "no-store"
                MutableHeaders(raw=message["headers"]).update({**self._headers, "Cache-Control": kept})
            await send(message)

        async def respond(status: int, text: str, **headers: str) -> None:
            if not started:
                await error_response(scope, status, text, headers=headers)(scope, receive, send_with_headers)

        try:
            rejection = self._rejection(Request(scope))
            if rejection is not None:
                await rejection(scope, receive, send_with_headers)
                return
            # Routes answer 429 to one wrong credential of many. Those who guess wait, and nobody waits for them.
            guessed = True
            if scope["method"] != "GET":
                receive = await _whole(receive)
                await self._take_turn(slot)
            await self._app(scope, receive, send_with_headers)
        except HTTPException as error:
            await respond(error.status_code, error.detail, **(error.headers or {}))
        except asyncio.CancelledError:
            # Not raised again: nobody but the server that ends waits for this, and it would log a traceback.
            await respond(503, STOPPING, **{"Retry-After": "5"})
        except Exception:
            # Not the path itself: it may contain the token of an invite.
            LOG.exception("%s %s failed", scope["method"], getattr(scope.get("route"), "path", "(no route)"))
            if started:
                raise
            await respond(500, INTERNAL_ERROR)
        finally:
            slot.close()

    async def _take_turn(self, slot: ExitStack) -> None:
        """Wait for a slot for requests that change something. They wait here and not in threads, so that
        those that a locked study keeps waiting leave threads for requests that only read."""
        try:
            async with asyncio.timeout(MAX_WAIT):
                await self._writers.acquire()
        except TimeoutError:
            raise HTTPException(503, BUSY, {"Retry-After": "5"}) from None
        slot.callback(self._writers.release)

    def _rejection(self, request: Request) -> Response | None:
        """The response to a request that must not reach a route."""
        scope, host = request.scope, request.headers.get("host", "")
        if not serves_host(self._config, host):
            message = f"This server does not serve the host {host!r}. Its owner can set one with evenhand serve --url."
            return error_response(scope, 421, message)
        if _may_be_forged(request):
            message = f"This request needs the header {CSRF_HEADER}: 1, or a bearer token instead of the cookie."
            return error_response(scope, 403, message)
        length = request.headers.get("content-length", "0")
        if length.isdigit() and int(length) > MAX_BODY:
            return error_response(scope, 413, TOO_LARGE, headers={"Connection": "close"})
        # Requests without a token are not counted, since a whole class may share one address; failed attempts are.
        token = bearer_token(request) or next(filter(None, map(request.cookies.get, self._cookies)), None)
        if token is None or scope["path"].startswith("/static/"):
            return None
        wait = self._rate_limit.wait(sha256(token.encode()).hexdigest())
        message = "There were too many requests at once. Wait a moment, then try again."
        return error_response(scope, 429, message, headers={"Retry-After": str(wait)}) if wait else None


def serves_host(config: Config, host: str) -> bool:
    """Whether a request's Host is ours. Another name that resolves to this machine (DNS rebinding) is not."""
    if host.lower() == urlsplit(config.url).netloc.lower():
        return True
    # Not `urlsplit`, which also finds a host in `evil@127.0.0.1` and `127.0.0.1#x`.
    found = re.fullmatch(r"(?:\[([0-9a-f]*:[0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?", host.lower())
    name = (found[1] or found[2]) if found else ""
    # DNS cannot redirect an address, and which of this machine's addresses is used is not known here.
    return name in LOOPBACK_NAMES or (not is_loopback(config.host) and is_address(name))


def bearer_token(request: Request) -> str | None:
    """The token of the Authorization header. Other schemes are ignored: a proxy may use Basic for itself."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _may_be_forged(request: Request) -> bool:
    """Whether another site may have made a browser send this request.

    Browsers send a custom header to another origin only after a CORS preflight, which this server never grants. The
    cookies are SameSite=Strict besides. A bearer token is never added by the browser itself.
    """
    if request.method in ("GET", "HEAD") or bearer_token(request) is not None:
        return False
    # Without a cookie there is nothing to abuse, except for signing someone in under another name.
    signs_in = request.scope["path"].startswith("/api/session")
    return ("cookie" in request.headers or signs_in) and request.headers.get(CSRF_HEADER) != "1"


async def _whole(receive: Receive) -> Receive:
    """A request whose body has arrived. Its size is limited, whatever length was announced, and so is the time that it
    takes: a few clients that never finish would otherwise use up all connections."""
    body, message = bytearray(), dict[str, Any](more_body=True)
    try:
        async with asyncio.timeout(MAX_UPLOAD_SECONDS):
            while message.get("more_body", False):
                message = await receive()
                body += message.get("body", b"")
                if len(body) > MAX_BODY:
                    raise HTTPException(413, TOO_LARGE, {"Connection": "close"})
    except TimeoutError:
        raise HTTPException(408, TOO_SLOW, {"Connection": "close"}) from None
    arrived = [message if message["type"] == "http.disconnect" else {"type": "http.request", "body": bytes(body)}]

    async def receive_rest() -> Message:
        return arrived.pop() if arrived else await receive()

    return receive_rest
