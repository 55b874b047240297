"""A rater that says what its script says: for demonstrations and tests, in place of a model."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from evenhand.errors import RaterFailure
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Answer
from evenhand.records import Item, Kind, RaterRef, Unit


class ScriptedRater:
    """Answers by unit id. A unit that the script does not have is a failure, as a model's missing reply would be."""

    def __init__(self, rater_id: str, script: Mapping[str, Sequence[Answer]]) -> None:
        self._script = script
        content = json.dumps(
            {unit: [(answer.criterion, str(answer.value)) for answer in answers] for unit, answers in script.items()},
            sort_keys=True,
        )
        config = hashlib.sha256(content.encode()).hexdigest()
        self._ref = RaterRef(rater_id, Kind.RULE, version="1", config=config)

    @property
    def ref(self) -> RaterRef:
        return self._ref

    def rate(self, protocol: Protocol, item: Item, unit: Unit) -> Sequence[Answer]:
        try:
            return self._script[unit.id]
        except KeyError:
            raise RaterFailure("the script has no answer for this unit") from None
