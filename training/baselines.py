"""What the verifier has to beat: words in common, and the similarity of MiniLM's own embeddings."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from evenhand.nlp.sentences import sentences
from evenhand.verify.stems import stems_of
from training.network import base_folder
from training.sets import Pair


def overlap(pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """The share of the claim's words that the evidence has."""
    known = {pair.evidence: frozenset(stems_of(pair.evidence)) for pair in pairs}
    return np.array([_share(set(stems_of(pair.claim)), known[pair.evidence]) for pair in pairs])


def _share(claim: set[str], evidence: frozenset[str]) -> float:
    return len(claim & evidence) / len(claim) if claim else 0.0


class Similarity:
    """The cosine of a claim and of the evidence's sentence that is closest to it, by MiniLM as it was published."""

    def __init__(self) -> None:
        self._model = SentenceTransformer(str(base_folder()), device="cpu")
        self._known: dict[str, torch.Tensor] = {}

    def scores(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        texts = {pair.evidence: self._sentences(pair.evidence) for pair in pairs}
        self._learn(sorted({one for some in texts.values() for one in some} | {pair.claim for pair in pairs}))
        return np.array([self._closest(pair.claim, texts[pair.evidence]) for pair in pairs])

    def _sentences(self, text: str) -> list[str]:
        return [text[start:end] for start, end in sentences(text)][:400] or [""]

    def _learn(self, texts: Sequence[str]) -> None:
        new = [text for text in texts if text not in self._known]
        made = self._model.encode(new, batch_size=64, convert_to_tensor=True, normalize_embeddings=True)
        self._known.update(zip(new, made, strict=True))

    def _closest(self, claim: str, evidence: Sequence[str]) -> float:
        return max(float(self._known[claim] @ self._known[one]) for one in evidence)
