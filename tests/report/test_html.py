"""The HTML report: one page, safe, complete, and never without words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from evenhand.analysis.tables import Tables
from evenhand.formats.items import read_items
from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Span, Status, Unit
from evenhand.report.build import Report, build
from evenhand.report.html.disagreements import LONG, TextMark, field, marked
from evenhand.report.html.page import render
from evenhand.statistics import Resampling
from evenhand.study import Study
from evenhand.text import masked
from tests.sample_units import units_of_sample

SAMPLES = ["ai-detection", "feedback", "halo-claims", "halo-support", "neureg-qa", "rag-quest-eval", "stem-accuracy"]
PLAN = Resampling(replicates=100)
VOID = {"br", "meta", "hr", "col"}
HOSTILE = (
    "<script>alert(1)</script>",
    "</script></style></title><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "<svg onload=alert(1)><foreignObject>",
    "&lt;b&gt; &amp;",
    "\u202eoverride\u2066",
    "nul\x00esc\x1b[31m",
    "half \ud800 pair",
    "x" * 20_000,
)


class Page(HTMLParser):
    """What a test needs to know of a page; fails where elements are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.headings: list[int] = []
        self.cells: list[str] = []
        self.text: list[str] = []
        self.uncaptioned = 0
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.uncaptioned += {"table": 1, "caption": -1}.get(tag, 0)
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag in ("td", "th") and "tfoot" not in self.open:
            self.cells.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.text.append(data)
        if self.cells and {"td", "th"} & set(self.open):
            self.cells[-1] += data

    def named(self, attribute: str) -> list[str]:
        return [value for _, name, value in self.attributes if name == attribute]


def report_of(study: Study) -> Report:
    tables = study.store.tables()
    return build(tables, "study.db", lambda numbers: _fetched(study, tables, numbers), PLAN)


def _fetched(study: Study, tables: Tables, numbers: Sequence[int]) -> list[tuple[Item, Unit, list[Rating]]]:
    units = list(study.work())
    assert len(units) == tables.n_units
    return [(*units[n], [one for one in study.ratings() if one.unit == units[n][1].id]) for n in numbers]


@cache
def sample(name: str) -> Report:
    folder = files("evenhand.samples") / name
    items_file = "items.jsonl" if (folder / "items.jsonl").is_file() else "items.csv"
    with (
        TemporaryDirectory() as place,
        as_file(folder / items_file) as items,
        as_file(folder / "ratings.csv") as ratings,
    ):
        read = read_items(items, load_protocol(name))
        with Study.create(Path(place) / "s.db", name, read, **units_of_sample(name)) as study:
            study.import_ratings(ratings)
            return report_of(study)


def halo(
    folder: Path,
    values: Mapping[tuple[str, str], str | None],
    kinds: Mapping[str, Kind],
    fields: Mapping[str, str] | None = None,
) -> Report:
    """A report on items a, b, …; `values` by item and rater, None for a failure."""
    protocol = load_protocol("halo-support")
    texts = {"question": "Q?", "generated_answer": "A."} | dict(fields or {})
    ids = sorted({item for item, _ in values}) or ["a"]
    items = [Item(one, {**texts, "context": (texts.get("context", "C."), "D.")}) for one in ids]
    ratings = [
        Rating(
            unit=item,
            criterion="support",
            rater=rater,
            digest=protocol.digest,
            status=Status.FAILED if value is None else Status.RATED,
            value=value,
            reason=None if value is not None else "timed out",
        )
        for (item, rater), value in values.items()
    ]
    with Study.create(folder / "s.db", protocol, items) as study:
        study.store.ratings.add(ratings, raters=[RaterRef(rater, kind) for rater, kind in kinds.items()])
        return report_of(study)


def checked(report: Report) -> Page:
    """The page, after what must hold of every page."""
    text = render(report)
    text.encode("utf-8")
    page = Page(text)
    assert "script" not in page.tags
    assert not {"img", "iframe", "link", "object", "form", "base", "image", "use"} & page.tags
    assert [value for name in ("src", "action", "data") for value in page.named(name)] == []
    assert all(value.startswith("#") for value in page.named("href"))
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in text
    ids = page.named("id")
    assert len(ids) == len(set(ids))
    assert {value[1:] for value in page.named("href")} <= set(ids)
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(page.headings, page.headings[1:], strict=False))
    assert page.uncaptioned == 0
    assert not [cell for cell in page.cells if not cell.strip()]
    assert not re.search(r"\b(nan|inf|NaN)\b", " ".join(page.text))
    assert not [part for part in (*page.text, *page.cells) if part.strip() == "None" or part.endswith(": None")]
    return page


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_make_whole_pages(name: str):
    report = sample(name)
    page = checked(report)
    shown = " ".join(page.text)
    for rater in report.raters:
        assert rater.id in shown
    for criterion in report.source.protocol.criteria:
        assert criterion.title in shown
    assert report.source.protocol.digest in shown
    assert render(report) == render(report)


def test_targets_say_how_they_stand_and_what_would_settle_them(tmp_path: Path):
    values = {(f"i{n:03}", rater): "SUPPORTED" for n in range(60) for rater in ("ann", "m")}
    values |= {(f"i{n:03}", rater): "NO EVIDENCE" for n in range(30) for rater in ("ann", "m")}
    values |= {("i000", "m"): "SUPPORTED", ("i031", "m"): "CONTRADICTED"}
    report = halo(tmp_path, values, {"ann": Kind.PERSON, "m": Kind.MODEL})
    # 58 of 60 agree: Wilson's lower end is 0.886, above 0.85.
    shown = " ".join(checked(report).text)
    assert "✓ met" in shown
    assert "97%" in shown
    few = {key: value for key, value in values.items() if key[0] < "i012"}
    (tmp_path / "few").mkdir()
    shown = " ".join(checked(halo(tmp_path / "few", few, {"ann": Kind.PERSON, "m": Kind.MODEL})).text)
    assert "? undecided" in shown
    assert "Met at the point estimate" in shown
    assert re.search(r"About [\d,]+ more items would settle it", shown)


DEGENERATE: dict[str, tuple[dict[tuple[str, str], str | None], dict[str, Kind]]] = {
    "nobody": ({}, {}),
    "a rater without ratings": ({}, {"ann": Kind.PERSON}),
    "one rater": ({("a", "ann"): "SUPPORTED", ("b", "ann"): "NO EVIDENCE"}, {"ann": Kind.PERSON}),
    "one item": ({("a", "ann"): "SUPPORTED", ("a", "m"): "SUPPORTED"}, {"ann": Kind.PERSON, "m": Kind.MODEL}),
    "models alone": ({("a", "m"): "SUPPORTED", ("a", "n"): "CONTRADICTED"}, {"m": Kind.MODEL, "n": Kind.RULE}),
    "all failed": ({("a", "m"): None, ("b", "m"): None}, {"m": Kind.MODEL}),
    "no overlap": ({("a", "ann"): "SUPPORTED", ("b", "ben"): "SUPPORTED"}, {"ann": Kind.PERSON, "ben": Kind.PERSON}),
    "one label": (
        {(item, rater): "SUPPORTED" for item in "abcd" for rater in ("ann", "ben")},
        {"ann": Kind.PERSON, "ben": Kind.PERSON},
    ),
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_a_study_with_next_to_nothing_has_a_page_that_says_why(case: str, tmp_path: Path):
    values, kinds = DEGENERATE[case]
    shown = " ".join(checked(halo(tmp_path, values, kinds)).text)
    assert "undefined" in shown or "nothing to compare" in shown
    if None in values.values():
        assert "timed out" in shown


def test_breakdowns_show_only_fields_with_values_under_their_titles(tmp_path: Path):
    values = {(item, rater): "SUPPORTED" for item in "ab" for rater in ("ann", "ben")}
    people = {"ann": Kind.PERSON, "ben": Kind.PERSON}
    page = checked(halo(tmp_path, values, people, {"generated_by": "a model"}))
    shown = " ".join(page.text)
    assert [text for text in page.text if text.startswith("By ")] == ["By “Generated by”"]
    assert (
        "Not broken down by “Question type” and “Shot type”: no item has a value there, or nothing was measured."
        in shown
    )
    assert "Kappa between raters" in shown


def test_hostile_texts_stay_text(tmp_path: Path):
    values = {("a", "ann"): "SUPPORTED", ("a", "m"): "CONTRADICTED"}
    for place, text in enumerate(HOSTILE):
        folder = tmp_path / str(place)
        folder.mkdir()
        plain = halo(folder, values, {"ann": Kind.PERSON, "m": Kind.MODEL})
        page = checked(_poisoned(plain, text))
        shown = "".join(page.text)
        assert "\x00" not in shown
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown)
        if text.isprintable():
            assert text in shown


def _poisoned(report: Report, text: str) -> Report:
    """The report with a text wherever users' texts stand."""
    case = report.cases[0]
    item = Item(text, {"question": text, "context": (text, text), "generated_answer": text, "gold_answer": text})
    ratings = [
        replace(
            one,
            rationale=text,
            notes=text,
            evidence=(Span("context", 0, 9), Span("question", 1, 10**6), Span(text, 0, 1)),
        )
        for one in case.ratings
    ]
    unit = replace(case.unit, id=text, item=text, text=text, span=Span("generated_answer", 0, 5))
    raters = [replace(one, version=text, failures={text: 1}) for one in report.raters]
    raters.append(replace(raters[0], id=text))
    source = replace(report.source, location=text, left_out={text: 3})
    return replace(report, source=source, raters=raters, cases=[replace(case, item=item, unit=unit, ratings=ratings)])


def test_hostile_names_of_raters_reach_every_part(tmp_path: Path):
    bad = '<img src=x onerror="alert(1)">\u202e'
    values = {(item, rater): "SUPPORTED" for item in "abc" for rater in ("ann", bad)}
    values["a", bad] = "CONTRADICTED"
    text = render(halo(tmp_path, values, {"ann": Kind.PERSON, bad: Kind.MODEL}))
    assert "<img" not in text
    assert "\u202e" not in text
    assert text.count("&lt;img src=x") > 10


def test_marks_are_set_by_character_and_may_overlap():
    text = "One & two. <b>Three</b>."
    assert marked(
        text, [TextMark(4, 9, "rated", "r"), TextMark(6, 10, "cited", "c"), TextMark(90, 99, "cited", "beyond")]
    ) == (
        'One <mark class="rated" title="r">&amp; </mark><mark class="cited rated" title="r; c">two</mark>'
        '<mark class="cited" title="c">.</mark> &lt;b&gt;Three&lt;/b&gt;.'
    )
    assert marked(text, [TextMark(5, 5, "rated", "empty")]) == "One &amp; two. &lt;b&gt;Three&lt;/b&gt;."


def test_long_texts_are_folded_with_their_marks_before_the_fold():
    long = "word " * LONG
    folded = field(long, [TextMark(2000, 2004, "cited", "cited by m")])
    before, _, inside = folded.partition("<details>")
    assert before.count("<mark") == 1
    assert inside.count("<mark") == 1
    assert len(before) < 1000
    assert "<details" not in field("short", [])


def test_the_rated_sentence_is_marked_within_its_field():
    report = sample("stem-accuracy")
    case = report.cases[0]
    assert case.unit.text is not None
    text = render(report)
    start = case.unit.text[:20]
    assert re.search(rf'<mark class="rated"[^>]*>{re.escape(start)}', text)


def test_skew_is_told_in_words_and_ratings_under_other_digests_are_counted():
    report = sample("neureg-qa")
    source = replace(report.source, left_out={"0123456789abcdef0123": 7})
    shown = " ".join(checked(replace(report, source=source)).text)
    assert "86% of the ratings are 5" in shown
    assert "0123456789abcdef" in shown


def test_a_password_does_not_get_into_a_report():
    assert masked("postgresql://ann:p%40ss:w@host:5432/db") == "postgresql://ann:***@host:5432/db"
    assert masked("C:/studies/a@b.db") == "C:/studies/a@b.db"
    report = sample("halo-support")
    moved = replace(report, source=replace(report.source, location="postgresql://ann:s3cret@host/db"))
    assert "s3cret" not in render(moved)


def test_models_and_people_are_not_set_side_by_side_against_different_majorities(tmp_path: Path):
    raters = {"ann": Kind.PERSON, "ben": Kind.PERSON, "cem": Kind.PERSON, "auto": Kind.MODEL}
    page = render(halo(tmp_path, {(item, rater): "SUPPORTED" for item in "abc" for rater in raters}, raters))
    model, person = page.index("How often each model agrees"), page.index("How often each person agrees")
    assert "</table>" in page[model:person]
    assert "Do not compare these with the models" in page[person:]


def test_the_rare_side_and_the_order_of_the_scale_are_spoken_of_only_where_there_is_one():
    page = render(sample("halo-support"))
    assert "any label but the most common" in page
    assert "the rare labels" not in page
    assert "order of the scale" not in page
    ordered = render(sample("neureg-qa"))
    assert "the rare labels" in ordered
    assert "The shade follows the order of the scale." in ordered
