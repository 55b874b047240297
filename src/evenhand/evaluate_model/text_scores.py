"""Generated texts against references: corpus BLEU by sacrebleu, ROUGE by rouge-score, BERTScore, over all rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evenhand.analysis.measures import resampled_mean
from evenhand.errors import UserError, optional_module
from evenhand.evaluate_model.classification import rows_counted
from evenhand.nlp.words import is_chinese, words
from evenhand.report.json import plain
from evenhand.report.numbers import described
from evenhand.statistics import DEFAULT, Estimate, FloatArray, Sample, undefined
from evenhand.text import counted

ROUGE = ("rouge1", "rouge2", "rougeL")
ORDER = 4
BATCH = 32
METRICS = ("BLEU and ROUGE", "metrics")
NO_REFERENCE = "no row has a reference"
Cut = Literal["english", "chinese", "characters", "words"]
Texts = Sequence[str]


@dataclass(frozen=True, slots=True)
class TextScores:
    """BLEU from 0 to 100, ROUGE-1, -2 and -L (the F measure) from 0 to 1, and BERTScore, at most 1; with intervals.

    An empty generated text scores 0 and is counted in `empty`; a row without a reference is in `left_out`.
    `bert_score` is None where no encoder was given. `per_row` has each row's own scores, `method` how they were made,
    for others to make them again.
    """

    rows: int
    left_out: Mapping[str, int]
    empty: int
    bleu: Estimate
    rouge: Mapping[str, Estimate]
    bert_score: Mapping[str, Estimate] | None
    per_row: Sequence[Mapping[str, float]]
    method: Mapping[str, str]
    remarks: Sequence[str]

    def as_dict(self) -> dict[str, object]:
        """The same as JSON would hold it, without the single rows."""
        return {name: value for name, value in plain(self).items() if name != "per_row"}

    def __str__(self) -> str:
        figures = {"BLEU": self.bleu, **self.rouge}
        figures |= {f"BERTScore {name}": found for name, found in (self.bert_score or {}).items()}
        lines = [rows_counted(self.rows, self.left_out)]
        lines += [f"  {name:<19} {described(found)}" for name, found in figures.items()]
        if self.empty:
            lines.append(f"empty generated texts, scored 0: {self.empty:,}")
        return "\n".join([*lines, *self.remarks])


def score_texts(
    generated: Sequence[str | None], reference: Sequence[str | None], language: str, encoder: "Encoder | None" = None
) -> TextScores:
    """BLEU and ROUGE of every row that has a reference, and BERTScore with an encoder; no text counts as an empty one.

    Raises MissingExtraError where the packages are not installed.
    """
    given = [(row, text or "") for row, text in enumerate(generated, start=1) if reference[row - 1]]
    ours, theirs = [text for _, text in given], [text for text in reference if text]
    cut = _cut([*theirs, *ours], language)
    scores, rouge_method = _rouge(ours, theirs, cut)
    bleu, bleu_method = _bleu(ours, theirs, cut)
    rouge = {name: _mean([row[name] for row in scores]) for name in ROUGE}
    method, remarks, bert = {"bleu": bleu_method, "rouge": rouge_method}, _remarks(theirs, cut), None
    if encoder is not None:
        found, more = bert_scores(encoder, ours, theirs)
        bert = {name: _mean([row[name] for row in found]) for name in _NONE}
        for row, pair in zip(scores, found, strict=True):
            row |= {f"bert_score_{name}": score for name, score in pair.items()}
        method["bert_score"] = encoder.method
        remarks += more
    left_out = len(generated) - len(given)
    return TextScores(
        rows=len(generated),
        left_out={"no_reference": left_out} if left_out else {},
        empty=ours.count(""),
        bleu=bleu,
        rouge=rouge,
        bert_score=bert,
        per_row=[{"row": row, **found} for (row, _), found in zip(given, scores, strict=True)],
        method=method,
        remarks=remarks,
    )


def _mean(values: Sequence[float]) -> Estimate:
    if not values:
        return undefined(NO_REFERENCE)
    return resampled_mean(np.array(values, dtype=np.float64), None, DEFAULT)


def _cut(texts: Texts, language: str) -> Cut:
    """How texts fall into words: all in one way, or two texts could not be compared."""
    if language.partition("-")[0] in ("ja", "ko", "th"):
        return "characters"
    if any(is_chinese(text, language) for text in texts):
        return "chinese"
    return "english" if language.partition("-")[0] == "en" else "words"


@dataclass(frozen=True, slots=True)
class _Words:
    """Words for ROUGE where the package's own tokenizer, made for English, would drop every letter beyond a to z."""

    cut: Cut

    def tokenize(self, text: str) -> list[str]:
        text = text.lower()
        if self.cut == "chinese":
            return [word for word in words(text, "zh") if re.search(r"\w", word)]
        return re.findall(r"\w" if self.cut == "characters" else r"\w+", text)


def _rouge(generated: Texts, reference: Texts, cut: Cut) -> tuple[list[dict[str, float]], str]:
    package = optional_module("rouge_score.rouge_scorer", *METRICS)
    tokenizer = None if cut == "english" else _Words(cut)
    scorer = package.RougeScorer(list(ROUGE), use_stemmer=False, tokenizer=tokenizer)
    found = (scorer.score(wanted, text) for text, wanted in zip(generated, reference, strict=True))
    scores = [{name: float(one[name].fmeasure) for name in ROUGE} for one in found]
    return scores, f"rouge-score, F measure, no stemming, words cut as {cut}"


def _bleu(generated: Texts, reference: Texts, cut: Cut) -> tuple[Estimate, str]:
    make_bleu = optional_module("sacrebleu.metrics.bleu", *METRICS).BLEU
    tokenize = {"chinese": "zh", "characters": "char"}.get(cut, "13a")
    if not generated:
        return undefined(NO_REFERENCE), f"sacrebleu, tokenizer {tokenize}"
    corpus = make_bleu(tokenize=tokenize)
    score = corpus.corpus_score(generated, [reference])
    # The order is made to fit single rows only so that sacrebleu does not warn: the counts are the same either way.
    rows = make_bleu(tokenize=tokenize, effective_order=True)
    single = [rows.sentence_score(text, [wanted]) for text, wanted in zip(generated, reference, strict=True)]
    sample = Sample.of(np.array([[one.sys_len, one.ref_len, *one.counts, *one.totals] for one in single], np.float64))
    found = sample.estimate(sample.rows, bleu_of_counts, len(single), "")
    return replace(found, value=float(score.score)), str(corpus.get_signature())


def bleu_of_counts(sums: FloatArray) -> FloatArray:
    """BLEU as sacrebleu computes it by default, from lengths (generated, reference), n-gram hits and n-gram counts."""
    generated, reference = sums[..., 0], sums[..., 1]
    hits, given = sums[..., 2 : 2 + ORDER], sums[..., 2 + ORDER :]
    missed = (hits == 0) & (given > 0)
    smoothed = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), hits)
    precision = np.divide(smoothed, given, out=np.zeros_like(given), where=given > 0)
    scored = (precision > 0).all(axis=-1) & (hits > 0).any(axis=-1)
    logarithm = np.log(precision, out=np.zeros_like(precision), where=precision > 0).mean(axis=-1)
    short = np.divide(reference, generated, out=np.ones_like(reference), where=generated > 0)
    brevity = np.where(generated < reference, np.exp(1.0 - short), 1.0)
    return np.where(scored, 100.0 * brevity * np.exp(logarithm), 0.0)


def _remarks(reference: Texts, cut: Cut) -> list[str]:
    strange = sum(re.search(r"[a-z0-9]", text.lower()) is None for text in reference) if cut == "english" else 0
    if not strange:
        return []
    what = "1 reference has" if strange == 1 else f"{strange:,} references have"
    return [f"{what} no word in the letters a to z, so that ROUGE is 0 there; name the language, such as language='ru'"]


# --- BERTScore: Zhang et al. (2020), without weights for rare words and without a baseline taken off ---

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
        _, library = (optional_module(name, "BERTScore", "hf") for name in ("torch", "transformers"))
        model: Any = encoder
        name = str(getattr(model, "name_or_path", "")) or "encoder"
        if isinstance(encoder, str | Path):
            name = str(encoder)
            try:
                tokenizer, model = (kind.from_pretrained(name) for kind in (library.AutoTokenizer, library.AutoModel))
            except (OSError, ValueError) as error:
                why = str(error).partition("\n")[0]
                raise UserError(f"encoder: {name!r} cannot be loaded: {why}; give a folder with an encoder") from error
            model = model if device is None else model.to(device)
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
    encoder: Encoder, generated: Texts, reference: Texts
) -> tuple[list[Mapping[str, float]], Sequence[str]]:
    """Precision, recall and F of every pair, and what to remark on them. A pair with an empty side scores 0.

    Each token's vector, as the encoder gives it, is matched with the most similar one of the other text.
    """
    texts = sorted({text for text in (*generated, *reference) if text}, key=len)
    vectors: dict[str, tuple[Any, Any]] = {}
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        vectors |= dict(zip(batch, _vectors(encoder, batch), strict=True))
    scores = [
        _matched(vectors[text], vectors[wanted]) if text and wanted else _NONE
        for text, wanted in zip(generated, reference, strict=True)
    ]
    cut = sum(len(encoder.tokenizer(text, verbose=False)["input_ids"]) > encoder.longest for text in texts)
    remark = f"BERTScore read only the first {encoder.longest:,} tokens of {counted(cut, 'text')}"
    return scores, [remark] if cut else []


def _vectors(encoder: Encoder, texts: Texts) -> list[tuple[Any, Any]]:
    """For each text the unit vectors of its tokens, and which of them count: special tokens can be matched only."""
    library = optional_module("torch", "BERTScore", "hf")
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
        return _NONE
    similar = ours @ theirs.T
    # Rounding can take the cosine of two equal vectors a little beyond 1.
    precision = min(1.0, float(similar.max(dim=1).values[ours_count].mean()))
    recall = min(1.0, float(similar.max(dim=0).values[theirs_count].mean()))
    total = precision + recall
    return {"precision": precision, "recall": recall, "f1": 2.0 * precision * recall / total if total > 0 else 0.0}
