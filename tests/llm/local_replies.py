"""Asking a tiny model in this process, alone or with others, and watching it at work."""

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from evenhand.llm.base import Message, Reply, Request, Schema
from evenhand.llm.hugging_face.chat import HuggingFaceChat
from evenhand.llm.hugging_face.model import LoadedModel

PATIENCE = 120
"""Seconds after which a model that was not reached will not be: a test fails then, where it would hang."""

VERDICT = Schema(
    "verdict",
    json.dumps(
        {
            "type": "object",
            "properties": {"reason": {"type": "string", "maxLength": 12}, "answer": {"enum": [1, 2, 3, 4, 5]}},
            "required": ["reason", "answer"],
            "additionalProperties": False,
        }
    ),
)
DIGITS = Schema("digits", json.dumps({"type": "integer", "enum": [1, 2, 3, 4, 5]}))
ENDLESS = Schema("long", json.dumps({"type": "string", "minLength": 16_000}))
"""What a model without sense writes depends on the processor: it could end a string of any length at once."""


def asked(text: str, *, max_tokens: int = 60, **parameters: Any) -> Request:
    return Request((Message("system", "Judge."), Message("user", text)), max_tokens=max_tokens, **parameters)


class Watched:
    """Sees how many rows each step of the model has; `then` may raise in the model's name."""

    def __init__(self, loaded: LoadedModel, then: Callable[[int], None] = lambda rows: None) -> None:
        self.rows: list[int] = []
        self._then = then
        # The decoder layers are shared by all copies of the model.
        self._hook: Any = loaded.model.get_input_embeddings().register_forward_hook(self._seen)

    def _seen(self, module: object, given: tuple[Any, ...], result: object) -> None:
        self.rows.append(given[0].shape[0])
        self._then(given[0].shape[0])

    def __enter__(self) -> "Watched":
        return self

    def __exit__(self, *exc: object) -> None:
        self._hook.remove()


def said_by(loaded: LoadedModel, requests: Sequence[Request], *, batch_size: int = 8) -> list[Reply]:
    """The replies to requests that are made all at once, while the model is busy with another: so none is early."""
    busy, asked_all = threading.Event(), threading.Event()

    def hold(rows: int) -> None:
        busy.set()
        asked_all.wait()

    async def ask() -> list[Reply]:
        chat = HuggingFaceChat(loaded, batch_size=batch_size)
        try:
            with Watched(loaded, hold):
                calls = [asyncio.create_task(chat.complete(asked("First.", schema=DIGITS)))]
                assert await asyncio.to_thread(busy.wait, PATIENCE), "the model was not reached"
                calls += [asyncio.create_task(chat.complete(request)) for request in requests]
                await asyncio.sleep(0)
                asked_all.set()
                await calls[0]
            return await asyncio.gather(*calls[1:])
        finally:
            asked_all.set()
            await chat.close()

    return asyncio.run(ask())


def said_alone(loaded: LoadedModel, request: Request) -> Reply:
    """The reply to one request of a chat of its own."""

    async def ask() -> Reply:
        chat = HuggingFaceChat(loaded)
        try:
            return await chat.complete(request)
        finally:
            await chat.close()

    return asyncio.run(ask())


def mixed_requests() -> list[Request]:
    texts = [
        "Yes?",
        "A longer question, with more words in it.",
        "回答？",
        "Why not? " * 8,
    ]
    free = [asked(text, max_tokens=30 + place) for place, text in enumerate(texts)]
    return [*free, *(replace(request, schema=VERDICT, max_tokens=80) for request in free)]
