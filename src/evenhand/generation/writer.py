"""Lets one model write the outputs of a generator: ask, read, filter, and ask again with what was wrong."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.errors import RaterFailure
from evenhand.generation.filters import Embed, most_similar, tf_idf, word_count
from evenhand.generation.model import Cell, Generator, Output, SimilarityFilter
from evenhand.generation.ontology import Ontology
from evenhand.generation.prompt import GeneratorPrompts
from evenhand.generation.reply import ReadOutput, Rejected, read_output
from evenhand.llm.base import CallError, Chat, Reply, Request
from evenhand.llm.fencing import follow_up, harmless
from evenhand.records import Item


@dataclass
class Attempts:
    """What became of the requests for one output: rejected replies and dropped entries, by reason."""

    rejected: Counter[str] = field(default_factory=Counter[str])
    dropped: Counter[str] = field(default_factory=Counter[str])

    def text(self) -> str | None:
        """As JSON, to be kept with the result; None if everything was accepted."""
        found = {name: dict(counts) for name, counts in vars(self).items() if counts}
        return json.dumps(found, ensure_ascii=False) if found else None

    @classmethod
    def of(cls, text: str | None) -> "Attempts":
        """What `text` returned."""
        found: Mapping[str, Mapping[str, int]] = json.loads(text) if text else {}
        return cls(**{name: Counter(counts) for name, counts in found.items()})


@dataclass
class Written:
    """An output, or why the model declined, or the failure; with the attempts that led to it."""

    attempts: Attempts = field(default_factory=Attempts)
    output: Output | None = None
    declined: str | None = None
    failure: RaterFailure | None = None
    reply: Reply | None = None


class Writer:
    """Writes for one generator with one model. `parameters` are those of a `Request`."""

    def __init__(
        self,
        generator: Generator,
        chat: Chat,
        *,
        ontology: Ontology | None = None,
        bounded: bool = False,
        embed: Embed = tf_idf,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self._generator = generator
        self._ontology = ontology
        self._chat = chat
        self._embed = embed
        self._parameters = {"max_tokens": generator.max_tokens, **(parameters or {})}
        self._prompts = GeneratorPrompts(generator, ontology, bounded=bounded)

    async def write(self, item: Item, cell: Cell, earlier: Sequence[Output] = (), number: int = 1) -> Written:
        """Write one output, the `number`-th for this cell; `earlier` are those written before from the same item."""
        seed = self._parameters.get("seed")
        sample = {"sample": number - 1, "seed": None if seed is None else seed_of(seed, number)}
        request, code = self._prompts.request(item, cell, **{**self._parameters, **sample})
        written, seen = Written(), set[str]()
        for _ in range(self._generator.retries + 1):
            try:
                reply = written.reply = await self._chat.complete(request)
            except CallError as error:
                written.failure = RaterFailure(error.reason, error.raw)
                return written
            try:
                found = self._accepted(item, code, reply, earlier)
            except Rejected as rejected:
                written.attempts.rejected[rejected.reason] += 1
                written.failure = RaterFailure(rejected.reason, reply.text)
                if rejected.is_final:
                    return written
                request = _again(request, reply, code, rejected.hint)
                if reply.text in seen:
                    request = replace(request, temperature=1.0)
                seen.add(reply.text)
                continue
            written.attempts.dropped = found.dropped
            written.output, written.declined, written.failure = found.output, found.declined, None
            return written
        return written

    def _accepted(self, item: Item, code: str, reply: Reply, earlier: Sequence[Output]) -> ReadOutput:
        """What a reply holds, if it passes the filters. Raises Rejected."""
        found = read_output(self._generator, self._ontology, item, code, reply)
        for one in self._generator.filters if found.output is not None else ():
            text = str((found.output or {})[one.field])
            if isinstance(one, SimilarityFilter):
                before = [str(other[one.field]) for other in earlier if one.field in other]
                similarity, nearest = most_similar(text, before, self._embed)
                if similarity >= one.below:
                    hint = f'"{one.field}" is too similar to one that was written before: “{harmless(nearest)}”.'
                    raise Rejected(f"{one.field} too similar to an earlier one", f"{hint} Write a different one.")
            elif (count := word_count(text, self._generator.language)) < one.at_least:
                hint = f'"{one.field}" has {count} words; it needs at least {one.at_least}.'
                raise Rejected(f"{one.field} has fewer than {one.at_least} words", hint)
        return found


def seed_of(seed: int, number: int) -> int:
    """The seed of the `number`-th output of a cell: with the same one it would be the same output."""
    return seed + number - 1


def _again(request: Request, reply: Reply, code: str, hint: str) -> Request:
    """The request that follows a rejected reply."""
    wrong = f"cannot be used. {hint} Do the task again, and give the complete JSON object with the code {code}."
    own = reply.text if code.casefold() in reply.text.casefold() else None
    return follow_up(request, own, f"This reply {wrong}", f"An earlier reply {wrong}")
