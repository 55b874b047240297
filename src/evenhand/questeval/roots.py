"""The root that a verb, its forms and the nouns made from it share: design, designed, designer. English."""

from collections.abc import Mapping
from functools import lru_cache

from evenhand.verify.stems import stem

_IRREGULAR = """
arise arose arisen|bear bore borne|beat beaten|begin began begun|bend bent|bind bound|bite bit bitten|blow blew blown
break broke broken|bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen choice|come came
deal dealt|dig dug|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed
feel felt|fight fought|fly flew flown flight|forbid forbade forbidden|forget forgot forgotten|freeze froze frozen
get got gotten|give gave given gift|go went gone|grow grew grown growth|hang hung|hear heard|hide hid hidden|hold held
keep kept|know knew known knowledge|lay laid|lead led|leave left|lend lent|light lit|lose lost loss|make made|mean meant
meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|see saw seen sight|sell sold sale
seek sought|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung
song|sink sank sunk|sleep slept|speak spoke spoken speech|spend spent|spin spun|stand stood|steal stole stolen theft
stick stuck|strike struck|swear sworn|sweep swept|swim swam swum|take took taken|teach taught|tear tore torn|tell told
think thought|throw threw thrown|understand understood|wake woke woken|wear wore worn|weave wove woven|win won
wind wound|write wrote written|rebuild rebuilt|overcome overcame|withdraw withdrew withdrawn|die dead death|live life
born birth|arrive arrival|marry marriage|decide decision|destroy destruction|produce production|invade invasion
describe description|receive receipt|sculpt sculptor sculpture|compose composer composition|own owner ownership
"""
_ENDINGS = tuple(
    """ization isation ations ation ition ement ment ship ance ence ery eur ion ing ant ent ist er or al y e""".split()
)
_LEAST = 4


def _irregular() -> Mapping[str, str]:
    groups = (group.split() for group in _IRREGULAR.replace("\n", "|").split("|"))
    return {stem(form): group[0] for group in groups if group for form in group}


_FORMS = _irregular()
PAST_FORMS = frozenset(
    form
    for group in _IRREGULAR.replace("\n", "|").split("|")
    for form in group.split()[1:]
    if form not in {"left", "light", "bit", "wound", "bound", "shot", "sale", "loss", "gift", "song", "flight", "sight"}
    and not form.endswith(("th", "tion", "sion", "edge", "age", "al", "er", "or", "ture", "ship", "eft", "ice", "life"))
)


@lru_cache(maxsize=50_000)
def root(one: str) -> str:
    """The root of a stem: irregular forms brought home, the endings of derived nouns taken off."""
    known = _FORMS.get(one)
    if known is not None:
        return known
    if not one.isalpha() or not one.isascii():
        return one
    for ending in _ENDINGS:
        body = one.removesuffix(ending)
        if body != one and (len(body) >= _LEAST or body in _FORMS):
            return _FORMS.get(body, body[:-1] if body[-1] == body[-2] and body[-1] not in "ls" else body)
    return one
