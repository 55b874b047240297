"""Words that mean the same thing in a question and in the sentence that answers it. English stems."""

from collections.abc import Mapping
from functools import cache

from evenhand.questeval.roots import root
from evenhand.verify.stems import stem

_GROUPS = """
cost price worth spend spent expense budget pay paid fee charge sum
found establish create set-up founder founding formed form foundation start
build construct erect built builder construction building
born birth birthplace birthday
die death dead died killed passed
begin start open launch inaugurate opening began begun opened commence
end close finish conclude closed ended
buy acquire purchase bought acquisition acquired
sell sold sale
write author wrote written writer pen penned
design architect designer designed designs
locate situate lie stand located lies stands location situated found
make produce manufacture made production maker manufacturer output
live reside inhabit resident population people inhabitant home
tall high height altitude elevation rises metre
long length kilometre stretch stretches
wide width
deep depth
old age aged
big large size area cover
heavy weigh weight mass
lead head chair direct director leader led chief president run
show find reveal discover found finding discovered discovery
employ staff worker employee job employs workforce
rise increase grow climb growth rose grew up gain
fall drop decline decrease shrink fell down
teach taught teacher professor lecturer
study studied student graduate educate attend
win won winner victory beat defeat award prize
invent inventor invention devise develop created
marry married wife husband spouse
name call known title called
last take took duration
visit visitor tourist attendance attend audience spectator
speed fast rate
temperature hot cold degree
move relocate transfer
publish release publication appear issue came
paint painter painting
play actor star role
match game play played fixture
coach coached trainer train trained manager
arrive come came reach
ban forbid prohibit banned
effect force effective
firm company business
eat feed diet food
cause reason because due
give award hand grant receive present
pay fund finance sponsor
"""
SAME = 1.0
SAME_ROOT = 0.8
ALIKE = 0.6
_ROOT = 5


@cache
def _meanings() -> Mapping[str, frozenset[int]]:
    """The lines of the list that each root stands on."""
    found: dict[str, set[int]] = {}
    for place, line in enumerate(_GROUPS.strip().splitlines()):
        for word in line.split():
            found.setdefault(root(stem(word)), set()).add(place)
    return {one: frozenset(places) for one, places in found.items()}


def likeness(one: str, other: str) -> float:
    """How far two stems mean the same: 1 for equal ones, less for a shared root or a shared meaning, else 0."""
    if one == other:
        return SAME
    if root(one) == root(other):
        return SAME_ROOT
    if len(one) >= _ROOT and len(other) >= _ROOT and one[:_ROOT] == other[:_ROOT]:
        return SAME_ROOT
    meanings = _meanings()
    return ALIKE if not meanings.get(root(one), frozenset()).isdisjoint(meanings.get(root(other), ())) else 0.0
