"""Fit and measure the offline answerer of RAGQuestEval on claims that people marked as supported by their evidence.

`python -m training.questions DATA` measures on half of the evidence texts; with `--fit`, it prints weights fitted on
the other half. DATA has gzipped files of rows with `claim`, `evidence`, `label`, `source` and `group`.

Questions are made from a claim and answered from three texts: its evidence, which says the same in other words (token
F1 of the answer, 0 if declined, for key information that the evidence contains); the evidence without the sentences
that contain the key information; and the evidence of another claim. The last two have no answer (share declined). A
natural question has a question word in place of the gap.
"""

import argparse
import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from evenhand.nlp.sentences import sentences
from evenhand.nlp.words import token_f1
from evenhand.questeval.answerer import Clues, candidates, find_answer
from evenhand.questeval.cloze import GAP, cloze
from evenhand.questeval.key_info import key_info

FILES = ("extra_train", "fact_train", "grounding_dev")
SOURCES = ("squad", "hotpot", "fever", "summedits", "wice", "begin", "attributionbench")
MEASURED_ONLY = ("attributionbench",)
"""Not fitted on: its licence is not stated."""
PER_SOURCE = 150
PER_CLAIM = 4
ASKED_BY = {"name": "who", "date": "when", "number": "how many", "phrase": "what"}
RIGHT = 0.6
"""Token F1 from which a candidate counts as the answer."""
PULL = 0.002
REMOVED = "declined, sentence removed"
DECLINED = {"cloze": 0.85, "natural": 0.8}
"""The bias is set so that this share of the questions whose sentence was removed is declined."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """A question to a text; `answer` is None if the text does not answer it."""

    question: str
    text: str
    answer: str | None
    measured: str


class _Solved(Protocol):
    """What is used of scipy's result, which has no types."""

    x: Matrix


def pairs_by_source(folder: Path) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Supported claims with their evidence: one of each group, in an order that depends on the group's name only."""
    found: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for name in FILES:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                source = row["source"].split("-")[0]
                if row["label"] == "supported" and source in SOURCES:
                    key = hashlib.sha256(f"{row['source']} {row['group']}".encode()).hexdigest()
                    found[source].setdefault(key, (row["claim"], row["evidence"]))
    return {source: [pairs[key] for key in sorted(pairs)] for source, pairs in found.items()}


def cases(pairs: Sequence[tuple[str, str]], *, natural: bool) -> Iterator[Case]:
    for place, (claim, evidence) in enumerate(pairs):
        for info in key_info(claim, most=PER_CLAIM):
            question = cloze(claim, info).replace(GAP, ASKED_BY[info.kind] if natural else GAP)
            yield Case(question, pairs[place - 1][1], None, "declined, other text")
            parts = [evidence[start:end] for start, end in sentences(evidence)]
            left = [part for part in parts if info.text.lower() not in part.lower()]
            if len(left) < len(parts):
                yield Case(question, evidence, info.text, "F1")
                yield from [Case(question, " ".join(left), None, REMOVED)] if left else ()


def measure(name: str, asked: Sequence[Case]) -> None:
    figures: dict[str, list[float]] = defaultdict(list)
    for case in asked:
        found = find_answer(case.question, case.text)
        f1 = 0.0 if found.span is None else token_f1(found.answer, case.answer or "")
        figures[case.measured].append(float(found.span is None) if case.answer is None else f1)
    shown = (f"{measured} {np.mean(values):.3f} ({len(values):,})" for measured, values in sorted(figures.items()))
    print(f"{name:18}", "   ".join(shown), flush=True)


def fitted(asked: Sequence[Case], declined: float) -> Clues:
    """The weights that make right choices likeliest, pulled a little towards zero. A row of zeros is "no answer"."""
    lessons = [lesson for lesson in map(_lesson, asked) if lesson[1].any()]
    longest = max(len(right) for _, right in lessons)
    clues = np.zeros((len(lessons), longest, len(Clues._fields)))
    right, there = (np.zeros((len(lessons), longest), dtype=np.bool_) for _ in range(2))
    for row, (found, correct) in enumerate(lessons):
        clues[row, : len(found)], right[row, : len(found)], there[row, : len(found)] = found, correct, True
    pull = np.array([0.0, *[PULL] * (len(Clues._fields) - 1)])

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        scores = np.where(there, clues @ weights, -np.inf)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = odds / odds.sum(axis=1, keepdims=True)
        hits = (shares * right).sum(axis=1, keepdims=True)
        slope = ((shares - shares * right / hits)[:, :, None] * clues).sum(axis=(0, 1)) / len(lessons)
        return float(-np.log(hits).mean() + (pull * weights**2).sum() / 2), slope + pull * weights

    solve = cast("Callable[..., _Solved]", minimize)
    weights = solve(loss, np.zeros(len(Clues._fields)), jac=True, method="L-BFGS-B").x
    removed = [_lesson(case)[0][1:] @ weights for case in asked if case.measured == REMOVED]
    weights[0] -= np.quantile([scores.max(initial=-99.0) for scores in removed], declined)
    return Clues(*weights.round(2).tolist())


def _lesson(case: Case) -> tuple[Matrix, NDArray[np.bool_]]:
    found = candidates(case.question, case.text)
    f1 = [token_f1(case.text[one.start : one.end], case.answer) if case.answer else 0.0 for one in found]
    clues = np.array([[0.0] * len(Clues._fields), *(one.clues for one in found)])
    return clues, np.array([case.answer is None, *(value >= RIGHT for value in f1)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--fit", action="store_true", help="fit on the other half instead of measuring")
    options = parser.parse_args()
    by_source = pairs_by_source(options.data)
    for kind in ("cloze", "natural"):
        halves = {source: pairs[not options.fit :: 2][:PER_SOURCE] for source, pairs in by_source.items()}
        asked = {source: list(cases(half, natural=kind == "natural")) for source, half in halves.items()}
        if options.fit:
            used = [case for source in asked if source not in MEASURED_ONLY for case in asked[source]]
            print(kind, fitted(used, DECLINED[kind]))
            continue
        for source in asked:
            measure(source, asked[source])
        measure(f"all, {kind}", [case for some in asked.values() for case in some])


if __name__ == "__main__":
    main()
