"""Evidence of several fields and kinds as one article, and the way back."""

from collections.abc import Mapping

from evenhand.protocol.load import read_protocol
from evenhand.protocol.model import field_text
from evenhand.raters.verifier.support_labels import fields_of
from evenhand.raters.verifier.verifier_rater import EvidenceText
from evenhand.records import FieldValue, Item, Span, Triple

PROTOCOL = read_protocol(
    """
name: several
version: "1"
title: Several kinds of evidence
item:
  fields:
    article: {role: evidence, required: false}
    pages: {role: evidence, kind: passages, required: false}
    graph: {role: evidence, kind: triples, required: false}
    hidden: {role: evidence, shown: false, required: false}
    answer: {role: rated}
criteria:
  - id: support
    question: Is it backed?
    scale: {type: nominal, labels: {Supported: {definition: it is}, Unsupported: {definition: it is not}}}
""",
    "several.yaml",
)
FIELDS: Mapping[str, FieldValue] = {
    "article": "The mill burned in 1901. It was never rebuilt.",
    "pages": ("1", "The bridge is new.", "] odd [2] passage", "The bridge is new."),
    "graph": (Triple("Ada_Byron", "bornIn", "London"), Triple("Ada Byron", "died_in", "Marylebone")),
    "hidden": "Nobody sees this.",
    "answer": "It burned.",
}


def text_of(fields: Mapping[str, FieldValue]) -> EvidenceText:
    return EvidenceText(PROTOCOL, Item("x", fields), fields_of(PROTOCOL, "evidence"))


def test_fields_passages_and_triples_are_paragraphs_without_what_raters_see_around_them():
    assert text_of(FIELDS).article.text.split("\n\n") == [
        "The mill burned in 1901. It was never rebuilt.",
        "1",
        "The bridge is new.",
        "] odd [2] passage",
        "The bridge is new.",
        "Ada Byron born in London.",
        "Ada Byron died in Marylebone.",
    ]


def test_every_range_leads_back_to_the_same_words_as_raters_see_them():
    evidence = text_of(FIELDS)
    text = evidence.article.text
    place = 0
    found: list[Span] = []
    for paragraph in text.split("\n\n"):
        start = text.index(paragraph, place)
        place = start + len(paragraph)
        (span,) = evidence.spans([(start, place)])
        seen = field_text(FIELDS[span.field])[span.start : span.end]
        assert seen == paragraph or span.field == "graph"
        found.append(span)
    assert [field_text(FIELDS["graph"])[span.start : span.end] for span in found[-2:]] == [
        "Ada_Byron → bornIn → London",
        "Ada Byron → died_in → Marylebone",
    ]
    assert len(set(found)) == 7  # also of two passages that read the same


def test_a_part_of_a_text_is_a_part_and_a_part_of_a_triple_the_whole():
    evidence = text_of(FIELDS)
    text = evidence.article.text
    start = text.index("It was never")
    assert evidence.spans([(start, start + 6)]) == (Span("article", 25, 31),)
    london = text.index("London")
    (span,) = evidence.spans([(london, london + 6)])
    assert (span.start, span.end) == (0, len("Ada_Byron → bornIn → London"))


def test_a_range_over_two_paragraphs_is_two_spans_and_none_comes_twice():
    evidence = text_of({"pages": ("One.", "Two.")})
    assert evidence.spans([(0, 10), (0, 4)]) == (Span("pages", 4, 8), Span("pages", 14, 18))


def test_a_single_passage_has_no_number_and_no_evidence_is_no_text():
    assert text_of({"pages": ("Alone.",)}).spans([(0, 6)]) == (Span("pages", 0, 6),)
    assert len(text_of({"answer": "So."}).article) == 0
    assert len(text_of({"pages": (), "graph": ()}).article) == 0
