import json
import math
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.llm.base import Choice
from evenhand.raters.llm_judge.logprobs import odds, value_offsets
from evenhand.records import Value
from evenhand.scales import Anchor, Label, Nominal, Ordinal, Percent, Text

FIVE = Ordinal(type="ordinal", levels={n: Anchor(label=f"Level {n}x", anchor="…") for n in range(1, 6)})
TEN = Ordinal(type="ordinal", levels={n: Anchor(label=f"L{n}", anchor="…") for n in range(11)})
SUPPORT = Nominal(
    type="nominal",
    labels={name: Label(definition="…") for name in ("SUPPORTED", "CONTRADICTED", "NO EVIDENCE")},
)
NOT = Nominal(type="nominal", labels={name: Label(definition="…") for name in ("Not Severe", "Not at all", "Severe")})


def choices(*tokens: tuple[str, dict[str, float]]) -> list[Choice]:
    """Tokens one after the other, each with its alternatives and their probabilities."""
    made: list[Choice] = []
    offset = 0
    for text, alternatives in tokens:
        known = tuple((other, math.log(share) if share else -math.inf) for other, share in alternatives.items())
        made.append(Choice(offset, text, known))
        offset += len(text)
    return made


def rounded(found: tuple[tuple[Value, float], ...]) -> dict[Value, float]:
    return {value: round(share, 6) for value, share in found}


def test_levels_share_what_was_recognised():
    made = choices(('{"a":', {}), (" ", {}), ("4", {"4": 0.6, "3": 0.2, "x": 0.1, "5,": 0.0}), ("}", {}))
    # 0.6 and 0.2 of 0.8
    assert rounded(odds(FIVE, made, 6)) == {3: 0.25, 4: 0.75, 5: 0.0}


def test_spellings_of_one_value_add_up():
    made = choices(('{"a":', {}), (" 4", {" 4": 0.4, "4": 0.2, ": 4": 0.1, " 2}": 0.3}))
    assert rounded(odds(FIVE, made, 6)) == {2: 0.3, 4: 0.7}


def test_a_digit_that_may_begin_two_levels_counts_for_neither():
    made = choices(("9", {"9": 0.5, "1": 0.3, "10": 0.1, "1,": 0.1}))
    # 0.5 for 9, 0.1 for 10, 0.1 for the 1 that a comma ends; of 0.7
    assert rounded(odds(TEN, made, 0)) == {1: 0.142857, 9: 0.714286, 10: 0.142857}


def test_less_than_half_recognised_is_nothing():
    made = choices(("1", {"1": 0.6, "9": 0.4}))
    assert odds(TEN, made, 0) == ()
    assert rounded(odds(TEN, choices(("9", {"9": 0.5, "1": 0.5})), 0)) == {9: 1.0}


CUTS: list[tuple[list[tuple[str, dict[str, float]]], int]] = [
    ([('{"a": ', {}), ('"', {'"': 1.0}), ("SUP", {"SUP": 0.7, "NO": 0.2, "CON": 0.1})], 6),
    ([('{"a": "', {}), ("SUP", {"SUP": 0.7, "NO": 0.2, "CON": 0.1})], 6),
    ([('{"a":', {}), (' "SUP', {' "SUP': 0.7, ' "NO': 0.2, ' "CON': 0.1})], 6),
    ([('{"a":', {}), (' "SUP', {' "SUP': 0.7, '"NO': 0.2, ': "CON': 0.1})], 6),
    ([('{"a": "', {}), ("SUP", {"SUP": 0.4, 'supported"': 0.3, " NO": 0.2, "CONTRADICTED": 0.1})], 6),
]


@pytest.mark.parametrize(("tokens", "offset"), CUTS)
def test_a_label_is_told_by_its_beginning_however_the_quote_is_cut(
    tokens: list[tuple[str, dict[str, float]]], offset: int
):
    expected = {"SUPPORTED": 0.7, "CONTRADICTED": 0.1, "NO EVIDENCE": 0.2}
    found = odds(SUPPORT, choices(*tokens), offset)
    assert rounded(found) == expected
    assert [value for value, _ in found] == SUPPORT.values


def test_a_beginning_that_two_labels_share_counts_for_neither():
    made = choices(('"', {}), ("Severe", {"Severe": 0.6, "Not": 0.3, "Not S": 0.1}))
    assert rounded(odds(NOT, made, 0)) == {"Not Severe": 0.142857, "Severe": 0.857143}


def test_a_label_that_goes_on_otherwise_or_has_no_quote_is_not_recognised():
    made = choices((' "SUP', {' "SUPPORTED by"': 0.3, "null": 0.2, ' "': 0.1, ' "SUP': 0.4}))
    assert odds(SUPPORT, made, 1) == ()


def test_a_level_written_as_a_string_is_a_level():
    made = choices(('"', {}), ("4", {"4": 0.5, "Level 3": 0.25, "5 Level": 0.25}))
    assert rounded(odds(FIVE, made, 0)) == {3: 0.25, 4: 0.5, 5: 0.25}


def test_texts_percentages_and_places_without_a_token_have_no_odds():
    made = choices(("4", {"4": 1.0}))
    assert odds(Percent(type="percent"), made, 0) == ()
    assert odds(Text(type="text"), made, 0) == ()
    assert odds(FIVE, made, 1) == ()
    assert odds(FIVE, [], 0) == ()
    assert odds(SUPPORT, choices(('"', {})), 0) == ()
    assert odds(FIVE, [Choice(0, "4", (("4", math.nan),))], 0) == ()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def test_each_value_has_its_offset_by_keys_and_list_indexes():
    text = '... {"a": {"b": [ {"c": 1} ], "d": "x"}, "e":5} ...'
    assert value_offsets(text, 4) == {
        (): 4,
        ("a",): text.index('{"b"'),
        ("a", "b"): text.index("[ "),
        ("a", "b", 0): text.index('{"c"'),
        ("a", "b", 0, "c"): text.index("1"),
        ("a", "d"): text.index('"x"'),
        ("e",): text.index("5"),
    }


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=4), values, max_size=4), st.sampled_from([None, 0, 3]), st.booleans())
def test_at_each_place_a_json_parser_reads_the_value(body: dict[str, object], indent: int | None, ascii_only: bool):
    text = json.dumps(body, indent=indent, ensure_ascii=ascii_only)
    for path, place in value_offsets(text, 0).items():
        expected: object = body
        for key in path:
            expected = cast("Any", expected)[key]
        assert json.JSONDecoder().raw_decode(text, place)[0] == expected
