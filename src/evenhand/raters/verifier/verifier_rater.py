"""The verifier: each sentence of a text compared with the item's evidence, and one label for what is rated.

What the evidence of a claim is, and what follows from a reading of it, is settled in `evenhand.verify`; who reads it,
in `claim_readers`. This is what lies between them and a protocol: units, fields, labels, words.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenhand.errors import RaterFailure, UserError
from evenhand.protocol.completion import Judgement, concerns
from evenhand.protocol.model import Protocol, field_text
from evenhand.raters.base import Rater, model_ref
from evenhand.raters.registry import RaterContext, model_within
from evenhand.raters.verifier.claim_readers import (
    ClaimReader,
    LocalReader,
    ModelReader,
    NliModel,
    Read,
    built_in_reader,
    claim_reading,
)
from evenhand.raters.verifier.onnx_model import OnnxModel
from evenhand.raters.verifier.support_labels import Support, fields_of, question_field, supports_of
from evenhand.records import Answer, FieldValue, Item, Span, Triple, Unit
from evenhand.text import counted
from evenhand.verify.claims import claim_parts, statements
from evenhand.verify.retrieval import Article
from evenhand.verify.verifier import VERSION, Reads, SupportLabel, Verdict, conclude, prepare, whole

_BEYOND = "beyond the verifier: it only judges whether claims are supported"

LONGEST = 240
"""Characters of a claim, a quotation or a reader's reasons that are repeated in a rationale."""
QUOTES = 3

_SAYS = {
    SupportLabel.SUPPORTED: ("The evidence supports", "supported"),
    SupportLabel.CONTRADICTED: ("The evidence contradicts", "contradicted"),
    SupportLabel.NO_EVIDENCE: ("The evidence neither supports nor contradicts", "without evidence"),
    SupportLabel.DISPUTED: ("There is evidence for and against", "disputed"),
    SupportLabel.NO_CLAIM: ("There is no claim to be checked in", "without a claim"),
}
"""What a rationale says of one sentence, and in short of several."""


def verifier(spec: str, name: str, context: RaterContext) -> Rater:
    """`verifier`, `verifier(onnx:NAME-OR-FOLDER)`, `verifier(hf:FOLDER-OR-ID)`, `verifier(SPEC)`."""
    # A protocol that does not suit it is reported before a model is loaded.
    supports_of(context.protocol)
    return Verifier(name, spec, context.protocol, _reader(spec, context))


def _reader(spec: str, context: RaterContext) -> ClaimReader:
    kind, opening, inner = spec.partition("(")
    inner = inner.removesuffix(")").strip()
    if not opening and ":" not in kind:
        return built_in_reader()
    if not inner or not spec.endswith(")"):
        raise UserError(
            f"{spec!r} is not a verifier: valid are verifier (the built-in network), verifier(onnx:NAME-OR-FOLDER) "
            "(one of the models that evenhand models lists, or one like them), verifier(hf:FOLDER-OR-ID) (a classifier "
            "for natural language inference, with PyTorch) and verifier(SPEC) with a language model, as in "
            "verifier(openai:MODEL)"
        )
    if inner.lower().startswith("onnx:"):
        network = OnnxModel(inner.partition(":")[2].strip())
        return LocalReader(lambda: network, network.settings)
    if inner.lower().startswith("hf:"):
        run, source = context.run, inner.partition(":")[2].strip()
        model = NliModel(source, device=run.device, dtype=run.dtype, batch_size=run.batch_size)
        return LocalReader(lambda: model, {"model": model.name})
    return ModelReader(model_within("verifier", inner, context, claim_reading()))


class _Claims(NamedTuple):
    """The claims of a unit and what they are checked against, ready to be read, or why there are none."""

    support: Support
    evidence: "EvidenceText"
    reads: Sequence[Reads]
    failure: RaterFailure | None = None


@dataclass(frozen=True, slots=True)
class _Checked:
    """One sentence: the claim as it was read, what became of it, its evidence, and the reading that says so."""

    claim: str
    verdict: Verdict
    quotes: Sequence[str]
    decided_by: Read


class Verifier(Rater):
    """Rates the criteria that ask about support. Units of an item share its evidence, which is searched once."""

    together = True

    def __init__(self, name: str, spec: str, protocol: Protocol, reader: ClaimReader) -> None:
        self._protocol = protocol
        self._supports = supports_of(protocol)
        self._reader = reader
        self.chats = reader.chats
        self._question = question_field(protocol)
        self.settings: Mapping[str, object] = {"spec": spec, "verifier": VERSION, **reader.settings}
        self.ref = model_ref(name, self.settings)

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        async with self._reader.turn():
            work = await asyncio.to_thread(self._prepared, item, units)
            pairs = [pair for its in work for one in its for reads in one.reads for pair in reads.pairs]
            read = iter(await self._reader.read(pairs))
            own = [[[[next(read) for _ in reads.pairs] for reads in one.reads] for one in its] for its in work]
            judged = zip(units, work, own, strict=True)
            return await asyncio.to_thread(lambda: [self._judgement(*one) for one in judged])

    def _prepared(self, item: Item, units: Sequence[Unit]) -> Sequence[Sequence[_Claims]]:
        """What is read of each unit, for each criterion that is asked about it."""
        given = [(one, one.criterion.against or tuple(fields_of(self._protocol, "evidence"))) for one in self._supports]
        evidence = {against: EvidenceText(self._protocol, item, against) for _, against in given}
        return [
            [
                self._claims(item, unit, one, evidence[against])
                for one, against in given
                if concerns(one.criterion, unit.field)
            ]
            for unit in units
        ]

    def _claims(self, item: Item, unit: Unit, support: Support, evidence: "EvidenceText") -> _Claims:
        texts = self._texts(item, unit)
        if not texts:
            fields = unit.field or ", ".join(fields_of(self._protocol, "rated"))
            failure = RaterFailure(f"there is no text to verify: {fields} has no sentence")
            return _Claims(support, evidence, (), failure)
        asked = item.fields.get(self._question) if self._question else None
        question = asked if isinstance(asked, str) else None
        reads = [prepare(text, evidence.article, question, english=self._reader.calibrated) for text in texts]
        why = next((f"{one.unreadable}; verifier(onnx:mdeberta) reads others" for one in reads if one.unreadable), "")
        return _Claims(support, evidence, () if why else reads, RaterFailure(why) if why else None)

    def _texts(self, item: Item, unit: Unit) -> Sequence[str]:
        """The sentences that the unit is made of, long ones in parts."""
        if unit.text is not None:
            return claim_parts(unit.text) if unit.text.strip() else []
        texts = [str(item.fields[name]) for name in fields_of(self._protocol, "rated") if name in item.fields]
        return [said for text in texts for said in statements(text, self._protocol.language)]

    def _judgement(self, unit: Unit, work: Sequence[_Claims], read: Sequence[Sequence[Sequence[Read]]]) -> Judgement:
        every = [one for its in read for some in its for one in some]
        timed = [one.seconds for one in every if one.seconds is not None]
        seconds = sum(timed) if timed else None
        failures = [Read(None, one.failure) for one in work if one.failure is not None]
        failed = next((one for one in [*every, *failures] if one.failure is not None), Read(None))
        if failed.failure is not None:
            return Judgement(unit, failure=failed.failure, seconds=seconds, reply=failed.reply)
        found = [self._answer(*one) for one in zip(work, read, strict=True)]
        reply = next((telling.decided_by.reply for _, telling in found), None)
        return Judgement(unit, [answer for answer, _ in found], None, seconds, reply, _BEYOND)

    def _answer(self, work: _Claims, read: Sequence[Sequence[Read]]) -> tuple[Answer, _Checked]:
        """The answer on one criterion, and the sentence that decided it."""
        support, evidence, claims, _ = work
        checked = [self._checked(evidence, reads, own) for reads, own in zip(claims, read, strict=True)]
        verdict = checked[0].verdict if len(checked) == 1 else whole([one.verdict for one in checked])
        telling = _telling(checked, verdict)
        value, distribution = support.label(verdict), support.distribution(verdict)
        share = dict(distribution).get(value)
        answer = Answer(
            support.criterion.id,
            value,
            rationale=_rationale(checked, telling),
            confidence=None if share is None else round(100 * min(share, 1.0), 1),
            evidence=evidence.spans(verdict.spans),
            distribution=distribution,
        )
        return answer, telling

    def _checked(self, evidence: "EvidenceText", reads: Reads, read: Sequence[Read]) -> _Checked:
        readings = [one.reading for one in read if one.reading is not None]
        verdict = conclude(reads, readings, evidence.article, calibrated=self._reader.calibrated)
        quotes = [evidence.article.text[start:end] for start, end in verdict.spans]
        # The reading that says most clearly what the verdict says.
        deciding = max(read, key=lambda one: one.share(verdict.likeliest), default=Read(None))
        return _Checked(reads.claim, verdict, quotes, deciding)


def _telling(checked: Sequence[_Checked], verdict: Verdict) -> _Checked:
    """The sentence that decided: of those with the label of the whole the likeliest, of supported ones the least."""
    alike = [one for one in checked if verdict.label in (one.verdict.label, one.verdict.likeliest)] or checked
    weakest = -1 if verdict.label is SupportLabel.SUPPORTED else 1
    return max(alike, key=lambda one: weakest * one.verdict.probabilities.get(verdict.label, 0.0))


def _rationale(checked: Sequence[_Checked], telling: _Checked) -> str:
    """Which sentence decided and on what; where there are several, what became of them all."""
    parts = list[str]()
    if len(checked) > 1:
        numbers = Counter(one.verdict.label for one in checked)
        told = ", ".join(f"{numbers[label]:,} {_SAYS[label][1]}" for label in SupportLabel if numbers[label])
        parts.append(f"{counted(len(checked), 'sentence')}: {told}.")
    parts.append(f"{_SAYS[telling.verdict.label][0]} {_quoted([telling.claim])}")
    if telling.quotes:
        parts.append(f"It rests on {_quoted(telling.quotes[:QUOTES])}")
    if telling.decided_by.words:
        parts.append(f"The reader: {_short(telling.decided_by.words)}")
    if telling.verdict.notes:
        parts.append(f"Checks: {'; '.join(telling.verdict.notes)}.")
    return " ".join(parts)


def _quoted(texts: Sequence[str]) -> str:
    """The end of a sentence: texts in quotation marks, and a full stop unless the last of them has one."""
    short = list(map(_short, texts))
    return ", ".join(f"“{text}”" for text in short) + ("" if short[-1].endswith((".", "!", "?", "…")) else ".")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


_BETWEEN = "\n\n"
_JOINED = re.compile(r"(?<=[a-z])([A-Z])(?=[a-z])")


class _Paragraph(NamedTuple):
    """`text` as it is read, and where it is in what raters see of its field; a triple is not there word for word."""

    text: str
    seen: Span
    verbatim: bool = True


class EvidenceText:
    """An item's evidence as one article, and places in the article as places in the item's fields.

    The fields, and within them the passages and triples, follow one another as paragraphs. What raters see besides,
    the numbers before passages and the arrows in triples, is left out: a verifier would read them as part of what is
    said.
    """

    def __init__(self, protocol: Protocol, item: Item, fields: Sequence[str]) -> None:
        named = [(name, item.fields[name]) for name in fields if name in item.fields]
        self._paragraphs = [paragraph for name, value in named for paragraph in _paragraphs(name, value)]
        self.article = Article(_BETWEEN.join(paragraph.text for paragraph in self._paragraphs), protocol.language)

    def spans(self, ranges: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
        """Ranges of the article as spans of fields, each once, in the order in which they came."""
        return tuple(dict.fromkeys(span for start, end in ranges for span in self._spans(start, end)))

    def _spans(self, start: int, end: int) -> Iterator[Span]:
        place = 0
        for text, seen, verbatim in self._paragraphs:
            first, last = max(start - place, 0), min(end - place, len(text))
            if first < last:
                yield Span(seen.field, seen.start + first, seen.start + last) if verbatim else seen
            place += len(text) + len(_BETWEEN)


def _paragraphs(field: str, value: FieldValue) -> Iterator[_Paragraph]:
    seen, place = field_text(value), 0
    several = value if isinstance(value, tuple) else (seen,)
    for one in several:
        if isinstance(one, Triple):
            end = place + len(field_text((one,)))
            yield _Paragraph(_sentence(one), Span(field, place, end), verbatim=False)
            place = end + len("\n")
        else:
            # Where there are several passages, each has its number before it: "[2] ".
            start = seen.index("] ", place) + 2 if len(several) > 1 else 0
            place = start + len(one)
            yield _Paragraph(one, Span(field, start, place))


def _sentence(triple: Triple) -> str:
    """A triple in words: `bornIn` and `born_in` are `born in`."""
    predicate = _JOINED.sub(lambda found: f" {found[1].lower()}", triple.predicate)
    return " ".join(f"{triple.subject} {predicate} {triple.object}.".replace("_", " ").split())
