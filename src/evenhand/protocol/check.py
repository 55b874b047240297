"""Check the parts of a protocol against each other: names that must exist, values that must fit a scale.

The parts that are valid are checked even if others are not, so that one run reports these problems together with
misspelt keys and wrong types.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar, cast

from pydantic import StrictFloat, StringConstraints, TypeAdapter, ValidationError

from evenhand.errors import Problem
from evenhand.protocol.model import (
    AgreementMeasure,
    AnswerMeasure,
    ClassificationMeasure,
    Condition,
    Criterion,
    Example,
    FieldSpec,
    MeanMeasure,
    Measure,
    ProportionMeasure,
)
from evenhand.protocol.problems import Content, KeyPath
from evenhand.records import Value
from evenhand.scales import Ordinal, Percent, Scale, Text, label_key
from evenhand.text import unknown

RESERVED = (
    "id", "item", "unit", "rater", "kind", "value", "status", "rationale", "confidence", "notes", "check", "unit_code",
)  # fmt: skip
"""Column names of rating files: no field or criterion may take them."""

_T = TypeVar("_T")
_MEASURE: TypeAdapter[Measure] = TypeAdapter(Measure)
_SCALE: TypeAdapter[Scale] = TypeAdapter(Scale)

_Words = Annotated[str, StringConstraints(strict=True, pattern=r"\S")]
_Triples = list[tuple[_Words, _Words, _Words]]
_FIELD_VALUES: Mapping[str, tuple[TypeAdapter[Any], str]] = {
    "triples": (TypeAdapter(_Triples), "a list of triples, each [subject, predicate, object]"),
    "passages": (TypeAdapter(list[_Words]), "a list of texts"),
    "number": (TypeAdapter(StrictFloat), "a number"),
    "text": (TypeAdapter(_Words), "a text"),
    "label": (TypeAdapter(_Words), "a text"),
}
"""What a worked example gives for a field, by the field's kind."""


def contradictions(content: Content) -> list[Problem]:
    """Every place where one valid part of the protocol does not fit another."""
    check = _Check(content)
    return [
        *check.fields_alone(),
        *check.field_uses(),
        *check.criteria_alone(),
        *check.measures_and_targets(),
        *(problem for index, example in enumerate(check.examples) for problem in check.example(example, index)),
    ]


class _Check:
    """The parts of a protocol in the order of the file, None for those that are not valid.

    Of a criterion that is not valid, the id, and scale and condition if they are valid, are still used.
    """

    def __init__(self, content: Content) -> None:
        self.problem = content.problem
        self.lines = content.lines
        self.raw = _mapping(content.value)
        fields = _mapping(_mapping(self.raw.get("item")).get("fields"))
        self.fields = {str(name): _valid(FieldSpec.model_validate, spec) for name, spec in fields.items()}
        self.criteria = [_criterion(entry) for entry in _entries(self.raw.get("criteria"))]
        self.measures = [_valid(_MEASURE.validate_python, entry) for entry in _entries(self.raw.get("measures"))]
        self.examples = [_valid(Example.model_validate, entry) for entry in _entries(self.raw.get("examples"))]
        self.by_id: dict[str, Criterion] = {}
        for criterion in filter(None, self.criteria):
            self.by_id.setdefault(criterion.id, criterion)

    def unknown(self, what: str, name: object, valid: Collection[str], path: KeyPath, *within: str | int) -> Problem:
        return self.problem(unknown(what, name, valid), path, *within)

    # Fields

    def fields_alone(self) -> Iterator[Problem]:
        taken: dict[str, str] = {label_key(name): name for name in self.fields}
        for name, spec in self.fields.items():
            path: KeyPath = ("item", "fields", name)
            if name in RESERVED:
                yield self.problem(f"{name!r} is a column of rating files; choose another name", path)
            if spec is None:
                continue
            for alias in spec.aliases:
                owner = taken.setdefault(label_key(alias), name)
                other = self.fields[owner]
                shared = other and other.required != spec.required and alias not in self.fields
                if owner != name and not shared:
                    yield self.problem(f"the alias {alias!r} already belongs to {owner!r}", path)
            if spec.labels is not None and spec.kind != "label":
                yield self.problem(f"only a field of kind label has labels, not {spec.kind}", path)
            if spec.delimiter is not None and spec.kind != "passages":
                yield self.problem(f"only a field of kind passages has a delimiter, not {spec.kind}", path)
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
        for index, name in enumerate(_entries(self.raw.get("strata"))):
            yield from self.field_use(name, "label", "results are broken down by fields of kind label", "strata", index)
        cluster, rule = self.raw.get("cluster"), self.raw.get("unit")
        yield from self.field_use(cluster, "label", "items are grouped by a field of kind label", "cluster")
        if isinstance(rule, str) and " " in rule:
            use = "units are made from a required field of kind text"
            yield from self.field_use(rule.rpartition(" ")[2], "text", use, "unit")

    def field_use(self, name: object, kind: str, use: str, *path: str | int) -> Iterator[Problem]:
        """The problem of a name that is not that of a field of this kind; what is not a text is reported elsewhere."""
        if not isinstance(name, str):
            return
        spec = self.fields.get(name)
        if name not in self.fields:
            yield self.unknown("field", name, self.fields, path)
        elif spec and spec.kind != kind:
            yield self.problem(f"{name!r} is of kind {spec.kind}; {use}", path)
        elif spec and kind == "text" and not spec.required:
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
            earlier.setdefault(name, place)
        overall = [criterion.id for criterion in self.criteria if criterion and criterion.overall]
        if len(overall) > 1:
            yield self.problem(f"only one criterion summarises the others, not {' and '.join(overall)}", ("criteria",))

    def condition(self, condition: Condition, path: KeyPath, valid: Collection[str]) -> Iterator[Problem]:
        """The problems of a condition on one of the criteria `valid`."""
        bounds = [bound for bound in (condition.at_least, condition.at_most) if bound is not None]
        if (condition.any_of is None) != bool(bounds):
            yield self.problem("a condition has any_of, or at_least and at_most", path, "criterion")
        name, criterion = condition.criterion, self.by_id.get(condition.criterion)
        if criterion is None:
            yield self.unknown("criterion", name, valid, (*path, "criterion"))
            return
        if name not in valid:
            yield self.problem(f"{name!r} must come before the criterion that depends on it", (*path, "criterion"))
        scale = cast("Scale | None", criterion.scale)
        if scale is None:
            return
        if bounds and not isinstance(scale, Ordinal | Percent):
            yield self.problem(f"{name!r} is {scale.type}: use any_of with its labels", path, "criterion")
        elif isinstance(scale, Ordinal | Percent) and (never := _never(condition, scale)):
            yield self.problem(f"{never}, so this never holds", path, "criterion")
        yield from self.values(condition.any_of or (), scale, (*path, "any_of"))

    def values(self, values: Sequence[Value], scale: Scale, path: KeyPath) -> Iterator[Problem]:
        for index, value in enumerate(values):
            if wrong := _misspelt(value, scale):
                yield self.problem(wrong, path, index)

    # Measures and targets

    def measures_and_targets(self) -> Iterator[Problem]:
        first: dict[str, int] = {}
        for index, raw in enumerate(_entries(self.raw.get("measures"))):
            name, path = _mapping(raw).get("name"), ("measures", index)
            if isinstance(name, str) and first.setdefault(name, index) != index:
                line = self.lines.get(("measures", first[name]))
                yield self.problem(f"the measure {name!r} appears twice (first in line {line})", path)
            if (measure := self.measures[index]) is not None:
                yield from self.measure(measure, path)
        for index, raw in enumerate(_entries(self.raw.get("targets"))):
            name = _mapping(raw).get("measure")
            if isinstance(name, str) and name not in first:
                yield self.unknown("measure", name, first, ("targets", index, "measure"))

    def measure(self, measure: Measure, path: KeyPath) -> Iterator[Problem]:
        if isinstance(measure, ClassificationMeasure):
            for role, name in (("truth", measure.truth), ("prediction", measure.prediction)):
                yield from self.field_use(name, "label", "it must be of kind label", *path, role)
            return
        several = isinstance(measure, MeanMeasure | AgreementMeasure)
        for name in measure.criteria if several else (measure.criterion,):
            criterion = self.by_id.get(name)
            scale = cast("Scale | None", criterion.scale) if criterion else None
            if criterion is None:
                yield self.unknown("criterion", name, self.by_id, path, "criteria" if several else "criterion")
            elif scale is not None and (needed := _needed_scale(measure, scale)):
                yield self.problem(f"{needed}; {name!r} is {scale.type}", path)
            elif scale is not None and isinstance(measure, ProportionMeasure):
                yield from self.values(measure.any_of, scale, (*path, "any_of"))
                yield from self.values(measure.exclude, scale, (*path, "exclude"))
                if measure.also is not None:
                    yield from self.condition(measure.also, (*path, "also"), self.by_id)

    # Examples

    def example(self, example: Example | None, index: int) -> Iterator[Problem]:
        if example is None:
            return
        path: KeyPath = ("examples", index)
        for name, value in example.fields.items():
            spec = self.fields.get(name)
            if name not in self.fields:
                yield self.unknown("field", name, self.fields, (*path, "fields"), name)
            elif spec and (wanted := _wanted(spec, value)):
                yield self.problem(f"a field of kind {spec.kind} is {wanted}", (*path, "fields", name))
        by_item = self.raw.get("unit") in (None, "item")
        if by_item != (example.unit is None):
            wanted = "leave 'unit' out: it is the whole item" if by_item else "name the sentence or question as 'unit'"
            yield self.problem(wanted, path)
        for part, names in (("rationales", example.rationales), ("ratings", example.ratings)):
            for name in names.keys() - self.by_id.keys():
                yield self.unknown("criterion", name, self.by_id, (*path, part), name)
        for name, value in example.ratings.items():
            if (criterion := self.by_id.get(name)) is None:
                continue
            scale, when = cast("Scale | None", criterion.scale), criterion.when
            if scale is not None and (wrong := _misspelt(value, scale)):
                yield self.problem(wrong, (*path, "ratings", name))
            elif when is not None and not when.holds(example.ratings.get(when.criterion)):
                yield self.problem(f"{name!r} is asked only when {when.describe()}", (*path, "ratings", name))


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _entries(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def _valid(validate: Callable[[object], _T], value: object) -> _T | None:
    try:
        return validate(value)
    except ValidationError:
        return None


def _criterion(value: object) -> Criterion | None:
    """A criterion, or what is valid of it: then its scale may be None."""
    given, whole = _mapping(value), _valid(Criterion.model_validate, value)
    if whole is not None or not isinstance(given.get("id"), str):
        return whole
    scale = _valid(_SCALE.validate_python, given.get("scale"))
    when = _valid(Condition.model_validate, given.get("when"))
    return Criterion.model_construct(id=given["id"], scale=scale, when=when, overall=given.get("overall") is True)


def _never(condition: Condition, scale: Ordinal | Percent) -> str | None:
    """Why no value of the scale lies within the bounds of a condition; None if one does."""
    low, high = condition.at_least, condition.at_most
    bottom, top = (scale.values[0], scale.values[-1]) if isinstance(scale, Ordinal) else (0, 100)
    if low is not None and low > top:
        return f"at_least {low:g} is above the top of {condition.criterion!r}, {top}"
    if high is not None and high < bottom:
        return f"at_most {high:g} is below the bottom of {condition.criterion!r}, {bottom}"
    if low is not None and high is not None and low > high:
        return f"at_least {low:g} is above at_most {high:g}"
    bounded = condition.any_of is None and (low is not None or high is not None)
    if bounded and isinstance(scale, Ordinal) and not any(map(condition.holds, scale.values)):
        return f"{condition.criterion!r} has no level that is {condition.test}"
    return None


def _misspelt(value: Value, scale: Scale) -> str | None:
    """What is wrong with a value named in the protocol, which must be written exactly as the scale has it."""
    try:
        read = scale.read(value)
    except ValueError as error:
        return str(error)
    return None if read == value else f"{value!r} must be written as {read!r}"


def _needed_scale(measure: Measure, scale: Scale) -> str | None:
    """What a measure needs instead of a criterion on this scale; None if it fits."""
    if isinstance(measure, MeanMeasure) and not isinstance(scale, Ordinal | Percent):
        return f"a {measure.kind} needs ordinal or percent ratings"
    if isinstance(measure, AnswerMeasure) and not isinstance(scale, Text):
        return f"{measure.kind} needs a text criterion"
    if isinstance(measure, AgreementMeasure) and isinstance(scale, Text):
        return f"{measure.kind} needs labels or levels"
    return None


def _wanted(spec: FieldSpec, value: object) -> str | None:
    """What a worked example must give for a field, if `value` is something else; None if it is right."""
    if spec.kind == "label" and spec.labels is not None:
        return None if isinstance(value, str) and value in spec.labels else f"one of {', '.join(spec.labels)}"
    adapter, wanted = _FIELD_VALUES[spec.kind]
    return wanted if _valid(adapter.validate_python, value) is None else None
