"""Words for persons and bodies that can do something. English."""

import re

_PERSONS = frozenset(
    """council company team committee club museum university government ministry bank school firm agency union society
    church court police army navy parliament board choir band crew family foundation institute group sister brother
    parent child children volunteer student monk fishermen local resident villager nun soldier kid king queen duke
    countess count prince princess mayor priest nurse guide pupil citizen member people heir women men woman man boy
    girl staff public neighbour neighbor friend mother father son daughter wife husband captain judge doctor architect
    physicist chemist pilot poet clerk cook smith locksmith blacksmith monarch emperor president assistant merchant
    bishop abbot pope chief specialist expert apprentice lawyer historian librarian musician technician mason publisher
    brewery bakery hospital academy college orchestra cooperative charity authority department state city town
    community association federation network consortium refugee employee widow colonel general sergeant
    minister""".split()
)
_ENDING = re.compile(r"(?:\w{3}(?:er|or|ist|ian|eer|ier)|\w{2}(?:man|woman|men|women))s?\Z")
_NO_PERSONS = frozenset(
    """water number river winter summer harbour harbor center tower power paper order letter silver weather corner
    chapter border floor colour color motor tractor sensor reactor factor sector boiler computer helicopter shelter
    ladder timber rubber copper butter flower shower answer quarter theater cover layer fiber timer meter trailer
    container heater freezer roller steamer scooter counter mirror error corridor interior exterior horror terror
    labour humour vapour odour prior filter trigger poster banner lever river matter wonder danger finger sugar
    december november october september dinner supper later former latter laser printer charger transformer
    specimen amber ember lumber plaster gutter shutter pier frontier barrier carrier cylinder master
    tanker trawler cruiser""".split()
)
_TITLES = frozenset(
    """captain mayor judge doctor dr professor prof carpenter architect engineer president minister chancellor general
    colonel sergeant director coach farmer teacher baker painter poet writer author composer singer actor physicist
    chemist biologist inspector detective commander secretary chairman chairwoman governor senator historian
    archaeologist astronomer merchant manager trainer designer chef pilot mr mrs ms""".split()
)
_FIRST = re.compile(r"(\w+)\.?\s(?=\w+\s\w)")


def is_agent(noun: str) -> bool:
    """Whether a noun is for a person or a body of persons, by a list and by its ending."""
    low = noun.lower()
    single = low.removesuffix("s")
    if low in _NO_PERSONS or single in _NO_PERSONS:
        return False
    return low in _PERSONS or single in _PERSONS or _ENDING.search(low) is not None


def without_title(text: str, start: int, end: int) -> int:
    """Where a name begins without the office before it: `Captain Ruth Ekman` is Ruth Ekman."""
    first = _FIRST.match(text, start, end)
    return first.end() if first and first[1].lower() in _TITLES else start
