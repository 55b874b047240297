"""What the rules find, compared with lists made by reading."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.nlp.mentions import Mention, mentions
from evenhand.nlp.sentences import sentences


def of_kind(text: str, kind: str, language: str = "en") -> list[str]:
    found = mentions(text, sentences(text, language), language)
    return [text[one.start : one.end] for sentence in found for one in sentence if one.kind == kind]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("She met Dr. Amara Osei at the University of Leeds.", ["Dr. Amara Osei", "University of Leeds"]),
        ("In Lisbon the poet Karl von Frisch met J. R. Hartley.", ["Lisbon", "Karl von Frisch", "J. R. Hartley"]),
        ("The French president praised Nordmat's plant.", ["Nordmat"]),
        ("However, prices in Oslo rose again.", ["Oslo"]),
        ("A Polish-born physicist worked for NASA.", ["NASA"]),
        ("Reyes scored. Then the crowd cheered Reyes.", ["Reyes", "Reyes"]),
        ("Later he wrote “The Salt Road” in prison.", ["The Salt Road"]),
        ("The Centre for Ecology in New York paid Will Kemp.", ["Centre for Ecology", "New York", "Will Kemp"]),
        ("Bread is cheap. They sell bread.", []),
        ("Yes, on every plan.", []),
        ("Yes Ada Marsh did, with the band Yes.", ["Ada Marsh", "Yes"]),
    ],
)
def test_names(text: str, names: list[str]):
    assert of_kind(text, "name") == names


def test_an_answer_of_yes_after_its_question_is_no_name():
    text = "Does it work offline? Yes, on every plan."
    assert [one.kind for one in mentions(text, [(0, len(text))])[0]] == ["phrase"]


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("It was signed on 3 August 1742 in the castle.", ["3 August 1742"]),
        ("They voted on July 20, 1969, a Sunday.", ["July 20, 1969", "Sunday"]),
        ("It worked from 1914–1918 and again in the 1930s.", ["1914–1918", "1930s"]),
        ("Rome was founded in 753 BC, long before.", ["753 BC"]),
        ("The file is from 2021-03-04 at 14:30 sharp.", ["2021-03-04", "14:30"]),
        ("In 1903 the plant had 2000 workers.", ["1903"]),
        ("On Monday, 3 Sept. 1990 it rained; summer of 2001 was dry.", ["Monday, 3 Sept. 1990", "summer of 2001"]),
        ("It opened in May.", []),
        ("It closed in May 2019.", ["May 2019"]),
        ("They may march in May.", []),
    ],
)
def test_dates(text: str, dates: list[str]):
    assert of_kind(text, "date") == dates


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Revenue rose 12% to $48 million last year.", ["12%", "$48 million"]),
        ("The lake covers 86 square kilometres of land.", ["86 square kilometres"]),
        ("In 1903 the plant had 2000 workers.", ["2000"]),
        ("They waited four hundred million years for two Nobel Prizes.", ["four hundred million years", "two"]),
        ("It took 10–15 km of the B12 road and COVID-19 tests.", ["10–15 km"]),
        (
            "The 70th minute saw a 300-metre run at 3,422 degrees Celsius.",
            ["70th minute", "300-metre", "3,422 degrees Celsius"],
        ),
        (
            "A thousand people paid 3.4 million euros and 5 dollars per head.",
            ["A thousand", "3.4 million euros", "5 dollars per head"],
        ),
        ("Room 12a is one of twenty-one.", ["twenty-one"]),
    ],
)
def test_numbers(text: str, numbers: list[str]):
    assert of_kind(text, "number") == numbers


def test_noun_phrases_stop_at_verbs():
    text = "The bridge joins the station to the old town and has become a favourite place for photographs."
    assert of_kind(text, "phrase") == ["bridge", "station", "old town", "favourite place", "photographs"]


def test_other_languages_have_no_noun_phrases():
    text = "Die Brücke von Ines Calder kostete 1990 in Gent 300 Euro."
    assert of_kind(text, "phrase", "de") == []
    assert "Gent" in of_kind(text, "name", "de")
    assert of_kind(text, "number", "de") == ["300 Euro"]


def test_chinese():
    text = (
        "2023年7月27日，国家能源局公布，新增光伏发电容量1060万千瓦，同比增长12.5%。"
        "大使吴恳读了《雨巷人家》，耗资三亿元。"
    )
    assert of_kind(text, "date") == ["2023年7月27日"]
    assert of_kind(text, "number") == ["1060万千瓦", "12.5%", "三亿元"]
    assert of_kind(text, "name", "zh") == ["国家能源局", "吴恳", "雨巷人家"]


def assert_sound(text: str, language: str) -> None:
    places = sentences(text, language)
    for (start, end), found in zip(places, mentions(text, places, language), strict=True):
        last = start
        for mention in found:
            assert last <= mention.start < mention.end <= end
            last = mention.end


ALPHABET = "The old Bridge of 1990 cost $3.4m, 5% in May. 年月日3万王小明在北京“《》”\n-'\x00"


@given(st.text(alphabet=ALPHABET, max_size=120), st.sampled_from(["en", "zh", "de"]))
def test_ranges_never_overlap(text: str, language: str):
    assert_sound(text, language)


@pytest.mark.parametrize(
    "piece", ["a", "A", "1", "一", "万", "第", "好", "1,", "A. ", "one ", "two-", "May ", "'", "“", "-"]
)
def test_a_text_of_one_piece_again_and_again(piece: str):
    """Takes hours if a rule is quadratic in the length of the text."""
    assert_sound(piece * (200_000 // len(piece)), "en")


def test_a_mention_is_a_range_with_its_kind():
    assert mentions("In Oslo.", [(0, 8)]) == [[Mention(3, 7, "name")]]
    assert mentions("", []) == []
