"""What went wrong in a call: from an HTTP answer that is no reply to an error with a short, stable reason."""

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from evenhand.errors import masked
from evenhand.llm.base import CallError, RunError
from evenhand.llm.complaints import Complaint
from evenhand.llm.endpoints import Endpoint

KEPT = 2000
QUOTED = 300

OVERLOADED = (429, 503, 529)
UNAVAILABLE = (502, 503, 504)

_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|AIza)[-_A-Za-z0-9*.…]{6,}")
_WRONG_KEY = re.compile(r"api[_ ]key[_ ](?:not[_ ]valid|invalid|expired)|invalid[_ ]api[_ ]key|incorrect api key")
_EMPTY_ACCOUNT = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|funds)|credit balance is too low|billing_hard_limit"
)


class TimedOut(CallError):
    """The whole reply did not come in time."""

    def __init__(self) -> None:
        super().__init__("timed out", again=True, charged=True)


class ConnectionFault(CallError):
    """No connection, or one that broke before the whole reply was there; `reached` tells the two apart."""

    def __init__(self, *, reached: bool) -> None:
        self.reached = reached
        super().__init__("connection broken" if reached else "connection failed", again=True, charged=reached)


class StatusFault(CallError):
    """The server answered with a status that is no success."""

    def __init__(self, status: int, complaint: Complaint, headers: Mapping[str, str], raw: str) -> None:
        self.status = status
        super().__init__(
            _reason(status),
            again=status in (408, 409, 425, 429) or status >= 500,
            after=pause_asked(headers, complaint),
            limited=status == 429,
            raw=raw,
        )


def _reason(status: int) -> str:
    if status == 429:
        return "rate limited (429)"
    if status >= 500:
        return f"server error ({status})"
    if status in (408, 409, 425):
        return f"not now ({status})"
    return f"request refused ({status})"


def fault_of(
    endpoint: Endpoint, status: int, headers: Mapping[str, str], complaint: Complaint, text: str
) -> StatusFault | RunError:
    """The error that an answer stands for: one call's, or where no other call can succeed either, the run's."""
    said = f': "{without_key(endpoint, complaint.said[:QUOTED])}"' if complaint.said else ""
    if status == 402 or _EMPTY_ACCOUNT.search(f"{complaint.code} {complaint.message}"):
        return RunError(f"the account at {endpoint.host} is empty or at its spending limit ({status}){said}")
    if status in (401, 403) or _WRONG_KEY.search(f"{complaint.code} {complaint.message}"):
        return RunError(_about_key(endpoint, status) + said)
    if status in (404, 405):
        return RunError(
            f'{endpoint.host} has no model "{endpoint.model}" or no address {endpoint.url} ({status}); '
            f"check the model's name and the address{said}"
        )
    if 300 <= status < 400:
        place = masked(without_key(endpoint, headers.get("Location", "").partition("?")[0]))
        return RunError(
            f"{endpoint.url} sends requests on to {place or 'another address'} ({status}); use that address in the spec"
        )
    return StatusFault(status, complaint, headers, without_key(endpoint, text))


def _about_key(endpoint: Endpoint, status: int) -> str:
    if endpoint.key is None:
        return f"{endpoint.host} wants a key ({status}); set the environment variable {endpoint.variable} to it"
    return f"{endpoint.host} does not accept the key in {endpoint.variable} for {endpoint.model} ({status}); check it"


def without_key(endpoint: Endpoint, text: str) -> str:
    """What the server said, at most KEPT characters of it, without the key or anything that looks like one."""
    key = endpoint.key.reveal() if endpoint.key is not None else ""
    if key:
        text = text.replace(key, "***")
    return _KEY_LIKE.sub("***", text[:KEPT]).replace("\0", "\ufffd")


def pause_asked(headers: Mapping[str, str], complaint: Complaint) -> float | None:
    """How many seconds the server asks to wait, by any of the ways to say so; None where it says nothing."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("Retry-After")
    if said is not None:
        seconds = _number(said)
        return _until(said) if seconds is None else seconds
    if complaint.delay is not None:
        return complaint.delay
    reset = _number(headers.get("x-ratelimit-reset"))
    # A moment since 1970, in milliseconds or seconds, or simply seconds from now: told apart by their size.
    if reset is not None and reset > 1e9:
        return max(0.0, (reset / 1000 if reset > 1e11 else reset) - time.time())
    return reset


def _number(text: str | None) -> float | None:
    """A number of seconds; `inf` and `nan` are none."""
    return float(text) if text is not None and re.fullmatch(r"\s*\d{1,15}(\.\d*)?\s*", text, re.ASCII) else None


def _until(moment: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(moment).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
