"""The units on which raters disagree most, with their texts and what each rater said."""

from collections.abc import Sequence

from evenhand.protocol.guideline import field_text, field_title
from evenhand.records import Item, Rating, Unit
from evenhand.report.data import Case, Report
from evenhand.report.figures import count, number
from evenhand.report.html.blocks import Section, note
from evenhand.report.html.marking import Mark, field
from evenhand.report.html.names import STATUSES, Names
from evenhand.report.markup import Markup, element, join

_ROLES = {"rated": "rated", "evidence": "evidence", "reference": "reference", "context": "background"}


def cases(report: Report, names: Names) -> Section:
    by_unit: dict[str, list[Case]] = {}
    for case in report.cases:
        by_unit.setdefault(case.unit.id, []).append(case)
    cards = [_card(together, report, names) for together in by_unit.values()]
    if not cards:
        cards = [note("There is no unit on which two raters disagree.")]
    intro = note(
        "The worst first, for a second look. 0% apart is agreement, 100% as far as ratings can lie apart; on ordered "
        "scales the squared distance counts. ",
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
    ratings = [_said(case, names) for case in together]
    return element("article", title, _unit(first.unit, report), ratings, _texts(together, report), class_="case")


def _unit(unit: Unit, report: Report) -> Markup | None:
    if unit.text is None:
        return None
    quote = element("blockquote", unit.text, dir="auto", lang=report.source.protocol.language)
    if report.source.protocol.rule.of != "question":
        return quote
    facts = [("The reference's answer", unit.answer), ("Key information", unit.key_info)]
    listed = [element("div", element("dt", name), element("dd", said)) for name, said in facts if said]
    return join([quote, element("dl", listed, class_="facts")])


def _said(case: Case, names: Names) -> Markup:
    apart = f"{number(case.disputed.disagreement, 'share')} apart, {count(len(case.ratings), 'rating')}"
    caption = element("caption", names.criterion(case.criterion), element("span", apart, class_="aside"))
    ordered = {rater: place for place, rater in enumerate(names.people_first([one.rater for one in case.ratings]))}
    ratings = sorted(case.ratings, key=lambda one: ordered[one.rater])
    if not any(map(_words, ratings)):
        chips = [element("span", names.rater(one.rater), _value(one, names)) for one in ratings]
        title = element("p", element("strong", names.criterion(case.criterion)), element("span", apart, class_="aside"))
        return join([title, element("p", chips, class_="chips")])
    rows = [_rating(rating, names) for rating in ratings]
    return element("table", caption, element("tbody", rows), class_="said")


def _value(rating: Rating, names: Names) -> Markup:
    if rating.value is None:
        return element("span", STATUSES[rating.status], class_="why")
    return element("span", names.value(rating.criterion, rating.value), class_="chip")


def _words(rating: Rating) -> Sequence[Markup]:
    """What a rater wrote beside the value."""
    parts = [
        element("p", rating.rationale, dir="auto") if rating.rationale else None,
        element("p", element("span", "note ", class_="aside"), rating.notes, dir="auto") if rating.notes else None,
        element("p", f"failed: {rating.reason}", class_="why") if rating.reason else None,
        element("p", f"confidence {rating.confidence:g}%", class_="aside") if rating.confidence is not None else None,
    ]
    return [part for part in parts if part is not None]


def _rating(rating: Rating, names: Names) -> Markup:
    told = _words(rating) or [element("span", "no rationale given", class_="aside")]
    name = element("th", names.rater(rating.rater), scope="row")
    return element("tr", name, element("td", _value(rating, names)), element("td", told))


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
        heading = element("h4", title, element("span", _ROLES[spec.role], class_="aside"))
        parts.append(element("div", heading, field(value, _marks(name, unit, ratings)), class_=f"field {spec.role}"))
    labels = note(join(short, " · ")) if short else None
    return element("div", parts, labels, _unknown(item, ratings), class_="texts", lang=report.source.protocol.language)


def _marks(name: str, unit: Unit, ratings: Sequence[Rating]) -> Sequence[Mark]:
    span = unit.span
    marks = [Mark(span.start, span.end, "rated", "what was rated")] if span and span.field == name else []
    for rating in ratings:
        cited = [one for one in rating.evidence if one.field == name]
        marks += [Mark(one.start, one.end, "cited", f"cited by {rating.rater}") for one in cited]
    return marks


def _unknown(item: Item, ratings: Sequence[Rating]) -> Markup | None:
    """Evidence in fields that this item does not have cannot be shown, so it is said."""
    missing = {
        (rating.rater, one.field) for rating in ratings for one in rating.evidence if one.field not in item.fields
    }
    lines = [f"{rater} cites {name}, which this item does not have." for rater, name in sorted(missing)]
    return note(" ".join(lines)) if lines else None
