"""What stands before every route: whose host this is, whether a request comes from our own page, how much it may hold
and how often it may come; and the headers of every answer, errors included."""

import asyncio
import time
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenhand.web.auth import bearer_of
from evenhand.web.config import Config
from evenhand.web.faults import LOG, OUR_FAULT, answer
from evenhand.web.limits import Pace

LARGEST_BODY = 1_000_000
SLOWEST_BODY = 60.0
"""Seconds until a request must have arrived as a whole."""
TOO_SLOW = "This request took too long to arrive. Send it again."
TOO_LARGE = "This is more than the 1 MB that one request may hold. Send less at once."

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
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
READING = frozenset({"GET", "HEAD"})


class Guard:
    """ASGI middleware around the whole app, the answers to failures included."""

    def __init__(self, app: ASGIApp, config: Config, pace: Pace | None = None) -> None:
        self._app, self._config, self._pace = app, config, pace or Pace()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._add_headers(scope, MutableHeaders(raw=message["headers"]))
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is not None:
                await refusal(scope, receive, send_guarded)
            else:
                await self._app(scope, _bounded(receive), send_guarded)
        except Exception:
            # Not the path itself: an invite's token may stand in it.
            LOG.exception("%s %s failed", scope["method"], getattr(scope.get("route"), "path", "(no route)"))
            if started:
                raise
            await answer(scope, 500, OUR_FAULT)(scope, receive, send_guarded)

    def _add_headers(self, scope: Scope, headers: MutableHeaders) -> None:
        for name, value in HEADERS.items():
            headers[name] = value
        headers["Cache-Control"] = "no-cache" if scope["path"].startswith("/static/") else "no-store"
        if self._config.https:
            headers["Strict-Transport-Security"] = STRICT_TRANSPORT

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that does not come as far as a route."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._config.serves(host):
            why = f"This server does not answer to the name {host!r}. Its owner can change that: evenhand serve --url."
            return answer(scope, 421, why)
        why = self._foreign(scope, headers, host)
        if why is not None:
            return answer(scope, 403, why)
        if headers.get("content-length", "0").isdigit() and int(headers.get("content-length", "0")) > LARGEST_BODY:
            return answer(scope, 413, TOO_LARGE, headers={"Connection": "close"})
        wait = self._wait(scope, headers)
        if wait:
            why = "There were too many requests at once. Wait a moment, then try again."
            return answer(scope, 429, why, headers={"Retry-After": str(wait)})
        return None

    def _foreign(self, scope: Scope, headers: Headers, host: str) -> str | None:
        """Why a request that changes something may be one that another site made somebody's browser send."""
        if scope["method"] in READING or bearer_of(headers.get("authorization")) is not None:
            return None
        # Signing somebody in from another site would have them work under a name that is not theirs.
        if "cookie" not in headers and not scope["path"].startswith("/api/session"):
            return None
        if headers.get("x-evenhand") != "1":
            return "This request needs the header X-Evenhand: 1, or a token in place of the cookie."
        origin = headers.get("origin")
        if origin is not None and not self._config.is_own_origin(origin, host):
            return "This request comes from another site. Open the page itself and try again."
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return "This request comes from another site. Open the page itself and try again."
        return None

    def _wait(self, scope: Scope, headers: Headers) -> int:
        """Seconds that a session or token with too many requests has to wait. Those who have neither share an address,
        perhaps a whole class behind one, and are not counted; what they fail at is."""
        if scope["path"].startswith("/static/"):
            return 0
        token = bearer_of(headers.get("authorization")) or self._session(headers.get("cookie", ""))
        return self._pace.wait(sha256(token.encode()).hexdigest()) if token else 0

    def _session(self, cookie: str) -> str | None:
        try:
            cookies = SimpleCookie(cookie)
        except CookieError:
            return None
        for access in ("rater", "owner"):
            if self._config.cookie(access) in cookies:
                return cookies[self._config.cookie(access)].value
        return None


def _bounded(receive: Receive) -> Receive:
    """Counts the body as it comes, whatever length was announced, and does not wait for it for ever: otherwise a few
    clients that never finish would hold all connections that the system has to give."""
    size, whole = 0, False
    deadline = time.monotonic() + SLOWEST_BODY

    async def receive_bounded() -> Message:
        nonlocal size, whole
        try:
            async with asyncio.timeout(None if whole else deadline - time.monotonic()):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, TOO_SLOW, {"Connection": "close"}) from None
        whole = whole or not message.get("more_body", False)
        size += len(message.get("body", b""))
        if size > LARGEST_BODY:
            raise HTTPException(413, TOO_LARGE, {"Connection": "close"})
        return message

    return receive_bounded
