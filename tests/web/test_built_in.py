"""The built-in protocols rated whole at the page, on both kinds of database."""

import csv
import json
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from evenhand.assignment import Plan
from evenhand.formats.items import read_items
from evenhand.protocol.load import load_protocol
from evenhand.records import Rating, Status, new_id
from evenhand.study import Study
from tests.sample_units import units_of_sample
from tests.web.hands import Hand, Json, at_page, halo, one_item, ratings_by, text_of

SAMPLES = files("evenhand.samples")


def sample_study(name: str, location: str) -> Study:
    folder = SAMPLES / name
    items = "items.jsonl" if folder.joinpath("items.jsonl").is_file() else "items.csv"
    with as_file(folder / items) as path:
        return Study.create(location, name, read_items(path, load_protocol(name)), **units_of_sample(name))


def sample_answers(name: str) -> Mapping[tuple[str, int, str], Mapping[str, str]]:
    """Ann's rows of a sample's rating file, by item, position and criterion."""
    with as_file(SAMPLES / name / "ratings.csv") as path, path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["rater"] == "ann"]
    return {(row["item"], int(row.get("unit") or 1), row["criterion"]): row for row in rows}


def body_of(form: Json, criterion: str, row: Mapping[str, str], unit_row: Mapping[str, str]) -> Mapping[str, Any]:
    """A row as the page would send it: confidence and notes with the lead, levels as numbers."""
    scale = next(one for one in form["criteria"] if one["id"] == criterion)["scale"]["type"]
    body: dict[str, Any] = {"value": int(row["value"]) if scale == "ordinal" else row["value"]}
    if row.get("rationale"):
        body["rationale"] = row["rationale"]
    if criterion == form["lead"]:
        body |= {"confidence": float(unit_row["confidence"])} if unit_row.get("confidence") else {}
        body |= {"notes": unit_row["notes"]} if unit_row.get("notes") else {}
    return body


def rate_whole(hand: Hand, study: Study, answers: Mapping[tuple[str, int, str], Mapping[str, str]]) -> None:
    while (found := hand.next())["state"] == "task":
        number = found["task"]["number"]
        task = study.store.people.tasks.find("ann", number)
        assert task is not None
        assert task.item is not None
        for unit in found["task"]["units"]:
            position = unit["position"]
            for criterion in hand.form["criteria"]:
                row = answers.get((task.item, position, criterion["id"]))
                if row is not None and row.get("status", "rated") == "rated":
                    sent = hand.put(number, position, criterion["id"], body_of(hand.form, criterion["id"], row, row))
                    assert sent.status_code == 200, sent.text
            hand.finished(number, position)


def content(ratings: Sequence[Rating]) -> list[tuple[object, ...]]:
    return [
        (one.unit, one.criterion, one.status, one.value, one.rationale, one.confidence, one.notes) for one in ratings
    ]


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir() if (path / "ratings.csv").is_file()))
def test_every_built_in_protocol_can_be_rated_whole(name: str, tmp_path: Path) -> None:
    """What Ann's rating file brings in is what she leaves when she gives the same answers at the page."""
    with sample_study(name, str(tmp_path / "imported.db")) as imported:
        with as_file(SAMPLES / name / "ratings.csv") as path:
            imported.import_ratings(path)
        expected = content(ratings_by(imported, "ann"))
    with sample_study(name, str(tmp_path / "rated.db")) as study:
        study.store.people.tasks.set_plan(Plan(training="off"))
        with at_page(study) as rater:
            rate_whole(rater("ann"), study, sample_answers(name))
        given = content(ratings_by(study, "ann"))
    # A file has no row for an optional answer that was left out; the page says so.
    assert [row for row in given if row[2] is not Status.SKIPPED] == expected


def test_neither_the_reference_nor_what_was_made_of_it_reaches_a_rater(tmp_path: Path) -> None:
    with sample_study("rag-quest-eval", str(tmp_path / "s.db")) as study:
        study.store.people.tasks.set_plan(Plan(training="off"))
        with at_page(study) as rater:
            ann = rater("ann")
            for number in range(1, study.store.items.count() + 1):
                sent = ann.client.post("/api/tasks/next", json={}).text
                task = study.store.people.tasks.find("ann", number)
                assert task is not None
                assert task.item is not None
                item = study.item(task.item)
                assert item is not None
                assert str(item.fields["reference"])[:40] not in sent
                shown = str(item.fields["generated"])
                for unit in study.store.items.units_of([item.id])[item.id]:
                    assert unit.answer is not None
                    assert json.dumps(unit.text, ensure_ascii=False) in sent
                    assert f'"{unit.answer}"' not in sent
                    assert unit.answer in shown or unit.answer not in sent
                assert ann.skip(number).status_code == 200


@pytest.mark.postgres
def test_the_page_works_on_postgresql(postgres_location: str) -> None:
    with Study.create(postgres_location, halo(), [one_item(question="n\0ul \ud800")]) as study:
        study.store.people.tasks.set_plan(Plan(training="off"))
        with at_page(study, postgres_location) as rater:
            ann = rater("ann")
            assert text_of(ann.take(), "question") == "n\0ul \ud800"
            body = {"id": new_id(), "value": "SUPPORTED", "notes": "n\0ul 👩‍🔬"}
            assert ann.put(1, 1, "support", body).json()["rating"]["notes"] == "n\0ul 👩‍🔬"
            assert ann.put(1, 1, "support", body).status_code == 200
            assert ann.put(1, 1, "support", {"value": "CONTRADICTED"}).status_code == 409
            assert ann.put(1, 1, "support", {"value": "SUPPORTED", "notes": "\udfff"}, body["id"]).status_code == 422
            assert ann.finished(1)["task"]["state"] == "done"
            assert ann.next()["state"] == "done"
        assert [rating.notes for rating in ratings_by(study, "ann")] == ["n\0ul 👩‍🔬"]
