"""Labelled pairs of evidence and claim: reading them, and which may be trained on.

A group is what pairs share: the premise, the article, the topic or the question. Pairs are divided by group, never by
row, because two pairs of one group are almost the same question to a network.
"""

import gzip
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

SUPPORTED, CONTRADICTED, NO_EVIDENCE, NOT_SUPPORTED = "supported", "contradicted", "no_evidence", "not_supported"
LABELS = (SUPPORTED, CONTRADICTED, NO_EVIDENCE)

# A third of the groups of these sets is never trained on, and measures the verifier.
HELD_BACK = ("fever", "fool-me-twice-dev", "evinf", "pubmedqa")
# Generated text. Half of the groups of the first three measure the verifier, and all of the fourth.
GENERATED = ("begin", "wice", "summedits", "attributionbench")
# Without a licence that allows training weights that are passed on.
_UNLICENSED = ("healthver", "attributionbench", "nli4ct", "propsegment", "multirc")

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"“(]?[A-Z0-9])")
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
    def set(self) -> str:
        """The published set that the pair is from: some are in several parts."""
        return next((name for name in (*GENERATED, "healthver") if self.source.startswith(name)), self.source)

    @property
    def held_back(self) -> bool:
        """Whether this pair's group is kept for measuring."""
        if self.set in ("attributionbench", "healthver"):
            return True
        shares = dict.fromkeys(HELD_BACK, 3) | dict.fromkeys(GENERATED, 2)
        # SummEdits has one group for all documents of a domain.
        group = self.evidence if self.set == "summedits" else self.group
        return self.set in shares and int(hashlib.sha256(group.encode()).hexdigest(), 16) % shares[self.set] == 0


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
    pairs = [pair for pair in read(folder, "nli_train", "fact_train", "extra_train") if pair.set not in _UNLICENSED]
    generated = [pair for pair in read(folder, "grounding_dev") if pair.set not in _UNLICENSED]
    pairs += [pair for pair in generated if pair.set != "summedits" and len(split(pair.claim)) == 1]
    pairs += edited_sentences([pair for pair in generated if pair.set == "summedits"])
    return [pair for pair in pairs if not pair.held_back]


def edited_sentences(summaries: Sequence[Pair]) -> Iterator[Pair]:
    """The sentences of summaries with a label of their own.

    Those of a supported summary are supported. If a summary is not supported and all its sentences but one also occur
    in a supported one of the same document, that one is not supported.
    """
    documents: dict[str, list[Pair]] = defaultdict(list)
    for pair in summaries:
        documents[pair.evidence].append(pair)
    for pairs in documents.values():
        supported = [pair for pair in pairs if pair.label == SUPPORTED]
        good = {said: pair for pair in supported for said in split(pair.claim)}
        bad: dict[str, Pair] = {}
        for pair in pairs:
            others = [said for said in split(pair.claim) if said not in good]
            if len(others) == 1:
                bad[others[0]] = pair
        yield from (replace(pair, claim=said) for said, pair in (good | bad).items())


def split(text: str) -> list[str]:
    """The sentences of a text, roughly."""
    return _SENTENCE.split(text)


def for_measuring(folder: Path) -> dict[str, list[Pair]]:
    """The development sets by name: generated text, HealthVer, and what was held back."""
    sets: dict[str, list[Pair]] = {}
    for pair in read(folder, "grounding_dev", "fact_train", "extra_train"):
        if pair.held_back:
            sets.setdefault(pair.set, []).append(pair)
    return sets
