"""Fit the combination of network and checks on dev: `python -m training.fit DATA OUT`; OUT is combine.json.

Dev, because the network knows its own training pairs by heart: beside readings that are never wrong the checks would be
worth nothing. The likelihood is of whole claims, as people labelled them: a claim of several sentences is as likely
supported as its least likely sentence. Every set counts alike, whatever its size.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from evenhand.verify.combining import FEATURES, READ, Combination
from evenhand.verify.network import Network
from training.challenge import Wording, cases
from training.measured import Measured, labels_of, measured, shares_of
from training.scoring import accuracy_and_kappa, balanced_accuracy
from training.sets import CONTRADICTED, GROUNDING, NOT_SUPPORTED, SUPPORTED, Pair, Split, read, split

_SHRINK = 0.002
_STEPS = 400
_NLI = 600
_READ = len(READ)


def dev_pairs(data: Path) -> list[Pair]:
    """The dev split of every set, our own dev templates, some of SNLI's dev."""
    own = [*challenge_pairs("dev", "close"), *challenge_pairs("dev", "free")]
    return [*_split(data, "dev"), *own, *read(data, "nli_dev")[:_NLI]]


def challenge_pairs(split: Literal["dev", "test"], wording: Wording) -> list[Pair]:
    """The cases of the challenge set; `close` and `free` are two sets."""
    return [Pair(case.evidence, case.claim, case.label, wording, case.template) for case in cases(split, wording)]


def _split(data: Path, name: Split) -> list[Pair]:
    health = [pair for pair in read(data, "fact_train") if pair.set == "healthver"]
    return split([*read(data, "grounding_dev"), *health])[name]


def fit(found: Sequence[Measured], checks: bool = True) -> Combination:
    """The weights of readings and checks, or of readings alone, and the threshold."""
    found = [case for case in found if len(case.rows)]
    rows = np.concatenate([case.rows for case in found])
    weights = _solved(found, rows if checks else rows[:, :_READ])
    if not checks:
        weights = np.concatenate([weights[:-1], np.zeros((rows.shape[1] - _READ, 3)), weights[-1:]])
    return Combination(weights, _threshold(found, Combination(weights, 0.5)))


def _solved(found: Sequence[Measured], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights for the columns, and a last one that is always added."""
    ends = np.cumsum([len(case.rows) for case in found])
    pieces = [slice(int(end) - len(case.rows), int(end)) for end, case in zip(ends, found, strict=True)]
    mean, scale = rows.mean(0), rows.std(0).clip(min=1e-3)
    inputs = torch.tensor(np.column_stack([(rows - mean) / scale, np.ones(len(rows))]))
    weights = torch.zeros((inputs.shape[1], 3), dtype=torch.float64, requires_grad=True)
    each = torch.tensor(_weights([case.pair for case in found]))
    optimizer = torch.optim.LBFGS([weights], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        logs = torch.log_softmax(inputs @ weights, dim=1)
        told = torch.stack(
            [_log_right(logs[piece], case.pair.label) for piece, case in zip(pieces, found, strict=True)]
        )
        loss = -(told * each).sum() + _SHRINK * weights[:-1].square().sum()
        loss.backward()
        return loss

    optimizer.step(step)
    solved = weights.detach().numpy()
    plain = solved[:-1] / scale[:, None]
    return np.concatenate([plain, (solved[-1] - mean @ plain)[None]])


def _log_right(logs: torch.Tensor, label: str) -> torch.Tensor:
    """The logarithm of how likely a claim has the label, given its pieces: by the rule of `verifier.whole`."""
    supported = logs[:, 0].min()
    if label == SUPPORTED:
        return supported
    other = torch.log1p(-supported.exp().clamp(max=1 - 1e-9))
    if label == NOT_SUPPORTED:
        return other
    worst = int(logs[:, 0].argmin())
    of_two = torch.log_softmax(logs[worst, 1:], dim=0)
    return other + of_two[0 if label == CONTRADICTED else 1]


def _weights(pairs: Sequence[Pair]) -> list[float]:
    """Sets alike; within those that tell the supported from the others, both alike, else the labels as they come."""
    kinds, sets = Counter((pair.set, pair.label) for pair in pairs), Counter(pair.set for pair in pairs)
    return [
        1 / (2 * kinds[pair.set, pair.label] if pair.set in GROUNDING else sets[pair.set]) / len(sets) for pair in pairs
    ]


def _threshold(found: Sequence[Measured], combination: Combination) -> float:
    """The one with the best mean over sets: of balanced accuracy, or of accuracy where there are three labels."""
    sets = [[case for case in found if case.pair.set == name] for name in (*GROUNDING, "healthver", "close")]
    shares = [shares_of(some, combination) for some in sets if some]
    tried = np.unique(np.concatenate(shares).round(2))
    means = [np.mean([_figure(some, replace(combination, threshold=one)) for some in sets if some]) for one in tried]
    return float(np.median(tried[np.array(means) >= max(means) - 1e-9]))


def _figure(some: Sequence[Measured], combination: Combination) -> float:
    said, right = labels_of(some, combination), [case.pair.label for case in some]
    if some[0].pair.set in GROUNDING:
        return balanced_accuracy([one == SUPPORTED for one in said], [one == SUPPORTED for one in right])
    return accuracy_and_kappa(said, right)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    made = fit(measured(dev_pairs(options.data), Network()))
    content = {"features": FEATURES, "weights": made.weights.round(5).tolist(), "threshold": round(made.threshold, 4)}
    options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"threshold {made.threshold:.3f}")


if __name__ == "__main__":
    main()
