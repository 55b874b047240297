"""Readers of a claim with its evidence: the built-in network, a Hugging Face classifier, or any language model."""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Protocol as Interface

from evenhand.errors import RaterFailure
from evenhand.llm.base import Chat
from evenhand.protocol.load import read_protocol
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Judgement, Rater, local_computation
from evenhand.raters.ensemble import all_of
from evenhand.raters.verifier.support_labels import Support, support_of
from evenhand.records import Answer, Item, Unit
from evenhand.verify.network import FOLDER, shared
from evenhand.verify.reading import Reader, Reading
from evenhand.verify.verifier import Label

Pair = tuple[str, str]
"""Evidence and claim."""

_CLAIM = Unit("claim", "claim", 1)
_LEAST = 0.5
"""A label that a model chose is at least as likely as all others together, whatever confidence it states."""


@dataclass(frozen=True, slots=True)
class Read:
    """What became of one pair: a reading, or the failure that stands in its place.

    `words` are the reader's own reasons, `reply` the id of the stored reply, where there are such.
    """

    reading: Reading | None
    failure: RaterFailure | None = None
    words: str | None = None
    reply: str | None = None
    seconds: float | None = None


class ClaimReader(Interface):
    """Reads pairs for a verifier."""

    @property
    def settings(self) -> Mapping[str, object]: ...

    @property
    def calibrated(self) -> bool:
        """Whether it is the network that the checks and the calibration were fitted to."""
        ...

    @property
    def chats(self) -> Sequence[Chat]: ...

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Entered before a task is taken up, left when it is done."""
        ...

    async def read(self, pairs: Sequence[Pair]) -> Sequence[Read]:
        """The result for each pair, in their order."""
        ...


class LocalReader:
    """A network in this process, loaded when it is first needed."""

    chats: Sequence[Chat] = ()

    def __init__(self, load: Callable[[], Reader], settings: Mapping[str, object], *, calibrated: bool) -> None:
        self._load = load
        self.settings = settings
        self.calibrated = calibrated

    def turn(self) -> AbstractAsyncContextManager[None]:
        return local_computation()

    async def read(self, pairs: Sequence[Pair]) -> Sequence[Read]:
        return await asyncio.to_thread(self._read, pairs)

    def _read(self, pairs: Sequence[Pair]) -> Sequence[Read]:
        if not pairs:
            return ()
        network = self._load()
        began = time.perf_counter()
        readings = network.read(pairs)
        seconds = (time.perf_counter() - began) / len(pairs)
        return [_checked(Read(reading, seconds=seconds)) for reading in readings]


def _checked(read: Read) -> Read:
    """A network whose numbers overflow says nothing, and that is no "no evidence"."""
    given = read.reading
    if given is not None and isfinite(given.supported + given.contradicted + given.neither):
        return read
    return replace(read, reading=None, failure=RaterFailure("the network's output is not a number"))


def built_in_reader() -> LocalReader:
    """The network that comes with Evenhand."""
    return LocalReader(shared, {"model": _model_digest()[:16]}, calibrated=True)


@cache
def _model_digest() -> str:
    """SHA-256 of everything that was learnt: the network, its words, and how it is combined with the checks."""
    digest = hashlib.sha256()
    for name in ("model.onnx", "tokenizer.json", "combine.json"):
        digest.update(hashlib.sha256((FOLDER / name).read_bytes()).digest())
    return digest.hexdigest()


@cache
def claim_reading() -> Protocol:
    """The protocol under which a language model reads a claim: any judge can be asked by it."""
    source = files("evenhand.raters.verifier") / "claim_reading.yaml"
    return read_protocol(source.read_text(encoding="utf-8"), "claim_reading.yaml")


class ModelReader:
    """A language model that rates one claim against one window of evidence at a time, under `claim_reading`."""

    calibrated = False

    def __init__(self, rater: Rater) -> None:
        self._rater = rater
        self._support: Support = support_of(claim_reading())
        self.settings: Mapping[str, object] = {
            "protocol": claim_reading().digest[:16],
            "rater": rater.ref.id,
            "settings": dict(rater.settings),
        }

    @property
    def chats(self) -> Sequence[Chat]:
        return self._rater.chats

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Calls are limited by the chat itself."""
        yield

    async def read(self, pairs: Sequence[Pair]) -> Sequence[Read]:
        found = await all_of(self._rater.rate_units(_claim_item(pair), [_CLAIM]) for pair in pairs)
        return [self._read(judgement) for (judgement,) in found]

    def _read(self, judgement: Judgement) -> Read:
        if judgement.failure is not None:
            return Read(None, judgement.failure, reply=judgement.reply, seconds=judgement.seconds)
        (answer,) = judgement.answers
        return Read(self._reading(answer), None, answer.rationale, judgement.reply, judgement.seconds)

    def _reading(self, answer: Answer) -> Reading:
        """The model's odds where it was asked for them, else the confidence that it states."""
        outcomes = (Label.SUPPORTED, Label.CONTRADICTED, Label.NO_EVIDENCE)
        names = [self._support.labels[outcome] for outcome in outcomes]
        if answer.distribution:
            odds = dict(answer.distribution)
            return Reading(*(float(odds.get(name, 0.0)) for name in names))
        chosen = names.index(str(self._support.criterion.scale.read(answer.value)))
        sure = max((answer.confidence or 0.0) / 100, _LEAST)
        return Reading(*(sure if place == chosen else (1 - sure) / 2 for place in range(3)))


def _claim_item(pair: Pair) -> Item:
    evidence, claim = pair
    return Item("claim", {"evidence": evidence, "claim": claim})
