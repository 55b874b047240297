"""Labelled pairs of evidence and claim: reading them, and which may be trained on.

A group is what pairs share: the premise, the article, the topic or the question. Pairs are divided by group, never by
row, because two pairs of one group are almost the same question to a network.
"""

import gzip
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

SUPPORTED, CONTRADICTED, NO_EVIDENCE, NOT_SUPPORTED = "supported", "contradicted", "no_evidence", "not_supported"
LABELS = (SUPPORTED, CONTRADICTED, NO_EVIDENCE)

# A third of the groups of these sets is never trained on, and measures the verifier.
HELD_BACK = ("fever", "fool-me-twice-dev", "evinf", "pubmedqa")
# Without a licence that allows training weights that are passed on.
_UNLICENSED = ("healthver-dev", "nli4ct", "propsegment", "multirc")

_SPACED = re.compile(r"\s+([.,;:!?%)\]]|'s\b|n't\b)|([(\[])\s+")


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, the evidence to compare it with, and the label that people gave it."""

    evidence: str
    claim: str
    label: str
    source: str
    group: str

    @property
    def held_back(self) -> bool:
        """Whether this pair's group is kept for measuring."""
        return self.source in HELD_BACK and int(hashlib.sha256(self.group.encode()).hexdigest(), 16) % 3 == 0


def read(folder: Path, *names: str) -> list[Pair]:
    """The pairs of these files in their order, with the spaces of tokenized corpora removed."""
    pairs: list[Pair] = []
    for name in names:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                pairs.append(Pair(**row | {"evidence": tidy(row["evidence"]), "claim": tidy(row["claim"])}))
    return pairs


def tidy(text: str) -> str:
    """The text of a tokenized corpus as people write it."""
    return _SPACED.sub(lambda found: found[1] or found[2], text.replace("-LRB-", "(").replace("-RRB-", ")"))


def for_training(folder: Path) -> list[Pair]:
    """Every pair that the shipped network may be trained on."""
    pairs = read(folder, "nli_train", "fact_train", "extra_train")
    return [pair for pair in pairs if pair.source not in _UNLICENSED and not pair.held_back]


def for_measuring(folder: Path) -> dict[str, list[Pair]]:
    """The development sets by name: generated text, HealthVer, and what was held back."""
    sets: dict[str, list[Pair]] = {}
    for pair in read(folder, "grounding_dev", "fact_train", "extra_train"):
        if pair.source.startswith(("begin", "wice", "attributionbench", "summedits", "healthver")):
            sets.setdefault(pair.source.split("-")[0], []).append(pair)
        elif pair.held_back:
            sets.setdefault(pair.source, []).append(pair)
    return sets
