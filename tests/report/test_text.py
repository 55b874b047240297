"""The report in plain text: figures that do not contradict themselves, and nothing that a terminal would obey."""

from dataclasses import replace

import numpy as np
import pytest

from evenhand.analysis.targets import TargetResult
from evenhand.report.build import FigureOptions, agreement_report, measures_report
from evenhand.report.html.page import render
from evenhand.report.json import agree_json, report_json
from evenhand.report.text import agreement_text, measures_text, report_text, shown
from evenhand.statistics import Estimate, Resampling, undefined
from tests.measured import custom, study
from tests.report.test_html import sample

QUICK = Resampling(replicates=50)


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


def test_targets_name_the_label():
    found = Estimate(0.9, 0.6, 0.98, 10)
    target = TargetResult(
        "per_label", 0.85, "support", "ann", "auto", found, "met at the point estimate", False, 7, "C"
    )
    report = replace(sample("halo-support"), targets=[target, replace(target, label=None)])
    lines = [line for line in report_text(report).splitlines() if line.startswith("  per_label") and "goal" in line]
    first, second = lines
    assert first.split()[:6] == ["per_label", "support", "ann", "–", "auto", "C"]
    assert second.split()[:6] == ["per_label", "support", "ann", "–", "auto", "goal"]
    assert "NO EVIDENCE" in render(replace(report, targets=[replace(target, label="NO EVIDENCE")])).split("Targets:")[1]


def test_criteria_taken_together_are_named_unless_they_are_all():
    ratings = {name: {one: [5, 4] for one in ("relevance", "accuracy", "fluency")} for name in ("ann", "ben")}
    tables = study("neureg-qa", ratings, 2)
    for some, name in (
        (("relevance", "fluency"), "relevance and fluency together"),
        (tuple(tables.tables), "all criteria"),
    ):
        report = agreement_report(tables, plan=QUICK, options=FigureOptions(together=some))
        head = next(line for line in agreement_text(report).splitlines() if line.startswith(f"{name} (ordinal): "))
        assert "once for each criterion" in head
        assert name.capitalize() in render(report)
        assert "all criteria" in agree_json(report)["criteria"]
        assert "titles" not in report_json(report)


@pytest.mark.parametrize("documents", [None, [7, 7, 8, 9, 9]])
def test_what_intervals_are_computed_over_is_said_if_items_are_grouped(documents: list[int] | None):
    ratings = {name: {"support": ["SUPPORTED"] * 5} for name in ("ann", "ben")}
    tables = study("halo-support", ratings, 5)
    tables = replace(tables, documents=None if documents is None else np.array(documents))
    agreement, measured = agreement_report(tables, plan=QUICK), measures_report(tables, plan=QUICK)
    for text in (agreement_text(agreement), measures_text(measured), report_text(agreement), render(agreement)):
        assert text.count("over 3 groups of items with the same document_id") == (documents is not None)
    assert "groups" not in report_json(agreement)["source"]
    nothing = replace(tables, protocol=tables.protocol.model_copy(update={"measures": ()}))
    assert "defines no measures" in measures_text(measures_report(nothing, plan=QUICK))


def test_percentages_are_summed_up_and_not_listed():
    rng = np.random.default_rng(2)
    ratings = {name: {"sure": rng.uniform(0, 100, 50).tolist()} for name in ("ann", "ben")}
    protocol = custom("{id: sure, question: How sure, scale: {type: percent}}", "")
    text = agreement_text(agreement_report(study(protocol, ratings, 50)))
    assert "  ratings: different 100, lowest " in text
    assert max(map(len, text.splitlines())) < 200
    assert "shares" not in text
