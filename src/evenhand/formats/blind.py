"""The spreadsheet one rater fills in: what is to be rated and empty columns for the ratings, nothing of anybody else's.

A CSV file, or a workbook with drop-downs and the guideline on a second sheet. `ratings import` takes either back.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from evenhand.errors import UserError
from evenhand.formats.blind_xlsx import AnswerColumn, write_blind_xlsx
from evenhand.formats.provenance import CHECK, unit_check
from evenhand.formats.ratings_shapes import rationale_column
from evenhand.formats.writing import Sheet, replacing, write_table
from evenhand.protocol.guideline import field_text, guideline_rows
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import Item, Unit
from evenhand.scales import PERCENT, Text

UNIT_TEXT = "unit_text"
"""The column with the sentence or question that is rated, where the unit is not the whole item."""


def filled_fields(protocol: Protocol, items: Iterable[Item]) -> Sequence[str]:
    """The shown fields, but for the optional ones that no item has: an empty column tells a rater nothing."""
    missing = {name for name in protocol.shown_fields() if not protocol.item.fields[name].required}
    for item in items if missing else ():
        missing.difference_update(item.fields)
        if not missing:
            break
    return [name for name in protocol.shown_fields() if name not in missing]


def write_blind(
    path: str | Path,
    protocol: Protocol,
    work: Iterable[tuple[Item, Unit]],
    *,
    fields: Sequence[str] | None = None,
    overwrite: bool = False,
) -> int:
    """Write the sheet for one rater (`.csv`, `.tsv`, `.xlsx`), the units in the order given; return how many.

    `fields` are the ones to show, of all that the protocol shows.
    """
    fields = protocol.shown_fields() if fields is None else fields
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", ".xlsx"):
        raise UserError(f"{path}: a sheet to fill in ends in .xlsx, .csv or .tsv, not in {path.suffix!r}")
    if suffix != ".xlsx":
        return write_table(path, blind_sheet(protocol, work, fields), overwrite=overwrite)
    with replacing(path, overwrite=overwrite) as temporary:
        rows = ([*_given(protocol, fields, item, unit), unit_check(protocol, item, unit)] for item, unit in work)
        given = Sheet([*_given_columns(protocol, fields), CHECK], rows)
        answers = list(_answer_columns(protocol))
        return write_blind_xlsx(temporary, given, answers, guideline_rows(protocol), str(path))


def blind_sheet(protocol: Protocol, work: Iterable[tuple[Item, Unit]], fields: Sequence[str] | None = None) -> Sheet:
    """The same as a plain table."""
    fields = protocol.shown_fields() if fields is None else fields
    answers = [column.name for column in _answer_columns(protocol)]
    empty = [None] * len(answers)
    rows = ([*_given(protocol, fields, item, unit), *empty, unit_check(protocol, item, unit)] for item, unit in work)
    return Sheet([*_given_columns(protocol, fields), *answers, CHECK], rows, for_people=True)


def _given_columns(protocol: Protocol, fields: Sequence[str]) -> Sequence[str]:
    return ["item", *fields] if protocol.rule.of == "item" else ["item", "unit", *fields, UNIT_TEXT]


def _given(protocol: Protocol, fields: Sequence[str], item: Item, unit: Unit) -> Sequence[object]:
    texts = [field_text(item.fields[name]) if name in item.fields else None for name in fields]
    return [item.id, *texts] if protocol.rule.of == "item" else [item.id, unit.position, *texts, unit.text]


def _answer_columns(protocol: Protocol) -> Iterator[AnswerColumn]:
    for criterion in protocol.criteria:
        yield AnswerColumn(criterion.id, criterion.title, _prompt(criterion), criterion.scale)
        if protocol.ask.rationale != "off" and not isinstance(criterion.scale, Text):
            yield AnswerColumn(rationale_column(criterion), criterion.title, "Why? In a sentence or two.")
    if protocol.ask.confidence != "off":
        yield AnswerColumn("confidence", "Confidence", "How sure are you of this rating? 0 to 100 percent.", PERCENT)
    if protocol.ask.notes != "off":
        yield AnswerColumn("notes", "Notes", "Anything else worth noting.")


def _prompt(criterion: Criterion) -> str:
    if criterion.when is None:
        return criterion.question
    return f"Only when {criterion.when.describe()}: {criterion.question}"
