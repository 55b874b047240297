import asyncio
import gc
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

from evenhand.errors import InputError, StudyError, UserError
from evenhand.evaluate_model.evaluator import EvaluateModel
from evenhand.llm.base import BeforeRetry, Reply, Request, RunError
from evenhand.llm.rate_limit import RateLimiter
from evenhand.protocol.load import load_protocol
from evenhand.raters.options import RaterOptions
from evenhand.study import Study
from tests.chat_server import codes_in

FEEDBACK = {
    "text": ["Good start, add sources.", "Wrong, all of it.", "A clear and kind note.", "No idea."],
    "domain": ["History", "Biology", "History", None],
}
DETECTION = {"text": ["one", "two", "three"], "label": ["AI", "AI", "human"], "prediction": ["AI", "human", "human"]}
LEVELS = {"Good start": 4, "Wrong": 1, "A clear": 5}
CRITERIA = ("correctness", "clarity", "tone", "actionability", "coherence", "emotion", "overall")


class Parrot:
    """A model that rates feedback by its first words and has nothing to say on any other."""

    model = "parrot"

    def __init__(self) -> None:
        self.pace = RateLimiter(2)
        self.asked = 0

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        self.asked += 1
        case = request.messages[1].content
        level = next((level for words, level in LEVELS.items() if words in case), None)
        if level is None:
            return Reply("I would rather not say.")
        entries: dict[str, object] = {name: {"rationale": f"{name}: {level}", "answer": level} for name in CRITERIA}
        whole = {
            "unit_code": codes_in(case)[0],
            **entries,
            "improvements": {"answer": "Add a date."},
            "confidence": 90,
            "notes": "short",
        }
        return Reply(json.dumps(whole))

    async def close(self) -> None:
        pass


class Checker(Parrot):
    """A model that finds every prediction right."""

    model = "checker"

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        self.asked += 1
        (code,) = codes_in(request.messages[1].content)
        return Reply(json.dumps({"unit_code": code, "verdict": {"rationale": "It says so.", "answer": "correct"}}))


class Closed(Parrot):
    """A model that cannot be reached at all."""

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        raise RunError("the key is wrong: set another")


def feedback(model: object | None = None, **options: Any) -> EvaluateModel:
    options.setdefault("dataset", pd.DataFrame(FEEDBACK))
    return EvaluateModel(model=model, model_type="feedback_generation", **options)


def test_there_is_a_prompt_for_every_row_in_row_order():
    evaluated = feedback(dataset=pl.DataFrame(FEEDBACK))
    prompts = evaluated.construct_data_message()
    assert evaluated.dataset_prompt == prompts
    assert len(prompts) == 4
    for prompt, text in zip(prompts, FEEDBACK["text"], strict=True):
        assert isinstance(text, str)
        assert text in prompt
    assert ["Biology" in prompt.rpartition("# The case")[2] for prompt in prompts] == [False, True, False, False]


def test_a_detection_prompt_has_text_label_and_prediction():
    rows = {"content": ["Once upon a time."], "y_true": ["person-made"], "pred": ["machine-made"]}
    prompts = EvaluateModel(dataset=pd.DataFrame(rows), model_type="ai_detection").construct_data_message()
    case = prompts[0].rpartition("# The case")[2]
    assert all(words in case for words in ("Once upon a time.", "person-made", "machine-made"))


def test_the_elements_of_a_file_are_in_the_prompt(tmp_path: Path):
    part = EvaluateModel.gen_ai_template("feedback_generation")
    part["role"] = "You are a strict examiner from Oslo."
    part["criteria"]["tone"]["levels"]["5"]["description"] = "It hums with warmth."
    file = tmp_path / "gen_ai.json"
    file.write_text(json.dumps({"feedback_generation": part}), encoding="utf-8")
    prompt = feedback(gen_ai=file).construct_data_message()[0]
    assert "You are a strict examiner from Oslo." in prompt
    assert "It hums with warmth." in prompt
    assert feedback(gen_ai=file).protocol.digest != load_protocol("feedback").digest


def test_columns_can_be_named(tmp_path: Path):
    frame = pd.DataFrame({"Rückmeldung": ["Good start."], "nr": ["x7"]})
    named = feedback(Parrot(), dataset=frame, mapping={"feedback": "Rückmeldung"}, id_column="nr")
    assert "Good start." in named.construct_data_message()[0]
    assert named.model_based_evaluation().rows[0]["item"] == "x7"
    with pytest.raises(InputError, match="the column 'feedback' is missing"):
        feedback(dataset=frame).construct_data_message()


def test_every_row_is_rated_and_a_failure_is_no_score(capsys: pytest.CaptureFixture[str]):
    evaluated = feedback(Parrot())
    found = evaluated.model_based_evaluation()
    assert [row["overall"] for row in found.rows] == [4, 1, 5, None]
    first, last = found.rows[0], found.rows[3]
    assert first["ratings"] == dict.fromkeys(CRITERIA, 4)
    assert first["rationales"]["tone"] == "tone: 4"
    assert (first["confidence"], first["notes"], first["improvements"]) == (90, "short", "Add a date.")
    assert first["failures"] == {}
    assert last["ratings"] == {}
    assert set(CRITERIA) <= set(last["failures"])
    # (4 + 1 + 5) / 3, over the rows that were rated.
    assert found.means["tone"].value == pytest.approx(10 / 3)
    assert found.means["tone"].n == 3
    assert found.rated == 3
    assert sum(found.failures.values()) == 1
    printed = capsys.readouterr().out
    assert "feedback, rated by parrot: 3 of 4 rows" in printed
    assert "tone           3.33" in printed
    assert "failed, in no figure above: 1 row" in printed
    assert evaluated.results == [dict(row) for row in found.rows]


def test_detection_counts_verdicts(capsys: pytest.CaptureFixture[str]):
    evaluated = EvaluateModel(model=Checker(), dataset=pl.DataFrame(DETECTION), model_type="ai_detection")
    found = evaluated.model_based_evaluation()
    assert found.counts == {"verdict": {"correct": 3, "incorrect": 0}}
    assert "overall" not in found.rows[0]
    assert "verdict  correct 3, incorrect 0, n 3" in capsys.readouterr().out


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_results_come_in_the_library_of_the_dataset(make: Callable[[Mapping[str, object]], Any]):
    evaluated = feedback(Parrot(), dataset=make(FEEDBACK))
    evaluated.model_based_evaluation()
    frame = evaluated.to_frame()
    assert type(frame) is make
    known = nw.from_native(frame, eager_only=True)
    assert known["row"].to_list() == [1, 2, 3, 4]
    assert known["overall"].dtype == nw.Int64
    assert known["overall"].is_null().to_list() == [False, False, False, True]
    assert known["overall"].to_list()[:3] == [4, 1, 5]
    assert known["tone_rationale"].to_list()[:3] == ["tone: 4", "tone: 1", "tone: 5"]
    assert known["failure"].is_null().to_list() == [True, True, True, False]


def test_results_before_an_evaluation_are_refused():
    with pytest.raises(UserError, match="there are no results yet"):
        feedback().to_frame()
    with pytest.raises(UserError, match="model: there is none to rate with"):
        feedback().model_based_evaluation()


def test_an_evaluation_goes_on_where_it_stopped(tmp_path: Path):
    study, model = tmp_path / "feedback.db", Parrot()
    first = feedback(model, study=study).model_based_evaluation(limit=2)
    assert [row["overall"] for row in first.rows] == [4, 1, None, None]
    assert first.rows[2]["failures"] == {}
    before = model.asked
    assert before == 2
    second = feedback(model, study=str(study)).model_based_evaluation()
    assert [row["overall"] for row in second.rows] == [4, 1, 5, None]
    again = model.asked
    assert feedback(model, study=study).model_based_evaluation().rows == second.rows
    assert model.asked == again
    with Study.open(study) as opened:
        assert {rating.rater for rating in opened.ratings()} == {"parrot"}


def test_a_second_call_without_a_study_asks_nothing_twice():
    model = Parrot()
    evaluated = feedback(model, dataset=pd.DataFrame({"feedback": ["Good start.", "Wrong."]}))
    evaluated.model_based_evaluation(limit=1)
    evaluated.model_based_evaluation()
    assert model.asked == 2


def test_a_study_of_something_else_is_refused(tmp_path: Path):
    study = tmp_path / "feedback.db"
    feedback(Parrot(), study=study).model_based_evaluation()
    other = pd.DataFrame({"feedback": ["Something else."]})
    with pytest.raises(StudyError, match="its items are not those of this dataset"):
        feedback(Parrot(), study=study, dataset=other).model_based_evaluation()
    gen_ai = {"feedback_generation": {"role": "Another."}}
    with pytest.raises(StudyError, match="it has another protocol"):
        feedback(Parrot(), study=study, gen_ai=gen_ai).model_based_evaluation()


def test_a_temporary_study_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    evaluated = feedback(Parrot())
    assert evaluated.model_based_evaluation().rated == 3
    del evaluated
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_it_works_where_an_event_loop_is_running():
    async def notebook() -> int:
        return feedback(Parrot()).model_based_evaluation().rated

    assert asyncio.run(notebook()) == 3


def test_the_prompt_can_be_asked_otherwise():
    model = Parrot()
    feedback(
        model, options=RaterOptions(samples=2), dataset=pd.DataFrame({"feedback": ["Wrong."]})
    ).model_based_evaluation()
    assert model.asked == 2


def test_a_model_that_cannot_be_reached_is_an_error_that_says_why():
    with pytest.raises(UserError, match=r"parrot: .*the key is wrong: set another"):
        feedback(Closed()).model_based_evaluation()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model_type": "feedback"}, "model_type: 'feedback' is unknown; valid are feedback_generation and ai_det"),
        ({"device": "gpu"}, "device: 'gpu' is unknown; valid are automap, auto, cpu, cuda, cuda:0"),
        ({"dataset": [1, 2]}, "a pandas or Polars data frame is needed, not list"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str):
    given: dict[str, Any] = {"model_type": "feedback_generation", "dataset": pd.DataFrame(FEEDBACK), **options}
    with pytest.raises(UserError, match=message):
        EvaluateModel(**given)


def test_a_model_that_cannot_be_asked_is_refused():
    with pytest.raises(UserError, match=r"model: a dict needs its tokenizer"):
        feedback({}).model_based_evaluation()
    with pytest.raises(UserError, match="tokenizer: it goes with a loaded model"):
        feedback("openai:any", tokenizer=object()).model_based_evaluation()
    with pytest.raises(UserError, match="there is no rater 'carrier-pigeon'"):
        feedback("carrier-pigeon").model_based_evaluation()


@pytest.mark.parametrize("device", ["automap", "auto", "cpu", "cuda", "cuda:0", "mps"])
def test_devices_are_known_by_these_names(device: str):
    assert feedback(device=device).device == ("auto" if device == "automap" else device)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_classification_needs_no_model_and_no_text(make: Callable[[Mapping[str, object]], Any]):
    rows = {"true_label": [1, 1, 0, None], "predicted": [1, 0, 0, 1]}
    found = EvaluateModel(dataset=make(rows), model_type="ai_detection").evaluate_classification_model()
    assert found.accuracy.value == pytest.approx(2 / 3)
    assert found.labels == ["0", "1"]
    assert found.left_out == {"no_label": 1}


def test_classification_columns_can_be_named():
    frame = pd.DataFrame({"Herkunft": ["AI"], "Tipp": ["human"]})
    mapping = {"label": "Herkunft", "prediction": "Tipp"}
    found = EvaluateModel(dataset=frame, model_type="ai_detection", mapping=mapping).evaluate_classification_model()
    assert found.accuracy.value == 0.0
    with pytest.raises(InputError, match="the column 'label' is missing"):
        EvaluateModel(dataset=frame, model_type="ai_detection").evaluate_classification_model()


def test_generated_texts_are_scored_against_references():
    frame = pl.DataFrame(
        {"feedback": ["the cat sat on the mat", None], "expert_feedback": ["the cat sat on a mat"] * 2}
    )
    found = feedback(dataset=frame).evaluate_generative_model()
    # 5 of 6 words are shared in the first row and none in the second.
    assert found.rouge["rouge1"].value == pytest.approx(5 / 12)
    assert found.empty == 1
    named = frame.rename({"feedback": "a", "expert_feedback": "b"})
    assert feedback(dataset=named).evaluate_generative_model(generated="a", reference="b").rouge == found.rouge
    with pytest.raises(InputError, match=r"the column 'reference' is missing.*name it with reference='COLUMN'"):
        feedback(dataset=frame.drop("expert_feedback")).evaluate_generative_model()


def test_scores_that_do_not_fit_the_model_type_are_refused():
    with pytest.raises(UserError, match="feedback_generation has no labels to predict"):
        feedback().evaluate_classification_model()
    with pytest.raises(UserError, match="ai_detection has no generated texts"):
        EvaluateModel(dataset=pd.DataFrame(DETECTION), model_type="ai_detection").evaluate_generative_model()


def test_a_frame_without_rows_is_refused():
    empty = pd.DataFrame({"label": [], "prediction": [], "text": []})
    evaluated = EvaluateModel(dataset=empty, model_type="ai_detection")
    with pytest.raises(InputError, match="there are no rows"):
        evaluated.evaluate_classification_model()
    with pytest.raises(InputError, match="there are no rows"):
        evaluated.construct_data_message()
