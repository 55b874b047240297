"""The exception tree.

    EvenhandError
    ├── UserError                 something the user can put right; the command line exits with 2
    │   ├── InputError            a file or its content: rows, columns, cells, keys, each with its place
    │   │   └── ProtocolError     a protocol file, or a rating that does not fit its protocol
    │   ├── StudyError            the study itself: missing, not a study, from a newer version, read-only, full disk
    │   │   ├── NotAStudyError
    │   │   ├── NewerStudyError
    │   │   ├── ConflictError     the rating was changed by somebody else in the meantime
    │   │   └── DuplicateItemError  two items of one study have the same id
    │   └── MissingExtraError     an optional package is needed and not installed
    └── RaterFailure              a rater gave no usable answer; `run` makes a `failed` rating of it

Anything else that escapes is a bug of ours and keeps its traceback. Errors of libraries (sqlite3, psycopg, openpyxl,
yaml, pydantic) are translated where the library is called, never further up.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

SHOWN = 50
PLACES = 3
NAMES = 20


def counted(number: int, noun: str) -> str:
    """`1 row`, `2 rows`, `1,000 rows`: for nouns that take an s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def some_of(names: Sequence[object], most: int = NAMES) -> str:
    """Names with commas between them; a very long list is cut and says how many more there are."""
    more = f" … and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def masked(text: str) -> str:
    """A text without the passwords of the URLs in it."""
    # One slash is what a path makes of two.
    text = re.sub(r"(:/{1,2}[^:@/\s]*):\S*@", r"\1:***@", text)
    return re.sub(r"(password=)[^&\s]*", r"\1***", text)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: what, where, and what to do about it.

    Row numbers count as a spreadsheet shows them: the header is row 1. Line numbers are those of a text editor.
    """

    what: str
    row: int | None = None
    column: str | None = None
    line: int | None = None
    key: str | None = None
    fix: str | None = None

    def __str__(self) -> str:
        return self.at([self])

    def at(self, alike: Sequence["Problem"]) -> str:
        """This problem as one line that stands for all of those alike, which differ in their rows or lines only."""
        places = [
            _places("line", [problem.line for problem in alike if problem.line is not None]),
            _places("row", [problem.row for problem in alike if problem.row is not None]),
            f'column "{self.column}"' if self.column is not None else None,
            self.key,
        ]
        where = ", ".join(place for place in places if place)
        text = f"{where}: {self.what}" if where else self.what
        return f"{text} ({self.fix})" if self.fix else text


def _places(noun: str, numbers: Sequence[int]) -> str | None:
    """`row 2`, `rows 2 and 3`, `rows 2, 3, 4 and 317 more`."""
    if not numbers:
        return None
    if len(numbers) == 1:
        return f"{noun} {numbers[0]}"
    if len(numbers) <= PLACES + 1:
        return f"{noun}s {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
    return f"{noun}s {', '.join(map(str, numbers[:PLACES]))} and {len(numbers) - PLACES:,} more"


class EvenhandError(Exception):
    """The root of every exception that Evenhand raises on purpose."""


class UserError(EvenhandError):
    """Something the user can put right. The message says what, where, what is valid and what to do."""


class InputError(UserError):
    """Bad input: every problem found, not only the first. The message has one line for all those of one cause."""

    def __init__(self, source: str, problems: Iterable[Problem] | str, *, more: int = 0) -> None:
        self.source = source
        self.problems: Sequence[Problem] = (Problem(problems),) if isinstance(problems, str) else tuple(problems)
        self.more = more
        super().__init__(self._message())

    def _message(self) -> str:
        causes: dict[Problem, list[Problem]] = {}
        for problem in self.problems:
            causes.setdefault(replace(problem, row=None, line=None), []).append(problem)
        told = [(first.at(alike), len(alike)) for first, alike in causes.items()]
        if len(told) == 1 and not self.more:
            return f"{self.source}: {told[0][0]}"
        total = len(self.problems) + self.more
        lines = [f"{self.source}: {counted(total, 'problem')}"]
        lines += [f"  {line}" for line, _ in told[:SHOWN]]
        hidden = total - sum(count for _, count in told[:SHOWN])
        if hidden:
            lines.append(f"  … and {hidden:,} more")
        return "\n".join(lines)


class ProtocolError(InputError):
    """A protocol file that cannot be used, or a value that does not fit its protocol."""


class StudyError(UserError):
    """A study that cannot be made, opened or written."""


class NotAStudyError(StudyError):
    """The path or URL does not lead to a study."""


class NewerStudyError(StudyError):
    """The study was made by a newer version than this one."""


class ConflictError(StudyError):
    """A rating was changed in the meantime; nothing was overwritten."""


class DuplicateItemError(StudyError):
    """Items share an id: each such id with the places of its items, counted from 1 in the order they came."""

    def __init__(self, location: str, duplicates: Sequence[tuple[str, Sequence[int]]]) -> None:
        self.duplicates = duplicates
        which = "1 item id is" if len(duplicates) == 1 else f"{len(duplicates):,} item ids are"
        lines = [f"{location}: {which} not unique; give every item an id of its own"]
        for item_id, places in duplicates[:SHOWN]:
            more = f" and {len(places) - 5:,} more" if len(places) > 5 else ""
            lines.append(f"  {item_id!r}: items {', '.join(map(str, places[:5]))}{more}")
        if len(duplicates) > SHOWN:
            lines.append(f"  … and {len(duplicates) - SHOWN:,} more")
        super().__init__("\n".join(lines))


class MissingExtraError(UserError):
    """An optional package is needed."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"{what} needs an optional package; install it, in a clone of Evenhand, with: pip install '.[{extra}]'"
        )


class RaterFailure(EvenhandError):
    """A rater gave no usable answer: the reason, and the reply as it came where there was one."""

    def __init__(self, reason: str, raw: str | None = None) -> None:
        self.reason = reason
        self.raw = raw
        super().__init__(reason)
