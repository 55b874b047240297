"""Templates of the challenge set: an evidence, a claim it bears out, the claim changed, and one it is silent on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

Kind = Literal["numbers", "units", "dates", "names", "negation", "opposites", "quantifiers"]


@dataclass(frozen=True, slots=True)
class Template:
    """Texts with slots. A key of `slots` names one or more slots, filled together.

    Where the values are rows, one row is drawn; where they are single texts, each slot gets another of them.
    """

    name: str
    kind: Kind
    evidence: str
    supported: str
    contradicted: str
    nothing: str
    slots: Mapping[str, Sequence[str] | Sequence[tuple[str, ...]]]

    def filled(self, random: Random) -> dict[str, str]:
        """One drawing of all slots."""
        values: dict[str, str] = {}
        for key, choices in self.slots.items():
            names = key.split()
            first = choices[0]
            row = random.sample(choices, len(names)) if isinstance(first, str) else random.choice(choices)
            values.update(zip(names, (str(value) for value in row), strict=True))
        return values


def capital(text: str) -> str:
    """A filled text as a sentence begins."""
    return text[:1].upper() + text[1:]


PEOPLE = (
    "Maren Holt", "Tomas Reyes", "Ada Lindqvist", "Victor Okafor", "Priya Raman", "Jonas Weller", "Elena Costa",
    "Samuel Archer", "Yuki Tanabe", "Nadia Farouk", "Owen Blackwood", "Clara Mendes", "Peter Novak", "Ingrid Solberg",
)  # fmt: skip
TOWNS = (
    "Harlow Bay", "Kestrel Point", "Ostermark", "Vellano", "Brindale", "Norwick", "Tessaly", "Port Adair", "Quillan",
    "Marshfield", "Aldercross", "Lindmouth",
)  # fmt: skip
FIRMS = (
    "Norvane", "Brightwell", "Tessera Foods", "Calder Motors", "Ostrava Steel", "Pinnacle Freight", "Luma Systems",
    "Greyline Air", "Helix Pharma", "Corvid Press",
)  # fmt: skip
COUNTRIES = (
    "Portugal", "Norway", "Chile", "Kenya", "Vietnam", "Poland", "Canada", "Ghana", "Peru", "Finland", "Morocco",
    "Austria",
)  # fmt: skip
DRUGS = ("velarapine", "tomocitrin", "brenzolid", "ostavir", "calipramine", "neurodexin", "farizole", "meltorin")
CLUBS = ("Rovers", "Albion", "Dynamo", "Wanderers", "Athletic", "Harriers", "Mariners", "Sporting")
YEARS = ("1871", "1884", "1893", "1906", "1912", "1925", "1938", "1949", "1957", "1963", "1974", "1988", "1996", "2003")
MONTHS = ("January", "February", "March", "April", "June", "July", "August", "September", "October", "November")
COUNTS = ("14", "17", "23", "28", "36", "41", "57", "62", "79", "85", "93")
