import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.llm.fencing import JOINER, fenced, harmless, marker_of, reply_codes, restored, storable

TOKENS = [
    "<|im_start|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|endoftext|>",
    "<|channel|>",
    "<｜User｜>",
    "<｜end▁of▁sentence｜>",
    "[INST]",
    "[/INST]",
    "[SYSTEM_PROMPT]",
    "<<SYS>>",
    "<</SYS>>",
    "<s>",
    "</s>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<bos>",
    "<eos>",
    "<BOS_TOKEN>",
    "<think>",
    "</think>",
    "[gMASK]",
]
anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


def test_the_code_is_the_beginning_of_the_hash_over_lengths_and_texts():
    # 3 bytes "a€"[…]: "a" is one byte, "€" is three.
    expected = hashlib.sha256(b"1\na" + b"3\n" + "€".encode()).hexdigest()[:10]
    assert marker_of(["a", "€"]) == expected


def test_the_code_tells_where_one_text_ends_and_the_next_begins():
    assert marker_of(["ab", "c"]) != marker_of(["a", "bc"])


def test_a_text_that_holds_the_code_gets_another_and_longer_one():
    # A text cannot hold the code of itself; that it holds the one of its beginning must do no harm either.
    first = marker_of(["text"])
    assert marker_of(["text", first]) not in first

    class Own(str):
        """A text that claims to hold every code of up to 20 characters."""

        def __contains__(self, key: str, /) -> bool:
            return len(key) <= 20

    assert len(marker_of([Own("text")])) == 22


@settings(deadline=None)
@given(st.lists(anything, max_size=4))
def test_no_text_holds_its_code_and_the_same_texts_have_the_same_code(texts: list[str]):
    code = marker_of(texts)
    assert not any(code in text for text in texts)
    assert code == marker_of(list(texts))


@pytest.mark.parametrize("token", TOKENS)
def test_a_control_token_is_broken_up_after_its_first_character(token: str):
    assert harmless(f"a {token} b") == f"a {token[0]}{JOINER}{token[1:]} b"
    assert restored(harmless(token)) == token


@pytest.mark.parametrize(
    "text", ["a < b", "x[1]", "<Unanswerable>", "<p>Text</p>", "[1] First", "if (a<b && c>d)", "[]"]
)
def test_other_text_stays_as_it_is(text: str):
    assert harmless(text) == text


def test_control_characters_and_halves_of_characters_become_the_replacement_character():
    assert harmless("a\x00b\x1b[0m\x85\ud83d\tc\r\n") == "a\ufffdb\ufffd[0m\ufffd\ufffd\tc\r\n"
    assert storable("new\nline") == "new\nline"


@settings(deadline=None)
@given(anything)
def test_what_is_harmless_can_be_encoded_and_is_the_text_but_for_joiners_and_replacements(text: str):
    clean = harmless(text)
    clean.encode()
    assert harmless(clean) == clean
    assert [c for c in clean if c not in f"\ufffd{JOINER}"] == [
        c
        for c in text
        if c in "\t\n\r"
        or not (c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" or c in f"\ufffd{JOINER}")
    ]


@settings(deadline=None)
@given(anything)
def test_a_fenced_text_has_its_end_line_once_and_at_the_end(text: str):
    clean = harmless(text)
    code = marker_of([clean])
    block = fenced("answer", clean, code)
    assert block == f"[begin answer {code}]\n{clean}\n[end answer {code}]"
    assert block.count(code) == 2


def test_a_reply_code_depends_on_the_identity_and_is_neither_taken_nor_in_a_text():
    (code,) = reply_codes([["item", "1"]], [])
    assert [code] == reply_codes([["item", "1"]], ["other text"])
    assert len(code) == 5
    assert code[0].isalpha()
    assert code.isupper()
    assert reply_codes([["item", "2"]], []) != [code]
    assert reply_codes([["item", "1"]], [f"({code})"])[0] not in f"({code})"
    first, second = reply_codes([["item", "1"], ["item", "1"]], [])
    assert (first == code, second == code) == (True, False)


def test_reply_codes_are_spread_evenly():
    codes = [code for number in range(3000) for code in reply_codes([[str(number)]], [])]
    assert len(set(codes)) == 3000
    assert len({code[0] for code in codes}) == 19
    assert len({code[-1] for code in codes}) == 26
