"""`evenhand serve`: what it prints, what it refuses, how it ends."""

import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import httpx2
import pytest

from evenhand.cli.people import listen_on
from tests.cli.calling import Caller
from tests.processes import Forked

LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/login#([\w-]{43})")


@pytest.fixture
def made(call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("EVENHAND_OWNER_PASSWORD", "EVENHAND_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "items.csv").write_text("id,question,context,generated_answer\na,Q,C,A\n", encoding="utf-8")
    call.fine("new", "study.db", "--protocol", "halo-support", "--items", "items.csv")
    return tmp_path


class Served:
    """`evenhand serve` in a process of its own, on a free port."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        arguments = ["serve", "study.db", "--port", "0", *options]
        self.process = Forked(folder, arguments, environment={**os.environ, **environment})
        self.told = ""
        while "Ctrl+C" not in self.told:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()
            self.told += line

    @property
    def port(self) -> int:
        found = re.search(r"http://[^/]*:(\d+)/login", self.told)
        assert found is not None
        return int(found[1])

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return httpx2.get(f"http://127.0.0.1:{self.port}{path}", headers=headers, timeout=30)

    def end(self, how: signal.Signals) -> tuple[int, str, str]:
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=30)
        return self.process.wait(), out, err


@pytest.fixture
def served(made: Path) -> Generator[Served]:
    process = Served(made)
    yield process
    process.process.kill()


def test_it_prints_the_owners_link_and_what_to_do(served: Served):
    found = LINK.search(served.told)
    assert found is not None
    assert found[2]
    assert f"evenhand invite study.db --name NAME --url http://127.0.0.1:{served.port}" in served.told.replace(
        f"{sys.executable} -m evenhand", "evenhand"
    )
    answer = served.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "Server" not in answer.headers
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_headers_of_a_proxy_are_not_believed(served: Served):
    assert served.get("/healthz", Host="evil.example", **{"X-Forwarded-Host": "127.0.0.1"}).status_code == 421


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["int", "term"])
def test_it_ends_well_when_told_to(served: Served, how: signal.Signals):
    # A connection that is kept open does not hold it up.
    with httpx2.Client(base_url=f"http://127.0.0.1:{served.port}", timeout=30) as kept:
        assert kept.get("/healthz").status_code == 200
        code, out, err = served.end(how)
    assert (code, err) == (0, "")
    assert out.endswith("Stopped; all ratings are stored.\n")


def test_connections_send_what_there_is_at_once():
    with listen_on("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_in_use_is_answered_with_another(call: Caller, made: Path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = call("serve", "study.db", "--port", port)
    assert (result.code, result.out) == (2, "")
    assert f"port {port} is in use" in result.err
    assert "--port 0" in result.err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "rate.example.org"])
def test_others_are_not_let_near_without_a_password(call: Caller, made: Path, host: str):
    result = call("serve", "study.db", "--host", host)
    assert (result.code, result.out) == (2, "")
    assert "EVENHAND_OWNER_PASSWORD" in result.err
    assert "at least 12 characters" in result.err


def test_a_short_password_is_refused_and_not_repeated(call: Caller, made: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVENHAND_OWNER_PASSWORD", "hunter2")
    result = call("serve", "study.db", "--host", "0.0.0.0")
    assert (result.code, result.out) == (2, "")
    assert "at least 12 characters" in result.err
    assert "hunter2" not in result.err


def test_with_a_password_others_are_let_near_and_no_token_is_printed(made: Path):
    served = Served(made, "--host", "0.0.0.0", EVENHAND_OWNER_PASSWORD="correct horse battery")
    try:
        assert "#" not in served.told
        assert "correct horse" not in served.told
        assert served.get("/login").status_code == 200
        assert 'type="password"' in served.get("/login").text
        assert served.get("/login", Host="evil.example").status_code == 421
    finally:
        code, _, err = served.end(signal.SIGINT)
    assert code == 0
    assert err.startswith("note: without https")


def test_the_address_of_a_proxy_is_the_one_that_is_told(made: Path):
    served = Served(made, "--url", "https://rate.example.org/")
    code, _, err = served.end(signal.SIGINT)
    assert (code, err) == (0, "")
    assert re.search(r"https://rate\.example\.org/login#[\w-]{43}\n", served.told)
    assert "--url https://rate.example.org\n" in served.told


def test_with_a_password_no_link_that_signs_in_is_printed(made: Path):
    served = Served(made, "--url", "https://rate.example.org", EVENHAND_OWNER_PASSWORD="correct horse battery")
    served.end(signal.SIGINT)
    assert "https://rate.example.org/login\n" in served.told
    assert "#" not in served.told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["serve", "nothing.db"], "nothing.db"),
        (["serve", "study.db", "--url", "rate.example.org"], "cannot be the address of the page"),
        (["serve", "study.db", "--port", "70000"], "--port"),
        (["serve", "items.csv"], "not an Evenhand study"),
    ],
)
def test_what_cannot_be_served_is_explained(call: Caller, made: Path, arguments: list[str], told: str):
    result = call(*arguments)
    assert (result.code, result.out) == (2, "")
    assert told in result.err
    assert "Traceback" not in result.err


def test_a_request_in_hand_is_answered_before_the_end(served: Served):
    body = b'{"token": "nobody"}'
    head = (
        f"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nX-Evenhand: 1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as client:
        client.sendall(head.encode() + body[:5])
        # The server has the beginning of the request once it answers another one.
        assert served.get("/healthz").status_code == 200
        ended = threading.Thread(target=served.end, args=(signal.SIGTERM,))
        ended.start()
        client.sendall(body[5:])
        assert client.recv(65536).startswith(b"HTTP/1.1 401")
        ended.join()
    assert served.process.returncode == 0
