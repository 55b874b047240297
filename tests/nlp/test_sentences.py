"""The hard cases are our own; docs/decisions/0003-sentence-segmentation.md says how far they can be trusted."""

import json
from pathlib import Path
from typing import TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.nlp.sentences import MAX_ENCLOSED, blocks, sentences


class Case(TypedDict):
    id: str
    split: str
    language: str
    about: str
    text: str
    sentences: list[str]


def _cases() -> list[Case]:
    lines = (Path(__file__).parent / "data" / "segments_hard.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


CASES = _cases()

# Cases we do not solve, each with why. A case that comes right must leave this list.
KNOWN_FAILURES: dict[str, str] = {
    "s044": "an abbreviation on no list, before a capital, looks like the end of a sentence",
    "s064": "a brand that ends in ! before a capital looks like the end of a sentence",
    "s134": "a dash at the left margin is a bullet far more often than a wrapped aside",
}


def split(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in sentences(text, language)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_hard_case(case: Case) -> None:
    found = split(case["text"], case["language"])
    if case["id"] in KNOWN_FAILURES:
        assert found != case["sentences"], "solved: take it off KNOWN_FAILURES"
    else:
        assert found == case["sentences"], case["about"]


def test_the_case_file_is_sound() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 150
    assert set(KNOWN_FAILURES) <= {case["id"] for case in CASES}
    for case in CASES:
        place = 0
        for sentence in case["sentences"]:
            assert sentence == sentence.strip() != ""
            place = case["text"].index(sentence, place) + len(sentence)
    share = sum(case["split"] == "test" for case in CASES) / len(CASES)
    assert share == pytest.approx(0.3, abs=0.01)  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_sentence_of_a_hard_case_is_one_sentence_again(case: Case) -> None:
    for sentence in split(case["text"], case["language"]):
        assert split(sentence, case["language"]) == [sentence]


# Pieces that steer the rules meet far more often here than in random characters.
WORDS = ("word", "The", "Dr", "U.S", "e.g", "12", "3.5", "No", "J", "土壤", "好", "说", "😀", "é", "ß", "क।", "\ufeff")
STOPS = (". ", ".", "! ", "?", "…", "... ", "。", "？", "；", ":", "：", ",", "，")
SPACES = (" ", "\n", "\n\n", "\r\n", "\t", "\xa0", "\u3000", "\x0b", "\x85", "\u2028")
ENCLOSERS = (
    "(",
    ")",
    "（",
    "）",
    "[",
    "]",
    "[12]",
    "“",
    "”",
    '"',
    "'",
    "’",
    "「",
    "」",
    "《",
    "》",
    "`",
    "``",
    "*",
    "**",
    "_",
)
LINE_SIGNS = ("```\n", "~~~\n", "# ", "- ", "1. ", "a) ", "一、", "①", "> ", "|", "| a |\n", "---\n", "|--|\n", "===\n")
PIECES = st.sampled_from(WORDS + STOPS + SPACES + ENCLOSERS + LINE_SIGNS)
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=80))
LANGUAGES = st.sampled_from(["en", "zh", "zh-CN", "de", "", "xx_YY"])
MARKUP = set("-=*_~+|:>#")


@given(TEXTS, LANGUAGES)
def test_ranges_are_ordered_trimmed_and_cover_all_but_space_and_lines_of_markup(text: str, language: str) -> None:
    ranges = sentences(text, language)
    end_before = 0
    covered = [False] * len(text)
    for start, end in ranges:
        assert end_before <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        covered[start:end] = [True] * (end - start)
        end_before = end
    place = 0
    for line in text.splitlines(keepends=True):
        only_markup = set("".join(line.split())) <= MARKUP
        for character in line:
            assert covered[place] or character.isspace() or only_markup
            place += 1


@given(TEXTS, LANGUAGES)
def test_the_same_text_gives_the_same_ranges(text: str, language: str) -> None:
    assert sentences(text, language) == sentences(text, language)


@given(TEXTS, TEXTS)
def test_a_paragraph_without_fences_does_not_depend_on_the_next(first: str, second: str) -> None:
    first = first.replace("`", "").replace("~", "")
    joined = first + "\n\n" + second
    assert sentences(joined)[: len(sentences(first))] == sentences(first)


@given(
    st.lists(
        st.sampled_from(["The soil was dry.", "Was it?", "Dr. Keller said no!", "土壤很干。", "真的吗？"]), min_size=1
    )
)
def test_plain_sentences_joined_by_spaces_or_lines_come_apart_again(parts: list[str]) -> None:
    assert split(" ".join(parts)) == parts
    assert split("\n".join(parts)) == parts


@given(TEXTS)
def test_no_sentence_crosses_a_block(text: str) -> None:
    edges = [(block.start, block.end) for block in blocks(text)]
    for start, end in sentences(text):
        assert any(first <= start and end <= last for first, last in edges)


def test_nothing_in_nothing_out() -> None:
    assert sentences("") == sentences(" \n\t\n") == sentences("---\n") == []


def test_a_text_of_stops_alone_is_one_sentence() -> None:
    assert split("...") == ["..."]
    assert split("。。。") == ["。。。"]


def test_a_quotation_longer_than_the_bound_is_cut() -> None:
    inside = "The soil was dry. " * (MAX_ENCLOSED // 18 + 1)
    assert len(split(f"She wrote “{inside}” and left.")) > 1
    assert len(split("She wrote “The soil was dry. It was cold.” and left.")) == 1


def test_language_changes_only_how_abbreviations_are_weighed() -> None:
    text = "She came from the U.S. The others stayed."
    assert len(split(text, "en")) == len(split(text, "zh-CN")) == 2
    assert len(split(text, "de")) == len(split(text, "")) == 1


# Each of these has blown up some pattern-based segmenter; a quadratic rule would take minutes here.
HOSTILE = {
    "dots": "." * 100_000,
    "spaced dots": ". " * 100_000,
    "stops and closers": ".) " * 60_000,
    "open parentheses": "(" * 100_000,
    "nested parentheses": "(" * 50_000 + "a." + ")" * 50_000,
    "parentheses after stops": "a. (" * 40_000,
    "quotes": '"' * 100_000,
    "quotes and stops": '". ' * 40_000,
    "Chinese quotes never closed": "“好。" * 40_000,
    "backticks": "`" * 100_000,
    "backtick runs of every length": " ".join("`" * length for length in range(1, 500)),
    "asterisks": "*" * 100_000 + "a",
    "citations never closed": "a. [1,1,1,1," * 15_000,
    "one word": "a" * 1_000_000,
    "white space": "a." + " " * 500_000 + "b",
    "short lines": "a\n" * 60_000,
    "fences": "```\n" * 50_001,
    "markers": "1. " * 50_000,
    "pipes": "|" * 100_000 + "a",
    "tabs": "a\t" * 50_000,
    "a megabyte of prose": "The soil was dry. Dr. Keller (who else?) said “no.” Then 3.5 cm fell [12]. " * 13_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_is_read_to_its_end(name: str) -> None:
    text = HOSTILE[name]
    ranges = sentences(text)
    assert all(start < end for start, end in ranges)
    assert not ranges or ranges[-1][1] == len(text.rstrip())
