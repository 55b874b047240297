"""Let a model write the outputs of a generator. The work is a study of its own.

Its items are the input, its units the cells of each item, its raters the models that write, and a rating is an output
as JSON. So leases, stored replies, the cost limit, the dry run, failures and progress are those of every other run. An
output that a model declined to write has the status `cannot_assess` with the reason; rejected replies and dropped
entries are kept in the notes, by reason.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from evenhand.errors import UserError
from evenhand.formats.items import content_hash
from evenhand.formats.tables.triples import read_triples
from evenhand.generation.check import PROVENANCE
from evenhand.generation.filters import Embed, tf_idf
from evenhand.generation.model import OUTPUT, Cell, Generator, Output
from evenhand.generation.ontology import Ontology
from evenhand.generation.prompt import PROMPT_FORMAT
from evenhand.generation.writer import Attempts, Writer, Written, seed_of
from evenhand.llm.base import Chat
from evenhand.llm.endpoints import model_name
from evenhand.protocol.completion import Judgement
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol, field_text
from evenhand.raters.base import Rater, model_ref
from evenhand.raters.llm_judge.rater import LlmRater
from evenhand.raters.options import RATER_DEFAULTS
from evenhand.raters.registry import RaterContext, split_spec
from evenhand.records import Answer, FieldValue, Item, Rating, Status, Triple, Unit, unit_id
from evenhand.run.derivation import QuestionMaker
from evenhand.run.progress import Stopped
from evenhand.store.items import ItemUnits
from evenhand.store.store import Store, create_store, open_store
from evenhand.text import counted

NUMBER = "number"
"""Which output of its cell a unit is, counted from 1."""


@dataclass(frozen=True)
class GenerationPlan:
    """What is written, and how: the generator with its options, the cells, how many outputs each, and the sampling.

    `temperature`: None for 0, or for 1 if a cell has several outputs, which would otherwise be alike.
    """

    generator: Generator
    cells: Sequence[Cell]
    per_cell: int = 1
    ontology: Ontology | None = None
    embed: Embed = tf_idf
    embedding: str = "tf-idf"
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    @property
    def protocol(self) -> Protocol:
        """The protocol of the study that the work is."""
        return self.generator.protocol(*([self.ontology.digest] if self.ontology else []))

    def units(self, item: str) -> Sequence[Unit]:
        """The units of an item."""
        numbers = range(1, self.per_cell + 1)
        texts = [json.dumps({**cell, NUMBER: number}) for number in numbers for cell in self.cells]
        return [_unit(item, place, text) for place, text in enumerate(texts, start=1)]

    def settings(self, spec: str) -> Mapping[str, object]:
        """What the outputs of a model depend on."""
        default = 1.0 if self.per_cell > 1 else 0.0
        return {
            "spec": spec,
            "generator": self.generator.name,
            "generator_digest": self.generator.digest,
            "ontology": self.ontology.digest if self.ontology else None,
            "prompt": PROMPT_FORMAT,
            "temperature": default if self.temperature is None else self.temperature,
            "max_tokens": self.max_tokens or self.generator.max_tokens,
            "seed": self.seed,
            "similarity": self.embedding,
        }


def _unit(item: str, place: int, text: str) -> Unit:
    return Unit(unit_id(item, place, "question"), item, place, text)


class GeneratorRater(Rater):
    """A model that writes: its ratings are outputs. `earlier` are those that it wrote before from an item."""

    together = True

    def __init__(
        self, name: str, chat: Chat, plan: GenerationPlan, earlier: Callable[[str, str], Sequence[Output]]
    ) -> None:
        self.chats = (chat,)
        self.settings = plan.settings(chat.model)
        self.ref = model_ref(name, self.settings)
        self.reply_tokens = plan.generator.reply_tokens
        self._earlier = earlier
        bounded = chat.model.lower().startswith(("http:", "https:", "hf:"))
        sent = {key: self.settings[key] for key in ("temperature", "max_tokens", "seed")}
        generator = plan.generator
        self._writer = Writer(
            generator, chat, ontology=plan.ontology, bounded=bounded, embed=plan.embed, parameters=sent
        )
        self._maker: QuestionMaker | None = None
        if any(spec.kind == "questions" for spec in generator.output.values()):
            asked = load_protocol("rag-quest-eval").model_copy(update={"language": generator.language})
            answerer = LlmRater(name, chat, asked, RATER_DEFAULTS, bounded=bounded)
            self._maker = QuestionMaker(answerer, asked, generator)

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        """Write one unit after the other, so that each can differ from those before; if the run ends, what is done."""
        outputs, judgements = list(self._earlier(self.ref.id, item.id)), list[Judgement]()
        for unit in units:
            cell = cast("dict[str, str]", json.loads(unit.text or "{}"))
            number = int(cell.pop(NUMBER))
            try:
                made = self._maker.write(item) if self._maker else self._writer.write(item, cell, outputs, number)
                written = await made
            except Stopped:
                if not judgements:
                    raise
                break
            outputs += [] if written.output is None else [written.output]
            judgements.append(_judgement(unit, written))
        return judgements


def _judgement(unit: Unit, written: Written) -> Judgement:
    notes, reply = written.attempts.text(), written.reply
    seconds, name = (reply.seconds, reply.id) if reply else (None, None)
    if written.failure is not None:
        return Judgement(unit, failure=written.failure, seconds=seconds, reply=name, notes=notes)
    if written.declined is not None:
        return Judgement(unit, seconds=seconds, reply=name, beyond=written.declined, notes=notes)
    value = json.dumps(written.output, ensure_ascii=False)
    return Judgement(unit, [Answer(OUTPUT, value, notes=notes)], seconds=seconds, reply=name)


def open_work(location: str, plan: GenerationPlan, items: Iterable[Item]) -> Store:
    """The study that the work is kept in: a new one, or the one that is there, with new items and cells added.

    Raises UserError if it holds the work of another generator or of other options, or if an item has changed.
    """
    protocol = plan.protocol
    work = ((item, plan.units(item.id)) for item in items)
    if location == ":memory:" or not ("://" in location or Path(location).exists()):
        return create_store(location, protocol, "", work)
    store = open_store(location)
    try:
        if store.protocol.digest != protocol.digest:
            raise UserError(
                f"{store.location}: was made with a different {store.protocol.name} "
                f"{store.protocol.version.split()[0]} (its content, ontology or labels have changed since); keep it, "
                "and name another file with --work FILE or another output"
            )
        every = list(work)
        store.items.add(every)
        _add_units(store, every)
    except BaseException:
        store.close()
        raise
    return store


def _add_units(store: Store, work: Sequence[ItemUnits]) -> None:
    """Add cells that were not asked for before. Raises UserError if one that was is not wanted now."""
    present = store.items.units_of([item.id for item, _ in work])
    more = list[tuple[str, Sequence[Unit]]]()
    for item, wanted in work:
        before = [unit.text or "" for unit in present[item.id]]
        texts = [unit.text or "" for unit in wanted]
        gone = [text for text in before if text not in texts]
        if gone:
            raise UserError(
                f"{store.location}: was started with more cells or more outputs per cell, such as {gone[0]}; repeat "
                "the command with these, or name another file with --work FILE"
            )
        every = list(dict.fromkeys([*before, *texts]))
        if len(every) > len(before):
            more.append((item.id, [_unit(item.id, place, text) for place, text in enumerate(every, start=1)]))
    if more:
        store.items.replace_units(more)


def writing_model(store: Store, plan: GenerationPlan, model: str) -> Callable[[RaterContext], Rater]:
    """What builds the rater that a model is; `judge` lets it write what it has not written yet."""
    name, spec, _ = split_spec(model)

    def earlier(rater: str, item: str) -> Sequence[Output]:
        return [output_of(rating) for rating in store.ratings.all(rater=rater, item=item) if rating.value is not None]

    return lambda context: GeneratorRater(name, context.connect(spec), plan, earlier)


def output_of(rating: Rating) -> Output:
    """The output that a rating is."""
    return cast("Output", json.loads(str(rating.value)))


@dataclass
class GenerationCounts:
    """What became of the cells of all items so far: outputs, and by reason what was declined, failed, rejected and
    dropped. A rejected reply was requested again; a dropped entry is one triple or question of a list."""

    cells: int = 0
    outputs: int = 0
    declined: Counter[str] = field(default_factory=Counter[str])
    failed: Counter[str] = field(default_factory=Counter[str])
    rejected: Counter[str] = field(default_factory=Counter[str])
    dropped: Counter[str] = field(default_factory=Counter[str])

    @classmethod
    def of(cls, store: Store, rater: str) -> "GenerationCounts":
        """The counts of one model."""
        found = cls(cells=store.items.count_units())
        for rating in store.ratings.all(rater=rater):
            found.outputs += rating.status is Status.RATED
            if rating.status is Status.CANNOT_ASSESS:
                found.declined[rating.reason or ""] += 1
            elif rating.status is Status.FAILED:
                found.failed[rating.reason or ""] += 1
            attempts = Attempts.of(rating.notes)
            found.rejected += attempts.rejected
            found.dropped += attempts.dropped
        return found

    def lines(self) -> Iterator[str]:
        left = self.cells - self.outputs - self.declined.total() - self.failed.total()
        ended = f"{self.declined.total():,} declined, {self.failed.total():,} failed"
        yield f"{counted(self.outputs, 'output')}, {ended}, {left:,} left, of {counted(self.cells, 'cell')}"
        for name in ("declined", "failed", "rejected", "dropped"):
            for reason, count in getattr(self, name).most_common(10):
                yield f"  {name} {count:,}: {reason}"


Row = dict[str, object]


def generated_rows(store: Store, plan: GenerationPlan) -> Iterator[Row]:
    """Every output as a row of an items file: the input, the output, the cell, and where it comes from.

    The id does not reveal the model or the cell: people see it while they rate.
    """
    settings = {run.rater: run.settings for run in store.work.runs()}
    generator = plan.generator
    for item, units in store.items.work():
        by_unit = {unit.id: unit.text or "" for unit in units}
        for rating in store.ratings.all(item=item.id):
            if rating.value is None:
                continue
            cells = _output_cells(generator, output_of(rating))
            yield _row(generator, item, by_unit[rating.unit], rating.rater, cells, settings.get(rating.rater))


def blank_rows(plan: GenerationPlan, items: Iterable[Item], author: str) -> Iterator[Row]:
    """The rows that a person fills in: those of `generated_rows`, without outputs."""
    blank = dict.fromkeys(plan.generator.output)
    for item in items:
        for unit in plan.units(item.id):
            yield _row(plan.generator, item, unit.text or "", author, blank)


def _row(
    generator: Generator,
    item: Item,
    text: str,
    author: str,
    output: Mapping[str, object],
    settings: Mapping[str, object] | None = None,
) -> Row:
    """An output of the cell that a unit's text names; `settings` are those of the model, None for a person."""
    cell = cast("dict[str, str]", json.loads(text))
    number = int(cell.pop(NUMBER))
    seed = cast("int | None", (settings or {}).get("seed"))
    suffix = content_hash([item.id, generator.name, author, text], 5)
    return {
        "id": f"{item.id[:180]}-{suffix}",
        **{name: _cell_text(value) for name, value in item.fields.items()},
        **output,
        **cell,
        "input_id": item.id,
        "generated_by": author,
        "model": None if settings is None else model_name(str(settings["spec"])),
        "generator": generator.name,
        "generator_digest": generator.digest,
        "shot_count": None if settings is None else str(generator.shots_for(cell)),
        "seed": None if seed is None else str(seed_of(seed, number)),
        "settings": None if settings is None else json.dumps(settings, sort_keys=True),
    }


def row_columns(generator: Generator, fields: Sequence[str]) -> Sequence[str]:
    """The columns of the rows that a generator's outputs from items with these fields become."""
    return list(dict.fromkeys(["id", *fields, *generator.output, *generator.cells, *PROVENANCE]))


def _output_cells(generator: Generator, output: Output) -> Row:
    cells: Row = {}
    for name, spec in generator.output.items():
        value, entries = output[name], cast("Sequence[Mapping[str, str]]", output[name])
        if spec.kind == "claims":
            cells[name] = json.dumps([one["claim"] for one in entries], ensure_ascii=False)
        elif spec.kind == "triples":
            cells[name] = _cell_text(tuple(Triple(one["subject"], one["predicate"], one["object"]) for one in entries))
            if spec.quotes_from:
                cells["quotes"] = json.dumps([one["quote"] for one in entries], ensure_ascii=False)
        else:
            cells[name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cells


def _cell_text(value: FieldValue) -> object:
    """A field's value as a cell of a table: triples a line each if they are read back as they are, or a JSON list."""
    if not isinstance(value, tuple):
        return value
    text = field_text(value)
    with suppress(ValueError):
        if read_triples(text) == value or (text,) == value:
            return text
    return json.dumps(value, ensure_ascii=False)
