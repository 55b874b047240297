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
    ],
)
def test_abstentions(text: str, language: str, expected: bool) -> None:
    assert abstains(text, language) is expected


def test_phrases_are_added_or_take_the_place_of_the_built_in_ones() -> None:
    assert abstains("I pass on this one.", phrases=["I PASS"])
    assert abstains("I cannot answer.", phrases=["I pass"])
    assert not abstains("I cannot answer.", phrases=["I pass"], built_in=False)
