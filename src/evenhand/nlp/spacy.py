"""Entities and noun chunks found by spaCy, if it is installed with a model of the language."""

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from evenhand.nlp.mentions import Kind, Mention

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("DATE", "TIME"), "date"),
    **dict.fromkeys(("PERCENT", "MONEY", "QUANTITY", "CARDINAL", "ORDINAL"), "number"),
}
_LEADS = ("the ", "a ", "an ", "its ", "his ", "her ", "their ", "this ", "that ", "these ", "those ")
_SIZES = ("_trf", "_lg", "_md", "_sm")


@cache
def model_of(language: str) -> str | None:
    """The best installed model of a language (`en_core_web_sm`; the larger the better); None if there is none."""
    if find_spec("spacy") is None:
        return None
    models = {point.name for point in metadata.entry_points(group="spacy_models")}
    spoken = [name for name in models if name.startswith(language.split("-")[0].lower() + "_")]
    ranked = [(rank, name) for name in spoken for rank, size in enumerate(_SIZES) if name.endswith(size)]
    return min(ranked, default=(0, None))[1]


@lru_cache(maxsize=2)
def _pipeline(model: str) -> Any:
    spacy: Any = import_module("spacy")
    return spacy.load(model)


def mentions(text: str, places: Sequence[tuple[int, int]], model: str) -> list[list[Mention]]:
    """What each sentence mentions: entities, and noun chunks that do not overlap with them, without their articles."""
    pipeline = _pipeline(model)
    return [_of_sentence(pipeline(text[start:end]), text, start) for start, end in places]


def _of_sentence(document: Any, text: str, offset: int) -> list[Mention]:
    found = [_trimmed(span, text, offset, _KINDS.get(span.label_, "name")) for span in document.ents]
    for chunk in document.noun_chunks if document.has_annotation("DEP") else ():
        mention = _trimmed(chunk, text, offset, "phrase")
        if chunk.root.pos_ != "PRON" and all(mention.end <= one.start or one.end <= mention.start for one in found):
            found.append(mention)
    return sorted(mention for mention in found if mention.start < mention.end)


def _trimmed(span: Any, text: str, offset: int, kind: Kind) -> Mention:
    start, end = offset + span.start_char, offset + span.end_char
    low = text[start:end].lower()
    lead = next((len(lead) for lead in _LEADS if low.startswith(lead)), 0)
    return Mention(start + lead, end - 2 if low.endswith(("'s", "’s")) else end, kind)
