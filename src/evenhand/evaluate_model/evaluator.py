"""`EvaluateModel`: a data frame and a model, from prompts to ratings and scores. A thin layer over `Study`."""

import re
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import narwhals as nw
import numpy as np
from narwhals.typing import IntoFrame

from evenhand.analysis.measures import mean_within
from evenhand.errors import StudyError, UserError
from evenhand.evaluate_model.classification import Classification, classify
from evenhand.evaluate_model.gen_ai import GenAiSource, ModelType, gen_ai_template, protocol_of, write_gen_ai
from evenhand.evaluate_model.text_scores import TextScores, score_texts
from evenhand.formats.items import ItemSource, cell_reader, items_from_frame
from evenhand.formats.tables.cells import text_of
from evenhand.formats.tables.columns import WantedColumn, match_columns
from evenhand.formats.tables.table import eager_frame, frame_table
from evenhand.llm.base import Chat, RunError
from evenhand.llm.hugging_face.chat import HuggingFaceChat
from evenhand.llm.hugging_face.model import LoadedModel
from evenhand.overlap import Encoder
from evenhand.protocol.model import ClassificationMeasure, Criterion, FieldSpec, Protocol
from evenhand.raters.llm_judge.prompt import PromptCase, Prompts
from evenhand.raters.llm_judge.rater import LlmRater
from evenhand.raters.options import RaterOptions, RunOptions
from evenhand.raters.registry import RaterSource
from evenhand.records import FieldValue, Item, Rating, Status, Value
from evenhand.report.numbers import described
from evenhand.run.judge import judge
from evenhand.scales import Nominal, Ordinal, Text
from evenhand.statistics import Estimate
from evenhand.study import Study
from evenhand.text import counted
from evenhand.units import split

REFERENCE = WantedColumn(
    "reference",
    ("reference_text", "reference_texts", "reference_feedback", "references", "target", "gold", "gold_feedback",
     "ground_truth", "human_feedback", "expert_feedback"),
    required=True,
    option="reference='COLUMN'",
)  # fmt: skip
"""The column of reference texts, by the names it usually has."""

_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One model's ratings, a mapping for each row of the dataset, in its order.

    A row has `row` (from 1) and `item`; `ratings` and `rationales` by criterion; criteria in free text, such as
    `improvements`, under their own names; `overall` where a criterion sums the others up; `confidence` and `notes`;
    and `failures`, the reason for each criterion that has no rating because the model gave none that could be used. A
    failure is in no mean. A row that was not reached has no ratings and no failures.
    """

    rater: str
    protocol: Protocol
    rows: Sequence[Mapping[str, Any]]

    @property
    def means(self) -> Mapping[str, Estimate]:
        """The mean of each criterion with levels."""
        return {
            one.id: mean_within(
                np.array(self._values(one), np.float64), None, one.scale.values[0], one.scale.values[-1]
            )
            for one in self.protocol.criteria
            if isinstance(one.scale, Ordinal)
        }

    @property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """How often each label was given, for criteria with labels."""
        return {
            one.id: {label: self._values(one).count(label) for label in scale.values}
            for one in self.protocol.criteria
            if isinstance(scale := one.scale, Nominal)
        }

    @property
    def failures(self) -> Mapping[str, int]:
        """Rows that failed, by reason."""
        return dict(Counter(why for row in self.rows for why in set(row["failures"].values())).most_common())

    def _values(self, criterion: Criterion) -> Sequence[Value]:
        return [row["ratings"][criterion.id] for row in self.rows if criterion.id in row["ratings"]]

    @property
    def rated(self) -> int:
        """Rows with a rating on every criterion that must have one."""
        return sum(bool(row["ratings"]) and not row["failures"] for row in self.rows)

    def columns(self) -> dict[str, list[object]]:
        """The rows as flat columns: `CRITERION`, `CRITERION_rationale`, and `failure` with all reasons of a row."""
        flat: dict[str, list[object]] = {name: [row[name] for row in self.rows] for name in ("row", "item")}
        for criterion in self.protocol.criteria:
            name = criterion.id
            if isinstance(criterion.scale, Text):
                flat[name] = [row[name] for row in self.rows]
                continue
            flat[name] = [row["ratings"].get(name) for row in self.rows]
            flat[f"{name}_rationale"] = [row["rationales"].get(name) for row in self.rows]
        flat |= {name: [row[name] for row in self.rows] for name in ("confidence", "notes")}
        flat["failure"] = ["; ".join(dict.fromkeys(row["failures"].values())) or None for row in self.rows]
        return flat

    def __str__(self) -> str:
        lines = [f"{self.protocol.name}, rated by {self.rater}: {self.rated:,} of {counted(len(self.rows), 'row')}"]
        width = max(map(len, [*self.means, *self.counts]), default=0)
        lines += [f"  {name:<{width}}  {described(mean, 'score')}" for name, mean in self.means.items()]
        for name, labels in self.counts.items():
            given = ", ".join(f"{label} {count:,}" for label, count in labels.items())
            lines.append(f"  {name:<{width}}  {given}, n {sum(labels.values()):,}")
        if self.failures:
            failed = sum(bool(row["failures"]) for row in self.rows)
            lines.append(f"failed, in no figure above: {counted(failed, 'row')}")
            lines += [f"  {reason}: {counted(count, 'row')}" for reason, count in self.failures.items()]
        return "\n".join(lines)


class EvaluateModel:
    """Evaluate generated feedback or AI detection, row by row of a pandas or Polars frame.

    Args:
        dataset: the frame.
        model_type: `feedback_generation` or `ai_detection`.
        model: the rater: a loaded Hugging Face model with its `tokenizer`, a rater spec such as `openai:MODEL`,
            `http://127.0.0.1:8080/v1#MODEL` or `hf:FOLDER`, or None for prompts and scores only.
        tokenizer: that of a loaded model.
        device: `automap` (or `auto`), `cpu`, `cuda`, `cuda:0`, `mps`.
        gen_ai: a file or a mapping with the elements of the prompt; by default those of the built-in protocol.
        mapping: the columns of fields whose name or alias the frame does not have.
        id_column: the column with the ids; by default ids are made from the content.
        study: where ratings are stored, so that a stopped evaluation can continue; by default they last as long as
            this object.
        options: how the model is asked.
    """

    def __init__(
        self,
        *,
        dataset: IntoFrame,
        model_type: ModelType,
        model: object | str | None = None,
        tokenizer: object | None = None,
        device: str = "automap",
        gen_ai: GenAiSource | None = None,
        mapping: Mapping[str, str] | None = None,
        id_column: str | None = None,
        study: str | Path | None = None,
        options: RaterOptions | None = None,
    ) -> None:
        self.model_type: ModelType = model_type
        self.protocol = protocol_of(model_type, gen_ai)
        self.device = "auto" if device == "automap" else device
        if not _DEVICE.fullmatch(self.device):
            valid = "automap, auto, cpu, cuda, cuda:0, cuda:1, …, mps"
            raise UserError(f"device: {device!r} is unknown; valid are {valid}")
        self.dataset_prompt: list[str] = []
        """The prompts, one for each row, once `construct_data_message` has made them."""
        self._frame = eager_frame(dataset)
        self._mapping, self._id_column = dict(mapping or {}), id_column
        self._model, self._tokenizer = model, tokenizer
        self._options = options or RaterOptions()
        self._location = study
        self._evaluation: Evaluation | None = None

    gen_ai_template = staticmethod(gen_ai_template)
    write_gen_ai = staticmethod(write_gen_ai)

    def construct_data_message(self) -> list[str]:
        """Make `dataset_prompt`: the whole prompt of each row, in row order, to send to any model yourself."""
        prompts = Prompts(self.protocol)
        cases = (PromptCase.of(self.protocol, item, split(self.protocol, item)) for item in self._items)
        self.dataset_prompt = list(map(prompts.text, cases))
        return self.dataset_prompt

    def model_based_evaluation(
        self, *, limit: int | None = None, again: bool = False, max_cost: float | None = None, price: str | None = None
    ) -> Evaluation:
        """Let the model rate the rows that it has not rated yet; print the result and return it.

        A reply that cannot be used is a failure with its reason, never a score.

        Args:
            limit: the largest number of rows to rate this time.
            again: try rows that failed again.
            max_cost: a cap in dollars.
            price: dollars per million tokens read and written, as "0.4/1.6", if the published price is not yours.
        """
        if self._model is None:
            raise UserError("model: there is none to rate with; give model=…, or use construct_data_message() alone")
        source = _rater_source(self._model, self._tokenizer, self.device)
        run = RunOptions(limit, again, max_cost, [price] if price else [], device=self.device)
        study = self._open_study()
        try:
            outcome = judge(study.store, [source], self._options, run)
            (rater,) = outcome.counters
            by_item: dict[str, dict[str, Rating]] = {}
            for rating in study.ratings(rater=rater):
                by_item.setdefault(rating.unit, {})[rating.criterion] = rating
            rows = [_row(self.protocol, n, item.id, by_item.get(item.id, {})) for n, item in enumerate(self._items, 1)]
            self._evaluation = Evaluation(rater, self.protocol, rows)
        finally:
            if self._location is not None:
                study.close()
        if isinstance(outcome.why, KeyboardInterrupt):
            raise outcome.why
        if isinstance(outcome.why, RunError):
            raise UserError(f"{rater}: {outcome.why}") from outcome.why
        print(self._evaluation if outcome.why is None else f"{self._evaluation}\nstopped early: {outcome.why}")
        return self._evaluation

    @property
    def results(self) -> list[dict[str, Any]]:
        """The model's answers on each row, as in `Evaluation.rows`."""
        return [dict(row) for row in self._evaluated.rows]

    def to_frame(self) -> Any:
        """The results as a frame of the library that the dataset came from, a row for each of its rows."""
        made = nw.from_dict(self._evaluated.columns(), backend=self._frame.implementation)
        # pandas would turn whole numbers with gaps into floats; its own nullable types keep them.
        return nw.maybe_convert_dtypes(made).to_native()

    def evaluate_classification_model(self) -> Classification:
        """Accuracy, precision, recall, F1 and confusion of the column `prediction` against `label`, over all rows.

        Needs no model. Rows without one of the two are counted and left out.
        """
        fields = next((spec for spec in self.protocol.measures if isinstance(spec, ClassificationMeasure)), None)
        if fields is None:
            raise UserError(f"{self.model_type} has no labels to predict; use model_type='ai_detection'")
        truth, prediction = self._texts((self._field(fields.truth), self._field(fields.prediction)), {})
        return classify(self.protocol, _single(truth), _single(prediction))

    def evaluate_generative_model(
        self,
        *,
        generated: str | None = None,
        reference: str | None = None,
        encoder: object | str | Path | None = None,
        encoder_tokenizer: object | None = None,
        layer: int | None = None,
        language: str | None = None,
    ) -> TextScores:
        """BLEU and ROUGE-1, -2 and -L of the generated texts against references, over all rows; needs no model.

        Args:
            generated: the column of generated texts, if its name does not tell.
            reference: the column of references, if its name does not tell.
            encoder: adds BERTScore: a folder, a name on the hub, or a loaded encoder with `encoder_tokenizer`.
            encoder_tokenizer: that of a loaded encoder.
            layer: the hidden layer to read; by default the last.
            language: that of the texts; by default the protocol's.
        """
        rated = next(name for name, spec in self.protocol.item.fields.items() if spec.role == "rated")
        if self.model_type != "feedback_generation":
            raise UserError(f"{self.model_type} has no generated texts; use model_type='feedback_generation'")
        given = {name: column for name, column in ((rated, generated), (REFERENCE.name, reference)) if column}
        texts, references = self._texts((self._field(rated), REFERENCE), given)
        reader = None if encoder is None else Encoder.of(encoder, encoder_tokenizer, layer, self.device)
        return score_texts(_single(texts), references, language or self.protocol.language, reader)

    def _field(self, name: str) -> WantedColumn:
        aliases = self.protocol.item.fields[name].aliases
        return WantedColumn(name, aliases, required=True, option=f"mapping={{'{name}': 'COLUMN'}}")

    @cached_property
    def _items(self) -> Sequence[Item]:
        frame = self._frame.to_native()
        return list(items_from_frame(frame, self.protocol, mapping=self._mapping, id_column=self._id_column))

    def _texts(
        self, wanted: tuple[WantedColumn, WantedColumn], given: Mapping[str, str]
    ) -> tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]:
        """Two columns as texts without outer space, none for a blank cell; only references may be several in a cell."""
        table, names = frame_table(self._frame), [want.name for want in wanted]
        named = {name: column for name, column in self._mapping.items() if name in names} | dict(given)
        places = match_columns(table.source, table.columns, wanted, named)
        # No cell has to be filled here, unlike those of items.
        several = cell_reader(FieldSpec(role="reference", kind="passages"))
        kinds = [(name, several if name == REFERENCE.name else text_of) for name in names]
        readers = [(name, places[name], read, read is text_of, False) for name, read in kinds]
        columns = {name: table.columns[places[name]] for name in names}
        rows = [row.fields for row in ItemSource(table.source, columns, (), table, readers, None)]
        first, second = ([_stripped(row.get(name)) for row in rows] for name in names)
        return first, second

    @cached_property
    def _temporary_study(self) -> Study:
        study = Study.create(":memory:", self.protocol, self._items)
        weakref.finalize(self, study.close)
        return study

    def _open_study(self) -> Study:
        """The study at the location, created if there is none. One with another protocol or items is rejected."""
        if self._location is None:
            return self._temporary_study
        try:
            study = Study.open(self._location)
        except StudyError:
            if Path(self._location).exists():
                raise
            return Study.create(self._location, self.protocol, self._items)
        wrong = None
        if study.protocol.digest != self.protocol.digest:
            wrong = f"it has another protocol, {study.protocol.name} {study.protocol.digest[:12]}"
        elif [item.id for item in study.items()] != [item.id for item in self._items]:
            wrong = "its items are not those of this dataset"
        if wrong:
            study.close()
            raise StudyError(f"{self._location}: this study cannot be continued: {wrong}; choose another name")
        return study

    @property
    def _evaluated(self) -> Evaluation:
        if self._evaluation is None:
            raise UserError("there are no results yet; call model_based_evaluation() first")
        return self._evaluation


def _stripped(value: FieldValue | None) -> Sequence[str]:
    texts = value if isinstance(value, tuple) else () if value is None else (value,)
    return [str(text).strip() for text in texts]


def _single(texts: Sequence[Sequence[str]]) -> Sequence[str | None]:
    return [found[0] if found else None for found in texts]


def _row(protocol: Protocol, place: int, item: str, given: Mapping[str, Rating]) -> dict[str, Any]:
    row: dict[str, Any] = {"row": place, "item": item, "ratings": {}, "rationales": {}}
    for criterion in protocol.criteria:
        rating = given.get(criterion.id)
        value = None if rating is None else rating.value
        if isinstance(criterion.scale, Text):
            row[criterion.id] = value
        elif value is not None and rating is not None:
            row["ratings"][criterion.id] = value
            row["rationales"][criterion.id] = rating.rationale
        if criterion.overall:
            row["overall"] = value
    lead = given.get(protocol.lead.id)
    row["confidence"] = None if lead is None else lead.confidence
    row["notes"] = None if lead is None else lead.notes
    failed = {name: rating.reason for name, rating in given.items() if rating.status is Status.FAILED}
    return {**row, "failures": failed}


def _rater_source(model: object, tokenizer: object | None, device: str) -> RaterSource:
    """The rater for a rater spec, a chat, or a Hugging Face model with its tokenizer."""
    if isinstance(model, str):
        if tokenizer is not None:
            raise UserError("tokenizer: it goes with a loaded model; leave it out if the model is given by name")
        return model
    loaded = tokenizer is not None
    if not loaded and not (hasattr(model, "complete") and hasattr(model, "pace")):
        raise UserError(
            f"model: a {type(model).__name__} needs its tokenizer; give tokenizer=…, or as model a rater "
            "spec such as 'openai:MODEL', 'http://127.0.0.1:8080/v1#MODEL' or 'hf:FOLDER'"
        )
    hugging_face = HuggingFaceChat(LoadedModel.of(model, tokenizer, device=device)) if loaded else None
    chat = hugging_face or cast("Chat", model)
    return lambda context: LlmRater(
        chat.model, context.connect(chat), context.protocol, context.options, bounded=loaded
    )
