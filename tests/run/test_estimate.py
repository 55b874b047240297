from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.run.budget import most_tokens
from evenhand.run.estimate import estimated_tokens


def test_an_estimate_counts_four_latin_two_other_and_one_ideograph_to_a_token():
    assert estimated_tokens("") == 0
    assert estimated_tokens("abcdefgh") == 2
    assert estimated_tokens("abcdefghi") == 3
    assert estimated_tokens("中文字") == 3
    assert estimated_tokens("привет") == 3
    # 4 ideographs, 8 Latin characters, one of them with an accent: 4 + 2
    assert estimated_tokens("模型评估 judgé 1") == 6


def test_the_bound_is_the_number_of_bytes():
    assert most_tokens("abc") == 3
    assert most_tokens("é中🙂") == 2 + 3 + 4


@settings(deadline=None)
@given(st.text())
def test_the_estimate_is_never_above_the_bound(text: str):
    assert estimated_tokens(text) <= max(most_tokens(text), 0)
