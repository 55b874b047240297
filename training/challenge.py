"""The challenge set: minimal pairs of our own making, to see what a verifier tells apart and what it merely guesses.

A pair is one evidence with a claim that it bears out and the same claim changed in one thing, so that a verifier which
goes by the words alone gets one of the two wrong. To a third of the pairs belongs one that the evidence is silent on.
Development and test have different templates: no sentence is in both but for the names and numbers filled in.

There are two wordings. `close` claims keep to the words of the evidence, so that the one thing that was changed
decides. `free` ones paraphrase it as people would ("found the net" for "scored"), which asks for understanding as well.
For development there are also pairs against a single short sentence or two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from training import challenge_dev, challenge_dev_b, close_dev, close_dev_b, close_test, free_test, short_dev
from training.challenge_fill import Kind, Template, capital

PAIRS = 8
_SILENT = 3
_TRIES = 1000


@dataclass(frozen=True, slots=True)
class Case:
    """One claim to judge; the cases of one pair share their evidence."""

    evidence: str
    claim: str
    label: Literal["supported", "contradicted", "no_evidence"]
    kind: Kind
    template: str
    pair: str


Wording = Literal["close", "free", "short"]
_TEMPLATES: Mapping[tuple[str, str], Sequence[Template]] = {
    ("close", "dev"): (*close_dev.TEMPLATES, *close_dev_b.TEMPLATES),
    ("close", "test"): close_test.TEMPLATES,
    ("free", "dev"): (*challenge_dev.TEMPLATES, *challenge_dev_b.TEMPLATES),
    ("free", "test"): free_test.TEMPLATES,
    ("short", "dev"): short_dev.TEMPLATES,
}


def cases(split: Literal["dev", "test"], wording: Wording = "close") -> list[Case]:
    """All cases of a split, always the same, pair by pair."""
    return [case for template in _TEMPLATES[wording, split] for case in _of(template)]


def _of(template: Template) -> list[Case]:
    random = Random(template.name)
    seen: set[str] = set()
    found: list[Case] = []
    for _ in range(_TRIES):
        values = template.filled(random)
        supported = capital(template.supported.format(**values))
        if supported in seen:
            continue
        found.extend(_pair(template, values, len(seen)))
        seen.add(supported)
        if len(seen) == PAIRS:
            return found
    raise ValueError(f"{template.name} has too few fillings for {PAIRS} pairs")


def _pair(template: Template, values: dict[str, str], number: int) -> list[Case]:
    evidence = capital(template.evidence.format(**values))
    name = f"{template.name}-{number}"

    def case(text: str, label: Literal["supported", "contradicted", "no_evidence"]) -> Case:
        return Case(evidence, capital(text.format(**values)), label, template.kind, template.name, name)

    made = [case(template.supported, "supported"), case(template.contradicted, "contradicted")]
    return [*made, case(template.nothing, "no_evidence")] if number % _SILENT == 0 else made
