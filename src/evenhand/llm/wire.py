"""The chat completions format: requests as JSON bytes, replies from JSON bytes, and what a server's errors mean."""

import json
import re
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, cast

from pydantic_core import PydanticSerializationError, to_json

from evenhand.llm.base import CallError, Choice, Reply, Request, RunError, Usage
from evenhand.llm.dialect import Dialect, ErrorBody, error_body, parsed_schema, unbounded_schema
from evenhand.llm.endpoints import Endpoint
from evenhand.text import masked

KEPT = 2000
"""Characters of a server's answer that are kept with a failure."""

MOST_TOKENS = 10**9
"""Tokens of one call; the largest contexts have a hundredth of it."""

QUOTED = 300
"""Characters of a server's message that are quoted in ours."""

_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|AIza)[-_A-Za-z0-9*.…]{6,}")
_WRONG_KEY = re.compile(r"api[_ ]key[_ ](?:not[_ ]valid|invalid|expired)|invalid[_ ]api[_ ]key|incorrect api key")
_EMPTY_ACCOUNT = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|funds)|credit balance is too low|billing_hard_limit"
)


class NotACompletion(ValueError):
    """The body is not a chat completion."""


def body_of(request: Request, model: str, dialect: Dialect) -> bytes:
    """The body of a request."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        dialect.limits[0]: request.max_tokens,
    }
    if dialect.temperature:
        body["temperature"] = min(request.temperature, dialect.hottest)
    if dialect.seed and request.seed is not None:
        body["seed"] = request.seed
    if dialect.logprobs and request.logprobs:
        body |= {"logprobs": True, "top_logprobs": request.logprobs}
    if request.schema is not None and dialect.structure == "json_schema":
        read = parsed_schema if dialect.bounds else unbounded_schema
        schema = {"name": request.schema.name, "strict": True, "schema": read(request.schema.text)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.schema is not None and dialect.structure == "json_object":
        body["response_format"] = {"type": "json_object"}
    try:
        return to_json(body)
    except (PydanticSerializationError, UnicodeEncodeError):  # a lone surrogate, which only an escape can represent
        return json.dumps(body).encode()


def reply_of(body: bytes, *, seconds: float | None = None) -> Reply:
    """The reply in a body. Raises NotACompletion if there is none; anything else that is missing is left out."""
    try:
        completion = _fields(_parsed(str(body, "utf-8-sig")))
    except (ValueError, RecursionError):
        raise NotACompletion from None
    entries = _entries(completion.get("choices"))
    first = _fields(entries[0]) if entries else {}
    if not isinstance(first.get("message"), dict):
        raise NotACompletion
    message = _fields(first["message"])
    text, refusal = _text(message.get("content")), message.get("refusal")
    finish = first.get("finish_reason")
    if finish == "content_filter" or (isinstance(refusal, str) and refusal):
        finish, text = "refusal", refusal if isinstance(refusal, str) and refusal else text
    model, logprobs = completion.get("model"), _entries(_fields(first.get("logprobs")).get("content"))
    return Reply(
        # Lone surrogates can be neither printed nor stored.
        text=text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"),
        finish=finish if isinstance(finish, str) and finish else "stop",
        usage=_usage(_fields(completion.get("usage"))),
        model=model if isinstance(model, str) else "",
        choices=_choices(logprobs, text) if logprobs else (),
        seconds=seconds,
    )


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:  # Python refuses to parse integers of many thousand digits
        return json.loads(text, parse_int=float)


def _fields(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _entries(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        raise NotACompletion
    texts = [_fields(part).get("text") for part in _entries(cast("object", content))]
    return "".join(text for text in texts if isinstance(text, str))


def _usage(usage: dict[str, object]) -> Usage | None:
    read, written = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if read is None or written is None:
        return None
    # Some servers count a model's thoughts only in the total, and charge for them as for anything it writes.
    total = _count(usage.get("total_tokens")) or 0
    cached = _count(_fields(usage.get("prompt_tokens_details")).get("cached_tokens")) or 0
    return Usage(read, max(written, total - read), min(cached, read))


def _count(value: object) -> int | None:
    """A number of tokens; None for what cannot be one, such as a number with hundreds of digits."""
    return value if isinstance(value, int) and 0 <= value <= MOST_TOKENS else None


def _choices(tokens: Sequence[object], text: str) -> tuple[Choice, ...]:
    """The alternatives at each token, if the tokens make up the text.

    Tokens before or after it are left out: some servers include those of a code fence that they removed, or an end
    mark. All in bytes, because a token may be a part of a character.
    """
    choices: list[Choice] = []
    whole = text.encode("utf-8", "surrogatepass")
    fields = [_fields(token) for token in tokens]
    said = b"".join(map(_bytes, fields))
    # How many bytes of the tokens precede the text, if it occurs only once.
    ahead = said.find(whole) if not said.startswith(whole) and said.count(whole) == 1 else 0
    place = offset = 0
    for token in fields:
        chosen = _bytes(token)
        if ahead > 0:
            ahead -= len(chosen)
        elif place == len(whole):
            break
        elif not whole.startswith(chosen, place):
            return ()
        else:
            inside = bool(chosen) and chosen[0] & 0xC0 == 0x80
            choices.append(Choice(offset - inside, _shown(chosen), _alternatives(_entries(token.get("top_logprobs")))))
            place += len(chosen)
            offset += sum(byte & 0xC0 != 0x80 for byte in chosen)
    return tuple(choices) if place == len(whole) else ()


def _alternatives(tokens: Sequence[object]) -> tuple[tuple[str, float], ...]:
    known = [(_shown(_bytes(token)), token.get("logprob")) for token in map(_fields, tokens)]
    # NaN, infinities, and integers that no float can hold are left out.
    pairs = [(text, float(value)) for text, value in known if isinstance(value, float | int) and abs(value) < 1e300]
    return tuple(sorted(pairs, key=lambda pair: -pair[1]))


def _bytes(token: dict[str, object]) -> bytes:
    """A token's bytes, or those of its text if the server sends none."""
    numbers, text = token.get("bytes"), token.get("token")
    if isinstance(numbers, list) and numbers:
        try:
            return bytes(cast("list[int]", numbers))
        except (ValueError, TypeError):
            pass
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""


def _shown(token: bytes) -> str:
    return token.decode("utf-8", "replace")


def completion_of(body: bytes, endpoint: Endpoint, seconds: float) -> Reply:
    """The reply in a body that came with a status of success. Raises CallError if it contains an error all the same."""
    try:
        return reply_of(body, seconds=seconds)
    except NotACompletion:
        error = error_body(body.decode("utf-8", "replace"))
        if error.status is not None:
            raise http_error(endpoint, error.status, {}, error) from None
        raw = _without_key(endpoint, error.text)
        raise CallError("the reply is not a chat completion", again=True, charged=True, raw=raw) from None


def http_error(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: ErrorBody) -> CallError:
    """The error that an answer stands for: one call's, or a RunError if no other call can succeed either."""
    quoted = f': "{_without_key(endpoint, body.original[:QUOTED])}"' if body.original else ""
    if status == 402 or _EMPTY_ACCOUNT.search(f"{body.code} {body.message}"):
        return RunError(f"the account at {endpoint.host} is empty or at its spending limit ({status}){quoted}")
    refused = f"request refused ({status})"
    raw = _without_key(endpoint, body.text)
    if status in (401, 403) or _WRONG_KEY.search(f"{body.code} {body.message}"):
        why = f"does not accept the key in {endpoint.variable} for {endpoint.model} ({status}); check it"
        if endpoint.key is None:
            why = f"needs a key ({status}); set the environment variable {endpoint.variable} to it"
        if status == 403:  # also the answer to a single text that is not welcome
            why = f"denies access to {endpoint.model} (403); check that the key in {endpoint.variable} may use it"
        stop = RunError(f"{endpoint.host} {why}{quoted}", raw=raw)
        return CallError(refused, raw=raw, stop=stop, suspect=not body.about_prompt) if status == 403 else stop
    if status in (404, 405):
        stop = RunError(
            f'{endpoint.host} has no model "{endpoint.model}" or no address {endpoint.url} ({status}); '
            f"check the model's name and the address{quoted}"
        )
        return CallError(refused, raw=raw, stop=stop, suspect=True)
    if 300 <= status < 400:
        place = masked(_without_key(endpoint, headers.get("Location", "").partition("?")[0]))
        return RunError(
            f"{endpoint.url} redirects to {place or 'another address'} ({status}); use that address in the rater spec"
        )
    later = status in (408, 409, 425)
    limited = "rate limited" if status == 429 else "not now" if later else "server error"
    again = later or status == 429 or status >= 500
    stop = RunError(f"{endpoint.host} accepts none of the requests ({status}){quoted}", raw=raw)
    return CallError(
        f"{limited} ({status})" if again else refused,
        again=again,
        after=pause_asked(headers, body),
        limited=status == 429,
        overloaded=status in (429, 503, 529),
        unavailable=status in (429, 502, 503, 504),
        raw=raw,
        stop=None if again else stop,
    )


def _without_key(endpoint: Endpoint, text: str) -> str:
    """The first KEPT characters of a server's answer, without the key or anything that looks like one."""
    if endpoint.key is not None:
        text = text.replace(endpoint.key.reveal(), "***")
    return _KEY_LIKE.sub("***", text[:KEPT]).replace("\0", "\ufffd")


def pause_asked(headers: Mapping[str, str], body: ErrorBody) -> float | None:
    """How many seconds the server asks to wait, in any of the usual ways; None if it does not ask."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    if (retry_after := headers.get("Retry-After")) is not None:
        if (seconds := _number(retry_after)) is not None:
            return seconds
        try:
            return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
        except (ValueError, OverflowError):
            return None
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
