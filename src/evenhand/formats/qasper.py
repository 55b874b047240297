"""Qasper files → questions about scientific articles, each with the full text of its article.

Both forms in which the data set is published are read: JSON by paper id, and the rows of the Hugging Face version
(JSON Lines or JSON), in which a list of objects is an object of lists.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError

from evenhand.errors import InputError, Problems
from evenhand.formats.tables.table_files import open_table
from evenhand.protocol.problems import validation_problems
from evenhand.text import some_of

Selection = Literal["all", "without-gold", "answerable"]


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
    reasons = [(one, _why_not(one, only)) for one in questions]
    return [one for one, why in reasons if why is None], Counter(why for _, why in reasons if why)


def _why_not(one: QasperQuestion, only: Selection) -> str | None:
    gold, evidence = one.gold_answer is not None, one.has_evidence
    reasons = {
        "about an article without full text": not one.article,
        "marked unanswerable": one.unanswerable and only != "all",
        "with a gold answer": gold and only == "without-gold",
        "with evidence": evidence and only == "without-gold",
        "without a gold answer": not gold and only == "answerable",
        "without evidence": not evidence and only == "answerable",
    }
    return next((reason for reason, applies in reasons.items() if applies), None)


def _questions(path: Path, problems: Problems) -> Iterator[tuple[int, QasperQuestion]]:
    table = open_table(path)
    missing = [column for column in _Paper.model_fields if column not in table.columns]
    if missing:
        what = f"not a Qasper file: it has no {some_of(missing)}; its columns are {some_of(table.columns)}"
        raise InputError(str(path), what)
    places = {column: table.columns.index(column) for column in _Paper.model_fields}
    for row, cells in table.rows(problems):
        given = {name: cells[place] for name, place in places.items()}
        try:
            yield from ((row, one) for one in _Paper.model_validate(given).questions())
        except ValidationError as error:
            problems.extend(replace(one, row=row) for one in validation_problems(error, _Paper, given))


def _rows(value: object) -> object:
    """A list of objects, which may be written as an object of lists, one for each key."""
    if not isinstance(value, Mapping):
        return value
    columns = {key: column for key, column in cast("Mapping[str, object]", value).items() if column is not None}
    lists = [cast("list[object]", column) for column in columns.values() if isinstance(column, list)]
    if len(lists) < len(columns) or len({len(column) for column in lists}) > 1:
        raise ValueError("lists of the same length are needed, one for each key")
    return [dict(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]


_Text = Annotated[str, StringConstraints(strip_whitespace=True)] | None
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Texts = list[_Text] | None


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Answer(_Part):
    """An annotator's answer: in words, by extracts, or yes or no, if at all."""

    unanswerable: bool | None = None
    yes_no: bool | None = None
    free_form_answer: _Text = None
    extractive_spans: _Texts = None
    evidence: _Texts = None
    highlighted_evidence: _Texts = None

    @property
    def gold(self) -> str:
        yes_no = {True: "Yes", False: "No", None: ""}[self.yes_no]
        return self.free_form_answer or ", ".join(filter(None, self.extractive_spans or ())) or yes_no

    @property
    def has_evidence(self) -> bool:
        return any((*(self.evidence or ()), *(self.highlighted_evidence or ())))


class _Annotation(_Part):
    answer: _Answer


class _Asked(_Part):
    question_id: _Name
    question: _Name
    answers: Annotated[list[_Annotation], BeforeValidator(_rows)]


class _Section(_Part):
    section_name: _Text = None
    paragraphs: _Texts = None


class _Paper(_Part):
    id: _Name
    title: _Text
    abstract: _Text
    full_text: Annotated[list[_Section], BeforeValidator(_rows)]
    qas: Annotated[list[_Asked], BeforeValidator(_rows)]

    def questions(self) -> Iterator[QasperQuestion]:
        article = self._text()
        for one in self.qas:
            answers = [annotation.answer for annotation in one.answers]
            gold = "\n\n".join(dict.fromkeys(answer.gold for answer in answers if answer.gold)) or None
            evidence = any(answer.has_evidence for answer in answers)
            unanswerable = any(answer.unanswerable for answer in answers)
            yield QasperQuestion(one.question_id, one.question, article, self.id, gold, evidence, unanswerable)

    def _text(self) -> str:
        """Title, abstract and all sections, each with its name above it; empty if there are no sections."""
        parts = [part for one in self.full_text for part in (one.section_name, *(one.paragraphs or ()))]
        return "\n\n".join(filter(None, (self.title, self.abstract, *parts))) if any(parts) else ""
