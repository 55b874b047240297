"""Dawid and Skene's model: the labels behind noisy raters, and each rater's confusion with them."""

from dataclasses import dataclass

import numpy as np

from evenhand.statistics.estimate import AnyInts, FloatArray, IntArray


@dataclass(frozen=True)
class Consensus:
    """What the model found.

    `shares`: the labels' prevalence; `chances`: units × labels; `confusion`: raters × true × given.
    """

    shares: FloatArray
    chances: FloatArray
    confusion: FloatArray
    steps: int
    converged: bool

    @property
    def labels(self) -> IntArray:
        """The likeliest label of each unit."""
        return self.chances.argmax(axis=1).astype(np.int64)


def dawid_skene(
    units: AnyInts, raters: AnyInts, codes: AnyInts, labels: int, tolerance: float = 1e-10, most: int = 2000
) -> Consensus:
    """Maximum likelihood by EM from the units' vote shares, on a long list; a rater may rate a unit more than once.

    Level: nominal. A unit without ratings keeps the prevalence as its chances. Without any rating, shares are even.
    """
    rated = codes >= 0
    unit, rater, code = units[rated].astype(np.int64), raters[rated].astype(np.int64), codes[rated].astype(np.int64)
    n = int(units.max()) + 1 if units.size else 0
    m = int(raters.max()) + 1 if raters.size else 0
    tally = np.bincount(unit * labels + code, minlength=n * labels).reshape(n, labels).astype(np.float64)
    totals = tally.sum(axis=1, keepdims=True)
    chances = np.where(totals > 0, tally / np.maximum(totals, 1.0), 1.0 / labels)
    shares = np.full(labels, 1.0 / labels)
    confusion = np.zeros((m, labels, labels))
    cell = rater * labels + code
    step, change = 0, np.inf
    while step < most and change > tolerance and n > 0:
        step += 1
        shares = chances.mean(axis=0)
        given = np.zeros((m * labels, labels))
        for true in range(labels):
            given[:, true] = np.bincount(cell, weights=chances[unit, true], minlength=m * labels)
        confusion = given.reshape(m, labels, labels).transpose(0, 2, 1)
        mass = confusion.sum(axis=2, keepdims=True)
        confusion = np.divide(confusion, mass, out=np.zeros_like(confusion), where=mass > 0)
        log_given = np.log(np.maximum(confusion, 1e-300)).transpose(0, 2, 1).reshape(m * labels, labels)[cell]
        likelihood = np.tile(np.log(np.maximum(shares, 1e-300)), (n, 1))
        for true in range(labels):
            likelihood[:, true] += np.bincount(unit, weights=log_given[:, true], minlength=n)
        likelihood -= likelihood.max(axis=1, keepdims=True)
        new = np.exp(likelihood)
        new /= new.sum(axis=1, keepdims=True)
        change = float(np.abs(new - chances).max())
        chances = new
    return Consensus(shares=shares, chances=chances, confusion=confusion, steps=step, converged=change <= tolerance)
