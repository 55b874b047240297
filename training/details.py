"""Sentences of the development texts with one detail changed, for fitting and for measuring."""

from collections.abc import Iterator, Sequence
from random import Random

from evenhand.nlp.mentions import mentions
from evenhand.nlp.sentences import sentences
from evenhand.nlp.values import values
from training.changes import number
from training.pairs import CONTRADICTED, SUPPORTED, Pair

KINDS = ("number", "year", "name")


def changed(kind: str, sentence: str, names: Sequence[str], random: Random) -> str | None:
    """The sentence with another number, year or name, or None if it has none."""
    if kind == "name":
        own = [one for one in mentions(sentence, [(0, len(sentence))])[0] if one.kind == "name"]
        fit = [name for name in names if not any(word in sentence for word in name.split())]
        if not own or not fit:
            return None
        spot = random.choice(own)
        return sentence[: spot.start] + random.choice(fit) + sentence[spot.end :]
    found = [one for one in values(sentence) if one.is_date == (kind == "year")]
    found = [one for one in found if one.is_date is False or (one.years and one.years[0] == one.years[1])]
    if not found:
        return None
    spot = random.choice(found)
    other = number(sentence[spot.start : spot.end], random)
    return None if other is None else sentence[: spot.start] + other + sentence[spot.end :]


def detail_pairs(texts: Sequence[str], many: int, random: Random) -> Iterator[Pair]:
    """For each kind so many changed sentences and as many unchanged ones, each with its own text as evidence."""
    made = dict.fromkeys(KINDS, 0)
    for text in random.sample(texts, len(texts)):
        places = [place for place in sentences(text, "en") if 6 <= len(text[slice(*place)].split()) <= 50]
        if not places:
            continue
        sentence = text[slice(*random.choice(places))]
        other = random.choice(texts)
        found = (one for some in mentions(other, sentences(other, "en")) for one in some if one.kind == "name")
        names = [name for one in found if len(name := other[one.start : one.end]) > 3]
        for kind in KINDS:
            false = changed(kind, sentence, names, random) if made[kind] < many else None
            if false is not None and false != sentence:
                made[kind] += 1
                # Alone, or within its text: both are what people try first.
                evidence = sentence if random.random() < 0.5 else text
                yield Pair(evidence, false, CONTRADICTED, f"details-{kind}", str(sum(made.values())))
                yield Pair(evidence, sentence, SUPPORTED, f"details-{kind}", str(sum(made.values())))
