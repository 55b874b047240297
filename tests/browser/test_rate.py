"""The rating page in a browser, with the real server behind it."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from evenhand.assignment import Plan
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import Ask, field_text
from evenhand.records import Item, Kind, Status
from evenhand.study import Study
from tests.browser.accessibility import violations
from tests.browser.person import come_in, ratings, saved, sign_in
from tests.browser.serving import UNTRAINED, Serve, Served, serving

DESK: Mapping[str, Any] = {}
PHONE: Mapping[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_an_item_is_rated_by_keyboard_alone(page: Page, shared: Serve) -> None:
    served = shared()
    come_in(page, served.invite("ann"))
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="SUPPORTED")).to_be_focused()
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    page.keyboard.press("2")
    expect(page.get_by_role("radio", name="CONTRADICTED")).to_be_checked()
    page.keyboard.press("n")
    page.keyboard.type("The second passage says otherwise. 3")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 24 done")).to_be_in_viewport()
    expect(page.get_by_role("radio", name="CONTRADICTED")).not_to_be_checked()
    saved(page)
    (rating,) = ratings(served, "ann")
    assert (rating.value, rating.notes) == ("CONTRADICTED", "The second passage says otherwise. 3")
    assert rating.seconds is not None


def test_what_is_answered_offline_arrives_when_the_network_is_back(page: Page, shared: Serve) -> None:
    served = shared()
    come_in(page, served.invite("bea"))
    saved(page)
    page.wait_for_load_state("networkidle")  # the next item is there already
    page.context.set_offline(True)
    page.keyboard.press("1")
    expect(page.locator("#status")).to_have_text("1 answer waiting: offline")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio", name="NO EVIDENCE")).not_to_be_checked()
    page.keyboard.press("2")
    assert ratings(served, "bea") == []
    page.context.set_offline(False)
    saved(page)
    assert sorted(str(rating.value) for rating in ratings(served, "bea")) == ["CONTRADICTED", "NO EVIDENCE"]


def test_a_reload_in_the_middle_loses_nothing(page: Page, shared: Serve) -> None:
    served = shared()
    come_in(page, served.invite("cleo"))
    page.get_by_label("Notes").fill("Begun before the label was chosen")
    page.keyboard.press("Escape")
    page.reload()
    expect(page.get_by_label("Notes")).to_have_value("Begun before the label was chosen")
    page.route("**/api/tasks/*/units/**", lambda route: route.abort())
    page.keyboard.press("1")
    expect(page.locator("#status")).to_have_text("1 answer waiting: offline")
    page.unroute("**/api/tasks/*/units/**")
    page.reload()
    expect(page.get_by_role("radio", name="SUPPORTED")).to_be_checked()
    saved(page)
    (rating,) = ratings(served, "cleo")
    assert (rating.value, rating.notes) == ("SUPPORTED", "Begun before the label was chosen")


def test_two_devices_that_disagree_are_asked_which_answer_counts(
    new_context: Callable[..., BrowserContext], served: Served
) -> None:
    link = served.invite("ann")
    here, there = new_context().new_page(), new_context().new_page()
    come_in(here, link)
    come_in(there, link)
    there.keyboard.press("2")
    saved(there)
    here.keyboard.press("1")
    conflict = here.get_by_role("group", name="Two answers")
    expect(conflict).to_contain_text(re.compile("Here: SUPPORTED; saved elsewhere: CONTRADICTED, at "))
    conflict.get_by_role("button", name="Keep mine").click()
    saved(here)
    assert [rating.value for rating in ratings(served, "ann")] == ["SUPPORTED"]
    there.keyboard.press("3")
    there.get_by_role("button", name="Use the other").click()
    expect(there.get_by_role("radio", name="SUPPORTED")).to_be_checked()
    assert [rating.value for rating in ratings(served, "ann")] == ["SUPPORTED"]


def test_two_tabs_of_one_browser_show_the_same(new_context: Callable[..., BrowserContext], shared: Serve) -> None:
    served = shared()
    context = new_context()
    first, second = context.new_page(), context.new_page()
    come_in(first, served.invite("dora"))
    second.goto(f"{served.url}/rate")
    expect(second.get_by_role("radio", name="SUPPORTED")).to_be_in_viewport()
    first.keyboard.press("3")
    expect(second.get_by_role("radio", name="NO EVIDENCE")).to_be_checked()
    second.keyboard.press("1")
    expect(first.get_by_role("radio", name="SUPPORTED")).to_be_checked()
    saved(second)
    assert [rating.value for rating in ratings(served, "dora")] == ["SUPPORTED"]


def test_undo_takes_answers_back_one_by_one_and_across_items(page: Page, shared: Serve) -> None:
    served = shared()
    come_in(page, served.invite("eva"))
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 24 done")).to_be_in_viewport()
    page.keyboard.press("u")
    expect(page.get_by_role("radio", name="SUPPORTED")).to_be_checked()
    page.keyboard.press("u")
    expect(page.get_by_role("radio", name="SUPPORTED")).not_to_be_checked()
    expect(page.locator(".toast")).to_have_text("Undone.")
    expect(page.locator(".toast")).to_be_in_viewport()
    expect(page.get_by_role("radiogroup")).to_be_focused()
    expect(page.get_by_text("0 of 24 done")).to_be_in_viewport()
    saved(page)
    (rating,) = ratings(served, "eva")
    assert (rating.status, rating.reason) == (Status.SKIPPED, "taken back")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.wait_for_url("**#task-2")
    expect(page.get_by_text("1 of 24 done")).to_be_in_viewport()
    saved(page)
    page.reload()
    expect(page.get_by_text("1 of 24 done")).to_be_in_viewport()


def test_a_follow_up_is_there_only_while_its_condition_holds(page: Page, shared: Serve) -> None:
    served = shared("stem-accuracy")
    come_in(page, served.invite("fay"))
    severity = page.get_by_role("button", name="Severity")
    expect(page.get_by_role("button", name="Accuracy")).to_be_in_viewport()
    expect(severity).to_have_count(0)
    page.keyboard.press("4")
    expect(severity).to_be_visible()
    page.keyboard.press("Enter")
    expect(severity).to_be_in_viewport()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("Sentence 2 of"))).to_be_in_viewport()
    expect(page.get_by_text(re.compile(r"^0 of \d+ done, 1 of \d+ sentences here$"))).to_be_in_viewport()
    given = page.locator("#sentence-1 .given")
    expect(given).to_have_text("Inaccurate, Severe")
    expect(given).to_be_in_viewport(ratio=1)
    marks = page.locator("#sentence-1").evaluate("(one) => getComputedStyle(one, '::after').content")
    assert marks == "none", "a tick would say that the sentence is fine"
    page.keyboard.press("[")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("1")
    expect(severity).to_have_count(0)
    page.keyboard.press("Control+Enter")
    saved(page)
    first = {r.criterion: (r.status, r.value) for r in ratings(served, "fay")}
    assert first == {"accuracy": (Status.RATED, "Accurate"), "severity": (Status.NOT_ASKED, None)}


def test_questions_are_answered_in_words_or_as_unanswerable(page: Page, shared: Serve) -> None:
    served = shared("rag-quest-eval")
    come_in(page, served.invite("gina"))
    page.keyboard.type("two solar panels")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("Question 2 of"))).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("Question 3 of"))).to_be_in_viewport()
    saved(page)
    assert [rating.value for rating in ratings(served, "gina")] == ["two solar panels", "<Unanswerable>"]


def test_a_worked_example_is_answered_with_what_was_expected(page: Page, shared: Serve) -> None:
    served = shared("neureg-qa", plan=Plan(training="offered"))
    example = load_protocol("neureg-qa").examples[0]
    assert list(example.ratings.values()) == [5, 5, 5, 5, 5]
    come_in(page, served.invite("hana"))
    expect(page.get_by_text("Training 1 of")).to_be_in_viewport()
    # Neither the banner nor the guideline may give the answers away.
    assert example.title not in page.content()
    assert "You rate them first, as training." in page.locator("#guideline").inner_text(timeout=1000)
    for level in (4, 1, 5, 5, 5):
        page.keyboard.press(str(level))
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="3 of 5 as expected, 1 close")).to_be_in_viewport()
    expect(page.get_by_text("Relevance: close, one level off")).to_be_in_viewport()
    expect(page.locator("#feedback").get_by_text(example.rationales["relevance"])).to_be_in_viewport()
    expect(page.locator("#feedback").get_by_text(example.evidence["relevance"][0]).first).to_be_in_viewport()
    expect(page.get_by_text("Accuracy: not as expected")).to_be_in_viewport()
    expect(page.get_by_text("You: 1 ")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Training 2 of")).to_be_in_viewport()
    page.get_by_role("button", name="Skip training").click()
    expect(page.get_by_text(re.compile(r"^0 of \d+ done$"))).to_be_in_viewport()
    expect(page.locator(".notice.training")).to_have_count(0)
    assert ratings(served, "hana") == []
    page.reload()
    assert example.title in page.content()


def test_tasks_are_numbered_as_their_rater_counts_them(page: Page, shared: Serve) -> None:
    served = shared("neureg-qa", plan=Plan(training="offered"))
    come_in(page, served.invite("hugo"))
    page.get_by_role("button", name="Skip training").click()
    page.wait_for_url("**#task-2")
    page.get_by_role("button", name="Tasks").click()
    listed = page.get_by_role("dialog", name="Your tasks").locator(".tasks button")
    for place, text in enumerate(("Training 1skipped", "Item 1open")):
        expect(listed.nth(place)).to_have_text(text)
        expect(listed.nth(place)).to_be_in_viewport(ratio=1)


def test_a_rater_whose_time_ran_out_is_told_when_another_has_the_item(page: Page, serve: Serve) -> None:
    served = serve(plan=Plan(training="off", overlap=1))
    come_in(page, served.invite("ines"))
    with Study.open(served.study) as study:
        people = study.store.people
        people.admit("jon", "rater")
        task = people.tasks.find("ines", 1)
        assert task is not None
        assert task.item is not None
        people.tasks.give_back("ines", number=1)
        people.tasks.reassign(task.item, "jon")
    notice = page.get_by_text("Time ran out: another person has this item now.")
    expect(notice).to_have_count(0)
    page.keyboard.press("1")
    expect(notice).to_be_in_viewport(ratio=1)
    saved(page)
    assert [rating.value for rating in ratings(served, "ines")] == ["SUPPORTED"]


def test_evidence_is_cited_by_selecting_it_and_by_keyboard(page: Page, shared: Serve) -> None:
    served = shared(ask=Ask(evidence="required"))
    come_in(page, served.invite("ida"))
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Not finished yet. Support: mark the evidence")).to_be_in_viewport()
    page.keyboard.press("e")
    page.get_by_role("dialog", name="Choose evidence").get_by_role("button", pressed=False).first.wait_for()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    words = page.get_by_role("region", name="Evidence").locator(".words").first
    first = words.locator("mark").inner_text()
    text = words.inner_text()
    assert text.startswith(first)
    words.evaluate(
        """(words) => {
          const range = document.createRange();
          range.selectNodeContents(words);
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }"""
    )
    expect(page.get_by_text("Not finished yet")).to_have_count(0)
    page.keyboard.press("c")
    expect(page.get_by_role("button", name=re.compile("^Remove"))).to_have_count(2)
    saved(page)
    (rating,) = ratings(served, "ida")
    with Study.open(served.study) as study:
        item = next(item for item in study.store.items.all() if item.id == rating.unit)
    whole = field_text(item.fields["context"])
    cited = [whole[span.start : span.end] for span in rating.evidence]
    assert cited == [first, text]
    page.keyboard.press("Enter")
    page.wait_for_url("**#task-2")
    page.keyboard.press("3")  # NO EVIDENCE has nothing to cite
    expect(page.get_by_role("heading", name="Evidence (optional)")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 of 24 done")).to_be_in_viewport()
    saved(page)
    assert sorted(str(rating.value) for rating in ratings(served, "ida")) == ["NO EVIDENCE", "SUPPORTED"]


@pytest.mark.parametrize(
    ("protocol", "view", "scheme"),
    [
        ("halo-support", DESK, "light"),
        ("neureg-qa", PHONE, "dark"),
        ("stem-accuracy", DESK, "light"),
        ("rag-quest-eval", PHONE, "dark"),
        ("feedback", DESK, "light"),
        ("feedback", PHONE, "dark"),
    ],
)
def test_nothing_bars_people_with_disabilities(
    new_context: Callable[..., BrowserContext], shared: Serve, protocol: str, view: Mapping[str, Any], scheme: str
) -> None:
    served = shared(protocol)
    page = new_context(color_scheme=scheme, **view).new_page()
    page.goto(f"{sign_in(page, served.invite(f'barriers {scheme}'))}/rate")
    expect(page.get_by_role("dialog", name="Guideline")).to_be_in_viewport()
    if protocol == "feedback":
        assert violations(page) == []
    page.get_by_role("dialog", name="Guideline").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Cannot assess").or_(page.get_by_role("radio").nth(1)).first.click()
    saved(page)
    assert violations(page) == []


def middle(place: Locator) -> tuple[float, float]:
    """Where on the page something is clicked."""
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def second_click(page: Page) -> None:
    """The second half of a double click, where the pointer is."""
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)


def test_a_double_click_on_skip_does_not_answer_the_next_item(page: Page, shared: Serve) -> None:
    served = shared("feedback")
    come_in(page, served.invite("jane"))
    page.get_by_role("button", name="Skip item").click()
    x, y = middle(page.get_by_role("button", name="Skip this item"))
    page.mouse.click(x, y)
    page.wait_for_url("**#task-2")
    beneath = page.evaluate_handle("([x, y]) => document.elementFromPoint(x, y).closest('[role=radio]')", [x, y])
    assert beneath.as_element() is not None
    second_click(page)
    saved(page)
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    assert {rating.status for rating in ratings(served, "jane")} == {Status.SKIPPED}
    page.mouse.click(x, y)
    expect(page.get_by_role("radio", checked=True)).to_have_count(1)


def test_nothing_can_be_answered_while_an_item_is_being_skipped(page: Page, shared: Serve) -> None:
    served = shared()
    come_in(page, served.invite("kate"))
    waiting: list[Route] = []
    page.route("**/skip", lambda route: waiting.append(route))
    page.get_by_role("button", name="Skip item").click()
    with page.expect_request("**/skip"):
        page.get_by_role("button", name="Skip this item").click()
    page.keyboard.press("1")
    x, y = middle(page.locator("[role=radio]").nth(1))
    page.mouse.click(x, y)
    expect(page.locator("[role=radio][aria-checked=true]")).to_have_count(0)
    for route in waiting:
        route.continue_()
    page.wait_for_url("**#task-2")
    saved(page)
    assert [rating.status for rating in ratings(served, "kate")] == [Status.SKIPPED]


def test_a_double_click_on_finish_finishes_one_item(page: Page, shared: Serve) -> None:
    served = shared()
    come_in(page, served.invite("lena"))
    page.keyboard.press("1")
    page.mouse.click(*middle(page.get_by_role("button", name="Finish")))
    page.wait_for_url("**#task-2")
    second_click(page)
    expect(page.get_by_text("Not finished yet")).to_have_count(0)
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_text("Not finished yet")).to_be_in_viewport()
    page.get_by_role("button", name="Cannot assess").click()
    expect(page.get_by_text("Not finished yet")).to_have_count(0)


def test_what_is_chosen_by_key_comes_into_view(new_context: Callable[..., BrowserContext], shared: Serve) -> None:
    served = shared("feedback")
    page = new_context(viewport={"width": 1280, "height": 560}).new_page()
    come_in(page, served.invite("mona"))
    page.keyboard.press("5")
    expect(page.get_by_role("radio", name=re.compile("^5"))).to_be_in_viewport(ratio=1)
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Cannot assess")).to_be_in_viewport(ratio=1)
    page.keyboard.press("1")
    expect(page.get_by_role("radio", name=re.compile("^1"))).to_be_in_viewport(ratio=1)
    page.keyboard.press("r")
    expect(page.locator(".criterion.open").get_by_label("Why?")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Suggested improvements").click()
    page.keyboard.type("Add a date.")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Say which chapter.")
    page.keyboard.press("Escape")
    saved(page)
    assert "Add a date.\nSay which chapter." in [rating.value for rating in ratings(served, "mona")]


@pytest.mark.parametrize("view", [DESK, PHONE])
def test_a_text_rated_as_a_whole_stays_in_view_beside_its_criteria(
    new_context: Callable[..., BrowserContext], shared: Serve, view: Mapping[str, Any]
) -> None:
    page = new_context(**view).new_page()
    come_in(page, shared("feedback").invite("phone" if view else "desk"))
    rated = page.locator("#sources .text.rated h2")
    expect(rated).to_be_in_viewport()
    page.get_by_role("button", name="Cannot assess").click()
    expect(rated).to_be_in_viewport()
    expect(page.locator("#rating section.text")).to_have_count(0)


def test_a_number_from_0_to_1_is_typed_and_nothing_beyond_is_saved(page: Page, tmp_path: Path) -> None:
    text = 'name: mine\nversion: "1"\ntitle: Mine\nitem: {fields: {text: {role: rated}}}\n'
    text += "criteria: [{id: close, question: How close is it, scale: {type: continuous}}]\n"
    items = [Item(name, {"text": "A text."}) for name in "ab"]
    with Study.create(tmp_path / "study.db", read_protocol(text, "mine.yaml"), items) as study:
        study.store.people.tasks.set_plan(UNTRAINED)
    with serving(tmp_path / "study.db") as served:
        come_in(page, served.invite("ann"))
        field = page.get_by_role("textbox", name="How close is it")
        expect(page.get_by_text("From 0 to 1", exact=True)).to_be_in_viewport()
        expect(page.get_by_text("%")).to_have_count(0)
        field.fill("1,5")
        field.blur()
        expect(field).to_have_attribute("aria-invalid", "true")
        assert ratings(served, "ann") == []
        field.fill("0,75")
        page.keyboard.press("Enter")
        saved(page)
        assert [rating.value for rating in ratings(served, "ann")] == [0.75]


def test_whoever_rated_everything_in_a_spreadsheet_is_done(page: Page, serve: Serve) -> None:
    served = serve(plan=Plan(training="off"))
    with Study.open(served.study) as study:
        units = [unit.id for unit in study.units()]
        study.import_ratings(
            [{"rater": "jo", "item": unit, "support": "SUPPORTED"} for unit in units], kind=Kind.PERSON
        )
    page.goto(f"{sign_in(page, served.invite('jo'))}/rate")
    page.get_by_role("dialog", name="Guideline").get_by_role("button", name="Close").click()
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_in_viewport()
    expect(page.get_by_text(f"{len(units)} of {len(units)} done")).to_be_in_viewport()
