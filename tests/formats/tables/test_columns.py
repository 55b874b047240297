"""Which column holds what."""

import pytest

from evenhand.errors import InputError, UserError
from evenhand.formats.tables.columns import ITEM_ID, WantedColumn, match_columns, parse_map

QUESTION = WantedColumn("question", ("query", "prompt"), required=True)
ANSWER = WantedColumn("generated_answer", ("answer", "response"), required=True)


def refusal(columns: list[str], wanted: list[WantedColumn], given: dict[str, str] | None = None) -> str:
    with pytest.raises(InputError) as caught:
        match_columns("a.csv", columns, wanted, given)
    return str(caught.value)


@pytest.mark.parametrize(
    "name", ["generated_answer", "Generated Answer", "generatedAnswer", "GENERATED-ANSWER", "answer"]
)
def test_spellings_and_aliases(name: str) -> None:
    assert match_columns("a.csv", ["x", name], [ANSWER]) == {"generated_answer": 1}


def test_the_exact_name_comes_before_a_spelling_and_a_spelling_before_an_alias() -> None:
    columns = ["answer", "Generated Answer", "generated_answer"]
    assert match_columns("a.csv", columns, [ANSWER]) == {"generated_answer": 2}
    assert match_columns("a.csv", columns[:2], [ANSWER]) == {"generated_answer": 1}


def test_a_column_under_its_own_name_is_no_alias_of_another() -> None:
    answer, other = WantedColumn("answer"), WantedColumn("generated", ("answer",))
    assert match_columns("a.csv", ["answer"], [other, answer]) == {"answer": 0}


def test_a_given_column_comes_first() -> None:
    columns = ["question", "Frage", "answer"]
    found = match_columns("a.csv", columns, [QUESTION, ANSWER], {"question": "Frage"})
    assert found == {"question": 1, "generated_answer": 2}


@pytest.mark.parametrize("name", ["id", "ID", "item", "item_id", "Sample ID"])
def test_the_id(name: str) -> None:
    assert match_columns("a.csv", ["x", name], [ITEM_ID]) == {"id": 1}


def test_every_problem_is_reported_at_once() -> None:
    message = refusal(["Frage", "antwort"], [QUESTION, ANSWER], {"questoin": "Frage", "generated_answer": "Antwrt"})
    assert "there is nothing called 'questoin' to map a column to (did you mean 'question'?)" in message
    assert "valid are question, generated_answer" in message
    assert "there is no column 'Antwrt' (did you mean 'antwort'?); the file has: Frage, antwort" in message
    assert "asked for by --map generated_answer=Antwrt" in message
    assert "the column 'question' is missing, also read under the names query, prompt" in message
    assert "name it with --map question=COLUMN" in message


def test_a_missing_column_names_what_was_perhaps_meant() -> None:
    assert "'question' is missing (did you mean 'qestion'?)" in refusal(["qestion"], [QUESTION])


def test_two_columns_for_one_thing() -> None:
    message = refusal(["question", "answer", "response"], [QUESTION, ANSWER])
    assert "the columns 'answer' and 'response' could each be 'generated_answer'" in message
    assert "say which with --map generated_answer=COLUMN" in message
    assert "missing" not in message


def test_two_columns_for_the_id_are_settled_by_its_own_option() -> None:
    assert "say which with --id COLUMN" in refusal(["item_id", "sample_id"], [ITEM_ID])


def test_one_column_for_two_things() -> None:
    given = {"question": "text", "generated_answer": "text"}
    assert match_columns("a.csv", ["text"], [QUESTION, ANSWER], given) == {"question": 0, "generated_answer": 0}
    both = refusal(["text"], [WantedColumn("a", ("text",)), WantedColumn("b", ("Text",))])
    assert "the column could be 'a' or 'b'" in both
    assert "--map a=COLUMN or --map b=COLUMN" in both


def test_the_map_option() -> None:
    assert parse_map(["question=Frage", "answer = a=b"]) == {"question": "Frage", "answer": "a=b"}


@pytest.mark.parametrize("option", ["question", "=Frage", "question="])
def test_a_malformed_map_option(option: str) -> None:
    with pytest.raises(UserError, match="write it as name=column"):
        parse_map([option])


def test_a_name_mapped_twice() -> None:
    with pytest.raises(UserError, match="question is already mapped to the column 'a'"):
        parse_map(["question=a", "question=b"])
