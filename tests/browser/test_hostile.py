"""Hostile texts wherever texts stand, in a real browser: they are read, and nothing else happens."""

from collections.abc import Callable, Generator, Iterable, Sequence
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, ViewportSize, expect

from evenhand.assignment import Plan
from evenhand.study import Study
from tests.browser.person import sign_in
from tests.browser.serving import Served, serving
from tests.hostile_texts import (
    CONTROLS,
    FORMULAS,
    LINES,
    MARKDOWN,
    MARKUP,
    RATERS,
    TEMPLATES,
    UNSEEN,
    add_hostile_ratings,
    hostile_items,
    hostile_protocol,
)  # fmt: skip

NAME = '"><img src=x onerror=window.hacked=1;alert(1)>\u202eeve'.replace("\u202e", "")
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 800}
GROUPS = {
    "markup": " ".join(text for name, text in MARKUP.items() if name != "deep nesting"),
    "deep nesting": MARKUP["deep nesting"],
    "markdown": "\n\n".join(MARKDOWN.values()),
    "templates": " ".join([*TEMPLATES.values(), *FORMULAS.values()]),
    "unseen": " ".join(UNSEEN.values()),
    "controls": " ".join(CONTROLS.values()),
    "lines": "\n".join(LINES.values()),
}
TEXTS = [f"{name}: {text}" for name, text in GROUPS.items()]
# A protocol has dozens of places; a line of 100,000 characters in each would be a test of patience.
IN_PROTOCOL = {
    "markup": GROUPS["markup"][:3_000],
    "nesting and lines": GROUPS["deep nesting"][:1_500] + GROUPS["lines"][:1_500],
    "the rest": " ".join(GROUPS[name][:750] for name in ("markdown", "templates", "unseen", "controls")),
}

NewContext = Callable[..., BrowserContext]


@pytest.fixture(params=IN_PROTOCOL, scope="module")
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Served, str]]:
    """A study with every text in its items and ratings, and one group of them in every string of its protocol."""
    text = IN_PROTOCOL[request.param].strip()
    path = tmp_path_factory.mktemp("hostile") / "study.db"
    with Study.create(path, hostile_protocol(text), hostile_items(TEXTS)) as study:
        add_hostile_ratings(study, TEXTS)
        study.store.people.tasks.set_plan(Plan(training="off", reveal="all"))
    with serving(path) as served:
        yield served, text


class Watched:
    """A browser of one person that remembers what went wrong in it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self._url = url
        self.dialogs: list[str] = []
        self.elsewhere: list[str] = []
        self.forbidden: list[str] = []
        context.on("request", lambda one: self.elsewhere.extend([one.url] if not one.url.startswith(url) else []))
        context.on("console", lambda one: self.forbidden.extend([one.text] if "Policy" in one.text else []))
        self.page = context.new_page()
        self.page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def check(self) -> None:
        """Nothing ran, nothing was fetched from elsewhere, and the page is no wider than the window."""
        page = self.page
        assert page.url.startswith(self._url)
        assert page.evaluate("window.hacked") is None
        sources = page.evaluate("Array.from(document.scripts, (one) => one.src)")
        assert all(source.startswith(f"{self._url}/static/") for source in sources)
        strange = "iframe, object, embed, base, svg script, [onload], [onerror], [onclick], [srcdoc], form[action]"
        assert page.locator(strange).count() == 0
        links = page.evaluate("Array.from(document.querySelectorAll('a[href]'), (one) => one.protocol)")
        assert set(links) <= {"http:", "https:"}
        assert (self.dialogs, self.elsewhere, self.forbidden) == ([], [], [])
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1], wide

    def wait_for_one_of(self, texts: Iterable[str], within: str = "body") -> str:
        """The first of these texts that a part of the page shows, now or soon."""
        found = """([texts, within]) => {
          const shown = document.querySelector(within).textContent;
          return texts.find((text) => shown.includes(text));
        }"""
        return str(self.page.wait_for_function(found, arg=[list(texts), within], timeout=120_000).json_value())

    def shows(self, text: str) -> bool:
        """Whether the page holds a text, character by character."""
        return bool(self.page.evaluate("(text) => document.body.textContent.includes(text)", text))


def close_guideline(page: Page) -> None:
    page.get_by_role("dialog", name="Guideline").get_by_role("button", name="Close").click()


def test_a_rater_reads_hostile_items_and_nothing_happens(hostile: tuple[Served, str], new_context: NewContext):
    served, text = hostile
    watched = Watched(new_context(), served.url)
    watched.page.goto(f"{sign_in(watched.page, served.invite(NAME))}/rate")
    close_guideline(watched.page)
    left = set(TEXTS)
    # The items are the same under each protocol: it is enough to read them all once.
    tasks = len(TEXTS) if text == IN_PROTOCOL["markup"].strip() else 1
    for done in range(tasks):
        expect(watched.page.get_by_text(f"{done} of {len(TEXTS)} done")).to_be_in_viewport()
        left -= {watched.wait_for_one_of(left)}
        watched.check()
        assert watched.shows(text)
        watched.page.set_viewport_size(PHONE)
        watched.check()
        watched.page.set_viewport_size(DESK)
        watched.page.keyboard.press("1")
        watched.page.get_by_role("button", name="Finish").click()
        see_others(watched)
    assert len(left) == len(TEXTS) - tasks
    watched.page.wait_for_load_state("networkidle")
    watched.check()


def see_others(watched: Watched) -> None:
    """Others' ratings are shown once one's own are final; go on from them."""
    expect(watched.page.get_by_role("heading", name="Ratings by others")).to_be_in_viewport()
    assert all(watched.shows(name) for name in RATERS)
    watched.check()
    watched.page.get_by_role("button", name="Continue").click()


def test_the_guideline_and_the_errors_show_hostile_texts(hostile: tuple[Served, str], new_context: NewContext):
    served, text = hostile
    watched = Watched(new_context(), served.url)
    sign_in(watched.page, served.invite(f"{NAME} reads"))
    watched.page.goto(f"{served.url}/guideline")
    watched.check()
    assert watched.shows(next((word for word in text.split() if word.isprintable()), "hostile"))
    for path in ("/join/", "/api/", "/", "/static/", "/rate/"):
        watched.page.goto(served.url + path + quote("<script>window.hacked=1</script>\u202e'\"{{7*7}}", safe=""))
        watched.check()


@pytest.mark.parametrize("hostile", ["markup"], indirect=True)
def test_the_owner_sees_hostile_names_and_texts(hostile: tuple[Served, str], new_context: NewContext):
    served, _ = hostile
    join(served, [f"{NAME} joins"])
    watched = Watched(new_context(), served.url)
    watched.page.goto(served.owner_link)
    watched.page.wait_for_url("**/manage")
    expect(watched.page.locator("#freshness")).to_contain_text("Up to date")
    watched.check()
    assert all(watched.shows(name) for name in (NAME, RATERS[1]))
    watched.page.set_viewport_size(PHONE)
    watched.check()


def join(served: Served, names: Sequence[str]) -> None:
    with Study.open(served.study) as study:
        for name in (*names, *RATERS):
            study.store.people.admit(name, "rater")


@pytest.mark.parametrize("hostile", ["the rest"], indirect=True)
def test_an_adjudicator_sees_hostile_ratings(hostile: tuple[Served, str], new_context: NewContext):
    served, text = hostile
    watched = Watched(new_context(), served.url)
    sign_in(watched.page, served.invite(f"{NAME} rules", "adjudicator"))
    watched.page.goto(f"{served.url}/adjudicate")
    expect(watched.page.locator("#rating")).to_be_in_viewport()
    watched.check()
    assert watched.shows(text)
    left = set(TEXTS)
    for place in range(len(TEXTS)):
        watched.page.locator(".disputes button").nth(place).click()
        left -= {watched.wait_for_one_of(left, "#rating")}
        watched.check()
    assert not left
