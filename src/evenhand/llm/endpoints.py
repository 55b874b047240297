"""Where a model is reached: from a rater spec and the settings to an address, a key and what the server takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from typing import Protocol as Interface
from urllib.parse import SplitResult, urlsplit

from evenhand.errors import UserError, masked

LimitName = Literal["max_tokens", "max_completion_tokens"]

EXAMPLES = (
    "openai:MODEL, gemini:MODEL, anthropic:MODEL, or the address of a server and its model: http://HOST:PORT/v1#MODEL"
)
PATH = "/chat/completions"
OWN_KEY = "EVENHAND_API_KEY"


class Hidden(Interface):
    """A text that only the one who sends it reads; `evenhand.settings.Secret` is one."""

    def reveal(self) -> str: ...


class Deployment(Interface):
    """The part of the settings that is needed here; `evenhand.settings.Settings` has it."""

    @property
    def keys(self) -> Mapping[str, Hidden]: ...

    @property
    def openai_base_url(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one address.

    `name` is the spec it came from and holds no secret; `provider` is the one whose prices hold, if any. `structured`,
    `seed` and `logprobs` say whether the server heeds these: one that passes over them in silence is not asked.
    `bounded_strings`: schemas may bound the length of a text. `variable` names where the key is, or would be.
    """

    name: str
    model: str
    url: str
    provider: str | None = None
    key: Hidden | None = None
    variable: str = OWN_KEY
    structured: bool = True
    logprobs: bool = True
    seed: bool = True
    bounded_strings: bool = False
    hottest: float = 2.0
    """The highest temperature."""
    limit: LimitName = "max_tokens"
    """What the bound on the reply's tokens is called."""

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


@dataclass(frozen=True, slots=True)
class _Provider:
    """A service with an address of its own; `variables` may hold its key, the first that is set counts."""

    name: str
    base: str
    variables: tuple[str, ...]
    example: str
    heeds: bool = True
    hottest: float = 2.0
    limit: LimitName = "max_tokens"


_PROVIDERS = {
    # The older name of the limit is refused by OpenAI's reasoning models, the newer one taken by all of its models.
    "openai": _Provider(
        "openai",
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        "openai:gpt-4.1-mini",
        limit="max_completion_tokens",
    ),
    "gemini": _Provider(
        "google",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini:gemini-2.5-flash",
    ),
    # Passes over response_format, seed and logprobs without a word; platform.claude.com/docs/en/api/openai-sdk
    "anthropic": _Provider(
        "anthropic",
        "https://api.anthropic.com/v1",
        ("ANTHROPIC_API_KEY",),
        "anthropic:claude-sonnet-4-5",
        heeds=False,
        hottest=1.0,
    ),
}


def endpoint_of(spec: str, settings: Deployment) -> Endpoint:
    """The endpoint that a rater spec names. Raises UserError for a wrong spec or a key that is not set."""
    spec = spec.strip()
    scheme, colon, model = spec.partition(":")
    if scheme.lower() in ("http", "https"):
        return _server(spec, settings)
    provider = _PROVIDERS.get(scheme)
    if provider is None or not colon:
        raise UserError(f'"{masked(spec)}" names no model that can be asked; valid are {EXAMPLES}')
    if not model.strip():
        raise UserError(f'"{spec}" lacks the name of the model; for example {provider.example}')
    return _service(spec, provider, model.strip(), settings)


def _service(spec: str, provider: _Provider, model: str, settings: Deployment) -> Endpoint:
    base, price_of, name = provider.base, provider.name, spec
    if provider.name == "openai" and settings.openai_base_url is not None:
        base = _base(settings.openai_base_url, "OPENAI_BASE_URL", provider.variables[0])
        if not (urlsplit(base).hostname or "").endswith("api.openai.com"):
            # Another server's replies and prices are not OpenAI's, whatever its model is called.
            price_of, name = None, f"{base}#{model}"
    variable = next((name for name in provider.variables if name in settings.keys), None)
    if variable is None:
        raise UserError(
            f"{spec} needs a key: set the environment variable {' or '.join(provider.variables)} "
            "to the key of your account"
        )
    return Endpoint(
        name=name,
        model=model,
        url=base + PATH,
        provider=price_of,
        key=_sendable(settings.keys[variable], variable),
        variable=variable,
        structured=provider.heeds,
        logprobs=provider.heeds,
        seed=provider.heeds,
        hottest=provider.hottest,
        limit=provider.limit,
    )


def _server(spec: str, settings: Deployment) -> Endpoint:
    address, _, model = spec.partition("#")
    base = _base(address, "the rater spec", OWN_KEY)
    if not model.strip():
        raise UserError(f'"{spec}" lacks the name of the model; add it behind a #, for example {base}#llama3.1')
    key = settings.keys.get(OWN_KEY)
    return Endpoint(
        name=f"{base}#{model.strip()}",
        model=model.strip(),
        url=base + PATH,
        key=None if key is None else _sendable(key, OWN_KEY),
        bounded_strings=True,
    )


def _base(address: str, where: str, variable: str) -> str:
    """The address without what follows the base; refused where it holds a secret or cannot be an address."""
    parts = _split(address)
    if parts is not None and "@" in parts.netloc:
        raise UserError(
            f"{where} holds a user name or password, which would be stored with every rating; "
            f"leave it out of the address and set the environment variable {variable} to the key"
        )
    if parts is None or parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise UserError(f'{where}: "{masked(address)}" is not an address; it looks like http://localhost:8000/v1')
    if "?" in address:
        raise UserError(f"{where}: leave out of the address what follows the ?; it ends like http://localhost:8000/v1")
    path = parts.path.rstrip("/").removesuffix(PATH).rstrip("/")
    return f"{parts.scheme.lower()}://{parts.netloc}{path}"


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    return None if any(sign.isspace() for sign in address) else parts


def _sendable(key: Hidden, variable: str) -> Hidden:
    text = key.reveal()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise UserError(f"the key in {variable} has a blank or a character that no key has; copy the key again")
    return key
