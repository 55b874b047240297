"""The bundled sample studies fit the protocols they are samples of."""

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, cast

import pytest

from evenhand.protocol.completion import is_asked
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import FieldSpec, Protocol
from evenhand.records import UNANSWERABLE, FieldValue, Item, Kind, Status, Triple, Unit, Value
from evenhand.units import Claim, Derived, Question, split

SAMPLES = files("evenhand.samples")

ITEMS = {
    "ai-detection": 16,
    "feedback": 12,
    "halo-claims": 6,
    "halo-support": 24,
    "neureg-qa": 16,
    "rag-quest-eval": 6,
    "stem-accuracy": 4,
}
RATERS = {
    "ai-detection": {"ann", "ben", "auto"},
    "feedback": {"ann", "ben", "chloe", "auto"},
    "halo-claims": {"ann", "ben"},
    "halo-support": {"ann", "ben"},
    "neureg-qa": {"ann", "ben", "chloe", "auto"},
    "rag-quest-eval": {"ann", "ben", "auto"},
    "stem-accuracy": {"ann", "ben", "auto"},
}
LONG_COLUMNS = {
    *("rater", "item", "unit", "criterion", "value", "kind"),
    *("rationale", "confidence", "notes", "status"),
}

each_protocol = pytest.mark.parametrize("name", sorted(ITEMS))

Row = Mapping[str, str]


def text_of(path: str) -> str:
    return SAMPLES.joinpath(*path.split("/")).read_text(encoding="utf-8")


def table(path: str) -> Sequence[Row]:
    lines = text_of(path).splitlines(keepends=True)
    return list(csv.DictReader(lines, strict=True))


@cache
def protocol_of(name: str) -> Protocol:
    return load_protocol(name)


@cache
def raw_items(name: str) -> Sequence[Mapping[str, Any]]:
    if SAMPLES.joinpath(name, "items.jsonl").is_file():
        return [cast("dict[str, Any]", json.loads(line)) for line in text_of(f"{name}/items.jsonl").splitlines()]
    return table(f"{name}/items.csv")


@cache
def ratings(name: str) -> Sequence[Row]:
    return table(f"{name}/ratings.csv")


def field_value(spec: FieldSpec, raw: Any) -> FieldValue:
    if spec.kind == "passages":
        assert spec.delimiter is not None
        return tuple(str(raw).split(spec.delimiter))
    if spec.kind == "triples":
        return tuple(Triple(*triple) for triple in raw)
    assert isinstance(raw, str)
    return raw


@cache
def items(name: str) -> Mapping[str, Item]:
    specs = protocol_of(name).item.fields
    return {
        row["id"]: Item(row["id"], {k: field_value(specs[k], raw) for k, raw in row.items() if raw and k != "id"})
        for row in raw_items(name)
    }


@cache
def questions(name: str) -> Mapping[str, Sequence[Question]]:
    if not SAMPLES.joinpath(name, "questions.json").is_file():
        return {}
    by_item = cast("dict[str, dict[str, list[str]]]", json.loads(text_of(f"{name}/questions.json")))
    assert all(set(lists) == {"key_info", "question", "answers"} for lists in by_item.values())
    return {
        item: [
            Question(text, answer, key)
            for text, answer, key in zip(lists["question"], lists["answers"], lists["key_info"], strict=True)
        ]
        for item, lists in by_item.items()
    }


@cache
def claims(name: str) -> Mapping[str, Sequence[Claim]]:
    if not SAMPLES.joinpath(name, "claims.json").is_file():
        return {}
    by_item = cast("dict[str, dict[str, list[str]]]", json.loads(text_of(f"{name}/claims.json")))
    return {item: [Claim(one, field) for field in given for one in given[field]] for item, given in by_item.items()}


@cache
def units(name: str) -> Mapping[tuple[str, int], Unit]:
    """The units of a sample by item and position."""
    derived: Derived = {**questions(name), **claims(name)}
    found = (unit for item in items(name).values() for unit in split(protocol_of(name), item, derived))
    return {(unit.item, unit.position): unit for unit in found}


def place(row: Row) -> tuple[str, int]:
    return row["item"], int(row.get("unit") or 1)


def status(row: Row) -> Status:
    return Status(row.get("status") or "rated")


def test_every_built_in_protocol_has_a_sample() -> None:
    folders = {entry.name for entry in SAMPLES.iterdir() if entry.is_dir() and entry.name != "__pycache__"}
    assert folders == set(ITEMS)


def test_the_samples_are_small() -> None:
    sizes = [
        len(file.read_bytes())
        for folder in SAMPLES.iterdir()
        if folder.is_dir() and folder.name != "__pycache__"
        for file in folder.iterdir()
    ]
    assert sum(sizes) < 300_000


def test_the_readme_says_that_all_is_invented() -> None:
    assert "invented for\ndemonstration" in text_of("README.md")


@each_protocol
class TestItems:
    def test_there_are_as_many_as_said_each_with_its_own_id(self, name: str) -> None:
        assert len(raw_items(name)) == len(items(name)) == ITEMS[name]

    def test_each_has_the_required_fields_and_no_unknown_one(self, name: str) -> None:
        specs = protocol_of(name).item.fields
        for item in items(name).values():
            assert {field for field, spec in specs.items() if spec.required} <= set(item.fields) <= set(specs), item.id

    def test_no_field_is_empty_or_has_white_space_around_it(self, name: str) -> None:
        for item in items(name).values():
            for value in item.fields.values():
                assert value
                parts = [value] if isinstance(value, str) else cast("Sequence[object]", value)
                flat = [
                    text for part in parts for text in ([part] if isinstance(part, str) else list(cast(Triple, part)))
                ]
                assert all(text and text == text.strip() for text in flat), item.id

    def test_label_fields_hold_labels_of_the_protocol(self, name: str) -> None:
        for field, spec in protocol_of(name).item.fields.items():
            if spec.labels is not None:
                assert {item.fields[field] for item in items(name).values()} == set(spec.labels)

    def test_each_has_units(self, name: str) -> None:
        assert {item for item, _ in units(name)} == set(items(name))


@each_protocol
class TestRatings:
    def test_columns_are_those_of_the_long_shape(self, name: str) -> None:
        columns = set(ratings(name)[0])
        assert {"rater", "item", "criterion", "value"} <= columns <= LONG_COLUMNS

    def test_raters_are_people_but_for_auto(self, name: str) -> None:
        assert {row["rater"] for row in ratings(name)} == RATERS[name]
        for row in ratings(name):
            assert Kind(row["kind"]) is (Kind.MODEL if row["rater"] == "auto" else Kind.PERSON)

    def test_item_unit_and_criterion_exist(self, name: str) -> None:
        criteria = {criterion.id for criterion in protocol_of(name).criteria}
        for row in ratings(name):
            assert place(row) in units(name), row
            assert row["criterion"] in criteria, row

    def test_nothing_is_rated_twice(self, name: str) -> None:
        seen = Counter((row["rater"], *place(row), row["criterion"]) for row in ratings(name))
        assert max(seen.values()) == 1

    def test_every_value_is_read_as_itself(self, name: str) -> None:
        for row in ratings(name):
            if status(row) is Status.RATED:
                assert str(protocol_of(name).criterion(row["criterion"]).scale.read(row["value"])) == row["value"]
            else:
                assert row["value"] == ""

    def test_conditions_are_obeyed_and_nothing_required_is_missing(self, name: str) -> None:
        protocol = protocol_of(name)
        for rater in RATERS[name]:
            for where, unit in units(name).items():
                rows = {row["criterion"]: row for row in ratings(name) if row["rater"] == rater and place(row) == where}
                values: dict[str, Value] = {
                    key: protocol.criterion(key).scale.read(row["value"])
                    for key, row in rows.items()
                    if status(row) is Status.RATED
                }
                for criterion in protocol.criteria:
                    if not is_asked(criterion, values, unit.field):
                        assert criterion.id not in rows, (rater, where)
                    elif criterion.required:
                        assert criterion.id in rows, (rater, where)

    def test_only_what_the_protocol_asks_is_given_and_all_that_it_requires(self, name: str) -> None:
        protocol = protocol_of(name)
        for row in ratings(name):
            criterion = protocol.criterion(row["criterion"])
            leads = criterion is protocol.lead
            rated = status(row) is Status.RATED
            for key, asked, here in (
                ("rationale", protocol.ask.rationale, criterion.required),
                ("confidence", protocol.ask.confidence, leads),
                ("notes", protocol.ask.notes, leads),
            ):
                assert not row.get(key) or (asked != "off" and here), row
                assert row.get(key) or not (asked == "required" and here and rated), row

    def test_confidence_is_a_percentage(self, name: str) -> None:
        given = [float(row["confidence"]) for row in ratings(name) if row.get("confidence")]
        assert all(0 <= value <= 100 for value in given)

    def test_the_first_two_people_agree_mostly_and_not_always(self, name: str) -> None:
        """Else there would be nothing to show."""
        values = {
            (row["rater"], *place(row), row["criterion"]): row["value"]
            for row in ratings(name)
            if status(row) is Status.RATED and protocol_of(name).criterion(row["criterion"]).required
        }
        other = {key[1:]: value for key, value in values.items() if key[0] == "ben"}
        same = [value == other[key[1:]] for key, value in values.items() if key[0] == "ann" and key[1:] in other]
        assert 0.5 < sum(same) / len(same) < 1


@each_protocol
def test_each_sample_has_a_rating_that_was_not_given(name: str) -> None:
    assert {status(row) for row in ratings(name)} & {Status.SKIPPED, Status.CANNOT_ASSESS}


class TestHaloSupport:
    def test_labels_are_spread_as_said(self) -> None:
        given = Counter(row["value"] for row in ratings("halo-support") if row["rater"] == "ann")
        assert given == {"SUPPORTED": 10, "CONTRADICTED": 7, "NO EVIDENCE": 7}

    def test_ben_says_why_he_disagrees(self) -> None:
        by = {(row["rater"], row["item"]): row for row in ratings("halo-support")}
        apart = [
            by["ben", item]
            for item in items("halo-support")
            if by["ben", item]["value"] not in ("", by["ann", item]["value"])
        ]
        assert 3 <= len(apart) <= 4
        assert all(row["notes"] for row in apart)

    def test_some_contexts_have_two_passages(self) -> None:
        counts = Counter(
            len(cast("tuple[str, ...]", item.fields["context"])) for item in items("halo-support").values()
        )
        assert counts[2] >= 3
        assert set(counts) == {1, 2}


def test_neureg_qa_has_four_of_each_question_type_and_every_shot_type_among_them() -> None:
    cells = Counter((row["question_type"], row["shot_type"]) for row in raw_items("neureg-qa"))
    types = {question_type for question_type, _ in cells}
    assert len(cells) == len(types) * 3
    assert all(sum(n for (each, _), n in cells.items() if each == wanted) == 4 for wanted in types)


def test_feedback_covers_four_domains() -> None:
    assert Counter(row["domain"] for row in raw_items("feedback")) == {
        "Computer Science": 3,
        "Engineering": 3,
        "History": 3,
        "Psychology": 3,
    }


def test_stem_articles_and_responses_have_the_length_said() -> None:
    for row in raw_items("stem-accuracy"):
        assert 400 <= len(row["article"].split()) <= 700
        assert 4 <= sum(item == row["id"] for item, _ in units("stem-accuracy")) <= 7


def test_stem_sentences_are_split_where_they_were_rated() -> None:
    """Positions of ratings only mean something as long as sentences are split in one way."""
    counts = Counter(item for item, _ in units("stem-accuracy"))
    assert counts == {"stem-01": 6, "stem-02": 5, "stem-03": 7, "stem-04": 4}
    no_claim = {
        units("stem-accuracy")[place(row)].text for row in ratings("stem-accuracy") if row["value"].startswith("Can't")
    }
    assert no_claim == {"I hope this helps!"}


class TestRagQuestEval:
    def test_questions_belong_to_items_and_one_has_no_answer_in_its_reference(self) -> None:
        asked = questions("rag-quest-eval")
        assert set(asked) == set(items("rag-quest-eval"))
        answers = [question.answer for each in asked.values() for question in each]
        assert answers.count(UNANSWERABLE) == 1

    def test_reference_answers_stand_in_the_reference(self) -> None:
        for item, asked in questions("rag-quest-eval").items():
            reference = str(items("rag-quest-eval")[item].fields["reference"]).casefold()
            for question in asked:
                assert question.answer == UNANSWERABLE or str(question.answer).casefold() in reference

    def test_one_item_is_the_worked_example_of_the_measures(self) -> None:
        """Three questions: F1 of one half, F1 of one, unanswerable."""
        asked = questions("rag-quest-eval")["town-hall"]
        given = [
            row["value"] for row in ratings("rag-quest-eval") if (row["rater"], row["item"]) == ("ann", "town-hall")
        ]
        overlap = [
            len(set(answer.split()) & set(str(question.answer).split())) / len(answer.split())
            for question, answer in zip(asked, given, strict=True)
            if answer != UNANSWERABLE
        ]
        assert overlap == [0.5, 1.0]
        assert given[2] == UNANSWERABLE
