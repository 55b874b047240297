"""Every function that takes a text takes one of 100,000 characters that repeats a few: quadratic work would take
minutes, and the suite would not end."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from evenhand.errors import InputError, UserError
from evenhand.formats.chunks import chunks_of
from evenhand.formats.tables.cells import listed, made_safe, taken_back
from evenhand.formats.tables.columns import column_key
from evenhand.formats.tables.triples import read_triples
from evenhand.generation.ontology import ONTOLOGIES
from evenhand.nlp.language import unreadable
from evenhand.nlp.mentions import mentions
from evenhand.nlp.quotes import Quotes
from evenhand.nlp.sentences import sentences
from evenhand.nlp.values import values
from evenhand.nlp.words import content_words, token_f1
from evenhand.overlap import overlap_scores
from evenhand.protocol.guideline import guideline, guideline_rows
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import SCORES
from evenhand.questeval.answerer import find_answer
from evenhand.questeval.cloze import cloze
from evenhand.questeval.key_info import KeyInfo, key_info
from evenhand.records import Item
from evenhand.scales import PERCENT, Ordinal, Text
from evenhand.text import line, masked
from evenhand.units import Claim, split
from evenhand.verify.claims import claims, statements
from evenhand.verify.retrieval import Article

LENGTH = 100_000
REPEATED = [
    "'",
    '"',
    "(",
    "[",
    " ",
    "\n",
    "1",
    "1,",
    "1. ",
    "a ",
    "A. ",
    "- a\n",
    "```\n",
    "中",
    "中。",
    "十",
    "第",
    " → ",
    ":/a:",
    "a,b;",
]
HALO, CLAIMS, FEEDBACK = map(load_protocol, ("halo-support", "halo-claims", "feedback"))
LEVELS = next(one.scale for one in FEEDBACK.criteria if isinstance(one.scale, Ordinal))


def _guideline(text: str) -> None:
    protocol = HALO.model_copy(update={"instructions": text, "title": text})
    guideline(protocol)
    guideline_rows(protocol)


def _clozes(text: str, language: str) -> None:
    for info in key_info(text, language)[:3] or [KeyInfo(text[0], "name", 0, 1, (0, len(text)))]:
        question = cloze(text, info)
        assert len(question) < 1_000
        find_answer(question, text, language)


def _article(text: str) -> None:
    article = Article(text)
    article.passage("Ada Lund paid 5 dollars in 1934.")
    assert len(article.values) == len(article)


def _claims(text: str) -> None:
    item = Item("a", {"generated_answer": text})
    split(CLAIMS, item, {"a": [Claim(text[:length], "generated_answer") for length in (1_000, 50_000)]})


def _chunks(text: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.md")
        path.write_text(f"# A{text}x", encoding="utf-8")
        chunks_of(path, 200)


ENTRIES: Mapping[str, Callable[[str], object]] = {
    "sentences": sentences,
    "mentions": lambda text: mentions(text, [(0, len(text))]),
    "values": values,
    "language": unreadable,
    "token F1": lambda text: token_f1(text, text),
    "words": lambda text: content_words(text, 0, len(text)),
    "quotation": lambda text: (Quotes({"a": text}).find("zz zz"), Quotes({"a": "x"}).find(text)),
    "key information": lambda text: _clozes(text, "en"),
    "key information in Chinese": lambda text: _clozes(text, "zh"),
    "question": lambda text: find_answer(text, "Ada Lund founded it in 1934."),
    "answers": lambda text: (find_answer("Who founded it in ____?", text), find_answer(text, text)),
    "claims": lambda text: (statements(text), claims(text)),
    "overlap scores": lambda text: overlap_scores(list(SCORES), text, [text], "en"),
    "places of claims": _claims,
    "chunks": _chunks,
    "evidence": _article,
    "formula": lambda text: (made_safe(text), taken_back(text)),
    "list": listed,
    "triples": read_triples,
    "column": column_key,
    "guideline": _guideline,
    "level": LEVELS.read,
    "label": HALO.lead.scale.read,
    "answer": Text(type="text", unanswerable=True).read,
    "percentage": PERCENT.read,
    "message": lambda text: (masked(text), line(text)),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_work_grows_with_the_length_of_a_text_and_not_with_its_square(name: str):
    for text in [unit * (LENGTH // len(unit)) for unit in REPEATED] + [f"A is{' ' * LENGTH}b."]:
        try:
            ENTRIES[name](text)
        except (ValueError, UserError):  # it is refused, which must not take long either
            continue


def test_a_long_chain_of_classes_is_followed_once():
    chain = "".join(f"  C{place}: {{is_a: C{place + 1}}}\n" for place in range(3_200))
    text = f"classes:\n{chain}  C3200: {{}}\nrelations: {{r: {{subject: C0}}}}"
    assert len(ONTOLOGIES.read(text, "o.yaml").classes) == 3_201
    with pytest.raises(InputError, match=r"line 3201, .*cycle: C3199 → C3200 → C3199"):
        ONTOLOGIES.read(text.replace("C3200: {}", "C3200: {is_a: C3199}"), "o.yaml")
