"""A protocol → the page a rater works from, as Markdown or as rows of a sheet. Pure.

Instructions are Markdown and are used as they are. Everything else is plain text: it is escaped within a line and
fenced in an example, so that Markdown in it is not interpreted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.protocol.descriptions import asked_when, listed, measure_in_words, target_in_words
from evenhand.protocol.model import Criterion, Example, FieldSpec, Protocol
from evenhand.records import FieldValue, Triple
from evenhand.scales import Nominal, Ordinal, Text

Row = tuple[str, ...]

_ROLES = {
    "rated": "what you rate",
    "evidence": "evidence to check against",
    "reference": "a known good answer, for comparison",
    "context": "background",
}


@dataclass(frozen=True, slots=True)
class _Heading:
    depth: int
    text: str


@dataclass(frozen=True, slots=True)
class _Prose:
    """A paragraph, or several; `markdown` if its author wrote Markdown."""

    text: str
    markdown: bool = False


@dataclass(frozen=True, slots=True)
class _ListEntry:
    """One entry of a list: a name and what is to be said about it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class _Quote:
    """A text from an item, word for word."""

    name: str
    text: str


_Block = _Heading | _Prose | _ListEntry | _Quote


def guideline(protocol: Protocol, *, owner: bool = True) -> str:
    """The guideline as Markdown; `owner` adds what the study's owner needs: columns, breakdowns, measures, targets."""
    lines: list[str] = []
    previous: _Block | None = None
    for block in _blocks(protocol, owner):
        if lines and not (isinstance(block, _ListEntry) and isinstance(previous, _ListEntry)):
            lines.append("")
        lines += _markdown(block)
        previous = block
    return "\n".join(lines) + "\n"


def guideline_rows(protocol: Protocol) -> Sequence[Row]:
    """The rater's part of the guideline as rows of a sheet: a heading or a paragraph in one cell, an entry in two.

    The cells hold the texts as they are; the writer of the file makes those safe that begin like a formula.
    """
    rows: list[Row] = []
    for block in _blocks(protocol, owner=False):
        if isinstance(block, _Heading):
            rows += [(), (block.text,)] if rows else [(block.text,)]
        elif isinstance(block, _Prose):
            rows += [(line,) for line in _plain(block)]
        else:
            rows.append((block.name, block.text))
    return rows


def field_title(name: str, spec: FieldSpec) -> str:
    """What raters see as a field's heading."""
    return spec.title or name.replace("_", " ").capitalize()


def field_text(value: FieldValue) -> str:
    """A field's value as a rater reads it: triples one on each line; several passages are numbered."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return f"{value:g}"
    parts = [part if isinstance(part, str) else " → ".join(part) for part in value]
    if any(isinstance(part, Triple) for part in value):
        return "\n".join(parts)
    return parts[0] if len(parts) == 1 else "\n\n".join(f"[{n}] {part}" for n, part in enumerate(parts, start=1))


def _blocks(protocol: Protocol, owner: bool) -> Iterator[_Block]:
    yield _Heading(1, protocol.title)
    yield _Prose(f"Protocol {protocol.name}, version {protocol.version}.")
    yield from _seen(protocol)
    if protocol.instructions.strip():
        yield _Heading(2, "Instructions")
        yield _Prose(protocol.instructions.strip(), markdown=True)
    yield _Heading(2, "What is asked")
    for number, criterion in enumerate(protocol.criteria, start=1):
        yield from _criterion(protocol, criterion, number)
    yield from _also_asked(protocol)
    if protocol.examples:
        yield _Heading(2, "Worked examples")
        previous: Example | None = None
        for number, example in enumerate(protocol.examples, start=1):
            yield from _example(protocol, example, number, previous)
            previous = example
    if owner:
        yield from _owner(protocol)


def _seen(protocol: Protocol) -> Iterator[_Block]:
    yield _Heading(2, "What you see")
    for name in protocol.shown_fields():
        spec = protocol.item.fields[name]
        about = _ROLES[spec.role] + ("" if spec.required else "; not always there")
        yield _ListEntry(field_title(name, spec), f"{about}. {_sentence(spec.description)}".strip())
        for label, meaning in (spec.labels or {}).items():
            yield _ListEntry(f"{field_title(name, spec)}: {label}", meaning.definition)
    rule = protocol.rule
    title = field_title(rule.field, protocol.item.fields[rule.field]) if rule.field else ""
    if rule.of == "item":
        yield _Prose("You rate each item as a whole.")
    elif rule.of == "sentence":
        yield _Prose(f"You rate one sentence of “{title}” at a time.")
    else:
        hidden = "" if protocol.item.fields[rule.field or ""].shown else ", which you do not see"
        yield _Prose(f"You answer one question at a time. The questions were made from “{title}”{hidden}.")


def _criterion(protocol: Protocol, criterion: Criterion, number: int) -> Iterator[_Block]:
    yield _Heading(3, f"{number}. {criterion.title}")
    yield _Prose(criterion.question)
    notes = [asked_when(protocol, criterion.when)] if criterion.when else []
    notes += ["It sums up the other criteria."] if criterion.overall else []
    notes += [] if criterion.required else ["You may leave it out."]
    if notes:
        yield _Prose(" ".join(notes))
    scale = criterion.scale
    if isinstance(scale, Ordinal):
        for level in reversed(scale.values):
            yield _ListEntry(f"{level} {scale.levels[level].label}", scale.levels[level].anchor)
    elif isinstance(scale, Nominal):
        for name, label in scale.labels.items():
            yield _ListEntry(name, label.definition)
    else:
        yield _Prose(f"Answer with {scale.describe()}.")


def _also_asked(protocol: Protocol) -> Iterator[_Block]:
    ask = protocol.ask
    exempt = "; free text needs none" if any(isinstance(c.scale, Text) for c in protocol.criteria) else ""
    entries = [
        (
            "Rationale",
            ask.rationale,
            f"for each rating, why you chose it; point at words of the text{exempt}",
        ),
        ("Evidence", ask.evidence, "for each rating, the passages on which it rests"),
        ("Confidence", ask.confidence, "once for all ratings together, how sure you are, from 0 to 100 percent"),
        ("Notes", ask.notes, "once for all ratings together, anything that should be known about this case"),
    ]
    wanted = [_ListEntry(name, f"{text} ({asked})") for name, asked, text in entries if asked != "off"]
    if wanted:
        yield _Heading(3, "Beside the ratings")
        yield from wanted


def _example(protocol: Protocol, example: Example, number: int, previous: Example | None) -> Iterator[_Block]:
    yield _Heading(3, f"Example {number}: {example.title}")
    if previous is not None and previous.fields == example.fields:
        yield _Prose("The same item as in the example before.")
    else:
        for name, value in protocol.example_fields(example).items():
            yield _Quote(field_title(name, protocol.item.fields[name]), field_text(value))
    if example.unit is not None:
        yield _Quote("Sentence to rate" if protocol.rule.of == "sentence" else "Question to answer", example.unit)
    for criterion in protocol.criteria:
        if criterion.id in example.ratings:
            rationale = example.rationales.get(criterion.id)
            rating = _rating(criterion, example.ratings[criterion.id])
            yield _ListEntry(f"{criterion.title}: {rating}", rationale or "")
    if example.confidence is not None:
        yield _ListEntry(f"Confidence: {example.confidence:g} percent", "")
    if example.notes:
        yield _ListEntry("Notes", example.notes)
    if example.explanation:
        yield _Prose(f"Why: {example.explanation}")


def _rating(criterion: Criterion, value: int | float | str) -> str:
    if isinstance(criterion.scale, Ordinal) and isinstance(value, int):
        return f"{value} {criterion.scale.levels[value].label}"
    return str(value)


def _owner(protocol: Protocol) -> Iterator[_Block]:
    yield _Heading(2, "For the owner of the study")
    yield _Heading(3, "Columns of the data")
    for name, spec in protocol.item.fields.items():
        facts = [spec.kind, "required" if spec.required else "optional"]
        facts += [] if spec.shown else ["not shown to raters"]
        facts += [f"also read from {listed(spec.aliases)}"] if spec.aliases else []
        if spec.delimiter is not None:
            mark = "an empty line" if spec.delimiter == "\n\n" else f"“{spec.delimiter}”"
            facts.append(f"in one cell, {mark} stands between two passages")
        yield _ListEntry(name, "; ".join(facts))
    columns = [(c.id, c.columns, c.model_columns) for c in protocol.criteria if c.columns or c.model_columns]
    if columns:
        yield _Heading(3, "Columns of rating files")
        for name, own, models in columns:
            facts = [f"also read from {listed(own)}"] if own else []
            facts += [f"{column} holds the ratings of {rater}" for column, rater in models.items()]
            yield _ListEntry(name, "; ".join(facts))
    if protocol.strata:
        yield _Heading(3, "Breakdowns")
        for name in protocol.strata:
            spec = protocol.item.fields[name]
            yield _ListEntry(name, "results by each of its values")
            for label, meaning in (spec.labels or {}).items() if not spec.shown else ():
                yield _ListEntry(f"{name}: {label}", meaning.definition)
    if protocol.measures:
        yield _Heading(3, "Measures")
        for measure in protocol.measures:
            yield _ListEntry(measure.name, measure_in_words(protocol, measure))
    if protocol.targets:
        yield _Heading(3, "Targets")
        for target in protocol.targets:
            yield _ListEntry(target.measure, target_in_words(target))


def _markdown(block: _Block) -> list[str]:
    if isinstance(block, _Heading):
        return [f"{'#' * block.depth} {_escaped(block.text)}"]
    if isinstance(block, _Prose):
        return block.text.splitlines() if block.markdown else [_line_start(_escaped(block.text))]
    if isinstance(block, _ListEntry):
        return [f"- **{_escaped(block.name)}**" + (f": {_escaped(block.text)}" if block.text else "")]
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
    return [f"**{_escaped(block.name)}**", "", f"{fence}text", *block.text.rstrip("\n").splitlines(), fence]


def _escaped(text: str) -> str:
    """Plain text as one line of Markdown that shows just that text; a `_` inside a word is harmless and stays."""
    line = " ".join(text.split())
    return re.sub(r"[\\`*<\[\]&~|]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", line)


def _line_start(line: str) -> str:
    """A paragraph that begins like a list, a heading or a quotation is kept from becoming one."""
    return re.sub(r"^(\d+)([.)])|^([-+#>=])", lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", line)


def _plain(prose: _Prose) -> list[str]:
    """The lines of a paragraph for a sheet, each paragraph or list entry in one, without Markdown's marks."""
    if not prose.markdown:
        return [" ".join(prose.text.split())]
    lines: list[str] = []
    within = False
    for line in map(str.strip, prose.text.splitlines()):
        if within and line and not _BEGINS.match(line):
            lines[-1] += f" {line}"
        elif line:
            lines.append(re.sub(r"^[-*+]\s+", "• ", re.sub(r"^#+\s+", "", line)))
        within = bool(line) and not line.startswith("#")
    return [_MARKS.sub("", line) for line in lines]


_BEGINS = re.compile(r"([-*+]|\d+[.)]|#+)\s")
_MARKS = re.compile(r"\*\*|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")


def _sentence(text: str | None) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""
