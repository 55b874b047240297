"""What stands before every route, and what stands on every answer."""

import asyncio
import json
import logging
from collections.abc import Iterator
from itertools import cycle, islice

import httpx2
import pytest
from fastapi import APIRouter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from evenhand.errors import ConflictError, StudyError
from evenhand.settings import Secret
from evenhand.study import Study
from evenhand.web.config import Config, check_url
from evenhand.web.middleware import GUESS_SECONDS, MAX_WRITERS, SecurityMiddleware, serves_host
from evenhand.web.rate_limit import RateLimit
from tests.web.browsing import Browsers

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}


@pytest.fixture
def failing(client: Browsers) -> Browsers:
    """The page with two routes that have a bug."""
    router = APIRouter()

    def fail() -> None:
        raise ZeroDivisionError("secret of the implementation")

    router.add_api_route("/api/fail", fail)
    router.add_api_route("/fail", fail)
    client.app.include_router(router)
    return client


@pytest.mark.parametrize(
    ("method", "path", "status", "kept"),
    [
        ("GET", "/login", 200, "no-store"),
        ("GET", "/", 401, "no-store"),
        ("GET", "/manage", 303, "no-store"),
        ("GET", "/api/me", 200, "no-store"),
        ("GET", "/api/openapi.json", 200, "no-store"),
        ("GET", "/static/shared/style.css", 200, "no-cache"),
        ("GET", "/static/nothing.css", 404, "no-cache"),
        ("GET", "/nothing", 404, "no-store"),
        ("GET", "/api/nothing", 404, "no-store"),
        ("GET", "/api/invites", 401, "no-store"),
        ("POST", "/api/session", 422, "no-store"),
        ("POST", "/healthz", 405, "no-store"),
        ("GET", "/fail", 500, "no-store"),
        ("GET", "/api/fail", 500, "no-store"),
    ],
)
def test_every_answer_has_the_headers(failing: Browsers, method: str, path: str, status: int, kept: str):
    answer = failing.browser().request(method, path)
    assert answer.status_code == status
    parts = [part.partition(" ") for part in answer.headers["Content-Security-Policy"].split("; ")]
    assert {name: value for name, _, value in parts} == POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "microphone=()" in answer.headers["Permissions-Policy"]
    assert answer.headers["Cache-Control"] == kept
    assert "Server" not in answer.headers
    assert "Strict-Transport-Security" not in answer.headers


def test_a_page_served_over_https_stays_there(study: Study):
    config = Config(study.store.location, url="https://rate.example.org", run_token="r" * 43)
    with Browsers(study, config) as client:
        for path in ("/login", "/api/me", "/nothing", "/static/shared/style.css"):
            assert client.browser().get(path).headers["Strict-Transport-Security"] == "max-age=31536000"


def test_errors_are_json_for_programs_and_pages_for_people(client: Browsers):
    told = client.browser().get("/api/nothing")
    assert told.headers["Content-Type"] == "application/json"
    assert told.json() == {"error": "There is nothing at this address."}
    seen = client.browser().get("/nothing")
    assert seen.headers["Content-Type"].startswith("text/html")
    assert "There is nothing at this address." in seen.text


@pytest.mark.parametrize("path", ["/fail", "/api/fail"])
def test_a_bug_is_logged_and_not_shown(failing: Browsers, path: str, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.ERROR, "evenhand.web"):
        answer = failing.browser().get(path)
    assert answer.status_code == 500
    assert "went wrong on our side" in answer.text
    for inside in ("secret", "ZeroDivision", "Traceback", ".py"):
        assert inside not in answer.text
    assert f"GET {path} failed" in caplog.text
    assert "secret of the implementation" in caplog.text


def test_the_shape_of_a_request_is_explained_without_its_content(client: Browsers):
    answer = client.browser().post("/api/session", json={"token": "", "password": "hunter2hunter2"})
    assert answer.status_code == 422
    problems = answer.json()["problems"]
    assert [problem.split(":")[0] for problem in problems] == ["body.token", "body.password"]
    assert "hunter2" not in answer.text


@pytest.mark.parametrize("sent", [b"{", b"\xff", b"[]", b'"x"', b'{"token": "\\ud800"}', b"null", b""])
def test_a_body_that_is_no_request_is_refused(client: Browsers, sent: bytes):
    answer = client.browser().post("/api/session", content=sent, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]


@pytest.mark.parametrize(
    ("error", "cause", "status", "told"),
    [
        (StudyError, None, 422, "no such member"),
        (ConflictError, None, 409, "no such member"),
        (StudyError, OSError("disk"), 503, "no such member"),
    ],
)
def test_an_error_of_the_study_is_told_without_its_place(
    client: Browsers, error: type[StudyError], cause: OSError | None, status: int, told: str
):
    """A failing database is not the client's fault: it may send the same again, and loses nothing."""
    router = APIRouter()

    def refuse() -> None:
        raise error(f"{client.config.location}: no such member") from cause

    router.add_api_route("/api/refuse", refuse)
    client.app.include_router(router)
    answer = client.browser().get("/api/refuse")
    assert (answer.status_code, answer.json()["error"]) == (status, told)
    assert ("Retry-After" in answer.headers) == (status == 503)


@pytest.mark.parametrize("location", ["postgresql://ann@db.example/study", None])
def test_an_error_names_no_place_however_it_is_spelled(client: Browsers, location: str | None):
    """A store gives its URL without the password, another spelling than that of the command line."""
    router = APIRouter()

    def refuse() -> None:
        raise StudyError("no such member", location=location or client.config.location)

    router.add_api_route("/api/refuse", refuse)
    client.app.include_router(router)
    assert client.browser().get("/api/refuse").json()["error"] == "no such member"


# Whose host


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8400", 200),
        ("localhost:8400", 200),
        ("localhost", 200),
        ("[::1]:9000", 200),
        ("LOCALHOST:1234", 200),
        ("evil.example", 421),
        ("evil.example:8400", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:8400", 421),
        ("192.168.1.5:8400", 421),
        ("localhost@evil.example", 421),
        ("evil@127.0.0.1", 421),
        ("evil@127.0.0.1:8400", 421),
        ("127.0.0.1#x", 421),
        ("127.0.0.1?x", 421),
        ("127.0.0.1/x", 421),
        ("127.0.0.1:8400:80", 421),
        ("127.0.0.1:evil", 421),
        ("[::1]evil", 421),
        ("[::1", 421),
        ("[127.0.0.1]", 421),
        ("", 421),
    ],
)
def test_a_page_for_this_machine_answers_to_its_own_names_only(client: Browsers, host: str, status: int):
    assert client.browser().get("/healthz", headers={"Host": host}).status_code == status


def test_a_page_for_others_answers_to_its_url_and_to_addresses():
    config = Config("s.db", host="0.0.0.0", url="https://rate.example.org")
    served = ["rate.example.org", "RATE.example.org", "10.1.2.3:8400", "[fe80::1]:8400", "localhost:8400"]
    foreign = ["rate.example.org.evil.example", "evil.example", "rate.example.org:8400", ""]
    assert [host for host in served + foreign if serves_host(config, host)] == served


@pytest.mark.parametrize(
    "url", ["rate.example.org", "ftp://h", "https://", "https://u:p@h", "https://h/rate", "https://h:x", "https://h?a"]
)
def test_an_address_of_the_page_is_checked(url: str):
    with pytest.raises(Exception, match="cannot be the address of the page"):
        check_url(url)


def test_an_address_of_the_page_loses_its_slash():
    assert check_url(" https://Rate.example.org:8443/ ") == "https://rate.example.org:8443"


# Whose page


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"X-Evenhand": "0"}, 403),
        ({"X-Evenhand": "1"}, 201),
        ({"X-Evenhand": "1", "Origin": "http://127.0.0.1:8400"}, 201),
        ({"Origin": "http://127.0.0.1:8400"}, 403),
        ({"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_a_request_with_a_cookie_must_come_from_our_page(client: Browsers, headers: dict[str, str], status: int):
    owner = client.owner()
    del owner.headers["X-Evenhand"]
    assert owner.post("/api/invites", json={"name": "ann"}, headers=headers).status_code == status


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:9999", "https://127.0.0.1:8400", "null"])
def test_a_browser_does_not_send_the_header_for_another_site(client: Browsers, origin: str):
    """It asks first, and is not allowed to: a custom header needs a CORS preflight on every other origin."""
    asked = {
        "Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-evenhand",
    }  # fmt: skip
    for path in ("/api/invites", "/api/session", "/api/session/as"):
        answer = client.owner().options(path, headers=asked)
        assert answer.status_code >= 400
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


def test_another_site_cannot_sign_somebody_in(client: Browsers):
    token = client.invite("mallory")
    assert client.browser({}).post("/api/session", json={"token": token}).status_code == 403


def test_a_bearer_needs_no_header_but_does_not_lend_it_to_a_cookie(client: Browsers):
    """A wrong token beside a right cookie is a wrong token: otherwise it would lead around the check of the origin."""
    owner = client.owner()
    del owner.headers["X-Evenhand"]
    answer = owner.post("/api/invites", json={"name": "ann"}, headers={"Authorization": "Bearer nobody"})
    assert answer.status_code == 401
    right = client.bearer(client.config.run_token or "")
    assert right.post("/api/invites", json={"name": "ann"}).status_code == 201


def test_a_proxys_own_password_is_not_taken_for_a_token(client: Browsers):
    answer = client.owner().get("/api/invites", headers={"Authorization": "Basic YTpi"})
    assert answer.status_code == 200


# How much


def test_a_large_body_is_refused_whether_or_not_its_length_is_told(client: Browsers):
    browser = client.browser()
    large = json.dumps({"token": "t", "filling": "x" * 1_000_000}).encode()

    def in_pieces() -> Iterator[bytes]:
        for start in range(0, len(large), 65_536):
            yield large[start : start + 65_536]

    for content in (large, in_pieces()):
        answer = browser.post("/api/session", content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 413
        assert "1 MB" in answer.json()["error"]
        assert answer.headers["Content-Security-Policy"]


def test_static_files_are_sent_once(client: Browsers):
    browser = client.browser()
    first = browser.get("/static/shared/style.css")
    again = browser.get("/static/shared/style.css", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/"])
def test_nothing_beside_the_static_files_is_served(client: Browsers, path: str):
    assert client.browser().get(path).status_code == 404


# How often


class Clock:
    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def test_a_burst_then_so_many_a_second_and_little_memory():
    clock = Clock()
    pace = RateLimit(rate=50, burst=200, clock=clock)
    assert [pace.wait("a") for _ in range(200)] == [0] * 200
    assert pace.wait("a") == 1
    assert pace.wait("b") == 0
    clock.at += 1
    assert [pace.wait("a") for _ in range(51)] == [0] * 50 + [1]
    for number in range(RateLimit.MAX_CLIENTS):
        pace.wait(f"client {number}")
    # Those who came long ago are forgotten, not kept for ever: `a` has its whole burst again.
    assert [pace.wait("a") for _ in range(200)] == [0] * 200


PASSWORD = "correct horse battery"


@pytest.mark.parametrize("addresses", [1, 150])
def test_wrong_tries_never_keep_out_whoever_has_a_valid_credential(study: Study, addresses: int):
    async def not_at_all(_: float) -> None:
        pass

    config = Config(study.store.location, owner_password=Secret(PASSWORD), run_token="t" * 43)
    with Browsers(study, config, not_at_all) as client:
        invite = client.invite("ann")
        strangers = [client.browser(address=f"192.0.2.{number}") for number in range(addresses)]
        wrong = {"token": "wrong"}
        tries = ((one, one.post("/api/session", json=wrong)) for one in islice(cycle(strangers), 150))
        stranger, refused = next((one, answer) for one, answer in tries if answer.status_code != 401)
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        # From the very same address.
        for right in (PASSWORD, "t" * 43):
            assert stranger.post("/api/session/owner", json={"password": right}).status_code == 200
            assert stranger.get("/api/plan", headers={"Authorization": f"Bearer {right}"}).status_code == 200
        assert stranger.post("/api/session", json={"token": invite}).status_code == 200


def test_whoever_guesses_waits_for_the_answer_and_is_in_the_way_of_nobody():
    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse("no", request.path_params["status"])

    async def guess() -> tuple[set[int], list[float]]:
        waited, over = list[float](), asyncio.Event()

        async def sleep(seconds: float) -> None:
            waited.append(seconds)
            await over.wait()

        config, app = Config("study.db"), Starlette(routes=[Route("/{status:int}", answer, methods=["POST"])])
        transport = httpx2.ASGITransport(SecurityMiddleware(app, config, sleep=sleep))
        async with httpx2.AsyncClient(transport=transport, base_url=config.url) as client:
            guesses = [asyncio.create_task(client.post("/429")) for _ in range(MAX_WRITERS)]
            while len(waited) < MAX_WRITERS and not all(one.done() for one in guesses):
                await asyncio.sleep(0)
            assert (await client.post("/401")).status_code == 401
            over.set()
            return {answer.status_code for answer in await asyncio.gather(*guesses)}, waited

    assert asyncio.run(guess()) == ({429}, [GUESS_SECONDS] * MAX_WRITERS)


def test_a_request_that_the_end_of_the_server_cuts_off_is_answered():
    started = asyncio.Event()

    async def wait(request: Request) -> PlainTextResponse:
        started.set()
        await asyncio.Event().wait()
        return PlainTextResponse("never")

    async def cut_off() -> httpx2.Response:
        app = SecurityMiddleware(Starlette(routes=[Route("/api/wait", wait, methods=["POST"])]), Config("study.db"))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=Config("study.db").url) as client:
            request = asyncio.create_task(client.post("/api/wait"))
            await started.wait()
            request.cancel()
            return await request  # raises CancelledError unless there was a response

    answer = asyncio.run(cut_off())
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json()["error"]


def test_a_session_with_too_many_requests_is_slowed_down_alone():
    async def welcome(request: Request) -> PlainTextResponse:
        return PlainTextResponse("welcome")

    config, clock = Config("study.db"), Clock()
    limit = RateLimit(rate=1, burst=5, clock=clock)
    app = SecurityMiddleware(Starlette(routes=[Route("/", welcome)]), config, limit)
    ann, bob = (TestClient(app, config.url, cookies={"evenhand_rater": name}) for name in ("ann", "bob"))
    assert [ann.get("/").status_code for _ in range(7)] == [200] * 5 + [429] * 2
    assert ann.get("/").headers["Retry-After"] == "1"
    assert bob.get("/").status_code == 200
    clock.at += 1
    assert ann.get("/").status_code == 200
