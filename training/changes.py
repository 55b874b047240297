"""Small changes to a sentence: some that make it false, some that leave it as true as it was.

Each takes a text and a random generator and returns the changed text, or None where it finds nothing to change.
"""

import re
from collections.abc import Callable, Sequence
from random import Random

Change = Callable[[str, Random], str | None]

NUMBER = re.compile(r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w-])|(?<![\w.,-])\d+(?:\.\d+)?(?![\w,-]|\.\d)")
_NAME = re.compile(
    r"(?<![\w.])[A-Z][\w'’-]+(?:\s+(?:of|the|de|van|von|and)\s+(?=[A-Z])|\s+)?(?:[A-Z][\w'’-]+)?(?:\s+[A-Z][\w'’-]+)?"
)
MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_COUNTS = "two three four five six seven eight nine ten eleven twelve".split()
_RINGS: Sequence[Sequence[str]] = (
    MONTHS, _DAYS, _COUNTS, ("million", "billion", "thousand"), ("kilometres", "miles", "metres"),
    ("kilometers", "miles", "meters"), ("km", "miles"), ("kilograms", "pounds", "tons"), ("dollars", "euros", "pounds"),
    ("hours", "minutes", "seconds"), ("days", "weeks", "months", "years"), ("day", "week", "month", "year"),
    ("first", "second", "third", "fourth", "last"), ("morning", "afternoon", "evening"),
    ("spring", "summer", "autumn", "winter"), ("north", "south", "east", "west"),
    ("northern", "southern", "eastern", "western"), ("red", "blue", "green", "yellow", "black", "white"),
    ("father", "brother", "son", "uncle"), ("mother", "sister", "daughter", "aunt"),
    ("American", "British", "French", "German", "Italian", "Spanish", "Canadian", "Australian", "Chinese", "Japanese"),
    ("actor", "singer", "politician", "scientist", "writer", "painter"), ("daily", "weekly", "monthly", "yearly"),
)  # fmt: skip
_OPPOSITES = """more/less increase/decrease increased/decreased increases/decreases increasing/decreasing rise/fall
rose/fell rising/falling high/low higher/lower highest/lowest large/small larger/smaller largest/smallest best/worst
better/worse before/after above/below always/never all/none many/few old/young older/younger early/late earlier/later
long/short longer/shorter strong/weak stronger/weaker good/bad positive/negative success/failure successful/unsuccessful
won/lost win/lose accepted/rejected accept/reject agreed/refused agrees/refuses agree/refuse allow/forbid
allowed/forbidden include/exclude includes/excludes included/excluded public/private open/closed opened/closed
start/end started/ended begins/ends began/finished buy/sell bought/sold support/oppose supports/opposes
supported/opposed supporting/opposing approve/reject approved/rejected gain/loss gains/losses profit/loss
cheap/expensive fast/slow faster/slower easy/difficult effective/ineffective safe/dangerous alive/dead male/female
man/woman men/women
boy/girl husband/wife king/queen summer/winter day/night hot/cold indoors/outdoors inside/outside left/right
majority/minority maximum/minimum most/least often/rarely able/unable possible/impossible likely/unlikely
known/unknown same/different similar/different true/false remember/forget love/hate loves/hates liked/disliked
improve/worsen improved/worsened improves/worsens reduce/increase reduced/increased reduces/increases
prevent/cause prevents/causes prevented/caused helps/harms help/harm benefits/harms gains/loses with/without
up/down internal/external domestic/foreign urban/rural ancient/modern rich/poor full/empty heavy/light""".split()
_TURNED = {
    one: other for pair in _OPPOSITES for one, other in (tuple(pair.split("/")), tuple(reversed(pair.split("/"))))
}
_HELPING = re.compile(
    r"\b(is|are|was|were|can|could|will|would|should|does|did|do|may|might|must"
    r"|(?:has|have|had)(?=\s+(?:been|become|\w+ed|\w+en)\b))(\s+)(?!not\b|never\b|n't|no\b)",
)
_DENIAL = re.compile(r"\s+(?:not|never)\b(?!\s+only)")
_PAST = re.compile(r"(?<=[a-z] )([a-z]{3,}ed)(?= (?:the|a|an|to|in|by|his|her|its|their|[A-Z]))")


def number(text: str, random: Random) -> str | None:
    """Another number in the place of one, in the same format."""
    found = list(NUMBER.finditer(text))
    if not found:
        return None
    spot = random.choice(found)
    return text[: spot.start()] + _other_number(spot[0], random) + text[spot.end() :]


def _other_number(written: str, random: Random) -> str:
    plain = written.replace(",", "")
    places = len(plain.partition(".")[2])
    value = float(plain)
    for _ in range(20):
        if places == 0 and 1500 <= value <= 2100 and "," not in written:
            other = value + random.choice((-1, 1)) * random.choice((1, 2, 3, 5, 8, 10, 14, 20, 31, 50, 100))
        elif places == 0 and value <= 20:
            other = float(random.randint(0 if value else 1, 30))
        else:
            other = (value or 1) * random.choice((0.1, 0.4, 0.5, 0.7, 0.8, 0.9, 1.1, 1.25, 1.5, 2, 3, 10))
        text = f"{other:,.{places}f}" if "," in written else f"{other:.{places}f}"
        if text != written:
            return text
    return f"1{written}"


def ring(text: str, random: Random) -> str | None:
    """Another month, weekday, unit, colour or the like in the place of one."""
    spots = [
        (spot, words)
        for words in _RINGS
        for word in words
        for spot in re.finditer(rf"\b{word}\b", text)
        if not (word == "May" and not re.match(r"May \d|May,", text[spot.start() :]))
    ]
    if not spots:
        return None
    spot, words = random.choice(spots)
    return text[: spot.start()] + random.choice([word for word in words if word != spot[0]]) + text[spot.end() :]


def opposite(text: str, random: Random) -> str | None:
    """A word's opposite in its place."""
    spots = [spot for spot in re.finditer(r"[A-Za-z]+", text) if spot[0].lower() in _TURNED]
    if not spots:
        return None
    spot = random.choice(spots)
    other = _TURNED[spot[0].lower()]
    return text[: spot.start()] + (other.capitalize() if spot[0][0].isupper() else other) + text[spot.end() :]


def denial(text: str, random: Random) -> str | None:
    """A "not" put in, or taken out where there is one."""
    if _DENIAL.search(text):
        return _DENIAL.sub("", text, count=1)
    helping = list(_HELPING.finditer(text))
    if helping:
        spot = helping[0]
        return text[: spot.end(1)] + random.choice((" not", " not", " never")) + text[spot.end(1) :]
    past = _PAST.search(text)
    return f"{text[: past.start()]}never {text[past.start() :]}" if past else None


def names_in(text: str) -> list[str]:
    """Capitalised runs that do not merely begin a sentence."""
    found: list[str] = []
    for spot in _NAME.finditer(text):
        name = spot[0].strip()
        begins = spot.start() == 0 or text[: spot.start()].rstrip()[-1:] in '.!?:"“'
        if (not begins or " " in name) and name not in found and name not in MONTHS and name not in _DAYS:
            found.append(name)
    return found


def name_swap(text: str, others: Sequence[str], random: Random) -> str | None:
    """One of `others` in the place of a name; two names of the text change places now and then."""
    mine = names_in(text)
    if not mine:
        return None
    if len(mine) > 1 and random.random() < 0.3:
        one, other = random.sample(mine, 2)
        if one not in other and other not in one:
            return text.replace(one, "\0").replace(other, one).replace("\0", other)
    fit = [name for name in others if name not in text and not any(name in own or own in name for own in mine)]
    if not fit:
        return None
    gone = random.choice(mine)
    alike = [name for name in fit if len(name.split()) == len(gone.split())]
    return text.replace(gone, random.choice(alike or fit), 1)


def falsified(text: str, others: Sequence[str], random: Random) -> str | None:
    """The text with one thing in it made false, by a way picked at random among those that find something."""
    ways: list[Change] = [number, number, ring, opposite, denial, lambda text, random: name_swap(text, others, random)]
    random.shuffle(ways)
    for way in ways:
        changed = way(text, random)
        if changed is not None and changed != text:
            return changed
    return None


_TINY: dict[str, int] = dict(
    zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True)
)


def reworded(text: str, random: Random) -> str:
    """The text said a little differently: numbers in words or digits, per cent, "about", brackets left out."""
    if random.random() < 0.5:
        text = re.sub(r"\s*\([^()]{1,80}\)", "", text)
    if random.random() < 0.5:
        text = re.sub(r"(\d)\s?%", r"\1 percent", text) if "%" in text else re.sub(r"(\d) per ?cent\b", r"\1%", text)
    if random.random() < 0.5:
        text = re.sub(
            r"(?<![\w.,$£€-])(\d+(?:\.\d+)?) (million|billion|thousand)\b",
            lambda spot: _in_full(spot[1], spot[2]),
            text,
        )
    if random.random() < 0.5:
        text = re.sub(rf"\b({'|'.join(list(_TINY)[1:])})\b", lambda spot: str(_TINY[spot[1]]), text)
    if random.random() < 0.3:
        text = re.sub(
            r"\b(?:approximately|about|around|roughly) (?=\d)", random.choice(("about ", "around ", "")), text
        )
    return text


def _in_full(number: str, scale: str) -> str:
    value = float(number) * {"thousand": 1e3, "million": 1e6, "billion": 1e9}[scale]
    return f"{value:,.0f}"
