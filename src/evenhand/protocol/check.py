"""Check the parts of a protocol against each other: names that must exist, values that must fit a scale.

The parts that are valid are checked even if others are not, so that one run reports these problems together with
misspelt keys and wrong types.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Annotated, Any, TypeVar, cast

from pydantic import StrictFloat, StringConstraints, TypeAdapter, ValidationError

from evenhand.errors import KEPT, Problem
from evenhand.protocol import model
from evenhand.protocol.completion import concerns
from evenhand.protocol.model import Condition, Criterion, Example, FieldSpec, Measure, quoted_evidence, unit_fields
from evenhand.protocol.problems import Content, KeyPath
from evenhand.records import Value
from evenhand.scales import Numeric, Ordinal, Scale, Text, is_within, label_key
from evenhand.text import listed, quoted, unknown

RESERVED = (
    "id", "item", "unit", "rater", "kind", "value", "status", "rationale", "confidence", "notes", "check", "unit_code",
)  # fmt: skip
"""Column names of rating files: no field or criterion may take them."""

LABEL = ("label",)

_T = TypeVar("_T")
F = TypeVar("F", bound=FieldSpec)
_MEASURE: TypeAdapter[Measure] = TypeAdapter(Measure)
_SCALE: TypeAdapter[Scale] = TypeAdapter(Scale)

_Words = Annotated[str, StringConstraints(strict=True, pattern=r"\S")]
_Triples = list[tuple[_Words, _Words, _Words]]
_FIELD_VALUES: Mapping[str, tuple[TypeAdapter[Any], str]] = {
    "triples": (TypeAdapter(_Triples), "a list of triples, each [subject, predicate, object]"),
    "passages": (TypeAdapter(list[_Words]), "a list of texts"),
    "ids": (TypeAdapter(list[_Words]), "a list of texts"),
    "number": (TypeAdapter(StrictFloat), "a number"),
    "text": (TypeAdapter(_Words), "a text"),
    "label": (TypeAdapter(_Words), "a text"),
}
"""What a worked example gives for a field, by the field's kind."""


def contradictions(content: Content) -> list[Problem]:
    """Every place where one valid part of the protocol does not fit another."""
    check = _Check(content)
    examples = (check.example(example, index) for index, example in enumerate(check.examples))
    found = chain(
        check.fields_alone(), check.field_uses(), check.criteria_alone(), check.measures_and_targets(), *examples
    )
    return list(islice(found, KEPT))


class _Check:
    """The parts of a protocol in the order of the file, None for those that are not valid.

    Of a criterion that is not valid, the id, and scale and condition if they are valid, are still used.
    """

    def __init__(self, content: Content) -> None:
        self.problem = content.problem
        self.lines = content.lines
        self.raw = mapping_of(content.value)
        self.fields = valid_fields(mapping_of(self.raw.get("item")).get("fields"), FieldSpec)
        self.criteria = [_criterion(entry) for entry in entries_of(self.raw.get("criteria"))]
        self.measures = [
            valid_or_none(_MEASURE.validate_python, entry) for entry in entries_of(self.raw.get("measures"))
        ]
        self.examples = [valid_or_none(Example.model_validate, entry) for entry in entries_of(self.raw.get("examples"))]
        self.by_id: dict[str, Criterion] = {}
        for criterion in filter(None, self.criteria):
            self.by_id.setdefault(criterion.id, criterion)
        unit = self.raw.get("unit")
        self.unit = unit if isinstance(unit, str) else "item"
        self.unit_fields = unit_fields(self.unit)

    def scale(self, criterion_id: str) -> Scale | None:
        """The scale of a criterion; None if there is no such criterion or its scale is not valid."""
        criterion = self.by_id.get(criterion_id)
        return cast("Scale | None", criterion.scale) if criterion else None

    def unknown(self, what: str, name: object, valid: Collection[str], path: KeyPath, *within: str | int) -> Problem:
        return self.problem(unknown(what, name, valid), path, *within)

    def repeated(self, names: Sequence[object], *path: str | int) -> Iterator[Problem]:
        times = Counter(name for name in names if isinstance(name, str))
        yield from (self.problem(f"{name!r} is named twice", path) for name in times if times[name] > 1)

    # Fields

    def fields_alone(self) -> Iterator[Problem]:
        yield from field_problems(self.fields, ("item", "fields"), self.problem)
        rated = {name: spec.shown for name, spec in self.fields.items() if spec and spec.role == "rated"}
        if not self.fields or None in self.fields.values() or any(rated.values()):
            return
        if not rated:
            yield self.problem("no field has the role rated: one field is what is rated", ("item", "fields"))
        for name in list(rated)[:1]:
            what = f"{name!r} is what is rated, so it must be shown: remove 'shown: false'"
            yield self.problem(what, ("item", "fields", name))

    def field_uses(self) -> Iterator[Problem]:
        """Problems of strata, cluster and unit, which name fields."""
        strata = [(name, ("strata", index)) for index, name in enumerate(entries_of(self.raw.get("strata")))]
        yield from self.repeated([name for name, _ in strata], "strata")
        for index, names in enumerate(entries_of(self.raw.get("crossed"))):
            yield from self.repeated(entries_of(names), "crossed", index)
            strata += [(name, ("crossed", index, place)) for place, name in enumerate(entries_of(names))]
        for name, path in strata:
            yield from self.field_use(name, LABEL, "results are broken down by fields of kind label", *path)
        use = "items are grouped by a field of kind label"
        yield from self.field_use(self.raw.get("cluster"), LABEL, use, "cluster")
        by_claim = self.unit.startswith("claim")
        use = f"units are made from {'fields' if by_claim else 'a required field'} of kind text"
        for name in dict.fromkeys(self.unit_fields):
            yield from self.field_use(name, ("text",), use, "unit", required=not by_claim)
        yield from self.repeated(self.unit_fields, "unit")

    def field_use(
        self, name: object, kinds: Collection[str], use: str, *path: str | int, required: bool = False
    ) -> Iterator[Problem]:
        """The problem of a name that does not fit; what is not a text is reported elsewhere."""
        if not isinstance(name, str):
            return
        spec = self.fields.get(name)
        if name not in self.fields:
            yield self.unknown("field", name, self.fields, path)
        elif spec and spec.kind not in kinds:
            yield self.problem(f"{name!r} is of kind {spec.kind}; {use}", path)
        elif spec and required and not spec.required:
            yield self.problem(f"{name!r} is optional; {use}", path)

    # Criteria and conditions

    def criteria_alone(self) -> Iterator[Problem]:
        columns: dict[str, str] = {}
        earlier: dict[str, int] = {}
        for place, criterion in enumerate(self.criteria):
            if criterion is None:
                continue
            name, path = criterion.id, ("criteria", place)
            if name in earlier:
                line = self.lines.get(("criteria", earlier[name], "id"))
                yield self.problem(f"the criterion {name!r} appears twice (first in line {line})", path, "id")
            if name in RESERVED or name in self.fields:
                owner = "a field" if name in self.fields else "a column of rating files"
                yield self.problem(f"{name!r} is also {owner}; choose another id", path, "id")
            for column in (*criterion.columns, *criterion.model_columns):
                owner = columns.setdefault(label_key(column), name)
                if owner != name:
                    yield self.problem(f"the column {column!r} already belongs to {owner!r}", path, "id")
            if criterion.when is not None:
                yield from self.condition(criterion.when, (*path, "when"), earlier)
                other = self.by_id.get(criterion.when.criterion)
                if other and other.of and criterion.of and other.of != criterion.of:
                    what = f"{other.id!r} is only asked about {other.of!r}: this never holds"
                    yield self.problem(what, (*path, "when"), "criterion")
            yield from self.criterion_fields(criterion, path)
            earlier.setdefault(name, place)
        overall = [criterion.id for criterion in self.criteria if criterion and criterion.overall]
        if len(overall) > 1:
            yield self.problem(f"only one criterion summarises the others, not {' and '.join(overall)}", ("criteria",))
        yield from self.unasked_fields()
        yield from self.combinations()

    def criterion_fields(self, criterion: Criterion, path: KeyPath) -> Iterator[Problem]:
        """The problems of the fields that a criterion is about and is checked against."""
        if criterion.of is not None:
            if not self.unit.startswith(("sentence", "claim")):
                yield self.problem(f"'of' is for units that are claims or sentences, not {self.unit!r}", path, "of")
            elif criterion.of not in self.unit_fields:
                yield self.unknown("field of the unit", criterion.of, self.unit_fields, path, "of")
        for index, name in enumerate(criterion.against or ()):
            spec, here = self.fields.get(name), (*path, "against", index)
            if name not in self.fields:
                yield self.unknown("field", name, self.fields, here)
            elif spec and spec.kind in ("label", "number"):
                yield self.problem(f"{name!r} is of kind {spec.kind}; criteria are checked against texts", here)
            elif spec and not spec.shown:
                yield self.problem(f"{name!r} is not shown to raters, who could not check against it", here)

    def unasked_fields(self) -> Iterator[Problem]:
        """The fields of the unit about which no criterion is asked in any case."""
        always = [one for one in self.criteria if one and one.when is None]
        for name in self.unit_fields if None not in self.criteria else ():
            if always and not any(concerns(one, name) for one in always):
                what = f"no criterion without a condition is asked about {name!r}, which the unit names"
                yield self.problem(what, ("criteria",))

    def combinations(self) -> Iterator[Problem]:
        scales = [criterion and criterion.scale for criterion in self.criteria]
        for name, given in mapping_of(self.raw.get("combine")).items():
            how = valid_or_none(model.Combination.model_validate, given)
            if how and None not in scales and (wrong := how.misfit(scales)):
                yield self.problem(wrong, ("combine", name))

    def condition(self, condition: Condition, path: KeyPath, valid: Collection[str]) -> Iterator[Problem]:
        """The problems of a condition on one of the criteria `valid`."""
        bounds = [bound for bound in (condition.at_least, condition.at_most) if bound is not None]
        if (condition.any_of is None) != bool(bounds):
            yield self.problem("a condition has any_of, or at_least and at_most", path, "criterion")
        name, scale = condition.criterion, self.scale(condition.criterion)
        if name not in self.by_id:
            yield self.unknown("criterion", name, valid, (*path, "criterion"))
            return
        if name not in valid:
            yield self.problem(f"{name!r} must come before the criterion that depends on it", (*path, "criterion"))
        if scale is None:
            return
        if bounds and not isinstance(scale, Ordinal | Numeric):
            yield self.problem(f"{name!r} is {scale.type}: use any_of with its labels", path, "criterion")
        elif bounds and not _can_hold(condition, scale):
            yield self.problem(f"{name!r} has no value that is {condition.test}: this never holds", path, "criterion")
        yield from self.values(condition.any_of or (), scale, (*path, "any_of"))

    def values(self, values: Sequence[Value], scale: Scale, path: KeyPath) -> Iterator[Problem]:
        for index, value in enumerate(values):
            if wrong := _misspelt(value, scale):
                yield self.problem(wrong, path, index)

    # Measures and targets

    def measures_and_targets(self) -> Iterator[Problem]:
        first: dict[str, int] = {}
        for index, raw in enumerate(entries_of(self.raw.get("measures"))):
            name, path = mapping_of(raw).get("name"), ("measures", index)
            if isinstance(name, str) and first.setdefault(name, index) != index:
                line = self.lines.get(("measures", first[name]))
                yield self.problem(f"the measure {name!r} appears twice (first in line {line})", path)
            if (measure := self.measures[index]) is not None:
                yield from self.measure(measure, path)
        for index, raw in enumerate(entries_of(self.raw.get("targets"))):
            name = mapping_of(raw).get("measure")
            if isinstance(name, str) and name not in first:
                yield self.unknown("measure", name, first, ("targets", index, "measure"))
            elif isinstance(name, str):
                label = mapping_of(raw).get("label")
                yield from self.target_label(label, self.measures[first[name]], ("targets", index, "label"))

    def target_label(self, label: object, measure: Measure | None, path: KeyPath) -> Iterator[Problem]:
        """The problem of a target on a part that its measure does not have."""
        if label is None or measure is None:
            return
        scales = filter(None, map(self.scale, getattr(measure, "criteria", ())))
        parts: Sequence[object] = {
            "retrieval": getattr(measure, "parts", ()),
            "majority": ("full", "majority", "none"),
            "per_label": [value for scale in scales for value in scale.values],
        }.get(measure.kind, ())
        if not parts:
            yield self.problem(f"{measure.name!r} is a single figure: leave 'label' out", path)
        elif label not in parts:
            yield self.unknown("part", label, [str(part) for part in parts], path)

    def measure(self, measure: Measure, path: KeyPath) -> Iterator[Problem]:
        if isinstance(measure, model.FieldMeasure):
            yield from self.fields_read(measure, path)
            return
        several = isinstance(measure, model.MeanMeasure | model.AgreementMeasure)
        yield from self.repeated(measure.criteria if several else (), *path, "criteria")
        if isinstance(measure, model.AgreementMeasure) and measure.together:
            scales = filter(None, map(self.scale, measure.criteria))
            if len({(scale.type, tuple(scale.values)) for scale in scales}) > 1:
                yield self.problem("only criteria with the same values can be taken together", path, "criteria")
        for name in measure.criteria if several else (measure.criterion,):
            scale = self.scale(name)
            if name not in self.by_id:
                yield self.unknown("criterion", name, self.by_id, path, "criteria" if several else "criterion")
            elif scale is not None and (needed := _needed_scale(measure, scale)):
                yield self.problem(f"{needed}; {name!r} is {scale.type}", path)
            elif scale is not None and isinstance(measure, model.ProportionMeasure):
                yield from self.values(measure.any_of, scale, (*path, "any_of"))
                yield from self.values(measure.exclude, scale, (*path, "exclude"))
                if measure.also is not None:
                    yield from self.condition(measure.also, (*path, "also"), self.by_id)
        if isinstance(measure, model.ProportionMeasure):
            yield from self.per_item(measure, path)

    def fields_read(self, measure: model.FieldMeasure, path: KeyPath) -> Iterator[Problem]:
        for key, kinds in measure.kinds.items():
            use = f"it must be of kind {listed(kinds, 'or')}"
            yield from self.field_use(getattr(measure, key), kinds, use, *path, key)
        if isinstance(measure, model.AbstentionMeasure) and not (measure.built_in or measure.phrases):
            yield self.problem("without Evenhand's own phrases it needs 'phrases'", path, "built_in")

    def per_item(self, measure: model.ProportionMeasure, path: KeyPath) -> Iterator[Problem]:
        """The problems of what a proportion says of the units of an item."""
        criterion = self.by_id.get(measure.criterion)
        of = criterion.of if criterion else None
        if measure.of is not None and measure.of not in self.unit_fields:
            units = f"units come from {listed(self.unit_fields)}" if self.unit_fields else "the unit is the whole item"
            yield self.problem(f"no unit comes from {measure.of!r}: {units}", (*path, "of"))
        elif of is not None and measure.of not in (None, of):
            yield self.problem(f"{measure.criterion!r} is asked only about units of {of!r}", (*path, "of"))
        if measure.per == "rating":
            for key in ("abstained", "times"):
                if getattr(measure, key) is not None:
                    yield self.problem(f"{key!r} goes with 'per: item'", (*path, key))
            return
        if self.unit == "item":
            yield self.problem("the unit is the whole item: leave 'per' out", (*path, "per"))
        elif criterion and criterion.when is not None:
            yield self.problem(f"{criterion.id!r} is not asked about every unit of an item", (*path, "per"))
        known = [one for one in self.measures if isinstance(one, model.TextMeasure | model.AbstentionMeasure)]
        if measure.times is not None and measure.times not in (names := [one.name for one in known]):
            yield self.unknown("measure of texts", measure.times, names, (*path, "times"))
        fields = [one.field for one in known if isinstance(one, model.AbstentionMeasure)]
        field = measure.of or of or " ".join(self.unit_fields)
        if measure.abstained is not None and field not in fields:
            what = f"'abstained' needs a measure of kind abstention of {field!r} that tells which texts abstain"
            yield self.problem(what, (*path, "abstained"))

    # Examples

    def example(self, example: Example | None, index: int) -> Iterator[Problem]:
        if example is None:
            return
        path: KeyPath = ("examples", index)
        for name, value in example.fields.items():
            spec = self.fields.get(name)
            if name not in self.fields:
                yield self.unknown("field", name, self.fields, (*path, "fields"), name)
            elif spec and (wrong := example_problem(spec, value)):
                yield self.problem(wrong, (*path, "fields", name))
        by_item, noun = self.unit == "item", self.unit.split(" ")[0]
        if by_item != (example.unit is None):
            wanted = "leave 'unit' out: it is the whole item" if by_item else f"name the {noun} as 'unit'"
            yield self.problem(wanted, path)
        if example.of is not None and noun != "claim":
            yield self.problem(f"'of' is for units that are claims, not {self.unit!r}", path, "of")
        elif example.of is not None and example.of not in self.unit_fields:
            yield self.unknown("field of the unit", example.of, self.unit_fields, path, "of")
        by_criterion = {"rationales": example.rationales, "ratings": example.ratings, "evidence": example.evidence}
        for part, names in by_criterion.items():
            for name in names.keys() - self.by_id.keys():
                yield self.unknown("criterion", name, self.by_id, (*path, part), name)
        usable = [(name, spec) for name, spec in self.fields.items() if spec and name in example.fields]
        fields = {name: spec for name, spec in usable if example_problem(spec, example.fields[name]) is None}
        against = {name: one.against or () for name, one in self.by_id.items()}
        for name, quotes in quoted_evidence(fields, against, example).items():
            for quote in (quote for quote, field in quotes.items() if field is None):
                where = "in the example's evidence or in what it rates; quote at least three characters, word for word"
                yield self.problem(f"{quoted(quote)} is not found {where}", (*path, "evidence", name))
        for name, value in example.ratings.items():
            if (criterion := self.by_id.get(name)) is None:
                continue
            scale, when = self.scale(name), criterion.when
            field = example.of or next(iter(self.unit_fields), None)
            if not concerns(criterion, field):
                yield self.problem(f"{name!r} is asked only about {criterion.of!r}", (*path, "ratings", name))
            elif scale is not None and (wrong := _misspelt(value, scale)):
                yield self.problem(wrong, (*path, "ratings", name))
            elif when is not None and not when.holds(example.ratings.get(when.criterion)):
                yield self.problem(f"{name!r} is asked only when {when.describe()}", (*path, "ratings", name))


def valid_fields(given: object, kind: type[F]) -> dict[str, F | None]:
    """The fields of a file by name, None for those that are not valid."""
    return {str(name): valid_or_none(kind.model_validate, spec) for name, spec in mapping_of(given).items()}


def field_problems(
    fields: Mapping[str, FieldSpec | None], path: KeyPath, problem: Callable[..., Problem]
) -> Iterator[Problem]:
    """Names and aliases that are taken, and parts that do not go with a field's kind."""
    taken: dict[str, str] = {label_key(name): name for name in fields}
    for name, spec in fields.items():
        here: KeyPath = (*path, name)
        if name in RESERVED:
            yield problem(f"{name!r} is a column of rating files; choose another name", here)
        if spec is None:
            continue
        for alias in spec.aliases:
            owner = taken.setdefault(label_key(alias), name)
            other = fields[owner]
            shared = other and other.required != spec.required and alias not in fields
            if owner != name and not shared:
                yield problem(f"the alias {alias!r} already belongs to {owner!r}", here)
        if spec.labels is not None and spec.kind != "label":
            yield problem(f"only a field of kind label has labels, not {spec.kind}", here)
        if any(label.evidence for label in (spec.labels or {}).values()):
            yield problem("only the labels of a criterion have 'evidence', not those of a field", here)
        if spec.delimiter is not None and spec.kind not in ("passages", "ids", "text"):
            yield problem(f"only a field of kind passages, ids or text has a delimiter, not {spec.kind}", here)


def example_problem(spec: FieldSpec, value: object) -> str | None:
    """What is wrong with the value of a worked example for a field."""
    if spec.kind == "label" and spec.labels is not None:
        wanted = None if isinstance(value, str) and value in spec.labels else f"one of {', '.join(spec.labels)}"
    else:
        adapter, needed = _FIELD_VALUES[spec.kind]
        wanted = needed if valid_or_none(adapter.validate_python, value) is None else None
    return None if wanted is None else f"a field of kind {spec.kind} is {wanted}"


def mapping_of(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def entries_of(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def valid_or_none(validate: Callable[[object], _T], value: object) -> _T | None:
    try:
        return validate(value)
    except ValidationError:
        return None


def _criterion(value: object) -> Criterion | None:
    """A criterion, or what is valid of it: then its scale may be None."""
    given, whole = mapping_of(value), valid_or_none(Criterion.model_validate, value)
    if whole is not None or not isinstance(given.get("id"), str):
        return whole
    scale = valid_or_none(_SCALE.validate_python, given.get("scale"))
    when = valid_or_none(Condition.model_validate, given.get("when"))
    overall, of = given.get("overall") is True, given.get("of")
    known: dict[str, Any] = {"when": when, "overall": overall, "of": of if isinstance(of, str) else None}
    return Criterion.model_construct(id=given["id"], scale=scale, **known)


def _can_hold(condition: Condition, scale: Scale) -> bool:
    """Whether a value of the scale lies within the bounds of a condition."""
    if not isinstance(scale, Numeric):
        return any(map(condition.holds, scale.values))
    bounds = (*scale.ends, condition.at_least, condition.at_most)
    return any(condition.holds(bound) for bound in bounds if is_within(bound, *scale.ends))


def _misspelt(value: Value, scale: Scale) -> str | None:
    """What is wrong with a value named in the protocol, which must be written exactly as the scale has it."""
    try:
        read = scale.read(value)
    except ValueError as error:
        return str(error)
    return None if read == value else f"{value!r} must be written as {read!r}"


def _needed_scale(measure: Measure, scale: Scale) -> str | None:
    """What a measure needs instead of a criterion on this scale; None if it fits."""
    if isinstance(measure, model.MeanMeasure) and not isinstance(scale, Ordinal | Numeric):
        return f"a {measure.kind} needs ratings that are numbers"
    if isinstance(measure, model.AnswerMeasure) and not isinstance(scale, Text):
        return f"{measure.kind} needs a text criterion"
    if isinstance(measure, model.AgreementMeasure) and isinstance(scale, Text):
        return f"{measure.kind} needs labels or levels"
    return None
