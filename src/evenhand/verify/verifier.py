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

VERSION = "9"
SENTENCES = 3  # single sentences that are read besides the passage
_CLEAR = 0.8  # how sure single sentences must be, each way, for a claim to count as disputed
_SAME = 0.5  # share of the claim's weight below which the built-in network takes another subject for a contradiction
_NOTES = 6


class SupportLabel(StrEnum):
    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NO_EVIDENCE = "no_evidence"
    DISPUTED = "disputed"
    NO_CLAIM = "no_claim"


_WORST_FIRST = (SupportLabel.CONTRADICTED, SupportLabel.NO_EVIDENCE, SupportLabel.SUPPORTED)


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
class Reads:
    """A claim ready to be read. If `settled` is set there is nothing to read, if `unreadable` the reader cannot.

    A view is the places of its sentences. The first view is the passage, the others are single sentences.
    """

    claim: str
    views: tuple[tuple[int, ...], ...] = ()
    pairs: tuple[Pair, ...] = ()
    """Evidence and claim, view by view."""
    settled: Verdict | None = None
    unreadable: str = ""


def prepare(claim: str, article: Article, question: str | None = None, *, english: bool = True) -> Reads:
    """Choose what to read: the best passage, and if it has several sentences the best of the article's one by one.

    A bare phrase is read together with the question it answers, unless the article says just that. `english`: the
    reader reads nothing else.
    """
    claim = claim.strip()
    if not has_claim(claim):
        return Reads(claim, settled=Verdict(SupportLabel.NO_CLAIM, {}))
    if question and is_bare(claim) and not article.says(claim):
        claim = f"{question.strip()} {claim}"
    if not len(article):
        nothing = Verdict(SupportLabel.NO_EVIDENCE, {SupportLabel.NO_EVIDENCE: 1.0}, notes=("no evidence is given",))
        return Reads(claim, settled=nothing)
    if english and (reason := unreadable(claim)):
        return Reads(claim, unreadable=f"the claim {reason}")
    passage = article.passage(claim)
    if english and (reason := unreadable(article.joined(passage))):
        return Reads(claim, unreadable=f"the evidence {reason}")
    single = article.ranked(claim, SENTENCES) if len(passage) > 1 else ()
    views = (passage, *((place,) for place, _ in single))
    return Reads(claim, views, tuple((article.joined(view), claim) for view in views))


def conclude(reads: Reads, readings: Sequence[Reading], article: Article, *, calibrated: bool) -> Verdict:
    """Decide. `calibrated`: the readings are the built-in network's, which the calibration was fitted to; any other
    reader's own probabilities stand."""
    if reads.settled is not None:
        return reads.settled
    return _calibrated(reads, readings, article) if calibrated else _plain(reads, readings, article)


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
    label = min(labels, key=_WORST_FIRST.index)
    telling = [verdict for verdict, own in zip(claims, labels, strict=True) if own is label]
    return Verdict(
        label,
        _three(supported, contradicted),
        tuple(sorted({span for verdict in telling for span in verdict.spans})),
        tuple(dict.fromkeys(note for verdict in claims for note in verdict.notes)),
    )


def _calibrated(reads: Reads, readings: Sequence[Reading], article: Article) -> Verdict:
    comparison = ClaimComparison(reads.claim, reads.views[0], article, readings)
    found = shipped().probabilities(comparison.features())
    if found.supported >= 0.5:
        label = SupportLabel.SUPPORTED
    else:
        label = SupportLabel.CONTRADICTED if found.contradicted >= found.neither else SupportLabel.NO_EVIDENCE
    single = zip(reads.views[1:], readings[1:], strict=True)
    close = [one for (place,), one in single if comparison.shares.get(place, 0.0) >= _SAME]
    label = SupportLabel.DISPUTED if _both_ways(close) else label
    notes = tuple(dict.fromkeys(comparison.notes()))[:_NOTES]
    return Verdict(label, _three(*found[:2]), _spans(label, reads, readings, article), notes)


def _plain(reads: Reads, readings: Sequence[Reading], article: Article) -> Verdict:
    """The reading that is surest of support or of contradiction decides."""
    surest = max(readings, key=lambda one: max(one.supported, one.contradicted))
    probabilities = _three(surest.supported, surest.contradicted)
    label = max(probabilities, key=lambda label: probabilities[label])
    label = SupportLabel.DISPUTED if _both_ways(readings[1:]) else label
    return Verdict(label, probabilities, _spans(label, reads, readings, article))


def _both_ways(single: Sequence[Reading]) -> bool:
    """Whether one sentence clearly supports the claim and another clearly contradicts it."""
    return any(one.supported >= _CLEAR for one in single) and any(one.contradicted >= _CLEAR for one in single)


def _spans(
    label: SupportLabel, reads: Reads, readings: Sequence[Reading], article: Article
) -> tuple[tuple[int, int], ...]:
    """The sentences that the label rests on: those that say so by themselves, or else the two that are closest."""
    if label is SupportLabel.NO_EVIDENCE:
        return ()
    single = list(zip(reads.views, readings, strict=True))[1:]
    places = {place for view, one in single if _says(one, label) >= 0.5 for place in view}
    if not places:
        places = {place for place, _ in article.ranked(reads.claim, 2) if place in reads.views[0]}
    return tuple(article.spans[place] for place in sorted(places or reads.views[0]))


def _says(reading: Reading, label: SupportLabel) -> float:
    if label is SupportLabel.DISPUTED:
        return max(reading.supported, reading.contradicted)
    return reading.supported if label is SupportLabel.SUPPORTED else reading.contradicted


def _three(supported: float, contradicted: float) -> Mapping[SupportLabel, float]:
    return {
        SupportLabel.SUPPORTED: supported,
        SupportLabel.CONTRADICTED: contradicted,
        SupportLabel.NO_EVIDENCE: max(0.0, 1 - supported - contradicted),
    }
