"""RAGQuestEval's answers: by an extractive answerer without a model of language, or by a language model that is named.

The questions and the reference's answers are units of the study; `question_maker` has them made.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evenhand.errors import RaterFailure, UserError
from evenhand.llm.base import Chat, Request
from evenhand.protocol.model import Protocol
from evenhand.questeval.answerer import ALONE, WITH_NETWORK, Answerer, Found
from evenhand.raters.answering import RatedText, answer_criterion
from evenhand.raters.base import Answer, Desk, Judge, Judgement, Task
from evenhand.raters.quotes import Quotes
from evenhand.raters.registry import Workshop, model_within, specs_in
from evenhand.raters.turns import turn
from evenhand.records import UNANSWERABLE, Kind, RaterRef, Unit
from evenhand.textmatch import is_chinese
from evenhand.verify.languages import unreadable
from evenhand.verify.network import FOLDER, shared
from evenhand.verify.reading import Reading
from evenhand.version import __version__

ANSWERING = "1"
"""Raised when the same question and text come to be answered otherwise: part of a rater's configuration."""

_UNPARTED = re.compile("[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff]")
"""Thai, Lao, Tibetan, Burmese, Khmer, kana: nothing stands between words, and there is no dictionary to part them."""
_LETTER = re.compile(r"[^\W\d_]")
_SAMPLE = 40_000


def quest_eval(spec: str, name: str, protocol: Protocol, workshop: Workshop) -> Judge:
    """`quest-eval`, or `quest-eval(SPEC)` to have the model that SPEC names answer."""
    criterion = answer_criterion(protocol).id
    kind, bracket, inner = spec.partition("(")
    if not bracket and kind.strip().lower() == "quest-eval":
        return QuestEval(name, protocol)
    models = specs_in(inner.removesuffix(")")) if inner.endswith(")") else []
    if len(models) != 1 or not models[0]:
        raise UserError(
            f"{spec!r} cannot be read: quest-eval answers by itself, and quest-eval(SPEC) has the model answer that "
            "SPEC names, as in quest-eval(openai:MODEL)"
        )
    return Answered(name, model_within("quest-eval", models[0], protocol, workshop.heard_as(name)), criterion)


class _InTheBox:
    """The network that comes with Evenhand, loaded when it is first needed."""

    def read(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        return shared().read(pairs)


class QuestEval:
    """Answers by itself, in the words of the text. All questions about an item are one task: its text is read once."""

    together = True
    chats: Sequence[Chat] = ()

    def __init__(self, name: str, protocol: Protocol) -> None:
        self._criterion = answer_criterion(protocol).id
        self._beyond = {
            other.id: f"beyond quest-eval: it answers questions, and does not judge {other.title.lower()}"
            for other in protocol.criteria
            if other.required and other.id != self._criterion
        }
        self._answerer = Answerer(_InTheBox())
        self.settings: Mapping[str, object] = {
            "spec": "quest-eval",
            "answering": ANSWERING,
            "weights": _digest([ALONE, WITH_NETWORK])[:16],
            "network": hashlib.sha256((FOLDER / "model.onnx").read_bytes()).hexdigest()[:16],
        }
        self.ref = RaterRef(name, Kind.MODEL, __version__, _digest(self.settings))

    def questions(self, task: Task) -> Sequence[tuple[Chat, Request, int]]:
        return ()

    async def judge(self, protocol: Protocol, task: Task, desk: Desk) -> Sequence[Judgement]:
        async with turn():
            desk.check()
            return await asyncio.to_thread(self._judged, protocol, task)

    def _judged(self, protocol: Protocol, task: Task) -> Sequence[Judgement]:
        rated = RatedText(protocol, task.item)
        why_not = _words_not_told(rated.text)
        if why_not is not None:
            return [Judgement(unit, failure=RaterFailure(why_not)) for unit in task.units]
        language, remark = _language(rated.text, protocol.language)
        return [
            Judgement(unit, [self._answer(unit, rated, language, remark)], beyond=self._beyond) for unit in task.units
        ]

    def _answer(self, unit: Unit, rated: RatedText, language: str, remark: str | None) -> Answer:
        if not rated.text.strip():
            # Nothing is said, so nothing is answered: that is known, and no failure.
            return Answer(self._criterion, UNANSWERABLE, rationale="the text is empty", confidence=100.0)
        found: Found = self._answerer.answer(unit.text or "", rated.text, language)
        span = None if found.span is None else rated.span(*found.span)
        return Answer(
            self._criterion,
            found.answer,
            rationale=remark,
            confidence=round(100 * found.confidence, 1),
            evidence=() if span is None else (span,),
        )


class Answered:
    """A language model answers; where it does not say where, its answer is looked up in the text."""

    def __init__(self, name: str, judge: Judge, criterion: str) -> None:
        self._judge = judge
        self._criterion = criterion
        self.together = judge.together
        self.settings: Mapping[str, object] = {"spec": f"quest-eval({judge.ref.id})", "by": dict(judge.settings)}
        self.ref = RaterRef(name, Kind.MODEL, __version__, _digest(self.settings))

    @property
    def chats(self) -> Sequence[Chat]:
        return self._judge.chats

    def questions(self, task: Task) -> Sequence[tuple[Chat, Request, int]]:
        return self._judge.questions(task)

    async def judge(self, protocol: Protocol, task: Task, desk: Desk) -> Sequence[Judgement]:
        quotes = Quotes(RatedText(protocol, task.item).texts)
        judged = await self._judge.judge(protocol, task, desk)
        return [replace(one, answers=[self._placed(answer, quotes) for answer in one.answers]) for one in judged]

    def _placed(self, answer: Answer, quotes: Quotes) -> Answer:
        if answer.criterion != self._criterion or answer.evidence or answer.value == UNANSWERABLE:
            return answer
        span = quotes.find(str(answer.value))
        return answer if span is None else replace(answer, evidence=(span,))


def _language(text: str, language: str) -> tuple[str, str | None]:
    """The language to read a text in, and what is to be said about it."""
    if is_chinese(text, language) or language.split("-")[0].lower() != "en":
        return language, None
    why = unreadable(text)
    return (language, None) if why is None else ("und", f"answered without the network in the box: the text {why}")


def _words_not_told(text: str) -> str | None:
    """Why the words of a text cannot be told apart."""
    sample = text[:_SAMPLE]
    if 10 * len(_UNPARTED.findall(sample)) <= len(_LETTER.findall(sample)):
        return None
    return "the text is in a script without spaces that quest-eval cannot part into words; quest-eval(SPEC) can read it"


def _digest(settings: object) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
