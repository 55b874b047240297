"""Pairs as people labelled them → what the network is taught, in two stages.

The first stage is broad: entailment pairs, claims against facts, and pairs that are made here by changing one thing.
The second is close to what is verified in use: generated text against its source, with a share of the first mixed in
so that it is not forgotten. The evidence is always what `evenhand.verify.evidence` would pick for the claim.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from evenhand.nlp.sentences import sentences
from evenhand.verify.evidence import Article
from evenhand.verify.stems import stems_of
from training.sets import CONTRADICTED, NO_EVIDENCE, NOT_SUPPORTED, SUPPORTED, Pair
from training.swaps import falsified, names_in, reworded

_MOST = {"snli": 14_000, "scitail": 7_000, "conjnli": 9_000, "covidfact": 3_000}
_MOST_LABELLED = {"snli": 32_000, "conjnli": 9_000}
_SHORT = ("snli", "mnli", "counterfactual", "scitail")
LABELS = (SUPPORTED, CONTRADICTED, NO_EVIDENCE)
_SPACED = re.compile(r"\s+([.,;:!?%)\]]|'s\b|n't\b)|([(\[])\s+")
_DOTS = re.compile(r"(?<=\s)\.\s(?=\w+:)")
_SUBJECT = re.compile(r"((?:[A-Z][\w'’-]*\s){1,4})(?=(?:is|was|are|were|has|had|[a-z]+ed|[a-z]+s)\s)")


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is read, and which labels are right. Two labels are right where people did not tell them apart."""

    evidence: str
    claim: str
    right: tuple[str, ...]


def lesson(evidence: str, claim: str, label: str) -> Lesson:
    return Lesson(evidence, claim, (CONTRADICTED, NO_EVIDENCE) if label == NOT_SUPPORTED else (label,))


def tidy(text: str) -> str:
    """Corpora that were cut into tokens, put together again."""
    return _SPACED.sub(lambda spot: spot[1] or spot[2], text.replace("-LRB-", "(").replace("-RRB-", ")"))


def tidied(pair: Pair) -> Pair:
    return Pair(tidy(pair.evidence), tidy(pair.claim), pair.label, pair.source, pair.group)


def read_against(evidence: str, claim: str, random: Random) -> str:
    """What of the evidence the claim is read against; its length varies, as it does in use."""
    if len(evidence.split()) <= 60:
        return evidence
    article = Article(evidence)
    return article.joined(article.passage(claim, random.choice((60, 100, 100, 140))))


def broad(pairs: Sequence[Pair], random: Random) -> list[Lesson]:
    """The first stage, from NLI pairs and claims against facts."""
    kept = [tidied(pair) for pair in _capped(pairs, random, _MOST) if len(pair.evidence) < 4000]
    lessons = [lesson(read_against(pair.evidence, pair.claim, random), pair.claim, pair.label) for pair in kept]
    facts = [pair for pair in kept if pair.set in ("fever", "fool", "mnli", "scitail", "conjnli")]
    changed = _changed(facts, random)
    lessons += random.sample(changed, min(20_000, len(changed)))
    lessons += _strangers([pair for pair in kept if pair.set == "fever"], 4000, random)
    lessons += _asked([pair for pair in kept if pair.set == "fever"], 2000, random)
    lessons += copies([pair.evidence for pair in kept if pair.set in ("fever", "covidfact")], 6000, random)
    return lessons


def labelled(pairs: Sequence[Pair], random: Random) -> list[Lesson]:
    """NLI pairs and claims against facts, many more as they are than made of them; some stand among other texts."""
    kept = [tidied(pair) for pair in _capped(pairs, random, _MOST_LABELLED) if len(pair.evidence) < 4000]
    lessons = [lesson(read_against(pair.evidence, pair.claim, random), pair.claim, pair.label) for pair in kept]
    lessons += _among(random.sample([pair for pair in kept if pair.set in _SHORT], 5000), random)
    changed = _changed([pair for pair in kept if pair.set in ("fever", "fool", "mnli", "scitail")], random)
    lessons += random.sample(changed, min(7000, len(changed)))
    lessons += _strangers([pair for pair in kept if pair.set == "fever"], 2000, random)
    lessons += _asked([pair for pair in kept if pair.set == "fever"], 1500, random)
    return lessons


def _among(pairs: Sequence[Pair], random: Random) -> list[Lesson]:
    """Pairs whose evidence stands among that of others of its set, which say nothing of the claim."""
    lessons: list[Lesson] = []
    for pair in pairs:
        others = [other for other in random.sample(pairs, 6) if other.set == pair.set and other.group != pair.group]
        texts = [pair.evidence, *(other.evidence for other in others[: random.choice((1, 2, 3))])]
        random.shuffle(texts)
        evidence = " ".join(text if text[-1:] in ".!?" else f"{text}." for text in texts)
        lessons.append(lesson(evidence, pair.claim, pair.label))
    return lessons


def _capped(pairs: Sequence[Pair], random: Random, most_of: Mapping[str, int]) -> list[Pair]:
    """All pairs of most sets, some of those that are many and unlike what is verified."""
    kept = [pair for pair in pairs if pair.set not in most_of]
    for name, most in most_of.items():
        kept += random.sample([pair for pair in pairs if pair.set == name], most)
    return kept


def grounded(pairs: Sequence[Pair], copied: int, random: Random) -> list[Lesson]:
    """The second stage, from generated text against its source, and from health claims against abstracts."""
    lessons: list[Lesson] = []
    for pair in pairs:
        claim = pair.claim
        lessons.append(lesson(read_against(pair.evidence, claim, random), claim, pair.label))
    lessons += [
        lesson(read_against(evidence, claim, random), claim, label)
        for evidence, claim, label in edited_sentences([pair for pair in pairs if pair.set == "summedits"])
    ]
    lessons += _changed([pair for pair in pairs if pair.label == SUPPORTED], random)
    lessons += copies([pair.evidence for pair in pairs if pair.set != "healthver"], copied, random)
    return lessons


def edited_sentences(pairs: Iterable[Pair]) -> Iterator[tuple[str, str, str]]:
    """Sentences of edited summaries with labels of their own.

    A sentence that stands in a summary which people found consistent is supported. Where all but one sentence of an
    inconsistent summary are such, the one that is left is at fault.
    """
    by_document: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_document[pair.evidence].append(pair)
    for evidence, rows in by_document.items():
        good = {one for row in rows if row.label == SUPPORTED for one in _sentences(row.claim)}
        for one in sorted(good):
            yield evidence, one, SUPPORTED
        bad = set[str]()
        for row in rows:
            rest = [one for one in _sentences(row.claim) if one not in good]
            if row.label != SUPPORTED and len(rest) == 1:
                bad.add(rest[0])
        for one in sorted(bad):
            yield evidence, one, NOT_SUPPORTED


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def _changed(pairs: Sequence[Pair], random: Random) -> list[Lesson]:
    """A supported claim with one thing made false; or the claim as it was, and that thing changed in the evidence."""
    lessons: list[Lesson] = []
    for pair in pairs:
        if pair.label != SUPPORTED:
            continue
        false = falsified(pair.claim, names_in(pair.evidence), random)
        if false is None:
            continue
        evidence = read_against(pair.evidence, pair.claim, random)
        lessons.append(lesson(evidence, false, CONTRADICTED))
        turned = _turned(evidence, pair.claim, false)
        if turned is not None and random.random() < 0.5:
            lessons.append(lesson(turned, pair.claim, CONTRADICTED))
            lessons.append(lesson(turned, false, SUPPORTED))
    return lessons


def _turned(evidence: str, claim: str, false: str) -> str | None:
    """The evidence with the claim's change made in it, where one word was changed and the evidence has it once."""
    old, new = claim.split(), false.split()
    if len(old) != len(new):
        return None
    moved = [(one.strip(".,;:"), other.strip(".,;:")) for one, other in zip(old, new, strict=True) if one != other]
    if len(moved) != 1 or not re.search(r"\d", moved[0][0]) or evidence.count(moved[0][0]) != 1:
        return None
    return evidence.replace(*moved[0])


def _strangers(pairs: Sequence[Pair], most: int, random: Random) -> list[Lesson]:
    """Claims against sentences that name the same thing and say something else of it: no evidence."""
    by_name: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        for name in names_in(pair.evidence)[:3]:
            by_name[name].append(pair)
    lessons: list[Lesson] = []
    for pair in random.sample(pairs, len(pairs)):
        near = [other for name in names_in(pair.claim)[:2] for other in by_name[name] if other.group != pair.group]
        other = random.choice(near) if near else None
        if other and len(lessons) < most and _apart(other.evidence, pair):
            lessons.append(lesson(other.evidence, pair.claim, NO_EVIDENCE))
    return lessons


def _apart(evidence: str, pair: Pair) -> bool:
    """Whether another evidence has too few of the claim's words to speak of what it says."""
    wanted = set(stems_of(pair.claim))
    return evidence[:60] != pair.evidence[:60] and len(wanted & set(stems_of(evidence))) < 0.6 * len(wanted)


def _asked(pairs: Sequence[Pair], most: int, random: Random) -> list[Lesson]:
    """Claims as a question and its answer: "Who directed Alien? Ridley Scott"."""
    lessons: list[Lesson] = []
    for pair in random.sample(pairs, len(pairs)):
        subject = _SUBJECT.match(pair.claim)
        if subject and len(lessons) < most:
            rest = pair.claim[subject.end() :].rstrip(" .")
            asked = f"{random.choice(('Who', 'What', 'Which'))} {rest}? {subject[1].strip()}"
            lessons.append(lesson(pair.evidence, asked, pair.label))
    return lessons


def copies(texts: Iterable[str], most: int, random: Random) -> list[Lesson]:
    """Sentences of a text held against it: as they stand, falsified, or with the sentence taken out of the text."""
    lessons: list[Lesson] = []
    pool = sorted(set(texts))
    random.shuffle(pool)
    while pool and len(lessons) < most:
        for text in pool:
            own = [one for one in _sentences(_DOTS.sub("", text)) if 6 <= len(one.split()) <= 45]
            if not own or len(lessons) >= most:
                continue
            lessons += _copies_of(text, random.choice(own), len(own) > 2, random)
        if len(lessons) < most / 4:
            break
    return lessons[:most]


def _copies_of(text: str, one: str, several: bool, random: Random) -> list[Lesson]:
    said = reworded(one, random)
    against = read_against(text, said, random)
    lessons = [lesson(against, said, SUPPORTED)]
    false = falsified(said, names_in(text), random)
    if false is not None:
        lessons.append(lesson(against, false, CONTRADICTED))
    if several and one in text:
        rest = text.replace(one, " ")
        lessons.append(lesson(read_against(rest, said, random), said, NO_EVIDENCE))
    return lessons
