"""`ai-detection(SPEC)`: a model that detects who wrote a text, as a rater of other detectors' predictions.

It sees the text alone, writes its own prediction with the generator `ai-detection`, and the verdict is whether the
prediction of the item is the same. `ai-detection(SPEC, LABEL, LABEL, …)` names the labels that it chooses from, such as
Human, AI and Hybrid.
"""

from collections.abc import Mapping, Sequence

from evenhand.errors import RaterFailure, UserError
from evenhand.generation.load import load_generator
from evenhand.generation.model import Generator
from evenhand.generation.prompt import PROMPT_FORMAT
from evenhand.generation.writer import Writer
from evenhand.protocol.completion import Judgement
from evenhand.raters.base import Rater, model_ref
from evenhand.raters.registry import RaterContext, model_within, specs_in
from evenhand.records import Answer, Item, Unit
from evenhand.scales import Nominal

VERDICT, TEXT, PREDICTION = "verdict", "text", "prediction"


def ai_detection(spec: str, name: str, context: RaterContext) -> Rater:
    """`ai-detection(SPEC, LABEL, …)`. Raises UserError if the protocol asks something else."""
    protocol = context.protocol
    criterion = protocol.by_id.get(VERDICT)
    labels = set(criterion.scale.values) if criterion else set[object]()
    if not {TEXT, PREDICTION} <= protocol.item.fields.keys() or labels != {"correct", "incorrect"}:
        raise UserError(
            f"{spec}: {protocol.name} does not ask whether a prediction of who wrote a text is correct; use it with "
            "the protocol ai-detection"
        )
    model, *labels = specs_in(spec) or [""]
    if not model:
        raise UserError(
            f"{spec!r}: name one language model, as in ai-detection(openai:MODEL), and perhaps the labels to choose "
            "from, as in ai-detection(openai:MODEL, Human, AI, Hybrid)"
        )
    generator = load_generator("ai-detection")
    generator = generator.offering(labels) if labels else generator
    return DetectorRater(name, spec, model_within("ai-detection", model, context), generator)


class DetectorRater(Rater):
    """Compares the predictions of items with those that a model makes from the text alone."""

    def __init__(self, name: str, spec: str, model: Rater, generator: Generator) -> None:
        self.chats = model.chats
        self._generator = generator
        self._writer = Writer(generator, model.chats[0])
        self.settings: Mapping[str, object] = {
            "spec": spec,
            "by": {"spec": model.chats[0].model},
            "generator_digest": generator.digest,
            "prompt": PROMPT_FORMAT,
        }
        self.ref = model_ref(name, self.settings)

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        return [await self._judgement(item, unit) for unit in units]

    async def _judgement(self, item: Item, unit: Unit) -> Judgement:
        labels = Nominal.model_construct(type="nominal", labels=self._generator.output[PREDICTION].labels or {})
        try:
            given = labels.read(item.fields.get(PREDICTION))
        except ValueError as error:
            return Judgement(unit, failure=RaterFailure(f"the item's prediction: {error}"))
        written = await self._writer.write(Item(item.id, {TEXT: item.fields[TEXT]}), {})
        if written.output is None:
            failure = written.failure or RaterFailure(f"declined: {written.declined}")
            return Judgement(unit, failure=failure, notes=written.attempts.text())
        own, reasons = str(written.output[PREDICTION]), str(written.output["reasons"])
        verdict = "correct" if own == given else "incorrect"
        reply = written.reply.id if written.reply else None
        return Judgement(unit, [Answer(VERDICT, verdict, rationale=f"{own}: {reasons}")], reply=reply)
