"""The owner's page in a browser: inviting, planning, pausing, and watching the work come in."""

import re
from collections.abc import Callable
from secrets import token_hex
from typing import Any

import httpx2
from playwright.sync_api import BrowserContext, Locator, Page, expect

from evenhand.assignment import Plan
from evenhand.records import Kind, RaterRef, Rating
from evenhand.study import Study
from tests.browser.accessibility import violations
from tests.browser.serving import Served

NewContext = Callable[..., BrowserContext]
HOSTILE = "<img src=x onerror=alert(1)> \u202eevil"


def managing(page: Page, served: Served) -> Page:
    page.goto(served.owner_link)
    page.wait_for_url("**/manage")
    expect(page.locator("#freshness")).to_contain_text("Up to date")
    return page


def program(served: Served, name: str) -> httpx2.Client:
    """A rater's program, which sends what their browser would send."""
    token = served.invite(name).rpartition("/")[2]
    return httpx2.Client(base_url=served.url, headers={"Authorization": f"Bearer {token}"}, timeout=20)


def rate(client: httpx2.Client, value: str = "SUPPORTED") -> None:
    """The next task, answered and finished."""
    task: dict[str, Any] = client.post("/api/tasks/next", json={"holding": []}).json()["task"]
    where = f"/api/tasks/{task['number']}/units/1"
    body = {"id": f"{1_700_000_000_000:012x}{token_hex(10)}", "status": "rated", "value": value, "seconds": 30}
    stored = client.put(f"{where}/ratings/support", json=body, headers={"If-None-Match": "*"})
    assert stored.status_code == 200, stored.text
    assert client.post(f"{where}/finish").status_code == 200


def rated(served: Served) -> None:
    """Two people and one with a hostile name have rated; one of them has something in hand."""
    with Study.open(served.study) as study:
        items = [item.id for item in study.items()]
        people, digest = study.store.people, study.protocol.digest
        study.store.ratings.add([], raters=[RaterRef("expert", Kind.PERSON)])
        for name in ("ann", "bob", HOSTILE):
            people.admit(name, "rater")
        people.admit("eve", "adjudicator")
        for name in ("expert", "ann", "bob", HOSTILE):
            values = ["SUPPORTED" if name != HOSTILE and n % 3 else "CONTRADICTED" for n in range(len(items))]
            study.store.ratings.add(
                Rating(unit=unit, criterion="support", rater=name, digest=digest, value=value, seconds=20)
                for unit, value in zip(items, values, strict=True)
            )
        people.tasks.set_plan(Plan(training="off", gold="expert"))
        people.tasks.reassign(items[0], "bob")


def row(page: Page, name: str) -> Locator:
    return page.locator("#raters tbody tr").filter(has=page.locator(".who", has_text=name))


def test_an_invite_is_made_copied_and_withdrawn(new_context: NewContext, served: Served):
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    page = managing(context.new_page(), served)
    page.get_by_role("button", name="Create link").click()
    expect(page.locator("#invite-name-error")).to_have_text("Enter the person's name.")
    page.get_by_label("Name", exact=True).fill("zoë")
    page.get_by_role("button", name="Create link").click()
    expect(page.get_by_text("It works on this machine only.")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#link-state")).to_have_text("Copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.locator("#link-text").input_value()
    assert re.fullmatch(rf"{re.escape(served.url)}/join/[\w-]{{43}}", link)
    friend = new_context().new_page()
    friend.goto(link)
    friend.wait_for_url("**/rate")
    expect(row(page, "zoë")).to_be_visible(timeout=15_000)

    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke the invite for zoë").click()
    expect(page.locator("#invites tbody tr").first).to_contain_text("revoked")
    friend.goto(link)
    expect(friend.get_by_text("This link does not work")).to_be_in_viewport()

    # A link for a crowd carries what Prolific fills in.
    page.get_by_label("A group, such as on Prolific").check()
    expect(page.get_by_label("Name", exact=True)).to_be_hidden()
    page.get_by_label("Maximum people").fill("0")
    page.get_by_role("button", name="Create link").click()
    expect(page.locator("#invite-seats-error")).to_be_visible()
    page.get_by_label("Maximum people").fill("20")
    page.get_by_role("button", name="Create link").click()
    expect(page.locator("#link-text")).to_have_value(
        re.compile(r"/join/[\w-]{43}\?PROLIFIC_PID=\{\{%PROLIFIC_PID%\}\}&")
    )
    expect(page.locator("#invites tbody tr").first).to_contain_text("0 of 20")


def test_the_plan_is_changed_with_errors_beside_their_fields(page: Page, served: Served):
    managing(page, served)
    page.get_by_label("People per item").fill("0")
    page.get_by_label("Time limit in minutes").fill("")
    page.get_by_role("button", name="Save the plan").click()
    expect(page.locator("#plan-claim_minutes-error")).to_have_text("Enter a number.")
    page.get_by_label("Time limit in minutes").fill("45")
    page.get_by_label("Gold rater").fill("nobody")
    page.get_by_role("button", name="Save the plan").click()
    expect(page.locator("#plan-overlap-error")).to_contain_text("greater than or equal to 1")
    expect(page.get_by_label("People per item")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("People per item").fill("2")
    page.get_by_role("button", name="Save the plan").click()
    expect(page.locator("#plan-gold-error")).to_contain_text("There is no rater 'nobody'")
    page.get_by_label("Gold rater").fill("")
    page.get_by_label("Training").select_option("required")
    page.get_by_role("button", name="Save the plan").click()
    expect(page.locator("#plan-state")).to_have_text("Saved.")
    expect(page.locator("#facts")).to_contain_text("2 people")
    with Study.open(served.study) as study:
        assert study.store.people.tasks.plan() == Plan(overlap=2, claim_minutes=45, training="required")


def test_progress_moves_while_somebody_rates_and_a_pause_holds_them(page: Page, served: Served):
    managing(page, served)
    expect(page.locator("#nobody")).to_be_visible()
    with program(served, "ann") as ann:
        rate(ann)
        rate(ann)
        expect(row(page, "ann").locator('[data-label="Items"]')).to_contain_text("2", timeout=15_000)
        expect(row(page, "ann").locator('[data-label="Pace"]')).to_contain_text("120 per hour")
        rate(ann)
        expect(row(page, "ann").locator('[data-label="Items"]')).to_contain_text("3", timeout=15_000)
        pause = page.get_by_role("button", name="Pause ann")
        pause.click()
        resume = page.get_by_role("button", name="Resume ann")
        expect(resume).to_be_focused()
        expect(row(page, "ann")).to_contain_text("paused")
        assert ann.post("/api/tasks/next", json={"holding": []}).json()["state"] == "paused"
        resume.click()
        expect(pause).to_be_visible()
        assert ann.post("/api/tasks/next", json={"holding": []}).json()["state"] == "task"
    # Work was given out: its order stays.
    page.reload()
    expect(page.locator("#plan-locked")).to_be_visible()
    expect(page.get_by_label("Seed")).to_be_disabled()


def test_what_is_in_hand_is_seen_given_and_taken_back(page: Page, served: Served):
    rated(served)
    managing(page, served)
    page.get_by_role("button", name="Open tasks of bob").click()
    dialog = page.get_by_role("dialog")
    tasks = dialog.locator("tbody tr")
    expect(tasks).to_have_count(1)
    with Study.open(served.study) as study:
        second = list(study.items())[1].id
    dialog.get_by_label("Assign an item").fill("no such item")
    dialog.get_by_role("button", name="Assign", exact=True).click()
    expect(dialog.locator("#open-tasks-state")).to_contain_text("There is no item")
    dialog.get_by_label("Assign an item").fill(second)
    dialog.get_by_role("button", name="Assign", exact=True).click()
    expect(tasks).to_have_count(2)
    dialog.get_by_role("button", name="Return task 1").click()
    expect(tasks).to_have_count(1)
    dialog.get_by_role("button", name="Return all").click()
    expect(dialog.locator("#no-open-tasks")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(row(page, "bob")).to_contain_text("none open")


def test_who_needs_help_is_said_and_a_hostile_name_is_only_a_name(page: Page, served: Served):
    rated(served)
    managing(page, served)
    expect(page.locator("#help")).to_contain_text("Gives the known answer")
    expect(page.locator("#help li li")).to_have_count(2)
    assert page.locator("#help .who").text_content() == HOSTILE
    expect(page.locator("#help bdi.control")).to_have_attribute("data-code", "U+202E")
    assert page.locator("img").count() == 0


def test_a_curve_below_zero_stays_within_its_rules(page: Page, served: Served):
    """Two people who never agree: α is far below 0, and so is its interval."""
    with Study.open(served.study) as study:
        for rater, value in (("ann", "SUPPORTED"), ("bob", "CONTRADICTED")):
            ratings = [
                Rating(unit=item.id, criterion="support", rater=rater, digest=study.protocol.digest, value=value)
                for item in study.items()
            ]
            study.store.ratings.add(ratings, raters=[RaterRef(rater, Kind.PERSON)])
    managing(page, served)
    expect(page.locator(".plot .dot").first).to_be_attached()
    page.locator(".plot svg").scroll_into_view_if_needed()
    rules = [rule.bounding_box() for rule in page.locator(".plot .rule").all()]
    lowest = max(box["y"] for box in rules if box)
    for drawn in page.locator(".plot .band, .plot .curve").all():
        box = drawn.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= lowest + 3, "half of a line or a dot may lie below"
    expect(page.locator(".plot text", has_text="−1").first).to_be_in_viewport(ratio=1)


def test_rating_oneself_is_one_step_away(page: Page, served: Served):
    managing(page, served)
    page.get_by_label("Your name").fill("me")
    page.get_by_role("button", name="Start rating").click()
    page.wait_for_url("**/rate")
    page.goto(f"{served.url}/manage")
    expect(page.get_by_label("Your name")).to_have_value("me")
    page.get_by_role("button", name="Adjudicate").click()
    expect(page.locator("#act-error")).to_contain_text("me")
    page.get_by_label("Your name").fill("judge me")
    page.get_by_role("button", name="Adjudicate").click()
    page.wait_for_url("**/adjudicate")


def test_the_page_says_when_the_server_is_away(page: Page, served: Served):
    managing(page, served)
    page.route("**/api/progress", lambda route: route.abort())
    expect(page.locator("#trouble")).to_contain_text("The server cannot be reached.", timeout=15_000)
    expect(page.locator("#trouble")).to_contain_text("What you see is from")
    page.unroute("**/api/progress")
    expect(page.locator("#trouble")).to_be_hidden(timeout=15_000)


def test_everybody_can_use_the_page(new_context: NewContext, served: Served):
    rated(served)
    for width, scheme in ((1280, "light"), (390, "dark")):
        context = new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
        page = managing(context.new_page(), served)
        expect(page.get_by_role("img", name="Agreement on Support")).to_be_visible()
        page.get_by_text("As a table").click()
        expect(page.locator(".plot tbody tr")).to_have_count(10)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Open tasks of bob").click()
        expect(page.locator("#assign-item")).to_be_visible()
        assert violations(page) == []
