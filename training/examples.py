"""Training examples: labelled pairs, balanced by source, and pairs whose label follows from how they are made."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from training.changes import falsified, names_in, reworded
from training.pairs import CONTRADICTED, NO_EVIDENCE, NOT_SUPPORTED, SUPPORTED, Pair, split

# At most so many pairs of a source in one pass; sources that are not named are used whole.
_MOST = {
    "snli": 5_000, "mnli": 9_000, "scitail": 3_000, "conjnli": 3_000, "counterfactual-nli": 2_500, "squad": 8_000,
    "hotpot": 7_000, "conda": 4_500, "creak": 4_500, "qasc": 3_000, "kpa": 3_500,
}  # fmt: skip
# Small sets of generated text are seen so often in one pass, each time with another part of the evidence.
_SEEN = {"begin": 4, "wice": 2, "summedits": 3}
# Claims shown with the evidence of another claim, most of it on a related topic.
_ELSEWHERE = {
    "fever": 3_000, "covidfact": 1_300, "fool-me-twice-dev": 300, "evinf": 1_600, "creak": 700, "pubmedqa": 500,
    "conda": 800, "hotpot": 800,
}  # fmt: skip
_RELATED = 0.75  # share of those whose evidence is on a related topic
_SHORT = ("fever", "fool-me-twice-dev", "evinf", "creak", "scitail", "mnli", "covidfact", "qasc", "kpa")
_SURROUNDED = 5_000
_COPIED = 8_000
_JOINED = 2_500
_WORD = re.compile(r"[^\W_]+")


def examples(pairs: Sequence[Pair], random: Random) -> list[Pair]:
    """One pass of training, in no particular order."""
    by_source: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_source[pair.source].append(pair)
    chosen = {source: balanced(rows, _MOST.get(source), random) for source, rows in sorted(by_source.items())}
    made = [pair for rows in chosen.values() for pair in rows for _ in range(_SEEN.get(pair.set, 1))]
    for source, many in _ELSEWHERE.items():
        made += elsewhere(by_source[source], many, random)
    short = [pair for source in _SHORT for pair in chosen[source] if len(pair.evidence.split()) < 70]
    made += surrounded(short, _SURROUNDED, random)
    long = [pair for source in ("squad", "hotpot", "conda", "pubmedqa", "covidfact") for pair in by_source[source]]
    made += copied(long, _COPIED, random)
    made += joined([pair for source in ("fever", "squad", "conda") for pair in by_source[source]], _JOINED, random)
    return [window(pair, random) for pair in made]


def balanced(pairs: Sequence[Pair], most: int | None, random: Random) -> list[Pair]:
    """Labels in proportion, so that a topic says nothing about the label.

    No more supported pairs than all others together, and no other label more often than supported.
    """
    by_label: dict[str, list[Pair]] = defaultdict(list)
    for pair in random.sample(pairs, len(pairs)):
        by_label[pair.label].append(pair)
    others = [label for label in by_label if label != SUPPORTED]
    supported = min(len(by_label[SUPPORTED]), sum(len(by_label[label]) for label in others))
    sizes = {SUPPORTED: supported} | {label: min(len(by_label[label]), supported) for label in others}
    share = min(1.0, (most or 1_000_000) / sum(sizes.values()))
    return [pair for label, size in sizes.items() for pair in by_label[label][: round(size * share)]]


def words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word) > 2}


def elsewhere(pairs: Sequence[Pair], many: int, random: Random) -> list[Pair]:
    """Claims with another group's evidence, which says nothing of them: most of it on a related topic."""
    texts = sorted({pair.evidence: pair.group for pair in pairs}.items())
    bags = [words(text) for text, _ in texts]
    known = Counter(word for bag in bags for word in bag)
    index: dict[str, list[int]] = defaultdict(list)
    for at, bag in enumerate(bags):
        for word in bag:
            index[word].append(at)
    made: list[Pair] = []
    for pair in random.sample(pairs, min(len(pairs), 2 * many)):
        if len(made) == many:
            break
        claim = words(pair.claim)
        at = random.randrange(len(texts))
        if random.random() < _RELATED:
            scores: Counter[int] = Counter()
            for word in sorted(claim):
                if known[word] < len(texts) / 20:
                    for other in index[word]:
                        scores[other] += 1 / known[word]  # type: ignore[assignment]
            near = [other for other, _ in scores.most_common(13)[1:]]
            if not near:
                continue
            at = random.choice(near)
        evidence, group = texts[at]
        if group != pair.group and len(claim & bags[at]) <= 0.5 * len(claim):
            made.append(replace(pair, evidence=evidence, label=NO_EVIDENCE))
    return made


def surrounded(pairs: Sequence[Pair], many: int, random: Random) -> list[Pair]:
    """Short evidence among that of other pairs of its source, which says nothing of the claim."""
    by_source: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_source[pair.source].append(pair)
    made: list[Pair] = []
    for pair in random.sample(pairs, many):
        others = [one for one in random.sample(by_source[pair.source], 5) if one.group != pair.group]
        texts = [pair.evidence, *(one.evidence for one in others[: random.choice((1, 2, 3, 4))])]
        random.shuffle(texts)
        made.append(replace(pair, evidence=" ".join(text if text[-1:] in ".!?" else f"{text}." for text in texts)))
    return made


def copied(pairs: Sequence[Pair], many: int, random: Random) -> list[Pair]:
    """Sentences of a text held against it, reworded a little: half as they are, half with one thing made false."""
    texts = sorted({pair.evidence: pair for pair in pairs}.items())
    names = [names_in(text) for text, _ in texts]
    made: list[Pair] = []
    for _ in range(3 * many):
        if len(made) >= many:
            break
        at = random.randrange(len(texts))
        evidence, pair = texts[at]
        sentences = [one for one in split(evidence) if 6 <= len(one.split()) <= 60]
        if len(sentences) < 3:
            continue
        claim = reworded(random.choice(sentences), random)
        if random.random() < 0.4:
            claim = part(claim, random)
        # Names of the same text mislead more than names from anywhere.
        others = names[at] if random.random() < 0.6 and len(names[at]) > 3 else random.choice(names)
        false = falsified(claim, others, random)
        if false is None:
            continue
        source = f"copied-{pair.source}"
        if random.random() < 0.5:
            made.append(Pair(evidence, claim, SUPPORTED, source, pair.group))
        else:
            made.append(Pair(evidence, false, CONTRADICTED, source, pair.group))
    return made


def part(claim: str, random: Random) -> str:
    """A sentence without what follows one of its commas, as summaries shorten it."""
    commas = [found.start() for found in re.finditer(",", claim) if len(claim[: found.start()].split()) > 5]
    return f"{claim[: random.choice(commas)]}." if commas else claim


def joined(pairs: Sequence[Pair], many: int, random: Random) -> list[Pair]:
    """Two claims about the same evidence as one: supported if both are, contradicted if either is."""
    by_evidence: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_evidence[pair.evidence].append(pair)
    several = [rows for _, rows in sorted(by_evidence.items()) if len(rows) > 1]
    made: dict[str, list[Pair]] = {SUPPORTED: [], CONTRADICTED: [], NO_EVIDENCE: []}
    for _ in range(6 * many):
        one, other = random.sample(random.choice(several), 2)
        labels = {one.label, other.label}
        label = SUPPORTED if labels == {SUPPORTED} else CONTRADICTED if CONTRADICTED in labels else NO_EVIDENCE
        if len(made[label]) < many // 3:
            made[label].append(replace(one, claim=f"{one.claim} {other.claim}", label=label))
    return [pair for rows in made.values() for pair in rows]


def window(pair: Pair, random: Random) -> Pair:
    """Long evidence cut to the sentences in a row that share most words with the claim, as it is read in use.

    How much is left varies. An abstract is kept whole: its conclusion follows from all of it.
    """
    room = random.choice((45, 60, 60, 80, 100, 140))
    if pair.source == "pubmedqa" or len(pair.evidence.split()) <= room:
        return pair
    claim, sentences = words(pair.claim), split(pair.evidence)
    best, most = "", -1
    for begin in range(len(sentences)):
        end, size = begin + 1, len(sentences[begin].split())
        while end < len(sentences) and size + len(sentences[end].split()) <= room:
            size += len(sentences[end].split())
            end += 1
        text = " ".join(sentences[begin:end])
        if (shared := len(claim & words(text))) > most:
            best, most = text, shared
    return replace(pair, evidence=best)


def accepted(label: str) -> Iterator[str]:
    """The labels that count as right: both of the last two where a set does not tell them apart."""
    yield from (CONTRADICTED, NO_EVIDENCE) if label == NOT_SUPPORTED else (label,)
