"""Requests to bytes and bytes to replies."""

import json
from dataclasses import replace

import pytest

from evenhand.llm.base import Choice, Message, Request, Schema, Usage
from evenhand.llm.dialect import Dialect
from evenhand.llm.wire import NotACompletion, body_of, reply_of
from tests.chat_server import Token, completion

FULL = Dialect("json_schema", ("max_tokens", "max_completion_tokens"))
SCHEMA = Schema("rating", '{"type": "object", "title": "Größe"}')


def bytes_of(completion_body: object) -> bytes:
    return json.dumps(completion_body).encode()


def test_a_body_is_the_json_of_the_request():
    awkward = 'a "quote" \\ \n\t\x00 é 漢字 😀'
    request = Request(
        (Message("system", "Rate."), Message("user", awkward)),
        SCHEMA,
        max_tokens=9,
        temperature=0.5,
        seed=3,
        logprobs=5,
    )
    assert json.loads(body_of(request, 'm"1', FULL)) == {
        "model": 'm"1',
        "messages": [{"role": "system", "content": "Rate."}, {"role": "user", "content": awkward}],
        "max_tokens": 9,
        "temperature": 0.5,
        "seed": 3,
        "logprobs": True,
        "top_logprobs": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "rating", "strict": True, "schema": {"type": "object", "title": "Größe"}},
        },
    }


def test_a_body_leaves_out_what_the_form_lacks():
    request = Request((Message("user", "x"),), SCHEMA, max_tokens=9, temperature=2.0, seed=3, logprobs=5)
    bare = Dialect("none", ("max_completion_tokens",), temperature=False, seed=False, logprobs=False)
    messages = [{"role": "user", "content": "x"}]
    assert json.loads(body_of(request, "m", bare)) == {"model": "m", "messages": messages, "max_completion_tokens": 9}
    loose = json.loads(body_of(request, "m", replace(bare, structure="json_object", temperature=True, hottest=1.0)))
    assert loose["response_format"] == {"type": "json_object"}
    assert loose["temperature"] == 1.0


def test_half_a_surrogate_pair_is_sent_as_its_escape():
    body = body_of(Request((Message("user", "a\ud83db"),)), "m", FULL)
    assert b'"a\\ud83db"' in body
    assert json.loads(body)["messages"][0]["content"] == "a\ud83db"


def test_a_reply_has_text_usage_and_model():
    reply = reply_of(bytes_of(completion("yes", usage=(120, 7, 100), model="m-2025")), seconds=1.5)
    assert (reply.text, reply.finish, reply.model, reply.seconds) == ("yes", "stop", "m-2025", 1.5)
    assert reply.usage == Usage(120, 7, 100)
    assert reply.choices == ()


@pytest.mark.parametrize(
    ("change", "usage"),
    [
        ({}, None),
        ({"usage": None}, None),
        ({"usage": {"prompt_tokens": 4}}, None),
        ({"usage": {"prompt_tokens": 10**400, "completion_tokens": 2}}, None),
        ({"usage": {"prompt_tokens": 4, "completion_tokens": -2}}, None),
        ({"usage": {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 10**400}}, Usage(4, 2, 0)),
        ({"usage": {"prompt_tokens": 4, "completion_tokens": 2}}, Usage(4, 2, 0)),
        ({"usage": {"prompt_tokens": 4, "completion_tokens": 2, "prompt_tokens_details": None}}, Usage(4, 2, 0)),
    ],
)
def test_usage_is_there_where_the_server_counted(change: dict[str, object], usage: Usage | None):
    assert reply_of(bytes_of({**completion("x", usage=None), **change})).usage == usage


def test_a_number_with_more_digits_than_python_reads_costs_only_the_usage():
    body = bytes_of(completion("yes", usage=(120, 7, 100))).replace(b"120", b"9" * 5000)
    assert (reply_of(body).text, reply_of(body).usage) == ("yes", None)


def test_parts_of_a_text_are_joined_and_others_passed_over():
    body = completion(None)
    body["choices"][0]["message"]["content"] = [
        {"type": "text", "text": "a"},
        {"type": "image", "url": "x"},
        {"type": "text", "text": "b"},
    ]
    body["choices"][0]["message"]["reasoning_content"] = "long thoughts"
    assert reply_of(bytes_of(body)).text == "ab"


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        (completion("half", finish="length"), "half", "length"),
        (completion(None, finish="length"), "", "length"),
        (completion("x", finish=None), "x", "stop"),
        (completion("so far", finish="content_filter"), "so far", "refusal"),
        (completion(None, refusal="I will not."), "I will not.", "refusal"),
        (completion("x", finish="tool_calls"), "x", "tool_calls"),
    ],
)
def test_how_a_reply_ended(body: dict[str, object], text: str, finish: str):
    reply = reply_of(bytes_of(body))
    assert (reply.text, reply.finish) == (text, finish)


def test_half_a_surrogate_pair_in_a_reply_is_replaced():
    body = b'{"choices": [{"message": {"content": "a\\ud83d \\ud83d\\ude00"}}]}'
    assert reply_of(body).text == "a\ufffd \U0001f600"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>busy</html>",
        b"[]",
        b"null",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": "x"}]}',
        b'{"choices": [{"message": {"content": 3}}]}',
        b'{"choices": {"0": 1}}',
        b'{"choices": [{"message": {"content": "x',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_anything_else_is_not_a_completion(body: bytes):
    with pytest.raises(NotACompletion):
        reply_of(body)


def choices(text: str, tokens: list[Token]) -> tuple[Choice, ...]:
    return reply_of(bytes_of(completion(text, tokens=tokens))).choices


def test_choices_have_places_in_the_text_and_the_most_probable_alternative_first():
    tokens: list[Token] = [('{"a":', []), ("4", [("5", -1.0), ("4", -0.5)]), ("}", [("}", 0.0)])]
    assert choices('{"a":4}', tokens) == (
        Choice(0, '{"a":', ()),
        Choice(5, "4", (("4", -0.5), ("5", -1.0))),
        Choice(6, "}", (("}", 0.0),)),
    )


def test_tokens_that_hold_parts_of_characters_are_put_together_from_their_bytes():
    # é is C3 A9 and 漢 is E6 BC A2; the text is é漢4 with é at 0, 漢 at 1 and 4 at 2.
    tokens: list[Token] = [(b"\xc3", []), (b"\xa9\xe6", []), (b"\xbc\xa2", []), ("4", [("4", -0.1)])]
    found = choices("é漢4", tokens)
    assert [choice.offset for choice in found] == [0, 0, 1, 2]
    assert found[3] == Choice(2, "4", (("4", -0.1),))


def test_tokens_without_bytes_are_read_from_their_text():
    body = completion("é4", tokens=[("é", []), ("4", [])])
    for token in body["choices"][0]["logprobs"]["content"]:
        token["bytes"] = None
    assert [choice.offset for choice in reply_of(bytes_of(body)).choices] == [0, 1]


def test_an_end_token_behind_the_text_is_left_out():
    assert [choice.text for choice in choices("4", [("4", []), ("<|end|>", [])])] == ["4"]


def test_tokens_of_a_code_fence_that_the_server_took_off_are_left_out():
    tokens: list[Token] = [("```", []), ("json\n", []), ('{"a": ', []), ("4", [("4", -0.1)]), ("}", []), ("\n```", [])]
    found = choices('{"a": 4}', tokens)
    assert [(choice.offset, choice.text) for choice in found] == [(0, '{"a": '), (6, "4"), (7, "}")]


STRAYS: list[list[Token]] = [[("5", [])], [("4", [])], [("x4", []), ("5", [])], [("x45x4", []), ("5", [])]]


@pytest.mark.parametrize("tokens", STRAYS)
def test_tokens_that_are_not_the_text_give_no_choices(tokens: list[Token]):
    assert choices("45", tokens) == ()


def test_a_byte_order_mark_before_the_completion_is_skipped():
    assert reply_of(b"\xef\xbb\xbf" + bytes_of(completion("yes"))).text == "yes"


def test_log_probabilities_that_are_no_finite_numbers_are_left_out():
    body = completion("yes", tokens=[("yes", [("yes", -0.5), ("no", -1.5), ("so", -2.5), ("ah", -3.5)])])
    top = body["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    top[1]["logprob"], top[2]["logprob"], top[3]["logprob"] = -(10**400), float("nan"), float("-inf")
    (choice,) = reply_of(bytes_of(body)).choices
    assert choice.alternatives == (("yes", -0.5),)
