"""The page: head, contents, sections."""

from collections.abc import Sequence
from importlib.resources import files

from evenhand.records import Status
from evenhand.report.data import Report
from evenhand.report.figures import count
from evenhand.report.html.agreeing import agreeing
from evenhand.report.html.blocks import Section
from evenhand.report.html.cases import cases
from evenhand.report.html.confusions import confusions
from evenhand.report.html.headline import headline
from evenhand.report.html.leftout import left_out, reproduced, without_password
from evenhand.report.html.names import Names
from evenhand.report.html.overview import overview
from evenhand.report.html.spreads import spreads
from evenhand.report.html.strata import strata
from evenhand.report.html.trusting import trusting
from evenhand.report.markup import Markup, element, join
from evenhand.report.plots.track import Shape, glyph

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

GENERATOR = "Evenhand"
"""By this name in its head a page is known as a report of ours."""


def render(report: Report) -> str:
    """The report as one HTML document. Pure: the same report gives the same page."""
    names = Names(report)
    sections = [
        headline(report, names),
        overview(report, names),
        agreeing(report, names),
        spreads(report, names),
        confusions(report, names),
        strata(report, names),
        trusting(report, names),
        cases(report, names),
        left_out(report, names),
        reproduced(report),
    ]
    style = (files("evenhand.report") / "page.css").read_text(encoding="utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="generator", content=f"{GENERATOR} {report.source.version}"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        Markup('<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'),
        element("title", f"{report.source.protocol.title}: report"),
        element("style", Markup(style)),
    )
    body = element(
        "body",
        element("a", "To the report", href="#main", class_="skip"),
        _header(report),
        element(
            "div", _contents(sections), element("main", [one.html() for one in sections], id="main"), class_="page"
        ),
        element(
            "footer", f"Made with evenhand {report.source.version}. Figures carry 95% intervals where one is drawn."
        ),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _header(report: Report) -> Markup:
    source = report.source
    made = source.made.strftime("%d %B %Y").lstrip("0")
    rated = sum(rater.statuses.get(Status.RATED, 0) for rater in report.raters)
    tiles = [
        _tile(source.n_items, "item"),
        *([_tile(source.n_units, source.protocol.rule.of)] if source.protocol.rule.of != "item" else []),
    ]
    tiles += [
        _tile(len(report.raters), "rater"),
        _tile(rated, "rating"),
        _tile(len(source.protocol.criteria), "criterion", "criteria"),
    ]
    line = join(
        [
            element("bdi", without_password(source.location)),
            f"protocol {source.protocol.name}, version {source.protocol.version}",
            made,
        ],
        " · ",
    )
    return element(
        "header",
        element("p", "Report of ratings", class_="kicker"),
        element("h1", source.protocol.title),
        element("p", line, class_="source"),
        element("ul", tiles, class_="tiles"),
        _key(),
    )


def _tile(n: int, one: str, many: str | None = None) -> Markup:
    written, _, name = count(n, one, many).partition(" ")
    return element("li", element("b", written), f" {name}")


def _key() -> Markup:
    kinds: Sequence[tuple[Shape, str]] = [("person", "a person"), ("model", "a model"), ("rule", "a rule")]
    shown = [element("span", glyph(shape), f" {said}") for shape, said in kinds]
    return element("p", shown, "All through this page, the mark before a name says who it is.", class_="key")


def _contents(sections: Sequence[Section]) -> Markup:
    entries = [element("li", element("a", one.title, href=f"#{one.id}"), _entries(one.entries)) for one in sections]
    return element(
        "nav", element("h2", "Contents", class_="contents-title"), element("ol", entries), aria_label="Contents"
    )


def _entries(entries: Sequence[tuple[str, str]]) -> Markup | None:
    if len(entries) < 2:
        return None
    return element("ol", [element("li", element("a", title, href=f"#{place}")) for place, title in entries])
