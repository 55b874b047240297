"""The protocol's own measures as rows of a forest plot: shared by the summary and the breakdowns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from markupsafe import Markup

from evenhand.analysis.figures import PEOPLE, Figure
from evenhand.protocol.guideline import measure_in_words
from evenhand.protocol.model import Criterion, MeanMeasure, Protocol
from evenhand.report.html.elements import aside, element, join
from evenhand.report.html.names import MOST_RATERS, Names, rest, words
from evenhand.report.numbers import Style, number
from evenhand.report.plots.forest import Row, forest
from evenhand.report.plots.track import Shape
from evenhand.scales import Ordinal

TABLES = ("confusion", "confusion_matrix")
_SHARES = ("proportion", "percent_match", "exact_match", "per_label", "majority")
_SCORES = ("mean", "sd")
_VOTES = {"full": "all agree", "majority": "more than half agree", "none": "no majority"}


def style_of(kind: str) -> Style:
    return "share" if kind in _SHARES else "score" if kind in _SCORES else "coefficient"


def about(protocol: Protocol, name: str) -> str:
    """What a measure is, in the protocol's words."""
    spec = next((spec for spec in protocol.measures if spec.name == name), None)
    if spec is None:
        return ""
    text = measure_in_words(protocol, spec)
    return text[:1].upper() + text[1:].rstrip(".") + "."


def ends(protocol: Protocol, name: str) -> tuple[float | None, float | None]:
    """The ends of the scale that a mean lies on, so that its axis shows all of it; the lower one of a deviation."""
    spec = next((spec for spec in protocol.measures if spec.name == name), None)
    if not isinstance(spec, MeanMeasure):
        return None, None
    if spec.kind == "sd":
        return 0.0, None
    scales = [_ends(protocol.criterion(criterion)) for criterion in spec.criteria]
    return min(low for low, _ in scales), max(high for _, high in scales)


def _ends(criterion: Criterion) -> tuple[float, float]:
    scale = criterion.scale
    return (float(scale.values[0]), float(scale.values[-1])) if isinstance(scale, Ordinal) else (0.0, 100.0)


def owner(measure: Figure, names: Names) -> Markup:
    """Whose figure it is: that of a rater, of all people, of a pair, or of no rater in particular."""
    if measure.rater is None:
        default = "all items" if measure.criterion is None else "all raters"
        return join([_VOTES.get(str(measure.label), default)])
    rater = names.rater(measure.rater)
    return join([rater, " with ", _side(measure.against, names)]) if measure.against else rater


def _side(against: str, names: Names) -> Markup:
    return names.rater(against) if names.known(against) else element("span", f"the {against}")


def spoken(measure: Figure) -> str:
    """A measure in words, for screen readers and tooltips."""
    sides = [side for side in (measure.rater, measure.against) if side]
    parts = [words(measure.statistic), measure.criterion, " with ".join(sides), measure.label]
    return ", ".join(str(part) for part in parts if part)


def left_out(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {words(reason).lower()}" for reason, count in counts.items())


def row_of(measure: Figure, names: Names, group: str = "", lead: str = "") -> Row:
    """`lead` takes the first place in the row's name, and whose figure it is goes below it."""
    if measure.label is not None and measure.rater is not None and measure.criterion is not None:
        lead = names.value(measure.criterion, measure.label)
    name = [lead, aside(owner(measure, names))] if lead else [owner(measure, names)]
    if measure.left_out:
        name.append(aside(f"left out: {left_out(measure.left_out)}"))
    if measure.detail and "per_label" in measure.detail:
        name.append(aside(_each_label(measure.detail)))
    return Row(join(name), spoken(measure), measure.estimate, shape_of(measure, names), group)


def _each_label(detail: Mapping[str, object]) -> str:
    values = cast("Mapping[str, float | None]", detail["per_label"])
    return ", ".join(
        f"{label} {number(value)}" if value is not None else f"{label} undefined" for label, value in values.items()
    )


def shape_of(measure: Figure, names: Names) -> Shape:
    if measure.rater is None:
        return "plain"
    paired = measure.against is not None and names.known(measure.against)
    return "pair" if paired else names.shape(measure.rater)


def shown(figures: Sequence[Figure], names: Names) -> Sequence[Figure]:
    """The figures of one criterion that a page shows; if there are very many, those about single people give way."""
    return names.select(
        figures, lambda one: one.estimate.n, most=MOST_RATERS, last=lambda one: is_individual(one, names)
    )


def plot(name: str, figures: Sequence[Figure], protocol: Protocol, names: Names) -> Markup:
    """One measure over all units, with a group for each criterion."""
    criteria = dict.fromkeys(one.criterion for one in figures)
    total = len(figures)
    figures = [
        one for criterion in criteria for one in shown([one for one in figures if one.criterion == criterion], names)
    ]
    titles = [names.criterion(one.criterion) if one.criterion else "" for one in figures]
    if len(set(titles)) == len(titles) > 1:
        rows = [row_of(one, names, lead=title) for one, title in zip(figures, titles, strict=True)]
    else:
        several = len(set(titles)) > 1
        rows = [row_of(one, names, title if several else "") for one, title in zip(figures, titles, strict=True)]
    low, high = ends(protocol, name)
    caption = join([words(name), aside(about(protocol, name))])
    return forest(caption, rows, style_of(figures[0].kind), low=low, high=high, below=rest(len(figures), total))


def by_name(figures: Iterable[Figure]) -> Mapping[str, Sequence[Figure]]:
    found: dict[str, list[Figure]] = {}
    for one in figures:
        found.setdefault(one.statistic, []).append(one)
    return found


def is_individual(measure: Figure, names: Names) -> bool:
    """Whether it is about one person by name, not about all of them or about a model."""
    sides = [side for side in (measure.rater, measure.against) if side is not None]
    return any(names.is_person(side) for side in sides)


def pooled(figures: Iterable[Figure], names: Names) -> bool:
    """Whether there is also a figure for all people together."""
    return any(one.rater == PEOPLE and not names.known(PEOPLE) for one in figures)
