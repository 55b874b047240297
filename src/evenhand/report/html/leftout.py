"""What no figure counts, and how to have the figures again."""

import re
import shlex

from evenhand.records import Status
from evenhand.report.data import Report
from evenhand.report.figures import count
from evenhand.report.html.blocks import Section, note, paragraph, table
from evenhand.report.html.names import STATUSES, Names
from evenhand.report.markup import Markup, element, join

_UNCOUNTED = (Status.NOT_ASKED, Status.SKIPPED, Status.CANNOT_ASSESS, Status.FAILED)
_MEANINGS = {
    Status.NOT_ASKED: "its condition was false",
    Status.SKIPPED: "the rater passed over it",
    Status.CANNOT_ASSESS: "the rater said that it cannot be told",
    Status.FAILED: "no usable reply came; never counted as a score",
}


def left_out(report: Report, names: Names) -> Section:
    parts = [_statuses(report), _failures(report, names), _adjudicators(report, names), _earlier(report)]
    return Section("left-out", "What was left out, and why", join(parts))


def _statuses(report: Report) -> Markup:
    rows = [
        [name, _MEANINGS[status], f"{total:,}"]
        for status, name in STATUSES.items()
        if status in _UNCOUNTED and (total := sum(rater.statuses.get(status, 0) for rater in report.raters))
    ]
    if not rows:
        return paragraph("Every rating under this protocol carries a value: no status was left out.")
    by_criterion = [
        [names, *(f"{found.statuses.get(status, 0):,}" for status in Status)]
        for names, found in ((found.criterion, found) for found in report.agreements.values())
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
    why = " Adjudicators have seen what the others said: their ratings are in their own figures, but in no agreement."
    return paragraph(element("strong", "Left out of agreement: "), listed, ".", why)


def _earlier(report: Report) -> Markup:
    if not report.source.left_out:
        return paragraph("No ratings were made under another version of the protocol.")
    rows = [[element("code", digest[:16]), f"{n:,}"] for digest, n in report.source.left_out.items()]
    return table("Ratings under other versions of the protocol, kept apart", ["digest", "ratings"], rows, "numbers")


def reproduced(report: Report) -> Section:
    source = report.source
    entries = [
        ("Study", without_password(source.location)),
        ("Protocol", f"{source.protocol.name}, version {source.protocol.version}"),
        ("Protocol digest (SHA-256)", source.protocol.digest),
        ("Intervals", f"95%; {count(source.replicates, 'bootstrap replicate')}, seed {source.seed}"),
        ("Made with", f"evenhand {source.version}"),
        ("Made on", source.made.strftime("%d %B %Y, %H:%M %Z").strip().rstrip(",")),
    ]
    listed = [element("div", element("dt", name), element("dd", value)) for name, value in entries]
    place = shlex.quote(without_password(source.location))
    commands = "\n".join(
        [
            f"pip install evenhand=={source.version}",
            f"evenhand agree {place} --json",
            f"evenhand measures {place} --json",
            f"evenhand report {place} -o report.html",
            f"evenhand protocol show {source.protocol.name}",
        ]
    )
    body = [
        element("dl", listed, class_="facts"),
        note("The same study, version and seed give the same figures to the last digit:"),
        element("pre", element("code", commands)),
    ]
    return Section("reproduce", "How to have these figures again", join(body))


def without_password(location: str) -> str:
    return re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1:…@", location)
