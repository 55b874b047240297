"""A language model as a rater: the protocol's prompt out, the reply read and checked, and never a score made up."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from evenhand.errors import RaterFailure
from evenhand.llm.base import CallError, Chat, Reply, Request
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Answer, Desk, Judgement, Stored, Task
from evenhand.raters.combine import all_of, combined
from evenhand.raters.odds import odds
from evenhand.raters.options import AS_USUAL, Asking
from evenhand.raters.prompt import PROMPT_FORMAT, Prompts
from evenhand.raters.reply import Fault, Reading, again, read_reply
from evenhand.records import Kind, RaterRef, Unit
from evenhand.scales import Nominal, Ordinal
from evenhand.version import __version__

ALTERNATIVES = 10
"""How many alternatives to each token are asked for where the distribution is wanted."""


class LlmJudge:
    """Rates with one model. A reply that cannot be used is asked for once more with what was wrong, then it fails."""

    def __init__(self, name: str, chat: Chat, protocol: Protocol, asking: Asking = AS_USUAL, *, bounded: bool) -> None:
        self._chat = chat
        self._asking = asking
        # What is asked beside the ratings may be more than people are asked; what is rated, and how, is the same.
        self._asks = _with_reasons(protocol) if asking.reasons else protocol
        self._prompts = Prompts(self._asks, shots=asking.shots, bounded=bounded)
        several = 1.0 if asking.samples > 1 else 0.0
        self._temperature = several if asking.temperature is None else asking.temperature
        self.together = asking.together and protocol.rule.of == "sentence"
        self._max_tokens = asking.max_tokens or (4096 if self.together else 2048)
        self.settings: Mapping[str, object] = {
            "spec": chat.model,
            "prompt": PROMPT_FORMAT,
            **asdict(asking),
            "temperature": self._temperature,
            "max_tokens": self._max_tokens,
            "together": self.together,
            "shots": len(protocol.examples) if asking.shots is None else min(asking.shots, len(protocol.examples)),
        }
        config = hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()
        self.ref = RaterRef(name, Kind.MODEL, __version__, config)

    @property
    def chats(self) -> Sequence[Chat]:
        return (self._chat,)

    def request(self, task: Task) -> Request:
        """What the model is asked about a task."""
        logprobs = ALTERNATIVES if self._asking.logprobs else 0
        return self._prompts.request(
            task,
            max_tokens=self._max_tokens,
            temperature=self._temperature,
            seed=self._asking.seed,
            logprobs=logprobs,
        )

    def questions(self, task: Task) -> Sequence[tuple[Chat, Request, int]]:
        request = self.request(task)
        return [(self._chat, _of_sample(request, sample), sample) for sample in range(self._asking.samples)]

    async def judge(self, protocol: Protocol, task: Task, desk: Desk) -> Sequence[Judgement]:
        request = self.request(task)
        if self._asking.samples == 1:
            return await self._sampled(protocol, task, desk, request, 0)
        samples = await all_of(self._sampled(protocol, task, desk, request, n) for n in range(self._asking.samples))
        votes = zip(*samples, strict=True)
        return [combined(protocol, unit, given, "samples") for unit, given in zip(task.units, votes, strict=True)]

    async def _sampled(
        self, protocol: Protocol, task: Task, desk: Desk, request: Request, sample: int
    ) -> Sequence[Judgement]:
        """Ask, and where the reply cannot be used for every unit, ask once more."""
        request = _of_sample(request, sample)
        first = await self._asked(protocol, task, desk, request, sample)
        if first.reply is None or not first.faults or first.reply.finish == "refusal":
            return first.judgements
        second = await self._asked(protocol, task, desk, again(request, first.reply, first.faults), sample)
        return [
            _corrected(judgement, other) if judgement.failure else judgement
            for judgement, other in zip(first.judgements, second.judgements, strict=True)
        ]

    async def _asked(self, protocol: Protocol, task: Task, desk: Desk, request: Request, sample: int) -> "_Asked":
        protocol = self._asks
        trim = partial(_trimmed, protocol, task) if self._asking.logprobs else None
        try:
            stored = await desk.ask(self._chat, request, sample=sample, since=task.since, trim=trim)
        except CallError as error:
            failure = RaterFailure(error.reason, error.raw)
            return _Asked([Judgement(unit, failure=failure) for unit in task.units])
        reading = read_reply(protocol, task, stored.reply)
        judgements = [judgement_of(protocol, unit, reading, stored) for unit in task.units]
        return _Asked(judgements, stored.reply, reading.faults)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What came of one call: a judgement of each unit, and where a reply came, what was wrong with it."""

    judgements: Sequence[Judgement]
    reply: Reply | None = None
    faults: Mapping[str, Fault] = field(default_factory=dict[str, Fault])


def _with_reasons(protocol: Protocol) -> Protocol:
    asked = {name: "optional" for name in ("evidence", "confidence") if getattr(protocol.ask, name) == "off"}
    ask = protocol.ask.model_copy(update={**asked, "rationale": "required"})
    return protocol.model_copy(update={"ask": ask})


def _of_sample(request: Request, sample: int) -> Request:
    """Each sample has a seed of its own: the same one would give the same reply."""
    return request if not sample or request.seed is None else replace(request, seed=request.seed + sample)


def judgement_of(protocol: Protocol, unit: Unit, reading: Reading, stored: Stored) -> Judgement:
    """What a reply says on one unit of its task, or the failure that stands in its place."""
    fault = reading.faults.get(unit.id)
    if fault is not None:
        failure = RaterFailure(fault.reason, stored.reply.text)
        return Judgement(unit, failure=failure, seconds=stored.reply.seconds, reply=stored.id)
    answers = [
        _with_odds(protocol, answer, reading.places.get((unit.id, answer.criterion)), stored.reply)
        for answer in reading.answers[unit.id]
    ]
    return Judgement(unit, answers, seconds=stored.reply.seconds, reply=stored.id)


def _with_odds(protocol: Protocol, answer: Answer, place: int | None, reply: Reply) -> Answer:
    scale = protocol.criterion(answer.criterion).scale
    if place is None or not reply.choices or not isinstance(scale, Ordinal | Nominal):
        return answer
    return replace(answer, distribution=odds(scale, reply.choices, place))


def _trimmed(protocol: Protocol, task: Task, reply: Reply) -> Reply:
    """The reply with alternatives only where an answer begins: those of every token would be fifty times as much."""
    places = read_reply(protocol, task, reply).places.values()
    kept = [
        choice
        for choice in reply.choices
        if any(choice.offset <= place + 1 and place <= choice.offset + len(choice.text) for place in places)
    ]
    return replace(reply, choices=tuple(kept))


def _corrected(first: Judgement, second: Judgement) -> Judgement:
    """The corrected judgement; where it failed too, what was wrong at first and what became of the second try."""
    if first.failure is None or second.failure is None or second.failure.reason == first.failure.reason:
        return second
    reason = f"{first.failure.reason}; asked again: {second.failure.reason}"
    return replace(second, failure=RaterFailure(reason, second.failure.raw or first.failure.raw))
