"""What the built-in extractor finds, against lists made by reading; spaCy's own finds where it is installed."""

import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.nlp import spacy
from evenhand.questeval.key_info import KeyInfo, extractor, key_info

BRIDGE = (
    "The footbridge at Ambleford was opened in May 2019. It was designed by Ines Calder and cost 3.4 million euros."
)


@pytest.fixture(autouse=True)
def built_in(monkeypatch: pytest.MonkeyPatch):
    """Rules only, whatever is installed here."""

    def none(language: str) -> None:
        return None

    monkeypatch.setattr(spacy, "model_of", none)


def of_kind(text: str, kind: str, language: str = "en") -> list[str]:
    return [info.text for info in key_info(text, language, most=50) if info.kind == kind]


def test_the_bridge_has_two_names_a_date_and_a_sum():
    assert [(info.text, info.kind) for info in key_info(BRIDGE)] == [
        ("footbridge", "phrase"),
        ("Ambleford", "name"),
        ("May 2019", "date"),
        ("Ines Calder", "name"),
        ("3.4 million euros", "number"),
    ]


def test_chinese():
    text = "2023年7月27日，国家能源局公布，新增光伏发电容量1060万千瓦。大使吴恳读了《雨巷人家》，耗资三亿元。"
    found = {(info.text, info.kind) for info in key_info(text, "zh")}
    assert found >= {("2023年7月27日", "date"), ("国家能源局", "name"), ("1060万千瓦", "number"), ("吴恳", "name")}
    assert {info.text for info in key_info(text)} == {text for text, _ in found}


def test_of_many_the_most_telling_are_kept_in_the_order_of_the_text():
    text = " ".join(
        f"The old barn of Farmer Number{n} in Town{n} cost {n + 100} euros in {1900 + n}." for n in range(20)
    )
    every, some = key_info(text, most=1000), key_info(text, most=12)
    assert len(some) == 12 < len(every)
    assert set(some) <= set(every)
    assert [info.start for info in some] == sorted(info.start for info in some)
    assert {info.kind for info in some} <= {"number", "date", "name"}


def test_a_name_is_taken_once_and_its_parts_are_not_taken_again():
    text = "Ines Calder designed it in 1990. The mayor thanked Calder and Ines Calder again in Ghent."
    assert of_kind(text, "name") == ["Ines Calder", "Ghent"]


def test_a_heading_that_is_only_a_name_asks_nothing():
    assert key_info("# Ines Calder\n") == []


@pytest.mark.parametrize("text", ["", " ", "….", "____", "\x00\x00", "a" * 5000, "A. " * 500, "1," * 3000])
def test_texts_that_hold_nothing_much(text: str):
    assert_sound(text, key_info(text))


def assert_sound(text: str, found: list[KeyInfo]):
    last = 0
    for info in found:
        assert text[info.start : info.end] == info.text != ""
        assert last <= info.start < info.end
        assert info.sentence[0] <= info.start < info.end <= info.sentence[1]
        last = info.end
    assert len({info.text for info in found}) == len(found)


@given(st.text(alphabet="The old Bridge of 1990 cost $3.4m, 5% in May. 年月日3万王小明在北京“《》”\n-'", max_size=120))
def test_places_hold_whatever_the_text(text: str):
    assert_sound(text, key_info(text))


def test_a_sentence_of_five_thousand_words_and_a_text_of_a_megabyte():
    long = "The bridge of Ambleford joins 12 towns and " * 700 + "ends."
    assert_sound(long, key_info(long))
    assert len(key_info(BRIDGE + " " + "More was said in Oslo. " * 45_000)) == 6


def test_what_was_used_is_said():
    assert extractor() == "built-in 2"
    assert extractor("zh") == f"built-in 2, rjieba {metadata.version('rjieba')}"


MODEL = """
import spacy
from spacy.language import Language
from spacy.tokens import Doc

@Language.component("evenhand_parser")
def parser(doc):
    # A made-up parse: "The" hangs on the noun after it, "It" is a pronoun, all else hangs on the last word.
    words = [token.text for token in doc]
    last = len(words) - 1
    subject = {"footbridge": "NOUN", "It": "PRON"}
    return Doc(
        doc.vocab,
        words=words,
        spaces=[bool(token.whitespace_) for token in doc],
        heads=[place + 1 if word == "The" else last for place, word in enumerate(words)],
        deps=["det" if word == "The" else "nsubj" if word in subject else "ROOT" for word in words],
        pos=["DET" if word == "The" else subject.get(word, "X") for word in words],
    )

def load(**overrides):
    nlp = spacy.blank("en")
    nlp.add_pipe("evenhand_parser")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([
        {"label": "PERSON", "pattern": "Ines Calder"},
        {"label": "MONEY", "pattern": "3.4 million euros"},
        {"label": "DATE", "pattern": "May 2019"},
    ])
    return nlp
"""


@pytest.mark.skipif(find_spec("spacy") is None, reason="spaCy is not installed: pip install 'evenhand[spacy]'")
def test_spacy_is_used_where_a_model_of_the_language_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A model of rules, made here and installed for this test: spaCy's real loading and real documents."""
    monkeypatch.undo()
    (tmp_path / "en_evenhand_sm").mkdir()
    (tmp_path / "en_evenhand_sm" / "__init__.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "en_evenhand_sm-1.2.dist-info").mkdir()
    about = "Metadata-Version: 2.1\nName: en_evenhand_sm\nVersion: 1.2\n"
    (tmp_path / "en_evenhand_sm-1.2.dist-info" / "METADATA").write_text(about, encoding="utf-8")
    points = "[spacy_models]\nen_evenhand_sm = en_evenhand_sm\n"
    (tmp_path / "en_evenhand_sm-1.2.dist-info" / "entry_points.txt").write_text(points, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(spacy, "_SIZES", ("_evenhand_sm",))
    spacy.model_of.cache_clear()
    try:
        assert extractor() == extractor("en-GB") == "spacy en_evenhand_sm 1.2"
        assert extractor("de") == "built-in 2"
        assert [(info.text, info.kind) for info in key_info(BRIDGE)] == [
            ("footbridge", "phrase"),
            ("May 2019", "date"),
            ("Ines Calder", "name"),
            ("3.4 million euros", "number"),
        ]
    finally:
        spacy.model_of.cache_clear()
