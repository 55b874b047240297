"""The adjudication page in a browser: by keys, by mouse, on a phone, in the dark, and when the network fails."""

from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from evenhand.records import Item, Kind, RaterRef, Rating, Status
from evenhand.study import Study
from tests.browser.accessibility import violations
from tests.browser.person import sign_in
from tests.browser.serving import Serve, Served, serving

RATED = {"ann": 5, "ben": 1}
BROKEN = """(table) => {
  const walker = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
  const words = [];
  while (walker.nextNode()) {
    for (const { 0: word, index } of walker.currentNode.data.matchAll(/[\\w.%]+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) words.push(word);
    }
  }
  return words;
}"""
"""The words of a table that are broken in two."""


def with_ratings(served: Served, protocol: str) -> Served:
    """A served sample with the ratings that come with it."""
    with as_file(files("evenhand.samples") / protocol) as sample, Study.open(served.study) as study:
        study.import_ratings(sample / "ratings.csv")
    return served


@pytest.fixture
def halo(serve: Callable[..., Served]) -> Served:
    """Three disputes between ann and ben: sample_006, sample_009 and sample_017."""
    return with_ratings(serve("halo-support"), "halo-support")


def join(page: Page, served: Served, name: str = "eve") -> None:
    page.goto(f"{sign_in(page, served.invite(name, 'adjudicator'))}/adjudicate")
    for answer in page.locator(".criterion.open .ratings .answer").all():
        expect(answer).to_be_in_viewport(ratio=1)
    expect(page.locator(".criterion.open .ratings .answer").first).to_be_in_viewport(ratio=1)


def rulings(served: Served, rater: str = "eve") -> dict[tuple[str, str], Rating]:
    with Study.open(served.study) as study:
        return {(one.unit, one.criterion): one for one in study.ratings(rater=rater)}


def test_all_disputes_are_ruled_on_by_keys(halo: Served, page: Page):
    join(page, halo)
    with Study.open(halo.study) as study:
        given = [str(one.value) for one in study.ratings() if one.unit == "sample_006" and one.rater in ("ann", "ben")]
    assert set(given) <= set(page.locator(".ratings .answer").all_inner_texts())
    _names_are_hidden_until_they_are_asked_for(page)
    expect(page.locator("#count")).to_have_text("3 without a ruling")
    for digit, unit in zip("123", ("sample_006", "sample_009", "sample_017"), strict=True):
        expect(page.locator(".disputes [aria-current] .id")).to_have_text(unit)
        page.keyboard.press(digit)
        expect(page.locator("#status")).to_have_text("All saved")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Nothing in dispute")).to_be_in_viewport()
    expect(page.locator("#count")).to_have_text("none left")
    assert {unit: one.value for (unit, _), one in rulings(halo).items()} == {
        "sample_006": "SUPPORTED",
        "sample_009": "CONTRADICTED",
        "sample_017": "NO EVIDENCE",
    }
    assert {one.visible for one in rulings(halo).values()} == {("ann", "ben")}


def test_a_dispute_is_ruled_on_with_the_mouse_and_says_so_once_it_is_saved(halo: Served, page: Page):
    join(page, halo)
    page.get_by_role("button", name="The mill closed because").click()
    expect(page.locator(".disputes [aria-current] .id")).to_have_text("sample_017")
    expect(page.locator(".disputes .badge:visible")).to_have_count(0)
    page.get_by_role("radio", name="CONTRADICTED").click()
    expect(page.locator(".disputes [aria-current] .badge")).to_have_text("ruled")
    page.get_by_label("Notes (optional)").fill("Linen is not mentioned.")
    page.get_by_role("button", name="Done, next").click()
    expect(page.locator(".disputes [aria-current] .id")).to_have_text("sample_006")
    expect(page.locator("#status")).to_have_text("All saved")
    ruling = rulings(halo)["sample_017", "support"]
    assert (ruling.value, ruling.notes) == ("CONTRADICTED", "Linen is not mentioned.")
    page.get_by_label("Show disputes with a ruling").check()
    expect(page.locator(".disputes li")).to_have_count(3)


def _names_are_hidden_until_they_are_asked_for(page: Page):
    said = page.locator(".ratings tbody")
    expect(said).to_contain_text("Rater A")
    expect(said).not_to_contain_text("ann")
    expect(page.get_by_role("button", name="Hide names")).to_have_attribute("aria-pressed", "true")
    letters = said.locator("th").all_inner_texts()
    page.keyboard.press("h")
    expect(said).to_contain_text("ann person")
    page.keyboard.press("h")
    assert said.locator("th").all_inner_texts() == letters


def test_models_count_when_they_are_asked_to(halo: Served, page: Page):
    with Study.open(halo.study) as study:
        [agreed] = [one for one in study.ratings(rater="ann") if one.unit == "sample_001"]
        other = "SUPPORTED" if agreed.value != "SUPPORTED" else "CONTRADICTED"
        said = Rating(
            unit="sample_001", criterion="support", rater="model-a", digest=study.protocol.digest, value=other
        )
        study.store.ratings.add([said], raters=[RaterRef("model-a", Kind.MODEL)])
    join(page, halo)
    expect(page.locator("#count")).to_have_text("3 without a ruling")
    page.get_by_label("Include models").check()
    expect(page.locator("#count")).to_have_text("4 without a ruling")


def test_a_ruling_given_without_a_network_is_saved_when_it_is_back(halo: Served, page: Page):
    join(page, halo)
    page.context.set_offline(True)
    page.keyboard.press("1")
    expect(page.locator("#status")).to_have_text("1 answer waiting: offline")
    expect(page.locator(".disputes .badge:visible")).to_have_count(0)
    assert rulings(halo) == {}
    page.context.set_offline(False)
    expect(page.locator("#status")).to_have_text("All saved")
    expect(page.locator(".disputes [aria-current] .badge")).to_have_text("ruled")
    assert rulings(halo)["sample_006", "support"].value == "SUPPORTED"


def test_a_ruling_under_questions_that_were_changed_is_shown_and_not_sent(halo: Served, page: Page):
    join(page, halo)
    page.context.set_offline(True)
    page.keyboard.press("1")
    expect(page.locator("#status")).to_have_text("1 answer waiting: offline")
    with Study.open(halo.study) as study:
        study.adopt(study.protocol.model_copy(update={"version": "99"}))
    page.context.set_offline(False)
    page.reload()
    notice = page.get_by_role("group", name="Earlier answers")
    expect(notice).to_be_in_viewport(ratio=1)
    expect(notice).to_contain_text("Support: SUPPORTED")
    notice.get_by_role("button", name="Discard").click()
    expect(notice).to_have_count(0)
    assert rulings(halo) == {}


def test_two_windows_do_not_write_over_each_other(halo: Served, new_context: Callable[..., BrowserContext]):
    link = halo.invite("eve", "adjudicator")
    one, other = new_context().new_page(), new_context().new_page()
    for page in (one, other):
        page.goto(f"{sign_in(page, link)}/adjudicate")
        expect(page.locator("#rating")).to_be_in_viewport()
    one.keyboard.press("1")
    expect(one.locator("#status")).to_have_text("All saved")
    other.keyboard.press("2")
    expect(other.get_by_role("group", name="Two answers")).to_be_in_viewport()
    assert rulings(halo)["sample_006", "support"].value == "SUPPORTED"
    other.get_by_role("button", name="Keep mine").click()
    expect(other.locator("#status")).to_have_text("All saved")
    assert rulings(halo)["sample_006", "support"].value == "CONTRADICTED"


def test_only_criteria_in_dispute_must_be_ruled_on_and_reasons_are_asked_for(serve: Callable[..., Served], page: Page):
    served = with_ratings(serve("feedback"), "feedback")
    join(page, served)
    expect(page.locator(".criterion.open .disagreement")).to_be_in_viewport()
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("say why")
    page.keyboard.type("Both points hold.")
    page.keyboard.press("Enter")
    expect(page.locator(".criterion.open .title")).not_to_have_text("Correctness")
    expect(page.locator("#status")).to_have_text("All saved")
    [ruling] = rulings(served).values()
    assert (ruling.criterion, ruling.value, ruling.rationale) == ("correctness", 4, "Both points hold.")


def test_a_sentence_is_shown_in_its_text_and_its_follow_up_is_asked(serve: Callable[..., Served], page: Page):
    served = with_ratings(serve("stem-accuracy"), "stem-accuracy")
    join(page, served)
    expect(page.locator(".sentence[aria-current]")).to_be_in_viewport()
    unit = page.locator(".disputes [aria-current] .id").inner_text()
    page.keyboard.press("4")
    expect(page.locator("#status")).to_have_text("All saved")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("1")
    expect(page.locator("#status")).to_have_text("All saved")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("1")
    expect(page.locator("#status")).to_have_text("All saved")
    assert rulings(served)[unit, "severity"].status is Status.NOT_ASKED
    page.keyboard.press("4")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("2")
    expect(page.locator("#status")).to_have_text("All saved")
    assert rulings(served)[unit, "severity"].status is Status.RATED


def test_the_next_dispute_is_shown_from_its_beginning_on_a_phone(
    serve: Callable[..., Served], new_context: Callable[..., BrowserContext]
):
    served = with_ratings(serve("feedback"), "feedback")
    page = new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).new_page()
    page.goto(served.invite("eve", "adjudicator"))
    page.get_by_label("Notes").tap()
    first = page.locator("#sources .facts dt").first
    expect(first).not_to_be_in_viewport()
    page.get_by_role("button", name="Later").tap()
    expect(first).to_be_in_viewport(ratio=1)
    header, top = page.locator("summary").bounding_box(), first.bounding_box()
    assert header is not None
    assert top is not None
    assert top["y"] >= header["y"] + header["height"] + 16, "it does not touch what is above"
    expect(page.locator(".criterion.open .ratings .answer").first).to_be_in_viewport(ratio=1)


def test_the_answers_to_a_long_text_are_in_view_with_it(tmp_path: Path, new_context: Callable[..., BrowserContext]):
    text = " ".join(f"Sentence {number} says something about mills." for number in range(60))
    item = Item("one", {"question": "Why did the mill close?", "context": (text, text), "generated_answer": text})
    with Study.create(tmp_path / "study.db", "halo-support", [item]) as study:
        answers = {"ann": "SUPPORTED", "ben": "CONTRADICTED"}
        digest = study.protocol.digest
        given = [
            Rating(unit="one", criterion="support", rater=name, digest=digest, value=value)
            for name, value in answers.items()
        ]
        study.store.ratings.add(given, raters=[RaterRef(name, Kind.PERSON) for name in answers])
    with serving(tmp_path / "study.db") as served:
        page = new_context(viewport={"width": 1280, "height": 800}).new_page()
        join(page, served)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollHeight") == 800, "only the panes scroll"
        for width, height in ((1024, 600), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            page.reload()
            expect(page.locator(".criterion.open .ratings .answer").first).to_be_in_viewport(ratio=1)
            expect(page.get_by_role("heading", name="Generated answer", exact=True)).to_be_in_viewport(ratio=1)


@pytest.fixture
def commented(serve: Callable[..., Served]) -> Served:
    """A dispute with everything that can be said of an answer."""
    served = serve("feedback")
    with Study.open(served.study) as study:
        item = next(iter(study.items())).id
        columns = "rater,item,criterion,value,kind,rationale,confidence,notes"
        why, notes = "Spots the over-generalisation and states it rightly.", "Unquestionably straightforward."
        lines = [f"{rater},{item},correctness,{value},person,{why},94.2,{notes}" for rater, value in RATED.items()]
        path = served.study.parent / "commented.csv"
        path.write_text("\n".join([columns, *lines]), encoding="utf-8")
        study.import_ratings(path)
    return served


@pytest.mark.parametrize("width", [1280, 1024, 390])
def test_no_word_or_number_of_the_answers_is_broken(
    commented: Served, new_context: Callable[..., BrowserContext], width: int
):
    page = new_context(viewport={"width": width, "height": 844}).new_page()
    join(page, commented)
    table = page.locator(".criterion.open .ratings")
    expect(table.get_by_text("94.2% confident").first).to_be_in_viewport(ratio=1)
    expect(table.get_by_text("Unquestionably").first).to_be_in_viewport(ratio=1)
    assert table.evaluate(BROKEN) == []
    expect(page.get_by_role("radio").first.locator("kbd")).to_be_visible(visible=width > 480)


def test_a_share_of_disagreement_names_those_it_is_about(serve: Callable[..., Served], page: Page):
    served = with_ratings(serve("stem-accuracy"), "stem-accuracy")
    join(page, served)
    badge = page.locator(".criterion.open .disagreement")
    # Two people differ, and a model, shown with them, agrees with one of the two.
    expect(page.locator(".criterion.open .ratings .answer")).to_have_text(["Accurate", "Accurate", "Disputed"])
    expect(badge).to_have_text("100% disagreement among people")
    expect(badge).to_be_in_viewport(ratio=1)
    unit = page.locator(".disputes [aria-current] .id").inner_text()
    page.get_by_label("Include models").check()
    page.locator(".disputes button").filter(has=page.get_by_text(unit, exact=True)).click()
    expect(badge).to_have_text("67% disagreement")


def test_the_owner_looks_on_and_does_not_rule(halo: Served, page: Page):
    page.goto(halo.owner_link)
    page.wait_for_url("**/manage**")
    page.goto(f"{halo.url}/adjudicate")
    expect(page.get_by_text("You are viewing this page as the study's owner.")).to_be_in_viewport()
    expect(page.get_by_role("radio", name="SUPPORTED")).to_be_disabled()
    page.keyboard.press("1")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".disputes [aria-current] .id")).to_have_text("sample_009")
    assert rulings(halo, "") == {}


@pytest.fixture(
    params=[(1280, 800, "light"), (390, 844, "dark"), (820, 1180, "light")], ids=["desk", "phone", "tablet"]
)
def looked_at(request: pytest.FixtureRequest, new_context: Callable[..., BrowserContext]) -> Page:
    width, height, scheme = request.param
    context = new_context(viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=width < 1000)
    return context.new_page()


def test_it_can_be_used_by_everybody_on_any_screen(halo: Served, looked_at: Page):
    page = looked_at
    join(page, halo)
    assert violations(page) == []
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width == 0
    page.get_by_role("radio", name="NO EVIDENCE").click()
    expect(page.locator("#status")).to_have_text("All saved")
    page.get_by_role("button", name="Done, next").click()
    expect(page.locator(".sentence, .text.rated").first).to_contain_text("tallest tree")
    assert violations(page) == []


def test_the_page_about_the_api_can_be_used_by_everybody(shared: Serve, new_context: Callable[..., BrowserContext]):
    page = new_context(viewport={"width": 390, "height": 844}, color_scheme="dark").new_page()
    page.goto(f"{shared().url}/api")
    expect(page.get_by_role("heading", name="API of this study")).to_be_in_viewport()
    # The articles are alike: two of each section will do.
    page.evaluate("document.querySelectorAll('article:nth-of-type(n + 3)').forEach((one) => one.remove())")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page) == []
