"""Your own rater: any object with a method `rate(item, unit)`, plain or async."""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import Protocol as Interface
from typing import cast

from evenhand.errors import RaterFailure, UserError
from evenhand.llm.base import Chat
from evenhand.protocol.completion import Judgement
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Rater, digest_of
from evenhand.records import Answer, Item, Kind, RaterRef, Unit


class OwnRater(Interface):
    """A rater of yours.

    `rate` returns a value for each criterion by its id, an `Answer` or several of them, or, if the protocol has only
    one criterion, just its value. It raises RaterFailure if it has no answer, and it may be a coroutine function. A
    plain function runs in a thread beside the event loop, one unit at a time.

    Optional attributes: `id` (by default the name of the class), `kind` (`model` or `rule`, the default), `version`,
    and `settings`, a mapping of everything that changes its ratings: other settings under the same id are rejected.
    """

    def rate(self, item: Item, unit: Unit) -> object: ...


class AdaptedRater:
    """A user's own rater in the form that runs drive, unit by unit."""

    together = False
    chats: Sequence[Chat] = ()
    members: Sequence[Rater] = ()

    def __init__(self, rater: OwnRater, protocol: Protocol, name: str | None = None) -> None:
        self._rater = rater
        self._protocol = protocol
        version = str(getattr(rater, "version", ""))
        given: Mapping[str, object] = getattr(rater, "settings", {})
        self.settings: Mapping[str, object] = {"class": type(rater).__qualname__, "version": version, **given}
        ref = getattr(rater, "ref", None)
        rater_id = name or str(getattr(rater, "id", type(rater).__name__))
        kind = Kind(getattr(rater, "kind", Kind.RULE))
        self.ref = ref if isinstance(ref, RaterRef) else RaterRef(rater_id, kind, version, digest_of(self.settings))

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        return [await self._judgement(item, unit) for unit in units]

    async def _judgement(self, item: Item, unit: Unit) -> Judgement:
        try:
            found = await asyncio.to_thread(self._rater.rate, item, unit)
            return Judgement(unit, self._answers(await found if inspect.isawaitable(found) else found))
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
