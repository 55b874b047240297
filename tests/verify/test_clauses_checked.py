"""The clause that has the rest of a claim decides, not the words that stand elsewhere in the passage."""

import pytest

from evenhand.verify.clauses_checked import InClause, clauses_checked
from evenhand.verify.evidence import Article
from evenhand.verify.scene import Scene

COLLEGE = "The college was founded in 1732. It admitted women in 1897, and a school of medicine was added in 1912."
CONCERT = "Vera Lund conducted, Jonas Weller played the solo in the violin concerto, and the hall was full."
BAKERY = "It bakes 3,100 loaves a day and delivers bread to 57 shops in the town."
APPEALS = "The court accepted the appeal of Owen Black against his sentence; it rejected the appeal of Ada Frost."


def held(claim: str, passage: str) -> InClause:
    return clauses_checked(Scene(claim, passage, Article(passage)))


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
            "words",
            APPEALS,
            "The court accepted the appeal of Owen Black against his sentence.",
            "The court rejected the appeal of Owen Black against his sentence.",
        ),
    ],
)
def test_what_stands_in_another_clause_does_not_bear_a_claim_out(kind: str, passage: str, right: str, wrong: str):
    agreeing, conflicting = getattr(held(right, passage), kind), getattr(held(wrong, passage), kind)
    assert agreeing.agrees > 0.3
    assert agreeing.conflicts == 0
    assert conflicting.conflicts > 0.3
    assert conflicting.agrees == 0


def test_a_denial_in_the_clause_itself_counts():
    passage = "The bridge was not damaged by the flood, but the mill was damaged badly by the water."
    assert held("The bridge was damaged by the flood.", passage).negation.conflicts > 0.3
    assert held("The bridge was not damaged by the flood.", passage).negation.conflicts == 0


def test_nothing_is_said_of_a_claim_on_something_else():
    found = held("Whales sing at night in winter.", COLLEGE)
    assert found.closeness == 0
    assert all(one.agrees == one.conflicts == 0 for one in (found.numbers, found.dates, found.names, found.words))


@pytest.mark.parametrize(("claim", "passage"), [("", ""), ("a", ""), ("", "a, b and c."), (",,,", "and and, and")])
def test_empty_texts_have_no_clause(claim: str, passage: str):
    assert held(claim, passage).closeness == 0
