"""Ratings as arrays: the same on every database, and what they say in the store."""

from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Status
from evenhand.study import Study

STEM = load_protocol("stem-accuracy")
ITEMS = [
    Item("a", {"question": "Q?", "article": "A.", "response": "One. Two. Three."}),
    Item("b", {"question": "Q?", "article": "A.", "response": "Only one."}),
]
ANN, AUTO = RaterRef("ann", Kind.PERSON), RaterRef("auto", Kind.MODEL)


def rated(unit: str, rater: str, value: str, confidence: float | None = None) -> Rating:
    digest = STEM.digest
    return Rating(unit=unit, criterion="accuracy", rater=rater, digest=digest, value=value, confidence=confidence)


def test_units_and_raters_are_numbered_in_their_order(store_location: str):
    with Study.create(store_location, STEM, ITEMS) as study:
        ratings = [
            rated("b#1", "auto", "Accurate"),
            rated("a#2", "ann", "Disputed"),
            rated("a#2", "auto", "Inaccurate"),
        ]
        study.store.ratings.add(ratings, raters=[ANN, AUTO])
        tables = study.store.tables()
    assert [rater.id for rater in tables.raters] == ["ann", "auto"]
    assert tables.clusters is not None
    assert tables.clusters.tolist() == [0, 0, 0, 1]
    assert tables.tables["accuracy"].codes.tolist() == [[-1, -1], [1, 3], [-1, -1], [-1, 0]]
    assert tables.tables["severity"].codes.tolist() == [[-1, -1]] * 4


def test_only_what_is_in_force_counts_and_failures_keep_their_reasons(store_location: str):
    with Study.create(store_location, STEM, ITEMS) as study:
        failed = Rating(
            unit="a#1", criterion="accuracy", rater="auto", digest=STEM.digest, status=Status.FAILED, reason="timed out"
        )
        again = Rating(
            unit="a#3", criterion="accuracy", rater="auto", digest=STEM.digest, status=Status.FAILED, reason="refused"
        )
        study.store.ratings.add([failed, again, rated("a#2", "ann", "Accurate", 80.0)], raters=[ANN, AUTO])
        study.store.ratings.add([rated("a#1", "auto", "Accurate"), rated("a#2", "ann", "Unsupported", 60.0)])
        tables = study.store.tables()
    table = tables.tables["accuracy"]
    assert table.codes.tolist() == [[-1, 0], [2, -1], [-1, -1], [-1, -1]]
    assert tables.failures == {"auto": {"refused": 1}}
    assert table.confidence is not None
    assert {
        (int(unit), float(sure)) for unit, sure in zip(table.unit, table.confidence, strict=True) if sure == sure
    } == {(1, 60.0)}


def test_ratings_under_another_protocol_are_counted_apart(store_location: str):
    changed = STEM.model_copy(update={"version": "changed"})
    with Study.create(store_location, STEM, ITEMS) as study:
        study.store.ratings.add([rated("a#1", "ann", "Accurate")], raters=[ANN])
        study.adopt(changed)
        tables = study.store.tables()
    assert tables.left_out == {STEM.digest: 1}
    assert (tables.tables["accuracy"].codes == -1).all()


def test_items_by_their_place(store_location: str):
    with Study.create(store_location, STEM, ITEMS) as study:
        assert [item.id for item in study.store.items.at([1, 0, 1])] == ["b", "a", "b"]


def test_items_of_one_document_stay_together(store_location: str):
    changed = Protocol.model_validate(
        {
            **STEM.model_dump(mode="json", exclude_defaults=True),
            "cluster": "paper",
            "item": {
                "fields": {
                    **STEM.model_dump(mode="json", exclude_defaults=True)["item"]["fields"],
                    "paper": {"role": "context", "kind": "label", "required": False},
                }
            },
        }
    )
    texts = {"question": "Q?", "article": "A.", "response": "One. Two."}
    papers = {"a": "p1", "b": None, "c": "p1", "d": None}
    items = [Item(name, texts if paper is None else {**texts, "paper": paper}) for name, paper in papers.items()]
    with Study.create(store_location, changed, items) as study:
        tables = study.store.tables()
    assert tables.together is not None
    assert tables.together.tolist() == [0, 0, 1, 1, 0, 0, 2, 2]
    assert [tables.place(unit) for unit in (0, 5, 6)] == [(0, 1), (2, 2), (3, 1)]
