"""Joining and signing in, in a browser: by link, by id, by password, and not at all."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from evenhand.store.people.access import new_invite
from evenhand.study import Study
from tests.browser.accessibility import violations
from tests.browser.serving import Serve, Served, make_study, serving

PASSWORD = "correct horse battery"


@pytest.fixture
def served(shared: Serve) -> Served:
    return shared("ai-detection")


def group_link(served: Served, seats: int = 5) -> str:
    invite, token = new_invite(None, seats=seats)
    with Study.open(served.study) as study:
        study.store.people.access.add_invite(invite, token)
    return f"{served.url}/join/{token}"


def test_an_invite_link_leads_to_the_work_and_is_left_behind(page: Page, served: Served):
    page.goto("about:blank")
    page.goto(served.invite("guest"))
    page.wait_for_url("**/rate")
    page.go_back()
    assert "/join/" not in page.url
    page.goto(served.url)
    page.wait_for_url("**/rate")


def test_a_group_link_asks_for_an_id(page: Page, served: Served):
    page.goto(group_link(served))
    field = page.get_by_label("Your participant id")
    expect(field).to_be_focused()
    expect(page.locator(".bad")).to_have_count(0)
    field.fill("a b")
    field.press("Enter")
    assert "/join/" in page.url
    field.fill("p-1")
    field.press("Enter")
    page.wait_for_url("**/rate")


def test_a_platform_hands_the_id_over(page: Page, served: Served):
    page.goto(f"{group_link(served)}?PROLIFIC_PID=5f1&STUDY_ID=s&SESSION_ID=x&other=1")
    page.wait_for_url("**/rate")
    with Study.open(served.study) as study:
        assert "5f1" in [member.rater for member in study.store.people.members()]


def test_an_id_that_cannot_be_used_is_asked_for_again(page: Page, served: Served):
    page.goto(served.invite("taken"))
    page.wait_for_url("**/rate")
    page.context.clear_cookies()
    page.goto(f"{group_link(served)}?PROLIFIC_PID=a%20b")
    field = page.get_by_label("Your participant id")
    expect(field).to_be_focused()
    expect(page.get_by_role("status")).to_have_text(re.compile("letters, digits"))
    expect(page.get_by_role("status")).not_to_contain_text("body.")
    field.fill("taken")
    field.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("belongs to another person")
    field.fill("p-2")
    field.press("Enter")
    page.wait_for_url("**/rate")


def test_a_wrong_link_says_what_to_do(page: Page, served: Served):
    page.goto(f"{served.url}/join/nothing")
    expect(page.get_by_role("status")).to_contain_text("for a new one")
    expect(page.get_by_role("button")).to_have_count(0)


def test_without_a_network_joining_can_be_tried_again(page: Page, served: Served):
    page.route("**/api/session", lambda route: route.abort())
    page.goto(served.invite("patient"))
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_in_viewport()
    page.unroute("**/api/session")
    again.click()
    page.wait_for_url("**/rate")


def test_the_owners_link_leaves_no_token_in_the_address(page: Page, served: Served):
    page.goto(served.owner_link)
    page.wait_for_url("**/manage")
    assert page.url == f"{served.url}/manage"
    # Signed in or not, no token is taken along to the next page.
    page.goto(served.owner_link)
    page.wait_for_url(f"{served.url}/manage")
    page.goto(f"{served.url}/login#wrong")
    page.wait_for_url(f"{served.url}/manage")


def test_an_old_link_of_the_owner_is_explained(page: Page, served: Served):
    page.goto(f"{served.url}/login#wrong")
    expect(page.get_by_role("status")).to_contain_text("Open the one that it printed last")
    assert page.url == f"{served.url}/login"


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVENHAND_OWNER_PASSWORD", PASSWORD)
    return make_study(tmp_path, "halo-support")


def test_the_owner_signs_in_with_the_password(page: Page, guarded: Path):
    with serving(guarded) as served:
        page.goto(f"{served.url}/manage")
        assert page.url.endswith("/login")
        field = page.get_by_label("Password")
        field.fill("wrong")
        field.press("Enter")
        expect(page.get_by_role("status")).to_have_text("That is not the password. Try again.")
        field.fill(PASSWORD)
        field.press("Enter")
        page.wait_for_url("**/manage")


def test_the_pages_without_a_session_have_no_barriers(new_context: Callable[..., BrowserContext], guarded: Path):
    with serving(guarded) as served:
        for scheme in ("light", "dark"):
            page = new_context(color_scheme=scheme).new_page()
            for path in ("/", "/login", "/join/nothing", "/nothing", group_link(served).removeprefix(served.url)):
                page.goto(f"{served.url}{path}")
                if "/join/" in path:
                    expect(page.get_by_role("status")).not_to_contain_text("Opening")
                assert violations(page) == []
