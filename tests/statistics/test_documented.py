"""The statistics page names every statistic, and everything it names exists."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import evenhand.statistics as package

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "statistics.md").read_text(encoding="utf-8")
NOT_STATISTICS = {
    "agreement_weights",
    "apply",
    "check_codes",
    "fit",
    "kappa_of_sums",
    "kappa_sums",
    "label_scores",
    "majority_label",
    "match_with",
    "recalibrate",
    "tuned_weight",
    "alt_test",
    "undefined",
}


def modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(package.__path__, "evenhand.statistics.")
    return [import_module(module.name) for module in found if not module.ispkg]


def public_functions() -> set[str]:
    names: set[str] = set()
    for content in modules():
        if ".intervals." in content.__name__:
            continue
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
    for content in modules():
        assert content.__doc__, content.__name__
        for name, value in inspect.getmembers(content, lambda v: inspect.isfunction(v) or inspect.isclass(v)):
            if value.__module__ == content.__name__ and not name.startswith("_"):
                assert value.__doc__, f"{content.__name__}.{name}"
