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

from evenhand.verify.calibration import Calibrator
from evenhand.verify.network import Reading
from training.pairs import CONTRADICTED, NO_EVIDENCE, SUPPORTED

_READ = ("passage_supports", "sentence_supports")
_CONFLICTS = ("numbers_conflict", "dates_conflict", "names_conflict")
SUPPORTED_BY = (*_READ, *_CONFLICTS, "names_missing")
# Rules for what people try first. Learned weights would be wrong: in some sets the shortest evidence supports the most.
RULES: dict[str, dict[str, float]] = {
    "supported": {"unsaid": -2.0, "only_a_name_missing": -2.0, "values_missing": -1.0, "said": 4.0},
    "contradicted": {"unsaid": -3.0, "values_missing": -3.0, "only_a_name_missing": 4.0, "said": -4.0},
}
CONTRADICTED_BY = ("passage_contradicts", "sentence_contradicts", *_READ, "overlap_with_passage", *_CONFLICTS)
_PENALTY = 0.003  # on squared weights of features with variance 1
_ROUNDS = 3  # in which the sentence that decides is chosen again
_MADE = ("details", "elsewhere")  # pairs whose label follows from how they were made
_RESAMPLED = 1000

Array = NDArray[np.float64]
Features = dict[str, float]


@dataclass(frozen=True, slots=True)
class Row:
    """One pair: the features of each part of its claim, and its label."""

    set: str
    group: str
    label: str
    parts: Sequence[Features]


def load(path: Path) -> list[Row]:
    """The pairs whose claim has anything to read."""
    with path.open(encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [Row(one["set"], one["group"], one["label"], one["parts"]) for one in rows if one["parts"]]


def logistic(rows: Sequence[Row], parts: Sequence[Features], names: Sequence[str], label: str) -> Features:
    """The weights under which `label` or another one is likeliest; every set and side of a set counts the same."""
    sides = [(row.set, row.label == label) for row in rows]
    counts = {side: sides.count(side) for side in set(sides)}
    share = torch.tensor([1.0 / counts[side] for side in sides])
    right = torch.tensor([float(side) for _, side in sides])
    table = torch.tensor([[part[name] for name in names] for part in parts])
    middle, spread = table.mean(dim=0), table.std(dim=0) + 1e-9
    weights = torch.zeros(len(names) + 1, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        scores = (table - middle) / spread @ weights[:-1] + weights[-1]
        losses = torch.nn.functional.binary_cross_entropy_with_logits(scores, right, reduction="none")
        total = (share * losses).sum() / share.sum() + _PENALTY * (weights[:-1] ** 2).sum()
        total.backward()
        return total

    optimizer.step(loss)
    free = weights.detach()[:-1] / spread
    constant = weights.detach()[-1] - (free * middle).sum()
    return dict(zip((*names, "constant"), [*free.tolist(), float(constant)], strict=True))


def fit(rows: Sequence[Row], without: str = "") -> Calibrator:
    """Both models, with the rules. A pair's label hangs on the part of its claim that is least likely supported."""
    by, against = ([name for name in names if name != without] for names in (SUPPORTED_BY, CONTRADICTED_BY))
    found = Calibrator({"passage_supports": 1.0}, {})
    for _ in range(_ROUNDS):
        parts = [min(row.parts, key=lambda part: found.probabilities(part).supported) for row in rows]
        found = Calibrator(logistic(rows, parts, by, SUPPORTED), {})
    known = [at for at, row in enumerate(rows) if row.label in (CONTRADICTED, NO_EVIDENCE)]
    second = logistic([rows[at] for at in known], [parts[at] for at in known], against, CONTRADICTED)
    return Calibrator(found.supported | RULES["supported"], second | RULES["contradicted"])


def predicted(calibration: Calibrator, row: Row) -> str:
    """The label of a pair, as the product decides."""
    found: list[Reading] = [calibration.probabilities(part) for part in row.parts]
    doubtful = [one for one in found if one.supported < 0.5]
    if not doubtful:
        return SUPPORTED
    return CONTRADICTED if any(one.contradicted >= one.neither for one in doubtful) else NO_EVIDENCE


def left_out(rows: Sequence[Row], without: str = "") -> dict[str, list[str]]:
    """What is predicted for each set by weights that were fitted on the others."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(row.set for row in rows if row.set not in _MADE):
        calibration = fit([row for row in rows if row.set != name], without)
        found[name] = [predicted(calibration, row) for row in rows if row.set == name]
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
    rows = load(options.readings)
    whole = report(rows, left_out(rows))
    for name in dict.fromkeys((*SUPPORTED_BY, *CONTRADICTED_BY)) if options.ablate else ():
        print(f"\nwithout {name}")
        lost = whole - report(rows, left_out(rows, name))
        print(f"lost {lost.mean():+.4f} [{np.quantile(lost, 0.025):+.4f}, {np.quantile(lost, 0.975):+.4f}]", flush=True)
    if options.out:
        found = fit(rows)
        parts = {"supported": found.supported, "contradicted": found.contradicted}
        rounded = {part: {name: round(weight, 4) for name, weight in some.items()} for part, some in parts.items()}
        options.out.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
