"""The words of a question in the order of a statement: where its subject ends, and the verb put behind it."""

from collections.abc import Callable

from evenhand.verify.verbs import (
    BE,
    DETERMINERS,
    DO,
    HAVE,
    PREPOSITIONS,
    PRONOUNS,
    is_base,
    is_participle,
    past,
    third,
)

Words = list[str]

# After "is", these open the predicate.
ADJECTIVES = frozenset(
    """responsible able available known famous similar equal present absent larger smaller bigger higher lower older
    younger closest nearest due located home native best inside better worse guilty alive dead""".split()
)
_BEFORE_NOUN = DETERMINERS | PREPOSITIONS | {"and", "or"}
_DESCRIBING = ("ful", "less", "ous", "able", "ible", "ive")
_NAME_JOINTS = frozenset("of the and de von van la der".split())


def ordered(auxiliary: str, rest: Words, denied: bool) -> str | None:
    """An auxiliary and what follows it in a question, in the order of a statement."""
    if rest and rest[0].lower() == "not":
        rest, denied = rest[1:], not denied
    if rest and rest[0].lower() == "there":
        left = rest[2:] if denied and rest[1:2] and rest[1].lower() in {"a", "an", "any"} else rest[1:]
        return " ".join(["There", auxiliary, *(["no"] if denied else []), *left])
    cut = subject_end(auxiliary, rest)
    if not cut:
        return None
    subject, left = rest[:cut], rest[cut:]
    if denied and subject[0].lower() in {"all", "every", "everyone", "both", "each"}:
        return " ".join(["not", *subject, *inflected(auxiliary, left)])
    if denied:
        return " ".join([*subject, *(["cannot"] if auxiliary == "can" else [auxiliary, "not"]), *left])
    return " ".join([*subject, *inflected(auxiliary, left)])


def inflected(auxiliary: str, left: Words) -> Words:
    """`did fall` to `fell`, `does have` to `has`; other auxiliaries stay."""
    if auxiliary not in DO or not left:
        return [auxiliary, *left]
    verb = left[0].lower()
    return [{"did": past, "does": third}.get(auxiliary, str)(verb), *left[1:]]


def subject_end(auxiliary: str, rest: Words) -> int:
    """How many words after an auxiliary are its subject; 0 where that cannot be told."""
    if not rest:
        return 0
    if rest[0].lower() in PRONOUNS and (len(rest) == 1 or rest[0].lower() not in DETERMINERS or _opens(rest[1])):
        return 1
    return _before_predicate(rest) if auxiliary in BE else _before_verb(rest, auxiliary in HAVE)


def _opens(word: str) -> bool:
    return word.lower() in DETERMINERS | PREPOSITIONS


def _before_verb(rest: Words, perfect: bool) -> int:
    fits: Callable[[str], bool] = is_participle if perfect else is_base
    for place in range(1, len(rest)):
        word, before = rest[place].lower(), rest[place - 1].lower()
        noun = before in _BEFORE_NOUN or before.endswith("'s")
        if word == "be" or (fits(word) and not noun):
            return place - (1 if before in {"ever", "also", "not", "first", "originally"} and place > 1 else 0)
    name = name_end(rest)
    if name:
        return name if name < len(rest) else 0
    return _noun_end(rest)


def _noun_end(rest: Words) -> int:
    """The end of the first noun, where what follows can only be a verb: it is the last word, or has an object."""
    place = next((n for n, word in enumerate(rest) if word.lower() not in DETERMINERS | {"of"}), 0) + 1
    if place < len(rest) and rest[place].lower() == "of":
        place += 1 + _noun_end(rest[place + 1 :])
    alone = place == len(rest) - 1 and not rest[place - 1].lower().endswith("ly")
    return place if alone or (place + 1 < len(rest) and _opens(rest[place + 1])) else 0


def _before_predicate(rest: Words) -> int:
    name = name_end(rest)
    if name:
        return name if name < len(rest) or len(rest) == 1 else 0
    for place in range(1, len(rest)):
        word, before = rest[place].lower(), rest[place - 1].lower()
        if before in DETERMINERS | PREPOSITIONS:
            continue
        if word in DETERMINERS or (word in PREPOSITIONS and word != "of") or _describes(word):
            return place
        if (is_participle(word) or word.endswith("ing")) and (place > 1 or before not in DETERMINERS):
            return place
    return len(rest) - 1


def _describes(word: str) -> bool:
    return word in ADJECTIVES or word == "not" or word.endswith(_DESCRIBING)


def name_end(rest: Words) -> int:
    """The end of a name at the start, with its article: "the Bank of England", "Marie Curie"; 0 where there is none."""
    place = 1 if rest[0].lower() in DETERMINERS else 0
    start = place
    while place < len(rest) and (rest[place][:1].isupper() or (_joins(rest, place) and place > start)):
        place += 1
    owns = place > start and rest[place - 1].endswith("'s") and place < len(rest)
    return place + owns if place > start else 0


def _joins(rest: Words, place: int) -> bool:
    """Whether a small word in a name is followed by more of the name."""
    following = next((word for word in rest[place + 1 : place + 3] if word.lower() != "the"), "")
    return rest[place].lower() in _NAME_JOINTS and following[:1].isupper()
