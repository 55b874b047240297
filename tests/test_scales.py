import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from evenhand.records import UNANSWERABLE
from evenhand.scales import (
    CONTINUOUS,
    LONGEST_REFUSAL,
    Anchor,
    Label,
    Nominal,
    Ordinal,
    Percent,
    Text,
    check_mean,
    label_key,
    same_value,
)

QUALITY = Ordinal(
    type="ordinal",
    levels={
        5: Anchor(label="Excellent", anchor="a"),
        4: Anchor(label="Good", anchor="b"),
        3: Anchor(label="Fair/Adequate", anchor="c"),
        2: Anchor(label="Poor", anchor="d"),
        1: Anchor(label="Very Poor", anchor="e"),
    },
)
SUPPORT = Nominal(
    type="nominal",
    labels={
        "SUPPORTED": Label(definition="a"),
        "CONTRADICTED": Label(definition="b"),
        "NO EVIDENCE": Label(definition="c", aliases=("not enough information",)),
        "Can't assess": Label(definition="d"),
    },
)


@pytest.mark.parametrize(
    "raw",
    [
        4,
        4.0,
        "4",
        "4.0",
        " 4 ",
        "Good",
        "good",
        " GOOD ",
        "4 - Good",
        "4: good",
        "4 – Good",
        "4. Good",
        "4 (Good)",
        "Good (4)",
    ],
)
def test_spellings_of_a_level(raw: object) -> None:
    assert QUALITY.read(raw) == 4


@pytest.mark.parametrize("raw", ["1 - Very Poor", "very_poor", "Very-Poor (1)", "1"])
def test_a_level_whose_label_has_two_words(raw: str) -> None:
    assert QUALITY.read(raw) == 1


@pytest.mark.parametrize(
    "raw",
    [6, 0, -4, 3.5, "6", "3.5", "4 - Excellent", "Excellent (4)", "Goood", "", " ", "nan", "inf", "1e400", "4_0",
     math.nan, math.inf, True, False, None, [4], "four"],
)  # fmt: skip
def test_what_is_no_level(raw: object) -> None:
    with pytest.raises(ValueError, match="is not a whole number from 1 to 5"):
        QUALITY.read(raw)


def test_levels_with_a_gap_are_listed() -> None:
    scale = Ordinal(type="ordinal", levels={n: Anchor(label=f"L{n}", anchor="x") for n in (9, 1, 3)})
    assert scale.values == [1, 3, 9]
    with pytest.raises(ValueError, match=r"'2' is not one of 1, 3, 9"):
        scale.read(2)


@pytest.mark.parametrize(
    "levels",
    [
        {1: "same", 2: "Same "},
        {1: "2", 2: "1"},
        {1: "only one"},
    ],
)
def test_levels_that_could_not_be_told_apart(levels: dict[int, str]) -> None:
    with pytest.raises(ValidationError):
        Ordinal(type="ordinal", levels={n: Anchor(label=label, anchor="x") for n, label in levels.items()})


@pytest.mark.parametrize(
    "raw",
    [
        "NO EVIDENCE",
        "no evidence",
        "NO_EVIDENCE",
        "No Evidence ",
        "no-evidence",
        "\tNo\n evidence",
        "No\u00a0evidence",
        "Not enough information",
    ],
)
def test_spellings_of_a_label(raw: str) -> None:
    assert SUPPORT.read(raw) == "NO EVIDENCE"


def test_curly_and_straight_apostrophe_are_the_same() -> None:
    assert SUPPORT.read("can’t assess") == "Can't assess"


@pytest.mark.parametrize("raw", ["", "  ", "noevidence", "SUPPORT", None, True, math.nan, 1, ["SUPPORTED"]])
def test_what_is_no_label(raw: object) -> None:
    with pytest.raises(ValueError, match="is not one of SUPPORTED, CONTRADICTED, NO EVIDENCE, Can't assess"):
        SUPPORT.read(raw)


def test_a_label_that_is_a_number_is_found_in_a_spreadsheet_s_numeric_cell() -> None:
    scale = Nominal(type="nominal", labels={"0": Label(definition="a"), "1": Label(definition="b")})
    assert [scale.read(raw) for raw in (0, 1.0, "1")] == ["0", "1", "1"]
    with pytest.raises(ValueError, match="'True' is not one of 0, 1"):
        scale.read(True)


@pytest.mark.parametrize(
    "labels",
    [
        {"yes": Label(definition="a"), "YES ": Label(definition="b")},
        {"yes": Label(definition="a"), "no": Label(definition="b", aliases=("Yes",))},
        {" ": Label(definition="a"), "no": Label(definition="b")},
    ],
)
def test_labels_that_could_not_be_told_apart(labels: dict[str, Label]) -> None:
    with pytest.raises(ValidationError):
        Nominal(type="nominal", labels=labels)


def test_text_answers() -> None:
    scale = Text(type="text", unanswerable=True)
    assert scale.read("  two words ") == "two words"
    assert scale.read(1994) == "1994"
    assert scale.read(1994.0) == "1994"
    unanswerable = (
        "<Unanswerable>",
        "unanswerable",
        "<UNANSWERABLE>",
        "无法推断",
        "无法推断。",
        "【无法推断】",
        "(无法推断)！",
    )
    assert {scale.read(raw) for raw in unanswerable} == {UNANSWERABLE}
    assert scale.read("无法推断是谁") != UNANSWERABLE
    assert Text(type="text").read("unanswerable") == "unanswerable"


@pytest.mark.parametrize("raw", ["", "   ", None, math.nan, True, ["a"]])
def test_what_is_no_text(raw: object) -> None:
    with pytest.raises(ValueError, match="is not a text, or <Unanswerable>"):
        Text(type="text", unanswerable=True).read(raw)


@pytest.mark.parametrize(("raw", "value"), [("80%", 80.0), (" 80 % ", 80.0), (0, 0.0), ("100", 100.0), (99.5, 99.5)])
def test_percentages(raw: object, value: float) -> None:
    assert Percent(type="percent").read(raw) == value


@pytest.mark.parametrize("raw", ["101", -1, "", "%", "ninety", math.nan, True, None])
def test_what_is_no_percentage(raw: object) -> None:
    with pytest.raises(ValueError, match="is not a number from 0 to 100"):
        Percent(type="percent").read(raw)


def test_a_long_wrong_value_is_cut_in_the_message() -> None:
    with pytest.raises(ValueError, match="…") as caught:
        QUALITY.read("x" * 10_000)
    assert len(str(caught.value)) < 200


def test_levels_of_measurement() -> None:
    assert [scale.level for scale in (QUALITY, SUPPORT, Text(type="text"), Percent(type="percent"))] == [
        "ordinal",
        "nominal",
        "text",
        "interval",
    ]


def test_the_text_1_is_not_the_level_1() -> None:
    assert same_value(1, 1.0)
    assert not same_value(1, "1")
    assert same_value(None, None)


def test_a_minus_sign_is_no_hyphen() -> None:
    scale = Nominal(type="nominal", labels={name: Label(definition="x") for name in ("-1", "0", "1", "GPT-4")})
    assert [scale.read(raw) for raw in ("-1", "1", -1.0, "gpt 4", "GPT_4")] == ["-1", "1", "-1", "GPT-4", "GPT-4"]


@given(st.text())
@example("a --4 - -4")
def test_a_label_key_is_settled_after_one_pass(text: str) -> None:
    assert label_key(label_key(text)) == label_key(text)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.text(), max_size=2)))
def test_reading_gives_a_canonical_value_or_a_value_error(raw: object) -> None:
    """What a scale accepts it accepts again unchanged; all else is refused in one way, never by a crash."""
    for scale in (
        QUALITY,
        SUPPORT,
        Text(type="text"),
        Text(type="text", unanswerable=True),
        Percent(type="percent"),
        CONTINUOUS,
    ):
        try:
            value = scale.read(raw)
        except ValueError:
            continue
        assert scale.read(value) == value
        if scale.values:
            assert value in scale.values


_names = st.text(st.characters(categories=("L", "N", "P", "Zs")), min_size=1, max_size=12).filter(label_key)


@given(st.lists(_names, min_size=2, max_size=6, unique_by=label_key))
def test_every_label_reads_as_itself_in_any_case_and_padding(names: list[str]) -> None:
    scale = Nominal(type="nominal", labels={name: Label(definition="x") for name in names})
    for name in names:
        assert scale.read(name) == name
        assert scale.read(f"  {name}\t") == name
        assert scale.read(name.replace(" ", "_")) == name


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=7, unique=True))
def test_every_level_reads_in_each_of_its_spellings(numbers: list[int]) -> None:
    scale = Ordinal(type="ordinal", levels={n: Anchor(label=f"Level of {n} points", anchor="x") for n in numbers})
    assert list(scale.values) == sorted(numbers)
    for n in numbers:
        spellings: list[object] = [n, float(n), str(n), f"{n}.0", f"Level of {n} points", f"{n} - Level of {n} points"]
        assert [scale.read(raw) for raw in spellings] == [n] * len(spellings)


def test_a_continuous_scale_reads_numbers_from_0_to_1() -> None:
    assert [CONTINUOUS.read(raw) for raw in (0, 1, "0.25", " .5 ", 1.0)] == [0.0, 1.0, 0.25, 0.5, 1.0]
    for raw in (-0.01, 1.01, "50%", "one", True, None, float("nan"), "0,5"):
        with pytest.raises(ValueError, match="from 0 to 1"):
            CONTINUOUS.read(raw)
    check_mean(1.0, CONTINUOUS)
    with pytest.raises(ValueError, match="from 0 to 1"):
        check_mean(1.1, CONTINUOUS)


def test_a_refusal_does_not_list_thousands_of_labels():
    labels = {f"label {number}": Label(definition="d") for number in range(2_000)}
    levels = {number: Anchor(label=f"level {number}!", anchor="a") for number in range(2_000)}
    for scale in (Nominal(type="nominal", labels=labels), Ordinal(type="ordinal", levels=levels)):
        with pytest.raises(ValueError, match="is not") as caught:
            scale.read("absent")
        assert len(str(caught.value)) <= LONGEST_REFUSAL
