"""What happens to every request before a route sees it: host, CSRF header, size and rate. Adds the security headers to
every response, errors included."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenhand.web.config import Config, is_address, is_loopback
from evenhand.web.errors import INTERNAL_ERROR, LOG, error_response

MAX_BODY = 1_000_000
"""Bytes of a request."""
MAX_UPLOAD_SECONDS = 60.0
"""Seconds until a request must have arrived completely."""
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


class RateLimit:
    """A token bucket for each client: `rate` requests per second, and a reserve of `burst`."""

    MAX_CLIENTS = 4096

    def __init__(self, rate: float = 50, burst: float = 200, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> int:
        """Count one request; the seconds to wait before it is allowed, 0 if it is allowed now."""
        now = self._clock()
        left, at = self._buckets.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        allowed = left >= 1
        self._buckets[client] = (left - 1 if allowed else left, now)
        while len(self._buckets) > self.MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1 - left) / self._rate))


class SecurityMiddleware:
    """ASGI middleware around the whole app, its error responses included."""

    def __init__(self, app: ASGIApp, config: Config, rate_limit: RateLimit | None = None) -> None:
        self._app, self._config, self._rate_limit = app, config, rate_limit or RateLimit()
        self._cookies = [config.cookie(kind) for kind in ("rater", "owner")]
        self._headers = HEADERS | ({"Strict-Transport-Security": STRICT_TRANSPORT} if config.https else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                kept = "no-cache" if scope["path"].startswith("/static/") else "no-store"
                MutableHeaders(raw=message["headers"]).update({**self._headers, "Cache-Control": kept})
            await send(message)

        try:
            rejection = self._rejection(Request(scope))
            if rejection is not None:
                await rejection(scope, receive, send_with_headers)
            else:
                await self._app(scope, _limited(receive), send_with_headers)
        except Exception:
            # Not the path itself: it may contain the token of an invite.
            LOG.exception("%s %s failed", scope["method"], getattr(scope.get("route"), "path", "(no route)"))
            if started:
                raise
            await error_response(scope, 500, INTERNAL_ERROR)(scope, receive, send_with_headers)

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
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
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


def _limited(receive: Receive) -> Receive:
    """Limit the size of a body, whatever length was announced, and the time that it takes to arrive: a few clients that
    never finish would otherwise use up all connections."""
    size, complete = 0, False
    deadline = time.monotonic() + MAX_UPLOAD_SECONDS

    async def receive_limited() -> Message:
        nonlocal size, complete
        try:
            async with asyncio.timeout(None if complete else deadline - time.monotonic()):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, TOO_SLOW, {"Connection": "close"}) from None
        complete = complete or not message.get("more_body", False)
        size += len(message.get("body", b""))
        if size > MAX_BODY:
            raise HTTPException(413, TOO_LARGE, {"Connection": "close"})
        return message

    return receive_limited
