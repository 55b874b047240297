"""New questions or claims for a study, made by a language model or without one: the units that people and models share.

Items with a question or claim that has a rating keep theirs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

from evenhand.errors import InputError, Problem, RaterFailure, StudyError, UserError
from evenhand.formats.derived_units import DerivedUnits, in_place
from evenhand.generation.load import load_generator
from evenhand.generation.model import Generator
from evenhand.generation.writer import Writer, Written
from evenhand.llm.base import Chat
from evenhand.protocol.model import Protocol
from evenhand.questeval.cloze import cloze
from evenhand.questeval.key_info import extractor, key_info
from evenhand.raters.base import Rater, model_ref
from evenhand.raters.ensemble import all_of
from evenhand.raters.llm_judge.parse import Reason
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RunOptions
from evenhand.raters.quest_eval.quest_eval_rater import answer_criterion, rated_fields
from evenhand.raters.registry import RaterSource
from evenhand.raters.verifier.support_labels import question_field
from evenhand.records import Item, Span, Unit, now, unit_id
from evenhand.run.judge import check_idle
from evenhand.run.progress import LOG, MOST_REASONS, Outcome, RaterCounters, Stopped
from evenhand.run.recorded_chat import SCOPE, CallScope, Recorder
from evenhand.run.worker import Worker, run_workers
from evenhand.store.items import Replaced
from evenhand.store.store import Store
from evenhand.store.work import Finished, RunSpec, Taken
from evenhand.text import counted, some_of
from evenhand.units import Claim, Derived, Question, split
from evenhand.verify.claims import claims

CLAIMS = "sentences and clauses 1"
"""What makes claims without a model, with its version."""


@dataclass
class Making(Outcome):
    """The result: items with new units, items passed over, and items that failed, with the reason."""

    location: str = ""
    noun: str = ""
    maker: str = ""
    """How they were made, in words."""
    items: int = 0
    passed_over: int = 0
    failed: dict[str, str] = field(default_factory=dict[str, str])
    replaced: Replaced = field(default_factory=Replaced)

    @property
    def has_results(self) -> bool:
        """Whether units were made for any item, or could not be made."""
        return bool(self.items or self.failed)

    def __str__(self) -> str:
        units = self.replaced.kept + self.replaced.changed + self.replaced.added
        made = f"{counted(units, self.noun)} for {counted(self.items, 'item')}"
        lines = [f"{self.location}: {made}, made {self.maker}"]
        if self.passed_over:
            keep = f"item keeps its {self.noun}s" if self.passed_over == 1 else f"items keep their {self.noun}s"
            lines.append(f"  {self.passed_over:,} {keep}, because they have ratings")
        for reason, number in self.total.failures.most_common(MOST_REASONS):
            lines.append(f"  failed {number:,}, unchanged: {reason}")
        if self.failed:
            lines.append(f"    items: {some_of(list(self.failed))}; the same command tries them again")
        return "\n".join([*lines, *self.total.usage_lines()])


def derived_units(protocol: Protocol, item: Item) -> Sequence[Question | Claim]:
    """Questions or claims without a model: sentences of the reference, each with a gap, what it leaves out being the
    answer; or the sentences and clauses that claim something."""
    texts = {name: item.fields.get(name, "") for name in protocol.rule.fields}
    return [one for name, text in texts.items() for one in _derived(protocol, name, str(text))]


def _derived(protocol: Protocol, name: str, text: str) -> Iterator[Question | Claim]:
    if protocol.rule.of == "claim":
        for start, end in claims(text, protocol.language):
            yield Claim(text[start:end], name, Span(name, start, end))
        return
    for info in key_info(text, protocol.language):
        answer = " ".join(info.text.split())
        yield Question(cloze(text, info), answer, answer)


def derivation(protocol: Protocol) -> str:
    """What makes questions or claims without a model, with its version."""
    return CLAIMS if protocol.rule.of == "claim" else extractor(protocol.language)


def replace_derived(store: Store, derived: Derived) -> Replaced:
    """Replace the questions or claims of the items named, all of them or none; see `Study.replace_questions`."""
    names = list(derived)
    present, fixed = store.items.units_of(names), store.items.rated_units(names)
    items = store.items.find_many(names)
    check_derived(store.protocol, items, derived)
    return store.items.replace_units(
        (name, split(store.protocol, items[name], {name: in_place(wanted, present[name], fixed)}))
        for name, wanted in derived.items()
    )


def check_derived(protocol: Protocol, items: Mapping[str, Item], derived: Derived) -> None:
    """Raise InputError if questions or claims do not fit: with every id that no item has, and every field that an item
    with claims of it lacks."""
    noun, problems = protocol.rule.of, list[Problem]()
    if unknown := [name for name in derived if name not in items]:
        what = f"there are {noun}s for {counted(len(unknown), 'id')} that no item has: {some_of(unknown, 5)}"
        problems.append(Problem(what, fix="correct these ids, remove the entries, or add items with these ids"))
    for name, item in items.items():
        if any(isinstance(one, Claim) != (noun == "claim") for one in derived.get(name, ())):
            problems.append(Problem(f"not {noun}s, which the unit of {protocol.name} demands", key=f"item {name!r}"))
        for source in dict.fromkeys(one.field for one in derived.get(name, ()) if isinstance(one, Claim)):
            if source not in item.fields or source not in protocol.rule.fields:
                what = f"the item has no {source}, and so no claim of it"
                problems.append(Problem(what, key=f"item {name!r}", fix="remove these claims"))
    if problems:
        raise InputError(derived.source if isinstance(derived, DerivedUnits) else f"{noun}s", problems)


def derive_offline(store: Store) -> Making:
    """Make new questions or claims for all items without a model, in one step. Raises UserError during a run."""
    check_idle(store)
    noun, maker = store.protocol.rule.of, f"without a model ({derivation(store.protocol)})"
    making = Making({f"{noun}s": RaterCounters(f"{noun}s")}, location=store.location, noun=noun, maker=maker)
    made = {item.id: derived_units(store.protocol, item) for item in _open_items(store, making)}
    making.replaced = replace_derived(store, made)
    making.items = len(made)
    return making


def derive(store: Store, source: RaterSource, run: RunOptions = RUN_DEFAULTS, *, progress: bool = False) -> Making:
    """Let a model make new questions or claims. What was made stays, however the run ends; an item that failed keeps
    those it had. Raises UserError, with nothing asked, if a run is under way."""
    check_idle(store)
    recorder = Recorder(store, run)
    (rater,) = recorder.raters([source], RATER_DEFAULTS)
    worker = _DerivationWorker(recorder, rater)
    run_workers(recorder, [worker], progress=progress)
    worker.making.ended = recorder.stopped
    return worker.making


def _open_items(store: Store, making: Making) -> Iterator[Item]:
    """Items none of whose units has a rating."""
    for item in store.items.all():
        if store.items.rated_units([item.id]):
            making.passed_over += 1
        else:
            yield item


_Made = tuple[str, Sequence[Question | Claim] | RaterFailure | None]
"""An item with its units, or why there are none; None if the run ended before."""


class _DerivationWorker(Worker[_Made]):
    """Makes the questions or claims of all open items with one model."""

    def __init__(self, recorder: Recorder, rater: Rater) -> None:
        super().__init__(recorder, rater)
        store, counters = recorder.store, self.counters
        noun = store.protocol.rule.of
        self._maker = (ClaimMaker if noun == "claim" else QuestionMaker)(rater, store.protocol)
        counters.rater = f"{noun}s({rater.ref.id})"
        settings = {**rater.settings, "making": self._maker.generator.digest}
        self.spec = RunSpec(model_ref(counters.rater, settings), settings)
        counters.to_do = store.items.count()
        maker = f"by {rater.ref.id}"
        self.making = Making({counters.rater: counters}, location=store.location, noun=noun, maker=maker)
        self._items = _open_items(store, self.making)
        self._began = now()

    def take(self, n: int) -> Taken:
        items = list(islice(self._items, n))
        free = self._store.work.lease(*self.names, [item.id for item in items])
        return Taken([(item, ()) for item in items if item.id in free], "more" if items else "none")

    async def work(self, item: Item, units: Sequence[Unit]) -> _Made:
        failed = RaterFailure("")
        # Unusable replies of an earlier run are requested again, once; those of this run come back as they were.
        for since in (None, self._began):
            SCOPE.set(CallScope((*self.names, item.id), since))
            try:
                made = await self._maker.make(item)
                self.counters.finished += 1
                return item.id, made
            except Stopped:
                return item.id, None
            except RaterFailure as failure:
                failed = failure
        self.counters.finished += 1
        return item.id, failed

    def finish(self, done: Sequence[_Made]) -> None:
        """Store the units of each item on its own: one that is being rated meanwhile is left as it is."""
        making, counters, budget = self.making, self.counters, self._recorder.budget
        for item, found in done:
            reason = found.reason if isinstance(found, RaterFailure) else None
            if found is not None and not isinstance(found, RaterFailure):
                try:
                    making.replaced = making.replaced.plus(replace_derived(self._store, {item: found}))
                    making.items += 1
                except StudyError as error:
                    reason = str(error)
            if reason is not None:
                making.failed[item] = reason
                counters.failed_units += 1
                counters.failures[reason] += 1
                LOG.warning("%s: item %s failed: %s", counters.rater, item, reason)
            counters.units += found is not None
        finished = [Finished(item, (), budget.finish((*self.names, item))) for item, _ in done]
        self._store.work.finish(*self.names, finished)


def _model_of(rater: Rater, noun: str) -> Chat:
    """The one model that a rater consists of."""
    if len(rater.chats) != 1:
        raise UserError(
            f"{rater.ref.id!r} cannot make {noun}: name one language model, such as openai:MODEL or "
            "http://HOST:PORT/v1#MODEL, or leave --rater out to make them without a model"
        )
    return rater.chats[0]


class ClaimMaker:
    """Lets one model extract the claims of an item, field by field; the item's question makes short answers clear."""

    def __init__(self, rater: Rater, protocol: Protocol) -> None:
        self.generator = load_generator("claims").model_copy(update={"language": protocol.language})
        self._writer = Writer(self.generator, _model_of(rater, "claims"))
        self._protocol = protocol
        self._question = question_field(protocol)

    async def make(self, item: Item) -> Sequence[Claim]:
        """The claims of an item. Raises RaterFailure if the model gave none that can be used."""
        names = [name for name in self._protocol.rule.fields if str(item.fields.get(name, "")).strip()]
        found = await all_of(self._claims(item, name) for name in names)
        return [claim for claims in found for claim in claims]

    async def _claims(self, item: Item, name: str) -> Sequence[Claim]:
        fields = {"text": item.fields[name]}
        if self._question is not None and self._question in item.fields:
            fields["question"] = item.fields[self._question]
        written = await self._writer.write(Item(item.id, fields), {})
        if written.failure is not None:
            raise RaterFailure(f"the claims of {name}: {written.failure.reason}", written.failure.raw)
        entries = cast("Sequence[Mapping[str, str]]", (written.output or {}).get("claims", ()))
        return [Claim(entry["claim"], name) for entry in entries]


class QuestionMaker:
    """Lets one model make questions and answer them from the reference.

    First the model is asked for the key information and a question for each. Then it answers each question from the
    reference just as it would from a generated text, without seeing what it wanted to hear: what the reference does not
    answer shows here, as `<Unanswerable>`.
    """

    def __init__(self, rater: Rater, protocol: Protocol, generator: Generator | None = None) -> None:
        self.generator = generator or load_generator("quest-eval-questions")
        self._rater = rater
        self._protocol = protocol
        self._writer = Writer(self.generator, _model_of(rater, "questions"))
        self._criterion = answer_criterion(protocol)

    async def make(self, item: Item) -> Sequence[Question]:
        """The questions of an item. Raises RaterFailure if the model gave none that can be used."""
        if not self._reference(item).strip():
            return ()
        written = await self.write(item)
        if written.failure is not None:
            raise written.failure
        entries = cast("Sequence[Mapping[str, str]]", (written.output or {}).get("questions", ()))
        return [Question(one["question"], one["answer"], one["key_info"]) for one in entries]

    async def write(self, item: Item) -> Written:
        """The questions of an item with the reference's answers, as an output of the generator."""
        written = await self._writer.write(Item(item.id, {"reference": self._reference(item)}), {})
        if written.output is None:
            return written
        entries = cast("Sequence[Mapping[str, str]]", written.output["questions"])
        asked = (self._answer(item, place, one["question"]) for place, one in enumerate(entries, start=1))
        try:
            answers = await all_of(asked)
        except RaterFailure as failure:
            return Written(written.attempts, failure=failure, reply=written.reply)
        found = [{**entry, "answer": answer} for entry, answer in zip(entries, answers, strict=True)]
        written.output = {"questions": found}
        return written

    def _reference(self, item: Item) -> str:
        (name,) = self._protocol.rule.fields
        return str(item.fields.get(name, ""))

    async def _answer(self, item: Item, place: int, question: str) -> str:
        """The reference's answer: the model answers as it would from a generated text."""
        unit = Unit(unit_id(item.id, place, "question"), item.id, place, question)
        as_rated = Item(item.id, {rated_fields(self._protocol)[0]: self._reference(item)})
        (judgement,) = await self._rater.rate_units(as_rated, [unit])
        if judgement.failure is not None:
            raise RaterFailure(f"the reference's answer: {judgement.failure.reason}", judgement.failure.raw)
        for answer in judgement.answers:
            if answer.criterion == self._criterion.id:
                return str(self._criterion.scale.read(answer.value))
        raise RaterFailure(f"the reference's answer: {Reason.NO_ANSWER.format(criterion=self._criterion.id)}")
