"""Generated texts against references: corpus BLEU by sacrebleu, ROUGE by rouge-score, over all rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from evenhand.analysis.measures import resampled_mean
from evenhand.errors import MissingExtraError
from evenhand.nlp.words import is_chinese, words
from evenhand.report.numbers import described
from evenhand.statistics import DEFAULT, Estimate, FloatArray, Resampling, Sample, undefined

NO_REFERENCE = "no_reference"
ROUGE = ("rouge1", "rouge2", "rougeL")
ORDER = 4
Cut = Literal["english", "chinese", "characters", "words"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The rows that have a reference, with the generated text "" where there is none; `row` counts from 1."""

    row: Sequence[int]
    generated: Sequence[str]
    reference: Sequence[str]
    rows: int

    @classmethod
    def of(cls, generated: Sequence[str | None], reference: Sequence[str | None]) -> "Pairs":
        both = [
            (row, text or "", wanted)
            for row, (text, wanted) in enumerate(zip(generated, reference, strict=True), start=1)
            if wanted
        ]
        return cls([row for row, _, _ in both], [text for _, text, _ in both], [w for _, _, w in both], len(generated))


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
        bert = self.bert_score
        return {
            "rows": self.rows,
            "left_out": dict(self.left_out),
            "empty": self.empty,
            "bleu": self.bleu.to_dict(),
            "rouge": {name: found.to_dict() for name, found in self.rouge.items()},
            "bert_score": None if bert is None else {name: found.to_dict() for name, found in bert.items()},
            "method": dict(self.method),
            "remarks": list(self.remarks),
        }

    def __str__(self) -> str:
        lines = [
            f"{self.rows:,} rows" + "".join(f", {count:,} left out: {why}" for why, count in self.left_out.items())
        ]
        figures = {"BLEU": self.bleu, **self.rouge}
        figures |= {f"BERTScore {name}": found for name, found in (self.bert_score or {}).items()}
        lines += [f"  {name:<19} {described(found)}" for name, found in figures.items()]
        if self.empty:
            lines.append(f"empty generated texts, scored 0: {self.empty:,}")
        return "\n".join([*lines, *self.remarks])


def score_texts(pairs: Pairs, language: str, plan: Resampling = DEFAULT) -> TextScores:
    """BLEU and ROUGE of every pair. Raises MissingExtraError where their packages are not installed."""
    cut = _cut(pairs, language)
    rouge, rouge_method = _rouge(pairs, cut)
    bleu, bleu_method = _bleu(pairs, cut, plan)
    mean = partial(_mean, plan=plan)
    left_out = pairs.rows - len(pairs.row)
    return TextScores(
        rows=pairs.rows,
        left_out={NO_REFERENCE: left_out} if left_out else {},
        empty=sum(not text for text in pairs.generated),
        bleu=bleu,
        rouge={name: mean([scores[name] for scores in rouge]) for name in ROUGE},
        bert_score=None,
        per_row=[{"row": row, **scores} for row, scores in zip(pairs.row, rouge, strict=True)],
        method={"bleu": bleu_method, "rouge": rouge_method},
        remarks=_remarks(pairs, cut),
    )


def with_bert_score(
    scores: TextScores,
    found: Sequence[Mapping[str, float]],
    method: str,
    remarks: Sequence[str],
    plan: Resampling = DEFAULT,
) -> TextScores:
    """The same scores and BERTScore's, row by row in the same order."""
    names = ("precision", "recall", "f1")
    per_row = [
        {**row, **{f"bert_score_{name}": bert[name] for name in names}}
        for row, bert in zip(scores.per_row, found, strict=True)
    ]
    return replace(
        scores,
        bert_score={name: _mean([bert[name] for bert in found], plan) for name in names},
        per_row=per_row,
        method={**scores.method, "bert_score": method},
        remarks=[*scores.remarks, *remarks],
    )


def _mean(values: Sequence[float], plan: Resampling) -> Estimate:
    if not values:
        return undefined("no row has a reference")
    return resampled_mean(np.array(values, dtype=np.float64), None, plan)


def _cut(pairs: Pairs, language: str) -> Cut:
    """How texts fall into words: all in one way, or two texts could not be compared."""
    if language.partition("-")[0] in ("ja", "ko", "th"):
        return "characters"
    if any(is_chinese(text, language) for text in (*pairs.reference, *pairs.generated)):
        return "chinese"
    return "english" if language.partition("-")[0] == "en" else "words"


class _Words:
    """Words for ROUGE where the package's own tokenizer, made for English, would drop every letter beyond a to z."""

    def __init__(self, cut: Cut) -> None:
        self._cut = cut

    def tokenize(self, text: str) -> list[str]:
        text = text.lower()
        if self._cut == "chinese":
            return [word for word in words(text, "zh") if re.search(r"\w", word)]
        return re.findall(r"\w", text) if self._cut == "characters" else re.findall(r"\w+", text)


def _rouge(pairs: Pairs, cut: Cut) -> tuple[list[dict[str, float]], str]:
    try:
        from rouge_score.rouge_scorer import RougeScorer  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise MissingExtraError("BLEU and ROUGE", "metrics") from None
    scorer: Any = RougeScorer(list(ROUGE), use_stemmer=False, tokenizer=None if cut == "english" else _Words(cut))
    scores: list[dict[str, float]] = []
    for generated, reference in zip(pairs.generated, pairs.reference, strict=True):
        found = scorer.score(reference, generated)
        scores.append({name: float(found[name].fmeasure) for name in ROUGE})
    return scores, f"rouge-score, F measure, no stemming, words cut as {cut}"


def _bleu(pairs: Pairs, cut: Cut, plan: Resampling) -> tuple[Estimate, str]:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        raise MissingExtraError("BLEU and ROUGE", "metrics") from None
    tokenize = {"chinese": "zh", "characters": "char"}.get(cut, "13a")
    if not pairs.row:
        return undefined("no row has a reference"), f"sacrebleu, tokenizer {tokenize}"
    corpus = BLEU(tokenize=tokenize)
    score = corpus.corpus_score(pairs.generated, [pairs.reference])
    # The order is made to fit single rows only so that sacrebleu does not warn: the counts are the same either way.
    rows = BLEU(tokenize=tokenize, effective_order=True)
    sums = np.zeros((len(pairs.row), 2 + 2 * ORDER))
    for place, (generated, reference) in enumerate(zip(pairs.generated, pairs.reference, strict=True)):
        one = rows.sentence_score(generated, [reference])
        sums[place] = [one.sys_len, one.ref_len, *one.counts, *one.totals]
    sample = Sample.of(sums)
    found = sample.estimate(sample.rows, bleu_of_counts, len(sums), "", plan)
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


def _remarks(pairs: Pairs, cut: Cut) -> Sequence[str]:
    if cut != "english":
        return []
    strange = sum(re.search(r"[a-z0-9]", text.lower()) is None for text in pairs.reference)
    if not strange:
        return []
    what = "1 reference has" if strange == 1 else f"{strange:,} references have"
    return [f"{what} no word in the letters a to z, so that ROUGE is 0 there; name the language, such as language='ru'"]
