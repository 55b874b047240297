import pkgutil
import re
from importlib import import_module

import evenhand
from evenhand import errors
from evenhand.errors import DuplicateItemError, EvenhandError, InputError, Problem
from evenhand.text import counted, masked, some_of


def test_problems_of_one_cause_are_one_line_and_stay_complete():
    alike = [Problem("empty", row=row, column="id", fix="fill it in") for row in range(2, 322)]
    error = InputError("a.csv", alike)
    assert str(error) == 'a.csv: rows 2, 3, 4 and 317 more, column "id": empty (fill it in)'
    assert list(error.problems) == alike


def test_other_problems_have_lines_of_their_own():
    problems = [Problem("empty", row=2), Problem("odd", row=3), Problem("empty", row=5), Problem("bad", line=7)]
    assert str(InputError("a.csv", problems)).split("\n") == [
        "a.csv: 4 problems",
        "  rows 2 and 5: empty",
        "  row 3: odd",
        "  line 7: bad",
    ]


def test_up_to_four_places_are_named():
    four = [Problem("odd", row=row) for row in (2, 3, 4, 5)]
    assert str(InputError("a.csv", four)) == "a.csv: rows 2, 3, 4 and 5: odd"
    five = [Problem("odd", line=line) for line in (2, 3, 4, 5, 6)]
    assert str(InputError("a.csv", five)) == "a.csv: lines 2, 3, 4 and 2 more: odd"


def test_what_is_not_shown_is_counted():
    # 60 causes, two rows each; 50 causes are shown, so 10 × 2 problems are not, and 5 more were never kept.
    problems = [Problem(f"cause {n}", row=row) for n in range(60) for row in (2 * n, 2 * n + 1)]
    lines = str(InputError("a.csv", problems, more=5)).split("\n")
    assert lines[0] == "a.csv: 125 problems"
    assert lines[-1] == "  … and 25 more"
    assert len(lines) == 52


def test_counts_and_lists_in_words():
    assert [counted(n, "row") for n in (0, 1, 2, 1_000)] == ["0 rows", "1 row", "2 rows", "1,000 rows"]
    assert some_of(["a", "b"]) == "a, b"
    assert some_of([f"c{n}" for n in range(10_000)]).endswith("c18, c19 … and 9,980 more")
    assert "1 item id is not unique" in str(DuplicateItemError([("a", [1, 2])]))
    assert "2 item ids are not unique" in str(DuplicateItemError([("a", [1, 2]), ("b", [3, 4])]))


def test_passwords_are_masked():
    assert masked("see mysql://bob:se:c@ret@host/db now") == "see mysql://bob:***@host/db now"
    assert masked("x://h/db?user=b&password=secret&a=1") == "x://h/db?user=b&password=***&a=1"
    assert masked("http://host:80/path") == "http://host:80/path"


def test_a_text_that_a_problem_quotes_is_shortened():
    assert len(str(Problem("x" * 10_000, row=1, fix="leave it out"))) < 1_100


def test_the_drawing_of_the_exception_tree_is_complete():
    for module in pkgutil.walk_packages(evenhand.__path__, "evenhand."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    assert drawn_parents(errors.__doc__ or "") == dict(parents(EvenhandError))


def parents(error: type[Exception]) -> list[tuple[str, str]]:
    """Every subclass with its parent."""
    found: list[tuple[str, str]] = []
    for child in error.__subclasses__():
        if child.__module__.startswith("evenhand."):
            found += [(child.__name__, error.__name__), *parents(child)]
    return found


def drawn_parents(drawing: str) -> dict[str, str]:
    """The same, read from the drawing: a name's parent is the last one above it that is indented less."""
    found: dict[str, str] = {}
    branch: list[tuple[int, str]] = []
    for match in re.finditer(r"^([ │├└─]+)([A-Z]\w+)(?:  .*| \*.*)?$", drawing, re.MULTILINE):
        indent, name = len(match[1]), match[2]
        branch = [(depth, above) for depth, above in branch if depth < indent]
        if branch:
            found[name] = branch[-1][1]
        branch.append((indent, name))
    return found
