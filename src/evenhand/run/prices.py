"""What a model's tokens cost: as the user says, or as the published prices of the three large services are known."""

from collections.abc import Iterable, Mapping
from functools import cache

from genai_prices import Usage as Tokens
from genai_prices import calc_price

from evenhand.errors import UserError
from evenhand.llm.base import Chat
from evenhand.run.budget import Price

_PROVIDERS = {"openai": "openai", "gemini": "google", "anthropic": "anthropic"}
_MANY = 100_000


@cache
def published(spec: str) -> Price | None:
    """The published price of `openai:`, `gemini:` and `anthropic:` models, where it is known."""
    kind, _, model = spec.partition(":")
    provider = _PROVIDERS.get(kind)
    if provider is None:
        return None
    try:
        read = calc_price(Tokens(input_tokens=_MANY), model, provider_id=provider).total_price
        cached = calc_price(
            Tokens(input_tokens=_MANY, cache_read_tokens=_MANY), model, provider_id=provider
        ).total_price
        written = calc_price(Tokens(output_tokens=_MANY), model, provider_id=provider).total_price
    except LookupError:
        return None
    return Price(*(float(price) / _MANY * 1e6 for price in (read, written, cached)))


def prices_of(chats: Iterable[Chat], said: Mapping[str | None, Price]) -> Mapping[str, Price]:
    """The price of each model, by its spec: what was said for it, what was said for all, or what is published.

    Raises UserError where a price is said for a model that is not asked.
    """
    chats = list(chats)
    unknown = sorted(spec for spec in said if spec is not None and spec not in {chat.model for chat in chats})
    if unknown:
        there = ", ".join(dict.fromkeys(chat.model for chat in chats)) or "none that has a price"
        raise UserError(f"--price {unknown[0]}=…: no such model is asked in this run; there are: {there}")
    found = {chat.model: said.get(chat.model) or said.get(None) or published(chat.model) for chat in chats}
    return {spec: price for spec, price in found.items() if price is not None}


def parse_prices(texts: Iterable[str]) -> Mapping[str | None, Price]:
    """`IN/OUT` or `SPEC=IN/OUT`, in dollars for a million tokens."""
    said: dict[str | None, Price] = {}
    for text in texts:
        spec, equals, amounts = text.rpartition("=")
        parts = amounts.split("/")
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 3) or not all(0 <= number < 1e6 for number in numbers):
            raise UserError(
                f"{text!r} is not a price: give dollars for a million tokens read and written, as in 0.4/1.6, or for "
                "one rater alone, as in openai:gpt-4.1-mini=0.4/1.6; a third number is the price of cached input"
            )
        said[spec if equals else None] = Price(*numbers)
    return said
