"""A person at the rating page: by keyboard alone, or by mouse alone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from playwright.sync_api import Locator, Page, expect

from evenhand.records import UNANSWERABLE, Rating, Value
from evenhand.study import Study
from tests.browser.serving import Served

CANNOT_ASSESS = "Cannot assess"
LEAVE_OUT = "Leave out"
KEYS = {CANNOT_ASSESS: "x", LEAVE_OUT: "s", UNANSWERABLE: "0"}
BUTTONS = {CANNOT_ASSESS: CANNOT_ASSESS, LEAVE_OUT: LEAVE_OUT, UNANSWERABLE: "Unanswerable"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A value, or what is said in place of one: `CANNOT_ASSESS`, `LEAVE_OUT`."""

    value: Value
    why: str | None = None


@dataclass(frozen=True, slots=True)
class UnitAnswers:
    """What a person says about a unit: an answer to each criterion, by its title, in the page's order."""

    answers: Mapping[str, Answer]
    sure: int | None = None
    notes: str | None = None


class Hand(Protocol):
    """Does what a person does on the page."""

    def __init__(self, page: Page) -> None: ...

    def skip_training(self) -> None:
        """Leaves the guideline, which opens at the first visit, and then the training."""
        ...

    def rate(self, given: UnitAnswers) -> None:
        """Answers everything about the unit on the page and goes on to the next."""
        ...


class Keyboard:
    """Nothing but keys."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def _type(self, text: str) -> None:
        type_lines(self._page, text)

    def _press(self, *keys: str) -> None:
        for key in keys:
            self._page.keyboard.press(key)

    def skip_training(self) -> None:
        on_screen(self._page.get_by_role("dialog", name="Guideline"))
        self._press("Escape")
        skip = self._page.get_by_role("button", name="Skip training")
        for _ in range(20):
            if skip.evaluate("(button) => button === document.activeElement"):
                break
            self._press("Shift+Tab")
        self._press("Enter")

    def rate(self, given: UnitAnswers) -> None:
        *_, last = given.answers
        for title, answer in given.answers.items():
            self._answer(opened(self._page, title), answer)
            if answer.why is not None:
                self._press("r")
                self._type(answer.why)
            if title == last and given.notes is not None and given.sure is None:
                self._press("n")
                self._type(given.notes)
            self._press("Enter")
        if given.sure is not None:
            expect(self._page.get_by_label("How confident are you?")).to_be_focused()
            self._type(str(given.sure))
            self._press("Enter")
            self._type(given.notes or "")
            self._press("Enter")

    def _answer(self, criterion: Locator, answer: Answer) -> None:
        if answer.value in KEYS:
            self._press("Escape", KEYS[str(answer.value)])
        elif criterion.get_by_role("radio").count() > 0:
            self._press(choice(criterion, answer.value).locator("kbd").inner_text())
        else:
            self._type(str(answer.value))


class Mouse:
    """Nothing but clicks, and letters into fields that were clicked."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def skip_training(self) -> None:
        self._page.get_by_role("dialog", name="Guideline").get_by_role("button", name="Close").click()
        self._page.get_by_role("button", name="Skip training").click()

    def rate(self, given: UnitAnswers) -> None:
        for title, answer in given.answers.items():
            closed = self._page.get_by_role("button", name=title, expanded=False)
            if closed.is_visible():
                closed.click()
            criterion = opened(self._page, title)
            self._answer(criterion, answer)
            if answer.why is not None:
                self._write(criterion.get_by_role("textbox", name="Why?"), answer.why)
        if given.sure is not None:
            self._write(self._page.get_by_label("How confident are you?"), str(given.sure))
        if given.notes is not None:
            self._write(self._page.get_by_label("Notes"), given.notes)
        self._page.get_by_role("group", name="Actions").get_by_role("button").last.click()

    def _answer(self, criterion: Locator, answer: Answer) -> None:
        if answer.value in BUTTONS:
            criterion.get_by_role("button", name=BUTTONS[str(answer.value)]).click()
        elif criterion.get_by_role("radio").count() > 0:
            choice(criterion, answer.value).click()
        else:
            self._write(criterion.get_by_role("textbox").first, str(answer.value))

    def _write(self, place: Locator, text: str) -> None:
        place.click()
        type_lines(self._page, text)


def type_lines(page: Page, text: str) -> None:
    """Types a text that may have several lines; Enter alone would continue."""
    for number, line in enumerate(text.split("\n")):
        if number > 0:
            page.keyboard.press("Shift+Enter")
        page.keyboard.type(line)


def on_screen(*places: Locator) -> None:
    """Waits until each of these is on the screen, not only somewhere on the page.

    At a height of less than 30rem, the whole page scrolls, and what is on the screen depends on that.
    """
    for place in places:
        size = place.page.viewport_size
        if size and size["height"] < 480:
            expect(place).to_be_visible()
        else:
            expect(place).to_be_in_viewport()


def opened(page: Page, title: str) -> Locator:
    """The criterion with this title, as soon as it is the open one, with its question and its scale in view."""
    criterion = page.get_by_role("region", name=title, exact=True)
    expect(criterion).to_have_class(re.compile(r"\bopen\b"))
    on_screen(criterion.locator(".question"), criterion.locator("[role=radio], input, textarea").first)
    return criterion


def choice(criterion: Locator, value: Value) -> Locator:
    """The button of a level or a label."""
    if isinstance(value, str):
        return criterion.get_by_role("radio", name=value, exact=True)
    return criterion.get_by_role("radio", name=re.compile(rf"^{value}\b"))


def sign_in(page: Page, link: str) -> str:
    """Signs a browser in with an invite link, without the page behind it; returns the address of the server."""
    address, _, token = link.partition("/join/")
    answer = page.request.post(f"{address}/api/session", data={"token": token}, headers={"X-Evenhand": "1"})
    assert answer.ok, answer.text()
    return address


def come_in(page: Page, link: str) -> None:
    """Joins by an invite link, closes the guideline, and waits for the first question and its scale."""
    page.goto(f"{sign_in(page, link)}/rate")
    guideline = page.get_by_role("dialog", name="Guideline")
    on_screen(guideline)
    guideline.get_by_role("button", name="Close").click()
    criterion = page.locator(".criterion.open")
    on_screen(criterion.locator(".question"), criterion.locator("[role=radio], input, textarea").first)


def ratings(served: Served, rater: str, *, history: bool = False) -> list[Rating]:
    """A rater's ratings in force as the study's file has them; with `history`, also those replaced since."""
    with Study.open(served.study) as study:
        return list(study.store.ratings.all(rater=rater, history=history))


def saved(page: Page) -> None:
    """Waits until the page says, where the rater sees it, that nothing is on its way any more."""
    status = page.locator("#status")
    expect(status).to_have_text("All saved")
    on_screen(status)
