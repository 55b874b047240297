import numpy as np

from evenhand.analysis.tables import Table, TableBuilder, Tables
from evenhand.protocol.load import load_protocol
from evenhand.records import Kind, RaterRef, Status
from evenhand.scales import PERCENT

HALO = load_protocol("halo-support")
SUPPORT = HALO.criteria[0]


def built(*rows: tuple[int, int, Status, str | None]) -> Table:
    builder = TableBuilder(SUPPORT, n_units=3, n_raters=2)
    for unit, rater, status, value in rows:
        builder.add(unit, rater, status, value)
    return builder.build()


def test_labels_become_codes_in_the_order_of_the_scale():
    table = built((0, 0, Status.RATED, "NO EVIDENCE"), (2, 1, Status.RATED, "SUPPORTED"))
    assert list(table.values) == ["SUPPORTED", "CONTRADICTED", "NO EVIDENCE"]
    assert table.codes.tolist() == [[2, -1], [-1, -1], [-1, 0]]


def test_the_later_of_two_ratings_counts_whatever_became_of_it():
    table = built(
        (0, 0, Status.RATED, "SUPPORTED"),
        (1, 0, Status.RATED, "SUPPORTED"),
        (0, 0, Status.RATED, "CONTRADICTED"),
        (1, 0, Status.SKIPPED, None),
    )
    assert table.codes.tolist() == [[1, -1], [-1, -1], [-1, -1]]
    assert table.status_counts()[Status.RATED] == 1
    assert table.status_counts()[Status.SKIPPED] == 1


def test_what_is_not_rated_is_counted_and_has_no_value():
    table = built((0, 0, Status.FAILED, None), (1, 0, Status.CANNOT_ASSESS, None), (2, 1, Status.RATED, "SUPPORTED"))
    assert table.statuses == [{Status.CANNOT_ASSESS: 1, Status.FAILED: 1}, {Status.RATED: 1}]
    assert table.code.tolist() == [0]


def test_an_empty_table_is_a_table():
    table = built()
    assert table.codes.tolist() == [[-1, -1]] * 3
    assert table.confidence is None


def test_percentages_are_put_in_order_and_keep_their_numbers():
    criterion = SUPPORT.model_copy(update={"scale": PERCENT})
    builder = TableBuilder(criterion, n_units=3, n_raters=1)
    for unit, value in enumerate([80.0, 5.0, 80.0]):
        builder.add(unit, 0, Status.RATED, value, confidence=50.0 if unit == 1 else None)
    table = builder.build()
    assert list(table.values) == [5.0, 80.0]
    assert table.codes[:, 0].tolist() == [1, 0, 1]
    assert table.scores is not None
    assert table.scores.tolist() == [5.0, 80.0]
    assert table.confidence is not None
    assert np.isnan(table.confidence).tolist() == [True, False, True]


def test_a_unit_s_place_is_its_item_and_position():
    raters = [RaterRef("ann", Kind.PERSON), RaterRef("rule", Kind.RULE)]
    tables = Tables(HALO, raters, 3, 6, {}, clusters=np.array([0, 0, 0, 1, 2, 2]))
    assert [tables.place(unit) for unit in range(6)] == [(0, 1), (0, 2), (0, 3), (1, 1), (2, 1), (2, 2)]
    assert tables.by_unit(["a", None, "c"]) == ["a", "a", "a", None, "c", "c"]
    assert (tables.people(), tables.machines()) == ([0], [1])
