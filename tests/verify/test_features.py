"""What a claim and its evidence have in common, and what speaks against it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.verify.calibration import shipped
from evenhand.verify.features import FEATURES, Comparison
from evenhand.verify.network import Reading
from evenhand.verify.retrieval import Article

EVIDENCE = (
    "The Harrow Observatory was founded by Ada Lund in 1934. It houses a 2.5 metre telescope. "
    "In 1987 the observatory sold 3,200 tickets. Otto Brandt did not visit it."
)
UNSURE = Reading(0.3, 0.3, 0.4)


def comparison(claim: str, evidence: str = EVIDENCE) -> Comparison:
    article = Article(evidence)
    return Comparison(claim, article.passage(claim), article, [UNSURE])


def features(claim: str, evidence: str = EVIDENCE) -> dict[str, float]:
    return dict(zip(FEATURES, comparison(claim, evidence).features(), strict=True))


def test_at_most_twenty_features_and_a_weight_for_each():
    assert len(FEATURES) <= 20
    assert shipped().weights.shape == (len(FEATURES) + 1, 3)


def test_a_copied_sentence_has_everything_and_conflicts_with_nothing():
    found = features("The Harrow Observatory was founded by Ada Lund in 1934.")
    for name in ("overlap_with_best_sentence", "overlap_with_passage", "copied_run", "names_agree"):
        assert found[name] == pytest.approx(1.0), name
    against = [name for name in FEATURES if name.endswith(("_conflict", "_missing", "_nowhere", "_differs"))]
    assert against
    assert [found[name] for name in against] == [0.0] * len(against)


@pytest.mark.parametrize(
    ("claim", "conflict", "note"),
    [
        ("In 1987 the observatory sold 4,100 tickets.", "numbers_conflict", "the claim says 4,100, the evidence 3,200"),
        ("The Harrow Observatory was founded by Ada Lund in 1943.", "dates_conflict", "says 1943, the evidence 1934"),
        ("The Harrow Observatory was founded by Mary Poole in 1934.", "names_conflict", "says Mary Poole"),
        ("Otto Brandt did visit it.", "negation_differs", ""),
    ],
)
def test_a_changed_detail_is_a_conflict_and_is_told(claim: str, conflict: str, note: str):
    assert features(claim)[conflict] > 0.5
    assert note in "; ".join(comparison(claim).notes())


def test_a_number_that_belongs_to_something_else_is_a_conflict():
    assert features("The Harrow Observatory was founded by Ada Lund in 1987.")["dates_conflict"] > 0.3


def test_what_is_nowhere_in_the_evidence_is_missing():
    found = features("Mary Poole paid 900 crowns in 1850.")
    assert (found["numbers_missing"], found["dates_missing"], found["names_missing"]) == (1.0, 1.0, 1.0)
    assert "“Mary Poole” is nowhere in the evidence" in list(comparison("Mary Poole paid 900 crowns.").notes())


@given(st.text(max_size=80), st.text(min_size=1, max_size=200))
def test_any_claim_and_evidence_have_features(claim: str, evidence: str):
    if len(Article(evidence)):
        assert all(abs(value) < 50 for value in comparison(claim, evidence).features())
