"""The form of a protocol and the parts of an item's texts."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from evenhand.assignment import Plan
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol, field_text
from evenhand.records import FieldValue, Rating, Span, Triple, Unit
from evenhand.scales import Nominal
from evenhand.web.answers import RatingView, example_unit
from evenhand.web.forms import (
    Form,
    fields_of,
    form_of,
    offers_cannot_assess,
    parts_of,
    shown_span,
)
from evenhand.web.schemas import AsciiJSONResponse, view_of

BUILT_IN = ("ai-detection", "feedback", "halo-claims", "halo-support", "neureg-qa", "rag-quest-eval", "stem-accuracy")
each_protocol = pytest.mark.parametrize("name", BUILT_IN)

# Characters beyond the sixteen-bit plane, combining ones and those that passages are joined with.
texts = st.text(st.sampled_from("ab \n[1]→é𝒜👩‍🔬\u0301\0\u202e") | st.characters(codec="utf-8"), max_size=30)
values = st.one_of(
    texts,
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(texts, max_size=12).map(tuple),
    st.lists(st.builds(Triple, texts, texts, texts), min_size=1, max_size=5).map(tuple),
)


def form(name: str, plan: Plan | None = None) -> Form:
    return form_of(load_protocol(name), plan or Plan(), "bridge", "ann")


@given(values)
def test_each_part_stands_at_its_offset_in_the_text_that_raters_see(value: FieldValue) -> None:
    whole = field_text(value)
    for part in parts_of(value):
        assert whole[part.offset : part.offset + len(part.text)] == part.text


@given(values)
def test_parts_leave_out_nothing_but_numbers_and_what_joins_them(value: FieldValue) -> None:
    parts = parts_of(value)
    between = field_text(value)
    for part in reversed(parts):
        between = between[: part.offset] + between[part.offset + len(part.text) :]
    several = isinstance(value, tuple) and len(value) > 1
    if isinstance(value, tuple) and any(isinstance(one, Triple) for one in value):
        assert between == "\n" * (len(value) - 1)
    else:
        assert between == ("\n\n".join(f"[{n}] " for n in range(1, len(parts) + 1)) if several else "")


def test_passages_have_numbers_where_there_are_several() -> None:
    assert [(part.offset, part.text, part.label) for part in parts_of(("ab", "", "👩‍🔬"))] == [
        (4, "ab", "1"),
        (12, "", "2"),  # "[1] ab" and an empty line are 8 characters, "[2] " another 4
        (18, "👩‍🔬", "3"),
    ]
    assert [(part.offset, part.label) for part in parts_of(("only",))] == [(0, None)]
    assert parts_of(()) == []


def test_triples_have_their_three_parts() -> None:
    parts = parts_of((Triple("A", "is", "B"), Triple("B", "has", "C")))
    assert [(part.offset, part.text, part.triple) for part in parts] == [
        (0, "A → is → B", ("A", "is", "B")),
        (11, "B → has → C", ("B", "has", "C")),
    ]


def test_half_a_character_is_kept_with_its_place_and_escaped_in_json() -> None:
    value = ("a\ud800b", "c")
    parts = parts_of(value)
    assert [part.text for part in parts] == ["a\ud800b", "c"]
    assert field_text(value)[parts[1].offset :] == "c"
    assert AsciiJSONResponse(parts[0].text).body == b'"a\\ud800b"'


@each_protocol
def test_the_form_has_the_shown_fields_and_all_criteria_in_order(name: str) -> None:
    protocol, made = load_protocol(name), form(name)
    assert [field.name for field in made.fields] == list(protocol.shown_fields)
    assert [criterion.id for criterion in made.criteria] == [criterion.id for criterion in protocol.criteria]
    for criterion in made.criteria:
        values = [choice.value for choice in criterion.scale.values]
        assert values == list(protocol.criterion(criterion.id).scale.values)
    assert made.study.digest == protocol.digest
    assert made.training == len(protocol.examples)
    assert form(name, Plan(training="off")).training == 0


def test_levels_run_from_lowest_to_highest_with_label_and_anchor() -> None:
    correctness = form("feedback").criteria[0].scale
    assert [choice.value for choice in correctness.values] == [1, 2, 3, 4, 5]
    assert correctness.values[0].label == "Unacceptable"
    assert correctness.values[4].text.startswith("Every fact is right")


def test_a_condition_is_there_for_the_page_and_in_words() -> None:
    severity = form("stem-accuracy").criteria[1]
    assert severity.when is not None
    assert severity.when.any_of == ("Disputed", "Unsupported", "Inaccurate")
    assert severity.when.words == "Accuracy is Disputed, Unsupported or Inaccurate"


def test_free_text_has_no_rationale_of_its_own() -> None:
    asked = {criterion.id: criterion.rationale for criterion in form("feedback").criteria}
    assert asked["overall"] == "required"
    assert asked["improvements"] == "off"


def test_the_lead_and_what_is_asked_once_are_named() -> None:
    made = form("feedback")
    assert (made.lead, made.confidence, made.notes) == ("overall", "required", "optional")
    assert made.rated_field is None
    assert form("stem-accuracy").rated_field == "response"


def test_evidence_comes_from_the_fields_a_model_may_cite() -> None:
    assert form("halo-support").evidence_fields == ["context", "generated_answer"]


def test_a_criterion_says_which_claims_it_is_about_and_what_they_are_checked_against() -> None:
    made = form("halo-claims")
    assert (made.unit, made.rated_field) == ("claim", None)
    assert [(one.of, one.against) for one in made.criteria] == [
        (None, ("context",)),
        ("gold_answer", ("generated_answer",)),
    ]


def test_text_scales_say_whether_there_may_be_no_answer() -> None:
    assert form("rag-quest-eval").criteria[0].scale.unanswerable
    assert not form("feedback").criteria[-1].scale.unanswerable


@pytest.mark.parametrize(
    "spelling",
    ["Cannot assess", "can't confidently assess", "CANNOT_ASSESS", "Can’t-assess", "Can not assess", "unable to judge"],
)
def test_cannot_assess_is_not_offered_where_a_label_says_it(spelling: str) -> None:
    labels = {"yes": {"definition": "it is"}, spelling: {"definition": "unclear"}}
    assert not offers_cannot_assess(Nominal.model_validate({"type": "nominal", "labels": labels}))


def test_cannot_assess_is_offered_where_no_label_says_it() -> None:
    offered = {name: [criterion.cannot_assess for criterion in form(name).criteria] for name in BUILT_IN}
    assert offered["stem-accuracy"] == [False, True]  # accuracy has a label for it, severity has not
    assert all(all(criteria) for name, criteria in offered.items() if name != "stem-accuracy")


def test_a_field_that_is_not_shown_does_not_leave_the_server() -> None:
    protocol = load_protocol("rag-quest-eval")
    given_fields: Mapping[str, FieldValue] = {"generated": "seen", "reference": "HIDDEN"}
    assert [field.name for field in fields_of(protocol, given_fields)] == ["generated"]
    assert "reference" not in [field.name for field in form("rag-quest-eval").fields]
    for example in protocol.examples:
        assert "reference" not in [field.name for field in fields_of(protocol, protocol.example_fields(example))]


def _hidden_sentences() -> Protocol:
    """Sentences of a field that raters do not see as a whole."""
    return load_protocol("stem-accuracy").model_copy(
        update={
            "item": load_protocol("stem-accuracy").item.model_copy(
                update={
                    "fields": {
                        name: spec.model_copy(update={"shown": name != "response"})
                        for name, spec in load_protocol("stem-accuracy").item.fields.items()
                    }
                }
            )
        }
    )


def test_the_place_of_a_sentence_is_kept_back_with_its_field() -> None:
    unit = Unit("i#1", "i", 1, "Hello.", Span("response", 0, 6))
    assert shown_span(_hidden_sentences(), unit) is None
    assert form_of(_hidden_sentences(), Plan(), "bridge", "ann").rated_field is None
    shown = shown_span(load_protocol("stem-accuracy"), unit)
    assert shown is not None
    assert (shown.field, shown.start, shown.end) == ("response", 0, 6)


@each_protocol
def test_the_sentence_of_a_worked_example_is_found_in_its_field(name: str) -> None:
    protocol = load_protocol(name)
    for number, example in enumerate(protocol.examples):
        unit = example_unit(protocol, example, f"example:{number}")
        assert (unit.id, unit.position, unit.text) == (f"example:{number}", 1, example.unit)
        assert (unit.span is not None) == (protocol.rule.of in ("sentence", "claim"))
        assert unit.field == protocol.example_field(example)
        if unit.span is not None:
            text = field_text(protocol.example_fields(example)[unit.span.field])
            assert text[unit.span.start : unit.span.end] == example.unit


def test_a_sentence_that_stands_nowhere_has_no_place() -> None:
    protocol = load_protocol("stem-accuracy")
    example = protocol.examples[0].model_copy(update={"unit": "Nobody wrote this."})
    unit = example_unit(protocol, example, "example:0")
    assert (unit.text, unit.span) == ("Nobody wrote this.", None)


def test_a_rating_keeps_its_types_on_the_way_out() -> None:
    rating = Rating(unit="u", criterion="c", rater="r", digest="d", value=4, confidence=80, evidence=(Span("a", 0, 2),))
    shape = json.loads(TypeAdapter(RatingView).dump_json(view_of(RatingView, rating)))
    assert shape["value"] == 4
    assert isinstance(shape["value"], int)
    assert shape["evidence"] == [{"field": "a", "start": 0, "end": 2}]
    assert shape["at"] == rating.at.isoformat()
