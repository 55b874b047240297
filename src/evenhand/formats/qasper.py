"""Qasper files → questions about scientific articles, each with the full text of its article.

Both forms in which the data set is published are read: JSON by paper id, and the rows of the Hugging Face version
(JSON Lines or JSON), in which a list of objects is an object of lists.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from evenhand.errors import InputError, Problems
from evenhand.formats.tables.table_files import open_table
from evenhand.text import some_of

COLUMNS = ("id", "title", "abstract", "full_text", "qas")

Selection = Literal["all", "without-gold", "answerable"]

_Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class QasperQuestion:
    """A question about an article, which is empty if the data has no text of it.

    `gold_answer` has the annotators' different answers, with empty lines between. `has_evidence`: an annotator marked
    evidence in the article. `unanswerable`: one said that it has no answer.
    """

    id: str
    question: str
    article: str
    article_id: str
    gold_answer: str | None
    has_evidence: bool
    unanswerable: bool


def read_qasper(paths: Sequence[Path]) -> Sequence[QasperQuestion]:
    """The questions in Qasper files, in order.

    Raises InputError with every problem of a file: a part that is missing or of another shape, a question whose id
    another one has.
    """
    found: dict[str, QasperQuestion] = {}
    for path in paths:
        problems = Problems(str(path))
        for row, question in _questions(path, problems):
            if found.setdefault(question.id, question) is not question:
                problems.add(f"the question {question.id!r} appears twice in what is read", row=row)
        problems.raise_if_any()
    return list(found.values())


def select_questions(
    questions: Iterable[QasperQuestion], only: Selection
) -> tuple[Sequence[QasperQuestion], Mapping[str, int]]:
    """The questions that are wanted, and how many are left out, by the first reason that applies.

    Those about an article without full text always are. `without-gold`: no annotator answered, marked evidence or
    called it unanswerable. `answerable`: annotators answered and marked evidence, and none called it unanswerable.
    """
    chosen: list[QasperQuestion] = []
    left_out: Counter[str] = Counter()
    for one in questions:
        gold, evidence = one.gold_answer is not None, one.has_evidence
        reasons = {
            "about an article without full text": not one.article,
            "marked unanswerable": one.unanswerable and only != "all",
            "with a gold answer": gold and only == "without-gold",
            "with evidence": evidence and only == "without-gold",
            "without a gold answer": not gold and only == "answerable",
            "without evidence": not evidence and only == "answerable",
        }
        why = next((reason for reason, applies in reasons.items() if applies), None)
        if why is None:
            chosen.append(one)
        else:
            left_out[why] += 1
    return chosen, left_out


def _questions(path: Path, problems: Problems) -> Iterator[tuple[int, QasperQuestion]]:
    table = open_table(path)
    missing = [column for column in COLUMNS if column not in table.columns]
    if missing:
        what = f"not a Qasper file: it has no {some_of(missing)}; its columns are {some_of(table.columns)}"
        raise InputError(str(path), what)
    places = [table.columns.index(column) for column in COLUMNS]
    for row, cells in table.rows(problems):
        paper: _Record = {name: cells[place] for name, place in zip(COLUMNS, places, strict=True)}
        try:
            if not (article_id := _text(paper["id"])):
                raise ValueError("a paper without an id")
            article = _article(paper)
            for entry in _records(paper["qas"], "qas"):
                yield row, _question(entry, article_id, article)
        except ValueError as error:
            problems.add(f"{paper['id']}: {error}", row=row)


def _article(paper: _Record) -> str:
    """Title, abstract and all sections, each with its name above it; empty if there are no sections."""
    sections = [
        "\n\n".join(filter(None, [_text(section.get("section_name")), *_texts(section.get("paragraphs"))]))
        for section in _records(paper["full_text"], "full_text")
    ]
    if not any(sections):
        return ""
    return "\n\n".join(filter(None, [_text(paper["title"]), _text(paper["abstract"]), *sections]))


def _question(entry: _Record, article_id: str, article: str) -> QasperQuestion:
    question_id, question = _text(entry.get("question_id")), _text(entry.get("question"))
    if not (question_id and question):
        raise ValueError("an entry of 'qas' lacks its 'question' or 'question_id'")
    answers = [_object(one.get("answer"), "answer") for one in _records(entry.get("answers"), "answers")]
    gold = dict.fromkeys(text for answer in answers if (text := _gold(answer)))
    evidence = [
        text for answer in answers for key in ("evidence", "highlighted_evidence") for text in _texts(answer.get(key))
    ]
    unanswerable = any(answer.get("unanswerable") is True for answer in answers)
    return QasperQuestion(
        question_id, question, article, article_id, "\n\n".join(gold) or None, bool(evidence), unanswerable
    )


def _gold(answer: _Record) -> str:
    """What an annotator answered: in words, by extracts, or yes or no; empty if not at all."""
    yes_no = {True: "Yes", False: "No"}.get(cast("bool", answer.get("yes_no")), "")
    return _text(answer.get("free_form_answer")) or ", ".join(_texts(answer.get("extractive_spans"))) or yes_no


def _records(value: object, name: str) -> Sequence[_Record]:
    """A list of objects, which may be written as an object of lists, one for each key."""
    if isinstance(value, Mapping):
        columns = {key: _list(column, name) for key, column in cast("_Record", value).items()}
        if len({len(column) for column in columns.values()}) > 1:
            raise ValueError(f"the lists in {name!r} differ in length")
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [_object(entry, name) for entry in _list(value, name)]


def _list(value: object, name: str) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name!r} is not a list")
    return cast("Sequence[object]", value)


def _object(value: object, name: str) -> _Record:
    if not isinstance(value, Mapping):
        raise ValueError(f"an entry of {name!r} is not an object")
    return cast("_Record", value)


def _text(value: object) -> str:
    if not isinstance(value, str | None):
        raise ValueError(f"{value!r} where a text is needed")
    return (value or "").strip()


def _texts(value: object) -> Sequence[str]:
    """The texts of a list that are not blank."""
    return [text for entry in _list(value or [], "a list of texts") if (text := _text(entry))]
