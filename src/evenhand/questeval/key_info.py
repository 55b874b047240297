"""The key information of a text: what it names, counts and dates, and its noun phrases.

Each is a stretch of the text that a question can ask for. spaCy finds them where it and a model of the language are
installed, rules do otherwise; Chinese is always read with jieba's words.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.nlp.sentences import sentences
from evenhand.nlp.words import is_chinese
from evenhand.questeval import chinese, english, grammar
from evenhand.questeval.english import Kind, Mention

MOST = 12
BUILT_IN = "built-in 1"
_READ = 40_000
_TELLING = {"number": 3.0, "date": 3.0, "name": 2.5, "phrase": 1.0}
_AGAIN = 1.5
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """One piece of key information: its text, and where it and its sentence stand, as character ranges."""

    text: str
    kind: Kind
    start: int
    end: int
    sentence: tuple[int, int]


def extractor(language: str = "en") -> str:
    """What finds the key information of texts in this language, with its version."""
    if is_chinese("", language):
        return f"{BUILT_IN}, {chinese.segmenter()}"
    return grammar.model_in_use(language) or BUILT_IN


def key_info(text: str, language: str = "en", most: int = MOST) -> list[KeyInfo]:
    """The key information of a text, in its order: no overlaps, each text once, the most telling ones at most.

    Of a long text the first 40,000 characters are read: a dozen questions are not spread over a book.
    """
    text = text[:_READ]
    places = sentences(text, language)
    return _chosen(_once([info for info in _found(text, places, language) if _worth_asking(info)]), most)


def _found(text: str, places: Sequence[tuple[int, int]], language: str) -> list[KeyInfo]:
    if not is_chinese(text, language) and grammar.model_in_use(language):
        by_sentence = grammar.mentions(text, places, language)
    else:
        by_sentence = mentions(text, places, language)
    return [
        KeyInfo(text[start:end], kind, start, end, place)
        for place, found in zip(places, by_sentence, strict=True)
        for start, end, kind in found
    ]


def mentions(text: str, places: Sequence[tuple[int, int]], language: str) -> list[list[Mention]]:
    """What each sentence mentions, by the rules of the language."""
    if is_chinese(text, language):
        return [chinese.mentions(text, *place) for place in places]
    capitals = english.Capitals.of(text, places)
    spoken = language.split("-")[0].lower() == "en"
    return [english.mentions(text, *place, capitals, phrases=spoken) for place in places]


def _worth_asking(info: KeyInfo) -> bool:
    """Whether enough of the sentence is left to ask by: a heading that is nothing but a name asks nothing."""
    start, end = info.sentence
    return len(_LETTER_OR_DIGIT.findall(info.text)) > 0 and (end - start) - len(info.text) >= 6


def _once(found: Sequence[KeyInfo]) -> list[KeyInfo]:
    """Each text at its first place, and no name that is a part of one before it (`Calder` after `Ines Calder`)."""
    kept: list[KeyInfo] = []
    seen = set[str]()
    for info in found:
        key = info.text.casefold()
        if key in seen:
            continue
        seen.add(key)
        if info.kind == "name":
            seen.update(_parts(key))
        kept.append(info)
    return kept


def _parts(name: str) -> Iterator[str]:
    """A name's own shorter forms: its first or last words, and the singular of what is named in the plural."""
    split = name.split()
    for length in range(1, len(split)):
        yield from (" ".join(split[:length]), " ".join(split[length:]))
    yield name.removesuffix("s")


def _chosen(found: Sequence[KeyInfo], most: int) -> list[KeyInfo]:
    """The most telling, spread over the sentences: a sentence's second counts half as much as its first."""
    if len(found) <= most:
        return list(found)
    used: Counter[tuple[int, int]] = Counter()
    ranks: dict[KeyInfo, float] = {}
    for info in sorted(found, key=lambda info: (-_telling(info), info.start)):
        ranks[info] = _telling(info) / (1 + used[info.sentence] / _AGAIN)
        used[info.sentence] += 1
    best = sorted(found, key=lambda info: (-ranks[info], info.start))[:most]
    return sorted(best, key=lambda info: info.start)


def _telling(info: KeyInfo) -> float:
    return _TELLING[info.kind] + 0.1 * min(len(info.text.split()), 4)
