"""Minimal pairs in close wording, for development: those that were the test of the network before this one."""

from training.challenge_fill import COUNTRIES, COUNTS, MONTHS, PEOPLE, TOWNS, YEARS, Template

_CARS = ("Arvel", "Montrose", "Kessler", "Dunmore", "Savaro", "Heliant", "Brackley", "Tornquist")
_PLAYS = ("The Salt Road", "Winter Guests", "A House of Glass", "The Ferryman's Wife", "Nine Lanterns", "Low Tide")
_PRESSES = ("Corvid Press", "Larkspur Books", "Hazel & Stone", "Meridian House", "Fenwick Editions", "Blue Heron")

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="close-b-lighthouse-steps",
        kind="numbers",
        evidence="The lighthouse at {town} was first lit in {year}. Inside, a spiral stair of {a} steps leads to the "
        "lantern room, which stands {b} metres above the sea. Its last keeper, {who}, left after {y} years of service.",
        supported="Inside the lighthouse at {town}, a spiral stair of {a} steps leads to the lantern room.",
        contradicted="Inside the lighthouse at {town}, a spiral stair of {c} steps leads to the lantern room.",
        nothing="Outside the lighthouse at {town}, a path of {a} steps leads down to the landing place.",
        slots={
            "town": TOWNS,
            "year": YEARS,
            "a c": ("112", "138", "154", "167", "189", "203", "226"),
            "b": COUNTS,
            "who": PEOPLE,
            "y": ("eleven", "nineteen", "twenty-two", "thirty"),
        },
    ),
    Template(
        name="close-b-puffin-pairs",
        kind="numbers",
        evidence="The island off {town} holds a large colony of seabirds. In {year} wardens counted {n} pairs of "
        "puffins and {k} pairs of kittiwakes. The count took {d} days, and {v} volunteers took part in it.",
        supported="In {year}, wardens counted {r} pairs of puffins on the island off {town}.",
        contradicted="In {year}, wardens counted {s} pairs of puffins on the island off {town}.",
        nothing="In {year}, wardens counted {r} pairs of guillemots on the island off {town}.",
        slots={
            "town": TOWNS,
            "year": ("1988", "1996", "2003", "2011", "2017"),
            "d": ("three", "five", "nine"),
            "v": COUNTS,
            "n r k s": [
                ("12,000", "twelve thousand", "3,000", "three thousand"),
                ("1,400,000", "1.4 million", "260,000", "4.1 million"),
                ("8,000", "eight thousand", "2,000", "two thousand"),
                ("1,200,000", "1.2 million", "340,000", "2.1 million"),
                ("6,540", "6540", "1,870", "1870"),
                ("4,310", "4310", "9,260", "9260"),
            ],
        },
    ),
    Template(
        name="close-b-marathon-finishers",
        kind="numbers",
        evidence="The {town} marathon was run in heavy rain on Sunday. Of the {a} runners who started, {b} reached "
        "the finish before the course closed. {who} won the men's race, and {c} people were treated for cold.",
        supported="In the {town} marathon on Sunday, {b} runners reached the finish before the course closed.",
        contradicted="In the {town} marathon on Sunday, {a} runners reached the finish before the course closed.",
        nothing="In the {town} marathon on Sunday, {b} runners were taking part for the first time.",
        slots={
            "town": TOWNS,
            "who": ("Tomas Reyes", "Victor Okafor", "Jonas Weller", "Samuel Archer", "Peter Novak"),
            "c": COUNTS,
            "a b": [
                ("5,210", "4,386"),
                ("9,874", "8,120"),
                ("3,045", "2,611"),
                ("12,300", "10,950"),
                ("7,418", "6,702"),
                ("1,960", "1,435"),
            ],
        },
    ),
    Template(
        name="close-b-hospital-theatres",
        kind="numbers",
        evidence="The new hospital in {town} took its first patients in {month}. It has {a} operating theatres, {b} "
        "lifts and about {n} beds. The building was designed by {who}.",
        supported="The new hospital in {town} has {aw} operating theatres and approximately {n} beds.",
        contradicted="The new hospital in {town} has {bw} operating theatres and approximately {n} beds.",
        nothing="The old hospital in {town} had {aw} operating theatres and approximately {n} beds.",
        slots={
            "town": TOWNS,
            "month": MONTHS,
            "who": PEOPLE,
            "n": ("240", "310", "450", "520", "680"),
            "a aw b bw": [
                ("four", "4", "nine", "9"),
                ("six", "6", "eleven", "11"),
                ("eight", "8", "five", "5"),
                ("twelve", "12", "seven", "7"),
                ("five", "5", "eight", "8"),
                ("ten", "10", "fourteen", "14"),
            ],
        },
    ),
    Template(
        name="close-b-dam-height",
        kind="units",
        evidence="The dam above {town} was completed in {year}. It is {h} m high and {w} m long at the crest, and its "
        "power station houses {t} turbines.",
        supported="The dam above {town}, completed in {year}, is {h} metres high.",
        contradicted="The dam above {town}, completed in {year}, is {h} feet high.",
        nothing="The tunnel beneath the dam above {town}, completed in {year}, is {h} metres long.",
        slots={
            "town": TOWNS,
            "year": ("1938", "1949", "1957", "1963", "1974", "1988"),
            "h": ("74", "86", "92", "103", "118", "131", "145"),
            "w": ("310", "420", "560", "690"),
            "t": ("two", "three", "four", "six"),
        },
    ),
    Template(
        name="close-b-quake-depth",
        kind="units",
        evidence="An earthquake of magnitude {g} shook {town} early on {day}. Its focus lay {d} km below the surface, "
        "and it was felt in {other}. In all, {n} houses lost their chimneys.",
        supported="The focus of the earthquake that shook {town} on {day} lay {d} kilometres below the surface.",
        contradicted="The focus of the earthquake that shook {town} on {day} lay {m} metres below the surface.",
        nothing="The focus of the aftershock that followed in {town} lay {d} kilometres below the surface.",
        slots={
            "town other": TOWNS,
            "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
            "g": ("5.1", "5.4", "5.8", "6.2"),
            "n": COUNTS,
            "d m": [("8", "800"), ("12", "1,200"), ("15", "1,500"), ("21", "210"), ("27", "2,700"), ("34", "340")],
        },
    ),
    Template(
        name="close-b-car-weight",
        kind="units",
        evidence="{maker} showed its new saloon in {month}. The car weighs {w} kg, {l} kg less than the model it "
        "replaces, and its tank takes {t} litres. {who} led the design.",
        supported="The new saloon that {maker} showed in {month} weighs {w} kilograms.",
        contradicted="The new saloon that {maker} showed in {month} weighs {w} pounds.",
        nothing="The new saloon that {maker} showed in {month} can tow a trailer of {w} kilograms.",
        slots={
            "maker": _CARS,
            "month": MONTHS,
            "w": ("1,180", "1,240", "1,310", "1,450", "1,520", "1,690"),
            "l": ("35", "60", "85", "110"),
            "t": ("45", "50", "55"),
            "who": PEOPLE,
        },
    ),
    Template(
        name="close-b-play-length",
        kind="units",
        evidence='The {town} Playhouse opened its season with "{play}". The performance lasts {m} minutes, with an '
        "interval of {i} minutes after the second act. {who} plays the lead.",
        supported='At the {town} Playhouse, the performance of "{play}" lasts {m} min.',
        contradicted='At the {town} Playhouse, the performance of "{play}" lasts {h} hours.',
        nothing='At the {town} Playhouse, the dress rehearsal of "{play}" lasted {m} min.',
        slots={
            "town": TOWNS,
            "play": _PLAYS,
            "who": PEOPLE,
            "i": ("15", "20", "25"),
            "m h": [("90", "9"), ("120", "12"), ("135", "1.35"), ("150", "1.5"), ("165", "16.5"), ("180", "1.8")],
        },
    ),
    Template(
        name="close-b-press-founded",
        kind="dates",
        evidence="{press} is a publishing house in {town}. It was founded by {who} on {d} {month} {a} and brought out "
        "its first atlas in {b}. In {c} the house moved to its present building on the quay.",
        supported="The publishing house {press} was founded by {who} in {a}.",
        contradicted="The publishing house {press} was founded by {who} in {b}.",
        nothing="The publishing house {press} was sold by the family of {who} in {e}.",
        slots={
            "press": _PRESSES,
            "town": TOWNS,
            "who": PEOPLE,
            "d": ("3", "9", "17", "26"),
            "month": MONTHS,
            "a b c e": [
                ("1871", "1879", "1912", "1920"),
                ("1884", "1893", "1925", "1931"),
                ("1906", "1911", "1938", "1949"),
                ("1912", "1924", "1957", "1962"),
                ("1925", "1931", "1949", "1970"),
                ("1938", "1947", "1974", "1981"),
            ],
        },
    ),
    Template(
        name="close-b-railway-sections",
        kind="dates",
        evidence="The railway was built in two sections. The first, from {one} to {two}, opened in {month} {a}; the "
        "second, from {two} to {three}, followed in {b}. Steam engines ran on it until {c}.",
        supported="The section of the railway from {two} to {three} opened in {b}.",
        contradicted="The section of the railway from {two} to {three} opened in {a}.",
        nothing="The section of the railway from {two} to {three} was electrified in {e}.",
        slots={
            "one two three": TOWNS,
            "month": MONTHS,
            "a b c e": [
                ("1871", "1875", "1957", "1968"),
                ("1884", "1889", "1949", "1963"),
                ("1893", "1898", "1963", "1971"),
                ("1906", "1912", "1938", "1950"),
                ("1879", "1886", "1960", "1974"),
            ],
        },
    ),
    Template(
        name="close-b-quake-day",
        kind="dates",
        evidence="The great earthquake struck {town} on {d} {month} {year} and destroyed the old market hall. A strong "
        "aftershock on {e} {month} brought down the tower of St Anne's. The army put up {n} hundred tents.",
        supported="On {e} {month} {year}, a strong aftershock brought down the tower of St Anne's in {town}.",
        contradicted="On {d} {month} {year}, a strong aftershock brought down the tower of St Anne's in {town}.",
        nothing="On {f} {month} {year}, the rebuilding of the tower of St Anne's in {town} began.",
        slots={
            "town": TOWNS,
            "month": MONTHS,
            "year": YEARS,
            "n": ("two", "four", "seven"),
            "d e f": [("4", "7", "25"), ("9", "11", "27"), ("12", "18", "26"), ("3", "14", "28"), ("6", "8", "21")],
        },
    ),
    Template(
        name="close-b-bill-months",
        kind="dates",
        evidence="The bill on river pollution was brought in by {who} in {a} {year}. The lower house passed it in {b} "
        "of that year, by {n} votes, and the upper house in {c}.",
        supported="The upper house passed {who}'s bill on river pollution in {c} {year}.",
        contradicted="The upper house passed {who}'s bill on river pollution in {b} {year}.",
        nothing="The first fine under {who}'s bill on river pollution was imposed in {d} {next}.",
        slots={
            "who": PEOPLE,
            "n": COUNTS,
            "year next": [("1974", "1975"), ("1988", "1989"), ("1996", "1997"), ("2003", "2004"), ("2012", "2013")],
            "a b c d": [
                ("January", "March", "June", "April"),
                ("February", "April", "July", "May"),
                ("March", "June", "October", "January"),
                ("January", "May", "September", "February"),
                ("April", "July", "November", "March"),
            ],
        },
    ),
    Template(
        name="close-b-chess-final",
        kind="names",
        evidence="The chess tournament in {town} ended on Sunday. {one} defeated {two} in the final after {n} moves, "
        "and {three} took third place. {four} was the arbiter.",
        supported="{one} defeated {two} in the final of the chess tournament in {town}.",
        contradicted="{two} defeated {one} in the final of the chess tournament in {town}.",
        nothing="A year earlier, too, {one} defeated {two} in the final of the chess tournament in {town}.",
        slots={"town": TOWNS, "one two three four": PEOPLE, "n": COUNTS},
    ),
    Template(
        name="close-b-museum-gift",
        kind="names",
        evidence="The museum in {town} owns a large seascape painted by {one} in {a}. It was given to the museum by "
        "{two} in {b}, and {three} restored it three years later.",
        supported="The large seascape was given to the museum in {town} by {two} in {b}.",
        contradicted="The large seascape was given to the museum in {town} by {three} in {b}.",
        nothing="The marble bust of {one} was given to the museum in {town} by {two}.",
        slots={
            "town": TOWNS,
            "one two three": PEOPLE,
            "a b": [("1871", "1906"), ("1884", "1925"), ("1893", "1938"), ("1912", "1957"), ("1925", "1974")],
        },
    ),
    Template(
        name="close-b-car-takeover",
        kind="names",
        evidence="In {year} the car maker {one} bought its smaller rival {two} for ${n} million. The works of {two} in "
        "{town} were kept on, and {who} became their manager. A third maker, {three}, had made a lower offer.",
        supported="The car maker {one} bought its rival {two} in {year} for ${n} million.",
        contradicted="The car maker {two} bought its rival {one} in {year} for ${n} million.",
        nothing="The car maker {three} bought an engine plant in {year} for ${n} million.",
        slots={
            "one two three": _CARS,
            "year": ("1957", "1963", "1974", "1988", "1996"),
            "n": COUNTS,
            "town": TOWNS,
            "who": PEOPLE,
        },
    ),
    Template(
        name="close-b-play-author",
        kind="names",
        evidence='"{play}" had its first night at the Royal Theatre in {town} on {d} {month}. The play was written by '
        "{one} and directed by {two}. {three} designed the sets.",
        supported='"{play}", which had its first night in {town}, was directed by {two}.',
        contradicted='"{play}", which had its first night in {town}, was directed by {one}.',
        nothing='A later film of "{play}", which was shot in {town}, was directed by {two}.',
        slots={
            "play": _PLAYS,
            "town": TOWNS,
            "d": ("2", "8", "15", "24"),
            "month": MONTHS,
            "one two three": PEOPLE,
        },
    ),
    Template(
        name="close-b-hospital-fire",
        kind="negation",
        evidence="A fire broke out at the hospital in {town} on {d} {month}. It destroyed the {a} and {n} parked cars. "
        "The {b} was not damaged, and its {k} patients stayed where they were.",
        supported="The {b} of the hospital in {town} was not damaged in the fire on {d} {month}.",
        contradicted="The {b} of the hospital in {town} was damaged in the fire on {d} {month}.",
        nothing="The {b} of the hospital in {town} was not insured at the time of the fire on {d} {month}.",
        slots={
            "town": TOWNS,
            "d": ("5", "11", "19", "23"),
            "month": MONTHS,
            "a": ("kitchen", "laundry", "archive", "chapel"),
            "b": ("maternity ward", "children's ward", "eye clinic", "burns unit"),
            "n k": COUNTS,
        },
    ),
    Template(
        name="close-b-lighthouse-manned",
        kind="negation",
        evidence="{n} ships were lost on the reef off {town} before the lighthouse was built in {a}. {who} was keeper "
        "there for many years. Since {b} the lighthouse has no longer been manned, though its lamp still burns.",
        supported="The lighthouse off {town}, built in {a}, is no longer manned.",
        contradicted="The lighthouse off {town}, built in {a}, is still manned.",
        nothing="The lighthouse off {town}, built in {a}, is no longer owned by the state.",
        slots={
            "n": ("Fourteen", "Nine", "Twenty-three", "Seventeen"),
            "town": TOWNS,
            "who": PEOPLE,
            "a b": [("1871", "1974"), ("1884", "1988"), ("1893", "1979"), ("1906", "1996"), ("1912", "1983")],
        },
    ),
    Template(
        name="close-b-marathon-fall",
        kind="negation",
        evidence="{one} fell at the {n}-kilometre mark of the {town} marathon and lost a shoe. In spite of a bleeding "
        "knee, {one} finished the race, in {p}th place. {two}, who had led until then, gave up shortly afterwards.",
        supported="{one}, who had a bleeding knee, finished the {town} marathon.",
        contradicted="{one}, who had a bleeding knee, failed to finish the {town} marathon.",
        nothing="{one}, who had a bleeding knee, finished the {town} marathon the year before as well.",
        slots={
            "one two": PEOPLE,
            "town": TOWNS,
            "n": ("18", "24", "27", "31"),
            "p": ("14", "26", "37", "48"),
        },
    ),
    Template(
        name="close-b-dam-turbines",
        kind="negation",
        evidence="The dam on the river at {town} has supplied power since {a}. Its {n} turbines were replaced in {b}, "
        "under the engineer {who}. A fish ladder was added two years later.",
        supported="The {n} turbines of the dam at {town} were replaced.",
        contradicted="The {n} turbines of the dam at {town} were never replaced.",
        nothing="The {n} turbines of the dam at {town} were made abroad.",
        slots={
            "town": TOWNS,
            "n": ("three", "four", "six", "eight"),
            "who": PEOPLE,
            "a b": [("1925", "1963"), ("1938", "1974"), ("1949", "1988"), ("1957", "1996"), ("1931", "1969")],
        },
    ),
    Template(
        name="close-b-tern-numbers",
        kind="opposites",
        evidence="Two kinds of seabird breed on the cliffs near {town}. Between {a} and {b} the number of {one} {x}, "
        "while the number of {two} {y}. The study, led by {who}, covered {n} ledges.",
        supported="Between {a} and {b}, the number of {one} on the cliffs near {town} {x}.",
        contradicted="Between {a} and {b}, the number of {one} on the cliffs near {town} {y}.",
        nothing="After {b}, the number of {one} on the cliffs near {town} {x}.",
        slots={
            "town": TOWNS,
            "one two": ("terns", "gannets", "razorbills", "fulmars", "cormorants"),
            "a b": [("1988", "1996"), ("1974", "1983"), ("1991", "2003"), ("2005", "2014")],
            "x y": [
                ("rose", "fell"),
                ("fell", "rose"),
                ("increased", "decreased"),
                ("decreased", "increased"),
                ("grew", "shrank"),
                ("shrank", "grew"),
            ],
            "who": PEOPLE,
            "n": COUNTS,
        },
    ),
    Template(
        name="close-b-press-manuscript",
        kind="opposites",
        evidence="{who} finished a first novel in {year} and sent it to two publishing houses. {one} {x} the "
        "manuscript within {n} weeks, but {two} {y} it. The book is set in {town}.",
        supported="{two} {y} the manuscript of {who}'s first novel.",
        contradicted="{two} {x} the manuscript of {who}'s first novel.",
        nothing="{two} {y} the manuscript of {who}'s second novel.",
        slots={
            "who": PEOPLE,
            "year": ("1925", "1938", "1949", "1957", "1963", "1974"),
            "one two": _PRESSES,
            "x y": [("accepted", "rejected"), ("rejected", "accepted"), ("turned down", "accepted")],
            "n": ("three", "five", "six"),
            "town": TOWNS,
        },
    ),
    Template(
        name="close-b-train-stops",
        kind="opposites",
        evidence="The night train from {one} carries {n} sleeping berths and a dining car. It stops at {two} {x} it "
        "crosses the border and at {three} {y} it does so. The journey ends in {four}.",
        supported="The night train from {one} stops at {two} {x} it crosses the border.",
        contradicted="The night train from {one} stops at {two} {y} it crosses the border.",
        nothing="On the night train from {one}, tickets are checked {x} it crosses the border.",
        slots={
            "one two three four": TOWNS,
            "n": COUNTS,
            "x y": [("before", "after"), ("after", "before")],
        },
    ),
    Template(
        name="close-b-confidence-vote",
        kind="opposites",
        evidence="The parliament of {land} debated for {n} hours in {month} {year}. Prime minister {one} {x} the vote "
        "of confidence by {k} votes. {two}, the leader of the opposition, had called for it.",
        supported="In {month} {year}, prime minister {one} {x} the vote of confidence in the parliament of {land}.",
        contradicted="In {month} {year}, prime minister {one} {y} the vote of confidence in the parliament of {land}.",
        nothing="Later, prime minister {one} {x} the election that was held in {land}.",
        slots={
            "land": COUNTRIES,
            "n": ("nine", "eleven", "fourteen"),
            "month": MONTHS,
            "year": ("1957", "1963", "1974", "1988", "1996"),
            "one two": PEOPLE,
            "x y": [("won", "lost"), ("lost", "won")],
            "k": COUNTS,
        },
    ),
    Template(
        name="close-b-museum-rooms",
        kind="quantifiers",
        evidence="The museum in {town} closed for repairs in {a}. {x} of its {n} rooms were reopened to visitors in "
        "{month} {b}. {who} was its director throughout, and the repairs cost ${m} million.",
        supported="In {month} {b}, {xl} of the {n} rooms of the museum in {town} were reopened to visitors.",
        contradicted="In {month} {b}, {y} of the {n} rooms of the museum in {town} were reopened to visitors.",
        nothing="By {b}, {xl} of the {n} rooms of the museum in {town} had been fitted with new lamps.",
        slots={
            "town": TOWNS,
            "a b": [("1988", "1991"), ("1996", "1999"), ("2003", "2005"), ("2011", "2014")],
            "x xl y": [
                ("All", "all", "only some"),
                ("Only some", "only some", "all"),
                ("All", "all", "none"),
                ("Only a few", "only a few", "all"),
            ],
            "n m": COUNTS,
            "month": MONTHS,
            "who": PEOPLE,
        },
    ),
    Template(
        name="close-b-party-vote",
        kind="quantifiers",
        evidence="On {d} {month} parliament voted on the tax proposed by {who}. None of the {n} members of the {one} "
        "party voted for it, whereas all {k} members of the {two} party did so. It came into force a year later.",
        supported="None of the {one} party's {n} members voted for the tax proposed by {who}.",
        contradicted="Some of the {one} party's {n} members voted for the tax proposed by {who}.",
        nothing="None of the {one} party's {n} members spoke in the debate on the tax proposed by {who}.",
        slots={
            "d": ("4", "13", "22", "27"),
            "month": MONTHS,
            "who": PEOPLE,
            "n k": COUNTS,
            "one two": ("Farmers'", "Liberal", "Labour", "Conservative", "Green", "Centre"),
        },
    ),
    Template(
        name="close-b-car-recall",
        kind="quantifiers",
        evidence="{maker} called back a series of vans in {month} because of a faulty hose made by {firm}. {x} {n} of "
        "the vans had been sold in {land}. The repair takes {h} minutes and is free.",
        supported="{x} {n} of the vans that {maker} called back in {month} had been sold in {land}.",
        contradicted="{y} {n} of the vans that {maker} called back in {month} had been sold in {land}.",
        nothing="{x} {n} of the vans that {maker} called back in {month} had been in accidents.",
        slots={
            "maker": _CARS,
            "month": MONTHS,
            "firm": ("Norvane", "Calder Motors", "Ostrava Steel", "Luma Systems"),
            "x y": [("More than", "Fewer than"), ("Fewer than", "More than")],
            "n": ("2,000", "3,500", "6,000", "8,400"),
            "land": COUNTRIES,
            "h": COUNTS,
        },
    ),
    Template(
        name="close-b-chess-entry",
        kind="quantifiers",
        evidence="The chess club of {town} has held its open tournament since {year}. Under the rules, entrants must "
        "be {x} {n} years old, and each of them plays {r} games. {who} has won it twice.",
        supported="Entrants to the open chess tournament in {town} must be {x} {n} years old under the rules.",
        contradicted="Entrants to the open chess tournament in {town} must be {y} {n} years old under the rules.",
        nothing="Members of the chess club of {town} must be {x} {n} years old under the rules.",
        slots={
            "town": TOWNS,
            "year": YEARS,
            "x y": [("at least", "at most"), ("at most", "at least")],
            "n": ("16", "18", "20", "25"),
            "r": ("seven", "nine", "eleven"),
            "who": PEOPLE,
        },
    ),
)
