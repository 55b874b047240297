"""The page behind a real server: what only a socket shows."""

import asyncio
import socket
import threading
from collections.abc import Generator

import httpx2
import pytest
import uvicorn

from evenhand.store.people.access import new_invite
from evenhand.study import Study
from evenhand.web.app import make_app
from evenhand.web.config import Config
from tests.web.browsing import OURS, RUN_TOKEN


@pytest.fixture
def address(study: Study) -> Generator[tuple[str, int]]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    port = listener.getsockname()[1]
    config = Config(study.store.location, port=port, url=f"http://127.0.0.1:{port}", run_token=RUN_TOKEN)
    server = uvicorn.Server(uvicorn.Config(make_app(config), log_config=None, log_level="warning", server_header=False))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    yield "127.0.0.1", port
    server.should_exit = True
    thread.join()
    listener.close()


def test_a_body_without_an_end_is_cut_off(address: tuple[str, int]):
    head = (
        f"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\nX-Evenhand: 1\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with socket.create_connection(address, timeout=30) as client:
        client.sendall(head.encode())
        for _ in range(16):
            client.sendall(piece)
        answer = client.recv(65536)
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"content-security-policy" in answer.lower()


def test_somebody_who_goes_away_in_the_middle_disturbs_nobody(address: tuple[str, int]):
    head = f"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\nX-Evenhand: 1\r\nContent-Length: 100\r\n\r\n"
    for _ in range(20):
        with socket.create_connection(address, timeout=30) as client:
            client.sendall(head.encode() + b'{"token"')
    assert httpx2.get(f"http://127.0.0.1:{address[1]}/healthz").status_code == 200


def test_many_people_come_at_the_same_moment(address: tuple[str, int], study: Study):
    tokens: list[str] = []
    for number in range(40):
        invite, token = new_invite(f"rater {number}")
        study.store.people.access.add_invite(invite, token)
        tokens.append(token)

    async def come(token: str) -> str:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{address[1]}", headers=OURS, timeout=60) as client:
            joined = await client.post("/api/session", json={"token": token})
            assert joined.status_code == 200, joined.text
            answers = [await client.get("/api/me") for _ in range(3)]
            assert {answer.status_code for answer in answers} == {200}
            return answers[-1].json()["rater"]

    async def all_come() -> list[str]:
        return await asyncio.gather(*(come(token) for token in tokens))

    assert asyncio.run(all_come()) == [f"rater {number}" for number in range(40)]
