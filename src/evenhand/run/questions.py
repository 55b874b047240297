"""New questions for a study, made by a language model or without one: the units that people and models then share.

Items with a question that has a rating keep their questions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from evenhand.errors import InputError, Problem, RaterFailure, StudyError, UserError
from evenhand.formats.questions import Questions, in_place
from evenhand.protocol.model import Protocol
from evenhand.questeval.cloze import cloze
from evenhand.questeval.key_info import extractor, key_info
from evenhand.raters.base import RATER_DEFAULTS, RUN_DEFAULTS, Rater, RunOptions, model_ref
from evenhand.raters.quest_eval.question_maker import MAKING, QuestionMaker
from evenhand.raters.registry import RaterSource
from evenhand.records import Item, Unit, now
from evenhand.run.judge import MAKER, check_idle
from evenhand.run.progress import LOG, MOST_REASONS, Outcome, RaterCounters, Stopped
from evenhand.run.recorded_chat import SCOPE, CallScope, Recorder
from evenhand.run.worker import Worker, run_workers
from evenhand.store.items import Replaced
from evenhand.store.store import Store
from evenhand.store.work import Finished, RunSpec, Taken
from evenhand.text import counted, some_of
from evenhand.units import Question, split


@dataclass
class Making(Outcome):
    """The result: items with new questions, items passed over, and items that failed, with the reason."""

    location: str = ""
    maker: str = ""
    """How they were made, in words."""
    items: int = 0
    passed_over: int = 0
    failed: dict[str, str] = field(default_factory=dict[str, str])
    replaced: Replaced = field(default_factory=Replaced)

    @property
    def has_results(self) -> bool:
        """Whether questions were made for any item, or could not be made."""
        return bool(self.items or self.failed)

    @property
    def reason(self) -> str | None:
        """Why it ended early; None if it was completed."""
        if self.why is None:
            return None
        return f"{self.why_text}; the same command continues from here and pays for nothing twice"

    def __str__(self) -> str:
        questions = self.replaced.kept + self.replaced.changed + self.replaced.added
        made = f"{counted(questions, 'question')} for {counted(self.items, 'item')}"
        lines = [f"{self.location}: {made}, made {self.maker}"]
        if self.passed_over:
            keep = "item keeps its questions" if self.passed_over == 1 else "items keep their questions"
            lines.append(f"  {self.passed_over:,} {keep}, because they have ratings")
        for reason, number in self.total.failures.most_common(MOST_REASONS):
            lines.append(f"  failed {number:,}, unchanged: {reason}")
        if self.failed:
            lines.append(f"    items: {some_of(list(self.failed))}; the same command tries them again")
        return "\n".join([*lines, *self.total.usage_lines()])


def check_asks(store: Store) -> None:
    """Raise UserError if the protocol's unit is not a question."""
    protocol = store.protocol
    if protocol.rule.of != "question":
        raise UserError(
            f"{store.location}: the unit of {protocol.name} is {protocol.unit!r}; only a protocol whose unit is a "
            "question has questions"
        )


def cloze_questions(protocol: Protocol, item: Item) -> Sequence[Question]:
    """Questions without a model: sentences of the reference, each with a gap. What it leaves out is the answer."""
    field_name = protocol.rule.field
    text = item.fields.get(field_name, "") if field_name is not None else ""
    assert isinstance(text, str), "the protocol's check demands a text field"
    found = [(" ".join(info.text.split()), info) for info in key_info(text, protocol.language)]
    return [Question(cloze(text, info), answer, answer) for answer, info in found]


def replace_questions(store: Store, questions: Mapping[str, Sequence[Question]]) -> Replaced:
    """Replace the questions of the items named, all of them or none; see `Study.replace_questions`."""
    names = list(questions)
    present, fixed = store.items.units_of(names), store.items.rated_units(names)
    if unknown := [name for name in names if name not in present]:
        raise unknown_items(questions, unknown)
    return store.items.replace_units(
        (name, split(store.protocol, Item(name, {}), {name: in_place(wanted, present[name], fixed)}))
        for name, wanted in questions.items()
    )


def unknown_items(questions: Mapping[str, Sequence[Question]], names: Sequence[str]) -> InputError:
    """The error for questions whose item ids are not in the study."""
    source = questions.source if isinstance(questions, Questions) else "questions"
    what = f"there are questions for {counted(len(names), 'id')} that no item has: {some_of(names, 5)}"
    fix = "correct these ids, remove the entries, or add items with these ids"
    return InputError(source, [Problem(what, fix=fix)])


def make_clozes(store: Store) -> Making:
    """Make new questions for all items without a model, in one step. Raises UserError if a run is under way."""
    check_asks(store)
    check_idle(store)
    maker = f"without a model ({extractor(store.protocol.language)})"
    making = Making({"questions": RaterCounters("questions")}, location=store.location, maker=maker)
    made = {item.id: cloze_questions(store.protocol, item) for item in _open_items(store, making)}
    making.replaced = replace_questions(store, made)
    making.items = len(made)
    return making


def make_questions(
    store: Store, source: RaterSource, run: RunOptions = RUN_DEFAULTS, *, progress: bool = False
) -> Making:
    """Let a model make new questions. What was made stays, however the run ends; an item that failed keeps the
    questions it had. Raises UserError, with nothing asked, if a run is under way."""
    check_asks(store)
    check_idle(store)
    recorder = Recorder(store, run)
    (rater,) = recorder.raters([source], RATER_DEFAULTS)
    worker = _QuestionWorker(recorder, rater)
    run_workers(recorder, [worker], progress=progress)
    worker.making.why = recorder.stopped
    return worker.making


def _open_items(store: Store, making: Making) -> Iterator[Item]:
    """Items none of whose questions has a rating."""
    for item in store.items.all():
        if store.items.rated_units([item.id]):
            making.passed_over += 1
        else:
            yield item


_Made = tuple[str, Sequence[Question] | RaterFailure | None]
"""An item with its questions, or why there are none; None if the run ended before."""


class _QuestionWorker(Worker[_Made]):
    """Makes the questions of all open items with one model."""

    def __init__(self, recorder: Recorder, rater: Rater) -> None:
        super().__init__(recorder, rater)
        store, counters = recorder.store, self.counters
        self._maker = QuestionMaker(rater, store.protocol)
        counters.rater = f"{MAKER}{rater.ref.id})"
        settings = {**rater.settings, "making": MAKING}
        self.spec = RunSpec(model_ref(counters.rater, settings), settings)
        counters.to_do = store.items.count()
        self.making = Making({counters.rater: counters}, location=store.location, maker=f"by {rater.ref.id}")
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
                return item.id, await self._maker.make(item)
            except Stopped:
                return item.id, None
            except RaterFailure as failure:
                failed = failure
        return item.id, failed

    def finish(self, done: Sequence[_Made]) -> None:
        """Store the questions of each item on its own: one that is being rated meanwhile is left as it is."""
        making, counters, budget = self.making, self.counters, self._recorder.budget
        for item, found in done:
            reason = found.reason if isinstance(found, RaterFailure) else None
            if found is not None and not isinstance(found, RaterFailure):
                try:
                    making.replaced = making.replaced.plus(replace_questions(self._store, {item: found}))
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
