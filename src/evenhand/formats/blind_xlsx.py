"""The workbook one rater fills in: drop-downs, wrapped text, a header that stays in view, the guideline beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import Cell, WriteOnlyCell
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

from evenhand.formats.header import letters
from evenhand.formats.spreadsheet import GUIDELINE
from evenhand.formats.writing import Sheet, new_workbook, xlsx_cell, xlsx_text
from evenhand.scales import Nominal, Ordinal, Percent, Scale

PIECE = 30_000
"""A cell of a workbook holds 32,767 characters. A longer text goes on in the next column, whole words together."""

RATINGS, LISTS = "Ratings", "Lists"
WRAPPED = Alignment(wrap_text=True, vertical="top")
READ, FILLED_IN = PatternFill("solid", fgColor="E7E6E6"), PatternFill("solid", fgColor="FFF2CC")
ROW_HEIGHT = 120
HIGHEST_ROW = 409
"""In points; Excel has no higher ones."""


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """A column the rater fills in; without a scale, with any text."""

    name: str
    title: str
    prompt: str
    scale: Scale | None = None


def write_blind_xlsx(
    path: Path, given: Sheet, answers: Sequence[AnswerColumn], guideline: Sequence[Sequence[str]], target: str
) -> int:
    """Write the workbook and say how many rows are to be filled in. The last given column stands behind the answers."""
    columns, rows = _spread(given)
    with new_workbook(path) as book:
        lists = _add_ratings(book, columns, rows, answers, target)
        _add_guideline(book, guideline, target)
        if lists:
            _add_lists(book, lists, target)
    return len(rows)


def _add_ratings(
    book: Workbook,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    answers: Sequence[AnswerColumn],
    target: str,
) -> Sequence[Sequence[str]]:
    """The sheet to fill in. Returns the lists of choices that its rules look up on another sheet."""
    page: Any = book.create_sheet(RATINGS)
    lists: list[Sequence[str]] = []
    read, last = columns[:-1], columns[-1:]
    _lay_out(page, read, answers)
    for place, answer in enumerate(answers, start=len(read) + 1):
        if rows:
            page.data_validations.append(_validation(answer, letters(place), len(rows), lists))
    names = [answer.name for answer in answers]
    page.append([*_header(page, read, READ), *_header(page, names, FILLED_IN), *_header(page, last, READ)])
    for number, row in enumerate(rows, start=2):
        cells = [xlsx_cell(page, cell, target, number, place) for place, cell in enumerate(row, start=1)]
        page.append([_wrapped(page, cell) for cell in (*cells[:-1], *(None for _ in answers), *cells[-1:])])
    return lists


def _spread(given: Sheet) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
    """Columns and rows in which no text is too long for a cell: what does not fit goes on in columns of its own."""
    split = [[_pieces(cell) for cell in row] for row in given.rows]
    widths = [max((len(row[place]) for row in split), default=1) for place in range(len(given.columns))]
    columns = [
        name if piece == 0 else f"{name} ({piece + 1})"
        for name, width in zip(given.columns, widths, strict=True)
        for piece in range(width)
    ]
    rows = [
        [cell for pieces, width in zip(row, widths, strict=True) for cell in (*pieces, *[None] * (width - len(pieces)))]
        for row in split
    ]
    return columns, rows


def _pieces(cell: object) -> Sequence[object]:
    if not isinstance(cell, str) or len(cell) <= PIECE:
        return (cell,)
    pieces: list[str] = []
    while len(cell) > PIECE:
        end = max(cell.rfind(" ", PIECE - 500, PIECE), cell.rfind("\n", PIECE - 500, PIECE)) + 1 or PIECE
        pieces.append(cell[:end])
        cell = cell[end:]
    return (*pieces, cell) if cell else pieces


def _lay_out(page: Any, columns: Sequence[str], answers: Sequence[AnswerColumn]) -> None:
    page.freeze_panes = "B2"
    page.sheet_format.defaultRowHeight = ROW_HEIGHT
    page.sheet_format.customHeight = True
    page.row_dimensions[1].height = 30
    for place, name in enumerate(columns, start=1):
        page.column_dimensions[letters(place)].width = {"item": 16, "unit": 7}.get(name, 48)
    for place, answer in enumerate(answers, start=len(columns) + 1):
        closed = isinstance(answer.scale, Ordinal | Nominal | Percent)
        page.column_dimensions[letters(place)].width = max(18, len(answer.name) + 4) if closed else 36


def _header(page: Any, names: Sequence[str], fill: PatternFill) -> Iterator[Any]:
    for place, name in enumerate(names, start=1):
        cell = xlsx_cell(page, name, RATINGS, 1, place)
        cell.font, cell.fill, cell.alignment = Font(bold=True), fill, WRAPPED
        yield cell


def _wrapped(page: Any, cell: Any) -> Any:
    made = cell if isinstance(cell, Cell) else WriteOnlyCell(page, cell)
    made.alignment = WRAPPED
    return made


def _validation(answer: AnswerColumn, column: str, rows: int, lists: list[Sequence[str]]) -> DataValidation:
    """What may be entered in a column, and what is shown when one of its cells is chosen."""
    cells = f"{column}2:{column}{rows + 1}"
    scale = answer.scale
    rule: dict[str, Any] = {"type": None}
    if isinstance(scale, Ordinal | Nominal):
        rule = {"type": "list", "formula1": _choices([str(value) for value in scale.values], lists)}
    elif isinstance(scale, Percent):
        rule = {"type": "decimal", "operator": "between", "formula1": "0", "formula2": "100"}
    return DataValidation(
        **rule,
        allow_blank=True,
        showErrorMessage=True,
        errorStyle="stop",
        errorTitle=_cut(answer.title, 32),
        error=_cut(f"Enter {scale.describe()}, or leave the cell empty.", 225) if scale else None,
        showInputMessage=True,
        promptTitle=_cut(answer.title, 32),
        prompt=_cut(_with_levels(answer), 255),
        sqref=cells,
    )


def _choices(values: Sequence[str], lists: list[Sequence[str]]) -> str:
    """A list within the rule where it is short and plain, else a range of a hidden sheet: a rule can hold no comma,
    quotation mark or control, and takes the spaces from both ends."""
    inline = ",".join(values)
    plain = all(value.isprintable() and value == value.strip() for value in values)
    if plain and len(inline) <= 250 and not any(sign in value for value in values for sign in ',"'):
        return f'"{inline}"'
    lists.append(values)
    column = letters(len(lists))
    return f"{LISTS}!${column}$1:${column}${len(values)}"


def _with_levels(answer: AnswerColumn) -> str:
    if not isinstance(answer.scale, Ordinal):
        return answer.prompt
    levels = ", ".join(f"{level} {anchor.label}" for level, anchor in answer.scale.levels.items())
    return f"{answer.prompt}\n{levels}"


def _cut(text: str, most: int) -> str:
    text = xlsx_text(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def _add_guideline(book: Workbook, rows: Sequence[Sequence[str]], target: str) -> None:
    """Headings and names stand in the first column, everything that is read at length in the second."""
    page: Any = book.create_sheet(GUIDELINE)
    page.column_dimensions["A"].width = 34
    page.column_dimensions["B"].width = 110
    for number, row in enumerate(rows, start=1):
        heading = len(row) == 1 and (number == 1 or not rows[number - 2])
        texts = (None, *row) if len(row) == 1 and not heading else row
        # Programs without our fonts measure wrapped lines wrongly and let rows overlap; a generous height of our own
        # reads well everywhere.
        lines = max((_lines(text) for text in texts if text and not heading), default=1)
        page.row_dimensions[number].height = min(15 * lines, HIGHEST_ROW)
        cells = [xlsx_cell(page, text, target, number, place) for place, text in enumerate(texts, start=1)]
        for cell in filter(None, cells):
            cell.alignment = Alignment(wrap_text=not heading, vertical="top")
            cell.font = Font(bold=heading)
        page.append(cells)


def _lines(text: str) -> int:
    return sum(1 + len(line) // 95 for line in text.split("\n"))


def _add_lists(book: Workbook, lists: Sequence[Sequence[str]], target: str) -> None:
    page: Any = book.create_sheet(LISTS)
    page.sheet_state = "hidden"
    for number in range(max(map(len, lists))):
        row = [values[number] if number < len(values) else None for values in lists]
        page.append([xlsx_cell(page, value, target, number + 1, place) for place, value in enumerate(row, start=1)])
