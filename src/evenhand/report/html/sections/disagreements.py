"""The units on which raters disagree most, with their texts, the rated sentence and the cited evidence marked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from evenhand.protocol.guideline import field_text, field_title
from evenhand.records import FieldValue, Item, Rating, Unit
from evenhand.report.data import Case, Report
from evenhand.report.html.elements import Section, aside, element, facts, folded, join, note
from evenhand.report.html.names import STATUSES, Names
from evenhand.report.numbers import count, number

LONG = 700
"""Texts longer than this are folded."""
_AROUND = 180
"""Characters shown around a mark in a folded text."""
_ROLES = {"rated": "rated", "evidence": "evidence", "reference": "reference", "context": "background"}


@dataclass(frozen=True, slots=True)
class TextMark:
    """A passage from `start` up to `end`, why it is marked (`rated`, `cited`), and its tooltip."""

    start: int
    end: int
    why: str
    title: str


def disagreements_section(report: Report, names: Names) -> Section:
    by_unit: dict[str, list[Case]] = {}
    for case in report.cases:
        by_unit.setdefault(case.unit.id, []).append(case)
    cards = [_card(together, report, names) for together in by_unit.values()]
    if not cards:
        cards = [note("There is no unit on which two raters disagree.")]
    intro = note(
        "The worst first, for a second look. 0% apart is agreement, 100% the largest possible distance; on ordered "
        "scales, squared distances count. ",
        element("mark", "What was rated", class_="rated"),
        " and ",
        element("mark", "what raters cited as evidence", class_="cited"),
        " are marked in the texts.",
    )
    return Section("disagreements", "Where raters disagree most", join([intro, *cards]))


def _card(together: Sequence[Case], report: Report, names: Names) -> Markup:
    first = together[0]
    place = (
        "" if report.source.protocol.rule.of == "item" else f", {report.source.protocol.rule.of} {first.unit.position}"
    )
    title = element("h3", element("bdi", first.item.id), place)
    ratings = [_ratings(case, names) for case in together]
    return element("article", title, _unit(first.unit, report), ratings, _texts(together, report), class_="case")


def _unit(unit: Unit, report: Report) -> Markup | None:
    if unit.text is None:
        return None
    quote = element("blockquote", unit.text, dir="auto", lang=report.source.protocol.language)
    if report.source.protocol.rule.of != "question":
        return quote
    known = [("The reference's answer", unit.answer), ("Key information", unit.key_info)]
    return join([quote, facts([(name, text) for name, text in known if text])])


def _ratings(case: Case, names: Names) -> Markup:
    apart = f"{number(case.disputed.disagreement, 'share')} apart, {count(len(case.ratings), 'rating')}"
    caption = element("caption", names.criterion(case.criterion), aside(apart))
    ordered = {rater: place for place, rater in enumerate(names.people_first([one.rater for one in case.ratings]))}
    ratings = sorted(case.ratings, key=lambda one: ordered[one.rater])
    if not any(map(_words, ratings)):
        chips = [element("span", names.rater(one.rater), _value(one, names)) for one in ratings]
        title = element("p", element("strong", names.criterion(case.criterion)), aside(apart))
        return join([title, element("p", chips, class_="chips")])
    rows = [_rating(rating, names) for rating in ratings]
    return element("table", caption, element("tbody", rows), class_="said")


def _value(rating: Rating, names: Names) -> Markup:
    if rating.value is None:
        return element("span", STATUSES[rating.status], class_="why")
    return element("span", names.value(rating.criterion, rating.value), class_="chip")


def _words(rating: Rating) -> Sequence[Markup]:
    """What a rater wrote in addition to the value."""
    parts = [
        element("p", rating.rationale, dir="auto") if rating.rationale else None,
        element("p", aside("note "), rating.notes, dir="auto") if rating.notes else None,
        element("p", f"failed: {rating.reason}", class_="why") if rating.reason else None,
        element("p", f"confidence {rating.confidence:g}%", class_="aside") if rating.confidence is not None else None,
    ]
    return [part for part in parts if part is not None]


def _rating(rating: Rating, names: Names) -> Markup:
    texts = _words(rating) or [aside("no rationale given")]
    name = element("th", names.rater(rating.rater), scope="row")
    return element("tr", name, element("td", _value(rating, names)), element("td", texts))


def _texts(together: Sequence[Case], report: Report) -> Markup:
    item, unit = together[0].item, together[0].unit
    ratings = [rating for case in together for rating in case.ratings]
    parts: list[Markup] = []
    short: list[str] = []
    for name, spec in report.source.protocol.item.fields.items():
        if name not in item.fields:
            continue
        title, value = field_title(name, spec), item.fields[name]
        if spec.kind in ("label", "number"):
            short.append(join([f"{title}: ", element("bdi", field_text(value))]))
            continue
        heading = element("h4", title, aside(_ROLES[spec.role]))
        parts.append(element("div", heading, field(value, _marks(name, unit, ratings)), class_=f"field {spec.role}"))
    labels = note(join(short, " · ")) if short else None
    return element("div", parts, labels, _unknown(item, ratings), class_="texts", lang=report.source.protocol.language)


def _marks(name: str, unit: Unit, ratings: Sequence[Rating]) -> Sequence[TextMark]:
    span = unit.span
    marks = [TextMark(span.start, span.end, "rated", "what was rated")] if span and span.field == name else []
    for rating in ratings:
        cited = [one for one in rating.evidence if one.field == name]
        marks += [TextMark(one.start, one.end, "cited", f"cited by {rating.rater}") for one in cited]
    return marks


def _unknown(item: Item, ratings: Sequence[Rating]) -> Markup | None:
    """Evidence in fields that this item does not have cannot be shown, so it is mentioned."""
    missing = {
        (rating.rater, one.field) for rating in ratings for one in rating.evidence if one.field not in item.fields
    }
    lines = [f"{rater} cites {name}, which this item does not have." for rater, name in sorted(missing)]
    return note(" ".join(lines)) if lines else None


def marked(text: str, marks: Iterable[TextMark], start: int = 0, end: int | None = None) -> Markup:
    """The text from `start` to `end` with its marks; they may overlap, reach beyond it or be empty."""
    end = len(text) if end is None else end
    within = [mark for mark in marks if max(mark.start, start) < min(mark.end, end)]
    cuts = {start, end}
    for mark in within:
        cuts |= {max(mark.start, start), min(mark.end, end)}
    edges = sorted(cuts)
    parts = [
        _piece(text[a:b], [mark for mark in within if mark.start <= a and b <= mark.end]) for a, b in pairwise(edges)
    ]
    return join(parts)


def _piece(text: str, marks: Sequence[TextMark]) -> str:
    if not marks:
        return text
    title = "; ".join(dict.fromkeys(mark.title for mark in marks))
    return element("mark", text, class_=" ".join(sorted({mark.why for mark in marks})), title=title)


def field(value: FieldValue, marks: Sequence[TextMark]) -> Markup:
    """A field as a rater read it. A long one is folded, after excerpts around its marks."""
    text = field_text(value)
    whole = element("div", marked(text, marks), class_="text", dir="auto")
    if len(text) <= LONG:
        return whole
    excerpts = [
        element("div", *_excerpt(text, marks, *place), class_="text excerpt", dir="auto")
        for place in _around(text, marks)
    ]
    if not excerpts:
        excerpts = [element("div", f"{_beginning(text)} …", class_="text excerpt", dir="auto")]
    return join([*excerpts, folded(f"The whole text, {count(len(text), 'character')}", whole)])


def _beginning(text: str) -> str:
    """The first words; a text without spaces is cut anywhere."""
    start = text[:_AROUND]
    return start.rsplit(maxsplit=1)[0] if len(start.split()) > 1 else start


def _around(text: str, marks: Sequence[TextMark]) -> Sequence[tuple[int, int]]:
    """The stretches of text around its marks, joined where they meet."""
    found: list[tuple[int, int]] = []
    for mark in sorted(marks, key=lambda mark: mark.start):
        start, end = max(0, mark.start - _AROUND), min(len(text), mark.end + _AROUND)
        if end <= start or mark.start >= len(text):
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _excerpt(text: str, marks: Sequence[TextMark], start: int, end: int) -> Sequence[str]:
    before, after = "… " if start else "", " …" if end < len(text) else ""
    return [before, marked(text, marks, start, end), after]
