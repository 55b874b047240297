"""What the combination is given: what agrees counts where nothing conflicts, and how many sentences share a label."""

from math import log

import pytest

from evenhand.verify.checks import NAMES, findings
from evenhand.verify.combining import AGREEING, FEATURES, features_of, shipped
from evenhand.verify.evidence import Article
from evenhand.verify.reading import Reading

MUSEUM = "The museum closed in 1996. All of its 28 rooms were reopened in November 1999."
UNSURE = [Reading(0.3, 0.3, 0.4)]


def features(claim: str, together: int = 1) -> dict[str, float]:
    found = findings(claim, MUSEUM, Article(MUSEUM))
    return dict(zip(FEATURES, features_of(UNSURE, found, together), strict=True))


def test_what_agrees_counts_for_less_where_something_conflicts() -> None:
    right, wrong = (features(f"In November 1999, {how} of the 28 rooms were reopened.") for how in ("all", "none"))
    raw = findings("In November 1999, none of the 28 rooms were reopened.", MUSEUM, Article(MUSEUM)).features
    assert right["dates_agree"] > 0
    assert wrong["dates_agree"] < raw[NAMES.index("dates_agree")]
    assert all(wrong[name] <= raw[NAMES.index(name)] for name in AGREEING)


def test_of_many_sentences_each_is_allowed_more_doubt() -> None:
    assert features("All rooms were reopened.", 5)["sentences"] == pytest.approx(log(5))
    alone, among = (
        shipped().probabilities(list(features("All of its rooms were reopened.", n).values())) for n in (1, 5)
    )
    assert among[0] > alone[0]
