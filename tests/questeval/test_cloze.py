"""Clozes against the ones a person would write down."""

import pytest

from evenhand.nlp.sentences import sentences
from evenhand.questeval.cloze import cloze
from evenhand.questeval.key_info import KeyInfo


def at(text: str, answer: str) -> KeyInfo:
    start = text.index(answer)
    place = next(place for place in sentences(text) if place[0] <= start < place[1])
    return KeyInfo(answer, "phrase", start, start + len(answer), place)


BRIDGE = "The footbridge was opened in May 2019. It was designed by Ines Calder and cost 3.4 million euros."


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        (BRIDGE, "May 2019", "The footbridge was opened in ____."),
        (
            BRIDGE,
            "Ines Calder",
            "The footbridge was opened in May 2019. It was designed by ____ and cost 3.4 million euros.",
        ),
        ("He won 3 of 13 games and lost 3.", "3", "He won ____ of 13 games and lost ____."),
        ("- The harbour\n  froze in 1987.\n- Ships waited.", "1987", "The harbour froze in ____."),
        ("1. Oslo is cold.", "Oslo", "____ is cold."),
        ("They met in Rome.", "Rome", "They met in ____."),
        ("大桥于2016年通车。它由陈立群设计。", "陈立群", "大桥于2016年通车。它由____设计。"),
        ("大桥于2016年通车。工程由陈立群设计。", "陈立群", "工程由____设计。"),
    ],
)
def test_the_sentence_with_a_gap(text: str, answer: str, expected: str):
    assert cloze(text, at(text, answer)) == expected


def test_a_very_long_sentence_is_cut_down_to_what_is_around_the_gap():
    text = "one " * 5000 + "Calder built it " + "two " * 5000 + "end."
    made = cloze(text, at(text, "Calder"))
    assert made.startswith("… one ")
    assert made.endswith(" two …")
    assert "one ____ built it two" in made
    assert len(made.split()) < 70


def test_a_very_long_sentence_without_spaces():
    text = "好" * 3000 + "陈立群" + "人" * 3000 + "。"
    made = cloze(text, at(text, "陈立群"))
    assert "好____人" in made
    assert len(made) < 450


@pytest.mark.parametrize(
    ("sentence", "refers_back"),
    [
        ("It was built in Rome.", True),
        ("“They ran to Rome.", True),
        ("- His son died in Rome.", True),
        ("Italy won in Rome.", False),
        ("The bridge fell in Rome.", False),
        ("Thisbe ran to Rome.", False),
        ("该项目在Rome完成。", True),
        ("项目在Rome完成。", False),
    ],
)
def test_a_sentence_that_refers_back_brings_the_one_before(sentence: str, refers_back: bool):
    text = f"Nothing else happened.\n\n{sentence}"
    assert cloze(text, at(text, "Rome")).startswith("Nothing else") is refers_back
