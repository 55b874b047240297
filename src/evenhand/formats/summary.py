"""What a rating file brought."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class ImportSummary:
    """What a rating file brought; complete when the last rating was read.

    `ratings` counts by rater what the file says. `not_asked` are the ratings added because a condition was false.
    `blanks` are cells without a rating, `left_out` rationales, confidences and notes beside such a cell.
    `without_rationale` and `without_confidence` count ratings that lack what the protocol demands.
    `without_column` names the criteria for which a wide file has no column.
    """

    rows: int = 0
    ratings: dict[str, int] = field(default_factory=dict[str, int])
    not_asked: int = 0
    blanks: int = 0
    left_out: int = 0
    without_rationale: int = 0
    without_confidence: int = 0
    without_column: tuple[str, ...] = ()
