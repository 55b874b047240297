"""The offline answerer: on texts read by a person, on texts meant to break it, and with a reader beside it."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.nlp.words import token_f1
from evenhand.questeval.answerer import READ_BY_NETWORK, Answerer, Found
from evenhand.questeval.cloze import cloze
from evenhand.questeval.key_info import key_info
from evenhand.questeval.roots import root
from evenhand.records import UNANSWERABLE
from evenhand.verify.reading import Reading
from evenhand.verify.stems import stem
from training.questions_cases import cases, figures

BRIDGE = (
    "Ambleford has had a new footbridge since March 2019. Designed by Ines Calder, it joins the station to the old "
    "town and has become a favourite place for photographs."
)
ALONE = Answerer()


class Scripted:
    """A reader that finds supported what contains one text, and notes what it was given."""

    def __init__(self, supported: str) -> None:
        self.supported = supported
        self.pairs: list[tuple[str, str]] = []

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        self.pairs += pairs
        return [Reading(1.0, 0.0, 0.0) if self.supported in claim else Reading(0.0, 1.0, 0.0) for _, claim in pairs]


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
    found = ALONE.answer(question, BRIDGE)
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
        ("Who designed the rowing shed?", "Lena Ulm"),
        ("Who was the designer of the rowing shed?", "Lena Ulm"),
        ("What lights the shed?", "three lamps and a small stove"),
        ("Which banker bought the shed?", "Ole Krag"),
        ("What covers the roof?", "coat of tar"),
        ("How often are boats checked?", "every nine days"),
        ("Until when is the shed open?", "9 May"),
        ("How long may crews stay?", "up to two hours"),
        ("How many coaches belong to the club?", "12"),
        ("How many boats belong to the club?", UNANSWERABLE),
        ("Who repaired the roof?", UNANSWERABLE),
    ],
)
def test_a_plain_question_gets_a_whole_phrase_of_the_sort_it_asks_for(question: str, answer: str):
    assert ALONE.answer(question, CLUB).answer == answer


def test_forms_of_a_word_share_their_root():
    for forms in ("design designed designer", "build built builder", "own owner owned", "discover discovery"):
        assert len({root(stem(word)) for word in forms.split()}) == 1
    assert root(stem("water")) != root(stem("wine"))


def test_why_is_answered_with_the_reason():
    text = "The council banned diesel buses because of poor air quality. The rule takes effect in 2027."
    assert ALONE.answer("Why did the council ban diesel buses?", text).answer == "poor air quality"


def test_what_the_cloze_gives_around_its_gap_is_no_part_of_the_answer():
    text = "Mayor Petar Iliev said that the road is 12 km long."
    assert ALONE.answer("The road has a length of ____ km.", text).answer == "12"
    assert ALONE.answer("The road has a length of ____.", text).answer == "12 km"


def test_chinese():
    text = "青石大桥于2016年10月建成通车，全长1280米。大桥由陈立群主持设计。"
    assert ALONE.answer("青石大桥的设计由____负责。", text, "zh").answer == "陈立群"
    assert ALONE.answer("青石大桥什么时候建成通车？", text).answer == "2016年10月"
    assert ALONE.answer("青石大桥有多少名工人？", text, "zh").answer == UNANSWERABLE


def test_a_reader_tells_for_each_candidate_whether_the_text_bears_it_out():
    reader = Scripted("Ines Calder")
    question = "The bridge was drawn by ____, who is an engineer."
    borne_out = Answerer(reader).answer(question, BRIDGE)
    denied = Answerer(Scripted("nobody")).answer(question, BRIDGE)
    assert borne_out.answer == "Ines Calder"
    assert denied.answer == UNANSWERABLE or denied.confidence < borne_out.confidence
    assert 1 < len(reader.pairs) <= READ_BY_NETWORK
    assert {evidence for evidence, _ in reader.pairs} == {BRIDGE}
    assert "The bridge was drawn by Ines Calder." in {claim for _, claim in reader.pairs}


def test_a_reader_gets_a_natural_question_as_a_statement():
    reader = Scripted("Ines Calder")
    assert Answerer(reader).answer("Who designed the footbridge?", BRIDGE).answer == "Ines Calder"
    assert "Ines Calder designed the footbridge." in {claim for _, claim in reader.pairs}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("青石大桥由陈立群主持设计。", "zh"),
        ("Die neue Brücke über den Fluss wurde von Ines Calder entworfen und ist seit dem März 2019 offen.", "en"),
        ("Die Brücke wurde von Ines Calder entworfen.", "de"),
    ],
)
def test_a_reader_is_not_asked_about_other_languages(text: str, language: str):
    reader = Scripted("")
    Answerer(reader).answer("Wer hat die Brücke entworfen?", text, language)
    assert reader.pairs == []


def test_yes_or_no_is_declined():
    assert ALONE.answer("Did Ines Calder design the footbridge?", BRIDGE) == Found(UNANSWERABLE, None, 1.0)
    assert ALONE.answer("青石大桥是陈立群设计的吗？", "青石大桥由陈立群设计。", "zh").answer == UNANSWERABLE


@pytest.mark.parametrize("text", ["", " \n", "…", "\x00"])
def test_an_empty_text_answers_nothing(text: str):
    assert ALONE.answer("Who designed the footbridge?", text) == Found(UNANSWERABLE, None, 1.0)


def test_an_empty_question_has_no_answer():
    assert ALONE.answer("", BRIDGE).answer == UNANSWERABLE
    assert ALONE.answer("____", BRIDGE).answer == UNANSWERABLE


def test_a_megabyte_of_text_and_a_sentence_of_five_thousand_words():
    filler = "Nothing of note happened in the town that day. " * 22_000
    found = ALONE.answer("Who designed the footbridge?", filler + BRIDGE)
    assert found.answer == "Ines Calder"
    assert found.span is not None
    assert found.span[0] > 1_000_000
    endless = "the town was quiet and " * 1_300 + "the footbridge was designed by Ines Calder and so on"
    assert ALONE.answer("Who designed the footbridge?", endless).answer == "Ines Calder"
    assert ALONE.answer("谁设计了大桥？", "今天天气很好，" * 30_000 + "大桥由陈立群设计。", "zh").answer == "陈立群"


TEXTS = st.text(
    alphabet="The bridge of Ines Calder cost 3.4 in May 2019. ____?谁在北京设计了大桥年月，。\n“'", max_size=80
)


@given(TEXTS, TEXTS, st.sampled_from(["en", "zh", "de"]))
def test_an_answer_is_always_a_stretch_of_the_text(question: str, text: str, language: str):
    found = ALONE.answer(question, text, language)
    assert 0 <= found.confidence <= 1
    if found.span is None:
        assert found.answer == UNANSWERABLE
    else:
        assert text[slice(*found.span)] == found.answer != ""


def test_the_cases_are_as_many_as_promised_and_no_text_is_in_both_halves():
    dev, test = cases("dev"), cases("test")
    assert len(cases("dev", "en")) + len(cases("test", "en")) >= 90
    assert len(cases("dev", "zh")) + len(cases("test", "zh")) >= 30
    assert {case.text for case in dev}.isdisjoint(case.text for case in test)
    everything = [*dev, *test]
    assert sum(case.answer is None for case in everything) >= len(everything) / 3
    assert all(case.answer.lower() in case.text.lower() for case in everything if case.answer is not None)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_reference_answers_the_questions_made_from_it_and_another_text_does_not(language: str):
    texts = list(dict.fromkeys(case.text for case in cases("dev", language)))
    wrongly = asked = 0
    for text, other in zip(texts, [*texts[1:], texts[0]], strict=True):
        for info in key_info(text, language):
            question = cloze(text, info)
            assert token_f1(ALONE.answer(question, text, language).answer, info.text, language) > 0.9
            wrongly += ALONE.answer(question, other, language).answer != UNANSWERABLE
            asked += 1
    assert wrongly < 0.05 * asked


@pytest.mark.parametrize(("language", "decided", "f1"), [("en", 0.75, 0.9), ("zh", 0.8, 0.9)])
def test_it_does_on_the_development_half_as_it_was_tuned_to(language: str, decided: float, f1: float):
    made = figures(ALONE, cases("dev", language))
    assert made.decided >= decided
    assert made.f1 >= f1
