"""α for spans of text.

How far raters mark the same passages, by Krippendorff's unitising α and character by character.
"""

from dataclasses import dataclass

import numpy as np

from evenhand.agreement.arrays import AnyInts, BoolArray, FloatArray, IntArray
from evenhand.agreement.blocks import single_blocks
from evenhand.agreement.bootstrap import DEFAULT, Plan, estimate, sample_of
from evenhand.agreement.ratio import first_over_second, ratio
from evenhand.agreement.result import NO_OVERLAP, Estimate, undefined

_UNMARKED = "no rater marked anything: expected disagreement is 0"


@dataclass(frozen=True)
class Spans:
    """Marked passages: span `i` of rater `rater[i]` runs over characters `begin[i]` to `end[i]` - 1 of a text.

    `lengths` are the texts' lengths; `rated` (texts × raters) says who worked on which text, so that a text left
    unmarked and a text not seen differ. Spans of one rater and label that touch or overlap count as one.
    """

    text: IntArray
    rater: IntArray
    label: IntArray
    begin: IntArray
    end: IntArray
    lengths: IntArray
    rated: BoolArray

    def __post_init__(self) -> None:
        if self.begin.size and (
            bool((self.begin >= self.end).any())
            or int(self.begin.min()) < 0
            or bool((self.end > self.lengths[self.text]).any())
        ):
            raise ValueError("a span must have at least one character and lie within its text")
        if not bool(self.rated[self.text, self.rater].all()):
            raise ValueError("a span by a rater who did not rate its text")

    @property
    def overlapping(self) -> int:
        """Texts that at least two raters worked on."""
        return int((self.rated.sum(axis=1) >= 2).sum())


def unitizing_alpha(spans: Spans, label: int | None = None, plan: Plan | None = DEFAULT) -> Estimate:
    """Krippendorff's α for unitising (1995, 2004): whether the same passages were cut out, ends and all.

    Two spans that overlap differ by the squared distances of their beginnings and ends; a span that falls into another
    rater's gap differs by its squared length; the rest is agreement. Chance: the same spans and gaps laid down
    anywhere in the text. One label, or all of them added up. Over texts, observed and expected disagreement are
    averaged with the texts' lengths as weights; the bootstrap draws texts. Range: at most 1, 0 is chance. Level:
    nominal labels, interval positions. Undefined where no rater marked anything, and without a text that two worked
    on.
    """
    if spans.overlapping == 0:
        return undefined(NO_OVERLAP)
    texts = [t for t in range(len(spans.lengths)) if int(spans.rated[t].sum()) >= 2]
    labels = _labels(spans, label)
    rows = np.array([_unitizing_sums(spans, text, labels) for text in texts], dtype=np.float64)
    blocks = single_blocks(np.ones(len(texts), dtype=np.int64))
    return estimate(sample_of(blocks, rows), _agreement, len(texts), _UNMARKED, plan)


def character_alpha(spans: Spans, label: int | None = None, plan: Plan | None = DEFAULT) -> Estimate:
    """Krippendorff's nominal α with every character a unit, marked or not.

    For all labels their disagreements are added up. It asks whether the same characters were marked and not where
    spans begin, so that two half spans in the place of one whole count as agreement. Range: at most 1. Undefined where
    nothing, or everything, is marked by all.
    """
    if spans.overlapping == 0:
        return undefined(NO_OVERLAP)
    labels = _labels(spans, label)
    texts = [t for t in range(len(spans.lengths)) if int(spans.rated[t].sum()) >= 2]
    rows = np.zeros((len(texts), 3 * len(labels)))
    for place, text in enumerate(texts):
        for column, one in enumerate(labels):
            rows[place, 3 * column : 3 * column + 3] = _character_sums(spans, text, one)

    def value(sums: FloatArray) -> FloatArray:
        parts = sums.reshape(*sums.shape[:-1], len(labels), 3)
        observed, marked, ratings = parts[..., 0], parts[..., 1], parts[..., 2]
        expected = ratio(2.0 * marked * (ratings - marked), ratings - 1.0)
        return 1.0 - ratio(observed.sum(axis=-1), expected.sum(axis=-1))

    why = "nothing, or everything, is marked by every rater: expected disagreement is 0"
    blocks = single_blocks(np.ones(len(texts), dtype=np.int64))
    return (
        estimate(sample_of(blocks, rows), value, len(texts), why, plan) if labels else undefined(_UNMARKED, len(texts))
    )


def _agreement(sums: FloatArray) -> FloatArray:
    return 1.0 - first_over_second(sums)


def _labels(spans: Spans, label: int | None) -> list[int]:
    return [label] if label is not None else [int(one) for one in np.unique(spans.label)]


def _sections(spans: Spans, text: int, rater: int, label: int) -> tuple[FloatArray, FloatArray]:
    """A rater's spans of one label and the gaps between them, each as rows of beginning and end."""
    mine = (spans.text == text) & (spans.rater == rater) & (spans.label == label)
    joined: list[list[int]] = []
    for begin, end in sorted(zip(spans.begin[mine].tolist(), spans.end[mine].tolist(), strict=True)):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    ends = [0, *(place for span in joined for place in span), int(spans.lengths[text])]
    gaps = [[left, right] for left, right in zip(ends[::2], ends[1::2], strict=True) if right > left]
    return np.array(joined, dtype=np.float64).reshape(-1, 2), np.array(gaps, dtype=np.float64).reshape(-1, 2)


def _unitizing_sums(spans: Spans, text: int, labels: list[int]) -> tuple[float, float]:
    """A text's observed and expected disagreement over all labels, times its length."""
    length = float(spans.lengths[text])
    raters = np.flatnonzero(spans.rated[text])
    observed = expected = 0.0
    for label in labels:
        sections = [_sections(spans, text, int(rater), label) for rater in raters]
        observed += _observed(sections, length)
        expected += _expected(sections, length)
    return length * observed, length * expected


def _observed(sections: list[tuple[FloatArray, FloatArray]], length: float) -> float:
    total = 0.0
    for i, (units, _) in enumerate(sections):
        for j, (others, gaps) in enumerate(sections):
            if i == j:
                continue
            begin = np.subtract.outer(units[:, 0], others[:, 0])
            end = np.subtract.outer(units[:, 1], others[:, 1])
            meet = (units[:, 0, None] < others[None, :, 1]) & (others[None, :, 0] < units[:, 1, None])
            total += float((begin**2 + end**2)[meet].sum())
            inside = (units[:, 0, None] >= gaps[None, :, 0]) & (units[:, 1, None] <= gaps[None, :, 1])
            # Twice: the pair counts once from either rater's side.
            total += 2.0 * float(((units[:, 1] - units[:, 0]) ** 2 * inside.any(axis=1)).sum())
    m = len(sections)
    return total / (m * (m - 1) * length**2)


def _expected(sections: list[tuple[FloatArray, FloatArray]], length: float) -> float:
    """Every span against every other and every gap, over all places where the one could meet the other."""
    m = len(sections)
    units = np.concatenate([own[:, 1] - own[:, 0] for own, _ in sections])
    gaps = np.concatenate([between[:, 1] - between[:, 0] for _, between in sections])
    against_units = (units.size - 1.0) / 3.0 * (2.0 * units**3 - 3.0 * units**2 + units)
    room = np.maximum(gaps[None, :] - units[:, None] + 1.0, 0.0)
    against_gaps = units**2 * np.where(gaps[None, :] >= units[:, None], room, 0.0).sum(axis=1)
    places = m * length * (m * length - 1.0) - float((units * (units - 1.0)).sum())
    return 2.0 / length * float((against_units + against_gaps).sum()) / places if places > 0 else 0.0


def _character_sums(spans: Spans, text: int, label: int) -> tuple[float, float, float]:
    """Disagreeing pairs (each rating weighing 1), marked characters and all characters, added over the raters."""
    raters = np.flatnonzero(spans.rated[text])
    m, length = len(raters), float(spans.lengths[text])
    steps: list[tuple[float, int]] = []
    for rater in raters:
        units, _ = _sections(spans, text, int(rater), label)
        steps += [(begin, 1) for begin in units[:, 0].tolist()] + [(end, -1) for end in units[:, 1].tolist()]
    steps.sort()
    observed = marked = at = 0.0
    by = 0
    for place, change in steps:
        observed += (place - at) * 2.0 * by * (m - by) / (m - 1.0)
        marked += (place - at) * by
        at, by = place, by + change
    return observed, marked, m * length


def spans_of(rows: AnyInts, lengths: AnyInts, rated: BoolArray) -> Spans:
    """Spans from rows of text, rater, label, begin, end."""
    columns = rows.reshape(-1, 5).astype(np.int64).T
    return Spans(columns[0], columns[1], columns[2], columns[3], columns[4], lengths.astype(np.int64), rated)
