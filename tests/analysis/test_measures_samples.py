"""Every protocol's measures on its bundled sample, and on studies with hardly anything in them."""

import csv
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from evenhand.analysis.figures import Figure
from evenhand.analysis.measures import measures
from evenhand.analysis.tables import Tables
from evenhand.analysis.targets import targets
from evenhand.formats.items import read_items
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Status, Value
from evenhand.report.build import measures_report
from evenhand.report.json import measures_json
from evenhand.study import Study
from tests.measured import CANNOT, Ratings, Said, one, study
from tests.sample_units import units_of_sample
from tests.statistics.oracles import metrics

SAMPLES = ("ai-detection", "feedback", "halo-claims", "halo-support", "neureg-qa", "rag-quest-eval", "stem-accuracy")
STRATA = {"feedback": {"domain"}, "neureg-qa": {"question_type", "shot_type"}}
"""The label fields that the items of a sample have; no sample says which model wrote its texts."""


def whole(tables: Tables) -> list[Figure]:
    """All measures, after holding what must hold of each: a value or a reason, and JSON without NaN."""
    found = measures(tables)
    assert {m.statistic for m in found} == {spec.name for spec in tables.protocol.measures}
    for measure in found:
        estimate = measure.estimate
        assert (estimate.value is None) == bool(estimate.why), measure
        assert (estimate.low is None) == (estimate.high is None), measure
        if estimate.value is not None and estimate.low is not None and estimate.high is not None:
            assert estimate.low <= estimate.value <= estimate.high, measure
        assert all(count > 0 for count in measure.left_out.values()), measure
    document: Any = json.loads(json.dumps(measures_json(measures_report(tables)), allow_nan=False))
    assert (document["protocol"], document["digest"]) == (tables.protocol.name, tables.protocol.digest)
    assert len(document["measures"]) == len(found)
    for entry in document["measures"]:
        assert {"name", "criterion", "rater", "stratum", "value", "ci", "n", "why"} <= set(entry)
    json.dumps([one.to_dict() for one in targets(tables, found)], allow_nan=False)
    return found


def constant(protocol: Protocol, said: Callable[[Sequence[Value]], Said], n: int) -> Mapping[str, Sequence[Said]]:
    return {
        c.id: [said(c.scale.values or (("x",) if c.scale.type == "text" else (50.0,)))] * n for c in protocol.criteria
    }


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("case", ["nothing", "no items", "one rater", "one item", "one label", "no overlap", "skipped"])
def test_a_degenerate_study_has_an_answer_or_a_reason(name: str, case: str):
    protocol = load_protocol(name)
    n = {"no items": 0, "one item": 1}.get(case, 4)
    labels = {field: ["AI" if name == "ai-detection" else "zero"] * n for field in ("label", "prediction", "shot_type")}
    first = constant(protocol, lambda values: values[0], n)
    skipped = constant(protocol, lambda values: Status.SKIPPED, n)
    half = {key: [said if place < 2 else None for place, said in enumerate(column)] for key, column in first.items()}
    rest = {key: [said if place >= 2 else None for place, said in enumerate(column)] for key, column in first.items()}
    ratings: Ratings = {
        "nothing": {},
        "no items": {},
        "one rater": {"ann": first},
        "no overlap": {"ann": half, "auto": rest},
        "skipped": {"ann": skipped, "ben": skipped, "auto": skipped},
    }.get(case, {"ann": first, "ben": first, "auto": first})
    items = n if protocol.rule.of == "item" or n == 0 else [0, 0, 1, 1][:n]
    found = whole(study(protocol, ratings, items, labels, ["x"] * n))
    if case == "skipped" and name != "ai-detection":
        assert {m.estimate.value for m in found} == {None}
        assert all("skipped" in m.left_out for m in found if m.rater is not None)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Tables]:
    """The tables of the bundled sample studies."""
    folder, made = tmp_path_factory.mktemp("samples"), dict[str, Tables]()
    with as_file(files("evenhand.samples")) as root:
        for name in SAMPLES:
            place = root / name
            items = next(place.glob("items.*"))
            loaded = read_items(items, load_protocol(name))
            with Study.create(folder / f"{name}.db", name, loaded, **units_of_sample(name)) as opened:
                opened.import_ratings(place / "ratings.csv")
                made[name] = opened.store.tables()
    return made


def rows(name: str, criterion: str, rater: str) -> Mapping[tuple[str, str], str]:
    """One rater's values of one criterion as the sample's file has them, by item and unit."""
    with as_file(files("evenhand.samples")) as root, Path(root, name, "ratings.csv").open(encoding="utf-8") as file:
        read = [row for row in csv.DictReader(file) if row["criterion"] == criterion and row["rater"] == rater]
    return {(row["item"], row.get("unit") or "1"): row["value"] for row in read if row["status"] == "rated"}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_measured(name: str, samples: Mapping[str, Tables]):
    found = whole(samples[name])
    assert any(m.estimate.value is not None and m.estimate.low is not None for m in found)
    strata = {field for m in found if m.stratum for field in m.stratum}
    assert strata == STRATA.get(name, set())


@pytest.mark.parametrize("name", ["neureg-qa", "feedback"])
def test_means_of_the_samples_are_those_of_their_files(name: str, samples: Mapping[str, Tables]):
    for measure in measures(samples[name]):
        if (
            measure.stratum is None
            and measure.criterion
            and measure.kind in ("mean", "sd")
            and measure.rater != "people"
        ):
            values = [int(value) for value in rows(name, measure.criterion, str(measure.rater)).values()]
            expected = statistics.mean(values) if measure.kind == "mean" else statistics.stdev(values)
            assert measure.estimate.value == pytest.approx(expected)


def test_agreement_of_the_samples_is_that_of_their_files(samples: Mapping[str, Tables]):
    ann, ben = (rows("halo-support", "support", rater) for rater in ("ann", "ben"))
    both = sorted(set(ann) & set(ben))
    kappa = one(measures(samples["halo-support"]), "kappa_raters", "ben")
    assert kappa.estimate.value == pytest.approx(
        metrics.cohen_kappa_score([ann[u] for u in both], [ben[u] for u in both])
    )
    claims = [value for value in rows("stem-accuracy", "accuracy", "auto").values() if value != CANNOT]
    accurate = one(measures(samples["stem-accuracy"]), "accurate", "auto")
    assert accurate.estimate.value == pytest.approx(claims.count("Accurate") / len(claims))
