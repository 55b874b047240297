"""The object that a model gave on one unit → its answers, or what is wrong with them.

Accepted, where it can be read in one way only:

- keys as in the schema, or with other case, spaces, underscores or hyphens, or a criterion's title in place of its id;
- an answer as `{"accuracy": {"answer": 4}}`, the key being one of `answer`, `value`, `rating`, `score`, `label` and
  `level`, or plainly as `{"accuracy": 4}`;
- a rationale in the entry as `rationale`, `reasoning`, `reason`, `explanation` or `justification`; beside it as
  `accuracy_rationale`; or all of them under one such key, by criterion;
- confidence and notes beside the criteria, or in the entry of the criterion that carries them;
- units rated together by their numbers, or as a list whose entries say theirs: `[{"sentence": 1, …}, …]`;
- evidence as a list of `{"field", "quote"}`, of plain texts, or one of these by itself.

A value is whatever its scale reads. Truth values, lists, objects and numbers that are none are never turned into one.
Keys that mean nothing here are passed over.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from evenhand.protocol.model import Criterion, Protocol
from evenhand.raters import reasons
from evenhand.raters.base import Answer
from evenhand.raters.fence import restored
from evenhand.raters.places import Path
from evenhand.raters.quotes import Quotes, worth_finding
from evenhand.raters.repair import Mark, folded
from evenhand.raters.schema import asks_rationale
from evenhand.records import Span, Value
from evenhand.scales import PERCENT

Body = Mapping[str, object]

_ANSWER = ("answer", "value", "rating", "score", "label", "level")
_RATIONALE = ("rationale", "reasoning", "reason", "explanation", "justification")
_RATIONALES = (*_RATIONALE, "rationales", "reasons", "explanations", "justifications")


@dataclass(slots=True)
class UnitReading:
    """What was read on one unit: answers with the places of their values, and what is wrong, each with a hint."""

    answers: list[Answer] = field(default_factory=list[Answer])
    paths: dict[str, Path] = field(default_factory=dict[str, Path])
    wrong: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(frozen=True, slots=True)
class _Given:
    """What stands under a key, and the key as the model wrote it."""

    key: str
    value: object


_Entry = Mapping[str, _Given]
"""An object by its folded keys."""

Names = Mapping[str, Sequence[str]]
"""The folded keys under which each criterion may stand."""


def names_of(protocol: Protocol) -> Names:
    """A criterion's id, and its title where no other criterion is called so."""
    ids = {criterion.id: folded(criterion.id) for criterion in protocol.criteria}
    taken = [*ids.values(), *(folded(criterion.title) for criterion in protocol.criteria)]
    names: dict[str, Sequence[str]] = {}
    for criterion in protocol.criteria:
        own, title = ids[criterion.id], folded(criterion.title)
        names[criterion.id] = (own,) if title == own or taken.count(title) > 1 else (own, title)
    return names


def read_unit(protocol: Protocol, names: Names, body: Body, quotes: Quotes) -> UnitReading:
    """Read the criteria in their order; one that is not asked is passed over, whatever stands there."""
    reader = _Reader(protocol, names, _folded(body), quotes)
    reader.read()
    return reader.reading


class _Reader:
    """Reads one object."""

    def __init__(self, protocol: Protocol, names: Names, given: _Entry, quotes: Quotes) -> None:
        self._protocol = protocol
        self._names = names
        self._given = given
        self._quotes = quotes
        self.reading = UnitReading()

    def read(self) -> None:
        values: dict[str, Value] = {}
        for criterion in self._protocol.criteria:
            if not self._protocol.asked(criterion, values):
                continue
            found = _one_of(self._given, self._names[criterion.id])
            entry = _entry_of(found)
            value = self._value(criterion, found, entry)
            if value is None:
                continue
            values[criterion.id] = value
            rationale = self._rationale(criterion, entry or {})
            spans, misquoted = self._evidence(criterion, entry or {})
            answer = Answer(criterion.id, value, rationale, evidence=spans, misquoted=misquoted)
            self.reading.answers.append(answer)
        self._beside()

    def _value(self, criterion: Criterion, found: _Given | None, entry: _Entry | None) -> Value | None:
        """The value on the criterion's scale; None where there is none, with what is wrong about that."""
        path: Path = (found.key,) if found else ()
        raw = found.value if found else None
        if entry is not None:
            answer = entry.get("answer") or _one_of(entry, _ANSWER[1:])
            path, raw = (*path, answer.key if answer else ""), answer.value if answer else None
        name, wanted = criterion.id, criterion.scale.describe()
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            if criterion.required:
                self._wrong(reasons.NO_ANSWER, name, f"has no answer; give {wanted}")
            return None
        if raw is Mark.CLASH:
            self._wrong(reasons.TWO_ANSWERS, name, f"has several answers that differ; give one, {wanted}")
            return None
        if isinstance(raw, bool) or not isinstance(raw, int | float | str):
            self._wrong(reasons.WRONG_TYPE, name, f"has {_kind(raw)} as its answer; give {wanted}")
            return None
        try:
            value = criterion.scale.read(restored(raw) if isinstance(raw, str) else raw)
        except ValueError:
            self._wrong(reasons.OFF_SCALE, name, f"has an answer that is not {wanted}")
            return None
        self.reading.paths[name] = path
        return value

    def _rationale(self, criterion: Criterion, entry: _Entry) -> str | None:
        if not asks_rationale(self._protocol, criterion):
            return None
        for candidate in self._rationales(criterion, entry):
            text = self._text(candidate)
            if text is not None:
                return text
        if self._protocol.ask.rationale == "required":
            self._wrong(reasons.NO_RATIONALE, criterion.id, "has no rationale; say in a text why you chose the answer")
        return None

    def _rationales(self, criterion: Criterion, entry: _Entry) -> Iterator[_Given]:
        """Where the rationale of a criterion may stand, the nearest place first."""
        yield from (entry[word] for word in _RATIONALE if word in entry)
        own = self._names[criterion.id]
        beside = (name + word for name in own for word in _RATIONALE)
        yield from (self._given[key] for key in beside if key in self._given)
        for word in _RATIONALES:
            if word not in self._given or any(word in names for names in self._names.values()):
                continue
            by_criterion = _entry_of(self._given[word])
            if by_criterion is not None:
                inner = _one_of(by_criterion, own)
                yield from [inner] if inner else []
            elif len(self._protocol.criteria) == 1:
                yield self._given[word]

    def _evidence(self, criterion: Criterion, entry: _Entry) -> tuple[tuple[Span, ...], tuple[str, ...]]:
        asked = self._protocol.ask.evidence
        if asked == "off":
            return (), ()
        found = self._once(entry.get("evidence"))
        spans: dict[Span, None] = {}
        misquoted: dict[str, None] = {}
        for name, quote in _quotations(found.value if found else None):
            span = self._quotes.find(quote, name)
            if span is not None:
                spans[span] = None
            else:
                misquoted[restored(quote).strip()] = None
        if not spans and not misquoted and asked == "required":
            hint = "has no evidence; copy the words on which the answer rests, at least three characters"
            self._wrong(reasons.NO_EVIDENCE, criterion.id, hint)
        return tuple(spans), tuple(misquoted)

    def _beside(self) -> None:
        """Confidence and notes, put on the answer of the lead criterion, or on the first one where that has none."""
        lead = self._protocol.lead.id
        entry = _entry_of(_one_of(self._given, self._names[lead])) or {}
        confidence = self._confidence(self._given.get("confidence") or entry.get("confidence"))
        notes = None
        if self._protocol.ask.notes != "off":
            notes = self._text(self._given.get("notes") or entry.get("notes"))
            if notes is None and self._protocol.ask.notes == "required":
                self.reading.wrong.append((reasons.NO_NOTES, '"notes" is missing; give a text.'))
        answers = self.reading.answers
        if answers and (confidence is not None or notes is not None):
            carrier = next((n for n, answer in enumerate(answers) if answer.criterion == lead), 0)
            answers[carrier] = replace(answers[carrier], confidence=confidence, notes=notes)

    def _confidence(self, found: _Given | None) -> float | None:
        asked = self._protocol.ask.confidence
        if asked == "off":
            return None
        raw = found.value if found else None
        if raw is None or raw == "":
            if asked == "required":
                missing = '"confidence" is missing; give a number from 0 to 100.'
                self.reading.wrong.append((reasons.NO_CONFIDENCE, missing))
            return None
        try:
            percentage = PERCENT.read(raw)
        except ValueError:
            percentage = None
        # 0.95 is far more likely a share than less than one percent; as it stands it would turn certainty into doubt.
        if percentage is None or 0 < percentage < 1:
            hint = '"confidence" is not a percentage; give a number from 0 to 100, 95 and not 0.95.'
            self.reading.wrong.append((reasons.BAD_CONFIDENCE, hint))
            return None
        return percentage

    def _text(self, found: _Given | None) -> str | None:
        """A text that says something, or None."""
        found = self._once(found)
        return (restored(found.value).strip() or None) if found and isinstance(found.value, str) else None

    def _once(self, found: _Given | None) -> _Given | None:
        """What was found; a key that is there with different values is a fault even where nothing had to stand."""
        if found and found.value is Mark.CLASH:
            hint = f'"{folded(found.key)}" is there several times with different values; give it once.'
            self.reading.wrong.append((reasons.MORE_THAN_ONE, hint))
        return found

    def _wrong(self, reason: str, criterion: str, hint: str) -> None:
        self.reading.wrong.append((reason.format(criterion=criterion), f'"{criterion}" {hint}.'))


def _folded(body: Body) -> _Entry:
    """The object by its folded keys; two spellings of one key with different values are no value."""
    given: dict[str, _Given] = {}
    for key, value in body.items():
        name = folded(key)
        known = given.get(name)
        clash = known is not None and repr(known.value) != repr(value)
        given[name] = _Given(key, Mark.CLASH if clash else value)
    return given


def _entry_of(found: _Given | None) -> _Entry | None:
    """What was found as an object by its folded keys, where it is one."""
    value = None if found is None else found.value
    return _folded(cast("Body", value)) if isinstance(value, dict) else None


def _one_of(given: _Entry, names: Sequence[str]) -> _Given | None:
    """What stands under these keys; no value where they disagree."""
    found = [given[name] for name in names if name in given]
    if any(repr(other.value) != repr(found[0].value) for other in found[1:]):
        return _Given(found[0].key, Mark.CLASH)
    return found[0] if found else None


def _kind(raw: object) -> str:
    if isinstance(raw, bool):
        return "true or false"
    return "NaN or Infinity" if isinstance(raw, Mark) else "a list" if isinstance(raw, list) else "an object"


def _quotations(raw: object) -> Iterator[tuple[str | None, str]]:
    """The quotations that are worth looking for, each with the field it is said to come from."""
    for one in cast("list[object]", raw) if isinstance(raw, list) else [raw]:
        name, quote = None, one
        entry = _entry_of(_Given("", one))
        if entry is not None:
            name, quote = (entry[key].value if key in entry else None for key in ("field", "quote"))
        if isinstance(quote, str) and worth_finding(quote):
            yield (name if isinstance(name, str) else None), quote
