"""Deployment settings: keys and addresses, read once from the environment and never changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

PROXIES = {"HTTP_PROXY": "http", "HTTPS_PROXY": "https", "ALL_PROXY": "all", "NO_PROXY": "no"}
"""The usual variables, also in lower case, which then count; and what they are for."""

KEYS = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "EVENHAND_API_KEY")


class Secret:
    """A text that is never shown. Only the code that sends it calls `reveal`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "***"


@dataclass(frozen=True, slots=True)
class Settings:
    """`keys` by the name of their environment variable; a blank variable counts as not set. The owner signs in to the
    page with `owner_password`; `url` is the address at which people open it. `proxies` are by the scheme of the
    addresses that they serve; `no` lists the hosts that are reached without one."""

    keys: Mapping[str, Secret] = field(default_factory=lambda: MappingProxyType[str, Secret]({}))
    openai_base_url: str | None = None
    owner_password: Secret | None = None
    url: str | None = None
    proxies: Mapping[str, Secret] = field(default_factory=lambda: MappingProxyType[str, Secret]({}))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        given = {name: value.strip() for name, value in environment.items()}
        keys = {name: Secret(given[name]) for name in KEYS if given.get(name)}
        password = given.get("EVENHAND_OWNER_PASSWORD")
        # In the order of characters, lower case comes last.
        named = [(PROXIES.get(name.upper()), value) for name, value in sorted(given.items())]
        proxies = {scheme: Secret(value) for scheme, value in named if scheme and value}
        return cls(
            MappingProxyType(keys),
            given.get("OPENAI_BASE_URL") or None,
            Secret(password) if password else None,
            given.get("EVENHAND_URL") or None,
            MappingProxyType(proxies),
        )
