"""Templates and Markdown to HTML. Whatever is inserted is escaped, and Markdown cannot contain active content."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return url.startswith(("https://", "http://"))


def _link(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: dict[str, Any]) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer")
    tokens[at].attrSet("target", "_blank")
    return self.renderToken(tokens, at, options, env)


# No HTML, no images, links to the web only.
_parser = _Parser("commonmark", {"html": False}).enable("table").disable("image")
_parser.add_render_rule("link_open", _link)


def markdown_html(markdown: str) -> Markup:
    """Markdown from an untrusted author as HTML for our pages."""
    return Markup(_parser.render(markdown))


_templates = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters["markdown"] = markdown_html
_templates.filters["pretty_json"] = partial(json.dumps, ensure_ascii=False, indent=2)


def render(template: str, **context: object) -> str:
    """A template with its context. `base.html` documents what every page may be given."""
    return _templates.get_template(template).render(context)
