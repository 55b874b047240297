"""Pairs as the verifier sees them: what the network reads in each sentence of a claim, and what the checks find."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.nlp.sentences import sentences
from evenhand.verify.checks import findings
from evenhand.verify.combining import Combination, features_of
from evenhand.verify.evidence import Article
from evenhand.verify.network import Network
from evenhand.verify.reading import Reading
from evenhand.verify.verifier import Part, Reads, UnknownLanguage, prepare
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
        Measured(
            pair, np.array(_rows([part for reads in some for part in reads.parts], articles[pair.evidence], readings))
        )
        for pair, some in zip(pairs, prepared, strict=True)
    ]


def labels_of(cases: Sequence[Measured], combination: Combination) -> list[str]:
    """The label of each pair, as `verifier.whole` gives it."""
    return [label_of(shares, combination.threshold) for shares in probabilities_of(cases, combination)]


def label_of(shares: NDArray[np.float64], threshold: float) -> str:
    """The label of a claim from the probabilities of its pieces."""
    held = shares[:, 0] >= np.maximum(shares[:, 1], threshold)
    if len(held) and held.all():
        return SUPPORTED
    return CONTRADICTED if (~held & (shares[:, 1] >= shares[:, 2])).any() else NO_EVIDENCE


def shares_of(cases: Sequence[Measured], combination: Combination) -> NDArray[np.float64]:
    """How likely each pair's claim is supported: as its least likely piece."""
    found = probabilities_of(cases, combination)
    return np.array([shares[:, 0].min() if len(shares) else 0.0 for shares in found])


def probabilities_of(cases: Sequence[Measured], combination: Combination) -> list[NDArray[np.float64]]:
    """Supported, contradicted and neither for each piece of each pair's claim."""
    rows = np.concatenate([case.rows.reshape(-1, len(combination.weights) - 1) for case in cases])
    scores = rows @ combination.weights[:-1] + combination.weights[-1]
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.split(odds / odds.sum(axis=1, keepdims=True), np.cumsum([len(case.rows) for case in cases])[:-1])


def _reads(claim: str, article: Article) -> list[Reads]:
    reads: list[Reads] = []
    for start, end in sentences(claim):
        try:
            reads.append(prepare(claim[start:end], article))
        except UnknownLanguage:
            continue
    return reads


def _rows(parts: Sequence[Part], article: Article, readings: Iterator[Reading]) -> list[tuple[float, ...]]:
    """A row for each part of a claim; its readings are the next ones."""
    rows: list[tuple[float, ...]] = []
    for part in parts:
        own = [next(readings) for _ in part.places]
        rows.append(features_of(own, findings(part.claim, article.joined(part.places[0]), article), len(parts)))
    return rows
