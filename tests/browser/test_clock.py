"""The seconds of an answer: time at work, not time away. The browser's clock is set, nobody waits."""

from playwright.sync_api import Page

from tests.browser.person import come_in, ratings, saved
from tests.browser.serving import Serve

AWAY = "(state) => { Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state }); }"
TELL = "document.dispatchEvent(new Event('visibilitychange'))"
SLACK = 15
"""The clock runs on beside what it is set forward by."""


def seconds(page: Page, served_by: Serve, rater: str) -> float:
    page.keyboard.press("1")
    saved(page)
    (rating,) = ratings(served_by(), rater)
    assert rating.seconds is not None
    return rating.seconds


def at_work(page: Page, shared: Serve, rater: str) -> None:
    page.clock.install()
    come_in(page, shared().invite(rater))
    page.keyboard.press("ArrowRight")


def test_time_at_work_counts(page: Page, shared: Serve) -> None:
    at_work(page, shared, "busy")
    for _ in range(5):
        page.clock.fast_forward(20_000)
        page.mouse.wheel(0, 10)
        page.keyboard.press("ArrowRight")
    assert 100 <= seconds(page, shared, "busy") < 100 + SLACK


def test_half_a_minute_without_a_sign_of_life_ends_the_count(page: Page, shared: Serve) -> None:
    at_work(page, shared, "asleep")
    page.clock.fast_forward("02:00:00")
    assert 30 <= seconds(page, shared, "asleep") < 30 + SLACK


def test_time_in_another_tab_does_not_count(page: Page, shared: Serve) -> None:
    at_work(page, shared, "elsewhere")
    page.clock.fast_forward(10_000)
    page.evaluate(AWAY, "hidden")
    page.evaluate(TELL)
    page.clock.fast_forward(25_000)
    page.evaluate(AWAY, "visible")
    page.evaluate(TELL)
    page.clock.fast_forward(5_000)
    assert 15 <= seconds(page, shared, "elsewhere") < 15 + SLACK < 40
