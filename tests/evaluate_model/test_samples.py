"""The two code samples that the class was made for run as they stand; only the names around them are stood in for."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import evenhand
from tests.llm import tiny_model

COMMERCIAL = """
evaluateModel = EvaluateModel(
    dataset=testset,
    model_type="feedback_generation",  # feedback_generation/ai_detection
    device="automap"
)

evaluateModel.construct_data_message()  # Create the prompt for the dataset

with open(output_file, "w", encoding="utf-8") as f:
    for prompt in evaluateModel.dataset_prompt:
        result = generated_response_gemini(prompt)
"""

HUGGING_FACE = """
from huggingface_hub import login

model_id = "mistralai/Mistral-7B-Instruct-v0.2"
token = "YOUR_TOKEN"
login(token=token)

model = AutoModelForCausalLM.from_pretrained(
    model_id,
    torch_dtype=torch.float16,
    device_map="auto"
)
tokenizer = AutoTokenizer.from_pretrained(model_id)
testset = pd.read_csv("/kaggle/input/test-feedback/Code Review Feedback Examples.csv")

test_val = EvaluateModel(
    model=model,
    tokenizer=tokenizer,
    dataset=testset,
    model_type="feedback_generation",  # feedback_generation/ai_detection
    device="automap"
)

test_val.model_based_evaluation()
"""

TESTSET = pd.DataFrame({"feedback": ["Name the variable.", "Nice loop."], "domain": ["Code", "Code"]})


def test_the_sample_for_commercial_models_runs(tmp_path: Path):
    sent: list[str] = []
    names: dict[str, Any] = {
        "EvaluateModel": evenhand.EvaluateModel,
        "testset": TESTSET,
        "output_file": tmp_path / "out.txt",
        "generated_response_gemini": sent.append,
    }
    exec(COMMERCIAL, names)
    assert len(sent) == 2
    assert "Name the variable." in sent[0]
    assert "Nice loop." in sent[1]


def test_the_sample_for_hugging_face_models_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    folder = tiny_model.make_model(tmp_path / "model", context=16_384)
    tokens, library = list[str](), tiny_model.transformers

    def login(token: str) -> None:
        tokens.append(token)

    def model(name: str, **options: object) -> object:
        return library.AutoModelForCausalLM.from_pretrained(folder)

    def tokenizer(name: str) -> object:
        return library.AutoTokenizer.from_pretrained(folder)

    def read_csv(path: str) -> pd.DataFrame:
        return TESTSET.head(1)

    # A model without any training never comes to an end by itself.
    monkeypatch.setattr("evenhand.raters.llm_judge.rater.REPLY_TOKENS", 200)
    # The hub itself is out of reach for a test.
    monkeypatch.setattr("huggingface_hub.login", login)
    names: dict[str, Any] = {
        "EvaluateModel": evenhand.EvaluateModel,
        "AutoModelForCausalLM": SimpleNamespace(from_pretrained=model),
        "AutoTokenizer": SimpleNamespace(from_pretrained=tokenizer),
        "torch": tiny_model.torch,
        "pd": SimpleNamespace(read_csv=read_csv),
    }
    exec(HUGGING_FACE, names)
    results = names["test_val"].results
    assert tokens == ["YOUR_TOKEN"]
    assert [row["row"] for row in results] == [1]
    # What a model without any training says is chance; that a row is rated or failed is not.
    assert bool(results[0]["ratings"]) != bool(results[0]["failures"])
    assert "feedback, rated by" in capsys.readouterr().out
