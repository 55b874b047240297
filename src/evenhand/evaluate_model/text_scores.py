"""Generated texts against references: corpus BLEU by sacrebleu, ROUGE by rouge-score, BERTScore, over all rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from evenhand.evaluate_model.classification import rows_counted
from evenhand.overlap import (
    NO_MATCH,
    Cut,
    Cutter,
    Encoder,
    Texts,
    bert_scores,
    bleu_rows,
    bleu_score,
    cut_of,
    rouge_rows,
    sacrebleu_metric,
)
from evenhand.report.json import plain
from evenhand.report.numbers import described
from evenhand.statistics import DEFAULT, Estimate, FloatArray, Sample, resampled_mean, undefined

ROUGE = ("rouge1", "rouge2", "rougeL")
NO_REFERENCE = "no row has a reference"


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
    generated: Sequence[str | None], references: Sequence[Texts], language: str, encoder: Encoder | None = None
) -> TextScores:
    """BLEU and ROUGE of every row that has references, and BERTScore with an encoder; no text counts as an empty one.

    Of several references, BLEU takes all as sacrebleu does; ROUGE and BERTScore are the mean over them. Raises
    MissingExtraError where the packages are not installed.
    """
    given = [(row, text or "") for row, text in enumerate(generated, start=1) if references[row - 1]]
    ours, theirs = [text for _, text in given], [texts for texts in references if texts]
    cut = cut_of([*(text for texts in theirs for text in texts), *ours], language)
    scores = rouge_rows(ROUGE, ours, theirs, None if cut == "english" else Cutter(cut))
    rouge_method = f"rouge-score, F measure, no stemming, split into words as {cut.capitalize()}"
    bleu, bleu_method = _bleu(ours, theirs, cut)
    rouge = {name: _mean([row[name] for row in scores]) for name in ROUGE}
    method, remarks, bert = {"bleu": bleu_method, "rouge": rouge_method}, _remarks(theirs, cut), None
    if encoder is not None:
        found, more = bert_scores(encoder, ours, theirs)
        bert = {name: _mean([row[name] for row in found]) for name in NO_MATCH}
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


def _bleu(generated: Texts, references: Sequence[Texts], cut: Cut) -> tuple[Estimate, str]:
    corpus, by = sacrebleu_metric(cut), ", Chinese words by rjieba" if cut == "chinese" else ""
    if not generated:
        return undefined(NO_REFERENCE), f"sacrebleu{by}"
    corpus.corpus_score(generated, list(zip_longest(*references)))  # for its signature
    sample = Sample.of(np.array(bleu_rows(generated, references, cut), np.float64))

    def score(sums: FloatArray) -> FloatArray:
        # Those of a large sample come from a normal distribution: not whole, and perhaps below 0.
        return np.array(list(map(bleu_score, np.maximum(sums.round(), 0.0).astype(np.int64).tolist())))

    return sample.estimate(sample.rows, score, len(generated), ""), f"{corpus.get_signature()}{by}"


def _remarks(references: Sequence[Texts], cut: Cut) -> list[str]:
    every = [text for texts in references for text in texts] if cut == "english" else []
    strange = sum(re.search(r"[a-z0-9]", text.lower()) is None for text in every)
    if not strange:
        return []
    what = "1 reference has" if strange == 1 else f"{strange:,} references have"
    return [f"{what} no word in the letters a to z, so that ROUGE is 0 there; name the language, such as language='ru'"]
