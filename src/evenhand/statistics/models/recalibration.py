"""Recalibration: a rater's probabilities adjusted to people's labels, and how far that helps on labels not used for it.

The probability of a label becomes proportional to exp(log p / temperature + offset), with an offset for each label.
The label given is the most probable one. This is temperature scaling with bias correction.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.statistics.estimate import FloatArray, IntArray
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling
from evenhand.statistics.models.paired_comparison import Comparison, compare_means, compare_raters

FOLDS = 10
NEGLIGIBLE = 0.02
"""A loss of κ, or in log loss, up to which one of the two may become worse if the other becomes better."""
_DOUBT = 0.001
"""Share of equal probabilities mixed into every distribution: three equal votes are not certainty."""
_STEPS = 50


@dataclass(frozen=True)
class Recalibration:
    """Parameters fitted on all labels, and what parameters fitted without a unit's item achieve on its label.

    `adjusted` has the probabilities of every unit: of one with a label by the fit without its item, of any other by the
    fit on all labels. `fold` is the part that a unit's label belongs to, -1 if it has none. `held_out` compares the
    adjusted (first) with the original rater; the difference is the gain.
    """

    temperature: float
    offsets: tuple[float, ...]
    adjusted: FloatArray
    fold: IntArray
    held_out: Mapping[str, Comparison]

    @property
    def better(self) -> list[str]:
        """Which of κ and log loss gain for certain; none if one of them loses more than a negligible amount."""
        gains = {name: self.held_out[name].difference for name in ("kappa", "log_loss")}
        if any(gain.value is None or gain.value < -NEGLIGIBLE for gain in gains.values()):
            return []
        return [name for name, gain in gains.items() if gain.low is not None and gain.low > 0]


def recalibrate(
    probabilities: FloatArray,
    given: IntArray,
    truth: IntArray,
    clusters: IntArray | None = None,
    plan: Resampling = DEFAULT,
) -> Recalibration:
    """Fit parameters to labels, and measure them by cross-validation; an item's labels are all in one part.

    `probabilities` (units × labels) and `given` are the rater's, `truth` the people's labels, -1 if there is none.
    `clusters` has each unit's item, if items have several units. The plan's seed also determines the parts.
    """
    items = np.arange(truth.size) if clusters is None else clusters
    labelled = truth >= 0
    names, place = np.unique(items[labelled], return_inverse=True)
    fold = np.full(truth.size, -1)
    fold[labelled] = (np.random.default_rng(plan.seed).permutation(names.size) % FOLDS)[place]
    parameters = fit(probabilities[labelled], truth[labelled])
    adjusted = apply(parameters, probabilities)
    for part in range(FOLDS):
        inside, others = fold == part, labelled & (fold != part)
        adjusted[inside] = apply(fit(probabilities[others], truth[others]), probabilities[inside])
    measured = None if clusters is None else clusters[labelled]
    held_out = _compared(probabilities[labelled], adjusted[labelled], given[labelled], truth[labelled], measured, plan)
    inverse, *offsets = parameters.tolist()
    return Recalibration(1 / inverse, tuple(offsets), adjusted, fold, held_out)


def apply(parameters: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Adjusted probabilities. The parameters are 1 / temperature, and the offsets."""
    return _softmax(parameters[0] * _logs(probabilities) + parameters[1:])


def fit(probabilities: FloatArray, truth: IntArray) -> FloatArray:
    """The parameters with the least log loss, by Newton's method; with few labels they stay near 1 and 0."""
    logs = _logs(probabilities)
    units, labels = logs.shape
    slopes = np.concatenate((logs[:, :, None], np.tile(np.eye(labels), (units, 1, 1))), axis=2)
    wanted, prior = np.eye(labels)[truth], np.eye(1 + labels)[0]
    found: FloatArray = prior.copy()
    for _ in range(_STEPS):
        shares = _softmax(slopes @ found)
        centred = slopes - (shares[:, None, :] @ slopes)
        weighted = (shares[:, :, None] * centred).reshape(-1, 1 + labels)
        # The penalty is that of a normal prior with variance 1.
        curvature: FloatArray = weighted.T @ centred.reshape(-1, 1 + labels) + np.eye(1 + labels)
        gradient: FloatArray = (shares - wanted).reshape(-1) @ slopes.reshape(-1, 1 + labels) + found - prior
        step = np.linalg.solve(curvature, gradient)
        found -= step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    # A temperature above 100 leaves nothing of the rater, and one below 0 would reverse it.
    found[0] = max(float(found[0]), 0.01)
    return np.round(found, 6)


def _compared(
    stated: FloatArray,
    adjusted: FloatArray,
    given: IntArray,
    truth: IntArray,
    clusters: IntArray | None,
    plan: Resampling,
) -> Mapping[str, Comparison]:
    chosen, places, labels = adjusted.argmax(axis=1), np.arange(truth.size), stated.shape[1]
    counts = np.bincount(truth, minlength=labels)
    # With these weights the mean of the hits is the mean of the labels' recall.
    weight = truth.size / (np.count_nonzero(counts) * counts[truth])
    before, after = (-logs[places, truth] for logs in (_logs(stated), np.log(adjusted)))
    loss = compare_means(before, after, clusters, plan.level)
    return {
        "balanced_accuracy": compare_means(weight * (chosen == truth), weight * (given == truth), clusters, plan.level),
        "kappa": compare_raters(chosen, given, truth, labels, clusters=clusters, plan=plan),
        "log_loss": Comparison(loss.difference, loss.second, loss.first, loss.p),
    }


def _logs(probabilities: FloatArray) -> FloatArray:
    return np.log((1 - _DOUBT) * probabilities + _DOUBT / probabilities.shape[1])


def _softmax(logits: FloatArray) -> FloatArray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
