"""The challenge set's templates for development: those that were the test of the network before this one."""

from training.challenge_fill import CLUBS, COUNTRIES, COUNTS, DRUGS, FIRMS, MONTHS, PEOPLE, TOWNS, YEARS, Template

TEMPLATES = (
    Template(
        name="library-books",
        kind="numbers",
        evidence="When {who} took over the library of {town}, its shelves held {n} volumes. A fire in the west "
        "wing later destroyed {f} manuscripts, none of them copied.",
        supported="The collection in {town} had roughly {r} books when {who} became its head.",
        contradicted="The collection in {town} had roughly {s} books when {who} became its head.",
        nothing="{who} bought roughly {r} books for the library in {town}.",
        slots={
            "who": PEOPLE,
            "town": TOWNS,
            "f": COUNTS,
            "n r s": [
                ("41,300", "41,000", "14,000"),
                ("9,960", "10,000", "20,000"),
                ("120,450", "120,000", "210,000"),
                ("7,012", "seven thousand", "nine thousand"),
                ("58,730", "59,000", "85,000"),
                ("2,514,000", "2.5 million", "5.2 million"),
            ],
        },
    ),
    Template(
        name="strike-workers",
        kind="numbers",
        evidence="Production at {firm} stood still on Monday. Some {a} workers walked out at the plant in "
        "{town}, and {b} more joined them at noon. The union asks for a raise of {p} percent.",
        supported="The strikers at {firm} demand {p}% more pay.",
        contradicted="The strikers at {firm} demand {q}% more pay.",
        nothing="{firm} has offered its staff {p}% more pay.",
        slots={
            "firm": FIRMS,
            "town": TOWNS,
            "a b": ("450", "1,200", "780", "310", "2,600"),
            "p q": ("4", "6", "7.5", "9", "12", "3.2"),
        },
    ),
    Template(
        name="moons-count",
        kind="numbers",
        evidence="Astronomers at {town} have studied the planet for {y} years. They found {a} moons and {b} "
        "faint rings around it. The largest moon has an icy crust.",
        supported="According to the observers at {town}, {aw} moons circle the planet.",
        contradicted="According to the observers at {town}, {bw} moons circle the planet.",
        nothing="{aw} space probes have visited the planet that is studied at {town}.",
        slots={
            "town": TOWNS,
            "y": ("eight", "ten", "15"),
            "a aw b bw": [
                ("12", "twelve", "5", "five"),
                ("7", "seven", "3", "three"),
                ("20", "twenty", "9", "nine"),
                ("16", "sixteen", "4", "four"),
                ("6", "six", "11", "eleven"),
                ("18", "eighteen", "2", "two"),
            ],
        },
    ),
    Template(
        name="jury-ratio",
        kind="numbers",
        evidence="The law school of {town} interviewed former jurors in {land}. {pw} said that they had "
        "understood the judge's instructions. The interviews lasted {n} minutes on average.",
        supported="In the survey from {town}, {p}% of jurors had understood what the judge told them.",
        contradicted="In the survey from {town}, {q}% of jurors had understood what the judge told them.",
        nothing="In {land}, {p}% of trials are decided by a jury.",
        slots={
            "town": TOWNS,
            "land": COUNTRIES,
            "n": COUNTS,
            "pw p q": [
                ("Three quarters of them", "75", "57"),
                ("Half of them", "50", "15"),
                ("Four in five", "80", "45"),
                ("One in ten", "10", "90"),
                ("Nine out of ten", "90", "19"),
                ("A quarter of them", "25", "52"),
            ],
        },
    ),
    Template(
        name="tower-height",
        kind="units",
        evidence="The radio tower of {town} was put up in {y}. Its architect had built lighthouses before. With "
        "its mast it is {m} metres high. Ships use it as a landmark. Lifts carry visitors to a "
        "platform. A café was added later.",
        supported="Mast included, the tower in {town} rises to about {ft} feet.",
        contradicted="Mast included, the tower in {town} rises to about {m} feet.",
        nothing="The platform of the tower in {town} is {ft} feet above the ground.",
        slots={
            "town": TOWNS,
            "y": YEARS,
            "m ft": [
                ("100", "328"),
                ("150", "492"),
                ("200", "656"),
                ("250", "820"),
                ("300", "984"),
                ("120", "394"),
                ("180", "591"),
            ],
        },
    ),
    Template(
        name="whale-weight",
        kind="units",
        evidence="A young whale was found on the beach near {town} on {d} {m}. It weighed {t} tonnes and had a "
        "net around its tail. {who} freed it with a knife.",
        supported="The whale stranded at {town} had a mass of {kg} kilograms.",
        contradicted="The whale stranded at {town} had a mass of {t} kilograms.",
        nothing="The whale's mother weighed {kg} kilograms.",
        slots={
            "town": TOWNS,
            "who": PEOPLE,
            "m": MONTHS,
            "d": ("2", "8", "19", "25"),
            "t kg": [
                ("3", "3,000"),
                ("4.5", "4,500"),
                ("6", "6,000"),
                ("2.2", "2,200"),
                ("5.8", "5,800"),
                ("7", "7,000"),
            ],
        },
    ),
    Template(
        name="incubation",
        kind="units",
        evidence="Doctors in {land} followed {n} families with the fever. Symptoms began {d} days after "
        "infection, first with a sore throat. Nobody had to be treated in hospital.",
        supported="People in {land} fell ill {w} weeks after they caught the fever.",
        contradicted="People in {land} fell ill {d} weeks after they caught the fever.",
        nothing="Patients in {land} were infectious for {w} weeks.",
        slots={
            "land": COUNTRIES,
            "n": COUNTS,
            "d w": [
                ("14", "two"),
                ("21", "three"),
                ("28", "four"),
                ("35", "five"),
                ("42", "six"),
            ],
        },
    ),
    Template(
        name="farm-area",
        kind="units",
        evidence="{who} runs the largest estate in the valley of {town}. Its fields cover {ha} hectares, most of "
        "them planted with barley. A third of the harvest is sold to brewers.",
        supported="The estate of {who} farms roughly {ac} acres.",
        contradicted="The estate of {who} farms roughly {ha} acres.",
        nothing="{who} leases {ac} acres from the church.",
        slots={
            "who": PEOPLE,
            "town": TOWNS,
            "ha ac": [
                ("200", "494"),
                ("400", "988"),
                ("1000", "2,471"),
                ("150", "371"),
                ("600", "1,483"),
                ("320", "791"),
            ],
        },
    ),
    Template(
        name="treaty-signing",
        kind="dates",
        evidence="Envoys from {one} and {two} met in {town} in {m} {y} to end the border war. The treaty they "
        "signed on {n} {d} of the following year is still in force.",
        supported="The peace talks of {one} and {two} in {town} opened in {y}.",
        contradicted="The peace talks of {one} and {two} in {town} opened in {z}.",
        nothing="A railway has linked {one} with {two} since {y}.",
        slots={
            "one two": COUNTRIES,
            "town": TOWNS,
            "m n": MONTHS,
            "d": ("5", "12", "18", "24"),
            "y z": YEARS,
        },
    ),
    Template(
        name="album-release",
        kind="dates",
        evidence="The band from {town} recorded its second album in a barn. It came out on {m} {d}, {y}, four "
        "years after the first, and sold poorly at the start.",
        supported="The band's second album was published on {d} {m} {y}.",
        contradicted="The band's second album was published on {e} {m} {y}.",
        nothing="The band broke up on {e} {m} {y}.",
        slots={
            "town": TOWNS,
            "m": MONTHS,
            "y": YEARS,
            "d e": ("3", "7", "11", "16", "22", "28"),
        },
    ),
    Template(
        name="factory-century",
        kind="dates",
        evidence="{firm} goes back to a workshop that {who} set up in {town} in {y}. For its first years it made "
        "nothing but nails and horseshoes.",
        supported="The roots of {firm} lie in the {c} century.",
        contradicted="The roots of {firm} lie in the {w} century.",
        nothing="{firm} has been listed on the stock exchange since the {c} century.",
        slots={
            "firm": FIRMS,
            "who": PEOPLE,
            "town": TOWNS,
            "y c w": [
                ("1871", "19th", "18th"),
                ("1765", "18th", "19th"),
                ("1925", "20th", "19th"),
                ("1884", "nineteenth", "twentieth"),
                ("1912", "twentieth", "nineteenth"),
                ("1790", "eighteenth", "seventeenth"),
            ],
        },
    ),
    Template(
        name="trial-phases",
        kind="dates",
        evidence="The first patients received {drug} in {a}. Regulators in {land} licensed it in {b}, and the "
        "patent ran out in {c}. Cheaper versions followed.",
        supported="{land} gave {drug} its licence in {b}.",
        contradicted="{land} gave {drug} its licence in {c}.",
        nothing="{land} stopped paying for {drug} in {c}.",
        slots={
            "drug": DRUGS,
            "land": COUNTRIES,
            "a b c": [
                ("1974", "1981", "1993"),
                ("1983", "1990", "2004"),
                ("1991", "1999", "2012"),
                ("1962", "1969", "1979"),
                ("1996", "2003", "2016"),
                ("1958", "1964", "1977"),
            ],
        },
    ),
    Template(
        name="election-result",
        kind="names",
        evidence="In Sunday's poll in {town}, {one} received more votes than {two} in every district.",
        supported="{two} got fewer votes than {one}.",
        contradicted="{one} got fewer votes than {two}.",
        nothing="{two} has asked for a recount in {town}.",
        slots={
            "town": TOWNS,
            "one two": PEOPLE,
        },
    ),
    Template(
        name="teacher-pupil",
        kind="names",
        evidence="{one} taught {two} the violin from the age of six. Later the two quarrelled, and from {y} on "
        "they performed only apart, mostly in {land}.",
        supported="{two} learned the violin from {one}.",
        contradicted="{one} learned the violin from {two}.",
        nothing="{two} composed a sonata for {one}.",
        slots={
            "one two": PEOPLE,
            "y": YEARS,
            "land": COUNTRIES,
        },
    ),
    Template(
        name="border-crossing",
        kind="names",
        evidence="In {y}, some {n} thousand people left {one} for {two}, most of them by train. Officials blamed "
        "the failed harvest. Many of them came back within ten years.",
        supported="{two} took in people who came from {one} in {y}.",
        contradicted="{one} took in people who came from {two} in {y}.",
        nothing="{one} closed its railway stations in {y}.",
        slots={
            "one two": COUNTRIES,
            "y": YEARS,
            "n": COUNTS,
        },
    ),
    Template(
        name="engine-maker",
        kind="names",
        evidence="The express is built in {town}. {one} supplies the engines, and {two} the carriages; both "
        "firms have shared the order since {y}.",
        supported="The engines of the express come from {one}.",
        contradicted="The engines of the express come from {two}.",
        nothing="{one} has earned {n} million dollars with the express.",
        slots={
            "town": TOWNS,
            "one two": FIRMS,
            "y": YEARS,
            "n": COUNTS,
        },
    ),
    Template(
        name="witness-account",
        kind="negation",
        evidence="The court in {town} heard {who} on {m} {d}. The room was crowded. {who} had worked at the "
        "depot for years. The witness said that the gate had been locked all night and that no alarm "
        "had gone off before the guards arrived.",
        supported="According to {who}, the alarm stayed silent until the guards came.",
        contradicted="According to {who}, the alarm sounded before the guards came.",
        nothing="According to {who}, the guards were not armed.",
        slots={
            "town": TOWNS,
            "who": PEOPLE,
            "m": MONTHS,
            "d": COUNTS[:4],
        },
    ),
    Template(
        name="metal-rust",
        kind="negation",
        evidence="The alloy that {firm} developed in {y} contains chromium. It does not rust in sea water, so "
        "shipyards in {land} use it for propellers. It is hard to weld.",
        supported="Sea water leaves the alloy of {firm} free of rust.",
        contradicted="Sea water makes the alloy of {firm} rust.",
        nothing="The alloy of {firm} is not magnetic.",
        slots={
            "firm": FIRMS,
            "y": YEARS,
            "land": COUNTRIES,
        },
    ),
    Template(
        name="transfer-player",
        kind="negation",
        evidence="{club} had hoped to sign {who} before the season. The player refused the offer and stayed in "
        "{land}, where the contract runs for two more years.",
        supported="{who} did not move to {club}.",
        contradicted="{who} moved to {club}.",
        nothing="{who} was not fit at the start of the season.",
        slots={
            "club": CLUBS,
            "who": PEOPLE,
            "land": COUNTRIES,
        },
    ),
    Template(
        name="permit-needed",
        kind="negation",
        evidence="Walkers may cross the reserve near {town} from {m} on. A permit is required of "
        "everybody, whether they come alone or in groups of {n}. Dogs are forbidden.",
        supported="Single walkers need a permit for the reserve near {town}.",
        contradicted="Single walkers need no permit for the reserve near {town}.",
        nothing="Cyclists are not allowed in the reserve near {town}.",
        slots={
            "town": TOWNS,
            "m": MONTHS,
            "n": COUNTS[:4],
        },
    ),
    Template(
        name="lake-level",
        kind="opposites",
        evidence="Rangers have measured the lake near {town} since {y}. Over the past decade its level has {did} "
        "by {n} centimetres, which they put down to the new dam.",
        supported="The water of the lake near {town} is {same} today than it was ten years ago.",
        contradicted="The water of the lake near {town} is {other} today than it was ten years ago.",
        nothing="The water of the lake near {town} is {clean} today than it was ten years ago.",
        slots={
            "town": TOWNS,
            "y": YEARS,
            "n": COUNTS,
            "clean": ("cleaner", "warmer", "saltier"),
            "did same other": [
                ("risen", "higher", "lower"),
                ("fallen", "lower", "higher"),
                ("gone up", "higher", "lower"),
                ("sunk", "lower", "higher"),
            ],
        },
    ),
    Template(
        name="appeal-outcome",
        kind="opposites",
        evidence="In {y} a judge in {town} found {who} {did} of smuggling. The case had drawn much attention in "
        "{land}, since the goods were worth {n} million.",
        supported="{who} was {same} on the smuggling charge.",
        contradicted="{who} was {other} on the smuggling charge.",
        nothing="{who} has written a book about the smuggling case.",
        slots={
            "who": PEOPLE,
            "town": TOWNS,
            "land": COUNTRIES,
            "y": YEARS,
            "n": COUNTS,
            "did same other": [
                ("guilty", "convicted", "acquitted"),
                ("not guilty", "acquitted", "convicted"),
                ("innocent", "cleared", "convicted"),
            ],
        },
    ),
    Template(
        name="animal-habit",
        kind="opposites",
        evidence="The marten of {place} was described by {who} in {y}. It sleeps in hollow trees and is active "
        "{when}. Its diet is mostly berries and beetles.",
        supported="The marten of {place} looks for food {same}.",
        contradicted="The marten of {place} looks for food {other}.",
        nothing="The marten of {place} sleeps through the {season}.",
        slots={
            "place": TOWNS,
            "who": PEOPLE,
            "y": YEARS,
            "season": ("winter", "summer"),
            "when same other": [
                ("at night", "by night", "by day"),
                ("during the day", "by day", "by night"),
                ("before sunrise", "early in the morning", "late in the evening"),
            ],
        },
    ),
    Template(
        name="company-year",
        kind="opposites",
        evidence="{firm} closed the year {y} with a {did} of {n} million euros, as its treasurer {who} told reporters.",
        supported="{firm} {same} in {y}.",
        contradicted="{firm} {other} in {y}.",
        nothing="{firm} dismissed its treasurer in {y}.",
        slots={
            "firm": FIRMS,
            "y": YEARS,
            "n": COUNTS,
            "who": PEOPLE,
            "did same other": [
                ("profit", "made money", "lost money"),
                ("loss", "lost money", "made money"),
                ("surplus", "ran a surplus", "ran a deficit"),
                ("deficit", "ran a deficit", "ran a surplus"),
            ],
        },
    ),
    Template(
        name="islands-lived",
        kind="quantifiers",
        evidence="The archipelago off {town} has {n} islands. Only {k} of them are inhabited; on the rest there "
        "are seals and sea birds. A boat brings the mail once a week.",
        supported="On most islands off {town} there are no people.",
        contradicted="On most islands off {town} there are people.",
        nothing="Most islands off {town} belong to one family.",
        slots={
            "town": TOWNS,
            "n": COUNTS[4:],
            "k": ("two", "three", "four", "five"),
        },
    ),
    Template(
        name="students-pass",
        kind="quantifiers",
        evidence="{n} nurses sat the final examination in {town} this year. {how}, the ministry of {land} "
        "announced, and it thanked their teachers.",
        supported="{same} in {town} passed the examination.",
        contradicted="{other} in {town} passed the examination.",
        nothing="{same} in {town} have found work already.",
        slots={
            "n": ("Forty", "Sixty", "Ninety"),
            "town": TOWNS,
            "land": COUNTRIES,
            "how same other": [
                ("Every one of them passed", "All the nurses", "Only some of the nurses"),
                ("All of them passed", "Each nurse", "None of the nurses"),
                ("Nobody failed", "All candidates", "Only half of the candidates"),
                ("Not all of them passed, though many did", "Some nurses", "Every nurse"),
            ],
        },
    ),
    Template(
        name="minimum-age",
        kind="quantifiers",
        evidence="The marathon of {town} is run in {m}. Runners have to be at least {a} years old, and must hand "
        "in a doctor's letter. Last year {n} of them gave up.",
        supported="Nobody under {a} may run in the marathon of {town}.",
        contradicted="Nobody over {a} may run in the marathon of {town}.",
        nothing="The marathon of {town} was won by a runner of {a}.",
        slots={
            "town": TOWNS,
            "m": MONTHS,
            "a": ("16", "18", "20", "21"),
            "n": COUNTS,
        },
    ),
    Template(
        name="club-record",
        kind="quantifiers",
        evidence="{one} and {two} have met in the league since {y}. {one} {how}, the last time in {m}, in front "
        "of {n} thousand people in {town}.",
        supported="{one} {same} against {two} in the league.",
        contradicted="{one} {other} against {two} in the league.",
        nothing="{one} and {two} {have} in the cup final.",
        slots={
            "one two": CLUBS,
            "y": YEARS,
            "m": MONTHS,
            "n": COUNTS,
            "town": TOWNS,
            "have": ("have also met", "never met"),
            "how same other": [
                ("won all of their games", "has always won", "has never won"),
                ("lost every game", "has never won", "has won sometimes"),
                ("won some of the games", "has won at times", "has never won"),
                ("never lost", "has not lost any game", "has lost every game"),
            ],
        },
    ),
)
