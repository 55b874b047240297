"""The key information of a text: the names, numbers, dates and noun phrases that a question can ask for.

spaCy finds them if it and a model of the language are installed, otherwise rules do; Chinese is always read by rules.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from evenhand.nlp import spacy
from evenhand.nlp.mentions import Kind, mentions
from evenhand.nlp.sentences import sentences
from evenhand.nlp.words import is_chinese

MOST = 12
BUILT_IN = "built-in 2"
_READ, _LEFT_AT_LEAST = 40_000, 6
_TELLING: dict[Kind, float] = {"number": 3.0, "date": 3.0, "name": 2.5, "phrase": 1.0}


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """One piece of key information: its text, and the character ranges of it and of its sentence."""

    text: str
    kind: Kind
    start: int
    end: int
    sentence: tuple[int, int]

    @property
    def telling(self) -> float:
        return _TELLING[self.kind] + 0.1 * min(len(self.text.split()), 4)


def extractor(language: str = "en") -> str:
    """What finds the key information of texts in this language, with its version."""
    if is_chinese("", language):
        return f"{BUILT_IN}, rjieba {version('rjieba')}"
    model = spacy.model_of(language)
    return f"spacy {model} {version(model)}" if model else BUILT_IN


def key_info(text: str, language: str = "en", most: int = MOST) -> list[KeyInfo]:
    """The key information of a text, in its order: no overlaps, each text once, the most telling ones at most.

    Of a long text the first 40,000 characters are read: a dozen questions are not spread over a book.
    """
    text = text[:_READ]
    places = sentences(text, language)
    model = None if is_chinese(text, language) else spacy.model_of(language)
    found = spacy.mentions(text, places, model) if model else mentions(text, places, language)
    every = (
        KeyInfo(text[start:end], kind, start, end, place)
        for place, mentioned in zip(places, found, strict=True)
        for start, end, kind in mentioned
        # A heading that is nothing but a name asks nothing.
        if place[1] - place[0] - (end - start) >= _LEFT_AT_LEAST and any(map(str.isalnum, text[start:end]))
    )
    return _chosen(list(_once(every)), most)


def _once(found: Iterator[KeyInfo]) -> Iterator[KeyInfo]:
    """Each text at its first place, and no name that is a part of one before it (`Calder` after `Ines Calder`)."""
    seen = set[str]()
    for info in found:
        key = info.text.casefold()
        if key not in seen:
            yield info
        seen.add(key)
        if info.kind == "name":
            parts = key.split()
            seen.update(" ".join(part) for cut in range(1, len(parts)) for part in (parts[:cut], parts[cut:]))
            seen.add(key.removesuffix("s"))


def _chosen(found: Sequence[KeyInfo], most: int) -> list[KeyInfo]:
    """The most telling, spread over the sentences: each further one of a sentence counts less."""
    used: Counter[tuple[int, int]] = Counter()
    ranked: list[tuple[float, int, KeyInfo]] = []
    for info in sorted(found, key=lambda info: (-info.telling, info.start)):
        ranked.append((-info.telling / (1 + used[info.sentence] / 1.5), info.start, info))
        used[info.sentence] += 1
    return sorted((info for *_, info in sorted(ranked)[:most]), key=lambda info: info.start)
