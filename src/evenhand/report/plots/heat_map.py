"""A grid of values as an HTML table, deeper colour for more: agreement of all pairs, and confusion matrices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evenhand.report.html.elements import element


@dataclass(frozen=True, slots=True)
class HeatCell:
    """What is in a cell, its tooltip, how deep its colour is (None: no colour), and its outline."""

    text: str
    title: str
    step: int | None = None
    small: str = ""
    outline: str = ""


def colour_step(value: float) -> int:
    """The step of the colour scale, 0 to 10, for a value from 0 to 1; what is below 0 is as pale as 0."""
    return min(10, max(0, round(10 * value)))


def heat_map(
    corner: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[int, int], HeatCell],
    label: str,
) -> Markup:
    """The grid; a place without a cell gets a dash. `corner` names rows and columns, `label` is for screen readers."""
    heads = [element("th", corner, scope="col", class_="corner")]
    heads += [element("th", column, scope="col") for column in columns]
    body = [
        element(
            "tr",
            element("th", row, scope="row"),
            [_cell(cells.get((down, across))) for across in range(len(columns))],
        )
        for down, row in enumerate(rows)
    ]
    return element(
        "table",
        element("caption", label, class_="unseen"),
        element("thead", element("tr", heads)),
        element("tbody", body),
        class_="heat",
    )


def _cell(cell: HeatCell | None) -> Markup:
    if cell is None:
        return element("td", "–", class_="blank")
    colour = "blank" if cell.step is None else f"h{cell.step}"
    small = element("small", cell.small) if cell.small else None
    return element("td", cell.text, small, title=cell.title, class_=f"{colour} {cell.outline}".strip())
