"""The spreadsheet that one rater fills in: what is to be rated, and empty columns for the ratings. It shows no one
else's ratings.

It is a CSV file, or a workbook with drop-downs, wrapped text, and the guideline on a second sheet. `ratings import`
reads both.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from evenhand.errors import UserError
from evenhand.formats.ratings.check_column import CHECK, unit_check
from evenhand.formats.ratings.layouts import rationale_column
from evenhand.formats.tables.cells import clean
from evenhand.formats.tables.table import Sheet, letters
from evenhand.formats.tables.table_files import write_table, writing
from evenhand.formats.tables.xlsx import GUIDELINE, XlsxCells, new_workbook, utf16_length
from evenhand.protocol.guideline import guideline_rows
from evenhand.protocol.model import Protocol, field_text
from evenhand.records import Item, Unit
from evenhand.scales import PERCENT, Nominal, Numeric, Ordinal, Scale

UNIT_TEXT = "unit_text"
"""The column with the sentence, question or claim that is rated, unless the unit is the whole item."""
UNIT_FIELD = "unit_field"
"""The column with the field that a claim comes from, if there are several such fields."""

RATINGS, LISTS = "Ratings", "Lists"
PIECE = 30_000
"""Characters of a text in one cell of a workbook, which holds 32,767. The rest continues in the next column."""

WRAPPED: Mapping[str, object] = {"text_wrap": True, "valign": "top"}
GREY, YELLOW = "#E7E6E6", "#FFF2CC"
"""The headers of columns to read and of columns to fill in."""

ROW_HEIGHT, HEADER_HEIGHT, LINE_HEIGHT = 120, 30, 15
HIGHEST_ROW = 409
"""All heights are in points; this is the highest row that Excel allows."""

LONGEST_TITLE, LONGEST_ERROR, LONGEST_PROMPT, LONGEST_LIST = 32, 225, 255, 250
"""UTF-16 code units that Excel allows in the parts of a validation rule; a list needs some for quotation marks."""

_UNFIT_FOR_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
"""What an XML attribute cannot hold, and what would be read as the notation for it."""

_UNFIT_FOR_RULE = re.compile(f'[,"]|{_UNFIT_FOR_XML.pattern}')
"""What a choice within a rule cannot hold."""


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """A column that the rater fills in; without a scale, with any text."""

    name: str
    title: str
    prompt: str
    scale: Scale | None = None


def filled_fields(protocol: Protocol, items: Iterable[Item]) -> Sequence[str]:
    """The shown fields, without the optional ones that no item has."""
    missing = {name for name in protocol.shown_fields if not protocol.item.fields[name].required}
    remaining = iter(items)
    while missing and (item := next(remaining, None)):
        missing.difference_update(item.fields)
    return [name for name in protocol.shown_fields if name not in missing]


def write_blind(
    path: str | Path,
    protocol: Protocol,
    work: Iterable[tuple[Item, Unit]],
    *,
    fields: Sequence[str] | None = None,
    overwrite: bool = False,
) -> int:
    """Write the sheet for one rater (`.csv`, `.tsv`, `.xlsx`), the units in the given order; return their number.

    `fields` are the fields to show, by default all that the protocol shows.
    """
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".tsv", ".xlsx"):
        raise UserError(f"{path}: a sheet to fill in ends in .xlsx, .csv or .tsv, not in {path.suffix!r}")
    sheet = blind_sheet(protocol, work, fields)
    if path.suffix.lower() != ".xlsx":
        return write_table(path, sheet, overwrite=overwrite)
    with writing(path, overwrite=overwrite) as temporary:
        return _write_workbook(temporary, protocol, sheet)


def blind_sheet(protocol: Protocol, work: Iterable[tuple[Item, Unit]], fields: Sequence[str] | None = None) -> Sheet:
    """The sheet as a plain table: what is given, empty cells for the answers, and the row's check."""
    fields = protocol.shown_fields if fields is None else fields
    answers = list(_answer_columns(protocol))
    by_item, several = protocol.rule.of == "item", len(protocol.rule.fields) > 1
    source = [UNIT_FIELD] if several else []
    given = ["item", *fields] if by_item else ["item", "unit", *fields, *source, UNIT_TEXT]
    columns = [*given, *(answer.name for answer in answers), CHECK]

    def row(item: Item, unit: Unit) -> Sequence[object]:
        texts = [field_text(item.fields[name]) if name in item.fields else None for name in fields]
        of = [protocol.titles[unit.field]] if several and unit.field else []
        cells = [item.id, *texts] if by_item else [item.id, unit.position, *texts, *of, unit.text]
        return [*cells, *(None for _ in answers), unit_check(protocol, item, unit)]

    return Sheet(columns, (row(item, unit) for item, unit in work), for_people=True)


def _answer_columns(protocol: Protocol) -> Iterator[AnswerColumn]:
    for criterion in protocol.criteria:
        about = f"for {protocol.rule.of}s of {protocol.titles[criterion.of]}" if criterion.of else ""
        only = " and ".join(filter(None, (about, f"if {criterion.when.describe()}" if criterion.when else "")))
        prompt = f"Only {only}: {criterion.question}" if only else criterion.question
        prompt += f"\n{criterion.scale.named_levels}" if isinstance(criterion.scale, Ordinal) else ""
        yield AnswerColumn(criterion.id, criterion.title, prompt, criterion.scale)
        if criterion.id in protocol.with_rationale:
            yield AnswerColumn(rationale_column(criterion), criterion.title, "Why? In a sentence or two.")
    if protocol.ask.confidence != "off":
        yield AnswerColumn("confidence", "Confidence", "How sure are you of this rating? 0 to 100 percent.", PERCENT)
    if protocol.ask.notes != "off":
        yield AnswerColumn("notes", "Notes", "Anything else worth noting.")


def _write_workbook(path: Path, protocol: Protocol, sheet: Sheet) -> int:
    """Write the workbook and return the number of rows to fill in."""
    columns, rows = _spread(sheet)
    answers = list(_answer_columns(protocol))
    first = len(columns) - len(answers) - 1
    with new_workbook(path) as book:
        page, guideline = book.add_worksheet(RATINGS), book.add_worksheet(GUIDELINE)
        page.freeze_panes(1, 1)
        page.set_default_row(ROW_HEIGHT)
        page.set_row(0, HEADER_HEIGHT)
        for place, name in enumerate(columns[:first]):
            page.set_column(place, place, {"item": 16, "unit": 7}.get(name, 48))
        lists: list[Sequence[str]] = []
        for place, answer in enumerate(answers, start=first):
            closed = isinstance(answer.scale, Ordinal | Nominal | Numeric)
            page.set_column(place, place, max(18, len(answer.name) + 4) if closed else 36)
            if rows:
                page.data_validation(1, place, len(rows), place, _rule(answer, lists))
        for start, end, color in ((0, first, GREY), (first, -1, YELLOW), (len(columns) - 1, None, GREY)):
            XlsxCells(book, page, **WRAPPED, bold=True, bg_color=color).write(0, columns[start:end], start)
        cells = XlsxCells(book, page, **WRAPPED)
        for number, row in enumerate(rows, start=1):
            cells.write(number, row)
        _add_guideline(book, guideline, guideline_rows(protocol))
        if lists:
            lists_page = book.add_worksheet(LISTS)
            lists_page.hide()
            choices = XlsxCells(book, lists_page)
            for number, values in enumerate(zip_longest(*lists)):
                choices.write(number, values)
    return len(rows)


def _spread(sheet: Sheet) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
    """Columns and rows in which no text is too long for a cell: the rest continues in columns of its own."""
    rows = list(sheet.rows)
    columns: list[str] = []
    spread: list[Sequence[object]] = []
    for place, name in enumerate(sheet.columns):
        parts = list(zip_longest(*(_pieces(row[place]) for row in rows))) or [()]
        columns += [name, *(f"{name} ({number})" for number in range(2, len(parts) + 1))]
        spread += parts
    return columns, list(zip(*spread, strict=True))


def _pieces(cell: object) -> Sequence[object]:
    """A text in pieces that end with whole words."""
    if not isinstance(cell, str) or utf16_length(cell) <= PIECE:
        return (cell,)
    most = PIECE if utf16_length(cell) == len(cell) else PIECE // 2
    pieces: list[str] = []
    while len(cell) > most:
        end = max(cell.rfind(" ", most - 500, most), cell.rfind("\n", most - 500, most)) + 1 or most
        pieces.append(cell[:end])
        cell = cell[end:]
    return (*pieces, cell) if cell else pieces


def _rule(answer: AnswerColumn, lists: list[Sequence[str]]) -> dict[str, Any]:
    """What may be entered in a column, and what is shown if one of its cells is selected."""
    scale = answer.scale
    rule: dict[str, Any] = {"validate": "any"}
    if isinstance(scale, Ordinal | Nominal):
        rule = {"validate": "list", "source": _choices([str(value) for value in scale.values], lists)}
    elif isinstance(scale, Numeric):
        lowest, highest = map(int, scale.ends)
        rule = {"validate": "decimal", "criteria": "between", "minimum": lowest, "maximum": highest}
    if scale:
        rule["error_message"] = _cut(f"Enter {scale.describe()}, or leave the cell empty.", LONGEST_ERROR)
    title = _cut(answer.title, LONGEST_TITLE)
    return {**rule, "error_title": title, "input_title": title, "input_message": _cut(answer.prompt, LONGEST_PROMPT)}


def _choices(values: Sequence[str], lists: list[Sequence[str]]) -> Sequence[str] | str:
    """The choices themselves if they are short and plain, else a range of the hidden sheet.

    A rule cannot hold a comma, quotation mark or control character, and loses the spaces at both ends.
    """
    plain = all(text.isprintable() and text == text.strip() and not _UNFIT_FOR_RULE.search(text) for text in values)
    if plain and utf16_length(",".join(values)) <= LONGEST_LIST:
        return values
    lists.append(values)
    column = letters(len(lists))
    return f"={LISTS}!${column}$1:${column}${len(values)}"


def _cut(text: str, most: int) -> str:
    text = _UNFIT_FOR_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", clean(text))
    if utf16_length(text) <= most:
        return text
    return text.encode("utf-16-le")[: 2 * (most - 1)].decode("utf-16-le", errors="ignore") + "…"


def _add_guideline(book: Any, page: Any, rows: Sequence[Sequence[str]]) -> None:
    """Headings and names are in the first column, longer texts in the second."""
    page.set_column(0, 0, 34)
    page.set_column(1, 1, 110)
    headings = XlsxCells(book, page, bold=True, valign="top")
    texts = XlsxCells(book, page, **WRAPPED)
    for number, row in enumerate(rows):
        heading = len(row) == 1 and (number == 0 or not rows[number - 1])
        # Programs without our fonts measure wrapped lines wrongly and let rows overlap; a generous height of our own
        # reads well everywhere.
        wrapped = (sum(1 + len(line) // 95 for line in text.split("\n")) for text in row)
        lines = 1 if heading else max(wrapped, default=1)
        page.set_row(number, min(LINE_HEIGHT * lines, HIGHEST_ROW))
        if heading:
            headings.write(number, row)
        else:
            texts.write(number, (None, *row) if len(row) == 1 else row)
