"""An OpenAI-compatible server that answers at once, in its own process: the client is measured, not the server.

    python -m bench.judge_server [--latency 0.05]

It prints its port, answers every chat completion with a small reply that obeys the request's JSON Schema, and ends
when its standard input is closed. GET /calls tells how many completions it has answered.
"""

import argparse
import asyncio
import http.client
import json
import re
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
CODE = "@CODE"
"""Stands for a unit's code in a prepared reply; as long as a code, so that the length of the reply stays."""
BEFORE_CODE = b'begins with {\\"unit_code\\": \\"'
SENTENCE = "The first passage states the figure that the answer gives, and no other passage speaks against it here."


@dataclass
class Count:
    """What was asked for since the server began."""

    calls: int = 0
    body: bytes = b"{}"


class Connection(asyncio.Protocol):
    """One client's connection, kept alive: whole requests are cut out of what arrives and answered in order."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, latency: float, count: Count, prepared: dict[bytes, bytes]
    ) -> None:
        self._loop = loop
        self._latency = latency
        self._count = count
        self._prepared = prepared
        self._rest = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        rest = self._rest + data if self._rest else data
        while (head := rest.find(b"\r\n\r\n")) >= 0:
            length = LENGTH.search(rest, 0, head)
            end = head + 4 + (int(length[1]) if length else 0)
            if len(rest) < end:
                break
            self._answer(rest[:head], rest[head + 4 : end])
            rest = rest[end:]
        self._rest = rest

    def _answer(self, head: bytes, body: bytes) -> None:
        if not head.startswith(b"POST "):
            self._transport.write(_other(head, self._count))
            return
        self._count.calls += 1
        self._count.body = body
        # Clients that put the schema last send the same end each time; for others the reply is made anew.
        key = body[max(body.rfind(b'"response_format"'), 0) :]
        reply = self._prepared.get(key)
        if reply is None:
            reply = completion(json.loads(body))
            if len(self._prepared) < 100:
                self._prepared[key] = reply
        if (place := body.rfind(BEFORE_CODE)) >= 0:
            start = place + len(BEFORE_CODE)
            reply = reply.replace(CODE.encode(), body[start : start + len(CODE)])
        if self._latency:
            self._loop.call_later(self._latency, self._transport.write, reply)
        else:
            self._transport.write(reply)


def completion(request: dict[str, Any]) -> bytes:
    """A whole HTTP response to this request."""
    asked: dict[str, Any] = request.get("response_format") or {}
    schema: dict[str, Any] = asked.get("json_schema", {}).get("schema", {"type": "string"})
    content = json.dumps(instance(schema, schema.get("$defs", {})))
    message = {"role": "assistant", "content": content, "refusal": None}
    return _response(
        {
            "id": "chatcmpl-bench",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request.get("model", "bench"),
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3000, "completion_tokens": 40, "total_tokens": 3040},
        }
    )


def instance(schema: dict[str, Any], known: dict[str, Any]) -> object:
    """A small value that the schema allows: text is a sentence, also where it might be null."""
    if "$ref" in schema:
        return instance(known[schema["$ref"].rpartition("/")[2]], known)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return instance(schema[choice][0], known)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if isinstance(kind, list):
        return instance({**schema, "type": kind[0]}, known)
    if kind == "object":
        needed = schema.get("required", ())
        parts = {name: part for name, part in schema.get("properties", {}).items() if name in needed}
        return {name: CODE if name == "unit_code" else instance(part, known) for name, part in parts.items()}
    if kind == "array":
        return [instance(schema["items"], known) for _ in range(schema.get("minItems", 0))]
    plain: dict[str, object] = {"integer": 1, "number": 1.0, "boolean": True, "null": None}
    return schema.get("minimum", plain[kind]) if kind in plain else SENTENCE


def _other(head: bytes, count: Count) -> bytes:
    if head.startswith(b"GET /calls "):
        return _response({"calls": count.calls, "cpu": time.process_time(), "body": json.loads(count.body)})
    return _response(
        {"object": "list", "data": [{"id": "bench", "object": "model", "created": 0, "owned_by": "bench"}]}
    )


def _response(content: object) -> bytes:
    body = json.dumps(content).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def serve(latency: float) -> None:
    loop = asyncio.get_running_loop()
    count, prepared = Count(), dict[bytes, bytes]()
    server = await loop.create_server(lambda: Connection(loop, latency, count, prepared), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()


@dataclass(frozen=True)
class Server:
    """A server under way, as the benchmark sees it."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def state(self) -> dict[str, Any]:
        """`calls` so far, `cpu` seconds that the server took, and the last request's `body`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/calls")
        state = json.load(connection.getresponse())
        connection.close()
        return state


@contextmanager
def running(latency: float = 0.0) -> Generator[Server]:
    """A server in a process of its own, ended on leaving."""
    command = [sys.executable, "-m", "bench.judge_server", "--latency", str(latency)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Server(int(process.stdout.readline()))
        finally:
            process.stdin.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0)
    asyncio.run(serve(parser.parse_args().latency))
