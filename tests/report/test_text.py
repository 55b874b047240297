"""The report in plain text: figures that do not contradict themselves, and nothing that a terminal would obey."""

from dataclasses import replace

import pytest

from evenhand.report.text import report_text, shown
from evenhand.statistics import Estimate, undefined
from tests.report.test_html import sample


@pytest.mark.parametrize(
    ("estimate", "told"),
    [
        (Estimate(0.8704, 0.8701, 0.9496, 23), "0.870 [0.870, 0.950]"),
        (Estimate(-0.0001, -0.5, 0.00004, 9), "0.000 [-0.500, 0.000]"),
        (Estimate(0.606, n=1, note="there is only one item"), "0.606 (no interval: there is only one item)"),
        (Estimate(0.606, n=1), "0.606 (no interval)"),
        (undefined("there are no ratings"), "undefined: there are no ratings"),
        (None, "–"),
    ],
)
def test_a_figure_has_as_many_places_as_its_interval(estimate: Estimate | None, told: str):
    assert shown(estimate) == told


def test_what_a_terminal_would_obey_is_shown_and_not_done():
    report = sample("halo-support")
    rater = replace(report.raters[0], id="an\x1b[31mn\n", failures={"timed\nout \u202e\x07": 1, "no reply": 2})
    text = report_text(replace(report, raters=[rater, *report.raters[1:]]))
    assert not set(text) & set("\x1b\x07\u202e\t")
    assert "  an␛[31mn␊ failed once: timed␊out ⟨U+202E⟩␇\n" in text
    assert "failed 2 times: no reply\n" in text


def test_one_is_not_many():
    report = sample("halo-support")
    source = replace(report.source, n_items=1, n_units=1, left_out={"0123456789abcdef": 1})
    text = report_text(replace(report, source=source))
    assert "\n1 item, 1 unit (item); " in text
    assert "1 rating under another version of the protocol (digest 0123456789ab) is left out." in text
