"""The clause that has the rest of a claim decides, not the words that stand elsewhere in the passage."""

import pytest

from evenhand.verify.clauses_checked import Clauses
from evenhand.verify.evidence import Article
from evenhand.verify.mentions import KINDS, mentions
from evenhand.verify.scene import Finding, Scene

COLLEGE = "The college was founded in 1732. It admitted women in 1897, and a school of medicine was added in 1912."
CONCERT = "Vera Lund conducted, Jonas Weller played the solo in the violin concerto, and the hall was full."
BAKERY = "It bakes 3,100 loaves a day and delivers bread to 57 shops in the town."
APPEALS = "The court accepted the appeal of Owen Black against his sentence; it rejected the appeal of Ada Frost."


def clauses(claim: str, passage: str) -> Clauses:
    return Clauses(Scene(claim, passage, Article(passage)))


def held(kind: str, claim: str, passage: str) -> Finding:
    scene = Scene(claim, passage, Article(passage))
    return Clauses(scene).held(mentions(scene)[kind])


@pytest.mark.parametrize(
    ("kind", "passage", "right", "wrong"),
    [
        ("dates", COLLEGE, "The college admitted women in 1897.", "The college admitted women in 1912."),
        (
            "names",
            CONCERT,
            "Jonas Weller played the solo in the violin concerto.",
            "Vera Lund played the solo in the violin concerto.",
        ),
        ("numbers", BAKERY, "It bakes 3,100 loaves a day.", "It bakes 57 loaves a day."),
        (
            "amounts",
            "None of the members of the old party voted for it, whereas all members of the new party did so.",
            "None of the members of the old party voted for it.",
            "All members of the old party voted for it.",
        ),
        (
            "denials",
            "The bridge was not damaged by the flood, but the mill was damaged badly by the water.",
            "The bridge was not damaged by the flood.",
            "The bridge was damaged by the flood.",
        ),
        (
            "names",
            "The play was shown in May. It was written by Ada Frost and directed by Owen Black.",
            "The play, which was shown in May, was directed by Owen Black.",
            "The play, which was shown in May, was directed by Ada Frost.",
        ),
        (
            "words",
            "From May to June the number of fulmars rose, while the number of cormorants fell.",
            "From May to June the number of fulmars on the cliffs rose.",
            "From May to June the number of fulmars on the cliffs fell.",
        ),
        (
            "words",
            APPEALS,
            "The court accepted the appeal of Owen Black against his sentence.",
            "The court rejected the appeal of Owen Black against his sentence.",
        ),
    ],
)
def test_what_stands_in_another_clause_does_not_bear_a_claim_out(kind: str, passage: str, right: str, wrong: str):
    agreeing, conflicting = held(kind, right, passage), held(kind, wrong, passage)
    assert agreeing.agrees > 0.3
    assert agreeing.conflicts == 0
    assert conflicting.conflicts > 0.2
    assert conflicting.agrees == 0


def test_a_denial_in_the_clause_itself_counts():
    passage = "The bridge was not damaged by the flood, but the mill was damaged badly by the water."
    assert clauses("The bridge was damaged by the flood.", passage).negation().conflicts > 0.3
    assert clauses("The bridge was not damaged by the flood.", passage).negation().conflicts == 0


def test_nothing_is_said_of_a_claim_on_something_else():
    claim = "Whales sing at night in winter."
    assert clauses(claim, COLLEGE).closeness == 0
    assert all(held(kind, claim, COLLEGE) == Finding() for kind in KINDS)


@pytest.mark.parametrize(("claim", "passage"), [("", ""), ("a", ""), ("", "a, b and c."), (",,,", "and and, and")])
def test_empty_texts_have_no_clause(claim: str, passage: str):
    assert clauses(claim, passage).closeness == 0
    assert all(held(kind, claim, passage) == Finding() for kind in KINDS)
