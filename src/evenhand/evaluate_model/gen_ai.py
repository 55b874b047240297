"""Read and check a `gen_ai.json`: every problem at once, each with the path of its key."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evenhand.errors import InputError, Problem
from evenhand.evaluate_model.elements import (
    CriterionWords,
    Elements,
    ExampleWords,
    GenAi,
    LevelWords,
    ModelType,
    built_in,
    reworded_scale,
    template,
    with_elements,
)
from evenhand.formats.columns import nearest
from evenhand.protocol.load import read_protocol
from evenhand.protocol.model import Ask, Criterion, Protocol
from evenhand.scales import Nominal, Ordinal, Strict

Given = str | Path | Mapping[str, Any]
MODEL_TYPES: tuple[ModelType, ...] = ("feedback_generation", "ai_detection")


def protocol_of(model_type: ModelType, gen_ai: Given | None) -> Protocol:
    """The built-in protocol of a model type, with the elements of a `gen_ai.json` where one is given."""
    protocol = built_in(model_type)
    if gen_ai is None:
        return protocol
    source, data = _data(gen_ai)
    elements = _checked(source, data).get(model_type)
    if elements is None:
        what = f"there is no part {model_type!r}; the file has: {', '.join(data) or 'nothing'}"
        fix = f"EvaluateModel.gen_ai_template({model_type!r}) gives a complete one to start from"
        raise InputError(source, [Problem(what, fix=fix)])
    return read_protocol(with_elements(protocol, elements).canonical(), source)


def write_template(path: str | Path, *, overwrite: bool = False) -> None:
    """Write a complete file to start from, with both model types. A file that is there is refused."""
    text = json.dumps({name: template(name) for name in MODEL_TYPES}, ensure_ascii=False, indent=2)
    try:
        with Path(path).open("w" if overwrite else "x", encoding="utf-8") as file:
            file.write(text + "\n")
    except FileExistsError:
        what = "the file is there already; give another name, or overwrite=True"
        raise InputError(str(path), what) from None
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror or error}") from error


def _data(gen_ai: Given) -> tuple[str, Mapping[str, object]]:
    if isinstance(gen_ai, str | Path):
        source, text = str(gen_ai), _text(Path(gen_ai))
    else:
        try:
            # A mapping goes through JSON too, so that a level may be written 5 as well as "5".
            source, text = "gen_ai", json.dumps(dict(gen_ai), ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise InputError("gen_ai", f"this cannot be written as JSON: {error}") from error
    try:
        data: object = json.loads(text, object_pairs_hook=_once_each)
    except json.JSONDecodeError as error:
        raise InputError(source, [Problem(f"not valid JSON: {error.msg}", line=error.lineno)]) from error
    except (_TwiceError, RecursionError) as error:
        raise InputError(source, str(error)) from error
    if not isinstance(data, dict):
        raise InputError(source, f"an object with the keys {' and '.join(MODEL_TYPES)} is needed")
    return source, cast("dict[str, object]", data)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(str(path), "not UTF-8 text; save the file as UTF-8") from error
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from error


class _TwiceError(ValueError):
    """A key that an object has twice; JSON readers would silently keep the last."""


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise _TwiceError(f"the key {key!r} is given twice in one object")
        found[key] = value
    return found


def _checked(source: str, data: Mapping[str, object]) -> Mapping[str, Elements]:
    problems: list[Problem] = []
    try:
        GenAi.model_validate(data)
    except ValidationError as error:
        problems += [_problem(detail) for detail in error.errors()]
    known: dict[ModelType, object] = {name: data[name] for name in MODEL_TYPES if isinstance(data.get(name), dict)}
    for name, part in known.items():
        problems += _misfits(built_in(name), cast("Mapping[str, object]", part), name)
    if problems:
        raise InputError(source, list(dict.fromkeys(problems)))
    return {name: Elements.model_validate(part) for name, part in known.items()}


_OWNERS: Mapping[str, type[Strict]] = {
    "criteria": CriterionWords,
    "levels": LevelWords,
    "examples": ExampleWords,
    "output": Ask,
}

_NEEDED = {
    "string_type": "a text is needed",
    "string_too_short": "a text that is not empty is needed",
    "too_short": "at least one entry is needed",
    **dict.fromkeys(("tuple_type", "list_type"), "a list is needed"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "an object is needed"),
    **dict.fromkeys(("int_type", "float_type", "int_parsing", "float_parsing"), "a number is needed"),
    **dict.fromkeys(("greater_than_equal", "less_than_equal"), "a number from 0 to 100 is needed"),
}
"""What is missing, by the name of pydantic's finding."""


def _problem(detail: ErrorDetails) -> Problem:
    path, kind = detail["loc"], detail["type"]
    if path and path[-1] in ("int", "float", "str"):  # the branches of a union, one finding each
        return Problem("a number or a text is needed", key=_key(path[:-1]))
    if kind == "extra_forbidden":
        valid = list(_owner(path[:-1]).model_fields)
        what = f"unknown key {path[-1]!r}{nearest(str(path[-1]), valid)}; valid here: {', '.join(valid)}"
        return Problem(what, key=_key(path[:-1]) or None)
    if kind == "missing":
        return Problem(f"the key {path[-1]!r} is missing", key=_key(path[:-1]))
    if kind == "literal_error":
        return Problem(f"{detail['input']!r} is not {detail['ctx']['expected']}", key=_key(path))  # pyright: ignore[reportTypedDictNotRequiredAccess]
    return Problem(_NEEDED.get(kind, detail["msg"]), key=_key(path))


def _owner(path: Iterable[str | int]) -> type[Strict]:
    owner: type[Strict] = GenAi
    for part in path:
        owner = _OWNERS.get(str(part), Elements if owner is GenAi else owner)
    return owner


def _key(path: Iterable[str | int]) -> str:
    """A path as people count: the first entry of a list is 1."""
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in path)


def _misfits(protocol: Protocol, part: Mapping[str, object], prefix: str) -> Iterator[Problem]:
    """Where the elements do not fit the protocol; what has the wrong shape is passed over, it is reported already."""
    criteria = part.get("criteria")
    for name, words in _objects(criteria):
        key = f"{prefix}.criteria.{name}"
        if protocol.has(name):
            yield from _levels(protocol.criterion(name), words, key)
        else:
            yield _unknown("criterion", name, [criterion.id for criterion in protocol.criteria], key)
    examples = part.get("examples")
    for place, example in enumerate(cast("list[object]", examples) if isinstance(examples, list) else [], start=1):
        if isinstance(example, dict):
            yield from _example(protocol, cast("dict[str, object]", example), f"{prefix}.examples.{place}")


def _levels(criterion: Criterion, words: Mapping[str, object], key: str) -> Iterator[Problem]:
    scale, given = criterion.scale, words.get("levels")
    valid = [str(value) for value in scale.values] if isinstance(scale, Ordinal | Nominal) else []
    levels: dict[str, LevelWords] = {}
    for name, level in _objects(given):
        if not valid:
            yield Problem("this criterion is answered in free text and has no levels", key=f"{key}.levels")
            return
        if name not in valid:
            yield _unknown("level", name, valid, f"{key}.levels.{name}")
        elif isinstance(scale, Nominal) and level.get("name") is not None:
            yield Problem("a label has no other name; leave it out", key=f"{key}.levels.{name}.name")
        else:
            try:
                levels[name] = LevelWords.model_validate(level)
            except ValidationError:
                continue
    try:
        reworded_scale(scale, levels)
    except ValidationError as error:
        yield Problem(error.errors()[0]["msg"].removeprefix("Value error, "), key=f"{key}.levels")


def _example(protocol: Protocol, example: Mapping[str, object], key: str) -> Iterator[Problem]:
    fields, criteria = protocol.item.fields, [criterion.id for criterion in protocol.criteria]
    for name, value in _entries(example.get("input")):
        if name not in fields:
            yield _unknown("field", name, list(fields), f"{key}.input.{name}")
        elif wanted := fields[name].wants(value):
            yield Problem(f"a field of kind {fields[name].kind} is {wanted}", key=f"{key}.input.{name}")
    for part in ("scores", "reasoning"):
        for name, _ in _entries(example.get(part)):
            if name not in criteria:
                yield _unknown("criterion", name, criteria, f"{key}.{part}.{name}")
    for name, value in _entries(example.get("scores")):
        if name in criteria and (wrong := _off_scale(protocol.criterion(name), value)):
            yield Problem(wrong, key=f"{key}.scores.{name}")


def _off_scale(criterion: Criterion, value: object) -> str | None:
    try:
        read = criterion.scale.read(value)
    except ValueError as error:
        return str(error)
    return None if read == value else f"{value!r} must be written as {read!r}"


def _entries(value: object) -> Iterable[tuple[str, object]]:
    return cast("dict[str, object]", value).items() if isinstance(value, dict) else ()


def _objects(value: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    for name, entry in _entries(value):
        if isinstance(entry, dict):
            yield name, cast("dict[str, object]", entry)


def _unknown(what: str, name: str, valid: list[str], key: str) -> Problem:
    return Problem(f"there is no {what} {name!r}{nearest(name, valid)}; there are: {', '.join(valid)}", key=key)
