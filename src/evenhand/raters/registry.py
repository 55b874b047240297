"""Rater specs to raters. Built-in kinds are registered as a plug-in's are: by an entry point of `evenhand.raters`.

A spec is `KIND`, `KIND:REST` or `KIND(SPEC, SPEC, …)`, optionally with a name: `NAME=SPEC`. The kind of a web address
is its scheme. An entry point names a factory, or a class with a method `rate(item, unit)`.
"""

import asyncio
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol as Interface
from typing import cast

from evenhand.errors import RaterFailure, UserError
from evenhand.llm.base import Chat
from evenhand.protocol.completion import Judgement
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Rater, digest_of
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RaterOptions, RunOptions
from evenhand.records import Answer, Item, Kind, RaterRef, Unit

GROUP = "evenhand.raters"
_NAMED = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)=(?P<spec>.+)", re.DOTALL)
_LOCAL_KINDS = ("verifier", "quest-eval", "overlap")
_KIND = re.compile(r"(?P<kind>[A-Za-z][A-Za-z0-9_-]*)(?::|\(|$)")

Connect = Callable[[str | Chat], Chat]
"""Connects to a model by its spec, such as `openai:MODEL`; or takes a chat that the caller has made."""


@dataclass(frozen=True, slots=True)
class RaterContext:
    """What raters are built with."""

    protocol: Protocol
    connect: Connect
    options: RaterOptions = RATER_DEFAULTS
    run: RunOptions = RUN_DEFAULTS


class OwnRater(Interface):
    """A rater of yours.

    `rate` returns a value for each criterion by its id, an `Answer` or several of them, or, if the protocol has only
    one criterion, just its value. It raises RaterFailure if it has no answer, and it may be a coroutine function. A
    plain function runs in a thread beside the event loop, one unit at a time.

    A required criterion that it does not answer has failed; an optional one is skipped.

    Optional attributes: `id` (by default the name of the class), `kind` (`model` or `rule`, the default), `version`,
    `settings`, a mapping of everything that changes its ratings: other settings under the same id are rejected; and
    `beyond`, why it answers only some criteria: the other required ones are then `cannot_assess` with this reason.
    """

    def rate(self, item: Item, unit: Unit) -> object: ...


Factory = Callable[[str, str, RaterContext], Rater | OwnRater]
"""Builds a rater from its spec, its name and the context. Raises UserError if that is not possible."""

RaterSource = str | Rater | OwnRater | Callable[[RaterContext], Rater]
"""A spec, a rater, an object with a method `rate(item, unit)`, or a function that builds a rater."""


def rater_of(source: RaterSource, context: RaterContext) -> Rater:
    """The rater that a spec names, a function builds or an object is. Raises UserError for an unknown spec."""
    name = None
    if isinstance(source, str):
        name, spec, kind = split_spec(source)
        entry_point = kinds().get(kind)
        if entry_point is None:
            raise UserError(
                f"there is no rater {spec!r}; valid are openai:MODEL, gemini:MODEL, anthropic:MODEL, "
                "http://HOST:PORT/v1#MODEL, hf:FOLDER-OR-ID, jury(SPEC, SPEC, …), verifier, verifier(onnx:NAME), "
                "verifier(SPEC), quest-eval, quest-eval(SPEC), ai-detection(SPEC), overlap, overlap(SCORE, …), "
                f"each also as NAME=SPEC; installed kinds: {', '.join(sorted(kinds()))}"
            )
        loaded = entry_point.load()
        if isinstance(loaded, type) and spec.lower() != kind:
            raise UserError(f"{spec!r}: the rater {kind!r} takes no options; write {kind}, or NAME={kind}")
        source = loaded() if isinstance(loaded, type) else cast("Factory", loaded)(spec, name, context)
    if hasattr(source, "rate_units"):
        return cast("Rater", source)
    if hasattr(source, "rate"):
        return AdaptedRater(cast("OwnRater", source), context.protocol, name)
    return cast("Callable[[RaterContext], Rater]", source)(context)


def split_spec(spec: str) -> tuple[str, str, str]:
    """The name, the spec without it, and its kind, which is empty if there is none."""
    spec = spec.strip()
    named = _NAMED.fullmatch(spec)
    name, spec = (named["name"], named["spec"].strip()) if named else (spec, spec)
    kind = _KIND.match(spec)
    return name, spec, kind["kind"].lower() if kind else ""


def model_within(outer: str, spec: str, context: RaterContext, protocol: Protocol | None = None) -> Rater:
    """The language model in verifier(SPEC) and the like, under `protocol` if given. Raises UserError if it is none."""
    context = context if protocol is None else replace(context, protocol=protocol)
    # Local kinds are rejected before they complain that the inner protocol does not suit them.
    rater = None if split_spec(spec)[2] in _LOCAL_KINDS else rater_of(spec, context)
    if rater is None or not rater.chats:
        raise UserError(
            f"{outer}({spec}): {spec!r} is not a language model; name one, as in {outer}(openai:MODEL), or use {outer} "
            "without brackets"
        )
    return rater


def kinds() -> Mapping[str, EntryPoint]:
    """The kinds of raters that are installed, by name."""
    return {entry_point.name: entry_point for entry_point in entry_points(group=GROUP)}


def specs_in(spec: str) -> Sequence[str]:
    """The specs in the brackets of `KIND(SPEC, SPEC, …)`, with inner brackets or not; none if one is missing."""
    text = spec.partition("(")[2]
    parts, depth, start = list[str](), 1, 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if (sign == "," and depth == 1) or place == len(text) - 1:
            parts.append(text[start:place].strip())
            start = place + 1
    return parts if text.endswith(")") and all(parts) else []


class AdaptedRater(Rater):
    """A user's own rater in the form that runs drive, unit by unit."""

    def __init__(self, rater: OwnRater, protocol: Protocol, name: str | None = None) -> None:
        self._rater = rater
        self._protocol = protocol
        version = str(getattr(rater, "version", ""))
        given: Mapping[str, object] = getattr(rater, "settings", {})
        self.settings: Mapping[str, object] = {"class": type(rater).__qualname__, "version": version, **given}
        rater_id = name or str(getattr(rater, "id", type(rater).__name__))
        kind = Kind(getattr(rater, "kind", Kind.RULE))
        self.ref = RaterRef(rater_id, kind, version, digest_of(self.settings))

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        return [await self._judgement(item, unit) for unit in units]

    async def _judgement(self, item: Item, unit: Unit) -> Judgement:
        try:
            found = await asyncio.to_thread(self._rater.rate, item, unit)
            answers = self._answers(await found if inspect.isawaitable(found) else found)
            return Judgement(unit, answers, beyond=getattr(self._rater, "beyond", None))
        except RaterFailure as failure:
            return Judgement(unit, failure=failure)

    def _answers(self, found: object) -> Sequence[Answer]:
        known, kind = [criterion.id for criterion in self._protocol.criteria], type(found).__name__
        listed = cast("Sequence[object]", found if isinstance(found, list | tuple) else [found])
        answers = [one for one in listed if isinstance(one, Answer)]
        if isinstance(found, Mapping):
            named = cast("Mapping[str, object]", found).items()
            answers = [value if isinstance(value, Answer) else Answer(name, value) for name, value in named]
        elif len(answers) < len(listed):
            if len(known) > 1:
                raise UserError(
                    f"{self.ref.id}: rate(item, unit) returned a {kind}; it must return the values by "
                    f"criterion, as in {{{known[0]!r}: …}}, or a list of Answers"
                )
            answers = [Answer(known[0], cast("object", found))]
        for answer in answers:
            if answer.criterion not in known:
                raise UserError(
                    f"{self.ref.id}: {self._protocol.name} has no criterion {answer.criterion!r}; "
                    f"it has: {', '.join(known)}"
                )
        return answers
