"""Whether a text is in English, the only language that the built-in network reads.

Scripts are recognised by their letters, languages in Latin script by their function words. A text too short to tell,
names, numbers, formulae and code count as readable.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

_LEAST_WEIGHT = 1.5  # of foreign function words
_LEAST_SHARE = 0.12  # of all words
_ACCENTED_WORDS, _ACCENTED_SHARE, _ENGLISH_SHARE = 12, 0.1, 0.1

_WORD = re.compile(r"[^\W\d_]+")
# Letters of mathematics, units and phonetics belong to no script of their own; nor does Greek in formulae.
_NEUTRAL = frozenset(
    """GREEK MATHEMATICAL DOUBLE-STRUCK BLACK-LETTER SCRIPT MICRO OHM KELVIN ANGSTROM PLANCK MODIFIER SUPERSCRIPT
    SUBSCRIPT FEMININE MASCULINE FULLWIDTH INFORMATION TURNED""".split()
)
_DENSE = frozenset("CJK HIRAGANA KATAKANA HANGUL THAI LAO KHMER MYANMAR TIBETAN".split())  # half a word a character
_SCRIPTS = {"CJK": "Chinese characters", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}
_ACCENT = re.compile(r"[\u00c0-\u1eff]")
_GREEK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]{3,}")

_ENGLISH = frozenset(
    """the of and to is was are were be been being by with that this these those it its from which has had have not or
    but they their there he she his him we our you your what when where who why how will would could should than then
    into about also because between only other some such through while after before during each does did both more
    most very can may might must any if so for an as at in on am no me my us do all out up over under just""".split()
)
# Function words of the languages most often seen in Latin script, without those that are English words too.
_FOREIGN = frozenset(
    """der das und ist nicht mit ein eine einen einem einer auf für sich auch als wird wurde werden wurden sind zum
    aus durch über oder aber wie dass haben kann sie wir noch nur sehr est sont dans que qui pour par sur avec ne pas
    cette ces il elle nous vous été était ont mais ou où leur es los las y son por no se su sus lo como más fue era
    pero esta está hay muy también entre è sono nel nella che non più ma anche stato gli é são não foi uma um ao
    também com seu het een niet zijn werd wordt door naar dat deze ook aan bij uit maar heeft och är att ett som på av
    för inte till från og er af ikke til ved blev ja ei että oli se on és hogy nem egy az volt jest się nie że jako
    oraz który je že byl pro nebo jsou este sunt și în pentru ve bir bu için ile olarak çok olan değil yang dan ini itu
    dengan untuk dari adalah pada tidak dalam là của có không được trong một những các với nad ovat kun hän tai
    jossa která které podle také při není""".split()
) - {"no", "on"}
# Words that also stand in names (`de la Cruz`, `van der Waals`), or in English.
_PARTICLES = frozenset(
    """de la le les du des die den dem von van zu el del et di da do dos della un una en im om at st y e il los las der
    das se lo par son pour je ja er af av og och und bin ben na al i""".split()
)


def unreadable(text: str) -> str | None:
    """Why the network cannot read a text, in words that follow "the text"; None where it can."""
    name = _foreign_script(text)
    if name is None and _is_foreign(_WORD.findall(text.lower() if text.isupper() else text)):
        name = "a language other than English"
    return f"is written in {name}, and the network reads English only" if name else None


def _foreign_script(text: str) -> str | None:
    """The script, other than Latin, that most of a text is written in."""
    words: Counter[str] = Counter()
    for letter, count in Counter(text).items():
        if script := _script(letter):
            words[script] += count * (5 if script in _DENSE else 2)
    words["GREEK"] = 2 * sum(map(len, _GREEK.findall(text)))
    latin = words.pop("LATIN", 0)
    if words.total() <= latin:
        return None
    if words["HIRAGANA"] + words["KATAKANA"] > 0.1 * words.total():
        return "Japanese"
    script = words.most_common(1)[0][0]
    return _SCRIPTS.get(script, f"{script.capitalize()} script")


@lru_cache(maxsize=20_000)
def _script(letter: str) -> str | None:
    first = unicodedata.name(letter, "").partition(" ")[0] if letter.isalpha() else ""
    return None if not first or first in _NEUTRAL else first.partition("-")[0]


def _is_foreign(words: list[str]) -> bool:
    # A function word with a capital is part of a name, unless it is the first word.
    plain = [word.lower() if at == 0 else word for at, word in enumerate(words) if at == 0 or word.islower()]
    english = sum(word in _ENGLISH for word in plain)
    found = [0.5 if word in _PARTICLES else 1.0 for word in plain if word in _FOREIGN or word in _PARTICLES]
    if sum(found) >= max(_LEAST_WEIGHT, _LEAST_SHARE * len(words)) and sum(found) > english:
        return True
    accented = sum(_ACCENT.search(word) is not None for word in plain)
    return (
        len(plain) >= _ACCENTED_WORDS
        and accented >= _ACCENTED_SHARE * len(plain)
        and english < _ENGLISH_SHARE * len(words)
    )
