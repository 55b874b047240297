"""The labelled pairs, and who may see them: every set is split by group, and a group is in one split only.

A group is what pairs share: the premise, the article, the topic or the question. Two pairs of one group are nearly the
same question to a model, so that a split by row would test it on what it was taught.
"""

import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Split = Literal["train", "dev", "test"]
SUPPORTED, CONTRADICTED, NO_EVIDENCE, NOT_SUPPORTED = "supported", "contradicted", "no_evidence", "not_supported"
GROUNDING = ("begin", "wice", "attributionbench", "summedits")

# Shares of the rows for train and dev; the rest is test. Sets that are not named are for training alone.
_SHARES = {"begin": (0.4, 0.2), "wice": (0.4, 0.2), "attributionbench": (0.45, 0.2), "healthver": (0.45, 0.15)}
# A SummEdits domain is one group where the published file does not tell its documents apart.
_DOMAINS: Mapping[str, Split] = {
    "summedits-ectsum": "train",
    "summedits-samsum": "train",
    "summedits-sales_email": "train",
    "summedits-qmsumm": "dev",
    "summedits-sales_call": "test",
    "summedits-podcast": "test",
}
_WITHIN = {"summedits-news": (0.5, 0.15), "summedits-scitldr": (0.5, 0.15)}


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, the evidence it is held against, and what people said of it."""

    evidence: str
    claim: str
    label: str
    source: str
    group: str

    @property
    def set(self) -> str:
        return self.source.split("-")[0]


def read(folder: Path, *names: str) -> list[Pair]:
    """The pairs of these files, in their order."""
    pairs: list[Pair] = []
    for name in names:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            pairs.extend(Pair(**json.loads(line)) for line in lines)
    return pairs


def split(pairs: Iterable[Pair]) -> Mapping[Split, list[Pair]]:
    """The pairs of each split."""
    parts: dict[Split, list[Pair]] = {"train": [], "dev": [], "test": []}
    by_source: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_source[pair.source].append(pair)
    for source, rows in sorted(by_source.items()):
        shares = _WITHIN.get(source) or _SHARES.get(rows[0].set)
        if source in _DOMAINS:
            parts[_DOMAINS[source]].extend(rows)
        elif shares:
            for name, some in _by_group(rows, *shares).items():
                parts[name].extend(some)
        else:
            parts["train"].extend(rows)
    return parts


def _by_group(rows: Sequence[Pair], train: float, dev: float) -> Mapping[Split, list[Pair]]:
    """Whole groups, in an order that their names alone decide, until each split has its share of the rows."""
    groups: dict[str, list[Pair]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    parts: dict[Split, list[Pair]] = {"train": [], "dev": [], "test": []}
    wanted: dict[Split, float] = {"train": train, "dev": dev, "test": 1 - train - dev}
    for name in sorted(groups, key=lambda name: hashlib.sha256(name.encode()).hexdigest()):
        emptiest = min(parts, key=lambda part: len(parts[part]) / wanted[part])
        parts[emptiest].extend(groups[name])
    return parts
