"""Reading a model's reply: answers for each unit, or the fault that takes their place; and how to ask again.

A reply belongs to a unit only if it carries the unit's code. Beyond the shape that was asked for, and what
`json_repair` accepts in the text, anything is accepted that can be read in one way only:

- keys that differ in case, spaces, underscores or hyphens, or a criterion's title instead of its id;
- an answer as `{"accuracy": {"answer": 4}}`, under the key `answer`, `value`, `rating`, `score`, `label` or `level`, or
  plainly as `{"accuracy": 4}`;
- a rationale in the entry as `rationale`, `reasoning`, `reason`, `explanation` or `justification`; next to it as
  `accuracy_rationale`; or all of them under one such key, by criterion;
- confidence and notes next to the criteria, or in the entry of the criterion that carries them;
- objects and lists around the object of a unit, its code also on one of these;
- units rated together as a list, or as an object by their codes;
- evidence as a list of `{"field", "quote"}`, of plain texts, or one of these by itself.

A value is whatever its scale reads. Truth values, lists, objects and NaN never become one. Unknown keys are ignored.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import TypeGuard, cast

from evenhand.errors import RaterFailure
from evenhand.llm.base import Reply, Request
from evenhand.llm.fencing import follow_up, restored
from evenhand.llm.json_repair import (
    HINTS,
    HOPELESS,
    Body,
    Cut,
    Mark,
    Unread,
    Unreadable,
    complete_objects,
    folded,
    object_in,
    same,
)
from evenhand.nlp.quotes import Quotes, worth_finding
from evenhand.protocol.completion import Judgement, carrier, is_asked, lead_for
from evenhand.protocol.model import Criterion, Protocol, field_text
from evenhand.raters.llm_judge.logprobs import Path, odds, value_offsets
from evenhand.raters.llm_judge.prompt import PromptCase
from evenhand.raters.llm_judge.reply_schema import UNIT_CODE, unit_noun
from evenhand.records import Answer, Span, Unit, Value
from evenhand.scales import PERCENT, exempt_from_evidence

_CODE_KEY = folded(UNIT_CODE)
_ANSWER = ("answer", "value", "rating", "score", "label", "level")
_RATIONALE = ("rationale", "reasoning", "reason", "explanation", "justification")
_RATIONALES = (*_RATIONALE, "rationales", "reasons", "explanations", "justifications")


class Reason(Unread):
    """Why a reply cannot be used: the whole vocabulary. Reports count failures by these words."""

    LEFT_OUT = "left out of the reply"
    NO_CODE = "no unit code"
    OTHER_CODE = "reply to another unit"

    NO_ANSWER = "no answer on {criterion}"
    OFF_SCALE = "answer on {criterion} is not on its scale"
    WRONG_TYPE = "answer on {criterion} has the wrong type"
    TWO_ANSWERS = "more than one answer on {criterion}"
    NO_RATIONALE = "no rationale for {criterion}"
    NO_EVIDENCE = "no evidence for {criterion}"

    NO_CONFIDENCE = "no confidence"
    BAD_CONFIDENCE = "confidence is not a percentage"
    NO_NOTES = "no notes"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a unit has no answers: `reason` is a `Reason`, `hint` tells the model what to change."""

    reason: str
    hint: str


@dataclass(slots=True)
class ParsedReply:
    """What was read: each unit is in `answers` or `faults`."""

    answers: dict[str, Sequence[Answer]] = field(default_factory=dict[str, Sequence[Answer]])
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])

    @property
    def worth_asking_again(self) -> bool:
        """Whether another reply may be better; not if the model refused, or thought until it reached its limit."""
        return bool(self.faults) and not any(fault.reason in HOPELESS for fault in self.faults.values())

    def judgements(self, case: PromptCase, reply: Reply) -> Sequence[Judgement]:
        """What the reply says about each unit of its case, or the failure that takes its place."""
        failures = {unit: RaterFailure(fault.reason, reply.text) for unit, fault in self.faults.items()}
        return [
            Judgement(unit, self.answers.get(unit.id, ()), failures.get(unit.id), reply.seconds, reply.id)
            for unit in case.units
        ]


def read_reply(protocol: Protocol, case: PromptCase, reply: Reply) -> ParsedReply:
    """Read a reply to the prompt of a case. Nothing is guessed: a unit has all its answers or a fault.

    An answer has the distribution of its values if the reply has log probabilities and was JSON without any repair.
    """
    reading = ParsedReply()
    reader = _ReplyReader(protocol, case, reply)
    try:
        entries = reader.entries()
    except Unreadable as error:
        reading.faults = {unit.id: Fault(str(error), HINTS[str(error)]) for unit in case.units}
        return reading
    for unit in case.units:
        found = reader.read(unit, entries)
        if isinstance(found, Fault):
            reading.faults[unit.id] = found
        else:
            reading.answers[unit.id] = found
    return reading


def again(request: Request, case: PromptCase, reply: Reply, reading: ParsedReply) -> Request:
    """The request that follows a faulty reply: the same one, and what was wrong."""
    text = reply.text.casefold()
    own = any(code.casefold() in text for code in case.codes.values())
    hints = "\n".join(f"- {hint}" for hint in dict.fromkeys(fault.hint for fault in reading.faults.values()))
    correction = (
        f"This reply cannot be used:\n{hints}\n\n"
        "Judge by the protocol as before, and give the complete JSON object again, with all its keys and with these "
        "problems corrected. Reply with the object alone."
    )
    reminder = f"An earlier reply to this message could not be used:\n{hints}"
    return follow_up(request, reply.text if own else None, correction, reminder)


_UnitEntry = tuple[Body, Path]
"""An object with the answers on one unit, by its folded keys, and the folded keys that lead to it."""

MOST_WRAPPERS = 4
"""Objects and lists around the answers of a unit that are looked into."""


def _code(fields: Body) -> str:
    """The code that an object carries, casefolded; empty if there is none that could be one."""
    given = fields.get(_CODE_KEY)
    return "" if given is None or given is Mark.CLASH else str(given).strip().casefold()


class _ReplyReader:
    """Reads one reply: finds the object of each unit by its code, and has it read."""

    def __init__(self, protocol: Protocol, case: PromptCase, reply: Reply) -> None:
        self._protocol = protocol
        self._case = case
        self._codes = {unit: code.casefold() for unit, code in case.codes.items()}
        self._noun = unit_noun(protocol)
        self._reply = reply
        self._cut_off = reply.finish == "length"
        self._offsets: Mapping[Path, int] = {}
        self._quotes: dict[tuple[str, ...], Quotes] = {}

    def entries(self) -> Sequence[_UnitEntry]:
        """The objects with answers. Raises Unreadable, with a reason that holds for all units."""
        text, group = self._reply.text, f"{self._noun}s"
        names = [name for one in self._protocol.criteria for name in (one.id, one.title)]
        single = [UNIT_CODE, *names] if len(self._case.units) == 1 else []
        try:
            found = object_in(self._reply, [group, *self._codes.values(), *single])
        except Cut as cut:
            # Of a list of units, those that were complete before the cut are kept.
            self._cut_off = True
            complete = () if cut.start is None else complete_objects(text, cut.start)
            return [entry for body in complete for entry in self._entries(body)]
        if found.start is not None and self._reply.choices:
            self._offsets = {
                tuple(folded(key) if isinstance(key, str) else key for key in path): offset
                for path, offset in value_offsets(text, found.start).items()
            }
        if found.body.get(group) is Mark.CLASH:
            raise Unreadable(Reason.MORE_THAN_ONE)
        return self._entries(found.body)

    @cached_property
    def _names(self) -> Mapping[str, Sequence[str]]:
        return _names_of(*[(criterion.id, criterion.title) for criterion in self._protocol.criteria])

    def _entries(self, value: object, path: Path = ()) -> Sequence[_UnitEntry]:
        """The objects with answers in a value, however they are wrapped, each with its code if it has one.

        A code is in the object with the answers, in one around it, or is the key of one of them.
        """
        fields = _object(value)
        if path and path[-1] in self._codes.values():
            fields = {_CODE_KEY: path[-1], **fields}
        coded, answers = _CODE_KEY in fields, any(name in fields for name in chain(*self._names.values()))
        if coded and answers:
            return [(fields, path)]
        if len(path) > MOST_WRAPPERS:
            return []
        children = enumerate(cast("list[object]", value)) if isinstance(value, list) else fields.items()
        inner = [one for key, child in children for one in self._entries(child, (*path, key))]
        if any(_CODE_KEY in body for body, _ in inner):
            return inner
        if coded and len(inner) == 1:
            return [({**fields, **inner[0][0]}, inner[0][1])]
        return [(fields, path)] if coded or answers else inner

    def read(self, unit: Unit, entries: Sequence[_UnitEntry]) -> Sequence[Answer] | Fault:
        """The answers on a unit, or why there are none."""
        code = self._case.codes[unit.id]
        mine = [entry for entry in entries if _code(entry[0]) == self._codes[unit.id]]
        title = f"{self._noun.capitalize()} {unit.position}"
        if not mine:
            return self._missing(f"{title} (code {code})", code, {_code(fields) for fields, _ in entries})
        fields, path = mine[0]
        if not all(same(others, fields) for others, _ in mine):
            return Fault(Reason.MORE_THAN_ONE, f"{title} (code {code}) has several entries that differ.")
        reader = _UnitReader(self._protocol, unit.field, self._names, fields, self._find)
        answers = reader.read()
        if reader.wrong:
            name = f"{title}: " if len(self._case.units) > 1 else ""
            return Fault(reader.wrong[0][0], name + " ".join(hint for _, hint in reader.wrong))
        if self._offsets:
            answers = [self._with_odds(answer, (*path, *reader.paths[answer.criterion])) for answer in answers]
        return tuple(answers)

    def _missing(self, name: str, code: str, given: set[str]) -> Fault:
        """Why there is no entry for a unit, to judge by the codes that were given."""
        if self._cut_off:
            return Fault(Reason.TRUNCATED, f"{name} is missing, because the reply was cut off: keep it shorter.")
        if not given or not given.isdisjoint(self._codes.values()):
            return Fault(Reason.LEFT_OUT, f"{name} has no entry.")
        copy = "copy each code from the line above its text" if len(self._case.units) > 1 else f"it is {code}"
        if given != {""}:
            return Fault(Reason.OTHER_CODE, f'"{UNIT_CODE}" was not the code given here: {copy}.')
        return Fault(Reason.NO_CODE, f'"{UNIT_CODE}" was missing: {copy}.')

    def _with_odds(self, answer: Answer, path: Path) -> Answer:
        scale, offset = self._protocol.criterion(answer.criterion).scale, self._offsets.get(path)
        return answer if offset is None else replace(answer, distribution=odds(scale, self._reply.choices, offset))

    def _find(self, criterion: Criterion, quote: str, field: object) -> Span | None:
        """The place of a quotation: in the field that is named, in those that evidence is quoted from, anywhere."""
        sources = tuple(self._protocol.evidence_for(criterion))
        if sources not in self._quotes:
            given = self._case.item.fields
            names = dict.fromkeys([*sources, *self._protocol.shown_fields])
            self._quotes[sources] = Quotes({name: field_text(given[name]) for name in names if name in given})
        return self._quotes[sources].find(quote, field if isinstance(field, str) else None)


@lru_cache(maxsize=64)
def _names_of(*criteria: tuple[str, str]) -> Mapping[str, Sequence[str]]:
    """The folded keys of criteria, given by their ids and titles: the id, and the title if no other is called that."""
    spellings = {name: {folded(name): 1, folded(title): 1} for name, title in criteria}
    taken = Counter(name for own in spellings.values() for name in own)
    return {one: [name for name in own if name == folded(one) or taken[name] == 1] for one, own in spellings.items()}


class _UnitReader:
    """Reads the object of one unit, criterion by criterion; a criterion that is not asked is ignored.

    `paths` are the keys that lead to each value, `wrong` the reasons and hints for what cannot be used.
    """

    def __init__(
        self,
        protocol: Protocol,
        source: str | None,
        names: Mapping[str, Sequence[str]],
        fields: Body,
        find: Callable[[Criterion, str, object], Span | None],
    ) -> None:
        self._protocol = protocol
        self._source = source
        self._names = names
        self._given = fields
        self._find = find
        self._values: dict[str, Value] = {}
        self.paths: dict[str, Path] = {}
        self.wrong: list[tuple[str, str]] = []

    def read(self) -> Sequence[Answer]:
        lead, answers = lead_for(self._protocol, self._source), list[Answer]()
        for criterion in self._protocol.criteria:
            if not is_asked(criterion, self._values, self._source):
                continue
            key, found = _one_of(self._given, self._names[criterion.id])
            value = self._value(criterion, key, found)
            if value is None:
                continue
            self._values[criterion.id] = value
            entry = _object(found)
            rationale = self._rationale(criterion, entry)
            spans, misquoted = self._evidence(criterion, entry, value)
            answers.append(Answer(criterion.id, value, rationale, evidence=spans, misquoted=misquoted))
        return self._with_confidence_and_notes(answers, lead)

    def _value(self, criterion: Criterion, key: str, raw: object) -> Value | None:
        """The value on the criterion's scale; None if there is none, with what is wrong about that."""
        path: Path = (key,)
        if _is_object(raw):
            inner, raw = _one_of(raw, ("answer",) if "answer" in raw else _ANSWER)
            path = (key, inner)
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            if criterion.required:
                self._fault(Reason.NO_ANSWER, criterion, "has no answer; give {wanted}")
        elif raw is Mark.CLASH:
            self._fault(Reason.TWO_ANSWERS, criterion, "has several different answers; give one, {wanted}")
        elif isinstance(raw, bool) or not isinstance(raw, int | float | str):
            self._fault(Reason.WRONG_TYPE, criterion, f"has {_kind(raw)} as its answer; give {{wanted}}")
        else:
            self.paths[criterion.id] = path
            try:
                return criterion.scale.read(restored(raw) if isinstance(raw, str) else raw)
            except ValueError:
                self._fault(Reason.OFF_SCALE, criterion, "has an answer that is not {wanted}")
        return None

    def _rationale(self, criterion: Criterion, entry: Body) -> str | None:
        if criterion.id not in self._protocol.with_rationale:
            return None
        for key, candidate in self._rationales(criterion, entry):
            text = self._text(key, candidate)
            if text is not None:
                return text
        if self._protocol.ask.rationale == "required":
            self._fault(Reason.NO_RATIONALE, criterion, "has no rationale; explain why you chose the answer")
        return None

    def _rationales(self, criterion: Criterion, entry: Body) -> Iterator[tuple[str, object]]:
        """Where the rationale of a criterion may be, the nearest place first."""
        yield from ((word, entry[word]) for word in _RATIONALE if word in entry)
        own = self._names[criterion.id]
        beside = (name + word for name in own for word in _RATIONALE)
        yield from ((key, self._given[key]) for key in beside if key in self._given)
        for word in _RATIONALES:
            if word not in self._given or any(word in names for names in self._names.values()):
                continue
            found = self._given[word]
            if _is_object(found):
                yield _one_of(found, own)
            elif len(self._protocol.criteria) == 1:
                yield word, found

    def _evidence(self, criterion: Criterion, entry: Body, value: Value) -> tuple[tuple[Span, ...], tuple[str, ...]]:
        asked = self._protocol.ask.evidence
        if asked == "off":
            return (), ()
        given = self._once("evidence", entry.get("evidence"))
        listed = cast("list[object]", given) if isinstance(given, list) else [given]
        quotes = [(one.get("quote"), one.get("field")) if _is_object(one) else (one, None) for one in listed]
        found = [
            (restored(quote).strip(), self._find(criterion, quote, name))
            for quote, name in quotes
            if isinstance(quote, str) and worth_finding(quote)
        ]
        if not found and asked == "required" and value not in exempt_from_evidence(criterion.scale):
            hint = "has no evidence; copy the words that the answer rests on, at least three characters"
            self._fault(Reason.NO_EVIDENCE, criterion, hint)
        spans = dict.fromkeys(span for _, span in found if span is not None)
        return tuple(spans), tuple(dict.fromkeys(quote for quote, span in found if span is None))

    def _with_confidence_and_notes(self, answers: list[Answer], lead: Criterion) -> Sequence[Answer]:
        """Confidence and notes belong to the answer of the lead criterion, or to the first if that has none."""
        ask = self._protocol.ask
        if ask.confidence == ask.notes == "off":
            return answers
        given = {**_object(_one_of(self._given, self._names[lead.id])[1]), **self._given}
        confidence = None if ask.confidence == "off" else self._confidence(given.get("confidence"))
        notes = None if ask.notes == "off" else self._text("notes", given.get("notes"))
        if notes is None and ask.notes == "required":
            self.wrong.append((Reason.NO_NOTES, '"notes" is missing; give a text.'))
        if confidence is None and notes is None:
            return answers
        name = carrier(self._protocol, self._values)
        return [replace(one, confidence=confidence, notes=notes) if one.criterion == name else one for one in answers]

    def _confidence(self, raw: object) -> float | None:
        if raw is None or raw == "":
            if self._protocol.ask.confidence == "required":
                self.wrong.append((Reason.NO_CONFIDENCE, '"confidence" is missing; give a number from 0 to 100.'))
            return None
        try:
            percentage = PERCENT.read(raw)
        except ValueError:
            percentage = None
        # 0.95 and 1.0 are far more likely shares than percentages; taken literally they would turn certainty to doubt.
        share = percentage is not None and 0 < percentage <= 1 and not str(raw).rstrip().endswith("%")
        if percentage is None or share:
            hint = '"confidence" is not a percentage; give a number from 0 to 100, such as 95, not 0.95, or 100, not 1.'
            self.wrong.append((Reason.BAD_CONFIDENCE, hint))
            return None
        return percentage

    def _text(self, key: str, found: object) -> str | None:
        """A text that is not blank, or None."""
        found = self._once(key, found)
        return (restored(found).strip() or None) if isinstance(found, str) else None

    def _once(self, key: str, found: object) -> object:
        """What was found; a key that occurs with different values is a fault even if nothing had to be there."""
        if found is Mark.CLASH:
            hint = f'"{key}" occurs several times with different values; give it once.'
            self.wrong.append((Reason.MORE_THAN_ONE, hint))
        return found

    def _fault(self, reason: str, criterion: Criterion, hint: str) -> None:
        wanted = criterion.scale.describe()
        self.wrong.append((reason.format(criterion=criterion.id), f'"{criterion.id}" {hint.format(wanted=wanted)}.'))


def _is_object(value: object) -> TypeGuard[Body]:
    return isinstance(value, dict)


def _object(value: object) -> Body:
    """An object, empty if the value is none."""
    return value if _is_object(value) else {}


def _one_of(given: Body, names: Sequence[str]) -> tuple[str, object]:
    """What is given under these keys, with the first of them; a clash if they disagree, None if there is nothing."""
    found = [(name, given[name]) for name in names if name in given] or [("", None)]
    key, value = found[0]
    return key, value if all(same(other, value) for _, other in found) else Mark.CLASH


def _kind(raw: object) -> str:
    if isinstance(raw, bool):
        return "true or false"
    return "NaN or Infinity" if isinstance(raw, Mark) else "a list" if isinstance(raw, list) else "an object"
