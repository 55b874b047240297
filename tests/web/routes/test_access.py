"""Who gets in, as whom, for how long, and where nobody gets in."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from evenhand.records import Kind, RaterRef, now
from evenhand.settings import Secret
from evenhand.store.people.access import Role, new_invite
from evenhand.study import Study
from evenhand.web.app import ROUTERS
from evenhand.web.config import Config
from evenhand.web.routes import pages
from evenhand.web.sessions import signed
from tests.web.browsing import RUN_TOKEN, Browsers

DAY = 24 * 60 * 60


def cookie_of(header: str) -> tuple[str, dict[str, str]]:
    """The name and the flags of a cookie, from its Set-Cookie header."""
    [(name, morsel)] = SimpleCookie(header).items()
    return name, {flag: str(value) for flag, value in morsel.items() if value}


# Cookies


@pytest.mark.parametrize(("role", "life"), [("rater", 14 * DAY), ("adjudicator", 14 * DAY)])
def test_a_session_is_out_of_the_reach_of_scripts_and_other_sites(client: Browsers, role: Role, life: int):
    answer = client.browser().post("/api/session", json={"token": client.invite("ann", role)})
    expected = {"path": "/", "httponly": "True", "samesite": "strict", "max-age": str(life)}
    assert cookie_of(answer.headers["Set-Cookie"]) == ("evenhand_rater", expected)


def test_the_owners_session_is_shorter(client: Browsers):
    answer = client.browser().post("/api/session/owner", json={"password": RUN_TOKEN})
    name, flags = cookie_of(answer.headers["Set-Cookie"])
    assert name == "evenhand_owner"
    assert flags == {"path": "/", "httponly": "True", "samesite": "strict", "max-age": str(12 * 60 * 60)}


def test_cookies_of_a_page_with_https_are_sent_over_https_only(study: Study):
    config = Config(study.store.location, url="https://rate.example.org", run_token=RUN_TOKEN)
    with Browsers(study, config) as client:
        answer = client.browser().post("/api/session/owner", json={"password": RUN_TOKEN})
        assert cookie_of(answer.headers["Set-Cookie"])[1]["secure"] == "True"
        assert client.owner().get("/api/invites").status_code == 200


def test_two_studies_on_one_machine_do_not_sign_each_other_out(study: Study):
    config = Config(study.store.location, port=8401, url="http://127.0.0.1:8401", run_token=RUN_TOKEN)
    with Browsers(study, config) as client:
        answer = client.browser().post("/api/session/owner", json={"password": RUN_TOKEN})
        assert cookie_of(answer.headers["Set-Cookie"])[0] == "evenhand_owner_8401"
        assert client.owner().get("/api/invites").status_code == 200


def test_tokens_are_nowhere_in_the_study(client: Browsers, tmp_path: Path):
    invited = client.invite("ann")
    rater, owner = client.rater("bob"), client.owner()
    link = owner.post("/api/invites", json={"name": "cem"}).json()["link"]
    secrets = [
        invited,
        RUN_TOKEN,
        rater.cookies["evenhand_rater"],
        owner.cookies["evenhand_owner"],
        link.split("/")[-1],
    ]
    assert all(len(secret) == 43 for secret in secrets)
    files = [path for path in tmp_path.iterdir() if path.name.startswith("study.db")]
    stored = b"".join(path.read_bytes() for path in files)
    assert b"ann" in stored
    assert [secret for secret in secrets if secret.encode() in stored] == []


# Joining


def test_an_invite_leads_to_the_work_and_back_to_it_from_another_device(client: Browsers):
    token = client.invite("ann")
    for _ in range(2):
        browser = client.browser()
        answer = browser.post("/api/session", json={"token": token})
        assert answer.json() == {"access": "rater", "rater": "ann", "next": "/rate"}
        assert browser.get("/api/me").json()["rater"] == "ann"
    assert [member.rater for member in client.study.store.people.members()] == ["ann"]


def test_an_adjudicator_is_led_to_the_disputes(client: Browsers):
    answer = client.browser().post("/api/session", json={"token": client.invite("eve", "adjudicator")})
    assert answer.json() == {"access": "adjudicator", "rater": "eve", "next": "/adjudicate"}


@pytest.mark.parametrize("kind", ["unknown", "expired", "revoked"])
def test_a_link_that_is_over_is_refused_with_what_to_do(client: Browsers, kind: str):
    invite, token = new_invite("ann")
    people = client.study.store.people
    if kind != "unknown":
        over = now() - timedelta(seconds=1)
        people.access.add_invite(replace(invite, expires=over if kind == "expired" else invite.expires), token)
    if kind == "revoked":
        people.access.revoke_invite(invite.id)
    answer = client.browser().post("/api/session", json={"token": token})
    assert answer.status_code == 401
    assert "for a new one" in answer.json()["error"]
    assert client.bearer(token).get("/api/me").status_code == 401


def test_revoking_ends_the_sessions_at_once(client: Browsers):
    owner, ann, bob = client.owner(), client.rater("ann"), client.rater("bob")
    assert ann.get("/api/me").json()["access"] == ["rater"]
    invites = owner.get("/api/invites").json()["invites"]
    [invite] = [one for one in invites if one["name"] == "ann"]
    assert (invite["state"], invite["joined"]) == ("open", 1)
    assert owner.delete(f"/api/invites/{invite['id']}").status_code == 204
    assert ann.get("/api/me").json()["access"] == []
    assert bob.get("/api/me").json()["access"] == ["rater"]
    assert owner.delete(f"/api/invites/{invite['id']}").status_code == 404
    assert [one["state"] for one in owner.get("/api/invites").json()["invites"]] == ["revoked", "open"]


def test_a_crowd_brings_its_own_ids(client: Browsers):
    token = _open_invite(client, seats=2)
    browser = client.browser()
    asked = browser.post("/api/session", json={"token": token})
    assert asked.status_code == 422
    assert "participant id" in asked.json()["error"]
    brought = {"PROLIFIC_PID": "5f1", "STUDY_ID": "s1", "SESSION_ID": "x1"}
    answer = browser.post("/api/session", json={"token": token, "source": brought})
    assert answer.json()["rater"] == "5f1"
    member = client.study.store.people.member("5f1")
    assert member is not None
    assert {name: member.source[name] for name in brought} == brought
    assert client.browser().post("/api/session", json={"token": token, "source": {"id": "me"}}).status_code == 200
    # The seats are taken, by people who may come back.
    assert client.browser().post("/api/session", json={"token": token, "source": {"id": "late"}}).status_code == 422
    assert client.browser().post("/api/session", json={"token": token, "source": brought}).status_code == 200


@pytest.mark.parametrize("own", ["", "a b", "a\n", "ä", "x" * 65, "../a", "<b>"])
def test_an_id_of_ones_own_is_plain(client: Browsers, own: str):
    answer = client.browser().post("/api/session", json={"token": _open_invite(client), "source": {"id": own}})
    assert answer.status_code == 422


@pytest.mark.parametrize("taken", ["ann", "bob", "sheet"])
def test_nobody_takes_the_name_of_somebody_who_came_another_way(client: Browsers, taken: str):
    client.rater("ann")
    client.browser().post("/api/session", json={"token": _open_invite(client), "source": {"id": "bob"}})
    client.study.store.ratings.add([], raters=[RaterRef("sheet", Kind.PERSON)])
    answer = client.browser().post("/api/session", json={"token": _open_invite(client), "source": {"id": taken}})
    assert answer.status_code == 422
    assert "belongs to another person" in answer.json()["error"]
    assert "Set-Cookie" not in answer.headers


def test_a_model_cannot_be_invited(client: Browsers):
    client.study.store.ratings.add([], raters=[RaterRef("openai:m", Kind.MODEL)])
    answer = client.owner().post("/api/invites", json={"name": "openai:m"})
    assert answer.status_code == 422
    assert client.config.location not in answer.text


def test_a_session_that_another_process_ends_is_over_at_once(client: Browsers):
    ann = client.rater("ann")
    assert ann.get("/api/me").json()["access"] == ["rater"]
    [invite] = client.study.store.people.access.invites()
    client.study.store.people.access.revoke_invite(invite.id)
    assert ann.get("/api/me").json()["access"] == []


# The owner


@pytest.mark.parametrize(
    "password", ["wrong", RUN_TOKEN[:-1], RUN_TOKEN + "x", "é"], ids=["other", "shorter", "longer", "accented"]
)
def test_a_wrong_token_lets_nobody_in(client: Browsers, password: str):
    answer = client.browser().post("/api/session/owner", json={"password": password})
    assert answer.status_code == 401
    assert "Set-Cookie" not in answer.headers


def test_the_owner_comes_with_the_password_and_a_new_one_ends_the_old_sessions(study: Study):
    config = Config(study.store.location, owner_password=Secret("correct horse battery"))
    with Browsers(study, config) as client:
        owner = client.owner()
        assert owner.get("/api/invites").status_code == 200
        assert client.bearer("correct horse battery").get("/api/invites").status_code == 200
        token = owner.cookies["evenhand_owner"]
    with Browsers(study, config) as client:
        assert client.browser({"Cookie": f"evenhand_owner={token}"}).get("/api/invites").status_code == 200
    with Browsers(study, replace(config, owner_password=Secret("another horse battery"))) as client:
        assert client.browser({"Cookie": f"evenhand_owner={token}"}).get("/api/invites").status_code == 401


def test_the_owner_rates_under_a_name(client: Browsers):
    owner = client.owner()
    assert owner.post("/api/session/as", json={"name": "me"}).json() == {"next": "/rate"}
    assert owner.get("/api/me").json()["access"] == ["rater", "owner"]
    assert owner.post("/api/session/as", json={"name": "judge", "role": "adjudicator"}).json() == {
        "next": "/adjudicate"
    }
    assert owner.get("/api/me").json()["rater"] == "judge"
    assert owner.post("/api/session/as", json={"name": "me", "role": "adjudicator"}).status_code == 422


def test_the_owner_rates_under_nobody_elses_name(client: Browsers):
    owner = client.owner()
    client.rater("ann")
    client.invite("ben")
    client.study.store.ratings.add([], raters=[RaterRef("cleo", Kind.PERSON)])
    for taken in ("ann", "ben", "cleo"):
        answer = owner.post("/api/session/as", json={"name": taken})
        assert answer.status_code == 422
        assert taken in answer.json()["error"]
    assert owner.get("/api/me").json()["rater"] is None
    # A name of their own serves again.
    for _ in range(2):
        assert owner.post("/api/session/as", json={"name": "me"}).status_code == 200


def test_signing_out_ends_both_sessions(client: Browsers):
    owner = client.owner()
    owner.post("/api/session/as", json={"name": "me"})
    tokens = dict(owner.cookies)
    assert owner.delete("/api/session").status_code == 204
    assert dict(owner.cookies) == {}
    old = client.browser({"Cookie": "; ".join(f"{name}={value}" for name, value in tokens.items())})
    assert old.get("/api/me").json()["access"] == []


def test_a_rater_cannot_come_in_with_the_owners_cookie_name(client: Browsers):
    token = client.rater("ann").cookies["evenhand_rater"]
    assert client.browser({"Cookie": f"evenhand_owner={token}"}).get("/api/invites").status_code == 401


@pytest.mark.parametrize("bad", ["", "  ", "x" * 101, "a\nb", "a\u202eb", "a\x00b"])
def test_a_name_is_something_that_can_be_read(client: Browsers, bad: str):
    assert client.owner().post("/api/invites", json={"name": bad}).status_code == 422


def test_an_invite_is_for_one_by_name_or_for_several_without(client: Browsers):
    owner = client.owner()
    wrong = [{}, {"name": "a", "seats": 3}, {"seats": 3, "role": "adjudicator"}, {"seats": 0}, {"name": "a", "days": 0}]
    assert [owner.post("/api/invites", json=body).status_code for body in wrong] == [422] * 5
    made = owner.post("/api/invites", json={"name": " ann ", "share": 5, "days": 2})
    assert made.status_code == 201
    invite = made.json()["invite"]
    assert (invite["name"], invite["share"], invite["seats"], invite["state"]) == ("ann", 5, 1, "open")
    assert re.fullmatch(r"http://127\.0\.0\.1:8400/join/[\w-]{43}", made.json()["link"])


# Programs


def test_a_program_rates_with_the_token_of_an_invite(client: Browsers):
    program = client.bearer(client.invite("ann"))
    assert program.get("/api/me").json()["access"] == ["rater"]
    assert [member.rater for member in client.study.store.people.members()] == ["ann"]
    assert client.bearer(_open_invite(client)).get("/api/me").status_code == 401
    assert client.bearer("wrong").get("/api/me").status_code == 401
    assert client.browser().get("/api/me").json()["access"] == [], "no token is no wrong token"


def test_somebody_is_noted_as_seen_at_most_once_a_minute(client: Browsers):
    ann = client.rater("ann")
    for _ in range(5):
        ann.get("/api/form")
    member = client.study.store.people.member("ann")
    assert member is not None
    first = member.seen
    ann.get("/api/form")
    member = client.study.store.people.member("ann")
    assert member is not None
    assert member.seen == first


# Pages


@pytest.mark.parametrize(
    ("who", "start", "seen"),
    [
        ("nobody", None, set[str]()),
        ("rater", "/rate", {"/rate", "/guideline"}),
        ("adjudicator", "/adjudicate", {"/adjudicate", "/guideline"}),
        ("owner", "/manage", {"/manage", "/adjudicate", "/guideline"}),
    ],
)
def test_each_sees_their_own_pages(client: Browsers, who: str, start: str | None, seen: set[str]):
    browser = client.browser() if who == "nobody" else getattr(client, who)()
    found = {page: browser.get(page) for page in ("/rate", "/adjudicate", "/manage", "/guideline")}
    assert {page for page, answer in found.items() if answer.status_code == 200} == seen
    assert browser.get("/").headers.get("Location") == start
    for page in found.keys() - seen:
        answer = found[page]
        assert answer.headers.get("Location") == "/login" if page == "/manage" else "invite link" in answer.text


def test_pages_for_everybody(client: Browsers):
    browser = client.browser()
    for page in ("/login", "/join/anything", "/api", "/healthz"):
        assert browser.get(page).status_code == 200
    # A redirect would carry the token behind its # along into the address of the next page.
    assert client.owner().get("/login").status_code == 200


# Every route


PUBLIC = {"POST /api/session", "POST /api/session/owner", "DELETE /api/session", "GET /api/me"}
OPEN_PAGES = {"/", "/join/{token}", "/login", "/rate", "/adjudicate", "/guideline", "/manage", "/api", "/healthz"}


def guards_of(dependant: Dependant) -> Iterator[set[str]]:
    """The kinds of access that each dependency of a route admits."""
    for inner in dependant.dependencies:
        if inner.call is signed:
            yield set(inner.own_oauth_scopes or ())
        yield from guards_of(inner)


def api_routes() -> list[tuple[str, str, list[set[str]]]]:
    return [
        (method, route.path, list(guards_of(route.dependant)))
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
    ]


def test_the_routes_known_here_are_all_there_are(client: Browsers):
    documented = {
        (method.upper(), path) for path, methods in client.app.openapi()["paths"].items() for method in methods
    }
    assert documented == {(method, path) for method, path, _ in api_routes()}
    assert {route.path for route in pages.router.routes if isinstance(route, APIRoute)} == OPEN_PAGES


def test_every_route_has_exactly_one_guard_or_is_known_to_be_public():
    unguarded = {f"{method} {path}" for method, path, guards in api_routes() if not guards}
    assert unguarded == PUBLIC
    assert [(method, path) for method, path, guards in api_routes() if len(guards) > 1] == []


def test_every_route_refuses_everybody_it_is_not_for(client: Browsers):
    browsers = {"rater": client.rater(), "adjudicator": client.adjudicator(), "owner": client.owner()}
    wrong: list[str] = []
    for method, path, guards in api_routes():
        if not guards:
            continue
        concrete = re.sub(r"\{[^}]*\}", "1", path)
        for access, browser in browsers.items():
            status = browser.request(method, concrete, json={}).status_code
            allowed = any(access in guard for guard in guards)
            if (status == 403) == allowed or status in (401, 500):
                wrong.append(f"{method} {path} as {access}: {status}")
        if client.browser().request(method, concrete, json={}).status_code != 401:
            wrong.append(f"{method} {path} as nobody")
    assert wrong == []


def test_the_api_documents_how_to_sign_in(client: Browsers):
    document = client.browser().get("/api/openapi.json").json()
    schemes = document["components"]["securitySchemes"]
    assert {scheme["type"] for scheme in schemes.values()} == {"apiKey", "http"}
    listing = document["paths"]["/api/invites"]["get"]
    assert {"owner session": ["owner"]} in listing["security"]
    assert {"token": ["owner"]} in listing["security"]
    assert {"401", "403", "429"} <= set(listing["responses"])
    assert "HTTPValidationError" not in str(document)


def _open_invite(client: Browsers, seats: int = 10) -> str:
    invite, token = new_invite(None, seats=seats)
    client.study.store.people.access.add_invite(invite, token)
    return token
