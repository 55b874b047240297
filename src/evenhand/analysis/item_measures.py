"""Measures that have one number for each item: of its texts, of its retrieved ids, and shares of its units.

The first two need no rating. An item that lacks a field, has nothing to divide by or was not rated completely is left
out and counted by the reason; it never counts as 0.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, cast

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.figures import ABSENT_FIELDS, Figure
from evenhand.analysis.strata import Stratum
from evenhand.analysis.tables import Table, Tables
from evenhand.nlp.abstention import abstains
from evenhand.nlp.words import overlap_f1, plain_words
from evenhand.protocol.model import AbstentionMeasure, ItemMeasure, ProportionMeasure, RetrievalMeasure, TextMeasure
from evenhand.records import FieldValue
from evenhand.statistics import BoolArray, Estimate, FloatArray, IntArray, Resampling, undefined

INCOMPLETE = "incomplete"
NO_WORDS = "no_words"

Score = Sequence[float] | str
"""A number for each part of a measure, or the reason why an item has none."""


class ItemScores(NamedTuple):
    """A measure of each item: items × parts, NaN if an item has none; and for those items the reason, else None.

    `absent` are the optional fields that it reads and no item has, if that is all of them. `repeated` marks the items
    in which an id was retrieved more than once.
    """

    values: FloatArray
    why: Sequence[str | None]
    absent: Sequence[str]
    repeated: BoolArray

    def left_out(self, items: IntArray) -> Mapping[str, int]:
        """How many of these items have no number, by reason."""
        return Counter(why for why in map(self.why.__getitem__, items.tolist()) if why is not None)


def item_scores(tables: Tables, spec: ItemMeasure) -> ItemScores:
    """A measure of each item, in the order of the items."""
    fields = tables.protocol.item.fields
    columns = {name: tables.fields.get(name) or [None] * tables.n_items for name in spec.reads}
    score, parts = _scorer(spec, tables.protocol.language), len(_parts(spec))
    found = [_score(score, dict(zip(columns, values, strict=True))) for values in zip(*columns.values(), strict=True)]
    values = np.array([(math.nan,) * parts if isinstance(one, str) else one for one in found], dtype=np.float64)
    optional = [name for name in spec.reads if not fields[name].required]
    absent = optional if not any(value is not None for name in optional for value in columns[name]) else ()
    why = [one if isinstance(one, str) else None for one in found]
    return ItemScores(values.reshape(-1, parts), why, absent, _repeated(spec, columns[spec.reads[0]]))


def _score(score: Callable[..., Score], values: Mapping[str, FieldValue | None]) -> Score:
    for name, value in values.items():
        if value is None or (isinstance(value, str) and not value.strip()):
            return f"no_{name}"
    return score(*values.values())


def _parts(spec: ItemMeasure) -> Sequence[str | None]:
    return spec.parts if isinstance(spec, RetrievalMeasure) else (None,)


def _scorer(spec: ItemMeasure, language: str) -> Callable[..., Score]:
    match spec:
        case TextMeasure():
            return partial(_agreement, kind=spec.kind, language=language)
        case AbstentionMeasure():
            return partial(_abstention, spec=spec, language=language)
        case RetrievalMeasure():
            return partial(_retrieval, spec=spec)


def _agreement(text: FieldValue, references: FieldValue, kind: str, language: str) -> Score:
    """How far a text agrees with the reference that it agrees with best."""
    found = [_compared(" ".join(_texts(text)), reference, kind, language) for reference in _texts(references)]
    defined = [value for value in found if value is not None]
    return (max(defined),) if defined else NO_WORDS


def _compared(text: str, reference: str, kind: str, language: str) -> float | None:
    """Coverage is None if the reference has no words to cover."""
    found, wanted = plain_words(text, reference, language=language)
    if kind == "text_match":
        return float(found == wanted)
    if kind == "token_f1":
        return overlap_f1(found, wanted)
    return (Counter(found) & Counter(wanted)).total() / len(wanted) if wanted else None


def _texts(value: FieldValue) -> Sequence[str]:
    return (value,) if isinstance(value, str) else cast("Sequence[str]", value)


def _abstention(text: str, spec: AbstentionMeasure, language: str) -> Score:
    return (float(abstains(text, language, spec.phrases, built_in=spec.built_in)),)


def _retrieval(retrieved: Sequence[str], relevant: Sequence[str], spec: RetrievalMeasure) -> Score:
    """recall@k, precision@k and nDCG@k for each k, then the reciprocal rank; an id counts at its first rank only."""
    wanted = set(relevant)
    if not wanted:
        return f"no_{spec.relevant}"
    ranks = [rank for rank, one in enumerate(retrieved, 1) if one in wanted and one not in retrieved[: rank - 1]]
    at = list(dict.fromkeys(spec.at))
    hits = [sum(rank <= k for rank in ranks) for k in at]
    gains = [_gain(rank for rank in ranks if rank <= k) / _gain(range(1, min(len(wanted), k) + 1)) for k in at]
    recall = [count / len(wanted) for count in hits]
    precision = [count / k for count, k in zip(hits, at, strict=True)]
    return [*recall, *precision, *gains, 1 / ranks[0] if ranks else 0.0]


def _gain(ranks: Iterator[int] | range) -> float:
    return math.fsum(1 / math.log2(rank + 1) for rank in ranks)


def _repeated(spec: ItemMeasure, column: Sequence[FieldValue | None]) -> BoolArray:
    """The items in which an id was retrieved more than once."""
    lists = (cast("Sequence[str]", value or ()) for value in column)
    repeated = (isinstance(spec, RetrievalMeasure) and len(set(ids)) < len(ids) for ids in lists)
    return np.fromiter(repeated, dtype=np.bool_, count=len(column))


def item_figures(
    tables: Tables, spec: ItemMeasure, scores: ItemScores, parts: Sequence[Stratum], plan: Resampling
) -> Iterator[Figure]:
    """The mean over the items, overall and in each stratum; one undefined figure if no item has a value."""
    figure = Figure(spec.name, spec.kind, undefined(""))
    usable: BoolArray = ~np.isnan(scores.values[:, 0])
    if not usable.any():
        left_out = scores.left_out(np.arange(len(usable)))
        detail = {ABSENT_FIELDS: list(scores.absent)} if scores.absent else None
        yield replace(figure, estimate=undefined(_why(left_out)), detail=detail, left_out=left_out)
        return
    for stratum in parts:
        used = np.flatnonzero(stratum.items & usable)
        clusters = None if tables.documents_of_items is None else tables.documents_of_items[used]
        left_out = scores.left_out(np.flatnonzero(stratum.items))
        repeated = int(scores.repeated[used].sum())
        detail = {"repeated_ids": repeated} if repeated else None
        for place, label in enumerate(_parts(spec)):
            found = average(scores.values[used, place], clusters, plan) if used.size else undefined(_why(left_out))
            yield replace(figure, estimate=found, label=label, stratum=stratum.of, detail=detail, left_out=left_out)


class ItemShares(NamedTuple):
    """Shares of the units of items: of which item, by which rater; and by reason, which of them do not count."""

    item: IntArray
    rater: IntArray
    share: FloatArray
    left_out: Mapping[str, BoolArray]


def item_shares(
    tables: Tables, spec: ProportionMeasure, unit: IntArray, rater: IntArray, hit: FloatArray,
    excluded: BoolArray, lacking: BoolArray,
) -> ItemShares:  # fmt: skip
    """The share of hits in each item, from ratings of its units that are a hit or not, excluded or lack an answer.

    An item counts for a rater who rated all of its units; if it has no units at all, for every rater.
    """
    items, width = tables.items_of_units, max(1, len(tables.raters))
    cells = _cells(tables, tables.tables[spec.criterion])
    place, item = np.searchsorted(cells, items[unit] * width + rater), cells // width

    def sums(of_ratings: FloatArray | BoolArray) -> FloatArray:
        return np.bincount(place, weights=of_ratings, minlength=cells.size).astype(np.float64)

    inside = tables.units_from(tables.protocol.field_of(spec))
    units = np.bincount(items[inside], minlength=tables.n_items)[item]
    rated, out = sums(np.ones_like(hit)), sums(excluded)
    share = statistics.ratio(sums(hit * ~excluded), rated - out)
    left_out: dict[str, BoolArray] = {
        f"no_{tables.protocol.rule.of}s": units == 0,
        INCOMPLETE: (rated < units) | (sums(lacking) > 0),
        "excluded_label": rated == out,
    }
    return _adjusted(tables, spec, ItemShares(item, cells % width, share, left_out))


def _adjusted(tables: Tables, spec: ProportionMeasure, found: ItemShares) -> ItemShares:
    """With the share of items whose text abstains, if it is fixed, and multiplied with another measure of the item."""
    share, left_out, protocol = found.share.copy(), dict(found.left_out), tables.protocol
    abstention = protocol.abstention_of(protocol.field_of(spec))
    if spec.abstained is not None and abstention is not None:
        silent: BoolArray = item_scores(tables, abstention).values[found.item, 0] == 1.0
        share[silent] = spec.abstained
        left_out = {why: items & ~silent for why, items in left_out.items()}
    if spec.times is not None:
        factor = item_scores(tables, protocol.item_measures[spec.times])
        share *= factor.values[found.item, 0]
        reasons = np.array([why or "" for why in factor.why])[found.item]
        left_out |= {str(why): reasons == why for why in np.unique(reasons) if why}
    return found._replace(share=share, left_out=left_out)


def _cells(tables: Tables, table: Table) -> IntArray:
    """Items and raters, as item · raters + rater: where there is a record of any status, or nothing to rate."""
    items, width = tables.items_of_units, max(1, len(tables.raters))
    found = np.concatenate([items[table.unit] * width + table.rater, items[table.gaps.unit] * width + table.gaps.rater])
    empty = np.flatnonzero(np.bincount(items, minlength=tables.n_items) == 0)
    every = (empty[:, None] * width + np.unique(found % width)).reshape(-1)
    return np.unique(np.concatenate([found, every])).astype(np.int64)


def average(values: FloatArray, clusters: IntArray | None, plan: Resampling) -> Estimate:
    """The mean of numbers from 0 to 1: Wilson's interval if each is 0 or 1, otherwise a bootstrap interval."""
    if np.isin(values, (0.0, 1.0)).all():
        return statistics.proportion(values, clusters, plan.level)
    return statistics.resampled_mean(values, clusters, plan)


def _why(left_out: Mapping[str, int]) -> str:
    counts = ", ".join(f"{count} {why.replace('_', ' ')}" for why, count in left_out.items())
    return f"every item is left out: {counts}" if counts else "there are no items"
