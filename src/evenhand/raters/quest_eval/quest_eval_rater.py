"""RAGQuestEval's answers: by an extractive answerer without a model of language, or by a language model that is named.

The questions and the reference's answers are units of the study, which `run.derivation` makes.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evenhand.errors import RaterFailure, UserError
from evenhand.nlp.language import unreadable
from evenhand.nlp.quotes import Quotes
from evenhand.nlp.words import is_chinese
from evenhand.protocol.completion import Judgement
from evenhand.protocol.model import Criterion, Protocol, field_text
from evenhand.questeval.answerer import CLOZE, NATURAL, find_answer
from evenhand.raters.base import Rater, digest_of, local_computation, model_ref
from evenhand.raters.registry import RaterContext, model_within, specs_in
from evenhand.records import UNANSWERABLE, Answer, Item, Span, Unit
from evenhand.scales import Text

ANSWERING = "3"
"""Raised when the same question and text come to be answered otherwise: part of a rater's configuration."""

_UNPARTED = re.compile("[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff]")
"""Thai, Lao, Tibetan, Burmese, Khmer, kana: nothing stands between words, and there is no dictionary to part them."""
_LETTER = re.compile(r"[^\W\d_]")
_SAMPLE = 40_000
_UNREADABLE = (
    "the text is in a script without spaces that quest-eval cannot part into words; quest-eval(SPEC) can read it"
)
_BEYOND = "beyond quest-eval: it only answers questions"
_BETWEEN = "\n\n"


def quest_eval(spec: str, name: str, context: RaterContext) -> Rater:
    """`quest-eval`, or `quest-eval(SPEC)` to let the model that SPEC names answer."""
    protocol = context.protocol
    criterion = answer_criterion(protocol).id
    if spec.strip().lower() == "quest-eval":
        return QuestEval(name, protocol)
    models = specs_in(spec)
    if len(models) != 1:
        raise UserError(
            f"{spec!r} cannot be read: quest-eval answers by itself, and quest-eval(SPEC) lets the model answer that "
            "SPEC names, as in quest-eval(openai:MODEL)"
        )
    return ModelAnswers(name, model_within("quest-eval", models[0], context), protocol, criterion)


def answer_criterion(protocol: Protocol) -> Criterion:
    """The criterion whose answer is a text or `<Unanswerable>`. Raises UserError if the protocol has none."""
    fitting = [one for one in protocol.criteria if isinstance(one.scale, Text) and one.scale.unanswerable]
    if protocol.rule.of != "question" or not fitting:
        raise UserError(
            f"quest-eval answers questions, and {protocol.name} asks none: it needs a protocol whose unit is `question "
            "from FIELD`, with a criterion of scale {type: text, unanswerable: true}, such as rag-quest-eval"
        )
    return fitting[0]


class RatedText:
    """What is rated of one item, field by field in `texts` and as one text; places in that lead back to the fields."""

    def __init__(self, protocol: Protocol, item: Item) -> None:
        self.texts: Mapping[str, str] = {
            name: field_text(item.fields[name]) for name in rated_fields(protocol) if name in item.fields
        }
        self.text = _BETWEEN.join(self.texts.values())

    def span(self, start: int, end: int) -> Span | None:
        """A range of the text as a span of a field; None where it goes beyond the field in which it begins."""
        place = 0
        for name, text in self.texts.items():
            if place <= start < end <= place + len(text):
                return Span(name, start - place, end - place)
            place += len(text) + len(_BETWEEN)
        return None


def rated_fields(protocol: Protocol) -> Sequence[str]:
    """The fields in which answers are looked for: what is rated; failing that, all texts that raters see."""
    texts = [name for name in protocol.shown_fields if protocol.item.fields[name].kind not in ("label", "number")]
    return [name for name in texts if protocol.item.fields[name].role == "rated"] or texts


class QuestEval(Rater):
    """Answers by itself, in the words of the text. All questions about an item are one task: its text is read once."""

    together = True

    def __init__(self, name: str, protocol: Protocol) -> None:
        self._protocol = protocol
        self._criterion = answer_criterion(protocol).id
        self.settings: Mapping[str, object] = {
            "spec": "quest-eval",
            "answering": ANSWERING,
            "weights": digest_of([CLOZE, NATURAL])[:16],
        }
        self.ref = model_ref(name, self.settings)

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        async with local_computation():
            return await asyncio.to_thread(self._judgements, item, units)

    def _judgements(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        rated = RatedText(self._protocol, item)
        sample = rated.text[:_SAMPLE]
        if 10 * len(_UNPARTED.findall(sample)) > len(_LETTER.findall(sample)):
            return [Judgement(unit, failure=RaterFailure(_UNREADABLE)) for unit in units]
        language, remark = self._protocol.language, None
        english = language.split("-")[0].lower() == "en" and not is_chinese(rated.text, language)
        why = unreadable(rated.text) if english else None
        if why is not None:
            language, remark = "und", f"answered with names, numbers and dates only: the text {why}"
        return [Judgement(unit, [self._answer(unit, rated, language, remark)], beyond=_BEYOND) for unit in units]

    def _answer(self, unit: Unit, rated: RatedText, language: str, remark: str | None) -> Answer:
        if not rated.text.strip():
            # Nothing is said, so nothing is answered: that is known, and no failure.
            return Answer(self._criterion, UNANSWERABLE, rationale="the text is empty", confidence=100.0)
        found = find_answer(unit.text or "", rated.text, language)
        span = None if found.span is None else rated.span(*found.span)
        return Answer(
            self._criterion,
            found.answer,
            rationale=remark,
            confidence=round(100 * found.confidence, 1),
            evidence=() if span is None else (span,),
        )


class ModelAnswers(Rater):
    """Answers by a language model; if it does not quote the text, its answer is looked up there."""

    def __init__(self, name: str, rater: Rater, protocol: Protocol, criterion: str) -> None:
        self._rater = rater
        self._protocol = protocol
        self._criterion = criterion
        self.together, self.chats = rater.together, rater.chats
        self.settings: Mapping[str, object] = {"spec": f"quest-eval({rater.ref.id})", "by": dict(rater.settings)}
        self.ref = model_ref(name, self.settings)

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        quotes = Quotes(RatedText(self._protocol, item).texts)
        judgements = await self._rater.rate_units(item, units)
        return [replace(one, answers=[self._placed(answer, quotes) for answer in one.answers]) for one in judgements]

    def _placed(self, answer: Answer, quotes: Quotes) -> Answer:
        if answer.criterion != self._criterion or answer.evidence or answer.value == UNANSWERABLE:
            return answer
        span = quotes.find(str(answer.value))
        return answer if span is None else replace(answer, evidence=(span,))
