import json
import re
from collections.abc import Iterator
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.llm.json_repair import Cut, Mark, Unreadable, complete_objects, find_object, folded, repaired

KEYS = {"support", "notes"}
ANSWER = {"support": {"answer": "NO EVIDENCE"}, "notes": 'He said "no", {really}.'}
AS_JSON = json.dumps(ANSWER)
keys = st.text(max_size=4).map(folded)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**14), 10**14) | st.floats(-1e9, 1e9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=10,
)
bodies = st.dictionaries(keys, values, max_size=4)


def body(text: str) -> object:
    return find_object(text, KEYS).body


@pytest.mark.parametrize(
    "text",
    [
        AS_JSON,
        f"\ufeff  {AS_JSON}\n",
        f"```json\n{AS_JSON}\n```",
        f"~~~\n{AS_JSON}\n~~~",
        f"Here it is: {AS_JSON} I hope that helps {{smile}}.",
        f"<think>Is it {{SUPPORTED}}? Perhaps {json.dumps({'support': 'SUPPORTED'})}</think>\n{AS_JSON}",
        f"so it is SUPPORTED {{}} </think> {AS_JSON}",
        f'{{"draft": 1}} then {AS_JSON}',
        f"{AS_JSON}\n{json.dumps(ANSWER, indent=2)}",
        json.dumps([ANSWER]),
        AS_JSON.replace("}}", "},}").replace('E"}', 'E",}'),
        "{'support': {'answer': 'NO EVIDENCE'}, 'notes': 'He said \"no\", {really}.',}",
        repr(ANSWER),
        '{“support”: {“answer”: “NO EVIDENCE”}, “notes”: “He said "no", {really}.”}',
        '{"support": {"answer": “NO EVIDENCE”}, ‘notes’: "He said \\"no\\", {really}."}',
        "the set {1, 2} and :-{ and {x: 'y'} aside, " + AS_JSON,
    ],
)
def test_the_same_object_is_found_in_many_wrappings(text: str):
    assert body(text) == ANSWER


def test_the_place_is_told_where_nothing_was_repaired():
    assert find_object(f"Answer: {AS_JSON}", KEYS).start == 8
    assert find_object(repr(ANSWER), KEYS).start is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"notes": "two\nlines\tand a tab"}', "two\nlines\tand a tab"),
        ("{'notes': 'it isn't, he said', 'support': None}", "it isn't, he said"),
        ("{'notes': 'it\\'s'}", "it's"),
        ('{"notes": "a \\(x\\) and \\\'b\\\'",}', "a \\(x\\) and 'b'"),
        ('{"notes": True}', True),
        ('{"notes": "True, None and \'that\'",}', "True, None and 'that'"),
        ('{"notes": "</think> {"}', "</think> {"),
        ('{"notes": [1, 2, ], }', [1, 2]),
        ("{'notes': -1.5e3}", -1500.0),
        ('{"notes": NaN}', Mark.NOT_A_NUMBER),
        ("{'notes': -Infinity}", Mark.NOT_A_NUMBER),
        ('{"notes": 1, "notes": 1}', 1),
        ('{"notes": 1, "notes": true}', Mark.CLASH),
        ('{"notes": 4, "notes": 5, "notes": 4}', Mark.CLASH),
    ],
)
def test_a_value_is_read_as_it_was_meant_or_marked(text: str, expected: object):
    found = body(text)
    assert isinstance(found, dict)
    value = cast("dict[str, object]", found)["notes"]
    assert (type(value), value) == (type(expected), expected)


@pytest.mark.parametrize(
    "text",
    [
        "I cannot help with that.",
        "SUPPORTED",
        "{support: SUPPORTED}",
        '{"support": 04}',
        '{"support": +4}',
        '{"support": 4 5}',
        '{"support": "a" "b"}',
        '{"support" 4}',
        '{"support": (4)}',
        '{"support": four}',
        '{"support": "he said "no" to it"}',
        '{"support": 4 // a comment\n}',
        "{" * 5000 + "}" * 5000,
        "[]",
    ],
)
def test_what_cannot_be_read_is_not_read(text: str):
    with pytest.raises(Unreadable, match=r"not (a )?JSON"):
        body(text)


def test_two_different_answers_are_never_chosen_between():
    with pytest.raises(Unreadable, match="more than one"):
        find_object('{"support": "SUPPORTED"} or rather {"support": "NO EVIDENCE"}', KEYS)
    with pytest.raises(Unreadable, match="more than one"):
        find_object('{"support": 1} {"support": true}', KEYS)
    with pytest.raises(Unreadable, match="more than one"):
        find_object('{"support": 1}' + " {}" * 500 + '{"support": 2}', KEYS)


def test_a_text_full_of_braces_that_nothing_closes_is_given_up():
    assert body("{ a " * 20 + AS_JSON) == ANSWER
    with pytest.raises(Unreadable, match="not JSON"):
        body(AS_JSON + " { a" * 21)


@pytest.mark.parametrize("text", ["{", '{"', "{'support': 'SUPP", 'So: {"support": {"answer": "NO"}', "<think> {} hm"])
def test_an_object_without_an_end_is_cut(text: str):
    with pytest.raises(Cut):
        find_object(text, KEYS)


def test_an_object_is_cut_even_where_a_complete_one_stands_in_it():
    with pytest.raises(Cut):
        find_object('{"support": {"support": "SUPPORTED"}, "notes": "and', KEYS)


def test_of_a_cut_object_the_complete_objects_are_kept():
    text = 'x {"sentences": [{"a": "}", "b": {"c": 1}}, {"a": 2,}, {"a": {"b": 3}, "c": "{}'
    assert complete_objects(text, 2) == [{"a": "}", "b": {"c": 1}}, {"a": 2}, {"b": 3}]
    assert complete_objects('{"1": {"a": 1}, "2": {"a"', 0) == [{"a": 1}]
    assert complete_objects('{"a": "{\'b\': 1} and', 0) == []


def test_json_of_another_kind_is_told_apart_from_no_json():
    for text in ("[1, 2]", "```json\n4\n```", '<think>so</think> "SUPPORTED"'):
        with pytest.raises(Unreadable, match="not a JSON object"):
            body(text)
    for text, reason in (("SUPPORTED", "not JSON"), ("<think>so", "truncated"), (" \n", "empty reply")):
        with pytest.raises(Unreadable, match=reason):
            body(text)


@settings(deadline=None)
@given(bodies, st.sampled_from([None, 2]), st.booleans())
def test_valid_json_is_what_it_says_and_mending_it_changes_nothing(
    made: dict[str, object], indent: int | None, flat: bool
):
    text = json.dumps(made, indent=indent, ensure_ascii=flat)
    assert repr(find_object(text, set()).body) == repr(made)
    assert repr(json.loads(repaired(text))) == repr(made)


# Python escapes otherwise than JSON does, and a quotation mark in a text may look like its end.
plain = st.text(
    st.characters(codec="ascii", categories=("L", "N", "Z", "S", "Po"), exclude_characters="\"'\\"), max_size=6
)
scalars = st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-1e9, 1e9) | plain


@settings(deadline=None)
@given(
    st.dictionaries(
        plain.map(folded),
        scalars | st.lists(scalars, max_size=3) | st.dictionaries(plain.map(folded), scalars),
        max_size=4,
    )
)
def test_python_s_own_writing_of_an_object_reads_back(made: dict[str, object]):
    text = repr(made)
    assert repr(find_object(text, set()).body) == repr(made)


def leaves(value: object) -> Iterator[object]:
    """Every key and every value that holds no other."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from leaves(inner)
    else:
        yield value


@settings(deadline=None)
@given(bodies, st.data())
def test_the_beginning_of_an_object_is_never_an_object(made: dict[str, object], data: st.DataObject):
    text = json.dumps({"support": made})
    beginning = text[: data.draw(st.integers(1, len(text) - 1))]
    with pytest.raises(Cut):
        find_object(beginning, KEYS)


tokens = st.sampled_from([*"{}[]:,\"'“”‘’\\ \n", "true", "None", "NaN", "12", "3.5", "ab", "c d", '"k":', "'v'"])


@settings(deadline=None)
@given(st.lists(tokens, max_size=30).map("".join))
def test_nothing_is_read_that_is_not_written(text: str):
    try:
        read: object = json.loads(repaired(text), strict=False)
    except ValueError:
        return
    for leaf in leaves(read):
        if isinstance(leaf, bool) or leaf is None:
            assert {True: "true", False: "false", None: "None"}[leaf] in text or "null" in text
        elif isinstance(leaf, int | float) and leaf == leaf:
            assert re.search(rf"(?<![\d.]){re.escape(str(leaf))}(?![\d.])", text)
        elif isinstance(leaf, str):
            assert all(word in text for word in re.findall(r"\w+", leaf))


@settings(deadline=None)
@given(st.text(alphabet="{}[]\",:'\\an1 ", max_size=40))
def test_any_text_is_read_or_refused_in_one_of_the_known_ways(text: str):
    try:
        found = find_object(text, KEYS)
    except Unreadable:
        return
    assert isinstance(found.body, dict)
