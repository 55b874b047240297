"""One detail changed in an otherwise identical sentence: what people try first."""

from collections.abc import Iterator
from random import Random

import pytest

from evenhand.verify.network import shared
from evenhand.verify.retrieval import Article
from evenhand.verify.verifier import SupportLabel, conclude, prepare

PEOPLE = "Ada Lund|Otto Brandt|Mary Poole|Ravi Menon|Ines Calder|Tom Avery|Lena Fisk|Hugo Marsh|Nora Quill".split("|")
PLACES = "Lisbon|Harrow|Tromsø|Leeds|Nairobi|Kyoto|Bergen|Quito|Dublin|Geneva".split("|")
TEMPLATES = (
    "{person} opened the {thing} in {place} in {year}.",
    "The {thing} of {place} was rebuilt by {person} in {year} at a cost of {number} million euros.",
    "In {year}, about {number} people worked at the {thing} that {person} had founded in {place}.",
    "{person}, who was born in {place}, sold {number} copies of her book about the {thing} in {year}.",
    "According to {person}, the {thing} in {place} had {number} visitors in {year}.",
    "A fire damaged {number} rooms of the {thing} in {place} in {year}, and {person} led the repairs.",
)
THINGS = "bridge museum dairy library ferry hospital theatre mill station observatory".split()
MANY, ENOUGH = 100, 95


def sentences(kind: str, random: Random) -> Iterator[tuple[str, str]]:
    """True and changed sentences."""
    while True:
        person, other = random.sample(PEOPLE, 2)
        place, elsewhere = random.sample(PLACES, 2)
        number, year = random.randint(12, 980), random.randint(1810, 2020)
        true = {"person": person, "place": place, "number": str(number), "year": str(year)}
        false = {
            "number": {"number": str(round(number * random.choice((0.4, 0.6, 1.5, 2.2)) + 1))},
            "year": {"year": str(year + random.choice((-40, -7, -3, 2, 5, 12)))},
            "name": random.choice(({"person": other}, {"place": elsewhere})),
        }[kind]
        template, thing = random.choice(TEMPLATES), random.choice(THINGS)
        one = template.format(thing=thing, **true)
        another = template.format(thing=thing, **true | false)
        if one != another:
            yield one, another


def label(claim: str, evidence: str) -> SupportLabel:
    article = Article(evidence)
    reads = prepare(claim, article)
    return conclude(reads, shared().read(reads.pairs), article, calibrated=True).label


@pytest.mark.parametrize("kind", ["number", "year", "name"])
def test_a_changed_detail_is_noticed_and_an_unchanged_sentence_is_supported(kind: str):
    source = sentences(kind, Random(20))
    pairs = [next(source) for _ in range(MANY)]
    kept = sum(label(true, true) is SupportLabel.SUPPORTED for true, _ in pairs)
    noticed = sum(label(false, true) is SupportLabel.CONTRADICTED for true, false in pairs)
    assert min(kept, noticed) >= ENOUGH, f"{kept} of {MANY} supported, {noticed} changes noticed"


@pytest.mark.parametrize(
    ("claim", "evidence", "wanted"),
    [
        ("The bridge was built in 1951.", "The bridge was built in 1952.", SupportLabel.CONTRADICTED),
        ("The bridge was built in 1952.", "The bridge was built in 1952.", SupportLabel.SUPPORTED),
        ("45,000 people live there.", "450,000 people live there.", SupportLabel.CONTRADICTED),
        ("The town has 1,000 inhabitants.", "The town has 1000 inhabitants.", SupportLabel.SUPPORTED),
        ("The club has five hundred members.", "The club has 500 members.", SupportLabel.SUPPORTED),
        ("It earned $1.2 million.", "It earned $1,200,000.", SupportLabel.SUPPORTED),
        ("It earned $1.2 million.", "It earned $1,300,000.", SupportLabel.CONTRADICTED),
        ("Sales rose by 12 percent in 2021.", "Sales rose by 12% in 2020.", SupportLabel.CONTRADICTED),
    ],
)
def test_of_a_sentence_that_is_otherwise_the_same_the_value_decides(claim: str, evidence: str, wanted: SupportLabel):
    assert label(claim, f"{evidence} Nothing else is known about it.") is wanted
