"""A Hugging Face classifier as the verifier's reader: what its labels mean, and that nothing is read by guesswork."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import UserError
from evenhand.raters.verifier.claim_readers import NliModel
from evenhand.units import split
from tests.llm.tiny_model import make_model, tokenizers, torch, transformers
from tests.raters.building import build
from tests.raters.rater_cases import one, protocol_named

WORDS = "[PAD] [UNK] [CLS] [SEP] the mill burned harbour lies north of town . in 1901".split()
PAIRS = [("the mill burned in 1901 .", "the mill burned ."), ("harbour lies north", "of the town"), ("mill", "mill")]


def make_classifier(folder: Path, names: Mapping[int, str], *, positions: int = 64) -> str:
    """The folder of a BERT with seeded weights and as many outputs as there are names."""
    words = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    words.normalizer = tokenizers.normalizers.BertNormalizer()
    words.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    words.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=positions,
    )  # fmt: skip
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=positions, initializer_range=0.6, id2label=dict(names),
        label2id={name: place for place, name in names.items()},
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def shares(folder: str, evidence: str, claim: str) -> list[float]:
    """The outputs as transformers itself gives them, one pair at a time."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.inference_mode():
        logits: Any = model(**tokenizer(evidence, claim, return_tensors="pt")).logits[0]
    return list(map(float, logits.softmax(-1)))


@pytest.mark.parametrize(
    "names",
    [
        {0: "ENTAILMENT", 1: "NEUTRAL", 2: "CONTRADICTION"},
        {0: "contradiction", 1: "entailment", 2: "neutral"},
        {0: "REFUTES", 1: "SUPPORTS", 2: "NOT ENOUGH INFO"},
    ],
    ids=lambda names: names[0],
)
def test_outputs_are_known_by_their_labels_in_any_order_and_batches_change_nothing(
    tmp_path: Path, names: Mapping[int, str]
):
    folder = make_classifier(tmp_path, names)
    found = NliModel(folder, device="cpu", batch_size=2).read(PAIRS)
    initials = [name[0].lower() for name in names.values()]
    first, second, third = (
        next(place for place, initial in enumerate(initials) if initial in wanted) for wanted in ("es", "cr", "n")
    )
    for (evidence, claim), reading in zip(PAIRS, found, strict=True):
        own = shares(folder, evidence, claim)
        assert [reading.supported, reading.contradicted, reading.neither] == [
            pytest.approx(own[place], abs=1e-5)  # pyright: ignore[reportUnknownMemberType]
            for place in (first, second, third)
        ]
    assert len({reading.supported for reading in found}) == 3


def test_two_outputs_are_enough(tmp_path: Path):
    folder = make_classifier(tmp_path, {0: "not_entailment", 1: "entailment"})
    (reading,) = NliModel(folder, device="cpu").read(PAIRS[:1])
    no, yes = shares(folder, *PAIRS[0])
    assert reading.contradicted == 0.0
    assert [reading.supported, reading.neither] == [
        pytest.approx(yes, abs=1e-5),  # pyright: ignore[reportUnknownMemberType]
        pytest.approx(no, abs=1e-5),  # pyright: ignore[reportUnknownMemberType]
    ]


def test_what_is_too_long_is_cut_and_not_refused(tmp_path: Path):
    folder = make_classifier(tmp_path, {0: "entailment", 1: "not_entailment"}, positions=32)
    long = "the mill burned . " * 50_000
    (reading,) = NliModel(folder, device="cpu").read([(long, "the mill " * 100)])
    assert reading.supported + reading.neither == pytest.approx(1.0)  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.parametrize("names", [{0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, {0: "positive", 1: "negative"}])
def test_labels_that_say_nothing_are_refused(tmp_path: Path, names: Mapping[int, str]):
    with pytest.raises(UserError, match=rf"labels in its config.json \({names[0]}, .*valid are entailment, neutral"):
        NliModel(make_classifier(tmp_path, names))


def test_a_model_of_another_kind_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match="this model is LlamaForCausalLM, no sequence classifier"):
        NliModel(make_model(tmp_path / "writes"))
    with pytest.raises(UserError, match=r"there is no such folder\. Valid is the folder of a sequence classification"):
        NliModel("./nowhere")
    folder = make_classifier(tmp_path / "cut", {0: "entailment", 1: "not_entailment"})
    weights = Path(folder) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(UserError, match="this model cannot be loaded"):
        NliModel(folder)


def test_the_verifier_reads_with_it(tmp_path: Path):
    folder = make_classifier(tmp_path, {0: "entailment", 1: "neutral", 2: "contradiction"})
    protocol = protocol_named("halo-support")
    rater = build(f"nli=verifier(hf:{folder})", protocol)
    task = one("halo-support")
    assert list(task.units) == list(split(protocol, task.item))
    (judgement,) = asyncio.run(rater.rate_units(task.item, task.units))
    (answer,) = judgement.answers
    assert answer.value in ("SUPPORTED", "CONTRADICTED", "NO EVIDENCE")
    assert sum(share for _, share in answer.distribution) == pytest.approx(1.0)  # pyright: ignore[reportUnknownMemberType]
    assert str(rater.settings["model"]).startswith(f"{folder}@")
    assert (rater.ref.id, rater.chats) == ("nli", ())
    assert json.dumps(dict(rater.settings))
