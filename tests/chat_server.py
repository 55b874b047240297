"""A chat completions server for tests: a real one on loopback, whose behaviour is a function of each call.

`python -m tests.chat_server` runs one in a process of its own that always answers; it prints its port.
"""

import asyncio
import json
import re
import socket
import struct
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

from aiohttp import web

Token = tuple[str | bytes, Sequence[tuple[str | bytes, float]]]
"""A token of a reply and its alternatives with their log probabilities, the token itself among them."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it came; `number` counts from 1, `at_once` are those under way together with it, itself too.

    `connection` numbers the connections in the order in which they were opened, from 0.
    """

    number: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    raw: bytes
    path: str
    at_once: int = 1
    connection: int = 0

    @property
    def prompt(self) -> str:
        """The last message."""
        return str(self.body["messages"][-1]["content"])

    @property
    def codes(self) -> Sequence[str]:
        """The codes of the units that are asked about."""
        messages = self.body.get("messages", [])
        return codes_in(str(messages[1]["content"])) if len(messages) > 1 else []


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server does: after `delay` seconds, an HTTP answer, or `wire` as it is and then the end.

    `drip`: the body comes a byte at a time with that many seconds between. `reset`: the connection is reset, after
    `wire` if there is any. `stray`: bytes that are sent before the answer, so that the connection is one reply behind.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    drip: float | None = None
    wire: bytes | None = None
    reset: bool = False
    stray: bytes = b""


Behaviour = Callable[[Call], Answer]

CODE = "@CODE"
"""Stands for the code of the unit in a canned reply; the server fills it in. As long as a code."""


def code(number: int) -> str:
    """Stands for the code of the n-th unit, from 1, of several that are asked about together."""
    return f"@COD{number}"


def codes_in(prompt: str) -> Sequence[str]:
    """The codes of the units that a prompt asks about."""
    listed = re.findall(r"for each of these codes, in this order: (\w+(?:, \w+)*)", prompt)
    single = re.findall(r"^The code (?:of this \w+ )?is (\w+)\. ", prompt, re.MULTILINE)
    return listed[-1].split(", ") if listed else single[-1:]


def with_codes(reply: bytes, codes: Sequence[str]) -> bytes:
    """A canned reply with the codes filled in."""
    for place, given in enumerate(codes, start=1):
        reply = reply.replace(code(place).encode(), given.encode())
    return reply.replace(CODE.encode(), codes[0].encode()) if codes else reply


def completion(
    text: str | None,
    *,
    finish: str | None = "stop",
    usage: tuple[int, int, int] | None = (100, 20, 0),
    refusal: str | None = None,
    model: str = "test-model-2025-01-01",
    tokens: Sequence[Token] | None = None,
) -> dict[str, Any]:
    """The body of a good completion. `usage` is tokens read, written, and read before."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    logprobs = None if tokens is None else {"content": [_token(*token) for token in tokens]}
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": logprobs, "finish_reason": finish}],
    }
    if usage is not None:
        read, written, cached = usage
        body["usage"] = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
    return body


def _token(chosen: str | bytes, alternatives: Sequence[tuple[str | bytes, float]]) -> dict[str, Any]:
    top = [_plain(token, logprob) for token, logprob in alternatives]
    logprob = next((value for token, value in alternatives if token == chosen), 0.0)
    return {**_plain(chosen, logprob), "top_logprobs": top}


def _plain(token: str | bytes, logprob: float) -> dict[str, Any]:
    raw = token if isinstance(token, bytes) else token.encode()
    return {"token": raw.decode("utf-8", "replace"), "logprob": logprob, "bytes": list(raw)}


def says(text: str | None, *, delay: float = 0.0, **rest: Any) -> Answer:
    """A good reply; `rest` as in `completion`."""
    return as_json(completion(text, **rest), delay=delay)


def as_json(body: object, *, status: int = 200, delay: float = 0.0, headers: Mapping[str, str] | None = None) -> Answer:
    headers = {"Content-Type": "application/json", **(headers or {})}
    return Answer(json.dumps(body).encode(), status=status, headers=headers, delay=delay)


def fails(
    status: int,
    message: str = "no",
    *,
    param: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """An error in OpenAI's shape."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return as_json({"error": error}, status=status, headers=headers)


def resets() -> Answer:
    """The connection is reset without a reply."""
    return Answer(reset=True)


def hangs_up() -> Answer:
    """The connection is closed without a reply."""
    return Answer(wire=b"")


def drips(text: str, between: float) -> Answer:
    """A good reply, a byte at a time."""
    return Answer(json.dumps(completion(text)).encode(), drip=between)


def cut_short(text: str) -> Answer:
    """A good reply whose header promises more bytes than come."""
    body = json.dumps(completion(text)).encode()
    return Answer(wire=b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body) + 100, body))


def cut_chunk(text: str) -> Answer:
    """A good reply in chunks, without the last chunk."""
    body = json.dumps(completion(text)).encode()
    return Answer(wire=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(body), body))


def script(*answers: Answer) -> Behaviour:
    """These answers in turn; the last one for all further calls."""
    return lambda call: answers[min(call.number, len(answers)) - 1]


class ChatServer:
    """A server in a thread of its own: `with ChatServer(behaviour) as server:`. `calls` are all requests so far."""

    def __init__(self, behaviour: Behaviour | Answer) -> None:
        self._behaviour: Behaviour = (lambda _: behaviour) if isinstance(behaviour, Answer) else behaviour
        self.calls: list[Call] = []
        self.url = ""
        """The base address, with /v1."""
        self.port = 0
        self._under_way = 0
        self._connections: dict[object, int] = {}
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10), "the test server did not start"
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = cast("tuple[str, int]", runner.addresses[0])[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        self._under_way += 1
        number, at_once = len(self.calls) + 1, self._under_way
        connection = self._connections.setdefault(request.transport, len(self._connections))
        call = Call(number, _json(raw), dict(request.headers), raw, request.path, at_once, connection)
        self.calls.append(call)
        try:
            answer = _with_codes(self._behaviour(call), call.codes)
            await asyncio.sleep(answer.delay)
            return await _send(request, answer)
        finally:
            self._under_way -= 1


def _with_codes(answer: Answer, codes: Sequence[str]) -> Answer:
    wire = None if answer.wire is None else with_codes(answer.wire, codes)
    return replace(answer, body=with_codes(answer.body, codes), wire=wire)


def _json(raw: bytes) -> Mapping[str, Any]:
    try:
        return cast("Mapping[str, Any]", json.loads(raw))
    except ValueError:
        return {}


async def _send(request: web.Request, answer: Answer) -> web.StreamResponse:
    if answer.stray and request.transport is not None:
        request.transport.write(answer.stray)
    if answer.wire is not None or answer.reset:
        _break(request, answer)
        return web.Response()
    if answer.drip is None:
        return web.Response(body=answer.body, status=answer.status, headers=answer.headers)
    response = web.StreamResponse(status=answer.status, headers=answer.headers)
    response.content_length = len(answer.body)
    await response.prepare(request)
    for byte in answer.body:
        await response.write(bytes([byte]))
        await asyncio.sleep(answer.drip)
    return response


def _break(request: web.Request, answer: Answer) -> None:
    transport = request.transport
    if transport is None:
        return
    if answer.wire:
        transport.write(answer.wire)
    if answer.reset:
        # Closing without lingering makes the kernel send a reset.
        connection: socket.socket = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    else:
        transport.close()


def unused_port() -> int:
    """A port of loopback where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def main(text: str) -> None:
    with ChatServer(says(text)) as server:
        print(server.port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "yes")
