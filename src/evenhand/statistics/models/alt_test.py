"""The alternative-annotator test (Calderon, Reichart and Dror 2025): may a model stand in for one of the people?"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenhand.statistics.estimate import FloatArray
from evenhand.statistics.intervals.distributions import t_cdf

Scoring = Literal["accuracy", "neg_rmse"]
FEWEST_UNITS = 30
"""Units that a person must share with the model and another person."""
FALSE_DISCOVERY_RATE = 0.05


@dataclass(frozen=True, slots=True)
class Duel:
    """The model against one person, both compared with the other people.

    `advantage` is the share of units on which the model is at least as close to the others as the person is. `p` tests
    that the person's own share is less than ε above it. `won` after the Benjamini–Yekutieli correction. A person with
    too few shared units has none of these, and `why`.
    """

    rater: int
    n: int
    advantage: float | None
    p: float | None
    won: bool
    why: str | None = None


@dataclass(frozen=True, slots=True)
class AltTest:
    """`winning_rate` is the share of people that the model replaces: passed at 0.5 or more, None if no duel."""

    winning_rate: float | None
    advantage: float | None
    passed: bool | None
    duels: tuple[Duel, ...]
    why: str | None = None


def alt_test(people: FloatArray, model: FloatArray, scoring: Scoring = "accuracy", epsilon: float = 0.2) -> AltTest:
    """The test on a units × people table of scores and the model's scores, NaN where missing.

    `accuracy` counts the others who gave the same score (nominal); `neg_rmse` takes the root mean square distance
    (interval). `epsilon` is how much cheaper the model must be thought to be (0.2 expert, 0.15 trained, 0.1 crowd
    raters). A duel uses units that the person, the model and at least one other person rated, at least 30 of them.
    """
    duels = [_duel(people, model, rater, scoring, epsilon) for rater in range(people.shape[1])]
    tested = [duel for duel in duels if duel.p is not None]
    if not tested:
        why = f"no person shares {FEWEST_UNITS} units with the model and another person"
        return AltTest(None, None, None, tuple(duels), why)
    # The people whose duels Benjamini and Yekutieli's procedure rejects.
    step = FALSE_DISCOVERY_RATE / (len(tested) * sum(1.0 / place for place in range(1, len(tested) + 1)))
    ordered = sorted(tested, key=lambda duel: duel.p or 0.0)
    passing = [place for place, duel in enumerate(ordered, start=1) if (duel.p or 0.0) <= place * step]
    for duel in ordered[: max(passing, default=0)]:
        duels[duel.rater] = replace(duel, won=True)
    rate = sum(duel.won for duel in duels) / len(tested)
    return AltTest(rate, sum(duel.advantage or 0.0 for duel in tested) / len(tested), rate >= 0.5, tuple(duels))


def alt_test_beside_constant(
    people: FloatArray, model: FloatArray, scoring: Scoring = "accuracy", epsilon: float = 0.2
) -> tuple[AltTest, AltTest, float | None]:
    """The model's test, that of a rater who always gives the people's commonest score, and this score.

    If the constant passes too, passing says nothing about the model: the labels are too skewed for this test.
    """
    tested = alt_test(people, model, scoring, epsilon)
    values, times = np.unique(people[~np.isnan(people)], return_counts=True)
    if values.size == 0:
        return tested, tested, None
    score = float(values[times.argmax()])
    return tested, alt_test(people, np.where(np.isnan(model), np.nan, score), scoring, epsilon), score


def _duel(people: FloatArray, model: FloatArray, rater: int, scoring: Scoring, epsilon: float) -> Duel:
    others = np.delete(people, rater, axis=1)
    used = ~np.isnan(people[:, rater]) & ~np.isnan(model) & (~np.isnan(others)).any(axis=1)
    n = int(used.sum())
    if n < FEWEST_UNITS:
        return Duel(rater, n, None, None, won=False, why=f"{n} shared units, fewer than {FEWEST_UNITS}")
    theirs, its = (_closeness(own[used], others[used], scoring) for own in (people[:, rater], model))
    model_wins = (its >= theirs).astype(np.float64)
    gap = (theirs >= its) - model_wins - epsilon
    error, centre = float(gap.std(ddof=1)) / math.sqrt(n), float(gap.mean())
    p = t_cdf(centre / error, n - 1) if error > 1e-15 else float(centre >= 0.0)
    return Duel(rater, n, float(model_wins.mean()), p, won=False)


def _closeness(own: FloatArray, others: FloatArray, scoring: Scoring) -> FloatArray:
    """How close one score is to the others of its unit (NaN missing); larger is closer."""
    present = ~np.isnan(others)
    if scoring == "accuracy":
        return (others == own[:, None]).sum(axis=1) / present.sum(axis=1)
    squares = np.where(present, (others - own[:, None]) ** 2, 0.0)
    return -np.sqrt(squares.sum(axis=1) / present.sum(axis=1))
