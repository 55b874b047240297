"""Evidence cited in a browser: the stored span cuts exactly the marked words out of the item, whatever they are."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Ask, field_text
from evenhand.records import Item
from evenhand.study import Study
from tests.browser.person import come_in, ratings, saved
from tests.browser.serving import UNTRAINED, Served, serving

PASSAGES = (
    "🦦🦦 Otters 👩🏽‍🔬 came back in 2021. 𝔗𝔴𝔬 cubs followed.",
    "e\u0301te\u0301 in Paris 🇫🇷 was hot: the river 🌊 fell by 40 cm. No \u202efish\u202c died.",
)
LOCATE = """([text, last]) => {
  const parts = [...document.querySelectorAll("#field-context + .parts .words")];
  const part = parts.find((one) => one.textContent.includes(text));
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(text);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(walker.currentNode, at);
    range.setEnd(walker.currentNode, at + text.length);
    const boxes = range.getClientRects();
    const box = last ? boxes[boxes.length - 1] : boxes[0];
    return [last ? box.right - 1 : box.left + 1, box.top + box.height / 2];
  }
}"""


@pytest.fixture(scope="module")
def emoji(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """A study whose passages have characters beyond the sixteen bits of a browser's strings."""
    path: Path = tmp_path_factory.mktemp("emoji") / "study.db"
    protocol = load_protocol("halo-support").model_copy(update={"ask": Ask(evidence="optional")})
    fields = {"question": "😀?", "context": PASSAGES, "generated_answer": "Yes 😀.", "gold_answer": "Two 🦦"}
    with Study.create(path, protocol, [Item("one", fields)]) as study:
        study.store.people.tasks.set_plan(UNTRAINED)
    with serving(path) as served:
        yield served


def cited(served: Served, rater: str) -> list[str]:
    """The cited words, cut out of the item by the stored spans."""
    (rating,) = ratings(served, rater)
    whole = field_text(PASSAGES)
    assert {span.field for span in rating.evidence} == {"context"}
    return [whole[span.start : span.end] for span in rating.evidence]


def drag(page: Page, first: str, last: str) -> None:
    """Selects from the beginning of one text to the end of another with the mouse button held down."""
    page.mouse.move(*page.evaluate(LOCATE, [first, False]))
    page.mouse.down()
    page.mouse.move(*page.evaluate(LOCATE, [last, True]), steps=8)
    page.mouse.up()


def test_the_mouse_cites_words_after_emoji(page: Page, emoji: Served) -> None:
    come_in(page, emoji.invite("mouse"))
    page.get_by_role("radio", name="SUPPORTED").click()
    marks = page.get_by_role("region", name="Evidence").locator("mark")
    drag(page, "came", "2021.")
    page.get_by_role("button", name="Cite", exact=True).click()
    expect(marks).to_have_text(["came back in 2021."])
    saved(page)
    drag(page, "the river", "40 cm")
    page.get_by_role("button", name="Cite", exact=True).click()
    expect(marks).to_have_text(["came back in 2021.", "the river 🌊 fell by 40 cm"])
    saved(page)
    assert cited(emoji, "mouse") == ["came back in 2021.", "the river 🌊 fell by 40 cm"]
    page.get_by_role("button", name="Remove: came back").click()
    saved(page)
    assert cited(emoji, "mouse") == ["the river 🌊 fell by 40 cm"]


def test_a_selection_over_two_passages_is_one_span(page: Page, emoji: Served) -> None:
    come_in(page, emoji.invite("wide"))
    page.get_by_role("radio", name="SUPPORTED").click()
    drag(page, "cubs", "in Paris")
    page.get_by_role("button", name="Cite", exact=True).click()
    saved(page)
    whole = field_text(PASSAGES)
    assert cited(emoji, "wide") == [whole[whole.index("cubs") : whole.index("Paris") + len("Paris")]]


def test_the_keyboard_cites_sentences_after_emoji(page: Page, emoji: Served) -> None:
    come_in(page, emoji.invite("keyboard"))
    page.keyboard.press("1")
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Choose evidence")
    offered = [piece.text_content() for piece in dialog.locator(".piece").all()]
    assert offered == [
        "🦦🦦 Otters 👩🏽‍🔬 came back in 2021.",
        "𝔗𝔴𝔬 cubs followed.",
        "e\u0301te\u0301 in Paris 🇫🇷 was hot: the river 🌊 fell by 40 cm.",
        "No \u202efish\u202c died.",
        "Yes 😀.",
    ]
    for key in ("ArrowDown", "Enter", "ArrowDown", "ArrowDown", "Enter", "Escape"):
        page.keyboard.press(key)
    saved(page)
    assert cited(emoji, "keyboard") == [offered[1], offered[3]]
