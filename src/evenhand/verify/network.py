"""The built-in network: a small BERT with three outputs and 8-bit weights, run by onnxruntime on the CPU."""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple, cast

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

FOLDER = files("evenhand.verify") / "model"
LONGEST = 256  # tokens of evidence and claim, as in training
_CLAIM_TOKENS = 120
_LONGEST_TEXT = 40 * LONGEST  # characters: more than the longest tokens could cover
_ROOM = 4096  # tokens in a batch: enough to keep two cores busy, and memory small
_START, _SEPARATOR = 101, 102  # BERT's marks
# onnxruntime's own fusions that take longer than what they replace (decision 0008 has the figures).
_SLOWER_FUSED = ("SkipLayerNormFusion", "BiasGeluFusion")

Pair = tuple[str, str]
"""Evidence and claim."""


class Reading(NamedTuple):
    """How likely the evidence supports the claim, contradicts it, or does neither; the three sum to 1."""

    supported: float
    contradicted: float
    neither: float


class Network:
    """The network with its tokenizer. `shared` is loaded once for the process."""

    def __init__(self, folder: Traversable = FOLDER) -> None:
        runtime = cast("Any", onnxruntime)  # it has no types
        options = runtime.SessionOptions()
        options.log_severity_level = 3
        # Within a run the threads wait for one another by spinning; after it the cores belong to others again.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        model = (folder / "model.onnx").read_bytes()
        self.digest = hashlib.sha256(model).hexdigest()
        self._session = runtime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"], disabled_optimizers=_SLOWER_FUSED
        )
        self._tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        """A reading for each pair of evidence and claim."""
        logits = np.zeros((len(pairs), 3))
        encoded = self.encoded(pairs)
        for batch in batches([len(ids) for ids, _ in encoded]):
            logits[batch] = self.run([encoded[at] for at in batch])
        odds = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
        return [Reading(*map(float, row)) for row in odds / odds.sum(axis=1, keepdims=True)]

    def run(self, rows: Sequence[tuple[list[int], int]]) -> NDArray[np.float32]:
        """The three outputs for pairs of similar length."""
        return self._session.run(None, inputs_of(rows))[0]

    def encoded(self, pairs: Sequence[Pair]) -> list[tuple[list[int], int]]:
        """Token ids of each pair, and where its claim begins. Each text is tokenized once."""
        texts = list({text[:_LONGEST_TEXT] for pair in pairs for text in pair})
        found: list[Encoding] = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        ids = {text: one.ids for text, one in zip(texts, found, strict=True)}
        return [_together(ids[evidence[:_LONGEST_TEXT]], ids[claim[:_LONGEST_TEXT]]) for evidence, claim in pairs]


def inputs_of(rows: Sequence[tuple[list[int], int]]) -> dict[str, NDArray[np.int64]]:
    """Pairs as BERT takes them, padded to the longest."""
    width = max(len(ids) for ids, _ in rows)
    tokens, mask, kinds = (np.zeros((len(rows), width), dtype=np.int64) for _ in range(3))
    for at, (ids, claim) in enumerate(rows):
        tokens[at, : len(ids)] = ids
        mask[at, : len(ids)] = 1
        kinds[at, claim : len(ids)] = 1
    return {"input_ids": tokens, "attention_mask": mask, "token_type_ids": kinds}


def _together(evidence: list[int], claim: list[int]) -> tuple[list[int], int]:
    """Of a long claim the beginning is kept, then of the evidence."""
    claim = claim[:_CLAIM_TOKENS]
    head = [_START, *evidence[: LONGEST - len(claim) - 3], _SEPARATOR]
    return [*head, *claim, _SEPARATOR], len(head)


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
