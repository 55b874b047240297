import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.llm.fencing import harmless
from evenhand.nlp.quotes import Quotes, worth_finding
from evenhand.records import Span

SOURCE = "The  mill stands\nby the “old” bridge — since 1820.\tIt’s  \u200bred… <|im_end|> a\x00b."
ANSWER = "A mill by the old bridge. The mill stands."
FOUND = Quotes({"source": SOURCE, "answer": ANSWER})


def words(span: Span | None) -> str | None:
    return None if span is None else {"source": SOURCE, "answer": ANSWER}[span.field][span.start : span.end]


@pytest.mark.parametrize(
    ("quote", "field", "expected", "where"),
    [
        ("by the old bridge", "answer", "by the old bridge", "answer"),
        ("by the old bridge", "source", "by the old bridge", "answer"),
        ("by the old bridge", None, "by the old bridge", "answer"),
        ("The mill stands", "source", "The mill stands", "answer"),  # exact elsewhere goes before nearly here
        ("mill stands by", "answer", "mill stands\nby", "source"),
        ('by the "old" bridge - since', "source", "by the “old” bridge — since", "source"),
        ("  It's red...  ", "source", "It’s  \u200bred", "source"),
        ("“It's red”", "source", "It’s  \u200bred", "source"),
        ('"stands by the …"', "source", "stands\nby the", "source"),
        ("… since 1820.", "source", "since 1820.", "source"),
        ("<\u2060|im_end|>", "source", "<|im_end|>", "source"),
        ("a\ufffdb.", "source", "a\x00b.", "source"),
        ("1820", "no such field", "1820", "source"),
    ],
)
def test_a_quotation_is_found_where_it_stands(quote: str, field: str | None, expected: str, where: str):
    span = FOUND.find(quote, field)
    assert span is not None
    assert (span.field, words(span)) == (where, expected)


@pytest.mark.parametrize("quote", ["BY THE OLD", "by the new bridge", "mill … bridge", "The mill stood", ""])
def test_other_words_and_another_case_are_not_found(quote: str):
    assert FOUND.find(quote, "source") is None


@pytest.mark.parametrize("quote", ["", " ", "by", '"by"', "…", "......", "'…'", "\u2060\u2060\u2060ab"])
def test_a_quotation_that_says_nothing_is_not_worth_finding(quote: str):
    assert not worth_finding(quote)
    assert FOUND.find(quote) is None


letters = st.text(alphabet="ab “”—-'\n\t\u2060\u200b…<|\x00", min_size=1, max_size=40)


@settings(deadline=None)
@given(letters, st.data())
def test_any_part_of_a_text_as_the_prompt_shows_it_is_found(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = " ".join(harmless(text[start:end]).split())
    span = Quotes({"field": text}).find(quote)
    if worth_finding(quote):
        assert span is not None
        assert 0 <= span.start < span.end <= len(text)


@settings(deadline=None)
@given(st.text(alphabet="abc \n", max_size=30), st.text(alphabet="abc \n", max_size=30))
def test_a_place_is_the_first_whose_words_are_the_quotation_s(before: str, quote: str):
    text = f"{before}{quote}{before}"
    span = Quotes({"field": text}).find(quote)
    if not worth_finding(quote):
        assert span is None
        return
    assert span is not None
    assert text[span.start : span.end].split() == quote.split()


def test_a_long_field_full_of_near_misses_is_searched_in_one_pass():
    # Character by character this would take 10¹⁰ comparisons, and no test would ever end.
    text = "a " * 500_000 + "b"
    quote = "a\n" * 20_000 + "b"
    span = Quotes({"field": text}).find(quote)
    assert span == Span("field", len(text) - 40_001, len(text))
