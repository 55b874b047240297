"""A request that never arrives as a whole is given up; one that has arrived may take its time."""

import asyncio
from collections.abc import Sequence

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Message

from evenhand.web import middleware
from evenhand.web.config import Config


async def echo(request: Request) -> PlainTextResponse:
    body = await request.body()
    await asyncio.sleep(0.2)
    return PlainTextResponse(body)


def answer_to(bodies: Sequence[Message]) -> list[Message]:
    """What is sent back to a client that sends these parts and then nothing, yet stays."""
    config = Config("study.db", url="http://127.0.0.1:8400")
    app = Starlette(routes=[Route("/", echo, methods=["POST"])])
    guarded = middleware.SecurityMiddleware(app, config)
    headers = [(b"host", b"127.0.0.1:8400"), (b"authorization", b"Bearer x")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers, "query_string": b"", "root_path": ""}
    left, sent = list(bodies), list[Message]()

    async def receive() -> Message:
        if left:
            return left.pop(0)
        await asyncio.sleep(3600)
        raise AssertionError("nobody waits so long")

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(asyncio.wait_for(guarded(scope, receive, send), 30))
    return sent


def test_a_body_that_does_not_come_to_its_end_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(middleware, "MAX_UPLOAD_SECONDS", 0.1)
    start, _ = answer_to([{"type": "http.request", "body": b"{", "more_body": True}])
    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]


def test_a_whole_body_may_be_worked_on_for_longer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(middleware, "MAX_UPLOAD_SECONDS", 0.1)
    parts: list[Message] = [
        {"type": "http.request", "body": b"a", "more_body": True},
        {"type": "http.request", "body": b"b", "more_body": False},
    ]
    start, body = answer_to(parts)
    assert (start["status"], body["body"]) == (200, b"ab")
