from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from evenhand.errors import InputError, StudyError, UserError
from evenhand.formats.items import read_items, sample
from evenhand.item_generation import generate
from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Kind, RaterRef, Rating
from evenhand.study import Shape, Study

PROTOCOL = """\
name: mine
version: "1"
title: Mine
item:
  fields:
    turn: {role: rated}
    source: {role: context, kind: label, required: false}
strata: [source]
criteria:
  - id: tone
    question: How is the tone?
    scale:
      type: ordinal
      levels: {1: {label: Cold, anchor: Distant.}, 2: {label: Warm, anchor: Kind.}}
"""


def test_a_changed_protocol_is_announced_and_adopted_without_mixing_ratings(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(PROTOCOL, encoding="utf-8")
    with Study.create(tmp_path / "s.db", file, [Item("a", {"turn": "Hi."})]) as study:
        study.import_ratings(_ratings(tmp_path, "a,1"), rater="ann")
        first = study.protocol.digest
    file.write_text(PROTOCOL.replace("Distant.", "Distant or curt.").replace('"1"', '"2"'), encoding="utf-8")

    with Study.open(tmp_path / "s.db") as study:
        assert study.change is not None
        assert "1 → 2" in str(study.change)
        assert f"evenhand protocol adopt {tmp_path / 's.db'} {file}" in str(study.change)
        assert study.protocol.digest == first
        study.adopt(file)
        assert study.change is None
        assert study.protocol.digest != first
        assert list(study.ratings()) == []
        study.import_ratings(_ratings(tmp_path, "a,2"), rater="ann")
        assert [rating.value for rating in study.ratings()] == [2]
        assert [rating.value for rating in study.store.ratings.all(digest=first)] == [1]
        assert (study.count_ratings(), study.count_ratings(every_digest=True)) == (1, 2)
    with Study.open(tmp_path / "s.db") as study:
        assert study.change is None


def test_comments_and_a_missing_file_are_no_change(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(PROTOCOL, encoding="utf-8")
    Study.create(tmp_path / "s.db", file, [Item("a", {"turn": "Hi."})]).close()
    file.write_text("# a comment\n" + PROTOCOL, encoding="utf-8")
    with Study.open(tmp_path / "s.db") as study:
        assert study.change is None
    file.unlink()
    with Study.open(tmp_path / "s.db") as study:
        assert study.change is None


def test_a_protocol_with_other_units_is_not_adopted(tmp_path: Path):
    with Study.create(tmp_path / "s.db", "stem-accuracy", [_stem_item()]) as study:
        with pytest.raises(StudyError):
            study.adopt("halo-support")
        assert study.protocol.name == "stem-accuracy"


def test_duplicate_items_that_come_from_python_are_named(tmp_path: Path):
    twice = [Item("a", {"turn": "Hi."}), Item("a", {"turn": "Ho."})]
    file = tmp_path / "mine.yaml"
    file.write_text(PROTOCOL, encoding="utf-8")
    with pytest.raises(StudyError, match="'a'"):
        Study.create(tmp_path / "s.db", file, twice)
    assert not (tmp_path / "s.db").exists()


def test_an_import_that_fails_leaves_nothing(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(PROTOCOL, encoding="utf-8")
    with Study.create(tmp_path / "s.db", file, [Item("a", {"turn": "Hi."}), Item("b", {"turn": "Ho."})]) as study:
        with pytest.raises(InputError, match='row 3, column "tone"'):
            study.import_ratings(_ratings(tmp_path, "a,1", "b,9"), rater="ann")
        assert list(study.ratings()) == []
        assert study.raters() == []


def test_a_second_import_supersedes_what_changed_and_passes_over_the_rest(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(PROTOCOL, encoding="utf-8")
    with Study.create(tmp_path / "s.db", file, [Item("a", {"turn": "Hi."}), Item("b", {"turn": "Ho."})]) as study:
        study.import_ratings(_ratings(tmp_path, "a,1", "b,1"), rater="ann")
        added = study.import_ratings(_ratings(tmp_path, "a,1", "b,2"), rater="ann").added
        assert (added.new, added.superseding, added.known) == (0, 1, 1)
        assert [rating.value for rating in study.ratings()] == [1, 2]
        history = [rating.value for rating in study.store.ratings.all(history=True)]
    assert sorted(history, key=str) == [1, 1, 2]


def test_a_sheet_under_a_raters_name_by_mistake(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(PROTOCOL, encoding="utf-8")
    with Study.create(tmp_path / "s.db", file, [Item("a", {"turn": "Hi."})]) as study:
        study.import_ratings([{"id": "a", "tone": 1}], rater="bot", kind=Kind.MODEL)
        with pytest.raises(InputError, match="'bot' is a model in this study, not a person"):
            study.import_ratings([{"id": "a", "tone": 2}], rater="bot")
        study.export_ratings(tmp_path / "long.csv")
        assert study.import_ratings(tmp_path / "long.csv").added.known == 1
        assert [rating.value for rating in study.ratings()] == [1]
        summary = str(study.import_ratings([{"id": "a", "tone": 2}], rater="Bot"))
        assert summary.endswith("\n  new rater Bot: the study also has bot")


def test_the_files_of_the_support_guide_bring_person_and_model_at_once(tmp_path: Path):
    items = tmp_path / "human_eval_samples.csv"
    items.write_text(
        "id,question,context,generated_answer,gold_answer,auto_label,human_label,notes\n"
        "sample_001,Q,C,A,G,SUPPORTED,supported,sure\n"
        "sample_002,Q,C,A,G,NO_EVIDENCE,No Evidence ,\n"
        "sample_003,Q,C,A,G,CONTRADICTED,,\n",
        encoding="utf-8",
    )
    with Study.create(tmp_path / "s.db", "halo-support", read_items(items, load_protocol("halo-support"))) as study:
        imported = study.import_ratings(items, rater="ann")
        assert imported.summary.ratings == {"ann": 2, "auto": 3}
        kinds = {rater.id: rater.kind for rater in study.raters()}
        assert kinds == {"ann": Kind.PERSON, "auto": Kind.MODEL}
        values = {(rating.rater, rating.unit): rating.value for rating in study.ratings()}
        notes = {rating.notes for rating in study.ratings(rater="ann")}
    assert values == {
        ("ann", "sample_001"): "SUPPORTED",
        ("auto", "sample_001"): "SUPPORTED",
        ("ann", "sample_002"): "NO EVIDENCE",
        ("auto", "sample_002"): "NO EVIDENCE",
        ("auto", "sample_003"): "CONTRADICTED",
    }
    assert notes == {"sure", None}


def test_a_long_export_fills_a_copy_with_the_same_ratings(tmp_path: Path):
    with Study.create(tmp_path / "a.db", "stem-accuracy", [_stem_item()]) as study:
        digest = study.protocol.digest
        study.store.ratings.add(
            [
                Rating(unit="x#1", criterion="accuracy", rater="=ann", digest=digest, value="Disputed",
                       rationale="+1 for\nthe claim", notes="-", seconds=2.5),
                Rating(unit="x#1", criterion="severity", rater="=ann", digest=digest, value="Severe"),
            ],
            raters=[_person("=ann")],
        )  # fmt: skip
        study.export_ratings(tmp_path / "long.csv")
        before = list(study.ratings())
    with Study.create(tmp_path / "b.db", "stem-accuracy", [_stem_item()]) as copy:
        copy.import_ratings(tmp_path / "long.csv")
        after = list(copy.ratings())
    compared = ("unit", "criterion", "rater", "status", "value", "rationale", "notes", "seconds", "at")
    assert [[getattr(r, name) for name in compared] for r in after] == [
        [getattr(r, name) for name in compared] for r in before
    ]


def test_a_sample_is_drawn_in_proportion_and_said(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(PROTOCOL, encoding="utf-8")
    protocol = load_protocol(file)
    rows = [f"{n},turn {n},{'forum' if n % 4 else 'mail'}" for n in range(100)]
    (tmp_path / "items.csv").write_text("id,turn,source\n" + "\n".join(rows), encoding="utf-8")
    items = read_items(tmp_path / "items.csv", protocol)
    drawn, what = sample(items, protocol, 20, ["source"], seed=3)
    # 75 forum and 25 mail: 15 and 5 of 20.
    assert what.strata == {("forum",): (15, 75), ("mail",): (5, 25)}
    chosen = [item.id for item in drawn]
    assert len(chosen) == 20
    assert [item.id for item in sample(items, protocol, 20, ["source"], seed=3)[0]] == chosen
    assert [item.id for item in sample(items, protocol, 20, ["source"], seed=4)[0]] != chosen


def _ratings(folder: Path, *rows: str) -> Path:
    path = folder / "ratings.csv"
    path.write_text("id,tone\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def _stem_item() -> Item:
    return Item("x", {"question": "Q?", "article": "A.", "response": "One. Two."})


def _person(name: str) -> RaterRef:
    return RaterRef(name, Kind.PERSON)


def test_an_unknown_shape_is_answered_with_the_right_ones(tmp_path: Path):
    with Study.create(tmp_path / "s.db", "stem-accuracy", [_stem_item()]) as study:
        with pytest.raises(UserError, match="no shape 'tall'; valid are long, wide, blind, diagnosis"):
            study.export_ratings(tmp_path / "a.csv", "tall")  # pyright: ignore[reportArgumentType]
        with pytest.raises(UserError, match="goes with the shapes long and wide"):
            study.export_ratings(tmp_path / "a.csv", "blind", digest="00")
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize("shape", ["long", "wide", "blind", "diagnosis"])
def test_no_export_replaces_a_file_unasked(tmp_path: Path, shape: Shape):
    path = tmp_path / "mine.csv"
    path.write_text("mine", encoding="utf-8")
    with Study.create(tmp_path / "s.db", "stem-accuracy", [_stem_item()]) as study:
        with pytest.raises(UserError, match="already exists"):
            study.export_ratings(path, shape)
        assert path.read_text(encoding="utf-8") == "mine"
        study.export_ratings(path, shape, overwrite=True)
    assert path.read_text(encoding="utf-8-sig").startswith("item,unit")


def test_an_earlier_version_is_exported_and_put_in_force_again(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(PROTOCOL, encoding="utf-8")
    with Study.create(tmp_path / "s.db", file, [Item("a", {"turn": "Hi."})]) as study:
        first = study.protocol
        study.import_ratings(_ratings(tmp_path, "a,1"), rater="ann")
        study.export_ratings(tmp_path / "sheet.csv", "blind")
        file.write_text(PROTOCOL.replace("tone", "warmth").replace('"1"', '"2"'), encoding="utf-8")
        study.adopt(file)
        assert study.export_ratings(tmp_path / "now.csv") == 0
        assert study.export_ratings(tmp_path / "long.csv", digest=first.digest[:6]) == 1
        assert study.export_ratings(tmp_path / "wide.csv", "wide", digest=first.digest) == 1
        assert (tmp_path / "wide.csv").read_text(encoding="utf-8").splitlines() == [
            "item,unit,source,tone:ann",
            "a,1,,1",
        ]
        with pytest.raises(InputError, match=rf"{first.digest[:12]}.*{study.protocol.digest[:12]}"):
            study.import_ratings(tmp_path / "long.csv")
        assert [version.protocol.version for version in study.versions()] == ["1", "2"]
        with pytest.raises(UserError, match=rf"no version .* begins with '0{{6}}'; there are: {first.digest[:12]}, "):
            study.version("000000")
        study.adopt(first.digest[:12])
        assert study.protocol == first
        assert [rating.value for rating in study.ratings()] == [1]
        assert study.import_ratings(tmp_path / "long.csv").added.known == 1
    with Study.open(tmp_path / "s.db") as study:
        # Going back was a decision: the file that reads otherwise is not announced again and again.
        assert study.change is None


def test_the_rows_that_a_blind_sheet_has_lost_are_counted(tmp_path: Path):
    sheet = tmp_path / "sheet.csv"
    items = [{"id": name, "question": "Q?", "context": "C.", "generated_answer": name} for name in "123"]
    with Study.create(tmp_path / "s.db", "halo-support", items) as study:
        study.export_ratings(sheet, "blind")
        head, *rows = sheet.read_text(encoding="utf-8-sig").splitlines()
        assert study.import_ratings(sheet, rater="ann").absent == 0
        sheet.write_text("\n".join([head, *rows[:1]]), encoding="utf-8")
        found = study.import_ratings(sheet, rater="ann")
        assert (found.absent, "2 units" in str(found)) == (2, True)
        assert study.import_ratings([{"id": "1", "support": "SUPPORTED"}], rater="ann").absent == 0


def test_a_sheet_for_other_texts_is_not_imported(tmp_path: Path):
    with Study.create(tmp_path / "a.db", "stem-accuracy", [_stem_item()]) as study:
        study.export_ratings(tmp_path / "sheet.csv", "blind")
    filled = (tmp_path / "sheet.csv").read_text(encoding="utf-8").replace(",One.,,", ",One.,Accurate,")
    (tmp_path / "sheet.csv").write_text(filled, encoding="utf-8")
    other = Item("x", {"question": "Q?", "article": "B.", "response": "One. Two."})
    with Study.create(tmp_path / "b.db", "stem-accuracy", [other]) as study:
        with pytest.raises(InputError, match="this sheet was made for other items or other texts"):
            study.import_ratings(tmp_path / "sheet.csv", rater="ann")
        assert list(study.ratings()) == []
    with Study.open(tmp_path / "a.db") as study:
        study.import_ratings(tmp_path / "sheet.csv", rater="ann")
        assert [rating.value for rating in study.ratings(criterion="accuracy")] == ["Accurate"]


ROWS: list[dict[str, object]] = [
    {"id": "a", "Frage": "Q?", "context": ["One.", "Two."], "generated_answer": "One.", "system": "x"},
    {"id": "b", "Frage": "R?", "context": ["Three."], "generated_answer": "Four.", "system": "y"},
]


@pytest.mark.parametrize("make", [list, pd.DataFrame, pl.DataFrame], ids=["dicts", "pandas", "polars"])
def test_a_study_is_made_from_dicts_and_frames(make: Callable[[Any], Any]):
    with Study.create(":memory:", "halo-support", make(ROWS), mapping={"question": "Frage"}) as study:
        assert [item.id for item in study.items()] == ["a", "b"]
        assert study.item("a") == Item("a", {"question": "Q?", "context": ("One.", "Two."), "generated_answer": "One."})
        ratings = make([{"id": "a", "support": "SUPPORTED"}, {"id": "b", "support": None}])
        assert study.import_ratings(ratings, rater="ann").added.new == 1
        assert [rating.value for rating in study.ratings()] == ["SUPPORTED"]


def test_a_study_is_overwritten_only_if_asked_and_only_if_the_new_one_can_be_made(tmp_path: Path):
    path, rows = tmp_path / "s.db", [{**row, "question": "Q?"} for row in ROWS]
    Study.create(path, "halo-support", rows).close()
    with pytest.raises(StudyError):
        Study.create(path, "halo-support", rows[:1])
    with pytest.raises(InputError):
        Study.create(path, "halo-support", [rows[0], rows[0]], overwrite=True)
    with Study.open(path) as study:
        assert len(list(study.items())) == 2
    with Study.create(path, "halo-support", rows[:1], overwrite=True) as study:
        assert [item.id for item in study.items()] == ["a"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["s.db"]
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError):
        Study.create(tmp_path / "mine.txt", "halo-support", rows, overwrite=True)
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_pairs_of_one_chunk_count_as_one_for_the_interval(tmp_path: Path):
    # Twenty chunks of five pairs each; all pairs of a chunk have the same rating.
    levels = {f"i{n}": 1 + (n // 5) % 5 for n in range(100)}
    fields = {"question": "Q?", "answer": "A.", "source": "S.", "triples": "a → b → c"}
    ratings = pd.DataFrame({"id": list(levels), "fluency": list(levels.values())})
    widths: list[float] = []
    for chunks in (True, False):
        items = [{"id": name, **fields, **({"chunk_id": n // 5} if chunks else {})} for n, name in enumerate(levels)]
        with Study.create(tmp_path / f"{chunks}.db", "neureg-qa", items) as study:
            study.import_ratings(ratings, rater="ann")
            mean = next(one for one in study.measures() if one.statistic == "mean" and one.criterion == "fluency")
            assert (study.tables().documents is None) == (not chunks)
        assert mean.estimate.low is not None
        assert mean.estimate.high is not None
        widths.append(mean.estimate.high - mean.estimate.low)
    # A t interval over 20 blocks instead of 100 units: √5 · t(19) / t(99) · √(99 / 95).
    assert widths[0] / widths[1] == pytest.approx(5**0.5 * 2.093 / 1.984 * (99 / 95) ** 0.5, rel=0.02)


HALO_ROW = {"question": "When?", "context": "In 1902.", "generated_answer": "In 1902.", "gold_answer": "1902"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_cost": -1}, "max_cost: -1 is not valid; valid is a number above 0"),
        ({"max_cost": "x"}, "max_cost: 'x' is not valid; valid is a number above 0"),
        ({"max_cost": float("nan")}, "max_cost: nan is not valid"),
        ({"concurrency": 0}, "concurrency: 0 is not valid; valid is 1 to 1,024"),
        ({"concurrency": None}, "concurrency: None is not valid"),
        ({"limit": -3}, "limit: -3 is not valid; valid is a whole number, 0 or more"),
        ({"prices": "1/2"}, "prices: '1/2' is not valid; valid is a list of texts"),
        ({"samples": 0}, "samples: 0 is not valid; valid is 1 to 100"),
        ({"tries": 0}, "tries: 0 is not valid; valid is 1 to 100"),
        ({"temperature": 3}, "temperature: 3 is not valid; valid is a number from 0 to 2"),
        ({"seed": 1.5}, "seed: 1.5 is not valid; valid is a whole number"),
        ({"one_by_one": "no"}, "one_by_one: 'no' is not valid; valid is True or False"),
        ({"max_costs": 1}, "there is no option 'max_costs' (did you mean 'max_cost'?); there are: "),
    ],
)
def test_options_from_python_are_checked_like_those_of_the_command_line(options: dict[str, Any], said: str):
    def refused(use: Callable[..., object], *given: Any) -> str:
        with pytest.raises(UserError) as caught:
            use(*given, **options)
        return str(caught.value)

    with Study.create(":memory:", "halo-support", [HALO_ROW]) as study:
        assert said in refused(study.judge, "verifier")
        assert said in refused(study.estimate, "verifier")
        assert study.count_ratings() == 0
    if not {"samples", "one_by_one"} & set(options):
        assert said in refused(generate, "qa-pairs", [{"text": "x"}], "openai:m")
    if {"max_cost", "concurrency", "prices", "max_costs"} & set(options):
        with Study.create(":memory:", "halo-claims", [HALO_ROW]) as study:
            assert said in refused(study.make_claims)


@pytest.mark.parametrize("make", [list, iter, pd.DataFrame])
def test_a_study_without_items_is_not_created(make: Callable[[Any], Any], tmp_path: Path):
    with pytest.raises(InputError):
        Study.create(tmp_path / "study.db", "halo-support", make([]))
    assert list(tmp_path.iterdir()) == []


def test_a_closed_study_says_so(tmp_path: Path):
    for location in (":memory:", tmp_path / "study.db"):
        study = Study.create(location, "halo-support", [HALO_ROW])
        study.close()
        study.close()
        with pytest.raises(StudyError, match=f"{location}: the study is closed"):
            list(study.ratings())
