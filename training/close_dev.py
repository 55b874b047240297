"""Minimal pairs in close wording, for development: the claim says nearly word for word what its evidence says."""

from training.challenge_fill import CLUBS, COUNTRIES, COUNTS, FIRMS, MONTHS, PEOPLE, TOWNS, YEARS, Template

FERRIES = ("Aurelia", "Stormvogel", "Lady Maud", "Halland", "Sea Thistle", "Corrina", "Northern Rose", "Petrel")
SATELLITES = ("Halcyon 2", "Meridian 4", "Vesta 1", "Orlan 7", "Tidewatch", "Skylark 3", "Nimbra", "Corona 5")

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="close-observatory-mirror",
        kind="numbers",
        evidence="The observatory above {town} opened in {y}. The mirror of its main telescope is made of {a} "
        "segments, and the camera behind it has {b} detectors. About {c} astronomers visit each year.",
        supported="The main telescope of the observatory above {town} has a mirror made of {a} segments.",
        contradicted="The main telescope of the observatory above {town} has a mirror made of {b} segments.",
        nothing="The observatory above {town} has a second telescope with a mirror made of {d} segments.",
        slots={"town": TOWNS, "y": YEARS, "a b c d": COUNTS},
    ),
    Template(
        name="close-vaccine-volunteers",
        kind="numbers",
        evidence="The vaccine was tested in {land} between {m1} and {m2}. The trial enrolled {n} volunteers at {c} "
        "hospitals, and {d} of them were over the age of 65. Two doses were given, 28 days apart.",
        supported="The vaccine trial in {land} enrolled {nw} volunteers.",
        contradicted="The vaccine trial in {land} enrolled {dw} volunteers.",
        nothing="The vaccine trial in {land} cost {nw} dollars a day.",
        slots={
            "land": COUNTRIES,
            "c": COUNTS,
            "m1 m2": [("March", "October"), ("January", "June"), ("April", "September"), ("July", "November")],
            "n nw d dw": [
                ("12,000", "12 thousand", "3,000", "3 thousand"),
                ("thirty thousand", "30,000", "seven thousand", "7,000"),
                ("4,860", "4,860", "1,215", "1,215"),
                ("twenty thousand", "20,000", "four thousand", "4,000"),
                ("9,340", "9,340", "2,070", "2,070"),
                ("1,500", "fifteen hundred", "600", "six hundred"),
            ],
        },
    ),
    Template(
        name="close-bakery-loaves",
        kind="numbers",
        evidence="{who} opened the bakery in {town} in {y} with two ovens. It now bakes about {n} loaves a day and "
        "delivers to {c} shops. On Saturdays it also makes {k} cakes.",
        supported="The bakery that {who} opened in {town} now bakes approximately {n} loaves a day.",
        contradicted="The bakery that {who} opened in {town} now bakes approximately {k} loaves a day.",
        nothing="The bakery that {who} opened in {town} uses approximately {n} eggs a day.",
        slots={
            "who": PEOPLE,
            "town": TOWNS,
            "y": YEARS,
            "c": COUNTS,
            "n k": [
                ("900", "150"),
                ("1,400", "220"),
                ("650", "90"),
                ("2,300", "400"),
                ("780", "120"),
                ("3,100", "500"),
            ],
        },
    ),
    Template(
        name="close-mine-output",
        kind="numbers",
        evidence="The coal mine at {town} had its best year in {y}, when it produced {n} tonnes. It then employed "
        "{k} miners, who worked in three shifts, and kept {c} ponies underground.",
        supported="In {y} the coal mine at {town} produced {nw} tonnes.",
        contradicted="In {y} the coal mine at {town} produced {xw} tonnes.",
        nothing="In {y} new lifts for the coal mine at {town} cost {nw} pounds.",
        slots={
            "town": TOWNS,
            "y": YEARS[:10],
            "c": COUNTS,
            "k": ("1,340", "2,015", "980", "3,120"),
            "n nw xw": [
                ("2,100,000", "2.1 million", "1.2 million"),
                ("1,400,000", "1.4 million", "4.1 million"),
                ("3,600,000", "3.6 million", "6.3 million"),
                ("1,800,000", "1.8 million", "2.8 million"),
                ("5,200,000", "5.2 million", "2.5 million"),
                ("2,700,000", "2.7 million", "7.2 million"),
            ],
        },
    ),
    Template(
        name="close-glacier-length",
        kind="units",
        evidence="The glacier above {town} is {a} km long and up to {m} m thick. In a warm summer its surface sinks "
        "by about {c} cm. A hut stands beside it at a height of 2,140 m.",
        supported="The glacier above {town} is {a} kilometres long.",
        contradicted="The glacier above {town} is {a} miles long.",
        nothing="The glacier above {town} lies {a} kilometres from the nearest road.",
        slots={"town": TOWNS, "a": COUNTS, "m": ("180", "240", "310", "420"), "c": ("65", "72", "110", "130")},
    ),
    Template(
        name="close-ferry-speed",
        kind="units",
        evidence="The ferry {ship}, built in {y}, is 68 metres long and has room for {c} cars. She sails between "
        "{t1} and {t2} at a speed of {k} knots.",
        supported="The ferry {ship} sails between {t1} and {t2} at {k} knots.",
        contradicted="The ferry {ship} sails between {t1} and {t2} at {k} kilometres per hour.",
        nothing="The ferry {ship} once sailed through winds of {k} knots between {t1} and {t2}.",
        slots={
            "ship": FERRIES,
            "y": ("1974", "1988", "1996", "2003"),
            "c": COUNTS,
            "t1 t2": TOWNS,
            "k": ("16", "18", "19", "21", "22", "24"),
        },
    ),
    Template(
        name="close-vineyard-area",
        kind="units",
        evidence="{who} bought the vineyard near {town} in {y}. It covers {a} ha, {b} of them planted with Riesling, "
        "and lies some {m} m above the sea. The cellar holds {c} barrels.",
        supported="The vineyard that {who} bought near {town} covers {a} hectares.",
        contradicted="The vineyard that {who} bought near {town} covers {a} square kilometres.",
        nothing="The vineyard that {who} bought near {town} lost {b} hectares of vines to frost.",
        slots={
            "who": PEOPLE,
            "town": TOWNS,
            "y": YEARS,
            "c": COUNTS,
            "m": ("210", "260", "340"),
            "a b": [("32", "12"), ("45", "20"), ("18", "7"), ("60", "25"), ("27", "11"), ("54", "30")],
        },
    ),
    Template(
        name="close-satellite-height",
        kind="units",
        evidence="{sat} was built by {firm} and weighs {kg} kg. It circles the Earth at a height of {km} km, "
        "{c} km lower than was planned at first. One orbit takes a little over an hour and a half.",
        supported="{sat} circles the Earth at a height of {km} kilometres.",
        contradicted="{sat} circles the Earth at a height of {x} metres.",
        nothing="{sat} takes pictures of a strip of the Earth that is {km} kilometres wide.",
        slots={
            "sat": SATELLITES,
            "firm": FIRMS,
            "kg": ("840", "1,150", "2,300", "310"),
            "c": COUNTS,
            "km x": [
                ("520", "52,000"),
                ("540", "5,400"),
                ("560", "56,000"),
                ("580", "5,800"),
                ("610", "61,000"),
                ("630", "63,000"),
            ],
        },
    ),
    Template(
        name="close-orchestra-concert",
        kind="dates",
        evidence="The {town} Symphony Orchestra gave its first concert on {d} {m} {y1}, with {who} conducting. It "
        "moved into its present hall in {y2} and made its first recording in {y3}.",
        supported="The {town} Symphony Orchestra gave its first concert in {y1}.",
        contradicted="The {town} Symphony Orchestra gave its first concert in {y2}.",
        nothing="The {town} Symphony Orchestra elected its first chairman in {y1}.",
        slots={
            "town": TOWNS,
            "who": PEOPLE,
            "d": ("3", "9", "14", "22", "27"),
            "m": MONTHS,
            "y1 y2 y3": [
                ("1906", "1928", "1934"),
                ("1912", "1931", "1937"),
                ("1921", "1948", "1953"),
                ("1933", "1957", "1961"),
                ("1946", "1963", "1970"),
            ],
        },
    ),
    Template(
        name="close-university-women",
        kind="dates",
        evidence="The University of {town} was founded in {y1}. It admitted women for the first time in {y2}, and a "
        "school of medicine was added in {y3}. Today it has {c},000 students.",
        supported="In {y2} the University of {town} admitted women for the first time.",
        contradicted="In {y3} the University of {town} admitted women for the first time.",
        nothing="In {y2} the University of {town} appointed a woman as professor for the first time.",
        slots={
            "town": TOWNS,
            "c": COUNTS,
            "y1 y2 y3": [
                ("1811", "1884", "1902"),
                ("1826", "1893", "1925"),
                ("1764", "1871", "1889"),
                ("1848", "1906", "1938"),
                ("1732", "1897", "1912"),
            ],
        },
    ),
    Template(
        name="close-appeal-quashed",
        kind="dates",
        evidence="The district court in {town} convicted {who} of fraud on {d1} {m1}. The court of appeal heard the "
        "case on {d2} {m2} and quashed the conviction on {d3} {m3} of the same year.",
        supported="The court of appeal quashed the conviction of {who} in {m3}.",
        contradicted="The court of appeal quashed the conviction of {who} in {m1}.",
        nothing="The state paid compensation to {who} in {m3}.",
        slots={
            "town": TOWNS,
            "who": PEOPLE,
            "d1 d2 d3": ("2", "5", "11", "16", "19", "24", "28"),
            "m1 m2 m3": [
                ("January", "April", "June"),
                ("February", "July", "September"),
                ("March", "August", "November"),
                ("April", "October", "December"),
                ("January", "March", "May"),
            ],
        },
    ),
    Template(
        name="close-satellite-picture",
        kind="dates",
        evidence="The weather satellite {sat} was launched on {d1} {m1} {y} and sent its first picture on {d2} {m2} "
        "of that year. Contact with it was lost {c} months after the launch.",
        supported="The weather satellite {sat} sent its first picture in {m2} {y}.",
        contradicted="The weather satellite {sat} sent its first picture in {m1} {y}.",
        nothing="A second ground station for the weather satellite {sat} was opened in {m2} {y}.",
        slots={
            "sat": SATELLITES,
            "y": ("1974", "1981", "1988", "1996", "2003"),
            "c": COUNTS,
            "d1 d2": ("4", "8", "13", "20", "21", "26"),
            "m1 m2": [
                ("January", "March"),
                ("February", "March"),
                ("April", "June"),
                ("July", "August"),
                ("September", "November"),
            ],
        },
    ),
    Template(
        name="close-league-final",
        kind="names",
        evidence="{one} beat {two} {score} in the final of the {town} League on Sunday. {p} scored the first goal, "
        "and {q} was sent off after {c} minutes. {three} had gone out in the semi-final.",
        supported="{one} beat {two} in the final of the {town} League.",
        contradicted="{two} beat {one} in the final of the {town} League.",
        nothing="{one} beat {three} in the quarter-final of the {town} Cup.",
        slots={
            "one two three": CLUBS,
            "town": TOWNS,
            "p q": PEOPLE,
            "c": COUNTS[:8],
            "score": ("3-1", "2-1", "4-2", "3-2"),
        },
    ),
    Template(
        name="close-orchestra-soloist",
        kind="names",
        evidence="The orchestra of {town} opened its season on {d} {m}. {a} conducted, {b} played the solo in the "
        "violin concerto, and the evening ended with a new overture by {c}.",
        supported="{b} played the solo in the violin concerto when the orchestra of {town} opened its season.",
        contradicted="{a} played the solo in the violin concerto when the orchestra of {town} opened its season.",
        nothing="{b} studied the violin in {town} as a child.",
        slots={"a b c": PEOPLE, "town": TOWNS, "d": ("3", "9", "14", "22", "27"), "m": MONTHS},
    ),
    Template(
        name="close-appeal-damages",
        kind="names",
        evidence="{one} sued {two} over a patent in {y}. After {c} days of hearings the appeal court ordered {two} "
        "to pay {one} ${n} million. {three}, which had joined the case, received nothing.",
        supported="The appeal court ordered {two} to pay {one} ${n} million.",
        contradicted="The appeal court ordered {one} to pay {two} ${n} million.",
        nothing="{two} had once offered to buy the patent from {one} for ${n} million.",
        slots={
            "one two three": FIRMS,
            "y": ("1988", "1996", "2003", "2011"),
            "c": COUNTS,
            "n": ("12", "45", "8.5", "130", "27", "60"),
        },
    ),
    Template(
        name="close-ferry-route",
        kind="names",
        evidence="Two ferries cross the sound, each on a single route. The {s1} sails from {t1} to {t2} at {h1} "
        "every morning, and the {s2} sails from {t3} to {t4} at {h2}.",
        supported="Every morning at {h1} the ferry {s1} sails from {t1} to {t2}.",
        contradicted="Every morning at {h1} the ferry {s2} sails from {t1} to {t2}.",
        nothing="In the evening the ferry {s1} carries lorries from {t1} to {t2}.",
        slots={
            "s1 s2": FERRIES,
            "t1 t2 t3 t4": TOWNS,
            "h1 h2": ("6.15", "7.30", "8.10", "9.45", "10.20"),
        },
    ),
    Template(
        name="close-glacier-sea",
        kind="negation",
        evidence="The {town} Glacier was first mapped in {y1} by {who}. Since {y2} it has no longer reached the sea, "
        "and its front now lies {c} km inland. Cruise ships still call at the bay.",
        supported="The {town} Glacier no longer reaches the sea.",
        contradicted="The {town} Glacier still reaches the sea.",
        nothing="The {town} Glacier is no longer safe to walk on.",
        slots={
            "town": (*TOWNS, "Skarn", "Morrow", "Ulvik", "Great Heron"),
            "who": PEOPLE,
            "y1 y2": [("1871", "1963"), ("1884", "1988"), ("1893", "1974"), ("1906", "1996"), ("1912", "2003")],
            "c": ("2", "3", "4", "6"),
        },
    ),
    Template(
        name="close-mine-fans",
        kind="negation",
        evidence="The inquiry into the explosion at the {town} coal mine heard {n} witnesses. It found that the fans "
        "had not been inspected in the {c} days before the explosion, although the lamps had been checked every week. "
        "{who} wrote the report.",
        supported="The fans at the {town} coal mine had not been inspected in the {c} days before the explosion.",
        contradicted="The fans at the {town} coal mine had been inspected in the {c} days before the explosion.",
        nothing="The miners at the {town} coal mine had not been paid in the {c} days before the explosion.",
        slots={"town": TOWNS, "n c": COUNTS, "who": PEOPLE},
    ),
    Template(
        name="close-vaccine-storage",
        kind="negation",
        evidence="The vaccine was approved in {land} in {m}, after a trial with {n} volunteers. It can be stored in "
        "an ordinary refrigerator for {c} days, but it must not be frozen.",
        supported="The vaccine approved in {land} can be stored in an ordinary refrigerator for {c} days.",
        contradicted="The vaccine approved in {land} cannot be stored in an ordinary refrigerator for {c} days.",
        nothing="The vaccine approved in {land} cannot be given to children.",
        slots={"land": COUNTRIES, "m": MONTHS, "n": ("4,860", "9,340", "12,000", "30,500"), "c": COUNTS},
    ),
    Template(
        name="close-university-doctorate",
        kind="negation",
        evidence="{who} completed a doctorate on tides at the University of {town} in {y}. The post that the "
        "university offered afterwards was never taken up, and the young scientist went to {firm} instead.",
        supported="{who} completed a doctorate at the University of {town}.",
        contradicted="{who} never completed a doctorate at the University of {town}.",
        nothing="{who} never returned to the University of {town}.",
        slots={"who": PEOPLE, "town": TOWNS, "y": ("1988", "1996", "2003", "2011"), "firm": FIRMS},
    ),
    Template(
        name="close-vineyard-harvest",
        kind="opposites",
        evidence="The harvest of the vineyard near {town} {did} from {a} tonnes in {y1} to {b} tonnes in {y2}. Over "
        "the same years the price of a bottle {price}. {who} has run the vineyard since 1949.",
        supported="Between {y1} and {y2} the harvest of the vineyard near {town} {did}.",
        contradicted="Between {y1} and {y2} the harvest of the vineyard near {town} {other}.",
        nothing="Between {y1} and {y2} the number of workers at the vineyard near {town} {did}.",
        slots={
            "town": TOWNS,
            "who": PEOPLE,
            "y1 y2": [("1957", "1963"), ("1963", "1966"), ("1971", "1974"), ("1974", "1978")],
            "did other price a b": [
                ("fell", "rose", "rose to 9 francs", "140", "95"),
                ("rose", "fell", "fell to 6 francs", "88", "132"),
                ("fell", "rose", "stayed at 7 francs", "210", "160"),
                ("rose", "fell", "rose to 11 francs", "64", "79"),
                ("decreased", "increased", "increased to 8 francs", "175", "120"),
                ("increased", "decreased", "decreased to 5 francs", "102", "149"),
            ],
        },
    ),
    Template(
        name="close-appeal-sentence",
        kind="opposites",
        evidence="On {d} {m} the court of appeal in {town} {did} {who}'s appeal against a sentence of {c} months. On "
        "the same day it {other} the appeal of {q}, who had been fined ${n},000.",
        supported="The court of appeal in {town} {did} {who}'s appeal against a sentence of {c} months.",
        contradicted="The court of appeal in {town} {other} {who}'s appeal against a sentence of {c} months.",
        nothing="The supreme court {did} {who}'s request for a new judge.",
        slots={
            "d": ("3", "9", "14", "22", "27"),
            "m": MONTHS,
            "town": TOWNS,
            "who q": PEOPLE,
            "c n": COUNTS,
            "did other": [
                ("rejected", "accepted"),
                ("accepted", "rejected"),
                ("dismissed", "granted"),
                ("granted", "dismissed"),
            ],
        },
    ),
    Template(
        name="close-league-division",
        kind="opposites",
        evidence="{one} finished {place} in the second division of the {land} league with {a} points and were {did}. "
        "{two}, with 51 points, came seventh. {who} was the division's top scorer with {g} goals.",
        supported="{one} were {did} after finishing {place} in the second division of the {land} league.",
        contradicted="{one} were {other} after finishing {place} in the second division of the {land} league.",
        nothing="{two} were {did} from another division of the {land} league five years earlier.",
        slots={
            "one two": CLUBS,
            "land": [("Portuguese",), ("Norwegian",), ("Chilean",), ("Kenyan",), ("Polish",), ("Finnish",)],
            "who": PEOPLE,
            "g": ("19", "22", "24", "27"),
            "place a did other": [
                ("first", "82", "promoted", "relegated"),
                ("second", "77", "promoted", "relegated"),
                ("last", "24", "relegated", "promoted"),
                ("second from last", "29", "relegated", "promoted"),
            ],
        },
    ),
    Template(
        name="close-observatory-eclipse",
        kind="opposites",
        evidence="The observatory at {town} was paid for by {firm}. Its dome was finished {c} days {when} the "
        "eclipse of {y}, and its library held {n},000 books. {who} was its first director.",
        supported="The dome of the observatory at {town} was finished {when} the eclipse of {y}.",
        contradicted="The dome of the observatory at {town} was finished {other} the eclipse of {y}.",
        nothing="{who} moved into a house beside the observatory at {town} {when} the eclipse of {y}.",
        slots={
            "town": TOWNS,
            "firm": FIRMS,
            "c n": COUNTS,
            "when other": [("before", "after"), ("after", "before")],
            "y": YEARS,
            "who": PEOPLE,
        },
    ),
    Template(
        name="close-ferry-passengers",
        kind="quantifiers",
        evidence="The ferry line from {t1} to {t2} carried {more} {n} passengers in {m1}. It ran {c} crossings a "
        "week, and a single ticket cost {e} euros. In {m2} two of its ships were in dock.",
        supported="In {m1} {more} {n} passengers were carried by the ferry line from {t1} to {t2}.",
        contradicted="In {m1} {less} {n} passengers were carried by the ferry line from {t1} to {t2}.",
        nothing="In {m2} {more} {n} passengers were carried by the ferry line from {t1} to {t2}.",
        slots={
            "t1 t2": TOWNS,
            "more less": [("more than", "fewer than"), ("fewer than", "more than")],
            "n": ("20,000", "35,000", "48,000", "60,000"),
            "c": COUNTS,
            "e": ("8", "11", "15"),
            "m1 m2": MONTHS,
        },
    ),
    Template(
        name="close-university-points",
        kind="quantifiers",
        evidence="The University of {town} received {n} thousand applications in {y}. Its law course admits "
        "applicants with at least {a} points and turns all the others away. Teaching begins in {m}.",
        supported="The law course of the University of {town} admits applicants with at least {a} points.",
        contradicted="The law course of the University of {town} admits applicants with at most {a} points.",
        nothing="The music course of the University of {town} admits applicants with at least {a} points.",
        slots={"town": TOWNS, "n a": COUNTS, "y": ("1996", "2003", "2011"), "m": ("September", "October", "February")},
    ),
    Template(
        name="close-satellite-failures",
        kind="quantifiers",
        evidence="{firm} launched {a} satellites in {y}. {q} of them {has} failed since. Of an older series of {b}, "
        "which {maker} had built, {rest} in the first year.",
        supported="{q} of the satellites that {firm} launched in {y} {has} failed since.",
        contradicted="{x} of the satellites that {firm} launched in {y} {xhas} failed since.",
        nothing="{q} of the satellites that {firm} launched in {y} {has} been paid for by the state.",
        slots={
            "firm maker": FIRMS,
            "a b": COUNTS,
            "y": ("1996", "2003", "2011", "2016"),
            "q has x xhas rest": [
                ("None", "has", "Some", "have", "some were lost"),
                ("Some", "have", "None", "has", "none was lost"),
                ("All", "have", "None", "has", "none was lost"),
                ("None", "has", "All", "have", "all were lost"),
            ],
        },
    ),
    Template(
        name="close-bakery-rye",
        kind="quantifiers",
        evidence="{who} has run the bakery in {town} for {c} years. White bread is baked there every day, but the "
        "bakery sells rye bread only on {d1}. On {d2} it opens an hour later than usual.",
        supported="The bakery that {who} runs in {town} sells rye bread only on {d1}.",
        contradicted="The bakery that {who} runs in {town} sells rye bread every day.",
        nothing="The bakery that {who} runs in {town} sells apple cake only on {d1}.",
        slots={
            "who": PEOPLE,
            "town": TOWNS,
            "c": COUNTS[:6],
            "d1 d2": ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays"),
        },
    ),
)
