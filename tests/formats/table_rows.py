from collections.abc import Sequence

from evenhand.errors import Problems
from evenhand.formats.tables.table import InputTable, Row


def table_rows(table: InputTable) -> Sequence[Row]:
    """The rows of a table. Raises InputError with every problem of its file."""
    problems = Problems(table.source)
    rows = list(table.rows(problems))
    problems.raise_if_any()
    return rows
