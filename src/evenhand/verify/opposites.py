"""Words that mean the opposite of one another, and verbs that say the same with the places changed."""

from functools import cache

from evenhand.verify.stems import stem

# One line each, a backslash joining what is too long: words of one side, a bar, words of the other.
_PAIRS = """
increase increased increases increasing rise rises rose risen rising grow grew grown growth growing climb climbed \
up surge surged jump jumped soar soared gain gained | decrease decreased decreases decreasing fall falls fell \
fallen falling shrink shrank shrunk decline declined declining drop dropped down plunge plunged slump slumped
raise raised raises | lower lowered lowers cut reduced reduce reduces reduction
expand expanded expansion widen widened | contract contracted contraction narrow narrowed
more | less fewer
higher | lower
high | low
highest | lowest
larger bigger greater | smaller
large big huge | small little tiny
largest biggest greatest | smallest
longer | shorter
long | short
longest | shortest
taller | shorter
tall | short
older elder | younger
old | young new
oldest | youngest newest
earlier | later
early | late
earliest | latest
faster quicker | slower
fast quick rapid quickly rapidly | slow slowly
heavier | lighter
heavy | light
hotter warmer | colder cooler
hot warm | cold cool
stronger | weaker
strong | weak
strengthen strengthened | weaken weakened
better | worse
best | worst
good | bad
improve improved improvement | worsen worsened deteriorate deteriorated
win won wins winning | lose lost losing
winner victory | loser defeat
success succeed succeeded successful successfully | failure fail failed unsuccessful
accept accepted accepts acceptance | reject rejected rejects rejection refuse refused
approve approved approves approval | reject rejected veto vetoed disapprove disapproved
agree agreed agrees | disagree disagreed
support supported supports favour favor favoured favored | oppose opposed opposes opposition
allow allowed allows permit permitted permits legalise legalised legalized | forbid forbade forbidden prohibit \
prohibited prohibits ban banned bans outlaw outlawed
legal lawful legally | illegal unlawful illegally
guilty | innocent
convicted convict conviction | acquitted acquit acquittal
plaintiff | defendant
upheld uphold affirmed | overturned overturn reversed struck
confirm confirmed confirms | deny denied denies refute refuted
begin began begun begins start started starts launch launched | end ended ends finish finished stop stopped stops \
cease ceased
open opened opens opening | close closed closes closing shut
arrive arrived arrives | depart departed departs leave left leaves
enter entered | exit exited leave left
join joined joins | leave left quit
buy bought buys purchase purchased acquire acquired | sell sold sells
import imported imports | export exported exports
lend lent | borrow borrowed
give gave given | receive received
send sent | receive received
profit profits profitable | loss losses unprofitable
surplus | deficit
asset assets | liability liabilities
income revenue | expense expenses expenditure
hire hired hires | fire fired dismissed dismiss sacked
promoted promote promotion | demoted demote demotion relegated relegation
include included includes including | exclude excluded excludes excluding
add added adds | remove removed removes subtract
attach attached | detach detached
build built construct constructed | destroy destroyed demolish demolished
create created | destroy destroyed abolish abolished
born birth | died death dead
alive | dead
live lived survive survived | die died dies perished
healthy | sick ill unhealthy
safe safely | unsafe dangerous hazardous
harmless | harmful
benign | malignant
acute | chronic
benefit beneficial | harm harmful damage
cause caused causes | prevent prevented prevents
activate activated activates activation promote promoted promotes stimulate stimulated stimulates | inhibit \
inhibited inhibits inhibition block blocked blocks suppress suppressed suppresses deactivate
susceptible vulnerable | resistant immune
positive | negative
effective | ineffective
present | absent
presence | absence
visible | invisible hidden
internal inside inner interior indoor indoors | external outside outer exterior outdoor outdoors
above over | below under beneath
upper top | bottom
north northern | south southern
east eastern | west western
northeast | southwest
northwest | southeast
left | right
front | back rear
before | after
near close nearby | far distant
upstream | downstream
uphill | downhill
ascend ascended | descend descended
maximum | minimum
most | least
majority | minority
all every | none
always | never
often frequently | rarely seldom
common | rare uncommon
many | few
everyone everybody | nobody
male man men | female woman women
boy | girl
father | mother
son | daughter
brother | sister
husband | wife
king | queen
uncle | aunt
parent | child
teacher | student pupil
employer | employee
predator | prey
ancestor | descendant
doctor | patient
host | guest
attack attacked | defend defended
attacker | defender
ally allies | enemy enemies
friend friendly | enemy hostile
war | peace
advance advanced | retreat retreated
public | private
urban | rural
domestic | foreign
national | international
natural | artificial synthetic
wild | tame domesticated
rich wealthy | poor
expensive costly | cheap inexpensive
free | paid
full | empty
wet | dry
hard | soft
rough | smooth
thick | thin
deep | shallow
wide | narrow
bright | dark
loud | quiet silent
clean | dirty
sweet | bitter sour
simple easy | complex difficult complicated
ancient | modern
temporary | permanent
mandatory compulsory obligatory | optional voluntary
voluntary | involuntary
single | married
major | minor
primary | secondary
senior | junior
amateur | professional
true | false
correct right accurate | incorrect wrong inaccurate
real genuine authentic | fake counterfeit
known famous | unknown obscure
popular | unpopular
stable | unstable
possible | impossible
regular | irregular
similar alike same | different
equal | unequal
happy | sad unhappy
love loved loves like liked | hate hated hates dislike disliked
praise praised acclaimed | criticise criticised criticized condemned panned
optimistic | pessimistic
friendlier | hostile
conservative | liberal
offensive | defensive
vertical | horizontal
solid | liquid
acid acidic | alkaline basic
evaporate evaporated | condense condensed
melt melted | freeze froze frozen
absorb absorbed absorbs | emit emitted emits reflect reflected release released
attract attracted attracts | repel repelled repels
heat heated | cool cooled
input | output
cathode | anode
proton | electron
herbivore herbivorous | carnivore carnivorous
nocturnal | diurnal
native | invasive introduced foreign
day daytime | night nighttime
morning | evening
summer | winter
spring | autumn
first | last
beginning | end
home | away
offense | defense
remember remembered | forget forgot forgotten
hide hid | reveal revealed
enable enabled | disable disabled
encourage encouraged | discourage discouraged
connect connected | disconnect disconnected
appear appeared | disappear disappeared vanish vanished
merge merged | split separate separated
unite united | divide divided
centralised centralized | decentralised decentralized
rise | set
accelerate accelerated | decelerate decelerated slow slowed
inflate inflation inflated | deflate deflation deflated
appreciate appreciated | depreciate depreciated
independent | dependent
direct directly | indirect indirectly
conscious | unconscious
continue continued continues resume resumed | discontinue discontinued suspend suspended stop stopped cancelled \
canceled
"""

# What A does to B, and what B then does to A: with the names changed round, both say the same.
_CONVERSES = """
beat beats defeated overcame | lost
bought acquired purchased | sold
taught | learned studied
employs employed hired | worked works
parent father mother | son daughter child
preceded | followed succeeded
led | followed
gave lent | received borrowed
larger bigger greater longer taller older heavier higher faster more earlier stronger | \
smaller shorter younger lighter lower slower fewer less later weaker
before | after
north | south
east | west
above | below
teacher | student pupil
"""

# Verbs that are taken for the same when it is asked who does what to whom.
_ALIKE = """
buy buys bought acquire acquires acquired purchase purchased
beat beats beaten defeat defeats defeated overcame outscored
kill kills killed murder murdered assassinated shot
found founded establish established
make made build built
teach taught tutored instructed
hire hired employ employed employs
attack attacked invade invaded
sue sued
marry married wed
discover discovered found
succeed succeeded replaced
write wrote written authored
give gave given hand handed
follow followed
lend lent
sell sold
support supported backed
"""
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")


@cache
def _table() -> dict[str, frozenset[str]]:
    return _mirrored(_PAIRS)


@cache
def _converse_table() -> dict[str, frozenset[str]]:
    return _mirrored(_CONVERSES)


@cache
def _alike_table() -> dict[str, str]:
    groups = [[stem(word) for word in line.split()] for line in _ALIKE.split("\n")]
    return {word: group[0] for group in reversed(groups) for word in group}


def _mirrored(lines: str) -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in filter(None, lines.split("\n")):
        sides = [[stem(word) for word in side.split()] for side in line.split("|")]
        for here, there in (sides, sides[::-1]):
            for word in here:
                table.setdefault(word, set()).update(there)
    return {word: frozenset(others - {word}) for word, others in table.items()}


def opposites(word: str) -> frozenset[str]:
    """The stems that mean the opposite of a stem, from the list and by prefix (`stable`, `unstable`)."""
    made = {prefix + word for prefix in _PREFIXES} if len(word) > 3 else set[str]()
    stripped = {word.removeprefix(prefix) for prefix in _PREFIXES if word.startswith(prefix) and len(word) > 6}
    return _table().get(word, frozenset()) | made | stripped


def is_listed(word: str) -> bool:
    return word in _table()


def converses(word: str) -> frozenset[str]:
    """The stems that say the same with the two names changed round (`beat`, `lost to`)."""
    return _converse_table().get(word, frozenset())


def is_verb(word: str) -> bool:
    """Whether a stem is a verb of which it is known who does it to whom."""
    return word in _alike_table() or word in _converse_table()


def verb(word: str) -> str:
    """One stem for verbs that mean the same (`acquired`, `bought`)."""
    return _alike_table().get(word, word)
