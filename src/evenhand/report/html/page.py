"""The page: head, contents, sections."""

from collections.abc import Sequence
from importlib.resources import files

from markupsafe import Markup

from evenhand.records import Status
from evenhand.report.data import GENERATOR, Report
from evenhand.report.html.elements import Section, element, join
from evenhand.report.html.names import Names
from evenhand.report.html.sections.agreement import agreement_section
from evenhand.report.html.sections.breakdowns import breakdowns_section
from evenhand.report.html.sections.confusion import confusion_section
from evenhand.report.html.sections.disagreements import disagreements_section
from evenhand.report.html.sections.distributions import distributions_section
from evenhand.report.html.sections.headline import headline_section
from evenhand.report.html.sections.left_out import left_out_section, reproduction_section
from evenhand.report.html.sections.raters import raters_section
from evenhand.report.html.sections.trust import trust_section
from evenhand.report.numbers import count
from evenhand.report.plots.track import Shape, glyph
from evenhand.text import masked

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def render(report: Report) -> str:
    """The report as one HTML document. Pure: the same report gives the same page."""
    names = Names(report)
    sections = [
        headline_section(report, names),
        raters_section(report, names),
        agreement_section(report, names),
        distributions_section(report, names),
        confusion_section(report, names),
        breakdowns_section(report, names),
        trust_section(report, names),
        disagreements_section(report, names),
        left_out_section(report, names),
        reproduction_section(report),
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
        element("a", "Skip to the report", href="#main", class_="skip"),
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
            element("bdi", masked(source.location)),
            f"protocol {source.protocol.name}, version {source.protocol.version}",
            made,
        ],
        " · ",
    )
    return element(
        "header",
        element("p", "Rating report", class_="kicker"),
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
    shown = [element("span", glyph(shape), f" {name}") for shape, name in kinds]
    return element("p", shown, "The mark before a name shows what kind of rater it is.", class_="key")


def _contents(sections: Sequence[Section]) -> Markup:
    entries = [element("li", element("a", one.title, href=f"#{one.id}"), _entries(one.entries)) for one in sections]
    return element(
        "nav", element("h2", "Contents", class_="contents-title"), element("ol", entries), aria_label="Contents"
    )


def _entries(entries: Sequence[tuple[str, str]]) -> Markup | None:
    if len(entries) < 2:
        return None
    return element("ol", [element("li", element("a", title, href=f"#{place}")) for place, title in entries])
