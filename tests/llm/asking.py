"""Ask a test server through a real chat, with waits of milliseconds."""

import asyncio
from collections.abc import Callable, Sequence
from random import Random

from evenhand.llm.base import CallError, Message, Reply, Request, Schema
from evenhand.llm.endpoints import endpoint_of
from evenhand.llm.http import Event, HttpChat, Waits
from evenhand.llm.rate_limit import RateLimiter
from evenhand.settings import Settings

KEY = "sk-secret-0815-abcdef"
QUICK = Waits(first=0.001, longest=0.004)
REQUEST = Request((Message("system", "Rate."), Message("user", "Is it so?")))
FULL = Request(REQUEST.messages, Schema("rating", '{"type":"object"}'), seed=7, logprobs=5)

Outcome = Reply | CallError


class Asked:
    """What came of asking: outcomes in the order of the requests, the events, and the pace afterwards."""

    def __init__(self, outcomes: Sequence[Outcome], events: Sequence[Event], pace: RateLimiter) -> None:
        self.outcomes = outcomes
        self.events = events
        self.pace = pace

    @property
    def reply(self) -> Reply:
        (outcome,) = self.outcomes
        assert isinstance(outcome, Reply), outcome
        return outcome

    @property
    def error(self) -> CallError:
        (outcome,) = self.outcomes
        assert isinstance(outcome, CallError), outcome
        return outcome

    def kinds(self) -> list[tuple[str, str]]:
        return [(event.kind, event.reason) for event in self.events]


def ask(
    url: str,
    requests: Sequence[Request] = (REQUEST,),
    *,
    places: int = 8,
    timeout: float = 5.0,
    tries: int = 3,
    waits: Waits = QUICK,
    key: str | None = None,
    made: Callable[[HttpChat], None] | None = None,
) -> Asked:
    """Ask everything at once, as a run does: each with a place of the pace."""
    events: list[Event] = []
    settings = Settings.from_environment({"EVENHAND_API_KEY": key} if key else {})
    pace = RateLimiter(places)
    endpoint = endpoint_of(f"{url}#test-model", settings)
    chat = HttpChat(
        endpoint, pace=pace, timeout=timeout, tries=tries, waits=waits, random=Random(1), listener=events.append
    )
    if made is not None:
        made(chat)
    return Asked(asyncio.run(_all(chat, requests)), events, pace)


async def _all(chat: HttpChat, requests: Sequence[Request]) -> Sequence[Outcome]:
    async def one(request: Request) -> Outcome:
        async with chat.pace:
            try:
                return await chat.complete(request)
            except CallError as error:
                return error

    try:
        return await asyncio.wait_for(asyncio.gather(*map(one, requests)), 30)
    finally:
        await chat.close()
