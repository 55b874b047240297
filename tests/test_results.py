"""What `Study` returns: printed, shown in a notebook, converted."""

import json
import sys
from collections.abc import Generator
from importlib.resources import files
from pathlib import Path

import pytest

from evenhand import Item, RaterFailure, RunResult, Study, Unit, UserError
from evenhand.results import Result
from tests.cli.calling import Caller

SAMPLE = Path(str(files("evenhand.samples") / "halo-support"))


class Constant:
    """A user's own rater, which fails on one item."""

    id = "constant"

    def rate(self, item: Item, unit: Unit) -> dict[str, object]:
        if item.id == "sample_001":
            raise RaterFailure("not this one")
        return {"support": "SUPPORTED"}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Generator[Study]:
    path = tmp_path_factory.mktemp("results") / "study.db"
    with Study.create(path, "halo-support", SAMPLE / "items.csv") as made:
        made.import_ratings(SAMPLE / "ratings.csv")
        yield made


@pytest.fixture(scope="module")
def run(study: Study) -> RunResult:
    return study.judge(Constant(), progress=False)


def test_a_user_s_own_rater_is_an_object_with_one_method(study: Study, run: RunResult):
    assert (run.units, run.failed_units, run.stopped, run.cost) == (24, 1, None, None)
    failed = [rating for rating in study.ratings(rater="constant") if rating.reason]
    assert [(rating.unit, rating.reason) for rating in failed] == [("sample_001", "not this one")]
    assert study.judge(Constant(), progress=False).units == 0


def test_every_result_prints_displays_and_converts(study: Study, run: RunResult):
    results: list[Result] = [
        run,
        study.agreement(),
        study.measures(),
        study.trust("support"),
        study.report(),
        study.compare("question", "x", "y", criterion="support"),
        study.estimate("verifier"),
        study.import_ratings(SAMPLE / "ratings.csv"),
    ]
    for result in results:
        assert str(result)
        assert "\n" not in repr(result)
        assert repr(result).startswith(f"<{type(result).__name__}: ")
        assert json.dumps(result.to_dict(), allow_nan=False)
        assert len(result.to_pandas()) == len(result.to_polars())
        assert result._repr_html_().startswith('<div class="evenhand-result"><style>')  # pyright: ignore[reportPrivateUsage]


def test_the_command_line_prints_results(study: Study, run: RunResult, capsys: pytest.CaptureFixture[str]):
    call, location = Caller(capsys), study.store.location
    assert call.fine("agree", location) == f"{study.agreement()}\n"
    assert json.loads(call.fine("agree", location, "--json")) == study.agreement().to_dict()
    assert call.fine("measures", location) == f"{study.measures()}\n"
    assert json.loads(call.fine("measures", location, "--json")) == study.measures().to_dict()


def test_frames_have_a_row_for_each_figure(study: Study):
    agreement = study.agreement("support")
    frame = agreement.to_pandas()
    assert len(frame) == len(agreement.figures())
    alpha = frame[frame.statistic == "alpha"].iloc[0]
    assert alpha["value"] == agreement.alpha["support"].value
    pair = agreement.pairs["support"][0]
    kappa = frame[(frame.statistic == "kappa") & (frame.rater == pair.b) & (frame.against == pair.a)].iloc[0]
    assert (kappa["value"], kappa["n"]) == (pair.kappa.value, pair.n)
    ratings = study.ratings_frame()
    assert len(ratings) == len(list(study.ratings()))
    assert list(ratings.columns) == list(study.ratings_frame(library="polars").columns)


def test_a_missing_library_names_the_extra_to_install(study: Study, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match=r"pip install .\.\[pandas\]"):
        study.measures().to_pandas()


def test_an_unknown_criterion_is_answered_with_the_valid_ones(study: Study):
    for call in (study.agreement, study.trust):
        with pytest.raises(UserError, match="valid are support"):
            call("tone")
