"""The page and the server agree on which criteria are asked and what is missing: one set of cases for both."""

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
  return cases.map(({ form, answers }) => {
    const answer = (criterion) => answerFrom(answers[criterion], null);
    return [askedCriteria(form, answer).map(({ id }) => id), missingParts(form, answer)];
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
        {"form": form, "answers": {name: {**blank, **answer} for name, answer in case["answers"].items()}}
        for form, case in zip(forms, CASES, strict=True)
    ]
    page.goto(f"{shared().url}/login")
    for case, form, (asked, missing) in zip(CASES, forms, page.evaluate(CHECK, cases), strict=True):
        expected = [(one["criterion"] or form["lead"], one["part"]) for one in case["missing"]]
        assert asked == case["asked"], case["name"]
        assert [(one["criterion"], one["part"]) for one in missing] == expected, case["name"]
