"""Who gave the ratings of a file: found in a first reading, because raters are stored before their ratings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evenhand.errors import UserError
from evenhand.formats.problems import Problems
from evenhand.formats.ratings.layouts import RatingCells, is_rated
from evenhand.formats.tables.cells import short, text_of
from evenhand.records import Kind, RaterRef
from evenhand.scales import label_key

LONGEST = 200
WHO = "name them with --rater ID, or in a column rater"


@dataclass(frozen=True, slots=True)
class Raters:
    """The rater named by the user, those the study knows, and the kind of every rater in the file."""

    named: str | None
    known: Mapping[str, Kind]
    kinds: Mapping[str, Kind]

    @classmethod
    def found(
        cls, answers: Iterable[RatingCells], named: str | None, kind: Kind | None, known: Iterable[RaterRef]
    ) -> "Raters":
        """Read through a file. What is wrong with a rater is left for `of` to say, in the second reading."""
        before = {rater.id: rater.kind for rater in known}
        kinds: dict[str, Kind] = {}
        for answer in answers:
            try:
                rater = _id(answer.rater) or named
                if rater is not None and is_rated(answer):
                    given = _kind(answer.kind) or kind or before.get(rater, Kind.PERSON)
                    kinds.setdefault(rater, given)
            except ValueError:
                continue
        return cls(named, before, kinds)

    def refs(self) -> list[RaterRef]:
        return [RaterRef(rater, kind) for rater, kind in self.kinds.items()]

    def clashes(self, problems: Problems) -> None:
        """Report every rater who is of another kind in the study."""
        for rater, kind in self.kinds.items():
            if self.known.get(rater, kind) is not kind:
                problems.add(
                    f"{rater!r} is a {self.known[rater]} in this study, not a {kind}",
                    fix=f"use another id, or --kind {self.known[rater]}",
                )

    def of(self, answer: RatingCells) -> str | None:
        """The rater of a rating; None if none is named. Raises ValueError."""
        rater = _id(answer.rater)
        if rater is None:
            return self.named
        # A file may have columns of models as well as the named rater's, but not a column of raters.
        if self.named not in (None, rater) and not isinstance(answer.kind, Kind):
            raise ValueError(f"the file names the rater {rater!r} and --rater {self.named!r}; leave --rater out")
        kind = _kind(answer.kind)
        if kind is not None and kind is not self.kinds.get(rater, kind):
            raise ValueError(f"the rater {rater!r} is a {kind} here and a {self.kinds[rater]} further up")
        return rater


def named_rater(rater: str | None) -> str | None:
    """The rater of the option `--rater`, checked."""
    try:
        checked = _id(rater)
    except ValueError as error:
        raise UserError(f"--rater: {error}") from error
    if rater is not None and checked is None:
        raise UserError("--rater: an empty text is not a rater's id; give a name or a short code")
    return checked


def _id(content: object) -> str | None:
    text = (text_of(content) or "").strip()
    if len(text) > LONGEST or not text.isprintable():
        raise ValueError(f"{short(text)} is not a rater's id: at most {LONGEST} printable characters on one line")
    return text or None


def _kind(content: object) -> Kind | None:
    text = text_of(content)
    for kind in Kind:
        if text is None:
            return None
        if label_key(text) == kind:
            return kind
    raise ValueError(f"{short(text)} is not a kind of rater; valid are {', '.join(Kind)}")
