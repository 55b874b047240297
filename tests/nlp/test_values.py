"""Numbers and dates in different spellings: which are the same, and which are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.nlp.values import agree, values


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It sold 3,200 copies.", [3200]),
        ("It cost $2.1 million.", [2_100_000]),
        ("Two hundred and fifty thousand people came.", [250_000]),
        ("twenty-five dogs and a dozen eggs", [25, 12]),
        ("It grew by 4.5% in three years.", [4.5, 3]),
        ("COVID-19 and vitamin B12", []),
        ("one of them", []),
    ],
)
def test_numbers_are_read_in_figures_and_in_words(text: str, numbers: list[float]):
    assert [value.number for value in values(text)] == numbers


@pytest.mark.parametrize(
    ("text", "years", "month", "day"),
    [
        ("It opened on 12 March 1987.", (1987, 1987), 3, 12),
        ("It opened on March 3, 1990.", (1990, 1990), 3, 3),
        ("It opened on 2020-05-01.", (2020, 2020), 5, 1),
        ("It opened in May 2020.", (2020, 2020), 5, None),
        ("It opened in the 1980s.", (1980, 1989), None, None),
        ("It opened in the 19th century.", (1801, 1900), None, None),
        ("It lasted 1939–45.", (1939, 1945), None, None),
    ],
)
def test_dates_are_read_as_far_as_they_are_told(text: str, years: tuple[int, int], month: int, day: int):
    (value,) = values(text)
    assert value.is_date
    assert (value.years, value.month, value.day) == (years, month, day)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("3,200 copies", "3200 copies", True),
        ("two million people", "2,000,000 people", True),
        ("about 500 people", "512 people", True),
        ("2.1 million people", "2,102,650 people", True),
        ("500 people", "600 people", False),
        ("330,000 people", "300,000 people", False),
        ("25 %", "25 percent", True),
        ("$5 million", "5 percent", None),
        ("5 miles", "5 kilometres", False),
        ("100 °C", "100 degrees Celsius", True),
        ("22 euros", "three zones", None),
        ("12 March 1987", "March 1987", True),
        ("12 March 1987", "13 March 1987", False),
        ("1985", "the 1980s", True),
        ("1985", "1986", False),
        ("1985", "12 dogs", None),
        ("March", "1985", None),
    ],
)
def test_values_agree_whatever_their_spelling(one: str, other: str, same: bool | None):
    (first,), (second,) = values(one), values(other)
    assert agree(first, second) is same
    assert agree(second, first) is same


@given(st.text(alphabet="0123456789.,- $%abcthmillionMarch一", max_size=60))
def test_any_text_has_values_that_agree_with_themselves(text: str):
    for value in values(text):
        assert text[value.start : value.end].strip()
        assert agree(value, value) in (True, None)


@pytest.mark.parametrize("unit", ["1", "1,", "two ", "二", "-", "1-", "$", "May "])
def test_a_long_text_of_one_sign_is_read(unit: str):
    assert isinstance(values(unit * (20_000 // len(unit))), list)
