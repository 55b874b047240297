"""A model's reply → answers for each unit, or the fault that stands in their place; and how to ask again.

What is accepted beside the shape that was asked for is told in `repair` (the text) and `entries` (the object).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from evenhand.llm.base import Message, Reply, Request
from evenhand.protocol.guideline import field_text
from evenhand.protocol.model import Protocol
from evenhand.raters import reasons
from evenhand.raters.base import Answer, Task
from evenhand.raters.entries import Names, UnitReading, names_of, read_unit
from evenhand.raters.fence import harmless
from evenhand.raters.instructions import unit_noun
from evenhand.raters.places import Path, value_places
from evenhand.raters.quotes import Quotes
from evenhand.raters.repair import Ambiguous, Cut, Found, Mark, complete_entries, find_object, folded, is_json
from evenhand.raters.schema import evidence_fields, group_key
from evenhand.records import Unit

LONGEST = 4000
"""Characters of a faulty reply that are shown to the model again."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a unit has no answers: `reason` is one of `reasons`, `hint` tells the model what to do otherwise."""

    reason: str
    hint: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: every unit of the task is in `answers` or in `faults`.

    `places` has the offset in the reply's text at which an answer's value begins, by unit and criterion, where the text
    was JSON as it came.
    """

    answers: Mapping[str, Sequence[Answer]] = field(default_factory=dict[str, Sequence[Answer]])
    faults: Mapping[str, Fault] = field(default_factory=dict[str, Fault])
    places: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])


_WHOLE = {
    reasons.EMPTY: "Your answer was empty.",
    reasons.REFUSED: "There was no answer.",
    reasons.TRUNCATED: "Your answer was cut off before its end: keep it shorter.",
    reasons.NOT_JSON: "Your answer has no JSON object that can be read.",
    reasons.NOT_AN_OBJECT: "Your answer is JSON, but not an object.",
    reasons.MORE_THAN_ONE: "Your answer has several JSON objects that differ: give one.",
}


def read_reply(protocol: Protocol, task: Task, reply: Reply) -> Reading:
    """Read a reply to the prompt of a task. Nothing is guessed: a unit has all its answers or a fault."""
    if reply.finish == "refusal":
        return _all(task, reasons.REFUSED)
    if not reply.text.strip():
        return _all(task, reasons.TRUNCATED if reply.finish == "length" else reasons.EMPTY)
    together = len(task.units) > 1
    names = names_of(protocol)
    try:
        found = find_object(reply.text, _expected(protocol, names, task.units, together))
    except Ambiguous:
        return _all(task, reasons.MORE_THAN_ONE)
    except RecursionError:
        return _all(task, reasons.NOT_JSON)
    except Cut as cut:
        return _cut(protocol, names, task, reply, cut, together)
    cut_off = reply.finish == "length"
    if found is None:
        return _all(task, reasons.TRUNCATED if cut_off else _not_an_object(reply.text))
    if together:
        return _several(protocol, names, task, reply.text, found, cut_off)
    if cut_off:
        return _all(task, reasons.TRUNCATED)
    unit = task.units[0]
    reading = read_unit(protocol, names, found.body, _quotes(protocol, task))
    return _gathered([(unit, (), reading)], {}, reply.text, found.start, lambda unit: "")


def again(request: Request, reply: Reply, faults: Mapping[str, Fault]) -> Request:
    """The request that follows a faulty reply: the same, the reply, and what was wrong with it."""
    text = harmless(reply.text.strip()) or "(empty)"
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} …"
    hints = "\n".join(f"- {hint}" for hint in dict.fromkeys(fault.hint for fault in faults.values()))
    wrong = (
        f"This answer cannot be used:\n{hints}\n\n"
        "Judge by the protocol as before, and give the complete JSON object once more, with all its keys and with this "
        "put right. Only the object, nothing else."
    )
    return replace(request, messages=(*request.messages, Message("assistant", text), Message("user", wrong)))


def _all(task: Task, reason: str) -> Reading:
    return Reading(faults={unit.id: Fault(reason, _WHOLE[reason]) for unit in task.units})


def _not_an_object(text: str) -> str:
    return reasons.NOT_AN_OBJECT if is_json(text) else reasons.NOT_JSON


def _expected(protocol: Protocol, names: Names, units: Sequence[Unit], together: bool) -> set[str]:
    """Keys, folded, of which the object of an answer has one."""
    if not together:
        return {name for known in names.values() for name in known}
    return {group_key(protocol), *(name for unit in units for name in _numbers(protocol, unit))}


def _numbers(protocol: Protocol, unit: Unit) -> tuple[str, str]:
    """How a unit may be called among others: `3`, `sentence 3`."""
    return str(unit.position), f"{unit_noun(protocol)}{unit.position}"


def _cut(protocol: Protocol, names: Names, task: Task, reply: Reply, cut: Cut, together: bool) -> Reading:
    """Of units that are rated together, those that were complete before the cut are kept."""
    if not together or cut.start is None:
        return _all(task, reasons.TRUNCATED)
    entries = complete_entries(reply.text, cut.start, {group_key(protocol)})
    return _several(protocol, names, task, reply.text, Found(entries, None), cut_off=True)


def _several(protocol: Protocol, names: Names, task: Task, text: str, found: Found, cut_off: bool) -> Reading:
    bodies: Mapping[str, object] = found.body
    prefix: Path = ()
    for key, value in found.body.items():
        if folded(key) == group_key(protocol):
            if value is Mark.CLASH:
                return _all(task, reasons.MORE_THAN_ONE)
            bodies, prefix = _numbered(value, unit_noun(protocol)), (key,)
    quotes = _quotes(protocol, task)
    noun = unit_noun(protocol).capitalize()
    readings: list[tuple[Unit, Path, UnitReading]] = []
    faults: dict[str, Fault] = {}
    numbered = _by_number(bodies)
    for unit in task.units:
        entries = [entry for name in _numbers(protocol, unit) for entry in numbered.get(name, ())]
        if not entries:
            reason, hint = _MISSING[cut_off]
            faults[unit.id] = Fault(reason, f"{noun} {unit.position} {hint}.")
        elif entries[0][1] is Mark.CLASH or any(repr(entry[1]) != repr(entries[0][1]) for entry in entries[1:]):
            faults[unit.id] = Fault(reasons.MORE_THAN_ONE, f"{noun} {unit.position} has several entries that differ.")
        else:
            key, entry = entries[0]
            body: Mapping[str, object] = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
            readings.append((unit, (*prefix, key), read_unit(protocol, names, body, quotes)))
    return _gathered(readings, faults, text, found.start, lambda unit: f"{noun} {unit.position}: ")


def _numbered(value: object, noun: str) -> Mapping[str, object]:
    """Entries by number: an object of them, or a list whose entries say their number themselves."""
    if isinstance(value, dict):
        return cast("Mapping[str, object]", value)
    entries: dict[str, object] = {}
    for listed in cast("list[object]", value) if isinstance(value, list) else ():
        entry = cast("dict[str, object]", listed) if isinstance(listed, dict) else {}
        said = {str(entry[key]) for key in entry if folded(key) in (noun, "number", "position", "id")}
        if len(said) == 1:
            number = said.pop()
            same = entries.setdefault(number, entry)
            entries[number] = entry if repr(same) == repr(entry) else Mark.CLASH
    return entries


_MISSING = {
    True: (reasons.TRUNCATED, "is missing, because your answer was cut off: keep it shorter"),
    False: (reasons.LEFT_OUT, "has no entry"),
}


def _by_number(bodies: Mapping[str, object]) -> Mapping[str, Sequence[tuple[str, object]]]:
    entries: dict[str, list[tuple[str, object]]] = {}
    for key, value in bodies.items():
        entries.setdefault(folded(key), []).append((key, value))
    return entries


def _gathered(
    readings: Iterable[tuple[Unit, Path, UnitReading]],
    faults: dict[str, Fault],
    text: str,
    start: int | None,
    named: Callable[[Unit], str],
) -> Reading:
    answers: dict[str, Sequence[Answer]] = {}
    places: dict[tuple[str, str], int] = {}
    known: Mapping[Path, int] = {} if start is None else value_places(text, start)
    for unit, prefix, reading in readings:
        if reading.wrong:
            hint = " ".join(hint for _, hint in reading.wrong)
            faults[unit.id] = Fault(reading.wrong[0][0], f"{named(unit)}{hint}")
            continue
        answers[unit.id] = tuple(reading.answers)
        for criterion, path in reading.paths.items():
            if (*prefix, *path) in known:
                places[unit.id, criterion] = known[*prefix, *path]
    return Reading(answers, faults, places)


def _quotes(protocol: Protocol, task: Task) -> Quotes:
    """The shown fields, those that bear evidence first."""
    if protocol.ask.evidence == "off":
        return Quotes({})
    names = dict.fromkeys([*evidence_fields(protocol), *protocol.shown_fields()])
    return Quotes({name: field_text(task.item.fields[name]) for name in names if name in task.item.fields})
