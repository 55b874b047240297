"""Sentences of the kind that models write, each with what a person would say of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.verify.claims import claims, has_claim, is_bare, statements

TALK = [
    "Hello!",
    "Hi there!",
    "Hello, Anna.",
    "Good morning, everyone.",
    "Sure!",
    "Sure, I can help with that.",
    "Of course.",
    "Great question!",
    "That's a great question.",
    "Thank you for asking.",
    "You're welcome!",
    "I hope this helps!",
    "I hope this clarifies things for you.",
    "Here is a summary:",
    "Here is a summary of the article.",
    "Here's what I found:",
    "Here are the main points:",
    "Let me explain.",
    "Let's look at this step by step.",
    "In conclusion:",
    "In summary,",
    "To summarize:",
    "## Background",
    "# How it works",
    "**Key points:**",
    "- **Cost:**",
    "Step 2:",
    "Conclusion",
    "What is the capital of France?",
    "Would you like to know more?",
    "Do you want me to continue",
    "How does it work?",
    "https://example.org/page?x=1",
    "```python",
    "```",
    "---",
    "I don't know.",
    "I do not know the answer to that.",
    "I'm not sure.",
    "I cannot answer this question.",
    "I'm sorry, but I can't help with that.",
    "The context does not say.",
    "The provided text does not mention his birthplace.",
    "There is not enough information to answer the question.",
    "There is no evidence in the provided context.",
    "It is not mentioned in the passage.",
    "As an AI language model, I cannot have opinions.",
    "It depends.",
    "Unknown",
    "N/A",
    "Please consult your doctor.",
    "Click the button to continue.",
    "See the table below.",
    "Consider the following example:",
    "Make sure to save your work.",
    "Do not hesitate to contact us.",
    "Don't forget to save.",
    "Let me know if you have any questions.",
    "If you have any further questions, feel free to ask.",
    "Feel free to ask!",
    "I will now explain the causes.",
    "In this article, we will discuss the causes of the war.",
    "The following is a list of its causes:",
    "The main causes are:",
    "There are several factors to consider.",
    "I'd be happy to help.",
    "Best regards",
    "Preheat the oven to 200 degrees.",
    "...",
    "Perhaps.",
    "Based on the context, I don't know.",
    "Unfortunately, the document does not say.",
    "You can find more information here.",
    "The answer cannot be determined.",
    "No information is given about her age.",
    "Remember to drink water.",
    "Is there anything else I can help you with?",
    "Note:",
    "For example:",
]

CLAIMS = [
    "Paris",
    "42 km",
    "Yes.",
    "No",
    "Rome fell in 476.",
    "The Moon orbits the Earth.",
    "Sure, Rome fell in 476.",
    "Hello! The capital is Paris.",
    "In conclusion, the treaty ended the war.",
    "Note that the drug is toxic.",
    "It is important to note that sales fell by 5%.",
    "Based on the context, Paris is the capital.",
    "According to the text, the bridge opened in 1937.",
    "I think the Nile is the longest river.",
    "There is no evidence of life on Mars.",
    "There are several factors that caused the war.",
    "The treaty was signed in 1648 by three powers:",
    "- The company sold 3 million cars.",
    "1. Mercury is the closest planet to the Sun.",
    "**Paris** is the capital of France.",
    "The evidence does not support the theory.",
    "Use of the drug is banned.",
    "Use in children is not recommended.",
    "Set theory is a branch of mathematics.",
    "Rome fell in 476, right?",
    'She asked, "Who are you?" and left.',
    "Bees make honey.",
    "Here the river turns south.",
    "This is a mammal.",
    "The summary judgment was overturned.",
    "Unfortunately, 12 people died.",
    "Finally, the company went bankrupt.",
    "July 20, 1969",
    "the process by which plants make food",
    "George Washington",
    "Thank-you notes were sent to 300 donors.",
    "It depends on the temperature.",
    "Maybe 40 people attended.",
    "Cost: 5 dollars",
    "**Cost:** It costs 5 dollars.",
    "The article was published in 1998.",
    "Hi-fi systems became popular in the 1950s.",
    "She hopes the law will pass.",
    "Great Britain left the EU in 2020.",
    "Sorry was a hit song in 2015.",
    "Good morning America airs on ABC.",
    "Welcome to Chippendales premiered in 2022.",
    "Read was elected in 1990.",
    "First, the acid dissolves the metal.",
    "If you heat water to 100 °C, it boils.",
    "You need a visa to enter the country.",
    "What is known is that the ship sank.",
    "Doing so is illegal.",
    "The report does not exist.",
    "Doctors do not know the cause of the disease.",
    "It is not known whether bats migrate.",
    "I was born in 1950.",
    "We found that the drug reduced pain.",
    "## The treaty ended the war in 1648.",
    "北京是中国的首都。",
    "Call of Duty sold 30 million copies.",
    "Next, Caesar crossed the Rubicon.",
    "Its height is 300 m!",
    "There are many ways in which bees communicate.",
    "There is information overload among 60% of users.",
    "Take That sold 45 million records.",
    "Notes from Underground is a novel by Dostoevsky.",
    "So far, 300 people have died.",
    "Well water is contaminated in many villages.",
    "Then he died.",
    "Now the plant is closed.",
]


@pytest.mark.parametrize("sentence", TALK)
def test_a_sentence_that_only_talks_to_its_reader_has_no_claim(sentence: str):
    assert not has_claim(sentence)


@pytest.mark.parametrize("sentence", CLAIMS)
def test_a_sentence_that_asserts_something_has_a_claim(sentence: str):
    assert has_claim(sentence)


@pytest.mark.parametrize("text", ["tower " * 5_000, "ha " * 12, "no, no, " * 20])
def test_a_word_again_and_again_has_no_claim(text: str):
    assert not has_claim(text)


def test_a_block_of_code_has_no_claim():
    assert not has_claim("```python\nprint('Rome fell in 476')\n```")


@pytest.mark.parametrize(
    "answer",
    [
        "Paris",
        "42 km",
        "Yes",
        "No.",
        "Yes, it did.",
        "9 am",
        "July 20, 1969",
        "the man who was president",
        "a tower built in 1889",
        "Because it was cold",
        "heart attacks and strokes.",
        "the river that runs through Paris",
        "to save lives",
        "The discovery of penicillin in 1928",
        "",
    ],
)
def test_a_phrase_is_bare(answer: str):
    assert is_bare(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "It rained.",
        "It's red",
        "The company didn't pay",
        "About forty people work at the dairy, which has belonged to its farmers since 1954.",
        "The treaty ended the war that had begun in 1618.",
    ],
)
def test_a_sentence_is_not_bare(answer: str):
    assert not is_bare(answer)


def test_a_bare_answer_stays_with_the_question_before_it():
    assert statements("Is the Earth flat? No. Rome fell in 476.") == ["Is the Earth flat? No.", "Rome fell in 476."]
    assert statements("Who won? Rome fell in 476, which nobody had expected at all.")[0] == "Who won?"
    assert has_claim("Is the Earth flat? No.")


@given(st.text(max_size=80))
def test_any_text_is_taken(text: str):
    assert has_claim(text) in (True, False)
    assert is_bare(text) in (True, False)


def test_a_long_run_of_openers_ends():
    assert has_claim("so " * 100_000 + "Rome fell in 476.")


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("Here is a summary: The observatory opened in 1934.", True),
        ("Here is a summary:", False),
        ("The following is known: I hope this helps!", False),
    ],
)
def test_a_lead_in_does_not_take_the_claim_after_it_along(sentence: str, claims: bool):
    assert has_claim(sentence) is claims


@pytest.mark.parametrize("sentence", ["It houses a 2.5 m telescope.", "I hope this helps!", "They brew ale."])
def test_what_begins_with_a_pronoun_is_no_bare_phrase(sentence: str):
    assert not is_bare(sentence)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Sure! The tower is 40 m high. Is it old? I hope this helps!", ["The tower is 40 m high."]),
        ("It was built in 1911, and it is 40 m high.", ["It was built in 1911", "it is 40 m high."]),
        ("It was built in 1911; the roof is new.", ["It was built in 1911", "the roof is new."]),
        (
            "- It is red.\n- It was moved, but the bell has stayed.",
            ["It is red.", "It was moved", "the bell has stayed."],
        ),
        # One subject, a list, a condition, reported speech, a parenthesis, a relative clause: one claim.
        ("It is made of iron, steel, and was built in 1911.", ["It is made of iron, steel, and was built in 1911."]),
        ("The nave, the tower, and the crypt are open.", ["The nave, the tower, and the crypt are open."]),
        ("If it rains, and the road is wet, it is closed.", ["If it rains, and the road is wet, it is closed."]),
        ("He said that it is red, and the bell was lost.", ["He said that it is red, and the bell was lost."]),
        ("It is old (it was built early; nobody is sure).", ["It is old (it was built early; nobody is sure)."]),
        ("It was moved to Hest, the town that is nearest.", ["It was moved to Hest, the town that is nearest."]),
        ("Who built it? Two brothers.", ["Who built it? Two brothers."]),
        ("Paris", ["Paris"]),
        ("塔高四十米；它建于1911年。", ["塔高四十米", "它建于1911年。"]),
        ("I don't know.", []),
        ("It is red. There is no information on its age.", ["It is red."]),
        ("", []),
    ],
)
def test_claims_are_sentences_and_main_clauses_word_for_word(text: str, found: list[str]):
    assert [text[start:end] for start, end in claims(text)] == found


@given(st.text(alphabet='Ab ,;.?\n()“”"-塔；isand', max_size=60))
def test_claims_come_in_order_and_do_not_overlap(text: str):
    ends = 0
    for start, end in claims(text):
        assert ends <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        ends = end
