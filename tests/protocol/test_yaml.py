from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import Problem, ProtocolError
from evenhand.protocol.definitions import MOST_VALUES
from evenhand.protocol.load import PROTOCOLS


def values(text: str) -> object:
    tree, problems = PROTOCOLS.parse(text, "p.yaml")
    assert problems == []
    return tree.value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        # YAML 1.2, chapter 10.3: what the core schema takes for a truth value, null or number, and what it does not
        ("off", "off"),
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("0.85", 0.85),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("12:30", "12:30"),
        ("2024-01-31", "2024-01-31"),
        ("1_000", "1_000"),
        ("1.2.3", "1.2.3"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("!!int three", "three"),
        ("!!python/object:os.system x", "x"),
    ],
)
def test_scalars(written: str, value: object) -> None:
    read = values(f"key: {written}\n")
    assert read == {"key": value}
    assert type(cast("dict[str, object]", read)["key"]) is type(value)


def test_keys_may_be_words_that_older_yaml_takes_for_truth_values() -> None:
    assert values("no: 1\noff: 2\nn: 3\n1: one\n") == {"no": 1, "off": 2, "n": 3, 1: "one"}


def test_every_key_knows_its_line() -> None:
    source, _ = PROTOCOLS.parse("# comment\na:\n  - x\n  -\n    b: 1\n\nc: {d: 2}\n", "p.yaml")
    problem = source.problem
    assert problem("", ("a",)).line == 2
    assert problem("", ("a", 0)).line == 3
    assert problem("", ("a", 1, "b")).line == 5
    assert problem("", ("a",), 1, "b") == Problem("", line=5, key="a")
    assert problem("", ("c", "d")).line == 7
    assert problem("", ("c", "not there", "at all")) == Problem("", line=7, key="c")


def test_keys_given_twice_and_keys_that_are_none_are_all_reported() -> None:
    _, problems = PROTOCOLS.parse("a: 1\nb: 2\na: 3\ntrue: 4\n[x]: 5\n~: 6\n", "p.yaml")
    assert [str(problem) for problem in problems] == [
        "line 3: the key 'a' is given twice (first in line 1)",
        "line 4: true cannot be a key; a key is a text or a whole number",
        "line 5: a list or mapping cannot be a key; a key is a text or a whole number",
        "line 6: ~ cannot be a key; a key is a text or a whole number",
    ]


def test_aliases_are_written_out() -> None:
    assert values("a: &x [1, 2]\nb: *x\n") == {"a": [1, 2], "b": [1, 2]}


def test_an_alias_bomb_is_refused_before_it_goes_off() -> None:
    layers = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    layers += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(ProtocolError, match=f"more than {MOST_VALUES:,} values once its aliases are written out"):
        PROTOCOLS.parse("\n".join(layers), "bomb.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2", "p.yaml: line 1: not valid YAML"),
        ("a: 1\n b: 2\n", "p.yaml: line 2: not valid YAML"),
        ("a: *nowhere\n", "p.yaml: line 1: not valid YAML: found undefined alias 'nowhere'"),
        ("a: 1\n---\nb: 2\n", "p.yaml: line 2: not valid YAML"),
        ("", "p.yaml: the file is empty"),
        ("# only a comment\n", "p.yaml: the file is empty"),
        ("a: \x00\n", "p.yaml: not valid YAML"),
        ("a: &a [*a]\n", "nested too deeply, or an alias contains itself"),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_what_is_not_yaml(text: str, message: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        PROTOCOLS.parse(text, "p.yaml")
    assert message in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        tree, _ = PROTOCOLS.parse(text, "p.yaml")
    except ProtocolError:
        return
    assert tree.lines[()] >= 1
