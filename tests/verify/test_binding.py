"""Both numbers, both dates or both names stand in the evidence: what belongs to what decides."""

import pytest

from evenhand.verify.checks import NAMES, findings
from evenhand.verify.evidence import Article


def answer(name: str, claim: str, evidence: str) -> float:
    article = Article(evidence)
    return findings(claim, evidence, article).features[NAMES.index(name)]


@pytest.mark.parametrize(
    ("kind", "evidence", "right", "wrong"),
    [
        (
            "dates",
            "The college was founded in 1811. It admitted women in 1897, and a school of medicine was added in 1912.",
            "In 1897 the college admitted women.",
            "In 1912 the college admitted women.",
        ),
        (
            "dates",
            "The probe left on 8 July 1988 and sent its first picture on 20 August of that year.",
            "The probe sent its first picture in August 1988.",
            "The probe sent its first picture in July 1988.",
        ),
        (
            "numbers",
            "The mirror is made of 36 segments, and the camera behind it has 18 detectors.",
            "The mirror is made of 36 segments.",
            "The mirror is made of 18 segments.",
        ),
        (
            "names",
            "Peter Novak conducted, and Yuki Tanabe played the solo in the violin concerto.",
            "Yuki Tanabe played the solo in the violin concerto.",
            "Peter Novak played the solo in the violin concerto.",
        ),
    ],
)
def test_what_stands_with_the_claims_words(kind: str, evidence: str, right: str, wrong: str) -> None:
    assert answer(f"{kind}_bound", right, evidence) > 0
    assert answer(f"{kind}_elsewhere", right, evidence) == 0
    assert answer(f"{kind}_bound", wrong, evidence) == 0
    assert answer(f"{kind}_elsewhere", wrong, evidence) == answer("elsewhere", wrong, evidence) > 0


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The mirror is made of 40 segments.", "The mirror is made of 36 segments and weighs 18 tons."),
        ("The mirror is made of 36 segments.", "The mirror is made of 36 segments."),
        ("The mirror is made of segments.", "The mirror is made of 36 segments and weighs 18 tons."),
    ],
)
def test_nothing_to_compare(claim: str, evidence: str) -> None:
    assert answer("numbers_bound", claim, evidence) == answer("numbers_elsewhere", claim, evidence) == 0


@pytest.mark.parametrize(
    ("evidence", "same", "turned"),
    [
        (
            "It can be stored in a refrigerator for 28 days, but it must not be frozen.",
            "It can be stored in a refrigerator.",
            "It cannot be stored in a refrigerator.",
        ),
        (
            "The fans had not been inspected before the explosion.",
            "The fans had not been inspected.",
            "The fans had been inspected.",
        ),
    ],
)
def test_what_is_denied_word_by_word(evidence: str, same: str, turned: str) -> None:
    assert answer("polarity_differs", same, evidence) == 0
    assert answer("polarity_differs", turned, evidence) >= 0.5


def test_a_denial_of_something_else_is_no_conflict() -> None:
    evidence = "Anna Berg completed a doctorate in Lund. The post she was offered was never taken up."
    assert answer("polarity_differs", "Anna Berg never returned to Lund.", evidence) == 0
    assert answer("polarity_differs", "Anna Berg never completed a doctorate in Lund.", evidence) == 1


def test_words_that_are_no_names_count_apart() -> None:
    evidence = "Anna Berg completed a doctorate in Lund."
    assert answer("plain_share", "Anna Berg completed a doctorate.", evidence) == 1
    assert answer("plain_share", "Anna Berg sold boats in Lund.", evidence) == 0
    assert answer("plain_missing", "Anna Berg sold boats in Lund.", evidence) == pytest.approx(2 / 3)


def test_a_name_that_opens_a_sentence_is_known_from_the_other_text() -> None:
    evidence = "Albion beat Mariners 2-1 in the final."
    assert answer("sides_swapped", "Mariners beat Albion in the final.", evidence) == 1
    assert answer("sides_kept", "Albion beat Mariners in the final.", evidence) == 1


def test_an_infinitive_has_two_sides_too() -> None:
    evidence = "The court ordered Helix Pharma to pay Calder Motors $12 million."
    assert answer("sides_swapped", "The court ordered Calder Motors to pay Helix Pharma $12 million.", evidence) > 0.5
    assert answer("sides_kept", "The court ordered Helix Pharma to pay Calder Motors $12 million.", evidence) > 0.5
