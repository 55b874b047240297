"""The verifier: each sentence of a text compared with the item's evidence, and one label for what is rated.

What the evidence of a claim is, and what follows from a reading of it, is settled in `evenhand.verify`; who reads it,
in `readers`. This is what lies between them and a protocol: units, fields, labels, words.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import RaterFailure, UserError
from evenhand.llm.base import Chat
from evenhand.nlp.sentences import sentences
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Judgement, Rater, model_ref
from evenhand.raters.registry import RaterContext, model_within
from evenhand.raters.verifier.claim_readers import (
    ClaimReader,
    LocalReader,
    ModelReader,
    Read,
    built_in_reader,
    claim_reading,
)
from evenhand.raters.verifier.evidence_text import EvidenceText
from evenhand.raters.verifier.nli import NliModel
from evenhand.raters.verifier.rationale import Checked, in_words
from evenhand.raters.verifier.support_labels import question_field, rated_fields, support_of
from evenhand.records import Answer, Item, Unit
from evenhand.verify.reading import Reading
from evenhand.verify.verifier import VERSION, Label, Reads, UnknownLanguage, Verdict, conclude, prepare, whole

NO_TEXT = "there is no text to verify: {fields} has no sentence"


def verifier(spec: str, name: str, context: RaterContext) -> Rater:
    """`verifier`, `verifier(hf:FOLDER-OR-ID)`, `verifier(SPEC)`."""
    # A protocol that does not suit it is reported before a model is loaded.
    support_of(context.protocol)
    return Verifier(name, spec, context.protocol, _reader(spec, context))


def _reader(spec: str, context: RaterContext) -> ClaimReader:
    kind, opening, inner = spec.partition("(")
    inner = inner.removesuffix(")").strip()
    if not opening and ":" not in kind:
        return built_in_reader()
    if not inner or not spec.endswith(")"):
        raise UserError(
            f"{spec!r} is not a verifier: valid are verifier (the built-in network), verifier(hf:FOLDER-OR-ID) (a "
            "classifier for natural language inference) and verifier(SPEC) with a language model, as in "
            "verifier(openai:MODEL)"
        )
    if inner.lower().startswith("hf:"):
        run, source = context.run, inner.partition(":")[2].strip()
        model = NliModel.load(source, device=run.device, dtype=run.dtype, batch_size=run.batch_size)
        return LocalReader(lambda: model, {"model": model.name}, calibrated=False)
    return ModelReader(model_within("verifier", inner, context, claim_reading()))


@dataclass(frozen=True, slots=True)
class _Work:
    """A unit's claims, ready to be read; or why they cannot be."""

    unit: Unit
    reads: Sequence[Reads] = ()
    failure: RaterFailure | None = None


class Verifier:
    """Rates the criterion that asks about support. Units of an item share its evidence, which is searched once."""

    together = True
    members: Sequence[Rater] = ()

    def __init__(self, name: str, spec: str, protocol: Protocol, reader: ClaimReader) -> None:
        self._protocol = protocol
        self._support = support_of(protocol)
        self._reader = reader
        self._question = question_field(protocol)
        self._beyond = {
            criterion.id: f"beyond the verifier: it tells whether a claim is supported, not {criterion.title.lower()}"
            for criterion in protocol.criteria
            if criterion.required and criterion.id != self._support.criterion.id
        }
        self.settings: Mapping[str, object] = {"spec": spec, "verifier": VERSION, **reader.settings}
        self.ref = model_ref(name, self.settings)

    @property
    def chats(self) -> Sequence[Chat]:
        return self._reader.chats

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        async with self._reader.turn():
            evidence, works = await asyncio.to_thread(self._prepared, item, units)
            read = await self._reader.read(_pairs(works))
            return await asyncio.to_thread(self._concluded, evidence, works, read)

    def _prepared(self, item: Item, units: Sequence[Unit]) -> tuple[EvidenceText, Sequence[_Work]]:
        evidence = EvidenceText(self._protocol, item)
        return evidence, [self._work(item, unit, evidence) for unit in units]

    def _work(self, item: Item, unit: Unit, evidence: EvidenceText) -> _Work:
        texts = self._texts(item, unit)
        if not texts:
            fields = self._protocol.rule.field or ", ".join(rated_fields(self._protocol))
            return _Work(unit, failure=RaterFailure(NO_TEXT.format(fields=fields)))
        asked = item.fields.get(self._question) if self._question else None
        question = asked if isinstance(asked, str) else None
        try:
            english = self._reader.calibrated
            return _Work(unit, [prepare(text, evidence.article, question, english=english) for text in texts])
        except UnknownLanguage as unknown:
            return _Work(unit, failure=RaterFailure(str(unknown)))

    def _texts(self, item: Item, unit: Unit) -> Sequence[str]:
        """The sentences that the unit is made of."""
        if unit.text is not None:
            return [unit.text] if unit.text.strip() else []
        texts = [str(item.fields[name]) for name in rated_fields(self._protocol) if name in item.fields]
        return [text[start:end] for text in texts for start, end in sentences(text, self._protocol.language)]

    def _concluded(self, evidence: EvidenceText, works: Sequence[_Work], read: Sequence[Read]) -> Sequence[Judgement]:
        left = iter(read)
        return [
            self._judgement(evidence, work, [[next(left) for _ in one.pairs] for one in work.reads]) for work in works
        ]

    def _judgement(self, evidence: EvidenceText, work: _Work, read: Sequence[Sequence[Read]]) -> Judgement:
        every = [one for some in read for one in some]
        timed = [one.seconds for one in every if one.seconds is not None]
        seconds = sum(timed) if timed else None
        failure = work.failure or next((one.failure for one in every if one.failure is not None), None)
        if failure is not None:
            reply = next((one.reply for one in every if one.failure is failure), None)
            return Judgement(work.unit, failure=failure, seconds=seconds, reply=reply)
        together = sum(len(reads.parts) for reads in work.reads)
        checked = [self._checked(evidence, reads, own, together) for reads, own in zip(work.reads, read, strict=True)]
        verdict = checked[0].verdict if len(checked) == 1 else whole([one.verdict for one in checked])
        telling = _telling(checked, verdict)
        return Judgement(
            work.unit, [self._answer(evidence, verdict, checked, telling)], None, seconds, telling.reply, self._beyond
        )

    def _checked(self, evidence: EvidenceText, reads: Reads, read: Sequence[Read], together: int) -> Checked:
        readings = [one.reading for one in read if one.reading is not None]
        verdict = conclude(reads, readings, evidence.article, calibrated=self._reader.calibrated, together=together)
        deciding = _deciding(read, verdict)
        quotes = [evidence.article.text[start:end] for start, end in verdict.spans]
        if deciding is None:
            return Checked(reads.claim, verdict, quotes)
        return Checked(reads.claim, verdict, quotes, deciding.words, deciding.reply)

    def _answer(self, evidence: EvidenceText, verdict: Verdict, checked: Sequence[Checked], telling: Checked) -> Answer:
        value = self._support.label(verdict)
        distribution = self._support.distribution(verdict)
        shares = dict(distribution)
        return Answer(
            self._support.criterion.id,
            value,
            rationale=in_words(verdict, checked, telling),
            confidence=round(100 * min(shares[value], 1.0), 1) if value in shares else None,
            evidence=evidence.spans(verdict.spans),
            distribution=distribution,
        )


def _pairs(works: Sequence[_Work]) -> Sequence[tuple[str, str]]:
    return [pair for work in works for reads in work.reads for pair in reads.pairs]


def _telling(checked: Sequence[Checked], verdict: Verdict) -> Checked:
    """The sentence that decided: of those with the label of the whole the likeliest, of supported ones the least."""
    alike = [one for one in checked if verdict.label in (one.verdict.label, one.verdict.likeliest)] or checked
    weakest = -1 if verdict.label is Label.SUPPORTED else 1
    return max(alike, key=lambda one: weakest * one.verdict.probabilities.get(verdict.label, 0.0))


def _deciding(read: Sequence[Read], verdict: Verdict) -> Read | None:
    """The reading that says most clearly what the verdict says."""
    return max(read, key=lambda one: _share(one.reading, verdict.likeliest), default=None)


def _share(reading: Reading | None, label: Label) -> float:
    if reading is None:
        return 0.0
    shares = {Label.SUPPORTED: reading.supported, Label.CONTRADICTED: reading.contradicted}
    return shares.get(label, reading.neither)
