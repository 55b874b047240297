"""The statistics page names every statistic, and everything it names exists."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import evenhand.agreement as package

PAGE = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
# Parts that statistics are made of, which a reader of their results does not meet.
PARTS = {"arrays", "blocks", "bootstrap", "distributions", "ratio", "weights", "intervals", "result"}
NOT_STATISTICS = {
    "fleiss_null_z",
    "kappa_of_cells",
    "kappa_standard_error",
    "macro_f1_of_cells",
    "majority_label",
    "majority_of",
    "mean_squares",
    "corrected",
    "spans_of",
    "squared_differences",
    "tuned_weight",
    "unit_disagreement",
    "alt_test",
}


def public_functions() -> set[str]:
    names: set[str] = set()
    for module in pkgutil.iter_modules(package.__path__):
        if module.name in PARTS:
            continue
        content = import_module(f"evenhand.agreement.{module.name}")
        for name, value in inspect.getmembers(content, inspect.isfunction):
            if value.__module__ == content.__name__ and not name.startswith("_"):
                names.add(name)
    return names


def test_every_statistic_is_documented() -> None:
    documented = set(re.findall(r"`(\w+)[`(]", PAGE))
    assert not public_functions() - NOT_STATISTICS - documented


def test_the_exceptions_are_functions() -> None:
    assert not NOT_STATISTICS - public_functions()


def test_every_public_name_has_a_docstring() -> None:
    for module in pkgutil.iter_modules(package.__path__):
        content = import_module(f"evenhand.agreement.{module.name}")
        assert content.__doc__, module.name
        for name, value in inspect.getmembers(content, lambda v: inspect.isfunction(v) or inspect.isclass(v)):
            if value.__module__ == content.__name__ and not name.startswith("_"):
                assert value.__doc__, f"{module.name}.{name}"
