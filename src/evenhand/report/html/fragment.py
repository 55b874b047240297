"""Sections of the report for a notebook, with styles that apply to nothing else on the page."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from markupsafe import Markup

from evenhand.report.html.elements import Section, element

_SCOPE = ".evenhand-result.evenhand-result"
"""The class twice: a notebook's own rules for tables must not outweigh ours."""
_VARIABLES = re.compile(r":root \{(?P<light>.*?)\n\}\n@media[^{]*\{\s*:root \{(?P<dark>.*?)\}\n\}\n", re.DOTALL)
_LIGHT_THEMES = ("[data-jp-theme-light=true]", ".vscode-light")
_DARK_THEMES = ("[data-jp-theme-light=false]", ".vscode-dark")
_OWN = """
& { padding: .6rem 1rem 1rem; border-radius: 8px; }
section { margin-bottom: 1rem; }
tr { background: none !important; } /* notebooks stripe rows */
"""


def fragment(sections: Sequence[Section]) -> str:
    """HTML for the output area of a notebook, light or dark as the notebook is."""
    body = [one.html() for one in sections]
    return element("div", element("style", Markup(_style())), body, class_="evenhand-result")


@cache
def _style() -> str:
    """The page's style sheet, nested in one class and without the rules for printing."""
    css = (files("evenhand.report") / "page.css").read_text(encoding="utf-8")
    found = _VARIABLES.search(css)
    assert found is not None, "page.css begins with the light and the dark variables"
    light, dark = found["light"], found["dark"]
    rules = re.sub(r"\bbody \{", "& {", css[found.end() : css.index("@page")])
    return "\n".join(
        [
            f"{_SCOPE} {{{light}}}",
            f"@media (prefers-color-scheme: dark) {{ {_SCOPE} {{{dark}}} }}",
            f"{_under(_LIGHT_THEMES)} {{{light}}}",
            f"{_under(_DARK_THEMES)} {{{dark}}}",
            f"{_SCOPE} {{{rules}{_OWN}}}",
        ]
    )


def _under(themes: Sequence[str]) -> str:
    return ", ".join(f"{theme} {_SCOPE}" for theme in themes)
