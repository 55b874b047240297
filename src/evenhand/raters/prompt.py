"""A protocol and a task → what a model reads: two messages and the schema of the reply.

The first message is the protocol and never changes; the second holds the texts of the item, fenced. Fields that are
not shown, and what a question unit knows of its reference, stay out of both.
"""

from collections.abc import Sequence
from functools import lru_cache

from evenhand.llm.base import Message, Request, Schema
from evenhand.protocol.guideline import field_text
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Task
from evenhand.raters.fence import fence_code, fenced, harmless, numbered
from evenhand.raters.instructions import heading, system_text, unit_noun
from evenhand.raters.schema import reply_schema
from evenhand.records import Unit

PROMPT_FORMAT = "1"
"""Raised when the same protocol and task come to read otherwise: part of a judge's configuration."""

SCHEMAS = 512
"""How many schemas of different sets of positions are kept."""


class Prompts:
    """The prompts of one protocol. `shots`: how many of its worked examples are shown, None for all of them.

    `bounded` limits lengths in the schema, for servers that know such limits and models that need them.
    """

    def __init__(self, protocol: Protocol, *, shots: int | None = None, bounded: bool = False) -> None:
        if shots is not None and shots < 0:
            raise ValueError(f"the number of worked examples is 0 or more, not {shots}")
        self._protocol = protocol
        examples = protocol.examples if shots is None else protocol.examples[:shots]
        self._alone = Message("system", system_text(protocol, examples, together=False))
        by_item = protocol.rule.of == "item"
        self._together = None if by_item else Message("system", system_text(protocol, examples, together=True))
        self._fields = [(name, heading(name, protocol.item.fields[name])) for name in protocol.shown_fields()]
        self._noun = unit_noun(protocol)

        def schema(positions: tuple[int, ...]) -> Schema:
            return reply_schema(protocol, positions, bounded=bounded)

        self._schema = lru_cache(maxsize=SCHEMAS)(schema)

    def request(self, task: Task, *, max_tokens: int, temperature: float, seed: int | None, logprobs: int) -> Request:
        """What a model is asked about a task: a system and a user message."""
        system, user = self._messages(task)
        return Request((system, user), self.schema(task), max_tokens, temperature, seed, logprobs)

    def schema(self, task: Task) -> Schema:
        """The schema of the reply: one object, or one under the position of each unit."""
        return self._schema(tuple(unit.position for unit in task.units) if len(task.units) > 1 else ())

    def text(self, task: Task) -> str:
        """The whole prompt as one text, to be pasted into a chat window by hand."""
        system, user = self._messages(task)
        return f"{system.content}\n\n# The case\n\n{user.content}\n"

    def _messages(self, task: Task) -> tuple[Message, Message]:
        if len(task.units) == 1:
            return self._alone, Message("user", self._case(task))
        if self._together is None or not task.units:
            raise ValueError(f"a task of {self._protocol.name} has one unit, not {len(task.units)}")
        return self._together, Message("user", self._case(task))

    def _case(self, task: Task) -> str:
        given = task.item.fields
        shown = [(name, line, harmless(field_text(given[name]))) for name, line in self._fields if name in given]
        units = [harmless(_words(unit)) for unit in task.units] if self._protocol.rule.of != "item" else []
        code = fence_code([*(text for _, _, text in shown), *units])
        parts = [f"The code of this case is {code}."]
        parts += [f"{line}\n{fenced(name, text, code)}" for name, line, text in shown]
        parts.append(self._unit(task.units, units, code))
        return "\n\n".join(parts)

    def _unit(self, units: Sequence[Unit], texts: Sequence[str], code: str) -> str:
        closing = "Answer with the one JSON object, by the protocol alone."
        if not texts:
            return f"That is the case. {closing}"
        verb = "rate" if self._noun == "sentence" else "answer"
        if len(texts) == 1:
            number = units[0].position
            one = fenced(f"{self._noun} to {verb}", texts[0], code)
            return f"The {self._noun} to {verb}, number {number}:\n{one}\n\n{closing}"
        several = numbered(self._noun, ((unit.position, text) for unit, text in zip(units, texts, strict=True)), code)
        numbers = ", ".join(str(unit.position) for unit in units)
        return f"The {self._noun}s to {verb}:\n{several}\n\n{closing} It has an entry for each of {numbers}."


def _words(unit: Unit) -> str:
    assert unit.text is not None, "a sentence and a question have a text"
    return unit.text
