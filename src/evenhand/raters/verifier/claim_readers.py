"""Readers of a claim with its evidence: the built-in network, another classifier, or any language model."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from math import isfinite
from typing import Any
from typing import Protocol as Interface

from evenhand.errors import RaterFailure, UserError
from evenhand.llm.base import Chat
from evenhand.llm.hugging_face.model import load_pretrained, model_name, package
from evenhand.protocol.completion import Judgement
from evenhand.protocol.load import read_protocol
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Rater, local_computation
from evenhand.raters.ensemble import all_of
from evenhand.raters.verifier.support_labels import outputs_of, supports_of
from evenhand.records import Answer, Item, Unit
from evenhand.verify.network import FOLDER, Pair, Reading, shared
from evenhand.verify.verifier import SupportLabel

VALID = (
    "Valid is the folder of a sequence classification model that was taught natural language inference (config.json, "
    "its weights as .safetensors, tokenizer.json) or the id of one on the Hugging Face hub, such as "
    "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli"
)
LONGEST = 512
"""Tokens of evidence and claim together: what such models were taught with, where they do not say less."""

_OUTCOMES = (SupportLabel.SUPPORTED, SupportLabel.CONTRADICTED, SupportLabel.NO_EVIDENCE)
_CLAIM = Unit("claim", "claim", 1)
_LEAST = 0.5
"""A label that a model chose is at least as likely as all others together, whatever confidence it states."""


@dataclass(frozen=True, slots=True)
class Read:
    """What became of a pair: a reading or a failure. `words`: the reader's own reasons; `reply`: the stored reply."""

    reading: Reading | None
    failure: RaterFailure | None = None
    words: str | None = None
    reply: str | None = None
    seconds: float | None = None

    def share(self, label: SupportLabel) -> float:
        """How likely the pair is of this label, one of the three that a reading is about."""
        return self.reading[_OUTCOMES.index(label)] if self.reading is not None else 0.0


class Reader(Interface):
    """Anything that reads pairs of evidence and claim: the built-in network, or a larger one."""

    def read(self, pairs: Sequence[Pair]) -> Sequence[Reading]:
        """A reading for each pair, in their order."""
        ...


class LocalReader:
    """A network in this process, loaded when first needed. `calibrated`: the calibration was fitted to this network."""

    chats: Sequence[Chat] = ()
    turn = staticmethod(local_computation)

    def __init__(self, load: Callable[[], Reader], settings: Mapping[str, object], *, calibrated: bool = False) -> None:
        self._load = load
        self.settings = settings
        self.calibrated = calibrated

    async def read(self, pairs: Sequence[Pair]) -> Sequence[Read]:
        """The result for each pair, in their order."""
        return await asyncio.to_thread(self._read, pairs) if pairs else ()

    def _read(self, pairs: Sequence[Pair]) -> Sequence[Read]:
        network = self._load()
        began = time.perf_counter()
        distinct = list(dict.fromkeys(pairs))
        readings = dict(zip(distinct, network.read(distinct), strict=True))
        seconds = (time.perf_counter() - began) / len(pairs)
        # A network whose numbers overflow says nothing, and that is no "no evidence".
        failure = RaterFailure("the network's output is not a number")
        return [
            Read(one, words=getattr(one, "words", None), seconds=seconds)
            if isfinite(sum(one))
            else Read(None, failure, seconds=seconds)
            for one in (readings[pair] for pair in pairs)
        ]


@cache
def built_in_reader() -> LocalReader:
    """The network that comes with Evenhand, with a digest of all that was learnt: also its words and calibration."""
    digest = hashlib.sha256()
    for name in ("model.onnx", "tokenizer.json", "calibration.json"):
        digest.update(hashlib.sha256((FOLDER / name).read_bytes()).digest())
    return LocalReader(shared, {"model": digest.hexdigest()[:16]}, calibrated=True)


@cache
def claim_reading() -> Protocol:
    """The protocol under which a language model reads a claim: any judge can be asked by it."""
    source = files("evenhand.raters.verifier") / "claim_reading.yaml"
    return read_protocol(source.read_text(encoding="utf-8"), "claim_reading.yaml")


class ModelReader:
    """A language model that rates one claim against one window of evidence at a time, under `claim_reading`."""

    calibrated = False
    turn = staticmethod(nullcontext[None])
    """Calls are limited by the chat itself."""

    def __init__(self, rater: Rater) -> None:
        self._rater = rater
        self.chats = rater.chats
        (self._support,) = supports_of(claim_reading())
        self.settings: Mapping[str, object] = {
            "protocol": claim_reading().digest[:16],
            "rater": rater.ref.id,
            "settings": dict(rater.settings),
        }

    async def read(self, pairs: Sequence[Pair]) -> Sequence[Read]:
        """The result for each pair, in their order."""
        items = [Item("claim", {"evidence": evidence, "claim": claim}) for evidence, claim in pairs]
        return [self._read(one) for (one,) in await all_of(self._rater.rate_units(item, [_CLAIM]) for item in items)]

    def _read(self, judgement: Judgement) -> Read:
        if judgement.failure is not None:
            return Read(None, judgement.failure, reply=judgement.reply, seconds=judgement.seconds)
        (answer,) = judgement.answers
        return Read(self._reading(answer), None, answer.rationale, judgement.reply, judgement.seconds)

    def _reading(self, answer: Answer) -> Reading:
        """The model's odds where it was asked for them, else the confidence that it states."""
        names = [self._support.labels[outcome] for outcome in _OUTCOMES]
        if answer.distribution:
            odds = dict(answer.distribution)
            return Reading(*(float(odds.get(name, 0.0)) for name in names))
        chosen = names.index(str(self._support.criterion.scale.read(answer.value)))
        sure = max((answer.confidence or 0.0) / 100, _LEAST)
        return Reading(*(sure if place == chosen else (1 - sure) / 2 for place in range(3)))


ClaimReader = LocalReader | ModelReader


class NliModel:
    """A Hugging Face classifier that was taught natural language inference."""

    def __init__(self, source: str, *, device: str = "auto", dtype: str = "auto", batch_size: int = 8) -> None:
        """Load a folder or an id of the hub. Raises UserError, also if its labels do not say what they mean."""
        auto_class, check = "AutoModelForSequenceClassification", partial(_outputs, source)
        model, tokenizer = load_pretrained(auto_class, source, VALID, device=device, dtype=dtype, check=check)
        limits = (getattr(model.config, "max_position_embeddings", None), tokenizer.model_max_length, LONGEST)
        self._longest = min(limit for limit in limits if limit is not None and limit > 0)
        self.name = model_name(source, model, tokenizer)
        self._model, self._tokenizer = model.eval(), tokenizer
        self._outputs = _outputs(source, model.config)
        self._batch_size = batch_size

    def read(self, pairs: Sequence[Pair]) -> Sequence[Reading]:
        """A reading for each pair of evidence and claim. Of what is too long together, the longer one loses its end."""
        # More characters than the longest pieces of any tokenizer could cover are cut before it sees them.
        short = [[text[: 40 * self._longest] for text in pair] for pair in pairs]
        order = sorted(range(len(pairs)), key=lambda place: sum(map(len, pairs[place])))
        options = {"truncation": True, "max_length": self._longest, "padding": True, "return_tensors": "pt"}
        found: dict[int, Reading] = {}
        for start in range(0, len(order), self._batch_size):
            places = order[start : start + self._batch_size]
            texts = map(list, zip(*(short[place] for place in places), strict=True))
            inputs = self._tokenizer(*texts, **options).to(self._model.device)
            with package("torch").inference_mode():
                rows: list[list[float]] = self._model(**inputs).logits.float().softmax(-1).tolist()
            for place, row in zip(places, rows, strict=True):
                found[place] = Reading(*(sum(row[output] for output in outputs) for outputs in self._outputs))
        return [found[place] for place in range(len(pairs))]


def _outputs(source: str, config: Any) -> Sequence[Sequence[int]]:
    """Which outputs of a sequence classifier mean supported, contradicted, neither."""
    kinds: Sequence[str] = getattr(config, "architectures", None) or ()
    # Without its own output layer a model would get one of random numbers, and rate by them.
    if not any("SequenceClassification" in kind for kind in kinds):
        told = ", ".join(kinds) or "nothing known"
        raise UserError(f"{source}: this model is {told}, no sequence classifier. {VALID}")
    return outputs_of(source, {place: str(name) for place, name in config.id2label.items()})
