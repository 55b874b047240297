"""Where a model is reached: from a rater spec and the settings to an address, a key and what the server accepts."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from evenhand.errors import UserError
from evenhand.llm.dialect import ANY_DIALECT, Dialect
from evenhand.settings import Secret, Settings
from evenhand.text import masked

PATH = "/chat/completions"
OWN_KEY = "EVENHAND_API_KEY"


def model_name(spec: str) -> str:
    """The name of a model without the service or address that it is reached at."""
    return spec.rpartition("#")[2] if "#" in spec else spec.partition(":")[2] or spec


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one address.

    `name` is the spec that its price is known by; it contains no secret. `variable` names the environment variable of
    the key, set or not. `dialect` is what the first request consists of. `proxy` is the address of a proxy, which may
    contain a password.
    """

    name: str
    model: str
    url: str
    key: Secret | None = None
    variable: str = OWN_KEY
    dialect: Dialect = ANY_DIALECT
    proxy: Secret | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


@dataclass(frozen=True, slots=True)
class _Provider:
    """A service; of the `variables` that may contain its key, the first that is set counts."""

    url: str
    variables: tuple[str, ...]
    example: str
    dialect: Dialect = ANY_DIALECT


_PROVIDERS = {
    "openai": _Provider(
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        "openai:gpt-4.1-mini",
        # Its reasoning models reject the older name of the limit; all of its models accept the newer one.
        Dialect(limits=("max_completion_tokens", "max_tokens")),
    ),
    "gemini": _Provider(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini:gemini-2.5-flash",
    ),
    "anthropic": _Provider(
        "https://api.anthropic.com/v1",
        ("ANTHROPIC_API_KEY",),
        "anthropic:claude-sonnet-4-5",
        # It ignores response_format, seed and logprobs silently; platform.claude.com/docs/en/api/openai-sdk
        Dialect("none", seed=False, logprobs=False, hottest=1.0),
    ),
}


def endpoint_of(spec: str, settings: Settings, *, need_key: bool = True) -> Endpoint:
    """The endpoint that a rater spec names. Raises UserError for a wrong spec, and for a missing key if one is needed.

    `need_key`: requests will be sent, and not only estimated or written to a file.
    """
    spec = spec.strip()
    scheme, colon, model = spec.partition(":")
    if scheme.lower() in ("http", "https"):
        address, _, model = spec.partition("#")
        base = _base(address, "the rater spec", OWN_KEY)
        if not model.strip():
            raise UserError(f'"{spec}" lacks the name of the model; add it after a #, for example {base}#llama3.1')
        name, key, proxy = f"{base}#{model.strip()}", _key(settings, OWN_KEY), _proxy(settings, base)
        return Endpoint(name, model.strip(), base + PATH, key, proxy=proxy)
    provider = _PROVIDERS.get(scheme)
    if provider is None or not colon:
        raise UserError(
            f'"{masked(spec)}" is not a model that can be asked; valid are openai:MODEL, gemini:MODEL, '
            "anthropic:MODEL, or the address of a server and its model: http://HOST:PORT/v1#MODEL"
        )
    if not model.strip():
        raise UserError(f'"{spec}" lacks the name of the model; for example {provider.example}')
    endpoint = _service(spec, provider, model.strip(), settings)
    if need_key and endpoint.key is None:
        variables = " or ".join(provider.variables)
        raise UserError(f"{spec} needs a key: set the environment variable {variables} to the key of your account")
    return endpoint


def _service(spec: str, provider: _Provider, model: str, settings: Settings) -> Endpoint:
    base, name = provider.url, spec
    if "OPENAI_API_KEY" in provider.variables and settings.openai_base_url is not None:
        base = _base(settings.openai_base_url, "OPENAI_BASE_URL", "OPENAI_API_KEY")
        if not (urlsplit(base).hostname or "").endswith("api.openai.com"):
            # Another server's replies and prices are not OpenAI's, whatever its model is called.
            name = f"{base}#{model}"
    variable = next((name for name in provider.variables if name in settings.keys), provider.variables[0])
    key, proxy = _key(settings, variable), _proxy(settings, base)
    return Endpoint(name, model, base + PATH, key, variable, provider.dialect, proxy)


def _base(address: str, where: str, variable: str) -> str:
    """The address up to its base; rejected if it contains a secret or cannot be an address."""
    parts = _parts(address)
    if "@" in parts.netloc:
        raise UserError(
            f"{where} contains a user name or password, which would be stored with every rating; "
            f"remove it from the address and set the environment variable {variable} to the key"
        )
    if not parts.hostname:
        raise UserError(f'{where}: "{masked(address)}" is not an address; one looks like http://localhost:8000/v1')
    if "?" in address:
        raise UserError(f"{where}: remove everything from the ? on; an address looks like http://localhost:8000/v1")
    path = parts.path.rstrip("/").removesuffix(PATH).rstrip("/")
    return f"{parts.scheme.lower()}://{parts.netloc}{path}"


def _parts(address: str) -> SplitResult:
    """The parts of an HTTP address; empty ones if it is none."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme.lower() in ("http", "https") and parts.port != 0 and not re.search(r"\s", address)
    except ValueError:
        usable = False
    return urlsplit(address if usable else "")


def _key(settings: Settings, variable: str) -> Secret | None:
    key = settings.keys.get(variable)
    text = key.reveal() if key else ""
    if not text.isascii() or not all(" " < sign <= "~" for sign in text):
        raise UserError(f"the key in {variable} contains a space or a character that no key has; copy it again")
    return key


def _proxy(settings: Settings, base: str) -> Secret | None:
    """The proxy through which an address is reached, if the environment names one. Never one for this machine."""
    parts, given = urlsplit(base), settings.proxies
    proxy, host = given.get(parts.scheme) or given.get("all"), parts.hostname or ""
    exempt = [name.strip().lstrip(".").lower() for name in given["no"].reveal().split(",")] if "no" in given else []
    if proxy is None or _is_local(host) or "*" in exempt or parts.netloc.lower() in exempt:
        return None
    if any(f".{host}".endswith(f".{name}") for name in exempt if name):
        return None
    address = proxy.reveal() if "://" in proxy.reveal() else f"http://{proxy.reveal()}"
    if not _parts(address).hostname:
        raise UserError(
            f"{parts.scheme.upper()}_PROXY: {masked(address)!r} is not the address of an HTTP proxy, and no other kind "
            f"can be used; one looks like http://proxy:8080. To do without one for {host}, add it to NO_PROXY"
        )
    return Secret(address)


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
