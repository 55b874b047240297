"""`gen_ai.json`: the elements of EvaluateModel's prompts, laid over a copy of a built-in protocol.

The result is an ordinary protocol with a digest of its own, so the prompt, the reply schema and the ratings still come
from one place, and the protocol's own checks apply. All problems are reported at once, each with the path of its key.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import yaml
from pydantic import Field, ValidationError

from evenhand.errors import InputError, Problem, ProtocolError, UserError
from evenhand.files import json_problem, parse_json, read_text, replacing
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import Ask, Criterion, Example, Protocol
from evenhand.protocol.problems import validation_problems
from evenhand.records import Value
from evenhand.scales import Nominal, Ordinal, Strict, Text
from evenhand.text import unknown

ModelType = Literal["feedback_generation", "ai_detection"]
GenAiSource = str | Path | Mapping[str, Any]

PROTOCOLS: Mapping[ModelType, str] = {"feedback_generation": "feedback", "ai_detection": "ai-detection"}
"""The built-in protocol of each model type."""

NonEmpty = Annotated[str, Field(min_length=1)]


class LevelText(Strict):
    """The name of a level, such as Excellent, and when it, or a label, is chosen."""

    name: NonEmpty | None = None
    description: NonEmpty


class CriterionText(Strict):
    """What is asked on one criterion; what is left out stays as the built-in protocol has it."""

    name: NonEmpty | None = None
    question: NonEmpty | None = None
    levels: Mapping[str, LevelText] = Field(default_factory=dict[str, LevelText])


class ExampleText(Example):
    """A worked example of the protocol, with other words for the fields of an item, the scores it gets, and why."""

    fields: Annotated[Mapping[str, object], Field(min_length=1)] = Field(alias="input")
    ratings: Annotated[Mapping[str, Value], Field(min_length=1)] = Field(alias="scores")
    rationales: Mapping[str, str] = Field(default_factory=dict[str, str], alias="reasoning")


class PromptElements(Strict):
    """Everything that the prompt of one model type is made of."""

    role: NonEmpty
    responsibilities: tuple[NonEmpty, ...] = ()
    qualities: Mapping[str, NonEmpty] = Field(default_factory=dict[str, str])
    criteria: Mapping[str, CriterionText] = Field(default_factory=dict[str, CriterionText])
    examples: tuple[ExampleText, ...] | None = None
    output: Ask | None = None


class GenAi(Strict):
    """A whole `gen_ai.json`: one part for each model type."""

    feedback_generation: PromptElements | None = None
    ai_detection: PromptElements | None = None


_EXAMPLE_KEYS = {spec.alias or name: name for name, spec in ExampleText.model_fields.items()}
"""Keys of an example in the file, and in a protocol."""


def built_in(model_type: ModelType) -> Protocol:
    """The protocol that a model type is rated under, without changes."""
    if model_type not in PROTOCOLS:
        raise UserError(f"model_type: {model_type!r} is unknown; valid are {' and '.join(PROTOCOLS)}")
    return load_protocol(PROTOCOLS[model_type])


def protocol_of(model_type: ModelType, gen_ai: GenAiSource | None) -> Protocol:
    """The built-in protocol of a model type, with the elements of a `gen_ai.json` if one is given."""
    protocol = built_in(model_type)
    if gen_ai is None:
        return protocol
    source, data = _data(gen_ai)
    made = _protocols(source, data)
    if data.get(model_type) is None:
        what = f"there is no part {model_type!r}; the file has: {', '.join(data) or 'nothing'}"
        fix = f"EvaluateModel.gen_ai_template({model_type!r}) returns a complete one to start from"
        raise InputError(source, [Problem(what, fix=fix)])
    elements = PromptElements.model_validate(data[model_type])
    duties = [f"- {duty.strip()}" for duty in elements.responsibilities]
    expected = [f"- *{name.strip()}*: {text.strip()}" for name, text in elements.qualities.items()]
    lists = [("What you do:", duties), ("What is expected of you:", expected)]
    parts = [elements.role.strip(), *("\n".join([heading, "", *entries]) for heading, entries in lists if entries)]
    changes = {"version": f"{protocol.version}+gen_ai", "instructions": "\n\n".join(parts) + "\n"}
    return read_protocol(made[model_type].model_copy(update=changes).canonical(), source)


def gen_ai_template(model_type: ModelType) -> dict[str, Any]:
    """The part of a `gen_ai.json` for this model type: all elements of the built-in prompt, to be changed."""
    protocol = built_in(model_type)
    text = (files("evenhand.evaluate_model") / "prompt_elements.yaml").read_text(encoding="utf-8")
    given = {
        **yaml.safe_load(text)[model_type],
        "criteria": {criterion.id: _criterion_text(criterion) for criterion in protocol.criteria},
        "examples": [ExampleText.model_construct(**dict(example)) for example in protocol.examples],
        "output": protocol.ask,
    }
    return PromptElements.model_validate(given).model_dump(mode="json", exclude_none=True, by_alias=True)


def write_gen_ai(path: str | Path = "gen_ai.json", *, overwrite: bool = False) -> None:
    """Write a complete `gen_ai.json` to start from, for both model types."""
    text = json.dumps({name: gen_ai_template(name) for name in PROTOCOLS}, ensure_ascii=False, indent=2)
    with replacing(Path(path), overwrite=overwrite) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def _data(gen_ai: GenAiSource) -> tuple[str, Mapping[str, object]]:
    if isinstance(gen_ai, str | Path):
        source, text = str(gen_ai), read_text(Path(gen_ai))
    else:
        try:
            # A mapping goes through JSON too, so that a level may be written 5 as well as "5".
            source, text = "gen_ai", json.dumps(dict(gen_ai), ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise InputError("gen_ai", f"this cannot be written as JSON: {error}") from error
    try:
        data = parse_json(text)
    except ValueError as error:
        raise InputError(source, [json_problem(error)]) from error
    if not isinstance(data, dict):
        raise InputError(source, f"an object with the keys {' and '.join(PROTOCOLS)} is needed")
    return source, cast("dict[str, object]", data)


def _protocols(source: str, data: Mapping[str, object]) -> Mapping[ModelType, Protocol]:
    """Each model type's protocol with its elements in place. Raises InputError with every problem.

    Keys and types are checked by pydantic, names and values by the checks of the protocol that the elements lead to.
    """
    problems: list[Problem] = []
    try:
        GenAi.model_validate(data)
    except ValidationError as error:
        problems += validation_problems(error, GenAi, data)
    reported, made = {problem.key for problem in problems}, dict[ModelType, Protocol]()
    for name in PROTOCOLS:
        part, protocol = _mapping(data.get(name)), built_in(name)
        found = list(_unknown_names(protocol, part))
        try:
            made[name] = read_protocol(json.dumps(_overlaid(protocol, part)), source)
        except ProtocolError as error:
            found += [replace(one, key=_file_key(protocol, one.key or ""), line=None) for one in error.problems]
        found = [replace(one, key=f"{name}.{one.key}") for one in found]
        problems += [one for one in found if one.key not in reported]
    if problems:
        raise InputError(source, problems)
    return made


def _unknown_names(protocol: Protocol, part: Mapping[str, Any]) -> Iterator[Problem]:
    """Criteria and levels that the protocol does not have."""
    known = {criterion.id: criterion.scale for criterion in protocol.criteria}
    for name, text in _mapping(part.get("criteria")).items():
        key, levels = f"criteria.{name}", _mapping(_mapping(text).get("levels"))
        scale = known.get(name)
        if scale is None:
            yield Problem(unknown("criterion", name, known), key=key)
        elif isinstance(scale, Text) and levels:
            yield Problem("this criterion is answered in free text and has no levels", key=f"{key}.levels")
        else:
            values = [str(value) for value in scale.values]
            for level, entry in levels.items():
                if level not in values:
                    yield Problem(unknown("level", level, values), key=f"{key}.levels.{level}")
                elif isinstance(scale, Nominal) and _mapping(entry).get("name") is not None:
                    yield Problem("a label cannot be renamed; leave this out", key=f"{key}.levels.{level}.name")


def _file_key(protocol: Protocol, key: str) -> str:
    """A key of the protocol as the file has it."""
    first, *rest = key.split(".")
    if first == "criteria" and rest:
        names = {"label": "name", "anchor": "description", "definition": "description", "labels": "levels"}
        place = protocol.criteria[int(rest[0]) - 1].id
        inner = [names.get(name, name) for name in rest[1:] if name != "scale"]
        return ".".join([first, place, *(inner or ["levels"])])
    names = {ours: theirs for theirs, ours in _EXAMPLE_KEYS.items()}
    return ".".join(["output" if first == "ask" else first, *(names.get(name, name) for name in rest)])


def _overlaid(protocol: Protocol, part: Mapping[str, Any]) -> dict[str, Any]:
    """The protocol's content with the elements in place of its own, whether or not they are valid."""
    content: dict[str, Any] = json.loads(protocol.canonical())
    given = _mapping(part.get("criteria"))
    for criterion in content["criteria"]:
        text = _mapping(given.get(criterion["id"]))
        criterion |= {key: text[key] for key in ("name", "question") if text.get(key)}
        levels, labels = criterion["scale"].get("levels", {}), criterion["scale"].get("labels", {})
        for level, entry in _mapping(text.get("levels")).items():
            words = _mapping(entry)
            if level in levels and "description" in words:
                levels[level] = {"label": words.get("name") or levels[level]["label"], "anchor": words["description"]}
            elif level in labels and "description" in words:
                labels[level]["definition"] = words["description"]
    if isinstance(examples := part.get("examples"), list):
        content["examples"] = [
            {_EXAMPLE_KEYS.get(key, key): value for key, value in _mapping(example).items()}
            for example in cast("list[object]", examples)
        ]
    return {**content, "ask": part["output"]} if "output" in part else content


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _criterion_text(criterion: Criterion) -> dict[str, Any]:
    scale, levels = criterion.scale, dict[str, object]()
    if isinstance(scale, Ordinal):
        best_first = sorted(scale.levels.items(), reverse=True)
        levels = {str(level): {"name": one.label, "description": one.anchor} for level, one in best_first}
    elif isinstance(scale, Nominal):
        levels = {name: {"description": label.definition} for name, label in scale.labels.items()}
    return {"name": criterion.title, "question": criterion.question, "levels": levels}
