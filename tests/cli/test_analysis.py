"""`agree`, `measures`, `report`: the shapes that scripts rely on, and studies in which hardly anything is defined."""

import json
import math
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import Caller

SAMPLES = Path(str(files("evenhand.samples")))
PROTOCOLS = ["neureg-qa", "rag-quest-eval", "feedback", "halo-support", "stem-accuracy", "ai-detection"]
ITEMS = "id,question,context,generated_answer\n"


def sample_study(call: Caller, protocol: str) -> str:
    folder = SAMPLES / protocol
    items = next(folder.glob("items.*"))
    questions = ["--questions", folder / "questions.json"] if (folder / "questions.json").exists() else []
    call.fine("new", "study.db", "--protocol", protocol, "--items", items, *questions)
    call.fine("ratings", "import", "study.db", folder / "ratings.csv")
    return "study.db"


def numbers(value: Any) -> Iterator[float]:
    """Every number in a JSON document."""
    if isinstance(value, dict):
        for entry in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from numbers(entry)
    elif isinstance(value, list):
        for entry in value:  # pyright: ignore[reportUnknownVariableType]
            yield from numbers(entry)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def is_statistic(value: Any) -> bool:
    assert {"value", "ci", "n", "why"} <= set(value)
    assert (value["value"] is None) == (value["why"] is not None)
    assert value["ci"] is None or (len(value["ci"]) == 2 and value["ci"][0] <= value["ci"][1])
    return True


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_agree_prints_the_document_that_scripts_rely_on(call: Caller, protocol: str):
    study = sample_study(call, protocol)
    document = json.loads(call.fine("agree", study, "--json"))
    assert document["protocol"] == protocol
    assert len(document["digest"]) == 64
    assert {rater["id"] for rater in document["raters"]} >= {"ann", "ben"}
    assert all(math.isfinite(number) for number in numbers(document))
    for found in document["criteria"].values():
        assert all(is_statistic(found[name]) for name in ("alpha", "ac", "fleiss"))
        assert ("icc" in found) == (found["level"] == "ordinal")
        assert {"n", "full", "majority", "none", "per_rater"} <= set(found["majority"])
        assert sum(found["majority"][name] for name in ("full", "majority", "none")) == found["majority"]["n"]
        assert set(found["status"]) == {"rated", "not_asked", "skipped", "cannot_assess", "failed"}
        for pair in found["pairs"]:
            assert pair["kind"] in ("person-person", "person-model", "model-model")
            assert all(is_statistic(pair[name]) for name in ("percent", "kappa", "ac", "macro_f1"))
            assert all(is_statistic(value) for value in pair["per_label"].values())
            assert ("kappa_quadratic" in pair) == (found["level"] == "ordinal")
            assert sum(map(sum, pair["confusion"])) == pair["n"]
    for target in document["targets"]:
        assert {"measure", "goal", "value", "met"} <= set(target)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_measures_prints_the_document_that_scripts_rely_on(call: Caller, protocol: str):
    document = json.loads(call.fine("measures", sample_study(call, protocol), "--json"))
    assert document["protocol"] == protocol
    assert document["measures"]
    assert all(math.isfinite(number) for number in numbers(document))
    for measure in document["measures"]:
        assert {"name", "criterion", "rater", "stratum", "value", "ci", "n", "why"} <= set(measure)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["report.html", "report.json", "report.txt"])
def test_a_report_is_written_whole(call: Caller, tmp_path: Path, protocol: str, name: str):
    call.fine("report", sample_study(call, protocol), "-o", name)
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert protocol in text
    assert "NaN" not in text
    if name.endswith("json"):
        assert all(math.isfinite(number) for number in numbers(json.loads(text)))


def test_the_worked_example_of_questions(call: Caller):
    # The item `town-hall`: three questions, one unanswerable, token F1 0.5 and 1.
    items = "id,reference,generated\nx,R.,G.\n"
    questions = {"x": {"question": ["A?", "B?", "C?"], "answers": ["north gate", "1911", "Ilse"]}}
    answers = ["north door", "1911", "<Unanswerable>"]
    rows = [f"ann,x,{unit},answer,{answer}" for unit, answer in enumerate(answers, start=1)]
    ratings = "\n".join(["rater,item,unit,criterion,value", *rows])
    Path("items.csv").write_text(items, encoding="utf-8")
    Path("questions.json").write_text(json.dumps(questions), encoding="utf-8")
    Path("ratings.csv").write_text(ratings, encoding="utf-8")
    call.fine("new", "s.db", "--protocol", "rag-quest-eval", "--items", "items.csv", "--questions", "questions.json")
    call.fine("ratings", "import", "s.db", "ratings.csv")
    document = json.loads(call.fine("measures", "s.db", "--json"))
    found = {row["name"]: row["value"] for row in document["measures"] if row["rater"] == "ann"}
    # "north gate" and "north door" share one of two words each: F1 = 1/2.
    assert found == {
        "recall": pytest.approx(2 / 3),
        "precision": pytest.approx(0.75),
        "precision_all": pytest.approx(0.5),
    }


DEGENERATE = {
    "no rating": "rater,item,criterion,value\n",
    "one rater": "rater,item,criterion,value\nann,a,support,SUPPORTED\nann,b,support,NO EVIDENCE\n",
    "no overlap": "rater,item,criterion,value\nann,a,support,SUPPORTED\nben,b,support,NO EVIDENCE\n",
    "one label": "rater,item,criterion,value\n" + "".join(f"{r},{i},support,SUPPORTED\n" for r in "xy" for i in "ab"),
    "one item": "rater,item,criterion,value\nann,a,support,SUPPORTED\nben,a,support,NO EVIDENCE\n",
    "all skipped": "rater,item,criterion,value,status\nann,a,support,,skipped\nben,a,support,,cannot_assess\n",
    "a model alone": "rater,item,criterion,value,kind\n" + "".join(f"m,{i},support,SUPPORTED,model\n" for i in "ab"),
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_a_study_with_hardly_anything_in_it_gets_an_answer_or_a_reason(call: Caller, tmp_path: Path, case: str):
    (tmp_path / "items.csv").write_text(ITEMS + "a,Q,C,A\nb,Q,C,A\n", encoding="utf-8")
    call.fine("new", "s.db", "--protocol", "halo-support", "--items", "items.csv")
    if DEGENERATE[case].count("\n") > 1:
        (tmp_path / "r.csv").write_text(DEGENERATE[case], encoding="utf-8")
        call.fine("ratings", "import", "s.db", "r.csv")
    for command in (["agree"], ["measures"]):
        document = json.loads(call.fine(*command, "s.db", "--json"))
        assert all(math.isfinite(number) for number in numbers(document))
        assert call.fine(*command, "s.db").strip()
    for name in ("r.html", "r.json", "r.txt"):
        call.fine("report", "s.db", "-o", name)
        assert "NaN" not in (tmp_path / name).read_text(encoding="utf-8")


def test_a_report_of_another_kind_is_refused(call: Caller, tmp_path: Path):
    (tmp_path / "items.csv").write_text(ITEMS + "a,Q,C,A\n", encoding="utf-8")
    call.fine("new", "s.db", "--protocol", "halo-support", "--items", "items.csv")
    result = call("report", "s.db", "-o", "report.pdf")
    assert result.code == 2
    assert ".html" in result.err
    assert not (tmp_path / "report.pdf").exists()


@pytest.mark.parametrize("name", ["r.html", "r.json", "r.txt"])
def test_a_report_replaces_a_report_and_nothing_else(call: Caller, tmp_path: Path, name: str):
    study = sample_study(call, "halo-support")
    precious = tmp_path / name
    for content in ("[]\n", "<!DOCTYPE html><p>Mine</p>", "one\nprotocol of a meeting\n"):
        precious.write_text(content, encoding="utf-8")
        result = call("report", study, "-o", name)
        assert result.code == 2
        assert "already exists; choose another name" in result.err
        assert precious.read_text(encoding="utf-8") == content
    precious.unlink()
    call.fine("report", study, "-o", name)
    call.fine("report", study, "-o", name)


def test_rare_labels_are_spoken_of_only_where_they_are_rare(call: Caller):
    printed = call.fine("agree", sample_study(call, "neureg-qa"))
    lines = [line for line in printed.splitlines() if line.startswith("  shares: ")]
    # 86% of the ratings of one criterion are 5; the others are below 85%.
    skewed = ["agreement on the rare ones" in line for line in lines]
    assert any(skewed)
    assert skewed == [any(f" {n}%" in line for n in range(86, 101)) for line in lines]
    assert "1 cannot_assess" not in printed


def test_a_measure_says_what_it_leaves_out(call: Caller):
    assert "left out: 1 skipped" in call.fine("measures", sample_study(call, "halo-support"))


def test_a_crowd_is_told_in_few_lines_and_a_small_page(call: Caller, tmp_path: Path):
    labels = ["SUPPORTED", "CONTRADICTED", "NO EVIDENCE"]
    (tmp_path / "items.csv").write_text(ITEMS + "".join(f"i{n},Q,C,A\n" for n in range(60)), encoding="utf-8")
    rows = [
        f"p{r:02},i{(7 * r + 11 * k) % 60},support,{labels[(r * k) % 3]},person" for r in range(60) for k in range(5)
    ]
    rows += [f"m,i{n},support,{labels[n % 3]},model" for n in range(60)]
    text = "rater,item,criterion,value,kind\n" + "\n".join(rows)
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    call.fine("new", "s.db", "--protocol", "halo-support", "--items", "items.csv")
    call.fine("ratings", "import", "s.db", "r.csv")
    printed = call.fine("agree", "s.db")
    assert len(printed.splitlines()) < 80
    pairs = len(json.loads(call.fine("agree", "s.db", "--json"))["criteria"]["support"]["pairs"])
    assert f"… and {pairs - 40} more pairs" in printed
    assert "more targets" in printed
    call.fine("report", "s.db", "-o", "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert len(page) < 2_000_000
    assert "too many for matrices" in page


def test_figures_on_combinations_of_strata_raters_and_criteria(call: Caller):
    study = sample_study(call, "neureg-qa")
    options = ["--by", "shot_type,question_type", "--combine", "models=pool(models)", "--together", "all"]
    options += ["--combine", "reference=mean(people, step=0.5)", "--combine", "vote=plurality(people, ties=first)"]
    document = json.loads(call.fine("measures", study, *options, "--json"))
    assert all(math.isfinite(number) for number in numbers(document))
    found = document["measures"]
    strata = {tuple(one["stratum"]) for one in found if one["stratum"]}
    assert strata == {("shot_type", "question_type")}
    assert {one["rater"] for one in found} >= {"models", "reference", "vote"}
    assert {one["against"] for one in found if one["name"] == "exact_match"} >= {
        "reference",
        "vote",
        "people's majority",
    }
    assert any(one["name"] == "majority" and one["criterion"] is None for one in found)
    assert set(document["combined"]) == {"models", "reference", "vote"}
    agreement = json.loads(call.fine("agree", study, *options, "--json"))
    assert {"shot_type": "zero", "question_type": "factual"} in [one["stratum"] for one in agreement["strata"]]
    every = agreement["criteria"]["all criteria"]
    assert every["majority"]["n"] == sum(
        found["majority"]["n"] for name, found in agreement["criteria"].items() if name != "all criteria"
    )
    assert {"reference", "vote", "models"} <= {pair[side] for pair in every["pairs"] for side in ("a", "b")}
    text = call.fine("agree", study, *options)
    assert "reference is the mean, rounded to 0.5, of people." in text
    assert "all criteria (ordinal), shot_type zero, question_type factual" in text
    for wrong in (["--by", "nothing"], ["--combine", "x=mean(nobody)"], ["--together", "fluency"]):
        assert call("measures", study, *wrong).code == 2


def test_options_without_an_effect_are_errors(call: Caller):
    study = sample_study(call, "halo-support")
    twice = ["--combine", "both=pool(people)", "--combine", "both=majority(people)"]
    for wrong, named in (
        (["--by", "document_id"], "document_id"),
        (["--combine", "ref=mean(people)"], "mean"),
        (twice, "both and both"),
        (["--by", "question"], "label field 'question'"),
        (["--by", "document_id,document_id"], "twice"),
        (["--together", "support,support"], "twice"),
        (["--together", ""], "there are: support"),
        (["--combine", "all=pool(people, fewest=4)"], "'fewest'"),
    ):
        for command in ("agree", "measures"):
            result = call(command, study, *wrong)
            assert result.code == 2
            assert named in result.err
