from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.llm.base import CallError, Message, Reply, Request, Usage
from evenhand.llm.tokens import check_whole, estimated_tokens, least_tokens, most_tokens


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
def test_neither_the_estimate_nor_the_lower_bound_is_above_the_upper_one(text: str):
    assert max(estimated_tokens(text), least_tokens(text)) <= most_tokens(text)


def was_cut(prompt: str, tokens: int | None) -> bool:
    request = Request((Message("system", "Rate it."), Message("user", prompt)))
    reply = Reply("x", usage=None if tokens is None else Usage(tokens, 5))
    try:
        return check_whole(request, reply) is not reply
    except CallError as error:
        return error.raw == "x"


def test_a_prompt_was_cut_if_the_server_read_fewer_tokens_than_it_has_words():
    words = "The harbour lies north of the town. " * 1000  # 7,000 words
    assert was_cut(words, 4096)
    assert not was_cut(words, 7010)
    assert was_cut("港口位于城北。" * 3000, 4096)  # 21,000 ideographs, at least 5,250 tokens
    assert not was_cut("港口位于城北。" * 3000, 12_000)
    assert not was_cut("=" * 50_000, 900)
    # These do not say how much was read.
    assert not was_cut(words, None)
    assert not was_cut(words, 100)
