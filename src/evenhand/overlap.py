"""How far a generated text overlaps with its references: BLEU, ROUGE, chrF, token F1 and BERTScore.

BLEU and chrF are sacrebleu's, ROUGE is rouge-score's; BERTScore needs an encoder. BLEU and chrF define what several
references mean; for the others each reference is compared by itself.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from evenhand.errors import UserError, optional_module
from evenhand.llm.hugging_face.model import load_pretrained
from evenhand.nlp.words import is_chinese, token_f1, words
from evenhand.text import counted

BATCH = 32
BLEU_ORDER = 4
MOST_PAIRS = 10_000_000
"""Pairs of words, one of each text, up to which ROUGE-L is computed: rouge-score has a table of them in memory."""
Cut = Literal["english", "chinese", "characters", "words"]
_TOKENIZERS: Mapping[Cut, str] = {"chinese": "none", "characters": "char"}
"""sacrebleu's names for its tokenizers; 13a for texts with spaces between words. Chinese is split before."""
Texts = Sequence[str]
Over = Callable[[Iterable[float]], float]
"""What is taken of the scores against several references: their mean, or the best."""


SACREBLEU = "sacrebleu", "BLEU and chrF", "metrics"
ROUGE_SCORE = "rouge_score", "ROUGE", "metrics"
TORCH = "torch", "BERTScore", "hf"
PACKAGES: Mapping[str, tuple[str, str, str]] = {
    **{f"BLEU-{n}": SACREBLEU for n in range(1, BLEU_ORDER + 1)},
    "ROUGE-L": ROUGE_SCORE,
    "chrF": SACREBLEU,
    "BERTScore": TORCH,
}
"""The optional package of each score that needs one, what else it is for, and the extra that has it."""


def method_of(score: str, encoder: "Encoder | None" = None) -> str:
    """How a score is made, for others to make it again. Raises MissingExtraError if its package is not installed."""
    if score not in PACKAGES:
        return "words as in answer_f1"
    optional_module(*PACKAGES[score])
    package = PACKAGES[score][0]
    return encoder.method if encoder else f"{package} {version(package)}"


def overlap_scores(
    names: Collection[str], text: str, references: Texts, language: str, encoder: "Encoder | None" = None
) -> tuple[dict[str, float], dict[str, str]]:
    """Some scores of one text, from 0 to 1, and remarks, both by score; of several references the best counts.

    A score that cannot be computed is absent, and its remark is the reason.
    """
    cut = cut_of([text, *references], language)
    found, remarks = dict[str, float](), dict[str, str]()
    if any(name.startswith("BLEU") for name in names):
        (row,) = bleu_rows([text], [references], cut)
        found |= {f"BLEU-{n}": bleu_score(row, n, effective_order=True) / 100 for n in range(1, BLEU_ORDER + 1)}
    if "chrF" in names:
        found["chrF"] = _chrf().sentence_score(text, references).score / 100
    if "ROUGE-L" in names:
        # The package's own words, without dropping letters beyond a to z.
        cutter = Cutter("words" if cut == "english" else cut)
        longest = max(len(cutter.tokenize(one)) for one in references)
        if len(cutter.tokenize(text)) * longest <= MOST_PAIRS:
            found["ROUGE-L"] = rouge_rows(["rougeL"], [text], [references], cutter, over=max)[0]["rougeL"]
        else:
            remarks["ROUGE-L"] = f"too long for ROUGE-L, which compares at most {MOST_PAIRS:,} pairs of words"
    if "token-F1" in names:
        found["token-F1"] = max(token_f1(text, one, language) for one in references)
    if encoder is not None and "BERTScore" in names:
        (row,), more = bert_scores(encoder, [text], [references], over=max)
        found["BERTScore"] = row["f1"]
        remarks |= dict.fromkeys(["BERTScore"] if more else [], "; ".join(more))
    # Rounding takes the geometric mean of ones beyond 1; cosines below 0 are no overlap.
    return {name: min(1.0, max(0.0, found[name])) for name in names if name in found}, remarks


def cut_of(texts: Texts, language: str) -> Cut:
    """How texts fall into words: all in one way, or two texts could not be compared."""
    if language.partition("-")[0] in ("ja", "ko", "th"):
        return "characters"
    if any(is_chinese(text, language) for text in texts):
        return "chinese"
    return "english" if language.partition("-")[0] == "en" else "words"


@dataclass(frozen=True, slots=True)
class Cutter:
    """Words for ROUGE where the package's own tokenizer, made for English, would drop every letter beyond a to z."""

    cut: Cut

    def tokenize(self, text: str) -> list[str]:
        text = text.lower()
        if self.cut == "chinese":
            return [word for word in words(text, "zh") if re.search(r"\w", word)]
        return re.findall(r"\w" if self.cut == "characters" else r"\w+", text)


def rouge_rows(
    names: Sequence[str], generated: Texts, references: Sequence[Texts], cutter: Cutter | None, over: Over = fmean
) -> list[dict[str, float]]:
    """The F measures of each row against its references, without stemming; without a cutter the package cuts words."""
    package = optional_module("rouge_score.rouge_scorer", *ROUGE_SCORE[1:])
    scorer = package.RougeScorer(list(names), use_stemmer=False, tokenizer=cutter)
    found = ([scorer.score(one, text) for one in wanted] for text, wanted in zip(generated, references, strict=True))
    return [{name: over(float(one[name].fmeasure) for one in row) for name in names} for row in found]


def sacrebleu_metric(cut: Cut, **options: bool) -> Any:
    """sacrebleu's BLEU."""
    package = optional_module("sacrebleu.metrics.bleu", *SACREBLEU[1:])
    return package.BLEU(tokenize=_TOKENIZERS.get(cut, "13a"), **options)


def bleu_rows(generated: Texts, references: Sequence[Texts], cut: Cut) -> list[list[int]]:
    """What BLEU counts in each row: matching n-grams and all n-grams of each order, both lengths."""

    def spaced(text: str) -> str:
        return " ".join(words(text, "zh")) if cut == "chinese" else text

    # The order is made to fit single rows only so that sacrebleu does not warn: the counts are the same either way.
    metric, rows = _row_metric(cut), zip(generated, references, strict=True)
    found = [metric.sentence_score(spaced(text), list(map(spaced, wanted))) for text, wanted in rows]
    return [[*one.counts, *one.totals, one.sys_len, one.ref_len] for one in found]


def bleu_score(counts: Sequence[int], order: int = BLEU_ORDER, *, effective_order: bool = False) -> float:
    """BLEU up to n-grams of an order, 0 to 100, from a row of `bleu_rows` or sums of them; exponential smoothing."""
    hits, totals = list(counts[:order]), list(counts[BLEU_ORDER : BLEU_ORDER + order])
    options = {"smooth_method": "exp", "effective_order": effective_order, "max_ngram_order": order}
    return float(_row_metric("words").compute_bleu(hits, totals, *counts[2 * BLEU_ORDER :], **options).score)


@cache
def _row_metric(cut: Cut) -> Any:
    return sacrebleu_metric(cut, effective_order=True)


@cache
def _chrf() -> Any:
    return optional_module("sacrebleu.metrics.chrf", *SACREBLEU[1:]).CHRF()


# --- BERTScore: Zhang et al. (2020), without weights for rare words and without a baseline taken off ---

NO_MATCH = {"precision": 0.0, "recall": 0.0, "f1": 0.0}


@dataclass(frozen=True, slots=True)
class Encoder:
    """A model that gives a vector for each token, with its tokenizer; `layer` is the hidden layer that is read."""

    model: Any
    tokenizer: Any
    name: str
    layer: int

    @classmethod
    def of(cls, encoder: object, tokenizer: object | None, layer: int | None, device: str = "auto") -> "Encoder":
        """An encoder from a folder or a name on the Hugging Face hub, or one that is loaded already."""
        optional_module(*TORCH)
        model: Any = encoder
        name = str(getattr(model, "name_or_path", "")) or "encoder"
        if isinstance(encoder, str | Path):
            name = str(encoder)
            valid = "Valid is the folder of an encoder, or the id of one on the Hugging Face hub"
            model, tokenizer = load_pretrained("AutoModel", name, valid, device=device, dtype="float32")
        elif tokenizer is None:
            raise UserError("encoder: a loaded encoder needs its tokenizer; give it with encoder_tokenizer")
        layers = int(model.config.num_hidden_layers)
        chosen = layers if layer is None else layer
        if not 0 <= chosen <= layers:
            raise UserError(f"layer: {chosen} is not one of the encoder's layers, 0 to {layers}")
        return cls(model.eval(), tokenizer, name, chosen)

    @property
    def method(self) -> str:
        return f"BERTScore, encoder {self.name}, layer {self.layer}, no idf weights, no baseline"

    @property
    def longest(self) -> int:
        """How many tokens it reads; tokenizers without a limit of their own give an enormous number."""
        limits = [int(self.tokenizer.model_max_length), int(getattr(self.model.config, "max_position_embeddings", 0))]
        return min((limit for limit in limits if 0 < limit < 1_000_000), default=512)


def bert_scores(
    encoder: Encoder, generated: Texts, references: Sequence[Texts], over: Over = fmean
) -> tuple[list[Mapping[str, float]], Sequence[str]]:
    """Precision, recall and F of every row over its references, and what to remark on them. A pair with an
    empty side scores 0.

    Each token's vector, as the encoder gives it, is matched with the most similar one of the other text.
    """
    texts = sorted({text for some in (generated, *references) for text in some if text}, key=len)
    vectors: dict[str, tuple[Any, Any]] = {}
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        vectors |= dict(zip(batch, _vectors(encoder, batch), strict=True))
    scores: list[Mapping[str, float]] = []
    for text, wanted in zip(generated, references, strict=True):
        found = [_matched(vectors[text], vectors[one]) if text and one else NO_MATCH for one in wanted]
        scores.append({name: over(one[name] for one in found) for name in NO_MATCH})
    cut = sum(len(encoder.tokenizer(text, verbose=False)["input_ids"]) > encoder.longest for text in texts)
    remark = f"BERTScore read only the first {encoder.longest:,} tokens of {counted(cut, 'text')}"
    return scores, [remark] if cut else []


def _vectors(encoder: Encoder, texts: Texts) -> list[tuple[Any, Any]]:
    """For each text the unit vectors of its tokens, and which of them count: special tokens can be matched only."""
    library = optional_module(*TORCH)
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
    return [(unit[i][there[i]], ~special[i][there[i]]) for i in range(len(texts))]


def _matched(generated: tuple[Any, Any], reference: tuple[Any, Any]) -> Mapping[str, float]:
    (ours, ours_count), (theirs, theirs_count) = generated, reference
    if not bool(ours_count.any()) or not bool(theirs_count.any()):
        return NO_MATCH
    similar = ours @ theirs.T
    # Rounding can take the cosine of two equal vectors a little beyond 1.
    precision = min(1.0, float(similar.max(dim=1).values[ours_count].mean()))
    recall = min(1.0, float(similar.max(dim=0).values[theirs_count].mean()))
    total = precision + recall
    return {"precision": precision, "recall": recall, "f1": 2.0 * precision * recall / total if total > 0 else 0.0}
