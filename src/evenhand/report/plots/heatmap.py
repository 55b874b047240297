"""A grid of values, deeper colour for more: agreement of all pairs, and confusion matrices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.report.markup import Markup, element
from evenhand.report.plots.lettering import lines_at, pieces, short, width, wrapped
from evenhand.report.plots.track import Shape, glyph

ROW, GAP, LINE = 46, 10, 14
_WIDEST_CELL = 118
_WIDEST_NAME = 112


@dataclass(frozen=True, slots=True)
class Head:
    """What a row or column is called. `apart` leaves a gap before it."""

    name: str
    shape: Shape | None = None
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell, what it says when pointed at, how deep its colour is (None: no colour), its outline."""

    text: str
    title: str
    step: int | None
    small: str = ""
    outline: str = ""


def step_of(value: float) -> int:
    """The step of the colour scale, 0 to 10, for a value from 0 to 1; what is below 0 is as pale as 0."""
    return min(10, max(0, round(10 * value)))


def heat_map(
    rows: Sequence[Head],
    heads: Sequence[Head],
    cells: Mapping[tuple[int, int], Cell],
    label: str,
    *,
    across: str = "",
    down: str = "",
    least: int = 62,
) -> Markup:
    """The grid at its natural size. `across` and `down` name columns and rows; `least` is a cell's least width."""
    cell = min(_WIDEST_CELL, max([least, *(8 + width(word) for head in heads for word in pieces(head.name))]))
    above = [wrapped(head.name, cell - 4, 3) for head in heads]
    beside = [wrapped(head.name, _WIDEST_NAME, 3) for head in rows]
    marked = 20 if any(head.shape for head in rows) else 0
    name = max((width(line) for lines in beside for line in lines), default=0.0)
    left = max(name + marked + 10, width(short(down, _WIDEST_NAME)) + 24 if down else 0.0)
    top = (20 if across else 0) + LINE * max(map(len, above), default=1) + (22 if marked else 10)
    xs, ys = _places(heads, left, cell), _places(rows, top, ROW)
    drawn: list[Markup] = [element("title", label)]
    if across:
        drawn.append(element("text", f"{short(across, 200)} →", x=left, y=12, class_="axis-name"))
    if down:
        said = f"{short(down, _WIDEST_NAME)} ↓"
        drawn.append(element("text", said, x=left - 8, y=top - 8, text_anchor="end", class_="axis-name"))
    drawn += [_column(*one, xs[place], top, cell) for place, one in enumerate(zip(heads, above, strict=True))]
    drawn += [_line(*one, ys[place], left) for place, one in enumerate(zip(rows, beside, strict=True))]
    drawn += [_cell(one, xs[column], ys[row], cell) for (row, column), one in cells.items()]
    wide, high = round(xs[-1] + 2), round(ys[-1] + 2)
    box = f"0 0 {wide} {high}"
    return element("svg", drawn, class_="heat", viewBox=box, width=wide, height=high, role="img", aria_label=label)


def _places(heads: Sequence[Head], start: float, size: float) -> Sequence[float]:
    """Where each row or column begins, and where the last one ends."""
    places: list[float] = []
    at = start
    for head in heads:
        at += GAP if head.apart else 0
        places.append(at)
        at += size
    return [*places, at]


def _column(head: Head, lines: Sequence[str], x: float, top: float, cell: float) -> Markup:
    middle = x + cell / 2 - 1
    name = lines_at(lines, middle, top - (24 if head.shape else 8), LINE, "middle", "head")
    mark = element("svg", glyph(head.shape), x=middle - 7, y=top - 19, width=14, height=14) if head.shape else None
    return element("g", element("title", head.name), name, mark)


def _line(head: Head, lines: Sequence[str], y: float, left: float) -> Markup:
    middle = y + ROW / 2
    mark = element("svg", glyph(head.shape), x=left - 22, y=middle - 8, width=14, height=14) if head.shape else None
    end = left - (28 if head.shape else 8)
    name = lines_at(lines, end, middle + 4 + LINE / 2 * (len(lines) - 1), LINE, "end", "head")
    return element("g", element("title", head.name), name, mark)


def _cell(cell: Cell, x: float, y: float, wide: float) -> Markup:
    middle = x + wide / 2 - 1
    class_ = " ".join(filter(None, ("blank" if cell.step is None else f"h{cell.step}", cell.outline)))
    lift = 0 if cell.small else 5
    return element(
        "g",
        element("title", cell.title),
        element("rect", x=x + 1, y=y + 1, width=wide - 4, height=ROW - 4, rx=4, class_="cell"),
        element("text", cell.text, x=middle, y=y + 21 + lift, text_anchor="middle", class_="value"),
        element("text", cell.small, x=middle, y=y + 35, text_anchor="middle", class_="small") if cell.small else None,
        class_=class_,
    )
