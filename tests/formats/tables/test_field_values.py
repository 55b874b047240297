"""Cells → values of fields."""

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.formats.items import cell_reader
from evenhand.formats.tables.cells import made_safe, taken_back, text_of
from evenhand.protocol.model import FieldSpec
from evenhand.records import FieldValue, Triple


def read(cell: object, **spec: Any) -> FieldValue | None:
    return cell_reader(FieldSpec.model_validate({"role": "context", **spec}))(cell)


def refusal(cell: object, **spec: Any) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        read(cell, **spec)
    return str(caught.value)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("  kept  ", "  kept  "),
        ("", None),
        (" \n", None),
        (None, None),
        (float("nan"), None),
        (4.0, "4"),
        (0.5, "0.5"),
        (7, "7"),
        (True, "true"),
        (Decimal("1.50"), "1.50"),
        (date(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31, 9, 30), "2026-01-31 09:30:00"),
    ],
)
def test_text(cell: object, text: str | None) -> None:
    assert read(cell) == text


@pytest.mark.parametrize(("cell", "kind"), [(["a"], "a list"), ({"a": 1}, "an object"), (b"a", "binary data")])
def test_what_is_no_text(cell: object, kind: str) -> None:
    assert refusal(cell) == f"{kind} is not a single text"


def test_labels_are_spelt_as_the_protocol_has_them() -> None:
    labels = {"zero-shot": {"definition": "d", "aliases": ["0"]}, "Few Shot": {"definition": "d"}}
    for cell in ("zero-shot", "Zero_Shot ", "0", 0, 0.0):
        assert read(cell, kind="label", labels=labels) == "zero-shot"
    assert read(" ", kind="label", labels=labels) is None
    assert refusal("one", kind="label", labels=labels) == "'one' is not one of zero-shot, Few Shot"
    assert read("  any label ", kind="label") == "any label"


def test_numbers() -> None:
    for cell in (3, 3.0, "3", " 3.0 "):
        assert read(cell, kind="number") == 3.0
    assert read("", kind="number") is None
    for cell in ("three", "1_000", "1,5", "inf", True):
        assert "is not a number such as 3 or 0.5" in refusal(cell, kind="number")


@pytest.mark.parametrize(
    ("cell", "passages"),
    [
        (["a", " ", "b"], ("a", "b")),
        ('["a", "b"]', ("a", "b")),
        ("['a', 'it''s']", None),
        ("['a', \"it's\"]", ("a", "it's")),
        ([{"text": "a", "title": "T"}, {"Text": "b"}], ("T\na", "b")),
        ('[{"text": "a"}]', ("a",)),
        ("[12] A citation, not a list", ("[12] A citation, not a list",)),
        ("[1, 2]", ("[1, 2]",)),
        ("one passage", ("one passage",)),
        ("[]", None),
        ([], None),
        (" ", None),
    ],
)
def test_passages(cell: object, passages: tuple[str, ...] | None) -> None:
    if cell == "['a', 'it''s']":
        assert "printed NumPy array" in refusal(cell, kind="passages")
    else:
        assert read(cell, kind="passages") == passages


@pytest.mark.parametrize("cell", ['["a', ' [ "a", "b" ] and more', '[{"text": "a"', '["a\nb"]'])
@pytest.mark.parametrize("kind", ["passages", "ids"])
def test_a_broken_list(cell: str, kind: str) -> None:
    message = refusal(cell, kind=kind)
    assert 'is not a readable list; a list is written as JSON: ["…", "…"]' in message


def test_passages_at_a_delimiter() -> None:
    assert read("a ||| b|||", kind="passages", delimiter="|||") == ("a", "b")
    assert read('["a ||| b"]', kind="passages", delimiter="|||") == ("a ||| b",)


def test_a_printed_array_is_not_taken_for_a_list() -> None:
    assert "write the list as JSON" in refusal("['a' 'b']", kind="passages")


def test_a_passage_without_text() -> None:
    assert 'has no "text"' in refusal([{"body": "a"}], kind="passages")


PARIS = Triple("Paris", "capital of", "France")
ROME = Triple("Rome", "capital of", "Italy")


@pytest.mark.parametrize(
    "cell",
    [
        "Paris → capital of → France\nRome → capital of → Italy",
        "Paris -> capital of -> France\n\n- Rome --> capital of --> Italy\n",
        "1. Paris => capital of => France\n2) Rome => capital of => Italy",
        "Paris → capital of → France; Rome → capital of → Italy;",
        "Paris | capital of | France\nRome | capital of | Italy",
        "Paris\tcapital of\tFrance\nRome\tcapital of\tItaly",
        "(Paris, capital of, France)\n(Rome, capital of, Italy)",
        "(Paris, capital of, France), (Rome, capital of, Italy)",
        "(Paris → capital of → France); (Rome → capital of → Italy)",
        "[('Paris', 'capital of', 'France'), ('Rome', 'capital of', 'Italy')]",
        "('Paris', 'capital of', 'France'), ('Rome', 'capital of', 'Italy')",
        '[["Paris", "capital of", "France"], ["Rome", "capital of", "Italy"]]',
        '[{"Subject": "Paris", "predicate": "capital of", "object": "France"},'
        ' {"s": "Rome", "p": "capital of", "o": "Italy"}]',
        [{"head": "Paris", "relation": "capital of", "tail": "France"}, ("Rome", "capital of", "Italy")],
        ["Paris → capital of → France", "Rome → capital of → Italy"],
    ],
)
def test_triples(cell: object) -> None:
    assert read(cell, kind="triples") == (PARIS, ROME)


@pytest.mark.parametrize(
    "cell",
    [
        ["Paris", "capital of", "France"],
        '["Paris", "capital of", "France"]',
        "('Paris', 'capital of', 'France')",
        {"subject": "Paris", "predicate": "capital of", "object": "France"},
    ],
)
def test_a_single_triple(cell: object) -> None:
    assert read(cell, kind="triples") == (PARIS,)


def test_a_semicolon_within_a_name_stays() -> None:
    assert read("A; B → knows → C", kind="triples") == (Triple("A; B", "knows", "C"),)


def test_numbers_in_triples() -> None:
    assert read([["Paris", "population", 2.0]], kind="triples") == (Triple("Paris", "population", "2"),)


@pytest.mark.parametrize("cell", ["", None, "[]", [], "\n \n"])
def test_no_triples(cell: object) -> None:
    assert read(cell, kind="triples") is None


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("Paris → France", "the triple 'Paris → France' has 2 parts, not three"),
        ("A → b → C\nParis → capital of → France → Europe", "'Paris → capital of → France → Europe' has 4 parts"),
        ("A → b; C → d", "the triple 'A → b' has 2 parts"),
        ("(Paris, capital of, Île-de-France, France)", "has 4 parts, not three"),
        ("Paris →  → France", "has an empty part"),
        ("Paris is the capital", "'Paris is the capital' is not a triple; write it as Subject → Predicate → Object"),
        ('[["Paris", "France"]]', "has 2 parts, not three"),
        (["Paris", "France"], "has 2 parts, not three"),
        ([{"subject": "Paris", "object": "France"}], "has no predicate"),
        ([["Paris", ["x"], "France"]], "a list is not a single text"),
    ],
)
def test_bad_triples_are_named(cell: object, expected: str) -> None:
    assert expected in refusal(cell, kind="triples")


names = st.text(st.characters(categories=["L", "N"], include_characters=" "), min_size=1).map(str.strip).filter(bool)


@given(st.lists(st.tuples(names, names, names), min_size=1))
def test_triples_come_back_from_arrows_and_from_json(triples: list[tuple[str, str, str]]) -> None:
    expected = tuple(Triple(*triple) for triple in triples)
    assert read("\n".join(" → ".join(triple) for triple in triples), kind="triples") == expected
    assert read(json.dumps(triples), kind="triples") == expected


@given(st.text())
def test_text_is_kept_as_it_is(text: str) -> None:
    assert text_of(text) == (text if text.strip() else None)


@given(st.from_regex(r"\A'*[=+\-@\t\r]?.*\Z") | st.text())
def test_made_safe_is_undone_exactly_and_begins_like_no_formula(text: str) -> None:
    safe = made_safe(text)
    assert taken_back(safe) == text
    assert safe[:1] not in tuple("=+-@\t\r")


@pytest.mark.parametrize(
    ("text", "safe"), [("=1+1", "'=1+1"), ("'=1+1", "''=1+1"), ("-", "'-"), ("a=b", "a=b"), ("'quoted'", "'quoted'")]
)
def test_made_safe(text: str, safe: str) -> None:
    assert made_safe(text) == safe
