"""The rating page on every kind of screen and in other scripts: nothing is cut off, out of reach or unreadable."""

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import Ask, Protocol
from evenhand.records import Item
from evenhand.study import Study
from tests.browser.accessibility import violations
from tests.browser.person import come_in, ratings, saved
from tests.browser.serving import UNTRAINED, Served, make_study, serving

NewContext = Callable[..., BrowserContext]
SCREENS: Mapping[str, Mapping[str, Any]] = {
    "desk": {"viewport": {"width": 1280, "height": 800}},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "zoomed": {"viewport": {"width": 640, "height": 400}},  # 1280 × 800 at 200 %
}
MAIN_TARGETS = ".choices button, .bar button, .switch button, .tools button"
TARGETS = """() => [...document.querySelectorAll("button, a[href], input, textarea, [role=button]")]
  .filter((one) => one.checkVisibility() && getComputedStyle(one).display !== "inline" && !one.closest(".skip"))
  .map((one) => [one.textContent || one.id, one.getBoundingClientRect()])
  .map(([name, {width, height}]) => [name, width, height])
"""


def chinese() -> tuple[Protocol, list[Item]]:
    """Sentences of an answer in Chinese, without a space anywhere."""
    accuracy = {
        "type": "nominal",
        "labels": {
            "准确": {"definition": "文章支持这一句的每个说法。"},
            "有误": {"definition": "至少有一个说法与文章不符。"},
        },
    }
    content = {
        "name": "zhunque",
        "version": "1",
        "title": "根据文章判断每个句子是否准确",
        "language": "zh",
        "instructions": "请逐句判断。",
        "unit": "sentence of response",
        "item": {
            "fields": {
                "question": {"role": "context", "title": "问题"},
                "article": {"role": "evidence", "title": "文章"},
                "response": {"role": "rated", "title": "回答"},
            }
        },
        "criteria": [{"id": "accuracy", "name": "准确性", "question": "与文章相比,这句话准确吗?", "scale": accuracy}],
        "ask": {"rationale": "optional", "evidence": "optional"},
    }
    article = "屋顶绿化可以降低室内温度。研究人员比较了十二栋房屋,发现下午的温度平均低了两度,但夜间没有差别。" * 12
    response = "屋顶绿化使室内更凉爽。夜间的效果更明显!研究比较了十二栋房屋吗?是的,一共十二栋。"
    fields = {"question": "屋顶绿化有什么作用?", "article": article, "response": response}
    return read_protocol(json.dumps(content), "zhunque.yaml"), [Item("一", fields), Item("二", fields)]


def right_to_left() -> tuple[Protocol, list[Item]]:
    """Arabic and Hebrew texts under a protocol in English, with numbers and Latin words among them."""
    protocol = load_protocol("halo-support")
    arabic = "افتتح المتحف في عام 1987 في مدينة صور. ويزوره كل عام نحو 40000 زائر، كما تقول صحيفة The Daily Star."
    hebrew = "המוזיאון נפתח בשנת 1987 בעיר צור, והכניסה חופשית בימי ראשון (Sunday)."
    fields = {"question": "متى افتتح المتحف؟", "context": (arabic, hebrew), "generated_answer": "افتتح عام 1987."}
    return protocol, [Item(name, {**fields, "gold_answer": "1987"}) for name in ("one", "two")]


def long_article() -> tuple[Protocol, list[Item]]:
    """An article of 5,000 words and a long answer about it."""
    paragraph = " ".join(f"Finding {n} was measured twice and held in both summers." for n in range(50))
    article = "\n\n".join([paragraph] * 11)
    assert len(article.split()) > 5000
    response = " ".join(f"Claim {n} of the answer rests on the article and on nothing else." for n in range(1, 31))
    fields = {"question": "What was found?", "article": article, "response": response}
    return load_protocol("stem-accuracy"), [Item("long", fields)]


def everything_asked() -> tuple[Protocol, list[Item]]:
    """All that can be asked beside the ratings."""
    asked = Ask(rationale="required", evidence="required", confidence="required", notes="required")
    protocol = load_protocol("feedback").model_copy(update={"ask": asked})
    fields = {"feedback": "Well argued. Name a source.", "submission": "An essay.", "criterion": "Argument"}
    return protocol, [Item("one", {**fields, "domain": "History"})]


STUDIES = {
    "Chinese": chinese,
    "right to left": right_to_left,
    "long": long_article,
    "everything asked": everything_asked,
}


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Generator[Callable[[str], Served]]:
    """Starts one server for each study, once."""
    running: dict[str, Served] = {}
    with ExitStack() as servers:

        def served(name: str) -> Served:
            if name not in running:
                path = build(tmp_path_factory.mktemp("screens"), name)
                running[name] = servers.enter_context(serving(path))
            return running[name]

        yield served


def build(folder: Path, name: str) -> Path:
    """A study by its name here, or a sample by its protocol's."""
    if name not in STUDIES:
        return make_study(folder, name, UNTRAINED)
    protocol, items = STUDIES[name]()
    path = folder / "study.db"
    with Study.create(path, protocol, items) as study:
        study.store.people.tasks.set_plan(UNTRAINED)
    return path


def sits_well(page: Page) -> None:
    """No scrolling sideways, the way on in view, nothing too small to hit."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.get_by_role("group", name="Actions").get_by_role("button").last).to_be_in_viewport(ratio=1)
    small = [box for box in page.evaluate(TARGETS) if min(box[1:]) < 24]
    assert small == []


@pytest.mark.parametrize("screen", ["dark", "phone"])  # desk has the measures of dark
@pytest.mark.parametrize("name", [*STUDIES, "neureg-qa", "ai-detection"])
def test_the_page_fits_the_screen(
    new_context: NewContext, studies: Callable[[str], Served], name: str, screen: str
) -> None:
    served = studies(name)
    page = new_context(**SCREENS[screen]).new_page()
    come_in(page, served.invite(screen))
    sits_well(page)
    page.get_by_role("radio").nth(1).click()
    saved(page)
    page.get_by_role("group", name="Actions").get_by_role("button").last.click()
    sits_well(page)
    if screen == "dark":
        assert violations(page) == []
        page.set_viewport_size(SCREENS["zoomed"]["viewport"])
        sits_well(page)


def test_an_item_is_read_and_rated_by_touch(new_context: NewContext, studies: Callable[[str], Served]) -> None:
    served = studies("neureg-qa")
    page = new_context(**SCREENS["phone"]).new_page()
    page.goto(served.invite("thumb"))
    page.get_by_role("dialog", name="Guideline").get_by_role("button", name="Close").tap()
    page.get_by_role("button", name="Evidence").tap()
    expect(page.get_by_role("heading", name="Source text")).to_be_in_viewport()
    page.get_by_role("button", name="Rate").tap()
    for level in (5, 4, 3, 2, 1):
        page.get_by_role("radio", checked=False).nth(level - 1).tap()
        saved(page)
        large = page.locator(
            ".choices button, .bar button, .switch button, .criterion:not(.open) .head, .tools button"
        ).all()
        heights = [box["height"] for one in large if (box := one.bounding_box())]
        assert min(heights) >= 44
        page.get_by_role("group", name="Actions").get_by_role("button").last.tap()
    expect(page.locator("#progress-words")).to_have_text("1 of 16 done")
    saved(page)
    assert [rating.value for rating in ratings(served, "thumb")] == [5, 4, 3, 2, 1]


def test_a_text_runs_in_its_own_direction(new_context: NewContext, studies: Callable[[str], Served]) -> None:
    page = new_context().new_page()
    come_in(page, studies("right to left").invite("reader"))
    words = page.locator(".text .words")
    directions = [one.evaluate("(one) => getComputedStyle(one).direction") for one in words.all()]
    texts = words.all_inner_texts()
    is_latin = [text.isascii() for text in texts]
    assert directions == ["ltr" if latin else "rtl" for latin in is_latin]
    assert directions.count("rtl") == 4
    expect(page.locator("body")).to_have_css("direction", "ltr")


def test_chinese_is_cut_into_sentences_and_says_its_language(
    new_context: NewContext, studies: Callable[[str], Served]
) -> None:
    served = studies("Chinese")
    page = new_context().new_page()
    come_in(page, served.invite("reader"))
    expect(page.locator(".sentence")).to_have_text(
        ["屋顶绿化使室内更凉爽。", "夜间的效果更明显!", "研究比较了十二栋房屋吗?", "是的,一共十二栋。"]
    )
    assert page.locator(".sentences").evaluate("(one) => one.closest('[lang]').lang") == "zh"
    for key in ("1", "Enter", "2", "Enter", "1", "Enter", "2", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#progress-words")).to_have_text("1 of 2 done, 0 of 4 sentences here")
    saved(page)
    assert [rating.value for rating in ratings(served, "reader")] == ["准确", "有误", "准确", "有误"]


@pytest.mark.parametrize("screen", ["desk", "zoomed"])
def test_a_long_article_scrolls_by_itself(
    new_context: NewContext, studies: Callable[[str], Served], screen: str
) -> None:
    page = new_context(**SCREENS[screen]).new_page()
    come_in(page, studies("long").invite(f"reader {screen}"))
    if screen == "zoomed":
        page.get_by_role("button", name="Evidence").click()
    evidence = page.get_by_role("region", name="Evidence")
    evidence.hover()
    page.mouse.wheel(0, 3000)
    page.wait_for_function("() => document.querySelector('#sources').scrollTop > 2000 || scrollY > 2000")
    if screen == "desk":
        assert page.evaluate("[scrollY, document.querySelector('#rating').scrollTop]") == [0, 0]
    expect(page.get_by_role("group", name="Actions").get_by_role("button").last).to_be_in_viewport(ratio=1)


def test_the_sentence_in_hand_stays_in_view_with_its_choices(
    new_context: NewContext, studies: Callable[[str], Served]
) -> None:
    for screen in ("desk", "phone"):
        page = new_context(**SCREENS[screen]).new_page()
        come_in(page, studies("long").invite(f"{screen} hand"))
        for number in range(1, 4):
            sentence = page.get_by_text(f"Claim {number} of the answer").locator("visible=true").last
            expect(sentence).to_be_in_viewport()
            expect(page.get_by_role("radio", name="Accurate", exact=True)).to_be_in_viewport()
            page.keyboard.press("1")
            page.keyboard.press("Enter")
        expect(page.get_by_text("0 of 1 done, 3 of 30 sentences here")).to_be_in_viewport(ratio=1)
        for name in ("Tasks", "Guideline"):
            expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("screen", ["desk", "phone"])
def test_what_is_missing_is_said_in_view(
    new_context: NewContext, studies: Callable[[str], Served], screen: str
) -> None:
    page = new_context(**SCREENS[screen]).new_page()
    come_in(page, studies("everything asked").invite(f"forgetful {screen}"))
    on = page.get_by_role("group", name="Actions").get_by_role("button").last
    expect(on).to_contain_text("Next criterion")
    on.click()
    expect(page.get_by_text("Correctness: choose a level")).to_be_in_viewport(ratio=1)
    page.get_by_role("radio").nth(1).click()
    on.click()
    expect(page.get_by_text("Correctness: say why")).to_be_in_viewport(ratio=1)
