"""A protocol → the page a rater works from, as Markdown or as rows of a sheet. Pure.

Instructions are Markdown and are used as they are. Everything else is plain text: it is escaped within a line and
fenced in an example, so that Markdown in it is not interpreted.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from evenhand.protocol.model import (
    AbstentionMeasure,
    AnswerMeasure,
    ClassificationMeasure,
    Condition,
    Criterion,
    Example,
    MeanMeasure,
    Measure,
    ProportionMeasure,
    Protocol,
    RetrievalMeasure,
    TextMeasure,
    field_text,
)
from evenhand.records import UNANSWERABLE
from evenhand.scales import Nominal, Ordinal, Text, exempt_from_evidence
from evenhand.text import listed, sentence

Row = tuple[str, ...]

ROLES = {
    "rated": "what you rate",
    "evidence": "evidence to check against",
    "reference": "a known good answer, for comparison",
    "context": "background",
}
_MEASURES = {
    "mean": "mean",
    "sd": "standard deviation",
    "percent_match": "how often two raters give the same answer",
    "kappa": "how far two raters agree beyond chance, Cohen's κ",
    "per_label": "how far two raters agree on each label by itself",
    "confusion": "how often each answer of one rater meets each answer of another",
    "majority": "how often all raters agree, more than half agree, or neither, and how often each is with the majority",
    "exact_match": "how often a model's answer is exactly the majority's",
    "macro_f1": "a model's F1 against the majority's answers, averaged over the labels or levels",
    "accuracy": "the share of items for which they agree",
    "precision": "of the items given a label, the share that have it; averaged over the labels",
    "recall": "of the items that have a label, the share given it; averaged over the labels",
    "f1": "the harmonic mean of precision and recall; averaged over the labels",
    "confusion_matrix": "how many items of each label were given each label",
    "text_match": "share of items whose texts have the same words, apart from case, punctuation and articles",
    "token_f1": "F1 of the words of two texts",
    "coverage": "share of the reference's words that the text has",
    "retrieval": "recall, precision and nDCG of the first ids, and the reciprocal rank of the first relevant one (MRR)",
}
_BETWEEN = {
    "all": "any two raters",
    "person-model": "each person with each model",
    "majority-model": "each model with the people's majority",
}


class _Block(NamedTuple):
    """A heading of some depth; a paragraph, which is Markdown if its author wrote that; an entry of a list; or a text
    from an item, word for word. Entries and quotations have a name."""

    kind: Literal["#", "##", "###", "paragraph", "markdown", "entry", "quote"]
    text: str
    name: str = ""


def guideline(protocol: Protocol, *, owner: bool = True, examples: bool = True) -> str:
    """The guideline as Markdown; `owner` adds what the study's owner needs: columns, breakdowns, measures, targets.

    Without `examples`, the worked examples are only announced, for a rater who is going to rate them as training.
    """
    lines: list[str] = []
    previous = ""
    for block in _blocks(protocol, owner, examples):
        if lines and not block.kind == previous == "entry":
            lines.append("")
        lines += _markdown(block)
        previous = block.kind
    return "\n".join(lines) + "\n"


def guideline_rows(protocol: Protocol) -> Sequence[Row]:
    """The rater's part of the guideline as rows of a sheet: a heading or a paragraph in one cell, an entry in two.

    The cells hold the texts as they are; the writer of the file makes those safe that begin like a formula.
    """
    rows: list[Row] = []
    for block in _blocks(protocol, owner=False, examples=True):
        if block.kind in ("entry", "quote"):
            rows.append((block.name, block.text))
        elif block.kind in ("paragraph", "markdown"):
            rows += [(line,) for line in _plain(block)]
        else:
            rows += [(), (block.text,)] if rows else [(block.text,)]
    return rows


def condition_in_words(protocol: Protocol, condition: Condition) -> str:
    return f"{protocol.criterion(condition.criterion).title} is {condition.test}"


def asked_when(protocol: Protocol, criterion: Criterion) -> str:
    """When a criterion is asked, as a sentence for raters; empty if it always is."""
    about = f"about {protocol.rule.of}s of “{protocol.titles[criterion.of]}”" if criterion.of else ""
    when = f"when {condition_in_words(protocol, criterion.when)}" if criterion.when else ""
    return f"Asked only {' and '.join(filter(None, (about, when)))}." if about or when else ""


def checked_against(protocol: Protocol, criterion: Criterion) -> str:
    """What a criterion is checked against, as a sentence for raters; empty if it is the protocol's evidence."""
    titles = [f"“{protocol.titles[name]}”" for name in criterion.against or ()]
    return f"Check it against {listed(titles)}." if titles else ""


def measure_in_words(protocol: Protocol, measure: Measure) -> str:
    """What a measure is and what it is computed over."""
    if isinstance(measure, ProportionMeasure):
        title = protocol.criterion(measure.criterion).title
        also = f" and {condition_in_words(protocol, measure.also)}" if measure.also else ""
        left_out = f", leaving out those where {title} is {listed(measure.exclude, 'or')}" if measure.exclude else ""
        field = protocol.field_of(measure) if len(protocol.rule.fields) > 1 else None
        every = f"ratings of {protocol.rule.of}s of {field}" if field else "ratings"
        share = f"share of {every} where {title} is {listed(measure.any_of, 'or')}{also}, among all {every}{left_out}"
        return share if measure.per == "rating" else f"{share}; in each item, averaged over items{_adjusted(measure)}"
    if isinstance(measure, AnswerMeasure):
        left_out = "questions that the reference itself does not answer are left out"
        if measure.kind == "answered":
            return f"share of the questions with an answer other than {UNANSWERABLE}; {left_out}"
        all_of_them = f"all questions, {UNANSWERABLE} counting as 0"
        over = "the answered questions" if measure.over == "answered" else all_of_them
        return f"token F1 of the answer and the reference's, averaged over {over}; {left_out}"
    if isinstance(measure, AbstentionMeasure):
        phrases = f", by the phrases {listed(measure.phrases, 'or')}" if measure.phrases else ""
        also = ", or by Evenhand's own" if phrases and measure.built_in else ""
        return f"share of items whose {measure.field} declines to answer{phrases}{also}"
    what = _MEASURES[measure.kind]
    if isinstance(measure, TextMeasure | RetrievalMeasure):
        return f"{what}; {measure.reads[0]} against {measure.reads[1]}, averaged over items"
    if isinstance(measure, ClassificationMeasure):
        return f"{what}; {measure.prediction} against {measure.truth}"
    titles = listed([protocol.criterion(name).title for name in measure.criteria])
    each = ", each by itself" if len(measure.criteria) > 1 else ""
    if isinstance(measure, MeanMeasure):
        return f"{what} of each unit's average over {titles}" if measure.together else f"{what} of {titles}{each}"
    between = "" if measure.kind == "majority" else f"{_BETWEEN[measure.between]}, "
    return f"{what}; {between}on {titles}{each}"


def _adjusted(measure: ProportionMeasure) -> str:
    """What else is done to the share in an item."""
    abstained = "" if measure.abstained is None else f"; {measure.abstained:g} if the text abstains"
    return abstained if measure.times is None else f"{abstained}; multiplied with {measure.times}"


def _blocks(protocol: Protocol, owner: bool, examples: bool) -> Iterator[_Block]:
    yield _Block("#", protocol.title)
    yield _Block("paragraph", f"Protocol {protocol.name}, version {protocol.version}.")
    yield from _seen(protocol)
    if protocol.instructions.strip():
        yield _Block("##", "Instructions")
        yield _Block("markdown", protocol.instructions.strip())
    yield _Block("##", "What is asked")
    for number, criterion in enumerate(protocol.criteria, start=1):
        yield from _criterion(protocol, criterion, number)
    yield from _also_asked(protocol)
    if protocol.examples:
        yield _Block("##", "Worked examples")
        if not examples:
            yield _Block("paragraph", "You rate them first, as training. Once you have, they are part of this page.")
        previous: Example | None = None
        for number, example in enumerate(protocol.examples if examples else (), start=1):
            yield from _example(protocol, example, number, previous)
            previous = example
    if owner:
        yield from _owner(protocol)


def _seen(protocol: Protocol) -> Iterator[_Block]:
    yield _Block("##", "What you see")
    for name in protocol.shown_fields:
        spec = protocol.item.fields[name]
        about = ROLES[spec.role] + ("" if spec.required else "; not always there")
        yield _entry(protocol.titles[name], f"{about}. {sentence(spec.description or '')}".strip())
        for label, meaning in (spec.labels or {}).items():
            yield _entry(f"{protocol.titles[name]}: {label}", meaning.definition)
    yield _Block("paragraph", _units(protocol))


def _units(protocol: Protocol) -> str:
    """What is rated at a time, as a sentence for raters."""
    rule, unseen = protocol.rule, ", which you do not see"
    if rule.of == "item":
        return "You rate each item as a whole."
    hidden = {name: "" if protocol.item.fields[name].shown else unseen for name in rule.fields}
    sources = listed([f"“{protocol.titles[name]}”{hidden[name]}" for name in rule.fields])
    if rule.of == "sentence":
        return f"You rate one sentence of {sources} at a time."
    if rule.of == "question":
        return f"You answer one question at a time. The questions were made from {sources}."
    return f"You rate one claim at a time. The claims were taken from {sources}."


def _criterion(protocol: Protocol, criterion: Criterion, number: int) -> Iterator[_Block]:
    yield _Block("###", f"{number}. {criterion.title}")
    yield _Block("paragraph", criterion.question)
    notes = [*filter(None, (asked_when(protocol, criterion), checked_against(protocol, criterion)))]
    notes += ["It sums up the other criteria."] if criterion.overall else []
    notes += [] if criterion.required else ["You may leave it out."]
    if notes:
        yield _Block("paragraph", " ".join(notes))
    scale = criterion.scale
    if isinstance(scale, Ordinal):
        for level in reversed(scale.values):
            yield _entry(f"{level} {scale.levels[level].label}", scale.levels[level].anchor)
    elif isinstance(scale, Nominal):
        for name, label in scale.labels.items():
            yield _entry(name, label.definition)
    else:
        yield _Block("paragraph", f"Answer with {scale.describe()}.")


def _also_asked(protocol: Protocol) -> Iterator[_Block]:
    ask = protocol.ask
    exempt = "; free text needs none" if any(isinstance(c.scale, Text) for c in protocol.criteria) else ""
    nothing = dict.fromkeys(answer for c in protocol.criteria for answer in exempt_from_evidence(c.scale))
    uncited = f"; none is needed for {listed(list(nothing), 'or')}" if nothing else ""
    entries = [
        ("Rationale", ask.rationale, f"for each rating, why you chose it; point at words of the text{exempt}"),
        ("Evidence", ask.evidence, f"for each rating, the passages on which it rests{uncited}"),
        ("Confidence", ask.confidence, "once for all ratings together, how sure you are, from 0 to 100 percent"),
        ("Notes", ask.notes, "once for all ratings together, anything that should be known about this case"),
    ]
    if wanted := [_entry(name, f"{text} ({asked})") for name, asked, text in entries if asked != "off"]:
        yield _Block("###", "Beside the ratings")
        yield from wanted


def _example(protocol: Protocol, example: Example, number: int, previous: Example | None) -> Iterator[_Block]:
    yield _Block("###", f"Example {number}: {example.title}")
    if previous is not None and previous.fields == example.fields:
        yield _Block("paragraph", "The same item as in the example before.")
    else:
        for name, value in protocol.example_fields(example).items():
            yield _Block("quote", field_text(value), protocol.titles[name])
    if example.unit is not None:
        source = protocol.example_field(example)
        of = f" from {protocol.titles[source]}" if source and len(protocol.rule.fields) > 1 else ""
        name = (
            "Question to answer" if protocol.rule.of == "question" else f"{protocol.rule.of.capitalize()}{of} to rate"
        )
        yield _Block("quote", example.unit, name)
    for criterion in protocol.criteria:
        if criterion.id in example.ratings:
            rating = example.ratings[criterion.id]
            if isinstance(criterion.scale, Ordinal) and isinstance(rating, int):
                rating = f"{rating} {criterion.scale.levels[rating].label}"
            quotes = " … ".join(f"“{quote}”" for quote in example.evidence.get(criterion.id, ()))
            reasons = [example.rationales.get(criterion.id, ""), f"Evidence: {quotes}" if quotes else ""]
            yield _entry(f"{criterion.title}: {rating}", " ".join(filter(None, reasons)))
    if example.confidence is not None and protocol.ask.confidence != "off":
        yield _entry(f"Confidence: {example.confidence:g} percent", "")
    if example.notes:
        yield _entry("Notes", example.notes)
    if example.explanation:
        yield _Block("paragraph", f"Why: {example.explanation}")


def _owner(protocol: Protocol) -> Iterator[_Block]:
    yield _Block("##", "For the owner of the study")
    yield _Block("###", "Columns of the data")
    for name, spec in protocol.item.fields.items():
        facts = [spec.kind, "required" if spec.required else "optional"]
        facts += [] if spec.shown else ["not shown to raters"]
        facts += [f"also read from {listed(spec.aliases)}"] if spec.aliases else []
        if spec.delimiter is not None:
            mark = "an empty line" if spec.delimiter == "\n\n" else f"“{spec.delimiter}”"
            what = "of a list of texts" if spec.kind == "text" else "in one cell"
            facts.append(f"{what}, {mark} stands between two {'ids' if spec.kind == 'ids' else 'passages'}")
        yield _entry(name, "; ".join(facts))
    if named := [criterion for criterion in protocol.criteria if criterion.columns or criterion.model_columns]:
        yield _Block("###", "Columns of rating files")
        for criterion in named:
            facts = [f"also read from {listed(criterion.columns)}"] if criterion.columns else []
            facts += [f"{column} holds the ratings of {rater}" for column, rater in criterion.model_columns.items()]
            yield _entry(criterion.id, "; ".join(facts))
    if protocol.strata:
        yield _Block("###", "Breakdowns")
        for name in protocol.strata:
            spec = protocol.item.fields[name]
            yield _entry(name, "results by each of its values")
            for label, meaning in (spec.labels or {}).items() if not spec.shown else ():
                yield _entry(f"{name}: {label}", meaning.definition)
    if protocol.measures:
        yield _Block("###", "Measures")
        for measure in protocol.measures:
            yield _entry(measure.name, measure_in_words(protocol, measure))
    if protocol.targets:
        yield _Block("###", "Targets")
        for target in protocol.targets:
            part = "" if target.label is None else f"{target.label} "
            yield _entry(target.measure, f"{part}at least {target.at_least:g}")


def _entry(name: str, text: str) -> _Block:
    return _Block("entry", text, name)


def _markdown(block: _Block) -> list[str]:
    if block.kind == "paragraph":
        # One that begins like a list, a heading or a quotation is kept from becoming one.
        return [re.sub(r"^(\d+(?=[.)])|(?=[-+#>=]))", r"\1\\", _escaped(block.text))]
    if block.kind == "markdown":
        return block.text.splitlines()
    if block.kind == "entry":
        return [f"- **{_escaped(block.name)}**" + (f": {_escaped(block.text)}" if block.text else "")]
    if block.kind == "quote":
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
        return [f"**{_escaped(block.name)}**", "", f"{fence}text", *block.text.rstrip("\n").splitlines(), fence]
    return [f"{block.kind} {_escaped(block.text)}"]


def _escaped(text: str) -> str:
    """Plain text as one line of Markdown that shows just that text; a `_` inside a word is harmless and stays."""
    line = " ".join(text.split())
    return re.sub(r"[\\`*<\[\]&~|]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", line)


def _plain(block: _Block) -> list[str]:
    """The lines of a paragraph for a sheet, each paragraph or list entry in one, without Markdown's marks."""
    if block.kind == "paragraph":
        return [" ".join(block.text.split())]
    lines: list[str] = []
    within = False
    for line in map(str.strip, block.text.splitlines()):
        if within and line and not _BEGINS.match(line):
            lines[-1] += f" {line}"
        elif line:
            lines.append(re.sub(r"^[-*+]\s+", "• ", re.sub(r"^#+\s+", "", line)))
        within = bool(line) and not line.startswith("#")
    return [_MARKS.sub("", line) for line in lines]


_BEGINS = re.compile(r"([-*+]|\d+[.)]|#+)\s")
_MARKS = re.compile(r"\*\*|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
