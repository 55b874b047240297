"""The reference table: published data sets and what each statistic must give on them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.statistics.confusion import Cross, cross_table
from evenhand.statistics.counts import Counts, count_table, count_wide
from evenhand.statistics.estimate import FloatArray, IntArray

DATA = Path(__file__).parent / "data" / "reference.json"
TABLE: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in TABLE["cases"]}


@dataclass(frozen=True)
class Expectation:
    """One value that a statistic must give on one data set."""

    case: str
    stat: str
    value: float | None
    tolerance: float

    def __str__(self) -> str:
        return f"{self.case}:{self.stat}"


EXPECTATIONS = [
    Expectation(case["id"], row["stat"], row["value"], row["tol"]) for case in TABLE["cases"] for row in case["expect"]
]


def scores_table(case: str) -> FloatArray:
    """A units × raters table of scores, NaN where missing."""
    return np.array(CASES[case]["items_x_raters"], dtype=np.float64)


def coded(case: str) -> tuple[IntArray, FloatArray]:
    """A units × raters table as codes, with the labels' scores; the labels are those that occur."""
    table = scores_table(case)
    values = np.unique(table[~np.isnan(table)])
    codes = np.where(np.isnan(table), -1, np.searchsorted(values, table))
    return codes.astype(np.int64), values


def counts_of(case: str) -> Counts:
    """A case's label counts, whichever way it is written down."""
    content = CASES[case]
    if "counts" in content:
        return count_table(np.array(content["counts"], dtype=np.int64))
    if "table" in content:
        rows = [
            np.bincount([i, j], minlength=len(content["table"]))
            for i, row in enumerate(content["table"])
            for j, times in enumerate(row)
            for _ in range(times)
        ]
        return count_table(np.array(rows, dtype=np.int64))
    codes, values = coded(case)
    return count_wide(codes, len(values), values)


def pair_of(case: str) -> Cross:
    """A case's confusion table."""
    return cross_table(np.array(CASES[case]["table"], dtype=np.int64))
