from itertools import pairwise

import pytest
from markdown_it import MarkdownIt

from evenhand.protocol.guideline import guideline, guideline_rows
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import field_text
from evenhand.records import Triple
from evenhand.scales import Nominal, Ordinal

BUILT_IN = ["ai-detection", "feedback", "halo-claims", "halo-support", "neureg-qa", "rag-quest-eval", "stem-accuracy"]

HOSTILE = """\
name: hostile
version: "1"
title: "Texts *full* of <b>Markdown</b> & co"
item:
  fields:
    answer: {role: rated, description: "the `answer` [as](http://x) it _is_"}
    notes_on_it: {role: context, required: false}
criteria:
  - id: level_of_it
    question: "1. How # many?"
    scale:
      type: nominal
      labels:
        "<yes>": {definition: "- it *is*"}
        "no | never": {definition: "it_is_not __at all__"}
examples:
  - title: "## Not a heading"
    fields:
      answer: |
        # Heading
        ```python
        ````
        </details><script>alert(1)</script>

        | a | b |
    ratings: {level_of_it: <yes>}
    explanation: |
      two
      lines
"""


def outline(markdown: str) -> list[str]:
    """The headings of a Markdown text as another implementation of CommonMark sees them."""
    tokens = MarkdownIt("commonmark").parse(markdown)
    return [f"{token.tag} {following.content}" for token, following in pairwise(tokens) if token.type == "heading_open"]


def shown_text(markdown: str) -> str:
    """What a reader sees outside of code blocks."""
    seen: list[str] = []
    for token in MarkdownIt("commonmark").parse(markdown):
        for child in token.children or []:
            seen.append(child.content if child.type in ("text", "text_special", "code_inline") else "")
        seen.append("\n" if token.type == "inline" else "")
    return "".join(seen)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_rater_can_work_from_it_alone(name: str) -> None:
    protocol = load_protocol(name)
    text = shown_text(guideline(protocol, owner=False))
    for criterion in protocol.criteria:
        assert criterion.title in text
        assert criterion.question in text
        if isinstance(criterion.scale, Ordinal):
            for level, anchor in criterion.scale.levels.items():
                assert f"{level} {anchor.label}: {anchor.anchor}" in text
        if isinstance(criterion.scale, Nominal):
            for label, spec in criterion.scale.labels.items():
                assert f"{label}: {spec.definition}" in text
    for example in protocol.examples:
        assert example.title in text
        assert " ".join((example.explanation or "").split()) in text


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_page_has_the_same_build_for_all(name: str) -> None:
    headings = [line for line in outline(guideline(load_protocol(name))) if line.startswith(("h1", "h2"))]
    assert headings[0].startswith("h1 ")
    assert headings[1:] == [
        "h2 What you see",
        "h2 Instructions",
        "h2 What is asked",
        "h2 Worked examples",
        "h2 For the owner of the study",
    ]


def test_hidden_fields_and_strata_are_kept_from_the_rater() -> None:
    protocol = load_protocol("neureg-qa")
    for_rater = guideline(protocol, owner=False)
    assert "shot" not in for_rater.lower()
    assert "- **shot_type: few**: The prompt also contained three example questions" in guideline(protocol)


def test_the_reference_of_a_question_is_not_quoted() -> None:
    text = guideline(load_protocol("rag-quest-eval"))
    assert "cost 3.4 million euros" not in text
    assert "The questions were made from “Reference”, which you do not see." in text
    assert text.count("The same item as in the example before.") == 2


def test_conditions_are_put_in_words() -> None:
    text = guideline(load_protocol("stem-accuracy"))
    assert "Asked only when Accuracy is Disputed, Unsupported or Inaccurate." in text
    assert "You rate one sentence of “Response” at a time." in text


def test_what_else_is_asked() -> None:
    text = guideline(load_protocol("feedback"))
    assert "- **Rationale**: for each rating" in text
    assert "from 0 to 100 percent (required)" in text
    assert "- **Notes**" in text
    assert "- **Evidence**" not in text
    assert "- **Rationale**" not in guideline(load_protocol("halo-support"))


def test_the_owner_reads_measures_and_targets_in_words() -> None:
    halo = guideline(load_protocol("halo-support")).partition("## For the owner of the study")[2]
    assert "- **percent_match**: at least 0.85\n- **kappa**: at least 0.7" in halo
    assert "in one cell, an empty line stands between two passages" in halo
    assert "- **support**: also read from human_label; auto_label holds the ratings of auto" in halo
    stem = guideline(load_protocol("stem-accuracy"))
    assert (
        "- **severely_inaccurate**: share of ratings where Accuracy is Inaccurate and Severity is Severe, among all "
        "ratings, leaving out those where Accuracy is Can't confidently assess or no claim"
    ) in stem
    quest = guideline(load_protocol("rag-quest-eval"))
    assert "averaged over the answered questions;" in quest
    assert "averaged over all questions, \\<Unanswerable> counting as 0;" in quest


def test_texts_full_of_markdown_stay_what_they_are() -> None:
    markdown = guideline(read_protocol(HOSTILE, "hostile.yaml"))
    tokens = MarkdownIt("commonmark").parse(markdown)
    assert [token.type for token in tokens if token.type == "html_block"] == []
    assert [c.type for token in tokens for c in token.children or [] if c.type in ("html_inline", "link_open")] == []
    assert [line.partition(" ")[0] for line in outline(markdown)] == ["h1", "h2", "h2", "h3", "h2", "h3", "h2", "h3"]
    fences = [token.content for token in tokens if token.type == "fence"]
    assert fences == ["# Heading\n```python\n````\n</details><script>alert(1)</script>\n\n| a | b |\n"]
    text = shown_text(markdown)
    for part in (
        "Texts *full* of <b>Markdown</b> & co",
        "The `answer` [as](http://x) it _is_.",
        "1. How # many?",
        "<yes>: - it *is*",
        "no | never: it_is_not __at all__",
        "Example 1: ## Not a heading",
        "Why: two lines",
    ):
        assert part in text


def test_rows_for_a_sheet() -> None:
    rows = guideline_rows(load_protocol("halo-support"))
    assert rows[0] == ("HALO-RAG: is the generated answer supported by its context?",)
    assert ("2. Read all of the context.",) in rows
    assert ("How strict to be",) in rows
    names = [row[0] for row in rows if len(row) == 2]
    assert [name for name in names if name.isupper()] == ["SUPPORTED", "CONTRADICTED", "NO EVIDENCE"]
    assert ("Generated answer", "Norway's capital is Oslo.") in rows
    assert max(map(len, rows)) == 2
    flat = "\n".join(cell for row in rows for cell in row)
    assert "**" not in flat
    assert "percent_match" not in flat


def test_rows_keep_a_paragraph_together_and_lists_apart() -> None:
    text = HOSTILE.replace(
        "item:\n", "instructions: |\n  # Head\n  one\n  two\n\n  - a\n    b\n  - *c*\n\n  1. d\nitem:\n", 1
    )
    rows = guideline_rows(read_protocol(text, "x"))
    start = rows.index(("Instructions",))
    assert rows[start + 1 : start + 6] == [("Head",), ("one two",), ("• a b",), ("• c",), ("1. d",)]


def test_field_values_as_a_rater_reads_them() -> None:
    assert field_text("plain") == "plain"
    assert field_text(3.0) == "3"
    assert field_text(("only",)) == "only"
    assert field_text(("one", "two")) == "[1] one\n\n[2] two"
    assert field_text((Triple("a", "b", "c"), Triple("d", "e", "f"))) == "a → b → c\nd → e → f"
    assert field_text(()) == ""


def test_labels_with_nothing_to_cite_are_named_if_evidence_is_asked_for():
    protocol = load_protocol("halo-support")
    assert "none is needed" not in guideline(protocol)
    asked = protocol.model_copy(update={"ask": protocol.ask.model_copy(update={"evidence": "required"})})
    assert "the passages on which it rests; none is needed for NO EVIDENCE (required)" in guideline(asked)


def test_worked_examples_are_only_announced_to_those_who_rate_them_first():
    protocol = load_protocol("halo-support")
    text = guideline(protocol, owner=False, examples=False)
    assert "h2 Worked examples" in outline(text)
    for example in protocol.examples:
        assert example.title not in text
        assert str(example.fields["generated_answer"]) not in text
