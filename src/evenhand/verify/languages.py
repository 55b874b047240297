"""Whether a text is in a language that the network in the box knows, which is English.

Scripts are told by their letters. Languages in Latin letters are told by their function words against those of
English; a text too short for that, names, numbers, formulae and code count as readable.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from functools import lru_cache

_SAMPLE = 40_000
_SLICES = 8
_FOREIGN_SHARE = 0.5
# Of function words: how much they must weigh, how many different ones, and what share of all words.
_LEAST_WEIGHT = 1.5
_LEAST_WORDS = 2
_LEAST_SHARE = 0.12
# A language that is not listed shows by its accents, in a text of so many words with hardly an English one.
_ACCENTED_WORDS = 12
_ACCENTED_SHARE = 0.1
_ENGLISH_SHARE = 0.1

_WORD = re.compile(r"[^\W\d_]+")
_GREEK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]+")
_GREEK_WORD = 3

# Letters of no script of their own: signs of mathematics, units, phonetics, and Latin in other widths.
_NEUTRAL = frozenset(
    """LATIN GREEK MATHEMATICAL DOUBLE-STRUCK BLACK-LETTER SCRIPT MICRO OHM KELVIN ANGSTROM PLANCK MODIFIER SUPERSCRIPT
    SUBSCRIPT FEMININE MASCULINE FULLWIDTH INFORMATION ALEF BET GIMEL DALET EULER TURNED ROTATED""".split()
)
# Scripts whose characters stand for about half a word each; the letters of others for a fifth.
_DENSE = frozenset("CJK HIRAGANA KATAKANA HALFWIDTH HANGUL BOPOMOFO YI THAI LAO KHMER MYANMAR TIBETAN".split())
_SCRIPT_NAMES = {
    "CJK": "Chinese characters",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HALFWIDTH": "Japanese",
    "HANGUL": "Korean",
    "MYANMAR": "Burmese script",
}

_ENGLISH = frozenset(
    """the of and to is was are were be been being by with that this these those it its from which has had have not or
    but they their there he she his him we our you your what when where who why how will would could should than then
    into about also because between only other some such through while after before during each does did been both more
    most very can may might must any if so for an as at in on a i am no me my us do all out up over under
    just""".split()
)

# Words that also stand in names (`de la Cruz`, `van der Waals`) or that two of the languages share tell half as much.
_PARTICLES = frozenset(
    """de la le les du des der die das den dem von van zu el los las del et di da do dos della delle il lo al un una en
    in an am im on as is om for men man at to so no se me te mi va ad bin ben san na af av og och und era per con os um
    ou au aux si het st pro par come son has hat are or be was had her sin mit als dan nu ne ma more pour plus most our
    all up us over under my any he met war door want sur ton main fin tot tout comment fast bad gift dare""".split()
)

_FUNCTION_WORDS = {
    "German": """der die das und ist nicht mit von den dem des ein eine einen einem einer eines auf für sich auch als
        bei nach wird wurde werden wurden sind im zu zum zur aus durch über oder aber wie dass hat haben hatte kann er
        sie es wir ihr noch nur um vor mehr sehr""",
    "French": """le la les des du de un une et est sont dans que qui pour par sur avec ne pas plus ce cette ces il elle
        ils elles nous vous été était a au aux se son sa ses leur leurs mais ou où comme c d l qu s n ont fut avait""",
    "Spanish": """el la los las de del un una y es son en que por para con no se su sus al lo como más fue era pero este
        esta estos está están ha han hay muy también entre cuando donde desde hasta sobre sin ya""",
    "Italian": """il lo la i gli le di del della dei delle dell un una uno e è sono in nel nella che per con non si su
        suo sua come più ma anche era stato stata ha hanno questo questa al alla dal dalla da sul""",
    "Portuguese": """o a os as de do da dos das um uma e é são em no na nos nas que por para com não se seu sua como
        mais foi era mas este esta ao à pelo pela também muito está ou ser tem""",
    "Catalan": """el la els les de del dels un una i és són en que per amb no es seu seva com més va ser però aquest
        aquesta al als també molt o dins""",
    "Romanian": """și este sunt în de la cu pe un o al ai ale a care nu din pentru se că mai fost era dar sau prin ce
        lui despre aceasta acest după""",
    "Dutch": """de het een en is van in op met voor niet zijn werd wordt worden door naar dat die deze dit ook als aan
        bij uit om maar te er nog heeft hebben had over onder tussen hij zij wij""",
    "Afrikaans": "die en is van nie het in op met vir wat was deur word dat hierdie sy ook aan uit om maar te by hulle",
    "Swedish": """och är att det en ett som på av för med den inte till var från har de om hade kan ska men eller sig
        också blev vid efter han hon""",
    "Danish or Norwegian": """og er at det en et som på af av for med den ikke til var fra har de om havde kan skal men
        eller sig også blev ved efter han hun jeg hadde ble etter""",
    "Icelandic": "og er að það sem á í við um til ekki var frá með hann hún en eða þar þess þetta eru",
    "Finnish": "ja on ei se että oli ovat joka mutta myös kuin hän sen ole tai niin kun mukaan vuonna jossa ovat",
    "Estonian": "ja on ei see et oli mis kui ka aga või tema selle kes oma ning pole mida aastal",
    "Hungarian": "a az és hogy nem egy is volt van ez azt de meg mint csak már el vagy ki kell lesz pedig voltak",
    "Polish": """i w na z się nie jest to że do od jako są był była było przez dla oraz ale po przy nad pod który która
        które został została ich jego jej może""",
    "Czech": """a v na se je z že s do to jsou byl byla bylo by pro ale jako nebo po podle který která které není také
        jeho při ve""",
    "Slovak": "a v na sa je z že s do to sú bol bola bolo pre ale ako alebo po podľa ktorý ktorá ktoré nie aj jeho pri",
    "Slovene": "in v na se je z da ne so bil bila bilo za ali kot pa po ki tudi pri iz njegov leta smo",
    "Croatian, Bosnian or Serbian": """i u na se je da za su bio bila bilo od s ne kao ili koji koja koje nije iz po ali
        sa""",
    "Lithuanian": "ir yra kad iš į su tai bet kaip buvo ne nuo apie dėl taip pat arba kuris jis metais",
    "Latvian": "un ir ka no uz ar tas bet kā bija par vai nav kas arī gadā pēc tika viņš",
    "Turkish": """ve bir bu için ile olarak da de daha çok en olan gibi değil var olduğu kadar sonra ancak ne o ise
        tarafından oldu edilmiştir vardır""",
    "Azerbaijani": "və bir bu üçün ilə olan kimi deyil var daha çox o da də sonra olaraq edir idi ən",
    "Albanian": "dhe është në të një për me nga që ka nuk si por u janë më ose kjo ky ishte duke",
    "Indonesian or Malay": """yang dan di ini itu dengan untuk dari adalah pada tidak dalam ke akan oleh juga sebagai
        telah atau karena ada bahwa lebih mereka kepada ialah""",
    "Tagalog": "ang ng sa na mga ay at si hindi ito para kung ni siya nang isang may noong upang ako",
    "Vietnamese": """và là của có không được trong cho một những các với này đã để người từ năm khi ở đến như về tại
        bởi cũng""",
    "Swahili": "na ya wa ni kwa katika za la kama hii hiyo yake lakini au si ambayo kuwa kwamba pia sana huo",
    "Welsh": "y yr yn a ac i o ar mae ei gan oedd am wedi bod eu hyn hefyd fel nid gyda roedd",
    "Irish": "an na agus is ar i le a go sa ag bhí tá do ach seo sin leis mar nach bhfuil raibh",
    "Basque": "eta da ez zen dira bat izan zuen den baina du edo ere horren zuten ziren dute hau",
    "Latin": "et est in non ad cum sed ut qui quae quod ex sunt esse enim autem atque nec erat ab per",
    "Esperanto": "la kaj estas de en al ne por kun kiu ke estis sed oni li ĝi ĉi tiu ankaŭ pli aŭ el kiuj",
}


@lru_cache(maxsize=1)
def _languages_by_word() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for language, words in _FUNCTION_WORDS.items():
        for word in dict.fromkeys(words.split()):
            found[word].append(language)
    return found


def unreadable(text: str) -> str | None:
    """Why the network cannot read a text, in words that follow "the text", or nothing where it can.

    A long text is looked at in eight places.
    """
    seen = _sampled(text)
    words = _WORD.findall(seen.lower() if seen.isupper() else seen)
    name = _foreign_script(seen) or _foreign_language(words)
    return f"is written in {name}, and the network knows English only" if name else None


def _sampled(text: str) -> str:
    if len(text) <= _SAMPLE:
        return text
    width, step = _SAMPLE // _SLICES, (len(text) - _SAMPLE // _SLICES) // (_SLICES - 1)
    return " ".join(text[at * step : at * step + width] for at in range(_SLICES))


def _foreign_script(text: str) -> str | None:
    """The script, other than Latin, that makes up more than half of a text."""
    words: dict[str, float] = defaultdict(float)
    for letter, count in Counter(text).items():
        script = _script(letter)
        if script:
            words[script] += count / (2 if script in _DENSE else 5)
    # Single Greek letters are signs in formulae.
    words["GREEK"] = sum(len(run) for run in _GREEK.findall(text) if len(run) >= _GREEK_WORD) / 5
    latin, foreign = words.pop("LATIN", 0.0), sum(words.values())
    if not foreign or foreign <= _FOREIGN_SHARE * (foreign + latin):
        return None
    if words["HIRAGANA"] + words["KATAKANA"] > 0.1 * foreign:
        return "Japanese"
    script = max(words, key=lambda script: words[script])
    return _SCRIPT_NAMES.get(script, f"{script.capitalize()} script")


@lru_cache(maxsize=20_000)
def _script(letter: str) -> str | None:
    if not letter.isalpha():
        return None
    first = unicodedata.name(letter, "").partition(" ")[0]
    if first == "LATIN":
        return "LATIN"
    return None if not first or first in _NEUTRAL else first.partition("-")[0]


def _foreign_language(words: list[str]) -> str | None:
    """The language whose function words a text has more of than English ones."""
    # A function word with a capital is part of a name, unless it is the first word.
    counts = Counter([*(word.lower() for word in words[:1]), *(word for word in words[1:] if word.islower())])
    english = sum(counts[word] * _weight(word) for word in _ENGLISH)
    weights: dict[str, float] = defaultdict(float)
    different = Counter[str]()
    for word in counts.keys() & _languages_by_word().keys():
        for language in _languages_by_word()[word]:
            weights[language] += counts[word] * _weight(word)
            different[language] += 1
    likely = max(weights, key=lambda language: weights[language], default="")
    enough = max(_LEAST_WEIGHT, _LEAST_SHARE * len(words))
    if different[likely] >= _LEAST_WORDS and weights[likely] >= enough and weights[likely] > english:
        return likely
    return "a language that is not English" if _accented(words, english) else None


def _weight(word: str) -> float:
    """How much a function word tells of its language; one letter may as well be a sign in a list or a formula."""
    if len(word) == 1 and word.isascii():
        return 0.25
    return 0.5 if word in _PARTICLES else 1.0


def _accented(words: list[str], english: float) -> bool:
    """Whether words that are no names carry accents, among hardly an English word."""
    plain = [word for word in words if word.islower()]
    accented = sum(not word.isascii() for word in plain)
    return (
        len(plain) >= _ACCENTED_WORDS
        and accented >= _ACCENTED_SHARE * len(plain)
        and english < _ENGLISH_SHARE * len(words)
    )
