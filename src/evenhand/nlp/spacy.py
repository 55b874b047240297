"""spaCy's entities and noun chunks, where it is installed with a model of the language."""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Protocol, cast

from evenhand.nlp.mentions import Kind, Mention

_KINDS: dict[str, Kind] = {
    "DATE": "date",
    "TIME": "date",
    "PERCENT": "number",
    "MONEY": "number",
    "QUANTITY": "number",
    "CARDINAL": "number",
    "ORDINAL": "number",
}
_ARTICLES = ("the ", "a ", "an ", "its ", "his ", "her ", "their ", "this ", "that ", "these ", "those ")
_SIZES = ("_trf", "_lg", "_md", "_sm")


class _Span(Protocol):
    """What is used of spaCy's spans, tokens and documents, which come without strict types."""

    start_char: int
    end_char: int
    label_: str
    text: str
    root: "_Word"


class _Word(Protocol):
    pos_: str


class _Document(Protocol):
    ents: Iterable[_Span]
    noun_chunks: Iterable[_Span]

    def has_annotation(self, attribute: str) -> bool: ...


class _Pipeline(Protocol):
    def __call__(self, text: str) -> _Document: ...


class _Spacy(Protocol):
    def load(self, name: str) -> _Pipeline: ...


@cache
def model_in_use(language: str) -> str | None:
    """The model that reads this language, as `spacy NAME VERSION`; None where none is installed."""
    name = _model(language)
    return f"spacy {name} {metadata.version(name)}" if name else None


@cache
def _model(language: str) -> str | None:
    """The best installed model of a language: the name says what it is (`en_core_web_sm`), the larger the better."""
    if find_spec("spacy") is None:
        return None
    spoken = language.split("-")[0].lower() + "_"
    models = {point.name for point in metadata.entry_points(group="spacy_models")}
    ranked = [(rank, name) for name in models for rank, size in enumerate(_SIZES) if name.endswith(size)]
    return min(((rank, name) for rank, name in ranked if name.startswith(spoken)), default=(0, None))[1]


@lru_cache(maxsize=2)
def _pipeline(name: str) -> _Pipeline:
    return cast("_Spacy", import_module("spacy")).load(name)


def mentions(text: str, places: Sequence[tuple[int, int]], language: str) -> list[list[Mention]]:
    """What each sentence mentions: entities, and noun chunks where no entity stands, without their articles."""
    name = _model(language)
    if name is None:
        raise LookupError(f"no spaCy model for {language!r} is installed")
    pipeline = _pipeline(name)
    return [_of_sentence(pipeline(text[start:end]), text, start) for start, end in places]


def _of_sentence(document: _Document, text: str, offset: int) -> list[Mention]:
    found = [
        _trimmed(Mention(offset + span.start_char, offset + span.end_char, _KINDS.get(span.label_, "name")), text)
        for span in document.ents
    ]
    for chunk in document.noun_chunks if document.has_annotation("DEP") else ():
        mention = _trimmed(Mention(offset + chunk.start_char, offset + chunk.end_char, "phrase"), text)
        free = all(mention.end <= other.start or other.end <= mention.start for other in found)
        if free and chunk.root.pos_ != "PRON":
            found.append(mention)
    return sorted(mention for mention in found if mention.start < mention.end)


def _trimmed(mention: Mention, text: str) -> Mention:
    low = text[mention.start : mention.end].lower()
    lead = next((len(article) for article in _ARTICLES if low.startswith(article)), 0)
    tail = 2 if low.endswith(("'s", "’s")) else 0
    return Mention(mention.start + lead, mention.end - tail, mention.kind)


def forget() -> None:
    """Look anew for what is installed."""
    for remembered in (model_in_use, _model, _pipeline):
        remembered.cache_clear()
