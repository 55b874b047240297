"""A collector of problems: a reader goes on after the first bad cell and reports everything in one error."""

from collections.abc import Iterable

from evenhand.errors import InputError, Problem

CAP = 1_000


class Problems:
    """The problems of one file. The first thousand are kept in full, the others are counted."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._kept: list[Problem] = []
        self._more = 0

    def __len__(self) -> int:
        return len(self._kept) + self._more

    def add(self, what: str, *, row: int | None = None, column: str | None = None, fix: str | None = None) -> None:
        self.extend([Problem(what, row=row, column=column, fix=fix)])

    def extend(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            if len(self._kept) < CAP:
                self._kept.append(problem)
            else:
                self._more += 1

    def raise_if_any(self) -> None:
        """Raise one InputError with all of them, from the top of the file to its end."""
        if self:
            ordered = sorted(self._kept, key=lambda problem: (problem.row or 0, problem.line or 0))
            raise InputError(self.source, ordered, more=self._more)
