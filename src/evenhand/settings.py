"""Deployment settings: keys and addresses, read once from the environment and never changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

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
    page with `owner_password`; `url` is the address at which people open it."""

    keys: Mapping[str, Secret] = field(default_factory=lambda: MappingProxyType[str, Secret]({}))
    openai_base_url: str | None = None
    owner_password: Secret | None = None
    url: str | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        given = {name: value.strip() for name, value in environment.items()}
        keys = {name: Secret(given[name]) for name in KEYS if given.get(name)}
        password = given.get("EVENHAND_OWNER_PASSWORD")
        return cls(
            MappingProxyType(keys),
            given.get("OPENAI_BASE_URL") or None,
            Secret(password) if password else None,
            given.get("EVENHAND_URL") or None,
        )
