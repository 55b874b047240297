"""Token F1 against hand derivations, against SQuAD's own steps and against published Chinese values."""

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.nlp.words import Word, content_words, is_chinese, plain_words, stem, stems_of, token_f1, words, words_of

# SQuAD v1.1 normalisation; computed by its script.
ENGLISH = [
    ("The Eiffel Tower is in Paris, France.", "the eiffel tower, paris", 0.6666666666666666),
    ("the cat sat", "the cat the cat the cat sat", 0.6666666666666666),
    ("", "answer", 0.0),
    ("a an the", "the", 1.0),
    ("No overlap here", "completely different text", 0.0),
    (
        "the quick brown fox jumps over the lazy dog",
        "the fast brown fox jumped over the lazy dogs",
        0.5714285714285714,
    ),
]
# Values of the benchmark that RAGQuestEval comes from, with jieba 0.42.1, and the words behind them.
CHINESE = [
    (
        "2023年7月，中国驻德国大使馆举行招待会",
        "7月27日晚，中国驻德国大使馆举行庆祝招待会",
        "2023 年 7 月 ， 中国 驻 德国 大使馆 举行 招待会",
        "7 月 27 日晚 ， 中国 驻 德国 大使馆 举行 庆祝 招待会",
        0.782608695652174,
    ),
    ("无法推断", "无法推断", "无法 推断", "无法 推断", 1.0),
    (
        "新增并网光伏发电容量1060万千瓦",
        "光伏发电容量为1060万千瓦",
        "新增 并网 光伏 发电 容量 1060 万千瓦",
        "光伏 发电 容量 为 1060 万千瓦",
        0.7692307692307693,
    ),
]


def squad_f1(answer: str, reference: str) -> float:
    """SQuAD's steps one by one: lower case, no punctuation, no articles, white space, overlap of multisets."""
    sides: list[list[str]] = []
    for text in (answer, reference):
        plain = "".join(character for character in text.lower() if character not in set(string.punctuation))
        sides.append(re.sub(r"\b(a|an|the)\b", " ", plain).split())
    found, wanted = sides
    same = sum((Counter(found) & Counter(wanted)).values())
    if not found or not wanted:
        return float(found == wanted)
    if same == 0:
        return 0.0
    precision, recall = same / len(found), same / len(wanted)
    return (2 * precision * recall) / (precision + recall)


@pytest.mark.parametrize(("answer", "reference", "expected"), ENGLISH)
def test_english_is_squad(answer: str, reference: str, expected: float):
    assert token_f1(answer, reference) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("answer", "reference", "answer_words", "reference_words", "expected"), CHINESE)
def test_chinese_is_cut_into_words(
    answer: str, reference: str, answer_words: str, reference_words: str, expected: float
):
    assert list(words(answer)) == answer_words.split()
    assert list(words(reference, "zh-CN")) == reference_words.split()
    assert token_f1(answer, reference) == token_f1(answer, reference, "zh") == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("answer", "reference", "same", "found", "wanted"),
    [
        # 三|亿元 and 9.6|亿元: the unit is shared, the amount is not. P 1/2, R 1/2, F1 = 1/2.
        ("三亿元", "9.6亿元", 1, 2, 2),
        # 2016|年|10|月 and 2016|年: P 2/4, R 2/2, F1 = 2·(1/2)/(3/2) = 2/3.
        ("2016年10月", "2016年", 2, 4, 2),
        # 李国强 and 李国强|先生: P 1/1, R 1/2, F1 = 2·(1/2)/(3/2) = 2/3.
        ("李国强", "李国强先生", 1, 1, 2),
        # A full stop is a word too: 5|月|20|日 and 5|月|20|日|。: P 4/4, R 4/5, F1 = 2·(4/5)/(9/5) = 8/9.
        ("5月20日", "5月20日。", 4, 4, 5),
        # 很|好|很|好|的|天气 and 很|好|的|天气: words said twice are met once. P 4/6, R 4/4, F1 = 2·(2/3)/(5/3) = 4/5.
        ("很好很好的天气", "很好的天气", 4, 6, 4),
        # 华能|公司|在|青海 and 青海: P 1/4, R 1/1, F1 = 2·(1/4)/(5/4) = 2/5.
        ("华能公司在青海", "青海", 1, 4, 1),
    ],
)
def test_chinese_by_hand(answer: str, reference: str, same: int, found: int, wanted: int):
    assert (len(words(answer)), len(words(reference))) == (found, wanted)
    assert token_f1(answer, reference) == pytest.approx(2 * same / (found + wanted))
    assert token_f1(reference, answer) == pytest.approx(2 * same / (found + wanted))


def test_words_shared_twice_count_twice():
    # "cat cat cat sat" and "cat cat dog": 2 shared of 4 and of 3; P 2/4, R 2/3, F1 = 2·(1/3)/(7/6) = 4/7.
    assert token_f1("cat cat cat sat", "cat cat dog") == pytest.approx(4 / 7)


def test_nothing_on_both_sides_is_equal_and_on_one_side_is_not():
    assert token_f1("", "") == token_f1("The", "...") == token_f1("", "", "zh") == 1.0
    assert token_f1("the", "Paris") == token_f1("Paris", "!") == token_f1("", "北京") == 0.0


def test_one_han_character_on_either_side_cuts_both_the_same_way():
    # Of the words NBA, a space and 湖人队 the one word NBA is shared: P 1/1, R 1/3, F1 = 2·(1/3)/(4/3) = 1/2.
    assert list(words("NBA 湖人队")) == ["NBA", " ", "湖人队"]
    assert token_f1("NBA", "NBA 湖人队") == token_f1("NBA 湖人队", "NBA") == pytest.approx(1 / 2)


def test_which_texts_are_chinese():
    assert is_chinese("北京")
    assert is_chinese("Peking", "zh")
    assert is_chinese("Peking", "zh-Hant")
    assert not is_chinese("Peking")
    assert not is_chinese("Zürich", "zha")


TEXTS = st.text(alphabet="aAnthe TheX.,-'–’é_\t\n\x00\x1f1 ", max_size=30)


@given(TEXTS, TEXTS)
def test_the_quick_way_gives_squad_s_value_to_the_last_digit(answer: str, reference: str):
    assert token_f1(answer, reference) == squad_f1(answer, reference)


def test_latin_words_in_a_chinese_text_are_split_as_jieba_splits_them():
    assert list(words("用Node.js和C++写了zh-CN版3.4m")) == "用 Node . js 和 C++ 写 了 zh - CN 版 3.4 m".split()


def test_stems_leave_inflection_and_empty_words_aside():
    assert stems_of("The planned bridges were filed, and it's Calder's 1,200 files.") == [
        *("plan", "bridg", "fil", "it", "calder", "1200", "fil")
    ]
    assert stem("cities") == stem("city")
    assert words_of("It’s 3.4 OK") == ["it's", "3.4", "ok"]


def test_content_words_have_their_places():
    text = "Both bridges. 大桥由陈立群设计。"
    assert content_words(text, 5, 13) == [Word("bridg", 5, 12)]
    assert content_words(text, 14, 23, chinese=True) == [
        Word("大桥", 14, 16),
        Word("陈立群", 17, 20),
        Word("设计", 20, 22),
    ]


def test_a_lone_surrogate_in_a_chinese_text_is_a_sign_like_any_other():
    assert list(words("北京\ud800上海")) == ["北京", "?", "上海"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The state-of-the-art isn't U.S. made_here!", "state of art isn t u s made_here"),
        ("A, an THE", ""),
        ("Ünïcode 3.5 %", "ünïcode 3 5"),
    ],
)
def test_plain_words_leave_a_gap_for_each_mark(text: str, expected: str) -> None:
    """Unlike SQuAD's, which closes the gap: `isnt`."""
    assert plain_words(text) == [expected.split()]


def test_plain_words_of_several_texts_are_cut_the_same_way() -> None:
    assert plain_words("北京。", "北京") == [["北京"], ["北京"]]
    assert plain_words("Node.js 在北京", "Node.js") == [["node", "js", "在", "北京"], ["node", "js"]]
