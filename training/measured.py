"""Pairs as the verifier sees them: what the network reads in each sentence of a claim, and what the checks find."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.segments.sentences import sentences
from evenhand.verify.checks import findings
from evenhand.verify.combining import Combination, features_of
from evenhand.verify.evidence import Article
from evenhand.verify.network import Network
from evenhand.verify.reading import Reading
from evenhand.verify.verifier import Reads, UnknownLanguage, prepare
from training.sets import CONTRADICTED, NO_EVIDENCE, SUPPORTED, Pair


@dataclass(frozen=True, slots=True)
class Measured:
    """A pair, and a row of features for each piece of its claim; no row where it claims nothing that can be read."""

    pair: Pair
    rows: NDArray[np.float64]


def measured(pairs: Sequence[Pair], network: Network) -> list[Measured]:
    """The features of every pair. An article that several claims are held against is cut once."""
    articles = {pair.evidence: Article(pair.evidence) for pair in pairs}
    prepared = [_reads(pair.claim, articles[pair.evidence]) for pair in pairs]
    readings = iter(network.read([each for some in prepared for reads in some for each in reads.pairs]))
    return [
        Measured(pair, np.array([row for reads in some for row in _rows(reads, articles[pair.evidence], readings)]))
        for pair, some in zip(pairs, prepared, strict=True)
    ]


def labels_of(cases: Sequence[Measured], combination: Combination) -> list[str]:
    """The label of each pair, as `verifier.whole` gives it."""
    return [_label(case.rows, combination) for case in cases]


def shares_of(cases: Sequence[Measured], combination: Combination) -> NDArray[np.float64]:
    """How likely each pair's claim is supported: as its least likely piece."""
    return np.array([
        min((combination.probabilities(row)[0] for row in case.rows), default=0.0) for case in cases
    ])  # fmt: skip


def _label(rows: NDArray[np.float64], combination: Combination) -> str:
    shares = [combination.probabilities(row) for row in rows]
    if shares and all(supported >= combination.threshold for supported, _, _ in shares):
        return SUPPORTED
    false = any(
        supported < combination.threshold and contradicted >= neither for supported, contradicted, neither in shares
    )
    return CONTRADICTED if false else NO_EVIDENCE


def _reads(claim: str, article: Article) -> list[Reads]:
    reads: list[Reads] = []
    for start, end in sentences(claim):
        try:
            reads.append(prepare(claim[start:end], article))
        except UnknownLanguage:
            continue
    return reads


def _rows(reads: Reads, article: Article, readings: Iterator[Reading]) -> list[tuple[float, ...]]:
    """A row for each part of a claim; its readings are the next ones."""
    rows: list[tuple[float, ...]] = []
    for part in reads.parts:
        own = [next(readings) for _ in part.places]
        rows.append(features_of(own, findings(part.claim, article.joined(part.places[0]), article)))
    return rows
