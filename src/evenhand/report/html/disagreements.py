"""The units on which raters disagree most, with their texts, the rated sentence and the cited evidence marked."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from evenhand.protocol.model import Protocol, field_text
from evenhand.records import FieldValue, Rating, Unit
from evenhand.report.build import Case
from evenhand.report.html.elements import Section, aside, element, facts, folded, join, note
from evenhand.report.html.view import View, grouped
from evenhand.report.numbers import number
from evenhand.text import counted

LONG = 700
"""Texts longer than this are folded."""
_AROUND = 180
"""Characters shown around a mark in a folded text."""
_ROLES = {"rated": "rated", "evidence": "evidence", "reference": "reference", "context": "background"}


class TextMark(NamedTuple):
    """A passage from `start` up to `end`, why it is marked (`rated`, `cited`), and its tooltip."""

    start: int
    end: int
    why: str
    title: str


def disagreements_section(view: View) -> Section:
    cards = [_card(together, view) for together in grouped(view.report.cases, lambda case: case.unit.id).values()]
    intro = note(
        "Largest disagreement first. 0% apart is agreement, 100% the largest possible distance; on ordered scales, "
        "distances are squared. ",
        element("mark", "What was rated", class_="rated"),
        " and ",
        element("mark", "what raters cited as evidence", class_="cited"),
        " are marked in the texts.",
    )
    body = join([intro, *(cards or [note("There is no unit on which two raters disagree.")])])
    return Section("disagreements", "Where raters disagree most", body)


def _card(together: Sequence[Case], view: View) -> Markup:
    item, unit, rule = together[0].item, together[0].unit, view.protocol.rule
    of = f" of “{view.protocol.titles[unit.field]}”" if unit.field and len(rule.fields) > 1 else ""
    title = element("h3", element("bdi", item.id), None if rule.of == "item" else f", {rule.of} {unit.position}{of}")
    parts = [_unit(unit, view.protocol), *(_ratings(case, view) for case in together), _texts(together, view.protocol)]
    return element("article", title, parts, class_="case")


def _unit(unit: Unit, protocol: Protocol) -> Markup | None:
    if unit.text is None:
        return None
    quote = element("blockquote", unit.text, dir="auto", lang=protocol.language)
    if protocol.rule.of != "question":
        return quote
    known = [("The reference's answer", unit.answer), ("Key information", unit.key_info)]
    return join([quote, facts([(name, text) for name, text in known if text])])


def _ratings(case: Case, view: View) -> Markup:
    """What each rater answered; as a table only if someone also wrote something."""
    title = view.criterion(case.criterion)
    adjudicators = view.report.source.adjudicators
    settled = any(one.rater in adjudicators and one.value is not None for one in case.ratings)
    distance = f"{number(case.disputed.disagreement, 'share')} apart, {counted(case.disputed.ratings, 'rating')}"
    apart = aside(f"{distance}, settled by a ruling" if settled else distance)
    ratings = {one.rater: one for one in case.ratings}
    ordered = [ratings[rater] for rater in view.people_first(ratings)]
    ruling, adjudicators = aside("ruling"), view.report.source.adjudicators
    names = [join([view.rater(one.rater), ruling if one.rater in adjudicators else None]) for one in ordered]
    rows = [(name, _value(one, view), _written(one)) for name, one in zip(names, ordered, strict=True)]
    if not any(written for _, _, written in rows):
        chips = [element("span", name, value) for name, value, _ in rows]
        return join([element("p", element("strong", title), apart), element("p", chips, class_="chips")])
    empty = aside("no rationale given")
    body = [
        element("tr", element("th", name, scope="row"), element("td", value), element("td", written or empty))
        for name, value, written in rows
    ]
    return element("table", element("caption", title, apart), element("tbody", body), class_="said")


def _value(rating: Rating, view: View) -> Markup:
    if rating.value is None:
        return element("span", rating.status.replace("_", " "), class_="why")
    return element("span", view.value(rating.criterion, rating.value), class_="chip")


def _written(rating: Rating) -> Markup:
    """What a rater wrote in addition to the value."""
    confidence = rating.confidence
    parts = [
        element("p", rating.rationale, dir="auto") if rating.rationale else None,
        element("p", aside("note "), rating.notes, dir="auto") if rating.notes else None,
        element("p", f"failed: {rating.reason}", class_="why") if rating.reason else None,
        element("p", f"confidence {confidence:g}%", class_="aside") if confidence is not None else None,
    ]
    return join(parts)


def _texts(together: Sequence[Case], protocol: Protocol) -> Markup:
    item, unit = together[0].item, together[0].unit
    ratings = [rating for case in together for rating in case.ratings]
    parts: list[Markup] = []
    labels: list[Markup] = []
    for name, spec in protocol.item.fields.items():
        if name not in item.fields:
            continue
        title, value = protocol.titles[name], item.fields[name]
        if spec.kind in ("ids", "label", "number"):
            labels.append(join([f"{title}: ", element("bdi", field_text(value))]))
            continue
        heading = element("h4", title, aside(_ROLES[spec.role]))
        parts.append(element("div", heading, field(value, _marks(name, unit, ratings)), class_=f"field {spec.role}"))
    # Evidence in fields that this item does not have cannot be shown, so it is mentioned.
    cited = {(rating.rater, span.field) for rating in ratings for span in rating.evidence}
    missing = sorted((rater, name) for rater, name in cited if name not in item.fields)
    lost = " ".join(f"{rater} cites {name}, which this item does not have." for rater, name in missing)
    notes = [note(text) for text in (join(labels, " · "), lost) if text]
    return element("div", parts, notes, class_="texts", lang=protocol.language)


def _marks(name: str, unit: Unit, ratings: Sequence[Rating]) -> Sequence[TextMark]:
    span = unit.span
    marks = [TextMark(span.start, span.end, "rated", "what was rated")] if span and span.field == name else []
    return marks + [
        TextMark(one.start, one.end, "cited", f"cited by {rating.rater}")
        for rating in ratings
        for one in rating.evidence
        if one.field == name
    ]


def marked(text: str, marks: Iterable[TextMark], start: int = 0, end: int | None = None) -> Markup:
    """The text from `start` to `end` with its marks; they may overlap, reach beyond it or be empty."""
    end = len(text) if end is None else end
    within = [mark for mark in marks if max(mark.start, start) < min(mark.end, end)]
    edges = sorted({start, end, *(min(max(edge, start), end) for mark in within for edge in (mark.start, mark.end))})
    return join(
        _piece(text[a:b], [mark for mark in within if mark.start <= a and b <= mark.end]) for a, b in pairwise(edges)
    )


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
    # The first words; a text without spaces is cut anywhere.
    beginning = text[:_AROUND]
    if len(beginning.split()) > 1:
        beginning = beginning.rsplit(maxsplit=1)[0]
    excerpts = [
        ["… " if start else None, marked(text, marks, start, end), " …" if end < len(text) else None]
        for start, end in _around(text, marks)
    ] or [[beginning, " …"]]
    shown = [element("div", excerpt, class_="text excerpt", dir="auto") for excerpt in excerpts]
    return join([*shown, folded(f"The whole text, {counted(len(text), 'character')}", whole)])


def _around(text: str, marks: Sequence[TextMark]) -> Sequence[tuple[int, int]]:
    """The stretches of text around its marks, joined where they meet."""
    found: list[tuple[int, int]] = []
    for mark in sorted(marks, key=lambda mark: mark.start):
        start, end = max(0, mark.start - _AROUND), min(len(text), mark.end + _AROUND)
        if mark.start >= len(text) or end <= start:
            continue
        if found and start <= found[-1][1]:
            start, end = found[-1][0], max(end, found.pop()[1])
        found.append((start, end))
    return found
