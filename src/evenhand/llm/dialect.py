"""Which parts of a request a server accepts, learned from its error messages."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from evenhand.llm.base import Request

LimitName = Literal["max_tokens", "max_completion_tokens"]

READ = 400
"""Characters of an error message that are read: longer ones quote the prompt, whose words mean nothing here."""

_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_STRUCTURE = re.compile(r"response_format|json_schema|json_object|guided_json|structured_outputs?")
_LOOSELY = re.compile(r"\b(?:schema|strict|grammar|structured output)")
_REFUSED = re.compile(r"support|unrecogni|unknown|unexpected|allow|permit|enabled|default|deprecat|extra|cannot find")
_TOO_LONG = re.compile(r"context|too (?:large|long|many)|at most|exceed|reduce")


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What a server says is wrong. `message`, `param` (the part of the request) and `code` are in lower case."""

    message: str = ""
    param: str | None = None
    code: str = ""
    original: str = ""
    """The message as it came."""
    delay: float | None = None
    """Seconds to wait, if the body asks for it."""
    status: int | None = None
    """The HTTP status in the body, which counts if the answer itself claims success."""
    text: str = field(default="", compare=False)
    """The whole body."""


def error_body(text: str) -> ErrorBody:
    """The error in a body, from the shapes in which servers report it; an empty one if there is none."""
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return ErrorBody(message=text[:READ].lower(), original=text[:READ], text=text)
    if isinstance(body, list) and body:
        body = cast("list[object]", body)[0]
    if not isinstance(body, dict):
        return ErrorBody(text=text)
    fields = cast("dict[str, object]", body)
    error = fields.get("error")
    inner = cast("dict[str, object]", error) if isinstance(error, dict) else fields
    original = _message(error if isinstance(error, str) else inner.get("message", fields.get("detail", "")))[:READ]
    param, code = inner.get("param"), inner.get("code")
    kinds = [inner.get(key) for key in ("code", "type", "status")]
    delay = _DELAY.search(text)
    return ErrorBody(
        message=original.lower(),
        param=param.lower().split(".")[0] if isinstance(param, str) and param else None,
        code=" ".join(kind.lower() for kind in kinds if isinstance(kind, str)),
        original=original,
        delay=float(delay[1]) if delay else None,
        status=code if error is not None and isinstance(code, int) and 400 <= code < 600 else None,
        text=text,
    )


def _message(value: object) -> str:
    """A message, or FastAPI's list of locations and messages, without the input that it quotes."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else ""
    lines: list[str] = []
    for entry in cast("Sequence[object]", value):
        if isinstance(entry, dict):
            fields = cast("Mapping[str, object]", entry)
            place = fields.get("loc")
            where = ".".join(map(str, cast("list[object]", place))) if isinstance(place, list) else ""
            lines.append(f"{where}: {fields.get('msg', '')}")
    return "; ".join(lines)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What requests to one server consist of: everything that it may accept, as far as is known before it was asked.

    `limits` are names of the bound on the reply's tokens; the first one is used. `hottest` is the highest temperature.
    """

    structure: Literal["json_schema", "json_object", "none"] = "json_schema"
    limits: tuple[LimitName, ...] = ("max_tokens", "max_completion_tokens")
    temperature: bool = True
    seed: bool = True
    logprobs: bool = True
    hottest: float = 2.0

    def without_rejected(self, request: Request, error: ErrorBody) -> "tuple[Dialect, str] | None":
        """The dialect without what the server rejected, and that in words; None if it rejected something else.

        Only what the request contained can have been rejected. A reply that would be too long is not about the dialect.
        """
        structured = request.schema is not None and self.structure != "none"
        if structured and _mentions(error, _STRUCTURE):
            return self._looser()
        if len(self.limits) > 1 and _rejects(error, self.limits[0]) and not _TOO_LONG.search(error.message):
            return replace(self, limits=self.limits[1:]), f"{self.limits[0]} (now {self.limits[1]})"
        if self.temperature and _rejects(error, "temperature"):
            return replace(self, temperature=False), "temperature"
        if self.logprobs and request.logprobs and (_rejects(error, "logprobs") or _rejects(error, "top_logprobs")):
            return replace(self, logprobs=False), "logprobs"
        if self.seed and request.seed is not None and _rejects(error, "seed"):
            return replace(self, seed=False), "seed"
        return self._looser() if structured and _mentions(error, _LOOSELY) else None

    def _looser(self) -> "tuple[Dialect, str]":
        if self.structure == "json_schema":
            return replace(self, structure="json_object"), "json_schema (now json_object)"
        return replace(self, structure="none"), "response_format"


ANY_DIALECT = Dialect()


def _mentions(error: ErrorBody, words: re.Pattern[str]) -> bool:
    return bool(words.search(error.param or error.message))


def _rejects(error: ErrorBody, part: str) -> bool:
    """Whether the error is about this part: a message may also quote a prompt that contains the same word."""
    if error.param:
        return error.param == part
    return bool(re.search(rf"\b{part}\b", error.message) and _REFUSED.search(error.message))
