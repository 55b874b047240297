"""Reading a model's reply: answers for each unit, or the fault that takes their place; and how to ask again.

A reply belongs to a unit only if it carries the unit's code. Beyond the shape that was asked for, and what
`json_repair` accepts in the text, anything is accepted that can be read in one way only:

- keys that differ in case, spaces, underscores or hyphens, or a criterion's title instead of its id;
- an answer as `{"accuracy": {"answer": 4}}`, under the key `answer`, `value`, `rating`, `score`, `label` or `level`, or
  plainly as `{"accuracy": 4}`;
- a rationale in the entry as `rationale`, `reasoning`, `reason`, `explanation` or `justification`; next to it as
  `accuracy_rationale`; or all of them under one such key, by criterion;
- confidence and notes next to the criteria, or in the entry of the criterion that carries them;
- units rated together as a list, or as an object by their codes;
- evidence as a list of `{"field", "quote"}`, of plain texts, or one of these by itself.

A value is whatever its scale reads. Truth values, lists, objects and NaN never become one. Unknown keys are ignored.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from evenhand.llm.base import Message, Reply, Request
from evenhand.llm.fencing import harmless, restored
from evenhand.llm.json_repair import Ambiguous, Cut, Found, Mark, complete_objects, find_object, folded, is_json
from evenhand.nlp.quotes import Quotes, worth_finding
from evenhand.protocol.guideline import field_text
from evenhand.protocol.model import Criterion, Protocol
from evenhand.raters.base import RatingTask
from evenhand.raters.llm_judge.logprobs import Path, value_offsets
from evenhand.raters.llm_judge.prompt import unit_codes
from evenhand.raters.llm_judge.reply_schema import UNIT_CODE, group_key, unit_noun
from evenhand.records import Answer, Span, Unit, Value
from evenhand.scales import PERCENT

LONGEST = 4000
"""Characters of a faulty reply that are shown to the model again."""

Body = Mapping[str, object]

_CODE_KEY = folded(UNIT_CODE)
_ANSWER = ("answer", "value", "rating", "score", "label", "level")
_RATIONALE = ("rationale", "reasoning", "reason", "explanation", "justification")
_RATIONALES = (*_RATIONALE, "rationales", "reasons", "explanations", "justifications")


class Reason:
    """Why a reply cannot be used: the whole vocabulary. Reports count failures by these words."""

    EMPTY = "empty reply"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    NOT_JSON = "not JSON"
    NOT_AN_OBJECT = "not a JSON object"
    MORE_THAN_ONE = "more than one answer"
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


REASONS: Sequence[str] = [value for name, value in vars(Reason).items() if name.isupper()]
"""Every reason; `{criterion}` stands for a criterion's id."""

_WHOLE = {
    Reason.EMPTY: "The reply was empty.",
    Reason.REFUSED: "There was no reply.",
    Reason.TRUNCATED: "The reply was cut off before its end: keep it shorter.",
    Reason.NOT_JSON: "The reply contains no JSON object that can be read.",
    Reason.NOT_AN_OBJECT: "The reply is JSON, but not an object.",
    Reason.MORE_THAN_ONE: "The reply contains several JSON objects that differ: give one.",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a unit has no answers: `reason` is a `Reason`, `hint` tells the model what to change."""

    reason: str
    hint: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: every unit of the task is in `answers` or in `faults`.

    `own` is whether the reply contains the code of a unit of the task; otherwise it may be the reply to another
    request. `offsets` has the offset in the reply's text at which an answer's value begins, by unit and criterion, if
    the text was JSON without any repair.
    """

    answers: Mapping[str, Sequence[Answer]] = field(default_factory=dict[str, Sequence[Answer]])
    faults: Mapping[str, Fault] = field(default_factory=dict[str, Fault])
    offsets: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    own: bool = False


def read_reply(protocol: Protocol, task: RatingTask, reply: Reply) -> Reading:
    """Read a reply to the prompt of a task. Nothing is guessed: a unit has all its answers or a fault."""
    codes = unit_codes(protocol, task)
    text = reply.text.casefold()
    own = any(code.casefold() in text for code in codes.values())
    return replace(_ReplyReader(protocol, task, codes).read(reply), own=own)


def again(request: Request, reply: Reply, reading: Reading) -> Request:
    """The request that follows a faulty reply: the same one, and what was wrong.

    The reply is shown to the model only if it is its own. Another unit's reply would influence the rating, and came
    over a connection that may be one reply behind: the request is made on a fresh one.
    """
    hints = "\n".join(f"- {hint}" for hint in dict.fromkeys(fault.hint for fault in reading.faults.values()))
    *before, last = request.messages
    if not reading.own:
        reminder = f"An earlier reply to this message could not be used:\n{hints}"
        return replace(request, messages=(*before, Message(last.role, f"{last.content}\n\n{reminder}")), fresh=True)
    text = harmless(reply.text.strip())
    shown = f"{text[:LONGEST]} …" if len(text) > LONGEST else text
    correction = (
        f"This reply cannot be used:\n{hints}\n\n"
        "Judge by the protocol as before, and give the complete JSON object again, with all its keys and with these "
        "problems corrected. Reply with the object alone."
    )
    return replace(request, messages=(*request.messages, Message("assistant", shown), Message("user", correction)))


@dataclass(frozen=True, slots=True)
class _UnitEntry:
    """The object that a reply gives for one unit, and the keys that lead to it."""

    body: Body
    path: Path


class _ReplyReader:
    """Reads one reply: finds the object of each unit by its code, and has it read."""

    def __init__(self, protocol: Protocol, task: RatingTask, codes: Mapping[str, str]) -> None:
        self._protocol = protocol
        self._task = task
        self._codes = {unit_id: code.casefold() for unit_id, code in codes.items()}
        self._shown_codes = codes
        self._group = group_key(protocol)
        self._names = _names_of(protocol)

    def read(self, reply: Reply) -> Reading:
        cut_off = reply.finish == "length"
        if reply.finish == "refusal":
            return self._all(Reason.REFUSED)
        if not reply.text.strip():
            return self._all(Reason.TRUNCATED if cut_off else Reason.EMPTY)
        try:
            found = find_object(reply.text, self._expected())
        except Ambiguous:
            return self._all(Reason.MORE_THAN_ONE)
        except RecursionError:
            return self._all(Reason.NOT_JSON)
        except Cut as cut:
            return self._read_cut(reply.text, cut)
        if found is None and cut_off:
            return self._all(Reason.TRUNCATED)
        if found is None:
            return self._all(Reason.NOT_AN_OBJECT if is_json(reply.text) else Reason.NOT_JSON)
        entries = self._entries(found.body)
        if entries is None:
            return self._all(Reason.MORE_THAN_ONE)
        if cut_off and any(entry.path == () for entry in entries):
            return self._all(Reason.TRUNCATED)
        return self._read_entries(entries, reply.text, found, cut_off)

    def _all(self, reason: str) -> Reading:
        return Reading(faults={unit.id: Fault(reason, _WHOLE[reason]) for unit in self._task.units})

    def _expected(self) -> set[str]:
        """Folded keys, at least one of which the object of a reply has."""
        keys = {self._group, *self._codes.values()}
        if len(self._task.units) == 1:
            keys |= {_CODE_KEY, *(name for names in self._names.values() for name in names)}
        return keys

    def _read_cut(self, text: str, cut: Cut) -> Reading:
        """Of a list of units, those that were complete before the cut are kept."""
        if cut.start is None:
            return self._all(Reason.TRUNCATED)
        entries = [_UnitEntry(body, ()) for body in complete_objects(text, cut.start)]
        return self._read_entries(entries, text, Found({}, None), cut_off=True)

    def _entries(self, body: Body) -> Sequence[_UnitEntry] | None:
        """The objects of the units; None if there are two lists of them that differ."""
        for key, value in body.items():
            if folded(key) == self._group:
                return None if value is Mark.CLASH else self._listed(value, key)
        return [_UnitEntry(body, ())] if len(self._task.units) == 1 else self._listed(body)

    def _listed(self, value: object, *prefix: str) -> Sequence[_UnitEntry]:
        """The entries of a list, or of an object whose keys are codes."""
        entries: list[_UnitEntry] = []
        if isinstance(value, list):
            for place, entry in enumerate(cast("list[object]", value)):
                entries += [_UnitEntry(cast("Body", entry), (*prefix, place))] if isinstance(entry, dict) else []
        elif isinstance(value, dict):
            for key, entry in cast("Body", value).items():
                named: Body = {UNIT_CODE: key} if folded(key) in self._codes.values() else {}
                own: Body = cast("Body", entry) if isinstance(entry, dict) else {}
                entries.append(_UnitEntry({**named, **own}, (*prefix, key)))
        return entries

    def _read_entries(self, entries: Sequence[_UnitEntry], text: str, found: Found, cut_off: bool) -> Reading:
        by_code: dict[str, list[_UnitEntry]] = {}
        for entry in entries:
            by_code.setdefault(_code_in(entry.body), []).append(entry)
        answers: dict[str, Sequence[Answer]] = {}
        faults: dict[str, Fault] = {}
        offsets: dict[tuple[str, str], int] = {}
        known: Mapping[Path, int] = {} if found.start is None else value_offsets(text, found.start)
        quotes = self._quotes()
        for unit in self._task.units:
            mine = by_code.get(self._codes[unit.id], [])
            fault = self._fault(unit, mine, by_code, cut_off)
            if fault is None:
                reader = _UnitReader(self._protocol, self._names, mine[0].body, quotes)
                fault = self._wrong(unit, reader)
                if fault is None:
                    answers[unit.id] = tuple(reader.answers)
                    paths = {name: (*mine[0].path, *path) for name, path in reader.paths.items()}
                    offsets |= {(unit.id, name): known[path] for name, path in paths.items() if path in known}
            if fault is not None:
                faults[unit.id] = fault
        return Reading(answers, faults, offsets)

    def _fault(
        self, unit: Unit, mine: Sequence[_UnitEntry], by_code: Mapping[str, object], cut_off: bool
    ) -> Fault | None:
        """What is wrong with how the unit occurs in the reply; None if it has exactly one entry."""
        code = self._shown_codes[unit.id]
        name = f"{unit_noun(self._protocol).capitalize()} {unit.position} (code {code})"
        if any(repr(entry.body) != repr(mine[0].body) for entry in mine[1:]):
            return Fault(Reason.MORE_THAN_ONE, f"{name} has several entries that differ.")
        if mine:
            return None
        if cut_off:
            return Fault(Reason.TRUNCATED, f"{name} is missing, because the reply was cut off: keep it shorter.")
        if not set(by_code).isdisjoint(self._codes.values()):
            return Fault(Reason.LEFT_OUT, f"{name} has no entry.")
        copy = "copy each code from the line above its text" if len(self._task.units) > 1 else f"it is {code}"
        if any(by_code):
            return Fault(Reason.OTHER_CODE, f'"{UNIT_CODE}" was not the code given here: {copy}.')
        if by_code:
            return Fault(Reason.NO_CODE, f'"{UNIT_CODE}" was missing: {copy}.')
        return Fault(Reason.LEFT_OUT, f"{name} has no entry.")

    def _wrong(self, unit: Unit, reader: "_UnitReader") -> Fault | None:
        if not reader.wrong:
            return None
        name = f"{unit_noun(self._protocol).capitalize()} {unit.position}: " if len(self._task.units) > 1 else ""
        return Fault(reader.wrong[0][0], name + " ".join(hint for _, hint in reader.wrong))

    def _quotes(self) -> Quotes:
        """The shown fields, those that evidence is quoted from first."""
        if self._protocol.ask.evidence == "off":
            return Quotes({})
        given = self._task.item.fields
        names = dict.fromkeys([*self._protocol.evidence_fields(), *self._protocol.shown_fields()])
        return Quotes({name: field_text(given[name]) for name in names if name in given})


def _code_in(body: Body) -> str:
    """The code that an object carries, casefolded; empty if there is none that could be one."""
    given = {str(value).strip() for key, value in body.items() if folded(key) == _CODE_KEY and value is not None}
    return given.pop().casefold() if len(given) == 1 else ""


@dataclass(frozen=True, slots=True)
class _Given:
    """A value and its key as the model wrote it."""

    key: str
    value: object


_Entry = Mapping[str, _Given]
"""An object by its folded keys."""

_Names = Mapping[str, Sequence[str]]
"""The folded keys under which each criterion is looked for."""


def _names_of(protocol: Protocol) -> _Names:
    """A criterion's id, and its title unless another criterion is called that too."""
    ids = {criterion.id: folded(criterion.id) for criterion in protocol.criteria}
    taken = [*ids.values(), *(folded(criterion.title) for criterion in protocol.criteria)]
    names: dict[str, Sequence[str]] = {}
    for criterion in protocol.criteria:
        own, title = ids[criterion.id], folded(criterion.title)
        names[criterion.id] = (own,) if title == own or taken.count(title) > 1 else (own, title)
    return names


class _UnitReader:
    """Reads the object of one unit, criterion by criterion; a criterion that is not asked is ignored.

    `paths` are the keys that lead to each value, `wrong` the reasons and hints for what cannot be used.
    """

    def __init__(self, protocol: Protocol, names: _Names, body: Body, quotes: Quotes) -> None:
        self._protocol = protocol
        self._names = names
        self._given = _folded(body)
        self._quotes = quotes
        self.answers: list[Answer] = []
        self.paths: dict[str, Path] = {}
        self.wrong: list[tuple[str, str]] = []
        self._read()

    def _read(self) -> None:
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
            self.answers.append(Answer(criterion.id, value, rationale, evidence=spans, misquoted=misquoted))
        self._add_confidence_and_notes()

    def _value(self, criterion: Criterion, found: _Given | None, entry: _Entry | None) -> Value | None:
        """The value on the criterion's scale; None if there is none, with what is wrong about that."""
        path: Path = (found.key,) if found else ()
        raw = found.value if found else None
        if entry is not None:
            answer = entry.get("answer") or _one_of(entry, _ANSWER[1:])
            path, raw = (*path, answer.key if answer else ""), answer.value if answer else None
        name, wanted = criterion.id, criterion.scale.describe()
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            if criterion.required:
                self._fault(Reason.NO_ANSWER, name, f"has no answer; give {wanted}")
            return None
        if raw is Mark.CLASH:
            self._fault(Reason.TWO_ANSWERS, name, f"has several different answers; give one, {wanted}")
            return None
        if isinstance(raw, bool) or not isinstance(raw, int | float | str):
            self._fault(Reason.WRONG_TYPE, name, f"has {_kind(raw)} as its answer; give {wanted}")
            return None
        try:
            value = criterion.scale.read(restored(raw) if isinstance(raw, str) else raw)
        except ValueError:
            self._fault(Reason.OFF_SCALE, name, f"has an answer that is not {wanted}")
            return None
        self.paths[name] = path
        return value

    def _rationale(self, criterion: Criterion, entry: _Entry) -> str | None:
        if not self._protocol.asks_rationale(criterion):
            return None
        for candidate in self._rationales(criterion, entry):
            text = self._text(candidate)
            if text is not None:
                return text
        if self._protocol.ask.rationale == "required":
            self._fault(Reason.NO_RATIONALE, criterion.id, "has no rationale; explain why you chose the answer")
        return None

    def _rationales(self, criterion: Criterion, entry: _Entry) -> Iterator[_Given]:
        """Where the rationale of a criterion may be, the nearest place first."""
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
            hint = "has no evidence; copy the words that the answer rests on, at least three characters"
            self._fault(Reason.NO_EVIDENCE, criterion.id, hint)
        return tuple(spans), tuple(misquoted)

    def _add_confidence_and_notes(self) -> None:
        """Confidence and notes belong to the answer of the lead criterion, or to the first if that has none."""
        lead = self._protocol.lead.id
        entry = _entry_of(_one_of(self._given, self._names[lead])) or {}
        confidence = self._confidence(self._given.get("confidence") or entry.get("confidence"))
        notes = None
        if self._protocol.ask.notes != "off":
            notes = self._text(self._given.get("notes") or entry.get("notes"))
            if notes is None and self._protocol.ask.notes == "required":
                self.wrong.append((Reason.NO_NOTES, '"notes" is missing; give a text.'))
        if self.answers and (confidence is not None or notes is not None):
            carrier = next((n for n, answer in enumerate(self.answers) if answer.criterion == lead), 0)
            self.answers[carrier] = replace(self.answers[carrier], confidence=confidence, notes=notes)

    def _confidence(self, found: _Given | None) -> float | None:
        asked = self._protocol.ask.confidence
        if asked == "off":
            return None
        raw = found.value if found else None
        if raw is None or raw == "":
            if asked == "required":
                self.wrong.append((Reason.NO_CONFIDENCE, '"confidence" is missing; give a number from 0 to 100.'))
            return None
        try:
            percentage = PERCENT.read(raw)
        except ValueError:
            percentage = None
        # 0.95 is far more likely a share than a percentage; taken literally it would turn certainty into doubt.
        if percentage is None or 0 < percentage < 1:
            hint = '"confidence" is not a percentage; give a number from 0 to 100, such as 95, not 0.95.'
            self.wrong.append((Reason.BAD_CONFIDENCE, hint))
            return None
        return percentage

    def _text(self, found: _Given | None) -> str | None:
        """A text that is not blank, or None."""
        found = self._once(found)
        return (restored(found.value).strip() or None) if found and isinstance(found.value, str) else None

    def _once(self, found: _Given | None) -> _Given | None:
        """What was found; a key that occurs with different values is a fault even if nothing had to be there."""
        if found and found.value is Mark.CLASH:
            hint = f'"{folded(found.key)}" occurs several times with different values; give it once.'
            self.wrong.append((Reason.MORE_THAN_ONE, hint))
        return found

    def _fault(self, reason: str, criterion: str, hint: str) -> None:
        self.wrong.append((reason.format(criterion=criterion), f'"{criterion}" {hint}.'))


def _folded(body: Body) -> _Entry:
    """The object by its folded keys; two spellings of one key with different values have no value."""
    given: dict[str, _Given] = {}
    for key, value in body.items():
        name = folded(key)
        known = given.get(name)
        clash = known is not None and repr(known.value) != repr(value)
        given[name] = _Given(key, Mark.CLASH if clash else value)
    return given


def _entry_of(found: _Given | None) -> _Entry | None:
    """What was found as an object by its folded keys, if it is one."""
    value = None if found is None else found.value
    return _folded(cast("Body", value)) if isinstance(value, dict) else None


def _one_of(given: _Entry, names: Sequence[str]) -> _Given | None:
    """What is given under these keys; no value if they disagree."""
    found = [given[name] for name in names if name in given]
    if any(repr(other.value) != repr(found[0].value) for other in found[1:]):
        return _Given(found[0].key, Mark.CLASH)
    return found[0] if found else None


def _kind(raw: object) -> str:
    if isinstance(raw, bool):
        return "true or false"
    return "NaN or Infinity" if isinstance(raw, Mark) else "a list" if isinstance(raw, list) else "an object"


def _quotations(raw: object) -> Iterator[tuple[str | None, str]]:
    """The quotations that are long enough to look for, each with the field it is said to come from."""
    for one in cast("list[object]", raw) if isinstance(raw, list) else [raw]:
        name, quote = None, one
        entry = _entry_of(_Given("", one))
        if entry is not None:
            name, quote = (entry[key].value if key in entry else None for key in ("field", "quote"))
        if isinstance(quote, str) and worth_finding(quote):
            yield (name if isinstance(name, str) else None), quote
