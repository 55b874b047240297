"""Drawings: where marks lie, what they say, and whether they can be read."""

import re
import xml.etree.ElementTree as ElementTree
from importlib.resources import files

import pytest
from markupsafe import Markup

from evenhand.report.html.elements import element, escape, join
from evenhand.report.html.plots import (
    Axis,
    Guide,
    HeatCell,
    axis,
    calibration_plot,
    colour_step,
    heat_map,
    stack,
    steps_for,
    track,
)
from evenhand.report.numbers import apart, described, number, tick
from evenhand.statistics import Bin, Estimate, undefined

CSS = (files("evenhand.report") / "page.css").read_text(encoding="utf-8")
UNIT = Axis((0.0, 0.5, 1.0))


def parsed(drawing: str) -> ElementTree.Element:
    """A drawing must be well-formed XML, not only HTML that a browser forgives."""
    return ElementTree.fromstring(drawing)


def test_text_is_escaped_when_it_enters_and_markup_is_not_escaped_again():
    inner = element("b", "<i>&\"'")
    assert inner == "<b>&lt;i&gt;&amp;&#34;&#39;</b>"
    assert element("p", inner, "<") == f"<p>{inner}&lt;</p>"
    assert join([inner, None, "&"], "<") == f"{inner}&lt;&amp;"
    assert inner + "<" == f"{inner}&lt;"


def test_attributes_are_escaped_and_left_out_where_there_is_no_value():
    made = element("a", "x", title='" onmouseover="alert(1)', href=None, hidden=False, open=True, class_="c", x=1.50)
    assert made == '<a title="&#34; onmouseover=&#34;alert(1)" open class="c" x="1.5">x</a>'


def test_what_cannot_be_seen_is_made_visible():
    assert escape("a\x00b\x1bc\x7f\u202ed\ud800\ufeff\u0085") == "a␀b␛c␡⟨U+202E⟩d⟨U+D800⟩⟨U+FEFF⟩⟨U+0085⟩"
    assert escape("tab\tand\r\nline\r") == "tab\tand\nline\n"
    # Joiners are part of words and of emoji in many scripts.
    assert escape("👩\u200d👧 می\u200cخواهم") == "👩\u200d👧 می\u200cخواهم"


@pytest.mark.parametrize(
    ("value", "style", "written"),
    [
        (0.854, "share", "85%"),
        (-0.034, "coefficient", "−0.03"),
        (-0.001, "coefficient", "0.00"),
        (0.25, "points", "+0.25"),
        (-0.004, "points", "0.00"),
        (4.0, "score", "4.00"),
    ],
)
def test_numbers(value: float, style: str, written: str):
    assert number(value, style) == written  # pyright: ignore[reportArgumentType]


def test_a_number_beside_the_goal_does_not_read_like_it():
    missed = Estimate(0.667, 0.42, 0.848, 15)
    assert number(0.848, apart("share", 0.85, missed)) == "84.8%"
    assert apart("share", 0.848, missed) == "share"
    assert apart("share", 0.9, missed) == "share"
    assert number(0.796, apart("coefficient", 0.8, Estimate(0.796, n=15))) == "0.796"
    assert tick(0.5, "exact share") == "50%"


def test_an_estimate_in_one_line():
    assert described(Estimate(0.7, 0.5, 0.9, 12)) == "0.70, 95% interval 0.50 to 0.90, n 12"
    assert described(Estimate(0.7, n=3, note="no interval: x")) == "0.70, no interval, n 3 (no interval: x)"
    assert described(undefined("one label")) == "undefined: one label"
    assert (tick(0.25, "share"), tick(-1.0, "points"), tick(0.0, "points")) == ("25%", "−1", "0")


def test_an_axis_holds_every_interval_and_has_round_ticks():
    drawn = axis([Estimate(0.3, -0.13, 0.6, 9)], "coefficient", 0.0, 1.0)
    assert drawn.ticks == pytest.approx([-0.2, 0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert (drawn.place(-0.2), drawn.place(1.0), drawn.place(0.4)) == pytest.approx((0, 100, 50))
    assert drawn.place(7.0) == 100.0


@pytest.mark.parametrize(
    "estimates", [[], [undefined("nothing")], [Estimate(3.0, n=1)], [Estimate(1e-9, 0.0, 1e-8, 4)]]
)
def test_an_axis_for_next_to_nothing(estimates: list[Estimate]):
    drawn = axis(estimates, "score")
    assert drawn.ticks[0] < drawn.ticks[-1]
    assert 2 <= len(drawn.ticks) <= 8
    parsed(drawn.ruler())


def test_a_track_draws_value_interval_and_guide_at_their_places():
    guide = Guide("goal", 0.85, "goal")
    drawing = parsed(track(Estimate(0.5, 0.25, 0.75, 8), UNIT, "model", "m: 0.50 & more", [guide]))
    assert drawing.get("role") == "img"
    assert drawing.findtext("title") == "m: 0.50 & more"
    whisker = next(line for line in drawing.iter("line") if line.get("class") == "whisker")
    assert (whisker.get("x1"), whisker.get("x2")) == ("25.00%", "75.00%")
    assert [inner.get("x") for inner in drawing.iter("svg")][1:] == ["50.00%"]
    assert next(line for line in drawing.iter("line") if "goal" in (line.get("class") or "")).get("x1") == "85.00%"


def test_a_track_without_interval_has_none():
    drawing = track(Estimate(0.5, n=1, note="no interval"), UNIT, "person", "p")
    assert "whisker" not in drawing
    assert "circle" in drawing


def test_stacked_segments_fill_the_whole_and_say_what_they_are():
    drawing = parsed(stack([1, 0, 3], ["low", "mid", "high"], [1, 5, 9], "ann"))
    boxes = [(box.get("x"), box.get("width")) for box in drawing.iter("rect")]
    assert boxes == [("0.000%", "25.000%"), ("25.000%", "75.000%")]
    titles = [group.findtext("title") for group in drawing.iter("g")]
    assert titles == ["low: 1 of 4 (25%)", "high: 3 of 4 (75%)"]


def test_stacked_segments_of_nothing():
    assert list(parsed(stack([0, 0], ["a", "b"], [1, 9], "nobody")).iter("rect")) == []


def test_colours_of_a_scale_keep_its_order():
    for n in range(1, 8):
        steps = steps_for(n)
        assert list(steps) == sorted(set(steps))
    assert [colour_step(value) for value in (-0.3, 0.0, 0.449, 1.0)] == [0, 0, 4, 10]


def test_a_heat_map_is_a_table_with_a_tooltip_for_each_cell():
    cells = {(0, 1): HeatCell("0.71", "ann × m: 0.71, n 9", 7, "n 9", "pm"), (1, 0): HeatCell("undefined", "why <b>")}
    table = parsed(heat_map("rater", ["ann", "m"], ["ann", "m"], cells, "κ of all pairs"))
    assert table.findtext("caption") == "κ of all pairs"
    assert [head.text for head in table.iter("th")] == ["rater", "ann", "m", "ann", "m"]
    found = [(cell.get("class"), cell.get("title"), cell.text) for cell in table.iter("td")]
    assert found == [
        ("blank", None, "–"),
        ("h7 pm", "ann × m: 0.71, n 9", "0.71"),
        ("blank", "why <b>", "undefined"),
        ("blank", None, "–"),
    ]
    assert [small.text for small in table.iter("small")] == ["n 9"]


def test_a_calibration_plot_puts_bins_where_they_belong():
    right = Estimate(0.5, 0.2, 0.8, 6)
    drawing = parsed(calibration_plot([Bin(0.8, 0.9, 0.85, right), Bin(0.0, 0.1, 0.05, undefined("x"))], "m", "model"))
    circles = list(drawing.iter("circle"))
    assert len(circles) == 1
    frame = next(box for box in drawing.iter("rect") if box.get("class") == "frame")
    x, side = float(frame.get("x") or 0), float(frame.get("width") or 0)
    assert float(circles[0].get("cx") or 0) == pytest.approx(x + 0.85 * side)
    assert any("80% to 90%" in (title.text or "") for title in drawing.iter("title"))


def _luminance(colour: str) -> float:
    def linear(part: str) -> float:
        share = int(part, 16) / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(colour[place : place + 2]) for place in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _themes() -> list[dict[str, str]]:
    blocks = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2]
    return [dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block)) for block in blocks]


@pytest.mark.parametrize("theme", _themes(), ids=["light", "dark"])
def test_the_colour_scale_is_in_order_of_lightness_and_its_text_can_be_read(theme: dict[str, str]):
    lightness = [_luminance(theme[f"h{step}"]) for step in range(11)]
    assert lightness in (sorted(lightness), sorted(lightness, reverse=True))
    for step in range(11):
        assert _contrast(theme[f"h{step}"], theme[f"t{step}"]) >= 4.5
        other = "#0b1318" if theme[f"t{step}"] == "#ffffff" else "#ffffff"
        assert _contrast(theme[f"h{step}"], theme[f"t{step}"]) >= _contrast(theme[f"h{step}"], other)


@pytest.mark.parametrize("theme", _themes(), ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "muted", "accent", "good", "bad", "open", "person", "model", "neutral"])
@pytest.mark.parametrize("ground", ["paper", "surface"])
def test_text_has_contrast_enough(theme: dict[str, str], ink: str, ground: str):
    assert _contrast(theme[ink], theme[ground]) >= 4.5


@pytest.mark.parametrize("theme", _themes(), ids=["light", "dark"])
def test_marked_text_and_warnings_can_be_read(theme: dict[str, str]):
    for ground in ("rated", "cited", "caution"):
        assert _contrast(theme["ink"], theme[ground]) >= 4.5


def test_the_style_sheet_asks_nothing_of_the_network_and_stays_inside_its_element():
    assert not re.search(r"url\(|@import|</", CSS)
    assert isinstance(Markup(CSS), str)
