"""What a claim and its evidence have in common, and what speaks against it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.verify.calibration import shipped
from evenhand.verify.features import ClaimComparison
from evenhand.verify.network import Reading
from evenhand.verify.retrieval import Article

EVIDENCE = (
    "The Harrow Observatory was founded by Ada Lund in 1934. It houses a 2.5 metre telescope. "
    "In 1987 the observatory sold 3,200 tickets. Otto Brandt did not visit it."
)
UNSURE = Reading(0.3, 0.3, 0.4)


def comparison(claim: str, evidence: str = EVIDENCE) -> ClaimComparison:
    article = Article(evidence)
    return ClaimComparison(claim, article.passage(claim), article, [UNSURE])


def features(claim: str, evidence: str = EVIDENCE) -> dict[str, float]:
    return comparison(claim, evidence).features()


def test_every_feature_has_a_weight_and_every_weight_a_feature():
    assert {*shipped().supported, *shipped().contradicted} == {*features("Ada Lund founded it."), "constant"}


def test_probabilities_add_up_and_follow_the_network():
    sure = comparison("Ada Lund founded the Harrow Observatory in 1934.")
    sure.readings = [Reading(0.98, 0.01, 0.01)]
    found = shipped().probabilities(sure.features())
    assert sum(found) == pytest.approx(1.0)
    assert found.supported > 0.9
    sure.readings = [Reading(0.01, 0.98, 0.01)]
    assert shipped().probabilities(sure.features()).contradicted > 0.8


def test_a_copied_sentence_has_everything_and_conflicts_with_nothing():
    found = features("The Harrow Observatory was founded by Ada Lund in 1934.")
    assert found["overlap_with_passage"] == pytest.approx(1.0)
    against = [name for name in found if name.endswith(("_conflict", "_missing"))]
    assert len(against) == 6
    assert [found[name] for name in against] == [0.0] * len(against)


@pytest.mark.parametrize(
    ("claim", "conflict", "note"),
    [
        ("In 1987 the observatory sold 4,100 tickets.", "numbers_conflict", "the claim says 4,100, the evidence 3,200"),
        ("The Harrow Observatory was founded by Ada Lund in 1943.", "dates_conflict", "says 1943, the evidence 1934"),
        ("The Harrow Observatory was founded by Mary Poole in 1934.", "names_conflict", "says Mary Poole"),
    ],
)
def test_a_changed_detail_is_a_conflict_and_is_told(claim: str, conflict: str, note: str):
    assert features(claim)[conflict] > 0.5
    assert note in "; ".join(comparison(claim).notes())


def test_a_number_that_belongs_to_something_else_is_a_conflict():
    assert features("The Harrow Observatory was founded by Ada Lund in 1987.")["dates_conflict"] > 0.3


def test_what_is_nowhere_in_the_evidence_is_missing():
    assert features("Mary Poole paid 900 crowns in 1850.")["names_missing"] == 1.0
    assert list(comparison("Mary Poole paid 900 crowns.").notes()) == [
        "“900” is nowhere in the evidence",
        "“Mary Poole” is nowhere in the evidence",
    ]


@given(st.text(max_size=80), st.text(min_size=1, max_size=200))
def test_any_claim_and_evidence_have_features(claim: str, evidence: str):
    if len(Article(evidence)):
        assert all(abs(value) < 50 for value in comparison(claim, evidence).features().values())
