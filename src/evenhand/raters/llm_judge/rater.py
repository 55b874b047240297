"""A language model as a rater: the protocol's prompt out, the reply read and checked, and never an invented score."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from evenhand.errors import RaterFailure
from evenhand.llm.base import CallError, Chat, Request
from evenhand.protocol.completion import Judgement
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Rater, model_ref
from evenhand.raters.ensemble import all_of, combined
from evenhand.raters.llm_judge.parse import ParsedReply, again, read_reply
from evenhand.raters.llm_judge.prompt import PROMPT_FORMAT, TOGETHER, PromptCase, Prompts
from evenhand.raters.options import RATER_DEFAULTS, RaterOptions
from evenhand.raters.registry import RaterContext
from evenhand.records import Item, Unit

ALTERNATIVES = 10
"""How many alternatives to each token are requested if the distribution is wanted."""
REPLY_TOKENS = 2048
"""The longest reply about one unit; about all sentences of a text at once, twice as long."""


def llm_rater(spec: str, name: str, context: RaterContext) -> Rater:
    """`openai:`, `gemini:`, `anthropic:`, `http://…#MODEL`, `https://…#MODEL`, `hf:FOLDER-OR-ID`."""
    # Servers of one's own and local models accept limits on the length of texts in a schema, and often need them.
    bounded = spec.lower().startswith(("http:", "https:", "hf:"))
    return LlmRater(name, context.connect(spec), context.protocol, context.options, bounded=bounded)


class LlmRater(Rater):
    """Rates with one model. An unusable reply is requested once more with what was wrong; then the unit fails."""

    def __init__(
        self, name: str, chat: Chat, protocol: Protocol, options: RaterOptions = RATER_DEFAULTS, *, bounded: bool
    ) -> None:
        self._chat = chat
        self.chats = (chat,)
        self._protocol = protocol
        self._options = options
        # A model may be asked for more reasons than people are; what is rated, and how, is the same.
        self._asked_protocol = with_reasons(protocol) if options.reasons else protocol
        default = 1.0 if options.samples > 1 else 0.0
        temperature = default if options.temperature is None else options.temperature
        self.together = options.together and protocol.rule.of in TOGETHER
        self._prompts = Prompts(self._asked_protocol, shots=options.shots, bounded=bounded, together=self.together)
        max_tokens = options.max_tokens or REPLY_TOKENS * (2 if self.together else 1)
        sent = {"max_tokens": max_tokens, "temperature": temperature}
        self._parameters: Mapping[str, Any] = {**sent, "logprobs": ALTERNATIVES if options.logprobs else 0}
        self.settings: Mapping[str, object] = {
            "spec": chat.model,
            "prompt": PROMPT_FORMAT,
            **asdict(options),
            "temperature": temperature,
            "max_tokens": max_tokens,
            "together": self.together,
            "shots": len(protocol.examples) if options.shots is None else min(options.shots, len(protocol.examples)),
        }
        self.ref = model_ref(name, self.settings)

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        samples = range(self._options.samples)
        if len(samples) == 1:
            return await self._sampled(item, units)
        votes = zip(*await all_of(self._sampled(item, units, sample) for sample in samples), strict=True)
        return [combined(self._protocol, unit, given, "samples") for unit, given in zip(units, votes, strict=True)]

    def request_for(self, item: Item, units: Sequence[Unit], sample: int = 0) -> tuple[PromptCase, Request]:
        """What the model is asked about some units, and what its reply is read against."""
        case, seed = PromptCase.of(self._asked_protocol, item, units), self._options.seed
        # Each sample has a seed of its own: the same seed would give the same reply.
        own = None if seed is None else seed + sample
        return case, self._prompts.request(case, **self._parameters, seed=own, sample=sample)

    async def _sampled(self, item: Item, units: Sequence[Unit], sample: int = 0) -> Sequence[Judgement]:
        """Ask, and if the reply cannot be used for every unit, ask once more."""
        case, request = self.request_for(item, units, sample)
        first: Sequence[Judgement] = ()
        while True:
            reply, reading = None, ParsedReply()
            try:
                reply = await self._chat.complete(request)
            except CallError as error:
                failure = RaterFailure(error.reason, error.raw)
                judgements: Sequence[Judgement] = [Judgement(unit, failure=failure) for unit in units]
            else:
                reading = read_reply(self._asked_protocol, case, reply)
                judgements = reading.judgements(case, reply)
            if first:
                return [_corrected(*both) for both in zip(first, judgements, strict=True)]
            if reply is None or not reading.worth_asking_again:
                return judgements
            first, request = judgements, again(request, case, reply, reading)


def with_reasons(protocol: Protocol) -> Protocol:
    """The protocol with rationales required, and evidence and a confidence at least optional."""
    asked = {name: "optional" for name in ("evidence", "confidence") if getattr(protocol.ask, name) == "off"}
    ask = protocol.ask.model_copy(update={**asked, "rationale": "required"})
    return protocol.model_copy(update={"ask": ask})


def _corrected(first: Judgement, second: Judgement) -> Judgement:
    """The judgement, or the corrected one; if it failed too, with what was wrong at first and with the second try."""
    if first.failure is None:
        return first
    if second.failure is None or second.failure.reason == first.failure.reason:
        return second
    reason = f"{first.failure.reason}; asked again: {second.failure.reason}"
    return replace(second, failure=RaterFailure(reason, second.failure.raw or first.failure.raw))
