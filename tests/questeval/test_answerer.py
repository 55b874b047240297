"""The offline answerer: on texts read by a person, and on texts meant to break it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.nlp.words import token_f1
from evenhand.questeval.answerer import FoundAnswer, find_answer
from evenhand.questeval.cloze import cloze
from evenhand.questeval.key_info import key_info
from evenhand.records import UNANSWERABLE

BRIDGE = (
    "Ambleford has had a new footbridge since March 2019. Designed by Ines Calder, it joins the station to the old "
    "town and has become a favourite place for photographs."
)
LAKE = (
    "Lake Torun covers 86 square kilometres in the north of Varland. Its greatest depth, 41 metres, was measured in "
    "1957 by Jonas Hale. The river Osla leaves the lake at Brenn, where 300 people live from fishing."
)
QINGSHI = "青石大桥于2016年10月建成通车，全长1280米。大桥由陈立群主持设计，耗资三亿元，位于江东区。"
QUAKE = "2019年6月17日，四川长宁县发生6.0级地震，造成12人死亡。当地医院收治了134名伤员。"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was the footbridge opened?", "March 2019"),
        ("Who designed the footbridge?", "Ines Calder"),
        ("How much did the footbridge cost?", UNANSWERABLE),
        ("The footbridge at Ambleford was opened in ____.", "March 2019"),
        ("The footbridge at Ambleford cost ____ to build.", UNANSWERABLE),
        ("In which year was the footbridge opened?", "2019"),
    ],
)
def test_the_worked_example_of_the_protocol(question: str, answer: str):
    found = find_answer(question, BRIDGE)
    assert found.answer == answer
    assert 0.5 <= found.confidence <= 1
    if answer == UNANSWERABLE:
        assert found.span is None
    else:
        assert found.span is not None
        assert BRIDGE[slice(*found.span)] == answer


CLUB = (
    "Oakham's rowing shed, a design by Lena Ulm, stands near Corby. It is lit by three lamps and a small stove. The "
    "banker Ole Krag bought the shed in 1902. A coat of tar covers its roof. Boats are checked every nine days, and it "
    "is open until 9 May. Crews may stay for up to two hours. Some 40 rowers and 12 coaches belong to the club."
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which banker bought the shed?", "Ole Krag"),
        ("When did Ole Krag buy the shed?", "1902"),
        ("What covers the roof?", "coat"),
        ("How often are boats checked?", "nine days"),
        ("Until when is the shed open?", "9 May"),
        ("How long may crews stay?", "two hours"),
        ("How many coaches belong to the club?", "12"),
        ("How many rowers belong to the club?", "40"),
        ("Who repaired the roof?", UNANSWERABLE),
    ],
)
def test_a_plain_question_gets_the_kind_of_answer_it_asks_for(question: str, answer: str):
    assert find_answer(question, CLUB).answer == answer


def test_why_is_answered_with_the_reason():
    text = "The council banned diesel buses because of poor air quality. The rule takes effect in 2027."
    assert find_answer("Why did the council ban diesel buses?", text).answer == "poor air quality"


def test_chinese():
    text = "青石大桥于2016年10月建成通车，全长1280米。大桥由陈立群主持设计。"
    assert find_answer("青石大桥的设计由____负责。", text, "zh").answer == "陈立群"
    assert find_answer("青石大桥什么时候建成通车？", text).answer == "2016年10月"
    assert find_answer("青石大桥的工程师住在哪里？", text, "zh").answer == UNANSWERABLE


def test_yes_or_no_is_declined():
    assert find_answer("Did Ines Calder design the footbridge?", BRIDGE) == FoundAnswer(UNANSWERABLE, None, 1.0)
    assert find_answer("青石大桥是陈立群设计的吗？", "青石大桥由陈立群设计。", "zh").answer == UNANSWERABLE


@pytest.mark.parametrize("text", ["", " \n", "…", "\x00"])
def test_an_empty_text_answers_nothing(text: str):
    assert find_answer("Who designed the footbridge?", text) == FoundAnswer(UNANSWERABLE, None, 1.0)


def test_an_empty_question_has_no_answer():
    assert find_answer("", BRIDGE).answer == UNANSWERABLE
    assert find_answer("____", BRIDGE).answer == UNANSWERABLE


def test_a_megabyte_of_text_and_a_sentence_of_five_thousand_words():
    filler = "Nothing of note happened in the town that day. " * 22_000
    found = find_answer("Who designed the footbridge?", filler + BRIDGE)
    assert found.answer == "Ines Calder"
    assert found.span is not None
    assert found.span[0] > 1_000_000
    endless = "the town was quiet and " * 1_300 + "the footbridge was designed by Ines Calder and so on"
    assert find_answer("Who designed the footbridge?", endless).answer == "Ines Calder"
    assert find_answer("谁设计了大桥？", "今天天气很好，" * 30_000 + "大桥由陈立群设计。", "zh").answer == "陈立群"


TEXTS = st.text(
    alphabet="The bridge of Ines Calder cost 3.4 in May 2019. ____?谁在北京设计了大桥年月，。\n“'", max_size=80
)


@given(TEXTS, TEXTS, st.sampled_from(["en", "zh", "de"]))
def test_an_answer_is_always_a_stretch_of_the_text(question: str, text: str, language: str):
    found = find_answer(question, text, language)
    assert 0 <= found.confidence <= 1
    if found.span is None:
        assert found.answer == UNANSWERABLE
    else:
        assert text[slice(*found.span)] == found.answer != ""


@pytest.mark.parametrize(("language", "texts"), [("en", [BRIDGE, CLUB, LAKE]), ("zh", [QINGSHI, QUAKE])])
def test_a_text_answers_the_questions_made_from_it_and_another_text_does_not(language: str, texts: list[str]):
    for text, other in zip(texts, [*texts[1:], texts[0]], strict=True):
        found = key_info(text, language)
        assert len(found) > 4
        for info in found:
            question = cloze(text, info)
            assert token_f1(find_answer(question, text, language).answer, info.text, language) > 0.9
            assert find_answer(question, other, language).answer == UNANSWERABLE
