"""The kinds of scale: check a value, name its level of measurement.

A scale reads what people and models write and returns the one canonical value, or raises `ValueError` with what would
have been valid. Labels match without regard to case, outer white space, a full stop at the end, and whether words are
joined by a space, a hyphen or an underscore; a level matches as a number (`4`, `4.0`), as its label (`Good`) or both
(`4 Good`, `4 - Good`, `Good (4)`).
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import fsum
from typing import Annotated, ClassVar, Literal, Self, TypeGuard, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from evenhand.records import UNANSWERABLE, Value, is_unanswerable
from evenhand.text import quoted, shortened

T = TypeVar("T")

Level = Literal["nominal", "ordinal", "interval", "text"]
"""What statistics may do with the values: compare, order, subtract, or only read them."""


class Strict(BaseModel):
    """A part of a protocol: frozen, unknown keys rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def __copy__(self) -> Self:
        # `model_copy(update=…)` goes through here; a digest carried over from the original would be a lie.
        copied = super().__copy__()
        for name in vars(copied).keys() - type(self).model_fields.keys():
            del vars(copied)[name]
        return copied


@lru_cache(maxsize=4096)
def label_key(text: str) -> str:
    """The form under which two spellings of a label are the same.

    The minus sign of a number is not a hyphen: `-1` differs from `1`.
    """
    return _BETWEEN_WORDS.sub(" ", text).strip().casefold().replace("’", "'")


_AROUND = " .。!*`\"'“”"
"""What models put around a label, or behind it."""
_BETWEEN_WORDS = re.compile(r"(?:[\s_]|-(?!\d)|(?<=[^\s_\-])-(?=\d))+")


class Anchor(Strict):
    """One level of an ordinal scale: its short label and when to choose it."""

    label: str = Field(min_length=1, description="the level's short name")
    anchor: str = Field(min_length=1, description="when a rater chooses this level")


class Label(Strict):
    """One label of a nominal scale."""

    definition: str = Field(min_length=1, description="when a rater chooses this label")
    aliases: tuple[str, ...] = Field(default=(), description="other spellings that mean this label")
    evidence: Literal["none"] | None = Field(
        default=None,
        description="none: there is nothing to cite, so this label needs no evidence even if it is required",
    )


def _differing(labels: Mapping[str, Label]) -> Mapping[str, Label]:
    seen: dict[str, str] = {}
    for name, label in labels.items():
        for spelling in (name, *label.aliases):
            if not label_key(spelling):
                raise ValueError("a label needs a name")
            other = seen.setdefault(label_key(spelling), name)
            if other != name:
                raise ValueError(f"{spelling!r} reads the same as label {other!r}: labels must differ")
    return labels


Labels = Annotated[Mapping[str, Label], AfterValidator(_differing)]
"""Labels of which no two, with their aliases, read the same."""

LONGEST_REFUSAL = 1_000
"""Characters of a message that lists what would have been valid."""

_LONGEST_LABEL = 300
_LEVEL_THEN_LABEL = re.compile(r"\s*(?P<level>-?\d{1,15})(?:\s*[-–—:.=)(]+\s*|\s+)(?P<label>.+?)\)?\s*")
_LABEL_THEN_LEVEL = re.compile(r"\s*(?P<label>.+?)\s*\(\s*(?P<level>-?\d{1,15})\s*\)\s*")


class Ordinal(Strict):
    """Ordered whole levels, each with a label and an anchor."""

    level: ClassVar[Level] = "ordinal"
    type: Literal["ordinal"]
    levels: Annotated[Mapping[int, Anchor], Field(min_length=2, description="level: {label, anchor}, in any order")]

    @field_validator("levels")
    @classmethod
    def _in_order(cls, levels: Mapping[int, Anchor]) -> Mapping[int, Anchor]:
        seen: dict[str, int] = {}
        for level, anchor in levels.items():
            if seen.setdefault(label_key(anchor.label), level) != level:
                raise ValueError(f"two levels are called {anchor.label!r}: labels must differ")
            if _number(anchor.label) not in (None, level):
                raise ValueError(f"level {level} is called {anchor.label!r}: a label must not read as another level")
        return dict(sorted(levels.items()))

    @property
    def values(self) -> Sequence[int]:
        """The levels from lowest to highest."""
        return list(self.levels)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest level."""
        return min(self.levels), max(self.levels)

    @property
    def named_levels(self) -> str:
        """`1 Poor, 2 Fair, …`."""
        return ", ".join(f"{level} {anchor.label}" for level, anchor in self.levels.items())

    def describe(self) -> str:
        values = self.values
        if values == list(range(values[0], values[-1] + 1)):
            return f"a whole number from {values[0]} to {values[-1]}"
        return "one of " + ", ".join(map(str, values))

    def read(self, raw: object) -> int:
        number = _number(raw)
        if number is not None and number == int(number) and int(number) in self.levels:
            return int(number)
        if number is None and isinstance(raw, str):
            by_label = {label_key(anchor.label): level for level, anchor in self.levels.items()}
            if (level := _by_key(by_label, raw)) is not None:
                return level
            # What is longer is not a label, and could be matched in too many ways.
            short = raw.strip() if len(raw) <= _LONGEST_LABEL else ""
            match = _LEVEL_THEN_LABEL.fullmatch(short) or _LABEL_THEN_LEVEL.fullmatch(short)
            if match and by_label.get(label_key(match["label"])) == int(match["level"]):
                return int(match["level"])
        raise ValueError(shortened(f"{quoted(raw)} is not {self.describe()} ({self.named_levels})", LONGEST_REFUSAL))


class Nominal(Strict):
    """Unordered labels, each with a definition."""

    level: ClassVar[Level] = "nominal"
    type: Literal["nominal"]
    labels: Annotated[
        Mapping[str, Label],
        Field(min_length=2, description="label: {definition, aliases, evidence}"),
        AfterValidator(_differing),
    ]

    @property
    def values(self) -> Sequence[str]:
        """The labels in the order of the protocol."""
        return list(self.labels)

    def describe(self) -> str:
        return "one of " + ", ".join(self.labels)

    def read(self, raw: object) -> str:
        text = _text(raw)
        spellings = ((spelling, name) for name, label in self.labels.items() for spelling in (name, *label.aliases))
        name = _by_key({label_key(spelling): name for spelling, name in spellings}, text or "")
        if name is None:
            raise ValueError(shortened(f"{quoted(raw)} is not {self.describe()}", LONGEST_REFUSAL))
        return name


class Text(Strict):
    """Free text; with `unanswerable`, the answer `<Unanswerable>` means that the text gives no answer."""

    level: ClassVar[Level] = "text"
    values: ClassVar[Sequence[str]] = ()
    type: Literal["text"]
    unanswerable: bool = Field(default=False, description="whether <Unanswerable> is an answer of its own")

    def describe(self) -> str:
        return f"a text, or {UNANSWERABLE}" if self.unanswerable else "a text"

    def read(self, raw: object) -> str:
        text = (_text(raw) or "").strip()
        if not text:
            raise ValueError(f"{quoted(raw)} is not {self.describe()}")
        return UNANSWERABLE if self.unanswerable and is_unanswerable(text) else text


class Numeric(Strict):
    """Any number between two ends; `sign` after it is ignored."""

    level: ClassVar[Level] = "interval"
    values: ClassVar[Sequence[float]] = ()
    ends: ClassVar[tuple[float, float]]
    sign: ClassVar[str] = ""

    def describe(self) -> str:
        return f"a number from {self.ends[0]:g} to {self.ends[1]:g}"

    def read(self, raw: object) -> float:
        number = _number(raw.strip().removesuffix(self.sign) if isinstance(raw, str) else raw)
        if not is_within(number, *self.ends):
            raise ValueError(f"{quoted(raw)} is not {self.describe()}")
        return number


class Percent(Numeric):
    """A number from 0 to 100; a trailing percent sign is ignored."""

    ends: ClassVar[tuple[float, float]] = (0.0, 100.0)
    sign: ClassVar[str] = "%"
    type: Literal["percent"]


class Continuous(Numeric):
    """A number from 0 to 1."""

    ends: ClassVar[tuple[float, float]] = (0.0, 1.0)
    type: Literal["continuous"]


Scale = Annotated[Ordinal | Nominal | Text | Percent | Continuous, Field(discriminator="type")]

PERCENT, CONTINUOUS = Percent(type="percent"), Continuous(type="continuous")


def exempt_from_evidence(scale: Scale) -> Sequence[str]:
    """The answers that need no evidence even if the protocol requires it, because there is nothing to cite."""
    if isinstance(scale, Nominal):
        return [name for name, label in scale.labels.items() if label.evidence == "none"]
    return [UNANSWERABLE] if isinstance(scale, Text) and scale.unanswerable else []


TOLERANCE = 1e-6
"""How far probabilities may be from summing to 1; files round them."""


def check_distribution(pairs: Sequence[tuple[Value, object]]) -> None:
    """Raise ValueError unless these are values of a scale with their probabilities."""
    found: dict[Value, float] = {}
    for value, probability in pairs:
        if not is_within(probability, 0, 1):
            raise ValueError(f"the value {value!r} has the probability {probability!r}, not a number from 0 to 1")
        if value in found:
            raise ValueError(f"the value {value!r} is there twice")
        found[value] = probability
    total = fsum(found.values())
    if found and abs(total - 1) > TOLERANCE:
        raise ValueError(f"the probabilities sum to {total:.7g}, not to 1")


def check_mean(mean: object, scale: Scale) -> None:
    """Raise ValueError unless this can be the mean of values of a scale."""
    if not isinstance(scale, Ordinal | Numeric):
        raise ValueError("only numbers have a mean, and this criterion is rated with labels or text")
    lowest, highest = scale.ends
    # Probabilities may miss 1 by the tolerance, and their mean the end of the scale with them.
    slack = TOLERANCE * max(abs(lowest), abs(highest))
    if not is_within(mean, lowest - slack, highest + slack):
        raise ValueError(f"the mean {mean!r} is not a number from {lowest:g} to {highest:g}")


def is_within(number: object, lowest: float, highest: float) -> TypeGuard[float]:
    """A truth value is not a number here; NaN lies nowhere."""
    return isinstance(number, int | float) and not isinstance(number, bool) and lowest <= number <= highest


def is_next_level(scale: Scale, a: Value | None, b: Value | None) -> bool:
    """Whether two values are neighbouring levels of an ordinal scale."""
    levels = scale.values if isinstance(scale, Ordinal) else ()
    return a in levels and b in levels and abs(levels.index(a) - levels.index(b)) == 1


def same_value(a: Value | None, b: Value | None) -> bool:
    """Whether two canonical values are the same answer."""
    return a == b and isinstance(a, str) == isinstance(b, str)


def _by_key(known: Mapping[str, T], text: str) -> T | None:
    """What a label is known by; the full stop of a sentence is ignored unless it belongs to the label."""
    key = label_key(text)
    return known.get(key, known.get(key.strip(_AROUND)))


def _number(raw: object) -> float | None:
    """The finite number in `raw`, or None. A truth value is not a number here."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | str) or (isinstance(raw, str) and "_" in raw):
        return None
    try:
        number = float(raw)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) <= 1e15 else None


def _text(raw: object) -> str | None:
    """The text in `raw`, or None. A spreadsheet's numeric cell reads as it is shown there: 1, not 1.0."""
    if isinstance(raw, str):
        return raw
    number = _number(raw)
    return None if number is None else str(int(number)) if number == int(number) else str(number)
