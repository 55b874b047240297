"""Guidelines are written by whoever writes the protocol, and shown to others."""

import pytest

from evenhand.protocol.guideline import guideline
from evenhand.protocol.load import available, load_protocol
from evenhand.web.templating import markdown_html


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        "![x](https://evil.example/pixel.png)",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](JaVaScRiPt:alert(1))",
        "<javascript:alert(1)>",
        '[x](https://h "onclick=alert(1)")',
        "[x]: javascript:alert(1)\n\n[x]",
        "[x](//evil.example)",
        "[x](/api/session)",
        "```<script>\nx\n```",
    ],
)
def test_nothing_in_a_guideline_does_anything(hostile: str):
    html = markdown_html(hostile)
    for live in ("<script", "<img", 'href="javascript', 'href="data', 'href="/', 'onclick="', 'href="JaVa'):
        assert live not in html


def test_links_lead_to_the_web_in_a_tab_of_their_own():
    expected = '<p><a href="https://example.org/a?b=1&amp;c" rel="noopener noreferrer" target="_blank">x</a></p>\n'
    assert markdown_html("[x](https://example.org/a?b=1&c)") == expected


@pytest.mark.parametrize("name", available())
def test_every_guideline_is_a_page_for_raters(name: str):
    protocol = load_protocol(name)
    html = markdown_html(guideline(protocol, owner=False))
    assert html.count("<h2>") == guideline(protocol, owner=False).count("\n## ")
    assert html.count("<h2>") < guideline(protocol).count("\n## ")
