"""What a language model is asked and what it replies, however it is reached."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from typing import Any, Literal
from typing import Protocol as Interface

from evenhand.errors import EvenhandError
from evenhand.llm.rate_limit import RateLimiter

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema that the reply must obey, as JSON text."""

    name: str
    text: str


Node = Mapping[str, Any]
"""A part of a JSON Schema."""


def strict_schema(name: str, properties: Mapping[str, Node]) -> Schema:
    """An object's schema as the strict modes of servers want it: every property is required, and none may be added."""
    root = _closed({"type": "object", "properties": properties})
    return Schema(name[:64], json.dumps(root, ensure_ascii=False, separators=(",", ":")))


def _closed(node: Node) -> Node:
    if "properties" not in node:
        return {**node, "items": _closed(node["items"])} if "items" in node else node
    properties = {name: _closed(child) for name, child in node["properties"].items()}
    return {**node, "properties": properties, "required": list(properties), "additionalProperties": False}


@dataclass(frozen=True)
class Request:
    """One question to a model. `logprobs` asks for that many alternatives to each token, 0 for none.

    `fresh` asks for a new connection, because an earlier one delivered the reply to another request; it changes neither
    what the model reads nor how.
    """

    messages: tuple[Message, ...]
    schema: Schema | None = None
    max_tokens: int = 2048
    temperature: float = 0.0
    seed: int | None = None
    logprobs: int = 0
    fresh: bool = False
    sample: int = 0
    """Distinguishes repeated requests, whose replies are stored side by side; never sent."""
    digest: str = field(init=False, repr=False)
    """SHA-256 of what the model reads: the messages and the schema."""
    parameters: str = field(init=False, repr=False)
    """Everything else that changes what comes back, in one fixed form."""

    def __post_init__(self) -> None:
        # Thousands of requests begin with the same long message, which is hashed only once.
        parts = [_known_digest(message) if message.role == "system" else _digest(message) for message in self.messages]
        digest = hashlib.sha256("\n".join(parts).encode())
        if self.schema is not None:
            digest.update(f"\nschema {self.schema.name}\n{self.schema.text}".encode())
        object.__setattr__(self, "digest", digest.hexdigest())
        parameters = _parameters(self.logprobs, self.max_tokens, self.seed, self.temperature)
        object.__setattr__(self, "parameters", parameters)


def _digest(message: Message) -> str:
    return f"{message.role} {hashlib.sha256(message.content.encode('utf-8', 'surrogatepass')).hexdigest()}"


_known_digest = lru_cache(maxsize=16)(_digest)


@lru_cache(maxsize=16, typed=True)
def _parameters(logprobs: int, max_tokens: int, seed: int | None, temperature: float) -> str:
    return json.dumps({"logprobs": logprobs, "max_tokens": max_tokens, "seed": seed, "temperature": temperature})


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written, as counted by the server; `cached` is the part of `input` that it had read before."""

    input: int
    output: int
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """The alternatives to one token of the reply: texts with their log probabilities, the most probable first."""

    offset: int
    """Where the chosen token begins in the reply's text."""
    text: str
    alternatives: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied. `finish` is `stop`, `length` (the token limit), `refusal`, or the server's own word."""

    text: str
    finish: str = "stop"
    usage: Usage | None = None
    model: str = ""
    """The model's name according to the server, often with a date that the request did not have."""
    choices: tuple[Choice, ...] = ()
    seconds: float | None = None
    id: str | None = field(default=None, compare=False)
    """The id under which the reply is stored, if it is."""


@dataclass(eq=False, repr=False)
class CallError(EvenhandError):
    """A call without a reply. `reason` is short and the same for all calls that failed in the same way.

    `again`: another try may succeed, but not before `after` seconds, if the server said so. `limited`: the server asked
    for fewer calls; `overloaded`: it has more than it can handle; `unavailable`: it failed as a whole, whatever it was
    asked. `reached`: there was a connection. `charged`: the server had the request and may charge for it. `raw` is what
    was received. `stop` ends the run if further requests are rejected in the same way; `suspect`: rather because of the
    key, the model or the address than because of what was asked.
    """

    reason: str
    _: KW_ONLY
    again: bool = False
    after: float | None = None
    limited: bool = False
    overloaded: bool = False
    unavailable: bool = False
    reached: bool = True
    charged: bool = False
    raw: str | None = None
    stop: "RunError | None" = None
    suspect: bool = False


class RunError(CallError):
    """No call can succeed: a wrong key, an unknown model, an empty account. The message explains what to do."""


BeforeRetry = Callable[[bool], None]


class Chat(Interface):
    """A model that replies. One object takes many calls at once, from one event loop."""

    model: str
    """The name under which replies of the same model are stored and found again."""
    pace: RateLimiter
    """How many calls may be in progress: a caller takes a place first and keeps it until the reply is stored."""

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """Ask, with as many tries as this chat's own rules allow. Raises CallError if there was no reply.

        `before_retry` is called before a request is sent again, with whether the last try may be charged for: the
        server received it, but no usable answer came back. An exception that it raises ends the call.
        """
        ...

    async def close(self) -> None: ...
