"""What was rated, and by whom."""

from collections.abc import Sequence

from markupsafe import Markup

from evenhand.protocol.guideline import asked_when, field_title
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import Kind, Status
from evenhand.report.data import RaterRow, Report
from evenhand.report.html.elements import Section, element, join, paragraph, table
from evenhand.report.html.names import STATUSES, Names
from evenhand.report.numbers import count
from evenhand.scales import Nominal, Ordinal, Text

_KINDS = {Kind.PERSON: ("person", "people"), Kind.MODEL: ("model", "models"), Kind.RULE: ("rule", "rules")}
_UNITS = {"item": "whole items", "sentence": "sentences", "question": "questions"}


def raters_section(report: Report, names: Names) -> Section:
    body = [_sentence(report), _raters(report.raters, names), _criteria(report.source.protocol)]
    return Section("rated", "What was rated, and by whom", join(body))


def _sentence(report: Report) -> Markup:
    source = report.source
    rule = source.protocol.rule
    units = f"{count(source.n_items, 'item')}"
    if rule.of != "item":
        field = rule.field or ""
        title = field_title(field, source.protocol.item.fields[field])
        what = "made from" if rule.of == "question" else "of"
        units += f", {count(source.n_units, rule.of)} {what} “{title}”"
    kinds = [_of_kind(report.raters, kind) for kind in Kind]
    raters = join([part for part in kinds if part], ", ") or "no rater yet"
    return paragraph(
        f"{units}, rated as {_UNITS[rule.of]} under the protocol ",
        element("strong", source.protocol.name),
        f", version {source.protocol.version}, by ",
        raters,
        ".",
    )


def _of_kind(raters: Sequence[RaterRow], kind: Kind) -> str:
    n = sum(rater.kind is kind for rater in raters)
    return count(n, *_KINDS[kind]) if n else ""


def _raters(raters: Sequence[RaterRow], names: Names) -> Markup:
    if not raters:
        return paragraph("No rater has rated anything yet.", class_="why")
    used = [status for status in Status if status is Status.RATED or any(row.statuses.get(status) for row in raters)]
    rows = [
        [
            names.rater(row.id),
            str(row.kind),
            row.version or "not stated",
            *(f"{row.statuses.get(status, 0):,}" for status in used),
        ]
        for row in raters
    ]
    heads = ["rater", "kind", "version", *(STATUSES[status] for status in used)]
    return table("Raters and the status of their ratings, all criteria together", heads, rows, "numbers")


def _criteria(protocol: Protocol) -> Markup:
    rows = [
        [criterion.title, criterion.question, _scale(criterion), _when(protocol, criterion)]
        for criterion in protocol.criteria
    ]
    return table("What was asked", ["criterion", "question", "scale", "asked"], rows, "prose")


def _when(protocol: Protocol, criterion: Criterion) -> str:
    if criterion.when is None:
        return "always"
    return asked_when(protocol, criterion.when).removeprefix("Asked ").rstrip(".")


def _scale(criterion: Criterion) -> str:
    scale = criterion.scale
    if isinstance(scale, Ordinal):
        values = scale.values
        low, high = scale.levels[values[0]].label, scale.levels[values[-1]].label
        return f"{values[0]} ({low}) to {values[-1]} ({high})"
    if isinstance(scale, Nominal):
        return ", ".join(scale.labels)
    return scale.describe() if isinstance(scale, Text) else "0 to 100 percent"
