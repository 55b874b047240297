import json
from pathlib import Path
from typing import Any, cast

import jsonschema
import openpyxl
import pytest

from evenhand.errors import InputError, UserError
from evenhand.raters.options import RaterOptions
from evenhand.records import Item, Kind, RaterRef, Status
from evenhand.run.batch_files import CONFIG, read_replies, write_batch, write_prompts
from evenhand.run.judge import judge
from evenhand.study import Study
from tests.chat_server import ChatServer, code, codes_in, completion, with_codes
from tests.run.judging import halo_study, judge_at, supported

GOOD = '{"unit_code": "@CODE", "support": {"answer": "SUPPORTED"}, "notes": null}'


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def filled(rows: list[dict[str, object]], reply: str = GOOD) -> list[dict[str, object]]:
    """The rows with a reply to each prompt that carries its code."""
    return [{**row, "reply": with_codes(reply.encode(), codes_in(str(row["prompt"]))).decode()} for row in rows]


def test_prompts_written_by_hand_come_back_as_ratings(tmp_path: Path):
    with halo_study(tmp_path, 3) as study:
        assert write_prompts(study.store, tmp_path / "prompts.jsonl", RaterOptions()) == 3
        rows = lines(tmp_path / "prompts.jsonl")
        assert [row["item"] for row in rows] == ["i0", "i1", "i2"]
        assert "In 1." in str(rows[1]["prompt"])
        good = str(filled(rows)[0]["reply"])
        rows[0]["reply"] = f"Sure! Here you are:\n```json\n{good}\n```"
        rows[1]["reply"] = "I would rather not say."
        rows[2]["reply"] = good
        tally = read_replies(study.store, written(tmp_path / "filled.jsonl", rows), "chat")
        assert [(rating.unit, rating.status, rating.value, rating.reason) for rating in study.ratings()] == [
            ("i0", Status.RATED, "SUPPORTED", None),
            ("i1", Status.FAILED, None, "not JSON"),
            ("i2", Status.FAILED, None, "reply to another unit"),
        ]
        assert study.raters() == [RaterRef("chat", Kind.MODEL, study.raters()[0].version, CONFIG)]
        rating = next(iter(study.ratings()))
        stored = study.store.replies.get(rating.reply or "")
        assert stored is not None
        assert stored.reply.text == rows[0]["reply"]
    assert (tally.units, tally.failures) == (3, {"not JSON": 1, "reply to another unit": 1})


def test_replies_in_the_wrong_rows_are_recognised_by_their_codes(tmp_path: Path):
    with halo_study(tmp_path, 6) as study:
        write_prompts(study.store, tmp_path / "prompts.jsonl", RaterOptions())
        rows = filled(lines(tmp_path / "prompts.jsonl"))
        replies = [row["reply"] for row in rows]
        shifted = [{**row, "reply": reply} for row, reply in zip(rows, [*replies[1:], replies[0]], strict=True)]
        tally = read_replies(study.store, written(tmp_path / "shifted.jsonl", shifted), "chat")
        assert tally.failures == {"reply to another unit": 6}
        output = [
            {"custom_id": row["id"], "response": {"status_code": 200, "body": completion(str(reply))}, "error": None}
            for row, reply in zip(rows, reversed(replies), strict=True)
        ]
        tally = read_replies(study.store, written(tmp_path / "output.jsonl", output), "queue")
        assert tally.failures == {"reply to another unit": 6}
        plain = [{**row, "reply": '{"support": "SUPPORTED"}'} for row in rows]
        tally = read_replies(study.store, written(tmp_path / "plain.jsonl", plain), "window")
        assert tally.failures == {"no unit code": 6}


def test_a_reply_to_the_same_texts_under_another_version_of_the_protocol_is_not_one_to_these(tmp_path: Path):
    with halo_study(tmp_path, 2) as study:
        write_prompts(study.store, tmp_path / "before.jsonl", RaterOptions())
        before = filled(lines(tmp_path / "before.jsonl"))
        study.adopt(study.protocol.model_copy(update={"version": "2b", "instructions": "Read it twice."}))
        write_prompts(study.store, tmp_path / "after.jsonl", RaterOptions())
        rows = [
            {**row, "reply": old["reply"]} for row, old in zip(lines(tmp_path / "after.jsonl"), before, strict=True)
        ]
        tally = read_replies(study.store, written(tmp_path / "mixed.jsonl", rows), "chat")
    assert tally.failures == {"reply to another unit": 2}


def test_a_corrected_file_replaces_what_failed_and_repeats_nothing(tmp_path: Path):
    with halo_study(tmp_path, 2) as study:
        write_prompts(study.store, tmp_path / "prompts.jsonl", RaterOptions())
        rows = filled(lines(tmp_path / "prompts.jsonl"))
        broken = [rows[0], {**rows[1], "reply": "?"}]
        read_replies(study.store, written(tmp_path / "first.jsonl", broken), "chat")
        read_replies(study.store, written(tmp_path / "second.jsonl", rows), "chat")
        history = [(rating.unit, rating.status) for rating in study.store.ratings.all(history=True)]
    assert history == [("i0", Status.RATED), ("i1", Status.FAILED), ("i1", Status.RATED)]


def test_a_spreadsheet_is_as_good(tmp_path: Path):
    with halo_study(tmp_path, 2) as study:
        write_prompts(study.store, tmp_path / "prompts.xlsx", RaterOptions(shots=0))
        book = openpyxl.load_workbook(tmp_path / "prompts.xlsx")
        page = book.active
        assert page is not None
        assert [cell.value for cell in page[1]] == ["id", "item", "unit", "prompt", "reply"]
        page["E2"] = str(filled([{"prompt": page["D2"].value}])[0]["reply"])
        book.save(tmp_path / "prompts.xlsx")
        book.close()
        assert read_replies(study.store, tmp_path / "prompts.xlsx", "chat").units == 1


def test_a_batch_file_asks_what_a_call_would_and_its_output_is_read(tmp_path: Path):
    with halo_study(tmp_path, 4) as study:
        assert write_batch(study.store, tmp_path / "batch.jsonl", "gpt-x", RaterOptions(max_tokens=300)) == 4
        rows = lines(tmp_path / "batch.jsonl")
        body = cast("dict[str, Any]", rows[0]["body"])
        assert (rows[0]["method"], rows[0]["url"]) == ("POST", "/v1/chat/completions")
        assert (body["model"], body["max_completion_tokens"], len(body["messages"])) == ("gpt-x", 300, 2)
        jsonschema.validate(json.loads(GOOD), body["response_format"]["json_schema"]["schema"])
        ids = [row["custom_id"] for row in rows]
        good = with_codes(GOOD.encode(), codes_in(body["messages"][1]["content"])).decode()
        output: list[dict[str, object]] = [
            {
                "id": "b1",
                "custom_id": ids[0],
                "response": {"status_code": 200, "body": completion(good)},
                "error": None,
            },
            {"id": "b2", "custom_id": ids[1], "response": {"status_code": 429, "body": {"error": "x"}}, "error": None},
            {"id": "b3", "custom_id": ids[2], "response": None, "error": {"code": "batch_expired", "message": "late"}},
            {
                "id": "b4",
                "custom_id": ids[3],
                "response": {"status_code": 200, "body": completion(None, refusal="No.")},
                "error": None,
            },
        ]
        tally = read_replies(study.store, written(tmp_path / "out.jsonl", output), "gpt-x")
        ratings = {rating.unit: (rating.status, rating.reason) for rating in study.ratings()}
    assert ratings == {
        "i0": (Status.RATED, None),
        "i1": (Status.FAILED, "request refused (429)"),
        "i2": (Status.FAILED, "the batch gave no reply"),
        "i3": (Status.FAILED, "refused"),
    }
    assert tally.failed_units == 3


def test_a_file_with_a_row_that_belongs_to_no_prompt_changes_nothing(tmp_path: Path):
    with halo_study(tmp_path, 3) as study:
        write_prompts(study.store, tmp_path / "prompts.jsonl", RaterOptions())
        rows = filled(lines(tmp_path / "prompts.jsonl"))
        changed = str(rows[1]["id"])[:-1] + ("0" if str(rows[1]["id"])[-1] != "0" else "1")
        bad = [rows[0], {**rows[1], "id": "mine"}, {**rows[1], "id": changed}, rows[0]]
        with pytest.raises(InputError) as refused:
            read_replies(study.store, written(tmp_path / "bad.jsonl", bad), "chat")
        assert [(problem.row, problem.what) for problem in refused.value.problems] == [
            (2, "'mine' is not the id of a prompt"),
            (3, "this prompt is not one of this study as it is now"),
            (4, "row 1 has a reply about the same"),
        ]
        assert (study.count_ratings(), study.raters()) == (0, [])
        with pytest.raises(InputError, match="there is no reply in it"):
            read_replies(study.store, tmp_path / "prompts.jsonl", "chat")
        with pytest.raises(InputError, match="the columns id and reply are needed"):
            read_replies(study.store, written(tmp_path / "other.jsonl", [{"a": 1}]), "chat")


def test_a_prompt_of_an_earlier_version_of_the_protocol_is_refused(tmp_path: Path):
    with halo_study(tmp_path, 1) as study:
        write_prompts(study.store, tmp_path / "prompts.jsonl", RaterOptions())
        rows = filled(lines(tmp_path / "prompts.jsonl"))
        study.adopt(study.protocol.model_copy(update={"version": "2", "instructions": "Read it twice."}))
        with pytest.raises(InputError, match="not one of this study as it is now"):
            read_replies(study.store, written(tmp_path / "filled.jsonl", rows), "chat")


def test_replies_are_not_mixed_with_what_a_judge_said_under_the_same_name(tmp_path: Path):
    with ChatServer(supported()) as server, halo_study(tmp_path, 2) as study:
        judge(study.store, [judge_at(server.url, name="m")])
        write_prompts(study.store, tmp_path / "prompts.jsonl", RaterOptions())
        rows = filled(lines(tmp_path / "prompts.jsonl"))
        file = written(tmp_path / "filled.jsonl", rows)
        with pytest.raises(UserError, match="'m' has rated here with other settings"):
            read_replies(study.store, file, "m")
        read_replies(study.store, file, "chat")
        with pytest.raises(UserError, match="'chat' has rated here with other settings"):
            judge(study.store, [judge_at(server.url, name="chat")])
        with pytest.raises(UserError, match="an empty text is not a rater's id"):
            read_replies(study.store, file, " ")


def test_a_person_cannot_have_replies(tmp_path: Path):
    with halo_study(tmp_path, 1) as study:
        study.store.ratings.add([], raters=[RaterRef("ann", Kind.PERSON)])
        write_prompts(study.store, tmp_path / "prompts.jsonl", RaterOptions())
        with pytest.raises(UserError, match="'ann' is known here as a person"):
            read_replies(study.store, tmp_path / "prompts.jsonl", "ann")


def test_sentences_are_asked_about_together_or_one_by_one_and_a_limit_tears_none_apart(tmp_path: Path):
    fields = {"question": "Q?", "article": "A.", "response": "One is. Two is. Three is."}
    items = [Item("x", fields), Item("y", fields)]
    with Study.create(tmp_path / "study.db", "stem-accuracy", items) as study:
        assert write_prompts(study.store, tmp_path / "together.jsonl", RaterOptions()) == 2
        assert [row["unit"] for row in lines(tmp_path / "together.jsonl")] == ["1, 2, 3", "1, 2, 3"]
        assert write_prompts(study.store, tmp_path / "single.jsonl", RaterOptions(together=False), limit=4) == 4
        assert [row["unit"] for row in lines(tmp_path / "single.jsonl")] == ["1", "2", "3", "1"]
        assert write_prompts(study.store, tmp_path / "limited.jsonl", RaterOptions(), limit=1) == 1
        entry = {"accuracy": {"answer": "Accurate"}, "severity": {"answer": None}}
        reply = json.dumps({"sentences": [{"unit_code": code(number), **entry} for number in (1, 2, 3)]})
        rows = filled(lines(tmp_path / "limited.jsonl"), reply)
        assert read_replies(study.store, written(tmp_path / "filled.jsonl", rows), "chat").units == 3
