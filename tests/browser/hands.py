"""A person at the rating page, with one hand tied: by keyboard alone, or by mouse alone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from playwright.sync_api import Locator, Page, expect
from serving import Served

from evenhand.records import UNANSWERABLE, Rating, Value
from evenhand.study import Study

CANNOT_ASSESS = "Cannot assess"
LEAVE_OUT = "Leave out"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a value, or what is said in place of one (`CANNOT_ASSESS`, `LEAVE_OUT`)."""

    value: Value
    why: str | None = None


@dataclass(frozen=True, slots=True)
class UnitAnswers:
    """What a person says about a unit: an answer for each criterion, by its title, in the page's order."""

    answers: Mapping[str, Answer]
    sure: int | None = None
    notes: str | None = None


@dataclass
class Hand(Protocol):
    """Does what a person does on the page."""

    page: Page

    def skip_training(self) -> None: ...

    def rate(self, given: UnitAnswers) -> None:
        """Answers everything about the unit on the page and goes on to the next."""
        ...


@dataclass
class Keyboard:
    """Nothing but keys."""

    page: Page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def skip_training(self) -> None:
        self.press("Escape")  # the guideline
        skip = self.page.get_by_role("button", name="Skip training")
        for _ in range(20):
            if skip.evaluate("(button) => button === document.activeElement"):
                break
            self.press("Shift+Tab")
        self.press("Enter")

    def rate(self, given: UnitAnswers) -> None:
        *_, last = given.answers
        for title, answer in given.answers.items():
            expect(criterion(self.page, title)).to_be_visible()
            self._answer(title, answer)
            if answer.why is not None:
                self.press("r")
                self.page.keyboard.type(answer.why)
            if title == last and given.notes is not None and given.sure is None:
                self.press("n")
                self.page.keyboard.type(given.notes)
            self.press("Enter")
        if given.sure is not None:
            expect(self.page.get_by_label("How sure are you?")).to_be_focused()
            self.page.keyboard.type(str(given.sure))
            self.press("Enter")
            self.page.keyboard.type(given.notes or "")
            self.press("Enter")

    def _answer(self, title: str, answer: Answer) -> None:
        if answer.value in (CANNOT_ASSESS, LEAVE_OUT, UNANSWERABLE):
            keys = {CANNOT_ASSESS: "x", LEAVE_OUT: "s", UNANSWERABLE: "0"}
            self.press("Escape", keys[str(answer.value)])
        elif (
            criterion(self.page, title).get_by_role("textbox", name="Why?").count()
            == criterion(self.page, title).get_by_role("textbox").count()
        ):
            self.press(choice(self.page, title, answer.value).locator("kbd").inner_text())
        else:
            self.page.keyboard.type(str(answer.value))


@dataclass
class Mouse:
    """Nothing but clicks, and letters into fields that were clicked."""

    page: Page

    def skip_training(self) -> None:
        self.page.get_by_role("dialog", name="Guideline").get_by_role("button", name="Close").click()
        self.page.get_by_role("button", name="Skip training").click()

    def rate(self, given: UnitAnswers) -> None:
        for title, answer in given.answers.items():
            opened = criterion(self.page, title)
            if not opened.is_visible():
                self.page.get_by_role("button", name=title, expanded=False).click()
            self._answer(title, answer)
            if answer.why is not None:
                self._write(opened.get_by_role("textbox", name="Why?"), answer.why)
        if given.sure is not None:
            self._write(self.page.get_by_label("How sure are you?"), str(given.sure))
        if given.notes is not None:
            self._write(self.page.get_by_label("Notes"), given.notes)
        self.page.get_by_role("group", name="Actions").get_by_role("button").last.click()

    def _answer(self, title: str, answer: Answer) -> None:
        opened = criterion(self.page, title)
        if answer.value in (CANNOT_ASSESS, LEAVE_OUT, UNANSWERABLE):
            names = {UNANSWERABLE: "Unanswerable"}
            opened.get_by_role("button", name=names.get(str(answer.value), str(answer.value))).click()
        elif opened.get_by_role("radio").count() > 0:
            choice(self.page, title, answer.value).click()
        else:
            self._write(opened.get_by_role("textbox").first, str(answer.value))

    def _write(self, place: Locator, text: str) -> None:
        place.click()
        self.page.keyboard.type(text)


def criterion(page: Page, title: str) -> Locator:
    """The criterion with this title, once it is open."""
    return page.locator("section.criterion.open").filter(has=page.get_by_role("button", name=title, expanded=True))


def choice(page: Page, title: str, value: Value) -> Locator:
    """The button for a level or a label of an open criterion."""
    name = re.compile(rf"^{value}\b") if isinstance(value, int) else value
    return criterion(page, title).get_by_role("radio", name=name, exact=isinstance(value, str))


@dataclass
class Visit:
    """Somebody rating tasks one after the other, and what they said, by task, unit and criterion."""

    page: Page
    hand: Hand
    said: dict[tuple[int, int], UnitAnswers] = field(default_factory=dict)


def come_in(page: Page, link: str) -> None:
    """Joins by an invite link and closes the guideline, which opens at the first visit."""
    page.goto(link)
    page.get_by_role("dialog", name="Guideline").get_by_role("button", name="Close").click()


def in_force(served: Served, rater: str, *, history: bool = False) -> list[Rating]:
    """A rater's ratings as the study's file has them; with `history`, also those that others took the place of."""
    with Study.open(served.study) as study:
        return list(study.store.ratings(rater=rater, history=history))


def saved(page: Page) -> None:
    expect(page.locator("#status")).to_have_text("All saved")
