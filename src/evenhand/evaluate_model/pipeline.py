"""`EvaluateModel`: a data frame and a model, from prompts to ratings and scores."""

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from narwhals.typing import IntoFrame

from evenhand.errors import UserError
from evenhand.evaluate_model.bert_score import Encoder, bert_scores
from evenhand.evaluate_model.classification import Classification, classify
from evenhand.evaluate_model.dataset import Dataset
from evenhand.evaluate_model.elements import ModelType, template
from evenhand.evaluate_model.evaluation import Evaluation, evaluation_of
from evenhand.evaluate_model.gen_ai import MODEL_TYPES, Given, protocol_of, write_template
from evenhand.evaluate_model.judging import device_of, make_judge, prompts_of, run_judge, study_at
from evenhand.evaluate_model.text_scores import Pairs, TextScores, score_texts, with_bert_score
from evenhand.formats.columns import Wanted
from evenhand.protocol.model import ClassificationMeasure
from evenhand.raters.options import Asking
from evenhand.records import Item

REFERENCE = Wanted(
    "reference",
    ("reference_text", "reference_feedback", "references", "target", "gold", "gold_feedback", "ground_truth",
     "human_feedback", "expert_feedback"),
    required=True,
    option="reference='COLUMN'",
)  # fmt: skip
"""The column of reference texts, by the names it usually has."""


class EvaluateModel:
    """Evaluate generated feedback or AI detection, row by row of a pandas or Polars frame.

    `model` rates: a loaded Hugging Face model with its `tokenizer`, a rater spec such as `openai:MODEL`,
    `http://127.0.0.1:8080/v1#MODEL` or `hf:FOLDER`, or None for prompts and scores only. `gen_ai` is a file or a
    mapping with the elements of the prompt; the built-in protocol is used without one. `mapping` leads from fields to
    columns where their names do not tell. Ratings are kept in `study`, where a stopped evaluation goes on; without it
    they live as long as this object.
    """

    def __init__(
        self,
        *,
        dataset: IntoFrame,
        model_type: ModelType,
        model: object | str | None = None,
        tokenizer: object | None = None,
        device: str = "automap",
        gen_ai: Given | None = None,
        mapping: Mapping[str, str] | None = None,
        id_column: str | None = None,
        study: str | Path | None = None,
        asking: Asking | None = None,
    ) -> None:
        if model_type not in MODEL_TYPES:
            raise UserError(f"model_type: {model_type!r} is not known; valid are {' and '.join(MODEL_TYPES)}")
        self.model_type: ModelType = model_type
        self.device = device_of(device)
        self.protocol = protocol_of(model_type, gen_ai)
        self.dataset_prompt: list[str] = []
        """The prompts, one for each row, once `construct_data_message` has made them."""
        self._dataset = Dataset.of(dataset, mapping, id_column)
        self._model, self._tokenizer = model, tokenizer
        self._asking = asking or Asking()
        self._study = study
        self._evaluation: Evaluation | None = None

    @staticmethod
    def gen_ai_template(model_type: ModelType) -> dict[str, Any]:
        """The part of a `gen_ai.json` for this model type: everything the built-in prompt is made of, to be changed."""
        if model_type not in MODEL_TYPES:
            raise UserError(f"model_type: {model_type!r} is not known; valid are {' and '.join(MODEL_TYPES)}")
        return template(model_type)

    @staticmethod
    def write_gen_ai(path: str | Path = "gen_ai.json", *, overwrite: bool = False) -> None:
        """Write a complete `gen_ai.json` to start from, for both model types. A file that is there is refused."""
        write_template(path, overwrite=overwrite)

    def construct_data_message(self) -> list[str]:
        """Make `dataset_prompt`: the whole prompt of each row, in row order, to be sent to any model by hand."""
        self.dataset_prompt = prompts_of(self.protocol, self._items)
        return self.dataset_prompt

    def model_based_evaluation(
        self, *, limit: int | None = None, again: bool = False, max_cost: float | None = None, price: str | None = None
    ) -> Evaluation:
        """Have the model rate the rows it has not rated yet, print what came out, and return it.

        `limit`: at most so many rows this time; `again`: rows that failed are asked once more; `max_cost`: a cap in
        dollars; `price`: dollars for a million tokens read and written, as "0.4/1.6", where no published price holds. A
        reply that cannot be used is a failure with its reason, never a score.
        """
        if self._model is None:
            raise UserError("model: there is none to rate with; give model=…, or use construct_data_message() alone")
        rater = make_judge(self._model, self._tokenizer, self.device, self.protocol, self._asking)
        items = self._items
        with study_at(self._location, self.protocol, self._dataset.items(self.protocol), self._ids) as study:
            stopped = run_judge(study, rater, limit=limit, again=again, max_cost=max_cost, price=price)
            ratings = study.ratings(rater=rater.ref.id)
            self._evaluation = evaluation_of(rater.ref.id, self.protocol, items, ratings)
        print(self._evaluation if stopped is None else f"{self._evaluation}\nstopped early: {stopped}")
        return self._evaluation

    @property
    def results(self) -> list[dict[str, Any]]:
        """What the model said of each row, as `Evaluation.rows` has it."""
        return [dict(row) for row in self._evaluated.rows]

    def to_frame(self) -> Any:
        """The results as a frame of the library that the dataset came from, a row for each of its rows."""
        return self._dataset.like(self._evaluated.columns())

    def evaluate_classification_model(self) -> Classification:
        """Accuracy, precision, recall, F1 and confusion of the column `prediction` against `label`, over all rows.

        Needs no model. A row without one of the two is counted and left out.
        """
        spec = next((m for m in self.protocol.measures if isinstance(m, ClassificationMeasure)), None)
        if spec is None:
            raise UserError(f"{self.model_type} has no labels to predict; use model_type='ai_detection'")
        columns = self._dataset.texts([self._field(spec.truth), self._field(spec.prediction)], {})
        return classify(self.protocol, columns[spec.truth], columns[spec.prediction])

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
        """BLEU, ROUGE-1, -2 and -L of the generated texts against references, over all rows; needs no judging model.

        `generated` and `reference` name the columns where their names do not tell. BERTScore is added where an
        `encoder` is given: a folder, a name on the hub, or a loaded one with `encoder_tokenizer`; `layer` is the
        hidden layer to read, the last one otherwise. `language` is that of the texts, the protocol's otherwise.
        """
        rated = next(name for name, spec in self.protocol.item.fields.items() if spec.role == "rated")
        if self.model_type != "feedback_generation":
            raise UserError(f"{self.model_type} has no generated texts; use model_type='feedback_generation'")
        given = {name: column for name, column in ((rated, generated), (REFERENCE.name, reference)) if column}
        columns = self._dataset.texts([self._field(rated), REFERENCE], given)
        pairs = Pairs.of(columns[rated], columns[REFERENCE.name])
        scores = score_texts(pairs, language or self.protocol.language)
        if encoder is None:
            return scores
        device = None if self.device == "auto" else self.device
        reader = Encoder.of(encoder, encoder_tokenizer, layer, device)
        found, remarks = bert_scores(reader, pairs.generated, pairs.reference)
        return with_bert_score(scores, found, reader.method, remarks)

    def _field(self, name: str) -> Wanted:
        return Wanted(
            name, self.protocol.item.fields[name].aliases, required=True, option=f"mapping={{'{name}': 'COLUMN'}}"
        )

    @cached_property
    def _items(self) -> Sequence[Item]:
        return list(self._dataset.items(self.protocol))

    @property
    def _ids(self) -> Sequence[str]:
        return [item.id for item in self._items]

    @cached_property
    def _location(self) -> str | Path:
        if self._study is not None:
            return self._study
        folder = tempfile.mkdtemp(prefix="evenhand-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder) / "study.db"

    @property
    def _evaluated(self) -> Evaluation:
        if self._evaluation is None:
            raise UserError("there are no results yet; call model_based_evaluation() first")
        return self._evaluation
