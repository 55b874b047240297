"""What no figure counts, and how to reproduce the figures."""

import shlex

from markupsafe import Markup

from evenhand.records import Status
from evenhand.report.data import Report
from evenhand.report.html.elements import Section, element, facts, join, note, paragraph, table
from evenhand.report.html.names import STATUSES, Names
from evenhand.report.numbers import count
from evenhand.text import masked

_MEANINGS = {
    Status.NOT_ASKED: "its condition was false",
    Status.SKIPPED: "the rater skipped it",
    Status.CANNOT_ASSESS: "the rater said that it cannot be assessed",
    Status.FAILED: "the model gave no usable reply; never counted as a score",
}


def left_out_section(report: Report, names: Names) -> Section:
    parts = [_statuses(report), _failures(report, names), _adjudicators(report, names), _earlier(report)]
    return Section("left-out", "What was left out, and why", join(parts))


def _statuses(report: Report) -> Markup:
    totals = {status: sum(rater.statuses.get(status, 0) for rater in report.raters) for status in _MEANINGS}
    rows = [[STATUSES[status], _MEANINGS[status], f"{total:,}"] for status, total in totals.items() if total]
    if not rows:
        return paragraph("Every rating under this protocol has a value: no status was left out.")
    by_criterion = [
        [found.criterion, *(f"{found.statuses.get(status, 0):,}" for status in Status)]
        for found in report.agreements.values()
    ]
    heads = ["criterion", *(STATUSES[status] for status in Status)]
    return join(
        [
            table("Ratings without a value, which no figure counts", ["status", "meaning", "ratings"], rows, "numbers"),
            table("By criterion", heads, by_criterion, "numbers"),
        ]
    )


def _failures(report: Report, names: Names) -> Markup | None:
    rows = [
        [names.rater(rater.id), reason, f"{times:,}"]
        for rater in report.raters
        for reason, times in sorted(rater.failures.items(), key=lambda entry: -entry[1])
    ]
    return table("Failures by reason", ["rater", "reason", "times"], rows, "numbers") if rows else None


def _adjudicators(report: Report, names: Names) -> Markup | None:
    if not report.source.adjudicators:
        return None
    listed = join([names.rater(rater) for rater in report.source.adjudicators], ", ")
    why = " Adjudicators see the other raters' answers, so their ratings count in their own figures only."
    return paragraph(element("strong", "Left out of agreement: "), listed, ".", why)


def _earlier(report: Report) -> Markup:
    if not report.source.left_out:
        return paragraph("There are no ratings under another version of the protocol.")
    rows = [[element("code", digest[:16]), f"{n:,}"] for digest, n in report.source.left_out.items()]
    return table("Ratings under other versions of the protocol, kept apart", ["digest", "ratings"], rows, "numbers")


def reproduction_section(report: Report) -> Section:
    source = report.source
    location = masked(source.location)
    entries = [
        ("Study", location),
        ("Protocol", f"{source.protocol.name}, version {source.protocol.version}"),
        ("Protocol digest (SHA-256)", source.protocol.digest),
        ("Intervals", f"95%; {count(source.replicates, 'bootstrap replicate')}, seed {source.seed}"),
        ("Made with", f"evenhand {source.version}"),
        ("Made on", source.made.strftime("%d %B %Y, %H:%M %Z").strip().rstrip(",")),
    ]
    place = shlex.quote(location)
    commands = [
        f"pip install evenhand=={source.version}",
        f"evenhand agree {place} --json",
        f"evenhand measures {place} --json",
        f"evenhand report {place} -o report.html",
        f"evenhand protocol show {source.protocol.name}",
    ]
    body = [
        facts(entries),
        note("The same study, version and seed give the same figures to the last digit:"),
        element("pre", element("code", "\n".join(commands))),
    ]
    return Section("reproduce", "Reproducing these figures", join(body))
