"""The kinds of raters that come with Evenhand, as the registry's doors lead to them."""

from functools import partial

from evenhand.errors import UserError
from evenhand.llm.endpoints import endpoint_of
from evenhand.llm.http import HttpChat
from evenhand.llm.hugging_face import HuggingFaceChat
from evenhand.llm.pace import AdaptivePace
from evenhand.llm.steady import Waits
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Judge
from evenhand.raters.jury import Jury
from evenhand.raters.llm_judge import LlmJudge
from evenhand.raters.registry import Workshop, judge_of, specs_in


def over_http(spec: str, name: str, protocol: Protocol, workshop: Workshop) -> Judge:
    """`openai:`, `gemini:`, `anthropic:`, `http://…#MODEL`, `https://…#MODEL`."""
    endpoint = endpoint_of(spec, workshop.settings)
    calling = workshop.calling
    chat = HttpChat(
        endpoint,
        pace=AdaptivePace(calling.concurrency),
        timeout=calling.timeout,
        tries=calling.tries,
        waits=Waits(patience=calling.patience),
        listener=partial(workshop.heard, name),
    )
    return LlmJudge(name, chat, protocol, workshop.asking, bounded=endpoint.bounded_strings)


def hugging_face(spec: str, name: str, protocol: Protocol, workshop: Workshop) -> Judge:
    """`hf:FOLDER-OR-ID`."""
    source = spec.partition(":")[2].strip()
    if not source:
        raise UserError(f"{spec!r} lacks the model: give the folder it lies in or its id, as in hf:./my-model")
    calling = workshop.calling
    chat = HuggingFaceChat(source, device=calling.device, dtype=calling.dtype, batch_size=calling.batch_size)
    return LlmJudge(name, chat, protocol, workshop.asking, bounded=True)


def jury(spec: str, name: str, protocol: Protocol, workshop: Workshop) -> Judge:
    """`jury(SPEC, SPEC, …)`."""
    inner = spec.partition("(")[2]
    members = specs_in(inner.removesuffix(")")) if inner.endswith(")") else []
    if len(members) < 2 or not all(members):
        raise UserError(f"{spec!r} is no jury: name two raters or more, as in jury(openai:MODEL, gemini:MODEL)")

    judges = [judge_of(member, protocol, workshop.heard_as(name)) for member in members]
    models = [chat.model for judge in judges for chat in judge.chats]
    models += [str(judge.settings.get("spec", judge.ref.id)) for judge in judges if not judge.chats]
    twice = sorted({model for model in models if models.count(model) > 1})
    if twice:
        raise UserError(f"{twice[0]} is in {spec!r} twice: it would have two votes and one opinion")
    return Jury(name, judges)
