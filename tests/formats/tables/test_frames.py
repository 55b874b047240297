import pandas as pd
import polars as pl
import pytest

from evenhand.errors import InputError, UserError
from evenhand.formats.items import items_from_frame
from evenhand.protocol.load import load_protocol
from evenhand.records import Item

HALO = load_protocol("halo-support")
ROWS = {
    "sample_id": ["a", "b"],
    "question": ["Q1", "Q2"],
    "context": [["C1", "C2"], ["C3"]],
    "response": ["A1", "A2"],
    "gold_answer": ["G1", None],
}
EXPECTED = [
    Item("a", {"question": "Q1", "context": ("C1", "C2"), "generated_answer": "A1", "gold_answer": "G1"}),
    Item("b", {"question": "Q2", "context": ("C3",), "generated_answer": "A2"}),
]


@pytest.mark.parametrize("frame", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pl.LazyFrame(ROWS)])
def test_frames_of_every_kind_give_the_same_items(frame: pd.DataFrame | pl.DataFrame | pl.LazyFrame):
    assert list(items_from_frame(frame, HALO)) == EXPECTED


def test_missing_cells_of_pandas_are_absent():
    frame = pd.DataFrame({**ROWS, "gold_answer": [float("nan"), pd.NA]})
    assert [dict(item.fields).get("gold_answer") for item in items_from_frame(frame, HALO)] == [None, None]


def test_a_bad_cell_is_named_by_its_row_and_column():
    with pytest.raises(InputError, match=r'data frame: row 2, column "question": empty'):
        list(items_from_frame(pd.DataFrame({**ROWS, "question": ["Q1", None]}), HALO))


def test_something_else_is_refused():
    with pytest.raises(UserError, match="a pandas or Polars data frame is needed, not dict"):
        items_from_frame(ROWS, HALO)  # pyright: ignore[reportArgumentType]
