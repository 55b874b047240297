"""One claim against one article: what is read, and what follows from it.

In three steps, so that whoever reads may be a network in this process or a model far away: `prepare` picks the
evidence, a reader reads it, `conclude` decides. `whole` makes one label of the sentences of an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evenhand.verify.checks import findings
from evenhand.verify.claims import has_claim, is_bare, statement
from evenhand.verify.combining import features_of, shipped
from evenhand.verify.evidence import Article
from evenhand.verify.languages import unreadable
from evenhand.verify.reading import Reading

VERSION = "3"
SENTENCES = 3
"""Single sentences that are read beside the passage."""
_LONGEST_CLAIM = 60
_STANDS = 0.8
"""How sure a single sentence must be, either way, for a claim to count as disputed."""


class Label(StrEnum):
    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NO_EVIDENCE = "no_evidence"
    DISPUTED = "disputed"
    NO_CLAIM = "no_claim"


class UnknownLanguage(ValueError):
    """The claim or the evidence is in a language that the network was not taught."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`probabilities` are of supported, contradicted and no evidence, empty where there was no claim.

    A disputed claim keeps them too: the likeliest of the three is its label where a scale has no "disputed".
    """

    label: Label
    probabilities: Mapping[Label, float]
    spans: tuple[tuple[int, int], ...] = ()
    """The evidence, as character ranges of the article's text."""
    notes: tuple[str, ...] = ()
    """What the checks found, in words."""

    @property
    def likeliest(self) -> Label:
        """The label, or where it is disputed the likeliest of the three."""
        if self.label is not Label.DISPUTED:
            return self.label
        return max(self.probabilities, key=lambda label: self.probabilities[label])


@dataclass(frozen=True, slots=True)
class Part:
    """A claim, or a piece of one that is too long to be read at once, and the windows that it is read against."""

    claim: str
    places: tuple[tuple[int, ...], ...]
    """The article's sentences in each window; the first window is the passage, the others single sentences."""


@dataclass(frozen=True, slots=True)
class Reads:
    """A claim ready to be read. Where `settled` is set there is nothing to read."""

    claim: str
    parts: tuple[Part, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    """Evidence and claim, window by window, part by part."""
    settled: Verdict | None = None


def prepare(claim: str, article: Article, question: str | None = None, *, english: bool = True) -> Reads:
    """Pick what to read. A bare phrase is taken together with the question it answers.

    Raises UnknownLanguage where the reader knows `english` alone, and claim or evidence is in another language.
    """
    claim = claim.strip()
    if not has_claim(claim):
        return Reads(claim, settled=Verdict(Label.NO_CLAIM, {}))
    if question and is_bare(claim):
        claim = statement(question, claim)
    if not len(article):
        return Reads(
            claim, settled=Verdict(Label.NO_EVIDENCE, {Label.NO_EVIDENCE: 1.0}, notes=("no evidence is given",))
        )
    if english and (reason := unreadable(claim)):
        raise UnknownLanguage(f"the claim {reason}")
    parts = tuple(Part(piece, _windows(piece, article)) for piece in _pieces(claim))
    if english and (reason := unreadable(article.joined(parts[0].places[0]))):
        raise UnknownLanguage(f"the evidence {reason}")
    pairs = tuple((article.joined(window), part.claim) for part in parts for window in part.places)
    return Reads(claim, parts, pairs)


def conclude(
    reads: Reads, readings: Sequence[Reading], article: Article, *, calibrated: bool, together: int = 0
) -> Verdict:
    """Decide. `calibrated`: the readings are of the network in the box, whose weaknesses the checks know and whose
    probabilities the calibration was fitted to; any other reader's own probabilities stand. `together` is how many
    parts the answer has that gets one label; this claim's own where it is not given."""
    if reads.settled is not None:
        return reads.settled
    verdicts, start = list[Verdict](), 0
    for part in reads.parts:
        own = readings[start : start + len(part.places)]
        start += len(part.places)
        many = together or len(reads.parts)
        verdicts.append(_calibrated(part, own, article, many) if calibrated else _plain(part, own, article))
    return verdicts[0] if len(verdicts) == 1 else whole(verdicts)


def whole(verdicts: Sequence[Verdict]) -> Verdict:
    """One label for the sentences of an answer: supported if all are, contradicted if any is, else no evidence.

    Sentences without a claim do not count; where there are no others, there is no claim. The answer is as likely
    supported as its least likely sentence, and as likely contradicted as its likeliest.
    """
    claims = [verdict for verdict in verdicts if verdict.label is not Label.NO_CLAIM]
    if not claims:
        return Verdict(Label.NO_CLAIM, {})
    labels = [verdict.likeliest for verdict in claims]
    supported = min(verdict.probabilities.get(Label.SUPPORTED, 0.0) for verdict in claims)
    contradicted = min(max(verdict.probabilities.get(Label.CONTRADICTED, 0.0) for verdict in claims), 1 - supported)
    if all(label is Label.SUPPORTED for label in labels):
        label = Label.SUPPORTED
    else:
        label = Label.CONTRADICTED if Label.CONTRADICTED in labels else Label.NO_EVIDENCE
    telling = [verdict for verdict, own in zip(claims, labels, strict=True) if own is label]
    return Verdict(
        label,
        _three(supported, contradicted),
        tuple(sorted({span for verdict in telling for span in verdict.spans})),
        tuple(dict.fromkeys(note for verdict in claims for note in verdict.notes)),
    )


def _calibrated(part: Part, readings: Sequence[Reading], article: Article, together: int) -> Verdict:
    found = findings(part.claim, article.joined(part.places[0]), article)
    combination = shipped()
    supported, contradicted, neither = combination.probabilities(features_of(readings, found, together))
    if combination.bears_out(supported, contradicted):
        label = Label.SUPPORTED
    else:
        label = Label.CONTRADICTED if contradicted >= neither else Label.NO_EVIDENCE
    label = Label.DISPUTED if _both_ways(readings) else label
    return Verdict(label, _three(supported, contradicted), _spans(label, part, readings, article), found.notes)


def _plain(part: Part, readings: Sequence[Reading], article: Article) -> Verdict:
    """The reading that is surest of support or of contradiction decides."""
    surest = max(readings, key=lambda one: max(one.supported, one.contradicted))
    probabilities = _three(surest.supported, surest.contradicted)
    label = max(probabilities, key=lambda label: probabilities[label])
    label = Label.DISPUTED if _both_ways(readings) else label
    return Verdict(label, probabilities, _spans(label, part, readings, article))


def _both_ways(readings: Sequence[Reading]) -> bool:
    """Whether one sentence clearly supports the claim and another clearly contradicts it."""
    single = readings[1:]
    return any(one.supported >= _STANDS for one in single) and any(one.contradicted >= _STANDS for one in single)


def _spans(label: Label, part: Part, readings: Sequence[Reading], article: Article) -> tuple[tuple[int, int], ...]:
    """The sentences that the label rests on: those that say so by themselves, or else the two that are closest."""
    if label is Label.NO_EVIDENCE:
        return ()
    single = list(zip(part.places, readings, strict=True))[1:]
    telling = [window for window, one in single if _says(one, label) >= 0.5]
    places = {place for window in telling for place in window}
    if not places:
        places = {place for place, _ in article.ranked(part.claim, 2) if place in part.places[0]}
    return tuple(article.pieces[place] for place in sorted(places or part.places[0]))


def _says(reading: Reading, label: Label) -> float:
    if label is Label.DISPUTED:
        return max(reading.supported, reading.contradicted)
    return reading.supported if label is Label.SUPPORTED else reading.contradicted


def _windows(claim: str, article: Article) -> tuple[tuple[int, ...], ...]:
    """The passage, and where it has several sentences the best of the article's one by one."""
    passage = article.passage(claim)
    if len(passage) < 2:
        return (passage,)
    return (passage, *((place,) for place, _ in article.ranked(claim, SENTENCES)))


def _pieces(claim: str) -> list[str]:
    """A claim whole, or in pieces of at most 60 words where it has more than half as many again."""
    words = claim.split()
    if len(words) <= 1.5 * _LONGEST_CLAIM:
        return [claim]
    return [" ".join(words[at : at + _LONGEST_CLAIM]) for at in range(0, len(words), _LONGEST_CLAIM)]


def _three(supported: float, contradicted: float) -> Mapping[Label, float]:
    return {
        Label.SUPPORTED: supported,
        Label.CONTRADICTED: contradicted,
        Label.NO_EVIDENCE: max(0.0, 1 - supported - contradicted),
    }
