"""Errors of calls over HTTP: from an answer that is not a reply to an error with a short, stable reason."""

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from evenhand.llm.base import CallError, RunError
from evenhand.llm.dialect import ErrorBody
from evenhand.llm.endpoints import Endpoint
from evenhand.text import masked

KEPT = 2000
"""Characters of a server's answer that are kept with a failure."""

QUOTED = 300
"""Characters of a server's message that are quoted in ours."""

_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|AIza)[-_A-Za-z0-9*.…]{6,}")
_WRONG_KEY = re.compile(r"api[_ ]key[_ ](?:not[_ ]valid|invalid|expired)|invalid[_ ]api[_ ]key|incorrect api key")
_EMPTY_ACCOUNT = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|funds)|credit balance is too low|billing_hard_limit"
)


class TimedOut(CallError):
    """The reply was not complete in time."""

    def __init__(self) -> None:
        super().__init__("timed out", again=True, charged=True)


class ConnectionFault(CallError):
    """No connection, or one that broke before the reply was complete; `reached` tells the two apart."""

    def __init__(self, *, reached: bool) -> None:
        self.reached = reached
        super().__init__("connection broken" if reached else "connection failed", again=True, charged=reached)


class StatusFault(CallError):
    """The server answered with a status that is not a success."""

    def __init__(self, status: int, body: ErrorBody, headers: Mapping[str, str], raw: str) -> None:
        self.status = status
        super().__init__(
            _reason(status),
            again=status in (408, 409, 425, 429) or status >= 500,
            after=pause_asked(headers, body),
            limited=status == 429,
            raw=raw,
        )

    @property
    def overloaded(self) -> bool:
        """Whether the server has more calls than it can handle."""
        return self.status in (429, 503, 529)

    @property
    def unavailable(self) -> bool:
        """Whether this concerns the server as a whole, whatever it was asked."""
        return self.status in (429, 502, 503, 504)


def _reason(status: int) -> str:
    if status == 429:
        return "rate limited (429)"
    if status >= 500:
        return f"server error ({status})"
    return f"not now ({status})" if status in (408, 409, 425) else f"request refused ({status})"


def http_error(
    endpoint: Endpoint, status: int, headers: Mapping[str, str], body: ErrorBody, text: str
) -> StatusFault | RunError:
    """The error that an answer stands for: one call's, or the run's if no other call can succeed either."""
    quoted = f': "{without_key(endpoint, body.original[:QUOTED])}"' if body.original else ""
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
        place = masked(without_key(endpoint, headers.get("Location", "").partition("?")[0]))
        return RunError(
            f"{endpoint.url} redirects to {place or 'another address'} ({status}); use that address in the rater spec"
        )
    return StatusFault(status, body, headers, without_key(endpoint, text))


def _about_key(endpoint: Endpoint, status: int) -> str:
    if endpoint.key is None:
        return f"{endpoint.host} needs a key ({status}); set the environment variable {endpoint.variable} to it"
    return f"{endpoint.host} does not accept the key in {endpoint.variable} for {endpoint.model} ({status}); check it"


def without_key(endpoint: Endpoint, text: str) -> str:
    """The first KEPT characters of a server's answer, without the key or anything that looks like one."""
    key = endpoint.key.reveal() if endpoint.key is not None else ""
    if key:
        text = text.replace(key, "***")
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
