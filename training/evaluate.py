"""Measure the verifier against people: `python -m training.evaluate DATA --before FOLDER --split dev|test [-o FILE]`.

Test is for the figures that are published, once; everything is chosen on dev.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.verify.combining import Combination, shipped
from evenhand.verify.network import Network
from training.baselines import Similarity, overlap
from training.challenge import Wording, cases
from training.fit import challenge_pairs, fit, fitted_on
from training.measured import Measured, labels_of, measured, shares_of
from training.scoring import accuracy_and_kappa, balanced_accuracy, best_threshold
from training.sets import GROUNDING, NO_EVIDENCE, SUPPORTED, read, split

_DRAWS = 1000


@dataclass(frozen=True, slots=True)
class Way:
    """A way to tell the supported from the others: a score for each pair, and the threshold for it."""

    name: str
    scores: Callable[[Sequence[Measured]], NDArray[np.float64]]
    threshold: float


def ways_of(dev: Sequence[Measured], more: Sequence[Measured]) -> list[Way]:
    """The verifier and what it has to beat. Each has one threshold for all sets, the best on what the verifier was
    fitted on."""
    combined, alone, similarity = shipped(), fit(dev, more, checks=False), Similarity()
    known = [*dev, *more]
    baselines: list[tuple[str, Callable[[Sequence[Measured]], NDArray[np.float64]]]] = [
        ("words in common", lambda some: overlap([case.pair for case in some])),
        ("MiniLM similarity", lambda some: similarity.scores([case.pair for case in some])),
    ]
    sets = [[case for case in known if case.pair.set == name] for name in GROUNDING]
    right = [np.array([case.pair.label == SUPPORTED for case in some]) for some in sets]
    return [
        Way("verifier", lambda some: _borne_out(some, combined), 0.5),
        Way("without checks", lambda some: _borne_out(some, alone), 0.5),
        *[Way(name, score, best_threshold([score(some) for some in sets], right)) for name, score in baselines],
    ]


def _borne_out(some: Sequence[Measured], combination: Combination) -> NDArray[np.float64]:
    return np.array([float(label == SUPPORTED) for label in labels_of(some, combination)])


def interval(
    figure: Callable[[Sequence[int]], float], groups: Sequence[str], draws: int = _DRAWS
) -> tuple[float, float]:
    """95 % of what the figure is over draws of whole groups."""
    members: dict[str, list[int]] = defaultdict(list)
    for at, group in enumerate(groups):
        members[group].append(at)
    random, names = np.random.default_rng(7), list(members)
    found = [
        figure([at for one in random.integers(0, len(names), len(names)) for at in members[names[one]]])
        for _ in range(draws)
    ]
    low, high = np.nanquantile(found, (0.025, 0.975))
    return float(low), float(high)


def grounding(found: Sequence[Measured], ways: Sequence[Way]) -> dict[str, object]:
    """Balanced accuracy of every way on every set."""
    table: dict[str, object] = {}
    for name in GROUNDING:
        some = [case for case in found if case.pair.set == name]
        right = [case.pair.label == SUPPORTED for case in some]
        row: dict[str, object] = {"n": len(some), "groups": len({case.pair.evidence for case in some})}
        for way in ways:
            said = list(way.scores(some) >= way.threshold)
            row[way.name] = round(balanced_accuracy(said, right), 3)
            if way.name == "verifier":
                # By document: a group of SummEdits may be a whole domain, of which there are too few to draw from.
                row["interval"] = [round(one, 3) for one in interval(
                    lambda at, said=said, right=right: balanced_accuracy([said[i] for i in at], [right[i] for i in at]),
                    [case.pair.evidence for case in some],
                )]  # fmt: skip
        table[name] = row
    for way in ways:
        mean = float(np.mean([row[way.name] for row in table.values() if isinstance(row, dict)]))
        print(f"mean {way.name}: {mean:.3f}")
    return table


def three_way(found: Sequence[Measured]) -> dict[str, object]:
    """Accuracy and κ on three labels."""
    said, right = labels_of(found, shipped()), [case.pair.label for case in found]
    accuracy, kappa = accuracy_and_kappa(said, right)
    groups = [case.pair.group for case in found]
    return {
        "n": len(found),
        "groups": len(set(groups)),
        "accuracy": round(accuracy, 3),
        "accuracy interval": [round(one, 3) for one in interval(
            lambda at: accuracy_and_kappa([said[i] for i in at], [right[i] for i in at])[0], groups)],
        "kappa": round(kappa, 3),
        "kappa interval": [round(one, 3) for one in interval(
            lambda at: accuracy_and_kappa([said[i] for i in at], [right[i] for i in at])[1], groups)],
    }  # fmt: skip


def calibration(found: Sequence[Measured]) -> float:
    """The expected calibration error of the share for "supported", in ten bins."""
    shares = shares_of(found, shipped())
    right = np.array([case.pair.label == SUPPORTED for case in found])
    bins = np.minimum((shares * 10).astype(int), 9)
    return float(sum(abs(shares[bins == one].mean() - right[bins == one].mean()) * (bins == one).mean()
                     for one in np.unique(bins)))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--before", type=Path, required=True, help="the exported network of the first stage")
    parser.add_argument("-o", "--out", type=Path)
    options = parser.parse_args()
    network = Network()
    known = fitted_on(options.data, network, Network(options.before))
    sources = [*read(options.data, "grounding_dev"), *read(options.data, "fact_train")]
    pairs = [pair for pair in split(sources)[options.split] if pair.set in (*GROUNDING, "healthver")]
    found = measured(pairs, network)
    result = {
        "grounding": grounding(found, ways_of(*known)),
        "healthver": three_way([case for case in found if case.pair.set == "healthver"]),
        "challenge, close wording": challenge(options.split, "close", network),
        "challenge, free wording": challenge(options.split, "free", network),
        "calibration error": round(calibration([case for case in found if case.pair.set in GROUNDING]), 3),
    }
    text = json.dumps(result, indent=1)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")


def challenge(split: Literal["dev", "test"], wording: Wording, network: Network) -> dict[str, object]:
    """Three-way accuracy on our own minimal pairs, also by kind, and on the claims that the evidence is silent on."""
    found = list(zip(measured(challenge_pairs(split, wording), network), cases(split, wording), strict=True))
    pairs = [(one, case.kind) for one, case in found if case.label != NO_EVIDENCE]
    silent = [one for one, case in found if case.label == NO_EVIDENCE]
    return {
        "pairs": three_way([one for one, _ in pairs]) | {"by kind": _by_kind(pairs)},
        "silent": three_way(silent),
    }


def _by_kind(found: Sequence[tuple[Measured, str]]) -> dict[str, float]:
    said = labels_of([case for case, _ in found], shipped())
    right: dict[str, list[bool]] = defaultdict(list)
    for (case, kind), label in zip(found, said, strict=True):
        right[kind].append(label == case.pair.label)
    return {kind: round(float(np.mean(some)), 3) for kind, some in sorted(right.items())}


if __name__ == "__main__":
    main()
