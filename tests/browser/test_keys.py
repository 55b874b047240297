"""The keys of the rating page: each means one thing, and none while somebody writes."""

import re
from collections import Counter

import pytest
from playwright.sync_api import Page, expect

from evenhand.protocol.model import Ask
from tests.browser.person import come_in, ratings, saved
from tests.browser.serving import Serve


def test_no_key_has_two_meanings(page: Page, shared: Serve) -> None:
    come_in(page, shared().invite("reader"))
    page.keyboard.press("?")
    rows = page.get_by_role("dialog", name="Keys").locator("dl.keys > div")
    said = [(row.locator("kbd").all_inner_texts(), row.locator("dd").inner_text()) for row in rows.all()]
    together = [[" ".join(keys)] if keys[0] == "Ctrl" else keys for keys, _ in said]
    assert [key for key, times in Counter(key for keys in together for key in keys).items() if times > 1] == []
    meanings = [meaning for _, meaning in said]
    assert len(set(meanings)) == len(meanings) > 10
    shown = {key for keys in together for key in keys}
    page.keyboard.press("Escape")
    # What stands on a button is in the list, too; digits are there as 1 – 9, and two keys in a row as one of them.
    texts = page.locator("button kbd").all_inner_texts()
    on_buttons = {key for text in texts for key in text.replace("⏎", "Enter").split()}
    assert {key for key in on_buttons if not key.isdigit()} <= shown | {"Ctrl"}


def test_keys_are_letters_while_somebody_writes(page: Page, shared: Serve) -> None:
    served = shared()
    come_in(page, served.invite("writer"))
    page.keyboard.press("1")
    page.keyboard.press("n")
    page.keyboard.type("12 uxs? gbt [ ] ce 3")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("Notes")).to_have_value("12 uxs? gbt [ ] ce 3")
    expect(page.get_by_label("Notes")).to_be_focused()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("radio", name="SUPPORTED")).to_be_checked()
    saved(page)
    (rating,) = ratings(served, "writer")
    assert (rating.value, rating.notes) == ("SUPPORTED", "12 uxs? gbt [ ] ce 3")
    assert {one.value for one in ratings(served, "writer", history=True)} == {"SUPPORTED"}


@pytest.mark.parametrize("held", ["Control", "Alt", "Meta"])
def test_keys_with_a_modifier_belong_to_the_browser(page: Page, shared: Serve, held: str) -> None:
    served = shared()
    come_in(page, served.invite(f"with {held}"))
    here = page.url
    page.keyboard.press("3")
    for key in ("1", "2", "x", "u", "e", "g", "b"):
        page.evaluate(
            """([key, held]) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {
              key, bubbles: true, cancelable: true, [`${held === "Control" ? "ctrl" : held.toLowerCase()}Key`]: true,
            }))""",
            [key, held],
        )
    expect(page.get_by_role("radio", name="NO EVIDENCE")).to_be_checked()
    expect(page.get_by_role("dialog")).to_have_count(0)
    saved(page)
    assert page.url == here
    assert [one.value for one in ratings(served, f"with {held}", history=True)] == ["NO EVIDENCE"]


def test_keys_rest_while_a_dialog_is_open_and_while_a_character_is_composed(page: Page, shared: Serve) -> None:
    served = shared()
    come_in(page, served.invite("composer"))
    page.keyboard.press("g")
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    page.evaluate(
        """document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {
          key: "1", code: "Digit1", isComposing: true, bubbles: true, cancelable: true,
        }))"""
    )
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    assert ratings(served, "composer", history=True) == []


def test_every_part_is_reached_by_key_where_everything_is_asked(page: Page, shared: Serve) -> None:
    everything = Ask(rationale="required", evidence="required", confidence="required", notes="required")
    served = shared(ask=everything)
    come_in(page, served.invite("all"))
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Support: say why")).to_be_in_viewport()
    expect(page.get_by_label("Why?")).to_be_focused()
    page.keyboard.type("3")  # meant for a label, but the field has the focus
    page.keyboard.press("Enter")
    expect(page.get_by_text("Support: say why in words")).to_be_in_viewport()
    page.get_by_label("Why?").fill("")
    page.keyboard.type("It says otherwise.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Support: mark the evidence")).to_be_in_viewport()
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Not finished yet")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_label("How confident are you?")).to_be_focused()
    sure = page.get_by_label("How confident are you?")
    page.keyboard.type("645")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Enter")
    expect(sure).to_be_focused()
    expect(sure).to_have_value("645")
    expect(sure).to_have_attribute("aria-invalid", "true")
    sure.fill("")
    page.keyboard.type("64,5")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Notes")).to_be_focused()
    page.keyboard.type("Done.")
    page.keyboard.press("Enter")
    expect(page.locator("#progress-words")).to_have_text(re.compile("^1 of"))
    saved(page)
    (rating,) = ratings(served, "all")
    assert (rating.value, rating.rationale, rating.notes) == ("CONTRADICTED", "It says otherwise.", "Done.")
    assert (rating.confidence, len(rating.evidence)) == (64.5, 1)
