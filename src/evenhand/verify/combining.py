"""Readings and checks → calibrated probabilities: a logistic model, fitted on held-out labels by `training.fit`."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from evenhand.verify.checks import NAMES, Findings
from evenhand.verify.mentions import KINDS
from evenhand.verify.reading import Reading

READ = ("passage supports", "passage contradicts", "best sentence supports", "best sentence contradicts")
# Where the passage has all of a claim's words, what speaks against it weighs more than among other words.
COVERED = (
    "conflict",
    "clause_conflict",
    "elsewhere",
    "sides_swapped",
    "polarity_differs",
    "names_conflict",
    "names_elsewhere",
    "clause_names_conflict",
    "names_instead",
    "clause_negation_differs",
)
# What agrees is worth nothing where something else does not.
AGREEING = (
    "numbers_agree",
    "dates_agree",
    "names_agree",
    "sides_kept",
    "negation_agrees",
    "amounts_agree",
    "clause_negation_agrees",
    "polarity_agrees",
    *(f"clause_{kind}_agree" for kind in KINDS),
    *(f"{kind}_bound" for kind in KINDS),
)
# What words in common are worth depends on how much evidence there is.
LONG = ("window_share", "article_share", "novel_words")
FEATURES = (
    *READ,
    *NAMES,
    *(f"{name}, all words there" for name in COVERED),
    *(f"{name} by length" for name in LONG),
    "sentences",
)
_SUREST = 7.0
_ALL = 4
_AGREEING = frozenset(NAMES.index(name) for name in AGREEING)
_CONFLICTS = tuple(NAMES.index(name) for name in ("conflict", "clause_conflict", "elsewhere", "polarity_differs"))
_COVERED = tuple(NAMES.index(name) for name in COVERED)
_LONG = tuple(NAMES.index(name) for name in LONG)
_SHARE, _LENGTH = NAMES.index("plain_share"), NAMES.index("evidence_length")


@dataclass(frozen=True, slots=True)
class Combination:
    """`weights`: a row of three for each feature, and a last one that is always added."""

    weights: NDArray[np.float64]
    threshold: float
    """How likely support must be before a claim is called supported."""

    def bears_out(self, supported: float, contradicted: float) -> bool:
        """Whether a claim is to be called supported: likely enough, and no less likely than contradicted."""
        return supported >= max(self.threshold, contradicted)

    def probabilities(self, features: Sequence[float]) -> tuple[float, float, float]:
        """Supported, contradicted, neither."""
        scores = np.array([*features, 1.0]) @ self.weights
        odds = np.exp(scores - scores.max())
        supported, contradicted, neither = map(float, odds / odds.sum())
        return supported, contradicted, neither


def features_of(readings: Sequence[Reading], found: Findings, together: int) -> tuple[float, ...]:
    """What the combination looks at. The first reading is the passage's, the others are single sentences'.

    `together`: how many pieces have one label. Where one of many decides, each must be allowed more doubt.
    """
    passage, rest = readings[0], readings[1:] or readings
    left = 1 - max(found.features[place] for place in _CONFLICTS)
    return (
        _logit(passage.supported),
        _logit(passage.contradicted),
        max(_logit(one.supported) for one in rest),
        max(_logit(one.contradicted) for one in rest),
        *(value * left if place in _AGREEING else value for place, value in enumerate(found.features)),
        *(found.features[place] * found.features[_SHARE] ** _ALL for place in _COVERED),
        *(found.features[place] * found.features[_LENGTH] for place in _LONG),
        math.log(max(1, together)),
    )


@cache
def shipped() -> Combination:
    """The combination that comes with the network. A feature it does not know of would shift all others: refused."""
    content = json.loads((files("evenhand.verify") / "model" / "combine.json").read_text(encoding="utf-8"))
    assert tuple(content["features"]) == FEATURES, "combine.json was fitted with other checks: run training.fit"
    return Combination(np.array(content["weights"]), content["threshold"])


def _logit(share: float) -> float:
    """Log odds, within what a reading can be trusted to tell apart."""
    share = min(max(share, 1e-6), 1 - 1e-6)
    return min(max(math.log(share / (1 - share)), -_SUREST), _SUREST)
