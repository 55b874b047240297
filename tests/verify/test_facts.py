"""What is found in a text; the expected values are read off the texts by hand."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.verify.dates import Date
from evenhand.verify.facts import counts_of, facts_of
from evenhand.verify.names import same
from evenhand.verify.numbers import Number
from evenhand.verify.opposites import converses, opposites
from evenhand.verify.polarity import denied, excludes
from evenhand.verify.stems import stem
from evenhand.verify.tokens import tokens
from evenhand.verify.units import base


def only_number(text: str) -> Number:
    (number,) = facts_of(text).numbers
    return number


def only_date(text: str) -> Date:
    (date,) = facts_of(text).dates
    return date


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("2.1 million people", 2_100_000, ""),
        ("2,100,000 people", 2_100_000, ""),
        ("a budget of $2.1m", 2_100_000, "dollar"),
        ("£3bn in cash", 3e9, "sterling"),
        ("some 5k runners", 5_000, ""),
        ("two hundred and fifty thousand voters", 250_000, ""),
        ("twenty-five ships", 25, ""),
        ("half a million men", 500_000, ""),
        ("a dozen eggs", 12, ""),
        ("three and a half miles", 3.5, "mile"),
        ("fell by 12.5%", 12.5, "percent"),
        ("seven per cent", 7, "percent"),
        ("half of the members", 50, "percent"),
        ("one in five voters", 20, "percent"),
        ("nine out of ten doctors", 90, "percent"),
        ("a quarter of the votes", 25, "percent"),
        ("a 10-mile run", 10, "mile"),
        ("20 km/h", 20, "kilometre per hour"),
        ("it was -5 °C", -5, "celsius"),
        ("the third attempt", 3, "ordinal"),
        ("the 21st attempt", 21, "ordinal"),
        ("doors open at 5:30 p.m.", 17 * 60 + 30, "clock"),
        ("250 mg of it", 250, "milligram"),
        ("it tripled", 3, "times"),
        ("1500 people came", 1500, ""),
    ],
)
def test_a_number_is_read_with_its_unit(text: str, value: float, unit: str) -> None:
    number = only_number(text)
    assert math.isclose(number.value, value)
    assert number.unit == unit


@pytest.mark.parametrize(
    "text",
    ["no one came", "one of the oldest towns", "COVID-19", "vitamin B12", "in 1969", "version 1.2.3", "at first, he"],
)
def test_what_only_looks_like_a_number_is_none(text: str) -> None:
    assert facts_of(text).numbers == ()


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("more than 500 men", "over"),
        ("at least 500 men", "over"),
        ("500 or more men", "over"),
        ("fewer than 500 men", "under"),
        ("no more than 500 men", "under"),
        ("up to 500 men", "under"),
        ("about 500 men", "about"),
        ("500 men", ""),
    ],
)
def test_the_words_before_a_number_bound_it(text: str, bound: str) -> None:
    assert only_number(text).bound == bound


@pytest.mark.parametrize("text", ["10 to 15 km", "10–15 km", "between 10 and 15 km", "10-15 km"])
def test_a_range_is_one_number_with_two_ends(text: str) -> None:
    number = only_number(text)
    assert (number.value, number.high, number.unit) == (10, 15, "kilometre")


def test_the_places_of_a_number_are_characters_of_the_text() -> None:
    text = "They sold two hundred cars."
    number = only_number(text)
    assert text[number.start : number.end] == "two hundred"


def test_units_of_one_dimension_meet_in_its_base_unit() -> None:
    assert math.isclose(base(10, "mile"), base(16.09344, "kilometre"))
    assert math.isclose(base(90, "minute"), base(1.5, "hour"))
    assert math.isclose(base(212, "fahrenheit"), base(100, "celsius"))
    assert math.isclose(base(0, "kelvin"), base(-273.15, "celsius"))


@pytest.mark.parametrize(
    ("text", "years", "month", "day"),
    [
        ("July 20, 1969", (1969, 1969), 7, 20),
        ("20 July 1969", (1969, 1969), 7, 20),
        ("the 20th of July 1969", (1969, 1969), 7, 20),
        ("the twelfth of September 1494", (1494, 1494), 9, 12),
        ("1969-07-20", (1969, 1969), 7, 20),
        ("20/07/1969", (1969, 1969), 7, 20),
        ("7/20/1969", (1969, 1969), 7, 20),
        ("3/4/1969", (1969, 1969), None, None),
        ("Sept. 1969", (1969, 1969), 9, None),
        ("on July 20", None, 7, 20),
        ("in May", None, 5, None),
        ("in 1969", (1969, 1969), None, None),
        ("the 1960s", (1960, 1969), None, None),
        ("the 1960's", (1960, 1969), None, None),
        ("the sixties", (1960, 1969), None, None),
        ("the 19th century", (1800, 1900), None, None),
        ("the twenty-first century", (2000, 2100), None, None),
        ("1914–1918", (1914, 1918), None, None),
        ("1914-18", (1914, 1918), None, None),
        ("from 1914 to 1918", (1914, 1918), None, None),
    ],
)
def test_a_date_is_read_in_its_parts(
    text: str, years: tuple[int, int] | None, month: int | None, day: int | None
) -> None:
    date = only_date(text)
    assert (date.years, date.month, date.day) == (years, month, day)


@pytest.mark.parametrize(
    "text", ["she may come", "they march on", "1200 metres", "a fine of $1969", "the MX2000", "32/13/99"]
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert facts_of(text).dates == ()


def test_a_date_may_be_a_limit() -> None:
    assert [date.placed for date in facts_of("before 1990, after May 1991, since the 1960s, in 1995").dates] == [
        "before",
        "after",
        "after",
        "",
    ]


def test_names_are_runs_of_capitalised_words() -> None:
    text = "Yesterday the University of Oxford gave J. Smith a prize in New York. Critics said NASA had left in May."
    assert [name.text for name in facts_of(text).names] == ["University of Oxford", "J. Smith", "New York", "NASA"]


def test_a_name_does_not_reach_into_the_next_sentence() -> None:
    assert [name.text for name in facts_of("He met Ada Holt. Tomas Reyes left.").names] == ["Ada Holt", "Tomas Reyes"]


def test_capitals_tell_nothing_where_all_words_have_them() -> None:
    assert facts_of("Large Dogs Sleep Longer Than Small Cats").names == ()


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (("j", "smith"), ("john", "smith"), True),
        (("smith",), ("john", "smith"), True),
        (("mary", "smith"), ("john", "smith"), False),
        (("nyc",), ("new", "york", "city"), True),
        (("who",), ("world", "health", "organization"), True),
        (("french",), ("france",), True),
        (("us",), ("united", "states"), True),
        (("paris",), ("london",), False),
    ],
)
def test_two_names_can_be_the_same(one: tuple[str, ...], two: tuple[str, ...], expected: bool) -> None:
    assert same(one, two) is expected
    assert same(two, one) is expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("He did not go.", 1),
        ("They never won without him.", 2),
        ("She can't swim.", 1),
        ("Not only he came.", 0),
        ("No more than five came.", 0),
        ("Not all came.", 0),
        ("They came.", 0),
    ],
)
def test_negations_are_counted(text: str, count: int) -> None:
    (sentence,) = facts_of(text).sentences
    assert sentence.negations == count


def test_a_negation_reaches_to_the_end_of_its_clause() -> None:
    (sentence,) = facts_of("The council did not approve the bridge, but praised the harbour.").sentences
    assert {"approv", "bridg"} <= sentence.negated
    assert not {"prais", "harbour"} & sentence.negated


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The ward was not damaged in the fire.", {"damaged"}),
        ("It has no longer been manned since May.", {"manned"}),
        ("They refused to sign the treaty with Peru.", {"sign", "treaty"}),
        ("It works without batteries, and it is light.", {"batteries"}),
        ("Not only members voted.", set[str]()),
    ],
)
def test_what_is_denied_itself(text: str, words: set[str]) -> None:
    row = tokens(text)
    assert {row[place].low for place in denied(row)} == words


@pytest.mark.parametrize(
    ("claimed", "shown", "out"),
    [
        ("all", "most", True),
        ("most", "all", False),
        ("none", "few", True),
        ("some", "none", True),
        ("many", "several", False),
        ("few", "most", True),
        ("all", "all", False),
    ],
)
def test_which_amounts_rule_others_out(claimed: str, shown: str, out: bool) -> None:
    (one,), (two,) = (facts_of(f"{amount} of the members voted").quantifiers for amount in (claimed, shown))
    assert excludes(one.amount, two.amount) is out


def test_a_number_in_a_name_counts_nothing() -> None:
    assert not facts_of('They saw "Nine Lanterns" at the theatre.').numbers
    assert only_number("Two German firms bid for it.").value == 2
    assert only_number("They saw nine lanterns.").value == 9


def test_a_quantifier_knows_of_what() -> None:
    (one, two) = facts_of("Not all members agreed; most voters did.").quantifiers
    assert (one.amount, one.of[0]) == ("some", "member")
    assert (two.amount, two.of[0]) == ("most", "voter")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("increased", "fell"),
        ("approved", "rejected"),
        ("north", "south"),
        ("stable", "unstable"),
        ("guilty", "innocent"),
    ],
)
def test_opposites_go_both_ways(one: str, two: str) -> None:
    assert stem(two) in opposites(stem(one))
    assert stem(one) in opposites(stem(two))


def test_a_word_is_not_its_own_opposite() -> None:
    words = {
        stem(word) for word in "increase fell win lost open left right first up approve import war day up cut".split()
    }
    assert all(word not in opposites(word) for word in words)


def test_converses_change_who_does_it() -> None:
    assert stem("lost") in converses(stem("beat"))
    assert stem("sold") in converses(stem("bought"))


def test_a_long_article_keeps_one_of_each_number() -> None:
    told, dated = counts_of("In 1969 they sold 5 cars. In 1969 they sold 5 cars. In 1970 they sold 6 cars.")
    assert [number.value for number in told] == [5, 6]
    assert [date.years for date in dated] == [(1969, 1969), (1970, 1970)]


@given(st.text(max_size=200))
def test_any_text_has_facts_at_its_own_places(text: str) -> None:
    facts = facts_of(text)
    assert [text[token.start : token.end] for token in tokens(text)] == [token.text for token in facts.row]
    for found in (facts.numbers, facts.dates, facts.names):
        assert all(0 <= one.start < one.end <= len(text) for one in found)
        assert all(one.end <= two.start for one, two in pairwise(found))


@given(
    st.lists(
        st.sampled_from("1 2.5 1,000 - – to % km July 1969 th s $ of the John a half million not ( . , ' 20".split())
    )
)
def test_pieces_of_facts_in_any_order_are_read(parts: list[str]) -> None:
    for text in (" ".join(parts), "".join(parts)):
        facts = facts_of(text)
        assert all(math.isfinite(number.value) for number in facts.numbers)
        assert all(date.years is None or date.years[0] <= date.years[1] for date in facts.dates)
