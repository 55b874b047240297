import json
from collections.abc import Mapping
from typing import Any, cast

import pytest

from evenhand.errors import ProtocolError
from evenhand.protocol.load import read_protocol

LABELS = {"type": "nominal", "labels": {"Yes": {"definition": "It is."}, "No": {"definition": "It is not."}}}
LEVELS = {"type": "ordinal", "levels": {n: {"label": f"L{n}", "anchor": "x"} for n in (1, 2, 3)}}
BASE: dict[str, Any] = {
    "name": "base",
    "version": "1",
    "title": "Base",
    "item": {
        "fields": {
            "source": {"role": "evidence", "kind": "passages", "required": False},
            "facts": {"role": "evidence", "kind": "triples", "required": False},
            "length": {"role": "context", "kind": "number", "required": False},
            "answer": {"role": "rated", "aliases": ["response"]},
            "genre": {"role": "context", "kind": "label", "required": False, "labels": {"a": {"definition": "A"}}},
        }
    },
    "criteria": [
        {"id": "right", "question": "Right?", "scale": LABELS},
        {"id": "grade", "question": "How good?", "scale": LEVELS},
        {"id": "words", "question": "Why?", "scale": {"type": "text"}},
    ],
    "measures": [{"name": "yes", "kind": "proportion", "criterion": "right", "any_of": ["Yes"]}],
}


def text_of(changes: Mapping[str, object]) -> str:
    return json.dumps({**BASE, **changes}, indent=1)


def line_of(part: str, **changes: object) -> int:
    """The first line that holds this part, as an editor counts."""
    return text_of(changes).partition(part)[0].count("\n") + 1


def problems(**changes: object) -> list[str]:
    """What is wrong with the base protocol after a change, without the lines."""
    try:
        read_protocol(text_of(changes), "x")
    except ProtocolError as error:
        return [f"{problem.key}: {problem.what}" for problem in error.problems]
    return []


def fields(**changes: dict[str, object]) -> dict[str, object]:
    return {"fields": {**BASE["item"]["fields"], **changes}}


def criteria(*more: dict[str, object]) -> list[dict[str, object]]:
    return [*BASE["criteria"], *more]


def asked_when(condition: dict[str, object]) -> list[dict[str, object]]:
    return criteria({"id": "last", "question": "?", "scale": {"type": "text"}, "when": condition})


def test_the_base_is_sound() -> None:
    assert problems() == []


CONDITIONS: list[tuple[dict[str, object], list[str]]] = [
    ({"criterion": "right", "any_of": ["Yes"]}, []),
    ({"criterion": "grade", "at_least": 2, "at_most": 3}, []),
    ({"criterion": "grade", "any_of": [1, 3]}, []),
    (
        {"criterion": "rigth", "any_of": ["Yes"]},
        [
            "criteria.4.when.criterion: there is no criterion 'rigth' (did you mean 'right'?); there are: right, "
            "grade, words"
        ],
    ),
    (
        {"criterion": "last", "any_of": ["Yes"]},
        ["criteria.4.when.criterion: 'last' must come before the criterion that depends on it"],
    ),
    ({"criterion": "right", "any_of": ["Maybe"]}, ["criteria.4.when.any_of: 'Maybe' is not one of Yes, No"]),
    ({"criterion": "right", "any_of": ["yes"]}, ["criteria.4.when.any_of: 'yes' must be written as 'Yes'"]),
    (
        {"criterion": "grade", "any_of": [4]},
        ["criteria.4.when.any_of: '4' is not a whole number from 1 to 3 (1 L1, 2 L2, 3 L3)"],
    ),
    (
        {"criterion": "grade", "at_least": 4},
        ["criteria.4.when: 'grade' has no value that is at least 4: this never holds"],
    ),
    (
        {"criterion": "grade", "at_most": 0.5},
        ["criteria.4.when: 'grade' has no value that is at most 0.5: this never holds"],
    ),
    (
        {"criterion": "grade", "at_least": 3, "at_most": 2},
        ["criteria.4.when: 'grade' has no value that is at least 3 and at most 2: this never holds"],
    ),
    (
        {"criterion": "grade", "at_least": 2.2, "at_most": 2.8},
        ["criteria.4.when: 'grade' has no value that is at least 2.2 and at most 2.8: this never holds"],
    ),
    ({"criterion": "grade", "at_least": 3}, []),
    ({"criterion": "grade", "at_most": 1}, []),
    ({"criterion": "right", "at_least": 1}, ["criteria.4.when: 'right' is nominal: use any_of with its labels"]),
    ({"criterion": "right"}, ["criteria.4.when: a condition has any_of, or at_least and at_most"]),
    (
        {"criterion": "grade", "any_of": [1], "at_least": 1},
        ["criteria.4.when: a condition has any_of, or at_least and at_most"],
    ),
    ({"criterion": "right", "any_of": []}, ["criteria.4.when.any_of: at least 1 is needed, not an empty list"]),
]


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS)
def test_conditions(condition: dict[str, object], expected: list[str]) -> None:
    assert problems(criteria=asked_when(condition)) == expected


def test_a_condition_on_a_later_criterion() -> None:
    early = {
        "id": "early",
        "question": "?",
        "scale": {"type": "text"},
        "when": {"criterion": "right", "any_of": ["Yes"]},
    }
    assert problems(criteria=[early, *BASE["criteria"]]) == [
        "criteria.1.when.criterion: 'right' must come before the criterion that depends on it"
    ]


FIELDS: list[tuple[dict[str, dict[str, object]], list[str]]] = [
    ({"more": {"role": "context", "kind": "passages", "delimiter": "||"}}, []),
    (
        {"more": {"role": "context", "aliases": ["Response"]}},
        ["item.fields.more: the alias 'Response' already belongs to 'answer'"],
    ),
    (
        {"more": {"role": "context", "aliases": ["ANSWER"]}},
        ["item.fields.more: the alias 'ANSWER' already belongs to 'answer'"],
    ),
    (
        {"more": {"role": "context", "labels": {"a": {"definition": "A"}}}},
        ["item.fields.more: only a field of kind label has labels, not text"],
    ),
    (
        {"more": {"role": "context", "kind": "label", "labels": {"a": {"definition": "A"}, "A ": {"definition": "B"}}}},
        ["item.fields.more.labels: 'A ' reads the same as label 'a': labels must differ"],
    ),
    ({"rater": {"role": "context"}}, ["item.fields.rater: 'rater' is a column of rating files; choose another name"]),
    ({"answer": {"role": "context"}}, ["item.fields: no field has the role rated: one field is what is rated"]),
    (
        {"answer": {"role": "rated", "shown": False}},
        ["item.fields.answer: 'answer' is what is rated, so it must be shown: remove 'shown: false'"],
    ),
]


def test_only_labels_of_criteria_are_exempt_from_evidence() -> None:
    label = {"definition": "A", "evidence": "none"}
    genre: dict[str, object] = {"role": "context", "kind": "label", "labels": {"a": label}}
    assert problems(item=fields(genre=genre)) == [
        "item.fields.genre: only the labels of a criterion have 'evidence', not those of a field"
    ]
    scale = {"type": "nominal", "labels": {"Yes": label, "No": {"definition": "It is not.", "evidence": "some"}}}
    (wrong,) = problems(criteria=criteria({"id": "more", "question": "More?", "scale": scale}))
    assert wrong.startswith("criteria.4.scale.labels.No.evidence: ")


@pytest.mark.parametrize(("change", "expected"), FIELDS)
def test_fields(change: dict[str, dict[str, object]], expected: list[str]) -> None:
    assert problems(item=fields(**change)) == expected


def test_criteria_that_clash() -> None:
    text = {"type": "text"}
    clashes = criteria(
        {"id": "right", "question": "?", "scale": text},
        {"id": "answer", "question": "?", "scale": text},
        {"id": "status", "question": "?", "scale": text},
        {"id": "first", "question": "?", "scale": LEVELS, "overall": True, "columns": ["human_label"]},
        {"id": "second", "question": "?", "scale": LEVELS, "overall": True, "model_columns": {"Human Label": "auto"}},
    )
    first = line_of('"id": "right"', criteria=clashes)
    assert problems(criteria=clashes) == [
        "criteria: only one criterion summarises the others, not first and second",
        f"criteria.4: the criterion 'right' appears twice (first in line {first})",
        "criteria.5: 'answer' is also a field; choose another id",
        "criteria.6: 'status' is also a column of rating files; choose another id",
        "criteria.8: the column 'Human Label' already belongs to 'first'",
    ]


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("item", []),
        ("sentence of answer", []),
        ("question from answer", []),
        ("sentence of anwser", "there is no field 'anwser' (did you mean 'answer'?); there are: source, facts, length, "
         "answer, genre"),
        ("sentence of genre", "'genre' is of kind label; units are made from a required field of kind text"),
    ],
)  # fmt: skip
def test_unit_rules(unit: str, expected: str) -> None:
    assert problems(unit=unit) == ([f"unit: {expected}"] if expected else [])


def test_units_are_not_made_from_an_optional_field() -> None:
    more = fields(draft={"role": "rated", "required": False})
    assert problems(item=more, unit="sentence of draft") == [
        "unit: 'draft' is optional; units are made from a required field of kind text"
    ]


@pytest.mark.parametrize(
    ("stratum", "expected"),
    [
        ("genre", []),
        ("answer", ["strata.1: 'answer' is of kind text; results are broken down by fields of kind label"]),
        ("gerne", ["strata.1: there is no field 'gerne' (did you mean 'genre'?); there are: source, facts, length, "
                   "answer, genre"]),
        (7, ["strata.1: a text is needed, not 7; put it in quotes"]),
    ],
)  # fmt: skip
def test_strata(stratum: object, expected: list[str]) -> None:
    assert problems(strata=[stratum]) == expected


def test_strata_that_are_no_list() -> None:
    assert problems(strata={"genre": "a"}) == ["strata: a list is needed, not a mapping"]


MEASURES: list[tuple[dict[str, object], list[str]]] = [
    ({"kind": "mean", "criteria": ["grade"]}, []),
    ({"kind": "kappa", "criteria": ["right", "grade"]}, []),
    ({"kind": "answered", "criterion": "words"}, []),
    (
        {"kind": "mean", "criteria": ["right"]},
        ["measures.1: a mean needs ratings that are numbers; 'right' is nominal"],
    ),
    ({"kind": "kappa", "criteria": ["words"]}, ["measures.1: kappa needs labels or levels; 'words' is text"]),
    (
        {"kind": "answer_f1", "criterion": "right"},
        ["measures.1: answer_f1 needs a text criterion; 'right' is nominal"],
    ),
    (
        {"kind": "proportion", "criterion": "right", "any_of": ["Perhaps"], "exclude": ["no"]},
        ["measures.1.any_of: 'Perhaps' is not one of Yes, No", "measures.1.exclude: 'no' must be written as 'No'"],
    ),
    (
        {"kind": "proportion", "criterion": "right", "any_of": ["No"], "also": {"criterion": "grde", "at_most": 1}},
        ["measures.1.also.criterion: there is no criterion 'grde' (did you mean 'grade'?); there are: right, grade, "
         "words"],
    ),
    ({"kind": "sd", "criteria": ["grades"]}, ["measures.1: there is no criterion 'grades' (did you mean 'grade'?); "
                                              "there are: right, grade, words"]),
    (
        {"kind": "accuracy", "truth": "genre", "prediction": "answer"},
        ["measures.1.prediction: 'answer' is of kind text; it must be of kind label"],
    ),
    ({"kind": "coverage", "field": "source", "reference": "answer"}, []),
    (
        {"kind": "token_f1", "field": "genre", "reference": "gold"},
        ["measures.1.field: 'genre' is of kind label; it must be of kind text or passages",
         "measures.1.reference: there is no field 'gold'; there are: source, facts, length, answer, genre"],
    ),
    ({"kind": "abstention", "field": "answer", "phrases": ["I pass"], "built_in": False}, []),
    (
        {"kind": "abstention", "field": "answer", "built_in": False},
        ["measures.1: without Evenhand's own phrases it needs 'phrases'"],
    ),
    (
        {"kind": "retrieval", "retrieved": "source", "relevant": "answer", "at": [1]},
        ["measures.1.retrieved: 'source' is of kind passages; it must be of kind ids",
         "measures.1.relevant: 'answer' is of kind text; it must be of kind ids"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("measure", "expected"), MEASURES)
def test_measures(measure: dict[str, object], expected: list[str]) -> None:
    assert problems(measures=[{"name": "m", **measure}]) == expected


def test_measures_and_targets_by_name() -> None:
    mean = {"name": "m", "kind": "mean", "criteria": ["grade"]}
    targets = [{"measure": "m", "at_least": 2}, {"measure": "mm", "at_least": 2}]
    changes = {"measures": [mean, mean], "targets": targets}
    first = line_of('"name": "m"', **changes) - 1
    assert problems(**changes) == [
        f"measures.2: the measure 'm' appears twice (first in line {first})",
        "targets.2.measure: there is no measure 'mm' (did you mean 'm'?); there are: m",
    ]


SHARE = {"kind": "proportion", "criterion": "right", "any_of": ["Yes"]}
ABSTAINED = {"name": "silent", "kind": "abstention", "field": "answer"}


@pytest.mark.parametrize(
    ("unit", "measure", "expected"),
    [
        ("sentence of answer", {"per": "item", "abstained": 0, "times": "silent", "of": "answer"}, []),
        ("claim of answer, gold", {"per": "item", "of": "answer", "abstained": 0}, []),
        ("item", {"per": "item"},
         ["measures.2.per: the unit is the whole item: leave 'per' out"]),
        ("claim of answer, gold", {"of": "genre"},
         ["measures.2.of: no unit comes from 'genre': units come from answer and gold"]),
        ("claim of answer, gold", {"per": "item", "of": "gold", "abstained": 0},
         ["measures.2.abstained: 'abstained' needs a measure of kind abstention of 'gold' that tells which texts "
          "abstain"]),
        ("claim of answer, gold", {"per": "item", "times": "f1"},
         ["measures.2.times: there is no measure of texts 'f1'; there are: silent"]),
        ("claim of answer, gold", {"of": "answer", "times": "silent"},
         ["measures.2.times: 'times' goes with 'per: item'"]),
        ("claim of answer, gold", {"criterion": "stated", "of": "answer"},
         ["measures.2.of: 'stated' is asked only about units of 'gold'"]),
        ("sentence of answer", {"criterion": "later", "per": "item"},
         ["measures.2.per: 'later' is not asked about every unit of an item"]),
    ],
)  # fmt: skip
def test_shares_in_items(unit: str, measure: dict[str, object], expected: list[str]) -> None:
    more: list[dict[str, object]] = [
        {"id": "later", "question": "And?", "scale": LABELS, "when": {"criterion": "right", "any_of": ["Yes"]}}
    ]
    if unit.startswith("claim"):
        more.append({"id": "stated", "question": "Stated?", "scale": LABELS, "of": "gold"})
    own = fields(gold={"role": "reference", "required": False})
    measures = [ABSTAINED, {"name": "m", **SHARE, **measure}]
    assert problems(item=own, unit=unit, criteria=criteria(*more), measures=measures) == expected


@pytest.mark.parametrize(
    ("label", "measure", "expected"),
    [
        ("recall@5", {"kind": "retrieval", "retrieved": "found", "relevant": "found", "at": [5]}, []),
        ("recall@3", {"kind": "retrieval", "retrieved": "found", "relevant": "found", "at": [5]},
         ["targets.1.label: there is no part 'recall@3' (did you mean 'recall@5'?); there are: recall@5, precision@5, "
          "ndcg@5, mrr"]),
        ("Yes", {"kind": "per_label", "criteria": ["right"]}, []),
        ("none", {"kind": "majority", "criteria": ["right"]}, []),
        ("Yes", {"kind": "kappa", "criteria": ["right"]},
         ["targets.1.label: 'm' is a single figure: leave 'label' out"]),
    ],
)  # fmt: skip
def test_a_target_may_be_on_one_part_of_a_measure(label: str, measure: dict[str, object], expected: list[str]) -> None:
    ids = fields(found={"role": "context", "kind": "ids", "required": False})
    target = {"measure": "m", "at_least": 0.5, "label": label}
    assert problems(item=ids, measures=[{"name": "m", **measure}], targets=[target]) == expected


EXAMPLES: list[tuple[dict[str, object], list[str]]] = [
    (
        {
            "fields": {"answer": "a", "source": ["p"], "facts": [["s", "p", "o"]], "length": 3, "genre": "a"},
            "ratings": {"right": "Yes", "grade": 2},
        },
        [],
    ),
    (
        {"fields": {"anser": "a"}, "ratings": {}},
        ["examples.1.fields: there is no field 'anser' (did you mean 'answer'?); there are: source, facts, length, "
         "answer, genre"],
    ),
    (
        {"fields": {"source": "p", "facts": [["s", "p"]], "length": "3", "genre": "b", "answer": [1]}, "ratings": {}},
        [
            "examples.1.fields.source: a field of kind passages is a list of texts",
            "examples.1.fields.facts: a field of kind triples is a list of triples, each [subject, predicate, object]",
            "examples.1.fields.length: a field of kind number is a number",
            "examples.1.fields.genre: a field of kind label is one of a",
            "examples.1.fields.answer: a field of kind text is a text",
        ],
    ),
    (
        {"fields": {}, "ratings": {"right": "yes", "grade": 7, "mood": 1}, "rationales": {"tone": "x"}},
        [
            "examples.1.ratings.right: 'yes' must be written as 'Yes'",
            "examples.1.ratings.grade: '7' is not a whole number from 1 to 3 (1 L1, 2 L2, 3 L3)",
            "examples.1.ratings: there is no criterion 'mood'; there are: right, grade, words",
            "examples.1.rationales: there is no criterion 'tone'; there are: right, grade, words",
        ],
    ),
    (
        {
            "fields": {"source": ["The mill  burned."], "answer": "It burned.", "genre": "a"},
            "ratings": {},
            "evidence": {"right": ["The mill burned", "It burned.", "in 1901", "a"], "grade": [], "mood": []},
        },
        [
            *(
                f"examples.1.evidence.right: {quote!r} is not found in the example's evidence or in what it rates; "
                "quote at least three characters, word for word"
                for quote in ("a", "in 1901")
            ),
            "examples.1.evidence: there is no criterion 'mood'; there are: right, grade, words",
        ],
    ),
    ({"fields": {}, "ratings": {}, "unit": "A."}, ["examples.1: leave 'unit' out: it is the whole item"]),
]  # fmt: skip


@pytest.mark.parametrize(("example", "expected"), EXAMPLES)
def test_examples(example: dict[str, object], expected: list[str]) -> None:
    assert problems(examples=[{"title": "t", **example}]) == expected


def test_an_example_answers_only_what_is_asked() -> None:
    asked = asked_when({"criterion": "right", "any_of": ["No"]})
    example = {"title": "t", "fields": {}, "ratings": {"right": "Yes", "last": "because"}}
    assert problems(criteria=asked, examples=[example]) == [
        "examples.1.ratings.last: 'last' is asked only when right is No"
    ]


def test_an_example_of_a_sentence_names_the_sentence() -> None:
    example = {"title": "t", "fields": {}, "ratings": {"right": "Yes"}}
    assert problems(unit="sentence of answer", examples=[example]) == ["examples.1: name the sentence as 'unit'"]


def test_a_cluster_is_a_label_field() -> None:
    assert problems(cluster="genre") == []
    assert problems(cluster="answer") == [
        "cluster: 'answer' is of kind text; items are grouped by a field of kind label"
    ]
    (unknown,) = problems(cluster="gnre")
    assert unknown.startswith("cluster: there is no field 'gnre' (did you mean 'genre'?)")


def test_combinations_name_label_fields_and_criteria_with_the_same_values() -> None:
    assert problems(crossed=[["genre"]], combine={"reference": {"rule": "mean", "step": 0.5}}) == []
    assert [problem.split(":")[0] for problem in problems(crossed=[["genre", "answer"]])] == ["crossed.1.2"]
    together = {"name": "k", "kind": "kappa", "criteria": ["right", "grade"], "together": True}
    assert [problem.split(": ")[1] for problem in problems(measures=[together])] == [
        "only criteria with the same values can be taken together"
    ]


def test_nothing_is_named_twice_in_one_list() -> None:
    changes = {
        "strata": ["genre", "genre"],
        "crossed": [["genre"], ["genre", "genre"]],
        "measures": [{"name": "k", "kind": "kappa", "criteria": ["right", "right"], "together": True}],
    }
    with pytest.raises(ProtocolError) as found:
        read_protocol(text_of(changes), "x")
    lines = {one.key: one.line for one in found.value.problems}
    assert lines.keys() == {"strata", "crossed.2", "measures.1.criteria"}
    assert lines["strata"] == line_of('"strata"', **changes)


def test_combined_raters_have_the_options_of_their_rule_and_a_step_that_fits_a_scale() -> None:
    def keys(**how: object) -> list[str]:
        return [problem.split(":")[0] for problem in problems(combine={"x": how})]

    assert keys(rule="mean", step=2) == keys(rule="mean", fewest=2) == keys(rule="plurality", ties="last") == []
    assert keys(rule="mean", step=2.5) == ["combine.x"]
    assert (
        keys(rule="mean", ties="first") == keys(rule="pool", fewest=4) == keys(rule="majority", step=1) == ["combine.x"]
    )


GOLD: dict[str, object] = {"role": "reference", "required": False}
BY_CLAIM: dict[str, Any] = {"unit": "claim of answer, gold", "item": fields(gold=GOLD)}


def of(field: object, **more: object) -> list[dict[str, object]]:
    return criteria({"id": "last", "question": "?", "scale": LABELS, "of": field, **more})


def test_claims_come_from_texts_which_may_be_optional() -> None:
    assert problems(**BY_CLAIM) == []
    assert problems(**BY_CLAIM, criteria=of("gold", against=["answer"])) == []
    wrong = problems(unit="claim of answer, answr, genre, answer")
    assert [one.partition(" (did")[0] for one in wrong] == [
        "unit: 'answer' is named twice",
        "unit: 'genre' is of kind label; units are made from fields of kind text",
        "unit: there is no field 'answr'",
    ]
    assert "valid" in problems(unit="claim of answer,gold")[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({**BY_CLAIM, "criteria": of("source")}, "criteria.4: there is no field of the unit 'source'"),
        ({"criteria": of("answer")}, "criteria.4: 'of' is for units that are claims or sentences, not 'item'"),
        ({"criteria": of(None, against=["answr"])}, "criteria.4.against.1: there is no field 'answr'"),
        ({"criteria": of(None, against=["genre"])}, "criteria.4.against.1: 'genre' is of kind label; criteria"),
        ({"criteria": of(None, against=[])}, "criteria.4.against: at least 1 is needed, not an empty list"),
        (
            {"item": fields(gold={**GOLD, "shown": False}), "criteria": of(None, against=["gold"])},
            "criteria.4.against.1: 'gold' is not shown to raters",
        ),
        (
            {**BY_CLAIM, "criteria": of("gold")[3:]},
            "criteria: no criterion without a condition",
        ),
    ],
)
def test_what_a_criterion_is_about_and_checked_against(changes: Mapping[str, object], said: str) -> None:
    found = problems(**cast("dict[str, Any]", {**changes, "measures": []}))
    assert [one[: len(said)] for one in found] == [said]


def test_a_condition_on_a_criterion_of_another_field_never_holds() -> None:
    first: dict[str, object] = {"id": "first", "question": "?", "scale": LABELS, "of": "answer"}
    asked: dict[str, object] = {
        "id": "last", "question": "?", "scale": LABELS, "of": "gold", "when": {"criterion": "first", "any_of": ["Yes"]},
    }  # fmt: skip
    assert problems(**BY_CLAIM, criteria=[*criteria(first), asked]) == [
        "criteria.5.when: 'first' is only asked about 'answer': this never holds"
    ]


def test_an_example_of_a_claim_names_its_field_and_rates_what_is_asked_about_it() -> None:
    example = {"title": "t", "fields": {}, "unit": "A.", "ratings": {"last": "Yes"}}
    changes = {**BY_CLAIM, "criteria": of("gold")}
    assert problems(**changes, examples=[{**example, "of": "gold"}]) == []
    assert problems(**changes, examples=[example]) == ["examples.1.ratings.last: 'last' is asked only about 'gold'"]
    (wrong,) = problems(**changes, examples=[{**example, "of": "source", "ratings": {}}])
    assert wrong.startswith("examples.1: there is no field of the unit 'source'")
    (wrong,) = problems(examples=[{**example, "of": "answer", "unit": None, "ratings": {}}])
    assert wrong == "examples.1: 'of' is for units that are claims, not 'item'"
