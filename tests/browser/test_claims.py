"""Claims on the page: each with the text that it comes from, asked what is asked about its field."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Ask
from evenhand.records import Item, Status
from evenhand.study import Study
from tests.browser.person import choice, come_in, on_screen, opened, ratings, saved
from tests.browser.serving import UNTRAINED, Served, serving

SENTENCES = [f"Bridge number {n} was built in {1800 + n} by the county of Hest." for n in range(1, 13)]
GOLD = "Bridge number 3 was built in 1803."
FIELDS = {
    "question": "When were the bridges built?",
    "context": tuple(f"{sentence} It is still in use. " * 8 for sentence in SENTENCES),
    "generated_answer": " ".join(SENTENCES),
    "gold_answer": GOLD,
}
SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    path: Path = tmp_path_factory.mktemp("claims") / "s.db"
    with Study.create(path, "halo-claims", [Item("bridges", FIELDS)]) as study:
        assert study.store.items.count_units() == len(SENTENCES) + 1
        study.store.people.tasks.set_plan(UNTRAINED)
    with serving(path) as running:
        yield running


@pytest.mark.parametrize("size", SIZES)
def test_the_claim_the_text_it_comes_from_and_its_question_are_in_view(page: Page, served: Served, size: str) -> None:
    page.set_viewport_size({"width": SIZES[size]["width"], "height": SIZES[size]["height"]})
    come_in(page, served.invite(f"{size} reader"))
    for position, sentence in enumerate([*SENTENCES, GOLD], start=1):
        claim, source = page.locator(f"#unit-{position}"), page.locator(f"#source-{position}")
        expect(claim).to_have_text(sentence)
        expect(source.locator("mark")).to_have_text(sentence)
        on_screen(claim, source.locator("mark"), page.locator(".criterion.open .question"))
        title = "Gold answer" if sentence == GOLD else "Generated answer"
        on_screen(page.locator(".claim-source figcaption").get_by_text(title))
        page.keyboard.press("]")
    headings = page.locator(".unit-row > h3")
    expect(headings).to_have_text(["Claims: Generated answer", "Claims: Gold answer"])


def test_a_claim_is_asked_what_is_asked_about_its_field_with_the_text_to_check_against_in_view(
    page: Page, served: Served
) -> None:
    come_in(page, served.invite("ann"))
    for _ in SENTENCES:
        expect(page.locator(".criterion")).to_have_count(1)
        page.keyboard.press("1")
        page.keyboard.press("Enter")
    expect(page.locator("h2.step")).to_have_text("Claim 13 of 13")
    given = page.locator(".unit-row .line .value")
    expect(given).to_have_text(["SUPPORTED"] * len(SENTENCES))
    marks = given.last.evaluate("(one) => getComputedStyle(one, '::after').content")
    assert marks == "none", "a tick would say that the claim is fine, whatever the answer"
    expect(page.locator(".criterion")).to_have_count(2)
    choice(opened(page, "Support by the context"), "SUPPORTED").click()
    page.keyboard.press("Enter")
    choice(opened(page, "Support by the generated answer"), "NO EVIDENCE").click()
    on_screen(page.locator("#field-generated_answer"))
    page.get_by_label("Notes").fill("close")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("1 done").or_(page.get_by_text("1 of 1 done")).first).to_be_in_viewport()
    saved(page)  # the page counts a unit before the server has confirmed its answers
    found = {(one.unit, one.criterion): one for one in ratings(served, "ann")}
    last = f"bridges#{len(SENTENCES) + 1}"
    assert found["bridges#1", "answer_support"].status is Status.NOT_ASKED
    assert (found[last, "support"].value, found[last, "answer_support"].value) == ("SUPPORTED", "NO EVIDENCE")
    assert found[last, "support"].notes == "close"


def test_evidence_is_cited_from_what_the_criterion_is_checked_against(page: Page, tmp_path: Path) -> None:
    protocol = load_protocol("halo-claims").model_copy(update={"ask": Ask(evidence="optional")})
    with Study.create(tmp_path / "s.db", protocol, [Item("bridges", FIELDS)]) as study:
        study.store.people.tasks.set_plan(UNTRAINED)
    with serving(tmp_path / "s.db") as running:
        come_in(page, running.invite("ben"))
        for _ in SENTENCES:
            page.keyboard.press("]")
        for key, title, field in (("1", "context", "Context"), ("3", "generated answer", "Generated answer")):
            opened(page, f"Support by the {title}")
            page.keyboard.press("e")
            dialog = page.get_by_role("dialog", name="Choose evidence")
            expect(dialog.get_by_role("heading", level=3)).to_have_text([field])
            page.keyboard.press("Escape")
            page.keyboard.press(key)
            page.keyboard.press("Enter")
