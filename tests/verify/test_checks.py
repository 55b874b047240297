"""Claims against evidence, each check by minimal pairs: the one claim is borne out, the other not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.verify.checks import NAMES, Findings, findings
from evenhand.verify.evidence import Article


def checked(claim: str, evidence: str) -> Findings:
    article = Article(evidence)
    return findings(claim, article.joined(article.passage(claim)), article)


def answer(name: str, claim: str, evidence: str) -> float:
    return checked(claim, evidence).features[NAMES.index(name)]


def test_features_have_their_names_once() -> None:
    assert len(set(NAMES)) == len(NAMES) == len(checked("a", "b").features)


@pytest.mark.parametrize(
    ("evidence", "agreeing", "conflicting"),
    [
        ("The town has 2.1 million people.", "The town has 2,100,000 people.", "The town has 5 million people."),
        ("The town has 34,912 people.", "The town has about 35,000 people.", "The town has about 53,000 people."),
        (
            "The trip takes 1.5 hours by boat.",
            "The trip by boat takes 90 minutes.",
            "The trip by boat takes 15 minutes.",
        ),
        ("The road is 161 km long.", "The road is 100 miles long.", "The road is 161 miles long."),
        ("Sales rose by 12 percent.", "Sales rose by 12%.", "Sales rose by 21%."),
        ("More than 500 men came.", "At least 500 men came.", "Fewer than 500 men came."),
        ("He won 512 games.", "He won over 500 games.", "He won under 500 games."),
        ("It cost between 10 and 15 euros.", "It cost 10 to 15 euros.", "It cost 20 to 25 euros."),
        ("She came third in the race.", "She came 3rd in the race.", "She came second in the race."),
        ("Water boils at 100 degrees Celsius there.", "Water boils at 212 °F there.", "Water boils at 100 °F there."),
        ("The club has 5 wins and 3 losses.", "The club has 5 wins.", "The club has 3 wins."),
    ],
)
def test_numbers(evidence: str, agreeing: str, conflicting: str) -> None:
    assert answer("numbers_agree", agreeing, evidence) >= 0.5
    assert answer("numbers_conflict", agreeing, evidence) == 0
    assert answer("numbers_conflict", conflicting, evidence) >= 0.15
    assert answer("numbers_agree", conflicting, evidence) < answer("numbers_agree", agreeing, evidence)


def test_a_number_is_missing_only_where_the_whole_article_lacks_it() -> None:
    article = Article(
        "The club has 40 members. " + "It rained all day over the hills and the sea. " * 40 + "It owns 70 boats."
    )
    window = article.piece(0)
    missing = NAMES.index("numbers_missing")
    assert findings("The club owns 70 boats.", window, article).features[missing] == 0
    assert findings("The club owns 90 boats.", window, article).features[missing] == 1


def test_a_note_says_both_numbers() -> None:
    notes = checked("The city has 5 million people.", "The city has 2.1 million people.").notes
    assert notes == ("the claim says 5 million people, the evidence 2.1 million people",)


@pytest.mark.parametrize(
    ("evidence", "agreeing", "conflicting"),
    [
        ("Men landed on July 20, 1969.", "Men landed in 1969.", "Men landed in 1972."),
        ("Men landed on July 20, 1969.", "Men landed on 20 July 1969.", "Men landed on 21 July 1969."),
        ("Men landed on July 20, 1969.", "Men landed in the 1960s.", "Men landed in the 1980s."),
        ("Men landed on July 20, 1969.", "Men landed before 1980.", "Men landed after 1980."),
        (
            "The war lasted from 1914 to 1918.",
            "The war lasted from 1914 until 1918.",
            "The war lasted from 1939 to 1945.",
        ),
        ("They met on a Monday.", "They met on Monday.", "They met on Friday."),
    ],
)
def test_dates(evidence: str, agreeing: str, conflicting: str) -> None:
    assert answer("dates_agree", agreeing, evidence) >= 0.5
    assert answer("dates_conflict", agreeing, evidence) == 0
    assert answer("dates_conflict", conflicting, evidence) >= 0.3
    assert answer("dates_missing", conflicting, evidence) == 1


def test_names_there_elsewhere_and_nowhere() -> None:
    evidence = "The opera was written by Clara Mendes. It was first sung in Lisbon."
    there = checked("The opera was written by C. Mendes.", evidence)
    other = checked("The opera was written by Peter Novak.", evidence)
    columns = [NAMES.index(name) for name in ("names_agree", "names_conflict", "names_missing")]
    assert [there.features[column] for column in columns] == [1, 0, 0]
    agrees, conflicts, missing = (other.features[column] for column in columns)
    assert (agrees, missing) == (0, 1)
    assert conflicts >= 0.5
    assert "the claim says Peter Novak, the evidence Clara Mendes" in other.notes


@pytest.mark.parametrize(
    ("evidence", "kept", "swapped"),
    [
        ("Norvane acquired Brightwell.", "Brightwell was bought by Norvane.", "Norvane was bought by Brightwell."),
        ("Ada Holt beat Elena Costa.", "Elena Costa lost to Ada Holt.", "Ada Holt lost to Elena Costa."),
        ("Ada Holt defeated Elena Costa.", "Ada Holt beat Elena Costa.", "Elena Costa beat Ada Holt."),
        ("Iron is heavier than wood.", "Wood is lighter than iron.", "Wood is heavier than iron."),
        ("Norway is larger than Portugal.", "Norway is larger than Portugal.", "Portugal is larger than Norway."),
    ],
)
def test_who_does_what_to_whom(evidence: str, kept: str, swapped: str) -> None:
    assert answer("sides_kept", kept, evidence) >= 0.5
    assert answer("sides_swapped", kept, evidence) == 0
    assert answer("sides_swapped", swapped, evidence) >= 0.5


@pytest.mark.parametrize(
    ("evidence", "agreeing", "differing"),
    [
        (
            "The agency did not approve the drug.",
            "The agency never approved the drug.",
            "The agency approved the drug.",
        ),
        ("The agency approved the drug.", "The drug was approved.", "The agency did not approve the drug."),
        ("He left without paying the bill.", "He did not pay the bill.", "He was paying the bill."),
    ],
)
def test_negation(evidence: str, agreeing: str, differing: str) -> None:
    assert answer("negation_differs", agreeing, evidence) == 0
    assert answer("negation_differs", differing, evidence) >= 0.5


@pytest.mark.parametrize(
    ("evidence", "agreeing", "opposite"),
    [
        ("The price of oil rose in March.", "The price of oil increased in March.", "The price of oil fell in March."),
        ("The council rejected the plan.", "The council refused the plan.", "The council approved the plan."),
        (
            "The mill lies north of the church.",
            "North of the church lies the mill.",
            "The mill lies south of the church.",
        ),
        ("The alloy is unstable in water.", "In water the alloy is unstable.", "The alloy is stable in water."),
        ("The oil price did not rise.", "The oil price did not increase.", "The oil price did not fall."),
    ],
)
def test_opposites(evidence: str, agreeing: str, opposite: str) -> None:
    assert answer("opposite", agreeing, evidence) == 0
    assert answer("opposite", opposite, evidence) >= 0.4


def test_a_denied_opposite_agrees() -> None:
    assert answer("opposite", "The shop did not open.", "The shop closed.") == 0
    assert answer("opposite_denied", "The shop did not open.", "The shop closed.") > 0


@pytest.mark.parametrize(
    ("claim", "conflicts"),
    [("All members agreed.", True), ("No members agreed.", True), ("Some members agreed.", False)],
)
def test_amounts(claim: str, conflicts: bool) -> None:
    assert (answer("amounts_conflict", claim, "Some members agreed, others left.") > 0.3) is conflicts


def test_a_claim_surer_than_its_evidence() -> None:
    evidence = "The drug may cure the fever in children."
    assert answer("surer", "The drug cures the fever in children.", evidence) >= 0.5
    assert answer("surer", "The drug may cure the fever in children.", evidence) == 0


def test_overlap_is_whole_for_a_copied_claim_and_nothing_for_a_strange_one() -> None:
    evidence = "The old mill stands beside the river. Its wheel has not turned for years."
    wanted = ("window_share", "sentence_share", "article_share", "copied_run", "copied_pairs")
    copied = checked("The old mill stands beside the river.", evidence).features
    strange = checked("Penguins breed during winter.", evidence).features
    assert [copied[NAMES.index(name)] for name in wanted] == [1] * 5
    assert [strange[NAMES.index(name)] for name in wanted] == [0] * 5
    # Penguins, breed and winter, of the five that count in full.
    assert strange[NAMES.index("novel_words")] == 0.6
    assert checked("The old mill stands beside the river.", evidence).notes == ()


def test_a_word_in_the_place_of_another_and_a_word_put_between() -> None:
    evidence = "The old mill stands beside the river."
    assert answer("replaced_words", "The old tower stands beside the river.", evidence) == pytest.approx(1 / 3)
    assert answer("inserted_words", "The old wooden mill stands beside the river.", evidence) == pytest.approx(1 / 3)
    assert answer("replaced_words", "The old mill stands beside the river.", evidence) == 0


@pytest.mark.parametrize(
    "text", ["", "   ", "²", "½ ١٢٣ 五百", "’’’", "(" * 500, "1," * 500, "A. " * 300, "\ud800", "of the " * 300]
)
def test_hostile_texts_are_answered_within_bounds(text: str) -> None:
    for claim, evidence in ((text, "The 5 km run."), ("The 5 km run.", text), (text, text)):
        assert all(0 <= value <= 1 for value in checked(claim, evidence).features)


@given(st.text(max_size=120), st.text(max_size=120))
def test_every_answer_is_a_share(claim: str, evidence: str) -> None:
    assert all(0 <= value <= 1 for value in checked(claim, evidence).features)


def test_a_megabyte_is_read() -> None:
    evidence = "The company sold 1,200 cars in 1969. " * 27_000 + "Ada Holt sold 31 boats in 1971."
    assert answer("numbers_missing", "Ada Holt sold 31 boats in 1971.", evidence) == 0
    assert answer("dates_missing", "Ada Holt sold 31 boats in 1972.", evidence) == 1
