"""Ratings → long, wide and diagnosis tables; what the long one holds is read back."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.formats.ratings.ratings_writer import diagnosis_sheet, joined, long_sheet, wide_sheet
from evenhand.formats.tables.table_files import write_table
from evenhand.protocol.model import Protocol
from evenhand.records import Kind, RaterRef, Rating, Span, Status, Unit
from tests.formats.formats_protocols import GRADES, SENTENCES, SUPPORT, imported, item, item_units, sentence_units

ANN, BOB, BOT = RaterRef("ann", Kind.PERSON), RaterRef("bob", Kind.PERSON), RaterRef("bot", Kind.MODEL)
UNITS = item_units("s1", "s2")
AT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


def rating(protocol: Protocol, unit: str, criterion: str, rater: str, **rest: Any) -> Rating:
    options: dict[str, Any] = {"digest": protocol.digest, "at": AT, **rest}
    return Rating(unit=unit, criterion=criterion, rater=rater, **options)


def alike(ratings: Sequence[Rating]) -> list[Rating]:
    """Ratings without their ids, in one order."""
    bare = [replace(rating, id="") for rating in ratings]
    return sorted(bare, key=lambda rating: (rating.unit, rating.criterion, rating.rater))


def flat(units: Mapping[str, Sequence[Unit]]) -> list[Unit]:
    return [unit for some in units.values() for unit in some]


def test_long_rows() -> None:
    odds: dict[str, Any] = {"misquoted": ("nié",), "distribution": ((4, 0.75), (5, 0.25)), "mean": 4.25, "reply": "r1"}
    given = [
        rating(GRADES, "s1", "overall", "ann", value=4, rationale="=why", confidence=90.0, notes="n", **odds),
        rating(GRADES, "s1", "overall", "bot", status=Status.FAILED, reason="timed out", raw="{"),
    ]
    sheet = long_sheet(flat(UNITS), given, [ANN, BOT])
    assert [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows] == [
        {
            "item": "s1", "unit": 1, "criterion": "overall", "rater": "ann", "kind": "person", "status": "rated",
            "value": 4, "rationale": "=why", "confidence": 90, "notes": "n", "reason": None, "evidence": None,
            "misquoted": '["nié"]', "distribution": "[[4, 0.75], [5, 0.25]]", "mean": 4.25, "reply": "r1",
            "seconds": None, "visible": None, "raw": None, "at": "2026-01-31T09:30:00+00:00",
            "check": GRADES.digest[:12],
        },
        {
            "item": "s1", "unit": 1, "criterion": "overall", "rater": "bot", "kind": "model", "status": "failed",
            "value": None, "rationale": None, "confidence": None, "notes": None, "reason": "timed out",
            "evidence": None, "misquoted": None, "distribution": None, "mean": None, "reply": None,
            "seconds": None, "visible": None, "raw": "{", "at": "2026-01-31T09:30:00+00:00",
            "check": GRADES.digest[:12],
        },
    ]  # fmt: skip


def test_long_export_of_sentences_and_conditions_is_read_back(tmp_path: Path) -> None:
    units = sentence_units("s1", "One.", "Two.")
    given = [
        rating(SENTENCES, "s1#1", "accuracy", "ann", value="Can't say", evidence=(Span("response", 0, 4),)),
        rating(SENTENCES, "s1#1", "severity", "ann", status=Status.NOT_ASKED),
        rating(SENTENCES, "s1#1", "urgency", "ann", status=Status.NOT_ASKED),
        rating(
            SENTENCES, "s1#2", "accuracy", "ann", value="Inaccurate", visible=("bot", "a,b"), seconds=2.25,
            misquoted=("=1+1", ' "quoted"\n'), distribution=(("Inaccurate", 0.9), ("Can't say", 0.1)), reply="007",
        ),
        rating(SENTENCES, "s1#2", "severity", "ann", value="Severe"),
        rating(SENTENCES, "s1#2", "urgency", "ann", status=Status.CANNOT_ASSESS),
        rating(SENTENCES, "s1#2", "accuracy", "bot", status=Status.FAILED, reason="refused", raw="no\n"),
        rating(SENTENCES, "s1#2", "severity", "bot", status=Status.FAILED, reason="refused"),
    ]  # fmt: skip
    for name in ("a.csv", "a.xlsx", "a.jsonl", "a.parquet", "a.tsv"):
        write_table(tmp_path / name, long_sheet(flat(units), given, [ANN, BOT]))
        ratings, file = imported(tmp_path / name, SENTENCES, units)
        assert alike(ratings) == alike(given)
        assert list(file.raters) == [ANN, BOT]
        assert file.summary.not_asked == 0


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
texts = texts.filter(lambda text: bool(text.strip()) and "_x" not in text)


# XLSX keeps sixteen digits of a number.
numbers = st.floats(0, 100).map(lambda number: round(number, 6))


# Every digit of a probability is kept, also in XLSX: the cell is a text.
odds = st.floats(0, 1).map(lambda share: ((4, share), (2, 1 - share))) | st.just(())


@st.composite
def any_rating(draw: st.DrawFn, unit: str, criterion: str) -> Rating:
    value: int | str = draw(texts).strip() if criterion == "improvements" else draw(st.integers(1, 5))
    numeric = criterion != "improvements"
    return rating(
        GRADES,
        unit,
        criterion,
        draw(st.sampled_from(["ann", "-bob", "=bot"])),
        value=value,
        rationale=draw(st.none() | texts),
        notes=draw(st.none() | texts),
        confidence=draw(st.none() | numbers),
        misquoted=tuple(draw(st.lists(texts, max_size=2))),
        distribution=draw(odds) if numeric else (),
        mean=draw(st.none() | st.floats(1, 5).map(lambda mean: round(mean, 6)))
        if criterion != "improvements"
        else None,
        reply=draw(st.none() | st.uuids().map(lambda made: made.hex)),
        seconds=draw(st.none() | numbers),
        at=draw(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))),
    )


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".jsonl"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(data=st.data())
def test_what_is_exported_is_imported_the_same(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    units = item_units("=1", "'x", "中 文")
    given = [
        data.draw(any_rating(unit.id, criterion))
        for unit in flat(units)
        for criterion in data.draw(st.sets(st.sampled_from(["clarity", "overall", "improvements"])))
    ]
    if not given:
        return
    raters = [ANN, RaterRef("-bob", Kind.RULE), RaterRef("=bot", Kind.MODEL)]
    path = tmp_path / f"a{suffix}"
    write_table(path, long_sheet(flat(units), given, raters), overwrite=True)
    ratings, _ = imported(path, GRADES, units)
    assert alike(ratings) == alike(given)


def test_wide_rows() -> None:
    given = [
        rating(SUPPORT, "s1", "support", "ann", value="SUPPORTED"),
        rating(SUPPORT, "s1", "support", "bot", status=Status.FAILED, reason="timed out"),
        rating(SUPPORT, "s2", "support", "bot", value="NO EVIDENCE"),
    ]
    items = [item("s1", answer="a", domain="law"), item("s2", answer="b")]
    sheet = wide_sheet(SUPPORT, flat(UNITS), items, given, [ANN, BOT], {("support", "ann"), ("support", "bot")})
    assert sheet.columns == ["item", "unit", "domain", "support:ann", "support:bot"]
    assert [list(row) for row in sheet.rows] == [
        ["s1", 1, "law", "SUPPORTED", None],
        ["s2", 1, None, None, "NO EVIDENCE"],
    ]


def test_diagnosis_says_what_was_used_and_why_not() -> None:
    used = RaterRef("used", Kind.PERSON)
    given = [
        rating(SUPPORT, "s1", "support", "ann", value="SUPPORTED", digest="0123456789abcdef"),
        rating(SUPPORT, "s1", "support", "ann", value="NO EVIDENCE"),
        rating(SUPPORT, "s1", "support", "bob", value="SUPPORTED", digest="0123456789abcdef"),
        rating(SUPPORT, "s1", "support", "bot", status=Status.FAILED, reason="timed out"),
        rating(SUPPORT, "s2", "support", "ann", status=Status.CANNOT_ASSESS),
    ]
    sheet = diagnosis_sheet(SUPPORT, flat(UNITS), given, [ANN, BOB, BOT, used])
    assert sheet.columns == ["item", "unit", "criterion", "ann", "bob", "bot", "rater:used", "used", "why_not"]
    assert [list(row) for row in sheet.rows] == [
        [
            "s1", 1, "support", "NO EVIDENCE", None, None, None, "partly",
            "bob: rated SUPPORTED under an earlier protocol (01234567); bot: failed (timed out); used: not rated",
        ],
        [
            "s2", 1, "support", None, None, None, None, "no",
            "ann: cannot assess; bob: not rated; bot: not rated; used: not rated",
        ],
    ]  # fmt: skip


def test_diagnosis_of_what_was_used() -> None:
    given = [rating(SUPPORT, "s1", "support", "ann", value="SUPPORTED")]
    sheet = diagnosis_sheet(SUPPORT, flat(item_units("s1")), given, [ANN])
    assert [list(row) for row in sheet.rows] == [["s1", 1, "support", "SUPPORTED", "yes", None]]


def test_ratings_out_of_order_are_a_mistake_of_ours() -> None:
    given = [
        rating(SUPPORT, "s2", "support", "ann", value="SUPPORTED"),
        rating(SUPPORT, "s1", "support", "ann", value="SUPPORTED"),
    ]
    with pytest.raises(ValueError, match="'s1' are not in the order of the units"):
        list(joined(flat(UNITS), given))
