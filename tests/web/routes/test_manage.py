"""The owner's routes: guarded, and doing what they say."""

from collections.abc import Sequence
from datetime import timedelta
from secrets import token_hex
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand.assignment import Plan
from evenhand.records import Kind, RaterRef, Rating, now
from evenhand.study import Study
from evenhand.web.templating import FOLDER
from tests.web.browsing import Browsers

S, C, N = "SUPPORTED", "CONTRADICTED", "NO EVIDENCE"
ROUTES: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "/api/plan", None),
    ("PUT", "/api/plan", {}),
    ("GET", "/api/progress", None),
    ("GET", "/api/growth", None),
    ("GET", "/api/raters/tasks?rater=ann", None),
    ("POST", "/api/raters/pause", {"rater": "ann", "paused": True}),
    ("POST", "/api/raters/give-back", {"rater": "ann"}),
    ("POST", "/api/assignments", {"item": "q1", "rater": "ann"}),
]


@pytest.fixture(autouse=True)
def untrained(study: Study) -> None:
    study.store.people.tasks.set_plan(Plan(training="off"))


def rated(
    study: Study, rater: str, values: Sequence[str | None], seconds: float = 10, kind: Kind = Kind.PERSON
) -> None:
    study.store.ratings.add(
        [
            Rating(unit=f"q{number}", criterion="support", rater=rater, digest=study.protocol.digest, value=value,
                   seconds=seconds)
            for number, value in enumerate(values, start=1)
            if value is not None
        ],
        raters=[RaterRef(rater, kind)],
    )  # fmt: skip


def answered(browser: TestClient, value: str = S) -> int:
    """The next task of a rater, rated through the API and finished; its number."""
    task = browser.post("/api/tasks/next", json={"holding": []}).json()["task"]
    number: int = task["number"]
    rating_id = f"{1_700_000_000_000:012x}{token_hex(10)}"
    body = {"id": rating_id, "status": "rated", "value": value, "seconds": 12}
    where = f"/api/tasks/{number}/units/1"
    answer = browser.put(f"{where}/ratings/support", json=body, headers={"If-None-Match": "*"})
    assert answer.status_code == 200, answer.text
    assert browser.post(f"{where}/finish").status_code == 200
    return number


def rater_of(owner: TestClient, name: str) -> dict[str, Any]:
    answer = owner.get("/api/progress")
    assert answer.status_code == 200, answer.text
    return next(one for one in answer.json()["raters"] if one["rater"] == name)


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_only_the_owner_gets_in(client: Browsers, method: str, path: str, body: dict[str, Any] | None):
    assert client.browser().request(method, path, json=body).status_code == 401
    assert client.rater("ann").request(method, path, json=body).status_code == 403
    assert client.adjudicator("eve").request(method, path, json=body).status_code == 403
    assert client.owner().request(method, path, json=body).status_code in (200, 201, 204)


def test_the_plan_is_read_changed_and_kept(client: Browsers, study: Study):
    owner = client.owner()
    plan = owner.get("/api/plan").json()
    assert plan.pop("locked") == []
    assert plan == Plan(training="off").model_dump(mode="json")
    changed = owner.put("/api/plan", json={**plan, "overlap": 2, "seed": 7, "completion": "https://example.org/done"})
    assert changed.status_code == 200
    assert (changed.json()["overlap"], changed.json()["seed"]) == (2, 7)
    assert study.store.people.tasks.plan().completion == "https://example.org/done"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"overlap": 0}, "overlap"),
        ({"gold_every": 1}, "gold_every"),
        ({"training": "maybe"}, "training"),
        ({"completion": "javascript:alert(1)"}, "completion"),
        ({"gold": "nobody"}, "gold"),
        ({"claim_minutes": None}, "claim_minutes"),
    ],
)
def test_a_plan_that_is_wrong_is_refused_with_the_field_that_is_wrong(
    client: Browsers, study: Study, change: dict[str, Any], field: str
):
    answer = client.owner().put("/api/plan", json={**Plan().model_dump(mode="json"), **change})
    assert answer.status_code == 422
    assert [problem.split(":")[0] for problem in answer.json()["problems"]] == [f"body.{field}"]
    assert study.store.people.tasks.plan() == Plan(training="off")


def test_the_order_is_locked_once_work_was_given_out(client: Browsers):
    owner, ann = client.owner(), client.rater("ann")
    answered(ann)
    plan = owner.get("/api/plan").json()
    assert plan.pop("locked") == ["seed", "batch", "by"]
    refused = owner.put("/api/plan", json={**plan, "seed": 8})
    assert refused.status_code == 422
    assert "seed" in refused.json()["error"]
    assert owner.put("/api/plan", json={**plan, "overlap": 3}).status_code == 200


def test_training_alone_locks_nothing(client: Browsers, study: Study):
    study.store.people.tasks.set_plan(Plan(training="required"))
    ann = client.rater("ann")
    assert ann.post("/api/tasks/next", json={"holding": []}).json()["task"]["purpose"] == "training"
    assert client.owner().get("/api/plan").json()["locked"] == []


def test_every_field_of_the_plan_stands_on_the_page():
    page = (FOLDER / "templates" / "manage.html").read_text(encoding="utf-8")
    missing = [name for name in Plan.model_fields if f'("{name}"' not in page and f'name="{name}"' not in page]
    assert missing == []


def test_progress_moves_with_every_answer(client: Browsers):
    owner, ann = client.owner(), client.rater("ann")
    before = rater_of(owner, "ann")
    assert (before["tasks"]["done"], before["units_rated"], before["per_hour"]) == (0, 0, None)
    answered(ann)
    answered(ann, C)
    after = rater_of(owner, "ann")
    assert after["tasks"] == {"training": 0, "open": 0, "done": 2, "returned": 0, "repeats": 0}
    # Twelve seconds each are 300 an hour.
    assert (after["units_rated"], after["per_hour"], after["seconds_per_unit"]) == (2, 300, 12)
    assert after["statuses"] == {"rated": 2}
    study = owner.get("/api/progress").json()["study"]
    assert (study["items"], study["units"], study["raters"]) == (12, 12, 1)
    assert (study["items_given"], study["items_wanted"], study["units_done"]) == (2, 12, 2)


def test_a_repeat_does_not_count_towards_the_share(client: Browsers, study: Study):
    study.store.people.tasks.set_plan(Plan(training="off", share=4, repeat_every=3, repeat_after=1))
    owner, ann = client.owner(), client.rater("ann")
    for _ in range(5):
        answered(ann)
    found = rater_of(owner, "ann")
    assert (found["tasks"]["done"], found["tasks"]["repeats"], found["share"]) == (4, 1, 4)
    assert owner.get("/api/progress").json()["study"]["items_given"] == 4


def test_people_who_rated_in_a_spreadsheet_are_named(client: Browsers, study: Study):
    rated(study, "ben", [S, C, N])
    found = client.owner().get("/api/progress").json()
    assert (found["raters"], found["elsewhere"]) == ([], [{"rater": "ben", "units_rated": 3}])
    assert (found["study"]["raters"], found["study"]["units_rated"]) == (0, 3)


def test_a_changed_answer_is_noticed(client: Browsers, study: Study):
    owner, ann = client.owner(), client.rater("ann")
    number = answered(ann)
    rated(study, "key", [S] * 12)
    study.store.people.tasks.set_plan(Plan(training="off", gold="key"))
    assert rater_of(owner, "ann")["gold"]["value"] == 1
    held = ann.get(f"/api/tasks/{number}").json()["units"][0]["ratings"]["support"]["id"]
    body = {"id": f"{1_700_000_000_001:012x}{token_hex(10)}", "status": "rated", "value": C, "seconds": 3}
    where = f"/api/tasks/{number}/units/1/ratings/support"
    assert ann.put(where, json=body, headers={"If-Match": f'"{held}"'}).status_code == 200
    found = rater_of(owner, "ann")
    assert (found["gold"]["value"], found["gold"]["n"]) == (0, 1)
    assert found["seconds_per_unit"] == 15


def test_people_are_held_against_known_answers_and_each_other(client: Browsers, study: Study):
    client.rater("ann")
    client.rater("bob")
    rated(study, "key", [S] * 10, kind=Kind.MODEL)
    rated(study, "ann", [S] * 10)
    rated(study, "bob", [C] * 9 + [S])
    study.store.people.tasks.set_plan(Plan(training="off", gold="key"))
    owner = client.owner()
    ann, bob = rater_of(owner, "ann"), rater_of(owner, "bob")
    assert (ann["gold"]["value"], ann["gold"]["n"], ann["gold"]["units"]) == (1, 10, 10)
    # Wilson's interval for 1 of 10.
    assert bob["gold"]["value"] == 0.1
    assert bob["gold"]["ci"] == pytest.approx([0.0179, 0.4042], abs=1e-4)
    assert bob["with_others"]["value"] == 0.1
    assert (ann["repeat"], ann["training"]) == (None, None)
    assert ann["needs_help"] == []
    assert bob["needs_help"] == [
        "Gives the known answer in 1 of 10 answers (10%, interval 2% to 40%); the others reach 100%."
    ]


def test_ratings_of_others_are_not_read_into_a_persons_diary(client: Browsers, study: Study):
    rated(study, "judge", [S] * 12, kind=Kind.MODEL)
    rated(study, "ann", [S, S])
    owner = client.owner()
    client.rater("ann")
    assert rater_of(owner, "ann")["units_rated"] == 2
    # Ann was known before, bob rated elsewhere and joins only now; both go on.
    rated(study, "bob", [S, C, N])
    client.rater("bob")
    rated(study, "ann", [None, None, C])
    assert rater_of(owner, "bob")["units_rated"] == 3
    assert rater_of(owner, "ann")["units_rated"] == 3


def test_an_adjudicator_is_listed_without_tasks_and_hints(client: Browsers):
    client.adjudicator("eve")
    eve = rater_of(client.owner(), "eve")
    assert (eve["role"], eve["gold"], eve["with_others"], eve["needs_help"]) == ("adjudicator", None, None, [])


def test_nothing_is_reckoned_anew_while_nothing_happens(client: Browsers):
    owner, ann = client.owner(), client.rater("ann")
    answered(ann)
    first, again = (owner.get("/api/progress").json()["at"] for _ in range(2))
    assert first == again
    answered(ann)
    assert owner.get("/api/progress").json()["at"] > first


def test_growth_follows_the_ratings(client: Browsers, study: Study):
    owner = client.owner()
    assert owner.get("/api/growth").json() == {
        "criteria": {"support": {"title": "Support", "statistic": "alpha", "points": []}}
    }
    rated(study, "ann", [S, C] * 6)
    rated(study, "bob", [S, C] * 6)
    points = owner.get("/api/growth").json()["criteria"]["support"]["points"]
    assert len(points) == 10
    assert (points[-1]["ratings"], points[-1]["units"], points[-1]["value"]) == (24, 12, 1)
    assert points[-1]["ci"][1] == 1
    assert points[-1]["percent"]["value"] == 1
    assert (points[0]["value"], points[0]["why"]) == (None, "no unit was rated twice")


def test_a_paused_rater_is_given_nothing_new(client: Browsers):
    owner, ann = client.owner(), client.rater("ann")
    assert owner.post("/api/raters/pause", json={"rater": "ann", "paused": True}).status_code == 204
    assert ann.post("/api/tasks/next", json={"holding": []}).json()["state"] == "paused"
    assert rater_of(owner, "ann")["paused"] is True
    owner.post("/api/raters/pause", json={"rater": "ann", "paused": False})
    assert ann.post("/api/tasks/next", json={"holding": []}).json()["state"] == "task"
    assert rater_of(owner, "ann")["paused"] is False


def test_the_owner_sees_what_is_in_hand_and_takes_it_back(client: Browsers):
    owner, ann = client.owner(), client.rater("ann")
    ann.post("/api/tasks/next", json={"holding": []})
    ann.post("/api/tasks/next", json={"holding": [1]})
    tasks = owner.get("/api/raters/tasks", params={"rater": "ann"}).json()["tasks"]
    assert [(task["number"], task["purpose"], task["state"]) for task in tasks] == [
        (1, "rate", "open"),
        (2, "rate", "open"),
    ]
    assert all(task["item"].startswith("q") for task in tasks)
    assert owner.post("/api/raters/give-back", json={"rater": "ann", "number": 1}).json() == {"returned": 1}
    assert [task["number"] for task in owner.get("/api/raters/tasks?rater=ann").json()["tasks"]] == [2]
    assert owner.post("/api/raters/give-back", json={"rater": "ann"}).json() == {"returned": 1}
    assert rater_of(owner, "ann")["tasks"] == {"training": 0, "open": 0, "done": 0, "returned": 2, "repeats": 0}


def test_an_item_is_given_to_somebody_by_name(client: Browsers):
    owner, ann = client.owner(), client.rater("ann")
    answer = owner.post("/api/assignments", json={"item": "q9", "rater": "ann"})
    assert answer.status_code == 201
    assert (answer.json()["number"], answer.json()["item"], answer.json()["state"]) == (1, "q9", "open")
    assert owner.post("/api/assignments", json={"item": "q9", "rater": "ann"}).json()["number"] == 1
    assert "place 9" in ann.get("/api/tasks/1").text


def test_whoever_and_whatever_is_not_there_is_not_found(client: Browsers):
    owner = client.owner()
    client.rater("ann")
    assert owner.get("/api/raters/tasks?rater=zoe").status_code == 404
    assert owner.post("/api/raters/pause", json={"rater": "zoe", "paused": True}).status_code == 404
    assert owner.post("/api/raters/give-back", json={"rater": "zoe"}).status_code == 404
    assert owner.post("/api/assignments", json={"item": "q1", "rater": "zoe"}).status_code == 404
    missing = owner.post("/api/assignments", json={"item": "q99", "rater": "ann"})
    assert missing.status_code == 404
    assert missing.json()["error"] == "There is no item 'q99' in this study."


@pytest.mark.parametrize("name", ["a/b?c#d", "Ünal 李", "<img src=x onerror=alert(1)>", "%2e%2e", "\u202eevil"])
def test_names_of_any_kind_can_be_managed(client: Browsers, study: Study, name: str):
    study.store.people.admit(name, "rater")
    owner = client.owner()
    assert owner.post("/api/raters/pause", json={"rater": name, "paused": True}).status_code == 204
    assert rater_of(owner, name)["paused"] is True
    assert owner.get("/api/raters/tasks", params={"rater": name}).json() == {"rater": name, "tasks": []}


def test_somebody_silent_is_named(client: Browsers, study: Study, monkeypatch: pytest.MonkeyPatch):
    owner, ann = client.owner(), client.rater("ann")
    ann.post("/api/tasks/next", json={"holding": []})
    assert rater_of(owner, "ann")["needs_help"] == []
    later = now() + timedelta(hours=3, minutes=1)
    monkeypatch.setattr("evenhand.web.routes.manage.now", lambda: later)
    assert rater_of(owner, "ann")["needs_help"] == ["Has 1 open item and was last active 3 hours ago."]


def test_the_page_is_for_the_owner(client: Browsers):
    page = client.owner().get("/manage")
    assert page.status_code == 200
    assert "Rate here yourself" in page.text
    assert client.rater("ann").get("/manage").status_code == 303
    assert client.browser().get("/manage").headers["location"] == "/login"
