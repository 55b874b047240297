"""The network in the box: MiniLM with three outputs, 8-bit weights, run by onnxruntime on the CPU."""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Protocol, cast

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from evenhand.verify.reading import Reading

FOLDER = files("evenhand.verify") / "model"
LONGEST = 256
_CLAIM_TOKENS = 128
_LONGEST_TEXT = 40 * LONGEST
"""Characters that are cut into tokens, forty for each token that is read."""
_ROOM = 4096
"""Tokens in a batch: what keeps two cores busy, and memory small."""
_SLOWER_FUSED = ("SkipLayerNormFusion", "BiasGeluFusion")
"""onnxruntime's own rewritings that take longer than what they replace (decision 0008 has the figures)."""


class _Options(Protocol):
    """What is used of onnxruntime's options, which have no types."""

    log_severity_level: int

    def add_session_config_entry(self, key: str, value: str) -> None: ...


class _Session(Protocol):
    """What is used of its sessions."""

    def run(self, outputs: None, inputs: dict[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]: ...


class Network:
    """Loading takes a third of a second and some 70 MB; `shared` is loaded once for the process."""

    def __init__(self, folder: Traversable = FOLDER) -> None:
        options = cast("_Options", onnxruntime.SessionOptions())  # pyright: ignore[reportUnknownMemberType]
        options.log_severity_level = 3
        # Within a run the threads wait for one another by spinning; after it the cores belong to others again.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        model = (folder / "model.onnx").read_bytes()
        self.digest = hashlib.sha256(model).hexdigest()
        session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"], disabled_optimizers=_SLOWER_FUSED
        )
        self._session = cast("_Session", session)
        self._tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """A reading for each pair of evidence and claim."""
        logits = self.logits(pairs)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = odds / odds.sum(axis=1, keepdims=True)
        return [Reading(*map(float, row)) for row in shares]

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """The three outputs for each pair: supported, contradicted, neither."""
        found = np.zeros((len(pairs), 3))
        encoded = self.encoded(pairs)
        for batch in batches([len(ids) for ids, _ in encoded]):
            found[batch] = self.run([encoded[at] for at in batch])
        return found

    def encoded(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], int]]:
        """Token ids of each pair, and where its claim begins. Each text is cut into tokens once."""
        texts = list({text[:_LONGEST_TEXT] for pair in pairs for text in pair})
        found: list[Encoding] = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        ids = {text: one.ids for text, one in zip(texts, found, strict=True)}
        return [_together(ids[evidence[:_LONGEST_TEXT]], ids[claim[:_LONGEST_TEXT]]) for evidence, claim in pairs]

    def run(self, rows: Sequence[tuple[list[int], int]]) -> NDArray[np.float32]:
        """The outputs for pairs of similar length."""
        return self._session.run(None, inputs_of(rows))[0]


def inputs_of(rows: Sequence[tuple[list[int], int]]) -> dict[str, NDArray[np.int64]]:
    """Pairs as BERT takes them, padded to the longest."""
    width = max(len(ids) for ids, _ in rows)
    tokens, mask, kinds = (np.zeros((len(rows), width), dtype=np.int64) for _ in range(3))
    for at, (ids, claim) in enumerate(rows):
        tokens[at, : len(ids)] = ids
        mask[at, : len(ids)] = 1
        kinds[at, claim : len(ids)] = 1
    return {"input_ids": tokens, "attention_mask": mask, "token_type_ids": kinds}


# BERT's marks for the beginning and for the end of a part.
_START, _PART = 101, 102


def _together(evidence: list[int], claim: list[int]) -> tuple[list[int], int]:
    """Of a long claim the beginning is kept, then of the evidence."""
    claim = claim[:_CLAIM_TOKENS]
    head = [_START, *evidence[: LONGEST - len(claim) - 3], _PART]
    return [*head, *claim, _PART], len(head)


@cache
def shared() -> Network:
    """The one network of this process."""
    return Network()


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Pairs of similar length together, so that little is padded; at most `_ROOM` tokens at once."""
    made, batch = list[list[int]](), list[int]()
    for at in sorted(range(len(lengths)), key=lambda at: lengths[at]):
        if batch and lengths[at] * (len(batch) + 1) > _ROOM:
            made.append(batch)
            batch = []
        batch.append(at)
    return [*made, batch] if batch else made
