"""Minimal pairs against one or two short sentences, for development: what is replaced there is contradicted."""

from training.challenge_fill import COUNTRIES, COUNTS, FIRMS, PEOPLE, TOWNS, YEARS, Template

_BOOKS = ("Low Tide", "The Salt Road", "Winter Guests", "A House of Glass", "The Long Field", "Harbour Lights")
_OFFICES = ("president", "prime minister", "foreign minister", "chief justice", "central bank governor")
_METALS = ("copper", "iron", "zinc", "silver", "nickel", "lead")
_FEWER = [("12,000", "9,000"), ("48,000", "64,000"), ("310,000", "250,000"), ("1.2 million", "3.4 million")]

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="short-seat",
        kind="names",
        evidence="{a} is the seat of the government of {land}. It lies on the coast.",
        supported="{a} is the seat of the government of {land}.",
        contradicted="{b} is the seat of the government of {land}.",
        nothing="{a} is the oldest town of {land}.",
        slots={"a b": TOWNS, "land": COUNTRIES},
    ),
    Template(
        name="short-author",
        kind="names",
        evidence="{book} was written by {a}.",
        supported="{book} was written by {a}.",
        contradicted="{book} was written by {b}.",
        nothing="{book} was translated by {a}.",
        slots={"book": _BOOKS, "a b": PEOPLE},
    ),
    Template(
        name="short-office",
        kind="names",
        evidence="{a} is the {office} of {land}. She was elected in {year}.",
        supported="The {office} of {land} is {a}.",
        contradicted="The {office} of {land} is {b}.",
        nothing="The {office} of {land} is married.",
        slots={"office": _OFFICES, "land": COUNTRIES, "a b": PEOPLE, "year": YEARS},
    ),
    Template(
        name="short-home",
        kind="names",
        evidence="The head office of {firm} is in {a}.",
        supported="{firm} has its head office in {a}.",
        contradicted="{firm} has its head office in {b}.",
        nothing="{firm} has a second office in {a}.",
        slots={"firm": FIRMS, "a b": TOWNS},
    ),
    Template(
        name="short-residents",
        kind="numbers",
        evidence="{town} has {n} residents. Most of them live by the river.",
        supported="{town} has about {n} residents.",
        contradicted="{town} has about {m} residents.",
        nothing="{town} receives about {n} visitors a year.",
        slots={"town": TOWNS, "n m": _FEWER},
    ),
    Template(
        name="short-staff",
        kind="numbers",
        evidence="{firm} employs {a} engineers.",
        supported="{firm} employs {a} engineers.",
        contradicted="{firm} employs {b} engineers.",
        nothing="{firm} employs {a} drivers.",
        slots={"firm": FIRMS, "a b": COUNTS},
    ),
    Template(
        name="short-founded",
        kind="dates",
        evidence="{firm} was founded in {a}.",
        supported="{firm} was founded in {a}.",
        contradicted="{firm} was founded in {b}.",
        nothing="{firm} was sold in {a}.",
        slots={"firm": FIRMS, "a b": YEARS},
    ),
    Template(
        name="short-bridge",
        kind="dates",
        evidence="The bridge at {town} was opened in {a}. It is made of steel.",
        supported="The bridge at {town} opened in {a}.",
        contradicted="The bridge at {town} opened in {b}.",
        nothing="The bridge at {town} was repaired in {a}.",
        slots={"town": TOWNS, "a b": YEARS},
    ),
    Template(
        name="short-member",
        kind="negation",
        evidence="{land} is not a member of the union.",
        supported="{land} is not a member of the union.",
        contradicted="{land} is a member of the union.",
        nothing="{land} was never asked to join the union.",
        slots={"land": (*COUNTRIES, "Iceland", "Uruguay")},
    ),
    Template(
        name="short-licence",
        kind="negation",
        evidence="{who} has a licence to fly. It was issued in {year}.",
        supported="{who} has a licence to fly.",
        contradicted="{who} has no licence to fly.",
        nothing="{who} owns a plane.",
        slots={"who": PEOPLE, "year": YEARS},
    ),
    Template(
        name="short-price",
        kind="opposites",
        evidence="The price of {metal} rose in {year}.",
        supported="The price of {metal} rose in {year}.",
        contradicted="The price of {metal} fell in {year}.",
        nothing="The export of {metal} rose in {year}.",
        slots={"metal": _METALS, "year": YEARS},
    ),
    Template(
        name="short-schools",
        kind="quantifiers",
        evidence="All schools in {town} were closed on Monday.",
        supported="All schools in {town} were closed on Monday.",
        contradicted="None of the schools in {town} were closed on Monday.",
        nothing="All shops in {town} were closed on Monday.",
        slots={"town": TOWNS},
    ),
)
