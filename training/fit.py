"""Fit the combination of network and checks on dev: `python -m training.fit DATA OUT --before FOLDER`.

OUT is combine.json. Dev, because the network knows its own training pairs by heart: beside readings that are never
wrong the checks would be worth nothing. Dev is small, so it is joined by the training pairs of the grounding sets as a
network reads them that has not been taught with them.

The likelihood is of whole claims, as people labelled them: a claim of several sentences is as likely supported as its
least likely sentence.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

from evenhand.verify.combining import AGREEING, FEATURES, READ, Combination
from evenhand.verify.mentions import KINDS
from evenhand.verify.network import Network
from training.challenge import Wording, cases
from training.measured import Measured, label_of, measured, probabilities_of
from training.scoring import accuracy_and_kappa, balanced_accuracy
from training.sets import CONTRADICTED, GROUNDING, NOT_SUPPORTED, SUPPORTED, Pair, Split, read, split

_SHRINK = 0.004
_STEPS = 400
_FOLDS = 4
_CHANCE = 0.004
_NLI = 600
_LONG = 1200
_READ = len(READ)
# What the sets count for: those that we are measured by double, free and short wordings less.
COUNTS = {**dict.fromkeys((*GROUNDING, "close"), 2.0), "free": 0.5, "short": 0.3}

# What a feature can mean. A small sample would give some of them the wrong sign, and new texts the wrong answer.
# For support, against both others.
FOR = frozenset(("passage supports", "best sentence supports", *AGREEING))
# Against support, and for contradiction at least as much as for neither.
AGAINST = frozenset((
    "passage contradicts", "best sentence contradicts", "numbers_conflict", "dates_conflict", "names_conflict",
    "sides_swapped", "negation_differs", "opposite", "amounts_conflict", "clause_negation_differs", "conflict",
    "clause_conflict", "elsewhere", "polarity_differs", "names_instead", *(f"clause_{kind}_conflict" for kind in KINDS),
    *(f"{kind}_elsewhere" for kind in KINDS),
))  # fmt: skip
# The claim's words are there: for support, and against neither at least as much as against contradiction.
COVERS = frozenset((
    "window_share", "sentence_share", "article_share", "copied_run", "copied_pairs", "clause_share", "plain_share",
))  # fmt: skip
# They are not: the reverse.
LACKS = frozenset(("novel_words", "numbers_missing", "dates_missing", "names_missing", "plain_missing"))
# Against support.
DOUBTS = frozenset(("disorder", "replaced_words", "inserted_words", "surer", "denies"))


def dev_pairs(data: Path) -> list[Pair]:
    """The dev split of every set, our own dev templates, some of SNLI's dev."""
    wordings: tuple[Wording, ...] = ("close", "free", "short")
    own = [pair for wording in wordings for pair in challenge_pairs("dev", wording)]
    return [*_split(data, "dev"), *own, *read(data, "nli_dev")[:_NLI]]


def fitted_on(data: Path, network: Network, before: Network) -> tuple[list[Measured], list[Measured]]:
    """Dev, and the training pairs of the grounding sets. `before` is a network that has not been taught with those, so
    that its readings of them are as good, or as bad, as of any others."""
    return measured(dev_pairs(data), network), measured(_train_pairs(data), before)


def _train_pairs(data: Path) -> list[Pair]:
    """The training pairs of the grounding sets, of SummEdits a part."""
    pairs = [pair for pair in _split(data, "train") if pair.set in GROUNDING]
    long = [pair for pair in pairs if pair.set == "summedits"]
    return [*(pair for pair in pairs if pair.set != "summedits"), *Random(1).sample(long, _LONG)]


def challenge_pairs(split: Literal["dev", "test"], wording: Wording) -> list[Pair]:
    """The cases of the challenge set; `close` and `free` are two sets."""
    return [Pair(case.evidence, case.claim, case.label, wording, case.template) for case in cases(split, wording)]


def _split(data: Path, name: Split) -> list[Pair]:
    health = [pair for pair in read(data, "fact_train") if pair.set == "healthver"]
    return split([*read(data, "grounding_dev"), *health])[name]


def fit(dev: Sequence[Measured], more: Sequence[Measured] = (), checks: bool = True) -> Combination:
    """The weights of readings and checks, or of readings alone, and the threshold.

    The threshold is chosen on dev alone, by what weights say of pairs that they were not fitted on.
    """
    dev, more = [case for case in dev if len(case.rows)], [case for case in more if len(case.rows)]
    held_out: list[tuple[Measured, NDArray[np.float64]]] = []
    for fold in range(_FOLDS):
        some = [case for case in dev if _fold(case.pair) == fold]
        rest = [case for case in dev if _fold(case.pair) != fold]
        held_out += zip(some, probabilities_of(some, Combination(_weighed([*rest, *more], checks), 0.5)), strict=True)
    return Combination(_weighed([*dev, *more], checks), _threshold(held_out))


def _fold(pair: Pair) -> int:
    """The part of dev that a pair is in, together with all others of its topic, template or text."""
    name = pair.evidence if pair.set in GROUNDING else pair.group
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % _FOLDS


def _weighed(found: Sequence[Measured], checks: bool) -> NDArray[np.float64]:
    rows = np.concatenate([case.rows for case in found])
    weights = _solved(found, rows if checks else rows[:, :_READ])
    if checks:
        return weights
    return np.concatenate([weights[:-1], np.zeros((rows.shape[1] - _READ, 3)), weights[-1:]])


def _solved(found: Sequence[Measured], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights for the columns, and a last one that is always added; each has the sign that its meaning gives it.

    Supported is what the other two are held against. What is fitted is how much a feature speaks for "neither", and for
    "contradicted": each by itself, or the one beyond what it does for the other.
    """
    begins = np.cumsum([0, *(len(case.rows) for case in found[:-1])])
    scale = rows.std(0).clip(min=1e-3)
    inputs = torch.tensor(np.column_stack([rows / scale, np.ones(len(rows))]))
    each = torch.tensor(_weights([case.pair for case in found]))
    labels = np.array([case.pair.label for case in found])
    names = [_means(name) for name in FEATURES[: rows.shape[1]]]
    beyond = torch.tensor([[*(name in AGAINST for name in names), False],
                           [*(name in COVERS | LACKS for name in names), False]])  # fmt: skip

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        wanted = torch.tensor(flat.reshape(-1, 2), requires_grad=True)
        logs = torch.log_softmax(inputs @ _columns(wanted, beyond), dim=1)
        told = _log_right(logs[_worst(logs[:, 0].detach().numpy(), begins)], labels)
        total = -(told * each).sum() + _SHRINK * wanted[:-1].square().sum()
        total.backward()
        assert wanted.grad is not None
        return total.item(), wanted.grad.numpy().ravel()

    bounds = [bound for name in names for bound in _bounds(name)] + [(None, None)] * 2
    found_at = minimize(loss, np.zeros(len(bounds)), jac=True, bounds=bounds, options={"maxiter": _STEPS})
    solved = _columns(torch.tensor(found_at.x.reshape(-1, 2)), beyond).numpy()
    return np.concatenate([solved[:-1] / scale[:, None], solved[-1:]])


def _columns(wanted: torch.Tensor, beyond: torch.Tensor) -> torch.Tensor:
    """Supported, contradicted, neither, from what is fitted."""
    contradicted = wanted[:, 0] + torch.where(beyond[0], wanted[:, 1], 0.0)
    neither = wanted[:, 1] + torch.where(beyond[1], wanted[:, 0], 0.0)
    return torch.stack([torch.zeros(len(wanted), dtype=torch.float64), contradicted, neither], dim=1)


def _means(name: str) -> str:
    """The feature that another is made of: "conflict, all words there" is a conflict."""
    return name.partition(",")[0].partition(" by ")[0]


def _bounds(name: str) -> tuple[tuple[float | None, float | None], tuple[float | None, float | None]]:
    """The signs of what is fitted for a feature."""
    if name in FOR | COVERS:
        return (None, 0.0), (None, 0.0)
    return ((0.0, None), (0.0, None)) if name in AGAINST | LACKS | DOUBTS else ((None, None), (None, None))


def _worst(supported: NDArray[np.float64], begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row of each claim's piece that is least likely supported: it speaks for the claim, as in `verifier.whole`."""
    order = np.lexsort((supported, np.searchsorted(begins, np.arange(len(supported)), side="right")))
    return order[begins]


def _log_right(logs: torch.Tensor, labels: NDArray[np.str_]) -> torch.Tensor:
    """The logarithm of how likely each claim has its label; where people did not tell two apart, that of either."""
    column = np.select([labels == SUPPORTED, labels == CONTRADICTED], [0, 1], 2)
    told = logs.gather(1, torch.tensor(column)[:, None])[:, 0]
    return torch.where(torch.tensor(labels == NOT_SUPPORTED), torch.logsumexp(logs[:, 1:], dim=1), told)


def _weights(pairs: Sequence[Pair]) -> list[float]:
    """What each pair counts for, 1 in all: by its set, and within a set labels alike."""
    kinds = Counter((pair.set, pair.label) for pair in pairs)
    labels = Counter(name for name, _ in kinds)
    found = np.array([
        COUNTS.get(pair.set, 1.0) / kinds[pair.set, pair.label] / labels[pair.set] for pair in pairs
    ])  # fmt: skip
    return list(found / found.sum())


def _threshold(found: Sequence[tuple[Measured, NDArray[np.float64]]]) -> float:
    """The one with the best mean over sets: of balanced accuracy, or of accuracy where there are three labels.

    Of those that are as good as the best within what chance does, the middle.
    """
    sets = [[one for one in found if one[0].pair.set == name] for name in (*GROUNDING, "healthver", "close")]
    tried = np.arange(0.2, 0.8, 0.01)
    means = np.array([np.mean([_figure(some, one) for some in sets if some]) for one in tried])
    return float(np.median(tried[means >= means.max() - _CHANCE]))


def _figure(some: Sequence[tuple[Measured, NDArray[np.float64]]], threshold: float) -> float:
    said, right = [label_of(shares, threshold) for _, shares in some], [case.pair.label for case, _ in some]
    if some[0][0].pair.set in GROUNDING:
        return balanced_accuracy([one == SUPPORTED for one in said], [one == SUPPORTED for one in right])
    return accuracy_and_kappa(said, right)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--before", type=Path, required=True, help="the exported network of the first stage")
    options = parser.parse_args()
    made = fit(*fitted_on(options.data, Network(), Network(options.before)))
    content = {"features": FEATURES, "weights": made.weights.round(5).tolist(), "threshold": round(made.threshold, 4)}
    options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"threshold {made.threshold:.3f}")


if __name__ == "__main__":
    main()
