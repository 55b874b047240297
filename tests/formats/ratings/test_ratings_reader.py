"""Rating files → ratings: both shapes, every check."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from evenhand.errors import InputError, UserError
from evenhand.formats.items import content_id
from evenhand.formats.ratings.ratings_reader import RatingsFile
from evenhand.formats.tables.table_files import open_table
from evenhand.protocol.model import Protocol
from evenhand.records import Kind, RaterRef, Rating, Span, Status, Unit
from tests.formats.formats_protocols import GRADES, SENTENCES, SUPPORT, Study, imported, item_units, sentence_units

Write = Callable[[str], Path]
Units = Mapping[str, Sequence[Unit]]

ITEMS = item_units("s1", "s2", "s3")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(text: str) -> Path:
        path = tmp_path / "ratings.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return make


def told(ratings: Sequence[Rating]) -> list[tuple[str, str, str, object]]:
    return [
        (rating.unit, rating.criterion, rating.rater, rating.value if rating.value is not None else str(rating.status))
        for rating in ratings
    ]


def refusal(path: Path, protocol: Protocol, units: Units, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        imported(path, protocol, units, **options)
    return str(caught.value)


# Wide


def test_the_csv_of_the_support_guide_brings_the_person_and_the_model(write: Write) -> None:
    path = write(
        "id,question,context,generated_answer,gold_answer,auto_label,human_label,notes\n"
        "s1,q,c,a,g,SUPPORTED,supported,fine\n"
        "s2,q,c,a,g,no_evidence,No Evidence ,\n"
        "s3,q,c,a,g,CONTRADICTED,,\n"
    )
    ratings, file = imported(path, SUPPORT, ITEMS, rater="ann")
    assert told(ratings) == [
        ("s1", "support", "ann", "SUPPORTED"),
        ("s1", "support", "auto", "SUPPORTED"),
        ("s2", "support", "ann", "NO EVIDENCE"),
        ("s2", "support", "auto", "NO EVIDENCE"),
        ("s3", "support", "auto", "CONTRADICTED"),
    ]
    assert [rating.notes for rating in ratings] == ["fine", None, None, None, None]
    assert {rating.digest for rating in ratings} == {SUPPORT.digest}
    assert file.raters == [RaterRef("ann", Kind.PERSON), RaterRef("auto", Kind.MODEL)]
    assert (file.summary.rows, file.summary.ratings, file.summary.blanks) == (3, {"ann": 2, "auto": 3}, 1)


def test_only_the_model_has_rated_so_no_rater_has_to_be_named(write: Write) -> None:
    ratings, file = imported(write("id,auto_label,human_label\ns1,SUPPORTED,\n"), SUPPORT, ITEMS)
    assert told(ratings) == [("s1", "support", "auto", "SUPPORTED")]
    assert file.raters == [RaterRef("auto", Kind.MODEL)]


def test_nobody_is_named(write: Write) -> None:
    message = refusal(write("id,support\ns1,SUPPORTED\ns2,SUPPORTED\n"), SUPPORT, ITEMS)
    assert 'row 2, column "support": no rater is named (name them with --rater ID' in message
    assert "problems" not in message


def test_a_file_without_any_item_of_the_study_is_one_problem(write: Write) -> None:
    path = write("id,support\n" + "".join(f"x{number},SUPPORTED\n" for number in range(15)))
    with pytest.raises(InputError) as caught:
        imported(path, SUPPORT, ITEMS, rater="ann")
    (problem,) = caught.value.problems
    assert problem.row is None
    assert "x0, x1, x2 … and 12 more" in problem.what


def test_an_unknown_item_among_known_ones_has_a_fix(write: Write) -> None:
    with pytest.raises(InputError) as caught:
        imported(write("id,support\ns1,SUPPORTED\nx1,SUPPORTED\n"), SUPPORT, ITEMS, rater="ann")
    assert [(problem.row, bool(problem.fix)) for problem in caught.value.problems] == [(3, True)]


@pytest.mark.parametrize("cell", ["4", "4.0", "Good", "good", "4 - Good", "4 (Good)"])
def test_spellings_of_a_level(write: Write, cell: str) -> None:
    ratings, _ = imported(write(f"id,clarity\ns1,{cell}\n"), GRADES, ITEMS, rater="ann")
    assert told(ratings) == [("s1", "clarity", "ann", 4)]


def test_all_bad_cells_are_reported_by_row_and_column(write: Write) -> None:
    path = write(
        "id,clarity,tone,confidence,overall\ns1,6,4,101,5\ns2,4,good enough,90,5\nnobody,4,4,90,5\n,4,4,90,5\ns3,,,,\n"
    )
    message = refusal(path, GRADES, ITEMS, rater="ann")
    assert "5 problems" in message
    assert "row 2, column \"clarity\": '6' is not a whole number from 1 to 5" in message
    assert "row 2, column \"confidence\": '101' is not a number from 0 to 100" in message
    assert "row 3, column \"tone\": 'good enough' is not a whole number from 1 to 5" in message
    assert "row 4, column \"id\": the study has no item 'nobody'" in message
    assert 'row 5, column "id": empty, but a rating is about an item' in message


def test_a_label_that_is_not_in_the_scale(write: Write) -> None:
    message = refusal(write("id,human_label\ns1,MAYBE\n"), SUPPORT, ITEMS, rater="ann")
    assert "row 2, column \"human_label\": 'MAYBE' is not one of SUPPORTED, CONTRADICTED, NO EVIDENCE" in message


def test_rationales_confidence_and_notes(write: Write) -> None:
    path = write(
        "item,clarity,clarity_rationale,tone,overall,overall_rationale,improvements,confidence,notes\n"
        "s1,4,plain words,3,5,all well,More examples,90%,late at night\n"
    )
    ratings, file = imported(path, GRADES, ITEMS, rater="ann")
    assert [(r.criterion, r.rationale, r.confidence, r.notes) for r in ratings] == [
        ("clarity", "plain words", None, None),
        ("tone", None, None, None),
        ("overall", "all well", 90.0, "late at night"),
        ("improvements", None, None, None),
    ]
    assert (file.summary.without_rationale, file.summary.without_confidence) == (1, 0)


def test_without_the_leading_rating_the_first_one_carries_confidence_and_notes(write: Write) -> None:
    ratings, file = imported(write("item,tone,overall,notes\ns1,3,,n\ns2,,,lost\n"), GRADES, ITEMS, rater="ann")
    assert [(r.criterion, r.notes) for r in ratings] == [("tone", "n")]
    assert (file.summary.left_out, file.summary.blanks) == (1, 3)
    assert file.summary.without_column == ("clarity", "improvements")


def test_an_item_field_called_criterion_does_not_make_a_file_long(write: Write) -> None:
    ratings, _ = imported(write("item,feedback,criterion,clarity\ns1,f,depth,4\n"), GRADES, ITEMS, rater="ann")
    assert told(ratings) == [("s1", "clarity", "ann", 4)]


def test_mapped_columns(write: Write) -> None:
    path = write("nr,Klarheit\ns1,4\n")
    ratings, _ = imported(path, GRADES, ITEMS, rater="ann", id_column="nr", columns={"clarity": "Klarheit"})
    assert told(ratings) == [("s1", "clarity", "ann", 4)]


def test_an_unknown_thing_to_map(write: Write) -> None:
    message = refusal(write("id,Klarheit\ns1,4\n"), GRADES, ITEMS, rater="ann", columns={"clairty": "Klarheit"})
    assert "nothing called 'clairty' to map a column to (did you mean 'clarity'?)" in message


def test_no_column_with_ratings(write: Write) -> None:
    message = refusal(write("id,colour\ns1,red\n"), SUPPORT, ITEMS, rater="ann")
    assert "no column holds ratings; the file has: id, colour" in message
    assert "support or human_label" in message
    assert "--map support=COLUMN" in message


def test_no_column_with_ids(write: Write) -> None:
    message = refusal(write("nr,support\n1,SUPPORTED\n"), SUPPORT, ITEMS, rater="ann")
    assert "no column says which item a row is about; the file has: nr, support" in message
    assert "--id COLUMN" in message
    assert "question, context, answer" in message


def test_ids_are_made_from_the_content_as_when_the_items_were_read(write: Write) -> None:
    made = content_id({"question": "q", "context": ("c", "d"), "answer": "-a"})
    path = write("query,context,answer,support\nq,c|||d,-a,SUPPORTED\nq,c|||d,-a,NO EVIDENCE\n")
    ratings, _ = imported(path, SUPPORT, item_units(made, f"{made}-2"), rater="ann")
    assert told(ratings) == [(made, "support", "ann", "SUPPORTED"), (f"{made}-2", "support", "ann", "NO EVIDENCE")]


def test_an_item_given_twice(write: Write) -> None:
    message = refusal(write("id,support\ns1,SUPPORTED\ns2,SUPPORTED\ns1,SUPPORTED\n"), SUPPORT, ITEMS, rater="ann")
    assert "row 4, column \"support\": 'ann' has rated support of item 's1' already in row 2" in message


def test_the_named_rater_must_not_be_the_model_of_a_column(write: Write) -> None:
    path = write("id,support,auto_label\ns1,SUPPORTED,SUPPORTED\n")
    assert "'auto' has rated support of item 's1' already" in refusal(
        path, SUPPORT, ITEMS, rater="auto", kind=Kind.MODEL
    )


def test_a_wide_file_with_a_column_of_raters(write: Write) -> None:
    ratings, file = imported(write("id,annotator,support\ns1,ann,SUPPORTED\ns1,bob,NO EVIDENCE\n"), SUPPORT, ITEMS)
    assert told(ratings) == [("s1", "support", "ann", "SUPPORTED"), ("s1", "support", "bob", "NO EVIDENCE")]
    assert [rater.id for rater in file.raters] == ["ann", "bob"]


def test_a_bad_rater_of_a_row_with_several_ratings_is_one_problem(write: Write) -> None:
    with pytest.raises(InputError) as caught:
        imported(write("id,annotator,tone,overall\ns1,bob,3,4\ns2,bob,3,4\n"), GRADES, ITEMS, rater="ann")
    assert [(problem.row, problem.column) for problem in caught.value.problems] == [(2, "annotator"), (3, "annotator")]


def test_cells_made_safe_are_taken_back_in_spreadsheets_only(tmp_path: Path, write: Write) -> None:
    csv = write("id,clarity,clarity_rationale\n'-1,4,'=1+1\n")
    ratings, _ = imported(csv, GRADES, item_units("-1"), rater="ann")
    assert (ratings[0].unit, ratings[0].rationale) == ("-1", "=1+1")
    lines = tmp_path / "ratings.jsonl"
    lines.write_text('{"id": "-1", "clarity": 4, "clarity_rationale": "\'=1+1"}\n')
    assert imported(lines, GRADES, item_units("-1"), rater="ann")[0][0].rationale == "'=1+1"


def test_a_workbook_with_numbers_and_a_date(tmp_path: Path) -> None:
    book = Workbook()
    page = book.active
    assert page is not None
    for row in (["id", "clarity", "improvements"], [1, 4.0, 2.0], [2, datetime(2026, 3, 4), None]):
        page.append(row)
    book.save(tmp_path / "ratings.xlsx")
    message = refusal(tmp_path / "ratings.xlsx", GRADES, item_units("1", "2"), rater="ann")
    assert "row 3, column \"clarity\": '2026-03-04' is not a whole number from 1 to 5" in message
    assert "has made a date of it" in message
    page["B3"] = 5
    page["B3"].number_format = "General"
    book.save(tmp_path / "ratings.xlsx")
    ratings, _ = imported(tmp_path / "ratings.xlsx", GRADES, item_units("1", "2"), rater="ann")
    assert told(ratings) == [
        ("1", "clarity", "ann", 4),
        ("1", "improvements", "ann", "2"),
        ("2", "clarity", "ann", 5),
    ]


# Units and conditions

THREE = sentence_units("s1", "One.", "Two.", "Three.")


def test_units_by_position_and_conditions(write: Write) -> None:
    path = write(
        "item,unit,accuracy,severity,urgency\n"
        "s1,1,Accurate,,\n"
        "s1,2,Inaccurate,Severe,2\n"
        "s1,3.0,Inaccurate,Not severe,\n"
    )
    ratings, file = imported(path, SENTENCES, THREE, rater="ann")
    assert sorted(told(ratings)) == [
        ("s1#1", "accuracy", "ann", "Accurate"),
        ("s1#1", "severity", "ann", "not_asked"),
        ("s1#1", "urgency", "ann", "not_asked"),
        ("s1#2", "accuracy", "ann", "Inaccurate"),
        ("s1#2", "severity", "ann", "Severe"),
        ("s1#2", "urgency", "ann", 2),
        ("s1#3", "accuracy", "ann", "Inaccurate"),
        ("s1#3", "severity", "ann", "Not severe"),
        ("s1#3", "urgency", "ann", "not_asked"),
    ]
    assert (file.summary.not_asked, file.summary.blanks, file.summary.ratings) == (3, 0, {"ann": 6})


def test_a_blank_that_was_asked_is_counted(write: Write) -> None:
    path = write("item,unit,accuracy,severity\ns1,1,Inaccurate,\ns1,2,,\n")
    ratings, file = imported(path, SENTENCES, THREE, rater="ann")
    assert told(ratings) == [("s1#1", "accuracy", "ann", "Inaccurate")]
    assert (file.summary.not_asked, file.summary.blanks) == (0, 3)


def test_a_value_where_the_condition_is_false(write: Write) -> None:
    message = refusal(write("item,unit,accuracy,severity\ns1,1,Accurate,Severe\n"), SENTENCES, THREE, rater="ann")
    assert (
        'row 2, column "severity": severity is asked only when accuracy is Inaccurate; here it is Accurate '
        "(leave severity empty, or correct accuracy)" in message
    )


def test_a_value_whose_condition_is_not_in_the_file(write: Write) -> None:
    message = refusal(write("item,unit,severity\ns1,1,Severe\n"), SENTENCES, THREE, rater="ann")
    assert "severity is asked only when accuracy is Inaccurate; the file has no value for it" in message


@pytest.mark.parametrize("position", ["0", "4", "1.5", "first", "nan"])
def test_an_unknown_position(write: Write, position: str) -> None:
    message = refusal(write(f"item,unit,accuracy\ns1,{position},Accurate\n"), SENTENCES, THREE, rater="ann")
    assert f"row 2, column \"unit\": item 's1': there is no sentence '{position}'; valid is from 1 to 3" in message


def test_a_position_is_needed_where_there_are_several(write: Write) -> None:
    path = write("item,accuracy\ns1,Accurate\n")
    assert "item 's1': which sentence? a column unit has its position, from 1 to 3" in refusal(
        path, SENTENCES, THREE, rater="ann"
    )
    assert told(imported(path, SENTENCES, sentence_units("s1", "One."), rater="ann")[0])[0][0] == "s1#1"


def test_an_item_without_units(write: Write) -> None:
    message = refusal(write("item,unit,accuracy\ns1,1,Accurate\n"), SENTENCES, {"s1": []}, rater="ann")
    assert "item 's1': it has no sentence to rate" in message


# Long


def test_a_long_file_with_several_raters(write: Write) -> None:
    path = write(
        "rater,kind,item,criterion,value,rationale,confidence,status,reason,evidence,seconds,visible,at\n"
        'ann,person,s1,clarity,4,why,80,,,"[[""feedback"", 0, 4]]",12.5,"[""bot""]",2026-01-31T10:30:00+01:00\n'
        "bot,model,s1,clarity,5.0,,,rated,,,,,\n"
        "bot,model,s1,tone,,,,failed,timed out,,,,\n"
        "ann,person,s1,tone,,,,Cannot assess,,,,,\n"
        "ann,person,s2,tone,,,,,,,,,\n"
    )
    ratings, file = imported(path, GRADES, ITEMS)
    assert told(ratings) == [
        ("s1", "clarity", "ann", 4),
        ("s1", "clarity", "bot", 5),
        ("s1", "tone", "bot", "failed"),
        ("s1", "tone", "ann", "cannot_assess"),
    ]
    first = ratings[0]
    assert (first.rationale, first.confidence, first.seconds) == ("why", 80.0, 12.5)
    assert (first.evidence, first.visible) == ((Span("feedback", 0, 4),), ("bot",))
    assert first.at == datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
    assert ratings[2].reason == "timed out"
    assert file.raters == [RaterRef("ann", Kind.PERSON), RaterRef("bot", Kind.MODEL)]
    assert (file.summary.blanks, file.summary.ratings) == (1, {"ann": 2, "bot": 2})


def test_every_problem_of_a_long_file(write: Write) -> None:
    path = write(
        "rater,item,unit,criterion,value,status,confidence,evidence,seconds,at,kind\n"
        "ann,s1,1,clartiy,4,,,,,,\n"
        "ann,s1,1,clarity,4,skipped,,,,,\n"
        "ann,s1,1,clarity,,rated,,,,,\n"
        "ann,s1,1,clarity,,failed,,,,,\n"
        "ann,s1,1,clarity,4,unsure,,,,,\n"
        'ann,s1,1,clarity,4,,lots,"[[""nofield"",0,1]]",-1,yesterday,\n'
        "ann,s1,2,clarity,4,,,,,,\n"
        "ann,s1,1,clarity,4,,,,,,robot\n"
        "ann,s1,1,clarity,4,,,,,,model\n"
    )
    message = refusal(path, GRADES, ITEMS)
    for expected in (
        "row 2, column \"criterion\": there is no criterion 'clartiy' (did you mean 'clarity'?); there are: clarity,",
        "row 3, column \"value\": '4' is given with the status skipped",
        'row 4, column "value": empty, although the status is rated',
        'row 5, column "value": a failed rating says why, in a column reason',
        "row 6, column \"status\": 'unsure' is not one of rated, not_asked, skipped, cannot_assess, failed",
        "row 7, column \"confidence\": 'lots' is not a number from 0 to 100",
        "row 7, column \"evidence\": there is no field 'nofield'",
        "row 7, column \"seconds\": '-1' is not a number of seconds",
        "row 7, column \"at\": 'yesterday' is not a time",
        "row 8, column \"unit\": item 's1': there is no item '2'; valid is 1",
        "row 9, column \"kind\": 'robot' is not a kind of rater; valid are person, model, rule",
        "row 10, column \"kind\": the rater 'ann' is a model here and a person further up",
    ):
        assert expected in message


@pytest.mark.parametrize(
    ("criterion", "column", "cell", "what"),
    [
        ("clarity", "misquoted", "plain", "'plain' is not a list of texts; write it as [\"TEXT\", …]"),
        ("clarity", "misquoted", '["a", 1]', "is not a list of texts"),
        (
            "clarity",
            "distribution",
            "often 4",
            "'often 4' is not a list of values with their probabilities",
        ),
        (
            "clarity",
            "distribution",
            "[4, 5]",
            "is not a list of values with their probabilities",
        ),
        ("clarity", "distribution", "[[6, 1.0]]", "'6' is not a whole number from 1 to 5"),
        (
            "clarity",
            "distribution",
            "[[4, 1.5]]",
            "is not a list of values with their probabilities",
        ),
        (
            "clarity",
            "distribution",
            "[[4, NaN]]",
            "is not a list of values with their probabilities",
        ),
        (
            "clarity",
            "distribution",
            '[[4, "1"]]',
            "is not a list of values with their probabilities",
        ),
        ("clarity", "distribution", "[[4, 0.5], [4, 0.5]]", "the value 4 is there twice"),
        ("clarity", "distribution", "[[4, 0.5], [5, 0.4]]", "sum to 0.9, not to 1"),
        ("clarity", "mean", "5.1", "5.1 is not a number from 1 to 5"),
        ("clarity", "mean", "high", "'high' is not a number"),
        ("improvements", "mean", "3", "only numbers have a mean"),
    ],
)
def test_computed_parts_are_checked_cell_by_cell(
    tmp_path: Path, criterion: str, column: str, cell: str, what: str
) -> None:
    path = tmp_path / "ratings.jsonl"
    row = {"item": "s1", "criterion": criterion, "value": 4, "rater": "bot", "seconds": "long", column: cell}
    path.write_text(json.dumps(row), encoding="utf-8")
    message = refusal(path, GRADES, ITEMS)
    assert "2 problems" in message
    assert f'line 1, column "{column}": ' in message or f'row 1, column "{column}": ' in message
    assert what in message
    assert "'long' is not a number of seconds" in message


def test_computed_parts_may_come_as_lists_and_in_other_spellings(tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    row = {"item": "s1", "criterion": "clarity", "value": "Good", "rater": "bot", "mean": 4.25, "reply": "r1"}
    row |= {"distribution": [["Good", 0.75], ["5", 0.25]], "misquoted": ["gone"]}
    path.write_text(json.dumps(row), encoding="utf-8")
    [rating], _ = imported(path, GRADES, ITEMS)
    assert rating.distribution == ((4, 0.75), (5, 0.25))
    assert (rating.misquoted, rating.mean, rating.reply) == (("gone",), 4.25, "r1")


def test_a_long_file_may_have_a_unit_in_any_order(write: Write) -> None:
    path = write("rater,item,unit,criterion,value\nann,s1,1,severity,Severe\nann,s1,1,accuracy,Inaccurate\n")
    ratings, _ = imported(path, SENTENCES, THREE)
    assert told(ratings) == [("s1#1", "accuracy", "ann", "Inaccurate"), ("s1#1", "severity", "ann", "Severe")]


def test_not_asked_where_it_is_asked(write: Write) -> None:
    path = write(
        "rater,item,unit,criterion,value,status\nann,s1,1,accuracy,Inaccurate,\nann,s1,1,severity,,not_asked\n"
    )
    assert 'row 3, column "value": severity is asked here: accuracy is Inaccurate' in refusal(path, SENTENCES, THREE)


def test_a_long_file_of_one_rater(write: Write) -> None:
    path = write("item,criterion,value\ns1,support,SUPPORTED\n")
    ratings, file = imported(path, SUPPORT, ITEMS, rater="bot", kind=Kind.MODEL)
    assert told(ratings) == [("s1", "support", "bot", "SUPPORTED")]
    assert file.raters == [RaterRef("bot", Kind.MODEL)]


def test_a_named_rater_and_another_one_in_the_file(write: Write) -> None:
    path = write("rater,item,criterion,value\nann,s1,support,SUPPORTED\n")
    assert "the file names the rater 'ann' and --rater 'bob'; leave --rater out" in refusal(
        path, SUPPORT, ITEMS, rater="bob"
    )


def test_a_rater_of_another_kind(write: Write) -> None:
    path, known = write("id,support\ns1,SUPPORTED\n"), [RaterRef("bot", Kind.MODEL), RaterRef("rule", Kind.RULE)]
    # A sheet says nothing of its rater: under a model's name by mistake, it would replace the model's ratings.
    for kind in (None, Kind.PERSON):
        message = refusal(path, SUPPORT, ITEMS, rater="bot", kind=kind, known=known)
        assert "'bot' is a model in this study, not a person (use another --rater, or --kind model if these" in message
    message = refusal(path, SUPPORT, ITEMS, rater="rule", known=known)
    assert "'rule' is a rule in this study, not a person (use another --rater, or a column kind with rule" in message
    assert imported(path, SUPPORT, ITEMS, rater="bot", kind=Kind.MODEL, known=known)[1].raters == known[:1]


def test_a_rater_of_another_kind_in_a_long_file(write: Write) -> None:
    known = [RaterRef("bot", Kind.MODEL)]
    message = refusal(write("rater,item,criterion,value\nbot,s1,support,SUPPORTED\n"), SUPPORT, ITEMS, known=known)
    assert "not a person (use another id, or a column kind with model if these really are its ratings)" in message
    path = write("rater,kind,item,criterion,value\nbot,model,s1,support,SUPPORTED\n")
    assert imported(path, SUPPORT, ITEMS, known=known)[1].raters == known


def test_new_raters_with_ids_like_those_of_others(write: Write) -> None:
    raters = ("ann", "Ann", "Bob Ray", "bobray", "cem")
    path = write("rater,item,criterion,value\n" + "".join(f"{rater},s1,support,SUPPORTED\n" for rater in raters))
    known = [RaterRef("ann", Kind.PERSON), RaterRef("CEM", Kind.PERSON), RaterRef("cem", Kind.PERSON)]
    _, file = imported(path, SUPPORT, ITEMS, known=known)
    assert file.similar_raters() == {"Ann": ["ann"], "bobray": ["Bob Ray"]}


@pytest.mark.parametrize("rater", ["", " ", "a\nb", "x" * 201])
def test_an_impossible_rater(write: Write, rater: str) -> None:
    with pytest.raises(UserError, match="--rater: "):
        RatingsFile(open_table(write("id,support\ns1,SUPPORTED\n")), SUPPORT, rater=rater)


def test_a_long_file_without_items(write: Write) -> None:
    message = refusal(write("rater,criterion,value\nann,support,SUPPORTED\n"), SUPPORT, ITEMS)
    assert "the column 'item' is missing" in message
    assert "--id COLUMN" in message


def test_problems_of_the_file_and_of_its_cells_come_together(write: Write) -> None:
    message = refusal(write("id,support\ns1\ns2,MAYBE\n"), SUPPORT, ITEMS, rater="ann")
    assert "row 2: 1 cell where the header has 2" in message
    assert 'row 3, column "support"' in message


def test_no_rating_follows_a_problem(write: Write) -> None:
    path = write("id,support\ns1,SUPPORTED\ns2,MAYBE\ns3,SUPPORTED\n")
    file = RatingsFile(open_table(path), SUPPORT, rater="ann")
    seen: list[str] = []
    with pytest.raises(InputError):
        seen.extend(rating.unit for rating in file.ratings(Study(ITEMS).units_of, Study(ITEMS).items_of))
    assert seen == ["s1"]


def test_units_are_requested_in_batches(write: Write) -> None:
    ids = [f"s{number}" for number in range(2_500)]
    path = write("id,support\n" + "".join(f"{item_id},SUPPORTED\n" for item_id in ids))
    study = Study(item_units(*ids))
    file = RatingsFile(open_table(path), SUPPORT, rater="ann")
    assert sum(1 for _ in file.ratings(study.units_of, study.items_of)) == 2_500
    assert [len(batch) for batch in study.asked] == [1_000, 1_000, 500]


def test_a_status_is_kept(write: Write) -> None:
    path = write("rater,item,criterion,value,status\nann,s1,support,,skipped\n")
    ratings, _ = imported(path, SUPPORT, ITEMS)
    assert (ratings[0].status, ratings[0].value) == (Status.SKIPPED, None)


# A bad cell is reported once


def test_a_bad_cell_brings_no_second_error_about_what_depends_on_it(write: Write) -> None:
    off_scale = write("item,unit,accuracy,severity,urgency\ns1,1,Wrong,Severe,1\n")
    message = refusal(off_scale, SENTENCES, THREE, rater="ann")
    assert message.count("row 2") == 1
    assert "column \"accuracy\": 'Wrong' is not one of" in message
    confidence = write("item,unit,accuracy,severity,confidence\ns1,1,Inaccurate,Severe,110\n")
    message = refusal(confidence, SENTENCES, THREE, rater="ann")
    assert message.count("row 2") == 1
    assert "column \"confidence\": '110' is not a number" in message


def test_a_bad_cell_beside_a_bad_value_does_not_hide_it(write: Write) -> None:
    message = refusal(write("id,overall,confidence\ns1,9,110\n"), GRADES, ITEMS, rater="ann")
    assert "2 problems" in message
    assert "'9' is not a whole number from 1 to 5 (1 Bad, 2 Poor, 3 Fair, 4 Good, 5 Excellent)" in message


def test_a_long_file_whose_decisive_row_is_lost_blames_that_row_only(write: Write) -> None:
    path = write("rater,item,unit,criterion,value\nann,s9,1,accuracy,Inaccurate\nann,s1,1,severity,Severe\n")
    message = refusal(path, SENTENCES, THREE)
    assert "the study has no item 's9'" in message
    assert "problems" not in message


def test_a_real_contradiction_is_reported_with_other_problems(write: Write) -> None:
    path = write("item,unit,accuracy,severity\ns1,1,Accurate,Severe\ns1,2,Wrong,Severe\n")
    message = refusal(path, SENTENCES, THREE, rater="ann")
    assert "2 problems" in message
    assert (
        'row 2, column "severity": severity is asked only when accuracy is Inaccurate; here it is Accurate' in message
    )


def test_one_cause_in_many_rows_is_one_line(write: Write) -> None:
    ids = [f"s{n}" for n in range(10)]
    path = write("id,support\n" + "".join(f"{name},MAYBE\n" for name in ids))
    message = refusal(path, SUPPORT, item_units(*ids), rater="ann")
    assert message.endswith(
        "rows 2, 3, 4 and 7 more, column \"support\": 'MAYBE' is not one of SUPPORTED, CONTRADICTED, NO EVIDENCE"
    )


def test_a_level_as_the_guideline_shows_it(write: Write) -> None:
    ratings, _ = imported(write("id,clarity,tone\ns1,4 good,1  Bad\n"), GRADES, ITEMS, rater="ann")
    assert [rating.value for rating in ratings] == [4, 1]
    assert "'4 bad' is not a whole number" in refusal(write("id,clarity\ns1,4 bad\n"), GRADES, ITEMS, rater="ann")
