"""The data API: what programs of the owner read, and that it is what the command line prints."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from evenhand.cli import evenhand
from evenhand.records import Item, Kind, RaterRef, Rating, Span, Triple
from evenhand.study import Study
from tests.web.browsing import RUN_TOKEN, Browsers

ROUTES = ["/api/study", "/api/items", "/api/items/one?id=q1", "/api/ratings", "/api/agreement", "/api/measures"]


def rated(study: Study, rater: str, values: Sequence[str], **more: Any) -> list[Rating]:
    """One rater's answers to the first items of a study, stored."""
    made = [
        Rating(unit=f"q{number}", criterion="support", rater=rater, digest=study.protocol.digest, value=value, **more)
        for number, value in enumerate(values, start=1)
    ]
    kind = Kind.MODEL if rater.startswith("model") else Kind.PERSON
    study.store.ratings.add(made, raters=[RaterRef(rater, kind)])
    return made


def pages(client: TestClient, path: str, key: str) -> Iterator[dict[str, Any]]:
    """Everything that a list holds, page after page."""
    after: int | None = 0
    while after is not None:
        page = client.get(path, params={"after": after, "limit": 5}).json()
        assert len(page[key]) <= 5
        yield from page[key]
        after = page["next"]


@pytest.mark.parametrize("path", ROUTES)
def test_only_the_owner_reads_the_data(path: str, client: Browsers):
    assert client.browser().get(path).status_code == 401
    assert client.rater("ann").get(path).status_code == 403
    assert client.adjudicator("eve").get(path).status_code == 403
    assert client.owner().get(path).status_code == 200
    assert client.bearer(RUN_TOKEN).get(path).status_code == 200


def test_the_study_says_what_it_is_made_of_but_not_where_it_lies(client: Browsers):
    rated(client.study, "ann", ["SUPPORTED", "CONTRADICTED"])
    client.adjudicator("eve")
    answer = client.owner().get("/api/study")
    found = answer.json()
    assert (found["items"], found["units"], found["revision"]) == (12, 12, 2)
    assert [(one["id"], one["kind"], one["role"]) for one in found["raters"]] == [
        ("ann", "person", None),
        ("eve", "person", "adjudicator"),
    ]
    assert found["versions"][-1]["ratings"] == {"rated": 2}
    assert found["digest"] == client.study.protocol.digest
    assert client.study.store.location not in answer.text


def test_items_come_page_by_page_with_their_units(client: Browsers):
    owner = client.owner()
    found = list(pages(owner, "/api/items", "items"))
    assert [one["id"] for one in found] == [item.id for item in client.study.items()]
    assert [one["number"] for one in found] == list(range(1, 13))
    assert found[2]["fields"]["context"] == "The road to place 3 is 3 km long."
    assert [unit["id"] for unit in found[2]["units"]] == ["q3"]
    assert owner.get("/api/items", params={"after": 99}).json() == {"items": [], "next": None}


def test_one_item_is_found_by_an_id_of_any_characters(tmp_path: Path):
    strange = Item("a/b ?&#\N{SNOWMAN}%", {"question": "?", "context": "c", "generated_answer": "half \ud800 of one"})
    with Study.create(tmp_path / "s.db", "halo-support", [strange]) as study, Browsers(study) as browsers:
        owner = browsers.owner()
        found = owner.get("/api/items/one", params={"id": strange.id})
        assert found.json()["id"] == strange.id
        assert found.json()["fields"]["generated_answer"] == "half \ud800 of one"
        missing = owner.get("/api/items/one", params={"id": "a"})
        assert missing.status_code == 404
        assert "no item" in missing.json()["error"]


def test_triples_passages_and_sentences_keep_their_shape(tmp_path: Path):
    item = Item("i", {"question": "Why?", "article": "One. Two.", "response": "First. Second."})
    with Study.create(tmp_path / "s.db", "stem-accuracy", [item]) as study, Browsers(study) as browsers:
        units = browsers.owner().get("/api/items").json()["items"][0]["units"]
    assert [(unit["id"], unit["text"], unit["span"]["start"]) for unit in units] == [
        ("i#1", "First.", 0),
        ("i#2", "Second.", 7),
    ]
    graph = Item("g", {"question": "q", "answer": "a", "source": "s", "triples": (Triple("a", "b", "c"),)})
    with Study.create(tmp_path / "g.db", "neureg-qa", [graph]) as study, Browsers(study) as browsers:
        assert browsers.owner().get("/api/items").json()["items"][0]["fields"]["triples"] == [["a", "b", "c"]]


def test_ratings_come_as_they_are_stored(client: Browsers):
    [made] = rated(
        client.study,
        "ann",
        ["SUPPORTED"],
        confidence=80.0,
        notes="half \udfff of one",
        evidence=(Span("context", 0, 8),),
        seconds=3.5,
        visible=("ben",),
    )
    [found] = client.owner().get("/api/ratings").json()["ratings"]
    assert found == {
        **dict.fromkeys(("rationale", "mean", "reply", "reason", "raw", "supersedes")),
        "number": 1,
        "id": made.id,
        "item": "q1",
        "position": 1,
        "unit": "q1",
        "criterion": "support",
        "rater": "ann",
        "kind": "person",
        "digest": client.study.protocol.digest,
        "status": "rated",
        "value": "SUPPORTED",
        "confidence": 80.0,
        "notes": "half \udfff of one",
        "evidence": [{"field": "context", "start": 0, "end": 8}],
        "misquoted": [],
        "distribution": [],
        "seconds": 3.5,
        "visible": ["ben"],
        "at": made.at.isoformat(),
    }


def test_ratings_are_read_page_by_page_and_by_rater_item_and_history(client: Browsers):
    study, owner = client.study, client.owner()
    first = rated(study, "ann", ["SUPPORTED"] * 12)
    rated(study, "model-a", ["CONTRADICTED"] * 3)
    later = rated(study, "ann", ["NO EVIDENCE"])
    found = list(pages(owner, "/api/ratings", "ratings"))
    assert [one["number"] for one in found] == [*range(2, 17)]
    assert found[-1]["supersedes"] == first[0].id

    def ids(**asked: Any) -> list[str]:
        return [one["id"] for one in owner.get("/api/ratings", params=asked).json()["ratings"]]

    assert ids(item="q1") == [study.store.ratings.arrivals(rater="model-a")[0][1].id, later[0].id]
    assert ids(item="q1", rater="ann") == [later[0].id]
    assert ids(item="q1", rater="ann", history=True) == [first[0].id, later[0].id]
    assert ids(criterion="no such") == ids(rater="nobody") == []
    assert owner.get("/api/ratings", params={"after": 15}).json()["revision"] == 16


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/api/ratings", {"limit": 1001}),
        ("/api/ratings", {"after": -1}),
        ("/api/ratings", {"after": 2**63}),
        ("/api/items", {"limit": 0}),
        ("/api/items", {"after": "x"}),
    ],
)
def test_pages_have_bounds(path: str, asked: dict[str, Any], client: Browsers):
    answer = client.owner().get(path, params=asked)
    assert answer.status_code == 422
    assert answer.json()["problems"]


@pytest.mark.parametrize("name", ["agreement", "measures"])
def test_figures_are_those_of_the_command_line(name: str, client: Browsers):
    study, owner = client.study, client.owner()
    path, command = f"/api/{name}", {"agreement": "agree", "measures": "measures"}[name]

    def printed() -> Any:
        result = CliRunner().invoke(evenhand, [command, study.store.location, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    assert owner.get(path).json() == printed()
    rated(study, "ann", ["SUPPORTED", "CONTRADICTED", "SUPPORTED", "NO EVIDENCE", "SUPPORTED"])
    rated(study, "ben", ["SUPPORTED", "SUPPORTED", "SUPPORTED", "NO EVIDENCE", "CONTRADICTED"])
    rated(study, "model-a", ["SUPPORTED", "SUPPORTED", "NO EVIDENCE", "NO EVIDENCE", "CONTRADICTED"])
    with_three = owner.get(path).json()
    assert with_three == printed()
    # A rating that takes another's place changes no count, and is seen all the same.
    rated(study, "ben", ["CONTRADICTED"])
    assert owner.get(path).json() == printed() != with_three


def test_the_page_about_the_api_names_every_route(client: Browsers):
    browser = client.browser()
    text = browser.get("/api").text
    document = browser.get("/api/openapi.json").json()
    for path, methods in document["paths"].items():
        assert path in text
        for operation in methods.values():
            assert f'id="{operation["operationId"]}"' in text
    for shape in document["components"]["schemas"]:
        assert f'id="schema-{shape}"' in text
    assert "<script" not in text
