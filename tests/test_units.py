from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Span, Unit
from evenhand.units import Claim, Question, split

STEM = load_protocol("stem-accuracy")


def test_an_item_without_its_text_has_no_sentence():
    assert split(load_protocol("stem-accuracy"), Item("x", {"question": "Q?", "article": "A."})) == []


def test_a_whole_item_is_one_unit_under_its_own_id():
    item = Item("a#1", {"question": "Q?", "context": ("C.",), "generated_answer": "A."})
    assert split(load_protocol("halo-support"), item) == (Unit("a#1", "a#1", 1),)


def test_sentences_have_positions_offsets_and_ids():
    text = "It rose by 3.5 % in 2020 [12]. Smith et al. disagree.\n\n- One reason: cost."
    units = split(STEM, Item("x", {"question": "Q?", "article": "…", "response": text}))
    assert [unit.id for unit in units] == ["x#1", "x#2", "x#3"]
    assert [unit.position for unit in units] == [1, 2, 3]
    assert [unit.text for unit in units] == [
        "It rose by 3.5 % in 2020 [12].",
        "Smith et al. disagree.",
        "- One reason: cost.",
    ]
    # Derived by hand: the first sentence has 30 characters, a space follows, the second has 22, two line ends follow.
    assert [unit.span for unit in units] == [
        Span("response", 0, 30),
        Span("response", 31, 53),
        Span("response", 55, 74),
    ]


def test_the_language_of_the_protocol_does_not_keep_chinese_whole():
    units = split(STEM, Item("x", {"question": "Q?", "article": "…", "response": "天气很好。我们去公园吧！"}))
    assert [unit.text for unit in units] == ["天气很好。", "我们去公园吧！"]


def test_the_same_item_gives_the_same_units_again():
    item = Item("x", {"question": "Q?", "article": "…", "response": "One. Two. Three."})
    assert split(STEM, item) == split(STEM, Item("x", dict(item.fields)))


def test_questions_come_from_the_file_and_keep_the_reference_answer():
    protocol = load_protocol("rag-quest-eval")
    item = Item("x", {"reference": "R.", "generated": "G."})
    questions = {"x": [Question("When?", "1910", "the year"), Question("Who?", "Ada")]}
    assert split(protocol, item, questions) == [
        Unit("x#1", "x", 1, "When?", None, "1910", "the year"),
        Unit("x#2", "x", 2, "Who?", None, "Ada", None),
    ]
    assert split(protocol, Item("y", item.fields), questions) == []


def test_claims_have_their_field_and_the_place_where_they_stand_word_for_word():
    protocol = load_protocol("halo-claims")
    item = Item("x", {"generated_answer": "Art is long. It is art. It is art.", "gold_answer": "Art."})
    claims = [
        Claim("is long", "generated_answer"),
        Claim("It is art.", "generated_answer"),
        Claim("It is art.", "generated_answer"),
        Claim("rt", "gold_answer"),  # a part of a word
        Claim("Art.", "gold_answer"),
        Claim("Given.", "gold_answer", Span("gold_answer", 0, 3)),
    ]
    found = split(protocol, item, {"x": claims})
    assert [(unit.id, unit.text, unit.field) for unit in found] == [
        (f"x#{n}", claim.text, claim.field) for n, claim in enumerate(claims, start=1)
    ]
    assert [unit.span and (unit.span.start, unit.span.end) for unit in found] == [
        (4, 11), (13, 23), (24, 34), None, (0, 4), (0, 3),
    ]  # fmt: skip


def test_a_sentence_comes_from_its_field():
    item = Item("x", {"question": "Q?", "article": "…", "response": "One. Two."})
    assert [unit.field for unit in split(STEM, item)] == ["response", "response"]
