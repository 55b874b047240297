import pytest

from evenhand.nlp.abstention import PHRASES, abstains


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_phrase_counts_in_any_case(phrase: str) -> None:
    assert abstains(f"Sorry: {phrase.upper()} here.")


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Paris.", "en", False),
        ("", "en", False),
        ("The answer cannot be Paris.", "en", False),
        ("根据给定的文章，无法回答这个问题。", "en", True),
        ("无法推断", "zh", True),
        ("答案是北京。", "zh", False),
        ("I cannot answer.", "zh", True),
        ("I cannot find this in the documents.", "en", True),
        ("I'm sorry, but I couldn't find this in the provided context.", "en", True),
        ("The documents do not say when it opened.", "en", True),
        ("The context does not say.", "en", True),
        ("I don’t know.", "en", True),
        ("Sorry, we do not know. It does not say.", "en", True),
        ("I do not know who told you that. Refunds take 30 days.", "en", False),
        ("I could not find the exact date, but it opened in 1902.", "en", False),
        ("I do not know, maybe Paris.", "en", False),
        ("He does not say when he left.", "en", False),
        ("She said she could not find it.", "en", False),
        ("I do not know " + "why " * 60, "en", False),
    ],
)
def test_abstentions(text: str, language: str, expected: bool) -> None:
    assert abstains(text, language) is expected


def test_phrases_are_added_or_take_the_place_of_the_built_in_ones() -> None:
    assert abstains("I pass on this one.", phrases=["I PASS"])
    assert abstains("I cannot answer.", phrases=["I pass"])
    assert not abstains("I cannot answer.", phrases=["I pass"], built_in=False)
