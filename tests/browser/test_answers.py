"""Functions of the page without a page: which criteria are asked and what is missing, as the server says; plots."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from pydantic import TypeAdapter

from evenhand.assignment import Plan
from evenhand.protocol.load import load_protocol
from evenhand.web.forms import Form, form_of
from tests.browser.serving import Serve

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "protocol" / "completion_cases.json").read_text(encoding="utf-8")
)
CHECK = """async (cases) => {
  const { answerFrom, askedCriteria, missingParts } = await import("/static/workbench/answers.js");
  return cases.map(({ form, field, answers }) => {
    const answer = (criterion) => answerFrom(answers[criterion], null);
    return [askedCriteria(form, field, answer).map(({ id }) => id), missingParts(form, field, answer)];
  });
}"""


@pytest.fixture(scope="module")
def forms() -> list[dict[str, Any]]:
    """The form of each case's protocol, as the server sends it."""
    made: list[dict[str, Any]] = []
    for case in CASES:
        protocol = load_protocol(case["protocol"])
        protocol = protocol.model_copy(update={"ask": protocol.ask.model_copy(update=case.get("ask", {}))})
        made.append(TypeAdapter(Form).dump_python(form_of(protocol, Plan(), "study", "rater"), mode="json"))
    return made


def test_the_page_applies_the_servers_rule(page: Page, shared: Serve, forms: list[dict[str, Any]]) -> None:
    blank: dict[str, object] = {"value": None, "rationale": None, "confidence": None, "notes": None, "evidence": []}
    cases: list[dict[str, object]] = [
        {
            "form": form,
            "field": case.get("field"),
            "answers": {name: {**blank, **answer} for name, answer in case["answers"].items()},
        }
        for form, case in zip(forms, CASES, strict=True)
    ]
    page.goto(f"{shared().url}/login")
    for case, form, (asked, missing) in zip(CASES, forms, page.evaluate(CHECK, cases), strict=True):
        expected = [(one["criterion"] or form["lead"], one["part"]) for one in case["missing"]]
        assert asked == case["asked"], case["name"]
        assert [(one["criterion"], one["part"]) for one in missing] == expected, case["name"]


PLOT = """async (points) => {
  const { agreementPlots } = await import("/static/manage/agreement_plot.js");
  const find = (node, tag) => {
    if (Array.isArray(node)) return node.flatMap((one) => find(one, tag));
    return node?.tag ? [...(node.tag === tag ? [node.attributes] : []), ...find(node.children, tag)] : [];
  };
  const [plot] = agreementPlots({ support: { title: "Support", points } });
  const zero = find(plot, "line").find((line) => line.class === "rule zero").y1;
  const band = find(plot, "polygon")[0].points.split(" ").map((corner) => Number(corner.split(",")[1]));
  const bottom = Math.max(...find(plot, "line").map((line) => line.y1));
  return { zero, bottom, dots: find(plot, "circle").map((dot) => dot.cy), band };
}"""


def test_the_plot_of_agreement_has_room_for_what_is_below_zero(page: Page, shared: Serve) -> None:
    found = [(-0.03, (-0.62, 0.4)), (0.5, (0.1, 0.8)), (0.6, (0.3, 0.8))]
    points = [
        {"ratings": 10 * at, "units": 5, "value": value, "ci": ci, "percent": {"value": 0.5}, "why": None}
        for at, (value, ci) in enumerate(found, start=1)
    ]
    page.goto(f"{shared().url}/login")
    drawn = page.evaluate(PLOT, points)
    assert drawn["dots"][0] > drawn["zero"] > drawn["dots"][1]
    assert drawn["zero"] < max(drawn["band"]) < drawn["bottom"]
    per_unit = (drawn["bottom"] - drawn["zero"]) / 1.0  # the lowest rule is at -1
    assert drawn["dots"][0] - drawn["zero"] == pytest.approx(0.03 * per_unit)
    assert max(drawn["band"]) - drawn["zero"] == pytest.approx(0.62 * per_unit)
