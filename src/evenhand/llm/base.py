"""What is asked of a language model and what comes back, whichever way it is reached."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal
from typing import Protocol as Interface

from evenhand.errors import EvenhandError

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema that the reply must obey, as JSON text: encoded once, sent many times."""

    name: str
    text: str


@dataclass(frozen=True)
class Request:
    """One question to a model. `logprobs` asks for that many alternatives to each token, 0 for none."""

    messages: tuple[Message, ...]
    schema: Schema | None = None
    max_tokens: int = 2048
    temperature: float = 0.0
    seed: int | None = None
    logprobs: int = 0

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what the model reads: the messages and the schema."""
        # Thousands of requests begin with the same long message: it is hashed once.
        parts = [_known_digest(message) if message.role == "system" else _digest(message) for message in self.messages]
        digest = hashlib.sha256("\n".join(parts).encode())
        if self.schema is not None:
            digest.update(f"\nschema {self.schema.name}\n{self.schema.text}".encode())
        return digest.hexdigest()

    @property
    def parameters(self) -> str:
        """Everything else that changes what comes back, in one fixed form."""
        known = {
            "logprobs": self.logprobs,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "temperature": self.temperature,
        }
        return json.dumps(known, sort_keys=True)


def _digest(message: Message) -> str:
    return f"{message.role} {hashlib.sha256(message.content.encode('utf-8', 'surrogatepass')).hexdigest()}"


_known_digest = lru_cache(maxsize=16)(_digest)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written, as the server counted them; `cached` is the part of `input` that it had read before."""

    input: int
    output: int
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """The alternatives at one place of the reply: texts with their log probabilities, the most probable first."""

    offset: int
    """Where in the reply's text the chosen token begins."""
    text: str
    alternatives: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said. `finish` is `stop`, `length` (cut at the token limit), `refusal`, or the server's own word."""

    text: str
    finish: str = "stop"
    usage: Usage | None = None
    model: str = ""
    """The model's name as the server gave it: a dated version where the request named none."""
    choices: tuple[Choice, ...] = ()
    seconds: float | None = None


class CallError(EvenhandError):
    """A call that brought no reply. `reason` is short and the same for all calls that failed alike.

    `again`: another try may go better; `after`: not before this many seconds, as the server said. `charged`: the server
    had the request and may charge for it. `raw` is what came, where anything did.
    """

    def __init__(
        self,
        reason: str,
        *,
        again: bool = False,
        after: float | None = None,
        limited: bool = False,
        charged: bool = False,
        raw: str | None = None,
    ) -> None:
        self.reason = reason
        self.again = again
        self.after = after
        self.limited = limited
        """The server asked for fewer calls."""
        self.charged = charged
        self.raw = raw
        super().__init__(reason)


class RunError(CallError):
    """No call can succeed: a wrong key, an unknown model, an empty account. The message says what to do."""


BeforeRetry = Callable[[bool], None]


class Pace(Interface):
    """Places for calls: `async with pace:` waits for one."""

    @property
    def width(self) -> int:
        """How many places there are, as of now."""
        ...

    async def __aenter__(self) -> object: ...

    async def __aexit__(self, *exc: object) -> None: ...


class Chat(Interface):
    """A model that answers. One object may be asked many things at once, from one event loop."""

    @property
    def model(self) -> str:
        """What the model is called, as far as replies of the same model go: part of the key of a stored reply."""
        ...

    @property
    def pace(self) -> "Pace":
        """How many may ask at once. Whoever asks takes a place first and keeps it until the reply is safe."""
        ...

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        """Ask once, or as often as this chat's own rules say. Raises CallError where no reply came.

        `before_retry` is called before a request is sent once more, with whether the last try may be charged for: the
        server had it, but no usable answer came back. What it raises ends the call.
        """
        ...

    async def close(self) -> None: ...
