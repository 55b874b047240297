"""BERTScore: each word's vector, as an encoder gives it, matched with the most similar one of the other text.

Zhang et al. (2020), without weights for rare words and without a baseline taken off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import MissingExtraError, UserError
from evenhand.text import counted

BATCH = 32
_NONE = {"precision": 0.0, "recall": 0.0, "f1": 0.0}


@dataclass(frozen=True, slots=True)
class Encoder:
    """A model that gives a vector for each token, with its tokenizer; `layer` is the hidden layer that is read."""

    model: Any
    tokenizer: Any
    name: str
    layer: int

    @classmethod
    def of(cls, encoder: object, tokenizer: object | None, layer: int | None, device: str | None) -> "Encoder":
        """An encoder from a folder or a name on the Hugging Face hub, or one that is loaded already."""
        try:
            import torch  # pyright: ignore[reportMissingImports, reportUnusedImport] # noqa: F401
            import transformers  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise MissingExtraError("BERTScore", "hf") from None
        library: Any = transformers
        if not isinstance(encoder, str | Path):
            if tokenizer is None:
                raise UserError("encoder: a loaded encoder needs its tokenizer; give it with encoder_tokenizer")
            model: Any = encoder
        else:
            tokenizer, model = _loaded(library, str(encoder))
            if device is not None:
                model = model.to(device)
        layers = int(model.config.num_hidden_layers)
        chosen = layers if layer is None else layer
        if not 0 <= chosen <= layers:
            raise UserError(f"layer: {chosen} is not one of the encoder's layers, 0 to {layers}")
        name = str(encoder) if isinstance(encoder, str | Path) else str(getattr(model, "name_or_path", "")) or "encoder"
        return cls(model.eval(), tokenizer, name, chosen)

    @property
    def method(self) -> str:
        return f"BERTScore, encoder {self.name}, layer {self.layer}, no idf weights, no baseline"

    @property
    def longest(self) -> int:
        """How many tokens it reads; tokenizers without a limit of their own give an enormous number."""
        limits = [int(self.tokenizer.model_max_length), int(getattr(self.model.config, "max_position_embeddings", 0))]
        known = [limit for limit in limits if 0 < limit < 1_000_000]
        return min(known) if known else 512


def bert_scores(
    encoder: Encoder, generated: Sequence[str], reference: Sequence[str]
) -> tuple[list[Mapping[str, float]], Sequence[str]]:
    """Precision, recall and F of every pair, and what to remark on them. A pair with an empty side scores 0."""
    texts = sorted({text for text in (*generated, *reference) if text}, key=len)
    vectors: dict[str, tuple[Any, Any]] = {}
    cut = 0
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        found, too_long = _vectors(encoder, batch)
        vectors |= dict(zip(batch, found, strict=True))
        cut += too_long
    scores = [
        _matched(vectors[text], vectors[wanted]) if text and wanted else _NONE
        for text, wanted in zip(generated, reference, strict=True)
    ]
    remark = f"BERTScore read only the first {encoder.longest:,} tokens of {counted(cut, 'text')}"
    return scores, [remark] if cut else []


def _loaded(library: Any, encoder: str) -> tuple[Any, Any]:
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(encoder)
        return tokenizer, library.AutoModel.from_pretrained(encoder)
    except (OSError, ValueError) as error:
        first = str(error).partition("\n")[0]
        raise UserError(f"encoder: {encoder!r} cannot be loaded: {first}; give a folder with an encoder") from error


def _vectors(encoder: Encoder, texts: Sequence[str]) -> tuple[list[tuple[Any, Any]], int]:
    """For each text the unit vectors of its tokens, and which of them count: special tokens can be matched only."""
    import torch  # pyright: ignore[reportMissingImports]

    library: Any = torch
    too_long = sum(len(encoder.tokenizer(text, verbose=False)["input_ids"]) > encoder.longest for text in texts)
    given = encoder.tokenizer(
        list(texts),
        padding=True,
        truncation=True,
        max_length=encoder.longest,
        return_tensors="pt",
        return_special_tokens_mask=True,
    )
    special = given.pop("special_tokens_mask").bool()
    with library.no_grad():
        place = next(encoder.model.parameters()).device
        hidden = encoder.model(**given.to(place), output_hidden_states=True).hidden_states[encoder.layer]
    unit = library.nn.functional.normalize(hidden.float(), dim=-1).cpu()
    there = given["attention_mask"].cpu().bool()
    return [(unit[i][there[i]], ~special[i][there[i]]) for i in range(len(texts))], too_long


def _matched(generated: tuple[Any, Any], reference: tuple[Any, Any]) -> Mapping[str, float]:
    (ours, ours_count), (theirs, theirs_count) = generated, reference
    if not bool(ours_count.any()) or not bool(theirs_count.any()):
        return _NONE
    similar = ours @ theirs.T
    # Rounding can take the cosine of two equal vectors a little beyond 1.
    precision = min(1.0, float(similar.max(dim=1).values[ours_count].mean()))
    recall = min(1.0, float(similar.max(dim=0).values[theirs_count].mean()))
    total = precision + recall
    return {"precision": precision, "recall": recall, "f1": 2.0 * precision * recall / total if total > 0 else 0.0}
