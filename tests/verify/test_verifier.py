"""From the readings of a claim to its label."""

from collections.abc import Mapping

import pytest

from evenhand.verify.claims import claim_parts, statements
from evenhand.verify.network import Reading, shared
from evenhand.verify.retrieval import Article
from evenhand.verify.verifier import SupportLabel, conclude, prepare

CLAIM = "The Aln tower is 330 metres tall."
SAME = "The Aln tower is 330 metres tall."
OTHER_HEIGHT = "The Aln tower is only 210 metres tall."
OTHER_SUBJECT = "The tower is made of wrought iron and stands on a hill."
SUPPORTS, CONTRADICTS, NEITHER = Reading(0.95, 0.02, 0.03), Reading(0.02, 0.95, 0.03), Reading(0.02, 0.02, 0.96)


def label(evidence: str, readings: Mapping[str, Reading], *, calibrated: bool) -> SupportLabel:
    """The label of the claim if these sentences are read so, and the passage as supporting it."""
    article = Article(evidence)
    reads = prepare(CLAIM, article)
    read = [readings.get(text, SUPPORTS) for text, _ in reads.pairs]
    return conclude(reads, read, article, calibrated=calibrated).label


@pytest.mark.parametrize("calibrated", [True, False])
def test_a_sentence_that_says_otherwise_makes_a_claim_disputed(calibrated: bool):
    evidence = f"{SAME} {OTHER_HEIGHT}"
    assert label(evidence, {OTHER_HEIGHT: CONTRADICTS}, calibrated=calibrated) is SupportLabel.DISPUTED
    assert label(evidence, {OTHER_HEIGHT: NEITHER}, calibrated=calibrated) is SupportLabel.SUPPORTED


def test_the_built_in_network_sees_no_dispute_in_a_sentence_about_something_else():
    evidence = f"{SAME} {OTHER_SUBJECT}"
    assert label(evidence, {OTHER_SUBJECT: CONTRADICTS}, calibrated=True) is SupportLabel.SUPPORTED
    # A stronger reader is believed: it contradicts in other words, too.
    assert label(evidence, {OTHER_SUBJECT: CONTRADICTS}, calibrated=False) is SupportLabel.DISPUTED


def test_a_very_long_claim_is_read_in_equal_parts():
    words = [f"W{number}" for number in range(130)]
    parts = claim_parts(" ".join(words))
    assert [len(part.split()) for part in parts] == [44, 44, 42]
    assert " ".join(parts).split() == words
    assert claim_parts("Rome fell.") == ["Rome fell."]
    assert statements(f"Rome fell. {' '.join(words)}") == ["Rome fell.", *parts]


def test_a_bare_phrase_that_the_evidence_has_as_a_sentence_needs_no_question():
    question = "When was it opened?"
    assert prepare("In 1902.", Article("It was opened in 1902."), question).claim == f"{question} In 1902."
    article = Article("In 1902")
    read = prepare("In 1902.", article, question)
    verdict = conclude(read, shared().read(read.pairs), article, calibrated=True)
    assert (read.claim, verdict.label) == ("In 1902.", SupportLabel.SUPPORTED)
