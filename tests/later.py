"""Packages that are imported when they are first used, and not by every worker while it collects the tests."""

from importlib import import_module
from typing import Any

import pytest


class Later:
    """A package by its name; where it need not be installed, `reason` is why the tests that use it are skipped."""

    def __init__(self, name: str, reason: str = "") -> None:
        self._name = name
        self._reason = reason

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what pytest asks of everything in a file
            raise AttributeError(name)
        module = pytest.importorskip(self._name, reason=self._reason) if self._reason else import_module(self._name)
        return getattr(module, name)
