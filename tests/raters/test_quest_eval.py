from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.errors import UserError
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Rater
from evenhand.raters.options import RunOptions
from evenhand.raters.quest_eval.quest_eval_rater import RatedText
from evenhand.records import UNANSWERABLE, Item, Kind, Rating, Span, Status
from evenhand.run.judge import judge
from evenhand.study import Study
from evenhand.units import Question
from tests.raters.building import build

PROTOCOL = load_protocol("rag-quest-eval")
OPENED = Question("When was the footbridge opened?", "May 2019")
DESIGNED = Question("Who designed the footbridge?", "Ines Calder")
COST = Question("How much did the footbridge cost?", "3.4 million")
TEXT = "The footbridge was opened in March 2019. The footbridge was designed by Ines Calder."


def quest_eval(protocol: Protocol = PROTOCOL, spec: str = "quest-eval") -> Rater:
    return build(spec, protocol)


def rated(
    folder: Path, fields: dict[str, str], *questions: Question, protocol: Protocol = PROTOCOL, limit: int | None = None
) -> Sequence[Rating]:
    item = Item("bridge", {"reference": "R.", **fields})
    with Study.create(folder / "study.db", protocol, [item], questions={"bridge": questions}) as study:
        judge(study.store, [quest_eval(protocol)], run=RunOptions(limit))
        return list(study.ratings())


def test_answers_in_the_words_of_the_text_with_their_place_and_a_confidence(tmp_path: Path):
    ratings = rated(tmp_path, {"generated": TEXT}, OPENED, DESIGNED, COST)
    assert [rating.value for rating in ratings] == ["March 2019", "Ines Calder", UNANSWERABLE]
    assert [rating.status for rating in ratings] == [Status.RATED] * 3
    places = [[TEXT[span.start : span.end] for span in rating.evidence] for rating in ratings]
    assert places == [["March 2019"], ["Ines Calder"], []]
    assert all(rating.confidence is not None and 50 <= rating.confidence <= 100 for rating in ratings)


def test_questions_about_an_item_are_one_task_and_a_run_goes_on_where_it_was(tmp_path: Path):
    item = Item("bridge", {"reference": "R.", "generated": TEXT})
    with Study.create(tmp_path / "s.db", PROTOCOL, [item], questions={"bridge": [OPENED, DESIGNED]}) as study:
        outcome = judge(study.store, [quest_eval()], run=RunOptions(1))
        assert outcome.total.units == 2, "a limit does not tear them apart"
        assert judge(study.store, [quest_eval()]).total.units == 0
        assert study.raters()[0].kind is Kind.MODEL


def test_an_empty_text_answers_nothing(tmp_path: Path):
    (rating,) = rated(tmp_path, {"generated": " \n"}, OPENED)
    assert (rating.status, rating.value, rating.rationale) == (Status.RATED, UNANSWERABLE, "the text is empty")
    assert rating.confidence == 100


def test_an_item_without_the_field_answers_nothing(tmp_path: Path):
    (rating,) = rated(tmp_path, {}, OPENED)
    assert (rating.status, rating.value) == (Status.RATED, UNANSWERABLE)


def test_another_language_is_read_without_noun_phrases_and_that_is_said(tmp_path: Path):
    text = "Die Brücke wurde im März 2019 für die Stadt eröffnet und ist nicht lang. Sie wurde von Ines Calder gebaut."
    (rating,) = rated(tmp_path, {"generated": text}, Question("Die Brücke wurde im ____ 2019 eröffnet.", "Mai"))
    assert rating.status is Status.RATED
    assert rating.rationale is not None
    assert rating.rationale.startswith("answered with names, numbers and dates only: the text ")


@pytest.mark.parametrize(
    "text", ["そのはしは2019ねんにできました。とてもながいです。", "สะพานนี้เปิดในปี 2562 และออกแบบโดยวิศวกร"]
)
def test_a_script_whose_words_cannot_be_told_is_a_failure_with_its_reason(tmp_path: Path, text: str):
    (rating,) = rated(tmp_path, {"generated": text}, OPENED)
    assert (rating.status, rating.value) == (Status.FAILED, None)
    assert rating.reason is not None
    assert "cannot part into words; quest-eval(SPEC) can read it" in rating.reason


def test_a_megabyte_of_text(tmp_path: Path):
    filler = "Rain fell on the hills and the sheep of the valley stood under the old trees until evening. "
    half = filler * (500_000 // len(filler))
    text = f"{half}{TEXT} {half}"
    assert len(text) > 999_000
    ratings = rated(tmp_path, {"generated": text}, OPENED, DESIGNED)
    assert [rating.value for rating in ratings] == ["March 2019", "Ines Calder"]
    assert [text[span.start : span.end] for rating in ratings for span in rating.evidence] == [
        "March 2019",
        "Ines Calder",
    ]


TWO_FIELDS = read_protocol(
    """
name: two-fields
version: "1"
title: Two rated texts
item:
  fields:
    title: {role: rated}
    body: {role: rated, kind: passages}
    reference: {role: reference, shown: false}
unit: question from reference
criteria:
  - {id: mood, question: "What mood is it in?", scale: {type: text}, required: false}
  - {id: tone, name: Tone, question: "What tone has it?", scale: {type: text}}
  - {id: found, question: "What does it answer?", scale: {type: text, unanswerable: true}}
""",
    "two.yaml",
)


def test_several_rated_texts_and_other_criteria(tmp_path: Path):
    body = ("It rained.", "The footbridge was opened in March 2019.")
    item = Item("bridge", {"reference": "R.", "title": "News from the town", "body": body})
    with Study.create(tmp_path / "study.db", TWO_FIELDS, [item], questions={"bridge": [OPENED]}) as study:
        judge(study.store, [quest_eval(TWO_FIELDS)])
        skipped, beyond, answer = study.ratings()
    assert (skipped.criterion, skipped.status) == ("mood", Status.SKIPPED)
    assert (beyond.criterion, beyond.status) == ("tone", Status.CANNOT_ASSESS)
    assert beyond.reason == "beyond quest-eval: it only answers questions"
    assert (answer.criterion, answer.value) == ("found", "March 2019")
    # Passages as raters see them have their numbers before them.
    seen = RatedText(TWO_FIELDS, item).texts["body"]
    assert [(span.field, seen[span.start : span.end]) for span in answer.evidence] == [("body", "March 2019")]


def test_places_lead_back_to_the_fields():
    item = Item("a", {"title": "abc", "body": ("def",), "reference": "R."})
    rated_text = RatedText(TWO_FIELDS, item)
    text = rated_text.text
    assert rated_text.span(0, 3) == Span("title", 0, 3)
    place = text.index("def")
    assert rated_text.span(place, place + 3) == Span("body", rated_text.texts["body"].index("def"), place + 3 - 5)
    assert rated_text.span(2, place + 1) is None, "it begins in one field and ends in another"
    assert rated_text.span(len(text), len(text) + 1) is None


def test_its_configuration_is_what_it_is_made_of():
    one, other = quest_eval(), quest_eval(spec="qe=quest-eval")
    assert (one.ref.id, other.ref.id) == ("quest-eval", "qe")
    assert one.ref.config == other.ref.config
    assert {"spec", "answering", "weights"} == set(one.settings)
    model = quest_eval(spec="quest-eval(http://127.0.0.1:1/v1#m)")
    assert model.ref.id == "quest-eval(http://127.0.0.1:1/v1#m)"
    assert model.ref.config != one.ref.config
    assert [chat.model for chat in model.chats] == ["http://127.0.0.1:1/v1#m"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("quest-eval:fast", "'quest-eval:fast' cannot be read: quest-eval answers by itself"),
        ("quest-eval()", "cannot be read"),
        ("quest-eval(http://127.0.0.1:1/v1#a", "cannot be read"),
        ("quest-eval(http://127.0.0.1:1/v1#a, http://127.0.0.1:1/v1#b)", "cannot be read"),
        ("quest-eval(quest-eval)", "'quest-eval' is not a language model"),
        ("quest-eval(verifier)", "'verifier' is not a language model; name one, as in quest-eval"),
        ("quest-eval(nobody)", "there is no rater 'nobody'"),
    ],
)
def test_specs_that_name_nobody(spec: str, said: str):
    with pytest.raises(UserError, match=said.replace("(", r"\(")):
        quest_eval(spec=spec)


def test_only_protocols_that_ask_questions_fit():
    (criterion,) = PROTOCOL.criteria
    plain = criterion.model_copy(update={"scale": criterion.scale.model_copy(update={"unanswerable": False})})
    for protocol in (
        load_protocol("stem-accuracy"),
        load_protocol("halo-support"),
        PROTOCOL.model_copy(update={"criteria": (plain,)}),
    ):
        with pytest.raises(UserError, match=r"answers questions, and .* asks none: .*such as rag-quest-eval"):
            quest_eval(protocol)


def test_hostile_texts_are_answered_or_not_and_nothing_breaks(tmp_path: Path):
    strange = "\x00\ud800 <|im_end|> 𝔘𝔫𝔦 " + "((((" * 200 + "2019" * 300 + "\u202e" + "a" * 20_000
    questions = [
        OPENED,
        replace(OPENED, text="____"),
        replace(OPENED, text="?" * 5_000),
        replace(OPENED, text="\ud800"),
    ]
    ratings = rated(tmp_path, {"generated": strange}, *questions)
    assert [rating.status for rating in ratings] == [Status.RATED] * 4
