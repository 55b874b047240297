"""Weigh the features, and measure it on the sets left out: `python -m training.fit READINGS [--out FILE] [--ablate]`.

READINGS is what `training.readings` wrote. Leave one set out: the weights are fitted on all sets but one and measured
on that one. Pairs whose label follows from how they were made are fitted on, not measured. Each set counts the same,
and within it supported pairs count as much as all others together.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from training.examples import accepted
from training.pairs import CONTRADICTED, LABELS, NO_EVIDENCE, SUPPORTED

_PENALTY = 0.003  # on squared weights
_MADE = {"details": 0.3, "elsewhere": 0.5}  # what pairs with a label by construction count, beside 1 for a set
_ROUNDS = 4  # in which the sentence that decides is chosen anew
_RESAMPLED = 1000

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One pair: a row of features for each part of its claim, and its label."""

    set: str
    group: str
    label: str
    parts: Array


def load(path: Path) -> tuple[list[str], list[Row]]:
    """The features' names, and the pairs whose claim has anything to read."""
    with path.open(encoding="utf-8") as lines:
        names = json.loads(next(lines))["features"]
        rows = [json.loads(line) for line in lines]
    return names, [Row(one["set"], one["group"], one["label"], np.array(one["parts"])) for one in rows if one["parts"]]


def probabilities(weights: Array, row: Row) -> Array:
    """Supported, contradicted and neither for each part of a claim."""
    scores = row.parts @ weights[:-1] + weights[-1]
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def deciding(weights: Array, row: Row) -> Array:
    """The features of the part that the label hangs on."""
    found = probabilities(weights, row)
    return row.parts[found[:, 1].argmax() if row.label == CONTRADICTED else found[:, 0].argmin()]


def fit(rows: Sequence[Row]) -> Array:
    """The weights under which the labels are likeliest, every set and side of a set counting the same."""
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    for row in rows:
        counts[row.set, row.label == SUPPORTED] += 1
    share = torch.tensor(
        [_MADE.get(row.set, 1.0) / counts[row.set, row.label == SUPPORTED] for row in rows], dtype=torch.float64
    )
    right = torch.tensor([[label in set(accepted(row.label)) for label in LABELS] for row in rows])
    weights = np.zeros((rows[0].parts.shape[1] + 1, len(LABELS)))
    for _ in range(_ROUNDS):
        features = torch.tensor(np.array([[*deciding(weights, row), 1.0] for row in rows]))
        free = torch.tensor(weights, requires_grad=True)
        optimizer = torch.optim.LBFGS([free], max_iter=200, line_search_fn="strong_wolfe")

        def loss() -> torch.Tensor:
            optimizer.zero_grad()  # noqa: B023
            logs = torch.log_softmax(features @ free, dim=1)  # noqa: B023
            given = torch.logsumexp(logs.masked_fill(~right, -1e4), dim=1)
            total = -(share * given).sum() / share.sum() + _PENALTY * (free[:-1] ** 2).sum()  # noqa: B023
            total.backward()
            return total

        optimizer.step(loss)
        weights = free.detach().numpy()
    return weights


def predicted(weights: Array, row: Row) -> str:
    """The label of a pair, as the product decides."""
    found = probabilities(weights, row)
    supported = found[:, 0] >= np.maximum(0.5, found[:, 1])
    if supported.all():
        return SUPPORTED
    return CONTRADICTED if (found[~supported, 1] >= found[~supported, 2]).any() else NO_EVIDENCE


def left_out(rows: Sequence[Row]) -> dict[str, list[str]]:
    """What is predicted for each set by weights that were fitted on the others."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(row.set for row in rows if row.set not in _MADE):
        weights = fit([row for row in rows if row.set != name])
        found[name] = [predicted(weights, row) for row in rows if row.set == name]
    return found


def balanced_accuracy(right: Array, said: Array) -> float:
    """Of supported or not: the mean of the two shares that are right."""
    return float(np.mean([(said[right == side] == side).mean() for side in (True, False)]))


def kappa(right: Sequence[str], said: Sequence[str]) -> float:
    """Cohen's kappa of three-way labels."""
    labels, count = sorted({*right, *said}), len(right)
    table = np.zeros((len(labels), len(labels)))
    for ours, theirs in zip(right, said, strict=True):
        table[labels.index(ours), labels.index(theirs)] += 1
    expected = (table.sum(0) * table.sum(1)).sum() / count**2
    return float((np.trace(table) / count - expected) / (1 - expected))


def resampled(rows: Sequence[Row], said: Sequence[str]) -> Array:
    """Balanced accuracies of a set whose groups are drawn again, with replacement."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        groups[row.group].append(place)
    right, answers = np.array([row.label == SUPPORTED for row in rows]), np.array([one == SUPPORTED for one in said])
    places = [np.array(some) for some in groups.values()]
    # A set of a handful of groups would be drawn from too few: there, pairs are drawn.
    places = places if len(places) >= 20 else [np.array([place]) for place in range(len(rows))]
    random = np.random.default_rng(1)
    drawn = [random.integers(0, len(places), len(places)) for _ in range(_RESAMPLED)]
    chosen = [np.concatenate([places[at] for at in some]) for some in drawn]
    return np.array([balanced_accuracy(right[some], answers[some]) for some in chosen])


def report(rows: Sequence[Row], found: dict[str, list[str]]) -> Array:
    """Print a line for each set and the mean, with 95 % intervals; the resampled means."""
    means: list[Array] = []
    points: list[float] = []
    for name, said in found.items():
        own = [row for row in rows if row.set == name]
        right = np.array([row.label == SUPPORTED for row in own])
        points.append(balanced_accuracy(right, np.array([one == SUPPORTED for one in said])))
        means.append(resampled(own, said))
        low, high = np.quantile(means[-1], (0.025, 0.975))
        three = len({row.label for row in own}) > 2
        extra = f", three-way kappa {kappa([row.label for row in own], said):.3f}" if three else ""
        print(f"{name:20} {len(own):5} {points[-1]:.3f} [{low:.3f}, {high:.3f}]{extra}")
    mean = np.mean(means, axis=0)
    low, high = np.quantile(mean, (0.025, 0.975))
    print(f"{'mean':20} {sum(map(len, found.values())):5} {np.mean(points):.3f} [{low:.3f}, {high:.3f}]", flush=True)
    return mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readings", type=Path)
    parser.add_argument("--out", type=Path, help="write the weights fitted on all sets")
    parser.add_argument("--ablate", action="store_true", help="measure again without each feature")
    options = parser.parse_args()
    names, rows = load(options.readings)
    whole = report(rows, left_out(rows))
    for place, name in enumerate(names if options.ablate else ()):
        without = [Row(row.set, row.group, row.label, np.delete(row.parts, place, axis=1)) for row in rows]
        print(f"\nwithout {name}")
        lost = whole - report(without, left_out(without))
        print(f"lost {lost.mean():+.4f} [{np.quantile(lost, 0.025):+.4f}, {np.quantile(lost, 0.975):+.4f}]", flush=True)
    if options.out:
        weights = dict(zip([*names, "constant"], fit(rows).round(4).tolist(), strict=True))
        options.out.write_text(json.dumps({"threshold": 0.5, "weights": weights}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
