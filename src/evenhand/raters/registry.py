"""Rater specs → judges. Built-in kinds are found exactly as a plug-in's: by an entry point of `evenhand.raters`.

A spec is `KIND`, `KIND:REST` or `KIND(SPEC, SPEC, …)`, with a name of its own before it where wanted: `NAME=SPEC`. The
kind of a web address is its scheme.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points

from evenhand.errors import UserError
from evenhand.llm.events import Event
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Judge
from evenhand.raters.options import Asking, Calling
from evenhand.settings import Settings

GROUP = "evenhand.raters"
_NAMED = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)=(?P<spec>.+)", re.DOTALL)
_IN_THE_BOX = ("verifier", "quest-eval")
_KIND = re.compile(r"(?P<kind>[A-Za-z][A-Za-z0-9_-]*)(?::|\(|$)")


@dataclass(frozen=True, slots=True)
class Workshop:
    """What judges are made with."""

    settings: Settings
    asking: Asking = field(default_factory=Asking)
    calling: Calling = field(default_factory=Calling)
    heard: Callable[[str, Event], None] = lambda rater, event: None
    """Told what happens on the way to replies: the rater's id and the event."""

    def heard_as(self, name: str) -> "Workshop":
        """The workshop for raters within a rater: what happens to them is told under its name."""

        def heard(_: str, event: Event) -> None:
            self.heard(name, event)

        return replace(self, heard=heard)


Factory = Callable[[str, str, Protocol, Workshop], Judge]
"""Makes a judge from its spec, its name, the protocol and the workshop. Raises UserError for what cannot be made."""


def judge_of(spec: str, protocol: Protocol, workshop: Workshop) -> Judge:
    """The judge that a spec names. Raises UserError where it names none."""
    name, spec, kind = _parted(spec)
    door = kinds().get(kind)
    if door is None:
        raise UserError(
            f"there is no rater {spec!r}; valid are openai:MODEL, gemini:MODEL, anthropic:MODEL, "
            "http://HOST:PORT/v1#MODEL, hf:FOLDER-OR-ID, jury(SPEC, SPEC, …), verifier, verifier(SPEC), quest-eval, "
            "quest-eval(SPEC), each also as NAME=SPEC; "
            f"kinds that are installed: {', '.join(sorted(kinds()))}"
        )
    make: Factory = door.load()
    return make(spec, name, protocol, workshop)


def _parted(spec: str) -> tuple[str, str, str]:
    """The name, the spec without it, and its kind, which is empty where it has none."""
    spec = spec.strip()
    named = _NAMED.fullmatch(spec)
    name, spec = (named["name"], named["spec"].strip()) if named else (spec, spec)
    kind = _KIND.match(spec)
    return name, spec, kind["kind"].lower() if kind else ""


def model_within(outer: str, spec: str, protocol: Protocol, workshop: Workshop) -> Judge:
    """The language model that a rater in the box is to use, as in verifier(SPEC). Raises UserError where it is none."""
    # Those in the box are refused before they say that they do not fit the protocol that models within them get.
    judge = None if _parted(spec)[2] in _IN_THE_BOX else judge_of(spec, protocol, workshop)
    if judge is None or not judge.chats:
        raise UserError(
            f"{outer}({spec}): {spec!r} is no language model; name one, as in {outer}(openai:MODEL), or use {outer} "
            "without brackets"
        )
    return judge


def kinds() -> Mapping[str, EntryPoint]:
    """The kinds of raters that are installed, by name."""
    return {door.name: door for door in entry_points(group=GROUP)}


def specs_in(text: str) -> list[str]:
    """The specs between the commas of a jury's list; commas within inner brackets do not count."""
    parts, depth, start = list[str](), 0, 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]
