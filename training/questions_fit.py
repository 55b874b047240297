"""Fit the weights of the offline answerer on the development half of the questions.

`python -m training.questions_fit` prints weights to paste into `evenhand/questeval/answerer.py`, and how they do on
stories that they were not fitted on (each story left out in turn). To be run again when the network has changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from evenhand.nlp.words import token_f1
from evenhand.questeval import passages
from evenhand.questeval.answerer import Answerer, Weights
from evenhand.questeval.wanted import wanted
from evenhand.verify.network import shared
from training.questions_cases import Case, cases

Matrix = NDArray[np.float64]
RIGHT = 0.6
"""Token F1 from which a candidate counts as the answer."""
_PULL = 0.004


class _Solved(Protocol):
    """What is used of scipy's result, which has no types."""

    x: Matrix


@dataclass(frozen=True, slots=True)
class Lesson:
    """The candidates of one question, a row of clues each, the first one standing for "no answer"; which are right."""

    story: int
    clues: Matrix
    right: NDArray[np.bool_]


def lesson(answerer: Answerer, case: Case) -> Lesson:
    """A question's candidates, and which of them (or none) are right."""
    text = passages.read(case.text, case.language)
    found = answerer.candidates(wanted(case.question, case.language), text)
    width = len(Weights._fields)
    clues = np.zeros((len(found) + 1, width))
    right = np.zeros(len(found) + 1, dtype=np.bool_)
    for row, candidate in enumerate(found, start=1):
        clues[row] = (1.0, *candidate.clues)
        answer = case.text[candidate.start : candidate.end]
        right[row] = case.answer is not None and token_f1(answer, case.answer, case.language) >= RIGHT
    right[0] = case.answer is None
    return Lesson(case.story, clues, right)


def fitted(lessons: Sequence[Lesson], used: Sequence[bool]) -> Matrix:
    """The weights that make right choices likeliest, pulled a little towards zero."""
    learnable = [one for one in lessons if one.right.any()]
    most = max(len(one.right) for one in learnable)
    clues = np.zeros((len(learnable), most, len(used)))
    right, there = (np.zeros((len(learnable), most), dtype=np.bool_) for _ in range(2))
    for row, one in enumerate(learnable):
        clues[row, : len(one.right)], right[row, : len(one.right)] = one.clues, one.right
        there[row, : len(one.right)] = True
    pull = np.array([0.0, *[_PULL] * (len(used) - 1)])

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        scores = np.where(there, clues @ weights, -np.inf)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = odds / odds.sum(axis=1, keepdims=True)
        hits = (shares * right).sum(axis=1, keepdims=True)
        slope = ((shares - shares * right / hits)[:, :, None] * clues).sum(axis=(0, 1)) / len(learnable)
        return float(-np.log(hits).mean() + (pull * weights**2).sum() / 2), slope + pull * weights

    bounds = [(None, None) if one else (0.0, 0.0) for one in used]
    solve = cast("Callable[..., _Solved]", minimize)
    return solve(loss, np.zeros(len(used)), jac=True, method="L-BFGS-B", bounds=bounds).x


def share_right(lessons: Sequence[Lesson], weights: Matrix) -> float:
    """How often the best choice is a right one."""
    return float(np.mean([one.right[int(np.argmax(one.clues @ weights))] for one in lessons]))


def report(name: str, lessons: Sequence[Lesson], used: Sequence[bool]) -> None:
    """Print the weights, how they do on what they were fitted on, and on stories left out."""
    weights = fitted(lessons, used)
    held_out: list[float] = []
    for story in sorted({one.story for one in lessons}):
        rest = fitted([one for one in lessons if one.story != story], used)
        held_out += [share_right([one], rest) for one in lessons if one.story == story]
    pairs = ", ".join(f"{field}={weight:.1f}" for field, weight in zip(Weights._fields, weights, strict=True) if weight)
    print(f"{name}: Weights({pairs})")
    print(f"  right choices {share_right(lessons, weights):.3f}, on stories left out {np.mean(held_out):.3f}")


def main() -> None:
    alone, helped = Answerer(None), Answerer(shared())
    every = [True] * len(Weights._fields)
    clues_only = [field not in ("supported", "contradicted") for field in Weights._fields]
    english, chinese = cases("dev", "en"), cases("dev", "zh")
    report("ALONE", [lesson(alone, case) for case in [*english, *chinese]], clues_only)
    report("WITH_NETWORK", [lesson(helped, case) for case in english], every)


if __name__ == "__main__":
    main()
