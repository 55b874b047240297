"""Fit the combination of network and checks on dev: `python -m training.fit DATA OUT`; OUT is combine.json.

The likelihood is of whole claims, as people labelled them: a claim of several sentences is as likely supported as its
least likely sentence. Every set counts alike, and within it every label, whatever their numbers.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from evenhand.verify.combining import FEATURES, READ, Combination
from evenhand.verify.network import Network
from training.challenge import cases
from training.measured import Measured, measured, shares_of
from training.scoring import best_threshold
from training.sets import CONTRADICTED, GROUNDING, NOT_SUPPORTED, SUPPORTED, Pair, read, split

_SHRINK = 0.003
_STEPS = 600
_NLI = 600


def dev_pairs(data: Path) -> list[Pair]:
    """What the combination is fitted on: the dev split of every set, our own dev templates, some of SNLI's dev."""
    own = [Pair(case.evidence, case.claim, case.label, "challenge", case.template) for case in cases("dev")]
    pairs = split([*read(data, "grounding_dev"), *[one for one in read(data, "fact_train") if one.set == "healthver"]])
    return [*pairs["dev"], *own, *read(data, "nli_dev")[:_NLI]]


def fit(found: Sequence[Measured], use: Sequence[str]) -> Combination:
    """Weights for the features in `use`; the others weigh nothing."""
    found = [case for case in found if len(case.rows)]
    flat = torch.tensor(np.concatenate([case.rows for case in found]))
    ends = np.cumsum([len(case.rows) for case in found])
    pieces = [slice(int(end) - len(case.rows), int(end)) for end, case in zip(ends, found, strict=True)]
    keep = torch.tensor([name in use for name in FEATURES], dtype=torch.float64)
    mean, scale = flat.mean(0), flat.std(0).clamp(min=1e-3)
    inputs = torch.cat([(flat - mean) / scale * keep, torch.ones(len(flat), 1)], dim=1)
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
    plain = weights.detach()[:-1] * (keep / scale)[:, None]
    shift = weights.detach()[-1] - mean @ plain
    combination = Combination(torch.cat([plain, shift[None]]).numpy(), 0.5)
    return Combination(combination.weights, _threshold(found, combination))


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
    """Sets alike, and the labels of a set alike."""
    kinds = Counter((pair.set, pair.label) for pair in pairs)
    of_set = Counter(name for name, _ in kinds)
    return [1 / (kinds[pair.set, pair.label] * of_set[pair.set] * len(of_set)) for pair in pairs]


def _threshold(found: Sequence[Measured], combination: Combination) -> float:
    sets = [[case for case in found if case.pair.set == name] for name in GROUNDING]
    return best_threshold(
        [shares_of(some, combination) for some in sets],
        [np.array([case.pair.label == SUPPORTED for case in some]) for some in sets],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    found = measured(dev_pairs(options.data), Network())
    made = fit(found, FEATURES)
    content = {"features": FEATURES, "weights": made.weights.round(5).tolist(), "threshold": round(made.threshold, 4)}
    options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    alone = fit(found, READ)
    print(f"threshold {made.threshold:.3f}; without the checks {alone.threshold:.3f}")


if __name__ == "__main__":
    main()
