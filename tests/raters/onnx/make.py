"""Makes the tiny networks of this folder: python make.py (needs torch, transformers and onnx).

Each has the architecture, the inputs and the configuration of a model in the catalogue, a vocabulary of a few words
and random weights. `expected.json` has the outputs of the original in PyTorch for some pairs of evidence and claim,
prepared as the model's own package prepares them. The vocabularies come out a little different each time.
"""

# pyright: basic
import json
import shutil
from pathlib import Path

import onnx
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

FOLDER = Path(__file__).parent
PAIRS = [
    ("The mill burned down in 1901. The harbour lies north of the town.", "The mill burned down in 1901."),
    ("The harbour lies north of the town.", "The harbour lies south of the mill, and the town burned."),
    ("Bread.", "The town has a mill."),
]
HHEM = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {}\n\nHypothesis: {}"
LETTUCE = "\nSummarize the following text:\npassage 1: {}\noutput:\n"
SIZES = {
    "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
    "initializer_range": 0.4,
}  # fmt: skip


def pieces(special: list[str], start: str, end: str) -> Tokenizer:
    """A SentencePiece vocabulary, as DeBERTa-v3 and T5 have one."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    unknown = next(token for token in special if "unk" in token.lower())
    trainer = trainers.UnigramTrainer(vocab_size=150, special_tokens=special, unk_token=unknown, show_progress=False)
    return trained(tokenizer, trainer, start, end)


def byte_pairs(special: list[str], start: str, end: str) -> Tokenizer:
    """Pairs of bytes, as RoBERTa and ModernBERT have them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    return trained(tokenizer, trainer, start, end)


def words(special: list[str], start: str, end: str) -> Tokenizer:
    """Words and their parts, as BERT has them."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return trained(tokenizer, trainers.WordPieceTrainer(vocab_size=150, special_tokens=special), start, end)


def trained(tokenizer: Tokenizer, trainer: object, start: str, end: str) -> Tokenizer:
    tokenizer.train_from_iterator([text for pair in PAIRS for text in pair] + [HHEM, LETTUCE], trainer)
    numbers = [(token, tokenizer.token_to_id(token)) for token in (start, end) if token]
    if end == "</s>" and start:
        tokenizer.post_processor = processors.RobertaProcessing(numbers[1], numbers[0])
    else:
        head = f"{start} $A {end}".strip()
        pair = f"{head} $B:1 {end}:1"
        tokenizer.post_processor = processors.TemplateProcessing(single=head, pair=pair, special_tokens=numbers)
    return tokenizer


class Logits(torch.nn.Module):
    """The model with its logits as its only output."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        more = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        return self.model(input_ids=input_ids, attention_mask=attention_mask, **more).logits


def write(name, model, tokenizer, prepared, *, kinds=False, **changed) -> None:
    """One network: `prepared` makes of evidence and claim what the tokenizer is called with."""
    folder = FOLDER / name
    folder.mkdir(exist_ok=True)
    network = Logits(model).eval()
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if kinds else [])]
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    axes = {0: "batch", 1: "sequence"}
    outputs = axes if "Token" in type(model).__name__ else {0: "batch"}
    example = fast(*prepared(*PAIRS[0]), return_tensors="pt", return_token_type_ids=kinds)
    torch.onnx.export(
        network, tuple(example[one] for one in inputs), folder / "model.onnx", input_names=inputs,
        output_names=["logits"], opset_version=17, dynamo=False,
        dynamic_axes={**dict.fromkeys(inputs, axes), "logits": outputs},
    )  # fmt: skip
    config = {**model.config.to_dict(), "architectures": [type(model).__name__], **changed}
    for key in ("transformers_version", "dtype", "_name_or_path", "use_cache"):
        config.pop(key, None)
    (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = []
    for pair in PAIRS:
        encoded = fast(*prepared(*pair), return_tensors="pt", return_token_type_ids=kinds)
        with torch.inference_mode():
            rows.append(network(**encoded)[0].tolist())
        if name == "lettucedetect":  # the claim's tokens: all of them and the final mark end the sequence
            count = len(fast(pair[1], add_special_tokens=False)["input_ids"])
            rows[-1] = rows[-1][-count - 1 : -1]
        elif name == "hhem":
            rows[-1] = rows[-1][0]
    expected = [
        {"evidence": evidence, "claim": claim, "logits": row}
        for (evidence, claim), row in zip(PAIRS, rows, strict=True)
    ]
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
    print(name, {path.name: path.stat().st_size for path in sorted(folder.iterdir())})


def external_data(name: str, copied: str) -> None:
    """A copy of a network with its weights in a file of their own, as networks above 2 GB have them."""
    folder = Path(shutil.copytree(FOLDER / name, FOLDER / copied, dirs_exist_ok=True))
    (folder / "model.onnx_data").unlink(missing_ok=True)
    network = onnx.load(FOLDER / name / "model.onnx")
    options = {"save_as_external_data": True, "location": "model.onnx_data", "size_threshold": 100}
    onnx.save(network, folder / "model.onnx", **options)


def labels(*names: str) -> dict[str, dict]:
    return {"id2label": dict(enumerate(names)), "label2id": {name: place for place, name in enumerate(names)}}


def seeded(kind, config):
    torch.manual_seed(17)
    config._attn_implementation = "eager"
    return kind(config).eval()


def main() -> None:
    pair = lambda evidence, claim: (evidence, claim)  # noqa: E731
    bert = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    roberta = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]

    tokenizer = words(bert, "[CLS]", "[SEP]")
    config = transformers.BertConfig(vocab_size=150, max_position_embeddings=128, type_vocab_size=2, **SIZES,
                                     **labels("entailment", "not_entailment"))  # fmt: skip
    model = seeded(transformers.BertForSequenceClassification, config)
    write("bert", model, tokenizer, pair, kinds=True)
    external_data("bert", "external")

    tokenizer = pieces(bert, "[CLS]", "[SEP]")
    config = transformers.DebertaV2Config(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=128, relative_attention=True,
        position_buckets=16, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"],
        position_biased_input=False, type_vocab_size=0, pooler_hidden_size=16, **SIZES,
        **labels("entailment", "neutral", "contradiction"),
    )  # fmt: skip
    write("deberta", seeded(transformers.DebertaV2ForSequenceClassification, config), tokenizer, pair)

    tokenizer = byte_pairs(roberta, "<s>", "</s>")
    sizes = {"vocab_size": 300, "max_position_embeddings": 130, "type_vocab_size": 1, **SIZES}
    config = transformers.RobertaConfig(**sizes, **labels("contradiction", "entailment", "neutral"))
    write("roberta", seeded(transformers.RobertaForSequenceClassification, config), tokenizer, pair)
    config = transformers.RobertaConfig(**sizes, **labels("0", "1"))
    joined = lambda evidence, claim: (f"{evidence}</s>{claim}",)  # noqa: E731
    write("minicheck", seeded(transformers.RobertaForSequenceClassification, config), tokenizer, joined)

    tokenizer = byte_pairs(bert, "[CLS]", "[SEP]")
    sizes = {
        "vocab_size": 300, "max_position_embeddings": 256, "local_attention": 16, "pad_token_id": 0, "cls_token_id": 1,
        "sep_token_id": 2, "bos_token_id": 1, "eos_token_id": 2, **SIZES,
    }  # fmt: skip
    config = transformers.ModernBertConfig(**sizes, **labels("entailment", "neutral", "contradiction"))
    write("modernbert", seeded(transformers.ModernBertForSequenceClassification, config), tokenizer, pair)
    config = transformers.ModernBertConfig(**sizes, **labels("LABEL_0", "LABEL_1"))
    asked = lambda evidence, claim: (LETTUCE.format(evidence), claim)  # noqa: E731
    write("lettucedetect", seeded(transformers.ModernBertForTokenClassification, config), tokenizer, asked)

    tokenizer = pieces(["<pad>", "</s>", "<unk>"], "", "</s>")
    config = transformers.T5Config(
        vocab_size=tokenizer.get_vocab_size(), d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
        initializer_factor=0.6, **labels("hallucinated", "consistent"),
    )  # fmt: skip
    asked = lambda evidence, claim: (HHEM.format(evidence, claim),)  # noqa: E731
    write("hhem", seeded(transformers.T5ForTokenClassification, config), tokenizer, asked,
          architectures=["HHEMv2ForSequenceClassification"], model_type="HHEMv2Config")  # fmt: skip


if __name__ == "__main__":
    main()
