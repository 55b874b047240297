"""A protocol's guideline → HTML that cannot do anything: no markup of its own, no images, links to the web only."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

from evenhand.protocol.guideline import guideline
from evenhand.protocol.model import Protocol


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return url.startswith(("https://", "http://"))


def _link(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: dict[str, Any]) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer")
    tokens[at].attrSet("target", "_blank")
    return self.renderToken(tokens, at, options, env)


_parser = _Parser("commonmark", {"html": False}).enable("table").disable("image")
_parser.add_render_rule("link_open", _link)


@lru_cache(maxsize=8)
def to_html(markdown: str) -> Markup:
    """Markdown by somebody else as HTML for our page."""
    return Markup(_parser.render(markdown))


def guideline_html(protocol: Protocol) -> Markup:
    """What a rater works from, without what only the owner needs."""
    return to_html(guideline(protocol, owner=False))
