"""How well labels and scores agree with people's."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def balanced_accuracy(said: Sequence[bool], right: Sequence[bool]) -> float:
    """The mean of the share of the supported that is found and of the share of the others that is."""
    told, truth = np.array(said), np.array(right)
    return float((told[truth].mean() + (~told[~truth]).mean()) / 2)


def accuracy_and_kappa(said: Sequence[str], right: Sequence[str]) -> tuple[float, float]:
    """The share of equal labels, and Cohen's κ."""
    labels = sorted({*said, *right})
    table = np.zeros((len(labels), len(labels)))
    for one, other in zip(said, right, strict=True):
        table[labels.index(one), labels.index(other)] += 1 / len(said)
    observed, expected = np.trace(table), table.sum(axis=0) @ table.sum(axis=1)
    return float(observed), float((observed - expected) / (1 - expected))


def best_threshold(scores: Sequence[NDArray[np.float64]], right: Sequence[NDArray[np.bool_]]) -> float:
    """The threshold with the best balanced accuracy on average over sets; of equal ones the middle."""
    tried = np.unique(np.quantile(np.concatenate(scores), np.linspace(0.02, 0.98, 97)))
    means = np.array([
        np.mean([balanced_accuracy(list(some >= one), list(truth)) for some, truth in zip(scores, right, strict=True)])
        for one in tried
    ])  # fmt: skip
    return float(np.median(tried[means >= means.max() - 1e-9]))
