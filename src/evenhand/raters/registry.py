"""Rater specs to raters. Built-in kinds are registered as a plug-in's are: by an entry point of `evenhand.raters`.

A spec is `KIND`, `KIND:REST` or `KIND(SPEC, SPEC, …)`, optionally with a name: `NAME=SPEC`. The kind of a web address
is its scheme. An entry point names a factory, or a class with a method `rate(item, unit)`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from evenhand.errors import UserError
from evenhand.llm.base import Chat
from evenhand.protocol.model import Protocol
from evenhand.raters.adapters import AdaptedRater, OwnRater
from evenhand.raters.base import Rater
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RaterOptions, RunOptions

GROUP = "evenhand.raters"
_NAMED = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)=(?P<spec>.+)", re.DOTALL)
_LOCAL_KINDS = ("verifier", "quest-eval")
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


Factory = Callable[[str, str, RaterContext], Rater]
"""Builds a rater from its spec, its name and the context. Raises UserError if that is not possible."""

RaterSource = str | Rater | OwnRater | Callable[[RaterContext], Rater]
"""A spec, a rater, an object with a method `rate(item, unit)`, or a function that builds a rater."""


def rater_of(source: RaterSource, context: RaterContext) -> Rater:
    """The rater that a spec names, a function builds or an object is. Raises UserError for an unknown spec."""
    if isinstance(source, str):
        return _from_spec(source, context)
    if hasattr(source, "rate_units"):
        return cast("Rater", source)
    if hasattr(source, "rate"):
        return AdaptedRater(cast("OwnRater", source), context.protocol)
    return cast("Callable[[RaterContext], Rater]", source)(context)


def _from_spec(given: str, context: RaterContext) -> Rater:
    name, spec, kind = _split(given)
    entry_point = kinds().get(kind)
    if entry_point is None:
        raise UserError(
            f"there is no rater {spec!r}; valid are openai:MODEL, gemini:MODEL, anthropic:MODEL, "
            "http://HOST:PORT/v1#MODEL, hf:FOLDER-OR-ID, jury(SPEC, SPEC, …), verifier, verifier(SPEC), quest-eval, "
            "quest-eval(SPEC), each also as NAME=SPEC; "
            f"installed kinds: {', '.join(sorted(kinds()))}"
        )
    loaded = entry_point.load()
    if isinstance(loaded, type) and spec.lower() != kind:
        raise UserError(f"{spec!r}: the rater {kind!r} takes no options; write {kind}, or NAME={kind}")
    made = loaded() if isinstance(loaded, type) else cast("Factory", loaded)(spec, name, context)
    if hasattr(made, "rate_units"):
        return cast("Rater", made)
    return AdaptedRater(cast("OwnRater", made), context.protocol, name)


def _split(spec: str) -> tuple[str, str, str]:
    """The name, the spec without it, and its kind, which is empty if there is none."""
    spec = spec.strip()
    named = _NAMED.fullmatch(spec)
    name, spec = (named["name"], named["spec"].strip()) if named else (spec, spec)
    kind = _KIND.match(spec)
    return name, spec, kind["kind"].lower() if kind else ""


def model_within(outer: str, spec: str, context: RaterContext, protocol: Protocol | None = None) -> Rater:
    """The language model that a built-in rater is to use, as in verifier(SPEC), under another protocol if one is given.

    Raises UserError if the spec does not name a language model.
    """
    context = context if protocol is None else replace(context, protocol=protocol)
    # Local kinds are rejected before they complain that the inner protocol does not suit them.
    rater = None if _split(spec)[2] in _LOCAL_KINDS else rater_of(spec, context)
    if rater is None or not rater.chats:
        raise UserError(
            f"{outer}({spec}): {spec!r} is not a language model; name one, as in {outer}(openai:MODEL), or use {outer} "
            "without brackets"
        )
    return rater


def kinds() -> Mapping[str, EntryPoint]:
    """The kinds of raters that are installed, by name."""
    return {entry_point.name: entry_point for entry_point in entry_points(group=GROUP)}


def specs_in(text: str) -> list[str]:
    """The specs between the commas of a jury's list; commas within inner brackets do not count."""
    parts, depth, start = list[str](), 0, 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]
