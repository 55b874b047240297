"""BERTScore, with an encoder that has learnt nothing and was made on the spot."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from evenhand.errors import UserError
from evenhand.evaluate_model.evaluator import EvaluateModel
from evenhand.overlap import Encoder, bert_scores, overlap_scores
from tests.llm.tiny_model import torch, transformers

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat", "on", "a", "mat", "dog", "ran"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("encoder")
    (place / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    transformers.BertTokenizer(str(place / "vocab.txt"), model_max_length=16).save_pretrained(place)
    torch.manual_seed(11)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        initializer_range=0.5,
    )
    transformers.BertModel(config).save_pretrained(place)
    return str(place)


def vectors(encoder: Encoder, text: str) -> list[list[float]]:
    """Each token's vector, the special ones at both ends included, by one plain call for one text."""
    given = encoder.tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        return encoder.model(**given, output_hidden_states=True).hidden_states[encoder.layer][0].tolist()


def cosine(a: list[float], b: list[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def by_the_paper(encoder: Encoder, generated: str, reference: str) -> tuple[float, float, float]:
    """Precision, recall and F as the paper defines them; special tokens can be matched but do not count."""
    ours, theirs = vectors(encoder, generated), vectors(encoder, reference)
    precision = [max(cosine(a, b) for b in theirs) for a in ours[1:-1]]
    recall = [max(cosine(a, b) for a in ours) for b in theirs[1:-1]]
    p, r = sum(precision) / len(precision), sum(recall) / len(recall)
    return p, r, 2 * p * r / (p + r)


@pytest.mark.parametrize("layer", [None, 0, 1])
def test_the_scores_are_those_of_the_paper(folder: str, layer: int | None):
    encoder = Encoder.of(folder, None, layer, "cpu")
    generated = ["the cat sat on the mat", "a dog", "the dog ran"]
    reference = ["the cat sat on a mat", "the cat sat on the mat", "the dog ran"]
    found, remarks = bert_scores(encoder, generated, [[one] for one in reference])
    for scores, text, wanted in zip(found, generated, reference, strict=True):
        assert list(scores.values()) == pytest.approx(by_the_paper(encoder, text, wanted), abs=1e-5)
    assert found[2]["f1"] == pytest.approx(1.0, abs=1e-5)
    assert found[1]["f1"] < 0.999
    assert remarks == []


def test_a_loaded_encoder_needs_its_tokenizer(folder: str):
    model = transformers.AutoModel.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    loaded, _ = bert_scores(Encoder.of(model, tokenizer, None), ["a cat"], [["the cat"]])
    assert loaded == bert_scores(Encoder.of(folder, None, None), ["a cat"], [["the cat"]])[0]
    with pytest.raises(UserError, match="a loaded encoder needs its tokenizer"):
        Encoder.of(model, None, None)


def test_what_an_encoder_does_not_have_is_refused(folder: str, tmp_path: Path):
    with pytest.raises(UserError, match="layer: 3 is not one of the encoder's layers, 0 to 2"):
        Encoder.of(folder, None, 3)
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "config.json").write_text(json.dumps({}), encoding="utf-8")
    with pytest.raises(UserError, match="empty: this model cannot be loaded"):
        Encoder.of(str(empty), None, None)


def test_a_text_beyond_the_encoders_reach_is_cut_and_named(folder: str):
    encoder = Encoder.of(folder, None, None, "cpu")
    long = "the cat sat on a mat " * 4
    found, remarks = bert_scores(encoder, [long], [[long + "dog"]])
    # 16 tokens of both are the same, so that nothing of the difference is left.
    assert found[0]["f1"] == pytest.approx(1.0, abs=1e-5)
    assert remarks == ["BERTScore read only the first 16 tokens of 2 texts"]


def test_all_rows_are_scored_and_an_empty_one_with_nought(folder: str):
    frame = pd.DataFrame({"feedback": ["the cat sat", None, "a dog ran"], "reference": ["the cat sat", "a dog", None]})
    evaluated = EvaluateModel(dataset=frame, model_type="feedback_generation", device="cpu")
    found = evaluated.evaluate_generative_model(encoder=folder)
    assert found.bert_score is not None
    assert found.bert_score["f1"].value == pytest.approx(0.5, abs=1e-5)
    assert found.bert_score["f1"].n == 2
    assert [row["bert_score_f1"] for row in found.per_row] == pytest.approx([1.0, 0.0], abs=1e-5)
    assert found.method["bert_score"].endswith("layer 2, no idf weights, no baseline")
    assert "BERTScore f1" in str(found)


def test_bert_score_is_that_of_the_best_reference_and_no_less_than_0(folder: str) -> None:
    encoder = Encoder.of(folder, None, None, "cpu")
    texts = ["the cat sat on a mat", "a dog ran", "the dog ran"]
    single = [overlap_scores(["BERTScore"], "the dog sat", [one], "en", encoder)[0]["BERTScore"] for one in texts]
    several, remarks = overlap_scores(["BERTScore"], "the dog sat", texts, "en", encoder)
    expected = [by_the_paper(encoder, "the dog sat", one)[2] for one in texts]
    assert single == pytest.approx([max(0.0, one) for one in expected], abs=1e-5)
    assert several["BERTScore"] == pytest.approx(max(single))
    assert remarks == {}
    assert "BERTScore" in overlap_scores(["BERTScore"], "the cat " * 20, texts, "en", encoder)[1]
