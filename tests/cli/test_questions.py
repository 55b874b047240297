import json
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli import main
from evenhand.records import UNANSWERABLE, Kind, RaterRef
from evenhand.run import worker
from evenhand.store.work import RunSpec
from evenhand.study import Study
from tests.chat_server import CODE, Answer, Call, ChatServer, fails, says
from tests.cli.calling import Caller
from tests.processes import Forked

BRIDGE = "The footbridge at Ambleford was opened in May 2019. It was designed by Ines Calder and cost 3.4 million."
GENERATED = "The footbridge was opened in March 2019. The footbridge was designed by Ines Calder."
EXAMPLE = {
    "bridge": {
        "key_info": ["May 2019", "Ines Calder", "3.4 million"],
        "question": [
            "When was the footbridge opened?",
            "Who designed the footbridge?",
            "How much did the footbridge cost?",
        ],
        "answers": ["May 2019", "Ines Calder", "3.4 million"],
    }
}
"""Document 001's figures: one answer shares one word of two with the reference's, one all, one is not there."""
FIGURES = {"recall": 2 / 3, "precision": 0.75, "precision_all": 0.5}


def items_file(folder: Path, rows: Mapping[str, tuple[str, str]]) -> Path:
    lines = [json.dumps({"id": name, "reference": of[0], "generated": of[1]}) for name, of in rows.items()]
    (folder / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder / "texts.jsonl"


def questions_file(folder: Path, content: object, name: str = "questions.json") -> Path:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder / name


@pytest.fixture
def study(call: Caller, tmp_path: Path) -> str:
    """One item with the three questions of the example."""
    items = items_file(tmp_path, {"bridge": (BRIDGE, GENERATED)})
    made = ("--items", items, "--questions", questions_file(tmp_path, EXAMPLE))
    call.fine("new", "study.db", "--protocol", "rag-quest-eval", *made)
    return "study.db"


def figures(call: Caller, study: str, rater: str) -> dict[str, float]:
    found = json.loads(call.fine("measures", study, "--json"))["measures"]
    return {one["name"]: one["value"] for one in found if one["rater"] == rater}


def asked(study: str) -> dict[str, list[tuple[str | None, str | None, str | None]]]:
    with Study.open(study) as opened:
        content = {item.id: opened.store.items.units_of([item.id])[item.id] for item in opened.items()}
    return {name: [(unit.key_info, unit.text, unit.answer) for unit in of] for name, of in content.items()}


def rated(folder: Path, *answers: str) -> Path:
    lines = [f"bridge,{n},{answer}" for n, answer in enumerate(answers, start=1) if answer]
    (folder / "ratings.csv").write_text("\n".join(["id,unit,answer", *lines]), encoding="utf-8")
    return folder / "ratings.csv"


# The example of the document


def test_the_worked_example_answered_by_quest_eval(call: Caller, study: str):
    out = call.fine("judge", study, "--rater", "quest-eval")
    assert out.startswith("quest-eval: 3 of 3 units done\n  ratings: rated 3\n")
    with Study.open(study) as opened:
        answers = [rating.value for rating in opened.ratings()]
    assert answers == ["March 2019", "Ines Calder", UNANSWERABLE]
    assert figures(call, study, "quest-eval") == pytest.approx(FIGURES)


def test_the_worked_example_by_import(call: Caller, study: str, tmp_path: Path):
    ratings = rated(tmp_path, "March 2019", "Ines Calder", "<Unanswerable>")
    call.fine("ratings", "import", study, ratings, "--rater", "ann")
    assert figures(call, study, "ann") == pytest.approx(FIGURES)


# Made without a model


def test_a_study_without_a_file_of_questions_has_them_made(call: Caller, tmp_path: Path):
    items = items_file(tmp_path, {"bridge": (BRIDGE, GENERATED), "bare": ("Yes.", "No.")})
    out = call.fine("new", "study.db", "--protocol", "rag-quest-eval", "--items", items)
    made = asked("study.db")
    count = len(made["bridge"])
    assert f"study.db: 2 items, {count} units (question from reference), rag-quest-eval " in out
    assert f"  questions: {count} made from reference (" in out
    assert "1 item without a question" in out
    answers = [answer for _, _, answer in made["bridge"]]
    assert {"May 2019", "Ines Calder"} <= set(answers)
    for info, question, answer in made["bridge"]:
        assert info == answer
        assert question is not None
        assert "____" in question
        assert str(answer) in BRIDGE
    assert made["bare"] == []


def test_questions_in_chinese_are_made_and_answered(call: Caller, tmp_path: Path):
    text = "长江大桥于1957年10月建成通车。这座桥由梅旸春主持设计。"
    items = items_file(tmp_path, {"桥": (text, text)})
    call.fine("new", "study.db", "--protocol", "rag-quest-eval", "--items", items)
    assert len(asked("study.db")["桥"]) >= 2
    call.fine("judge", "study.db", "--rater", "quest-eval")
    # The text is the reference itself.
    assert figures(call, "study.db", "quest-eval")["recall"] > 0.5


def test_made_anew_only_where_nobody_has_rated(call: Caller, study: str, tmp_path: Path):
    out = call.fine("questions", "make", study)
    assert "questions for 1 item, made without a model (" in out
    made = asked(study)
    assert all("____" in str(question) for _, question, _ in made["bridge"])
    call.fine("ratings", "import", study, rated(tmp_path, "", "Calder"), "--rater", "ann")
    out = call.fine("questions", "make", study)
    assert out.startswith("study.db: 0 questions for 0 items, made without a model")
    assert "  1 item keeps its questions, because" in out
    assert asked(study) == made


# Written out and brought back


def test_what_is_written_out_comes_back_as_it_was(call: Caller, study: str, tmp_path: Path):
    assert call.fine("questions", "export", study, "-o", "out.json") == "out.json: 3 questions for 1 item\n"
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == EXAMPLE
    assert call("questions", "export", study, "-o", "out.json").code == 2
    call.fine("questions", "export", study, "-o", "out.json", "--overwrite")
    out = call.fine("questions", "import", study, "out.json")
    assert out == "out.json: questions: 3 unchanged\nstudy.db: 3 questions now\n"


def test_questions_that_people_edited(call: Caller, study: str, tmp_path: Path):
    edited = {
        "bridge": {
            "key_info": ["May 2019", None],
            "question": ["In which month was it opened?", "Who paid for it?"],
            "answers": ["May 2019", "<Unanswerable>"],
        }
    }
    out = call.fine("questions", "import", study, questions_file(tmp_path, edited, "edited.json"))
    assert out.endswith("questions: 0 unchanged, 2 changed, 1 removed\nstudy.db: 2 questions now\n")
    wanted = [("May 2019", "In which month was it opened?", "May 2019"), (None, "Who paid for it?", UNANSWERABLE)]
    assert asked(study) == {"bridge": wanted}
    call.fine("questions", "export", study, "-o", "out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == edited
    none = questions_file(tmp_path, {"bridge": {"question": [], "answers": []}}, "none.json")
    call.fine("questions", "import", study, none)
    assert asked(study) == {"bridge": []}
    call.fine("questions", "export", study, "-o", "none-out.json")
    assert json.loads((tmp_path / "none-out.json").read_text(encoding="utf-8")) == json.loads(none.read_text())


def without(place: int) -> dict[str, dict[str, list[Any]]]:
    """The example without one of its questions."""
    lists = EXAMPLE["bridge"]
    return {"bridge": {key: [*values[:place], *values[place + 1 :]] for key, values in lists.items()}}


def changed(key: str, place: int, text: str) -> dict[str, dict[str, list[Any]]]:
    lists = {name: list(values) for name, values in EXAMPLE["bridge"].items()}
    lists[key][place] = text
    return {"bridge": lists}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(without(1), id="removed"),
        pytest.param(changed("question", 1, "Who built it?"), id="question changed"),
        pytest.param(changed("answers", 1, "Calder"), id="answer changed"),
        pytest.param(changed("key_info", 1, "Calder"), id="key information changed"),
        pytest.param({"bridge": {"question": [], "answers": []}}, id="all removed"),
    ],
)
def test_a_question_with_a_rating_neither_changes_nor_vanishes(
    call: Caller, study: str, tmp_path: Path, content: object
):
    call.fine("ratings", "import", study, rated(tmp_path, "", "Calder"), "--rater", "ann")
    before = asked(study)
    result = call("questions", "import", study, questions_file(tmp_path, content, "edited.json"))
    assert result.code == 2
    assert "bridge#2. No unit was changed" in result.err
    assert asked(study) == before


def test_a_question_with_a_rating_keeps_its_place_wherever_the_file_has_it(call: Caller, study: str, tmp_path: Path):
    call.fine("ratings", "import", study, rated(tmp_path, "", "Calder"), "--rater", "ann")
    lists = EXAMPLE["bridge"]
    moved = {"bridge": {key: [values[1], values[2], values[0]] for key, values in lists.items()}}
    call.fine("questions", "import", study, questions_file(tmp_path, moved, "moved.json"))
    assert [question for _, question, _ in asked(study)["bridge"]] == [
        "How much did the footbridge cost?",
        "Who designed the footbridge?",
        "When was the footbridge opened?",
    ]
    with Study.open(study) as opened:
        assert [(rating.unit, rating.value) for rating in opened.ratings()] == [("bridge#2", "Calder")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"tower": {"question": ["Q?"], "answers": ["A"]}}, "questions for 1 id that no item has: tower"),
        ({"bridge": {"question": ["Q?", "R?"], "answers": ["A"]}}, "2 questions but 1 answer"),
        ({"bridge": {"question": [None], "answers": ["A"]}}, "question.1: a text is needed, not nothing"),
        (
            {"bridge": {"question": ["Q?"], "answers": ["A"], "key_info": [""]}},
            "key_info.1: a text that is not empty",
        ),
        ([], "the shape is"),
    ],
)
def test_files_that_do_not_fit_change_nothing(call: Caller, study: str, tmp_path: Path, content: object, said: str):
    before = asked(study)
    result = call("questions", "import", study, questions_file(tmp_path, content, "wrong.json"))
    assert result.code == 2
    assert said in result.err
    assert asked(study) == before


def test_studies_without_questions_have_none_to_edit(call: Caller, tmp_path: Path):
    (tmp_path / "i.csv").write_text("id,question,context,generated_answer\na,Q,C,A\n", encoding="utf-8")
    call.fine("new", "other.db", "--protocol", "halo-support", "--items", "i.csv")
    file = questions_file(tmp_path, EXAMPLE)
    for arguments in (("make", "other.db"), ("export", "other.db", "-o", "q.json"), ("import", "other.db", file)):
        result = call("questions", *arguments)
        assert result.code == 2
        assert "the unit of halo-support is 'item'" in result.err
    rating = call("judge", "other.db", "--rater", "quest-eval")
    assert rating.code == 2
    assert "quest-eval answers questions, and halo-support asks none" in rating.err


def test_questions_do_not_change_under_a_running_judge(call: Caller, study: str, tmp_path: Path):
    with Study.open(study) as opened:
        opened.store.work.start_runs([RunSpec(RaterRef("quest-eval", Kind.MODEL), {})], worker="another process")
    before = asked(study)
    for arguments in (("make", study), ("import", study, questions_file(tmp_path, without(0), "edited.json"))):
        result = call("questions", *arguments)
        assert result.code == 2
        assert "'quest-eval' is rating since" in result.err
    assert asked(study) == before


# Made by a model


MADE = [
    {"key_info": "May 2019", "question": "When was the footbridge at Ambleford opened?"},
    {"key_info": "Ines Calder", "question": "Who designed the footbridge at Ambleford?"},
    {"key_info": "a mayor", "question": "Who opened the footbridge at Ambleford?"},
]
ANSWERS = {"When": "May 2019", "Who designed": "Ines Calder", "Who opened": UNANSWERABLE}


def maker(made: object = MADE) -> Any:
    """A model that makes these questions, and answers each by its beginning."""

    def behaviour(call: Call) -> Answer:
        if "[begin reference " in call.body["messages"][1]["content"]:
            return says(json.dumps({"code": CODE, "questions": made}))
        question = call.prompt.partition("The question to answer")[2]
        answer = next(answer for beginning, answer in ANSWERS.items() if f"\n{beginning} " in question)
        return says(json.dumps({"unit_code": CODE, "answer": {"answer": answer}}))

    return behaviour


@pytest.fixture
def server() -> Generator[ChatServer]:
    with ChatServer(maker()) as running:
        yield running


def test_a_model_makes_questions_and_answers_them_from_the_reference(call: Caller, study: str, server: ChatServer):
    out = call.fine("questions", "make", study, "--rater", f"{server.url}#m")
    assert out.splitlines() == [
        f"study.db: 3 questions for 1 item, made by {server.url}#m",
        "  4 calls; 400 tokens read, 80 written; price unknown",
        "  3 questions replaced",
    ]
    assert asked(study)["bridge"] == [
        ("May 2019", "When was the footbridge at Ambleford opened?", "May 2019"),
        ("Ines Calder", "Who designed the footbridge at Ambleford?", "Ines Calder"),
        ("a mayor", "Who opened the footbridge at Ambleford?", UNANSWERABLE),
    ]
    # It answers from the reference in the place of the generated text, and sees nothing else.
    answering = [one.prompt for one in server.calls if "[begin reference " not in one.prompt]
    assert len(answering) == 3
    assert all(BRIDGE in prompt and GENERATED not in prompt for prompt in answering)
    assert "questions(" in call.fine("runs", study)
    again = call.fine("questions", "make", study, "--rater", f"{server.url}#m")
    assert "  0 calls; 4 stored replies reused" in again
    assert len(server.calls) == 4


def test_an_item_without_a_usable_reply_keeps_its_questions_and_is_asked_about_again(call: Caller, study: str):
    before = asked(study)
    with ChatServer(says("I would rather not.")) as useless:
        result = call("questions", "make", study, "--rater", f"m={useless.url}#m")
        assert len(useless.calls) == 2, "asked, and asked again with what was wrong"
        assert "An earlier reply cannot be used. The reply contains no JSON object" in useless.calls[1].prompt
        port = useless.port
    assert result.code == 1
    assert "study.db: 0 questions for 0 items, made by m\n  failed 1, unchanged: not JSON" in result.out
    assert "items: bridge; the same command tries them again" in result.out
    assert asked(study) == before
    server = ChatServer(maker())
    server.port = port
    with server:
        call.fine("questions", "make", study, "--rater", f"m={server.url}#m")
    assert len(asked(study)["bridge"]) == 3
    assert asked(study) != before


def test_what_somebody_has_in_hand_is_left_and_said(call: Caller, tmp_path: Path, server: ChatServer):
    items = items_file(tmp_path, {"bridge": (BRIDGE, GENERATED), "other": (BRIDGE, GENERATED)})
    call.fine("new", "study.db", "--protocol", "rag-quest-eval", "--items", items)
    before = asked("study.db")
    with Study.open("study.db") as opened:
        opened.store.people.admit("ann", "rater")
        opened.store.people.update("ann", training_over=True)
        task = opened.store.people.tasks.next("ann")
    assert task is not None
    held = str(task.item)
    (free,) = {"bridge", "other"} - {held}
    result = call("questions", "make", "study.db", "--rater", f"m={server.url}#m")
    assert result.code == 1
    assert "3 questions for 1 item, made by m\n" in result.out
    assert (
        f"people are working on these items at the page, and their answers would go to other units: {held} (ann)"
        in result.out
    )
    after = asked("study.db")
    assert after[held] == before[held]
    assert len(after[free]) == 3
    assert after[free] != before[free]


def with_short_leases(arguments: list[str]) -> None:
    """The command line, whose leases end soon after it was killed."""
    worker.LEASE_SECONDS = 3.0
    main(arguments)


def test_a_killed_maker_is_seen_at_work_but_does_not_stay_so(call: Caller, study: str, server: ChatServer):
    asked_first, go_on = threading.Event(), threading.Event()

    def behaviour(one: Call) -> Answer:
        asked_first.set()
        go_on.wait(60)
        return says("too late")

    with ChatServer(behaviour) as slow:
        arguments = ["questions", "make", study, "--rater", f"m={slow.url}#m"]
        process = Forked(Path.cwd(), arguments, function=with_short_leases)
        assert asked_first.wait(60)
        for arguments in (("judge", study, "--rater", "quest-eval"), ("questions", "make", study)):
            result = call(*arguments)
            assert result.code == 2
            assert "'questions(m)' is making questions since" in result.err
        process.kill()
        go_on.set()
        with Study.open(study) as opened:
            deadline = time.monotonic() + 60
            while [run.state for run in opened.store.work.runs()] != ["stopped"]:
                assert time.monotonic() < deadline
                time.sleep(0.1)
    call.fine("questions", "make", study, "--rater", f"m={server.url}#m")
    assert len(asked(study)["bridge"]) == 3


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"key_info": ["x"]}, "no list of questions"),
        (["Who?"], "no usable entry in questions"),
        ([{"key_info": "x", "question": " "}], "no usable entry in questions"),
    ],
)
def test_replies_of_another_shape(call: Caller, study: str, made: object, reason: str):
    with ChatServer(maker(made)) as server:
        result = call("questions", "make", study, "--rater", f"{server.url}#m")
    assert result.code == 1
    assert f"failed 1, unchanged: {reason}" in result.out


def test_a_model_that_finds_nothing_to_ask_leaves_no_question(call: Caller, study: str):
    with ChatServer(maker([])) as server:
        out = call.fine("questions", "make", study, "--rater", f"{server.url}#m")
    assert "study.db: 0 questions for 1 item" in out
    assert asked(study) == {"bridge": []}


def test_twice_the_same_question_is_one_and_no_more_than_a_dozen(call: Caller, study: str):
    many = [{"key_info": str(n), "question": f"When was stone {n // 2} laid?"} for n in range(40)]
    with ChatServer(maker(many)) as server:
        call.fine("questions", "make", study, "--rater", f"{server.url}#m")
    found = asked(study)["bridge"]
    assert [question for _, question, _ in found] == [f"When was stone {n} laid?" for n in range(12)]
    assert [info for info, _, _ in found] == [str(2 * n) for n in range(12)]


def test_a_wrong_key_ends_it_with_nothing_changed(call: Caller, study: str):
    before = asked(study)
    with ChatServer(fails(401)) as server:
        result = call("questions", "make", study, "--rater", f"{server.url}#m")
    assert result.code == 2
    assert result.err.rstrip().endswith("No question was made")
    assert asked(study) == before


def test_a_cap_on_cost_is_kept(call: Caller, study: str, server: ChatServer):
    options: Sequence[object] = ("--price", "1000/1000", "--max-cost", "0.0001")
    result = call("questions", "make", study, "--rater", f"{server.url}#m", *options)
    assert result.code == 1
    assert "the cost limit is reached" in result.err
    assert server.calls == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rater", "jury(http://127.0.0.1:1/v1#a, http://127.0.0.1:1/v1#b)"), "cannot make questions: name one"),
        (("--rater", "quest-eval"), "cannot make questions: name one language model"),
        (("--rater", "nobody"), "there is no rater 'nobody'"),
        (("--rater", "http://127.0.0.1:1/v1#a", "--max-cost", "1"), "a cost limit needs a price"),
        (("--max-cost", "1"), "without a model there is nothing to pay"),
        (("--max-cost", "nan", "--rater", "http://127.0.0.1:1/v1#a"), "--max-cost: nan is not a finite number"),
    ],
)
def test_wrong_use_of_make(call: Caller, study: str, arguments: tuple[str, ...], said: str):
    result = call("questions", "make", study, *arguments)
    assert result.code == 2
    assert said in result.err


def test_a_dry_run_of_quest_eval_with_a_model_needs_no_key(call: Caller, study: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    out = call.fine("judge", study, "--rater", "quest-eval(openai:gpt-x)", "--dry-run")
    assert out.endswith("\nNothing was sent.\n")


def test_a_model_under_quest_eval_answers_and_the_answer_is_found_in_the_text(call: Caller, study: str):
    with ChatServer(says(json.dumps({"unit_code": CODE, "answer": {"answer": "March 2019"}}))) as server:
        spec = f"quest-eval({server.url}#m)"
        out = call.fine("judge", study, "--rater", spec, "--dry-run")
        assert "3 calls" in out
        assert server.calls == []
        call.fine("judge", study, "--rater", spec)
        assert len(server.calls) == 3
    with Study.open(study) as opened:
        ratings = list(opened.ratings())
        assert {rating.rater for rating in ratings} == {spec}
        spans = {(span.field, GENERATED[span.start : span.end]) for rating in ratings for span in rating.evidence}
    assert spans == {("generated", "March 2019")}
