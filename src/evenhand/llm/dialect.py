"""Which parts of a request a server accepts, learned from its error messages."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, cast

from evenhand.llm.base import Request

LimitName = Literal["max_tokens", "max_completion_tokens"]

READ = 400
"""Characters of an error message that are read: longer ones quote the prompt, whose words mean nothing here."""

MOST_NESTED = 8
"""Levels of an error that are searched for a message."""

_MESSAGE_KEYS = ("error", "message", "msg", "detail", "metadata", "raw")
_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_STRUCTURE = re.compile(r"response_format|json_schema|json_object|guided_json|structured_outputs?")
_BOUND = re.compile(r"(?:max|min)(?:length|items)|(?:propert(?:y|ies)|keywords?:?|['\"`])\s*(?:max|min)imum\b")
_LOOSELY = re.compile(r"\b(?:schema|strict|grammar|structured output)")
_REFUSED = re.compile(r"support|unrecogni|unknown|unexpected|allow|permit|enabled|default|deprecat|extra|cannot find")
_TOO_LONG = re.compile(r"context|too (?:large|long|many)|at most|exceed|reduce")
_MODERATED = re.compile(r"moderat|flagged|content[_ ](?:policy|filter|management)|safety|blocked")
_BOUNDS = {"maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum"}


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What a server says is wrong. `param` (the part of the request) and `code` are in lower case."""

    original: str = ""
    """The message as it came."""
    param: str | None = None
    code: str = ""
    delay: float | None = None
    """Seconds to wait, if the body asks for it."""
    status: int | None = None
    """The HTTP status in the body, which counts if the answer itself claims success."""
    text: str = field(default="", compare=False)
    """The whole body."""

    @property
    def message(self) -> str:
        """The message in lower case."""
        return self.original.lower()

    @property
    def about_prompt(self) -> bool:
        """Whether it complains about the prompt, its length or what it says, which other prompts may not share."""
        return bool(_TOO_LONG.search(self.message) or _MODERATED.search(f"{self.code} {self.message}"))


def error_body(text: str) -> ErrorBody:
    """The error in a body, from the shapes in which servers report it; an empty one if there is none."""
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return ErrorBody(text[:READ], text=text)
    if isinstance(body, list) and body:
        body = cast("list[object]", body)[0]
    if not isinstance(body, dict):
        return ErrorBody(text=text)
    fields = cast("dict[str, object]", body)
    error = fields.get("error")
    inner = cast("dict[str, object]", error) if isinstance(error, dict) else fields
    param, code = inner.get("param"), inner.get("code")
    kinds = [inner.get(key) for key in ("code", "type", "status")]
    delay = _DELAY.search(text)
    return ErrorBody(
        _message(fields)[:READ],
        param=param.lower().split(".")[0] if isinstance(param, str) and param else None,
        code=" ".join(kind.lower() for kind in kinds if isinstance(kind, str)),
        delay=float(delay[1]) if delay else None,
        status=code if error is not None and isinstance(code, int) and 400 <= code < 600 else None,
        text=text,
    )


def _message(value: object, depth: int = 0) -> str:
    """The message in an error: a text, in whatever a gateway has wrapped it, or FastAPI's list of locations and
    messages, without the input that it quotes."""
    if depth > MOST_NESTED:
        return ""
    if isinstance(value, str):
        return _unwrapped(value, depth)
    if isinstance(value, list):
        return "; ".join(filter(None, (_message(entry, depth + 1) for entry in cast("list[object]", value))))
    if not isinstance(value, dict):
        return ""
    fields = cast("Mapping[str, object]", value)
    if isinstance(place := fields.get("loc"), list):
        return f"{'.'.join(map(str, cast('list[object]', place)))}: {fields.get('msg', '')}"
    found = (_message(fields[key], depth + 1) for key in _MESSAGE_KEYS if key in fields)
    # The outer message is often only "Provider returned error"; what went wrong is in the inner one.
    return ": ".join(dict.fromkeys(filter(None, found)))


def _unwrapped(text: str, depth: int) -> str:
    """A text, or the message inside it, if it is the JSON of another server's error."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _message(json.loads(text), depth + 1) or text
        except (ValueError, RecursionError):
            pass
    return text


@dataclass(frozen=True, slots=True)
class Dialect:
    """What requests to one server consist of: everything that it may accept, as far as is known before it was asked.

    `limits` are names of the bound on the reply's tokens; the first one is used. `hottest` is the highest temperature.
    `bounds`: limits on lengths and numbers in a schema.
    """

    structure: Literal["json_schema", "json_object", "none"] = "json_schema"
    limits: tuple[LimitName, ...] = ("max_tokens", "max_completion_tokens")
    temperature: bool = True
    seed: bool = True
    logprobs: bool = True
    hottest: float = 2.0
    bounds: bool = True

    def without_rejected(self, request: Request, error: ErrorBody) -> "tuple[Dialect, str] | None":
        """The dialect without what the server rejected, and that in words; None if it rejected something else.

        Only what the request contained can have been rejected. A reply that would be too long is not about the dialect.
        """
        structured = request.schema is not None and self.structure != "none"
        if structured and (_mentions(error, _STRUCTURE) or _BOUND.search(error.message)):
            return self._looser(request)
        if len(self.limits) > 1 and _rejects(error, self.limits[0]) and not _TOO_LONG.search(error.message):
            return replace(self, limits=self.limits[1:]), f"{self.limits[0]} (now {self.limits[1]})"
        sent = {"temperature": True, "logprobs": bool(request.logprobs), "seed": request.seed is not None}
        for part, is_sent in sent.items():
            if is_sent and getattr(self, part) and _rejects(error, part):
                return replace(self, **{part: False}), part
        return self._looser(request) if structured and _mentions(error, _LOOSELY) else None

    def without_schema(self, request: Request) -> "list[tuple[Dialect, str]]":
        """The dialect without limits in the schema, then without the schema, whatever the server said."""
        if request.schema is None or self.structure == "none":
            return []
        looser, none = self._looser(request), (replace(self, structure="none"), "response_format")
        return [none] if looser[0].bounds else [looser, none]

    def _looser(self, request: Request) -> "tuple[Dialect, str]":
        text = request.schema.text if request.schema else "{}"
        if self.structure == "json_schema" and self.bounds and parsed_schema(text) != unbounded_schema(text):
            return replace(self, bounds=False), "limits on lengths and numbers in the JSON schema"
        if self.structure == "json_schema":
            return replace(self, structure="json_object"), "json_schema (now json_object)"
        return replace(self, structure="none"), "response_format"


ANY_DIALECT = Dialect()


parsed_schema = lru_cache(maxsize=64)(json.loads)


@lru_cache(maxsize=64)
def unbounded_schema(text: str) -> object:
    """A schema without limits on lengths and numbers. What a property is called does not matter."""

    def without(node: Any) -> Any:
        if not isinstance(node, dict):
            return [without(one) for one in cast("list[Any]", node)] if isinstance(node, list) else node
        fields = {key: value for key, value in cast("dict[str, Any]", node).items() if key not in _BOUNDS}
        return {
            key: {name: without(one) for name, one in value.items()} if key == "properties" else without(value)
            for key, value in fields.items()
        }

    return without(json.loads(text))


def _mentions(error: ErrorBody, words: re.Pattern[str]) -> bool:
    return bool(words.search(error.param or error.message))


def _rejects(error: ErrorBody, part: str) -> bool:
    """Whether the error is about this part: a message may also quote a prompt that contains the same word."""
    if error.param:
        return error.param.removeprefix("top_") == part
    return bool(re.search(rf"\b(?:top_)?{part}\b", error.message) and _REFUSED.search(error.message))
