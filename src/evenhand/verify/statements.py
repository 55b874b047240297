"""A question and a bare phrase that answers it, made into one statement that can be true or false.

By rules, without a grammar: the words of the question are put in the order of a statement and the answer in the place
of the question word. Where no rule fits, the question is followed by its answer, which a reader understands as well.
"""

import re
from collections.abc import Callable

from evenhand.verify.clauses import ADJECTIVES, Words, inflected, name_end, ordered, subject_end
from evenhand.verify.verbs import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    PREPOSITIONS,
    PRONOUNS,
    has_finite,
    is_participle,
    is_verb,
)

_LONGEST_PHRASE = 25
_GAP = re.compile(r"_{2,}|\[(?:blank|MASK|gap)\]|\.{4,}|…{2,}")
_YES_NO = re.compile(r"(yes|yeah|yep|no|nope|true|false|correct|incorrect)\b[\s,.;:–—-]*", re.I)
_NAY = frozenset("no nope false incorrect".split())
_ASKED_FOR = re.compile(r"(?:please\s+)?(?:name|state|identify|give(?: me)?|tell me|list|find)\s+(the\s.+)", re.I)
_PREFIX = re.compile(r"((?:in|during|on|at|after|before|since|under|as of|according to)\s[^,?]{1,60}),\s+(?=\w)", re.I)
_FILLER = re.compile(
    r"(?:so|and|but|well|now|please|ok(?:ay)?|can you tell me|do you know|tell me)[,:]?\s+(?=\w)", re.I
)
_ASKED_IN_DOUBT = {"can't": "can", "won't": "will", "shan't": "shall"}
_EITHER = re.compile(r"(wh[^,?]+), ([^,?]+ or [^,?]+)\?", re.I)
_SHORT_IS = re.compile(r"\b(what|who|where|when|how)'s\b", re.I)
_WH = frozenset("who whom what which when where why how whose".split())
_TIMES = frozenset("year month day date decade century time season era period".split())
_PROPERTIES = frozenset(
    """color colour shape size nationality religion age height length width depth weight temperature occupation
    profession species genre type kind sort gender sex ethnicity rank position part breed""".split()
)
_SHARES = frozenset("percentage percent proportion share fraction".split())
_MOTION = frozenset("go travel move return flee emigrate migrate relocate sail come immigrate".split())
_NAMING = frozenset("call name appoint elect rename nickname title consider declare".split())
_TAKE = frozenset("last take run weigh cost measure contain".split())
_MEASURES = frozenset("long old tall high deep wide thick".split())
_OPENS_WITH_PLACE = re.compile(
    r"(?:in|on|at|to|from|near|by|under|over|into|inside|outside|between|behind|above|below|along|across|around|within|"
    r"throughout|beneath|north|south|east|west|everywhere|nowhere|here|there|home|abroad|off|through|after|before|during|"
    r"since|until|about|circa|every|last|next|this|ago|between|early|late|mid|today|yesterday|tomorrow|never|when|once|"
    r"while|for|as|because|due|if|using|with|without)\b",
    re.I,
)
_YEAR = re.compile(
    r"(?:c\. ?)?(?:the )?(?:early |late |mid-?)?\d{3,4}s?(?: ?(?:AD|BC|CE|BCE))?$|\d+ ?(?:AD|BCE?|CE)$", re.I
)
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_IN_MONTH = re.compile(rf"{_MONTH}(?:,? \d{{4}})?$|(?:the )?(?:spring|summer|autumn|fall|winter)\b|.*\bcentury\b", re.I)
_ON_DAY = re.compile(rf".*\b{_MONTH}\b.*\d|\d.*\b{_MONTH}\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day", re.I)
_AT_TIME = re.compile(r"\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?$|noon$|midnight$|dawn$|dusk$", re.I)
_REASON = re.compile(r"(?:because|due|to|as|since|for|in order|so|owing|out of|by|thanks)\b", re.I)
_NUMBER = re.compile(
    r"(?:(?:about|around|over|nearly|almost|approximately|roughly|at least|at most|more than|less than|some) )?"
    r"[\d.,]+(?: ?(?:million|billion|trillion|thousand|hundred|dozen))?$",
    re.I,
)
_NUMBER_WORDS = frozenset(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen none
    several many few a and about around over nearly dozens hundreds thousands millions billions""".split()
)
_LOWERED = DETERMINERS | PREPOSITIONS | frozenset("because due when while if using it he she they".split())


# After one of these comes a verb, be it one that no list knows.
_SUBJECTS = frozenset(("i", "you", "he", "she", "it", "we", "they", "there", "let"))


def is_bare(answer: str) -> bool:
    """Whether an answer is a phrase, number, name, or yes or no, and says something only beside its question."""
    said = answer.strip()
    agreed = _YES_NO.match(said)
    words = said.split()
    if len(words) > _LONGEST_PHRASE or (len(words) > 2 and words[0].lower() in _SUBJECTS):
        return False
    return not has_finite(said[agreed.end() :] if agreed else said)


def statement(question: str, answer: str) -> str:
    """The statement that a bare answer makes of its question; an answer that is a statement already is left alone."""
    asked = " ".join(_SHORT_IS.sub(r"\1 is", question.replace("’", "'")).split())
    said = " ".join(answer.split()).strip(' .!;,*"“”')
    if not asked or not said or not is_bare(answer):
        return answer.strip()
    body = _GAP.sub(lambda _: said, asked, count=1) if _GAP.search(asked) else _answered(asked, said)
    if body:
        return _sentence(body)
    return f"{asked} {said}." if asked[-1] in "?.!:" else f"{asked}: {said}."


def _sentence(body: str) -> str:
    body = body.strip().rstrip(".?!")
    return f"{body[:1].upper()}{body[1:]}."


def _answered(asked: str, said: str) -> str | None:
    filler = _FILLER.match(asked)
    if filler and asked[filler.end() :].split()[0].lower() in _WH | AUXILIARIES:
        asked = asked[filler.end() :]
    demand = _ASKED_FOR.fullmatch(asked.rstrip(" .?:"))
    if demand:
        return f"{demand[1]} is {_inside(said)}"
    prefix = _PREFIX.match(asked)
    if prefix:
        body = _answered(asked[prefix.end() :], said)
        return f"{prefix[1]}, {body}" if body else None
    either = _EITHER.match(asked)
    if either:
        body = _answered(either[1], said)
        return f"Of {either[2].replace(' or ', ' and ')}, {body}" if body else None
    words = asked.rstrip(" ?.").split()
    if len(words) < 2:
        return None
    first = words[0] = _ASKED_IN_DOUBT.get(words[0].lower(), words[0].lower().removesuffix("n't"))
    if first in AUXILIARIES:
        return _yes_or_no(words, said)
    if first in PREPOSITIONS and words[1].lower() in _WH:
        return _after_preposition(words, said)
    rule = _RULES.get(first)
    return rule(words, said) if rule and not _YES_NO.fullmatch(said) else None


# Yes and no


def _yes_or_no(words: Words, said: str) -> str | None:
    agreed = _YES_NO.match(said)
    if not agreed:
        return _choice(words, said)
    more = said[agreed.end() :]
    body = ordered(words[0].lower(), words[1:], agreed[1].lower() in _NAY)
    return f"{body}, {_inside(more)}" if body and more else body


def _choice(words: Words, said: str) -> str | None:
    """ "Is Venus hotter or colder than Earth?" and "hotter"."""
    found = re.search(rf"\b{re.escape(said)} or (?:\w+)|\b(?:(?:an?|the) )?(?:\w+) or {re.escape(said)}\b",
                      " ".join(words[1:]), re.I)  # fmt: skip
    if not found:
        return None
    chosen = " ".join(words[1:]).replace(found.group(), said)
    return ordered(words[0].lower(), chosen.split(), False)


# Question words


def _after_preposition(words: Words, said: str) -> str | None:
    """ "In what year did Rome fall?", "By whom was it written?": the answer goes to the end, after the preposition."""
    place = next((n for n, word in enumerate(words) if n > 1 and word.lower() in AUXILIARIES), 0)
    body = ordered(words[place].lower(), words[place + 1 :], False) if place else None
    if not body:
        return None
    joined = _inside(said) if _OPENS_WITH_PLACE.match(said) else f"{words[0].lower()} {_inside(said)}"
    return f"{body} {joined}"


def _who_or_what(words: Words, said: str) -> str | None:
    second = words[1].lower()
    if second in BE:
        return _who_is(second, words[2:], said)
    if second in AUXILIARIES:
        return _object(second, words[2:], said) or (f"{said} {' '.join(words[1:])}" if second not in DO else None)
    if words[0].lower() == "who" or is_verb(second):
        return f"{said} {' '.join(words[1:])}"
    return _which(words, said)


def _who_is(verb: str, rest: Words, said: str) -> str | None:
    if not rest:
        return None
    first = rest[0].lower()
    if is_participle(first) or first in PREPOSITIONS or first in ADJECTIVES or first.endswith("ing"):
        return f"{said} {verb} {' '.join(rest)}"
    tail = 2 if rest[-1].lower() in PREPOSITIONS else 1
    if len(rest) > tail and is_participle(rest[-tail].lower()):
        return " ".join([*rest[:-tail], verb, *rest[-tail:], _inside(said)])
    if tail == 2:
        body = ordered(verb, rest, False)
        return f"{body} {_inside(said)}" if body else None
    cut = 1 if first in PRONOUNS - DETERMINERS else name_end(rest)
    if 0 < cut < len(rest) and is_participle(rest[cut].lower()):
        return " ".join([*rest[:cut], verb, rest[cut], _inside(said), *rest[cut + 1 :]])
    return f"{' '.join(rest)} {verb} {_inside(said)}"


def _object(auxiliary: str, rest: Words, said: str) -> str | None:
    """ "What did Edison invent in 1879?": the answer follows the verb, or a preposition left at the end."""
    cut = subject_end(auxiliary, rest)
    if not cut or cut >= len(rest) or (rest[cut].lower() == "do" and auxiliary in DO):
        return None
    verb, left = rest[cut].lower(), rest[cut + 1 :]
    head = [*rest[:cut], *inflected(auxiliary, rest[cut:])]
    if not left or left[-1].lower() in PREPOSITIONS or verb in _NAMING:
        return f"{' '.join(head)} {_inside(said)}"
    return " ".join([*head[: len(head) - len(left)], _inside(said), *left])


def _which(words: Words, said: str) -> str | None:
    """ "Which country won?", "What year did it end?", "What colour is the sky?" """
    if words[1].lower() in AUXILIARIES:
        return _who_or_what(words, said)
    place = next((n for n, word in enumerate(words) if n > 1 and word.lower() in AUXILIARIES), 0)
    if not place:
        verb = next((n for n, word in enumerate(words) if n > 1 and is_verb(word.lower())), 0)
        return f"{said} {' '.join(words[verb:])}" if verb else None
    noun, auxiliary, rest = words[1:place], words[place].lower(), words[place + 1 :]
    if not rest:
        return None
    if len(noun) > 2 and noun[0].lower() in _SHARES:
        return " ".join([said, *noun[1:], auxiliary, *rest])
    if noun[-1].lower() in _TIMES and not is_participle(rest[0].lower()):
        return _when([words[0], *words[place:]], said)
    if auxiliary in BE:
        return _which_is(noun, auxiliary, rest, said)
    return _object(auxiliary, rest, said) or (f"{said} {' '.join(words[place:])}" if auxiliary not in DO else None)


def _which_is(noun: Words, verb: str, rest: Words, said: str) -> str | None:
    first, last = rest[0].lower(), rest[-1].lower()
    if len(rest) > 1 and last in PREPOSITIONS:
        body = ordered(verb, rest, False)
        return f"{body} {_inside(said)}" if body else None
    if first in PRONOUNS - DETERMINERS and len(rest) > 1:
        return " ".join([rest[0], verb, rest[1], _inside(said), *rest[2:]])
    if noun[-1].lower() in _PROPERTIES or (
        len(noun) > 2 and noun[1].lower() == "of" and noun[0].lower() in _PROPERTIES
    ):
        if not is_participle(first) and first not in PREPOSITIONS:
            return f"{' '.join(rest)} {verb} {_inside(said)}"
        return f"{said} {verb} {' '.join(rest)}"
    return f"{said} {verb} {' '.join(_with_noun(noun, rest))}"


def _with_noun(noun: Words, rest: Words) -> Words:
    """ "the largest" of "Which planet is the largest?" gets its noun."""
    cut = 3 if len(rest) > 2 and rest[1].lower() in {"most", "least"} else 2
    superlative = rest[0].lower() == "the" and (cut == 3 or (len(rest) > 1 and rest[1].lower().endswith("est")))
    if superlative and (len(rest) == cut or rest[cut].lower() in PREPOSITIONS):
        return [*rest[:cut], *noun, *rest[cut:]]
    return rest


def _when(words: Words, said: str) -> str | None:
    body = ordered(words[1].lower(), words[2:], False) if words[1].lower() in AUXILIARIES else None
    if not body and words[1].lower() in BE:
        body = f"{' '.join(words[2:])} {words[1].lower()}"
    if not body:
        return None
    if body.split()[-1].lower() in PREPOSITIONS or _OPENS_WITH_PLACE.match(said):
        return f"{body} {_inside(said)}"
    kinds = ((_YEAR, "in "), (_IN_MONTH, "in "), (_ON_DAY, "on "), (_AT_TIME, "at "))
    return f"{body} {next((word for kind, word in kinds if kind.match(said)), '')}{_inside(said)}"


def _where(words: Words, said: str) -> str | None:
    auxiliary, rest = words[1].lower(), words[2:]
    if auxiliary not in AUXILIARIES or not rest:
        return None
    place = said if _OPENS_WITH_PLACE.match(said) else f"in {_inside(said)}"
    cut = subject_end(auxiliary, rest)
    alone = cut == len(rest) - 1 and not is_participle(rest[-1].lower()) and not name_end(rest)
    if auxiliary in BE and (not cut or alone):
        return f"{' '.join(rest)} {auxiliary} {_inside(place)}"
    body = ordered(auxiliary, rest, False)
    if not body:
        return None
    if rest[-1].lower() in PREPOSITIONS:
        return f"{body} {_inside(said)}"
    if cut < len(rest) and rest[cut].lower() in _MOTION and place != said:
        place = f"to {_inside(said)}"
    return f"{body} {_inside(place)}"


def _why(words: Words, said: str) -> str | None:
    body = ordered(words[1].lower(), words[2:], False) if words[1].lower() in AUXILIARIES else None
    return f"{body} {'' if _REASON.match(said) else 'because of '}{_inside(said)}" if body else None


def _how(words: Words, said: str) -> str | None:
    second = words[1].lower()
    if second in AUXILIARIES:
        body = ordered(second, words[2:], False)
        return f"{body} {_inside(said)}" if body else None
    if second in {"many", "much"}:
        return _how_many(second, words[2:], said)
    place = next((n for n, word in enumerate(words) if n > 1 and word.lower() in AUXILIARIES), 0)
    return _how_long(second, words[place].lower(), words[place + 1 :], said) if place else None


def _how_many(counted: str, rest: Words, said: str) -> str | None:
    place = next((n for n, word in enumerate(rest) if word.lower() in AUXILIARIES), None)
    if place is None:
        verb = next((n for n, word in enumerate(rest) if n and is_verb(word.lower())), 0)
        return f"{_amount(counted, rest[:verb], said)} {' '.join(rest[verb:])}" if verb else None
    noun, auxiliary, left = rest[:place], rest[place].lower(), rest[place + 1 :]
    amount = _amount(counted, noun, said)
    if left[:1] == ["there"]:
        return " ".join(["There", auxiliary, _inside(amount), *left[1:]])
    if auxiliary in BE and noun:
        return f"{amount} {auxiliary} {' '.join(left)}"
    if auxiliary in BE:
        return f"{' '.join(left)} {auxiliary} {_inside(amount)}" if left else None
    return _object(auxiliary, left, amount) or (f"{amount} {' '.join(rest[place:])}" if auxiliary not in DO else None)


def _amount(counted: str, noun: Words, said: str) -> str:
    """The answer with what is counted, where the answer does not name it itself."""
    if not noun:
        return said
    if noun[0].lower() == "of":
        return f"{said} {' '.join(noun)}"
    bare = bool(_NUMBER.match(said)) or all(word in _NUMBER_WORDS for word in re.split(r"[\s-]+", said.lower()))
    named = any(word.lower().rstrip("s") in said.lower() for word in noun)
    if named or (not bare and counted == "many"):
        return said
    return f"{said} {' '.join(noun)}" if bare else f"{said} of {' '.join(noun)}"


def _how_long(measure: str, auxiliary: str, rest: Words, said: str) -> str | None:
    if not rest:
        return None
    if auxiliary in BE and not (measure in {"long", "often"} and any(is_participle(word.lower()) for word in rest)):
        if measure == "far":
            body = ordered(auxiliary, rest, False)
            return f"{' '.join(rest)} {auxiliary} {said}" if not body or len(rest) < 3 else _far(auxiliary, rest, said)
        when = next((n for n, word in enumerate(rest) if word.lower() in {"when", "after", "before", "in"}), len(rest))
        unit = " years" if measure == "old" and _NUMBER.match(said) else ""
        tail = f" {measure}" if measure in _MEASURES and measure not in said.lower().split() else ""
        return f"{' '.join(rest[:when])} {auxiliary} {_inside(said)}{unit}{tail} {' '.join(rest[when:])}"
    cut = subject_end(auxiliary, rest)
    if cut and cut < len(rest) and rest[cut].lower() in _TAKE:
        return _object(auxiliary, rest, said)
    body = ordered(auxiliary, rest, False)
    lead = "for " if measure == "long" and not _OPENS_WITH_PLACE.match(said) else ""
    return f"{body} {lead}{_inside(said)}" if body else None


def _far(auxiliary: str, rest: Words, said: str) -> str:
    place = next((n for n, word in enumerate(rest) if word.lower() in {"from", "to"}), len(rest))
    return " ".join([*rest[:place], auxiliary, said, *rest[place:]])


def _inside(said: str) -> str:
    """An answer as it stands inside of a sentence: a small word loses its capital, a name keeps it."""
    first = said.partition(" ")[0]
    small = first == "A" or (first.lower() in _LOWERED and not first.isupper())
    return said[:1].lower() + said[1:] if small else said


_RULES: dict[str, Callable[[Words, str], str | None]] = {
    "who": _who_or_what,
    "whom": _who_or_what,
    "what": _who_or_what,
    "which": _which,
    "when": _when,
    "where": _where,
    "why": _why,
    "how": _how,
}
