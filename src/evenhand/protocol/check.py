"""Check the parts of a protocol against each other: names that must exist, values that must fit a scale.

The parts that are valid are checked even if others are not, so that one run reports these problems together with
misspelt keys and wrong types.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

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
    Protocol,
)
from evenhand.protocol.yaml_tree import Tree
from evenhand.records import Value
from evenhand.scales import Ordinal, Percent, Scale, Text, label_key
from evenhand.text import did_you_mean

RESERVED = (
    "id",
    "item",
    "unit",
    "rater",
    "kind",
    "value",
    "status",
    "rationale",
    "confidence",
    "notes",
    "check",
    "unit_code",
)
"""Column names of rating files: no field or criterion may take them."""

_T = TypeVar("_T")
_FIELD = TypeAdapter(FieldSpec)
_CRITERION = TypeAdapter(Criterion)
_CONDITION = TypeAdapter(Condition)
_EXAMPLE = TypeAdapter(Example)
_MEASURE: TypeAdapter[Measure] = TypeAdapter(Measure)
_SCALE: TypeAdapter[Scale] = TypeAdapter(Scale)


def contradictions(tree: Tree, protocol: Protocol | None) -> list[Problem]:
    """Every place where one part of the protocol does not fit another.

    `protocol` is what the tree was validated to; None if that failed: then the parts that are valid are checked.
    """
    parts = _Parts.of(tree, protocol)
    return [
        *_fields(parts),
        *_cluster(parts),
        *_criteria(parts),
        *_unit(parts),
        *_measures(parts),
        *_examples(parts),
    ]


@dataclass(frozen=True, slots=True)
class _Named:
    """A criterion by its id: its tree, its place in the order, and its scale and condition if they are valid."""

    tree: Tree
    order: int
    scale: Scale | None
    when: Condition | None


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a protocol in the order of the file; None for each that is not valid."""

    root: Tree
    fields: Mapping[str, FieldSpec | None]
    criteria: Mapping[str, _Named]
    ordered: Sequence[Criterion | None]
    measures: Sequence[Measure | None]
    examples: Sequence[Example | None]

    @classmethod
    def of(cls, tree: Tree, protocol: Protocol | None) -> "_Parts":
        if protocol is not None:
            fields: Mapping[str, FieldSpec | None] = protocol.item.fields
            criteria: Sequence[Criterion | None] = protocol.criteria
            measures: Sequence[Measure | None] = protocol.measures
            examples: Sequence[Example | None] = protocol.examples
        else:
            fields = {str(name): _valid(_FIELD, one.value) for name, one in tree.get("item", "fields").children.items()}
            criteria = [_valid(_CRITERION, one.value) for one in tree.get("criteria").entries]
            measures = [_valid(_MEASURE, one.value) for one in tree.get("measures").entries]
            examples = [_valid(_EXAMPLE, one.value) for one in tree.get("examples").entries]
        named: dict[str, _Named] = {}
        for order, (child, criterion) in enumerate(zip(tree.get("criteria").entries, criteria, strict=True)):
            name = child.get("id").value
            if isinstance(name, str):
                scale = criterion.scale if criterion else _valid(_SCALE, child.get("scale").value)
                when = criterion.when if criterion else _valid(_CONDITION, child.get("when").value)
                named.setdefault(name, _Named(child, order, scale, when))
        return cls(tree, fields, named, criteria, measures, examples)


def _valid(adapter: TypeAdapter[_T], value: object) -> _T | None:
    try:
        return adapter.validate_python(value)
    except ValidationError:
        return None


def _unknown(what: str, name: object, valid: Collection[str], line: int | None, key: str) -> Problem:
    hint = did_you_mean(str(name), valid)
    return Problem(f"there is no {what} {name!r}{hint}; there are: {', '.join(valid) or 'none'}", line=line, key=key)


def _fields(parts: _Parts) -> Iterator[Problem]:
    fields = parts.root.get("item", "fields")
    taken: dict[str, str] = {label_key(name): name for name in parts.fields}
    for name, spec in parts.fields.items():
        line, key = fields.get(name).line, f"item.fields.{name}"
        if name in RESERVED:
            yield Problem(f"{name!r} is a column of rating files; choose another name", line=line, key=key)
        for alias in spec.aliases if spec else ():
            owner = taken.setdefault(label_key(alias), name)
            other = parts.fields[owner]
            shared = spec and other and other.required != spec.required and alias not in parts.fields
            if owner != name and not shared:
                yield Problem(f"the alias {alias!r} already belongs to {owner!r}", line=line, key=key)
        if spec and spec.labels is not None and spec.kind != "label":
            yield Problem(f"only a field of kind label has labels, not {spec.kind}", line=line, key=key)
        if spec and spec.delimiter is not None and spec.kind != "passages":
            yield Problem(f"only a field of kind passages has a delimiter, not {spec.kind}", line=line, key=key)
    specs = list(parts.fields.values())
    if None not in specs:
        yield from _nothing_rated(parts, fields.line)
    for index, stratum in enumerate(parts.root.get("strata").entries, start=1):
        if not isinstance(stratum.value, str):
            continue
        if stratum.value not in parts.fields:
            yield _unknown("field", stratum.value, parts.fields, stratum.line, f"strata.{index}")
        elif (spec := parts.fields[stratum.value]) and spec.kind != "label":
            yield Problem(
                f"{stratum.value!r} is of kind {spec.kind}; results are broken down by fields of kind label",
                line=stratum.line,
                key=f"strata.{index}",
            )


def _cluster(parts: _Parts) -> Iterator[Problem]:
    named = parts.root.get("cluster")
    if not isinstance(named.value, str):
        return
    if named.value not in parts.fields:
        yield _unknown("field", named.value, parts.fields, named.line, "cluster")
    elif (spec := parts.fields[named.value]) and spec.kind != "label":
        what = f"{named.value!r} is of kind {spec.kind}; items are grouped by a field of kind label"
        yield Problem(what, line=named.line, key="cluster")


def _nothing_rated(parts: _Parts, line: int | None) -> Iterator[Problem]:
    rated = {name: spec.shown for name, spec in parts.fields.items() if spec and spec.role == "rated"}
    if parts.fields and not rated:
        yield Problem("no field has the role rated: one field is what is rated", line=line, key="item.fields")
    elif rated and not any(rated.values()):
        name = next(iter(rated))
        line = parts.root.get("item", "fields", name).line
        what = f"{name!r} is what is rated, so it must be shown: remove 'shown: false'"
        yield Problem(what, line=line, key=f"item.fields.{name}")


def _criteria(parts: _Parts) -> Iterator[Problem]:
    seen: dict[str, int | None] = {}
    overall: list[str] = []
    columns: dict[str, str] = {}
    for order, child in enumerate(parts.root.get("criteria").entries):
        name, line, key = child.get("id").value, child.get("id").line, f"criteria.{order + 1}"
        if not isinstance(name, str):
            continue
        if name in seen:
            yield Problem(f"the criterion {name!r} appears twice (first in line {seen[name]})", line=line, key=key)
        seen.setdefault(name, line)
        if name in RESERVED or name in parts.fields:
            owner = "a field" if name in parts.fields else "a column of rating files"
            yield Problem(f"{name!r} is also {owner}; choose another id", line=line, key=key)
        if child.get("overall").value is True:
            overall.append(name)
        criterion = parts.ordered[order]
        for column in (*criterion.columns, *criterion.model_columns) if criterion else ():
            owner = columns.setdefault(label_key(column), name)
            if owner != name:
                yield Problem(f"the column {column!r} already belongs to {owner!r}", line=line, key=key)
        if child.get("when").value is not None:
            yield from _condition(child.get("when"), f"{key}.when", parts, before=order)
    if len(overall) > 1:
        yield Problem(
            f"only one criterion summarises the others, not {' and '.join(overall)}",
            key="criteria",
            line=parts.root.get("criteria").line,
        )


def _condition(tree: Tree, key: str, parts: _Parts, before: int | None = None) -> Iterator[Problem]:
    condition = _valid(_CONDITION, tree.value)
    if condition is None:
        return
    line = tree.get("criterion").line
    tests = [test for test in (condition.any_of, condition.at_least, condition.at_most) if test is not None]
    if not tests or (condition.any_of is not None and len(tests) > 1):
        yield Problem("a condition has any_of, or at_least and at_most", line=line, key=key)
    earlier = [name for name, named in parts.criteria.items() if before is None or named.order < before]
    if condition.criterion not in parts.criteria:
        yield _unknown("criterion", condition.criterion, earlier, line, f"{key}.criterion")
        return
    if condition.criterion not in earlier:
        yield Problem(
            f"{condition.criterion!r} must come before the criterion that depends on it",
            line=line,
            key=f"{key}.criterion",
        )
    scale = parts.criteria[condition.criterion].scale
    if scale is None:
        return
    if (condition.at_least is not None or condition.at_most is not None) and not isinstance(scale, Ordinal | Percent):
        yield Problem(f"{condition.criterion!r} is {scale.type}: use any_of with its labels", line=line, key=key)
    elif isinstance(scale, Ordinal | Percent) and (never := _never(condition, scale)):
        yield Problem(f"{never}, so this never holds", line=line, key=key)
    yield from _values(tree.get("any_of"), f"{key}.any_of", scale)


def _never(condition: Condition, scale: Ordinal | Percent) -> str | None:
    """Why no value of the scale lies within the bounds of a condition; None where one does."""
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
        return f"{condition.criterion!r} has no level that is {condition.describe().partition(' is ')[2]}"
    return None


def _values(tree: Tree, key: str, scale: Scale) -> Iterator[Problem]:
    """Values named in the protocol are written exactly as the scale has them."""
    for child in tree.children.values():
        try:
            exact = isinstance(scale, Text) or scale.read(child.value) == child.value
            wrong = None if exact else f"{child.value!r} must be written as {scale.read(child.value)!r}"
        except ValueError as error:
            wrong = str(error)
        if wrong:
            yield Problem(wrong, line=child.line, key=key)


def _unit(parts: _Parts) -> Iterator[Problem]:
    rule = parts.root.get("unit")
    if not isinstance(rule.value, str) or " " not in rule.value:
        return
    name = rule.value.rpartition(" ")[2]
    if name not in parts.fields:
        yield _unknown("field", name, parts.fields, rule.line, "unit")
    elif (spec := parts.fields[name]) and (spec.kind != "text" or not spec.required):
        yield Problem(
            f"units are made from a required field of kind text; {name!r} is "
            f"{'optional' if spec.kind == 'text' else 'of kind ' + spec.kind}",
            line=rule.line,
            key="unit",
        )


def _measures(parts: _Parts) -> Iterator[Problem]:
    names: dict[str, int | None] = {}
    for index, child in enumerate(parts.root.get("measures").entries, start=1):
        key, name = f"measures.{index}", child.get("name").value
        if isinstance(name, str) and name in names:
            what = f"the measure {name!r} appears twice (first in line {names[name]})"
            yield Problem(what, line=child.line, key=key)
        if isinstance(name, str):
            names.setdefault(name, child.line)
        measure = parts.measures[index - 1]
        if measure is not None:
            yield from _measure(measure, child, key, parts)
    for index, child in enumerate(parts.root.get("targets").entries, start=1):
        name = child.get("measure").value
        if isinstance(name, str) and name not in names:
            yield _unknown("measure", name, names, child.get("measure").line, f"targets.{index}.measure")


def _measure(measure: Measure, tree: Tree, key: str, parts: _Parts) -> Iterator[Problem]:
    if isinstance(measure, ClassificationMeasure):
        for role, field in (("truth", measure.truth), ("prediction", measure.prediction)):
            if field not in parts.fields:
                yield _unknown("field", field, parts.fields, tree.get(role).line, f"{key}.{role}")
            elif (spec := parts.fields[field]) and spec.kind != "label":
                yield Problem(
                    f"{field!r} is of kind {spec.kind}; it must be of kind label",
                    line=tree.get(role).line,
                    key=f"{key}.{role}",
                )
        return
    wanted = measure.criteria if isinstance(measure, MeanMeasure | AgreementMeasure) else (measure.criterion,)
    for name in wanted:
        named = parts.criteria.get(name)
        if named is None:
            place = tree.get("criteria") if "criteria" in tree.children else tree.get("criterion")
            yield _unknown("criterion", name, parts.criteria, place.line, key)
        elif named.scale is not None:
            yield from _fits(measure, name, named.scale, tree, key, parts)


def _fits(measure: Measure, name: str, scale: Scale, tree: Tree, key: str, parts: _Parts) -> Iterator[Problem]:
    if isinstance(measure, MeanMeasure) and not isinstance(scale, Ordinal | Percent):
        what = f"a {measure.kind} needs ordinal or percent ratings; {name!r} is {scale.type}"
        yield Problem(what, line=tree.line, key=key)
    if isinstance(measure, AnswerMeasure) and not isinstance(scale, Text):
        yield Problem(f"{measure.kind} needs a text criterion; {name!r} is {scale.type}", line=tree.line, key=key)
    if isinstance(measure, AgreementMeasure) and isinstance(scale, Text):
        yield Problem(f"{measure.kind} needs labels or levels; {name!r} is text", line=tree.line, key=key)
    if isinstance(measure, ProportionMeasure):
        yield from _values(tree.get("any_of"), f"{key}.any_of", scale)
        yield from _values(tree.get("exclude"), f"{key}.exclude", scale)
        if measure.also is not None:
            yield from _condition(tree.get("also"), f"{key}.also", parts)


def _examples(parts: _Parts) -> Iterator[Problem]:
    by_item = parts.root.get("unit").value in (None, "item")
    for index, child in enumerate(parts.root.get("examples").entries, start=1):
        key = f"examples.{index}"
        example = parts.examples[index - 1]
        if example is None:
            continue
        for name, value in example.fields.items():
            line = child.get("fields", name).line
            if name not in parts.fields:
                yield _unknown("field", name, parts.fields, line, f"{key}.fields")
            elif (spec := parts.fields[name]) and (wanted := spec.wants(value)):
                yield Problem(f"a field of kind {spec.kind} is {wanted}", line=line, key=f"{key}.fields.{name}")
        if by_item != (example.unit is None):
            wanted = "leave 'unit' out: it is the whole item" if by_item else "name the sentence or question as 'unit'"
            yield Problem(wanted, line=child.line, key=key)
        for part, names in (("ratings", example.ratings), ("rationales", example.rationales)):
            for name in names:
                if name not in parts.criteria:
                    yield _unknown("criterion", name, parts.criteria, child.get(part, name).line, f"{key}.{part}")
        yield from _example_ratings(example.ratings, child, key, parts)


def _example_ratings(ratings: Mapping[str, Value], tree: Tree, key: str, parts: _Parts) -> Iterator[Problem]:
    for name, value in ratings.items():
        named = parts.criteria.get(name)
        if named is None or named.scale is None:
            continue
        line = tree.get("ratings", name).line
        try:
            read = named.scale.read(value)
        except ValueError as error:
            yield Problem(str(error), line=line, key=f"{key}.ratings.{name}")
            continue
        if read != value:
            yield Problem(f"{value!r} must be written as {read!r}", line=line, key=f"{key}.ratings.{name}")
        when = named.when
        if when is not None and not when.holds(ratings.get(when.criterion)):
            yield Problem(f"{name!r} is asked only when {when.describe()}", line=line, key=f"{key}.ratings.{name}")
