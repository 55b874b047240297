"""When the network, the server, a tab or a second device gets in the way: every answer arrives, once."""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, Route, expect

from evenhand.assignment import Plan, Task
from evenhand.records import Status
from evenhand.study import Study
from tests.browser.person import come_in, on_screen, ratings, saved
from tests.browser.serving import UNTRAINED, Serve, Served, make_study, serving

NewContext = Callable[..., BrowserContext]


def values(served: Served, rater: str, *, history: bool = True) -> list[object]:
    """A rater's values in the order in which they came."""
    with Study.open(served.study) as study:
        return [rating.value for _, rating in study.store.ratings.arrivals(rater=rater, history=history)]


@contextmanager
def held(page: Page, pattern: str) -> Generator[None]:
    """Requests that match go nowhere until the block ends."""
    waiting: list[Route] = []
    released = False

    def keep(route: Route) -> None:
        if released:
            route.continue_()
        else:
            waiting.append(route)

    page.route(pattern, keep)
    yield
    released = True
    for route in waiting:
        route.continue_()


def test_an_answer_is_there_and_marked_as_saved_after_a_reload(page: Page, shared: Serve) -> None:
    served = shared("ai-detection")
    come_in(page, served.invite("reload"))
    page.keyboard.press("2")
    saved(page)
    page.reload()
    expect(page.get_by_role("radio", name="incorrect", exact=True)).to_be_checked()
    expect(page.get_by_text(re.compile(r"^saved \d\d:\d\d"))).to_be_in_viewport()
    assert values(served, "reload") == ["incorrect"]


def test_what_is_being_written_survives_a_reload_in_the_middle_of_a_word(page: Page, shared: Serve) -> None:
    served = shared("ai-detection")
    come_in(page, served.invite("draft"))
    page.keyboard.press("r")
    page.keyboard.type("The labels differ bec")
    page.reload()
    why = page.get_by_label("Why?")
    expect(why).to_have_value("The labels differ bec")
    assert values(served, "draft") == []
    page.keyboard.press("2")
    saved(page)
    page.keyboard.press("r")
    page.keyboard.press("End")
    page.keyboard.type("ause")
    page.reload()
    expect(why).to_have_value("The labels differ because")
    saved(page)
    (rating,) = ratings(served, "draft")
    assert (rating.value, rating.rationale) == ("incorrect", "The labels differ because")


def test_answers_wait_for_a_server_that_was_killed_and_arrive_once_each_in_order(page: Page, tmp_path: Path) -> None:
    study = make_study(tmp_path, "halo-support", UNTRAINED)
    with serving(study) as first:
        come_in(page, first.invite("ann"))
        page.wait_for_load_state("networkidle")  # the next item is there already
        first.kill()
        for key in ("1", "3", "2", "Enter"):
            page.keyboard.press(key)
        expect(page.get_by_role("radio", name="CONTRADICTED")).not_to_be_checked()
        page.keyboard.press("3")
        expect(page.locator("#status")).to_have_text(re.compile("answers waiting: offline"))
    with serving(study, port=int(first.url.rsplit(":", 1)[1])) as second:
        expect(page.locator("#status")).to_have_text("All saved", timeout=60_000)
        assert values(second, "ann") == ["SUPPORTED", "NO EVIDENCE", "CONTRADICTED", "NO EVIDENCE"]
        assert values(second, "ann", history=False) == ["CONTRADICTED", "NO EVIDENCE"]
        assert [task.state for task in tasks(second, "ann")][:2] == ["done", "open"]


def tasks(served: Served, rater: str) -> list[Task]:
    with Study.open(served.study) as study:
        return list(study.store.people.tasks.all(rater))


def test_what_was_answered_offline_is_sent_by_the_next_tab(new_context: NewContext, shared: Serve) -> None:
    served = shared()
    context = new_context()
    first = context.new_page()
    come_in(first, served.invite("closed"))
    first.wait_for_load_state("networkidle")
    context.set_offline(True)
    first.keyboard.press("2")
    first.keyboard.press("n")
    first.keyboard.type("Written in a tunnel")
    first.keyboard.press("Escape")
    expect(first.locator("#status")).to_have_text("1 answer waiting: offline")
    first.close()
    assert values(served, "closed") == []
    context.set_offline(False)
    later = context.new_page()
    later.goto(f"{served.url}/rate")
    expect(later.get_by_role("radio", name="CONTRADICTED")).to_be_checked()
    expect(later.get_by_label("Notes")).to_have_value("Written in a tunnel")
    saved(later)
    (rating,) = ratings(served, "closed")
    assert (rating.value, rating.notes) == ("CONTRADICTED", "Written in a tunnel")


def test_two_tabs_that_answer_offline_send_one_chain(new_context: NewContext, shared: Serve) -> None:
    served = shared()
    context = new_context()
    first, second = context.new_page(), context.new_page()
    come_in(first, served.invite("tabs"))
    second.goto(f"{served.url}/rate")
    expect(second.get_by_role("radio", name="SUPPORTED")).to_be_in_viewport()
    context.set_offline(True)
    first.keyboard.press("1")
    second.keyboard.press("2")
    first.keyboard.press("3")
    context.set_offline(False)
    saved(first)
    saved(second)
    expect(second.get_by_role("radio", name="NO EVIDENCE")).to_be_checked()
    assert values(served, "tabs") == ["SUPPORTED", "CONTRADICTED", "NO EVIDENCE"]


def test_a_conflict_of_two_devices_shows_both_answers_and_keeps_every_record(
    new_context: NewContext, shared: Serve
) -> None:
    served = shared("ai-detection")
    link = served.invite("devices")
    desk, phone = new_context().new_page(), new_context().new_page()
    come_in(desk, link)
    come_in(phone, link)
    phone.keyboard.press("2")
    phone.keyboard.press("r")
    phone.keyboard.type("Seen on the train")
    phone.keyboard.press("Escape")
    saved(phone)
    desk.keyboard.press("1")
    conflict = desk.get_by_role("group", name="Two answers")
    expect(conflict).to_contain_text(re.compile("Here: correct; saved elsewhere: incorrect, at "))
    expect(conflict).to_contain_text("Seen on the train")
    expect(desk.locator("#status")).to_have_text("1 answer not saved")
    desk.reload()
    conflict.get_by_role("button", name="Use the other").click()
    expect(desk.get_by_role("radio", name="incorrect", exact=True)).to_be_checked()
    expect(desk.get_by_label("Why?")).to_have_value("Seen on the train")
    saved(desk)
    assert values(served, "devices") == ["incorrect", "incorrect"]
    desk.keyboard.press("1")
    saved(desk)
    phone.get_by_role("radio", name="incorrect", exact=True).focus()
    phone.keyboard.press("x")
    phone.get_by_role("button", name="Keep mine").click()
    saved(phone)
    assert values(served, "devices") == ["incorrect", "incorrect", "correct", None]
    (rating,) = ratings(served, "devices")
    assert (rating.status, rating.rationale) == (Status.CANNOT_ASSESS, "Seen on the train")


def test_undo_goes_back_over_criteria_with_new_records(page: Page, shared: Serve) -> None:
    served = shared("neureg-qa")
    come_in(page, served.invite("undo"))
    for key in ("5", "Enter", "4", "3", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Completeness", expanded=True)).to_be_in_viewport()
    for _ in range(3):
        page.keyboard.press("u")
    expect(page.get_by_role("button", name="Relevance", expanded=True)).to_be_in_viewport()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    saved(page)
    history = [(one.criterion, one.value, one.reason) for one in ratings(served, "undo", history=True)]
    assert history == [
        ("relevance", 5, None),
        ("relevance", None, "taken back"),
        ("accuracy", 4, None),
        ("accuracy", 3, None),
        ("accuracy", 4, None),
        ("accuracy", None, "taken back"),
    ]
    page.reload()
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)


def test_keys_that_come_before_the_next_item_change_nothing(page: Page, shared: Serve) -> None:
    served = shared()
    come_in(page, served.invite("hasty"))
    page.keyboard.press("1")
    saved(page)
    with held(page, "**/api/tasks/next"):
        page.reload()
        expect(page.get_by_role("radio", name="SUPPORTED")).to_be_checked()
        for key in ("Enter", "2", "Enter", "u", "3"):
            page.keyboard.press(key)
        expect(page.get_by_role("radio", name="SUPPORTED")).to_be_checked()
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    saved(page)
    assert values(served, "hasty") == ["SUPPORTED"]
    page.keyboard.press("2")
    saved(page)
    assert values(served, "hasty") == ["SUPPORTED", "CONTRADICTED"]


def test_the_count_of_what_is_done_never_goes_back(page: Page, shared: Serve) -> None:
    served = shared()
    come_in(page, served.invite("counted"))
    page.wait_for_load_state("networkidle")
    with held(page, "**/finish"):
        page.keyboard.press("1")
        with page.expect_response("**/api/tasks/next"):
            page.keyboard.press("Enter")
        expect(page.get_by_role("radio", checked=True)).to_have_count(0)
        page.keyboard.press("2")
        expect(page.locator("#progress-words")).to_have_text("1 of 24 done")
    saved(page)


def test_the_end_waits_for_the_last_answer_to_arrive(page: Page, shared: Serve) -> None:
    served = shared(plan=Plan(training="off", share=1))
    come_in(page, served.invite("last"))
    page.wait_for_load_state("networkidle")
    with held(page, "**/finish"):
        page.keyboard.press("1")
        with page.expect_response("**/api/tasks/next"):
            page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("^(All done|Nothing)"))).to_have_text("All done. Thank you!")
    assert values(served, "last") == ["SUPPORTED"]


def test_an_answer_to_questions_that_were_changed_is_shown_and_not_sent(page: Page, served: Served) -> None:
    come_in(page, served.invite("ann"))
    saved(page)
    page.route("**/api/tasks/*/units/**", lambda route: route.abort())
    page.keyboard.press("2")
    expect(page.locator("#status")).to_have_text("1 answer waiting: offline")
    with Study.open(served.study) as study:
        study.adopt(study.protocol.model_copy(update={"version": "99"}))
    page.unroute("**/api/tasks/*/units/**")
    page.reload()
    notice = page.get_by_role("group", name="Earlier answers")
    on_screen(notice)
    expect(notice).to_contain_text("1 answer was given to an earlier version of the questions and was not sent:")
    expect(notice).to_contain_text("Support: CONTRADICTED")
    expect(page.get_by_role("radio")).not_to_have_count(0)
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    saved(page)
    page.reload()
    on_screen(page.get_by_role("radio", name="SUPPORTED"))  # before that, there is nothing that a key could answer
    notice.get_by_role("button", name="Discard").click()
    expect(notice).to_have_count(0)
    page.keyboard.press("1")
    saved(page)
    page.reload()
    expect(page.get_by_role("radio", name="SUPPORTED")).to_be_checked()
    expect(notice).to_have_count(0)
    assert values(served, "ann") == ["SUPPORTED"]
