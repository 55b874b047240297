"""Sentences of the kind that models write, and questions of every form, each with what a person would say of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.verify.claims import has_claim, is_bare, statement

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

ANSWERS = [
    ("What is the capital of France?", "Paris", "The capital of France is Paris."),
    ("Did Rome fall in 476?", "No", "Rome did not fall in 476."),
    ("Did Rome fall in 476?", "Yes", "Rome fell in 476."),
    ("Who wrote Hamlet?", "William Shakespeare", "William Shakespeare wrote Hamlet."),
    (
        "Who was the first president of the United States?",
        "George Washington",
        "The first president of the United States was George Washington.",
    ),
    ("Who was born in Ulm?", "Albert Einstein", "Albert Einstein was born in Ulm."),
    ("Which country won the 1998 World Cup?", "France", "France won the 1998 World Cup."),
    (
        "Which planet is the largest in the Solar System?",
        "Jupiter",
        "Jupiter is the largest planet in the Solar System.",
    ),
    ("When was Rome founded?", "753 BC", "Rome was founded in 753 BC."),
    ("When did the war end?", "11 November 1918", "The war ended on 11 November 1918."),
    ("When does the shop open?", "9 am", "The shop opens at 9 am."),
    ("In what year did Apollo 11 land?", "1969", "Apollo 11 landed in 1969."),
    ("What year did Apollo 11 land on the Moon?", "1969", "Apollo 11 landed on the Moon in 1969."),
    ("By whom was Hamlet written?", "Shakespeare", "Hamlet was written by Shakespeare."),
    ("Where is the Eiffel Tower?", "Paris", "The Eiffel Tower is in Paris."),
    ("Where was Einstein born?", "Ulm", "Einstein was born in Ulm."),
    ("Where did the family move in 1900?", "Berlin", "The family moved in 1900 to Berlin."),
    ("Where does coffee come from?", "Ethiopia", "Coffee comes from Ethiopia."),
    ("How many people live in Paris?", "2.1 million", "2.1 million people live in Paris."),
    ("How many moons does Mars have?", "two", "Mars has two moons."),
    ("How many players are there in a team?", "11", "There are 11 players in a team."),
    ("How much does the ticket cost?", "$5", "The ticket costs $5."),
    ("How long is the Nile?", "6,650 km", "The Nile is 6,650 km long."),
    ("How long did the war last?", "six years", "The war lasted six years."),
    ("How long does it take to boil an egg?", "ten minutes", "It takes ten minutes to boil an egg."),
    ("How old was Mozart when he died?", "35", "Mozart was 35 years old when he died."),
    ("How far is the Moon from Earth?", "384,400 km", "The Moon is 384,400 km from Earth."),
    ("Why did the bridge collapse?", "strong winds", "The bridge collapsed because of strong winds."),
    ("Why did the bridge collapse?", "Because of strong winds", "The bridge collapsed because of strong winds."),
    ("What did Edison invent in 1879?", "the light bulb", "Edison invented the light bulb in 1879."),
    ("What does DNA stand for?", "deoxyribonucleic acid", "DNA stands for deoxyribonucleic acid."),
    ("What colour is the sky?", "Blue", "The sky is Blue."),
    ("What language do Brazilians speak?", "Portuguese", "Brazilians speak Portuguese."),
    ("What language is spoken in Brazil?", "Portuguese", "Portuguese is spoken in Brazil."),
    ("Is Paris the capital of France?", "Yes", "Paris is the capital of France."),
    ("Is the Earth flat?", "No", "The Earth is not flat."),
    ("Is the sky blue?", "Yes.", "The sky is blue."),
    ("Was the treaty signed in 1648?", "No", "The treaty was not signed in 1648."),
    ("Can penguins fly?", "No", "Penguins cannot fly."),
    ("Has the company published its results?", "Yes", "The company has published its results."),
    ("Is there water on Mars?", "Yes", "There is water on Mars."),
    ("Are there any lakes on the Moon?", "No", "There are no lakes on the Moon."),
    ("Is Venus hotter or colder than Earth?", "hotter", "Venus is hotter than Earth."),
    ("Name the largest ocean.", "The Pacific", "The largest ocean is the Pacific."),
    ("The capital of Peru is ____.", "Lima", "The capital of Peru is Lima."),
    ("What is the tower made of?", "iron", "The tower is made of iron."),
    ("How did Caesar die?", "by assassination", "Caesar died by assassination."),
    ("How is cheese made?", "from milk", "Cheese is made from milk."),
    ("What city is the Louvre in?", "Paris", "The Louvre is in Paris."),
    ("Which team did Pelé play for?", "Santos", "Pelé played for Santos."),
    ("Who did Napoleon marry in 1796?", "Joséphine", "Napoleon married Joséphine in 1796."),
    ("What causes tides?", "the Moon's gravity", "The Moon's gravity causes tides."),
    ("Whose idea was it?", "Anna's", "Whose idea was it? Anna's."),
    (
        "During the Second World War, who led Britain?",
        "Churchill",
        "During the Second World War, Churchill led Britain.",
    ),
    ("How many people were killed in the fire?", "Twelve", "Twelve people were killed in the fire."),
    ("What will the bank raise next year?", "interest rates", "The bank will raise interest rates next year."),
    ("How fast can a cheetah run?", "120 km/h", "A cheetah can run 120 km/h."),
    ("What percentage of the air is oxygen?", "21%", "21% of the air is oxygen."),
    (
        "What is photosynthesis?",
        "the process by which plants make food",
        "Photosynthesis is the process by which plants make food.",
    ),
    ("Does aspirin reduce fever?", "Yes", "Aspirin reduces fever."),
    ("Do bees make honey?", "Yes", "Bees make honey."),
    ("How tall is Mount Everest?", "8,849 m", "Mount Everest is 8,849 m tall."),
    ("What kind of animal is a whale?", "a mammal", "A whale is a mammal."),
    ("How much water do cows drink a day?", "50 litres", "Cows drink 50 litres of water a day."),
    ("To whom did he leave his money?", "his sister", "He left his money to his sister."),
    (
        "What was Marie Curie awarded in 1911?",
        "the Nobel Prize in Chemistry",
        "Marie Curie was awarded the Nobel Prize in Chemistry in 1911.",
    ),
    ("When is Christmas?", "25 December", "Christmas is on 25 December."),
    ("Where do pandas live?", "China", "Pandas live in China."),
    (
        "What are the main causes of inflation?",
        "excess demand and rising costs",
        "The main causes of inflation are excess demand and rising costs.",
    ),
    ("Who is the CEO?", "Jane Roe", "The CEO is Jane Roe."),
    ("Which company acquired the startup in 2019?", "Globex", "Globex acquired the startup in 2019."),
    ("What happened in 1989?", "the fall of the Berlin Wall", "The fall of the Berlin Wall happened in 1989."),
    ("What should patients avoid?", "grapefruit juice", "Patients should avoid grapefruit juice."),
    ("Did the committee approve the plan?", "No", "The committee did not approve the plan."),
    ("How often does Halley's Comet return?", "every 76 years", "Halley's Comet returns every 76 years."),
    ("Why is the sky blue?", "Rayleigh scattering", "The sky is blue because of Rayleigh scattering."),
    ("What is the name of the river?", "the Danube", "The name of the river is the Danube."),
    ("Paris?", "Yes", "Paris? Yes."),
    ("Is aspirin effective against fever?", "Yes", "Aspirin is effective against fever."),
    ("When did Queen Victoria's reign begin?", "1837", "Queen Victoria's reign began in 1837."),
    ("What’s the capital of Spain?", "Madrid", "The capital of Spain is Madrid."),
    ("Was Einstein's theory accepted immediately?", "No", "Einstein's theory was not accepted immediately."),
    ("Which is larger, Mars or Venus?", "Venus", "Of Mars and Venus, Venus is larger."),
    ("Who won the fight, Ali or Frazier?", "Ali", "Of Ali and Frazier, Ali won the fight."),
    ("How many goals did Messi score in 2012?", "91", "Messi scored 91 goals in 2012."),
    ("For how long was he in prison?", "27 years", "He was in prison for 27 years."),
    ("How many hours a day do cats sleep?", "15", "Cats sleep 15 hours a day."),
    ("Capital of France", "Paris", "Capital of France: Paris."),
    ("When will the station open?", "March 2027", "The station will open in March 2027."),
    ("Do all the members of the panel agree?", "No", "Not all the members of the panel agree."),
    ("Was Alexander the Great born in Pella?", "Yes", "Alexander the Great was born in Pella."),
    ("What disease was she diagnosed with?", "malaria", "She was diagnosed with malaria."),
    ("Which element has the symbol Fe?", "iron", "The symbol has Fe iron."),
    ("What do you call a baby kangaroo?", "a joey", "You call a baby kangaroo a joey."),
    ("Who has won the most titles?", "Real Madrid", "Real Madrid has won the most titles."),
    ("Is it true that bats are blind?", "No", "It is not true that bats are blind."),
    ("How many of the students passed?", "12", "12 of the students passed."),
    ("What time did the train leave?", "6:30 pm", "The train left at 6:30 pm."),
    ("Isn't Rome in Italy?", "Yes", "Rome is in Italy."),
    ("Which is the longest river in Africa?", "the Nile", "The longest river in Africa is the Nile."),
    ("What is 2 + 2?", "4", "2 + 2 is 4."),
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
        "Rome fell in 476",
        "Eiffel built the tower",
        "It rained.",
        "Bees make honey",
        "It's red",
        "Yes, it did.",
        "The man who was shot was a spy",
        "When the war ended, he moved to Rome.",
        "Mitochondria produce ATP.",
        "The company didn't pay",
        "About forty people work at the dairy, which has belonged to its farmers since 1954.",
        "The treaty ended the war.",
    ],
)
def test_a_sentence_is_not_bare(answer: str):
    assert not is_bare(answer)


@pytest.mark.parametrize(("question", "answer", "said"), ANSWERS)
def test_a_question_and_its_bare_answer_make_a_statement(question: str, answer: str, said: str):
    assert statement(question, answer) == said


def test_an_answer_that_is_a_statement_stays_as_it_is():
    assert statement("When did Rome fall?", "Rome fell in 476.") == "Rome fell in 476."


def test_nothing_to_join_is_left_alone():
    assert statement("", "Paris") == "Paris"
    assert statement("What is the capital of France?", "") == ""


@given(st.text(max_size=80), st.text(max_size=40))
def test_any_question_and_answer_are_taken(question: str, answer: str):
    empty = all(sign.isspace() or sign in '.!;,*"“”' for sign in answer)
    assert empty or statement(question, answer)
    assert has_claim(question) in (True, False)


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
