"""What a rating file says that was reckoned about an answer: misquoted evidence, how the odds stood, their mean."""

from collections.abc import Callable, Mapping
from math import fsum
from typing import Any

from evenhand.formats.beside import list_in
from evenhand.formats.plain import short, text_of
from evenhand.formats.problems import Problems
from evenhand.formats.ratings_shapes import Cell
from evenhand.protocol.model import Criterion
from evenhand.records import Value
from evenhand.scales import Ordinal, Percent

RECKONED = ("misquoted", "distribution", "mean")

TEXTS = 'write it as ["TEXT", …]'
ODDS = "write it as [[VALUE, PROBABILITY], …]"
TOLERANCE = 1e-6


def read_reckoned(
    cells: Mapping[str, Cell], criterion: Criterion, row: int, problems: Problems
) -> Mapping[str, Any] | None:
    """Keyword arguments for a Rating; None where a cell is bad, which is then reported."""
    readers: Mapping[str, Callable[[object], object]] = {
        "misquoted": _misquoted,
        "distribution": lambda content: _distribution(content, criterion),
        "mean": lambda content: _mean(content, criterion),
    }
    found: dict[str, Any] = {}
    good = True
    for name in RECKONED:
        if name in cells:
            try:
                found[name] = readers[name](cells[name].content)
            except ValueError as error:
                problems.add(str(error), row=row, column=cells[name].column)
                good = False
    return found if good else None


def _misquoted(content: object) -> tuple[str, ...]:
    entries = list_in(content)
    texts = tuple(entry for entry in entries or () if isinstance(entry, str))
    if entries is None or len(texts) < len(entries):
        raise ValueError(f"{short(content)} is not a list of texts; {TEXTS}")
    return texts


def _distribution(content: object, criterion: Criterion) -> tuple[tuple[Value, float], ...]:
    entries = list_in(content)
    if entries is None:
        raise ValueError(f"{short(content)} is not a list of values with their probabilities; {ODDS}")
    found: dict[Value, float] = {}
    for entry in entries:
        value, probability = _odds(entry, criterion)
        if value in found:
            raise ValueError(f"{short(content)} has the value {value!r} twice")
        found[value] = probability
    total = fsum(found.values())
    if found and abs(total - 1) > TOLERANCE:
        raise ValueError(f"the probabilities in {short(content)} sum to {total:.7g}, not to 1")
    return tuple(found.items())


def _odds(entry: object, criterion: Criterion) -> tuple[Value, float]:
    pair = list_in(entry) or []
    if len(pair) != 2:
        raise ValueError(f"{short(entry)} is not a value with its probability; {ODDS}")
    value, probability = pair
    if isinstance(probability, bool) or not isinstance(probability, int | float) or not 0 <= probability <= 1:
        raise ValueError(f"{short(probability)} is not a probability from 0 to 1; {ODDS}")
    return criterion.scale.read(value), probability


def _mean(content: object, criterion: Criterion) -> float:
    scale, text = criterion.scale, text_of(content) or ""
    if not isinstance(scale, Ordinal | Percent):
        raise ValueError(f"{short(text)} cannot be the mean of values that are not numbers")
    lowest, highest = (scale.values[0], scale.values[-1]) if isinstance(scale, Ordinal) else (0, 100)
    slack = TOLERANCE * max(abs(lowest), abs(highest))
    try:
        mean = float(text)
    except ValueError:
        mean = float("nan")
    if not lowest - slack <= mean <= highest + slack:
        raise ValueError(f"{short(text)} is not a number from {lowest} to {highest}")
    return mean
