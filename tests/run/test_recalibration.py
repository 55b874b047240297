"""A calibrated variant of a rater in a study: what is stored, and what is refused with nothing changed."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand import CalibrationResult, Rating, Status, Study, UserError
from evenhand.protocol.load import load_protocol
from evenhand.statistics.models.recalibration import apply
from tests.cli.calling import Caller

Row = Mapping[str, Any]

LABELS = list(load_protocol("halo-support").criterion("support").scale.values)
ITEMS = 220
LABELLED = 160
UNRATED = ITEMS - 3
"""The model rates the items from here on later."""


def rows(bias: float, seed: int = 0) -> tuple[Sequence[Row], Sequence[Row]]:
    """People's labels of the first items, and ratings of all by a model that prefers the first label by `bias`."""
    generator = np.random.default_rng(seed)
    truth: list[int] = generator.integers(0, 3, ITEMS).tolist()
    logits = 1.5 * (generator.normal(size=(ITEMS, 3)) + 1.5 * np.eye(3)[truth]) + np.array((bias, 0, 0))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    common = [{"item": f"i{number}", "criterion": "support"} for number in range(ITEMS)]
    people = [
        {**common[number], "rater": rater, "kind": "person", "value": LABELS[truth[number]]}
        for number in range(LABELLED)
        for rater in ("ann", "bob")
    ]
    model = [
        {
            **common[number],
            "rater": "model",
            "kind": "model",
            "value": LABELS[int(shares[number].argmax())],
            "rationale": f"because {number}",
            "distribution": json.dumps(list(zip(LABELS, shares[number].tolist(), strict=True))),
        }
        for number in range(ITEMS)
    ]
    return people, model


def study_of(location: str | Path, *tables: Sequence[Row], protocol: str = "halo-support", **fields: str) -> Study:
    text = {"question": "What?", "context": "A text.", "generated_answer": "An answer.", **fields}
    study = Study.create(location, protocol, [{"id": f"i{number}", **text} for number in range(ITEMS)])
    for table in tables:
        study.import_ratings(list(table))
    return study


@pytest.fixture
def study() -> Study:
    people, model = rows(bias=2)
    failed = {**model[0], "value": None, "distribution": None, "status": "failed", "reason": "no reply"}
    certain = {**model[ITEMS - 4], "distribution": None}
    return study_of(":memory:", people, [failed, *model[1 : ITEMS - 4], certain])


def by_unit(study: Study, rater: str) -> dict[str, Rating]:
    return {rating.unit: rating for rating in study.ratings(rater=rater)}


def contents(study: Study) -> tuple[object, ...]:
    return study.raters(), study.store.ratings.revision(), [run.id for run in study.store.work.runs()]


def test_a_better_variant_is_stored_beside_its_source(study: Study):
    source = by_unit(study, "model")
    result = study.calibrate("model")
    assert (result.name, result.found.better) == ("model-calibrated", ["kappa", "log_loss"])
    assert by_unit(study, "model") == source
    variant = by_unit(study, "model-calibrated")
    assert variant.keys() == source.keys()
    assert (variant["i0"].status, variant["i0"].reason) == (Status.FAILED, "no reply")
    uncertain = f"i{ITEMS - 4}"
    assert (variant[uncertain].value, variant[uncertain].distribution) == (source[uncertain].value, ())
    changed = [unit for unit in source if variant[unit].value != source[unit].value]
    assert len(changed) > 10
    assert sum(source[unit].value == LABELS[0] for unit in changed) > 0.8 * len(changed)
    for unit, rating in variant.items():
        if rating.distribution:
            shares = dict(rating.distribution)
            assert rating.value == max(shares, key=shares.__getitem__)
            assert rating.confidence == round(100 * max(shares.values()), 1)
            was = f"Recalibrated from {source[unit].value}. " if unit in changed else ""
            assert rating.rationale == f"{was}{source[unit].rationale}"


def test_units_with_a_label_are_rated_by_parameters_fitted_without_them(study: Study):
    found = study.calibrate("model").found
    source, variant = by_unit(study, "model"), by_unit(study, "model-calibrated")
    units = [unit for unit, rating in source.items() if rating.distribution]
    stated = np.array([[share for _, share in source[unit].distribution] for unit in units])
    fitted_on_all = apply(np.array([1 / found.temperature, *found.offsets]), stated)
    stored = np.array([[share for _, share in variant[unit].distribution] for unit in units])
    labelled = np.array([int(unit.removeprefix("i")) < LABELLED for unit in units])
    assert np.array_equal(labelled, found.fold >= 0)
    assert (np.abs(stored - fitted_on_all)[labelled].max(axis=1) > 1e-6).all()
    assert stored[~labelled] == pytest.approx(fitted_on_all[~labelled])


def test_the_run_records_where_the_variant_comes_from(study: Study):
    result = study.calibrate("model", name="tuned")
    (run,) = study.store.work.runs()
    (model, tuned) = (next(ref for ref in study.raters() if ref.id == name) for name in ("model", "tuned"))
    assert (run.rater, run.state, run.counts["units"]) == ("tuned", "done", len(by_unit(study, "model")))
    settings = run.settings
    assert (settings["spec"], settings["source"], settings["source_config"]) == (
        "calibrated(model)",
        "model",
        model.config,
    )
    assert (settings["labels"], settings["labels_by"]) == (LABELLED - 1, "people's majority")
    assert settings["temperature"] == result.found.temperature
    assert settings["offsets"] == dict(zip(LABELS, result.found.offsets, strict=True))
    assert tuned.config not in ("", model.config)


def test_calibrating_again_adds_what_was_rated_since_and_nothing_else(store_location: str):
    people, model = rows(bias=2)
    study = study_of(store_location, people, model[:UNRATED])
    study.calibrate("model")
    before = contents(study)
    again = study.calibrate("model")
    assert again.added is not None
    assert (again.added.new, again.added.superseding) == (0, 0)
    assert contents(study) == before
    study.import_ratings(list(model[UNRATED:]))
    more = study.calibrate("model")
    assert more.added is not None
    assert (more.added.new, more.added.superseding) == (ITEMS - UNRATED, 0)
    study.close()


def test_other_labels_need_another_name(study: Study):
    study.calibrate("model")
    study.import_ratings([{"item": f"i{LABELLED}", "criterion": "support", "value": LABELS[0]}], rater="ann")
    before = contents(study)
    with pytest.raises(UserError, match=r"calibrated on other labels; .* --name NAME"):
        study.calibrate("model")
    assert contents(study) == before
    assert study.calibrate("model", name="second").name == "second"
    with pytest.raises(UserError, match="'ann' has other ratings here"):
        study.calibrate("model", name="ann")


def test_one_person_s_labels_may_count(study: Study):
    people, _ = rows(bias=2)
    wrong = [{**row, "rater": "eve", "value": LABELS[0]} for row in people[::2]]
    wrong[1]["value"] = LABELS[1]
    study.import_ratings(wrong)
    assert study.calibrate("model", labels="ann").settings["labels_by"] == "ann"
    # By her labels the bias is right, so that there is nothing to gain for the labels.
    eve = study.calibrate("model", labels="eve", name="for-eve")
    assert eve.found.offsets[0] > 0


def test_an_adjudicator_s_labels_count_only_if_they_are_asked_for(study: Study):
    study.store.people.admit("cem", "adjudicator")
    label = {"criterion": "support", "rater": "cem"}
    study.import_ratings([{**label, "item": f"i{number}", "value": LABELS[number % 3]} for number in range(ITEMS)])
    assert study.calibrate("model").settings["labels"] == LABELLED - 1
    assert study.calibrate("model", labels="cem", name="cem-s").settings["labels"] == ITEMS - 5


def test_no_better_is_a_result_and_nothing_is_stored():
    people, model = rows(bias=0)
    with study_of(":memory:", people, model) as study:
        before = contents(study)
        result = study.calibrate("model")
        assert (result.name, result.added, result.found.better) == (None, None, [])
        assert "No better" in str(result)
        assert contents(study) == before


def test_the_result_prints_displays_and_converts(study: Study):
    result = study.calibrate("model")
    lines = str(result).splitlines()
    assert lines[0] == f"support: model, evaluated on {LABELLED - 1} held-out labels (people's majority)"
    assert lines[-2].startswith(
        "Improves kappa and log_loss. Stored as model-calibrated; each labelled unit is rated by the fit"
    )
    assert lines[-1] == "  217 new ratings, 0 replaced, 0 as before"
    assert repr(result) == "<CalibrationResult: model on support: better, stored as model-calibrated>"
    assert list(result.to_pandas()["statistic"]) == ["balanced_accuracy", "kappa", "log_loss"]
    assert result._repr_html_().startswith('<div class="evenhand-result">')  # pyright: ignore[reportPrivateUsage]
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["stored"] == {"rater": "model-calibrated", "new": 217, "superseding": 0, "known": 0}
    assert document["held_out"]["kappa"]["gain"]["ci"][0] > 0


def test_the_command_prints_what_the_method_returns(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    call, path = Caller(capsys), tmp_path / "s.db"
    study_of(path, *rows(bias=2)).close()
    printed = json.loads(call.fine("calibrate", path, "--rater", "model", "--json"))
    assert printed["stored"]["new"] == ITEMS
    with Study.open(path) as study:
        again: CalibrationResult = study.calibrate("model")
        assert again.to_dict() == {**printed, "stored": {**printed["stored"], "new": 0, "known": ITEMS}}
    assert "calibrated(model)" in call.fine("runs", path)
    assert "model-calibrated" in call.fine("agree", path)


PEOPLE, MODEL = rows(bias=2)


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        ([PEOPLE, MODEL], ["--rater", "modell"], "there is no model 'modell' (did you mean 'model'?)"),
        ([PEOPLE, MODEL], ["--rater", "ann"], "there is no model 'ann'"),
        (
            [PEOPLE, MODEL],
            ["--rater", "model", "--criterion", "tone"],
            "the criterion 'tone' does not exist; criteria with labels: support",
        ),
        ([PEOPLE, MODEL], ["--rater", "model", "--labels", "model"], "there is no person 'model'"),
        ([PEOPLE, MODEL], ["--rater", "model", "--name", " "], "--name: an empty text"),
        (
            [PEOPLE[:98], MODEL],
            ["--rater", "model"],
            "people labelled 49 units (49 items) of those that 'model' rated with probabilities; calibration needs at",
        ),
        (
            [PEOPLE, [{**row, "distribution": None} for row in MODEL]],
            ["--rater", "model"],
            "has not rated a criterion with labels (support) with probabilities",
        ),
    ],
)
def test_what_cannot_be_calibrated_is_refused_and_nothing_is_changed(
    tables: Sequence[Sequence[Row]],
    options: Sequence[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    path = tmp_path / "s.db"
    study_of(path, *tables).close()
    before = sha256(path.read_bytes()).hexdigest()
    result = Caller(capsys)("calibrate", path, *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert sha256(path.read_bytes()).hexdigest() == before


def test_fifty_labels_are_enough():
    with study_of(":memory:", PEOPLE[:100], MODEL) as study:
        assert study.calibrate("model").settings["labels"] == 50


def test_levels_cannot_be_calibrated():
    with study_of(":memory:", protocol="feedback", feedback="Good.") as study:
        study.import_ratings([{"item": "i1", "rater": "model", "kind": "model", "criterion": "tone", "value": 3}])
        with pytest.raises(UserError, match=r"a criterion with labels \(there are none\)"):
            study.calibrate("model")


def test_a_variant_is_not_calibrated_again(study: Study):
    study.calibrate("model")
    with pytest.raises(UserError, match="is calibrated already"):
        study.calibrate("model-calibrated")


def test_labels_of_few_documents_are_refused(tmp_path: Path):
    """Sentences of one document are not independent, and never on both sides of a fold."""
    text = " ".join(f"Sentence number {number}." for number in range(10))
    items = [{"id": f"d{number}", "question": "What?", "article": "A text.", "response": text} for number in range(6)]
    labels = ["Accurate", "Inaccurate"]
    with Study.create(tmp_path / "s.db", "stem-accuracy", items) as study:
        rating = [
            {"item": unit.item, "unit": unit.position, "criterion": "accuracy", "value": labels[unit.position % 2]}
            for unit in study.units()
        ]
        study.import_ratings([{**row, "rater": "ann", "kind": "person"} for row in rating])
        shares = json.dumps([["Accurate", 0.5], ["Inaccurate", 0.5]])
        study.import_ratings([{**row, "rater": "model", "kind": "model", "distribution": shares} for row in rating])
        with pytest.raises(
            UserError, match=r"60 units \(6 items\) .* calibration needs at least 50 units from 10 items"
        ):
            study.calibrate("model")
