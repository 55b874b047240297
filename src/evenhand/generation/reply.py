"""Reading what a model wrote: an output, a reason for declining, or what is wrong with it.

Nothing is guessed: every field has a usable value, or the reply is rejected. Of a list, entries that cannot be used
are dropped and counted; if none is left, the reply is rejected.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from evenhand.generation.model import Generator, Output, OutputField
from evenhand.generation.ontology import Ontology
from evenhand.generation.prompt import CLASSES, CODE, DECLINED, ENTRY_KEYS
from evenhand.llm.base import Reply
from evenhand.llm.fencing import restored
from evenhand.llm.json_repair import HINTS, HOPELESS, Body, Mark, Unreadable, folded, object_in
from evenhand.nlp.quotes import Quotes
from evenhand.records import Item
from evenhand.scales import Nominal, label_key

NO_CODE = "no code"
OTHER_CODE = "reply to another request"
BOTH = "declined and answered at once"
NOTHING = "nothing found"
"""The reason for declining if a list is empty and the model gives none."""

_NOT_DECLINED = frozenset(("", "null", "none", "no", "false", "n/a", "not declined", "无", "否"))


class Rejected(ValueError):
    """A reply that is not accepted: the reason, by which rejections are counted, and a hint for the model."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint or HINTS.get(reason, f"{reason[:1].upper()}{reason[1:]}.")
        self.is_final = reason in HOPELESS
        """Whether another request would end in the same way."""


@dataclass
class ReadOutput:
    """What a reply holds: an output, or why the model declined; and what was dropped from its lists, by reason."""

    output: Output | None = None
    declined: str | None = None
    dropped: Counter[str] = field(default_factory=Counter[str])


def read_output(generator: Generator, ontology: Ontology | None, item: Item, code: str, reply: Reply) -> ReadOutput:
    """Read a reply to the request with this code. Raises Rejected."""
    body = _body(generator, code, reply)
    given = {name: body.get(folded(name)) for name in generator.output}
    declined = _declined(body.get(DECLINED))
    filled = [name for name, value in given.items() if value not in (None, "", [])]
    if declined and filled:
        raise Rejected(BOTH, f'Either give the reason as "{DECLINED}" and null for the rest, or "{DECLINED}": null.')
    lists = [spec for spec in generator.output.values() if spec.kind in ENTRY_KEYS]
    if declined or (lists and len(lists) == len(given) and all(value == [] for value in given.values())):
        return ReadOutput(declined=declined or NOTHING)
    found = ReadOutput()
    reader = _FieldReader(generator, ontology, item, found.dropped)
    found.output = {name: reader.read(name, spec, given[name]) for name, spec in generator.output.items()}
    return found


def _body(generator: Generator, code: str, reply: Reply) -> Body:
    try:
        body = object_in(reply, [CODE, *generator.output]).body
    except Unreadable as error:
        raise Rejected(str(error)) from error
    if str(body.get(CODE) or "").strip().casefold() != code.casefold():
        raise Rejected(OTHER_CODE if body.get(CODE) else NO_CODE, f'"{CODE}" must be {code}.')
    return body


def _declined(found: object) -> str | None:
    """The reason for declining, None if the model did not decline."""
    if found is True:
        return NOTHING
    text = " ".join(restored(found).split()) if isinstance(found, str) else ""
    return None if text.casefold().rstrip(".") in _NOT_DECLINED else text


class _FieldReader:
    def __init__(self, generator: Generator, ontology: Ontology | None, item: Item, dropped: Counter[str]) -> None:
        self._generator = generator
        self._ontology = ontology
        self._item = item
        self._dropped = dropped

    def read(self, name: str, spec: OutputField, value: object) -> object:
        if value is None or value in ("", []):
            raise Rejected(f"no {name}")
        if value is Mark.CLASH:
            raise Rejected(f"more than one {name}")
        if spec.kind in ("text", "label"):
            text = restored(value).strip() if isinstance(value, str) else ""
            if not text:
                raise Rejected(f"no {name}" if isinstance(value, str) else f"{name} is not a text")
            return text if spec.kind == "text" else self._label(name, text)
        if not isinstance(value, list):
            raise Rejected(f"no list of {name}")
        entries = list(self._entries(spec, cast("list[object]", value)))
        if not entries:
            reasons = ", ".join(self._dropped)
            raise Rejected(f"no usable entry in {name}", f'No entry of "{name}" can be used: {reasons}.')
        return entries

    def _label(self, name: str, text: str) -> str:
        labels = self._generator.labels_of(name)
        try:
            return Nominal.model_construct(type="nominal", labels=labels).read(text)
        except ValueError:
            valid = ", ".join(labels)
            raise Rejected(f"{name} is not one of the labels", f'"{name}" is one of {valid}.') from None

    def _entries(self, spec: OutputField, listed: Sequence[object]) -> Iterator[Mapping[str, str]]:
        """The usable entries, each once."""
        quotes = None
        if spec.quotes_from is not None:
            quotes = Quotes({spec.quotes_from: str(self._item.fields.get(spec.quotes_from, ""))})
        keys = ENTRY_KEYS[spec.kind]
        seen = set[tuple[str, ...]]()
        for one in listed:
            body = cast("Mapping[str, object]", one if isinstance(one, dict) else {})
            entry = {key: _line(body.get(folded(key))) for key in (*keys, "quote", *CLASSES)}
            if not all(entry[key] for key in keys):
                self._dropped["incomplete"] += 1
                continue
            if quotes is not None and not self._has_quote(quotes, entry, spec):
                self._dropped["quote not in the text"] += 1
                continue
            violation = self._violation(entry) if spec.kind == "triples" else None
            if violation is not None:
                self._dropped[f"ontology: {violation}"] += 1
                continue
            identity = tuple(label_key(entry[key]) for key in keys if key != "key_info")
            if identity in seen:
                self._dropped["duplicate"] += 1
                continue
            if len(seen) == spec.most:
                self._dropped["beyond the limit"] += 1
                continue
            seen.add(identity)
            yield {key: entry[key] for key in (*keys, *(("quote",) if quotes is not None else ()))}

    def _has_quote(self, quotes: Quotes, entry: dict[str, str], spec: OutputField) -> bool:
        """Whether the quote is in the text; it is then exactly as the text has it."""
        span = quotes.find(entry["quote"])
        if span is not None:
            entry["quote"] = str(self._item.fields[span.field])[span.start : span.end]
        return span is not None

    def _violation(self, entry: Mapping[str, str]) -> str | None:
        if self._ontology is None:
            return None
        return self._ontology.violation(entry["predicate"], *(entry[key] for key in CLASSES))


def _line(found: object) -> str:
    """A text on one line; empty if it is none."""
    return " ".join(restored(found).split()) if isinstance(found, str) else ""
