"""The report as one HTML page, and its sections for a notebook."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files

from markupsafe import Markup

from evenhand.records import Status
from evenhand.report.build import GENERATOR, Report
from evenhand.report.html.agreement import agreement_section, confusion_section, distributions_section
from evenhand.report.html.disagreements import disagreements_section
from evenhand.report.html.elements import Section, element, join
from evenhand.report.html.measures import breakdowns_section, headline_section
from evenhand.report.html.overlap import overlap_section
from evenhand.report.html.plots import Shape, glyph
from evenhand.report.html.source import left_out_section, rated_section, reproduction_section
from evenhand.report.html.trust import trust_section
from evenhand.report.html.view import View
from evenhand.text import counted, masked

SECTIONS: Sequence[Callable[[View], Section]] = (
    headline_section,
    rated_section,
    agreement_section,
    distributions_section,
    confusion_section,
    breakdowns_section,
    overlap_section,
    trust_section,
    disagreements_section,
    left_out_section,
    reproduction_section,
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

_SCOPE = ".evenhand-result.evenhand-result"
"""The class twice: a notebook's own rules for tables must not outweigh ours."""
_VARIABLES = re.compile(r":root \{(?P<light>.*?)\n\}\n@media[^{]*\{\s*:root \{(?P<dark>.*?)\}\n\}\n", re.DOTALL)
_LIGHT_THEMES = f"[data-jp-theme-light=true] {_SCOPE}, .vscode-light {_SCOPE}"
_DARK_THEMES = f"[data-jp-theme-light=false] {_SCOPE}, .vscode-dark {_SCOPE}"
_OWN = """
& { padding: .6rem 1rem 1rem; border-radius: 8px; }
section { margin-bottom: 1rem; }
tr { background: none !important; } /* notebooks stripe rows */
"""


def render(report: Report) -> str:
    """The report as one HTML document. Pure: the same report gives the same page."""
    view = View(report)
    sections = _filled(section(view) for section in SECTIONS)
    version = report.source.version
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="generator", content=f"{GENERATOR} {version}"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        Markup('<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'),
        element("title", f"{view.protocol.title}: report"),
        element("style", Markup(_css())),
    )
    main = element("main", view.omissions(), [one.html() for one in sections], id="main")
    body = element(
        "body",
        element("a", "Skip to the report", href="#main", class_="skip"),
        _header(report),
        element("div", _contents(sections), main, class_="page"),
        element("footer", f"Made with evenhand {version}. All intervals are 95% intervals."),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _css() -> str:
    return (files("evenhand.report") / "page.css").read_text(encoding="utf-8")


def _header(report: Report) -> Markup:
    source, protocol = report.source, report.source.protocol
    rated = sum(rater.statuses.get(Status.RATED, 0) for rater in report.raters)
    counts = [
        counted(source.n_items, "item"),
        *([counted(source.n_units, protocol.rule.of)] if protocol.rule.of != "item" else []),
        counted(len(report.raters), "rater"),
        counted(rated, "rating"),
        counted(len(protocol.criteria), "criterion", "criteria"),
    ]
    tiles = [element("li", element("b", n), f" {name}") for n, _, name in (count.partition(" ") for count in counts)]
    made = source.made.strftime("%d %B %Y").lstrip("0")
    facts = [element("bdi", masked(source.location)), f"protocol {protocol.name}, version {protocol.version}", made]
    kinds: dict[Shape, str] = {"person": "a person", "model": "a model", "rule": "a rule"}
    key = [element("span", glyph(shape), f" {name}") for shape, name in kinds.items()]
    return element(
        "header",
        element("p", "Rating report", class_="kicker"),
        element("h1", protocol.title),
        element("p", join(facts, " · "), class_="source"),
        element("ul", tiles, class_="tiles"),
        element("p", key, "The mark before a name shows what kind of rater it is.", class_="key"),
    )


def _contents(sections: Sequence[Section]) -> Markup:
    def entry(place: str, title: str, below: Markup | None = None) -> Markup:
        return element("li", element("a", title, href=f"#{place}"), below)

    entries: list[Markup] = []
    for one in sections:
        below = element("ol", [entry(*inner) for inner in one.entries]) if len(one.entries) > 1 else None
        entries.append(entry(one.id, one.title, below))
    title = element("h2", "Contents", class_="contents-title")
    return element("nav", title, element("ol", entries), aria_label="Contents")


def report_fragment(report: Report, sections: Sequence[Callable[[View], Section]]) -> str:
    """Some sections of a report for the output area of a notebook."""
    view = View(report)
    return fragment(_filled(section(view) for section in sections), view.omissions())


def _filled(sections: Iterable[Section]) -> Sequence[Section]:
    """Sections with a body: one without has nothing to say in this study."""
    return [one for one in sections if one.body]


def fragment(sections: Sequence[Section], intro: Markup | None = None) -> str:
    """HTML for the output area of a notebook, light or dark as the notebook is."""
    style = element("style", Markup(_scoped_style()))
    return element("div", style, intro, [one.html() for one in sections], class_="evenhand-result")


@cache
def _scoped_style() -> str:
    """The page's style sheet, nested in one class and without the rules for printing."""
    css = _css()
    found = _VARIABLES.search(css)
    assert found is not None, "page.css begins with the light and the dark variables"
    light, dark = found["light"], found["dark"]
    rules = re.sub(r"\bbody \{", "& {", css[found.end() : css.index("@page")])
    return "\n".join(
        [
            f"{_SCOPE} {{{light}}}",
            f"@media (prefers-color-scheme: dark) {{ {_SCOPE} {{{dark}}} }}",
            f"{_LIGHT_THEMES} {{{light}}}",
            f"{_DARK_THEMES} {{{dark}}}",
            f"{_SCOPE} {{{rules}{_OWN}}}",
        ]
    )
