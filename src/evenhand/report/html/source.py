"""Where the figures come from: what was rated and by whom, what was left out, and how to reproduce the figures."""

import shlex
from collections.abc import Iterable, Mapping

from markupsafe import Markup

from evenhand.protocol.guideline import asked_when, checked_against
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import Kind, Status
from evenhand.report.build import Report
from evenhand.report.html.elements import Section, element, facts, join, note, table
from evenhand.report.html.view import View
from evenhand.scales import Nominal, Ordinal, Percent
from evenhand.text import counted, listed, masked

_KINDS = {Kind.PERSON: ("person", "people"), Kind.MODEL: ("model", "models"), Kind.RULE: ("rule", "rules")}
_MEANINGS = {
    Status.NOT_ASKED: "the criterion's condition was false",
    Status.SKIPPED: "the rater skipped it",
    Status.CANNOT_ASSESS: "the rater said that it cannot be assessed",
    Status.FAILED: "the model gave no usable reply; never counted as a score",
}


def rated_section(view: View) -> Section:
    body = [_sentence(view.report), _raters(view), _criteria(view.protocol)]
    return Section("rated", "What was rated, and by whom", join(body))


def _sentence(report: Report) -> Markup:
    source = report.source
    protocol, rule = source.protocol, source.protocol.rule
    units = f"{counted(source.n_items, 'item')}, each rated as a whole"
    if rule.of != "item":
        titles = listed([f"“{protocol.titles[name]}”" for name in rule.fields])
        what = "made from" if rule.of == "question" else "of"
        units = f"{counted(source.n_items, 'item')} with {counted(source.n_units, rule.of)} {what} {titles}, "
        units += f"rated {rule.of} by {rule.of}"
    numbers = {kind: sum(rater.kind is kind for rater in report.raters) for kind in Kind}
    raters = [counted(n, *_KINDS[kind]) for kind, n in numbers.items() if n]
    by = f", version {protocol.version}, by {', '.join(raters) or 'no rater yet'}."
    return element("p", f"{units} under the protocol ", element("strong", protocol.name), by)


def _raters(view: View) -> Markup:
    raters = view.report.raters
    if not raters:
        return element("p", "No rater has rated anything yet.", class_="why")
    used = [status for status in Status if status is Status.RATED or any(row.statuses.get(status) for row in raters)]
    rows = [
        [view.rater(row.id), str(row.kind), row.version or "not stated", *_counts(row.statuses, used)] for row in raters
    ]
    heads = ["rater", "kind", "version", *map(_words, used)]
    return table("Raters and the status of their ratings, all criteria together", heads, rows, "numbers")


def _counts(statuses: Mapping[Status, int], of: Iterable[Status]) -> list[str]:
    return [f"{statuses.get(status, 0):,}" for status in of]


def _words(status: Status) -> str:
    return status.replace("_", " ")


def _criteria(protocol: Protocol) -> Markup:
    rows: list[list[str]] = []
    for criterion in protocol.criteria:
        asked = asked_when(protocol, criterion).removeprefix("Asked ").rstrip(".") or "always"
        against = checked_against(protocol, criterion)
        question = f"{criterion.question} {against}" if against else criterion.question
        rows.append([criterion.title, question, _scale(criterion), asked])
    return table("What was asked", ["criterion", "question", "scale", "asked"], rows, "prose")


def _scale(criterion: Criterion) -> str:
    scale = criterion.scale
    if isinstance(scale, Ordinal):
        low, high = (f"{end} ({scale.levels[end].label})" for end in (scale.values[0], scale.values[-1]))
        return f"{low} to {high}"
    if isinstance(scale, Nominal):
        return ", ".join(scale.labels)
    return "0 to 100 percent" if isinstance(scale, Percent) else scale.describe()


def left_out_section(view: View) -> Section:
    report, source = view.report, view.report.source
    parts = [_statuses(report)]
    failures = [
        [view.rater(rater.id), reason, f"{times:,}"]
        for rater in report.raters
        for reason, times in sorted(rater.failures.items(), key=lambda entry: -entry[1])
    ]
    if failures:
        parts.append(table("Failures by reason", ["rater", "reason", "times"], failures, "numbers"))
    for rater, count in source.own_output.items():
        what = f" rated its own output in {counted(count, 'unit')}; models tend to favour what they wrote."
        parts.append(element("p", element("strong", "A judge of its own output: "), view.rater(rater), what))
    if source.adjudicators:
        listed = join(map(view.rater, source.adjudicators), ", ")
        why = ". Adjudicators see the other raters' answers, so their ratings count only in their own figures."
        parts.append(element("p", element("strong", "Left out of agreement: "), listed, why))
    if source.left_out:
        earlier = [[element("code", digest[:16]), f"{n:,}"] for digest, n in source.left_out.items()]
        caption = "Ratings under other versions of the protocol, which are kept separate"
        parts.append(table(caption, ["digest", "ratings"], earlier, "numbers"))
    else:
        parts.append(element("p", "There are no ratings under another version of the protocol."))
    return Section("left-out", "What was left out, and why", join(parts))


def _statuses(report: Report) -> Markup:
    totals = {status: sum(rater.statuses.get(status, 0) for rater in report.raters) for status in _MEANINGS}
    rows = [[_words(status), _MEANINGS[status], f"{total:,}"] for status, total in totals.items() if total]
    if not rows:
        return element("p", "Every rating under this protocol has a value; none was left out.")
    caption = "Ratings without a value, which are not in any figure"
    overall = table(caption, ["status", "meaning", "ratings"], rows, "numbers")
    by_criterion = [[found.criterion, *_counts(found.statuses, Status)] for found in report.agreements.values()]
    return overall + table("By criterion", ["criterion", *map(_words, Status)], by_criterion, "numbers")


def reproduction_section(view: View) -> Section:
    source, protocol = view.report.source, view.protocol
    location = masked(source.location)
    entries = [
        ("Study", location),
        ("Protocol", f"{protocol.name}, version {protocol.version}"),
        ("Protocol digest (SHA-256)", protocol.digest),
        ("Intervals", f"95%; {counted(source.replicates, 'bootstrap replicate')}, seed {source.seed}"),
        ("Made with", f"evenhand {source.version}"),
        ("Made on", source.made.strftime("%d %B %Y, %H:%M %Z").strip().rstrip(",")),
    ]
    place = shlex.quote(location)
    commands = f"""evenhand agree {place} --json
evenhand measures {place} --json
evenhand report {place} -o report.html
evenhand protocol show {protocol.name}"""
    same = note("The same study, version and seed give the same figures to the last digit:")
    body = join([facts(entries), *map(note, source.groups), same, element("pre", element("code", commands))])
    return Section("reproduce", "Reproducing these figures", body)
