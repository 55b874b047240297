"""New questions for a study, made by a language model or without one: the units that people and models then share.

Items with a question that has a rating keep their questions.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from evenhand.errors import InputError, Problem, RaterFailure, StudyError, UserError
from evenhand.formats.questions import Questions, in_place
from evenhand.protocol.model import Protocol
from evenhand.questeval.cloze import cloze
from evenhand.questeval.key_info import key_info
from evenhand.raters.base import Rater
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RunOptions
from evenhand.raters.quest_eval.question_maker import MAKING, QuestionMaker
from evenhand.raters.registry import RaterSource
from evenhand.records import Item, Unit, new_id, now
from evenhand.run.budget import LocalBudget
from evenhand.run.counters import LOG, RaterCounters
from evenhand.run.judge import check_idle
from evenhand.run.recorded_chat import Stopped, StopReason, only_replies_since, paid_from
from evenhand.run.session import RunSession, Watch, gathered, places
from evenhand.store.items import NewUnits, Replaced
from evenhand.store.store import Store
from evenhand.store.work import Run, RunState
from evenhand.text import counted, some_of
from evenhand.units import Question, split

GROUP = 50
"""Items whose questions are stored together."""


@dataclass
class Making:
    """The result: items with new questions, items passed over, and items that failed, with the reason."""

    counters: RaterCounters
    items: int = 0
    passed_over: int = 0
    failed: dict[str, str] = field(default_factory=dict[str, str])
    units: Replaced = field(default_factory=Replaced)
    why: StopReason | None = None
    maker: str = ""
    """The id of the model that made them."""

    @property
    def questions(self) -> int:
        """How many questions these items have now."""
        return self.units.kept + self.units.changed + self.units.added


def check_asks(store: Store) -> None:
    """Raise UserError if the protocol's unit is not a question."""
    protocol = store.protocol
    if protocol.rule.of != "question":
        raise UserError(
            f"{store.location}: the unit of {protocol.name} is {protocol.unit!r}; only a protocol whose unit is a "
            "question has questions"
        )


def cloze_questions(protocol: Protocol, item: Item) -> Sequence[Question]:
    """Questions made from an item's reference without a model: its sentences, each with a gap.

    What the gap leaves out (a name, a number, a date or a phrase) is the reference's own answer.
    """
    field_name = protocol.rule.field
    text = item.fields.get(field_name, "") if field_name is not None else ""
    assert isinstance(text, str), "the protocol's check demands a text field"
    found = [(" ".join(info.text.split()), info) for info in key_info(text, protocol.language)]
    return [Question(cloze(text, info), answer, answer) for answer, info in found]


def replace_questions(store: Store, questions: Mapping[str, Sequence[Question]]) -> Replaced:
    """Replace the questions of the items named; other items keep theirs. All of them are replaced, or none.

    A question that has ratings must be among the new ones, unchanged, and keeps its position; the others follow in
    their order. Raises UserError with every rated question that is missing.
    """
    names = list(questions)
    present = store.items.units_of(names)
    if unknown := [name for name in names if name not in present]:
        raise unknown_items(questions, unknown)
    return store.items.replace_units(_new_units(store.protocol, questions, present, store.items.rated_units(names)))


def _new_units(
    protocol: Protocol,
    questions: Mapping[str, Sequence[Question]],
    present: Mapping[str, Sequence[Unit]],
    fixed: Set[str],
) -> Iterator[NewUnits]:
    for name, wanted in questions.items():
        placed = {name: in_place(wanted, present[name], fixed)}
        yield name, split(protocol, Item(name, {}), placed)


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
    making = Making(RaterCounters("questions"))
    made = {item.id: cloze_questions(store.protocol, item) for item in _open_items(store, making)}
    making.units = replace_questions(store, made)
    making.items = len(made)
    return making


def make_questions(
    store: Store, rater: RaterSource, run: RunOptions = RUN_DEFAULTS, *, watch: Watch | None = None
) -> Making:
    """Let a model make new questions. What was made stays, however the run ends; an item that failed keeps the
    questions it had. Raises UserError, with nothing asked, if a run is under way."""
    check_asks(store)
    check_idle(store)
    session = RunSession(store, run)
    maker = _MakerWorker(session, session.rater(rater, RATER_DEFAULTS))
    session.check_prices()
    state: RunState = "failed"
    try:
        state = session.run(maker.run, watch)
    finally:
        maker.end(state)
    maker.making.why = session.stop.reason
    return maker.making


def _open_items(store: Store, making: Making) -> Iterator[Item]:
    """Items none of whose questions has a rating."""
    for item in store.items.all():
        if store.items.rated_units([item.id]):
            making.passed_over += 1
        else:
            yield item


class _MakerWorker:
    """Makes the questions of all open items with one model."""

    def __init__(self, session: RunSession, rater: Rater) -> None:
        self._session = session
        self._target = session.store
        self._rater = rater
        self._maker = QuestionMaker(rater, session.store.protocol)
        counters = session.counters.raters[rater.ref.id]
        counters.rater = f"questions({rater.ref.id})"
        counters.to_do = session.store.items.count()
        self.making = Making(counters, maker=rater.ref.id)
        self._made: dict[str, Sequence[Question]] = {}
        self._began = now()

    async def run(self) -> None:
        """Several items at the same time, as many as keep every place for calls taken."""
        items = _open_items(self._target, self.making)
        try:
            with paid_from(LocalBudget(self._session.options.max_cost)):
                await gathered([self._work(items) for _ in range(places(self._rater))])
        finally:
            self._store()

    def end(self, state: RunState) -> None:
        counters = self.making.counters
        if counters.replies or counters.units:
            settings = {**self._rater.settings, "making": MAKING}
            run = Run(new_id(), counters.rater, self._began, now(), state, settings, counters.counts())
            self._target.work.save_run(run)

    async def _work(self, items: Iterator[Item]) -> None:
        while not self._session.stop.requested:
            item = next(items, None)
            if item is None:
                return
            try:
                self._made[item.id] = await self._make(item)
            except Stopped:
                return
            except RaterFailure as failure:
                self._fail(item.id, failure.reason)
            self.making.counters.units += 1
            if len(self._made) >= GROUP:
                self._store()

    async def _make(self, item: Item) -> Sequence[Question]:
        try:
            return await self._maker.make(item)
        except RaterFailure:
            # Unusable replies of an earlier run are requested again, once; those of this run come back as they were.
            with only_replies_since(self._began):
                return await self._maker.make(item)

    def _store(self) -> None:
        made, self._made = self._made, {}
        try:
            self._keep(made)
        except StudyError:
            # Some items are being rated meanwhile: only those are left as they are.
            for item, questions in made.items():
                try:
                    self._keep({item: questions})
                except StudyError as error:
                    self._fail(item, str(error))

    def _keep(self, made: Mapping[str, Sequence[Question]]) -> None:
        if made:
            self.making.units = self.making.units.plus(replace_questions(self._target, made))
            self.making.items += len(made)

    def _fail(self, item: str, reason: str) -> None:
        self.making.failed[item] = reason
        self.making.counters.failed_units += 1
        self.making.counters.failures[reason] += 1
        LOG.warning("%s: item %s failed: %s", self.making.counters.rater, item, reason)
