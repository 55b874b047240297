"""One claim against one article: what is read, and what follows from it.

In three steps, so that the reader may be the built-in network or a model elsewhere: `prepare` chooses the evidence, a
reader reads it, `conclude` decides. `whole` makes one label of the sentences of an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evenhand.nlp.language import unreadable
from evenhand.verify.calibration import shipped
from evenhand.verify.claims import has_claim, is_bare
from evenhand.verify.features import ClaimComparison
from evenhand.verify.network import Pair, Reading
from evenhand.verify.retrieval import Article

VERSION = "6"
SENTENCES = 3  # single sentences that are read besides the passage
_LONGEST_CLAIM = 60  # words
_CLEAR = 0.8  # how sure single sentences must be, each way, for a claim to count as disputed
_NOTES = 6


class SupportLabel(StrEnum):
    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NO_EVIDENCE = "no_evidence"
    DISPUTED = "disputed"
    NO_CLAIM = "no_claim"


class UnknownLanguage(ValueError):
    """The claim or the evidence is in a language that the network cannot read."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`probabilities` of supported, contradicted and no evidence; empty if there was no claim.

    A disputed claim has them too: the likeliest of the three is its label if a scale has no "disputed".
    """

    label: SupportLabel
    probabilities: Mapping[SupportLabel, float]
    spans: tuple[tuple[int, int], ...] = ()
    """The evidence, as character ranges of the article's text."""
    notes: tuple[str, ...] = ()
    """What speaks against the claim, in words."""

    @property
    def likeliest(self) -> SupportLabel:
        """The label, or if it is disputed the likeliest of the three."""
        if self.label is not SupportLabel.DISPUTED:
            return self.label
        return max(self.probabilities, key=lambda label: self.probabilities[label])


@dataclass(frozen=True, slots=True)
class Part:
    """A claim, or a part of one that is too long to be read at once, and the views of the evidence for it.

    A view is the places of its sentences. The first view is the passage, the others are single sentences.
    """

    claim: str
    views: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Reads:
    """A claim ready to be read. If `settled` is set there is nothing to read."""

    claim: str
    parts: tuple[Part, ...] = ()
    pairs: tuple[Pair, ...] = ()
    """Evidence and claim, view by view, part by part."""
    settled: Verdict | None = None


def prepare(claim: str, article: Article, question: str | None = None, *, english: bool = True) -> Reads:
    """Choose what to read. A bare phrase is read together with the question it answers.

    Raises UnknownLanguage if the reader reads `english` only, and claim or evidence is in another language.
    """
    claim = claim.strip()
    if not has_claim(claim):
        return Reads(claim, settled=Verdict(SupportLabel.NO_CLAIM, {}))
    if question and is_bare(claim):
        claim = f"{question.strip()} {claim}"
    if not len(article):
        nothing = Verdict(SupportLabel.NO_EVIDENCE, {SupportLabel.NO_EVIDENCE: 1.0}, notes=("no evidence is given",))
        return Reads(claim, settled=nothing)
    if english and (reason := unreadable(claim)):
        raise UnknownLanguage(f"the claim {reason}")
    parts = tuple(Part(part, _views(part, article)) for part in _parts(claim))
    if english and (reason := unreadable(article.joined(parts[0].views[0]))):
        raise UnknownLanguage(f"the evidence {reason}")
    pairs = tuple((article.joined(view), part.claim) for part in parts for view in part.views)
    return Reads(claim, parts, pairs)


def conclude(reads: Reads, readings: Sequence[Reading], article: Article, *, calibrated: bool) -> Verdict:
    """Decide. `calibrated`: the readings are the built-in network's, which the calibration was fitted to; any other
    reader's own probabilities stand."""
    if reads.settled is not None:
        return reads.settled
    verdicts, start = list[Verdict](), 0
    for part in reads.parts:
        own = readings[start : start + len(part.views)]
        start += len(part.views)
        verdicts.append(_calibrated(part, own, article) if calibrated else _plain(part, own, article))
    return verdicts[0] if len(verdicts) == 1 else whole(verdicts)


def whole(verdicts: Sequence[Verdict]) -> Verdict:
    """One label for the sentences of an answer: supported if all are, contradicted if any is, else no evidence.

    Sentences without a claim do not count; if there are no others, there is no claim. The answer is as likely
    supported as its least likely sentence, and as likely contradicted as its likeliest.
    """
    claims = [verdict for verdict in verdicts if verdict.label is not SupportLabel.NO_CLAIM]
    if not claims:
        return Verdict(SupportLabel.NO_CLAIM, {})
    labels = [verdict.likeliest for verdict in claims]
    supported = min(verdict.probabilities.get(SupportLabel.SUPPORTED, 0.0) for verdict in claims)
    contradicted = min(
        max(verdict.probabilities.get(SupportLabel.CONTRADICTED, 0.0) for verdict in claims), 1 - supported
    )
    if all(label is SupportLabel.SUPPORTED for label in labels):
        label = SupportLabel.SUPPORTED
    else:
        label = SupportLabel.CONTRADICTED if SupportLabel.CONTRADICTED in labels else SupportLabel.NO_EVIDENCE
    telling = [verdict for verdict, own in zip(claims, labels, strict=True) if own is label]
    return Verdict(
        label,
        _three(supported, contradicted),
        tuple(sorted({span for verdict in telling for span in verdict.spans})),
        tuple(dict.fromkeys(note for verdict in claims for note in verdict.notes)),
    )


def _calibrated(part: Part, readings: Sequence[Reading], article: Article) -> Verdict:
    comparison = ClaimComparison(part.claim, part.views[0], article, readings)
    found = shipped().probabilities(comparison.features())
    if found.supported >= 0.5:
        label = SupportLabel.SUPPORTED
    else:
        label = SupportLabel.CONTRADICTED if found.contradicted >= found.neither else SupportLabel.NO_EVIDENCE
    label = SupportLabel.DISPUTED if _both_ways(readings) else label
    notes = tuple(dict.fromkeys(comparison.notes()))[:_NOTES]
    return Verdict(label, _three(*found[:2]), _spans(label, part, readings, article), notes)


def _plain(part: Part, readings: Sequence[Reading], article: Article) -> Verdict:
    """The reading that is surest of support or of contradiction decides."""
    surest = max(readings, key=lambda one: max(one.supported, one.contradicted))
    probabilities = _three(surest.supported, surest.contradicted)
    label = max(probabilities, key=lambda label: probabilities[label])
    label = SupportLabel.DISPUTED if _both_ways(readings) else label
    return Verdict(label, probabilities, _spans(label, part, readings, article))


def _both_ways(readings: Sequence[Reading]) -> bool:
    """Whether one sentence clearly supports the claim and another clearly contradicts it."""
    single = readings[1:]
    return any(one.supported >= _CLEAR for one in single) and any(one.contradicted >= _CLEAR for one in single)


def _spans(
    label: SupportLabel, part: Part, readings: Sequence[Reading], article: Article
) -> tuple[tuple[int, int], ...]:
    """The sentences that the label rests on: those that say so by themselves, or else the two that are closest."""
    if label is SupportLabel.NO_EVIDENCE:
        return ()
    single = list(zip(part.views, readings, strict=True))[1:]
    places = {place for view, one in single if _says(one, label) >= 0.5 for place in view}
    if not places:
        places = {place for place, _ in article.ranked(part.claim, 2) if place in part.views[0]}
    return tuple(article.spans[place] for place in sorted(places or part.views[0]))


def _says(reading: Reading, label: SupportLabel) -> float:
    if label is SupportLabel.DISPUTED:
        return max(reading.supported, reading.contradicted)
    return reading.supported if label is SupportLabel.SUPPORTED else reading.contradicted


def _views(claim: str, article: Article) -> tuple[tuple[int, ...], ...]:
    """The passage, and if it has several sentences the best of the article's one by one."""
    passage = article.passage(claim)
    if len(passage) < 2:
        return (passage,)
    return (passage, *((place,) for place, _ in article.ranked(claim, SENTENCES)))


def _parts(claim: str) -> list[str]:
    """A claim whole, or in parts of at most 60 words if it has more than half as many again."""
    words = claim.split()
    if len(words) <= 1.5 * _LONGEST_CLAIM:
        return [claim]
    return [" ".join(words[at : at + _LONGEST_CLAIM]) for at in range(0, len(words), _LONGEST_CLAIM)]


def _three(supported: float, contradicted: float) -> Mapping[SupportLabel, float]:
    return {
        SupportLabel.SUPPORTED: supported,
        SupportLabel.CONTRADICTED: contradicted,
        SupportLabel.NO_EVIDENCE: max(0.0, 1 - supported - contradicted),
    }
