"""Deployment only: keys and addresses, read once from the environment and never changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

KEYS = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "EVENHAND_API_KEY")


class Secret:
    """A text that is never shown. Only whoever sends it calls `reveal`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "***"


@dataclass(frozen=True, slots=True)
class Settings:
    """`keys` by the name of their environment variable; a variable that is blank counts as not set. `owner_password`
    lets the owner in at the page, and `url` is the address under which people open it."""

    keys: Mapping[str, Secret] = field(default_factory=lambda: MappingProxyType[str, Secret]({}))
    openai_base_url: str | None = None
    owner_password: Secret | None = None
    url: str | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        said = {name: value.strip() for name, value in environment.items()}
        keys = {name: Secret(said[name]) for name in KEYS if said.get(name)}
        password = said.get("EVENHAND_OWNER_PASSWORD")
        return cls(
            MappingProxyType(keys),
            said.get("OPENAI_BASE_URL") or None,
            Secret(password) if password else None,
            said.get("EVENHAND_URL") or None,
        )
