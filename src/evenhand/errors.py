"""The exception tree: every exception that Evenhand raises on purpose. Those marked * are defined in other modules.

    EvenhandError
    ├── UserError                 something the user can fix; the command line exits with 2
    │   ├── InputError            a file or its content: rows, columns, cells, keys, each with its location
    │   │   └── ProtocolError     a protocol file, or a rating that does not fit its protocol
    │   ├── StudyError            the study itself: missing, read-only, full disk
    │   │   ├── NotAStudyError    something else is at this path or URL
    │   │   ├── NewerStudyError   the study was made by a newer version
    │   │   ├── ConflictError     the rating was changed in the meantime
    │   │   └── DuplicateItemError  two items of one study have the same id
    │   └── MissingExtraError     an optional package is needed and not installed
    ├── RaterFailure              a rater gave no usable answer; it becomes a `failed` rating
    ├── CallError *               a call to a model failed (llm)
    │   └── RunError *            no further call can succeed, so the run ends (llm)
    ├── CapReached *              the cost limit of a run is reached (run)
    └── Stopped *                 the run was stopped (run)

Anything else that escapes is a bug of ours and keeps its traceback. Errors of libraries (sqlite3, psycopg, expat,
yaml, pydantic) are translated where the library is called.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from evenhand.text import counted, listed, shortened

SHOWN = 50
"""Causes that a message lists before the rest is only counted."""

PLACES = 3
"""Rows or lines that are named for one cause before the rest is only counted."""

KEPT = 1_000
"""Problems of one file that are kept in full."""

MOST = 100_000
"""Problems after which a file is read no further."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: what, where, and how to fix it.

    Rows are numbered as a spreadsheet shows them, with the header as row 1; lines as in a text editor.
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
        """One line for this problem and those like it, which differ only in their rows or lines."""
        places = [
            _places("line", [problem.line for problem in alike if problem.line is not None]),
            _places("row", [problem.row for problem in alike if problem.row is not None]),
            f'column "{shortened(self.column, 100)}"' if self.column is not None else None,
            self.key,
        ]
        where = ", ".join(place for place in places if place)
        text = f"{where}{': ' if where else ''}{shortened(self.what, 1_000)}"
        return f"{text} ({self.fix})" if self.fix else text


def _places(noun: str, numbers: Sequence[int]) -> str | None:
    """`row 2`, `rows 2 and 3`, `rows 2, 3, 4 and 317 more`."""
    if not numbers:
        return None
    if len(numbers) > PLACES + 1:
        return f"{noun}s {listed([*numbers[:PLACES], f'{len(numbers) - PLACES:,} more'])}"
    return f"{noun}{'' if len(numbers) == 1 else 's'} {listed(numbers)}"


class EvenhandError(Exception):
    """The root of every exception that Evenhand raises on purpose."""


class UserError(EvenhandError):
    """Something the user can fix. The message says what is wrong, where, what is valid and what to do."""


class InputError(UserError):
    """Bad input, with every problem that was found. The message has one line per cause."""

    def __init__(self, source: str, problems: Iterable[Problem] | str, *, more: int = 0) -> None:
        self.source = source
        self.problems: Sequence[Problem] = (Problem(problems),) if isinstance(problems, str) else tuple(problems)
        self.more = more
        super().__init__(self._message())

    def _message(self) -> str:
        causes: dict[Problem, list[Problem]] = {}
        for problem in self.problems:
            causes.setdefault(replace(problem, row=None, line=None), []).append(problem)
        lines_by_cause = [(first.at(alike), len(alike)) for first, alike in causes.items()]
        if len(lines_by_cause) == 1 and not self.more:
            return f"{self.source}: {lines_by_cause[0][0]}"
        total = len(self.problems) + self.more
        lines = [f"{self.source}: {counted(total, 'problem')}{' or more' if total >= MOST else ''}"]
        lines += [f"  {line}" for line, _ in lines_by_cause[:SHOWN]]
        hidden = total - sum(count for _, count in lines_by_cause[:SHOWN])
        if hidden:
            lines.append(f"  … and {hidden:,} more")
        return "\n".join(lines)


class Problems:
    """The problems of one file: a reader goes on after the first bad cell and reports all of them in one error.

    The first thousand are kept in full, the others are counted, and at MOST problems the error is raised at once.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._kept: list[Problem] = []
        self._cells: set[tuple[int | None, str | None]] = set()
        self._more = 0

    def __len__(self) -> int:
        return len(self._kept) + self._more

    def __contains__(self, cell: tuple[int, str]) -> bool:
        """Whether a problem with this cell, given by its row and column, is among those that are kept."""
        return cell in self._cells

    def add(self, what: str, *, row: int | None = None, column: str | None = None, fix: str | None = None) -> None:
        self.extend([Problem(what, row=row, column=column, fix=fix)])

    def extend(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            if len(self._kept) < KEPT:
                self._kept.append(problem)
                self._cells.add((problem.row, problem.column))
            else:
                self._more += 1
            if len(self) >= MOST:
                self.raise_if_any()

    def raise_if_any(self) -> None:
        """Raise one InputError with all of them, from the top of the file to its end."""
        if self:
            ordered = sorted(self._kept, key=lambda problem: (problem.row or 0, problem.line or 0))
            raise InputError(self.source, ordered, more=self._more)


class ProtocolError(InputError):
    """A protocol file that cannot be used, or a value that does not fit its protocol."""


class StudyError(UserError):
    """A study that cannot be created, opened or written. `location` says which; the store adds it on the way out."""

    def __init__(self, message: str, *, location: str | None = None) -> None:
        super().__init__(message)
        self.location = location

    def __str__(self) -> str:
        message = super().__str__()
        return message if self.location is None else f"{self.location}: {message}"


class NotAStudyError(StudyError):
    """The path or URL does not lead to a study."""


class NewerStudyError(StudyError):
    """The study was made by a newer version than this one."""


class ConflictError(StudyError):
    """A rating was changed in the meantime; nothing was overwritten."""


class DuplicateItemError(StudyError):
    """Items share an id: each such id with the positions of its items, counted from 1."""

    def __init__(self, duplicates: Sequence[tuple[str, Sequence[int]]]) -> None:
        self.duplicates = duplicates
        which = "1 item id is" if len(duplicates) == 1 else f"{len(duplicates):,} item ids are"
        lines = [f"{which} not unique; give every item an id of its own"]
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


def optional_module(name: str, what: str, extra: str) -> Any:
    """A module of an optional package, which `what` needs. Raises MissingExtraError if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(what, extra) from None


class RaterFailure(EvenhandError):
    """A rater gave no usable answer: the reason, and the raw reply if there was one."""

    def __init__(self, reason: str, raw: str | None = None) -> None:
        self.reason = reason
        self.raw = raw
        super().__init__(reason)
